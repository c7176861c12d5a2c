"""What a `for` runs over: a count, and the item at an index that is known now or at run time."""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from srcad import ops
from srcad.ir.nodes import Atom, Const, Var, const
from srcad.tracer import scalars
from srcad.tracer.context import Emit
from srcad.tracer.values import Arr, Box, Grown, Num, Value

Index = int | Var


@dataclass(frozen=True)
class Range:
    """range(start, stop, step); the bounds may be run-time integers."""

    start: Value
    stop: Value
    step: Value


@dataclass(frozen=True)
class Enumerated:
    """enumerate(over, start)."""

    over: Value
    start: Value


@dataclass(frozen=True)
class Zipped:
    """zip(*over)."""

    over: tuple[Value, ...]


@dataclass(frozen=True)
class Backwards:
    """reversed(over)."""

    over: Value


@dataclass(frozen=True)
class Indices:
    """np.ndindex(*shape); with `array`, np.ndenumerate of it."""

    shape: tuple[Value, ...]
    array: Arr | None = None


@dataclass(frozen=True)
class Given:
    """Something whose call gives a result that is known already."""

    result: Value


@dataclass(frozen=True)
class Sequence:
    """`count` items, known now (int) or at run time."""

    count: int | Atom
    item: Callable[[Index], Value]

    @property
    def stop(self) -> Atom:
        return const(self.count) if isinstance(self.count, int) else self.count


def built_in(function: Value, args: list[Value], kwargs: dict[str, Value]) -> Given | None:
    """What a call of range, enumerate, zip and the like gives; None for other functions."""
    if isinstance(function, Given) and not args:
        return function
    if (function is range or _is_prange(function)) and len(args) in (1, 2, 3) and not kwargs:
        start, stop = (0, args[0]) if len(args) == 1 else (args[0], args[1])
        return Given(Range(start, stop, args[2] if len(args) == 3 else 1))
    if function is np.ndindex and args and not kwargs:
        only = args[0]
        return Given(Indices(tuple(only) if isinstance(only, tuple | list) else tuple(args)))
    if function is np.ndenumerate and len(args) == 1 and isinstance(args[0], Arr):
        return Given(Indices(tuple(map(scalars.number, args[0].shape)), args[0]))
    if function is enumerate and args:
        return Given(Enumerated(args[0], args[1] if len(args) > 1 else kwargs.get("start", 0)))
    if function is zip:
        return Given(Zipped(tuple(args)))
    if function is reversed and len(args) == 1:
        return Given(Backwards(args[0]))
    return None


def _is_prange(function: Value) -> bool:
    """Whether it is Numba's prange: here an ordinary range, its results depend on no order."""
    module = getattr(function, "__module__", None) or ""
    return getattr(function, "__name__", "") == "prange" and module.split(".")[0] == "numba"


def number(index: Index, weak: bool = True) -> Value:
    return index if isinstance(index, int) else Num(index, weak)


def sequence(emit: Emit, over: Value, pick: Callable[[Value, Value], Value]) -> Sequence | None:
    """How to run over a value; None if that is not possible. `pick(tuple, i)` is a subscript."""
    match over:
        case Range():
            return _range(emit, over)
        case Arr(shape=()):
            emit.fail("a loop over an array of 0 dimensions")
        case Arr(shape=shape):
            return Sequence(_count(shape[0]), lambda i: emit.getitem(over, number(i, False)))
        case Box():
            content = emit.heap[over]
            if isinstance(content, Grown):
                return Sequence(_known(content.count), lambda i: pick(over, number(i)))
            if isinstance(content, dict):
                return sequence(emit, content, pick)
            return Sequence(len(content), lambda i: pick(over, number(i)))  # type: ignore[arg-type]
        case tuple() | list():
            return Sequence(len(over), lambda i: pick(over, number(i)))
        case dict():
            keys = tuple(over)
            return Sequence(len(keys), lambda i: pick(keys, number(i)))
        case Indices(shape=shape, array=array):
            one = _indices(emit, shape)
            if array is None:
                return one
            return Sequence(one.count, lambda i: ((at := one.item(i)), emit.getitem(array, at)))
        case Enumerated(over=inner, start=start):
            found = sequence(emit, inner, pick)
            if found is None:
                return None
            items = found.item
            return Sequence(found.count, lambda i: (_add(emit, number(i), start), items(i)))
        case Zipped(over=several):
            parts = [sequence(emit, one, pick) for one in several]
            known = [part for part in parts if part is not None]
            if len(known) < len(parts) or not parts:
                return None
            return Sequence(_least(emit, known), lambda i: tuple(p.item(i) for p in known))
        case Backwards(over=inner):
            forwards = sequence(emit, inner, pick)
            return None if forwards is None else _reversed(emit, forwards)
        case _:
            return None


