"""Counted loops, recurrences, `while`, and every form of `for`."""

import math

import numpy as np

from corpus.program import Programs
from corpus.scalars import rational

PROGRAMS = Programs()

X = np.array([0.3, -0.4, 0.9, 1.2])
SQUARE = np.array([[0.6, -0.3, 0.2], [0.1, 0.8, -0.5], [0.4, 0.3, 0.7]])


@PROGRAMS.add(0.3, 3.1, 7, argnums=(0, 1), compiled=True)
def logistic(x, r, steps):
    for _ in range(steps):
        x = r * x * (1.0 - x)
    return x


@PROGRAMS.add(X, 0.5, argnums=(0, 1), compiled=True)
def masked_sum(x, w):
    s = 0.0
    for i in range(x.shape[0]):
        t = math.sin(x[i])
        if t > 0.0:
            s += t * t * w
    return s


@PROGRAMS.add(X, compiled=True)
def triangular(x):
    s = 0.0
    for i in range(x.size):
        q = x[i]
        for j in range(i + 1):
            q = q * x[j] + 0.1 * j
        s += q * q
    return s * s


@PROGRAMS.add(np.array([1.0, -2.0, 0.5, 3.0]), 0.7, argnums=(0, 1))
def backward_range(c, t):
    acc = 0.0
    for i in range(c.size - 1, -1, -1):
        acc = acc * t + c[i]
    for i in range(3, 0, -2):
        acc += c[i] * t
    return acc


@PROGRAMS.add(np.arange(1.0, 12.0), 2, 3)
def strided_range(x, start, step):
    s = 1.0
    for i in range(start, x.size, step):
        s = s * x[i] * 0.3 + x[i - start]
    return s


@PROGRAMS.add(np.arange(1.0, 12.0), 2)
def literal_step_range(x, start):
    s = 1.0
    for i in range(start, x.size, 3):
        s = s * x[i] * 0.3 + x[i - start]
    return s


@PROGRAMS.add(X, X[::-1].copy(), argnums=(0, 1))
def for_enumerate_zip(x, y):
    s = 0.0
    for i, v in enumerate(x):
        s += i * v * s + v
    for u, v in zip(x, y):  # noqa: B905
        s += u * v
    return s


@PROGRAMS.add(X)
def for_over_values(x):
    s = 0.0
    for v in x:
        s += v * v
    for c in (1.0, 0.5):
        s = s * c + x[0]
    return s


@PROGRAMS.add(np.arange(6.0).reshape(2, 3) / 5.0)
def for_over_rows(a):
    s = 0.0
    for row in a:
        t = 1.0
        for v in row:
            t = t * (v + 0.5)
        s += t * t
    return s


@PROGRAMS.add(2.0, compiled=True)
def newton_root(a):
    r = a
    while abs(r * r - a) > 1e-13:
        r = 0.5 * (r + a / r)
    return r


@PROGRAMS.add(3.0, 0.5, 40, argnums=(0, 1))
def while_joint_condition(a, b, limit):
    k = 0
    while k < limit and a > 0.2:
        a = a * b + 0.05
        k += 1
    return a * k


@PROGRAMS.add(X)
def nested_while(x):
    total = 0.0
    i = 0
    while i < x.size:
        v = x[i]
        while v * v < 4.0:
            v = 1.5 * v + 0.3
        total += v * x[i]
        i += 1
    return total


@PROGRAMS.add(0.3, 4, expect=(0.248,))
def chebyshev(x, n):
    t0 = 1.0
    t1 = x
    t2 = 0.0
    for _ in range(n):
        t2 = 2.0 * x * t1 - t0
        t0, t1, t2 = t1, t2, t0
    return t1


@PROGRAMS.add(SQUARE, SQUARE.T.copy(), argnums=(0, 1), compiled=True)
def triple_loop_product(a, b):
    c = np.zeros((a.shape[0], b.shape[1]))
    for i in range(a.shape[0]):
        for j in range(b.shape[1]):
            for k in range(a.shape[1]):
                c[i, j] += a[i, k] * b[k, j]
    return c


@PROGRAMS.add(X)
def cumulative_products(x):
    out = np.empty(x.size)
    carry = 1.0
    for i in range(x.size):
        carry = carry * x[i] + 0.5
        out[i] = carry
        if carry > 0.7:
            carry = 0.5 * carry
    return out


@PROGRAMS.add(np.array([800.0, 801.0, 799.5]))
def log_sum_exp(x):
    top = x[0]
    for i in range(1, x.size):
        if x[i] > top:
            top = x[i]
    s = 0.0
    for i in range(x.size):
        s += math.exp(x[i] - top)
    return top + math.log(s)


@PROGRAMS.add(X)
def rosenbrock(x):
    s = 0.0
    for i in range(x.size - 1):
        s += 100.0 * (x[i + 1] - x[i] ** 2) ** 2 + (1.0 - x[i]) ** 2
    return s


@PROGRAMS.add(np.arange(1.0, 7.0) / 4.0, X[:3].copy(), argnums=(0, 1))
def running_position(packed, x):
    """A triangular matrix stored by columns, read at a counter of its own."""
    q = np.zeros(x.size)
    at = 0
    for i in range(x.size):
        for j in range(i, x.size):
            q[j] += packed[at] * x[i]
            at += 1
    s = 0.0
    for i in range(x.size):
        s += q[i] * q[i]
    return s


@PROGRAMS.add(X, np.array([3, 0, 0, 2, 1]))
def gathered(x, places):
    s = 0.0
    for k in range(places.size):
        i = places[k]
        s += x[i] * x[i - 1] * (k + 1)
    return s


@PROGRAMS.add(np.array([1.1, 0.8]), 5, 0.05, argnums=(0, 2))
def runge_kutta(p, steps, dt):
    a, b = 1.0, 0.5
    for _ in range(steps):
        k1, l1 = p[0] * a - a * b, p[1] * a * b - b
        c, d = a + 0.5 * dt * k1, b + 0.5 * dt * l1
        k2, l2 = p[0] * c - c * d, p[1] * c * d - d
        a, b = a + dt * k2, b + dt * l2
    return a * b


@PROGRAMS.add(0.4, 1.2, 3, argnums=(0, 1))
def calls_another_module(x, y, steps):
    for _ in range(steps):
        x = math.tanh(rational(x, y))
    return x


@PROGRAMS.add(X, 0, argnums=(0,), expect=(2 * X,))
def no_trips(x, n):
    s = 1.0
    for i in range(n):
        s = s * x[i]
    return s * np.sum(x * x)
