"""What a function can read from outside, found without tracing it.

`surroundings(f)` visits every global, closure value, attribute and helper that the code of `f`
mentions by name: more than a trace reads, never less. It gives a digest of all of it, by which
compiled code is found again in this process and on disk, and the places themselves, numbered in an
order that is the same in every process. A trace's record is kept as such numbers. Where something
has no stable description (properties, `__getattr__`, objects of C) there is no digest.
"""

import builtins
import hashlib
import inspect
import linecache
import sys
import sysconfig
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from functools import cache, partial
from pathlib import Path
from types import (
    BuiltinFunctionType,
    CellType,
    CodeType,
    FunctionType,
    MemberDescriptorType,
    MethodType,
    ModuleType,
    SimpleNamespace,
)
from typing import Any

import numpy as np

from srcad.ir.marks import Mark
from srcad.tracer.containers import item_of, items, label, layout, opens

LIBRARIES = {"llvmlite", "numba", "numpy", "scipy", "srcad"}
STANDARD = sysconfig.get_paths()["stdlib"]
PLAIN_LOOKUP = object.__getattribute__, SimpleNamespace.__getattribute__
CONSTANTS = bool, int, str, bytes, complex, type(None), type(Ellipsis), range, slice, np.dtype


class Missing:
    """A name without a value."""


MISSING = Missing()


@dataclass(frozen=True, slots=True, eq=False)
class Place:
    """A name outside, the value that it had, and how to read it again."""

    name: str
    value: object
    current: Callable[[], object]

    def kept(self) -> "Place":
        """With a value that stays as it is now, for `unchanged`."""
        return Place(self.name, snapshot(self.value), self.current)


@dataclass(frozen=True)
class Surroundings:
    """The digests (None: not describable) and the numbered places."""

    digest: str | None
    loose: str | None  # without the values of floats that are read by name or as an attribute
    places: tuple[Place, ...]
    watched: tuple[int, ...] = ()  # the places that are guarded, whatever a trace reads


def surroundings(function: FunctionType) -> Surroundings:
    """What `function` can read from outside now."""
    names: frozenset[str] = frozenset()
    while True:
        walk = _Walk(function, names)
        walk.visit(function)
        if walk.mentioned <= names:
            return walk.found()
        names |= walk.mentioned


def unchanged(now: object, before: object) -> bool:
    """Whether a place, of which `before` was kept, reads the same; an array must be the same."""
    return now is before if isinstance(before, np.ndarray) else same(now, before)


def same(now: object, before: object) -> bool:
    """Whether two values, the second a snapshot, mean the same constant to a trace."""
    if now is before and not isinstance(now, tuple):  # a tuple may hold lists and arrays
        return True
    if type(now) is not type(before):
        return False
    match before:
        case float() | complex():
            return repr(now) == repr(before)
        case bool() | int() | str() | bytes() | range() | slice() | np.dtype():
            return bool(now == before)
        case np.generic() | np.ndarray():
            there: Any = now
            same_kind = there.dtype == before.dtype and there.shape == before.shape
            return bool(same_kind and there.tobytes() == before.tobytes())
        case tuple() | list():
            there = now
            return len(there) == len(before) and all(map(same, there, before))
        case dict():
            there = now
            return list(there) == list(before) and all(same(there[k], before[k]) for k in before)
        case set() | frozenset() | MethodType():  # a method is a new object at each look
            return bool(now == before)
        case _:
            return False


def snapshot(value: object) -> object:
    """Containers copied with the arrays in them, for comparison; an array alone is itself."""
    return _kept(value) if isinstance(value, tuple | list | dict | set) else value


def _kept(value: object) -> object:
    match value:
        case list() if type(value) is list:
            return [_kept(item) for item in value]
        case tuple() if type(value) is tuple:
            items = tuple(map(_kept, value))
            return value if all(a is b for a, b in zip(items, value, strict=True)) else items
        case dict() if type(value) is dict:
            return {key: _kept(item) for key, item in value.items()}
        case set():
            return set(value)
        case np.ndarray():
            return value.copy()
        case _:
            return value


