"""`Pullback`: the result of `vjp`, callable any number of times; `Call`, what it runs."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcad.errors import Problem, ShapeError, TypingError
from srcad.ir.aliases import written_parameters
from srcad.ir.marks import Argnums
from srcad.runtime.interpret import interpret
from srcad.runtime.numba_private import disabled, type_of
from srcad.runtime.signatures import checked, labels, need_floats, plain_numbers, spec
from srcad.runtime.specialise import Marked, derived, innermost, specialised
from srcad.runtime.structures import alike, flat, mapped, paired, parts, restored, structured


class Call:
    """One derivative for the arguments at hand, traced now and compiled when it is called.

    It takes the arguments and what the mode adds to them (cotangents, tangents). Arrays and numbers
    from outside are read now.
    """

    def __init__(
        self, function: Callable[..., Any], mode: str, argnums: Argnums, args: tuple[Any, ...]
    ) -> None:
        python = checked(innermost(function))
        self.specs = specs = tuple(map(spec, args, labels(python)))
        need_floats(python, specs, argnums)
        self._made = None
        if disabled():
            traced = derived(Marked(mode, function, argnums), specs)
            self.gives = traced.function.gives
            self.hidden = traced.captured()
            self.written = written_parameters(traced.function)
            self._run = interpret(traced.function)
        else:
            kinds = tuple(type_of(flat(arg, one)) for arg, one in zip(args, specs, strict=True))
            several = specs if any(map(structured, specs)) else None
            self._made = specialised(function, mode, argnums, kinds, several)
            self.gives = self._made.gives
            self.hidden = [place.current() for place in self._made.hidden]
            self.written, self._run = self._made.written, self._made.inner

    def __call__(self, args: tuple[Any, ...], *more: Any) -> Any:
        given = (*self.hidden, *map(flat, args, self.specs), *more)
        if self._made is not None:
            self._made.result(tuple(map(type_of, given)))
        return restored(self.gives, plain_numbers(self._run(*given)))


def copied(value: Any) -> Any:
    """Arrays copied, C and F order kept; containers item by item."""
    return mapped(lambda v: v.copy(order="A") if isinstance(v, np.ndarray) else v, value)


class Pullback:
    """`value` is the function's result; calling gives vᵀJ for a cotangent v of its structure.

    The arguments and captured arrays are copied when it is made: what the caller writes into them
    later, or into `value`, changes nothing here.
    """

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], argnums: Argnums
    ) -> None:
        self._args = tuple(map(copied, args))
        self._joint = Call(function, "vjp", argnums, self._args)
        self._joint.hidden = [copied(value) for value in self._joint.hidden]
        self.value = Call(function, "primal", None, args)(args)
        self._result = described(self.value)

    def __call__(self, gradient: Any = None, into: Any = None) -> Any:
        """The gradient of sum(gradient * value) with respect to the chosen arguments.

        `gradient` has exactly the result's shape, may be left out for a scalar, and is a tuple for
        a tuple. With `into`, an array or a tuple of them, the gradients are added there.
        Raises ShapeError, or TypingError for another kind of number or a missing cotangent.
        """
        given = cotangent(gradient, self._result)
        args = tuple(map(copied, self._args)) if self._joint.written else self._args
        found = self._joint(args, given)
        return found if into is None else added(found, into)


@dataclass(frozen=True)
class Result:
    """One leaf of a result: what its cotangent must look like."""

    shape: tuple[int, ...]
    dtype: "np.dtype[Any]"
    is_array: bool


def described(value: Any) -> Any:
    """The structure of a result; None stands for what has no cotangent."""
    return mapped(_leaf, value)


def _leaf(value: Any) -> "Result | None":
    found = np.asarray(value)
    if value is None or found.dtype.kind != "f":
        return None
    return Result(found.shape, found.dtype, isinstance(value, np.ndarray))


def cotangent(gradient: Any, result: Any) -> Any:
    """`gradient` checked against the result and converted to its dtype: new memory."""
    inner = parts(result)
    if inner is not None and not isinstance(result, Result):
        if not alike(result, gradient):
            kind = "tuple" if inner[0] is None else inner[0].cls.__name__
            raise TypingError(
                Problem(f"`gradient` must be a {kind} of {len(inner[1])}, like the result")
            )
        return tuple(cotangent(given, one) for one, given in paired(result, gradient))
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


def _pairs(found: Any, into: Any) -> Iterator[tuple[Any, Any]]:
    """The gradients and the caller's arrays for them."""
    inner = parts(found)
    if inner is None and (into is None or parts(into) is None):
        yield found, into
    elif inner is not None and alike(found, into):
        for more, target in paired(found, into):
            if target is not None:
                yield from _pairs(more, target)
    else:
        count = 0 if inner is None else len(inner[1])
        several = f"a tuple of {count}, None where nothing is wanted"
        raise TypingError(Problem(f"`into` must be {'one array' if inner is None else several}"))


def added(found: Any, into: Any) -> Any:
    """Adds gradients into the caller's arrays, all or none; None where nothing is wanted."""
    pairs = list(_pairs(found, into))
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
