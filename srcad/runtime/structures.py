"""Structures of the user's: how arguments are flattened for compiled code, and results rebuilt.

Compiled code sees tuples of numbers and arrays. Dictionaries, lists, namedtuples and dataclasses
become tuples on the way in, flags (texts, enums, functions) become None there and constants of the
code, and results take the classes that their structure names.
"""

import dataclasses
import importlib
from collections.abc import Callable, Iterator
from enum import Enum
from typing import Any

from srcad.ir.trees import Container, Group, Leaf, Nothing, Tree
from srcad.tracer.trace import Fixed, Parts, Spec


def parts(value: Any) -> tuple[Container | None, list[Any]] | None:
    """The container of a value and what is in it, in order; None for what is none."""
    if isinstance(value, tuple):
        fields = getattr(value, "_fields", None)
        container = None if fields is None else Container(type(value), tuple(fields))
        return container, list(value)
    if type(value) is list:
        return Container(list), list(value)
    if type(value) is dict:
        return Container(dict, tuple(value)), list(value.values())
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        names = tuple(field.name for field in dataclasses.fields(value))
        return Container(type(value), names), [getattr(value, name) for name in names]
    return None


def rebuilt(container: Container | None, items: list[Any]) -> Any:
    """A container with these items. Dataclasses are made without running their own code."""
    if container is None:
        return tuple(items)
    cls: Any = container.cls
    if cls is list:
        return items
    if cls is dict:
        return dict(zip(container.keys, items, strict=True))
    if issubclass(cls, tuple):
        return cls._make(items)
    made = object.__new__(cls)
    for name, item in zip(container.keys, items, strict=True):
        object.__setattr__(made, name, item)
    return made


def mapped(action: Callable[[Any], Any], value: Any) -> Any:
    """The structure with every leaf changed."""
    found = parts(value)
    if found is None:
        return action(value)
    return rebuilt(found[0], [mapped(action, item) for item in found[1]])


def alike(first: Any, second: Any) -> bool:
    """Whether two values are containers of the same kind and size; a list serves as a tuple."""
    one, other = parts(first), parts(second)
    if one is None or other is None or len(one[1]) != len(other[1]):
        return False
    keys = [c.keys if c is not None and c.cls is dict else None for c in (one[0], other[0])]
    if keys[0] is not None and keys[1] is not None:
        return set(keys[0]) == set(keys[1])
    return keys[0] is keys[1]


def paired(first: Any, second: Any) -> Iterator[tuple[Any, Any]]:
    """The items of two containers that are alike, in the order of the first."""
    if isinstance(first, dict):
        return iter([(item, second[key]) for key, item in first.items()])
    one, other = parts(first), parts(second)
    assert one is not None and other is not None
    return zip(one[1], other[1], strict=True)


# -- arguments


def flat(value: Any, spec: Spec) -> Any:
    """The argument as compiled code takes it: tuples of numbers and arrays."""
    match spec:
        case Fixed():
            return None
        case Parts(items=items):
            found = parts(value)
            assert found is not None
            return tuple(flat(v, s) for v, s in zip(found[1], items, strict=True))
        case tuple():
            return tuple(flat(v, s) for v, s in zip(value, spec, strict=True))
        case _:
            return value


def structured(spec: Spec) -> bool:
    """Whether an argument goes another way than through Numba's own types."""
    return isinstance(spec, Fixed | Parts) or isinstance(spec, tuple) and any(map(structured, spec))


def text_of(spec: Spec) -> str | None:
    """A description that is the same in every process; None where there is none."""
    match spec:
        case Fixed(value=value):
            if isinstance(value, str | bytes):
                return repr(value)
            return f"{_path(type(value))}.{value.name}" if isinstance(value, Enum) else None
        case Parts(container=container, items=items):
            if not _plain(container.cls):
                return None
            inner = _texts(items)
            keys = ", ".join(map(repr, container.keys))
            return None if inner is None else f"{_path(container.cls)}[{keys}]({inner})"
        case tuple():
            inner = _texts(spec)
            return None if inner is None else f"({inner})"
        case _:
            return str(spec)


def _texts(specs: tuple[Spec, ...]) -> str | None:
    found = [text_of(spec) for spec in specs]
    return None if None in found else ", ".join(map(str, found))


def _path(cls: type) -> str:
    return f"{cls.__module__}:{cls.__qualname__}"


def _plain(cls: type) -> bool:
    """Whether a class has no methods of the user's, which would shape the code."""
    if cls in (list, dict):
        return True
    made = {"_make", "_replace", "_asdict", "_field_defaults"}
    return not any(
        callable(getattr(member, "__func__", member)) and not name.startswith("__")
        for name, member in vars(cls).items()
        if name not in made and not isinstance(member, str | tuple | dict)
        and type(member).__name__ not in ("_tuplegetter", "member_descriptor")
    )  # fmt: skip


# -- results


def restored(tree: Tree, result: Any) -> Any:
    """A result of compiled code in the user's structure."""
    match tree:
        case Leaf():
            return result
        case Nothing():
            return None
        case Group(items=items, cls=cls):
            inner = [restored(t, r) for t, r in zip(items, result, strict=True)]
            return rebuilt(cls, inner)


def is_plain(tree: Tree) -> bool:
    """Whether results of this structure are what compiled code gives."""
    return not isinstance(tree, Group) or tree.cls is None and all(map(is_plain, tree.items))


def encoded(tree: Tree) -> Any:
    """The structure for the disk index; raises ValueError for a class that has no address."""
    match tree:
        case Leaf():
            return 1
        case Nothing():
            return 0
        case Group(items=items, cls=None):
            return [None, [], *map(encoded, items)]
        case Group(items=items, cls=Container(cls=cls, keys=keys)):
            if decoded_class(_path(cls)) is not cls:
                raise ValueError(f"{cls} cannot be found again")
            return [_path(cls), list(keys), *map(encoded, items)]


def decoded(data: Any) -> Tree:
    """A structure from the disk index; raises ValueError where a class is gone."""
    if not isinstance(data, list):
        return Leaf() if data else Nothing()
    path, keys, *items = data
    container = None
    if path is not None:
        cls = decoded_class(path)
        if cls is None:
            raise ValueError(path)
        container = Container(cls, tuple(keys))
    return Group(tuple(map(decoded, items)), container)


def decoded_class(path: str) -> type | None:
    module, _, name = path.partition(":")
    try:
        found: Any = importlib.import_module(module)
        for part in name.split("."):
            found = getattr(found, part)
    except (ImportError, AttributeError):
        return None
    return found if isinstance(found, type) else None
