"""What a name means after a branch, and inside and after a loop: values of two paths made one.

A `Kind` says what a name may be on all paths: a number of a dtype, an array, a tuple of kinds,
something known while tracing, or one of these that some paths leave unset or None (then a bool
goes along, and a placeholder that is never read). `unify` finds the kind of two; `leaves` gives
the atoms of a value as that kind; `value` makes a value of the atoms that a join defines.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, assert_never

import numpy as np

from srcad.ir import types
from srcad.ir.nodes import Atom, Const, Var, array_type, const
from srcad.tracer import scalars
from srcad.tracer.values import (
    RESHAPED,
    UNSET,
    Arr,
    Box,
    Emit,
    Grown,
    Held,
    Num,
    Option,
    Record,
    Unset,
    Useless,
    Value,
)

FREE = Unset()  # what an unset name is where nobody can read it: any number stands for it


@dataclass(frozen=True, slots=True)
class Number:
    dtype: str
    weak: bool


@dataclass(frozen=True, slots=True)
class Array:
    """An array; `shape` has the extents that are the same on all paths."""

    type: types.Array
    shape: tuple[Atom | None, ...]


@dataclass(frozen=True, slots=True)
class Items:
    """A tuple; `cls` is a namedtuple's class, or a dataclass's with its `names`."""

    items: tuple["Kind", ...]
    cls: type | None = None
    names: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """Something known while tracing, or the same value on all paths."""

    value: Value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Known) and identical(self.value, other.value)

    __hash__ = None  # type: ignore[assignment]


@dataclass(frozen=True, slots=True)
class Perhaps:
    """`kind`, or `absent` on some paths; kind None: on all."""

    kind: "Kind | None"
    absent: Value


@dataclass(frozen=True, slots=True)
class Keyed:
    """A dictionary with these keys."""

    keys: tuple[Any, ...]
    items: tuple["Kind", ...]


@dataclass(frozen=True, slots=True)
class Filled:
    """A growing list: the same buffers on all paths, the count may differ."""

    item: "Kind"
    buffers: tuple[Var, ...]


@dataclass(frozen=True, slots=True)
class Rows:
    """A list whose buffers are different arrays on the paths; each is handed on at its length."""

    item: "Kind"


@dataclass(frozen=True, slots=True)
class Boxed:
    """A list or dictionary that is another one on the paths; `content` is what is in it."""

    content: "Kind"


Kind = Number | Array | Items | Known | Perhaps | Useless | Keyed | Filled | Rows | Boxed
WHICH_LIST = "which list or dictionary is meant depends on the run"


def is_number(value: Value) -> bool:
    return isinstance(value, Num | bool | int | float | np.generic)


def kind_of(emit: Emit, value: Value) -> Kind:
    """What one value is."""
    if is_number(value):
        return Number(scalars.dtype(emit, value), scalars.weak(value))
    match value:
        case Arr(var=var, shape=shape):
            return Array(array_type(var), shape)
        case tuple() | list():
            cls = type(value) if hasattr(value, "_fields") else None
            return Items(tuple(kind_of(emit, item) for item in value), cls)
        case Record(cls=cls, names=names, items=items):
            return Items(tuple(kind_of(emit, item) for item in items), cls, names)
        case dict():
            return Keyed(tuple(value), tuple(kind_of(emit, item) for item in value.values()))
        case Grown(item=item, buffers=buffers):
            return Filled(item, buffers)  # type: ignore[arg-type]
        case Box():
            return Boxed(kind_of(emit, emit.heap[value]))
        case Held(content=content):
            return Boxed(kind_of(emit, content))
        case None | Unset():
            return Perhaps(None, value)
        case Option(value=inner, absent=absent):
            return Perhaps(kind_of(emit, inner), absent)
        case Useless():
            return value
        case _:
            return Known(value)


def identical(first: Value, second: Value) -> bool:
    """Whether two values are one: the same atoms, or equal things known while tracing."""
    match first, second:
        case (Num(atom=a, weak=v), Num(atom=b, weak=w)):
            return a == b and v == w
        case (Arr(var=x), Arr(var=y)):
            return x == y
        case (tuple() | list(), tuple() | list()):
            return len(first) == len(second) and all(map(identical, first, second))
        case (Record(), Record()):
            return first.cls is second.cls and all(map(identical, first.items, second.items))
        case (dict(), dict()):
            values = first.values(), second.values()
            return tuple(first) == tuple(second) and all(map(identical, *values))
        case (Grown(), Grown()):
            return first.buffers == second.buffers and identical(first.count, second.count)
        case (Held(), Held()):
            return first.box is second.box
    if type(first) is not type(second):
        return False
    try:
        return first is second or bool(first == second)
    except Exception as error:  # an odd object of the user's: not known to be the same
        del error
        return False


# -- one kind for two paths


def branch_kind(emit: Emit, name: str, first: Value, second: Value) -> Kind:
    """The kind of a name that two arms leave."""
    if identical(first, second):
        return Known(first.box if isinstance(first, Held) else first)
    if isinstance(first, tuple | list) and isinstance(second, tuple | list):
        if len(first) == len(second) and _class(first) is _class(second):
            pairs = zip(first, second, strict=True)
            return Items(tuple(branch_kind(emit, name, a, b) for a, b in pairs), _class(first))
    return unify(name, kind_of(emit, first), kind_of(emit, second))


def _class(value: object) -> type | None:
    return type(value) if hasattr(value, "_fields") else None


def unify(name: str, first: Kind, second: Kind) -> Kind:
    """The kind of a name that is one or the other; Useless where they have nothing in common."""
    if first == second:
        return first
    match first, second:
        case (Useless(), _):
            return first
        case (_, Useless()):
            return second
        case (Perhaps(), _) | (_, Perhaps()):
            return _perhaps(name, first, second)
        case (Number(), Number()):
            return Number(_wider(first, second), first.weak and second.weak)
        case (Array(type=a, shape=m), Array(type=b, shape=n)) if _alike(a, b):
            layout = a.layout if a.layout == b.layout else "A"
            both = types.Array(a.dtype, a.ndim, layout, a.writable and b.writable)
            return Array(both, tuple(x if x == y else None for x, y in zip(m, n, strict=True)))
        case (Items(items=a, cls=c), Items(items=b, cls=d)) if len(a) == len(b) and c is d:
            pairs = zip(a, b, strict=True)
            return replace(first, items=tuple(unify(name, x, y) for x, y in pairs))
        case (Keyed(keys=k), Keyed(keys=m)) if k == m:
            pairs = zip(first.items, second.items, strict=True)
            return Keyed(k, tuple(unify(name, x, y) for x, y in pairs))
        case (Boxed(content=a), Boxed(content=b)):
            return _boxed(name, a, b)
        case _:
            return _useless(name, first, second)


def _boxed(name: str, first: Kind, second: Kind) -> Kind:
    """Two lists of one length stay known; else they become arrays of a length of the run."""
    match first, second:
        case (Items(items=a), Items(items=b)) if len(a) == len(b):
            return Boxed(unify(name, first, second))
        case (Items() | Filled() | Rows(), Items() | Filled() | Rows()):
            kinds = [kind for kind in (item_kind(name, first), item_kind(name, second)) if kind]
            if not kinds:
                return _useless(name, first, second)
            item = kinds[0] if len(kinds) == 1 else unify(name, *kinds)
            return Boxed(Rows(item)) if leafable(item) else _useless(name, first, second)
        case (Keyed(), Keyed()):
            both = unify(name, first, second)
            return both if isinstance(both, Useless) else Boxed(both)
        case _:
            return _useless(name, first, second)


def item_kind(name: str, kind: Kind) -> Kind | None:
    """What all items of a list are; None for an empty one."""
    match kind:
        case Filled(item=item) | Rows(item=item):
            return item
        case Items(items=()):
            return None
        case Items(items=items):
            found = items[0]
            for other in items[1:]:
                found = _of_one_shape(unify(name, found, other), found, other)
            return found
        case _:
            return Useless(f"`{name}` is no list")


def _of_one_shape(both: Kind, first: Kind, second: Kind) -> Kind:
    """With the extents that are known earliest; items are compared with them when they are put."""
    match both, first, second:
        case Array(), Array(shape=m), Array(shape=n):
            return replace(both, shape=tuple(map(_earlier, m, n)))
        case Items(items=items), Items(items=a), Items(items=b):
            return replace(both, items=tuple(map(_of_one_shape, items, a, b)))
        case _:
            return both


def _earlier(first: Atom | None, second: Atom | None) -> Atom | None:
    known = [extent for extent in (first, second) if extent is not None]
    return min(known, key=lambda n: n.id if isinstance(n, Var) else -1, default=None)


def leafable(kind: Kind) -> bool:
    """Whether items of this kind can stand in buffers: numbers, arrays of one shape, tuples."""
    match kind:
        case Number():
            return True
        case Array(shape=shape):
            return None not in shape
        case Items(items=items):
            return all(map(leafable, items))
        case _:
            return False


def flattened(kind: Kind) -> tuple[Number | Array, ...]:
    """The numbers and arrays that an item of a list consists of."""
    match kind:
        case Items(items=items):
            return tuple(leaf for item in items for leaf in flattened(item))
        case Number() | Array():
            return (kind,)
        case _:
            raise AssertionError(f"{kind} is not leafable")


def buffer_kind(leaf: Number | Array) -> Array:
    """The array that holds one leaf of all items."""
    if isinstance(leaf, Number):
        return Array(types.Array(leaf.dtype, 1), (None,))
    return Array(types.Array(leaf.type.dtype, leaf.type.ndim + 1), (None, *leaf.shape))


def held(emit: Emit, value: Value) -> Value:
    """The value with every box in it and its content: an arm ends here."""
    match value:
        case Box():
            return Held(value, held(emit, emit.heap[value]))
        case Option(value=inner, known=known, absent=absent):
            return Option(held(emit, inner), known, absent)
        case tuple() if any(isinstance(v, Box | tuple | Option) for v in value):
            parts = [held(emit, item) for item in value]
            return rebuilt(value, parts)
        case dict():
            return {key: held(emit, item) for key, item in value.items()}
        case _:
            return value


def rebuilt(value: tuple[Any, ...], parts: list[Value]) -> tuple[Any, ...]:
    """A tuple of the same class with other items."""
    cls: Any = type(value)
    return cls(*parts) if hasattr(value, "_fields") else tuple(parts)


def _alike(first: types.Array, second: types.Array) -> bool:
    return (first.dtype, first.ndim) == (second.dtype, second.ndim)


def _wider(first: Number, second: Number) -> str:
    """The common dtype, where Python's numbers give way as in NumPy's promotion."""
    if first.weak == second.weak:
        return np.result_type(first.dtype, second.dtype).name
    strong, weak = (second, first) if first.weak else (first, second)
    kinds = [scalars.KINDS[np.dtype(number.dtype).kind] for number in (weak, strong)]
    if kinds[0] <= kinds[1]:
        return strong.dtype
    return np.result_type(strong.dtype, weak.dtype).name


def _perhaps(name: str, first: Kind, second: Kind) -> Kind:
    absents = [k.absent for k in (first, second) if isinstance(k, Perhaps)]
    if FREE in absents:  # nobody reads what is not set there
        inner = [k for k in (first, second) if k != Perhaps(None, FREE)]
        return inner[0]
    if any(a is not absents[0] for a in absents):
        return Useless(
            f"`{name}` may be unset, None or a value here", "", f"set `{name}` on every path"
        )
    kinds = [k.kind if isinstance(k, Perhaps) else k for k in (first, second)]
    found = [k for k in kinds if k is not None]
    both = found[0] if len(found) == 1 else unify(name, found[0], found[1])
    return both if isinstance(both, Useless) else Perhaps(both, absents[0])


def _useless(name: str, first: Kind, second: Kind) -> Useless:
    what = f"`{name}` is {_text(first)} on one path and {_text(second)} on another"
    match first, second:
        case (Number(), Array()) | (Array(), Number()):
            return Useless(what, "", "start with an array: np.zeros(...)")
        case _:
            return Useless(what, "their types must agree", f"set `{name}` to one kind of value")


def _text(kind: Kind) -> str:
    match kind:
        case Number(dtype=dtype):
            return f"a number ({dtype})"
        case Array(type=array):
            return f"an array ({array.dtype}, {array.ndim}-d)"
        case Items(items=items):
            return f"a tuple of {len(items)}"
        case Keyed(keys=keys):
            return f"a dictionary of {', '.join(map(repr, keys))}"
        case Filled() | Rows():
            return "a list of a length known at run time"
        case Boxed(content=Items(items=items)):
            return f"a list of {len(items)}"
        case Boxed(content=content):
            return _text(content)
        case Known(value=value):
            return f"a {type(value).__name__}"
        case Perhaps(absent=absent):
            return "None" if absent is None else "unset"
        case Useless():
            return "something unusable"
        case _:
            assert_never(kind)


def seen_from(emit: Emit, kind: Kind, before: int) -> Kind:
    """The kind without extents that were made since the builder's number `before`."""

    def visible(extent: Atom | None) -> bool:
        if not isinstance(extent, Var):
            return True
        return extent.id < before or extent in emit.everywhere

    match kind:
        case Array(shape=shape):
            return replace(kind, shape=tuple(n if visible(n) else None for n in shape))
        case Items(items=items) | Keyed(items=items):
            return replace(kind, items=tuple(seen_from(emit, k, before) for k in items))
        case Filled(item=inner) | Rows(item=inner):
            return replace(kind, item=seen_from(emit, inner, before))
        case Boxed(content=inner):
            return Boxed(seen_from(emit, inner, before))
        case Perhaps(kind=inner) if inner is not None:
            return replace(kind, kind=seen_from(emit, inner, before))
        case _:
            return kind


