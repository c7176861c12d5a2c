"""Declarations: arithmetic, comparison, elementary functions. Values at kinks: see README."""

import math
import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad.ops.declaration import (
    ADD,
    ATOM,
    COMPARE,
    MULTIPLY,
    UNARY,
    Dtypes,
    Operation,
    Partial,
    registry,
)
from srcad.ops.symbol import Sym

Samples = tuple[tuple[float, ...], ...]
POINTS: Samples = ((-1.3,), (0.4,), (2.1,))
POSITIVE: Samples = ((0.3,), (1.7,), (4.0,))
INSIDE: Samples = ((-0.7,), (0.1,), (0.6,))
PAIRS: Samples = ((1.3, -0.7), (-2.0, 0.5), (0.25, 3.0))


def same(dtypes: Dtypes) -> tuple[Dtypes, str]:
    """All operands and the result have the promoted dtype."""
    to = np.result_type(*dtypes).name
    return (to,) * len(dtypes), to


def inexact(dtypes: Dtypes) -> tuple[Dtypes, str]:
    """As `same`, integers become float64."""
    to = np.result_type(*dtypes).name
    to = to if to.startswith(("float", "complex")) else "float64"
    return (to,) * len(dtypes), to


def compared(dtypes: Dtypes) -> tuple[Dtypes, str]:
    return same(dtypes)[0], "bool"


def logical(dtypes: Dtypes) -> tuple[Dtypes, str]:
    return ("bool",) * len(dtypes), "bool"


def test_of_float(dtypes: Dtypes) -> tuple[Dtypes, str]:
    return inexact(dtypes)[0], "bool"


def one(x: Sym, *_: Sym) -> Sym:
    return x.constant(1.0)


def minus_one(x: Sym, *_: Sym) -> Sym:
    return x.constant(-1.0)


def unary(
    name: str,
    spellings: tuple[object, ...],
    partial: Partial | None,
    *,
    emit: str | None = None,
    samples: Samples = POINTS,
    pole: bool = False,
    jumps: bool = False,
    numpy: Callable[..., Any] | None = None,
    support: str | None = None,
    level: int = ATOM,
    typing: Callable[[Dtypes], tuple[Dtypes, str]] = inexact,
) -> None:
    """Declares a function of one number."""
    value: Any = numpy or getattr(np, name)
    text = emit or f"math.{name}({{0}})"
    registry.declare(
        Operation(
            name, spellings, typing, (partial,), text, level, value, samples, pole, jumps, support
        )
    )


def binary(
    name: str,
    spellings: tuple[object, ...],
    partials: tuple[Partial | None, Partial | None],
    *,
    emit: str,
    level: int = ATOM,
    samples: Samples = PAIRS,
    pole: bool = False,
    jumps: bool = False,
    numpy: Callable[..., Any],
    support: str | None = None,
    typing: Callable[[Dtypes], tuple[Dtypes, str]] = same,
) -> None:
    """Declares a function of two numbers."""
    registry.declare(
        Operation(
            name, spellings, typing, partials, emit, level, numpy, samples, pole, jumps, support
        )
    )


# -- arithmetic

binary("add", (operator.add, np.add), (one, one), emit="{0} + {1}", level=ADD, numpy=np.add)
binary(
    "sub", (operator.sub, np.subtract), (one, minus_one),
    emit="{0} - {1}", level=ADD, numpy=np.subtract,
)  # fmt: skip
binary(
    "mul", (operator.mul, np.multiply),
    (lambda x, y, out: y, lambda x, y, out: x),
    emit="{0} * {1}", level=MULTIPLY, numpy=np.multiply,
)  # fmt: skip
binary(
    "div", (operator.truediv, np.divide),
    (lambda x, y, out: 1.0 / y, lambda x, y, out: -(out / y)),
    emit="{0} / {1}", level=MULTIPLY, numpy=np.divide, pole=True, typing=inexact,
)  # fmt: skip
binary(
    "floordiv", (operator.floordiv, np.floor_divide), (None, None), emit="floordiv({0}, {1})",
    numpy=np.floor_divide, jumps=True, support="floordiv",
)  # fmt: skip
registry.declare(
    Operation(
        "remainder", (), same, (one, lambda x, y, q, out: -q, None), "remainder({0}, {1})",
        ATOM, lambda x, y, q: np.mod(x, y), ((7.5, 2.0, 3.0), (-7.5, 2.0, -4.0)),
        support="remainder",
    )
)  # fmt: skip
unary("neg", (operator.neg, np.negative), minus_one, emit="-{0}", level=UNARY,
      numpy=np.negative, typing=same)  # fmt: skip
