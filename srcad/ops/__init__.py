"""What operations MEAN: one declaration each, and the functions by which passes use them.

A rule is written once, as partials; tangent and adjoint both follow from it. `apply` emits an
operation with constants folded, `partial` emits a derivative, `partial_reads` says what it reads.
"""

from functools import cache
from typing import Any

import numpy as np

from srcad.ir.builder import Builder
from srcad.ir.nodes import Atom, Const, Let, Var, const
from srcad.ir.types import BOOL, INT, Array, Scalar, Type
from srcad.ops import scalars as scalars
from srcad.ops.declaration import Operation, registry
from srcad.ops.symbol import Sym


def operation(name: str) -> Operation:
    """The declaration of this name."""
    return registry.operations[name]


def lookup(spelling: object) -> Operation | None:
    """The operation that a Python callable means, element by element."""
    return registry.find(spelling)


def all_operations() -> tuple[Operation, ...]:
    """Every declaration, in order."""
    return tuple(registry.operations.values())


def operand_types(name: str, dtypes: tuple[str, ...]) -> tuple[tuple[str, ...], str]:
    """The dtypes that operands are converted to, and the result's."""
    return operation(name).typing(dtypes)


def result_type(name: str, types: tuple[Type, ...]) -> Type | None:
    """The type of a result; None for `cast`, whose result type is its own."""
    if name == "cast":
        return None
    if name == "dim":
        return INT
    if any(isinstance(t, Array) for t in types):
        return None
    return Scalar(operand_types(name, tuple(t.dtype for t in types))[1])


def apply(
    builder: Builder, name: str, *atoms: Atom, hint: str = "t", type: Type | None = None
) -> Atom:
    """Emits `name` of the atoms, which have the right dtypes; folds what is known."""
    out = type or result_type(name, tuple(atom.type for atom in atoms))
    assert out is not None, f"the type of {name} must be given"
    folded = _constant(name, atoms, out) or _identity(name, atoms, out)
    return folded if folded is not None else builder.let(name, *atoms, type=out, hint=hint)


def _constant(name: str, atoms: tuple[Atom, ...], out: Type) -> Const | None:
    """The value of an operation on constants, computed by NumPy."""
    values: list[Any] = []
    for atom in atoms:
        if not isinstance(atom, Const):
            return None
        values.append(np.dtype(atom.type.dtype).type(atom.value))
    with np.errstate(all="ignore"):
        value = np.dtype(out.dtype).type(operation(name).numpy(*values))
    return const(value.item(), out.dtype)


def _identity(name: str, atoms: tuple[Atom, ...], out: Type) -> Atom | None:
    """x + 0, x * 1 and their like. x * 0 stays: x may be nan."""
    if name == "cast" and atoms[0].type == out:
        return atoms[0]
    if name == "select":
        if isinstance(atoms[0], Const):
            return atoms[1] if atoms[0].value else atoms[2]
        return atoms[1] if atoms[1] == atoms[2] else None
    if len(atoms) != 2:
        return None
    left, right = (a.value if isinstance(a, Const) else None for a in atoms)
    match name:
        case "add" if left == 0:
            return atoms[1]
        case "add" | "sub" if right == 0:
            return atoms[0]
        case "mul" | "times" if left == 1:
            return atoms[1]
        case "mul" | "times" | "div" if right == 1:
            return atoms[0]
        case "and" if atoms[0] == const(True, "bool"):
            return atoms[1]
        case _:
            return None


def partial(builder: Builder, let: Let, k: int) -> Atom | None:
    """Emits d out / d args[k]; None where the operation is flat in it."""
    rule = operation(let.op).partials[k]
    if rule is None:
        return None

    def emit(name: str, *atoms: Atom) -> Atom:
        return apply(builder, name, *atoms)

    return rule(*(Sym(emit, atom) for atom in (*let.args, let.out))).atom


def partial_reads(let: Let, k: int) -> frozenset[Var]:
    """Which of the arguments and the result the partial reads."""
    places = _reads(let.op, k, len(let.args), let.out.type.dtype)
    read = [(*let.args, let.out)[place] for place in places]
    return frozenset(atom for atom in read if isinstance(atom, Var))


@cache
def _reads(name: str, k: int, count: int, dtype: str) -> tuple[int, ...]:
    """Found by emitting the partial for variables and looking at what it uses."""
    builder = Builder()
    atoms = [builder.var(Scalar(dtype), "x") for _ in range(count)]
    out = builder.var(Scalar(dtype), "out")
    result = partial(builder, Let(out, name, tuple(atoms)), k)
    used = {result}
    for stmt in builder.finish().stmts:
        assert isinstance(stmt, Let)
        used |= set(stmt.args)
    return tuple(place for place, atom in enumerate([*atoms, out]) if atom in used)


__all__ = ["BOOL", "Operation", "all_operations", "apply", "lookup", "operand_types",
           "operation", "partial", "partial_reads", "result_type"]  # fmt: skip
