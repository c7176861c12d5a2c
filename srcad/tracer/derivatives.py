"""Calls of srcad's own objects inside traced functions: `grad(f)(x)`, `vjp(f, x)`, `jvp(...)`.

Such an object is known by its `__srcad__` (`ir.marks`). The function is traced for the arguments
at hand as a function of its own; what it sees from outside becomes parameters; its derivative,
made by the caller of the tracer, is put in place of the call.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from srcad.ir.builder import OpenBlock
from srcad.ir.marks import Argnums, Mark
from srcad.ir.nodes import Atom, Function, Var
from srcad.ir.trees import Group, Leaf, Nothing, Tree
from srcad.ir.types import Array
from srcad.ir.walk import free, inline
from srcad.tracer import boxes, calls, elementwise, joins, records, scalars
from srcad.tracer.machine import Function as Traced
from srcad.tracer.machine import Machine
from srcad.tracer.source import code_of
from srcad.tracer.values import Arr, Num, Value

Values = list[Value]
Names = dict[str, Value]


@dataclass(frozen=True)
class Derivative:
    """`grad(f)` and the like, made while tracing."""

    mode: str
    inner: Value
    argnums: Argnums


@dataclass(frozen=True)
class Pullback:
    """`vjp(f, *args)`, made while tracing: `value`, and copies of the arguments."""

    inner: Value
    args: tuple[Value, ...]
    argnums: Argnums
    value: Value


KINDS = (Derivative, Pullback)


def call(machine: Machine, function: Value, args: Values, kwargs: Names) -> Value:
    """A call of an object of srcad's."""
    if isinstance(function, Pullback):
        given = args[0] if args else 1.0
        fresh = tuple(copied(machine, arg) for arg in function.args)  # the function may write
        return derived(machine, function.inner, "vjp", function.argnums, fresh, [given])
    if isinstance(function, Derivative):
        found = ordered(machine, function.inner, args, kwargs)
        return derived(machine, function.inner, function.mode, function.argnums, found)
    mark = getattr(function, "__srcad__", None)
    if not isinstance(mark, Mark):
        machine.emit.fail("this object of srcad cannot be used inside a traced function")
    if mark.inner is not None:
        found = ordered(machine, mark.inner, args, kwargs)
        return derived(machine, mark.inner, mark.mode, mark.argnums, found)
    return maker(machine, mark.mode, args, kwargs)


def maker(machine: Machine, mode: str, args: Values, kwargs: Names) -> Value:
    """A call of `grad`, `vjp` and the like themselves."""
    if not args:
        machine.emit.fail(f"`{mode}` needs a function", instead=f"{mode}(f)(x)")
    inner, *rest = args
    if mode == "jvp":
        return tangents(machine, inner, rest)
    argnums: Argnums = kwargs.pop("argnums", None if mode == "vjp" else 0)  # type: ignore[assignment]
    if mode == "hessian":
        return Derivative("jacobian", Derivative("grad", inner, argnums), argnums)
    if mode != "vjp":
        return Derivative(mode, inner, argnums)
    found = ordered(machine, inner, rest, kwargs)
    copies = tuple(copied(machine, value) for value in found)
    value = machine.call(inner, list(found), {})
    single = argnums is None and len(found) == 1
    return Pullback(inner, copies, 0 if single else argnums, value)


def tangents(machine: Machine, inner: Value, rest: Values) -> Value:
    if len(rest) != 2 or not all(isinstance(v, tuple | list) for v in rest):
        machine.emit.fail("jvp takes tuples: jvp(f, (x, y), (x_dot, y_dot))")
    primals, dots = (list(v) for v in rest)  # type: ignore[call-overload]
    chosen = tuple(k for k, dot in enumerate(dots) if dot is not None)
    given = [dot for dot in dots if dot is not None]
    return derived(machine, inner, "jvp", chosen, tuple(primals), given)


def attribute(machine: Machine, value: Value, name: str) -> Value:
    if isinstance(value, Pullback) and name == "value":
        return value.value
    machine.emit.fail(f"`{name}` is not an attribute here")


def copied(machine: Machine, value: Value) -> Value:
    inner = records.parts(value)
    if inner is not None:
        return records.rebuilt(inner[0], tuple(copied(machine, item) for item in inner[1]))
    return elementwise.copy(machine.emit, value) if isinstance(value, Arr) else value


def ordered(machine: Machine, inner: Value, args: Values, kwargs: Names) -> tuple[Value, ...]:
    """All arguments by position, defaults filled in."""
    target = inner
    while isinstance(getattr(target, "__srcad__", None), Mark):
        target = target.__srcad__.inner  # type: ignore[attr-defined]
    while isinstance(target, Derivative):
        target = target.inner
    if isinstance(target, Traced):
        code, defaults = target.code, target.defaults
    else:
        function: Any = getattr(target, "py_func", target)
        code, defaults = code_of(function), calls.defaults_of(function)
    bound = calls.bind(machine, code, args, kwargs, defaults)
    return tuple(bound[name] for name in code.parameters)


