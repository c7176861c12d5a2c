"""The public functions: thin."""

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad.errors import Problem, TypingError
from srcad.ir.marks import Argnums, Mark
from srcad.runtime.programs import Program, ordered, plain
from srcad.runtime.pullback import Pullback

Function = Callable[..., Any]


def grad(f: Function | None = None, *, argnums: Argnums = 0) -> Any:
    """The gradient of a scalar function, as a function of the same arguments.

    `argnums` is a position, a name, or a tuple of these (then the result is a tuple). Gradients
    have their argument's shape and dtype. Raises TypingError for an integer argument or a result
    that is no scalar.

    >>> grad(lambda x: x * x)(3.0)
    6.0
    """
    return _decorator(f, "grad", argnums)


def value_and_grad(f: Function | None = None, *, argnums: Argnums = 0) -> Any:
    """As `grad`, giving (value, gradient).

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    return _decorator(f, "value_and_grad", argnums)


def _decorator(f: Function | None, mode: str, argnums: Argnums) -> Any:
    if f is None:
        return lambda function: Program(function, mode, argnums)
    return Program(f, mode, argnums)


def vjp(f: Function, *args: Any, argnums: Argnums = None, **kwargs: Any) -> Pullback:
    """Runs `f` and returns its pullback: `pullback.value`, and `pullback(gradient)` = vᵀJ.

    One argument gives one array, several a tuple; None stands where an argument is no float.

    >>> vjp(lambda x: x * x, 3.0)(1.0)
    6.0
    """
    if kwargs:
        args = ordered(inspect.signature(plain(f)), args, kwargs)
    return Pullback(f, args, 0 if argnums is None and len(args) == 1 else argnums)


def jvp(f: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """(value, tangent) of `f` at `primals` in the direction `tangents`.

    The tangent of an integer, a bool or None is None.

    >>> jvp(lambda x: x * x, (3.0,), (1.0,))
    (9.0, 6.0)
    """
    chosen = tuple(k for k, t in enumerate(tangents) if t is not None)
    if len(tangents) != len(primals):
        raise TypingError(Problem(f"{len(primals)} primals and {len(tangents)} tangents"))
    given = tuple(
        np.array(t, dtype=p.dtype) if isinstance(p, np.ndarray) else float(t)
        for p, t in zip(primals, tangents, strict=True)
        if t is not None
    )
    for k, t in zip(chosen, given, strict=True):
        if np.shape(t) != np.shape(primals[k]):
            raise TypingError(
                Problem(f"tangent {k} has shape {np.shape(t)}, not {np.shape(primals[k])}")
            )
    value, dots = Program(f, "jvp", chosen)(*primals, given)
    return value, dots[0] if len(dots) == 1 else dots


class Jacobian:
    """The Jacobian: the result's shape followed by the argument's; one pullback call per row."""

    def __init__(self, f: Function, argnums: Argnums) -> None:
        self.f, self.argnums = f, argnums
        self.__srcad__ = Mark("jacobian", f, argnums)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        pullback = vjp(self.f, *args, argnums=self.argnums, **kwargs)
        value = pullback.value
        if not isinstance(value, np.ndarray):
            return pullback()
        rows = []
        for k in range(value.size):
            unit = np.zeros(value.size)
            unit[k] = 1.0
            rows.append(pullback(unit.reshape(value.shape)))
        if isinstance(self.argnums, tuple):
            return tuple(_stacked([r[k] for r in rows], value) for k in range(len(self.argnums)))
        return _stacked(rows, value)


def _stacked(rows: list[Any], value: Any) -> Any:
    return np.array(rows).reshape(value.shape + np.shape(rows[0] if rows else ()))


def jacobian(f: Function | None = None, *, argnums: Argnums = 0) -> Any:
    """The Jacobian of a function with an array result.

    >>> jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    if f is None:
        return lambda function: Jacobian(function, argnums)
    return Jacobian(f, argnums)


def hessian(f: Function | None = None, *, argnums: int | str = 0) -> Any:
    """The Hessian of a scalar function: the Jacobian of its gradient.

    >>> hessian(lambda x: x * x * x)(2.0)
    12.0
    """
    if f is None:
        return lambda function: hessian(function, argnums=argnums)
    return Jacobian(grad(f, argnums=argnums), argnums)
