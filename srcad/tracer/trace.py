"""`trace`: one function and the types of its arguments to an IR function."""

import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from srcad.errors import Problem, UnsupportedSyntax
from srcad.ir.builder import Builder, OpenBlock
from srcad.ir.marks import Derive
from srcad.ir.nodes import Atom, Block, Function, Var, array_type
from srcad.ir.trees import Container, Group, Leaf, Nothing, Tree
from srcad.ir.types import FLOAT, Array, Layout, Scalar
from srcad.ir.walk import called, defs, walk
from srcad.tracer import boxes, calls, records
from srcad.tracer.containers import item_of, items, label, layout, one_source, opens, rebuilt
from srcad.tracer.context import Emit
from srcad.tracer.interpreter import Interpreter
from srcad.tracer.joins import Array as Lined
from srcad.tracer.joins import flattened
from srcad.tracer.source import code_of
from srcad.tracer.values import Arr, Growth, Num, Option, Recursive, Retrace, Useless, Value


@dataclass(frozen=True, eq=False)
class Fixed:
    """An argument that is a constant of the code: a text, an enum's member, a function."""

    value: object

    def key(self) -> object:
        value: Any = self.value
        if isinstance(value, str | bytes):
            return type(value), value
        python = getattr(value, "py_func", value)
        return id(value), id(getattr(python, "__code__", None))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Fixed) and self.key() == other.key()

    def __hash__(self) -> int:
        return hash(self.key())


@dataclass(frozen=True)
class Parts:
    """A dict, list, namedtuple or dataclass, and what is in it."""

    container: Container
    items: tuple["Spec", ...]


Spec = Scalar | Array | None | Fixed | Parts | tuple["Spec", ...]


ATTEMPTS = 60  # each makes one list growable, or its items wider


@dataclass(frozen=True)
class Read:
    """Something read from outside: the value that it had, and how to read it again."""

    name: str
    value: object
    current: Callable[[], object]
    hidden: bool = False  # a parameter of the traced function: its value shapes no code


@dataclass(frozen=True)
class Trace:
    """The traced function and what it read from outside, some of it as hidden parameters."""

    function: Function
    reads: tuple[Read, ...]

    def captured(self) -> list[object]:
        """The hidden arguments now, in the order of the hidden parameters."""
        return [r.current() for r in self.reads if r.hidden]


class Captures:
    """What the function reads from outside: arrays, and floats if so wanted, become parameters."""

    def __init__(self, emit: Emit, hide_floats: bool) -> None:
        self.emit, self.hide_floats = emit, hide_floats
        self.reads: list[Read] = []
        self.params: list[Var] = []
        self.arrays: dict[int, Arr] = {}  # by identity
        self.known: dict[str, list[tuple[Callable[[], object], object, Value]]] = {}
        self.prologue = OpenBlock()  # extents of captured arrays, wherever those are met

    def read(self, name: str, value: object, current: Callable[[], object]) -> Value:
        """What a value from outside is in the trace; it is recorded once."""
        for source, before, result in self.known.get(name, ()):
            if before is value and one_source(source, current):
                return result
        result = self.new(name, value, current)
        self.known.setdefault(name, []).append((current, value, result))
        return result

    def new(self, name: str, value: object, current: Callable[[], object]) -> Value:
        """Containers with arrays in them are read item by item."""
        if opens(value):
            self.reads.append(Read(f"{name} layout", layout(value), lambda: layout(current())))
            pairs = items(value)
            found = [self.read(label(name, k), v, partial(item_of, current, k)) for k, v in pairs]
            return rebuilt(value, found)
        if self.hide_floats and type(value) is float:
            self.reads.append(Read(name, value, current, True))
            self.params.append(self.emit.builder.var(FLOAT, name))
            return Num(self.params[-1], True)
        if not isinstance(value, np.ndarray):
            self.reads.append(Read(name, value, current))
            return value
        if id(value) not in self.arrays:
            self.reads.append(Read(name, value, current, True))
            self.arrays[id(value)] = self.array(name, array_spec(value))
        else:
            self.reads.append(Read(name, value, current))  # the two must stay the same
        return self.arrays[id(value)]

    def array(self, name: str, kind: Array) -> Arr:
        builder, memory = self.emit.builder, self.emit.memory
        var = builder.var(kind, name)
        self.params.append(var)
        memory.separate.add(var)
        inner, builder.open = builder.open, [self.prologue]
        dims = _dims(builder, var)
        self.emit.everywhere.update(dim for dim in dims if isinstance(dim, Var))
        builder.open = inner
        return Arr(var, dims)


