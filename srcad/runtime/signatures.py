"""Arguments: their types as the tracer wants them, their names, what is refused."""

import inspect
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
from numba.core import types

from srcad.errors import Loc, Problem, TypingError, UnsupportedSyntax
from srcad.ir.types import FLOATS, INTEGERS, Array, Scalar
from srcad.tracer import Spec
from srcad.tracer.trace import array_spec

KINDS = "arguments are real numbers, NumPy arrays of them, None, and tuples of these"
DTYPES = ("bool", *FLOATS, *INTEGERS)  # Numba and NumPy have the same names
INSTEAD = {
    "list": "pass an array: np.array(...), or a tuple",
    "str": "bind it: lambda x: f(x, 'text'), and differentiate that",
    "dict": "pass its values, or let the function read it from outside",
    "set": "pass a tuple or an array",
    "complex": "pass the real and the imaginary part",
}


def plain(function: Callable[..., Any]) -> Any:
    """The Python function behind an @njit dispatcher."""
    return getattr(function, "py_func", function)


def checked(function: object) -> FunctionType:
    """The Python function to differentiate. Raises where its parameters are not all named."""
    python = plain(function)  # type: ignore[arg-type]
    if not isinstance(python, FunctionType):
        raise TypingError(
            Problem(
                f"a {type(function).__name__} cannot be differentiated",
                None,
                "srcad reads the source of a Python function",
                "pass a function: lambda x: ...",
            )
        )
    for parameter in inspect.signature(python, follow_wrapped=False).parameters.values():
        if parameter.kind not in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD):
            code = python.__code__
            raise UnsupportedSyntax(
                Problem(
                    f"the parameter `{parameter.name}` of `{python.__name__}` is "
                    f"{parameter.kind.description}",
                    Loc(code.co_filename, code.co_firstlineno, function=python.__name__),
                    "star parameters and keyword-only ones are not supported",
                    "name every parameter; wrap the function if need be: "
                    f"lambda x: {python.__name__}(...)",
                )
            )
    return python


def parameters(function: FunctionType) -> list[str]:
    """The names of the parameters."""
    return list(function.__code__.co_varnames[: function.__code__.co_argcount])


def labels(function: FunctionType) -> list[str]:
    """The parameters as error texts name them."""
    return [f"{k} (`{name}`)" for k, name in enumerate(parameters(function))]


def ordered(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """Keyword arguments in their places; defaults fill the gaps before the last one given."""
    given = signature.bind(*args, **kwargs).arguments
    names = list(signature.parameters)
    last = max((names.index(name) for name in given), default=-1)
    return tuple(given.get(n, signature.parameters[n].default) for n in names[: last + 1])


def spec(value: Any, place: int | str) -> Spec:
    """The type of an argument. Raises TypingError for what is no number, array or tuple."""
    match value:
        case None:
            return None
        case bool() | np.bool_():
            return Scalar("bool")
        case np.ndarray() if value.dtype.name in DTYPES and value.dtype.isnative:
            if type(value) is np.ndarray:
                return array_spec(value)
        case np.generic() if value.dtype.name in DTYPES:
            return Scalar(value.dtype.name)
        case float():
            return Scalar("float64")
        case int():
            return Scalar("int64")
        case tuple():
            return tuple(spec(item, place) for item in value)
    raise refusal(value, place)


def refusal(value: Any, place: int | str) -> TypingError:
    """The error about an argument that srcad does not take."""
    kind = type(value).__name__
    instead = INSTEAD.get(kind, "convert it: np.asarray(...)")
    if isinstance(value, np.ndarray) and type(value) is np.ndarray:
        kind = f"{kind} of {value.dtype}"
        instead = "convert it: .astype(np.float64)"
    return TypingError(Problem(f"argument {place} is a {kind}", None, KINDS, instead))


def spec_of_type(kind: Any, place: int | str) -> Spec:
    """The type of an argument, from Numba's type. Raises TypingError as `spec` does."""
    match kind:
        case types.Omitted():
            return spec(kind.value, place)
        case types.NoneType():
            return None
        case types.Boolean():
            return Scalar("bool")
        case types.Integer() | types.Float():
            return Scalar(str(kind))
        case types.Array() if kind.aligned and str(kind.dtype) in DTYPES:
            return _array(kind)
        case types.BaseTuple():
            return _items(kind, place)
        case _:
            raise TypingError(Problem(f"argument {place} has Numba's type {kind}", None, KINDS))


def _array(kind: Any) -> Array:
    return Array(str(kind.dtype), kind.ndim, kind.layout, kind.mutable)


def _items(kind: Any, place: int | str) -> Spec:
    return tuple(spec_of_type(item, place) for item in kind.types)


def holds_array(value: object) -> bool:
    """Whether it is an array, or a tuple with one in it."""
    return isinstance(value, np.ndarray) or (
        isinstance(value, tuple) and any(map(holds_array, value))
    )


def is_constant(value: object) -> bool:
    """Whether Numba has a type for it that says all: a number, a text, None, a tuple of these."""
    if isinstance(value, tuple):
        return all(map(is_constant, value))
    return value is None or isinstance(value, bool | int | float | str | np.generic)


def plain_numbers(value: Any) -> Any:
    """NumPy's scalars as Python's, as compiled code gives them."""
    if isinstance(value, tuple):
        return tuple(map(plain_numbers, value))
    return value.item() if isinstance(value, np.generic) else value
