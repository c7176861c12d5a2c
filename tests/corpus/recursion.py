"""Functions that call themselves, at depths known while tracing and at depths of the run."""

import math

import numpy as np
from numba import njit

from corpus.program import Programs

PROGRAMS = Programs()

X = np.array([0.3, -0.4, 0.9, 1.2])
WEIGHTS = np.array([0.3, 0.9, 1.1, 0.2])


def power(n, x):
    if n == 0:
        return 1
    return x * power(n - 1, x)


@PROGRAMS.add(1.3, 5, compiled=True)
def power_at_run_time(x, n):
    return power(n, x) ** 2


@PROGRAMS.add(1.3)
def power_known_while_tracing(x):
    return power(4, x)


@PROGRAMS.add(0.7, 4)
def calls_itself(x, n):
    if n <= 0:
        return x
    return calls_itself(x * 0.9, n - 1) * x


@njit
def even(n, x):
    if n == 0:
        return x
    return odd(n - 1, x * x)


@njit
def odd(n, x):
    if n == 0:
        return 2.0 * x
    return even(n - 1, math.sin(x))


@PROGRAMS.add(0.3, 4)
def mutual(x, n):
    return even(n, x) * odd(n + 1, x)


def determinant(a, n):
    if n == 1:
        return a[0, 0]
    s = 0.0
    for j in range(n):
        minor = np.empty((n - 1, n - 1))
        for r in range(1, n):
            place = 0
            for c in range(n):
                if c != j:
                    minor[r - 1, place] = a[r, c]
                    place += 1
        s += (-1.0) ** j * a[0, j] * determinant(minor, n - 1)
    return s


@PROGRAMS.add(np.arange(9.0).reshape(3, 3) ** 1.5 + np.eye(3), compiled=True)
def minors(a):
    return determinant(a, a.shape[0])


def folded_tree(values, left, right, i):
    if i < 0:
        return 0.0
    a = folded_tree(values, left, right, left[i])
    b = folded_tree(values, left, right, right[i])
    return values[i] + math.tanh(a) * b + 0.5 * a


@PROGRAMS.add(X, np.array([1, 3, -1, -1]), np.array([2, -1, -1, -1]), compiled=True)
def tree_in_arrays(values, left, right):
    return folded_tree(values, left, right, 0)


def quicksort(a, low, high):
    if low >= high:
        return
    pivot = a[high]
    i = low
    for j in range(low, high):
        if a[j] < pivot:
            a[i], a[j] = a[j], a[i]
            i += 1
    a[i], a[high] = a[high], a[i]
    quicksort(a, low, i - 1)
    quicksort(a, i + 1, high)


@PROGRAMS.add(X[::-1].copy(), compiled=True)
def sorted_in_place(x):
    a = x * 2.0
    quicksort(a, 0, a.size - 1)
    s = a[0] ** 2
    for i in range(a.size):
        s += (i + 1) * a[i]
    return s


def pairwise(a):
    n = a.shape[0]
    if n == 1:
        return a[0] ** 2
    half = n // 2
    return pairwise(a[:half]) * 1.1 + math.sin(pairwise(a[half:]))


@PROGRAMS.add(X)
def views_of_an_argument(x):
    return pairwise(x)


def merged(a):
    n = a.size
    if n <= 1:
        return a.copy()
    left, right = merged(a[: n // 2]), merged(a[n // 2 :])
    out = np.empty(n)
    i = j = 0
    for k in range(n):
        if j >= right.size or (i < left.size and left[i] <= right[j]):
            out[k] = left[i]
            i += 1
        else:
            out[k] = right[j]
            j += 1
    return out


@PROGRAMS.add(X)
def arrays_as_results(x):
    return np.sum(merged(x**2) * np.arange(1.0, 5.0))


def pair(n, x, y):
    if n == 0:
        return x, y
    a, b = pair(n - 1, y * 0.9, x + y)
    return math.sin(a) * b, a + 0.1 * b


@PROGRAMS.add(0.4, 5)
def tuple_as_result(x, n):
    a, b = pair(n, x, x * x)
    return a * b


@PROGRAMS.add(0.4, 5)
def closure_that_calls_itself(x, n):
    c = x * x

    def descend(k, y):
        if k == 0:
            return y + c
        return math.sin(descend(k - 1, y * 0.5)) + c

    return descend(n, x)


def weighted(k, y):
    return y if k < 0 else weighted(k - 1, y * WEIGHTS[k] + math.cos(y))


@PROGRAMS.add(X, 3)
def reads_a_global(x, n):
    return weighted(n, x[0]) * x[1]


@PROGRAMS.add(X)
def called_in_a_loop(x):
    s = 0.1
    for i in range(x.size):
        s += power(i, x[i]) * s + x[i]
    return s


def remembered(a, i):
    if i < 2:
        return a[i]
    if a[i] == 0.0:
        a[i] = remembered(a, i - 1) * 0.7 + remembered(a, i - 2) ** 2
    return a[i]


@PROGRAMS.add(X)
def table_of_results(x):
    a = np.zeros(8)
    a[0] = x[0]
    a[1] = x[1]
    return remembered(a, 7) * a[5]


def simpson(a, b, p, tolerance, depth):
    m = 0.5 * (a + b)
    fa, fm, fb = math.exp(-p * a * a), math.exp(-p * m * m), math.exp(-p * b * b)
    left, right = 0.5 * (a + m), 0.5 * (m + b)
    fl, fr = math.exp(-p * left * left), math.exp(-p * right * right)
    whole = (b - a) * (fa + 4.0 * fm + fb) / 6.0
    halves = (b - a) * (fa + 4.0 * fl + 2.0 * fm + 4.0 * fr + fb) / 12.0
    if depth <= 0 or abs(halves - whole) < tolerance:
        return halves
    first = simpson(a, m, p, 0.5 * tolerance, depth - 1)
    return first + simpson(m, b, p, 0.5 * tolerance, depth - 1)


@PROGRAMS.add(1.3)
def adaptive_quadrature(p):
    return simpson(0.0, 2.0, p, 1e-4, 8)


def rebinds(u, n):
    if n == 0:
        return np.sum(u * u)
    for _ in range(2):
        u = u * 0.9 + 0.1 * u * u
    return rebinds(u, n - 1) + u[0]


@PROGRAMS.add(X, 3)
def argument_that_is_rebound(x, n):
    return rebinds(x, n)
