"""Runs generated source: without Numba as the reference, or compiled in memory."""

import linecache
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from srcad.codegen import source
from srcad.ir.nodes import Function
from srcad.runtime import support


def _executed(function: Function) -> tuple[dict[str, Any], str]:
    made = source(function)
    name = f"<srcad {function.name} {abs(hash(made.text)):x}>"
    linecache.cache[name] = (len(made.text), None, made.text.splitlines(True), name)
    space: dict[str, Any] = {"__name__": "srcad.generated"}
    exec(compile(made.text, name, "exec"), space)
    return space, made.entry


def compile_function(function: Function) -> Any:
    """The function compiled by Numba, without a disk cache."""
    space, entry = _executed(function)
    return space[entry]


class _Math:
    """`math` by NumPy's functions, so that poles give inf and nan as in compiled code."""

    inf, nan = np.inf, np.nan
    asin, acos, atan, atan2 = np.arcsin, np.arccos, np.arctan, np.arctan2
    asinh, acosh, atanh = np.arcsinh, np.arccosh, np.arctanh

    def __getattr__(self, name: str) -> Any:
        return getattr(np, name)


def _number(value: object) -> object:
    """Scalars as NumPy's, so that divisions by zero do not raise."""
    return np.float64(value) if type(value) is float else value


def interpret(function: Function) -> Callable[..., Any]:
    """The function run by Python: flat captured arguments first, then the visible ones."""
    space, entry = _executed(function)
    body = space[entry].py_func
    space["math"] = _Math()
    for name, value in vars(support).items():
        if name in space and isinstance(value, FunctionType) and name != "compiled":
            space[name] = value

    def run(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return body(*(_number(arg) for arg in args))

    return run