class _Walk:
    """One visit; `names` are the attribute names known so far to be mentioned somewhere."""

    def __init__(self, function: FunctionType, names: frozenset[str]) -> None:
        self.outermost = function
        self.names = names
        self.mentioned: set[str] = set()
        self.parts: list[str] = []
        self.floats: list[str] = []
        self.places: list[Place] = []
        self.numbers: dict[tuple[int, str], int] = {}
        self.watched: list[int] = []
        self.seen: dict[int, int] = {}
        self.alive: list[object] = []  # so that no id is used twice
        self.describable = True

    def found(self) -> Surroundings:
        if not self.describable:
            return Surroundings(None, None, tuple(self.places), tuple(self.watched))
        loose = digest(*self.parts)
        exact = digest(loose, *self.floats)
        return Surroundings(exact, loose, tuple(self.places), tuple(self.watched))

    def put(self, *parts: object) -> None:
        self.parts += map(str, parts)

    def place(self, name: str, value: object, current: Callable[[], object], where: object) -> None:
        """Notes what a name stands for in `where`: a namespace, a cell or a container."""
        number = self.numbers.setdefault((id(where), name), len(self.places))
        self.put("place", name, number)
        if number < len(self.places):
            return  # met before
        self.places.append(Place(name, value, current))
        if type(value) is float:
            self.put("captured float")
            self.floats.append(value.hex())
        elif isinstance(value, np.ndarray):
            if not self.again(value):
                self.array(value)
        elif opens(value):
            self.opened(name, value, current)
        else:
            self.visit(value)

    def opened(self, name: str, value: object, current: Callable[[], object]) -> None:
        """A container that the tracer reads item by item."""
        self.named_type(type(value))
        self.put(len(items(value)))
        self.places.append(Place(f"{name} layout", layout(value), lambda: layout(current())))
        for key, inner in items(value):
            self.visit(key)
            self.place(label(name, key), inner, partial(item_of, current, key), value)

    def again(self, value: object) -> bool:
        """Whether this object was met before; then only its number is noted."""
        number = self.seen.setdefault(id(value), len(self.seen))
        self.put("object", number)
        if number < len(self.alive):
            return True
        self.alive.append(value)
        return False

    def visit(self, value: object) -> None:
        match value:
            case float():
                self.put("float", value.hex())
            case np.generic():
                self.put(value.dtype.str, value.tobytes().hex())
            case _ if isinstance(value, CONSTANTS):
                self.put(type(value).__name__, repr(value))
            case np.ndarray():  # inside a container or a default: known to the trace as it is
                self.array(value)
                self.put(value.shape, digest(value.tobytes()))
                self.describable &= not value.dtype.hasobject
            case list() | dict() if self.again(value):
                pass  # it may hold itself
            case tuple() | list():
                self.named_type(type(value))
                self.put(len(value))
                for item in value:
                    self.visit(item)
            case dict():
                self.named_type(type(value))
                self.put(len(value))
                for key, item in value.items():
                    self.visit(key)
                    self.visit(item)
            case set() | frozenset():
                self.put("set", *sorted(map(repr, value)))
            case _:
                if not self.again(value):
                    self.whole(value)

    def array(self, value: Any) -> None:
        flags = value.flags
        self.put("array", type(value).__qualname__, value.dtype.str, value.ndim)
        self.put(flags.c_contiguous, flags.f_contiguous, flags.writeable, flags.aligned)

    def named_type(self, cls: type) -> None:
        self.put("type", cls.__module__, cls.__qualname__)

    def whole(self, value: object) -> None:
        mark = inspect.getattr_static(value, "__srcad__", None)
        if isinstance(mark, Mark):
            self.put("derivative", mark.mode, repr(mark.argnums))
            self.visit(mark.inner)
            return
        match value:
            case ModuleType():
                self.put("module", value.__name__)
                if not fixed(value.__name__):
                    self.attributes(value, vars(value))
            case FunctionType():
                self.function(value)
            case MethodType():
                self.visit(value.__func__)
                self.visit(value.__self__)
            case BuiltinFunctionType() | np.ufunc():
                self.put("builtin", getattr(value, "__module__", ""), value.__name__)
            case type():
                self.named_type(value)
                if not fixed(value.__module__):
                    for cls in value.__mro__:
                        self.attributes(value, vars(cls))
            case _ if isinstance(getattr(value, "py_func", None), FunctionType):
                self.visit(value.py_func)  # type: ignore[attr-defined]
            case _ if (
                callable(value)
                and hasattr(value, "__qualname__")
                and fixed(getattr(value, "__module__", None) or "?")
            ):  # functions of NumPy and SciPy that are no Python functions
                self.put("known", value.__module__, value.__qualname__)
            case _:
                self.instance(value)

    def instance(self, value: object) -> None:
        cls = type(value)
        self.named_type(cls)
        if cls.__getattribute__ not in PLAIN_LOOKUP or hasattr(cls, "__getattr__"):
            self.describable = False
            return
        for base in cls.__mro__:
            if not fixed(base.__module__):
                self.attributes(value, vars(base))
        if hasattr(value, "__dict__"):
            self.attributes(value, vars(value))
        elif fixed(cls.__module__):
            self.describable = False  # an object of C: what it holds is unknown

    def attributes(self, owner: object, space: Any) -> None:
        for name in sorted(self.names.intersection(space)):
            if name.startswith("__"):
                continue
            inside = space[name]
            if hasattr(type(inside), "__get__") and not isinstance(
                inside, FunctionType | MemberDescriptorType | staticmethod
            ):
                if not hasattr(inside, "py_func"):  # a property gives what it likes
                    self.describable = False
                    continue
            current = partial(getattr, owner, name, MISSING)
            own = getattr(owner, "__dict__", None)
            self.place(name, current(), current, own if own is space else owner)

    def function(self, function: FunctionType) -> None:
        module = str(function.__globals__.get("__name__"))  # `__module__` may be another's
        if fixed(module):
            self.put("known", module, function.__qualname__)
            return
        code = function.__code__
        names = self.code(code)
        self.mentioned |= names
        self.put(code.co_filename, *_lines(code))
        space = function.__globals__
        for name in sorted(names):
            if name in space:
                self.place(name, space[name], partial(space.get, name, MISSING), space)
            elif hasattr(builtins, name):
                self.put("no global", name)
        for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
            current = _cell(cell)
            self.place(name, current(), current, cell)
        defaults = _defaults(function)
        for default in defaults:
            self.visit(default)
        if editable(defaults, arrays=function is not self.outermost):
            self.watched.append(len(self.places))
            name = f"defaults of {function.__name__}"
            self.places.append(Place(name, defaults, partial(_defaults, function)))

    def code(self, code: CodeType) -> set[str]:
        """Notes a code object and those inside it; gives the names that they mention."""
        self.put(
            code.co_name, code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount,
            code.co_flags, code.co_firstlineno, code.co_code.hex(), code.co_varnames,
            code.co_freevars, code.co_cellvars, code.co_names,
        )  # fmt: skip
        names = set(code.co_names)
        for item in code.co_consts:
            if isinstance(item, CodeType):
                names |= self.code(item)
            elif isinstance(item, frozenset):
                self.put("set", *sorted(map(repr, item)))
            else:
                self.put(type(item).__name__, repr(item))
        return names


