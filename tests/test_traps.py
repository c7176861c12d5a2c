"""What belongs to the caller stays the caller's, and what is read outside is read now.

Through the public functions, compiled. Values are known by hand or by the plain function.
"""

import numpy as np
import oracles
import pytest
from corpus import traps
from corpus.program import copied

from srcad import grad, jacobian, jvp, vjp
from srcad.errors import TypingError

pytestmark = pytest.mark.compiles
EXACT = oracles.TOLERANCES["float64"].value


def test_tangent_of_an_overwritten_argument_stays() -> None:
    x, tangent = np.array([0.3, -0.8, 0.5]), np.array([1.0, 2.0, -1.0])
    given = tangent.copy()
    _, dot = jvp(traps.writes_into_argument, (x.copy(),), (given,))
    x1 = x[1] * x[0] + 1.0
    x2 = x[2] * x1 + 1.0
    dot1 = tangent[1] * x[0] + x[1] * tangent[0]
    dot2 = tangent[2] * x1 + x[2] * dot1
    oracles.assert_close(dot, 2.0 * np.array([x[0] * tangent[0], x1 * dot1, x2 * dot2]), EXACT)
    assert np.array_equal(given, tangent)


def test_into_adds_for_a_function_that_writes_into_its_argument() -> None:
    x, gradient = np.array([0.3, -0.8, 0.5]), np.array([1.0, 2.0, -1.0])
    pullback = vjp(traps.writes_into_argument, x.copy())
    alone = copied(pullback(gradient))
    buffer = np.array([10.0, 20.0, 30.0])
    given = gradient.copy()
    for times in (1, 2):
        assert pullback(given, into=buffer) is buffer
        oracles.assert_close(buffer, np.array([10.0, 20.0, 30.0]) + times * alone, EXACT)
    assert np.array_equal(given, gradient)


def stepped(u0):
    u = u0
    for _ in range(3):
        u = u + 0.1 * u * u
    return u


def test_into_adds_for_an_argument_whose_name_moves_on() -> None:
    x, gradient = np.array([0.3, -0.8, 0.5]), np.array([1.0, 2.0, -1.0])
    pullback = vjp(stepped, x)
    alone = pullback(gradient)
    slope, u = np.ones(3), x
    for _ in range(3):
        slope, u = slope * (1.0 + 0.2 * u), u + 0.1 * u * u
    oracles.assert_close(alone, gradient * slope, EXACT)
    buffer = np.array([10.0, 20.0, 30.0])
    for times in (1, 2):
        pullback(gradient, into=buffer)
        oracles.assert_close(buffer, np.array([10.0, 20.0, 30.0]) + times * alone, EXACT)


def test_attributes_count_as_they_are_at_the_call(monkeypatch: pytest.MonkeyPatch) -> None:
    slope = grad(traps.reads_attributes)
    oracles.assert_close(slope(1.0), 0.0, EXACT)
    monkeypatch.setattr(traps.CONFIG, "nu", 0.25)
    oracles.assert_close(slope(1.0), 0.3125, EXACT)
    monkeypatch.setattr(traps.CONFIG, "steps", 1)
    oracles.assert_close(slope(1.0), 0.5, EXACT)


def writes_by_another_name(x, y):
    u, v = x, y.copy()
    for _ in range(2):
        u[0] = v[1] * v[1] * u[0]
        u, v = v, u
    return np.sum(u * v)


def test_an_argument_written_by_another_name_is_the_callers() -> None:
    x, y = np.array([0.3, -0.8, 0.5]), np.array([1.0, 2.0, -1.0])
    seen = x.copy()
    value = writes_by_another_name(seen, y)
    mine = x.copy()
    pullback = vjp(writes_by_another_name, mine, y)
    oracles.assert_close((pullback.value, mine), (value, seen), EXACT)
    first, second = copied(pullback()), pullback()
    oracles.assert_close(first, second, 0.0)
    h = 1e-6
    for k in range(3):
        step = np.eye(3)[k] * h
        up, down = (writes_by_another_name(x + s * step, y.copy()) for s in (1.0, -1.0))
        assert first[0][k] == pytest.approx((up - down) / (2 * h), rel=1e-6)
    rows = jacobian(writes_by_another_name)(x.copy(), y)
    oracles.assert_close(rows, first[0], EXACT)
    with pytest.raises(TypingError, match="overlap"):
        grad(writes_by_another_name)(x, x)
