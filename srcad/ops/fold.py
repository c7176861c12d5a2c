"""`apply`: emits an operation, folding constants and identities on the way.

Constants are computed by NumPy. Identities hold for every value, nan and inf included, up to the
sign of zero, which generated code does not promise: x * 0 stays.
"""

import math

import numpy as np

from srcad.ir.builder import Builder
from srcad.ir.nodes import Atom, Const, Let, Var, const
from srcad.ir.types import Scalar, Type, is_float
from srcad.ops.declaration import operation, result_type

LOOK_BACK = 8  # how many statements `negated` and its like look at


def apply(
    builder: Builder, name: str, *atoms: Atom, hint: str = "t", type: Type | None = None
) -> Atom:
    """Emits `name` of the atoms, which have the right dtypes; gives an atom where it folds."""
    out = type or result_type(name, tuple(atom.type for atom in atoms))
    assert out is not None, f"the type of {name} must be given"
    folded: Atom | None = _constant(name, atoms, out)
    if folded is None:
        folded = _Identities(builder, atoms, out).of(name)
    return builder.let(name, *atoms, type=out, hint=hint) if folded is None else folded


def _constant(name: str, atoms: tuple[Atom, ...], out: Type) -> Const | None:
    """The value of an operation on constants, None where it has none or only Python's raises."""
    consts = [atom for atom in atoms if isinstance(atom, Const)]
    if len(consts) < len(atoms):
        return None
    if name in ("floordiv", "truncdiv", "mod", "fmod", "remainder") and not is_float(out):
        if consts[1].value == 0:
            return None
    if name == "cast" and not is_float(out) and not _finite(consts[0]):
        return None
    values = [np.dtype(c.type.dtype).type(c.value) for c in consts]
    with np.errstate(all="ignore"):
        try:
            value = np.dtype(out.dtype).type(operation(name).numpy(*values)).item()
        except (ValueError, OverflowError):  # an integer to a negative power
            return None
    return Const(value, Scalar(out.dtype))


def _finite(atom: Const) -> bool:
    return not isinstance(atom.value, float) or math.isfinite(atom.value)


def _value(atom: Atom) -> bool | float | complex | None:
    return atom.value if isinstance(atom, Const) else None


class _Identities:
    """What an operation is for special operands; None where it must be computed."""

    def __init__(self, builder: Builder, atoms: tuple[Atom, ...], out: Type) -> None:
        self.builder, self.atoms, self.out = builder, atoms, out

    def of(self, name: str) -> Atom | None:
        match name:
            case "add":
                return self.sum()
            case "sub":
                return self.difference()
            case "mul":
                return self.product()
            case "times":
                return self.guarded_product()
            case "div" | "floordiv" | "mod":
                return self.quotient(name)
            case "pow" | "powi":
                return self.power(name)
            case "neg" | "not":
                return self.defined(name, self.atoms[0])
            case "and" | "or":
                return self.junction(name)
            case "eq" | "le" | "ge" | "ne" | "lt" | "gt":
                return self.comparison(name)
            case "select":
                return self.selection()
            case "maximum" | "minimum" | "fmax" | "fmin":
                return self.atoms[0] if self.atoms[0] == self.atoms[1] else None
            case "cast":
                return self.atoms[0] if self.atoms[0].type == self.out else None
            case "wrap":
                return self.wrapped()
            case "floor" | "ceil" | "trunc":
                return None if is_float(self.out) else self.atoms[0]
            case _:
                return None

    def emit(self, name: str, *atoms: Atom) -> Atom:
        return apply(self.builder, name, *atoms)

    def const(self, value: float) -> Const:
        return const(value, self.out.dtype)

    def defined(self, name: str, atom: Atom) -> Atom | None:
        """x where the atom is op(x), made just before in the same block."""
        if isinstance(atom, Var):
            for stmt in self.builder.open[-1].stmts[: -LOOK_BACK - 1 : -1]:
                if isinstance(stmt, Let) and stmt.out == atom:
                    return stmt.args[0] if stmt.op == name else None
        return None

    def sum(self) -> Atom | None:
        x, y = self.atoms
        if _value(x) == 0:
            return y
        if _value(y) == 0:
            return x
        if (positive := self.defined("neg", y)) is not None:
            return self.emit("sub", x, positive)
        if (positive := self.defined("neg", x)) is not None:
            return self.emit("sub", y, positive)
        return None

    def difference(self) -> Atom | None:
        x, y = self.atoms
        if _value(y) == 0:
            return x
        if _value(x) == 0:
            return self.emit("neg", y)
        if x == y and not is_float(self.out):
            return self.const(0)
        if (positive := self.defined("neg", y)) is not None:
            return self.emit("add", x, positive)
        return None

    def product(self) -> Atom | None:
        for factor, other in (self.atoms, self.atoms[::-1]):
            match _value(factor):
                case 1:
                    return other
                case -1:
                    return self.emit("neg", other)
                case 0 if not is_float(self.out):
                    return factor
        return None

    def guarded_product(self) -> Atom | None:
        """0 where a factor is 0; a plain product where the second is finite and another number."""
        given, partial = self.atoms
        if _value(given) == 0 or _value(partial) == 1:
            return given
        if _value(given) == 1 or _value(partial) == 0:
            return partial
        if isinstance(partial, Const) and _finite(partial):
            return self.emit("mul", given, partial)
        return None

    def quotient(self, name: str) -> Atom | None:
        x, y = self.atoms
        if _value(y) == 1 and name == "div":
            return x
        if _value(y) == -1 and name == "div":
            return self.emit("neg", x)
        if _value(y) == 1 and not is_float(self.out):
            return x if name == "floordiv" else self.const(0)
        return None

    def power(self, name: str) -> Atom | None:
        x, y = self.atoms
        match _value(y):
            case 0:
                return self.const(1)
            case 1:
                return x
            case 2:
                return self.emit("mul", x, x)
            case -1 if is_float(self.out):
                return self.emit("div", self.const(1), x)
        return None

    def junction(self, name: str) -> Atom | None:
        neutral = name == "and"
        for one, other in (self.atoms, self.atoms[::-1]):
            if isinstance(one, Const):
                return other if one.value == neutral else one
        return self.atoms[0] if self.atoms[0] == self.atoms[1] else None

    def comparison(self, name: str) -> Atom | None:
        x, y = self.atoms
        if x == y and not is_float(x.type):
            return const(name in ("eq", "le", "ge"), "bool")
        return None

    def selection(self) -> Atom | None:
        cond, x, y = self.atoms
        if isinstance(cond, Const):
            return x if cond.value else y
        return x if x == y else None

    def wrapped(self) -> Atom | None:
        index, extent = self.atoms
        if not isinstance(index, Const) or isinstance(index.value, complex):
            return None
        if index.value >= 0:
            return index
        return self.emit("sub", extent, const(-index.value))
