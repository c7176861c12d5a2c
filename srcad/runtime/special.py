"""Digamma and its derivatives for generated code: plain functions that Numba compiles too.

A float32 argument gives a float32 result, computed in float64.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
from numba import types
from numba.extending import overload, register_jitable

from srcad.ops import polygamma as series

for _function in (series._digamma_above, series.digamma, series.zeta, series.polygamma):
    register_jitable(_function)
_digamma, _polygamma = series.digamma, series.polygamma


def digamma(x: Any) -> Any:
    """The derivative of log gamma."""
    value = _digamma(x)
    return np.float32(value) if isinstance(x, np.float32) else value


def trigamma(x: Any) -> Any:
    """The second derivative of log gamma."""
    return polygamma(1, x)


def polygamma(n: Any, x: Any) -> Any:
    """The derivative of order n of digamma."""
    value = _polygamma(n, x)
    return np.float32(value) if isinstance(x, np.float32) else value


@overload(digamma, strict=False)  # annotations count otherwise
def _compile_digamma(x: Any) -> Callable[..., Any]:
    if x == types.float32:
        return lambda x: np.float32(_digamma(np.float64(x)))
    return lambda x: _digamma(x)


@overload(trigamma, strict=False)  # annotations count otherwise
def _compile_trigamma(x: Any) -> Callable[..., Any]:
    if x == types.float32:
        return lambda x: np.float32(_polygamma(1, np.float64(x)))
    return lambda x: _polygamma(1, x)


@overload(polygamma, strict=False)  # annotations count otherwise
def _compile_polygamma(n: Any, x: Any) -> Callable[..., Any]:
    if x == types.float32:
        return lambda n, x: np.float32(_polygamma(n, np.float64(x)))
    return lambda n, x: _polygamma(n, x)
