"""Models as people write them, each at any size: what their adjoints cost is measured here."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True)
class Workload:
    """`inputs(scale)` are the arguments; the work of the function grows as `scale ** power`."""

    function: Callable[..., Any]
    inputs: Callable[[int], tuple[Any, ...]]
    power: int = 1

    @property
    def name(self) -> str:
        return self.function.__name__


def burgers(u0, steps, c, d):
    n = u0.size
    u, before = u0.copy(), np.empty(n)
    for _ in range(steps):
        before[:] = u
        for i in range(1, n - 1):
            u[i] = (
                before[i]
                - c * before[i] * (before[i] - before[i - 1])
                + d * (before[i + 1] - 2.0 * before[i] + before[i - 1])
            )
    return np.sum(u * u)


def burgers_inputs(scale: int) -> tuple[Any, ...]:
    return 1.0 + 0.5 * np.sin(np.linspace(0.0, 6.0, 100)), 50 * scale, 0.1, 0.2


def heat_in_arrays(u0, steps, d):
    u, v = u0.copy(), u0.copy()
    for _ in range(steps):
        v[1:-1] = u[1:-1] + d * np.sin(u[2:] - 2.0 * u[1:-1] + u[:-2])
        u, v = v, u
    return np.sum(u * u)


def heat_inputs(scale: int) -> tuple[Any, ...]:
    return 1.0 + 0.5 * np.sin(np.linspace(0.0, 6.0, 100)), 50 * scale, 0.2


def mixture(alphas, means, factors, x):
    k, d = means.shape
    scales = np.exp(factors[:, :d])
    q, terms = np.empty(d), np.empty(k)
    total = 0.0
    for p in range(x.shape[0]):
        for a in range(k):
            for i in range(d):
                q[i] = scales[a, i] * (x[p, i] - means[a, i])
            at = d
            for i in range(d):
                for j in range(i + 1, d):
                    q[j] += factors[a, at] * (x[p, i] - means[a, i])
                    at += 1
            terms[a] = alphas[a] + np.sum(factors[a, :d]) - 0.5 * np.sum(q * q)
        largest = np.max(terms)
        total += largest + math.log(np.sum(np.exp(terms - largest)))
    return total


def mixture_inputs(scale: int) -> tuple[Any, ...]:
    r = np.random.default_rng(1)
    k, d = 4, 3
    points = r.standard_normal((60 * scale, d))
    return r.standard_normal(k), r.random((k, d)), r.standard_normal((k, d * (d + 1) // 2)), points


def perceptron(w1, b1, w2, b2, x, labels):
    z = np.tanh(x @ w1 + b1) @ w2 + b2
    loss = 0.0
    for i in range(z.shape[0]):
        shifted = z[i] - np.max(z[i])
        loss += np.log(np.sum(np.exp(shifted))) - shifted[labels[i]]
    return loss / z.shape[0]


def perceptron_inputs(scale: int) -> tuple[Any, ...]:
    r = np.random.default_rng(10)
    weights = (
        r.standard_normal((20, 16)) / 4.0,
        np.zeros(16),
        r.standard_normal((16, 5)),
        np.ones(5),
    )
    return *weights, r.random((100 * scale, 20)), r.integers(0, 5, 100 * scale)


def asian_option(p, normals, strike, expiry):
    spot, sigma, rate = p[0], p[1], p[2]
    n, m = normals.shape
    drift = (rate - 0.5 * sigma * sigma) * (expiry / m)
    width = sigma * math.sqrt(expiry / m)
    total = 0.0
    for i in range(n):
        s, average = spot, 0.0
        for t in range(m):
            s *= math.exp(drift + width * normals[i, t])
            average += s
        average /= m
        if average > strike:
            total += average - strike
    return math.exp(-rate * expiry) * total / n


def asian_inputs(scale: int) -> tuple[Any, ...]:
    normals = np.random.default_rng(12).standard_normal((250 * scale, 40))
    return np.array([100.0, 0.2, 0.05]), normals, 100.0, 1.0


def pair_energy(positions, softening):
    n = positions.shape[0]
    energy = 0.0
    for i in range(n):
        for j in range(i + 1, n):
            square = softening
            for k in range(3):
                square += (positions[i, k] - positions[j, k]) ** 2
            energy -= 1.0 / math.sqrt(square)
    return energy


def pair_inputs(scale: int) -> tuple[Any, ...]:
    return np.random.default_rng(9).standard_normal((60 * scale, 3)), 0.01


def predators(p, steps, h):
    def slope(x, y):
        return p[0] * x - p[1] * x * y, p[3] * x * y - p[2] * y

    x, y, s = p[4], p[5], 0.0
    for _ in range(steps):
        k1 = slope(x, y)
        k2 = slope(x + 0.5 * h * k1[0], y + 0.5 * h * k1[1])
        x, y = x + h * k2[0], y + h * k2[1]
        s += (x - 8.0) ** 2 + (y - 5.0) ** 2
    return s / steps


def predators_inputs(scale: int) -> tuple[Any, ...]:
    return np.array([1.1, 0.4, 0.4, 0.1, 10.0, 5.0]), 5000 * scale, 0.002


def rosenbrock(x):
    s = 0.0
    for i in range(x.size - 1):
        t = x[i + 1] - x[i] * x[i]
        s += 100.0 * t * t + (1.0 - x[i]) ** 2
    return s


def rosenbrock_inputs(scale: int) -> tuple[Any, ...]:
    return (np.random.default_rng(5).standard_normal(10_000 * scale),)


WORKLOADS = [
    Workload(burgers, burgers_inputs),
    Workload(heat_in_arrays, heat_inputs),
    Workload(mixture, mixture_inputs),
    Workload(perceptron, perceptron_inputs),
    Workload(asian_option, asian_inputs),
    Workload(pair_energy, pair_inputs, power=2),
    Workload(predators, predators_inputs),
    Workload(rosenbrock, rosenbrock_inputs),
]
