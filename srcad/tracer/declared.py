"""Helpers compiled for explicit signatures: Numba converts their arguments, so srcad does too."""

from typing import Any

import numpy as np
from numba import from_dtype, types
from numba.core.registry import cpu_target

from srcad.ir.nodes import array_type
from srcad.tracer import scalars
from srcad.tracer.machine import Machine
from srcad.tracer.values import Arr, Num, Value


def is_declared(function: Value) -> bool:
    """Whether it is an @njit function that takes the types of its signatures only."""
    return getattr(function, "_can_compile", True) is False


def converted(machine: Machine, function: Any, args: list[Value]) -> tuple[list[Value], Any]:
    """The arguments as Numba's choice of a signature has them (int(x) ...), and its result type."""
    emit = machine.emit
    context = cpu_target.typing_context
    context.refresh()
    given = tuple(_type(machine, arg) for arg in args)
    template, *_ = function.get_call_template(given, {})
    chosen = template(context).apply(given, {})
    if chosen is None:
        declared = ", ".join(str(one) for one in function.nopython_signatures)
        emit.fail(
            f"`{function.__name__}` has no signature for these arguments",
            f"they are {', '.join(map(str, given))}; it declares {declared}",
            "leave the signature out of @njit(...), or convert the arguments",
        )
    pairs = zip(args, chosen.args, strict=True)
    return [as_declared(machine, arg, wanted) for arg, wanted in pairs], chosen.return_type


def as_declared(machine: Machine, value: Value, wanted: Any) -> Value:
    """A number as the declared type; anything else unchanged."""
    if isinstance(wanted, types.Number | types.Boolean):
        if str(wanted) != scalars.dtype(machine.emit, value):
            return scalars.convert(machine.emit, value, str(wanted))
    return value


def _type(machine: Machine, value: Value) -> Any:
    """Numba's type of a value while tracing."""
    match value:
        case Arr(var=var):
            kind = array_type(var)
            own = from_dtype(np.dtype(kind.dtype))
            return types.Array(own, kind.ndim, kind.layout, readonly=not kind.writable)
        case Num() | bool() | int() | float() | np.generic():
            return from_dtype(np.dtype(scalars.dtype(machine.emit, value)))
        case tuple() | list():
            items = [_type(machine, item) for item in value]
            return types.BaseTuple.from_types(items)  # type: ignore[no-untyped-call]
        case None:
            return types.none
        case _:
            machine.emit.fail(
                "a helper with explicit signatures takes numbers, arrays and tuples here",
                instead="leave the signature out of @njit(...)",
            )
