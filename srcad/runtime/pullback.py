"""`Pullback`: the result of `vjp`, callable any number of times."""

from collections.abc import Callable
from typing import Any

import numpy as np

from srcad.errors import Problem, ShapeError, TypingError
from srcad.ir.marks import Argnums
from srcad.runtime.programs import Program, primal


def copied(value: Any) -> Any:
    """Arrays copied, C and F order kept; tuples item by item."""
    if isinstance(value, tuple):
        return tuple(map(copied, value))
    return value.copy(order="A") if isinstance(value, np.ndarray) else value


class Pullback:
    """`value` is the function's result; calling gives vᵀJ for a cotangent v of its structure."""

    def __init__(
        self, function: Callable[..., Any], args: tuple[Any, ...], argnums: Argnums
    ) -> None:
        self._args = copied(args)
        self._program = Program(function, "vjp", argnums)
        self.value = primal(function)(*args)
        self._result = copied(self.value)

    def __call__(self, gradient: Any = None, into: Any = None) -> Any:
        """The gradient of sum(gradient * value) with respect to the chosen arguments.

        `gradient` has exactly the result's shape, may be left out for a scalar, and is a tuple for
        a tuple. With `into`, an array or a tuple of them, the gradients are added there.
        Raises ShapeError, or TypingError for another kind of number or a missing cotangent.
        """
        given = cotangent(gradient, self._result)
        found = self._program(*copied(self._args), given)
        if into is None:
            return found
        if isinstance(into, tuple):
            for target, more in zip(into, found, strict=True):
                if target is not None:
                    target += more
        else:
            into += found
        return into


def cotangent(gradient: Any, result: Any) -> Any:
    """`gradient` checked against the result and converted to its dtype."""
    if isinstance(result, tuple):
        if not isinstance(gradient, tuple | list) or len(gradient) != len(result):
            raise TypingError(
                Problem(f"`gradient` must be a tuple of {len(result)}, like the result")
            )
        return tuple(map(cotangent, gradient, result))
    want = np.asarray(result)
    if result is None or want.dtype.kind != "f":
        return None
    if gradient is None:
        if want.ndim:
            raise TypingError(
                Problem(
                    "`gradient` is missing",
                    None,
                    f"the result is an array of shape {want.shape}, not a scalar",
                    "pass the cotangent of the result: pullback(gradient)",
                )
            )
        return want.dtype.type(1.0).item() if not isinstance(result, np.ndarray) else want * 0 + 1
    got = np.asarray(gradient)
    if not np.can_cast(got.dtype, want.dtype, "same_kind"):
        raise TypingError(Problem(f"`gradient` is {got.dtype}, the result is {want.dtype}"))
    if got.shape != want.shape:
        raise ShapeError(
            Problem(f"`gradient` has shape {got.shape}, the result has shape {want.shape}")
        )
    made = np.array(got, dtype=want.dtype, order="C")
    return made if isinstance(result, np.ndarray) else made.item()
