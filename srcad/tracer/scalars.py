"""Numbers while tracing: dtypes, NumPy 2's promotion with weak Python numbers, conversion."""

from collections.abc import Sequence
from typing import Any

import numpy as np

from srcad import ops
from srcad.ir.nodes import Atom, Const, Var, array_type, const
from srcad.ir.types import BOOL, FLOATS, INTEGERS, Scalar
from srcad.tracer.values import Arr, Emit, Num, Value

PYTHON = {bool: "bool", int: "int64", float: "float64"}
KINDS = {"b": 0, "i": 1, "u": 1, "f": 2}
DTYPES = ("bool", *INTEGERS, *FLOATS)

# -- conversion


def dtype(emit: Emit, value: Value) -> str:
    """The dtype of a number or of an array's elements."""
    if isinstance(value, Num):
        return value.atom.type.dtype
    if isinstance(value, Arr):
        return array_type(value.var).dtype
    if isinstance(value, np.generic) and value.dtype.name in DTYPES:
        return value.dtype.name
    if type(value) in PYTHON:
        return PYTHON[type(value)]
    kind = type(value).__name__
    emit.fail(f"{_article(kind)} is used as a number", "only bools, integers and floats are")


def _article(noun: str) -> str:
    return f"{'an' if noun[0] in 'aeiou' else 'a'} {noun}"


def static(*values: Value) -> bool:
    """Whether all values are known while tracing."""
    return not any(isinstance(v, Num | Arr) for v in values)


def weak(value: Value) -> bool:
    """Whether the value gives way to the dtype of NumPy's values."""
    return value.weak if isinstance(value, Num) else type(value) in PYTHON


def promoted(emit: Emit, values: Sequence[Value]) -> tuple[str, ...]:
    """The dtypes of operands, where weak ones give way to strong ones of their kind."""
    strong = [np.dtype(dtype(emit, v)) for v in values if not weak(v)]
    if not strong:
        return tuple(dtype(emit, v) for v in values)
    top = np.result_type(*strong)
    found: list[str] = []
    for v in values:
        own = np.dtype(dtype(emit, v))
        gives_way = weak(v) and KINDS[own.kind] <= KINDS[top.kind]
        found.append(top.name if gives_way else own.name)
    return tuple(found)


def common(emit: Emit, values: Sequence[Value]) -> str:
    """The dtype that holds all values."""
    return np.result_type(*promoted(emit, values)).name


def to_atom(emit: Emit, value: Value, to: str | None = None) -> Atom:
    """The value as an atom, converted to the dtype `to`."""
    own = dtype(emit, value)
    to = to or own
    if isinstance(value, Arr) and not value.shape:
        value = load(emit, value, ())
    if isinstance(value, Arr):
        emit.fail("an array is used where a single number is needed")
    if isinstance(value, Num):
        if own == to:
            return value.atom
        return ops.apply(emit.builder, "cast", value.atom, type=Scalar(to))
    number: Any = value.item() if isinstance(value, np.generic) else value
    if to in INTEGERS and not isinstance(number, float):
        limits = np.iinfo(to)
        if not limits.min <= number <= limits.max:
            emit.fail(f"the integer {number} is out of bounds for {to}")
    return const(number, to)


def convert(emit: Emit, value: Value, to: str, *, weak: bool = False) -> Num:
    """The number in another dtype."""
    return Num(to_atom(emit, value, to), weak)


def index_atom(emit: Emit, value: Value) -> Atom:
    """An integer as an int64."""
    if not dtype(emit, value).startswith(("int", "uint")):
        emit.fail(
            "an index or extent must be an integer",
            f"this one is of type {dtype(emit, value)}",
            "convert it: int(i)",
        )
    return to_atom(emit, value, "int64")


def number(atom: Atom, *, weak: bool = True) -> Value:
    """An integer atom as a Python number where it is known."""
    return Num(atom, weak) if isinstance(atom, Var) else int(atom.value.real)


def truth(emit: Emit, value: Value) -> bool | Num:
    """What `if value` tests."""
    if isinstance(value, Arr) and value.shape:
        emit.fail(
            "the truth value of an array is ambiguous",
            "it may have more than one element",
            "use np.all(...) or np.any(...)",
        )
    if static(value):
        return bool(value)
    atom = to_atom(emit, value)
    if isinstance(atom, Const):
        return bool(atom.value)
    if atom.type == BOOL:
        return Num(atom)
    return Num(ops.apply(emit.builder, "ne", atom, const(0, atom.type.dtype)))


def load(emit: Emit, array: Arr, index: tuple[Atom, ...]) -> Num:
    """The element at an index that is in range."""
    return Num(emit.builder.load(array.var, *index))


# -- facts about integers


def not_negative(emit: Emit, atom: Atom, depth: int = 6) -> bool:
    """Whether an integer is seen to be >= 0, from how it was computed."""
    if isinstance(atom, Const):
        return not isinstance(atom.value, complex) and atom.value >= 0
    if atom in emit.indices or atom in emit.covers or atom in emit.everywhere:
        return True
    let = emit.definition(atom)
    if let is None or depth == 0:
        return False
    known = (not_negative(emit, arg, depth - 1) for arg in let.args if arg.type == atom.type)
    match let.op:
        case "dim":
            return True
        case "maximum":
            return any(known)
        case "add" | "mul" | "floordiv" | "minimum" | "select":
            return all(known)
        case "mod":
            return not_negative(emit, let.args[1], depth - 1)
        case _:
            return False
