"""Branches and early exits."""

import math

import numpy as np

from corpus.program import Programs

PROGRAMS = Programs()

X = np.array([0.3, -0.4, 0.9, 1.2])


@PROGRAMS.add(X, 0.7, argnums=(0, 1), compiled=True)
def return_inside_loop(x, level):
    s = 0.0
    for i in range(x.size):
        if x[i] < 0.0:
            continue
        s += x[i] * level
        if s > 0.6:
            return s * s
    return s


@PROGRAMS.add(X, -1.3, argnums=(0, 1), compiled=True)
def guarded_likelihood(x, sigma):
    if sigma == 0.0:
        return -np.inf
    total = 0.0
    for i in range(x.size):
        total += -0.5 * (x[i] / sigma) ** 2 - math.log(abs(sigma))
    return total


@PROGRAMS.add(X, 0.0, argnums=(0, 1), expect=(np.zeros(4), 0.0), kink=True)
def guard_taken(x, sigma):
    if sigma <= 0.0:
        return -np.inf
    total = 0.0
    for i in range(x.size):
        total += -0.5 * (x[i] / sigma) ** 2 - math.log(sigma)
    return total


@PROGRAMS.add(X)
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


@PROGRAMS.add(X)
def return_from_two_loops(x):
    s = 0.5
    for i in range(x.size):
        for j in range(x.size):
            s = s * x[j] + x[i]
            if s > 1.5:
                return s * x[j]
    return -s


@PROGRAMS.add(np.array([0.5, -1.0]), np.array([[1.0, 0.0, 2.0], [0.0, 3.0, -1.0]]))
def continue_running_max(x, table):
    total = 0.0
    for t in range(x.size):
        best = -1e30
        for p in range(table.shape[0]):
            for q in range(table.shape[1]):
                w = table[p, q]
                if w == 0.0:
                    continue
                cand = x[t] * w * (p - q + 0.5)
                if cand > best:
                    best = cand
        total += best * best
    return total


@PROGRAMS.add(X)
def branch_ladder(x):
    s = 1.0
    for i in range(x.size):
        if x[i] < 0.0:
            s = s * x[i]
        elif x[i] < 0.5:
            s = s + x[i] * x[i]
        elif x[i] < 1.0 and s > 0.0:
            s = math.sin(s * x[i])
        else:
            pass
    return s


@PROGRAMS.add(X, compiled=True)
def while_true(x):
    s = x[0]
    i = 0
    while True:
        s = 1.3 * s + 0.2 * x[i]
        i = (i + 1) % x.size
        if s > 3.0:
            break
    return s * s


@PROGRAMS.add(X)
def arrays_written_in_branches(x):
    u = np.zeros(x.size)
    for i in range(x.size):
        if x[i] > 0.0:
            u[i] = x[i] * x[i]
        else:
            u[i - 1] = x[i] * u[i - 1]
    return u


@PROGRAMS.add(-1.0, expect=(0.0,))
def int_or_float(x):
    if x <= 0.0:
        y = 3
    else:
        y = x * 2 + 1
    return y * 1.5


@PROGRAMS.add(1.5, np.inf, expect=(4.0,))
def untaken_infinite_branch(x, gain):
    y = x * x
    if not np.isinf(gain):
        y = y + gain * y
    return y + x


@PROGRAMS.add(np.array([1.0, 2.0, 3.0, -1.0]), 4)
def set_in_one_branch(d, n):
    grid = np.zeros((n, n))
    for i in range(n):
        grid[i, 2] = 1.5
        if i == 2:
            extra = d[i] * d[0]
            grid[i, i] += extra
        if i > 2:
            grid[i, 0] = extra * d[i]
    return grid


@PROGRAMS.add(X, True)
def array_chosen_by_flag(x, squared):
    if squared:
        y = x * x
    else:
        y = x + 1.0
    return y * x


@PROGRAMS.add(X)
def flag_carried(x):
    seen = False
    s = 0.0
    for i in range(x.size):
        if not seen and x[i] < 0.0:
            seen = True
            s += x[i] ** 3
        elif seen:
            s += x[i] * x[0]
    return s


@PROGRAMS.add(0.4, None)
def none_argument(x, scale):
    if scale is None:
        return x * x
    return x * scale
