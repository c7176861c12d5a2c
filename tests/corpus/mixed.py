"""Programs that once were wrong, or nearly: loops, branches, views, writes and breaks together."""

import math

import numpy as np

from corpus.program import Programs

PROGRAMS = Programs()

X = np.array([0.3, -0.4, 0.9, 1.2])
Y = np.array([0.5, 1.2, -0.7, 0.9])


@PROGRAMS.add(2.0)
def newton(a):
    r = a
    while abs(r * r - a) > 1e-13:
        r = 0.5 * (r + a / r)
    return r


@PROGRAMS.add(X, 0.7, argnums=(0, 1))
def first_large(x, level):
    s = 0.0
    for i in range(x.size):
        if x[i] < 0.0:
            continue
        s += x[i] * level
        if s > 0.6:
            return s * s
    return s


@PROGRAMS.add(X, -1.0, argnums=(0, 1))
def guarded(x, sigma):
    if sigma == 0.0:
        return -np.inf
    total = 0.0
    for i in range(x.size):
        total += -0.5 * (x[i] / sigma) ** 2 - math.log(abs(sigma))
    return total


@PROGRAMS.add(X, np.zeros(0), argnums=(0, 1))
def zero_trips(x, w):
    total = x[0] * x[1]
    for i in range(w.size - 2):
        total += w[i + 2] * w[i]
    return total


@PROGRAMS.add(np.arange(6.0).reshape(2, 3) + 1.0, np.ones((3, 2)), argnums=(0, 1))
def product(a, b):
    c = a @ b
    return c @ c


@PROGRAMS.add(np.array([[1.0], [2.0]]), np.array([0.5, -1.0, 2.0]), argnums=(0, 1))
def broadcast(a, b):
    return np.exp(-a * b) + a


@PROGRAMS.add(Y)
def view_carried(x):
    u = x.copy()
    v = u[1:]
    for t in range(3):
        for i in range(v.size):
            v[i] = v[i] * u[i] + t
    return u[3]


@PROGRAMS.add(Y)
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


@PROGRAMS.add(Y)
def scratch_rows(x):
    a = np.zeros((3, 4))
    for t in range(3):
        tmp = np.empty(4)
        for i in range(4):
            tmp[i] = x[i] * (t + 1)
        tmp[0] = tmp[1] * tmp[2]
        a[t] = tmp * tmp
    return np.sum(a)


@PROGRAMS.add(Y)
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


@PROGRAMS.add(Y)
def continue_counter(x):
    s = 0.0
    n = 0
    for i in range(3, -1, -1):
        if x[i] < 0:
            n = n + 1
            continue
        s = s * 0.5 + x[i] ** 2 * n
    return s


@PROGRAMS.add(Y, mutates=True)
def aliased_argument(x):
    y = x
    y[0] = y[1] * y[2]
    z = y
    return z[0] * x[0]


@PROGRAMS.add(Y)
def array_in_tuple(x):
    t = (x * 2.0, x[0])
    t[0][1] = t[1] * t[0][2]
    return np.sum(t[0] * t[0])


@PROGRAMS.add(Y, mutates=True)
def overwritten_maximum(x):
    m = 0.0
    for i in range(x.size):
        m = max(m, x[i])
        x[i] = m * x[i]
    return np.sum(x) * m


@PROGRAMS.add(Y)
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
