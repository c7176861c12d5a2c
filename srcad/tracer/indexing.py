"""Subscripts: elements, views, and writes through them, as NumPy has them.

Integers and slices (NumPy's basic indexing) only. Bounds of slices are clipped at run time where
they are not constants; lengths are kept in a simple form: `n` for `[:]`, `maximum(n - 1, 0)` for
`[1:]` and `[:-1]`.
"""

from collections.abc import Callable

import numpy as np

from srcad import ops
from srcad.ir.nodes import (
    Atom,
    Const,
    Index,
    NewAxis,
    Permute,
    Reshape,
    Slice,
    Subscript,
    Var,
    array_type,
    const,
)
from srcad.ir.types import FLOATS
from srcad.tracer import arithmetic, elementwise, scalars
from srcad.tracer.values import Arr, Emit, Value

ZERO, ONE = const(0), const(1)
Extents = tuple[Atom, ...]


# -- one axis


def checked(emit: Emit, value: Value, extent: Atom, axis: int = 0) -> Atom:
    """An index in range: wrapped where it may be negative, checked where it may be too large."""
    at = scalars.index_atom(emit, value)
    if counts(emit, at, extent):
        return at
    if isinstance(at, Const):
        known = int(at.value.real)
        at = at if known >= 0 else ops.apply(emit.builder, "sub", extent, const(-known))
    elif not scalars.not_negative(emit, at):
        given = at
        at = emit.once(("wrap", at, extent), lambda: ops.apply(emit.builder, "wrap", given, extent))
    _inside(emit, at, extent, axis)
    return at


def _inside(emit: Emit, at: Atom, extent: Atom, axis: int) -> None:
    def check() -> Atom:
        inside = ops.apply(emit.builder, "within", at, extent)
        if isinstance(inside, Const) and not inside.value:
            emit.fail(f"this index is out of bounds for axis {axis} with size {extent}")
        if not isinstance(inside, Const):
            message = f"index is out of bounds for axis {axis}"
            emit.builder.check(inside, "IndexError", message)
        return at

    emit.once(("within", at, extent), check)


def counts(emit: Emit, at: Atom, extent: Atom) -> bool:
    """Whether `at` is the index of a loop over exactly this extent."""
    return isinstance(at, Var) and emit.indices.get(at) == extent


def bounds(emit: Emit, part: slice, extent: Atom) -> Slice:
    """Start, length and step of a slice, clipped as NumPy clips."""
    step = 1 if part.step is None else part.step
    if not isinstance(step, int | np.integer) or isinstance(step, bool):
        emit.fail(
            "the step of a slice must be a known integer",
            "the sign of the step decides which bounds are meant",
            "write a constant step, or a loop",
        )
    if step == 0:
        emit.fail("the step of a slice is zero")
    if step < 0:
        return _backwards(emit, part, extent, int(step))
    start, stop = part.start, part.stop
    first = ZERO if start is None else _low(emit, start, extent)
    if first == ZERO and stop is None:
        length = extent
    else:
        length = _length(emit, first, stop, extent)
    return Slice(first, _in_steps(emit, length, int(step)), const(int(step)))


def _low(emit: Emit, value: Value, extent: Atom) -> Atom:
    """A first bound; one behind the end makes the length 0, whose start is not looked at."""
    at = scalars.index_atom(emit, value)
    if scalars.not_negative(emit, at):
        return at
    wrapped = ops.apply(emit.builder, "wrap", at, extent)
    return ops.apply(emit.builder, "maximum", wrapped, ZERO)


def _length(emit: Emit, start: Atom, stop: Value, extent: Atom) -> Atom:
    """maximum(stop - start, 0); for constant bounds counted from the ends `n - k`."""
    at = None if stop is None else scalars.index_atom(emit, stop)
    end = 0 if at is None else int(at.value.real) if isinstance(at, Const) else None
    if isinstance(start, Const) and end is not None and (at is None or end < 0):
        return shorter(emit, extent, int(start.value.real) - end)

    def make() -> Atom:
        builder, stop = emit.builder, extent if at is None else at
        if not scalars.not_negative(emit, stop):
            stop = ops.apply(builder, "wrap", stop, extent)
        last = ops.apply(builder, "minimum", stop, extent)
        return _positive(emit, ops.apply(builder, "sub", last, start))

    return emit.once(("length", start, at, extent), make)


def shorter(emit: Emit, extent: Atom, less: int) -> Atom:
    """maximum(extent - less, 0): one atom for `x[1:]` and `x[:-1]`."""
    base, before = emit.lengths.get(extent, (extent, 0))
    total = before + less

    def make() -> Atom:
        length = _positive(emit, ops.apply(emit.builder, "sub", base, const(total)))
        emit.lengths[length] = base, total
        return length

    return extent if less == 0 else emit.once(("shorter", base, total), make)


