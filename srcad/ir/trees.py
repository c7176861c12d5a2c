"""How flat parameters and results are packed into what Python sees."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Leaf:
    """One run-time value."""


@dataclass(frozen=True, slots=True)
class Nothing:
    """None: no value."""


@dataclass(frozen=True, slots=True)
class Container:
    """What a group is for the user: a dict, list, namedtuple or dataclass, and its keys."""

    cls: type
    keys: tuple[Any, ...] = ()


@dataclass(frozen=True, slots=True)
class Group:
    """A tuple (`cls` None), or another container of the user's; compiled code sees a tuple."""

    items: tuple["Tree", ...]
    cls: Container | None = None


Tree = Leaf | Nothing | Group


def leaves(tree: Tree) -> int:
    """The number of run-time values in the structure."""
    match tree:
        case Leaf():
            return 1
        case Nothing():
            return 0
        case Group(items=items):
            return sum(leaves(item) for item in items)


def pack(tree: Tree, values: Iterator[object]) -> object:
    """The structure with its leaves taken from `values`, in order; groups become tuples."""
    match tree:
        case Leaf():
            return next(values)
        case Nothing():
            return None
        case Group(items=items):
            return tuple(pack(item, values) for item in items)