# -- values to atoms and back


def leaves(emit: Emit, value: Value, kind: Kind) -> list[Atom]:
    """The atoms of a value as a kind; conversions are added where the builder stands."""
    if isinstance(value, Unset) and not isinstance(kind, Perhaps):
        return placeholders(emit, kind)
    match kind:
        case Number(dtype=dtype):
            return [scalars.to_atom(emit, value, dtype)]
        case Array():
            assert isinstance(value, Arr)
            return [handed_on(emit, value.var)]
        case Items(items=items):
            value = value.items if isinstance(value, Record) else value
            assert isinstance(value, tuple | list)
            return [a for v, k in zip(value, items, strict=True) for a in leaves(emit, v, k)]
        case Keyed(items=items):
            assert isinstance(value, dict)
            pairs = zip(value.values(), items, strict=True)
            return [a for v, k in pairs for a in leaves(emit, v, k)]
        case Filled():
            assert isinstance(value, Grown)
            return [scalars.to_atom(emit, value.count, "int64")]
        case Rows():
            return emit.rows(value, kind.item)
        case Boxed(content=content):
            box, inside = (value.box, value.content) if isinstance(value, Held) else (value, None)
            assert isinstance(box, Box)
            box.fixed = WHICH_LIST
            return leaves(emit, emit.heap[box] if inside is None else inside, content)
        case Perhaps(kind=None) | Known() | Useless():
            return []
        case Perhaps(kind=inner, absent=absent):
            assert inner is not None
            if value is absent:
                return [const(False, "bool"), *placeholders(emit, inner)]
            if isinstance(value, Option):
                return [value.known.atom, *leaves(emit, value.value, inner)]
            return [const(True, "bool"), *leaves(emit, value, inner)]
        case _:
            assert_never(kind)


