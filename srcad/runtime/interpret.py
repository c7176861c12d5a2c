"""Runs generated source without Numba: the reference for compiled code.

Numbers are NumPy's, also float literals, and `math` is NumPy's functions, so that poles give inf
and nan as in compiled code.
"""

import ast
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad.codegen import source
from srcad.ir.aliases import written_parameters
from srcad.ir.nodes import Function
from srcad.ir.types import INTEGERS
from srcad.runtime.compile import compile_function, register

__all__ = ["compile_function", "interpret"]

NUMPY_NAMES = {
    "asin": np.arcsin, "acos": np.arccos, "atan": np.arctan, "atan2": np.arctan2,
    "asinh": np.arcsinh, "acosh": np.arccosh, "atanh": np.arctanh, "pow": np.power,
}  # fmt: skip
POLES = {"gamma": math.nan, "lgamma": math.inf}  # where `math` raises


class Math:
    """`math` by NumPy's functions, which raise nothing."""

    def __getattr__(self, name: str) -> Any:
        if name in NUMPY_NAMES:
            return NUMPY_NAMES[name]
        return getattr(np, name) if hasattr(np, name) else _by_math(name)


def _by_math(name: str) -> Callable[..., Any]:
    """A function that NumPy does not have: in float64, rounded to the argument's type."""
    python = getattr(math, name)

    def function(x: Any) -> Any:
        try:
            return np.asarray(x).dtype.type(python(x))
        except OverflowError:
            return type(x)(math.inf)
        except ValueError:
            return type(x)(POLES.get(name, math.nan))

    return function


class NumPyNumbers(ast.NodeTransformer):
    """Makes float literals np.float64, which divides by zero, and integer casts wrap around."""

    def visit_Constant(self, node: ast.Constant) -> ast.expr:
        if not isinstance(node.value, float):
            return node
        name = ast.Name("float", ast.Load())
        return ast.copy_location(ast.Call(name, [node], []), node)

    def visit_Call(self, node: ast.Call) -> ast.expr:
        self.generic_visit(node)
        match node.func:
            case ast.Attribute(ast.Name("np"), dtype) if dtype in INTEGERS:
                cast = ast.Name("cast", ast.Load())
                return ast.copy_location(
                    ast.Call(cast, [ast.Constant(dtype), *node.args], []), node
                )
        return node


def _cast(dtype: str, x: Any) -> Any:
    return np.asarray(x).astype(dtype)[()]


def _int(x: Any) -> int:
    """int(x) as compiled code has it, also for nan."""
    return int(np.asarray(x).astype(np.int64))


def _numbers(value: Any) -> Any:
    """Scalar arguments as NumPy's."""
    if isinstance(value, tuple):
        return tuple(map(_numbers, value))
    return np.float64(value) if type(value) is float else value


def interpret(function: Function) -> Callable[..., Any]:
    """The function run by Python: flat captured arguments first, then the visible ones."""
    made = source(function, written=written_parameters(function))
    tree = NumPyNumbers().visit(ast.parse(made.text))
    for node in tree.body:
        if isinstance(node, ast.FunctionDef):
            node.decorator_list = []
    code = compile(ast.fix_missing_locations(tree), register(made), "exec")
    space: dict[str, Any] = {"__name__": "srcad.generated"}
    exec(code, space)
    space.update(math=Math(), float=np.float64, int=_int, cast=_cast)
    body = space[made.entry]

    def run(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return body(*map(_numbers, args))

    return run
