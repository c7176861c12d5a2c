"""Lists and dictionaries: literals, growing in loops, aliases, joins, comprehensions."""

import math

import numpy as np

from corpus.program import Programs

PROGRAMS = Programs()

X = np.array([0.3, -0.4, 0.9, 1.2])


@PROGRAMS.add(X, compiled=True)
def appended_in_a_loop(x):
    items = []
    for i in range(x.size):
        items.append(x[i] ** 2)
    s = 0.0
    for k, v in enumerate(items):
        s += (k + 1) * v * v
    return s * len(items)


@PROGRAMS.add(X)
def appended_in_a_branch(x):
    items = [x[0]]
    for i in range(x.size):
        if x[i] > 0.0:
            items.append(x[i] * items[-1])
    return items[-1] + items[0] * items[len(items) // 2]


@PROGRAMS.add(X)
def recurrence_over_a_list(x):
    items = [1.0, x[0]]
    while items[-1] < 3.0 and len(items) < 12:
        items.append(items[-1] + items[-2] * x[2])
    return items[-1] * items[3]


@PROGRAMS.add(X, compiled=True)
def trajectory_of_arrays(x):
    states = [x * 1.0]
    for _ in range(5):
        states.append(states[-1] * 0.9 + 0.1 * states[-1] ** 2)
    total = 0.0
    for u in states:
        total += np.sum(u**2)
    return total * states[2][1]


@PROGRAMS.add(X, 3)
def kept_states_of_a_loop(x, n):
    u = x.copy()
    states = []
    for t in range(n):
        states.append(u)
        u = np.sin(u) + 0.1 * t * u
    total = 0.0
    for k in range(len(states)):
        total += (k + 1.0) * states[k][0] * states[-1 - k][2]
    return total


@PROGRAMS.add(X)
def items_changed_by_index(x):
    items = [0] * x.size
    for i in range(x.size):
        items[i] = x[i] ** 2
    for i in range(1, x.size):
        items[i] += items[i - 1] * x[0]
    return items[-1]


@PROGRAMS.add(X, 4, compiled=True)
def state_as_a_list(x, n):
    y = [x[i] for i in range(n)]
    for _ in range(6):
        k = [math.sin(y[(i + 1) % n]) - 0.1 * y[i] for i in range(n)]
        y = [y[i] + 0.2 * k[i] for i in range(n)]
    return sum([v * v for v in y])


@PROGRAMS.add(X)
def state_as_a_short_list(x):
    y = [x[0], x[1]]
    for _ in range(6):
        y = [y[0] + 0.1 * y[1], y[1] - 0.1 * math.sin(y[0])]
    return y[0] * y[1]


@PROGRAMS.add(X)
def two_names_for_a_list(x):
    items = []
    other = items
    for i in range(x.size):
        items.append(x[i])
        other.append(x[i] ** 2)
    copy = list(other)
    items[0] = 5.0
    return items[1] * copy[0] + other[0] * len(other)


def push(items, value):
    items.append(value * 2.0)
    items[0] += value


@PROGRAMS.add(X)
def changed_by_a_helper(x):
    items = [1.0]
    for i in range(x.size):
        push(items, x[i])
    return items[0] * items[-1] * items[2]


@PROGRAMS.add(X)
def filtered(x):
    kept = [v * v for v in x if v > 0.0]
    return sum(kept) * len(kept) + max(kept) - min(kept)


@PROGRAMS.add(X.reshape(2, 2))
def nested_comprehension(a):
    items = [a[i, j] * a[j, i] for i in range(a.shape[0]) for j in range(a.shape[1]) if i <= j]
    return items[0] + 2.0 * items[1] + 3.0 * items[2] + sum(v for v in items)


@PROGRAMS.add(X)
def walked_stack(x):
    stack = [0]
    s = 0.0
    while stack:
        i = stack.pop()
        s = math.sin(s + x[i])
        if 2 * i + 1 < x.size:
            stack.append(2 * i + 1)
        if 2 * i + 2 < x.size:
            stack.append(2 * i + 2)
    return s


@PROGRAMS.add(X)
def values_on_a_stack(x):
    stack = []
    for i in range(x.size):
        stack.append(x[i])
        if len(stack) >= 2 and i % 2 == 1:
            b = stack.pop()
            a = stack.pop()
            stack.append(a * b + 1.0)
    while len(stack) > 1:
        last = stack.pop()
        stack[-1] = stack[-1] * last
    return stack[0]


@PROGRAMS.add(X)
def inserted_in_order(x):
    ordered = []
    for v in x:
        k = 0
        while k < len(ordered) and ordered[k] < v:
            k += 1
        ordered.insert(k, v)
    ordered.pop(0)
    ordered.reverse()
    return ordered[0] + 2.0 * ordered[1] + 3.0 * ordered[2]


@PROGRAMS.add(X, compiled=True)
def sorted_numbers(x):
    items = sorted([v * v for v in x], reverse=True)
    ordered = sorted(x)
    return items[0] + 2.0 * items[1] * ordered[0] + 3.0 * items[3] * ordered[-1]


@PROGRAMS.add(X)
def list_of_tuples(x):
    pairs = []
    for i in range(x.size):
        pairs.append((x[i], i))
    s = 0.0
    for v, i in pairs:
        s += v * v * i
    return s * pairs[-1][0]


@PROGRAMS.add(X)
def slices_and_sums(x):
    items = [v * 2.0 for v in x]
    part = items[1:3] + items[:1]
    part += [x[3]]
    part.extend(x)
    return part[0] * part[3] + sum(part[::2]) * part[-1]


@PROGRAMS.add(X)
def dictionary_in_a_loop(x):
    state = {"a": 1.0, "b": 0.0}
    for i in range(x.size):
        state["b"] += x[i] * state["a"]
        if x[i] > 0.0:
            state["a"] *= 0.9
    state["c"] = state["b"] ** 2
    return sum(v for v in state.values()) * state["c"]


@PROGRAMS.add(X)
def dictionary_comprehension(x):
    named = {k: x[k] ** 2 for k in range(3)}
    total = 0.0
    for k, v in named.items():
        total += (k + 1) * v
    return total * named[2]


@PROGRAMS.add(X)
def literal_of_different_things(x):
    parts = [x[0], x * 2.0, (x[1], 3)]
    parts[0] = parts[0] * parts[2][0]
    return parts[0] * np.sum(parts[1]) * parts[2][1]


@PROGRAMS.add(X)
def list_of_layers(x):
    layers = []
    for k in range(2):
        layers.append((np.outer(x[: k + 2], x[: k + 3]), x[k]))
    u = x
    for w, b in reversed(layers):
        u = np.tanh(w @ u[: w.shape[1]]) + b
    return np.sum(u)


@PROGRAMS.add(X)
def array_of_a_list(x):
    items = []
    for i in range(x.size):
        items.append(math.sin(x[i]))
    y = np.array(items)
    y[0] = 2.0
    return np.sum(y * x) + np.mean(items) + np.sum(np.array([x[0], x[1]]) ** 2)


@PROGRAMS.add(X)
def rows_of_a_matrix(x):
    rows = []
    for i in range(3):
        rows.append(x * (i + 1.0))
    m = np.array(rows)
    return np.sum(m[1] * m[2]) * m[0, 0]


@PROGRAMS.add(X, 2)
def which_list(x, n):
    first = [x[0], x[1]]
    second = [x[2], x[3], x[0]]
    chosen = first if n > 1 else second
    best = None
    for k in range(n):
        trial = [x[k] * v for v in chosen]
        if best is None or trial[0] < best[0]:
            best = trial
    return best[0] * best[1] + len(chosen)


@PROGRAMS.add(X)
def any_and_all(x):
    if any([v > 1.0 for v in x]) and all([v > -5.0 for v in x]):
        return np.sum(x**2)
    return x[0]


@PROGRAMS.add(X.reshape(2, 2))
def any_and_all_of_an_array(a):
    return a[0, 0] ** 2 if any(a[0] > 0.0) and not all(a[1] > 1.0) else a[1, 1]


@PROGRAMS.add(X)
def appended_then_read_far_outside(x):
    out = []
    for i in range(x.size):
        inner = []
        for j in range(i + 1):
            inner.append(x[j] * x[i])
        out.append(sum(inner) * inner[-1])
    return out[0] * out[-1] + sum(out)


def from_empty_lists(x, n):
    items = []
    for i in range(n):
        items.append(x[i] * x[i + 1])
    more = list(sorted(items, reverse=True))
    more.extend(x[:n])
    total = 0.2
    for v in sorted(more):
        total = math.tanh(total * v + x[0])
    return total + sum(items[1:])


for trips in (0, 1, 3):
    PROGRAMS.add(X, trips, compiled=trips == 0)(from_empty_lists)


@PROGRAMS.add(X, 2)
def rows_of_one_shape_known_in_two_ways(x, n):
    rows = [np.zeros(4) + x[0]]
    for i in range(n):
        rows.append(np.sin(x * (i + 1.0)))
    return sum([np.sum(row * row) * row[0] for row in rows])
