"""Arithmetic: operators, powers, remainders, rounding, extremes. Kinks: DESIGN section 10."""

import math
import operator
from typing import Any

import numpy as np

from srcad.ops.declaration import ADD, MULTIPLY, POWER, UNARY, Samples, declare
from srcad.ops.promotion import inexact, number, power_of_integer, same
from srcad.ops.symbol import Sym

POINTS: Samples = ((-1.3,), (0.4,), (2.1,))
PAIRS: Samples = ((1.3, -0.7), (-2.0, 0.5), (0.25, 3.0))
FRACTIONS: Samples = ((-1.6,), (-0.2,), (0.3,), (2.7,))
QUOTIENTS: Samples = ((7.5, 2.0), (-7.5, 2.0), (7.5, -2.0), (-1.0, 4.0))


def one(x: Sym, *_: Sym) -> Sym:
    return x.constant(1.0)


def minus_one(x: Sym, *_: Sym) -> Sym:
    return x.constant(-1.0)


declare(
    "add", (operator.add, np.add), one, one,
    emit="{0} + {1}", level=ADD, typing=number, numpy=np.add, samples=PAIRS,
)  # fmt: skip
declare(
    "sub", (operator.sub, np.subtract), one, minus_one,
    emit="{0} - {1}", level=ADD, typing=number, numpy=np.subtract, samples=PAIRS,
)  # fmt: skip
declare(
    "mul", (operator.mul, np.multiply), lambda x, y, out: y, lambda x, y, out: x,
    emit="{0} * {1}", level=MULTIPLY, typing=number, numpy=np.multiply, samples=PAIRS,
)  # fmt: skip
declare(
    "div", (operator.truediv, np.divide), lambda x, y, out: 1.0 / y, lambda x, y, out: -(out / y),
    emit="{0} / {1}", level=MULTIPLY, typing=inexact, numpy=np.divide, samples=PAIRS,
    pole=True, unbounded=True, tame=lambda x, y: y is not None and y != 0,
)  # fmt: skip
declare(
    "neg", (operator.neg, np.negative), minus_one,
    emit="-{0}", level=UNARY, typing=number, numpy=np.negative, samples=POINTS,
)  # fmt: skip
declare(
    "square", (np.square,), lambda x, out: 2.0 * x,
    emit="{0} * {0}", level=MULTIPLY, typing=number, numpy=np.square, samples=POINTS,
)  # fmt: skip
declare(
    "reciprocal", (np.reciprocal,), lambda x, out: -(out * out),
    emit="np.reciprocal({0})", typing=number, numpy=np.reciprocal, samples=POINTS, pole=True,
    unbounded=True,
)  # fmt: skip

# -- powers


def _power_base(x: Sym, y: Sym, out: Sym) -> Sym:
    """0 for y = 0, also at x = 0."""
    return (y * x.op("pow", y - 1.0)).where(y.op("ne", 0.0), 0.0)


def _power_exponent(x: Sym, y: Sym, out: Sym) -> Sym:
    """0 at x = 0, where log x is infinite; nan for x < 0, where no derivative exists."""
    return (out * x.op("log")).where(x.op("ne", 0.0), 0.0)


def _tame_power(x: float | None, y: float | None) -> bool:
    """A polynomial in x, or an exponential function of y."""
    if y is not None:
        return y >= 0 and y == math.floor(y)
    return x is not None and x > 0


declare(
    "pow", (operator.pow, np.power, math.pow), _power_base, _power_exponent,
    emit="{0} ** {1}", level=POWER, typing=number, numpy=np.power,
    samples=((1.3, -0.7), (2.0, 0.5), (0.25, 3.0), (1.7, 1.0)), pole=True, tame=_tame_power,
    vector="pow",
)  # fmt: skip
declare(
    "powi", (),
    lambda x, n, out: (n.like(x) * x.op("powi", n - 1)).where(n.op("ne", 0), 0.0), None,
    emit="{0} ** {1}", level=POWER, typing=power_of_integer, numpy=np.power,
    samples=((1.3, 3), (-2.0, 2), (0.7, -2), (0.0, 1), (0.0, 0), (-1.5, 0)), pole=True,
    unbounded=True,
    tame=lambda x, n: n is not None and n >= 0,
)  # fmt: skip

# -- quotients and remainders: Python's and NumPy's `//` is the quotient that belongs to `%`


def _minus_quotient(x: Sym, y: Sym, out: Sym) -> Sym:
    """The whole number q of out = x - q y, from `out` itself, so that it cannot jump again."""
    return -(((x - out) / y).op("rint"))


