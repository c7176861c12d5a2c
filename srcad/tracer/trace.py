"""`trace`: one function and the types of its arguments to an IR function."""

import copy
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcad.ir.builder import Builder, OpenBlock
from srcad.ir.marks import Derive
from srcad.ir.nodes import Atom, Block, Function, Store, Var, View, array_type
from srcad.ir.trees import Group, Leaf, Nothing, Tree
from srcad.ir.types import FLOAT, Array, Layout, Scalar
from srcad.ir.walk import called, defs, walk
from srcad.tracer import calls
from srcad.tracer.context import Emit
from srcad.tracer.interpreter import Interpreter
from srcad.tracer.source import code_of
from srcad.tracer.values import Arr, Num, Option, Useless, Value

Spec = Scalar | Array | None | tuple["Spec", ...]


@dataclass(frozen=True)
class Read:
    """Something read from outside: the value that it had, and how to read it again."""

    name: str
    value: object
    current: Callable[[], object]
    hidden: bool = False  # a parameter of the traced function: its value shapes no code

    def holds(self) -> bool:
        """Whether the trace would read the same now; an array only needs the same type."""
        now = self.current()
        if self.hidden and type(self.value) is float:
            return type(now) is float
        if isinstance(self.value, np.ndarray):
            return isinstance(now, np.ndarray) and array_spec(now) == array_spec(self.value)
        if mutable(self.value):
            return type(now) is type(self.value) and same_contents(now, self.value)
        if now is self.value:
            return True
        plain = (bool, int, float, str, tuple)
        return type(now) is type(self.value) and isinstance(now, plain) and now == self.value


@dataclass(frozen=True)
class Trace:
    """The traced function and what it read from outside, some of it as hidden parameters."""

    function: Function
    reads: tuple[Read, ...]
    written: frozenset[int] = frozenset()  # the places of parameters that are written into

    def captured(self) -> list[object]:
        """The hidden arguments now, in the order of the hidden parameters."""
        return [r.current() for r in self.reads if r.hidden]


def trace(
    f: types.FunctionType,
    arguments: tuple[Spec, ...],
    *,
    hide_floats: bool = False,
    derive: Derive | None = None,
) -> Trace:
    """The IR of `f` for arguments of these types; `derive` differentiates what it calls.

    Captured arrays become hidden parameters; with `hide_floats` captured floats too. Raises
    UnsupportedSyntax, with the place, where the function uses what srcad does not take.
    """
    builder = Builder()
    emit = Emit(builder)
    code = code_of(f)
    names = code.parameters
    builder.loc = code.loc
    params: list[Var] = []
    values: dict[str, Value] = {}
    takes: list[tuple[str, Tree]] = []
    for name, spec in zip(names, arguments, strict=False):
        values[name], tree = _parameter(builder, name, spec, params)
        takes.append((name, tree))
    emit.memory.separate.update(p for p in params if isinstance(p.type, Array))
    if len(names) > len(arguments):
        missing = names[len(arguments) :]
        defaults = dict(zip(reversed(names), reversed(f.__defaults__ or ()), strict=False))
        if set(missing) - set(defaults):
            emit.fail(f"`{code.name}` misses the argument `{missing[0]}`")
        values |= {name: defaults[name] for name in missing}
    reads: list[Read] = []
    hidden: dict[int, tuple[Arr, Var]] = {}
    captured: list[Var] = []

    prologue = OpenBlock()  # extents of captured arrays, wherever those are met

    def outside(name: str, value: object, current: Callable[[], object]) -> Value:
        if hide_floats and type(value) is float:
            reads.append(Read(name, value, current, True))
            captured.append(builder.var(FLOAT, name))
            return Num(captured[-1], True)
        if not isinstance(value, np.ndarray):
            reads.append(Read(name, copy.deepcopy(value) if mutable(value) else value, current))
            return value
        if id(value) not in hidden:
            reads.append(Read(name, value, current, True))
            var = builder.var(array_spec(value), name)
            captured.append(var)
            emit.memory.separate.add(var)
            inner, builder.open = builder.open, [prologue]
            dims = _dims(builder, var)
            emit.everywhere.update(dim for dim in dims if isinstance(dim, Var))
            hidden[id(value)] = Arr(var, dims), var
            builder.open = inner
        elif name not in {r.name for r in reads if r.value is value}:  # the two must stay the same
            reads.append(Read(name, value, current))
        return hidden[id(value)][0]

    machine = Interpreter(emit, outside, derive)
    machine.parameters |= set(params)
    result = calls.run(machine, code, None, values)
    machine.finish()
    results: list[Atom] = []
    gives = _results(emit, result, results)
    body = builder.finish(*results)
    body = Block((*prologue.stmts, *body.stmts), body.results)
    function = Function(
        code.name if code.name.isidentifier() else "function",
        (*captured, *params), body, tuple(takes), gives, len(captured),
        code.loc,
    )  # fmt: skip
    function = called(function, unnamed(function) | emit.names)
    return Trace(function, tuple(reads), _written(function))


