"""Calls of functions that are traced in place: parameters bound, bodies executed, results given."""

import ast
import dataclasses
import functools
import inspect
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any

from srcad.tracer import declared, records, recursion
from srcad.tracer.flow import RESULT, RETURNED
from srcad.tracer.machine import Frame, Function, Machine, Unfinished
from srcad.tracer.source import Code, code_of
from srcad.tracer.values import UNSET, Num, Option, Value

DEPTH = 40  # calls inside calls: beyond it the function is recursive
Names = dict[str, Value]


@dataclass(frozen=True)
class Partial:
    """`functools.partial` of values that are known at run time only."""

    func: Value
    args: tuple[Value, ...]
    keywords: Names


def run(machine: Machine, code: Code, outer: Frame | None, names: Names) -> Value:
    """A call: in place, or of a function of its own where it calls itself at run time."""
    key = recursion.key_of(code)
    if key in machine.emit.growth.recursive:
        return recursion.call(machine, code, outer, names)
    recursion.note(machine, code, names)
    machine.chain.append((key, names))
    try:
        return body(machine, code, outer, names)
    finally:
        machine.chain.pop()


def body(machine: Machine, code: Code, outer: Frame | None, names: Names) -> Value:
    """Executes a function's body; its result, an Option where some path gives none."""
    if machine.depth > DEPTH:
        machine.emit.fail("more than 40 calls inside each other", instead="write a loop")
    saved, loc = machine.frame, machine.emit.builder.loc
    machine.frame = Frame(code, outer)
    machine.frame.names = dict(names)
    machine.depth += 1
    path, machine.emit.path = machine.emit.path, (*machine.emit.path, loc)
    try:
        if isinstance(code.node, ast.Lambda):
            return machine.expr(code.node.body)
        machine.block(code.body)
        machine.died = machine.frame.dead
        if machine.frame.dead and machine.unfinished:
            raise Unfinished
        return returned(machine, machine.frame)
    finally:
        if saved is not None and machine.frame.dead:
            saved.dead = True
        machine.depth -= 1
        machine.emit.path = path
        machine.frame, machine.emit.builder.loc = saved, loc


def returned(machine: Machine, frame: Frame) -> Value:
    result, flag = frame.names.get(RESULT, UNSET), frame.names.get(RETURNED, False)
    if result is UNSET or flag is False:
        return None
    if flag is True or not isinstance(flag, Num) or result is None:
        return result
    if not isinstance(result, Option):
        return Option(result, flag, None)
    known = machine.emit.op("and", flag, result.known)
    assert isinstance(known, Num)
    return Option(result.value, known, None)


def call(machine: Machine, function: Value, args: list[Value], kwargs: Names) -> Value:
    """A call of a function whose source is traced; refused for anything else."""
    if isinstance(function, Function):
        names = bind(machine, function.code, args, kwargs, function.defaults)
        return run(machine, function.code, function.frame, names)
    if function is functools.partial:
        return Partial(args[0], tuple(args[1:]), kwargs)
    if isinstance(function, functools.partial | Partial):
        given = {**function.keywords, **kwargs}
        return machine.call(function.func, [*function.args, *args], given)
    if isinstance(function, MethodType):
        return machine.call(function.__func__, [function.__self__, *args], kwargs)
    target: Any = getattr(function, "py_func", function)
    if isinstance(target, FunctionType):
        code = code_of(target)
        names = bind(machine, code, args, kwargs, defaults_of(target))
        if declared.is_declared(function):
            passed = [machine.plain(names[p]) for p in code.parameters]
            converted, wanted = declared.converted(machine, function, passed)
            names = dict(zip(code.parameters, converted, strict=True))
            return declared.as_declared(machine, run(machine, code, None, names), wanted)
        return run(machine, code, None, names)
    if isinstance(function, type) and hasattr(function, "_fields"):
        return function(*args, **kwargs)  # a namedtuple
    if isinstance(function, type) and dataclasses.is_dataclass(function):
        return records.made(machine, function, args, kwargs)
    if isinstance(getattr(function, "__self__", None), str) and _static(args, kwargs):
        return function(*args, **kwargs)  # type: ignore[operator]
    name = getattr(function, "__name__", type(function).__name__)
    machine.emit.fail(f"a call of `{name}` is not supported")


def _static(args: list[Value], kwargs: Names) -> bool:
    return all(isinstance(v, str | int | float | tuple) for v in (*args, *kwargs.values()))


def defaults_of(function: FunctionType) -> Names:
    parameters = inspect.signature(function, follow_wrapped=False).parameters
    empty = inspect.Parameter.empty
    return {name: p.default for name, p in parameters.items() if p.default is not empty}


def bind_all(machine: Machine, code: Code, values: Names, defaults: Names) -> Names:
    """The parameters' values, those of star parameters given whole."""
    spec, given = code.node.args, dict(values)
    star: Any = () if spec.vararg is None else given.pop(spec.vararg.arg, ())
    more: Any = {} if spec.kwarg is None else given.pop(spec.kwarg.arg, {})
    args = [given.pop(name) for name in code.parameters if name in given] if star else []
    return bind(machine, code, [*args, *star], given | more, defaults)


def bind(machine: Machine, code: Code, args: list[Value], kwargs: Names, defaults: Names) -> Names:
    """The parameters' values, star parameters included."""
    spec, names = code.node.args, code.parameters
    only = [a.arg for a in spec.kwonlyargs]
    extra = {name: value for name, value in kwargs.items() if name not in (*names, *only)}
    if (len(args) > len(names) and spec.vararg is None) or (extra and spec.kwarg is None):
        unknown = f", no `{next(iter(extra))}`" if extra else f", not {len(args)}"
        machine.emit.fail(f"`{code.name}` takes {len(names)} arguments{unknown}")
    twice = [name for name in names[: len(args)] if name in kwargs]
    if twice:
        machine.emit.fail(f"`{code.name}` gets the argument `{twice[0]}` twice")
    given = {name: value for name, value in kwargs.items() if name not in extra}
    bound = {**defaults, **dict(zip(names, args, strict=False)), **given}
    missing = [name for name in (*names, *only) if name not in bound]
    if missing:
        machine.emit.fail(f"`{code.name}` misses the argument `{missing[0]}`")
    if spec.vararg is not None:
        bound[spec.vararg.arg] = tuple(args[len(names) :])
    if spec.kwarg is not None:
        bound[spec.kwarg.arg] = extra
    return bound
