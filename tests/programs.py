"""The corpus: small programs with their arguments, each crossed with the transforms."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Program:
    """A function, fresh arguments for it, and which of them are differentiated."""

    function: Callable[..., Any]
    arguments: Callable[[], tuple[Any, ...]]
    argnums: tuple[int, ...]


PROGRAMS: list[Program] = []


def program(*arguments: Any, argnums: tuple[int, ...]) -> Callable[..., Any]:
    def fresh() -> tuple[Any, ...]:
        return tuple(a.copy() if isinstance(a, np.ndarray) else a for a in arguments)

    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append(Program(function, fresh, argnums))
        return function

    return register


X = np.array([0.3, -0.4, 0.9, 1.2])


@program(X, 0.5, argnums=(0, 1))
def masked_sum(x, w):
    s = 0
    for i in range(x.shape[0]):
        t = math.sin(x[i])
        if t > 0.0:
            s += t * t * w
    return s * np.sum(x * x)


@program(X, argnums=(0,))
def running_product(x):
    w = x.copy()
    for i in range(1, w.size):
        w[i] = w[i] * w[i - 1] + x[0]
    return w


@program(X, 3, argnums=(0,))
def gauss_seidel(x, sweeps):
    u = x * 1.0
    for _ in range(sweeps):
        for i in range(1, u.size - 1):
            u[i] = 0.5 * (u[i - 1] * u[i] + u[i + 1])
    return u


@program(np.array([[2.0, 0.5, 0.1], [0.4, 3.0, 0.2], [0.1, 0.3, 1.5]]), argnums=(0,))
def elimination(a):
    m = a.copy()
    n = m.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            m[i, k] = m[i, k] / m[k, k]
            for j in range(k + 1, n):
                m[i, j] -= m[i, k] * m[k, j]
    s = 0.0
    for k in range(n):
        s += math.log(m[k, k])
    return s


@program(2.0, argnums=(0,))
def newton(a):
    r = a
    while abs(r * r - a) > 1e-13:
        r = 0.5 * (r + a / r)
    return r


@program(X, 0.7, argnums=(0, 1))
def first_large(x, level):
    s = 0.0
    for i in range(x.size):
        if x[i] < 0.0:
            continue
        s += x[i] * level
        if s > 0.6:
            return s * s
    return s


@program(X, -1.0, argnums=(0, 1))
def guarded(x, sigma):
    if sigma == 0.0:
        return -np.inf
    total = 0.0
    for i in range(x.size):
        total += -0.5 * (x[i] / sigma) ** 2 - math.log(abs(sigma))
    return total


@program(X, np.zeros(0), argnums=(0, 1))
def zero_trips(x, w):
    total = x[0] * x[1]
    for i in range(w.size - 2):
        total += w[i + 2] * w[i]
    return total


@program(np.arange(6.0).reshape(2, 3) + 1.0, np.ones((3, 2)), argnums=(0, 1))
def product(a, b):
    c = a @ b
    return c @ c


@program(np.array([[1.0], [2.0]]), np.array([0.5, -1.0, 2.0]), argnums=(0, 1))
def broadcast(a, b):
    return np.exp(-a * b) + a


@program(X, argnums=(0,))
def written_through_views(x):
    u = x * 2.0
    left = u[:-1]
    left[1] = left[0] * left[2]
    u[1:] = u[1:] - u[:-1] * u[1:]
    return u


@program(X, argnums=(0,))
def nested_breaks(x):
    total = 0.0
    for i in range(x.size):
        s = x[i]
        for j in range(10):
            s = s * s + 0.1 * j
            if s > 1.0:
                break
        total += s * x[0]
    return total


@program(X, argnums=(0,))
def argument_overwritten(u):
    for i in range(1, u.size):
        u[i] = u[i] * u[i - 1]
    return u[3]


@program(0.3, 4, argnums=(0,))
def chebyshev(x, n):
    t0, t1 = 1.0, x
    for _ in range(n):
        t0, t1 = t1, 2.0 * x * t1 - t0
    return t1


Y = np.array([0.5, 1.2, -0.7, 0.9])


@program(Y, argnums=(0,))
def view_carried(x):
    u = x.copy()
    v = u[1:]
    for t in range(3):
        for i in range(v.size):
            v[i] = v[i] * u[i] + t
    return u[3]


@program(Y, argnums=(0,))
def branch_loop(x):
    s = 0.0
    r = 1.0
    for i in range(x.size):
        row = x[i]
        if row > 0.6:
            r = r * row
        else:
            s += r * row
            for j in range(i):
                s = s * 1.1 + x[j] * r
    return s * r


@program(Y, argnums=(0,))
def nested_while(x):
    s = 0.0
    k = 0
    while k < x.size:
        j = 0
        p = 1.0
        while p * p < 4.0 and j < 5:
            p = p + abs(x[k]) * p
            j += 1
        s += p * x[0]
        k += 1
    return s


@program(Y, argnums=(0,))
def scratch_rows(x):
    a = np.zeros((3, 4))
    for t in range(3):
        tmp = np.empty(4)
        for i in range(4):
            tmp[i] = x[i] * (t + 1)
        tmp[0] = tmp[1] * tmp[2]
        a[t] = tmp * tmp
    return np.sum(a)


@program(Y, argnums=(0,))
def overlapping_slices(x):
    y = x.copy()
    y[1:] = y[:-1] * y[1:]
    y[:-1] += y[1:] * 2.0
    return np.sum(y * y)


@program(Y, argnums=(0,))
def scratch_recurrence(x):
    s = 0.0
    for i in range(x.size):
        a = np.zeros(2)
        a[0] = x[i]
        a[1] = s
        for _ in range(3):
            a[0] = a[0] * a[1] + x[0]
        s = s + a[0]
    return s


@program(Y, argnums=(0,))
def continue_counter(x):
    s = 0.0
    n = 0
    for i in range(3, -1, -1):
        if x[i] < 0:
            n = n + 1
            continue
        s = s * 0.5 + x[i] ** 2 * n
    return s


@program(Y, argnums=(0,))
def aliased_argument(x):
    y = x
    y[0] = y[1] * y[2]
    z = y
    return z[0] * x[0]


@program(Y, argnums=(0,))
def array_in_tuple(x):
    t = (x * 2.0, x[0])
    t[0][1] = t[1] * t[0][2]
    return np.sum(t[0] * t[0])


@program(Y, argnums=(0,))
def overwritten_maximum(x):
    m = 0.0
    for i in range(x.size):
        m = max(m, x[i])
        x[i] = m * x[i]
    return np.sum(x) * m


@program(Y, argnums=(0,))
def for_else(x):
    s = 1.0
    for i in range(x.size):
        for j in range(x.size):
            if j > i:
                break
            s = s + x[i] * x[j] * s * 0.1
        else:
            s = s * 2.0
    return s
