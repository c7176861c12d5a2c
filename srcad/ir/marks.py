"""How the tracer knows srcad's own objects when user code calls them.

Such an object has an attribute `__srcad__` that holds a `Mark`. Following its `py_func` instead
would lose the derivative without a word.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from srcad.ir.nodes import Function

Argnums = int | str | tuple[int | str, ...] | None


@dataclass(frozen=True, slots=True)
class Mark:
    """What a marked object stands for: `mode` applied to `inner`.

    `inner` and `argnums` are None for the functions `vjp` and `jvp`, which get them at the call.
    """

    mode: str
    inner: Callable[..., Any] | None = None
    argnums: Argnums = None


Derive = Callable[[Function, str, Argnums], Function]