def handed_on(emit: Emit, array: Var) -> Var:
    """An array that gets another name: what is asked of memory holds for the name too."""
    emit.memory.joined.add(emit.memory.root(array))
    return array


def placeholders(emit: Emit, kind: Kind) -> list[Atom]:
    """Atoms that stand for a value that is not there; they are never read."""
    match kind:
        case Number(dtype=dtype):
            return [const(0, dtype)]
        case Array(type=array):
            layout: types.Layout = "F" if array.layout == "F" else "C"
            return [emit.builder.alloc(array.dtype, (const(0),) * array.ndim, None, "none", layout)]
        case Items(items=items) | Keyed(items=items):
            return [atom for item in items for atom in placeholders(emit, item)]
        case Filled():
            return [const(0)]
        case Rows(item=item):
            buffers = [placeholders(emit, buffer_kind(leaf)) for leaf in flattened(item)]
            return [const(0), *(atom for several in buffers for atom in several)]
        case Boxed(content=content):
            return placeholders(emit, content)
        case Perhaps(kind=None) | Known() | Useless():
            return []
        case Perhaps(kind=inner):
            assert inner is not None
            return [const(False, "bool"), *placeholders(emit, inner)]
        case _:
            assert_never(kind)


def fresh(emit: Emit, kind: Kind, name: str) -> list[Var]:
    """Variables for the atoms of a kind; names of the interpreter's own lose their underscores."""
    name = name.lstrip("_") or "v"
    match kind:
        case Number(dtype=dtype):
            return [emit.builder.var(types.Scalar(dtype), name)]
        case Array(type=array):
            return [emit.builder.var(array, name)]
        case Items(items=items):
            return [v for k, i in enumerate(items) for v in fresh(emit, i, f"{name}_{k}")]
        case Keyed(keys=keys, items=items):
            pairs = zip(keys, items, strict=True)
            return [v for k, i in pairs for v in fresh(emit, i, f"{name}_{k}")]
        case Filled():
            return [emit.builder.var(types.INT, f"{name}_count")]
        case Rows(item=item):
            leaves_ = [fresh(emit, buffer_kind(leaf), name) for leaf in flattened(item)]
            count = emit.builder.var(types.INT, f"{name}_count")
            return [count, *(v for several in leaves_ for v in several)]
        case Boxed(content=content):
            return fresh(emit, content, name)
        case Perhaps(kind=None) | Known() | Useless():
            return []
        case Perhaps(kind=inner, absent=absent):
            assert inner is not None
            known = f"{name}_is_{'set' if absent is UNSET else 'there'}"
            return [emit.builder.var(types.BOOL, known), *fresh(emit, inner, name)]
        case _:
            assert_never(kind)


