"""Elementary functions of one or two real numbers. Derivatives: DLMF chapter 4."""

import math

import numpy as np

from srcad.ops.arithmetic import PAIRS, POINTS
from srcad.ops.declaration import Samples, declare
from srcad.ops.promotion import inexact
from srcad.ops.symbol import Sym

POSITIVE: Samples = ((0.3,), (1.7,), (4.0,))
INSIDE: Samples = ((-0.7,), (0.1,), (0.6,), (0.999,))


def _sum_of_squares(x: Sym, y: Sym) -> Sym:
    return x * x + y * y


def _one_minus_square(x: Sym) -> Sym:
    """1 - x * x without its cancellation near 1."""
    return (1.0 - x) * (1.0 + x)


# -- roots, exponentials, logarithms

declare(
    "sqrt", (np.sqrt, math.sqrt), lambda x, out: 0.5 / out,
    typing=inexact, numpy=np.sqrt, samples=POSITIVE, pole=True,
)  # fmt: skip
declare(
    "cbrt", (np.cbrt, math.cbrt), lambda x, out: (1.0 / 3.0) / (out * out),
    emit="np.cbrt({0})", typing=inexact, numpy=np.cbrt, samples=POINTS, pole=True, vector="cbrt",
)  # fmt: skip
declare(
    "exp", (np.exp, math.exp), lambda x, out: out,
    typing=inexact, numpy=np.exp, samples=POINTS, vector="exp", source="DLMF 4.7.7",
)  # fmt: skip
declare(
    "exp2", (np.exp2, math.exp2), lambda x, out: math.log(2.0) * out,
    emit="np.exp2({0})", typing=inexact, numpy=np.exp2, samples=POINTS, vector="exp2",
)  # fmt: skip
declare(
    "expm1", (np.expm1, math.expm1), lambda x, out: out + 1.0,
    typing=inexact, numpy=np.expm1, samples=POINTS, vector="expm1",
)  # fmt: skip
declare(
    "log", (np.log, math.log), lambda x, out: 1.0 / x,
    typing=inexact, numpy=np.log, samples=POSITIVE, pole=True,
    unbounded=True, vector="log", source="DLMF 4.7.1",
)  # fmt: skip
declare(
    "log1p", (np.log1p, math.log1p), lambda x, out: 1.0 / (1.0 + x),
    typing=inexact, numpy=np.log1p, samples=INSIDE, pole=True, unbounded=True, vector="log1p",
)  # fmt: skip
declare(
    "log2", (np.log2, math.log2), lambda x, out: (1.0 / math.log(2.0)) / x,
    typing=inexact, numpy=np.log2, samples=POSITIVE, pole=True, unbounded=True, vector="log2",
)  # fmt: skip
declare(
    "log10", (np.log10, math.log10), lambda x, out: (1.0 / math.log(10.0)) / x,
    typing=inexact, numpy=np.log10, samples=POSITIVE, pole=True, unbounded=True, vector="log10",
)  # fmt: skip

# -- trigonometry: DLMF 4.20, 4.24

