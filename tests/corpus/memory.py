"""Memory that the reverse sweep reads again: final elements, kept arrays, growing tapes."""

import math

import numpy as np

from corpus.program import Programs

PROGRAMS = Programs()

X = np.array([0.3, -0.4, 0.9, 1.2, 0.5])
M = np.array([[2.0, 0.5, 0.1], [0.4, 3.0, 0.2], [0.1, 0.3, 1.5]])


@PROGRAMS.add(M)
def lu_dot_form(a):
    u = a.copy()
    n = u.shape[0]
    for i in range(n):
        for j in range(n):
            s = u[i, j]
            for k in range(min(i, j)):
                s -= u[i, k] * u[k, j]
            if i > j:
                s = s / u[j, j]
            u[i, j] = s
    s = 0.0
    for i in range(n):
        s += math.log(u[i, i])
    return s


@PROGRAMS.add(X, 0.3, 4, argnums=(0, 1), compiled=True)
def trajectory(u0, c, steps):
    n = u0.size
    u = np.zeros((steps + 1, n))
    for i in range(n):
        u[0, i] = u0[i]
    for t in range(steps):
        for i in range(1, n - 1):
            u[t + 1, i] = u[t, i] - c * u[t, i] * (u[t, i] - u[t, i - 1])
    s = 0.0
    for i in range(n):
        s += u[steps, i] ** 2
    return s


@PROGRAMS.add(X, 0.3, 4, argnums=(0, 1), compiled=True)
def two_buffers(u0, c, steps):
    n = u0.size
    u, v = u0.copy(), u0.copy()
    for _ in range(steps):
        for i in range(1, n - 1):
            v[i] = u[i] - c * u[i] * (u[i] - u[i - 1])
        for i in range(1, n - 1):
            u[i] = v[i] - c * v[i] * (v[i] - v[i - 1])
    return u


@PROGRAMS.add(X, 0.3, argnums=(0, 1))
def buffers_until_small(u0, c):
    n = u0.size
    u, v = u0.copy(), u0.copy()
    count = 0
    while u[1] * u[1] > 0.02 and count < 9:
        for i in range(1, n - 1):
            v[i] = u[i] - c * u[i] * (u[i] - u[i - 1])
        for i in range(1, n - 1):
            u[i] = 0.7 * v[i] - c * v[i] * v[i - 1]
        count += 1
    return u


@PROGRAMS.add(X, 0.3, 7, argnums=(0, 1))
def observed_now_and_then(u0, c, steps):
    n = u0.size
    u, v = u0.copy(), u0.copy()
    s = 0.0
    for t in range(steps):
        for i in range(n):
            u[i] = u[i] + c * math.sin(t + 1.0)
        if t % 3 == 1:
            for i in range(n):
                v[i] = u[i] * u[i] * c
            for i in range(1, n):
                s += v[i] * v[i - 1]
    return s


@PROGRAMS.add(X)
def windows_of_growing_length(x):
    n = x.size
    w = x.copy()
    s = 0.0
    for k in range(1, n + 1):
        part = np.empty(k)
        for i in range(k):
            part[i] = w[i] * x[k - 1]
        for i in range(k):
            s += part[i] * part[i] * part[k - 1 - i]
        w[k - 1] = s
    return s


@PROGRAMS.add(M, np.array([0.4, -0.2, 0.7]), 3, argnums=(0, 1), compiled=True)
def powers_of_a_matrix(a, x, steps):
    y = x.copy()
    m = a.copy()
    for _ in range(steps):
        y[:] = np.tanh(0.3 * (m @ y))
        m[:, :] = 0.1 * (m @ a)
    return y


@PROGRAMS.add(M)
def products_of_one_buffer(a):
    m = np.zeros((4, 3, 3))
    m[0] = a
    for k in range(3):
        m[k + 1] = m[k] @ a
    return m[3]


@PROGRAMS.add(M)
def product_in_one_branch(a):
    m = a.copy()
    s = 0.0
    for k in range(5):
        if k % 2 == 0:
            p = m @ a
            m[:, :] = 0.2 * p
        else:
            m[:, :] = m * m
        s += m[0, 1] * m[2, 2]
    return s


@PROGRAMS.add(X)
def final_behind_a_window(x):
    y = np.zeros(x.size + 3)
    for i in range(x.size):
        for k in range(3):
            y[i + k + 1] += x[i] * y[i] + x[i]
    return y
