"""Scalar functions whose Hessians are known and easily wrong."""

import math

import numpy as np

from corpus.program import Programs

PROGRAMS = Programs()

# Hessians by name: exact, with respect to the first argument.
HESSIANS: dict[str, object] = {}


@PROGRAMS.add(np.array([2.0, 1.0]), expect=(np.zeros(2),))
def exact_fit(p):
    """Every residual is zero, the second derivatives are not."""
    t = np.array([0.0, 1.0, 3.0])
    data = np.array([2.0, 1.0, 0.5])
    total = 0.0
    for i in range(t.size):
        model = p[0] / (1.0 + p[1] * t[i])
        total += (model / data[i] - 1.0) ** 2
    return total


HESSIANS["exact_fit"] = np.array([[1.5, -1.25], [-1.25, 1.625]])


@PROGRAMS.add(np.array([0.0, 0.0, 3.0, 4.0]), kink=True)
def masked_distance(x):
    """The zero distance of a point to itself is multiplied by 0."""
    n = x.size // 2
    total = 0.0
    for i in range(n):
        for j in range(n):
            dx = x[2 * i] - x[2 * j]
            dy = x[2 * i + 1] - x[2 * j + 1]
            apart = 0.0 if i == j else 0.5
            total += apart * np.sqrt(dx * dx + dy * dy)
    return total


HESSIANS["masked_distance"] = np.array(
    [
        [0.128, -0.096, -0.128, 0.096],
        [-0.096, 0.072, 0.096, -0.072],
        [-0.128, 0.096, 0.128, -0.096],
        [0.096, -0.072, -0.096, 0.072],
    ]
)


@PROGRAMS.add(np.array([0.0, 1.0]), expect=(np.array([0.0, -math.exp(-0.5)]),))
def bell_curve(x):
    """x ** 2 at 0 inside another function."""
    s = 0.0
    for i in range(x.size):
        s += math.exp(-(x[i] ** 2) / 2)
    return s


HESSIANS["bell_curve"] = np.diag([-1.0, 0.0])


@PROGRAMS.add(np.array([2.0, 3.0, -1.0]))
def chain_in_place(x):
    w = x.copy()
    for i in range(1, w.size):
        w[i] = w[i] * w[i - 1] + x[0]
    return w[-1]


HESSIANS["chain_in_place"] = np.array([[0.0, -1.0, 4.0], [-1.0, 0.0, 2.0], [4.0, 2.0, 0.0]])


@PROGRAMS.add(np.array([1.0, 1.0, 1.0]), expect=(np.zeros(3),))
def valley(x):
    s = 0.0
    for i in range(x.size - 1):
        s += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return s


HESSIANS["valley"] = np.array([[802.0, -400.0, 0.0], [-400.0, 1002.0, -400.0], [0, -400.0, 200.0]])


@PROGRAMS.add(np.array([0.5, 2.0]))
def product_of_sums(x):
    return np.sum(x * x) * x[0]


HESSIANS["product_of_sums"] = np.array([[3.0, 4.0], [4.0, 1.0]])
