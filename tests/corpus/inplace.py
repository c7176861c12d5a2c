"""Writes into memory: elements, rows, views, arguments, helpers that fill."""

import math

import numpy as np

from corpus.program import Programs

PROGRAMS = Programs()

X = np.array([0.3, -0.4, 0.9, 1.2])
M = np.array([[2.0, 0.5, 0.1], [0.4, 3.0, 0.2], [0.1, 0.3, 1.5]])


@PROGRAMS.add(X, compiled=True)
def running_product(x):
    w = x.copy()
    for i in range(1, w.size):
        w[i] = w[i] * w[i - 1] + x[0]
    return w


@PROGRAMS.add(X, 3, compiled=True)
def gauss_seidel(x, sweeps):
    u = x * 1.0
    for _ in range(sweeps):
        for i in range(1, u.size - 1):
            u[i] = 0.5 * (u[i - 1] * u[i] + u[i + 1])
    return u


@PROGRAMS.add(M, compiled=True)
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


@PROGRAMS.add(M)
def cholesky_loops(a):
    n = a.shape[0]
    c = np.zeros((n, n))
    for j in range(n):
        s = a[j, j]
        for k in range(j):
            s -= c[j, k] * c[j, k]
        c[j, j] = math.sqrt(s)
        for i in range(j + 1, n):
            t = a[i, j]
            for k in range(j):
                t -= c[i, k] * c[j, k]
            c[i, j] = t / c[j, j]
    return c


@PROGRAMS.add(X)
def written_through_views(x):
    u = x * 2.0
    left = u[:-1]
    left[1] = left[0] * left[2]
    u[1:] = u[1:] - u[:-1] * u[1:]
    return u


@PROGRAMS.add(X)
def overlapping_slices(x):
    u = x * x
    u[1:] -= u[:-1]
    u[:-1] += 2.0 * u[1:]
    return u


@PROGRAMS.add(
    np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]]),
    expect=(np.array([[2.0, 10.0, 1.0], [4.0, 0.0, 1.0]]),),
)
def transposed_view(x):
    base = x * 1.0
    t = base.T
    t[0] *= x[0, 1]
    t[1, 1:] = t[0, 1:] + 1.0
    return base


@PROGRAMS.add(M)
def rows_and_columns(a):
    b = np.zeros((3, 3))
    b[0] = a[1] * a[2]
    b[:, 1] = a[:, 0] + b[0]
    b[2, :2] += b[:2, 1] * 2.0
    b[1][2] = b[0][0] * a[2][2]
    return b


@PROGRAMS.add(M)
def whole_array_updates(a):
    b = a.copy()
    b[...] += a * a
    b[:] *= a[0]
    b += 1.0
    b /= 2.0 + a * a
    return b


@PROGRAMS.add(X, mutates=True, compiled=True)
def argument_overwritten(u):
    for i in range(1, u.size):
        u[i] = u[i] * u[i - 1]
    return u[3]


@PROGRAMS.add(np.zeros(3), np.array([1.0, -2.0]), argnums=(0, 1), mutates=True)
def argument_accumulated(out, y):
    for i in range(out.size):
        for j in range(y.size):
            out[i] += y[j] * y[j]
    return out


def _fill_rates(du, u, p):
    du[0] = p[0] * u[0]
    du[1] = p[1] * u[1] * u[1]


@PROGRAMS.add(np.array([-0.5, 0.3]), expect=(np.array([0.406125, 1.5305509555968]),))
def rates_filled_in_place(p):
    u = np.array([1.5, 2.0])
    du = np.zeros(2)
    for _ in range(3):
        _fill_rates(du, u, p)
        u[0] += 0.1 * du[0]
        u[1] += 0.1 * du[1]
    return u[0] + u[1]


@PROGRAMS.add(np.array([0.5, -1.0, 2.0]), expect=(np.array([8.0, 0.0, 3.0]),))
def tuple_alias(x):
    work = x * 2.0
    pair = (work, x[0])
    work[1] = work[0] * work[2]
    a, s = pair
    return a[1] * s + pair[0][2]


@PROGRAMS.add(X)
def swapped_elements(x):
    u = x * x
    for i in range(u.size // 2):
        u[i], u[u.size - 1 - i] = u[u.size - 1 - i], u[i] * u[i]
    return u


@PROGRAMS.add(X)
def saved_before_overwritten(x):
    u = x.copy()
    s = 0.0
    for i in range(u.size):
        old = u[i]
        u[i] = old * old + s
        s += math.sin(old) * u[i]
    return s


@PROGRAMS.add(X, 3)
def trajectory_rows(x, steps):
    path = np.zeros((steps + 1, x.size))
    path[0] = x
    for k in range(steps):
        path[k + 1] = path[k] + 0.1 * np.sin(path[k]) * path[k][0]
    return path[steps] * path[1]


@PROGRAMS.add(X, 3)
def work_array_in_loop(x, steps):
    s = 0.0
    for k in range(steps):
        work = np.zeros(x.size)
        for i in range(x.size):
            work[i] = x[i] * (k + 1) + s
        s += np.sum(work * work) * 0.1
    return s


@PROGRAMS.add(np.array([1.0, -0.5, 2.0]), 3)
def ping_pong_buffers(x, steps):
    cur = x.copy()
    nxt = np.zeros_like(x)
    for _ in range(steps):
        for i in range(cur.size):
            left = cur[i - 1]
            nxt[i] = cur[i] + 0.1 * left * left
        cur, nxt = nxt, cur
    return cur


@PROGRAMS.add(X)
def view_returned(x):
    y = x * x
    return y[::2]


@PROGRAMS.add(X, expect=(np.array([1.0, 0.0, 1.0, 1.0]),))
def overwritten_by_constant(x):
    u = x.copy()
    u[1] = 0.0
    return u


@PROGRAMS.add(X, np.array([2, 0, 2]))
def scattered_sums(x, places):
    out = np.zeros(3)
    for k in range(places.size):
        out[places[k]] += x[k] * x[k + 1]
    return out * out


def doubles_first(a):
    a[0] = a[0] * 2.0
    return a[0] * a[1]


@PROGRAMS.add(np.array([0.3, -0.8, 0.5]))
def element_read_before_the_right_side(x):
    y = x.copy()
    y[0] += doubles_first(y)
    y[1:] += doubles_first(y)
    return y
