"""The programs whose vector-Jacobian products the project was specified by, with these values."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from corpus.program import Programs

PROGRAMS = Programs()


@dataclass(frozen=True)
class Value:
    """`vjp(fn, *args)(gradient)` is `expect`."""

    fn: Callable[..., Any]
    args: tuple[Any, ...]
    gradient: Any
    expect: Any


VALUES: list[Value] = []


def value(fn: Callable[..., Any], args: tuple[Any, ...], gradient: Any, expect: Any) -> None:
    VALUES.append(Value(fn, args, gradient, expect))


ROW = np.array([[1.0, 2.0, 3.0, 4.0]])


@PROGRAMS.add(ROW, expect=(np.full((1, 4), 2.0),))
def doubled(x):
    return 2 * x


value(doubled, (ROW,), [[1, 0, 0, 0]], [[2, 0, 0, 0]])
value(doubled, (ROW,), [[0, 1, 0, 0]], [[0, 2, 0, 0]])
value(doubled, (ROW,), np.ones((1, 4)), [[2, 2, 2, 2]])


def doubled_sum(x):
    return np.sum(2 * x)


value(doubled_sum, (ROW,), None, [[2, 2, 2, 2]])


@PROGRAMS.add(1.0, 2.0, 3.0, argnums=(0, 1, 2))
def written_one_by_one(x1, x2, x3):
    y = np.zeros(3)
    y[0] = x1 * x2 * x3
    y[1] = x1 + x2 + x3
    y[2] = x1 + x2 * x3
    return y


THREE = (1.0, 2.0, 3.0)
JACOBIAN = np.array([[6.0, 3.0, 2.0], [1.0, 1.0, 1.0], [1.0, 3.0, 2.0]])
value(written_one_by_one, THREE, [0.1, 0.2, 0.3], (1.1, 1.4, 1.0))
for weights in ([0.1, 1.0, 0.0001], [-0.1, 1.0, 0.0001]):
    value(written_one_by_one, THREE, weights, tuple(np.array(weights) @ JACOBIAN))


@PROGRAMS.add(np.array([1.0, 2.0, 3.0]))
def three_outputs(x):
    y = np.zeros(3)
    y[0] = x[0] * x[1] * x[2]
    y[1] = x[0] + x[1] + x[2]
    y[2] = x[0] + x[1] * x[2]
    return y


for weights in ([0.1, 1.0, 0.0001], [-0.1, 1.0, 0.0001]):
    value(three_outputs, (np.array(THREE),), weights, np.array(weights) @ JACOBIAN)


@PROGRAMS.add(np.array([1.0, 2.0, 3.0]), expect=(np.array([2.0, 4.0, 6.0]),))
def sum_of_squares(x):
    return np.sum(x**2 + 2)


value(sum_of_squares, (np.array([1.0, 2.0, 3.0]),), None, [2, 4, 6])


@PROGRAMS.add(np.array([[2.0, 3.0]]), expect=(np.array([[1.5, 1.5]]),))
def scaled_mean(a):
    return np.mean((a + 3) * 3)


value(scaled_mean, (np.array([[2.0, 3.0]]),), None, [[1.5, 1.5]])

A = np.array([[2.0, 4.0]])


@PROGRAMS.add(A, expect=(np.array([[8.0, 96.0]]),))
def separate_powers(a):
    b = np.zeros((1, 2))
    b[0, 0] = a[0, 0] ** 2
    b[0, 1] = a[0, 1] ** 3
    return 2 * b


value(separate_powers, (A,), np.ones((1, 2)), [[8, 96]])


@PROGRAMS.add(A, expect=(np.array([[10.0, 98.0]]),))
def mixed_powers(a):
    b = np.zeros((1, 2))
    b[0, 0] = a[0, 0] ** 2 + a[0, 1]
    b[0, 1] = a[0, 1] ** 3 + a[0, 0]
    return 2 * b


value(mixed_powers, (A,), np.ones((1, 2)), [[10, 98]])
value(mixed_powers, (A,), [[1, 2]], [[12, 194]])


@PROGRAMS.add(A)
def rows_of_jacobian(a):
    b = np.zeros((1, 2))
    b[0, 0] = a[0, 0] ** 2 + a[0, 1]
    b[0, 1] = a[0, 1] ** 3 + 2 * a[0, 0]
    return 2 * b


value(rows_of_jacobian, (A,), [[1, 0]], [[8, 2]])
value(rows_of_jacobian, (A,), [[0, 1]], [[4, 96]])


@PROGRAMS.add(np.array([[2.0, 3.0], [1.0, 2.0]]), np.zeros((2, 1)), argnums=(0, 1))
def product_with_zero(a, w):
    return a @ w


value(
    product_with_zero,
    (np.array([[2.0, 3.0], [1.0, 2.0]]), np.zeros((2, 1))),
    [[1], [1]],
    (np.zeros((2, 2)), [[3], [5]]),
)

X = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])


@PROGRAMS.add(X, expect=(X + 2.0,))
def mean_of_chain(x):
    y = x + 2
    z = 3 * y * y
    return np.mean(z)


value(mean_of_chain, (X,), None, [[3, 4, 5], [6, 7, 8]])


@PROGRAMS.add(X, expect=(6.0 * (X + 2.0),))
def chain(x):
    y = x + 2
    return 3 * y * y


value(chain, (X,), np.ones((2, 3)), 6.0 * (X + 2.0))
value(chain, (X,), 0.5 * np.ones((2, 3)), 3.0 * (X + 2.0))


@PROGRAMS.add(1.0, 2.0, 3.0, argnums=(1,), expect=(1.0,))
def three_summands(x, y, w):
    return (x + y) + w
