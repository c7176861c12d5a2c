"""Lists and dictionaries that the traced code makes and changes.

A `Box` is the object; what is in it is looked up in `Emit.heap`, which branches and loops join as
they join names. A list of a length known while tracing is a tuple there. One that grows by the run
is `Grown`: a buffer for each leaf of its items, and a count. Where such a list is found out, the
trace starts again with the list growable from its birth on (`Retrace`). Items that are arrays are
copied in and out; that nothing writes them afterwards is asked of the transform (`Sealed`).
"""

import inspect
from collections.abc import Callable, Collection, Iterator
from dataclasses import dataclass, replace

from srcad import ops
from srcad.ir.nodes import Atom, Var, const
from srcad.tracer import elementwise, indexing, joins, scalars
from srcad.tracer.joins import Array, Kind, Number
from srcad.tracer.values import LISTED, Arr, Box, Emit, Grown, Num, Option, Record, Retrace, Value

START = 8  # items that a new buffer has room for
SEALED = (
    "an array in a list is written to afterwards",
    "the list would change too, and lists that grow hold copies",
    "put a copy into the list: `items.append(x.copy())`",
)

# -- what is in a box


def make_list(emit: Emit, items: tuple[Value, ...], hint: str = "items") -> Box:
    """A new list; growable from the start where an earlier trace asked for it."""
    box = emit.boxed(items)
    item = emit.growth.item(box)
    if item is not None:
        emit.heap[box] = grown(emit, items, item)  # type: ignore[arg-type]
    return box


def grown(emit: Emit, items: tuple[Value, ...], item: Kind) -> Grown:
    """The items in growable buffers."""
    room = const(max(START, len(items)))
    made = Grown(item, tuple(_buffer(emit, leaf, room) for leaf in joins.flattened(item)), 0)
    for k, value in enumerate(items):
        put(emit, made, const(k), value)
    return Grown(item, made.buffers, len(items))


def _buffer(emit: Emit, leaf: Number | Array, room: Atom) -> Var:
    kind = joins.buffer_kind(leaf)
    extents = tuple(n for n in kind.shape[1:] if n is not None)
    return elementwise.new(emit, kind.type.dtype, (room, *extents), None, "items").var


def opened(emit: Emit, value: Value) -> Value:
    """The value with tuples, dictionaries and arrays in place of the boxes in it."""
    match value:
        case Box():
            return opened(emit, emit.heap[value])
        case Grown():
            return as_array(emit, value)
        case tuple() if any(isinstance(item, Box | tuple | dict) for item in value):
            parts = [opened(emit, item) for item in value]
            return joins.rebuilt(value, parts)
        case Record(items=items):
            return replace(value, items=tuple(opened(emit, item) for item in items))
        case dict() if any(isinstance(item, Box | tuple | dict) for item in value.values()):
            return {key: opened(emit, item) for key, item in value.items()}
        case _:
            return value


def given(emit: Emit, value: Value) -> Value:
    """What a function returns, boxes opened. A list of a length of the run is refused."""
    match value:
        case Option(value=inner, known=known, absent=absent):
            return Option(given(emit, inner), known, absent)
        case Box() if isinstance(emit.heap[value], Grown):
            emit.fail(
                "the function returns a list whose length is known at run time only",
                "results are numbers, arrays, and tuples of these",
                "return an array: `return np.array(items)`",
            )
        case _:
            return opened(emit, value)


def as_array(emit: Emit, content: Grown) -> Arr:
    """A copy of a list of numbers or equal arrays."""
    if len(content.buffers) != 1 or isinstance(content.item, joins.Items):
        emit.fail(
            "a list of tuples is used as an array", "its length is known at run time only",
            "keep one list for each part",
        )  # fmt: skip
    return elementwise.copy(emit, window(emit, content, content.buffers[0]))


def window(emit: Emit, content: Grown, buffer: Var) -> Arr:
    """The part of a buffer that the list fills, under the extents that it has."""
    leaf = joins.flattened(content.item)[content.buffers.index(buffer)]  # type: ignore[arg-type]
    count = scalars.to_atom(emit, content.count, "int64")
    inner = leaf.shape if isinstance(leaf, Array) else ()
    extents = (
        emit.builder.dim(buffer, axis + 1) if n is None else n for axis, n in enumerate(inner)
    )
    return Arr(buffer, (count, *extents))