def _positive(emit: Emit, atom: Atom) -> Atom:
    if scalars.not_negative(emit, atom):
        return atom
    return ops.apply(emit.builder, "maximum", atom, ZERO)


def _in_steps(emit: Emit, length: Atom, step: int) -> Atom:
    """How many of `length` places are met in steps: (length + step - 1) // step."""
    if step == 1:
        return length

    def make() -> Atom:
        up = ops.apply(emit.builder, "add", length, const(step - 1))
        return ops.apply(emit.builder, "floordiv", up, const(step))

    return emit.once(("steps", length, step), make)


def _backwards(emit: Emit, part: slice, extent: Atom, step: int) -> Slice:
    """A slice of negative step: its bounds are clipped to [-1, n - 1]."""
    builder = emit.builder
    last = ops.apply(builder, "sub", extent, ONE)

    def clipped(value: Value) -> Atom:
        at = scalars.index_atom(emit, value)
        if not scalars.not_negative(emit, at):
            at = ops.apply(builder, "wrap", at, extent)
            at = ops.apply(builder, "maximum", at, const(-1))
        return ops.apply(builder, "minimum", at, last)

    start = last if part.start is None else clipped(part.start)
    if part.start is None and part.stop is None:
        length = extent
    else:
        stop = const(-1) if part.stop is None else clipped(part.stop)
        length = _positive(emit, ops.apply(builder, "sub", start, stop))
    return Slice(start, _in_steps(emit, length, -step), const(step))


# -- views


def viewed(
    emit: Emit, array: Arr, how: Subscript | Permute | Reshape, shape: Extents, hint: str = ""
) -> Arr:
    """A view, remembered as one."""
    out = emit.builder.view(array.var, how, hint or None)
    emit.memory.roots[out] = emit.memory.root(array.var)
    return Arr(out, shape)


def parts(emit: Emit, array: Arr, key: Value) -> list[Value]:
    """One subscript per axis: Ellipsis and missing axes are filled with full slices."""
    keys = list(key) if isinstance(key, tuple) else [key]
    for k in keys:
        _refuse_fancy(emit, k)
    axes = sum(k is not None and k is not Ellipsis for k in keys)
    ndim = len(array.shape)
    if axes > ndim:
        emit.fail(f"too many indices: the array has {ndim} dimensions, {axes} are indexed")
    places = [n for n, k in enumerate(keys) if k is Ellipsis]
    if len(places) > 1:
        emit.fail("an index can have only one Ellipsis")
    missing: list[Value] = [slice(None)] * (ndim - axes)
    if places:
        return [*keys[: places[0]], *missing, *keys[places[0] + 1 :]]
    return [*keys, *missing]


def _refuse_fancy(emit: Emit, key: Value) -> None:
    """Refuses what is not basic indexing, a 0-d integer array left out."""
    if isinstance(key, Arr) and key.shape or isinstance(key, list | tuple):
        kind = "mask" if isinstance(key, Arr) and scalars.dtype(emit, key) == "bool" else "array"
        if kind == "mask":
            instead = "use np.where(mask, x, ...), or a loop with an `if`"
        else:
            instead = "loop over the indices: `for k in range(...): ... x[index[k]]`"
        emit.fail(f"an index that is a{'n' if kind == 'array' else ''} {kind} is not supported yet",
                  "only integers, slices, None and Ellipsis are", instead)  # fmt: skip


def place(emit: Emit, array: Arr, key: Value) -> Arr | Extents:
    """What a subscript names: a view, or the indices of one element."""
    keys = parts(emit, array, key)
    whole = key is Ellipsis or isinstance(key, tuple) and any(k is Ellipsis for k in key)
    if not whole and not any(isinstance(k, slice) or k is None for k in keys):
        pairs = enumerate(zip(keys, array.shape, strict=True))
        return tuple(checked(emit, k, n, axis) for axis, (k, n) in pairs)
    items: list[Index | Slice | NewAxis] = []
    shape: list[Atom] = []
    axis = 0
    for k in keys:
        if k is None:
            items.append(NewAxis())
            shape.append(ONE)
            continue
        extent = array.shape[axis]
        if isinstance(k, slice):
            items.append(bounds(emit, k, extent))
            shape.append(items[-1].length)  # type: ignore[union-attr]
        else:
            items.append(Index(checked(emit, k, extent, axis)))
        axis += 1
    if all(isinstance(k, slice) and k == slice(None) for k in keys):
        return array
    return viewed(emit, array, Subscript(tuple(items)), tuple(shape))


def getitem(emit: Emit, array: Arr, key: Value) -> Value:
    """`array[key]`: an element or a view."""
    found = place(emit, array, key)
    return found if isinstance(found, Arr) else scalars.load(emit, array, found)


def row(emit: Emit, array: Arr, at: Atom) -> Arr:
    """`array[at]` of an array of more dimensions, at an index that is in range."""
    whole = tuple(Slice(ZERO, n, ONE) for n in array.shape[1:])
    return viewed(emit, array, Subscript((Index(at), *whole)), array.shape[1:])


