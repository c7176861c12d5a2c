"""The public functions: thin."""

import inspect
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from srcad.errors import Problem, ShapeError, TypingError
from srcad.ir.marks import Argnums, Mark
from srcad.runtime.programs import Program
from srcad.runtime.pullback import Call, Pullback
from srcad.runtime.signatures import called, checked, chosen, labels, ordered, spec
from srcad.runtime.specialise import innermost, reached
from srcad.runtime.structures import alike, mapped, paired, parts

Function = Callable[..., Any]


def grad(f: Function | None = None, *, argnums: Argnums = 0) -> Any:
    """The gradient of a scalar function, as a function of the same arguments.

    `argnums` is a position, a name, or a tuple of these (then the result is a tuple). Gradients
    have their argument's shape and dtype. Raises TypingError for an integer argument or a result
    that is no scalar.

    What `f` reads from outside counts as it is at the call: numbers, arrays, attributes, items of
    containers, defaults that can be edited. As in Numba, functions and modules are looked up once,
    so that calls cost what calls of @njit functions cost: after `module.helper = other`, or a
    change of a function's code or default numbers, make the derivative anew. Called from @njit
    code, a derivative sees edits of the elements of arrays alone.

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
        return lambda function: _decorator(function, mode, argnums)
    return Program(f, mode, chosen(checked(innermost(f)), argnums))


def vjp(f: Function, *args: Any, argnums: Argnums = None, **kwargs: Any) -> Pullback:
    """Runs `f` and returns its pullback: `pullback.value`, and `pullback(gradient)` = vᵀJ.

    One argument gives one array, several a tuple; None stands where an argument is no float.

    >>> vjp(lambda x: x * x, 3.0)(1.0)
    6.0
    """
    python = checked(innermost(f))
    signature = inspect.signature(python, follow_wrapped=False)
    if "argnums" in signature.parameters:
        raise TypingError(
            Problem(
                f"`{f.__name__}` has a parameter `argnums`, which vjp takes for itself",
                None,
                "",
                "rename it, or wrap the function: lambda ...",
            )
        )
    least = reached(Mark("vjp", f, chosen(python, argnums)), list(signature.parameters))
    args = ordered(python.__name__, signature, args, kwargs, least)
    return Pullback(f, args, 0 if argnums is None and len(args) == 1 else argnums)


def jvp(f: Function, primals: tuple[Any, ...], tangents: tuple[Any, ...]) -> tuple[Any, Any]:
    """(value, tangent) of `f` at `primals` in the direction `tangents`.

    The tangent of an integer, a bool or None is None. Raises ShapeError or TypingError for a
    tangent that is not like its primal.

    >>> jvp(lambda x: x * x, (3.0,), (1.0,))
    (9.0, 6.0)
    """
    if not isinstance(primals, tuple | list) or not isinstance(tangents, tuple | list):
        raise TypingError(Problem("jvp takes tuples: jvp(f, (x, y), (x_dot, y_dot))"))
    if len(tangents) != len(primals):
        raise TypingError(Problem(f"{len(primals)} primals and {len(tangents)} tangents"))
    python = checked(innermost(f))
    called(python.__name__, inspect.signature(python, follow_wrapped=False), tuple(primals), {})
    along = tuple(k for k, t in enumerate(tangents) if t is not None)
    names = labels(python)
    for name, primal in zip(names, primals, strict=False):
        spec(primal, name)  # refuses what is no number or array
    given = tuple(t for k in along for t in _tangents(primals[k], tangents[k], names[k]))
    value, dots = Call(f, "jvp", along, tuple(primals))(tuple(primals), given)
    return value, _like_result(value, iter(dots))


def _tangents(primal: Any, tangent: Any, place: str) -> list[Any]:
    """The tangents of the floats of one argument, of exactly their shapes."""
    inner = parts(primal)
    if inner is not None:
        if tangent is not None and not alike(primal, tangent):
            container = "tuple" if inner[0] is None else inner[0].cls.__name__
            raise TypingError(Problem(f"tangent {place} must be a {container} of {len(inner[1])}"))
        pairs = enumerate(
            paired(primal, tangent) if tangent is not None else ((p, None) for p in inner[1])
        )
        return [t for k, (p, d) in pairs for t in _tangents(p, d, f"{place}, item {k},")]
    kind = np.asarray(primal).dtype
    if primal is None or kind.kind != "f":
        if tangent is None:
            return []
        raise TypingError(Problem(f"tangent {place} must be None: the argument is no float"))
    try:
        made = np.zeros(np.shape(primal)) if tangent is None else np.asarray(tangent)
    except ValueError as error:
        raise ShapeError(Problem(f"tangent {place} has rows of different lengths")) from error
    if not np.can_cast(made.dtype, kind, "same_kind"):
        raise TypingError(Problem(f"tangent {place} is {made.dtype}, the argument is {kind}"))
    if made.shape != np.shape(primal):
        raise ShapeError(
            Problem(f"tangent {place} has shape {made.shape}, the argument {np.shape(primal)}")
        )
    if isinstance(primal, np.ndarray):
        return [np.array(made, dtype=kind, order="C")]
    return [kind.type(made) if kind == np.float32 else float(made)]


def _like_result(value: Any, dots: Iterator[Any]) -> Any:
    """Tangents in the structure of the result, None where it is no float."""
    return mapped(
        lambda v: next(dots) if v is not None and np.asarray(v).dtype.kind == "f" else None, value
    )


def jacobian(f: Function | None = None, *, argnums: Argnums = 0) -> Any:
    """The Jacobian: the shape of the result, followed by that of the argument.

    `argnums` as in `grad`. A function with several results gives one Jacobian for each, None in the
    place of those that are no floats. One reverse sweep is made per element of the result.

    >>> jacobian(lambda x: x * x)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """
    return _decorator(f, "jacobian", argnums)


def hessian(f: Function | None = None, *, argnums: Argnums = 0) -> Any:
    """The Hessian of a scalar function: the Jacobian of its gradient.

    A tuple of `argnums` gives a tuple of tuples.

    >>> hessian(lambda x: x * x * x)(2.0)
    12.0
    """
    if f is None:
        return lambda function: hessian(function, argnums=argnums)
    return Program(grad(f, argnums=argnums), "jacobian", argnums)


for _function in (grad, value_and_grad, vjp, jvp, jacobian, hessian):
    vars(_function)["__srcad__"] = Mark(_function.__name__)
