"""What `ops.apply` folds and what it must leave alone; what a constant does to a pole.

Whether an identity holds for nan and inf is shown for those that are refused only.
"""

import math

import numpy as np
import pytest

from srcad import ops
from srcad.ir.builder import Builder
from srcad.ir.nodes import Atom, Let, Var, const
from srcad.ir.types import BOOL, FLOAT, INT, Scalar

INFINITY, NAN = math.inf, math.nan


def folded(name: str, *atoms: Atom, type: Scalar | None = None) -> Atom:
    """What `apply` gives, which must not have added a statement."""
    builder = Builder(100)
    result = ops.apply(builder, name, *atoms, type=type)
    assert not builder.finish().stmts, f"{name} was emitted"
    return result


def emitted(name: str, *atoms: Atom) -> str:
    """The name of the one operation that `apply` adds."""
    builder = Builder(100)
    ops.apply(builder, name, *atoms)
    (stmt,) = builder.finish().stmts
    assert isinstance(stmt, Let)
    return stmt.op


X, Y, K, N, B = (Var(k, t) for k, t in enumerate((FLOAT, FLOAT, INT, INT, BOOL)))
ZERO, ONE, TWO = (const(value, "float64") for value in (0.0, 1.0, 2.0))
TRUE, FALSE = const(True, "bool"), const(False, "bool")


def test_constants_fold_as_numpy_computes() -> None:
    assert folded("div", ONE, ZERO) == const(INFINITY, "float64")
    assert folded("add", const(0.1, "float32"), const(0.2, "float32")) == const(
        float(np.float32(0.1) + np.float32(0.2)), "float32"
    )
    assert folded("div", const(1), const(2)) == const(0.5, "float64")
    assert folded("mod", const(-7), const(3)) == const(2)
    assert folded("cast", const(2.7, "float64"), type=INT) == const(2)
    assert folded("lt", const(1), const(2)) == TRUE


def test_what_would_raise_or_differ_is_not_folded() -> None:
    assert emitted("floordiv", const(1), const(0)) == "floordiv"
    assert emitted("pow", const(2), const(-1)) == "pow"
    assert emitted("mul", X, ZERO) == "mul"
    assert emitted("sub", X, X) == "sub"
    assert emitted("eq", X, X) == "eq"
    assert emitted("pow", X, const(0.5, "float64")) == "pow"
    assert emitted("times", X, const(INFINITY, "float64")) == "times"
    builder = Builder()
    ops.apply(builder, "cast", const(NAN, "float64"), type=INT)
    assert len(builder.finish().stmts) == 1


@pytest.mark.parametrize(
    ("name", "atoms", "want"),
    [
        ("add", (X, ZERO), X), ("add", (ZERO, X), X), ("sub", (X, ZERO), X),
        ("mul", (X, ONE), X), ("mul", (ONE, X), X), ("div", (X, ONE), X),
        ("mul", (K, const(0)), const(0)), ("sub", (K, K), const(0)), ("eq", (K, K), TRUE),
        ("lt", (K, K), FALSE), ("floordiv", (K, const(1)), K), ("mod", (K, const(1)), const(0)),
        ("times", (ONE, X), X), ("times", (X, ONE), X), ("times", (ZERO, X), ZERO),
        ("times", (X, ZERO), ZERO),
        ("pow", (X, ZERO), ONE), ("pow", (X, ONE), X), ("powi", (X, const(0)), ONE),
        ("powi", (X, const(1)), X), ("select", (TRUE, X, Y), X), ("select", (FALSE, X, Y), Y),
        ("select", (B, X, X), X), ("and", (TRUE, B), B), ("and", (B, FALSE), FALSE),
        ("or", (FALSE, B), B), ("or", (B, TRUE), TRUE), ("maximum", (X, X), X),
        ("wrap", (const(2), N), const(2)), ("floor", (K,), K),
    ],
)  # fmt: skip
def test_identities(name: str, atoms: tuple[Atom, ...], want: Atom) -> None:
    assert folded(name, *atoms) == want


@pytest.mark.parametrize(
    ("name", "atoms", "want"),
    [
        ("times", (X, TWO), "mul"), ("mul", (X, const(-1.0, "float64")), "neg"),
        ("sub", (ZERO, X), "neg"), ("pow", (X, TWO), "mul"), ("powi", (X, const(2)), "mul"),
        ("powi", (X, const(-1)), "div"), ("wrap", (const(-1), N), "sub"),
    ],
)  # fmt: skip
def test_cheaper_operations(name: str, atoms: tuple[Atom, ...], want: str) -> None:
    assert emitted(name, *atoms) == want


def test_negations_are_absorbed() -> None:
    builder = Builder(100)
    minus = ops.apply(builder, "neg", X)
    assert ops.apply(builder, "neg", minus) == X
    ops.apply(builder, "add", Y, minus)
    ops.apply(builder, "sub", Y, minus)
    negation = ops.apply(builder, "not", B)
    assert ops.apply(builder, "not", negation) == B
    names = [stmt.op for stmt in builder.finish().stmts if isinstance(stmt, Let)]
    assert names == ["neg", "sub", "add", "not"]


def test_poles_of_constants() -> None:
    out = Var(9, FLOAT)
    three = const(3.0, "float64")
    assert not ops.has_pole(Let(out, "div", (X, three)))
    assert ops.has_pole(Let(out, "div", (three, X)))
    assert ops.has_pole(Let(out, "div", (X, ZERO)))
    assert not ops.has_pole(Let(out, "pow", (X, three)))
    assert ops.has_pole(Let(out, "pow", (X, const(0.5, "float64"))))
    assert not ops.has_pole(Let(out, "pow", (three, X)))
    assert not ops.has_pole(Let(out, "powi", (X, const(3))))
    assert ops.has_pole(Let(out, "powi", (X, const(-3))))
    assert ops.has_pole(Let(out, "log", (X,)))
    assert not ops.has_pole(Let(out, "exp", (X,)))
