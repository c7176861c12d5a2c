"""The adjoint of a hand-built program against its tangent and against central differences.

The program has what a plausible design gets wrong: a triangular inner loop, a recurrence whose
values are overwritten, an element read back in one branch, an accumulator used non-linearly.
"""

import numpy as np
import pytest

from srcad import ops
from srcad.ir.builder import Builder
from srcad.ir.nodes import For, Function, If, const
from srcad.ir.trees import Leaf
from srcad.ir.types import FLOAT, INT, Array
from srcad.ir.verifier import verify
from srcad.runtime.interpret import compile_function, interpret
from srcad.transform.adjoint import adjoint
from srcad.transform.references import references
from srcad.transform.tangent import tangent

ROUNDING = 1e-13  # two orders of summation of a dozen terms of size 1
DIFFERENCES = 1e-8  # central differences with step 1e-6


def program() -> Function:
    b = Builder()
    x, w = b.var(Array("float64", 1), "x"), b.var(FLOAT, "w")
    n = b.dim(x, 0)
    a = b.alloc("float64", (n,), hint="a")
    i, s = b.var(INT, "i"), b.var(FLOAT, "s")
    with b.block() as body:
        v = b.load(x, i, hint="v")
        t = ops.apply(b, "sin", v)
        cond = ops.apply(b, "gt", t, const(0.0, "float64"))
        j, q = b.var(INT, "j"), b.var(FLOAT, "q")
        trips = ops.apply(b, "add", i, const(1))
        with b.block() as inner:
            scaled = ops.apply(b, "mul", q, b.load(x, j))
            following = ops.apply(b, "add", scaled, w)
            b.store(a, (j,), following)
        last = b.like(q)
        b.add(For(j, trips, ((q, t),), inner.finish(following), (last,)))
        with b.block() as then:
            first = ops.apply(b, "mul", t, last)
        with b.block() as orelse:
            element = b.load(a, i)
            second = ops.apply(b, "mul", element, element)
        out = b.var(FLOAT, "o")
        b.add(If(cond, then.finish(first), orelse.finish(second), (out,)))
        total = ops.apply(b, "add", s, out)
    end = b.like(s)
    b.add(For(i, n, ((s, const(0.0, "float64")),), body.finish(total), (end,)))
    result = ops.apply(b, "mul", end, end)
    takes = (("x", Leaf()), ("w", Leaf()))
    return references(Function("f", (x, w), b.finish(result), takes, Leaf()))


X, W = np.array([0.3, -0.4, 0.9, -1.2]), 0.3
X_DOT, W_DOT = np.array([0.1, 0.2, -0.5, 0.7]), 0.4


@pytest.mark.parametrize("force_keep", [False, True])
def test_dot_product_identity_and_differences(force_keep: bool) -> None:
    f = program()
    backwards = adjoint(f, (0, 1), force_keep=force_keep)
    forwards = tangent(f, (0, 1))
    for made in (f, backwards, forwards):
        verify(made, ops.result_type)
    _, (x_bar, w_bar) = interpret(backwards)(X, W, 1.0)
    _, (dot,) = interpret(forwards)(X, W, (X_DOT, W_DOT))
    assert x_bar @ X_DOT + w_bar * W_DOT == pytest.approx(dot, rel=ROUNDING)
    run, h = interpret(f), 1e-6
    step = run(X + h * X_DOT, W + h * W_DOT) - run(X - h * X_DOT, W - h * W_DOT)
    assert dot == pytest.approx(step / (2 * h), rel=DIFFERENCES)


def test_second_order_identity() -> None:
    """The tangent of the adjoint against the adjoint of the adjoint."""
    first = references(adjoint(program(), (0, 1), seeded=True))
    twice, mixed = adjoint(first, (0, 1)), tangent(first, (0, 1))
    verify(twice, ops.result_type)
    verify(mixed, ops.result_type)
    _, (_, x_bar_dot, w_bar_dot) = interpret(mixed)(X, W, (X_DOT, W_DOT))
    x_seed, w_seed = np.array([1.0, -2.0, 0.5, 0.25]), -0.75
    _, (x_bar, w_bar) = interpret(twice)(X, W, (0.0, (x_seed, w_seed)))
    left = x_bar_dot @ x_seed + w_bar_dot * w_seed
    assert x_bar @ X_DOT + w_bar * W_DOT == pytest.approx(left, rel=ROUNDING)


def test_compiled_equals_interpreted() -> None:
    backwards = adjoint(program(), (0, 1))
    _, (x_bar, w_bar) = interpret(backwards)(X, W, 1.0)
    _, (x_fast, w_fast) = compile_function(backwards)(X, W, 1.0)
    np.testing.assert_allclose(x_fast, x_bar, rtol=ROUNDING)
    assert w_fast == pytest.approx(w_bar, rel=ROUNDING)
