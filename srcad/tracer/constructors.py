"""NumPy functions that make arrays, or show an array in another shape."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from srcad import ops
from srcad.errors import Problem, ShapeError
from srcad.ir.nodes import Atom, Const, Reshape, array_type, const
from srcad.ir.types import FLOATS
from srcad.tracer import arithmetic, elementwise, indexing, scalars
from srcad.tracer.values import RESHAPED, Arr, Emit, Num, Value

Extents = tuple[Atom, ...]


# -- arguments


def need_array(emit: Emit, value: Value, name: str) -> Arr:
    """The argument as an array; numbers and literals become one."""
    if isinstance(value, np.ndarray):
        value = elementwise.constant(emit, value)
    if isinstance(value, Arr):
        return value
    if isinstance(value, tuple | list | Num | bool | int | float | np.generic):
        made = array(emit, value)
        assert isinstance(made, Arr)
        return made
    emit.fail(f"`{name}` takes an array, not a {type(value).__name__}")


def named(emit: Emit, dtype: Value, default: str = "float64") -> str:
    """NumPy's name of a dtype argument."""
    if dtype is None:
        return default
    try:
        given: Any = dtype
        name = str(np.dtype(given).name)
    except TypeError:
        emit.fail("this dtype is not known")
    if name not in scalars.DTYPES:
        emit.fail(
            f"arrays of {name} are not supported yet", instead="use float64, float32, int64 or bool"
        )
    return name


def shape_given(emit: Emit, shape: Value) -> Extents:
    """A shape argument, an integer or a tuple of them, none negative."""
    given = shape if isinstance(shape, tuple | list) else (shape,)
    found = tuple(scalars.index_atom(emit, n) for n in given)
    for extent in found:
        _not_negative(emit, extent)
    return found


def _not_negative(emit: Emit, extent: Atom) -> None:
    if scalars.not_negative(emit, extent):
        return
    if isinstance(extent, Const):
        emit.fail("negative dimensions are not allowed")

    def check() -> Atom:
        holds = ops.apply(emit.builder, "ge", extent, const(0))
        emit.builder.check(holds, "ValueError", "negative dimensions are not allowed")
        return extent

    emit.once(("not negative", extent), check)


def product(emit: Emit, shape: Sequence[Atom]) -> Atom:
    """The number of elements."""
    total: Value = 1
    for extent in shape:
        total = arithmetic.operate(emit, "mul", total, scalars.number(extent))
    return scalars.to_atom(emit, total)


# -- filled arrays


def filled(emit: Emit, shape: Extents, value: Value, dtype: str) -> Arr:
    """A new array, all elements equal."""
    atom = scalars.to_atom(emit, value, dtype)
    if isinstance(atom, Const):
        return elementwise.new(emit, dtype, shape, atom)
    return elementwise.build(emit, shape, dtype, lambda index: atom)


def zeros(emit: Emit, shape: Value, dtype: Value = None) -> Value:
    return filled(emit, shape_given(emit, shape), 0, named(emit, dtype))


def ones(emit: Emit, shape: Value, dtype: Value = None) -> Value:
    return filled(emit, shape_given(emit, shape), 1, named(emit, dtype))


def empty(emit: Emit, shape: Value, dtype: Value = None) -> Value:
    return elementwise.new(emit, named(emit, dtype), shape_given(emit, shape))


def full(emit: Emit, shape: Value, fill_value: Value, dtype: Value = None) -> Value:
    to = named(emit, dtype, scalars.dtype(emit, fill_value))
    if isinstance(fill_value, Arr) and fill_value.shape:
        made = elementwise.new(emit, to, shape_given(emit, shape))
        indexing.fill(emit, made, fill_value)
        return made
    return filled(emit, shape_given(emit, shape), fill_value, to)


def zeros_like(emit: Emit, a: Value, dtype: Value = None) -> Value:
    return full_like(emit, a, 0, dtype)


def ones_like(emit: Emit, a: Value, dtype: Value = None) -> Value:
    return full_like(emit, a, 1, dtype)


def empty_like(emit: Emit, a: Value, dtype: Value = None) -> Value:
    like = need_array(emit, a, "np.empty_like")
    return elementwise.new(emit, named(emit, dtype, scalars.dtype(emit, like)), like.shape)


