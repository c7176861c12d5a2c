"""`Program`: a derivative as a callable that traces and compiles itself for each set of types.

What the trace read from outside is checked at every call: a changed global, closure value or
attribute gives the current derivative, never the old one.
"""

import functools
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad.errors import Problem, TypingError
from srcad.ir.marks import Argnums, Mark
from srcad.ir.types import Scalar
from srcad.runtime.interpret import compile_function
from srcad.tracer import Spec, Trace, trace
from srcad.tracer.trace import array_spec
from srcad.transform.pipeline import derive


class Program:
    """`mode` applied to `inner`; call it like `inner`. Keywords and defaults work."""

    def __init__(self, inner: Callable[..., Any], mode: str, argnums: Argnums) -> None:
        self.__srcad__ = Mark(mode, inner, argnums)
        self.__wrapped__: Callable[..., Any]
        self._signature = inspect.signature(plain(inner))
        self._made: dict[tuple[Spec, ...], list[tuple[Trace, Any]]] = {}
        functools.update_wrapper(self, plain(inner), updated=())

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if kwargs:
            args = ordered(self._signature, args, kwargs)
        traced, run = self.specialised(tuple(spec(a, k) for k, a in enumerate(args)))
        hidden = traced.captured()
        if traced.written:
            distinct(traced, [*hidden, *flat(args)])
        return run(*hidden, *args)

    def specialised(self, specs: tuple[Spec, ...]) -> tuple[Trace, Any]:
        """The compiled function for these types and for what is outside now."""
        for traced, run in self._made.get(specs, []):
            if all(read.holds() for read in traced.reads):
                return traced, run
        traced = derived(self, specs)
        run = compile_function(traced.function)
        self._made.setdefault(specs, []).append((traced, run))
        return traced, run


def derived(function: Callable[..., Any], specs: tuple[Spec, ...]) -> Trace:
    """The trace of a function of the user, or of a `Program` over one."""
    mark = getattr(function, "__srcad__", None)
    if not isinstance(mark, Mark):
        return trace(plain(function), specs)
    assert mark.inner is not None
    inner = derived(mark.inner, specs)
    if mark.mode == "primal":
        return inner
    function_ = derive(inner.function, mark.mode, mark.argnums)
    return Trace(function_, inner.reads, inner.written)


def flat(args: tuple[Any, ...]) -> list[Any]:
    """The leaves of arguments, None left out, in the order of the parameters."""
    found: list[Any] = []
    for arg in args:
        found += flat(arg) if isinstance(arg, tuple) else [] if arg is None else [arg]
    return found


def distinct(traced: Trace, values: list[Any]) -> None:
    """Refuses arrays that overlap where the function writes into one of them."""
    arrays = [(k, v) for k, v in enumerate(values) if isinstance(v, np.ndarray)]
    for k, first in arrays:
        for other, second in arrays:
            if k in traced.written and k != other and np.may_share_memory(first, second):
                raise TypingError(
                    Problem(
                        "two arrays overlap, and the function writes into one of them",
                        traced.function.loc,
                        "the derivative would depend on which name is meant",
                        "pass a copy of one",
                    )
                )


def plain(function: Callable[..., Any]) -> Any:
    """The Python function behind an @njit dispatcher."""
    return getattr(function, "py_func", function)


def ordered(
    signature: inspect.Signature, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[Any, ...]:
    """Keyword arguments in their places, defaults filled in."""
    bound = signature.bind(*args, **kwargs)
    bound.apply_defaults()
    return bound.args


def spec(value: Any, place: int | str) -> Spec:
    """The type of an argument. Raises TypingError for what is no number, array or tuple."""
    match value:
        case None:
            return None
        case bool() | np.bool_():
            return Scalar("bool")
        case np.ndarray() if type(value) is np.ndarray and value.dtype.kind in "biuf":
            return array_spec(value)
        case np.generic() if value.dtype.kind in "iuf":
            return Scalar(value.dtype.name)
        case float():
            return Scalar("float64")
        case int():
            return Scalar("int64")
        case tuple():
            return tuple(spec(item, place) for item in value)
        case _:
            raise TypingError(
                Problem(
                    f"argument {place} is a {type(value).__name__}",
                    None,
                    "arguments are real numbers, NumPy arrays of them, None, and tuples of these",
                    "convert it: np.asarray(...)",
                )
            )


def primal(function: Callable[..., Any]) -> Program:
    """The function itself, compiled alone."""
    return Program(function, "primal", None)
