"""Sums, means, products, extremes and the like: of all elements or along axes."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcad import arrays, ops
from srcad.ir.nodes import Atom, Const, const
from srcad.ir.types import FLOATS
from srcad.tracer import arithmetic, constructors, elementwise, indexing, scalars
from srcad.tracer.values import Arr, Emit, Num, Value

Extents = tuple[Atom, ...]


@dataclass(frozen=True)
class Reduction:
    """An array seen as results, each made of the elements along the axes that vanish."""

    array: Arr
    gone: tuple[int, ...]
    keepdims: bool

    @property
    def kept(self) -> tuple[int, ...]:
        return tuple(k for k in range(len(self.array.shape)) if k not in self.gone)

    @property
    def outer(self) -> Extents:
        return tuple(self.array.shape[k] for k in self.kept)

    @property
    def inner(self) -> Extents:
        return tuple(self.array.shape[k] for k in self.gone)

    @property
    def trailing(self) -> bool:
        """Whether the elements of one result lie next to each other in a C array."""
        return self.gone == tuple(range(len(self.kept), len(self.array.shape)))

    def at(self, outer: Extents, inner: Extents) -> Extents:
        """The index into the array."""
        place = {**dict(zip(self.kept, outer)), **dict(zip(self.gone, inner))}
        return tuple(place[k] for k in range(len(self.array.shape)))

    def finished(self, emit: Emit, result: Arr) -> Value:
        """The result, its vanished axes put back with length 1 if they are kept."""
        if not self.keepdims:
            return result if result.shape else scalars.load(emit, result, ())
        key = tuple(None if k in self.gone else slice(None) for k in range(len(self.array.shape)))
        return indexing.getitem(emit, result, key)


def over(emit: Emit, a: Value, axis: Value, keepdims: Value, name: str) -> Reduction:
    """The arguments of a reduction, checked."""
    array = constructors.need_array(emit, a, name)
    ndim = len(array.shape)
    if type(keepdims) is not bool:
        emit.fail(f"`keepdims` of `{name}` must be True or False")
    if axis is None:
        return Reduction(array, tuple(range(ndim)), keepdims)
    given = axis if isinstance(axis, tuple | list) else (axis,)
    gone = {constructors.axis(emit, k, ndim) for k in given}
    return Reduction(array, tuple(sorted(gone)), keepdims)


# -- the two ways to reduce


def folded(emit: Emit, reduction: Reduction, name: str, start: Const, to: str) -> Value:
    """Each result is carried through its own elements, in the dtype of `start`."""
    array = reduction.array

    def result(outer: Extents) -> Atom:
        def step(inner: Extents, before: Atom) -> Atom:
            element = scalars.load(emit, array, reduction.at(outer, inner))
            after = arithmetic.operate(emit, name, Num(before), convert(emit, element, start))
            return scalars.to_atom(emit, after, start.type.dtype)

        total = elementwise.fold(emit, reduction.inner, start, step)
        return scalars.to_atom(emit, Num(total), to)

    if not reduction.outer and not reduction.keepdims:
        return Num(result(()))
    return reduction.finished(emit, elementwise.build(emit, reduction.outer, to, result))


def convert(emit: Emit, element: Value, like: Const) -> Value:
    return scalars.convert(emit, element, like.type.dtype)


def added(emit: Emit, reduction: Reduction, start: Const, to: str) -> Value:
    """Sums over leading axes: rows are added to the results, so that memory is read in order."""
    dtype = start.type.dtype
    sums = elementwise.new(emit, dtype, reduction.outer, start, "total")

    def body(index: Extents) -> None:
        at = tuple(index[k] for k in reduction.kept)
        element = convert(emit, scalars.load(emit, reduction.array, index), start)
        more = arithmetic.operate(emit, "add", scalars.load(emit, sums, at), element)
        emit.builder.store(sums.var, at, scalars.to_atom(emit, more))

    elementwise.nest(emit, reduction.array.shape, body)
    result = sums if dtype == to else elementwise.copy(emit, sums, to)
    return reduction.finished(emit, result)


# -- sums


def sum_of(
    emit: Emit, a: Value, axis: Value = None, dtype: Value = None, keepdims: Value = False
) -> Value:
    """np.sum; float32 is accumulated in float64, small integers in 64 bits."""
    reduction = over(emit, a, axis, keepdims, "sum")
    return _sum(emit, reduction, _sum_dtype(emit, reduction.array, dtype))


def _sum_dtype(emit: Emit, array: Arr, dtype: Value) -> str:
    own = scalars.dtype(emit, array)
    kind = np.dtype(own).kind
    default = {"b": "int64", "i": "int64", "u": "uint64"}.get(kind, own)
    return constructors.named(emit, dtype, default)


def _sum(emit: Emit, reduction: Reduction, to: str) -> Value:
    start = const(0, "float64" if to == "float32" else to)
    if reduction.trailing or not reduction.outer:
        return folded(emit, reduction, "add", start, to)
    return added(emit, reduction, start, to)


def prod(
    emit: Emit, a: Value, axis: Value = None, dtype: Value = None, keepdims: Value = False
) -> Value:
    """np.prod."""
    reduction = over(emit, a, axis, keepdims, "prod")
    to = _sum_dtype(emit, reduction.array, dtype)
    return folded(emit, reduction, "mul", const(1, to), to)


def mean(emit: Emit, a: Value, axis: Value = None, keepdims: Value = False) -> Value:
    """np.mean; of integers in float64."""
    reduction = over(emit, a, axis, keepdims, "mean")
    own = scalars.dtype(emit, reduction.array)
    to = own if own in FLOATS else "float64"
    total = _sum(emit, reduction, to)
    return arithmetic.operate(emit, "div", total, _count(emit, reduction, to))


def _count(emit: Emit, reduction: Reduction, to: str, less: Value = 0) -> Value:
    """The number of elements of one result, as a weak float."""
    count = scalars.number(constructors.product(emit, reduction.inner))
    if not scalars.static(less) or less != 0:
        count = arithmetic.operate(emit, "sub", count, less)
    return scalars.convert(emit, count, to)


def var(
    emit: Emit, a: Value, axis: Value = None, ddof: Value = 0, keepdims: Value = False
) -> Value:
    """np.var: the mean square of the deviations."""
    reduction = over(emit, a, axis, keepdims, "var")
    centre = mean(emit, reduction.array, axis, True)
    deviations = arithmetic.operate(emit, "sub", reduction.array, centre)
    squares = arithmetic.operate(emit, "square", deviations)
    assert isinstance(squares, Arr)
    to = scalars.dtype(emit, squares)
    total = _sum(emit, Reduction(squares, reduction.gone, reduction.keepdims), to)
    return arithmetic.operate(emit, "div", total, _count(emit, reduction, to, ddof))


def std(
    emit: Emit, a: Value, axis: Value = None, ddof: Value = 0, keepdims: Value = False
) -> Value:
    """np.std; its derivative at 0 is 0."""
    return arithmetic.each(emit, lambda v: root(emit, v), var(emit, a, axis, ddof, keepdims))


def root(emit: Emit, value: Value) -> Value:
    """A square root whose derivative at 0 is that of 0 times `value`."""
    atom = scalars.to_atom(emit, value)
    zero, one = const(0.0, atom.type.dtype), const(1.0, atom.type.dtype)
    positive = ops.apply(emit.builder, "gt", atom, zero)
    safe = ops.apply(emit.builder, "select", positive, atom, one)
    found = ops.apply(emit.builder, "sqrt", safe)
    return Num(ops.apply(emit.builder, "select", positive, found, atom))


# -- extremes and logic


def extreme(name: str) -> Callable[..., Value]:
    """np.max or np.min by the operation of that name: nan wins, ties share."""
    label = {"maximum": "max", "minimum": "min"}[name]

    def reduce(emit: Emit, a: Value, axis: Value = None, keepdims: Value = False) -> Value:
        reduction = over(emit, a, axis, keepdims, label)
        _some(emit, reduction, label)
        dtype = scalars.dtype(emit, reduction.array)
        return folded(emit, reduction, name, const(_worst(dtype, name), dtype), dtype)

    return reduce


def _worst(dtype: str, name: str) -> Any:
    if dtype in FLOATS:
        return -math.inf if name == "maximum" else math.inf
    if dtype == "bool":
        return name == "minimum"
    limits = np.iinfo(dtype)
    return limits.min if name == "maximum" else limits.max


def _some(emit: Emit, reduction: Reduction, name: str) -> None:
    """The ValueError of an extreme over nothing."""
    message = f"{name} of an empty array has no value"
    for extent in reduction.inner:
        holds = ops.apply(emit.builder, "gt", extent, const(0))
        if isinstance(holds, Const) and not holds.value:
            emit.fail(message)
        if not isinstance(holds, Const):
            emit.builder.check(holds, "ValueError", message)


def every(emit: Emit, a: Value, axis: Value = None, keepdims: Value = False) -> Value:
    """np.all."""
    reduction = over(emit, a, axis, keepdims, "all")
    return folded(emit, reduction, "and", const(True, "bool"), "bool")


def some(emit: Emit, a: Value, axis: Value = None, keepdims: Value = False) -> Value:
    """np.any."""
    reduction = over(emit, a, axis, keepdims, "any")
    return folded(emit, reduction, "or", const(False, "bool"), "bool")


def count_nonzero(emit: Emit, a: Value, axis: Value = None) -> Value:
    """How many elements are not 0."""
    array = constructors.need_array(emit, a, "np.count_nonzero")
    return sum_of(emit, elementwise.copy(emit, array, "bool"), axis)


# -- running sums


def cumulative(function: Callable[..., Any], label: str, first: int) -> Callable[..., Value]:
    """np.cumsum or np.cumprod by the loop of `srcad.arrays` over one line."""

    def run(emit: Emit, a: Value, axis: Value = None) -> Value:
        array = constructors.need_array(emit, a, label)
        if axis is None and len(array.shape) != 1:
            array = elementwise.copy(emit, array)
            array = constructors.shaped(emit, array, (constructors.product(emit, array.shape),))
        along = 0 if axis is None else constructors.axis(emit, axis, len(array.shape))
        out = elementwise.new(emit, _sum_dtype(emit, array, None), array.shape)
        others = [k for k in range(len(array.shape)) if k != along]

        def line(index: Extents) -> None:
            key: list[Value] = [Num(i, True) for i in index]
            key.insert(along, slice(None))
            if others:
                pair = [indexing.getitem(emit, v, tuple(key)) for v in (array, out)]
            else:
                pair = [array, out]
            emit.call(function, *pair, Num(const(first, scalars.dtype(emit, out))))

        elementwise.nest(emit, [array.shape[k] for k in others], line)
        return out

    return run


cumsum = cumulative(arrays.running_sum, "np.cumsum", 0)
cumprod = cumulative(arrays.running_product, "np.cumprod", 1)


def diff(emit: Emit, a: Value, axis: Value = -1) -> Value:
    """Differences of neighbours."""
    array = constructors.need_array(emit, a, "np.diff")
    if not array.shape:
        emit.fail("`np.diff` takes an array of at least one dimension")
    along = constructors.axis(emit, axis, len(array.shape))
    before: list[Value] = [slice(None)] * len(array.shape)
    after = list(before)
    before[along], after[along] = slice(None, -1), slice(1, None)
    upper, lower = (indexing.getitem(emit, array, tuple(k)) for k in (after, before))
    name = "ne" if scalars.dtype(emit, array) == "bool" else "sub"
    return arithmetic.operate(emit, name, upper, lower)
