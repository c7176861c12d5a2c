"""What names mean: arrays rebound by loops and branches, names set on some paths, None, tuples."""

import functools
from collections import namedtuple

import numpy as np

from corpus.program import Programs
from srcad import grad, jvp, vjp

PROGRAMS = Programs()

X = np.array([0.3, -0.4, 0.9, 1.2])
Pair = namedtuple("Pair", "a b")


# -- arrays under other names


@PROGRAMS.add(X, 3, compiled=True)
def stepped(u, steps):
    for _ in range(steps):
        u = u + 0.1 * u * u
    return np.sum(u)


@PROGRAMS.add(X, 0.3, 5, argnums=(0, 1), compiled=True)
def swapped(x, c, steps):
    u, v = x.copy(), np.empty(x.size)
    for _ in range(steps):
        v[0], v[-1] = u[0], u[-1]
        for i in range(1, u.size - 1):
            v[i] = u[i] - c * u[i] * (u[i] - u[i - 1])
        u, v = v, u
    return np.sum(u * u)


@PROGRAMS.add(X, 5)
def swapped_slices(x, steps):
    u, v = x.copy(), np.zeros(x.size)
    for _ in range(steps):
        v[:] = u
        v[1:-1] = u[1:-1] - 0.1 * u[1:-1] * (u[1:-1] - u[:-2])
        u, v = v, u
    return np.sum(u * u)


@PROGRAMS.add(X, 5)
def swapped_when_odd(x, steps):
    u, v = x.copy(), x * 2.0
    for k in range(steps):
        v[0] = u[1] * v[2]
        if k % 2:
            u, v = v, u
    return np.sum(u * v * v)


@PROGRAMS.add(X)
def kept_best(x):
    u = x.copy()
    best, lowest = u, np.sum(u * u)
    for _ in range(4):
        u = u * u - 0.3
        now = np.sum(u * u)
        if now < lowest:
            best, lowest = u, now
    return np.sum(best * x)


@PROGRAMS.add(X)
def best_or_none(x):
    best = None
    lowest = 0.0
    for k in range(3):
        trial = x * (k + 1.0) - 1.0
        value = np.sum(trial * trial)
        if best is None or value < lowest:
            best, lowest = trial, value
    return np.sum(best * x)


@PROGRAMS.add(X)
def parity_buffers(x):
    a, b = x.copy(), np.zeros_like(x)
    loss = 0.0
    for t in range(4):
        if t % 2 == 0:
            src, dst = a, b
        else:
            src, dst = b, a
        for i in range(src.size):
            dst[i] = 0.7 * src[i] + 0.2 * src[i - 1] * src[i - 1]
        loss += dst[0] * src[1]
    return loss + a[2] * b[1]


@PROGRAMS.add(X)
def row_chosen_by_value(x):
    m = np.outer(x, x)
    s = 0.0
    for i in range(x.size):
        if x[i] > 0.5:
            row = m[i]
        elif x[i] > 0.0:
            row = m[0]
        else:
            row = x
        s += np.sum(row * row) * x[i]
        m[i] = m[i] * 2.0
    return s


@PROGRAMS.add(X)
def rows_of_a_trajectory(x):
    path = np.zeros((5, x.size))
    path[0] = x
    u = path[0]
    for k in range(4):
        path[k + 1] = u * u * 0.5 + x
        u = path[k + 1]
    return np.sum(u)


@PROGRAMS.add(X)
def row_written_through_its_name(x):
    path = np.zeros((4, x.size))
    path[0] = x
    row = path[0]
    for k in range(1, 4):
        after = path[k]
        after[:] = row * row + x
        row = after
    row[0] = row[1] * 2.0
    part = path[1, 1:] if x[0] > 0.0 else path[2, :-1]
    part[0] = row[0] * x[1]
    return np.sum(path)


@PROGRAMS.add(X)
def three_buffers_in_turn(x):
    a, b, c = x.copy(), np.zeros_like(x), np.zeros_like(x)
    for _ in range(5):
        c[:] = a * 0.5 + b * b
        a, b, c = b, c, a
    return np.sum(a * b) + np.sum(c)


@PROGRAMS.add(X, compiled=True)
def halved_until_small(x):
    y = x
    count = 0
    while True:
        y = y * 0.5
        count += 1
        if np.sum(y * y) < 0.1:
            break
    else:
        y = y * 3.0
    return np.sum(y) * count


@PROGRAMS.add(X)
def shrinking(x):
    y = x * x
    s = 0.0
    while y.size > 1:
        y = y[1:] * y[:-1]
        s += y[0]
    return s


@PROGRAMS.add(X, 3, compiled=True)
def window_that_moves_on(x, steps):
    y = x
    s = 0.0
    for k in range(steps):
        y = y[1:] if k % 2 == 0 else y[: y.size]
        s += y[0] * y[-1]
    return s + np.sum(y * y)