unary("abs", (abs, np.abs, math.fabs), lambda x, out: x.op("sign"), emit="abs({0})",
      numpy=np.abs, typing=same)  # fmt: skip
unary("sign", (np.sign,), None, emit="sign({0})", numpy=np.sign, jumps=True, support="sign",
      typing=same)  # fmt: skip
unary("floor", (np.floor,), None, numpy=np.floor, jumps=True, emit="np.floor({0})")
unary("ceil", (np.ceil,), None, numpy=np.ceil, jumps=True, emit="np.ceil({0})")
unary("trunc", (np.trunc,), None, numpy=np.trunc, jumps=True, emit="np.trunc({0})")
unary("rint", (np.rint,), None, numpy=np.rint, jumps=True, emit="np.rint({0})")
unary("square", (np.square,), lambda x, out: 2.0 * x, emit="{0} * {0}", level=MULTIPLY, typing=same)


def _power_x(x: Sym, y: Sym, out: Sym) -> Sym:
    slope = y * x.op("pow", y - 1.0)
    return slope.where(y.op("ne", 0.0), 0.0)


def _power_y(x: Sym, y: Sym, out: Sym) -> Sym:
    slope = out * x.op("log")
    return slope.where(x.op("ne", 0.0), 0.0)


binary(
    "pow", (operator.pow, np.power, math.pow), (_power_x, _power_y), emit="{0} ** {1}", level=13,
    numpy=np.power, pole=True, samples=((1.3, -0.7), (2.0, 0.5), (0.25, 3.0)),
)  # fmt: skip


def _tie(x: Sym, y: Sym, first: str) -> Sym:
    """1 where x wins, 1/2 at a tie, 0 where y wins."""
    half = x.constant(0.5).where(x.op("eq", y), 0.0)
    return x.constant(1.0).where(x.op(first, y), half)


binary(
    "maximum", (np.maximum,),
    (lambda x, y, out: _tie(x, y, "gt"), lambda x, y, out: _tie(y, x, "gt")),
    emit="maximum({0}, {1})", numpy=np.maximum, support="maximum",
)  # fmt: skip
binary(
    "minimum", (np.minimum,),
    (lambda x, y, out: _tie(x, y, "lt"), lambda x, y, out: _tie(y, x, "lt")),
    emit="minimum({0}, {1})", numpy=np.minimum, support="minimum",
)  # fmt: skip

# -- elementary functions

unary("sqrt", (np.sqrt, math.sqrt), lambda x, out: 0.5 / out, samples=POSITIVE, pole=True)
unary("exp", (np.exp, math.exp), lambda x, out: out)
unary("expm1", (np.expm1, math.expm1), lambda x, out: out + 1.0)
unary("log", (np.log, math.log), lambda x, out: 1.0 / x, samples=POSITIVE, pole=True)
unary("log1p", (np.log1p, math.log1p), lambda x, out: 1.0 / (1.0 + x), samples=INSIDE, pole=True)
unary("log2", (np.log2, math.log2), lambda x, out: 1.0 / (x * math.log(2.0)),
      samples=POSITIVE, pole=True)  # fmt: skip
unary("log10", (np.log10, math.log10), lambda x, out: 1.0 / (x * math.log(10.0)),
      samples=POSITIVE, pole=True)  # fmt: skip
unary("sin", (np.sin, math.sin), lambda x, out: x.op("cos"))
unary("cos", (np.cos, math.cos), lambda x, out: -x.op("sin"))
unary("tan", (np.tan, math.tan), lambda x, out: 1.0 + out * out)
unary("arcsin", (np.arcsin, math.asin), lambda x, out: 1.0 / (1.0 - x * x).op("sqrt"),
      emit="math.asin({0})", samples=INSIDE, pole=True)  # fmt: skip
unary("arccos", (np.arccos, math.acos), lambda x, out: -(1.0 / (1.0 - x * x).op("sqrt")),
      emit="math.acos({0})", samples=INSIDE, pole=True)  # fmt: skip