def trace(
    f: types.FunctionType,
    arguments: tuple[Spec, ...],
    *,
    hide_floats: bool = False,
    derive: Derive | None = None,
) -> Trace:
    """The IR of `f` for arguments of these types; `derive` differentiates what it calls.

    Captured arrays become hidden parameters; with `hide_floats` captured floats too. Raises
    UnsupportedSyntax, with all places, where the function uses what srcad does not take.
    """
    growth = Growth()
    for _ in range(ATTEMPTS):
        try:
            return _trace(f, arguments, hide_floats, derive, growth)
        except Retrace as wanted:
            item: Any = wanted.item
            anywhere = not any(isinstance(k, Lined) for k in flattened(item))
            growth.add(wanted.box, item, anywhere=anywhere)
        except Recursive as wanted:
            growth.recursive.add(wanted.key)
            growth.by_birth.clear()
    raise UnsupportedSyntax(Problem("the kinds of the lists in this function do not settle"))


def _trace(
    f: types.FunctionType,
    arguments: tuple[Spec, ...],
    hide_floats: bool,
    derive: Derive | None,
    growth: Growth,
) -> Trace:
    builder, code = Builder(), code_of(f)
    emit = Emit(builder)
    emit.growth = growth
    builder.loc = code.loc
    params: list[Var] = []
    values: dict[str, Value] = {}
    takes: list[tuple[str, Tree]] = []
    for name, spec in zip(code.all_parameters, arguments, strict=False):
        values[name], tree = _parameter(builder, name, spec, params)
        takes.append((name, tree))
    emit.memory.separate.update(p for p in params if isinstance(p.type, Array))
    captures = Captures(emit, hide_floats)
    machine = Interpreter(emit, captures.read, derive)
    machine.parameters |= set(params)
    values = calls.bind_all(machine, code, values, calls.defaults_of(f))
    result = calls.run(machine, code, None, values)
    machine.finish()
    results: list[Atom] = []
    gives = _results(emit, boxes.given(emit, result), results)
    body = builder.finish(*results)
    function = Function(
        code.name if code.name.isidentifier() else "function",
        (*captures.params, *params),
        Block((*captures.prologue.stmts, *body.stmts), body.results),
        tuple(takes),
        gives,
        len(captures.params),
        code.loc,
        (*(callee.function for callee in machine.callees), *machine.derived),
    )
    function = called(function, unnamed(function) | emit.names)
    return Trace(function, tuple(captures.reads))


def unnamed(function: Function) -> dict[Var, str]:
    """Values that the user gave no name: `v`, so that the user's `t` stays `t`."""
    defined = (var for stmt in walk(function.body) for var in defs(stmt))
    return {var: "v" for var in defined if var.hint == "t"}


def _dims(builder: Builder, var: Var) -> tuple[Atom, ...]:
    return tuple(builder.dim(var, axis) for axis in range(array_type(var).ndim))


def array_spec(value: "np.ndarray[Any, Any]") -> Array:
    """The type of an array; C before F, as Numba has it."""
    layout: Layout = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "A"
    return Array(value.dtype.name, value.ndim, layout, bool(value.flags.writeable))


def _parameter(builder: Builder, name: str, spec: Spec, params: list[Var]) -> tuple[Value, Tree]:
    if spec is None:
        return None, Nothing()
    if isinstance(spec, Fixed):
        return spec.value, Nothing()
    if isinstance(spec, Parts):
        parts = [_parameter(builder, f"{name}_{k}", s, params) for k, s in enumerate(spec.items)]
        tree = Group(tuple(t for _, t in parts), spec.container)
        return records.rebuilt(spec.container, tuple(v for v, _ in parts)), tree
    if isinstance(spec, tuple):
        parts = [_parameter(builder, f"{name}_{k}", s, params) for k, s in enumerate(spec)]
        return tuple(v for v, _ in parts), Group(tuple(t for _, t in parts))
    var = builder.var(spec, name)
    params.append(var)
    if isinstance(spec, Array):
        return Arr(var, _dims(builder, var)), Leaf()
    return Num(var, spec.dtype in ("float64", "int64", "bool")), Leaf()


def _results(emit: Emit, value: Value, results: list[Atom]) -> Tree:
    inner = records.parts(value)
    if inner is not None:
        return Group(tuple(_results(emit, item, results) for item in inner[1]), inner[0])
    match value:
        case None:
            return Nothing()
        case Arr(var=var):
            results.append(var)
        case Option(value=there, known=known):
            emit.builder.check(
                known.atom, "ValueError", "the function ended without returning a value"
            )
            return _results(emit, there, results)
        case Useless(what=what, why=why, instead=instead):
            emit.fail(what, why, instead)
        case _:
            results.append(emit.atom(value))
    return Leaf()