def length(emit: Emit, box: Box) -> Value:
    content = emit.heap[box]
    return content.count if isinstance(content, Grown) else len(content)  # type: ignore[arg-type]


def rows(emit: Emit, content: Value, item: Kind) -> Iterator[Atom]:
    """The count, and arrays of this length that nobody else has."""
    if isinstance(content, tuple):
        count: Value = len(content)
    else:
        assert isinstance(content, Grown)
        count = content.count
    atom = scalars.to_atom(emit, count, "int64")
    yield atom
    for k, leaf in enumerate(joins.flattened(item)):
        buffer = _buffer(emit, leaf, atom)
        target = Arr(buffer, (atom, *(n for n in joins.buffer_kind(leaf).shape[1:] if n)))
        if isinstance(content, Grown):
            indexing.fill(emit, target, window(emit, content, content.buffers[k]))
        else:
            for at, value in enumerate(content):
                indexing.setitem(emit, target, at, _parts(emit, item, value)[k])
        emit.memory.joined.add(emit.memory.root(buffer))
        yield buffer


# -- growing


def demand(emit: Emit, box: Box, *kinds: Kind | None) -> None:
    """Asks for a list that is growable from its birth on, with items of all these kinds."""
    found = [kind for kind in kinds if kind is not None]
    item = joins.seen_from(emit, joins.item_kind("items", joins.Items(tuple(found))), box.before)  # type: ignore[arg-type]
    if not found or not joins.leafable(item):
        emit.fail(
            "a list whose length is known at run time only holds different things",
            "its items must all be numbers, or arrays of one shape that is known where it is made",
            "keep arrays of different shapes in separate names, or stack them",
        )
    if emit.growth.item(box) == item:
        emit.fail("the items of this list do not settle", instead="start with floats: [0.0]")
    raise Retrace(box, item)


def growable(emit: Emit, box: Box, *contents: Value) -> bool:
    """Whether `agree` would ask for a growable list and could get it."""
    kinds = [joins.item_kind("items", joins.kind_of(emit, content)) for content in contents]
    found = [kind for kind in kinds if kind is not None]
    return bool(found) and joins.leafable(
        joins.seen_from(emit, joins.item_kind("", joins.Items(tuple(found))), box.before)  # type: ignore[arg-type]
    )


def agree(emit: Emit, box: Box, first: Value, second: Value) -> Kind:
    """The kind of what is in one box on two paths; where lengths differ the list must grow."""
    kinds = joins.kind_of(emit, first), joins.kind_of(emit, second)
    match kinds:
        case (joins.Items(items=a), joins.Items(items=b)) if len(a) == len(b):
            return joins.unify(box.hint, *kinds)
        case (joins.Items() | joins.Filled(), joins.Items() | joins.Filled()) if (
            kinds[0] != kinds[1]
        ):
            demand(emit, box, *(joins.item_kind(box.hint, kind) for kind in kinds))
        case _:
            pass
    return joins.unify(box.hint, *kinds)


def changeable(emit: Emit, box: Box) -> None:
    if box.fixed:
        emit.fail(
            "a list or dictionary is changed here", box.fixed,
            "copy it where the names part: `items = list(items)`",
        )  # fmt: skip


def _fitting(emit: Emit, box: Box, content: Grown, value: Value) -> None:
    """Asks for wider items where the value does not fit the list's."""
    own = joins.kind_of(emit, value)
    item: Kind = content.item  # type: ignore[assignment]
    both = joins.unify("items", item, own)
    if _bare(both) != _bare(item):
        demand(emit, box, item, own)


def _bare(kind: Kind) -> object:
    """The kind without extents and weakness."""
    match kind:
        case Number(dtype=dtype):
            return dtype
        case Array(type=array):
            return array.dtype, array.ndim
        case joins.Items(items=items, cls=cls):
            return cls, tuple(map(_bare, items))
        case _:
            return kind