def _written(function: Function) -> frozenset[int]:
    """The parameters that a Store may reach, through views."""
    base: dict[Var, Var] = {p: p for p in function.params}
    found: set[Var] = set()
    for stmt in walk(function.body):
        match stmt:
            case View(out=out, array=array) if array in base:
                base[out] = base[array]
            case Store(array=array) if array in base:
                found.add(base[array])
            case _:
                pass
    return frozenset(k for k, p in enumerate(function.params) if p in found)


def unnamed(function: Function) -> dict[Var, str]:
    """Values that the user gave no name: `v`, so that the user's `t` stays `t`."""
    defined = (var for stmt in walk(function.body) for var in defs(stmt))
    return {var: "v" for var in defined if var.hint == "t"}


def mutable(value: object) -> bool:
    """Whether a container may change and stay the same object."""
    return isinstance(value, list | dict | set) or (
        isinstance(value, tuple) and any(map(mutable, value))
    )


def same_contents(now: object, before: object) -> bool:
    """Equality; False where it has no plain answer (arrays inside)."""
    try:
        return bool(now == before)
    except ValueError:
        return False


def _dims(builder: Builder, var: Var) -> tuple[Atom, ...]:
    return tuple(builder.dim(var, axis) for axis in range(array_type(var).ndim))


def array_spec(value: "np.ndarray[Any, Any]") -> Array:
    """The type of an array; C before F, as Numba has it."""
    layout: Layout = "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "A"
    return Array(value.dtype.name, value.ndim, layout, bool(value.flags.writeable))


def _parameter(builder: Builder, name: str, spec: Spec, params: list[Var]) -> tuple[Value, Tree]:
    if spec is None:
        return None, Nothing()
    if isinstance(spec, tuple):
        parts = [_parameter(builder, f"{name}_{k}", s, params) for k, s in enumerate(spec)]
        return tuple(v for v, _ in parts), Group(tuple(t for _, t in parts))
    var = builder.var(spec, name)
    params.append(var)
    if isinstance(spec, Array):
        return Arr(var, _dims(builder, var)), Leaf()
    return Num(var, spec.dtype in ("float64", "int64", "bool")), Leaf()


def _results(emit: Emit, value: Value, results: list[Atom]) -> Tree:
    match value:
        case None:
            return Nothing()
        case tuple() | list():
            return Group(tuple(_results(emit, item, results) for item in value))
        case Arr(var=var):
            results.append(var)
        case Option(value=inner, known=known):
            emit.builder.check(
                known.atom, "ValueError", "the function ended without returning a value"
            )
            return _results(emit, inner, results)
        case Useless(what=what, why=why, instead=instead):
            emit.fail(what, why, instead)
        case _:
            results.append(emit.atom(value))
    return Leaf()