def full_like(emit: Emit, a: Value, fill_value: Value, dtype: Value = None) -> Value:
    like = need_array(emit, a, "np.full_like")
    to = named(emit, dtype, scalars.dtype(emit, like))
    return filled(emit, like.shape, fill_value, to)


# -- sequences


def arange(
    emit: Emit, start: Value, stop: Value = None, step: Value = 1, dtype: Value = None
) -> Value:
    """start, start + step, ... below stop."""
    if stop is None:
        start, stop = 0, start
    to = named(emit, dtype, scalars.common(emit, (start, stop, step)))
    length = scalars.index_atom(emit, _count(emit, start, stop, step))
    if not scalars.not_negative(emit, length):
        length = ops.apply(emit.builder, "maximum", length, const(0))

    def element(index: Extents) -> Atom:
        ahead = arithmetic.operate(emit, "mul", Num(index[0], True), step)
        return scalars.to_atom(emit, arithmetic.operate(emit, "add", start, ahead), to)

    return elementwise.build(emit, (length,), to, element)


def _count(emit: Emit, start: Value, stop: Value, step: Value) -> Value:
    if scalars.static(start, stop, step):
        return len(np.arange(start, stop, step))  # type: ignore[call-overload]
    span = arithmetic.operate(emit, "sub", stop, start)
    if scalars.common(emit, (span, step)) in FLOATS:
        whole = arithmetic.operate(emit, "ceil", arithmetic.operate(emit, "div", span, step))
        return scalars.convert(emit, whole, "int64")
    if type(step) is not int or step == 0:
        emit.fail("the step of `np.arange` must be a known integer other than 0")
    if step < 0:
        span = arithmetic.operate(emit, "neg", span)
    up = arithmetic.operate(emit, "add", span, abs(step) - 1)
    return arithmetic.operate(emit, "floordiv", up, abs(step))


def linspace(emit: Emit, start: Value, stop: Value, num: Value = 50) -> Value:
    """`num` numbers from start to stop, both included."""
    if any(isinstance(v, Arr) and v.shape for v in (start, stop)):
        emit.fail("`np.linspace` between arrays is not supported yet")
    (extent,) = shape_given(emit, num)
    to = "float64" if scalars.common(emit, (start, stop, 1.0)) != "float32" else "float32"
    first, last = (scalars.convert(emit, v, to) for v in (start, stop))
    gaps = arithmetic.operate(emit, "sub", scalars.number(extent), 1)
    gaps = arithmetic.operate(emit, "maximum", gaps, 1)
    step = arithmetic.operate(
        emit, "div", arithmetic.operate(emit, "sub", last, first), scalars.convert(emit, gaps, to)
    )

    def element(index: Extents) -> Atom:
        at = arithmetic.operate(emit, "mul", scalars.convert(emit, Num(index[0]), to), step)
        inner = arithmetic.operate(emit, "add", first, at)
        ends = arithmetic.operate(emit, "eq", Num(index[0]), gaps)
        return ops.apply(
            emit.builder, "select", scalars.to_atom(emit, ends), last.atom,
            scalars.to_atom(emit, inner, to),
        )  # fmt: skip

    return elementwise.build(emit, (extent,), to, element)


def eye(emit: Emit, N: Value, M: Value = None, dtype: Value = None) -> Value:  # noqa: N803
    """Ones on the diagonal, zeros elsewhere."""
    to = named(emit, dtype)
    shape = shape_given(emit, (N, N if M is None else M))

    def element(index: Extents) -> Atom:
        same = ops.apply(emit.builder, "eq", *index)
        return ops.apply(emit.builder, "select", same, const(1, to), const(0, to))

    return elementwise.build(emit, shape, to, element)


# -- arrays of given values


