"""`trace`: one function and the types of its arguments to an IR function."""

import types
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from srcad.errors import Loc
from srcad.ir.builder import Builder, OpenBlock
from srcad.ir.nodes import Atom, Block, Function, Var, array_type
from srcad.ir.trees import Group, Leaf, Nothing, Tree
from srcad.ir.types import FLOAT, Array, Layout, Scalar
from srcad.tracer.containers import item_of, items, label, layout, opens, rebuilt
from srcad.tracer.context import Emit
from srcad.tracer.interpreter import Interpreter
from srcad.tracer.source import code_of
from srcad.tracer.values import Arr, Num, Value

Spec = Scalar | Array | None | tuple["Spec", ...]


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


def trace(
    f: types.FunctionType, arguments: tuple[Spec, ...], *, hide_floats: bool = False
) -> Trace:
    """The IR of `f` for arguments of these types.

    Captured arrays become hidden parameters; with `hide_floats` captured floats too. Raises
    UnsupportedSyntax, with the place, where the function uses what srcad does not take.
    """
    builder = Builder()
    emit = Emit(builder)
    code = code_of(f)
    names = code.parameters
    builder.loc = Loc(code.file, code.first, code.shift, None, code.name)
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

    def opened(name: str, value: object, current: Callable[[], object]) -> Value:
        reads.append(Read(f"{name} layout", layout(value), lambda: layout(current())))
        found = [
            outside(label(name, key), inner, partial(item_of, current, key))
            for key, inner in items(value)
        ]
        return rebuilt(value, found)

    def outside(name: str, value: object, current: Callable[[], object]) -> Value:
        if isinstance(value, Arr | Num):  # of an opened container
            return value
        if opens(value):
            return opened(name, value, current)
        if hide_floats and type(value) is float:
            reads.append(Read(name, value, current, True))
            captured.append(builder.var(FLOAT, name))
            return Num(captured[-1], True)
        if not isinstance(value, np.ndarray):
            reads.append(Read(name, value, current))
            return value
        if id(value) not in hidden:
            reads.append(Read(name, value, current, True))
            var = builder.var(array_spec(value), name)
            captured.append(var)
            emit.memory.separate.add(var)
            inner, builder.open = builder.open, [prologue]
            hidden[id(value)] = Arr(var, _dims(builder, var)), var
            builder.open = inner
        elif name not in {r.name for r in reads if r.value is value}:  # the two must stay the same
            reads.append(Read(name, value, current))
        return hidden[id(value)][0]

    result = Interpreter(emit, outside).run(code, None, values)
    results: list[Atom] = []
    gives = _results(emit, result, results)
    body = builder.finish(*results)
    body = Block((*prologue.stmts, *body.stmts), body.results)
    function = Function(
        code.name if code.name.isidentifier() else "function",
        (*captured, *params), body, tuple(takes), gives, len(captured),
        Loc(code.file, code.first, code.shift, None, code.name),
    )  # fmt: skip
    return Trace(function, tuple(reads))


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
        case _:
            results.append(emit.atom(value))
    return Leaf()
