"""The error function, the gamma function and its relatives. Derivatives: DLMF 5.2, 5.15, 7.10."""

import math
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad.ops.arithmetic import POINTS
from srcad.ops.declaration import Samples, declare
from srcad.ops.polygamma import digamma, polygamma, trigamma
from srcad.ops.promotion import inexact, order_of_derivative
from srcad.ops.symbol import Sym

BESIDE_POLES: Samples = ((-1.4,), (-0.3,), (0.4,), (1.0,), (3.5,), (12.25,))


def total(function: Callable[[float], float], pole: float) -> Callable[[float], float]:
    """A function of `math` that gives `pole` at a pole and inf where it is too large."""

    def value(x: float) -> float:
        try:
            return function(x)
        except OverflowError:
            return math.inf
        except ValueError:
            return math.copysign(math.inf, x) if x == 0 and math.isnan(pole) else pole

    return value


def element_by_element(function: Callable[..., float]) -> Callable[..., Any]:
    """The function on scalars and arrays; the last argument's float type is the result's."""
    double = np.vectorize(function, otypes=[np.float64])

    def value(*args: Any) -> Any:
        dtype = np.asarray(args[-1]).dtype
        result = double(*args)
        return result.astype(dtype if dtype.kind == "f" else np.float64)[()]

    return value


def _bell(x: Sym) -> Sym:
    """2 / sqrt(pi) exp(-x * x)."""
    return (2.0 / math.sqrt(math.pi)) * (-(x * x)).op("exp")


declare(
    "erf", (math.erf,), lambda x, out: _bell(x),
    typing=inexact, numpy=element_by_element(math.erf), samples=POINTS,
    vector="erf", source="DLMF 7.10.1",
)  # fmt: skip
declare(
    "erfc", (math.erfc,), lambda x, out: -_bell(x),
    typing=inexact, numpy=element_by_element(math.erfc), samples=POINTS,
    vector="erfc", source="DLMF 7.10.1",
)  # fmt: skip
declare(
    "gamma", (math.gamma,), lambda x, out: out * x.op("digamma"),
    typing=inexact, numpy=element_by_element(total(math.gamma, math.nan)), samples=BESIDE_POLES,
    pole=True, unbounded=True, source="DLMF 5.2.2",
)  # fmt: skip
declare(
    "lgamma", (math.lgamma,), lambda x, out: x.op("digamma"),
    typing=inexact, numpy=element_by_element(total(math.lgamma, math.inf)), samples=BESIDE_POLES,
    pole=True, unbounded=True, source="DLMF 5.2.2",
)  # fmt: skip
declare(
    "digamma", (), lambda x, out: x.op("trigamma"),
    emit="digamma({0})", typing=inexact, numpy=element_by_element(digamma), samples=BESIDE_POLES,
    pole=True, unbounded=True, source="DLMF 5.15",
)  # fmt: skip
declare(
    "trigamma", (), lambda x, out: x.integer(2).op("polygamma", x),
    emit="trigamma({0})", typing=inexact, numpy=element_by_element(trigamma),
    samples=BESIDE_POLES, pole=True, unbounded=True, source="DLMF 5.15",
)  # fmt: skip
declare(
    "polygamma", (), None, lambda n, x, out: (n + 1).op("polygamma", x),
    emit="polygamma({0}, {1})", typing=order_of_derivative, numpy=element_by_element(polygamma),
    samples=tuple((n, x) for n in (1, 2, 3) for (x,) in BESIDE_POLES), pole=True, unbounded=True,
    source="DLMF 5.15",
)  # fmt: skip
