"""What generated code calls: plain Python functions that Numba compiles into their callers.

They run without Numba too, so that generated source is its own reference interpreter.
"""

import dis
import math
import os
from collections.abc import Callable
from typing import Any

import numba
import numpy as np
from numba import types

from srcad.runtime import lowering
from srcad.runtime.lowering import overload, register_jitable
from srcad.runtime.special import digamma as digamma
from srcad.runtime.special import polygamma as polygamma
from srcad.runtime.special import trigamma as trigamma

# Everything that lets LLVM reorder sums and vectorise, and nothing that forgets NaN or inf.
FASTMATH = {"reassoc", "contract", "nsz", "afn"}
LONG = {"matmul", "matmul_add"}  # what takes its time without a loop
EXACT: dict[str, Any] = {"fastmath": False, "error_model": "numpy"}


def compiled(function: Callable[..., Any]) -> Any:
    """The decorator of generated functions; on disk only if the module is.

    Code without loops keeps the interpreter's lock: giving it away costs a third of a short call.
    """
    code = function.__code__
    loops = any("BACKWARD" in step.opname for step in dis.get_instructions(code))
    long = loops or not LONG.isdisjoint(code.co_names)
    on_disk = os.path.isfile(code.co_filename)
    jit = numba.njit(error_model="numpy", fastmath=FASTMATH, nogil=long, cache=on_disk)
    return jit(function)


# -- numbers


def times(g: Any, p: Any) -> Any:
    """g * p, but 0 where either is 0, even if the other is inf or nan."""
    return g if g == 0 else p if p == 0 else g * p


def select(c: Any, a: Any, b: Any) -> Any:
    """a where c holds, else b; both are made."""
    return a if c else b


def sign(x: Any) -> Any:
    """-1, 0 or 1 in the type of x; nan stays nan."""
    return np.sign(x)


def maximum(a: Any, b: Any) -> Any:
    """The larger one; nan if one is nan."""
    return a if a > b or a != a else b


def minimum(a: Any, b: Any) -> Any:
    """The smaller one; nan if one is nan."""
    return a if a < b or a != a else b


lowering.lower(times, 2, lowering.times)
lowering.lower_select(select)
lowering.lower(sign, 1, lowering.sign)
lowering.lower(maximum, 2, lowering.extremum(">"))
lowering.lower(minimum, 2, lowering.extremum("<"))

# -- arithmetic that decides a value that jumps: done as written


def strict_add(a: Any, b: Any) -> Any:
    return a + b


def strict_sub(a: Any, b: Any) -> Any:
    return a - b


def strict_mul(a: Any, b: Any) -> Any:
    return a * b


def strict_div(a: Any, b: Any) -> Any:
    return a / b


for _function in (strict_add, strict_sub, strict_mul, strict_div):
    lowering.lower(_function, 2, lowering.strict(_function.__name__.removeprefix("strict_")))


def floordiv(x: Any, y: Any) -> Any:
    """x // y as NumPy has it: the quotient that belongs to x % y; integers by 0 give 0."""
    return np.floor_divide(x, y)


def mod(x: Any, y: Any) -> Any:
    """x % y as NumPy has it: the sign of y; integers by 0 give 0."""
    return np.remainder(x, y)


def remainder(x: Any, y: Any, q: Any = None) -> Any:
    """x % y; the quotient q that belongs to it is known and only there for the derivative."""
    return np.remainder(x, y)


def fmod(x: Any, y: Any) -> Any:
    """The remainder with the sign of x; integers by 0 give 0."""
    return np.fmod(x, y)


def truncdiv(x: Any, y: Any) -> Any:
    """The quotient that belongs to fmod(x, y)."""
    return np.trunc(x / y)


lowering.lower(fmod, 2, lowering.fmod)


def _divided(x: Any, y: Any) -> Any:
    """npy_divmod (numpy/core/src/npymath): quotient and remainder that belong together."""
    rest = fmod(x, y)
    if y == 0:
        return x / y, rest
    quotient = (x - rest) / y
    if rest != 0:
        if (y < 0) != (rest < 0):
            rest += y
            quotient -= 1
    else:
        rest = math.copysign(rest, y)
    if quotient != 0:
        whole = np.floor(quotient)
        if quotient - whole > 0.5:
            whole += 1
        return whole, rest
    return math.copysign(quotient, x / y), rest


_divided = register_jitable(**EXACT)(_divided)


def _float_floordiv(x: Any, y: Any) -> Any:
    return _divided(x, y)[0]


def _float32_floordiv(x: Any, y: Any) -> Any:
    return np.float32(_divided(x, y)[0])


def _float_mod(x: Any, y: Any) -> Any:
    return _divided(x, y)[1]


def _float_remainder(x: Any, y: Any, q: Any = None) -> Any:
    return _divided(x, y)[1]


