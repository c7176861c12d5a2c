"""Programs that are a wrong number in some plausible design."""

import math
import types

import numpy as np

from corpus.program import Programs

PROGRAMS = Programs()

BOX = 0.7
ON_EDGE = BOX * np.arange(-20.0, 21.0)


@PROGRAMS.add(ON_EDGE, BOX, expect=(np.ones(41),), kink=True, compiled=True)
def periodic_images(p, box):
    r = np.zeros(p.size)
    for i in range(p.size):
        r[i] = p[i] - box * np.floor(p[i] / box)
    return r


PERIODS = np.arange(1.0, 61.0)


@PROGRAMS.add(49.0 * PERIODS, 49.0, expect=(PERIODS,), kink=True, compiled=True)
def whole_periods(p, box):
    total = 0.0
    for i in range(p.size):
        total += p[i] * np.floor(p[i] / box)
    return total


@PROGRAMS.add(
    np.array([1.0, 0.6, 0.25, -0.5, 1.7]),
    0.1,
    argnums=(0, 1),
    expect=(np.ones(5), -0.5 * (9 + 5 + 2 - 5 + 16)),
    kink=True,
    compiled=True,
)
def remainder_on_grid(x, h):
    out = np.zeros(x.size)
    for i in range(x.size):
        out[i] = x[i] % h + 0.5 * h * (x[i] // h)
    return out


@PROGRAMS.add(
    np.array([0.5, 1.5, 2.5, -0.5]),
    expect=(np.array([0.0, 2.0, 2.0, 0.0]),),
    kink=True,
    compiled=True,
)
def halves_rounded(x):
    s = 0.0
    for i in range(x.size):
        s += x[i] * np.rint(x[i])
    return s


@PROGRAMS.add(
    np.array([1.0, 2.0, 0.5]),
    np.array([0.0, 1.0, 3.0]),
    argnums=(0,),
    expect=(1.0 + 2.0 * np.array([2.0 + 0.5 / 9.0, 1.0 + 0.5 / 4.0, 1.0 / 9.0 + 2.0 / 4.0]),),
    kink=True,
    compiled=True,
)
def masked_inverse_square(m, x):
    """The diagonal is infinite before it is zeroed; m is the other factor."""
    n = x.size
    w = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            w[i, j] = m[j] / (x[i] - x[j]) ** 2
    for i in range(n):
        w[i, i] = 0.0
    total = 0.0
    for i in range(n):
        for j in range(n):
            total += m[i] * w[i, j]
    return total + np.sum(m)


@PROGRAMS.add(
    np.array([1.0, 2.0, 0.5]),
    np.array([0.0, 1.0, 3.0]),
    argnums=(0, 1),
    expect=(
        np.array([7.79320987654321, 5.029513888888889, -0.044753086419753084]),
        np.array([23.641975308641975, -23.57638888888889, -0.06558641975308642]),
    ),
    kink=True,
)
def pair_weights_diagonal(m, x):
    d = x[:, None] - x[None, :]
    w = m[None, :] / d**2
    for i in range(x.size):
        w[i, i] = 0.0
    force = (w * np.sign(d)).sum(axis=1)
    return (m * force * force).sum()


@PROGRAMS.add(3.0, np.zeros(0), argnums=(0, 1), expect=(6.0, np.zeros(0)), compiled=True)
def zero_trip_offset(x, w):
    total = x * x
    for i in range(w.size - 2):
        total += w[i + 2] * w[i] * x
    return total


@PROGRAMS.add(np.array([0.3, 0.8]), 3, compiled=True)
def name_rebound_in_loop(u0, steps):
    u = u0
    for _ in range(steps):
        u = u + 0.1 * u * u
    return u


@PROGRAMS.add(np.array([0.3, -0.8, 0.5]), mutates=True, compiled=True)
def writes_into_argument(x):
    for i in range(1, x.size):
        x[i] = x[i] * x[i - 1] + 1.0
    return x * x


CONFIG = types.SimpleNamespace(nu=0.5, steps=2)


@PROGRAMS.add(1.0, expect=(0.0,))
def reads_attributes(x):
    for _ in range(CONFIG.steps):
        x = x - CONFIG.nu * x * x
    return x


@PROGRAMS.add(
    np.array([1.5, 0.3, 0.4]),
    np.array([0.4, 1.3, 2.9, 4.1]),
    np.array([1.0, 0.2, -1.4, -0.9]),
    expect=(np.array([-2.8238768434776116, -2.0188040398256546, -7.245033772340576]),),
    compiled=True,
)
def kepler_likelihood(p, times, data):
    sigma = p[2]
    if sigma <= 0.0:
        return -np.inf
    if p[1] < 0.0 or p[1] >= 1.0:
        return -np.inf
    total = 0.0
    for i in range(times.size):
        angle = times[i]
        step = 1.0
        while abs(step) > 1e-10:
            step = (angle - p[1] * np.sin(angle) - times[i]) / (1.0 - p[1] * np.cos(angle))
            angle = angle - step
        r = (data[i] - p[0] * np.cos(angle)) / sigma
        total += -0.5 * r * r - np.log(sigma)
    return total


@PROGRAMS.add(
    np.array([[0.5, -0.3], [0.2, 0.8], [-0.6, 0.1]]),
    np.array([[0.4, -0.2, 0.7], [0.3, 0.9, -0.5]]),
    np.array([[1.2, -0.7]]),
    np.array([0.8, -0.4]),
    argnums=(0, 1, 2, 3),
    expect=(
        np.array(
            [
                [0.17221690944511317, -0.08610845472255658],
                [-0.6128149052020483, 0.30640745260102414],
                [0.69095330039485, -0.345476650197425],
            ]
        ),
        np.array(
            [
                [0.6695362984633286, -0.06797178752058766, -0.4377425354858597],
                [-0.3556082858406545, 0.03610159882473536, 0.23249653983053528],
            ]
        ),
        np.array([[0.0757768335509756, 0.3863769176547143]]),
        np.array([-0.5637831331934539, -0.5910270836946094]),
    ),
    compiled=True,
)
def tuple_of_matrices(w0, w1, w2, x):
    ws = (w0, w1, w2)
    h = x
    for i in range(len(ws)):
        h = np.tanh(ws[i] @ h) + 0.1
    return h[0]


@PROGRAMS.add(0.3, 0.2, 3, argnums=(0, 1), expect=(1.1588696693851168, 0.6408198351608807))
def tuple_of_floats(u0, dt, steps):
    a = (0.0, -0.5, -1.25)
    b = (0.25, 0.875, 0.5)
    u = u0
    for _ in range(steps):
        slope = 0.0
        for s in range(3):
            slope = a[s] * slope + dt * (u - u * u)
            u = u + b[s] * slope
    return u


@PROGRAMS.add(0.0, expect=(0.0,), kink=True)
def abs_at_zero(x):
    return abs(x)


@PROGRAMS.add(0.7, 0.7, argnums=(0, 1), expect=(1.0, 1.0), kink=True)
def tied_extremes(x, y):
    return np.maximum(x, y) + np.minimum(x, y)


@PROGRAMS.add(0.0, expect=(0.0,), kink=True)
def zero_times_infinite_slope(x):
    return 0.0 * math.sqrt(x)


@PROGRAMS.add(0.0, expect=(0.0,), kink=True)
def infinite_slope_of_zero(x):
    return math.sqrt(0.0 * x)


@PROGRAMS.add(np.array([0.0, 2.0]), 0.0, argnums=(0, 1), kink=True, second=False, compiled=True)
def masked_poles_in_a_loop(x, w):
    """Second derivatives are truly infinite here: w ** 1.5 and w * sqrt(x) at 0."""
    s = 0.0
    for i in range(x.size):
        s += w * math.sqrt(x[i]) + math.sqrt(w * x[i]) * w
    return s


@PROGRAMS.add(np.array([0.0, 0.25]), expect=(np.array([np.inf, 1.0]),), kink=True, pole=True)
def sqrt_at_zero(x):
    return np.sqrt(x)


@PROGRAMS.add(np.array([-1.0, 4.0]), expect=(np.array([0.0, 0.25]),), kink=True)
def untaken_nan(x):
    s = 0.0
    for i in range(x.size):
        s += np.sqrt(x[i]) if x[i] > 0.0 else 0.0
    return s


@PROGRAMS.add(np.array([-1.0, 4.0]), expect=(np.array([0.0, 0.25]),), kink=True)
def where_untaken_nan(x):
    return np.sum(np.where(x > 0.0, np.sqrt(x), 0.0))


@PROGRAMS.add(np.array([1.0, 3.0, 3.0]), kink=True)
def tied_reduction(x):
    return np.max(x)


@PROGRAMS.add(2.0, 0.0, argnums=(0, 1), expect=(0.0, math.log(2.0)), kink=True)
def power_zero(x, y):
    return x**y


@PROGRAMS.add(0.0, expect=(0.0,))
def constant_power_at_zero(x):
    return x**0 + x**2


@PROGRAMS.add(0.0, expect=(0.0,), kink=True)
def flat_behind_an_infinite_value(x):
    """exp(-1/x**2) with all its derivatives is 0 at 0; 1/x is infinite on the way."""
    return math.exp(-1.0 / (x * x))


@PROGRAMS.add(0.0, expect=(0.0,), kink=True)
def slope_of_a_root_masked_outside(x):
    return np.tanh(0.0 * math.sqrt(3.0 * x) + 1.0 / (1.0 + x * x))