unary("arctan", (np.arctan, math.atan), lambda x, out: 1.0 / (1.0 + x * x), emit="math.atan({0})")
unary("sinh", (np.sinh, math.sinh), lambda x, out: x.op("cosh"))
unary("cosh", (np.cosh, math.cosh), lambda x, out: x.op("sinh"))
unary("tanh", (np.tanh, math.tanh), lambda x, out: 1.0 - out * out)
unary("arcsinh", (np.arcsinh, math.asinh), lambda x, out: 1.0 / (1.0 + x * x).op("sqrt"),
      emit="math.asinh({0})")  # fmt: skip
unary("arctanh", (np.arctanh, math.atanh), lambda x, out: 1.0 / (1.0 - x * x),
      emit="math.atanh({0})", samples=INSIDE, pole=True)  # fmt: skip
binary(
    "arctan2", (np.arctan2, math.atan2),
    (lambda y, x, out: x / (x * x + y * y), lambda y, x, out: -(y / (x * x + y * y))),
    emit="math.atan2({0}, {1})", numpy=np.arctan2, pole=True, typing=inexact,
)  # fmt: skip
binary(
    "hypot", (np.hypot, math.hypot),
    (lambda x, y, out: (x / out).where(out.op("ne", 0.0), 0.0),
     lambda x, y, out: (y / out).where(out.op("ne", 0.0), 0.0)),
    emit="math.hypot({0}, {1})", numpy=np.hypot, typing=inexact,
)  # fmt: skip

# -- comparison, logic, integers: no derivative

for _name, _symbol, _function, _ufunc in (
    ("lt", "<", operator.lt, np.less),
    ("le", "<=", operator.le, np.less_equal),
    ("gt", ">", operator.gt, np.greater),
    ("ge", ">=", operator.ge, np.greater_equal),
    ("eq", "==", operator.eq, np.equal),
    ("ne", "!=", operator.ne, np.not_equal),
):
    binary(_name, (_function, _ufunc), (None, None), emit=f"{{0}} {_symbol} {{1}}", level=COMPARE,
           numpy=_ufunc, jumps=True, typing=compared)  # fmt: skip
binary("and", (np.logical_and,), (None, None), emit="({0} and {1})", numpy=np.logical_and,
       typing=logical)  # fmt: skip
binary("or", (np.logical_or,), (None, None), emit="({0} or {1})", numpy=np.logical_or,
       typing=logical)  # fmt: skip
unary("not", (operator.not_, np.logical_not), None, emit="(not {0})", numpy=np.logical_not,
      typing=logical)  # fmt: skip
unary("isnan", (np.isnan, math.isnan), None, emit="math.isnan({0})", typing=test_of_float,
      jumps=True)  # fmt: skip
unary("isinf", (np.isinf, math.isinf), None, emit="math.isinf({0})", typing=test_of_float,
      jumps=True)  # fmt: skip
unary("isfinite", (np.isfinite, math.isfinite), None, emit="math.isfinite({0})",
      typing=test_of_float, jumps=True)  # fmt: skip
binary("wrap", (), (None, None), emit="wrap({0}, {1})", numpy=lambda i, n: i + n if i < 0 else i,
       support="wrap", samples=((-1, 3), (2, 3)))  # fmt: skip
binary("within", (), (None, None), emit="0 <= {0} < {1}", level=COMPARE, typing=compared,
       numpy=lambda i, n: 0 <= i < n, samples=((-1, 3), (2, 3)))  # fmt: skip

# -- operations whose derivative `transform.rules` knows


def _structural(dtypes: Dtypes) -> tuple[Dtypes, str]:
    return dtypes, dtypes[-1]


registry.declare(
    Operation("select", (), _structural, (None, None, None), "select({0}, {1}, {2})", ATOM,
              np.where, ((1.0, 2.0, 3.0),), support="select")
)  # fmt: skip
registry.declare(
    Operation("times", (), same, (None, None), "times({0}, {1})", ATOM,
              lambda g, p: 0.0 if g == 0 else g * p, ((0.0, math.inf), (2.0, 3.0)),
              support="times")
)  # fmt: skip
registry.declare(
    Operation("cast", (), _structural, (None,), "", ATOM, lambda x: x, ((1.0,),), jumps=True)
)
registry.declare(
    Operation("dim", (), _structural, (None, None), "{0}.shape[{1}]", ATOM,
              lambda a, k: a.shape[k], ())
)  # fmt: skip
