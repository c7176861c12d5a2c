"""The values that the project was specified by, through `vjp`, and `grad` for scalar results."""

import numpy as np
import oracles
import pytest
from corpus.values import VALUES, Value, chain, doubled, rows_of_jacobian, three_summands

from srcad import grad, jacobian, vjp
from srcad.codegen import source
from srcad.runtime.programs import Program, derived, spec

EXACT = oracles.TOLERANCES["float64"].value
IDS = [f"{v.fn.__name__}-{k}" for k, v in enumerate(VALUES)]


@pytest.mark.parametrize("value", VALUES, ids=IDS)
def test_pullback(value: Value) -> None:
    pullback = vjp(value.fn, *value.args)
    oracles.assert_close(pullback.value, value.fn(*value.args), EXACT)
    found = pullback() if value.gradient is None else pullback(value.gradient)
    oracles.assert_close(found, value.expect, EXACT)


SCALARS = [v for v in VALUES if v.gradient is None]


@pytest.mark.parametrize("value", SCALARS, ids=[v.fn.__name__ for v in SCALARS])
def test_gradient(value: Value) -> None:
    oracles.assert_close(grad(value.fn)(*value.args), value.expect, EXACT)


def test_rows_stacked_are_the_jacobian() -> None:
    a = np.array([[2.0, 4.0]])
    expected = np.array([[[[8.0, 2.0]], [[4.0, 96.0]]]])
    pullback = vjp(rows_of_jacobian, a)
    rows = np.array([pullback([[1, 0]]), pullback([[0, 1]])])
    oracles.assert_close(rows.reshape(1, 2, 1, 2), expected, EXACT)
    oracles.assert_close(jacobian(rows_of_jacobian)(a), expected, EXACT)


@pytest.mark.parametrize("fn", [doubled, chain])
def test_pullback_is_gradient_of_weighted_sum(fn) -> None:
    random = np.random.default_rng(0)
    x, v = random.standard_normal((2, 3)), random.standard_normal((2, 3))

    def weighted(x):
        return np.sum(fn(x) * v)

    oracles.assert_close(vjp(fn, x)(v), grad(weighted)(x), EXACT)


def test_only_what_is_asked_for_is_computed() -> None:
    """The gradient in y of (x + y) + w mentions neither x nor w after its parameter list."""
    trace = derived(Program(three_summands, "grad", 1), tuple(spec(1.0, k) for k in range(3)))
    text = source(trace.function).text
    assert "x_bar" not in text and "w_bar" not in text
    assert grad(three_summands, argnums=1)(1.0, 2.0, 3.0) == 1.0