def array(emit: Emit, object: Value, dtype: Value = None) -> Value:
    """np.array: a copy of an array, or a literal, nested or not, of numbers and arrays."""
    if isinstance(object, np.ndarray):
        object = need_array(emit, object, "np.array")
    if isinstance(object, Arr):
        return elementwise.copy(emit, object, named(emit, dtype, scalars.dtype(emit, object)))
    items, outer = _leaves(emit, object)
    inner = items[0].shape if items and isinstance(items[0], Arr) else ()
    if any((isinstance(v, Arr) and len(v.shape)) != len(inner) for v in items if inner):
        emit.fail("this array literal is ragged", "its items have different dimensions")
    to = named(emit, dtype, scalars.common(emit, items) if items else "float64")
    made = elementwise.new(emit, to, (*map(const, outer), *inner))
    for place, item in zip(np.ndindex(*outer), items, strict=True):
        at = tuple(map(const, place))
        if inner and isinstance(item, Arr):
            for own, extent in zip(item.shape, inner, strict=True):
                elementwise.same_extent(emit, own, extent, "an array literal is ragged")
            indexing.setitem(emit, made, place, item)
        else:
            emit.builder.store(made.var, at, scalars.to_atom(emit, item, to))
    return made


def _leaves(emit: Emit, value: Value) -> tuple[list[Value], tuple[int, ...]]:
    """The items of a nested literal in C order, and its shape."""
    if not isinstance(value, tuple | list):
        return [value], ()
    parts = [_leaves(emit, item) for item in value]
    if not parts:
        return [], (0,)
    if any(shape != parts[0][1] for _, shape in parts):
        emit.fail("this array literal is ragged", "its items have different lengths")
    return [leaf for items, _ in parts for leaf in items], (len(parts), *parts[0][1])


def asarray(emit: Emit, a: Value, dtype: Value = None) -> Value:
    """The array itself where its dtype is right, else a new one."""
    if isinstance(a, Arr) and named(emit, dtype, scalars.dtype(emit, a)) == scalars.dtype(emit, a):
        return a
    return array(emit, a, dtype)


def ascontiguousarray(emit: Emit, a: Value, dtype: Value = None) -> Value:
    """The array itself where its layout is known to be C."""
    given = asarray(emit, a, dtype)
    assert isinstance(given, Arr)
    if not given.shape:
        return reshape(emit, given, 1)
    if array_type(given.var).layout == "C":
        return given
    return doubtful_copy(emit, given)


def copy(emit: Emit, a: Value) -> Value:
    return array(emit, a)


def astype(emit: Emit, a: Value, dtype: Value) -> Value:
    return elementwise.copy(emit, need_array(emit, a, "astype"), named(emit, dtype))


# -- other shapes


def doubtful_copy(emit: Emit, given: Arr) -> Arr:
    """A copy where NumPy may show the same memory: neither side may be written from here on.

    A write in a loop that is still open may be executed later than what stands behind it.
    """
    memory = emit.memory
    root = memory.root(given.var)
    if root in memory.joined:
        emit.fail(
            "an array that goes by several names is reshaped",
            "its memory layout is not known to be C, so NumPy may copy it or not",
            "copy it first: `x.copy().reshape(...)`",
        )
    for written, around in memory.writes:
        if written == root and any(block in emit.builder.open for block in around[1:]):
            emit.fail(
                "an array that this loop or branch writes to is reshaped",
                "its memory layout is not known to be C, so NumPy may copy it or not",
                "copy it first: `x.copy().reshape(...)`",
            )
    made = elementwise.copy(emit, given)
    memory.frozen |= {root: RESHAPED, made.var: RESHAPED}
    return made


def reshape(emit: Emit, a: Value, *shape: Value) -> Value:
    """The same elements in C order; one extent may be -1."""
    given = need_array(emit, a, "reshape")
    only = shape[0] if len(shape) == 1 else shape
    wanted = list(only) if isinstance(only, tuple | list) else [only]
    free = [k for k, n in enumerate(wanted) if scalars.static(n) and n == -1]
    if len(free) > 1:
        emit.fail("`reshape` can have only one unknown dimension")
    if free:
        others = shape_given(emit, [n for k, n in enumerate(wanted) if k not in free])
        extents = [*others]
        extents.insert(free[0], _rest(emit, given, others))
    else:
        extents = [*shape_given(emit, wanted)]
        _same_size(emit, product(emit, given.shape), product(emit, extents))
    return shaped(emit, given, tuple(extents))


