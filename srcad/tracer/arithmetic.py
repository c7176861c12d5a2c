"""Operators and element-wise functions of numbers and arrays.

Numbers become operations of `ops`; where an operand is an array, `elementwise` applies the same
to each element.
"""

from typing import Any

from srcad import ops
from srcad.ir.nodes import const
from srcad.ir.types import FLOATS
from srcad.tracer import elementwise, scalars
from srcad.tracer.values import Arr, Emit, Num, Value

BOOLS = {"add": "or", "mul": "and", "maximum": "or", "minimum": "and", "invert": "not"}
ORDERED_BOOLS = ("sub", "neg", "sign", "pow", "square", "floordiv", "mod")
INTEGER = ("add", "sub", "mul", "floordiv", "mod", "neg")
LARGE_POWER = 64  # from here on a constant exponent is a float as good as any


def operate(emit: Emit, name: str, *values: Value, weakly: bool | None = None) -> Value:
    """An operation of `ops`, element by element where some operand is an array.

    The result is weak if all operands are, or as `weakly` says.
    """
    values = elementwise.operands(emit, values)
    if any(isinstance(v, Arr) for v in values):
        return elementwise.apply(emit, lambda *each: operate(emit, name, *each), values)
    dtypes = scalars.promoted(emit, values)
    soft = all(map(scalars.weak, values)) if weakly is None else weakly
    if set(dtypes) == {"bool"} and not all(map(scalars.weak, values)):
        if name in ORDERED_BOOLS:
            emit.fail(f"`{name}` of bools is not supported", instead="convert them to numbers")
        name = BOOLS.get(name, name)
    try:
        operands, to = ops.operand_types(name, dtypes)
    except TypeError as error:
        emit.fail(f"`{name}` does not take {' and '.join(dtypes)}", str(error))
    atoms = [scalars.to_atom(emit, v, own) for v, own in zip(values, operands, strict=True)]
    if to == "int64" and name in INTEGER:  # one name for one index
        key = ("op", name, *atoms)
        return Num(emit.once(key, lambda: ops.apply(emit.builder, name, *atoms)), soft)
    return Num(ops.apply(emit.builder, name, *atoms), soft)


def arithmetic(emit: Emit, name: str, left: Value, right: Value) -> Value:
    """A binary operator of Python, by the name of its operation."""
    if name == "mod":
        return remainder(emit, left, right)
    if name == "pow":
        return power(emit, left, right)
    return operate(emit, name, left, right)


def each(emit: Emit, function: Any, *values: Value) -> Value:
    """`function` of numbers, element by element where some value is an array."""
    found = elementwise.operands(emit, values)
    if any(isinstance(v, Arr) for v in found):
        return elementwise.apply(emit, function, found)
    return function(*found)


def remainder(emit: Emit, left: Value, right: Value) -> Value:
    """`%`: of floats through its quotient, so that the reverse sweep decides no jump again."""

    def one(x: Value, y: Value) -> Value:
        if scalars.common(emit, (x, y)) in FLOATS:
            return operate(emit, "remainder", x, y, operate(emit, "floordiv", x, y))
        return operate(emit, "mod", x, y)

    return each(emit, one, left, right)


def power(emit: Emit, left: Value, right: Value) -> Value:
    """`**`: integer exponents of floats stay integers."""
    return each(emit, lambda x, y: _power(emit, x, y), left, right)


def _power(emit: Emit, x: Value, y: Value) -> Value:
    if type(y) is float and y.is_integer() and abs(y) < LARGE_POWER:
        if scalars.dtype(emit, x) in FLOATS:
            y = int(y)
    whole = scalars.dtype(emit, y) not in FLOATS
    if scalars.dtype(emit, x) in FLOATS:
        if not whole:
            return operate(emit, "pow", x, y)
        base = scalars.convert(emit, x, scalars.common(emit, (x, y)), weak=scalars.weak(x))
        soft = scalars.weak(x) and scalars.weak(y)
        atoms = base.atom, scalars.to_atom(emit, y, "int64")
        return Num(ops.apply(emit.builder, "powi", *atoms), soft)
    if not whole:
        return operate(emit, "pow", x, y)
    return _integer_power(emit, x, y)


def _integer_power(emit: Emit, x: Value, y: Value) -> Value:
    """Python gives a float for a negative exponent, NumPy refuses it."""
    if scalars.static(y) and int(y) < 0:  # type: ignore[call-overload]
        if not scalars.weak(x) or not scalars.weak(y):
            emit.fail("an integer to a negative power", "NumPy refuses it", "use a float base")
        return _power(emit, scalars.convert(emit, x, "float64", weak=True), y)
    exponent = (
        scalars.index_atom(emit, y)
        if scalars.dtype(emit, y) != "bool"
        else scalars.to_atom(emit, y, "int64")
    )
    if not scalars.not_negative(emit, exponent):
        holds = ops.apply(emit.builder, "ge", exponent, const(0))
        message = "integers to negative integer powers are not allowed"
        emit.builder.check(holds, "ValueError", message)
    return operate(emit, "pow", x, y)
