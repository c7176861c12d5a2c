"""Containers from outside that hold arrays: they are read item by item.

So their leaves count as if captured alone: arrays are hidden arguments, and a new minibatch in a
captured namedtuple compiles nothing. What shapes the code is the layout: class and keys.
"""

from collections.abc import Callable
from functools import partial
from types import FunctionType
from typing import Any

import numpy as np

from srcad.tracer.values import UNSET

Layout = tuple[type, tuple[object, ...]]


def items(value: object) -> list[tuple[Any, object]]:
    """Keys and items of a tuple, list or dict; nothing for what is none."""
    if isinstance(value, dict):
        return list(value.items())
    return list(enumerate(value)) if isinstance(value, tuple | list) else []


def opens(value: object) -> bool:
    """Whether it is a container with an array in it, at any depth, that does not hold itself."""
    return _holds_array(value, ()) and not _holds_itself(value, ())


def _holds_array(value: object, above: tuple[object, ...]) -> bool:
    if any(value is one for one in above):
        return False
    found = [item for _, item in items(value)]
    return any(isinstance(item, np.ndarray) for item in found) or any(
        _holds_array(item, (*above, value)) for item in found
    )


def _holds_itself(value: object, above: tuple[object, ...]) -> bool:
    return any(value is one for one in above) or any(
        _holds_itself(item, (*above, value)) for _, item in items(value)
    )


def layout(value: object) -> Layout:
    """What the code depends on: two values of one layout have the same items to be read."""
    return type(value), tuple(key for key, _ in items(value))


def label(name: str, key: object) -> str:
    """The name of an item."""
    return f"{name}[{key!r}]"


def item_of(container: Callable[[], object], key: object) -> object:
    """The item of what the container is now; UNSET if there is none."""
    found: Any = container()
    try:
        return found[key]
    except (LookupError, TypeError):
        return UNSET


def one_source(first: object, second: object) -> bool:
    """Whether two ways to read a value are the same code over the same objects."""
    match first, second:
        case partial(), partial():
            pairs = zip((first.func, *first.args), (second.func, *second.args), strict=False)
            same = len(first.args) == len(second.args)
            return same and all(one_source(a, b) for a, b in pairs)
        case FunctionType(), FunctionType():
            cells = zip(first.__closure__ or (), second.__closure__ or (), strict=False)
            return first.__code__ is second.__code__ and all(
                a.cell_contents is b.cell_contents for a, b in cells
            )
        case _:
            return first is second or type(first) is type(second) is int and first == second


def rebuilt(value: object, found: list[Any]) -> Any:
    """A container of the same layout with other items."""
    match value:
        case dict():
            return dict(zip(value, found, strict=True))
        case list():
            return found
        case tuple() if hasattr(value, "_make"):
            return value._make(found)
        case _:
            return tuple(found)
