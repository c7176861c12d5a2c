"""`Pullback`: the result of `vjp`, callable any number of times; `Call`, what it runs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcad.errors import Problem, ShapeError, TypingError
from srcad.ir.aliases import written_parameters
from srcad.ir.marks import Argnums
from srcad.runtime.interpret import interpret
from srcad.runtime.numba_private import disabled, type_of
from srcad.runtime.signatures import checked, labels, plain_numbers, spec
from srcad.runtime.specialise import Marked, derived, innermost, specialised


class Call:
    """One derivative for the arguments at hand, traced now and compiled when it is called.

    It takes the arguments and what the mode adds to them (cotangents, tangents). Arrays and numbers
    from outside are read now.
    """

    def __init__(
        self, function: Callable[..., Any], mode: str, argnums: Argnums, args: tuple[Any, ...]
    ) -> None:
        python = checked(innermost(function))
        specs = tuple(map(spec, args, labels(python)))
        self._made = None
        if disabled():
            traced = derived(Marked(mode, function, argnums), specs)
            self.hidden = traced.captured()
            self.written = written_parameters(traced.function)
            self._run = interpret(traced.function)
        else:
            self._made = specialised(function, mode, argnums, tuple(map(type_of, args)))
            self.hidden = [place.current() for place in self._made.hidden]
            self.written, self._run = self._made.written, self._made.inner

    def __call__(self, *args: Any) -> Any:
        given = (*self.hidden, *args)
        if self._made is not None:
            self._made.result(tuple(map(type_of, given)))
        return plain_numbers(self._run(*given))


def copied(value: Any) -> Any:
    """Arrays copied, C and F order kept; tuples item by item."""
    if isinstance(value, tuple):
        return tuple(map(copied, value))
    return value.copy(order="A") if isinstance(value, np.ndarray) else value


class Pullback:
    """`value` is the function's result; calling gives vᵀJ for a cotangent v of its structure.

    The arguments and captured arrays are copied when it is made: what the caller writes into them
    later, or into `value`, changes nothing here.
    """

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], argnums: Argnums
    ) -> None:
        self._args = copied(args)
        self._joint = Call(function, "vjp", argnums, self._args)
        self._joint.hidden = [copied(value) for value in self._joint.hidden]
        self.value = Call(function, "primal", None, args)(*args)
        self._result = described(self.value)

    def __call__(self, gradient: Any = None, into: Any = None) -> Any:
        """The gradient of sum(gradient * value) with respect to the chosen arguments.

        `gradient` has exactly the result's shape, may be left out for a scalar, and is a tuple for
        a tuple. With `into`, an array or a tuple of them, the gradients are added there.
        Raises ShapeError, or TypingError for another kind of number or a missing cotangent.
        """
        given = cotangent(gradient, self._result)
        args = copied(self._args) if self._joint.written else self._args
        found = self._joint(*args, given)
        return found if into is None else added(found, into)


@dataclass(frozen=True)
class Result:
    """One leaf of a result: what its cotangent must look like."""

    shape: tuple[int, ...]
    dtype: "np.dtype[Any]"
    is_array: bool


def described(value: Any) -> Any:
    """The structure of a result; None stands for what has no cotangent."""
    if isinstance(value, tuple):
        return tuple(map(described, value))
    found = np.asarray(value)
    if value is None or found.dtype.kind != "f":
        return None
    return Result(found.shape, found.dtype, isinstance(value, np.ndarray))


def cotangent(gradient: Any, result: Any) -> Any:
    """`gradient` checked against the result and converted to its dtype: new memory."""
    if isinstance(result, tuple):
        if not isinstance(gradient, tuple | list) or len(gradient) != len(result):
            raise TypingError(
                Problem(f"`gradient` must be a tuple of {len(result)}, like the result")
            )
        return tuple(map(cotangent, gradient, result))
    if result is None:
        return None
    if gradient is None and result.shape == ():
        gradient = 1.0
    if gradient is None:
        raise TypingError(
            Problem(
                "`gradient` is missing",
                None,
                f"the result is an array of shape {result.shape}, not a scalar",
                "pass the cotangent of the result: pullback(gradient)",
            )
        )
    got = _array(gradient, result)
    made = np.array(got, dtype=result.dtype, order="C")
    return made if result.is_array else made.item()


def _array(gradient: Any, result: Result) -> Any:
    """The cotangent as an array of the right shape and kind."""
    try:
        got = np.asarray(gradient)
    except ValueError as error:
        raise ShapeError(Problem("`gradient` has rows of different lengths")) from error
    if not np.can_cast(got.dtype, result.dtype, "same_kind"):
        raise TypingError(Problem(f"`gradient` is {got.dtype}, the result is {result.dtype}"))
    if got.shape != result.shape:
        raise ShapeError(
            Problem(f"`gradient` has shape {got.shape}, the result has shape {result.shape}")
        )
    return got


def added(found: Any, into: Any) -> Any:
    """Adds gradients into the caller's arrays, all or none; None where nothing is wanted."""
    several = isinstance(found, tuple)
    if several != isinstance(into, tuple | list) or (several and len(found) != len(into)):
        want = f"a tuple of {len(found)}, None where nothing is wanted" if several else "one array"
        raise TypingError(Problem(f"`into` must be {want}"))
    pairs = list(zip(found, into, strict=True)) if several else [(found, into)]
    wanted = [(more, target) for more, target in pairs if target is not None]
    for more, target in wanted:
        if not isinstance(target, np.ndarray):
            raise TypingError(Problem(f"`into` holds a {type(target).__name__}, not an array"))
        if target.shape != np.shape(more):
            raise ShapeError(
                Problem(f"`into` has shape {target.shape}, the gradient has {np.shape(more)}")
            )
        if not target.flags.writeable:
            raise TypingError(Problem("`into` holds an array that is read-only"))
        if not np.can_cast(np.asarray(more).dtype, target.dtype, "same_kind"):
            raise TypingError(Problem(f"`into` holds an array of {target.dtype}"))
    for more, target in wanted:
        target += more
    return into