def put(emit: Emit, content: Grown, at: Atom, value: Value) -> None:
    """Writes an item at an index that is in range."""
    item: Kind = content.item  # type: ignore[assignment]
    for buffer, part in zip(content.buffers, _parts(emit, item, value), strict=True):
        if isinstance(part, Arr) and part.shape:
            row = indexing.row(emit, window(emit, content, buffer), at)
            for own, extent in zip(part.shape, row.shape, strict=True):
                elementwise.same_extent(emit, own, extent, "the arrays in a list differ in shape")
            indexing.fill(emit, row, part)
            emit.builder.seal(part.var, *SEALED)
        else:
            dtype = buffer.type.dtype
            emit.builder.store(buffer, (at,), scalars.to_atom(emit, part, dtype))


def _parts(emit: Emit, item: Kind, value: Value) -> list[Value]:
    """The numbers and arrays that an item consists of."""
    if isinstance(item, joins.Items):
        assert isinstance(value, tuple)
        pairs = zip(item.items, value, strict=True)
        return [part for kind, inner in pairs for part in _parts(emit, kind, inner)]
    return [value]


def take(emit: Emit, content: Grown, at: Atom) -> Value:
    """The item at an index that is in range; arrays are copies that may not be written."""
    item: Kind = content.item  # type: ignore[assignment]
    atoms: list[Atom] = []
    for buffer in content.buffers:
        whole = window(emit, content, buffer)
        if len(whole.shape) == 1:
            atoms.append(emit.builder.load(buffer, at))
            continue
        made = elementwise.copy(emit, indexing.row(emit, whole, at))
        emit.memory.frozen[made.var] = LISTED
        atoms.append(made.var)
    return joins.value(emit, item, iter(atoms))


def index(emit: Emit, content: Grown, key: Value) -> Atom:
    """An index of the list, counted from its end where it is negative."""
    return indexing.checked(emit, key, scalars.to_atom(emit, content.count, "int64"))


# -- methods


def append(emit: Emit, box: Box, value: Value) -> None:
    changeable(emit, box)
    content = emit.heap[box]
    if isinstance(content, tuple):
        emit.heap[box] = (*content, value)
        return
    assert isinstance(content, Grown)
    _fitting(emit, box, content, value)
    at = scalars.to_atom(emit, content.count, "int64")
    after = _room(emit, content, at, 1)
    put(emit, content, at, value)
    emit.heap[box] = Grown(content.item, content.buffers, after)


def _room(emit: Emit, content: Grown, count: Atom, more: Value) -> Value:
    """Room for some items more; the count with them."""
    after = emit.op("add", scalars.number(count), more)  # type: ignore[attr-defined]
    for buffer in content.buffers:
        emit.builder.grow(buffer, scalars.to_atom(emit, after, "int64"))
    return after


def extend(emit: Emit, box: Box, values: Value) -> None:
    changeable(emit, box)
    content, more = emit.heap[box], emit.heap[values] if isinstance(values, Box) else values
    if isinstance(more, tuple | list):
        for value in more:
            append(emit, box, value)
        return
    if isinstance(more, Arr):
        with emit.builder.block():  # the kind of an item; there may be none
            item = joins.kind_of(emit, indexing.getitem(emit, more, 0))
        more = Grown(item, (more.var,), scalars.number(more.shape[0]))
    if not isinstance(more, Grown):
        emit.fail("a list is extended by lists, tuples and arrays only")
    if isinstance(content, tuple):
        demand(emit, box, joins.item_kind("", joins.kind_of(emit, content)), more.item)  # type: ignore[arg-type]
    assert isinstance(content, Grown)
    if _bare(joins.unify("", content.item, more.item)) != _bare(content.item):  # type: ignore[arg-type]
        demand(emit, box, content.item, more.item)  # type: ignore[arg-type]
    count = scalars.to_atom(emit, content.count, "int64")
    after = _room(emit, content, count, more.count)
    whole = Grown(content.item, content.buffers, after)
    for buffer, source in zip(content.buffers, more.buffers, strict=True):
        target = indexing.getitem(
            emit, window(emit, whole, buffer), slice(scalars.number(count), None)
        )
        assert isinstance(target, Arr)
        indexing.fill(
            emit,
            target,
            indexing.apart(emit, window(emit, more, source), target, reads_itself=False),
        )
    emit.heap[box] = whole


