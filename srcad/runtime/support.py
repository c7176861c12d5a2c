"""What generated code calls: plain Python functions that Numba compiles into their callers.

They run without Numba too, so that generated source is its own reference interpreter.
"""

import math
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba.extending import register_jitable

# Everything that lets LLVM reorder sums and vectorise, and nothing that forgets NaN or inf.
FASTMATH = {"reassoc", "contract", "nsz", "afn"}


def compiled(function: Callable[..., Any]) -> Any:
    """The decorator of generated functions."""
    return numba.njit(error_model="numpy", fastmath=FASTMATH, nogil=True)(function)


@register_jitable
def times(g: Any, p: Any) -> Any:
    """g * p, but 0 where g is 0, even if p is inf or nan."""
    return g if g == 0 else g * p


@register_jitable
def select(c: Any, a: Any, b: Any) -> Any:
    """a where c holds, else b; both are made."""
    return a if c else b


@register_jitable
def wrap(i: Any, n: Any) -> Any:
    """An index counted from the end if negative."""
    return i + n if i < 0 else i


@register_jitable
def sign(x: Any) -> Any:
    """-1, 0 or 1 in the type of x; nan stays nan."""
    if x > 0:
        return x * 0 + 1
    return x * 0 - 1 if x < 0 else x


@register_jitable
def maximum(a: Any, b: Any) -> Any:
    """The larger one; nan if one is nan."""
    return a if a > b or a != a else b


@register_jitable
def minimum(a: Any, b: Any) -> Any:
    """The smaller one; nan if one is nan."""
    return a if a < b or a != a else b


@register_jitable(fastmath=False)
def remainder(x: Any, y: Any) -> Any:
    """x % y, the remainder that belongs to the quotient x // y."""
    return x % y


@register_jitable(fastmath=False)
def floordiv(x: Any, y: Any) -> Any:
    """x // y as NumPy has it: the quotient that belongs to x % y."""
    return x // y


def grow(array: Any, length: int) -> Any:
    """The array itself if it is long enough, else a longer copy, at least twice as long."""
    if length <= array.shape[0]:
        return array
    longer = np.empty(max(length, 2 * array.shape[0]), array.dtype)
    longer[: array.shape[0]] = array
    return longer


@register_jitable
def matmul(a: Any, b: Any, out: Any) -> None:
    """out = a @ b for two-dimensional arrays of any strides."""
    out[:, :] = np.dot(np.ascontiguousarray(a), np.ascontiguousarray(b))


@register_jitable
def matmul_add(a: Any, b: Any, out: Any) -> None:
    """out += a @ b."""
    out += np.dot(np.ascontiguousarray(a), np.ascontiguousarray(b))


grow = register_jitable(grow)
INFINITY, NAN = math.inf, math.nan
