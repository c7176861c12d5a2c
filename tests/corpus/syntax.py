"""Python's own constructs around the arithmetic: what is run while tracing, printed, or skipped."""

import math

import numpy as np
from numba import njit, prange

from corpus.program import Programs

PROGRAMS = Programs()

X = np.array([0.3, -0.4, 0.9, 1.2])


@PROGRAMS.add(X, compiled=True)
def prints(x):
    print("sum of squares of", x, "first", x[0])
    return np.sum(x**2)


@PROGRAMS.add(X)
def prints_in_a_loop(x):
    s = 0.0
    for i in range(x.size):
        s = math.sin(s + x[i])
        if s > 0.5:
            print("large", i, s)
    return s


@PROGRAMS.add(X)
def silenced_warnings(x):
    total = 0.0
    for i in range(x.size):
        with np.errstate(divide="ignore", invalid="ignore"):
            y = 1.0 / x[i]
            if y < 0.0:
                continue
            total += y * y
    return total


@PROGRAMS.add(X)
def named_in_conditions(x):
    total = 0.0
    i = 0
    while (i := i + 1) < x.size and (y := x[i] * x[i - 1]) < 1.0:
        total += y * y
    if (z := math.sin(total)) > 0.0 or (w := z * 2.0) < -5.0:
        return z * total
    return w


@PROGRAMS.add(X, expect=([0.6, 0.0, 0.0, 0.0],))
def deleted_name(x):
    y = x[0] * 2.0
    s = y * x[0] / 2.0
    del y
    return s


@PROGRAMS.add(X.reshape(2, 2), compiled=True)
def all_indices(a):
    s = 0.0
    for i, j in np.ndindex(a.shape):
        if i == 1 and j == 1 and a[i, j] > 5.0:
            break
        s += (i + 2 * j) * a[i, j] ** 2
    return s * s


@PROGRAMS.add(X.reshape(2, 2))
def indices_left_early(a):
    s = 0.0
    for at in np.ndindex(2, 2):
        if at[0] + at[1] == 1 and s > 0.05:
            continue
        s += a[at] ** 3
        if s > 0.7:
            break
    return s * a[0, 0]


@PROGRAMS.add(X.reshape(2, 2))
def indices_and_elements(a):
    s = 0.0
    for (i, j), value in np.ndenumerate(a):
        s += (i - j) * value + value * value
    for k, at in enumerate(np.ndindex(2, 2)):
        s += k * a[at]
    return s


@njit(parallel=True, fastmath=True)
def parallel_sum(x):
    total = 0.0
    for i in prange(x.shape[0]):
        total += x[i] ** 2
    return total


@PROGRAMS.add(X, compiled=True)
def parallel_helper(x):
    return parallel_sum(x) ** 2


@njit("float64(int64)")
def whole_number(n):
    return n * 1.5


@njit(["float32(float32)", "float64(float64)"])
def in_both_precisions(x):
    return x * x


@PROGRAMS.add(X, expect=([0.0, 0.0, 3.0, 0.0],))
def truncated_by_a_signature(x):
    return whole_number(x[3] * 2.0) * x[2]


@PROGRAMS.add(X, 3, compiled=True)
def chosen_signature(x, n):
    return in_both_precisions(x[0]) * in_both_precisions(n)
