"""Arguments: their types as the tracer wants them, their names, what is refused."""

import inspect
from collections.abc import Callable
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import Any

import numpy as np
from numba.core import types

from srcad.errors import Loc, Problem, TypingError
from srcad.ir.marks import Argnums
from srcad.ir.types import FLOATS, INTEGERS, Array, Scalar
from srcad.runtime.structures import parts
from srcad.tracer import Spec
from srcad.tracer.trace import Fixed, Parts, array_spec

KINDS = (
    "arguments are real numbers, NumPy arrays of them, flags (None, texts, enums, functions), and "
    "tuples, lists, dictionaries and dataclasses of these"
)
DTYPES = ("bool", *FLOATS, *INTEGERS)  # Numba and NumPy have the same names
FLAGS = (str, bytes, Enum, FunctionType, BuiltinFunctionType, type, np.ufunc, partial)
INSTEAD = {
    "dict": "its keys must be texts or integers",
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
    return python


def only_positional(signature: inspect.Signature) -> bool:
    """Whether all parameters can be given by position, as Numba's calls are."""
    return all(
        p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
        for p in signature.parameters.values()
    )


def chosen(function: FunctionType, argnums: Argnums) -> Argnums:
    """`argnums`, which must name parameters of the function."""
    names = parameters(function)
    for one in argnums if isinstance(argnums, tuple) else (argnums,):
        position = isinstance(one, int) and -len(names) <= one < len(names)
        if not (position or one is None and one is argnums or one in names):
            code = function.__code__
            raise TypingError(
                Problem(
                    f"argnums: `{function.__name__}` has no argument {one!r}",
                    Loc(code.co_filename, code.co_firstlineno, function=function.__name__),
                    f"its arguments are {', '.join(names)}",
                    "give a position, a name, or a tuple of these",
                )
            )
    return argnums


def parameters(function: FunctionType) -> list[str]:
    """The names of the parameters, star and keyword-only ones too."""
    return list(inspect.signature(function, follow_wrapped=False).parameters)


def labels(function: FunctionType) -> list[str]:
    """The parameters as error texts name them."""
    user = function.__name__
    return [f"{k} (`{name}`) of `{user}`" for k, name in enumerate(parameters(function))]


def called(
    name: str, signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> dict[str, Any]:
    """The arguments of a call by name. Raises TypingError where they do not fit the parameters."""
    try:
        return signature.bind(*args, **kwargs).arguments
    except TypeError as error:
        raise TypingError(
            Problem(
                f"the derivative of `{name}` cannot be called so: {error}",
                None,
                f"it takes the arguments of {name}{signature}",
            )
        ) from None


def ordered(
    name: str,
    signature: inspect.Signature,
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
    least: int = 0,
) -> tuple[Any, ...]:
    """Keyword arguments in their places; defaults fill the gaps before the last one given.

    There are `least` arguments at least. Star parameters are one argument each.
    """
    given = called(name, signature, args, kwargs)
    names = list(signature.parameters)
    count = max((least, *(names.index(name) + 1 for name in given)))
    return tuple(given.get(n, _default(signature.parameters[n])) for n in names[:count])


def _default(parameter: inspect.Parameter) -> Any:
    empty: dict[Any, Any] = {parameter.VAR_POSITIONAL: (), parameter.VAR_KEYWORD: {}}
    return empty.get(parameter.kind, parameter.default)


def spec(value: Any, place: int | str) -> Spec:
    """The type of an argument. Raises TypingError for what srcad does not take."""
    if isinstance(value, FLAGS) or hasattr(value, "py_func") or hasattr(value, "__srcad__"):
        return Fixed(value)
    inner = parts(value)
    if inner is not None:
        container, items = inner
        if container is not None and not all(type(k) in (str, int) for k in container.keys):
            raise refusal(value, place)
        found = tuple(spec(item, place) for item in items)
        return found if container is None else Parts(container, found)
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
        case int() if -(2**63) <= value < 2**64:
            return Scalar("int64")
    raise refusal(value, place)


def need_floats(function: FunctionType, specs: tuple[Spec, ...], argnums: Argnums) -> None:
    """Raises TypingError where an argument that is to be differentiated has no float in it."""
    names = parameters(function)
    for one in argnums if isinstance(argnums, tuple) else (argnums,):
        if one is None:
            continue
        k = names.index(one) if isinstance(one, str) else one % len(names)
        if k < len(specs) and not _has_float(specs[k]):
            raise TypingError(
                Problem(
                    f"the argument `{names[k]}` of `{function.__name__}` is no float",
                    Loc(function.__code__.co_filename, function.__code__.co_firstlineno),
                    "integers, bools and flags are constants: they have no gradient",
                    f"pass it as a float, or leave `{names[k]}` out of argnums",
                )
            )


def _has_float(one: Spec) -> bool:
    match one:
        case Scalar(dtype=dtype) | Array(dtype=dtype):
            return dtype in FLOATS
        case Parts(items=items):
            return any(map(_has_float, items))
        case tuple():
            return any(map(_has_float, one))
        case _:
            return False


def refusal(value: Any, place: int | str) -> TypingError:
    """The error about an argument that srcad does not take."""
    kind = type(value).__name__
    instead = INSTEAD.get(kind, "convert it: np.asarray(...)")
    if isinstance(value, int):
        kind, instead = "int of more than 64 bits", "pass a float"
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