def permuted(emit: Emit, array: Arr, axes: tuple[int, ...]) -> Arr:
    """Axis k of the view is axis axes[k] of the array."""
    if axes == tuple(range(len(axes))):
        return array
    return viewed(emit, array, Permute(axes), tuple(array.shape[k] for k in axes))


def transposed(emit: Emit, array: Arr) -> Arr:
    """`array.T`."""
    return permuted(emit, array, tuple(reversed(range(len(array.shape)))))


# -- writes


def writable(emit: Emit, array: Arr) -> None:
    """Refuses a write into a read-only array, or into one of which NumPy may share a copy."""
    if not array_type(array.var).writable:
        emit.fail("this array is read-only", instead="write into a copy: `y = x.copy()`")
    memory = emit.memory
    root = memory.root(array.var)
    if root in memory.frozen:
        emit.fail(*memory.frozen[root])
    memory.writes.append((root, tuple(emit.builder.open)))


def setitem(emit: Emit, array: Arr, key: Value, new: Value) -> None:
    """`array[key] = new`: the right side is read in full before anything is written."""
    writable(emit, array)
    target = place(emit, array, key)
    dtype = scalars.dtype(emit, array)
    new = literal(emit, new)
    if not isinstance(target, Arr):
        emit.builder.store(array.var, target, scalars.to_atom(emit, new, dtype))
        return
    fill(emit, target, apart(emit, new, target, reads_itself=False))


def literal(emit: Emit, value: Value) -> Value:
    """The right side of an assignment: a nested tuple or list becomes an array."""
    if isinstance(value, tuple | list):
        emit.fail(
            "a tuple or list is written into an array",
            instead="make it an array: `a[...] = np.array([...])`",
        )
    return elementwise.constant(emit, value) if isinstance(value, np.ndarray) else value


def apart(emit: Emit, value: Value, target: Arr, *, reads_itself: bool) -> Value:
    """The value, copied if it may share memory with the target at other places."""
    if not isinstance(value, Arr) or emit.memory.apart(value.var, target.var):
        return value
    if reads_itself and value.var == target.var:
        return value
    return elementwise.copy(emit, value)


def fill(emit: Emit, target: Arr, new: Value) -> None:
    """Writes a value, broadcast, into every element."""
    new = _to_shape(emit, new, target.shape)
    read = elementwise.reader(emit, new, target.shape)
    dtype = scalars.dtype(emit, target)
    elementwise.nest(
        emit,
        target.shape,
        lambda index: emit.builder.store(
            target.var, index, scalars.to_atom(emit, read(index), dtype)
        ),
    )


def _to_shape(emit: Emit, value: Value, shape: Extents) -> Value:
    """The value with leading axes of length 1 dropped; its axes can be stretched to `shape`."""
    if not isinstance(value, Arr):
        return value
    more = len(value.shape) - len(shape)
    if more > 0:
        if any(extent != ONE for extent in value.shape[:more]):
            emit.fail(f"an array of {len(value.shape)} dimensions is written into {len(shape)}")
        dropped = Subscript(
            (*[Index(ZERO)] * more, *(Slice(ZERO, n, ONE) for n in value.shape[more:]))
        )
        value = viewed(emit, value, dropped, value.shape[more:])
    for own, extent in zip(reversed(value.shape), reversed(shape), strict=False):
        elementwise.fits(emit, own, extent)
    return value


def augmented(emit: Emit, array: Arr, key: Value, name: str, given: Callable[[], Value]) -> None:
    """`array[key] op= given()`, in place; the subscript is evaluated once.

    An element is read before the right side is evaluated, which may write it.
    """
    writable(emit, array)
    target = place(emit, array, key)
    dtype = scalars.dtype(emit, array)
    before = None if isinstance(target, Arr) else scalars.load(emit, array, target)
    value = literal(emit, given())
    _same_kind(emit, dtype, name, value)
    if not isinstance(target, Arr):
        after = scalars.to_atom(emit, arithmetic.arithmetic(emit, name, before, value), dtype)
        emit.builder.store(array.var, target, after)
        return
    value = _to_shape(emit, apart(emit, value, target, reads_itself=True), target.shape)
    read = elementwise.reader(emit, value, target.shape)

    def body(index: Extents) -> None:
        before = scalars.load(emit, target, index)
        after = arithmetic.arithmetic(emit, name, before, read(index))
        emit.builder.store(target.var, index, scalars.to_atom(emit, after, dtype))

    elementwise.nest(emit, target.shape, body)


def _same_kind(emit: Emit, dtype: str, name: str, value: Value) -> None:
    """NumPy refuses to write floats into integers in place."""
    if dtype not in FLOATS and (name == "div" or scalars.dtype(emit, value) in FLOATS):
        emit.fail(
            f"a float is written in place into an array of {dtype}",
            "NumPy refuses it too",
            "make the array one of floats",
        )
