"""Run-time operations while tracing: promotion of scalars, elements and views of arrays, loops.

Array expressions become loops at once (fusing them is a later pass of `transform`).
"""

from collections.abc import Callable, Sequence
from typing import Any, NoReturn

import numpy as np

from srcad import ops
from srcad.errors import Problem, UnsupportedSyntax
from srcad.ir.builder import Builder
from srcad.ir.nodes import (
    Atom,
    Const,
    For,
    Index,
    NewAxis,
    Permute,
    Slice,
    Subscript,
    Var,
    array_type,
    const,
)
from srcad.ir.types import INT, Scalar
from srcad.tracer.values import Arr, Num, Value

PYTHON = {bool: "bool", int: "int64", float: "float64"}


class Emit:
    """A builder with the meaning of Python and NumPy."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.indices: dict[Var, Atom] = {}  # loop indices and the extents that they count

    def fail(self, what: str, why: str = "", instead: str = "") -> NoReturn:
        """Refuses the construct at the current place."""
        raise UnsupportedSyntax(Problem(what, self.builder.loc, why, instead))

    # -- scalars

    def dtype(self, value: Value) -> str:
        if isinstance(value, Num):
            return value.atom.type.dtype
        if isinstance(value, Arr):
            return value.var.type.dtype
        if isinstance(value, np.generic):
            return value.dtype.name
        if type(value) in PYTHON:
            return PYTHON[type(value)]
        self.fail(f"a {type(value).__name__} is used as a number")

    def weak(self, value: Value) -> bool:
        return value.weak if isinstance(value, Num) else type(value) in PYTHON

    def promoted(self, values: Sequence[Value]) -> tuple[str, ...]:
        """The dtypes of operands, where weak ones give way to strong ones of their kind."""
        kinds = {"b": 0, "i": 1, "u": 1, "f": 2}
        strong = [np.dtype(self.dtype(v)) for v in values if not self.weak(v)]
        if not strong:
            return tuple(self.dtype(v) for v in values)
        top = np.result_type(*strong)
        found: list[str] = []
        for v in values:
            own = np.dtype(self.dtype(v))
            gives_way = self.weak(v) and kinds[own.kind] <= kinds[top.kind]
            found.append(top.name if gives_way else own.name)
        return tuple(found)

    def atom(self, value: Value, dtype: str | None = None) -> Atom:
        """The value as an atom, converted to `dtype`."""
        own = self.dtype(value)
        to = dtype or own
        if isinstance(value, Num):
            if own == to:
                return value.atom
            return ops.apply(self.builder, "cast", value.atom, type=Scalar(to))
        if isinstance(value, Arr):
            self.fail("an array is used as a single number")
        number: Any = value
        return const(number.item() if isinstance(number, np.generic) else number, to)

    def index(self, value: Value) -> Atom:
        if self.dtype(value).startswith(("float", "bool")):
            self.fail("an index must be an integer", instead="convert it: int(i)")
        return self.atom(value, "int64")

    def op(self, name: str, *values: Value, weak: bool | None = None) -> Value:
        """An operation element by element on scalars and arrays."""
        values = tuple(
            self.load(v, ()) if isinstance(v, Arr) and not v.shape else v for v in values
        )
        if any(isinstance(v, Arr) for v in values):
            return self.elementwise(name, values)
        operands, _ = ops.operand_types(name, self.promoted(values))
        atoms = [self.atom(v, to) for v, to in zip(values, operands, strict=True)]
        soft = all(map(self.weak, values)) if weak is None else weak
        return Num(ops.apply(self.builder, name, *atoms), soft)

    def arithmetic(self, name: str, left: Value, right: Value) -> Value:
        """A binary operator of Python."""
        if name == "mod":
            quotient = self.op("floordiv", left, right)
            return self.op("remainder", left, right, quotient)
        if name == "pow" and type(right) is int and 0 <= right <= 4 and not isinstance(left, int):
            return self.small_power(left, right)
        return self.op(name, left, right)

    def small_power(self, base: Value, exponent: int) -> Value:
        if exponent == 0:
            return self.op("add", self.op("mul", base, 0), 1)
        result = base
        for _ in range(exponent - 1):
            result = self.op("mul", result, base)
        return result

    # -- loops and arrays

    def loop(self, stop: Atom, body: Callable[[Var], None], hint: str = "i") -> None:
        """A loop that carries nothing."""
        index = self.builder.var(INT, hint)
        self.indices[index] = stop
        with self.builder.block() as opened:
            body(index)
        self.builder.add(For(index, stop, (), opened.finish(), (), self.builder.loc))

    def nest(self, shape: tuple[Atom, ...], body: Callable[[tuple[Atom, ...]], None]) -> None:
        """A loop for each axis; `body` gets the indices."""

        def axis(index: tuple[Atom, ...]) -> None:
            if len(index) == len(shape):
                body(index)
            else:
                self.loop(shape[len(index)], lambda at: axis((*index, at)), "ijkl"[len(index) % 4])

        axis(())

    def new(self, dtype: str, shape: tuple[Atom, ...], fill: float | None = None) -> Arr:
        filled = None if fill is None else const(fill, dtype)
        return Arr(self.builder.alloc(dtype, shape, filled), shape)

    def load(self, array: Arr, index: tuple[Atom, ...]) -> Num:
        return Num(self.builder.load(array.var, *index))

    def same_extent(self, first: Atom, second: Atom) -> None:
        """Two extents that must agree, as NumPy's broadcasting has it without stretching."""
        if first == second:
            return
        if isinstance(first, Const) and isinstance(second, Const):
            self.fail(f"shapes do not match: {first} and {second}")
        equal = ops.apply(self.builder, "eq", first, second)
        self.builder.check(equal, "ValueError", "operands could not be broadcast together")

    def shape_of(self, arrays: list[Arr]) -> tuple[Atom, ...]:
        """The common shape; axes are matched from the last, a literal 1 stretches."""
        shape: list[Atom] = []
        for axis in range(1, max(len(a.shape) for a in arrays) + 1):
            extents = [a.shape[-axis] for a in arrays if len(a.shape) >= axis]
            wide = [extent for extent in extents if extent != const(1)] or [const(1)]
            total = wide[0]
            for extent in wide[1:]:
                total = self.stretched(total, extent)
            for extent in wide:
                self.fits(extent, total)
            shape.insert(0, total)
        return tuple(shape)

    def stretched(self, first: Atom, second: Atom) -> Atom:
        """The extent of two broadcast axes: the other one's where one is 1."""
        if first == second:
            return first
        one = ops.apply(self.builder, "eq", first, const(1))
        return ops.apply(self.builder, "select", one, second, first)

    def fits(self, extent: Atom, total: Atom) -> None:
        """An axis has the broadcast extent, or 1."""
        if extent == total:
            return
        same = ops.apply(self.builder, "eq", extent, total)
        one = ops.apply(self.builder, "eq", extent, const(1))
        either = ops.apply(self.builder, "or", same, one)
        self.builder.check(either, "ValueError", "operands could not be broadcast together")

    def element(self, value: Value, index: tuple[Atom, ...]) -> Value:
        """The element of a broadcast operand."""
        if not isinstance(value, Arr):
            return value
        own = index[len(index) - len(value.shape) :]
        at = tuple(self.step(i, extent) for i, extent in zip(own, value.shape, strict=True))
        return self.load(value, at)

    def step(self, index: Atom, extent: Atom) -> Atom:
        """The index into an axis that may be stretched: 0 where its extent is 1."""
        if extent == const(1):
            return const(0)
        if isinstance(index, Var) and self.indices.get(index) == extent:
            return index
        one = ops.apply(self.builder, "eq", extent, const(1))
        return ops.apply(self.builder, "select", one, const(0), index)

    def elementwise(self, name: str, values: Sequence[Value]) -> Arr:
        return self.mapped(lambda *elements: self.op(name, *elements), values)

    def mapped(self, function: Callable[..., Value], values: Sequence[Value]) -> Arr:
        """A new array, `function` applied to the elements of broadcast operands."""
        arrays = [v for v in values if isinstance(v, Arr)]
        shape = self.shape_of(arrays)
        dtype = self.result_dtype(function, values)
        out = self.new(dtype, shape)

        def body(index: tuple[Atom, ...]) -> None:
            result = function(*(self.element(v, index) for v in values))
            self.builder.store(out.var, index, self.atom(result, dtype))

        self.nest(shape, body)
        return out

    def result_dtype(self, function: Callable[..., Value], values: Sequence[Value]) -> str:
        """Found by applying the function to stand-ins whose code is thrown away."""
        with self.builder.block():
            stand_ins = [
                Num(self.builder.var(Scalar(self.dtype(v)))) if isinstance(v, Arr) else v
                for v in values
            ]
            return self.dtype(function(*stand_ins))

    def copy(self, array: Arr) -> Arr:
        return self.mapped(lambda x: x, [array])

    # -- subscripts

    def checked(self, value: Value, extent: Atom) -> Atom:
        """An index in range: wrapped where it may be negative, else an IndexError at run time."""
        at = self.index(value)
        if isinstance(at, Const):
            if int(at.value.real) < 0:
                at = ops.apply(self.builder, "add", extent, at)
        elif not self.counts(at, extent):
            at = ops.apply(self.builder, "wrap", at, extent)
        if not self.counts(at, extent):
            inside = ops.apply(self.builder, "within", at, extent)
            if not isinstance(inside, Const):
                self.builder.check(inside, "IndexError", "index out of bounds")
            elif not inside.value:
                self.fail("index out of bounds")
        return at

    def counts(self, at: Atom, extent: Atom) -> bool:
        """Whether `at` is the index of a loop over exactly this extent."""
        return isinstance(at, Var) and self.indices.get(at) == extent

    def parts(self, array: Arr, key: Value) -> list[Value]:
        """One subscript per axis: Ellipsis and missing axes are filled with full slices."""
        keys = list(key) if isinstance(key, tuple) else [key]
        axes = sum(k is not None and k is not Ellipsis for k in keys)
        if axes > len(array.shape):
            self.fail(f"too many indices for an array of {len(array.shape)} dimensions")
        missing = [slice(None)] * (len(array.shape) - axes)
        if Ellipsis in [k for k in keys if k is Ellipsis]:
            place = next(n for n, k in enumerate(keys) if k is Ellipsis)
            return [*keys[:place], *missing, *keys[place + 1 :]]
        return [*keys, *missing]

    def view(self, array: Arr, key: Value) -> Arr | tuple[Atom, ...]:
        """A view, or the indices of one element."""
        keys = self.parts(array, key)
        if not any(isinstance(k, slice) or k is None for k in keys):
            return tuple(self.checked(k, n) for k, n in zip(keys, array.shape, strict=True))
        items: list[Index | Slice | NewAxis] = []
        shape: list[Atom] = []
        extents = iter(array.shape)
        for k in keys:
            if k is None:
                items.append(NewAxis())
                shape.append(const(1))
                continue
            extent = next(extents)
            if isinstance(k, slice):
                start, length = self.bounds(k, extent)
                items.append(Slice(start, length, const(1)))
                shape.append(length)
            else:
                items.append(Index(self.checked(k, extent)))
        return Arr(self.builder.view(array.var, Subscript(tuple(items))), tuple(shape))

    def bounds(self, part: slice, extent: Atom) -> tuple[Atom, Atom]:
        """Start and length of a slice of step 1, clipped as NumPy clips."""
        if part.step not in (None, 1):
            self.fail("a slice with a step is not supported yet", instead="loop over the elements")
        if part.start is None and part.stop is None:
            return const(0), extent
        start = const(0) if part.start is None else self.clipped(part.start, extent)
        stop = extent if part.stop is None else self.clipped(part.stop, extent)
        length = ops.apply(self.builder, "sub", stop, start)
        return start, ops.apply(self.builder, "maximum", length, const(0))

    def clipped(self, value: Value, extent: Atom) -> Atom:
        at = self.index(value)
        at = ops.apply(self.builder, "wrap", at, extent)
        at = ops.apply(self.builder, "maximum", at, const(0))
        return ops.apply(self.builder, "minimum", at, extent)

    def getitem(self, array: Arr, key: Value) -> Value:
        found = self.view(array, key)
        return found if isinstance(found, Arr) else self.load(array, found)

    def setitem(self, array: Arr, key: Value, new: Value) -> None:
        if not array_type(array.var).writable:
            self.fail("a read-only array is written to")
        place = self.view(array, key)
        dtype = self.dtype(array)
        if not isinstance(place, Arr):
            self.builder.store(array.var, place, self.atom(new, dtype))
            return
        if isinstance(new, Arr):  # the right side is read in full before anything is written
            new = self.copy(new)
            for own, given in zip(reversed(place.shape), reversed(new.shape), strict=False):
                self.fits(given, own)
        source = new

        def body(index: tuple[Atom, ...]) -> None:
            element = self.element(source, index)
            self.builder.store(place.var, index, self.atom(element, dtype))

        self.nest(place.shape, body)

    def transposed(self, array: Arr) -> Arr:
        axes = tuple(reversed(range(len(array.shape))))
        return Arr(self.builder.view(array.var, Permute(axes)), tuple(reversed(array.shape)))
