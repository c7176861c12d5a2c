"""Dataclasses, namedtuples, and questions about types while tracing."""

import dataclasses
import functools
from types import FunctionType, UnionType
from typing import Any

import numpy as np

from srcad.ir.nodes import array_type
from srcad.ir.trees import Container
from srcad.tracer.machine import Machine
from srcad.tracer.values import Arr, Box, Grown, Num, Record, Value

PYTHON = {"bool": bool, "int64": int, "float64": float}


def made(machine: Machine, cls: Any, args: list[Value], kwargs: dict[str, Value]) -> Record:
    """A call of a dataclass: its fields are set; code of the user's own does not run."""
    emit, fields = machine.emit, dataclasses.fields(cls)
    if (
        hasattr(cls, "__post_init__")
        or "__init__" in vars(cls)
        and not cls.__dataclass_params__.init
    ):
        emit.fail(
            f"`{cls.__name__}` runs code when it is made",
            "only dataclasses without `__post_init__` and `__init__` are traced",
            "compute the values before, and pass them",
        )
    names = [field.name for field in fields]
    given = (
        dict(zip([f.name for f in fields if f.init and not f.kw_only], args, strict=False)) | kwargs
    )
    unknown = [name for name in given if name not in names]
    if unknown or len(args) > len(names):
        emit.fail(f"`{cls.__name__}` has no field for these arguments: {', '.join(unknown)}")
    for field in fields:
        if field.name not in given and field.default is not dataclasses.MISSING:
            given[field.name] = field.default
        elif field.name not in given and field.default_factory is not dataclasses.MISSING:
            given[field.name] = machine.call(field.default_factory, [], {})
        elif field.name not in given:
            emit.fail(f"`{cls.__name__}` misses the field `{field.name}`")
    return Record(cls, tuple(names), tuple(given[name] for name in names))


def changed(machine: Machine, value: Value, changes: dict[str, Value]) -> Value:
    """dataclasses.replace(value, ...), value._replace(...)."""
    if isinstance(value, tuple):
        fields: Any = getattr(value, "_fields", ())
        unknown = [name for name in changes if name not in fields]
        if unknown:
            machine.emit.fail(f"the namedtuple has no field `{unknown[0]}`")
        cls: Any = type(value)
        return cls(*(changes.get(n, v) for n, v in zip(fields, value, strict=True)))
    if not isinstance(value, Record):
        machine.emit.fail("`replace` takes a dataclass")
    unknown = [name for name in changes if name not in value.names]
    if unknown:
        machine.emit.fail(f"`{value.cls.__name__}` has no field `{unknown[0]}`")
    pairs = zip(value.names, value.items, strict=True)
    return dataclasses.replace(value, items=tuple(changes.get(name, item) for name, item in pairs))


def attribute(machine: Machine, value: Record, name: str) -> Value:
    """A field, a property or a method, which is traced like a function."""
    if name in value.names:
        return value.at(name)
    found = vars_of(value.cls).get(name)
    if isinstance(found, property) and isinstance(found.fget, FunctionType):
        return machine.call(found.fget, [value], {})
    if isinstance(found, staticmethod):
        return found.__func__
    if isinstance(found, FunctionType):
        return Bound(found, value)
    if found is None:
        machine.emit.fail(f"`{name}` is not an attribute of `{value.cls.__name__}`")
    return machine.outside(name, found, functools.partial(getattr, value.cls, name))


def parts(value: Value) -> tuple[Container | None, tuple[Value, ...]] | None:
    """The container of a value while tracing and what is in it; None for what is none."""
    match value:
        case Record(cls=cls, names=names, items=items):
            return Container(cls, names), items
        case dict():
            return Container(dict, tuple(value)), tuple(value.values())
        case list():
            return Container(list), tuple(value)
        case tuple() if hasattr(value, "_fields"):
            return Container(type(value), tuple(value._fields)), value
        case tuple():
            return None, value
        case _:
            return None


def rebuilt(container: Container | None, items: tuple[Value, ...]) -> Value:
    """The container with these items."""
    if container is None or container.cls is list:
        return items
    cls: Any = container.cls
    if cls is dict:
        return dict(zip(container.keys, items, strict=True))
    return cls(*items) if issubclass(cls, tuple) else Record(cls, container.keys, items)


@dataclasses.dataclass(frozen=True)
class Bound:
    """A method of a record or namedtuple, and the object it was asked of."""

    function: Any
    value: Value


def vars_of(cls: type) -> dict[str, Any]:
    """What a class and its bases define."""
    found: dict[str, Any] = {}
    for base in reversed(cls.__mro__):
        found |= vars(base)
    return found


def isinstance_of(machine: Machine, value: Value, kinds: Value) -> bool:
    """isinstance(value, kinds), decided while tracing."""
    if isinstance(kinds, tuple | UnionType):
        several = kinds if isinstance(kinds, tuple) else kinds.__args__
        return any(isinstance_of(machine, value, kind) for kind in several)
    return _is(machine, value, kinds)


def _is(machine: Machine, value: Value, kind: Any) -> bool:
    kind = getattr(kind, "__origin__", kind)
    if not isinstance(kind, type):
        machine.emit.fail("`isinstance` takes classes and tuples of them")
    match value:
        case Num(atom=atom):
            numpy = np.dtype(atom.type.dtype).type
            python = PYTHON.get(atom.type.dtype)
            return issubclass(numpy, kind) or python is not None and issubclass(python, kind)
        case Arr(var=var):
            return issubclass(np.ndarray, kind) and array_type(var).ndim >= 0
        case Box():
            content = machine.emit.heap[value]
            return issubclass(list if isinstance(content, tuple | Grown) else dict, kind)
        case Record(cls=cls):
            return issubclass(cls, kind)
        case _:
            return isinstance(value, kind)
