"""Digamma, trigamma and the higher derivatives of log gamma, in double precision.

Plain Python that Numba compiles too (`runtime.special`). Method: recurrence up to where the
asymptotic series has converged (DLMF 5.5.2, 5.11.2; for n >= 1 the Euler-Maclaurin series of
Hurwitz' zeta function, 25.11.28), reflection for negative arguments (5.5.4).
"""

import math

SHIFTED = 12.0  # from here on eight terms of the series reach rounding
# B(2k) / (2k)!, k = 1 ... 10: DLMF table 24.2.3
BERNOULLI = (
    1.0 / 12.0,
    -1.0 / 720.0,
    1.0 / 30240.0,
    -1.0 / 1209600.0,
    1.0 / 47900160.0,
    -691.0 / 1307674368000.0,
    1.0 / 74724249600.0,
    -3617.0 / 10670622842880000.0,
)


def digamma(x: float) -> float:
    """The derivative of log gamma; nan at negative integers, infinite at 0."""
    x = float(x)
    if x <= 0.0:
        if x == 0.0:
            return -math.copysign(math.inf, x)
        fraction = x - math.floor(x)
        if fraction == 0.0 or math.isinf(x):
            return math.nan
        return _digamma_above(1.0 - x) - math.pi / math.tan(math.pi * fraction)
    return _digamma_above(x)


def _digamma_above(x: float) -> float:
    """For x > 0."""
    shift = 0.0
    while x < SHIFTED:
        shift += 1.0 / x
        x += 1.0
    if math.isinf(x):
        return x
    z = 1.0 / (x * x)
    tail = z * (1.0 / 12.0 - z * (1.0 / 120.0 - z * (1.0 / 252.0 - z * (1.0 / 240.0 - z * (
        1.0 / 132.0 - z * (691.0 / 32760.0 - z * (1.0 / 12.0)))))))  # fmt: skip
    return math.log(x) - 0.5 / x - tail - shift


def trigamma(x: float) -> float:
    """The second derivative of log gamma."""
    return polygamma(1, x)


def polygamma(n: int, x: float) -> float:
    """The derivative of order n >= 0 of digamma; at a pole inf for odd n, nan for even n."""
    x = float(x)
    if n == 0:
        return digamma(x)
    factorial = 1.0
    for k in range(2, n + 1):
        factorial *= k
    sign = 1.0 if n % 2 == 1 else -1.0
    if x > 0.0 or math.isnan(x):
        return sign * factorial * zeta(n + 1, x)
    fraction = x - math.floor(x)
    if fraction == 0.0 or math.isinf(x):
        return math.inf if n % 2 == 1 and not math.isinf(x) else math.nan
    # the terms (x + k) ** -(n + 1) on the right of 0, then those on the left, of which zeta gives
    # all up to infinity
    left = zeta(n + 1, 1.0 - fraction) - zeta(n + 1, 1.0 - x)
    return sign * factorial * (zeta(n + 1, fraction) + sign * left)


def zeta(s: int, q: float) -> float:
    """Hurwitz' zeta function, the sum of (q + k) ** -s over k >= 0, for s >= 2 and q > 0."""
    total: float = 0.0
    top = SHIFTED + s
    while q < top:
        total += math.pow(q, -s)
        q += 1.0
    if math.isinf(q):
        return 0.0
    term = math.pow(q, -s)
    total += term * (q / (s - 1.0) + 0.5)
    factor = s * term / q
    for k in range(len(BERNOULLI)):
        total += BERNOULLI[k] * factor
        factor *= (s + 2.0 * k + 1.0) * (s + 2.0 * k + 2.0) / (q * q)
    return total
