"""`trace`: one function and the types of its arguments to an IR function."""

import types
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from srcad.errors import Loc
from srcad.ir.builder import Builder
from srcad.ir.nodes import Atom, Function, Var
from srcad.ir.trees import Group, Leaf, Nothing, Tree
from srcad.ir.types import Array, Scalar
from srcad.tracer.emit import Emit
from srcad.tracer.interpreter import Interpreter
from srcad.tracer.source import code_of
from srcad.tracer.values import Arr, Num, Value

Spec = Scalar | Array | None | tuple["Spec", ...]


@dataclass(frozen=True)
class Read:
    """Something read from outside: its name and the value that it had."""

    name: str
    value: object


@dataclass(frozen=True)
class Trace:
    """The traced function and what it read from outside; arrays among it are hidden parameters."""

    function: Function
    reads: tuple[Read, ...]

    @property
    def captured(self) -> tuple[np.ndarray, ...]:
        return tuple(r.value for r in self.reads if isinstance(r.value, np.ndarray))


def trace(f: types.FunctionType, arguments: tuple[Spec, ...]) -> Trace:
    """The IR of `f` for arguments of these types.

    Raises UnsupportedSyntax, with the place, where the function uses what srcad does not take.
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
    if len(names) > len(arguments):
        missing = names[len(arguments) :]
        defaults = dict(zip(reversed(names), reversed(f.__defaults__ or ()), strict=False))
        if set(missing) - set(defaults):
            emit.fail(f"`{code.name}` misses the argument `{missing[0]}`")
        values |= {name: defaults[name] for name in missing}
    reads: list[Read] = []
    hidden: dict[int, tuple[Arr, Var]] = {}

    def outside(name: str, value: object) -> Value:
        if isinstance(value, types.ModuleType | types.FunctionType | types.BuiltinFunctionType):
            return value
        reads.append(Read(name, value))
        if not isinstance(value, np.ndarray):
            return value
        if id(value) not in hidden:
            kind = Array(value.dtype.name, value.ndim, layout_of(value), value.flags.writeable)
            var = builder.var(kind, name)
            shape = tuple(_dims(outer, var))
            hidden[id(value)] = Arr(var, shape), var
        else:
            reads.pop()
        return hidden[id(value)][0]

    outer = builder
    result = Interpreter(emit, _hoisting(builder, outside)).run(code, None, values)
    results: list[Atom] = []
    gives = _results(emit, result, results)
    body = builder.finish(*results)
    captured = tuple(var for _, var in hidden.values())
    function = Function(
        code.name if code.name.isidentifier() else "function",
        (*captured, *params), body, tuple(takes), gives, len(captured),
        Loc(code.file, code.first, code.shift, None, code.name),
    )  # fmt: skip
    return Trace(function, tuple(reads))


def _hoisting(builder: Builder, outside: "object") -> "object":
    """Extents of captured arrays are read in the function's own block, wherever they are met."""

    def read(name: str, value: object) -> Value:
        inner, builder.open = builder.open, builder.open[:1]
        try:
            return outside(name, value)  # type: ignore[operator]
        finally:
            builder.open = inner

    return read


def _dims(builder: Builder, var: Var) -> Iterator[Atom]:
    assert isinstance(var.type, Array)
    return iter([builder.dim(var, axis) for axis in range(var.type.ndim)])


def layout_of(value: np.ndarray) -> str:
    """C before F, as Numba has it."""
    return "C" if value.flags.c_contiguous else "F" if value.flags.f_contiguous else "A"


def _parameter(
    builder: Builder, name: str, spec: Spec, params: list[Var]
) -> tuple[Value, Tree]:
    if spec is None:
        return None, Nothing()
    if isinstance(spec, tuple):
        parts = [_parameter(builder, f"{name}_{k}", s, params) for k, s in enumerate(spec)]
        return tuple(v for v, _ in parts), Group(tuple(t for _, t in parts))
    var = builder.var(spec, name)
    params.append(var)
    if isinstance(spec, Array):
        return Arr(var, tuple(_dims(builder, var))), Leaf()
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