def value(emit: Emit, kind: Kind, atoms: Iterator[Atom]) -> Value:
    """The value of a kind whose atoms are these; unknown extents are asked of the arrays here."""
    match kind:
        case Number(weak=weak):
            return Num(next(atoms), weak)
        case Array(shape=shape):
            var = next(atoms)
            assert isinstance(var, Var)
            emit.memory.joined.add(emit.memory.root(var))
            extents = (
                emit.builder.dim(var, axis) if extent is None else extent
                for axis, extent in enumerate(shape)
            )
            return Arr(var, tuple(extents))
        case Items(items=items, cls=cls, names=names):
            made: Any = tuple(value(emit, item, atoms) for item in items)
            if cls is not None and names:
                return Record(cls, names, made)
            return made if cls is None else cls(*made)
        case Keyed(keys=keys, items=items):
            return {key: value(emit, item, atoms) for key, item in zip(keys, items, strict=True)}
        case Filled(item=item, buffers=buffers):
            return Grown(item, buffers, scalars.number(next(atoms)))
        case Rows(item=item):
            count = scalars.number(next(atoms))
            arrays = tuple(value(emit, buffer_kind(leaf), atoms) for leaf in flattened(item))
            return Grown(item, tuple(a.var for a in arrays if isinstance(a, Arr)), count)
        case Boxed(content=content):
            return emit.boxed(value(emit, content, atoms), WHICH_LIST)
        case Perhaps(kind=None, absent=absent):
            return absent
        case Perhaps(kind=inner, absent=absent):
            assert inner is not None
            known = next(atoms)
            found = value(emit, inner, atoms)
            if isinstance(known, Const):
                return found if known.value else absent
            return Option(found, Num(known), absent)
        case Known(value=found):
            return found
        case Useless():
            return kind
        case _:
            assert_never(kind)


def name_joined(emit: Emit, out: Atom, incoming: Sequence[Atom], written: bool = False) -> None:
    """A joined array may be one of those that come in: what may be a copy stays unwritten.

    `written`: the name was traced already, so that it may have been written into.
    """
    memory = emit.memory
    doubtful = [a for a in incoming if isinstance(a, Var) and memory.root(a) in memory.frozen]
    if not doubtful or not isinstance(out, Var) or out in memory.frozen:
        return
    why = memory.frozen[memory.root(doubtful[0])]
    if written and why is not RESHAPED:
        emit.fail(*why)
    if written:
        emit.fail(
            f"`{out.hint}` may be a copy or not after each iteration",
            "it was reshaped, and its memory layout is not known to be C",
            "copy it first: `x.copy().reshape(...)`",
        )
    memory.frozen[out] = memory.frozen[memory.root(doubtful[0])]
