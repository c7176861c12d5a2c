"""Scalar functions: operators, `math`, NumPy's twins, calls of other functions."""

import math

import numpy as np
from numba import njit

from corpus.program import Programs

PROGRAMS = Programs()


@PROGRAMS.add(1.3, -0.7, argnums=(0, 1), compiled=True)
def rational(x, y):
    return x * x * y + 3 * x - y / (x * x + 1)


@PROGRAMS.add(1.3, 3, expect=(3 * 1.69 + 3 * 1.69 + 2 * 1.3 + 2**1.3 * math.log(2) - 1 / 1.69,))
def powers(x, n):
    return x**3 + x**n + x**2 + 2.0**x + x**-1


@PROGRAMS.add(1.3, -2.5, argnums=(0, 1))
def float_power(x, y):
    return x**y + pow(x, 2.5)


@PROGRAMS.add(0.7)
def elementary(x):
    a = math.sin(x) * math.cos(x) + math.tan(x)
    b = math.exp(x) - math.log(x) * math.sqrt(x)
    return a * b + math.exp(-a)


@PROGRAMS.add(0.4, 1.8, argnums=(0, 1))
def inverse_functions(x, y):
    a = math.asin(x) + math.acos(x) * math.atan(x) + math.atan2(x, y)
    b = math.sinh(x) * math.cosh(y) - math.tanh(x * y)
    return a * b + math.asinh(x) * math.atanh(x)


@PROGRAMS.add(0.4, 1.8, argnums=(0, 1))
def more_inverse_functions(x, y):
    return math.acosh(y) * np.arctanh(x) + np.arccosh(y * y)


@PROGRAMS.add(0.6)
def special_functions(x):
    return math.erf(x) + math.erfc(2 * x) + math.gamma(1 + x) * math.lgamma(0.5 + x)


@PROGRAMS.add(0.6)
def logarithms(x):
    return math.expm1(x) + math.log1p(x) * math.log2(x) - math.log10(x)


@PROGRAMS.add(0.6, -1.7, argnums=(0, 1))
def numpy_twins(x, y):
    a = np.hypot(x, y) + np.maximum(x, y) * np.minimum(x, 2 * y)
    b = np.square(x) + np.abs(y) * np.sign(y)
    return a * b + np.arctan2(y, x) + np.arcsinh(y) * np.cosh(x)


@PROGRAMS.add(0.6, -1.7, argnums=(0, 1))
def reciprocal_and_exp2(x, y):
    return np.reciprocal(y) * np.exp2(x)


@PROGRAMS.add(0.6, -1.7, argnums=(0, 1))
def angles_and_signs(x, y):
    return np.degrees(x) * np.radians(y) + np.copysign(x, y) + math.radians(x * y)


@PROGRAMS.add(7.3, 1.9, argnums=(0, 1), expect=(2.0, -6.0))
def remainders(x, y):
    return x % y + np.mod(x, y)


@PROGRAMS.add(-7.3, 1.9, argnums=(0, 1), expect=(1.0, 3.0))
def truncated_remainder(x, y):
    return np.fmod(x, y)


@PROGRAMS.add(-7.3, 1.9, argnums=(0, 1), expect=(1.0 - 4.0, 4.0))
def quotient_and_remainder(x, y):
    q, r = divmod(x, y)
    return r + q * x


@PROGRAMS.add(2.6, expect=(2.0 + 3.0 + 2.0 + 3.0 + 2.0,))
def jumps_times_smooth(x):
    return x * (np.floor(x) + np.ceil(x) + np.trunc(x) + np.rint(x) + int(x))


@PROGRAMS.add(2.6, expect=(3.0,))
def rounded(x):
    return x * round(x)


@PROGRAMS.add(-1.2, 0.8, argnums=(0, 1))
def built_ins(x, y):
    return abs(x) * max(x, y, 0.3) + min(x, y) * float(y) + abs(y)


@PROGRAMS.add(0.4, 0.9, argnums=(0, 1))
def conditions(x, y):
    a = x * y if 0.0 < x < y else x - y
    b = y * y if x > 1.0 or y > 0.5 else x
    return a * b if not (x > y and y > 0.0) else a


@PROGRAMS.add(1.5, 3, True, argnums=(0,), expect=(3 + 1 + 2 * 1.5,))
def ints_and_bools(x, n, flag):
    s = 0
    if flag:
        s = s + x * n
    k = n // 2
    return s + k * x + x * x


@PROGRAMS.add(0.4, 2.0, argnums=(0, 1))
def selections(x, y):
    return np.where(x > 0.0, x * y, -y) + np.where(y < 0.0, x, y * y)


@PROGRAMS.add(0.4, 2.0, argnums=(0, 1), expect=(2.0, 0.4))
def scalar_clip(x, y):
    return np.clip(x * y, 0.0, 1.0)


@PROGRAMS.add(1.5, -0.5, argnums=(0, 1), expect=(1 - 0.5 + math.cos(1.5), 1.5))
def tuple_result(x, y):
    return x * y, math.sin(x), x


@PROGRAMS.add(1.5, -0.5, argnums=(0, 1), expect=(3.0, 0.0))
def unused_argument(x, y):
    return x * x


@PROGRAMS.add(1.5, 2.0, argnums=(0, 1), expect=(1.0, 0.0))
def argument_returned(x, y):
    return x


@PROGRAMS.add(1.5, expect=(0.0,))
def constant_result(x):
    return 2.5


@PROGRAMS.add(np.float32(0.7), np.float32(1.5), argnums=(0, 1))
def single_precision(x, y):
    return np.sin(x) * y + x / y


def _scaled(x, by=2.0, shift=0.0):
    return by * x + shift


@njit
def _compiled_helper(x, y):
    if x > y:
        return x * x
    return x * y


@PROGRAMS.add(0.6, 1.1, argnums=(0, 1), compiled=True)
def calls(x, y):
    def inner(u, power=2):
        return u**power + x

    twice = lambda u: 2.0 * u * y  # noqa: E731
    return inner(y) + twice(inner(x, power=3)) + _scaled(x, shift=y) + _compiled_helper(x, y)


@PROGRAMS.add((0.5, (2.0, -1.0)), 3.0, argnums=(0, 1))
def tuple_argument(p, x):
    a, (b, c) = p
    return a * x * x + b * x * c