@PROGRAMS.add(np.array([[1.0, 2.0, 0.5], [0.3, -1.0, 0.7], [0.2, 0.4, 1.1]]), 3, compiled=True)
def transposed_each_time(m, steps):
    y = m
    for _ in range(steps):
        y = y.T * 0.5 + m
    z = y.T if y[0, 1] > 0.0 else y * 2.0
    return np.sum(z[0] * z[1])


@PROGRAMS.add(X, compiled=True)
def returned_from_the_loop(x):
    w = x.copy()
    for _ in range(10):
        w *= 0.9
        size = 0.0
        for i in range(w.size):
            size += w[i] * w[i]
        if size < 1.0:
            return w * w * size
    return w


@PROGRAMS.add(X, 0.35, argnums=(0, 1))
def two_returns_inside(x, level):
    for i in range(x.size):
        for j in range(i):
            if x[i] * x[j] > level:
                return x[i] * x[j] * level
        if x[i] > 100.0:
            return x[i]
    return level * level


# -- names that some paths leave unset or None


@PROGRAMS.add(X)
def last_of_a_loop(x):
    for v in x:
        last = v * v
    return last


@PROGRAMS.add(X)
def set_in_an_earlier_iteration(x):
    s = 0.0
    for i in range(x.size):
        if i > 0:
            s += before * x[i]  # noqa: F821
        before = x[i] * x[i]  # noqa: F841
    return s


@PROGRAMS.add(X)
def array_set_in_one_branch(x):
    if x[0] > 0.0:
        y = x * 2.0
    s = 0.0
    if x[0] > 0.1:
        s = np.sum(y * y)
    return s


def square_of_positive(x):
    if x > 0.0:
        return x * x


@PROGRAMS.add(X)
def helper_without_a_value(x):
    s = 0.0
    for i in range(x.size):
        found = square_of_positive(x[i])
        if found is not None:
            s += found
    return s


@PROGRAMS.add(X)
def raises_for_bad_values(x):
    if x.size < 2:
        raise ValueError(f"{x.size} values are too few")
    s = 0.0
    for v in x:
        if v > 100.0:
            s = 0.0
            raise ValueError("too large")
        s += v * v
    return s


# -- tuples, calls


@PROGRAMS.add(X, (0.5, -1.5), argnums=(0, 1))
def tuple_in_a_loop(x, p):
    pair = Pair(x[0], x[1] * 2.0)
    for i in range(4):
        pair = Pair(pair.b, pair.a * pair.b + p[i % 2])
    return pair.a + pair.b


@PROGRAMS.add(X)
def layers_in_a_list(x):
    layers = [np.outer(x, x), np.outer(x, x) * 0.5]
    h = x
    for i in range(2):
        h = np.tanh(layers[i] @ h)
    return np.sum(h)


@PROGRAMS.add(X)
def list_that_grows_while_tracing(x):
    states = [x]
    s = 0.0
    for i in range(3):
        states = states + [np.tanh(states[-1] * x)]
        s = s + states[i] * i
    return np.sum(states[-1] * states[1] + s)


@PROGRAMS.add(X)
def counted_pairs(x):
    s = 0.0
    for i, (a, b) in enumerate(zip(x, x[1:])):
        s += a * b * i
    for k, v in enumerate((1.0, 2.0), 1):
        s += v * x[k]
    for i in reversed(range(3)):
        s = s * x[i] + x[i]
    return s


@PROGRAMS.add(X)
def tuple_left_early(x):
    s = 0.0
    for p in (1, 2, 3):
        s += x[0] ** p
        if s > 0.35:
            break
        s *= x[1]
    return s


def power_of(x, *, p=2):
    return x**p


@PROGRAMS.add(X)
def stars_and_partials(x):
    cube = functools.partial(power_of, p=3)
    first, *rest = x[0], x[1], x[2]
    return np.sum(cube(x)) + (lambda *a: a[0] * a[1])(*rest) * first


@PROGRAMS.add(X)
def dictionary_of_parts(x):
    parts = {"a": x[0], "b": x}
    s = 0.0
    for _, value in parts.items():
        s += np.sum(value) * 2.0
    return s * parts["a"] + sum([x[i] * x[i] for i in range(3)])


# -- derivatives inside


@PROGRAMS.add(X)
def gradient_of_a_closure(x):
    inner = grad(lambda y: np.sum(y * y * y * x[0]))
    return np.sum(inner(x) * x)


@PROGRAMS.add(X)
def newton_by_its_gradient(x):
    def f(y, a):
        return y * y * y - a

    y = 1.5
    for _ in range(6):
        y = y - f(y, x[2]) / grad(f)(y, x[2])
    return y * x[0]


@PROGRAMS.add(X)
def pullback_and_tangent_inside(x):
    pullback = vjp(lambda y: np.sin(y) * y, x)
    given = pullback(x * x)
    _, dot = jvp(lambda y: np.exp(y), (x,), (given,))
    return np.sum(dot) + np.sum(pullback.value)
