"""Tangents of plain Python functions by complex step, to the last digits.

f(x + ih u) has h J u as its imaginary part, without cancellation (Squire and Trapp 1998). The
functions that are not analytic (abs, max, comparisons, int) get the meaning that srcad documents
for them, so that whole imperative programs can be run; single precision becomes double.
"""

import ast
from collections.abc import Callable, Iterable
from types import SimpleNamespace
from typing import Any

import numpy as np

STEP = 1e-100


def real(value: Any) -> Any:
    """What comparisons look at."""
    return value.real if isinstance(value, complex | np.ndarray | np.complexfloating) else value


def absolute(value: Any) -> Any:
    return value * np.sign(real(value))  # abs'(0) = 0


def larger(first: Any, second: Any) -> Any:
    if real(first) == real(second):  # half to each
        return first + 0.5 * (second - first)
    return first if real(first) > real(second) else second


def largest(*values: Any) -> Any:
    """The built-in max: of several numbers, or of one sequence."""
    return _fold(larger, values)


def smallest(*values: Any) -> Any:
    return _fold(lambda a, b: -larger(-a, -b), values)


def _fold(pick: Callable[[Any, Any], Any], values: tuple[Any, ...]) -> Any:
    items: Iterable[Any] = values if len(values) > 1 else values[0]
    first, *rest = items
    for item in rest:
        first = pick(first, item)
    return first


def array(maker: Callable[..., Any]) -> Callable[..., Any]:
    """A function that makes arrays, complex ones whatever dtype is asked for."""
    return lambda given, dtype=None: maker(given, complex)


class Compared(ast.NodeTransformer):
    """Comparisons look at real parts only: those of complex numbers would break ties otherwise."""

    def visit_Compare(self, node: ast.Compare) -> ast.AST:
        self.generic_visit(node)
        if isinstance(node.ops[0], ast.Is | ast.IsNot | ast.In | ast.NotIn):
            return node
        left, *rest = (
            ast.Call(ast.Name("real", ast.Load()), [side], [])
            for side in (node.left, *node.comparators)
        )
        return ast.Compare(left, node.ops, rest)


NAMES = {
    "real": real,
    "abs": absolute,
    "max": largest,
    "min": smallest,
    "int": lambda value: int(real(value)),
    "sorted": lambda items: sorted(items, key=real),
    "math": SimpleNamespace(sin=np.sin, cos=np.cos, tanh=np.tanh),
    "np": SimpleNamespace(
        **{n: getattr(np, n) for n in ("sin", "cos", "tanh", "sum")},
        **{n: array(getattr(np, n)) for n in ("zeros", "array", "zeros_like")},
        float32=lambda value: value,
    ),
}


def complexified(text: str) -> Callable[..., Any]:
    """The function `f` of a program's text, for complex arguments."""
    tree = ast.fix_missing_locations(Compared().visit(ast.parse(text)))
    space = dict(NAMES)
    exec(compile(tree, "<complex>", "exec"), space)
    return space["f"]


def tangents(text: str, args: tuple[Any, ...], direction: Any) -> tuple[Any, Any]:
    """The value of `f` in double precision, and its derivative; None moves nothing."""
    moved = (
        a if d is None else 1j * STEP * np.asarray(d, float) + a for a, d in zip(args, direction)
    )
    found = complexified(text)(*moved)
    return _parts(found, np.real), _parts(found, lambda v: np.imag(v) / STEP)


def _parts(value: Any, part: Callable[[Any], Any]) -> Any:
    if isinstance(value, tuple):
        return tuple(_parts(item, part) for item in value)
    return part(value)