def _defaults(function: FunctionType) -> tuple[object, ...]:
    return (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())


def editable(value: object, *, arrays: bool) -> bool:
    """Whether a default may change and stay the same object; `arrays`: by its elements too.

    Arrays that are defaults of the function itself are arguments.
    """
    if isinstance(value, tuple):
        return any(editable(item, arrays=arrays) for item in value)
    return isinstance(value, list | dict | set) or arrays and isinstance(value, np.ndarray)


def _lines(code: CodeType) -> list[str]:
    """The source lines of a code object as they are now: they may differ from what was compiled."""
    numbers = [line for _, _, line in code.co_lines() if line is not None]
    first, last = code.co_firstlineno, max([code.co_firstlineno, *numbers])
    linecache.checkcache(code.co_filename)
    return linecache.getlines(code.co_filename)[first - 1 : last]


def _cell(cell: CellType) -> Callable[[], object]:
    try:
        cell.cell_contents  # noqa: B018
    except ValueError:  # not set yet
        return lambda: MISSING
    return partial(getattr, cell, "cell_contents")


def fixed(module: str) -> bool:
    """Whether a module is part of the installation, whose versions are part of every key."""
    return _fixed(module.split(".")[0])


@cache
def _fixed(package: str) -> bool:
    if package in LIBRARIES:
        return True
    file = getattr(sys.modules.get(package), "__file__", None)
    standard = package in sys.stdlib_module_names and package != "__main__"
    return standard and (file is None or Path(file).is_relative_to(STANDARD))


def digest(*parts: Hashable) -> str:
    """A name for the parts: 32 hexadecimal digits."""
    made = hashlib.blake2b(digest_size=16)
    for part in parts:
        text = str(part).encode("utf-8", "surrogatepass")
        made.update(len(text).to_bytes(8, "little") + text)
    return made.hexdigest()
