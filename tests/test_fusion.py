"""Array expressions: fused where that is legal, right everywhere."""

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import oracles
import pytest
import random_arrays
from corpus import Program
from hypothesis import HealthCheck, given, note, seed, settings
from random_programs import loaded

from srcad import grad
from srcad.codegen import source
from srcad.ir.nodes import Alloc, For, Function
from srcad.ir.verifier import verify
from srcad.ir.walk import walk
from srcad.ops import result_type
from srcad.runtime.programs import derived, spec

X = np.array([0.3, -0.4, 0.9, 1.2])


def program(f: Any, *args: Any) -> Function:
    made = derived(f, tuple(spec(a, k) for k, a in enumerate(args))).function
    verify(made, result_type, maps=False)
    return made


def count(f: Any, *args: Any) -> tuple[int, int]:
    """The numbers of loops and of arrays that are allocated."""
    stmts = list(walk(program(f, *args).body))
    return sum(isinstance(s, For) for s in stmts), sum(isinstance(s, Alloc) for s in stmts)


def gaussian(x, m):
    return np.sum(np.exp(-((x - m) ** 2)))


def test_an_expression_under_a_sum_is_one_loop() -> None:
    assert count(gaussian, X, 0.5) == (1, 0)
    assert count(grad(gaussian, argnums=(0, 1)), X, 0.5) == (1, 1)  # the gradient is the array
    text = source(program(grad(gaussian, argnums=(0, 1)), X, 0.5)).text
    assert text.count("for ") == 1 and text.count("np.zeros") == 1 and "np.empty" not in text


def in_place(u):
    u += u * u - 1.0


def shifted(u):
    u[1:] -= u[:-1]


def read_twice(x):
    d = x * x - 1.0
    return np.sum(d / (1.0 + d * d))


def written_between(x):
    w = x.copy()
    y = w * 2.0
    w[0] = 5.0
    return np.sum(y * w)


def written_in_the_loop_before(x):
    w = x.copy()
    y = w * 2.0
    s = 0.0
    for i in range(w.size):
        w[i] = 3.0 * x[i]
        s += y[i]
    return s * w[0]


def written_by_another_name(x):
    w = x.copy()
    y = w * 2.0
    for k in range(2):
        v = w[1:]
        v[k] = 7.0 * x[0]
    return np.sum(y)


def carried_between(x):
    u = x * 1.0
    v = x * 2.0
    y = u * 3.0
    for _ in range(3):
        u[0] = x[1] * 4.0
        u, v = v, u
    return np.sum(y) + np.sum(u)


def in_a_deeper_loop(x):
    y = np.exp(x)
    s = 0.0
    for i in range(x.size):
        for j in range(x.size):
            s += y[j] * x[i]
    return s


def other_extent(x):
    y = x * x
    s = 0.0
    for i in range(2):
        s += y[i]
    return s


def changed_afterwards(x):
    y = x * x
    y[1] = x[0]
    return np.sum(y * y)


@pytest.mark.parametrize(
    ("f", "loops", "arrays"),
    [
        (in_place, 1, 0),
        (shifted, 2, 1),
        (read_twice, 1, 0),
        (written_between, None, 2),
        (written_in_the_loop_before, None, 2),
        (written_by_another_name, None, 2),
        (carried_between, None, 3),
        (in_a_deeper_loop, 3, 1),
        (other_extent, 2, 1),
        (changed_afterwards, 2, 1),
    ],
)
def test_where_an_array_is_needed(f: Callable[..., Any], loops: int | None, arrays: int) -> None:
    found = count(f, X)
    assert found[1] == arrays and loops in (None, found[0])
    case = Program(f, lambda: (X.copy(),), (0,))
    if f(X.copy()) is not None:
        check(case)


def test_the_arm_not_taken_says_nothing() -> None:
    made = grad(lambda x: np.sum(np.where(x > 0.0, np.log(x), x * x)))
    np.testing.assert_allclose(made(X), np.where(X > 0.0, 1.0 / X, 2.0 * X), rtol=1e-14)


def check(case: Program) -> None:
    """Value, dot-product identity, and the same with every value kept."""
    made = oracles.Derivatives(case)
    value = oracles.plain(case, case.fresh())
    oracles.assert_close(made.primal(*case.fresh()), value, ROUNDING)
    u = oracles.random_like(oracles.chosen(case, case.fresh()), 1)
    dots = made.jvp(*case.fresh(), u)
    bars = made.vjp(*case.fresh(), 1.0)
    total, scale = oracles.terms(bars, u)
    assert abs(total - dots[0]) <= ROUNDING * (1.0 + scale)
    oracles.assert_close(made.kept(*case.fresh(), 1.0), bars, ROUNDING)


COUNT = int(os.environ.get("SRCAD_RANDOM_PROGRAMS", "150")) // 10
SHARES = 4  # tests that workers can run side by side
ROUNDING = 1e-9  # sums of a hundred terms in another order; a fault is of the size of the values


def arguments() -> tuple[Any, ...]:
    random = np.random.default_rng(3)
    a, b = random.standard_normal((2, 3, 4))
    return a, b, random.standard_normal(4), random.standard_normal((3, 1)), 0.7


@pytest.mark.parametrize("share", range(SHARES))
def test_random_expressions(share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SRCAD_CHECK")  # as in the other random programs

    @seed(share)
    @settings(
        max_examples=-(-COUNT // SHARES),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(random_arrays.sources())
    def right(text: str) -> None:
        note(text)
        check(Program(loaded(text), arguments, (0, 1, 2, 3, 4)))

    right()