def _int_floordiv(x: Any, y: Any) -> Any:
    return x // y


def _int_mod(x: Any, y: Any) -> Any:
    return x % y


def _int_remainder(x: Any, y: Any, q: Any = None) -> Any:
    return x % y


@overload(floordiv, jit_options=EXACT)
def _floordiv(x: Any, y: Any) -> Any:
    if not isinstance(x, types.Float):
        return _int_floordiv
    return _float_floordiv if x.bitwidth == 64 else _float32_floordiv


@overload(mod, jit_options=EXACT)
def _mod(x: Any, y: Any) -> Any:
    return _float_mod if isinstance(x, types.Float) else _int_mod


@overload(remainder, jit_options=EXACT)
def _remainder(x: Any, y: Any, q: Any = None) -> Any:
    return _float_remainder if isinstance(x, types.Float) else _int_remainder


@overload(truncdiv, jit_options=EXACT)
def _truncdiv(x: Any, y: Any) -> Any:
    return truncdiv


# -- indices


def at(i: Any) -> Any:
    """i, known not to be negative: no wrap-around test."""
    return i


def wrap(i: Any, n: Any) -> Any:
    """An index counted from the end if negative."""
    return i + n if i < 0 else i


def within(i: Any, n: Any) -> Any:
    """Whether i is the index of one of n elements."""
    return 0 <= i < n


def behind(start: Any, length: Any, step: Any, extent: Any) -> Any:
    """The stop of a slice of `length` elements, also if it lies before the first element."""
    if length == 0:
        return start
    stop = start + length * step
    return stop - extent if step < 0 and stop < 0 else stop


lowering.lower_unsigned(at)
lowering.lower(wrap, 2, lowering.wrap)
lowering.lower(behind, 4, lowering.behind)


@overload(within)
def _within(i: Any, n: Any) -> Any:
    return within


# -- arrays


def overlap(a: Any, b: Any) -> Any:
    """Whether the address ranges of two arrays meet."""
    return np.may_share_memory(a, b)


lowering.lower_overlap(overlap)


def grow(array: Any, length: int) -> Any:
    """The array itself if it is long enough, else a longer copy, at least twice as long."""
    if length <= array.shape[0]:
        return array
    longer = np.empty((max(length, 2 * array.shape[0]), *array.shape[1:]), array.dtype)
    longer[: array.shape[0]] = array
    return longer


def matmul(a: Any, b: Any, out: Any) -> None:
    """out = a @ b for matrices (m, k), (k, n), (m, n) of any strides."""
    out[:, :] = a @ b


def matmul_add(a: Any, b: Any, out: Any) -> None:
    """out += a @ b for matrices (m, k), (k, n), (m, n) of any strides."""
    out[:, :] += a @ b


def _grow_line(array: Any, length: int) -> Any:
    if length <= array.shape[0]:
        return array
    longer = np.empty(max(length, 2 * array.shape[0]), array.dtype)
    for k in range(array.shape[0]):
        longer[k] = array[k]
    return longer


@overload(grow)
def _grow(array: Any, length: int) -> Any:
    return _grow_line if array.ndim == 1 else grow


def _as_blas(x: Any) -> Any:
    """The matrix itself where BLAS can read it, else a copy."""
    return np.ascontiguousarray(x)


def _same(x: Any) -> Any:
    return x


@overload(_as_blas)
def _as_blas_typed(x: Any) -> Any:
    return _same if x.layout in "CF" else _as_blas


def _matmul_rows(a: Any, b: Any, out: Any) -> None:
    np.dot(_as_blas(a), _as_blas(b), out)


def _matmul_columns(a: Any, b: Any, out: Any) -> None:
    np.dot(_as_blas(b).T, _as_blas(a).T, out.T)


def _matmul_copied(a: Any, b: Any, out: Any) -> None:
    made = np.dot(_as_blas(a), _as_blas(b))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = made[i, j]


def _matmul_integers(a: Any, b: Any, out: Any) -> None:
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] = 0
            for k in range(a.shape[1]):
                out[i, j] += a[i, k] * b[k, j]


@overload(matmul)
def _matmul(a: Any, b: Any, out: Any) -> Any:
    if not isinstance(a.dtype, types.Float | types.Complex):
        return _matmul_integers
    return {"C": _matmul_rows, "F": _matmul_columns}.get(out.layout, _matmul_copied)


def _matmul_add_copied(a: Any, b: Any, out: Any) -> None:
    made = np.dot(_as_blas(a), _as_blas(b))
    for i in range(out.shape[0]):
        for j in range(out.shape[1]):
            out[i, j] += made[i, j]


@overload(matmul_add)
def _matmul_add(a: Any, b: Any, out: Any) -> Any:
    return _matmul_add_copied