def _rest(emit: Emit, given: Arr, others: Extents) -> Atom:
    """The extent that -1 stands for."""
    size = product(emit, given.shape)
    if not others:
        return size
    left = [n for n in others if n in given.shape]
    if len(left) == len(others) == len(given.shape) - 1 and len(set(left)) == len(left):
        return next(n for n in given.shape if n not in left)
    known = product(emit, others)
    if not isinstance(known, Const):
        some = ops.apply(emit.builder, "gt", known, const(0))
        emit.builder.check(some, "ValueError", "cannot reshape an array into an unknown size")
    rest = arithmetic.operate(emit, "floordiv", Num(size, True), scalars.number(known))
    atom = scalars.to_atom(emit, rest)
    whole = arithmetic.operate(emit, "mul", rest, scalars.number(known))
    _same_size(emit, size, scalars.to_atom(emit, whole))
    return atom


def _same_size(emit: Emit, first: Atom, second: Atom) -> None:
    message = "cannot reshape: the sizes differ"
    if isinstance(first, Const) and isinstance(second, Const) and first != second:
        raise ShapeError(Problem(f"{message}: {first} and {second} elements", emit.loc))
    elementwise.same_extent(emit, first, second, message)


def shaped(emit: Emit, given: Arr, shape: Extents) -> Arr:
    """A view of a C array in another shape; of another layout it is a copy."""
    if shape == given.shape:
        return indexing.viewed(emit, given, Reshape(shape), shape) if _is_c(given) else given
    if not _is_c(given):
        given = doubtful_copy(emit, given)
    return indexing.viewed(emit, given, Reshape(shape), shape)


def _is_c(array: Arr) -> bool:
    return array_type(array.var).layout == "C"


def ravel(emit: Emit, a: Value) -> Value:
    """One dimension, in C order."""
    given = need_array(emit, a, "ravel")
    if len(given.shape) == 1 and _is_c(given):
        return given
    if len(given.shape) == 1:
        return doubtful_copy(emit, given)
    return shaped(emit, given, (product(emit, given.shape),))


def flatten(emit: Emit, a: Value) -> Value:
    """A copy in one dimension."""
    made = elementwise.copy(emit, need_array(emit, a, "flatten"))
    return shaped(emit, made, (product(emit, made.shape),))


def transpose(emit: Emit, a: Value, *axes: Value) -> Value:
    """The axes reversed, or in the order given."""
    given = need_array(emit, a, "transpose")
    order: Value = axes[0] if len(axes) == 1 else axes
    if not order:
        return indexing.transposed(emit, given)
    chosen = tuple(axis(emit, k, len(given.shape)) for k in order)  # type: ignore[attr-defined]
    if sorted(chosen) != list(range(len(given.shape))):
        emit.fail("the axes of `transpose` must name each axis once")
    return indexing.permuted(emit, given, chosen)


def swapaxes(emit: Emit, a: Value, axis1: Value, axis2: Value) -> Value:
    """Two axes exchanged."""
    given = need_array(emit, a, "swapaxes")
    order = list(range(len(given.shape)))
    first, second = (axis(emit, k, len(order)) for k in (axis1, axis2))
    order[first], order[second] = second, first
    return indexing.permuted(emit, given, tuple(order))


def identity(emit: Emit, n: Value, dtype: Value = None) -> Value:
    """The square matrix of ones on the diagonal."""
    return eye(emit, n, None, dtype)


def expand_dims(emit: Emit, a: Value, axis: Value) -> Value:
    """A new axis of length 1."""
    given = need_array(emit, a, "np.expand_dims")
    ndim = len(given.shape) + 1
    if type(axis) is not int or not -ndim <= axis < ndim:
        emit.fail("the axis of `np.expand_dims` must be a known integer in range")
    key: list[Value] = [slice(None)] * len(given.shape)
    key.insert(axis % ndim, None)
    return indexing.getitem(emit, given, tuple(key))


def axis(emit: Emit, value: Value, ndim: int) -> int:
    """An axis argument, negative ones counted from the last."""
    if not isinstance(value, int | np.integer) or isinstance(value, bool):
        emit.fail("an axis must be an integer known while tracing")
    if not -ndim <= value < ndim:
        emit.fail(f"axis {value} is out of bounds for an array of {ndim} dimensions")
    return int(value) % ndim
