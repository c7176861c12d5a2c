"""Structures and flags as arguments and results: the gradient has the structure of the argument."""

import enum
import math
import os
import subprocess
import sys
from collections import namedtuple
from dataclasses import dataclass, field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pytest
from numba import njit

from srcad import grad, hessian, jacobian, jvp, value_and_grad, vjp
from srcad.errors import SrcadError, TypingError, UnsupportedSyntax

X = np.array([0.5, -1.2, 2.0])
Point = namedtuple("Point", "a b")


class Layer(NamedTuple):
    weights: np.ndarray
    bias: float

    def apply(self, x):
        return np.sum(self.weights * x) + self.bias


@dataclass(frozen=True)
class Model:
    rate: float
    table: np.ndarray
    name: str = "square"
    steps: int = 2

    @property
    def doubled(self):
        return self.rate * 2.0

    def run(self, x):
        total = 0.0
        for _ in range(self.steps):
            total += self.rate * np.sum(self.table * x)
        return total


class Mode(enum.Enum):
    LINEAR = 1
    SQUARE = 2


def differences(f: Any, x: np.ndarray) -> np.ndarray:
    """Central differences of a scalar function of one array."""
    found = np.zeros_like(x)
    for i in np.ndindex(x.shape):
        step = np.zeros_like(x)
        step[i] = 1e-6
        found[i] = (f(x + step) - f(x - step)) / 2e-6
    return found


# -- structures


def product(p):
    return p.a * p.b + p.a**2


def test_namedtuple() -> None:
    found = grad(product)(Point(1.0, 2.0))
    assert type(found) is Point and found == Point(4.0, 1.0)
    value, found = value_and_grad(product)(Point(3.0, 2.0))
    assert (value, found) == (15.0, Point(8.0, 3.0))


def network(layers, x):
    u = x
    for layer in layers:
        u = np.tanh(layer.weights * layer.apply(u))
    return np.sum(u)


def test_nested_namedtuples_with_methods() -> None:
    layers = (Layer(X, 0.3), Layer(X[::-1].copy(), -0.1))
    found = grad(network)(layers, X)
    assert isinstance(found, tuple) and all(type(layer) is Layer for layer in found)

    def of_first(w: np.ndarray) -> float:
        return float(network((Layer(w, 0.3), layers[1]), X))

    np.testing.assert_allclose(found[0].weights, differences(of_first, X), rtol=1e-6)
    bias = (network((Layer(X, 0.3 + 1e-6), layers[1]), X) - network(layers, X)) / 1e-6
    assert found[0].bias == pytest.approx(bias, rel=1e-4)


def trained(model, x):
    power = 2 if model.name == "square" else 1
    return model.run(x) ** power * model.doubled


def test_dataclass() -> None:
    model = Model(0.7, X)
    found = grad(trained)(model, X)
    assert type(found) is Model and found.name is None and found.steps is None
    s = np.sum(X * X)
    assert found.rate == pytest.approx(8.0 * 3.0 * 0.49 * s**2)
    np.testing.assert_allclose(found.table, 2.0 * 0.7 * 4.0 * 0.49 * 2.0 * s * X)
    linear = grad(trained)(Model(0.7, X, "linear"), X)
    assert linear.rate == pytest.approx(8.0 * 0.7 * s)


def weighted(d):
    total = 0.0
    for name, value in d["parts"].items():
        total += value * (2.0 if name == "a" else 3.0)
    return total * np.sum(d["w"] ** 2)


def test_dictionary_of_dictionaries() -> None:
    d = {"parts": {"a": 1.0, "b": 2.0}, "w": X, "n": 3}
    found = grad(weighted)(d)
    s = np.sum(X**2)
    assert list(found) == ["parts", "w", "n"] and found["n"] is None
    assert found["parts"] == {"a": pytest.approx(2.0 * s), "b": pytest.approx(3.0 * s)}
    np.testing.assert_allclose(found["w"], 16.0 * X)
    again = grad(weighted)({"parts": {"a": 1.0}, "w": X})
    np.testing.assert_allclose(again["w"], 4.0 * X)


def summed(items):
    return items[0] * np.sum(items[1]) + sum(items[2])


def test_list() -> None:
    found = grad(summed)([2.0, X, [1.0, 3.0]])
    assert isinstance(found, list) and found[2] == [1.0, 1.0]
    np.testing.assert_allclose(found[1], [2.0, 2.0, 2.0])