def _indices(emit: Emit, shape: tuple[Value, ...]) -> Sequence:
    """The indices of an array in C order, counted as one."""
    total: Value = 1
    for extent in shape:
        total = _arithmetic(emit, "mul", total, extent)

    def item(index: Index) -> Value:
        digits: list[Value] = []
        left = number(index)
        for extent in reversed(shape[1:]):
            digits.append(emit.op("mod", left, extent))
            left = emit.op("floordiv", left, extent)
        return (left, *reversed(digits))

    return Sequence(total if isinstance(total, int) else scalars.to_atom(emit, total), item)


def _known(count: Value) -> int | Atom:
    assert isinstance(count, int | Num)
    return count.atom if isinstance(count, Num) else count


def _count(extent: Atom) -> int | Atom:
    return int(extent.value.real) if isinstance(extent, Const) else extent


def _add(emit: Emit, left: Value, right: Value) -> Value:
    return _arithmetic(emit, "add", left, right)


def _arithmetic(emit: Emit, name: str, left: Value, right: Value) -> Value:
    if isinstance(left, int) and isinstance(right, int):
        return left + right if name == "add" else left * right
    return emit.arithmetic(name, left, right)


def _reversed(emit: Emit, forwards: Sequence) -> Sequence:
    def item(index: Index) -> Value:
        if isinstance(index, int) and isinstance(forwards.count, int):
            return forwards.item(forwards.count - 1 - index)
        last = ops.apply(emit.builder, "sub", forwards.stop, const(1))
        at = const(index) if isinstance(index, int) else index
        found = ops.apply(emit.builder, "sub", last, at)
        if isinstance(found, Var):
            emit.indices[found] = forwards.stop
            return forwards.item(found)
        return forwards.item(int(found.value.real))

    return Sequence(forwards.count, item)


def _least(emit: Emit, parts: list[Sequence]) -> int | Atom:
    counts = list(dict.fromkeys(part.count for part in parts))
    known = [n for n in counts if isinstance(n, int)]
    found: list[Atom] = [n for n in counts if not isinstance(n, int)]
    if not found:
        return min(known)
    if known:
        found.append(const(min(known)))
    least = found[0]
    for other in found[1:]:
        least = ops.apply(emit.builder, "minimum", least, other)
    return _count(least)


def _range(emit: Emit, over: Range) -> Sequence:
    bounds = (over.start, over.stop, over.step)
    if any(not scalars.dtype(emit, bound).startswith(("int", "uint", "bool")) for bound in bounds):
        emit.fail("the bounds of a range must be integers", instead="range(int(n))")
    start, stop, step = over.start, over.stop, over.step
    if isinstance(step, int) and step == 0:
        emit.fail("the step of a range is zero")
    if all(isinstance(bound, int) for bound in bounds):
        known = range(start, stop, step)  # type: ignore[call-overload]
        count: int | Atom = len(known)
    else:
        count = _trips(emit, start, stop, step)

    def item(index: Index) -> Value:
        return _add(emit, start, _arithmetic(emit, "mul", number(index), step))

    return Sequence(count, item)


def _trips(emit: Emit, start: Value, stop: Value, step: Value) -> Atom:
    """ceil((stop - start) / step), at least 0."""
    builder = emit.builder
    if not isinstance(step, int):
        by = scalars.to_atom(emit, step, "int64")
        some = ops.apply(builder, "ne", by, const(0))
        builder.check(some, "ValueError", "range() arg 3 must not be zero")
        span = emit.op("floordiv", emit.op("sub", start, stop), Num(by, True))
        trips = scalars.to_atom(emit, emit.op("neg", span), "int64")
        return ops.apply(builder, "maximum", trips, const(0))
    span = emit.op("sub", stop, start) if step > 0 else emit.op("sub", start, stop)
    if abs(step) != 1:
        span = emit.op("floordiv", emit.op("add", span, abs(step) - 1), abs(step))
    atom = scalars.to_atom(emit, span, "int64")
    if step == 1 and isinstance(start, int) and start == 0 and scalars.not_negative(emit, atom):
        return atom
    return ops.apply(builder, "maximum", atom, const(0))
