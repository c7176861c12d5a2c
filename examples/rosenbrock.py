"""Minimises Rosenbrock's function of 50 variables with SciPy, on srcad's value and gradient."""

import numpy as np
from scipy.optimize import minimize

from srcad import value_and_grad


def rosenbrock(x):
    s = 0.0
    for i in range(x.size - 1):
        a = x[i + 1] - x[i] * x[i]
        s += 100.0 * a * a + (1.0 - x[i]) ** 2
    return s


def main() -> None:
    start = np.linspace(-1.0, 1.0, 50)
    objective = value_and_grad(rosenbrock)
    _, gradient = objective(start)
    step = np.zeros(50)
    step[7] = 1e-6
    difference = (rosenbrock(start + step) - rosenbrock(start - step)) / 2e-6
    print(f"slope in x[7]: {gradient[7]:.8f}, by differences {difference:.8f}")
    found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": 2000})
    print(f"minimum {found.fun:.2e}, largest distance from 1: {np.max(np.abs(found.x - 1.0)):.1e}")


if __name__ == "__main__":
    main()