def several(x):
    return {"sum": np.sum(x), "point": Point(x[0] * x[1], x**2), "count": 3}


def test_structured_result() -> None:
    pullback = vjp(several, X)
    assert pullback.value["count"] == 3 and type(pullback.value["point"]) is Point
    cotangent = {"sum": 2.0, "point": Point(3.0, np.ones(3)), "count": None}
    expected = 2.0 + 2.0 * X
    expected[:2] += 3.0 * X[1::-1]
    np.testing.assert_allclose(pullback(cotangent), expected)
    value, tangent = jvp(several, (X,), (np.ones(3),))
    assert tangent["sum"] == 3.0 and tangent["count"] is None
    np.testing.assert_allclose(tangent["point"].b, 2.0 * X)
    rows = jacobian(several)(X)
    np.testing.assert_allclose(rows["point"].b, np.diag(2.0 * X))
    np.testing.assert_allclose(rows["point"].a, [X[1], X[0], 0.0])


def test_wrong_structure_of_a_cotangent_or_tangent() -> None:
    with pytest.raises(TypingError, match="dict of 3"):
        vjp(several, X)({"sum": 2.0})
    with pytest.raises(TypingError, match="Point of 2"):
        jvp(product, (Point(1.0, 2.0),), (1.0,))


def test_jvp_of_a_structure() -> None:
    assert jvp(product, (Point(1.0, 2.0),), (Point(1.0, 10.0),))[1] == 14.0
    assert jvp(summed, ([2.0, X, [1.0, 3.0]],), ([1.0, np.zeros(3), [1.0, 0.0]],))[1] == (
        pytest.approx(np.sum(X) + 1.0)
    )


def test_into_a_structure() -> None:
    buffers = {"parts": {"a": None, "b": None}, "w": np.ones(3), "n": None}
    d = {"parts": {"a": 1.0, "b": 2.0}, "w": X, "n": 3}
    vjp(weighted, d)(1.0, into=buffers)
    np.testing.assert_allclose(buffers["w"], 1.0 + 16.0 * X)


def test_local_class() -> None:
    @dataclass
    class Local:
        k: float

    found = grad(lambda p: p.k**3)(Local(2.0))
    assert type(found) is Local and found.k == 12.0


def test_structures_inside() -> None:
    @grad
    def inside(x):
        p = Point(x[0], x * 2.0)
        for i in range(3):
            p = p._replace(a=p.a * 0.5 + p.b[i])
        m = Model(p.a, p.b)
        if m.rate > 0.0:
            m = Model(m.rate * 2.0, m.table)
        return m.rate * m.table[0] + grad(product)(Point(m.rate, x[1])).a

    def plain(x):
        a = x[0]
        for i in range(3):
            a = a * 0.5 + 2.0 * x[i]
        a = 2.0 * a if a > 0.0 else a
        return a * 2.0 * x[0] + x[1] + 2.0 * a

    np.testing.assert_allclose(inside(X), differences(plain, X), rtol=1e-6)


def test_hessian_of_a_structure() -> None:
    found = hessian(product)(Point(1.0, 2.0))
    assert found.a == Point(2.0, 1.0) and found.b == Point(1.0, 0.0)


# -- flags


def moded(x, mode, scale="one", f=math.sin):
    total = 0.0
    for v in x:
        total += f(v) if mode is Mode.LINEAR else f(v) ** 2
    return total * (1.0 if scale == "one" else 2.0)


@njit
def cube(v):
    return v**3


def test_flags() -> None:
    g = grad(moded)
    np.testing.assert_allclose(g(X, Mode.LINEAR), np.cos(X))
    np.testing.assert_allclose(g(X, Mode.SQUARE), np.sin(2.0 * X))
    np.testing.assert_allclose(g(X, Mode.LINEAR, "two"), 2.0 * np.cos(X))
    np.testing.assert_allclose(g(X, Mode.LINEAR, f=cube), 3.0 * X**2)
    np.testing.assert_allclose(g(X, mode=Mode.LINEAR, f=lambda v: v * v), 2.0 * X)
    np.testing.assert_allclose(g(X, Mode.LINEAR, f=np.exp), np.exp(X))


def test_flags_have_no_gradient() -> None:
    gradients = vjp(moded, X, Mode.LINEAR, "two")(1.0)
    assert gradients[1:] == (None, None)
    with pytest.raises(TypingError, match="`mode`.*no float"):
        grad(moded, argnums=1)(X, Mode.LINEAR)


