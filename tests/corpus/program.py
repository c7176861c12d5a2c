"""One program of the corpus, and the list that collects a module's programs."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np


@dataclass(frozen=True, eq=False)
class Program:
    """A function, fresh arguments for it, and what holds at that point.

    `argnums` are the float arguments that are differentiated. `expect` are the gradients of the
    sum of the result's elements, where they are known exactly. `kink`: differences mean nothing
    here. `pole`: an infinite slope, so that only exact values can be compared. `mutates`: the
    function writes into an argument. `compiled`: also run through Numba. `second`: the identity
    is held at second order too.
    """

    fn: Callable[..., Any]
    fresh: Callable[[], tuple[Any, ...]]
    argnums: tuple[int, ...]
    expect: tuple[Any, ...] | None = None
    kink: bool = False
    mutates: bool = False
    compiled: bool = False
    second: bool = True
    pole: bool = False

    @property
    def name(self) -> str:
        return self.fn.__name__


def copied(value: Any) -> Any:
    """Arrays copied, C and F order kept; tuples item by item."""
    if isinstance(value, tuple):
        return tuple(map(copied, value))
    return value.copy(order="A") if isinstance(value, np.ndarray) else value


class Programs(list[Program]):
    """The programs of one module, in order."""

    def add(self, *arguments: Any, argnums: tuple[int, ...] = (0,), **flags: Any) -> Any:
        """A decorator that files a function under these arguments.

        A single callable instead of arguments makes them; arrays of odd strides come that way,
        because a copy would lose the strides.
        """
        made = arguments[0] if len(arguments) == 1 and callable(arguments[0]) else None

        def fresh() -> tuple[Any, ...]:
            return made() if made else tuple(map(copied, arguments))

        def register(fn: Callable[..., Any]) -> Callable[..., Any]:
            self.append(Program(fn, fresh, argnums, **flags))
            return fn

        return register