def derived(
    machine: Machine,
    inner: Value,
    mode: str,
    argnums: Argnums,
    args: tuple[Value, ...],
    more: Values | None = None,
) -> Value:
    """The derivative of `inner` at these arguments, in place; `more` are cotangents or tangents."""
    if machine.derive is None:
        machine.emit.fail("derivatives inside a traced function are not supported here")
    traced = separate(machine, inner, args)
    done = {one.name: one.function for one in machine.callees}
    traced = replace(traced, callees=(*done.values(), *machine.derived))
    function = machine.derive(traced, mode, argnums)
    machine.derived = [one for one in function.callees if one.name not in done]
    emit = machine.emit
    atoms: list[Atom] = list(traced.params[: traced.captured])
    for value in args:
        atoms += flat(machine, value)
    wanted = function.params[len(traced.params) :]
    atoms += seeds(machine, wanted, more or [])
    mapping = dict(zip(function.params, atoms, strict=True))
    results = inline(emit.builder, function.body, mapping)
    return packed(machine, function.gives, iter(results))


def separate(machine: Machine, inner: Value, args: tuple[Value, ...]) -> Function:
    """`inner` traced as a function of its own; what it sees outside becomes parameters."""
    builder = machine.emit.builder
    open, builder.open = builder.open, [OpenBlock()]
    try:
        params: list[Var] = []
        pairs = [parameter(machine, f"x_{k}", value, params) for k, value in enumerate(args)]
        heap = dict(machine.emit.heap)
        result = machine.call(inner, [value for value, _ in pairs], {})
        if any(machine.emit.heap[box] is not content for box, content in heap.items()):
            machine.emit.fail(
                "a differentiated function changes a list or dictionary from outside",
                instead="make the list inside the function",
            )
        result = boxes.given(machine.emit, result)
        results: list[Atom] = []
        gives = tree_of(machine, result, results)
        body = builder.finish(*results)
    finally:
        builder.open = open
    outer = tuple(sorted(free(body) - set(params), key=lambda var: var.id))
    name = getattr(inner, "__name__", "inner")
    names = tuple((f"x_{k}", tree) for k, (_, tree) in enumerate(pairs))
    name = name if name.isidentifier() else "inner"
    loc = builder.loc
    return Function(name, (*outer, *params), body, names, gives, len(outer), loc)


def parameter(machine: Machine, name: str, value: Value, params: list[Var]) -> tuple[Value, Tree]:
    emit = machine.emit
    if value is None:
        return None, Nothing()
    inner = records.parts(value)
    if inner is not None:
        parts = [parameter(machine, f"{name}_{k}", v, params) for k, v in enumerate(inner[1])]
        whole = records.rebuilt(inner[0], tuple(v for v, _ in parts))
        return whole, Group(tuple(tree for _, tree in parts), inner[0])
    if isinstance(value, Arr):
        params.append(emit.builder.like(value.var))
        shape = tuple(emit.builder.dim(params[-1], axis) for axis in range(len(value.shape)))
        return Arr(params[-1], shape), Leaf()
    if isinstance(value, Num):
        params.append(emit.builder.var(value.atom.type, name))
        return Num(params[-1], value.weak), Leaf()
    if isinstance(value, float):  # a number that is differentiated
        params.append(emit.builder.var(scalars.to_atom(emit, value).type, name))
        return Num(params[-1], True), Leaf()
    return value, Nothing()


def flat(machine: Machine, value: Value) -> list[Atom]:
    """The atoms of an argument, as `parameter` made parameters."""
    inner = records.parts(value)
    if inner is not None:
        return [atom for item in inner[1] for atom in flat(machine, item)]
    if isinstance(value, Arr):
        return [joins.handed_on(machine.emit, value.var)]
    if isinstance(value, Num | float):
        return [scalars.to_atom(machine.emit, value)]
    return []


def tree_of(machine: Machine, value: Value, results: list[Atom]) -> Tree:
    value = machine.plain(value)
    inner = records.parts(value)
    if inner is not None:
        return Group(tuple(tree_of(machine, item, results) for item in inner[1]), inner[0])
    match value:
        case None:
            return Nothing()
        case Arr(var=var):
            results.append(var)
        case _:
            results.append(scalars.to_atom(machine.emit, value))
    return Leaf()


def seeds(machine: Machine, wanted: tuple[Var, ...], given: Values) -> list[Atom]:
    """The cotangents or tangents of the parameters `wanted`, as their types."""
    values = [leaf for value in given for leaf in spread(value)]
    if len(values) != len(wanted):
        machine.emit.fail(f"{len(wanted)} cotangents or tangents are needed, not {len(values)}")
    atoms: list[Atom] = []
    for var, value in zip(wanted, values, strict=True):
        if not isinstance(var.type, Array):
            atoms.append(scalars.to_atom(machine.emit, value, var.type.dtype))
            continue
        if not isinstance(value, Arr) or len(value.shape) != var.type.ndim:
            machine.emit.fail("a cotangent or tangent must have the shape of its value")
        atoms.append(elementwise.copy(machine.emit, value, var.type.dtype).var)
    return atoms


def spread(value: Value) -> Iterator[Value]:
    inner = records.parts(value)
    if inner is not None:
        for item in inner[1]:
            yield from spread(item)
    elif value is not None:
        yield value


def packed(machine: Machine, tree: Tree, atoms: Iterator[Atom]) -> Value:
    """The results in their structure."""
    emit = machine.emit
    match tree:
        case Nothing():
            return None
        case Group(items=items, cls=cls):
            return records.rebuilt(cls, tuple(packed(machine, item, atoms) for item in items))
        case Leaf():
            atom = next(atoms)
            if not isinstance(atom.type, Array):
                return Num(atom)
            assert isinstance(atom, Var)
            shape = tuple(emit.builder.dim(atom, axis) for axis in range(atom.type.ndim))
            return Arr(atom, shape)