declare(
    "sin", (np.sin, math.sin), lambda x, out: x.op("cos"),
    typing=inexact, numpy=np.sin, samples=POINTS, vector="sin", source="DLMF 4.20.1",
)  # fmt: skip
declare(
    "cos", (np.cos, math.cos), lambda x, out: -x.op("sin"),
    typing=inexact, numpy=np.cos, samples=POINTS, vector="cos", source="DLMF 4.20.2",
)  # fmt: skip
declare(
    "tan", (np.tan, math.tan), lambda x, out: 1.0 + out * out,
    typing=inexact, numpy=np.tan, samples=POINTS, vector="tan", source="DLMF 4.20.3",
)  # fmt: skip
declare(
    "arcsin", (np.arcsin, math.asin), lambda x, out: 1.0 / _one_minus_square(x).op("sqrt"),
    emit="math.asin({0})", typing=inexact, numpy=np.arcsin, samples=INSIDE, pole=True,
    vector="asin", source="DLMF 4.24.7",
)  # fmt: skip
declare(
    "arccos", (np.arccos, math.acos), lambda x, out: -1.0 / _one_minus_square(x).op("sqrt"),
    emit="math.acos({0})", typing=inexact, numpy=np.arccos, samples=INSIDE, pole=True,
    vector="acos", source="DLMF 4.24.8",
)  # fmt: skip
declare(
    "arctan", (np.arctan, math.atan), lambda x, out: 1.0 / (1.0 + x * x),
    emit="math.atan({0})", typing=inexact, numpy=np.arctan, samples=POINTS,
    vector="atan", source="DLMF 4.24.9",
)  # fmt: skip
declare(
    "arctan2", (np.arctan2, math.atan2),
    lambda y, x, out: x / _sum_of_squares(x, y), lambda y, x, out: -y / _sum_of_squares(x, y),
    emit="math.atan2({0}, {1})", typing=inexact, numpy=np.arctan2, samples=PAIRS, pole=True,
    vector="atan2",
)  # fmt: skip
declare(
    "hypot", (np.hypot, math.hypot),
    lambda x, y, out: (x / out).where(out.op("ne", 0.0), 0.0),
    lambda x, y, out: (y / out).where(out.op("ne", 0.0), 0.0),
    typing=inexact, numpy=np.hypot, samples=PAIRS, vector="hypot",
)  # fmt: skip
declare(
    "degrees", (np.degrees, np.rad2deg, math.degrees), lambda x, out: x.constant(180.0 / math.pi),
    emit="math.degrees({0})", typing=inexact, numpy=np.degrees, samples=POINTS,
)  # fmt: skip
declare(
    "radians", (np.radians, np.deg2rad, math.radians), lambda x, out: x.constant(math.pi / 180.0),
    emit="math.radians({0})", typing=inexact, numpy=np.radians, samples=POINTS,
)  # fmt: skip

# -- hyperbolic functions: DLMF 4.34, 4.38

declare(
    "sinh", (np.sinh, math.sinh), lambda x, out: x.op("cosh"),
    typing=inexact, numpy=np.sinh, samples=POINTS, vector="sinh", source="DLMF 4.34.7",
)  # fmt: skip
declare(
    "cosh", (np.cosh, math.cosh), lambda x, out: x.op("sinh"),
    typing=inexact, numpy=np.cosh, samples=POINTS, vector="cosh", source="DLMF 4.34.8",
)  # fmt: skip
declare(
    "tanh", (np.tanh, math.tanh), lambda x, out: 1.0 - out * out,
    typing=inexact, numpy=np.tanh, samples=POINTS, vector="tanh", source="DLMF 4.34.9",
)  # fmt: skip
declare(
    "arcsinh", (np.arcsinh, math.asinh), lambda x, out: 1.0 / (1.0 + x * x).op("sqrt"),
    emit="math.asinh({0})", typing=inexact, numpy=np.arcsinh, samples=POINTS,
    vector="asinh", source="DLMF 4.38.9",
)  # fmt: skip
declare(
    "arccosh", (np.arccosh, math.acosh),
    lambda x, out: 1.0 / ((x - 1.0) * (x + 1.0)).op("sqrt"),
    emit="math.acosh({0})", typing=inexact, numpy=np.arccosh,
    samples=((1.001,), (1.7,), (4.0,)), pole=True, vector="acosh", source="DLMF 4.38.10",
)  # fmt: skip
declare(
    "arctanh", (np.arctanh, math.atanh), lambda x, out: 1.0 / _one_minus_square(x),
    emit="math.atanh({0})", typing=inexact, numpy=np.arctanh, samples=INSIDE, pole=True,
    unbounded=True,
    vector="atanh", source="DLMF 4.38.11",
)  # fmt: skip
