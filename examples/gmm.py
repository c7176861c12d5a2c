"""Fits a full-covariance Gaussian mixture to Fisher's iris measurements.

The parametrisation is that of ADBench: `alphas` (k,) are unnormalised log-weights, `means` (k, d);
each row of `factors` (k, d (d + 1) / 2) holds a lower triangular Q with inverse covariance QᵀQ: the
logarithms of its diagonal, then what is below the diagonal by columns. A Wishart prior keeps
components from collapsing on a few points.
"""

import itertools
import math
import time
from pathlib import Path

import numpy as np
from numba import njit
from scipy.optimize import minimize

from srcad import value_and_grad

DATA = Path(__file__).parent / "data" / "iris.csv"
GAMMA, DEGREES = 0.1, 0  # of the Wishart prior: inverse scale, degrees of freedom beyond d + 1
STARTS = 8


@njit
def log_sum_exp(terms):
    largest = np.max(terms)
    return largest + math.log(np.sum(np.exp(terms - largest)))


@njit
def component_terms(alphas, means, factors, point):
    """Logarithms of each component's weight times its density at a point, up to constants."""
    k, d = means.shape
    terms = np.empty(k)
    for a in range(k):
        centred = point - means[a]
        q = np.exp(factors[a, :d]) * centred
        at = d
        for i in range(d):
            for j in range(i + 1, d):
                q[j] += factors[a, at] * centred[i]
                at += 1
        terms[a] = alphas[a] + np.sum(factors[a, :d]) - 0.5 * np.sum(q * q)
    return terms


@njit
def log_likelihood(alphas, means, factors, x):
    n, d = x.shape
    total = -n * (0.5 * d * math.log(2.0 * math.pi) + log_sum_exp(alphas))
    for p in range(n):
        total += log_sum_exp(component_terms(alphas, means, factors, x[p]))
    return total


@njit
def negative_log_posterior(alphas, means, factors, x, gamma, degrees):
    d = x.shape[1]
    prior = 0.0
    for a in range(means.shape[0]):
        diagonal = np.exp(factors[a, :d])
        squares = np.sum(diagonal * diagonal) + np.sum(factors[a, d:] ** 2)
        prior += degrees * np.sum(factors[a, :d]) - 0.5 * gamma * gamma * squares
    return -log_likelihood(alphas, means, factors, x) - prior


derivative = value_and_grad(negative_log_posterior, argnums=(0, 1, 2))


def unpacked(theta, k, d):
    means_end = k + k * d
    return theta[:k], theta[k:means_end].reshape(k, d), theta[means_end:].reshape(k, -1)


def objective(theta, x, k):
    """Value and gradient for SciPy, which wants one vector."""
    value, parts = derivative(*unpacked(theta, k, x.shape[1]), x, GAMMA, DEGREES)
    return value, np.concatenate([part.ravel() for part in parts])


def start(x, k, random):
    d = x.shape[1]
    means = x[random.choice(len(x), k, replace=False)]
    factors = np.zeros((k, d * (d + 1) // 2))
    factors[:, :d] = -np.log(np.std(x, axis=0))
    return np.concatenate([np.zeros(k), means.ravel(), factors.ravel()])


def fit(x, k):
    random = np.random.default_rng(0)
    runs = [
        minimize(objective, start(x, k, random), (x, k), jac=True, method="L-BFGS-B")
        for _ in range(STARTS)
    ]
    return min(runs, key=lambda run: run.fun)


def clusters(parameters, x):
    return np.array([np.argmax(component_terms(*parameters, point)) for point in x])


def agreement(found, labels, k):
    """The share of points whose cluster is their species', under the best naming of clusters."""
    namings = (np.array(order) for order in itertools.permutations(range(k)))
    return max(float(np.mean(naming[found] == labels)) for naming in namings)


def gradient_error(theta, x, k):
    """The largest difference from central differences, relative to the largest slope."""
    step = 1e-5
    slopes = np.empty(theta.size)
    for i in range(theta.size):
        ahead, behind = theta.copy(), theta.copy()
        ahead[i] += step
        behind[i] -= step
        slopes[i] = (objective(ahead, x, k)[0] - objective(behind, x, k)[0]) / (2 * step)
    return np.max(np.abs(slopes - objective(theta, x, k)[1])) / np.max(np.abs(slopes))


def microseconds(call, repeat=200):
    """The best of three rounds, per call, after a first call that compiles."""
    call()
    rounds = []
    for _ in range(3):
        begin = time.perf_counter()
        for _ in range(repeat):
            call()
        rounds.append((time.perf_counter() - begin) / repeat)
    return 1e6 * min(rounds)


def main():
    table = np.loadtxt(DATA, dtype=str, delimiter=",", skiprows=1)
    x, (names, labels) = table[:, :4].astype(float), np.unique(table[:, 4], return_inverse=True)
    k = len(names)

    begin = start(x, k, np.random.default_rng(1))
    print(f"gradient against central differences: {gradient_error(begin, x, k):.1e} relative")

    found = fit(x, k)
    parameters = unpacked(found.x, k, x.shape[1])
    print(f"log-likelihood {log_likelihood(*parameters, x):.2f} after {found.nit} iterations")
    assigned = clusters(parameters, x)
    for s, name in enumerate(names):
        counts = np.bincount(assigned[labels == s], minlength=k)
        print(f"  {name:10} in clusters: {'  '.join(f'{count:3d}' for count in counts)}")
    print(f"clusters agree with species: {100 * agreement(assigned, labels, k):.1f} %")

    both = microseconds(lambda: derivative(*parameters, x, GAMMA, DEGREES))
    alone = microseconds(lambda: negative_log_posterior(*parameters, x, GAMMA, DEGREES))
    print(f"value and gradient {both:.0f} µs, value alone {alone:.0f} µs: {both / alone:.1f} times")


if __name__ == "__main__":
    main()
