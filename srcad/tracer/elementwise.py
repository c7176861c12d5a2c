"""New arrays, element by element, with NumPy's broadcasting.

Axes with the same extent, or with a literal 1, broadcast while tracing. Otherwise an operand is
read at `index * step`, step 0 where its extent is 1 at run time, else 1; a check compares the
extents before the loop.
"""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcad import ops
from srcad.errors import Problem, ShapeError
from srcad.ir.nodes import Atom, Const, For, If, Map, Var, const
from srcad.ir.types import INT, Array, Scalar
from srcad.tracer import scalars
from srcad.tracer.values import Arr, Emit, Num, Value

Index = tuple[Atom, ...]
ONE = const(1)
LARGEST_CONSTANT = 256
MISMATCH = "operands could not be broadcast together"


# -- loops


def index_var(emit: Emit, axis: int, extent: Atom) -> Var:
    """The index of a loop over an axis."""
    index = emit.builder.var(INT, "ijkl"[axis % 4])
    emit.indices[index] = extent
    return index


def nest(emit: Emit, shape: Sequence[Atom], body: Callable[[Index], None]) -> None:
    """A loop for each axis, carrying nothing; `body` gets the indices."""

    def axis(index: Index) -> None:
        if len(index) == len(shape):
            body(index)
            return
        stop = shape[len(index)]
        at = index_var(emit, len(index), stop)
        with emit.builder.block() as opened:
            axis((*index, at))
        emit.builder.add(For(at, stop, (), opened.finish(), (), emit.loc))

    axis(())


def fold(
    emit: Emit,
    shape: Sequence[Atom],
    start: Atom,
    step: Callable[[Index, Atom], Atom],
    hint: str = "total",
) -> Atom:
    """Loops over all indices that carry one number from `start` through `step`."""
    builder, kind = emit.builder, start.type

    def axis(index: Index, before: Atom) -> Atom:
        if len(index) == len(shape):
            return step(index, before)
        stop = shape[len(index)]
        at = index_var(emit, len(index), stop)
        inner, out = builder.var(kind, hint), builder.var(kind, hint)
        with builder.block() as body:
            result = axis((*index, at), inner)
        carried = ((inner, before),)
        builder.add(For(at, stop, carried, body.finish(result), (out,), emit.loc))
        return out

    return axis((), start)


def new(emit: Emit, dtype: str, shape: Index, fill: Const | None = None, hint: str = "a") -> Arr:
    """A new array."""
    out = emit.builder.alloc(dtype, shape, fill, hint)
    emit.memory.separate.add(out)
    return Arr(out, shape)


def build(
    emit: Emit, shape: Index, dtype: str, element: Callable[[Index], Atom], hint: str = "t"
) -> Arr:
    """A new array whose elements `element` gives, in their dtype: a Map."""
    indices = tuple(index_var(emit, axis, extent) for axis, extent in enumerate(shape))
    with emit.builder.block() as body:
        result = element(indices)
    var = emit.builder.var(Array(dtype, len(shape)), hint)
    emit.builder.add(Map(var, shape, indices, body.finish(result), emit.loc))
    emit.memory.separate.add(var)
    return Arr(var, shape)


def constant(emit: Emit, value: "np.ndarray[Any, Any]") -> Value:
    """An array that is known while tracing, element by element in the code."""
    if value.dtype.name not in scalars.DTYPES:
        emit.fail(f"an array of {value.dtype.name} is not supported yet")
    if value.size > LARGEST_CONSTANT:
        emit.fail(
            f"an array of {value.size} elements is found inside a container",
            "its elements would become code",
            "give it a name of its own outside the function, or pass it as an argument",
        )
    if not value.ndim:
        return value[()]
    dtype = value.dtype.name
    made = new(emit, dtype, tuple(map(const, value.shape)))
    for place in np.ndindex(*value.shape):
        item = const(value[place].item(), dtype)
        emit.builder.store(made.var, tuple(map(const, place)), item)
    return made


def operands(emit: Emit, values: Sequence[Value]) -> tuple[Value, ...]:
    """Values as numbers and arrays: those of 0 dimensions are numbers."""
    found = (constant(emit, v) if isinstance(v, np.ndarray) else v for v in values)
    return tuple(
        scalars.load(emit, v, ()) if isinstance(v, Arr) and not v.shape else v for v in found
    )


# -- broadcasting


def same_extent(emit: Emit, first: Atom, second: Atom, message: str = MISMATCH) -> None:
    """Two extents that must agree."""
    if first == second:
        return
    if isinstance(first, Const) and isinstance(second, Const):
        raise ShapeError(Problem(f"{message}: {first} and {second}", emit.loc))

    def check() -> Atom:
        equal = ops.apply(emit.builder, "eq", first, second)
        emit.builder.check(equal, "ValueError", message)
        return first

    emit.once(("same", first, second), check)


def fits(emit: Emit, extent: Atom, total: Atom) -> None:
    """An axis of this extent can be stretched to `total`."""
    if extent in (total, ONE) or extent in emit.covers.get(total, ()):
        return
    if isinstance(extent, Const) and isinstance(total, Const):
        raise ShapeError(Problem(f"{MISMATCH}: {extent} and {total}", emit.loc))

    def check() -> Atom:
        same = ops.apply(emit.builder, "eq", extent, total)
        one = ops.apply(emit.builder, "eq", extent, ONE)
        either = ops.apply(emit.builder, "or", same, one)
        emit.builder.check(either, "ValueError", MISMATCH)
        return total

    emit.once(("fits", extent, total), check)