def pop(emit: Emit, box: Box, key: Value = -1) -> Value:
    changeable(emit, box)
    content = emit.heap[box]
    if isinstance(content, dict):
        return _popped_key(emit, box, content, key)
    if isinstance(content, tuple) and isinstance(key, int):
        if not -len(content) <= key < len(content):
            emit.fail("pop from an empty list" if not content else "pop index out of range")
        k = key % len(content)
        emit.heap[box] = (*content[:k], *content[k + 1 :])
        return content[k]
    if isinstance(content, tuple):
        demand(emit, box, joins.item_kind("", joins.kind_of(emit, content)))
    assert isinstance(content, Grown)
    _not_empty(emit, content)
    at = index(emit, content, key)
    found = take(emit, content, at)
    if not (isinstance(key, int) and key == -1):
        _shift(emit, content, scalars.number(at), down=True)
    after = emit.op("sub", content.count, 1)  # type: ignore[attr-defined]
    emit.heap[box] = Grown(content.item, content.buffers, after)
    return found


def _popped_key(emit: Emit, box: Box, content: dict[object, Value], key: Value) -> Value:
    if isinstance(key, Num | Arr) or key not in content:
        emit.fail(f"the dictionary has no key {key!r}")
    emit.heap[box] = {k: v for k, v in content.items() if k != key}
    return content[key]


def _not_empty(emit: Emit, content: Grown) -> None:
    count = scalars.to_atom(emit, content.count, "int64")
    some = ops.apply(emit.builder, "gt", count, const(0))
    if some != const(True, "bool"):
        emit.builder.check(some, "IndexError", "pop from empty list")


def _shift(emit: Emit, content: Grown, at: Value, *, down: bool) -> None:
    """Moves the items behind an index by one place."""
    for buffer in content.buffers:
        whole = window(emit, content, buffer)
        behind = indexing.getitem(emit, whole, slice(emit.op("add", at, 1), None))  # type: ignore[attr-defined]
        key = slice(at, emit.op("sub", content.count, 1))  # type: ignore[attr-defined]
        before = indexing.getitem(emit, whole, key)
        assert isinstance(behind, Arr) and isinstance(before, Arr)
        source, target = (behind, before) if down else (before, behind)
        indexing.fill(emit, target, indexing.apart(emit, source, target, reads_itself=False))


def insert(emit: Emit, box: Box, key: Value, value: Value) -> None:
    changeable(emit, box)
    content = emit.heap[box]
    if isinstance(content, tuple) and isinstance(key, int):
        items = list(content)
        items.insert(key, value)
        emit.heap[box] = tuple(items)
        return
    if isinstance(content, tuple):
        demand(emit, box, *map(_kind(emit), content), joins.kind_of(emit, value))
    assert isinstance(content, Grown)
    _fitting(emit, box, content, value)
    count = scalars.to_atom(emit, content.count, "int64")
    at = _clipped(emit, key, content.count)
    whole = Grown(content.item, content.buffers, _room(emit, content, count, 1))
    _shift(emit, whole, at, down=False)
    put(emit, whole, scalars.to_atom(emit, at, "int64"), value)
    emit.heap[box] = whole


def _kind(emit: Emit) -> Callable[[Value], Kind]:
    return lambda value: joins.kind_of(emit, value)


def _clipped(emit: Emit, key: Value, count: Value) -> Value:
    """Where `insert` puts an item: beyond the ends it is at the ends."""
    op = emit.op  # type: ignore[attr-defined]
    if isinstance(key, int):
        return op("minimum", key, count) if key >= 0 else op("maximum", op("add", key, count), 0)
    wrapped = op("select", op("lt", key, 0), op("add", key, count), key)
    return op("maximum", op("minimum", wrapped, count), 0)


def clear(emit: Emit, box: Box) -> None:
    changeable(emit, box)
    content = emit.heap[box]
    if isinstance(content, Grown):
        emit.heap[box] = Grown(content.item, content.buffers, 0)
    else:
        emit.heap[box] = () if isinstance(content, tuple) else {}


def copy(emit: Emit, box: Box) -> Box:
    """A new list with the same items."""
    content = emit.heap[box]
    if isinstance(content, dict):
        return emit.boxed(content)
    made = make_list(emit, ())
    extend(emit, made, box)
    return made