def test_a_function_that_is_edited() -> None:
    def make(k):
        return lambda v: v * k

    g = grad(moded)
    for k in (2.0, 3.0):
        np.testing.assert_allclose(g(X, Mode.LINEAR, f=make(k)), [k, k, k])


def kinds(x, w=None):
    if isinstance(x, np.ndarray):
        s = np.sum(x**2)
    elif isinstance(x, (list, tuple, dict)):
        s = sum(v**3 for v in x)
    else:
        assert isinstance(x, (int, float)) and not isinstance(x, bool | str)
        s = x**4
    return s if w is None else s * w


def test_isinstance() -> None:
    g = grad(kinds)
    np.testing.assert_allclose(g(X), 2.0 * X)
    assert g([1.0, 2.0]) == [3.0, 12.0]
    assert g(2.0) == 32.0
    np.testing.assert_allclose(g(X, 2.0), 4.0 * X)


# -- parameters


def starred(x, *factors, power=2, **more):
    total = np.sum(x**power)
    for factor in factors:
        total *= factor
    return total * more["last"]


def test_star_and_keyword_only_parameters() -> None:
    np.testing.assert_allclose(grad(starred)(X, 2.0, 3.0, last=0.5), 6.0 * X)
    np.testing.assert_allclose(grad(starred)(X, power=3, last=2.0), 6.0 * X**2)
    found = grad(starred, argnums=("factors", "more"))(X, 2.0, 3.0, last=0.5)
    s = np.sum(X**2)
    assert found[0] == pytest.approx((1.5 * s, s)) and found[1] == {"last": pytest.approx(6.0 * s)}
    gradients = vjp(starred, X, 2.0, last=1.0)(1.0)
    assert gradients[1] == pytest.approx((s,)) and gradients[2] is None


def keyword(x, *, c):
    return np.sum(x) * c**2


def test_keyword_only_is_differentiated_by_name() -> None:
    assert grad(keyword, argnums="c")(X, c=3.0) == pytest.approx(6.0 * np.sum(X))
    with pytest.raises(TypingError, match="missing a required"):
        grad(keyword)(X)


def test_bound_arguments() -> None:
    loss = partial(starred, power=2, last=1.0)
    np.testing.assert_allclose(grad(lambda x: loss(x, 2.0))(X), 4.0 * X)


# -- what is refused


class Plain:
    def __init__(self) -> None:
        self.k = 2.0


@pytest.mark.parametrize("value", [{1.0: 2.0}, {(1, 2): 2.0}, Plain(), {1, 2}, [1.0, Plain()]])
def test_refused_arguments(value: Any) -> None:
    with pytest.raises(TypingError, match="argument 0 .`d`"):
        grad(lambda d: 1.0)(value)


def test_refused_construction() -> None:
    @dataclass
    class Checked:
        k: float
        twice: float = field(init=False)

        def __post_init__(self):
            self.twice = 2.0 * self.k

    with pytest.raises(UnsupportedSyntax, match="runs code"):
        grad(lambda x: Checked(x).twice)(2.0)
    found = grad(lambda p: p.twice * p.k)(Checked(2.0))
    assert (found.k, found.twice) == (4.0, 2.0)


def test_every_error_is_srcad_s() -> None:
    with pytest.raises(SrcadError, match="no field"):
        grad(lambda x: Model(x, rate_of_decay=2.0).rate)(1.0)


# -- other processes, other ways to run


PROGRAM = """
import numpy as np
from collections import namedtuple
from srcad import grad, vjp
Point = namedtuple("Point", "a b")
def f(p, mode): return p["x"].a * p["x"].b if mode == "product" else p["x"].a
print(grad(f)({"x": Point(2.0, 3.0)}, "product"), vjp(f, {"x": Point(2.0, 3.0)}, "first")(1.0)[0])
"""


def test_two_processes_and_no_numba(tmp_path: Any) -> None:
    (tmp_path / "program.py").write_text(PROGRAM)
    texts = []
    for more in ({}, {}, {"NUMBA_DISABLE_JIT": "1"}):
        env = {**os.environ, "SRCAD_CACHE_DIR": str(tmp_path / "cache"), **more}
        command = [sys.executable, str(tmp_path / "program.py")]
        texts.append(subprocess.run(command, env=env, capture_output=True, text=True, check=True))
    found = {run.stdout.strip() for run in texts}
    assert found == {"{'x': Point(a=3.0, b=2.0)} {'x': Point(a=1.0, b=0.0)}"}