def joined(emit: Emit, first: Atom, second: Atom) -> Atom:
    """The extent of two axes broadcast together: the other one's where one is 1."""
    covers = emit.covers
    if first == second or second == ONE or second in covers.get(first, ()):
        return first
    if first == ONE or first in covers.get(second, ()):
        return second
    if isinstance(first, Const):
        fits(emit, second, first)
        return first
    if isinstance(second, Const):
        fits(emit, first, second)
        return second

    def make() -> Atom:
        one = ops.apply(emit.builder, "eq", first, ONE)
        total = ops.apply(emit.builder, "select", one, second, first, hint="n")
        fits(emit, second, total)
        nothing: frozenset[Atom] = frozenset()
        covers[total] = covers.get(first, nothing) | covers.get(second, nothing) | {first, second}
        return total

    return emit.once(("joined", first, second), make)


def shape_of(emit: Emit, values: Sequence[Value]) -> Index:
    """The common shape of broadcast operands; axes are matched from the last."""
    shapes = [v.shape for v in values if isinstance(v, Arr)]
    shape: list[Atom] = []
    for axis in range(1, max(map(len, shapes), default=0) + 1):
        total: Atom = ONE
        for own in shapes:
            if len(own) >= axis:
                total = joined(emit, total, own[-axis])
        shape.insert(0, total)
    return tuple(shape)


def reader(emit: Emit, value: Value, shape: Index) -> Callable[[Index], Value]:
    """How an operand is read at an index of the broadcast shape; steps are made here."""
    if not isinstance(value, Arr):
        return lambda index: value
    array = value
    skip = len(shape) - len(array.shape)
    steps = [_step(emit, own, n) for own, n in zip(array.shape, shape[skip:], strict=True)]

    def read(index: Index) -> Value:
        at = tuple(
            i if step == ONE else ops.apply(emit.builder, "mul", i, step)
            for i, step in zip(index[skip:], steps, strict=True)
        )
        return scalars.load(emit, array, at)

    return read


def _step(emit: Emit, extent: Atom, total: Atom) -> Atom:
    if extent == ONE:
        return const(0)
    if extent == total:
        return ONE

    def make() -> Atom:
        one = ops.apply(emit.builder, "eq", extent, ONE)
        return ops.apply(emit.builder, "select", one, const(0), ONE, hint="step")

    return emit.once(("step", extent), make)


# -- element-wise functions


def apply(
    emit: Emit, function: Callable[..., Value], values: Sequence[Value], dtype: str | None = None
) -> Arr:
    """A new array: `function` of the elements of broadcast operands, some of them arrays."""
    shape = shape_of(emit, values)
    to = dtype or result_dtype(emit, function, values)
    readers = [reader(emit, v, shape) for v in values]

    def element(index: Index) -> Atom:
        return scalars.to_atom(emit, function(*(read(index) for read in readers)), to)

    return build(emit, shape, to, element)


def result_dtype(emit: Emit, function: Callable[..., Value], values: Sequence[Value]) -> str:
    """Found by applying the function to stand-ins whose code is thrown away."""
    with emit.builder.block():
        stand_ins = [
            Num(emit.builder.var(Scalar(scalars.dtype(emit, v)))) if isinstance(v, Arr) else v
            for v in values
        ]
        return scalars.dtype(emit, function(*stand_ins))


def copy(emit: Emit, array: Arr, dtype: str | None = None) -> Arr:
    """A new C array with the same elements, converted to `dtype`."""
    to = dtype or scalars.dtype(emit, array)
    read = reader(emit, array, array.shape)
    return build(
        emit, array.shape, to, lambda index: scalars.to_atom(emit, read(index), to), array.var.hint
    )


def where(emit: Emit, cond: Value, first: Value, second: Value) -> Value:
    """`first` where `cond`, else `second`; only the arm taken is read.

    Each arm of an array is read inside its arm of an If, where a Map is later inlined, so that
    the arm not taken contributes neither a value nor nan.
    """
    values = operands(emit, (cond, first, second))
    to = scalars.common(emit, values[1:])
    if not any(isinstance(v, Arr) for v in values):
        args = [scalars.to_atom(emit, v, t) for v, t in zip(values, ("bool", to, to), strict=True)]
        return Num(ops.apply(emit.builder, "select", *args))
    shape = shape_of(emit, values)
    readers = [reader(emit, v, shape) for v in values]

    def element(index: Index) -> Atom:
        chosen = scalars.truth(emit, readers[0](index))
        if isinstance(chosen, bool):
            return scalars.to_atom(emit, readers[1 if chosen else 2](index), to)
        then, orelse = (lambda r=r: scalars.to_atom(emit, r(index), to) for r in readers[1:])
        return branch(emit, chosen.atom, then, orelse)

    return build(emit, shape, to, element)


def branch(
    emit: Emit, cond: Atom, then: Callable[[], Atom], orelse: Callable[[], Atom], hint: str = "t"
) -> Atom:
    """An If with one number as its result."""
    from_arms: list[Atom] = []
    bodies = []
    for arm in (then, orelse):
        with emit.builder.block() as body:
            from_arms.append(arm())
        bodies.append(body.finish(from_arms[-1]))
    out = emit.builder.var(from_arms[0].type, hint)
    emit.builder.add(If(cond, bodies[0], bodies[1], (out,), emit.loc))
    return out