def reverse(emit: Emit, box: Box) -> None:
    changeable(emit, box)
    content = emit.heap[box]
    if isinstance(content, tuple):
        emit.heap[box] = content[::-1]
        return
    assert isinstance(content, Grown)
    for buffer in content.buffers:
        whole = window(emit, content, buffer)
        backwards = indexing.getitem(emit, whole, slice(None, None, -1))
        indexing.setitem(emit, whole, slice(None), backwards)


@dataclass(frozen=True)
class Method:
    """A method of a list or dictionary, and the object it was asked of."""

    box: Box
    name: str


def methods(emit: Emit, box: Box) -> Collection[str]:
    """The methods that change a box, or copy it."""
    return ("pop", "clear", "copy") if isinstance(emit.heap[box], dict) else METHODS


def call(emit: Emit, method: Method, args: list[Value], kwargs: dict[str, Value]) -> Value:
    try:
        inspect.signature(METHODS[method.name]).bind(emit, method.box, *args, **kwargs)
    except TypeError as error:
        emit.fail(f"these arguments are not supported yet: {error}")
    return METHODS[method.name](emit, method.box, *args, **kwargs)


def content(emit: Emit, value: Value) -> Value:
    """What is in a box; any other value is itself."""
    return emit.heap[value] if isinstance(value, Box) else value


METHODS: dict[str, Callable[..., Value]] = {
    "append": append, "clear": clear, "copy": copy, "extend": extend, "insert": insert,
    "pop": pop, "reverse": reverse,
}  # fmt: skip


# -- subscripts


def store(emit: Emit, box: Box, key: Value, value: Value) -> None:
    """box[key] = value."""
    changeable(emit, box)
    content = emit.heap[box]
    if isinstance(content, dict):
        if not isinstance(key, str | int):
            emit.fail("the keys of a dictionary must be known strings or integers")
        emit.heap[box] = {**content, key: value}
        return
    if isinstance(key, slice):
        emit.fail("a slice of a list is assigned", instead="assign the items in a loop")
    if isinstance(content, tuple) and isinstance(key, int):
        if not -len(content) <= key < len(content):
            emit.fail("this subscript fails: list assignment index out of range")
        k = key % len(content)
        emit.heap[box] = (*content[:k], value, *content[k + 1 :])
        return
    if isinstance(content, tuple):
        demand(emit, box, *map(_kind(emit), content), joins.kind_of(emit, value))
    assert isinstance(content, Grown)
    _fitting(emit, box, content, value)
    put(emit, content, index(emit, content, key), value)


def sliced(emit: Emit, box: Box, key: slice) -> Box:
    """A new list of some of the items."""
    content = emit.heap[box]
    bounds = (key.start, key.stop, key.step)
    if isinstance(content, tuple) and all(b is None or isinstance(b, int) for b in bounds):
        return make_list(emit, content[key])
    if isinstance(content, tuple):
        demand(emit, box, *map(_kind(emit), content))
    assert isinstance(content, Grown)
    parts = [indexing.getitem(emit, window(emit, content, b), key) for b in content.buffers]
    views = [part for part in parts if isinstance(part, Arr)]
    made = make_list(emit, ())
    if isinstance(emit.heap[made], tuple):
        demand(emit, made, content.item)  # type: ignore[arg-type]
    count = scalars.number(views[0].shape[0])
    extend(emit, made, emit.boxed(Grown(content.item, tuple(v.var for v in views), count)))
    return made


def repeated(emit: Emit, box: Box, times: Value) -> Box:
    """items * n."""
    content = emit.heap[box]
    if isinstance(content, tuple) and isinstance(times, int) and times * len(content) <= 64:
        return make_list(emit, content * times)
    if not isinstance(content, tuple) or len(content) != 1:
        emit.fail("only a list of one item is repeated", instead="append in a loop")
    made = make_list(emit, ())
    room = emit.heap[made]
    if isinstance(room, tuple):
        demand(emit, made, joins.kind_of(emit, content[0]))
    assert isinstance(room, Grown)
    _fitting(emit, made, room, content[0])
    count = ops.apply(emit.builder, "maximum", scalars.to_atom(emit, times, "int64"), const(0))
    after = _room(emit, room, const(0), scalars.number(count))
    whole = Grown(room.item, room.buffers, after)
    elementwise.nest(emit, (count,), lambda at: put(emit, whole, at[0], content[0]))
    emit.heap[made] = whole
    return made
