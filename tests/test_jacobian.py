"""`jacobian` and `hessian`: over the corpus against pullbacks, and as Numba dispatchers.

That rows agree with pullbacks does not see an error of the adjoint itself: `test_programs` does.
"""

import math
from typing import Any

import numba
import numpy as np
import oracles
import pytest
from corpus import Program
from test_programs import cases

from srcad import grad, hessian, jacobian
from srcad.errors import TypingError

EXACT = oracles.TOLERANCES["float64"].value


def contracted(gradient: Any, blocks: Any) -> Any:
    """The cotangent of one result times its Jacobian with respect to each argument."""
    if isinstance(blocks, tuple):
        return tuple(contracted(gradient, block) for block in blocks)
    return None if blocks is None else np.tensordot(gradient, blocks, np.ndim(gradient))


def total(cotangent: Any, blocks: Any) -> list[Any]:
    """Flat gradients: the sum over the results."""
    if not isinstance(cotangent, tuple):
        return oracles.floats(contracted(cotangent, blocks))
    parts = [total(c, b) for c, b in zip(cotangent, blocks, strict=True) if c is not None]
    return [sum(rows) for rows in zip(*parts, strict=True)]


@pytest.mark.parametrize("case", cases(only=lambda p: not p.pole)[::3])
def test_cotangent_times_jacobian_is_the_pullback(case: Program) -> None:
    made, args = oracles.derivatives(case), case.fresh()
    cotangent = oracles.random_like(oracles.plain(case, case.fresh()), 9)
    expected = oracles.floats(made.vjp(*case.fresh(), cotangent))
    blocks = made.callable(made.derive("jacobian", case.argnums))(*args)
    found = total(cotangent, blocks)
    assert [np.shape(a) for a in found] == [np.shape(a) for a in expected]
    oracles.assert_close(found, expected, oracles.tolerance(expected).rounding)
    once = case.fresh()
    made.primal(*once)
    for now, wanted in zip(oracles.leaves(args), oracles.leaves(once), strict=True):
        np.testing.assert_array_equal(now, wanted)  # written into once, as by the function


def rotated(x, angle=0.0):
    y = np.empty(2)
    y[0] = math.cos(angle) * x[0] * x[1]
    y[1] = math.sin(angle) * x[0] + x[1] ** 3
    return y


def test_shapes_and_argnums() -> None:
    x = np.array([2.0, 3.0])
    expected = np.array([[3.0, 2.0], [0.0, 27.0]])
    oracles.assert_close(jacobian(rotated)(x), expected, EXACT)
    oracles.assert_close(jacobian(argnums="angle")(rotated)(x, angle=0.0), [0.0, 2.0], EXACT)
    both = jacobian(rotated, argnums=(0, 1))(x, 0.0)
    oracles.assert_close(both, (expected, np.array([0.0, 2.0])), EXACT)
    assert jacobian(lambda x: x[:0] * x[0])(x).shape == (0, 2)
    assert jacobian(lambda s: s * s)(3.0) == 6.0
    cube = jacobian(lambda a: a * a)(np.ones((2, 3)))
    oracles.assert_close(cube, 2.0 * np.eye(6).reshape(2, 3, 2, 3), EXACT)


def test_several_results() -> None:
    def f(x, n):
        return x * x, np.sum(x), n, (x[0] * x[1],)

    square, ones, none, (product,) = jacobian(f)(np.array([2.0, 3.0]), 4)
    oracles.assert_close(square, np.diag([4.0, 6.0]), EXACT)
    oracles.assert_close((ones, product), (np.ones(2), np.array([3.0, 2.0])), EXACT)
    assert none is None


def test_arguments_that_are_written_into_by_a_branch_that_holds_both_sweeps() -> None:
    def f(a, b):
        y = np.zeros(2)
        if b[0] > 0.0:
            u = a * b
            a[0] = a[0] * b[1]
            for i in range(2):
                y[i] = u[i] * u[i] * a[i]
        return y

    a, b = np.array([2.0, 3.0]), np.array([5.0, 7.0])
    found = jacobian(f, argnums=(0, 1))(a, b)
    expected = np.diag([2100.0, 1323.0]), np.array([[560.0, 200.0], [0.0, 378.0]])
    oracles.assert_close(found, expected, EXACT)
    assert a.tolist() == [14.0, 3.0]


def test_hessian() -> None:
    x = np.array([2.0, 3.0])
    oracles.assert_close(hessian(lambda x: x[0] ** 2 * x[1])(x), [[6.0, 4.0], [4.0, 0.0]], EXACT)
    assert hessian(lambda x: x * x * x)(2.0) == 12.0

    @hessian(argnums=(0, 1))
    def blocks(x, s):
        return np.sum(x * x) * s**3

    (xx, xs), (sx, ss) = blocks(x, 2.0)
    oracles.assert_close((xx, xs), (16.0 * np.eye(2), 24.0 * x), EXACT)
    oracles.assert_close((sx, ss), (24.0 * x, 156.0), EXACT)
    third = jacobian(hessian(lambda x: x[0] ** 2 * x[1]))(x)
    oracles.assert_close(third, [[[0.0, 2.0], [2.0, 0.0]], [[2.0, 0.0], [0.0, 0.0]]], EXACT)


@pytest.mark.compiles
def test_they_are_dispatchers() -> None:
    """Called from compiled code, with captured arrays too; no pullback made by Python."""
    w = np.array([2.0, 5.0])

    def f(x):
        return w * x * x

    j, h = jacobian(f), hessian(lambda x: np.sum(x * x * x))

    @numba.njit
    def caller(x):
        return j(x)[1, 1], h(x)[0, 0]

    x = np.array([3.0, 4.0])
    assert caller(x) == (40.0, 18.0)
    w[1] = 1.0
    assert caller(x) == (8.0, 18.0)
    oracles.assert_close(j(x), np.diag([12.0, 8.0]), EXACT)
    assert isinstance(j, numba.core.registry.CPUDispatcher) and j.py_func is f
    assert grad(lambda x: np.sum(f(x)))(x).tolist() == [12.0, 8.0]


def test_what_has_no_jacobian() -> None:
    with pytest.raises(TypingError, match="gives no float"):
        jacobian(lambda x: None)(1.0)
    with pytest.raises(TypingError, match="scalar result"):
        hessian(lambda x: x * x)(np.ones(2))