def truncated_quotient(x: Any, y: Any) -> Any:
    """The quotient that belongs to fmod."""
    return np.trunc(x / y)


declare(
    "floordiv", (operator.floordiv, np.floor_divide), None, None,
    emit="floordiv({0}, {1})", typing=number, numpy=np.floor_divide, samples=QUOTIENTS, jumps=True,
)  # fmt: skip
declare(
    "truncdiv", (), None, None,
    emit="truncdiv({0}, {1})", typing=number, numpy=truncated_quotient, samples=QUOTIENTS,
    jumps=True,
)  # fmt: skip
declare(
    "mod", (operator.mod, np.mod), one, _minus_quotient,
    emit="mod({0}, {1})", typing=number, numpy=np.mod, samples=QUOTIENTS,
    pole=True, unbounded=True, jumps=True,
)  # fmt: skip
declare(
    "fmod", (np.fmod, math.fmod), one, _minus_quotient,
    emit="fmod({0}, {1})", typing=number, numpy=np.fmod, samples=QUOTIENTS,
    pole=True, unbounded=True, jumps=True,
)  # fmt: skip
declare(
    "remainder", (), one, lambda x, y, q, out: -q, None,
    emit="remainder({0}, {1})", typing=number, numpy=lambda x, y, q: np.mod(x, y),
    samples=((7.5, 2.0, 3.0), (-7.5, 2.0, -4.0)),
)  # fmt: skip

# -- absolute values, signs, rounding


def _sign(x: Sym, out: Sym) -> Sym:
    """0 at 0."""
    return x.op("sign")


declare(
    "abs", (abs, np.abs), _sign,
    emit="abs({0})", typing=number, numpy=np.abs, samples=POINTS,
)  # fmt: skip
declare(
    "fabs", (np.fabs, math.fabs), _sign,
    emit="math.fabs({0})", typing=inexact, numpy=np.fabs, samples=POINTS,
)  # fmt: skip
declare(
    "sign", (np.sign,), None,
    emit="sign({0})", typing=number, numpy=np.sign, samples=POINTS, jumps=True,
)  # fmt: skip
declare(
    "copysign", (np.copysign, math.copysign),
    lambda x, y, out: x.op("sign") * x.constant(1.0).op("copysign", y), None,
    emit="math.copysign({0}, {1})", typing=inexact, numpy=np.copysign, samples=PAIRS, jumps=True,
)  # fmt: skip
declare(
    "floor", (np.floor,), None,
    emit="np.floor({0})", typing=number, numpy=np.floor, samples=FRACTIONS, jumps=True,
)  # fmt: skip
declare(
    "ceil", (np.ceil,), None,
    emit="np.ceil({0})", typing=number, numpy=np.ceil, samples=FRACTIONS, jumps=True,
)  # fmt: skip
declare(
    "trunc", (np.trunc,), None,
    emit="np.trunc({0})", typing=number, numpy=np.trunc, samples=FRACTIONS, jumps=True,
)  # fmt: skip
declare(
    "rint", (np.rint,), None,
    emit="np.rint({0})", typing=inexact, numpy=np.rint, samples=FRACTIONS, jumps=True,
)  # fmt: skip

# -- extremes: half to each at a tie


def _wins(x: Sym, y: Sym, than: str) -> Sym:
    """1 where x wins, 1/2 at a tie, 0 where y wins."""
    half = x.constant(0.5).where(x.op("eq", y), 0.0)
    return x.constant(1.0).where(x.op(than, y), half)


def _wins_or_alone(x: Sym, y: Sym, than: str) -> Sym:
    """As `_wins`, and 1 where y is nan, which these operations pass over."""
    return x.constant(1.0).where(y.op("isnan"), _wins(x, y, than))


for _name, _than, _ufunc, _rule in (
    ("maximum", "gt", np.maximum, _wins),
    ("minimum", "lt", np.minimum, _wins),
    ("fmax", "gt", np.fmax, _wins_or_alone),
    ("fmin", "lt", np.fmin, _wins_or_alone),
):
    declare(
        _name, (_ufunc,),
        lambda x, y, out, than=_than, rule=_rule: rule(x, y, than),
        lambda x, y, out, than=_than, rule=_rule: rule(y, x, than),
        emit=f"{'np.' if _name.startswith('f') else ''}{_name}({{0}}, {{1}})",
        typing=same, numpy=_ufunc, samples=PAIRS,
    )  # fmt: skip
