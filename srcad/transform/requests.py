"""Derivatives of functions that call themselves: what a program asks for, by name.

A call is reversed by a call of the callee's own joint program on what the call was given: it runs
the function again and then backwards. No tape crosses the call, so memory goes with the depth; a
chain of n calls costs n * n / 2 steps, a balanced tree its depth times the steps.
"""

from dataclasses import dataclass

from srcad.ir.aliases import written_parameters
from srcad.ir.nodes import Call, Function
from srcad.ir.types import is_float
from srcad.ir.walk import walk
from srcad.transform.activity import activity
from srcad.transform.facts import facts


@dataclass(frozen=True)
class Request:
    """The derivative `mode` of a callee in the parameters that `pattern` marks."""

    name: str
    mode: str
    callee: Function
    pattern: tuple[bool, ...]

    @property
    def places(self) -> tuple[int, ...]:
        return tuple(k for k, wanted in enumerate(self.pattern) if wanted)


def request_of(mode: str, caller: Function, name: str, flags: tuple[bool, ...]) -> Request:
    """What a call in `caller` with these active arguments asks for.

    Parameters that the callee makes active where it calls itself are active too.
    """
    callee = next(one for one in (*caller.callees, caller) if one.name == name)
    pattern = _closed(callee, flags)
    floats = tuple(is_float(p.type) for p in callee.params)
    places = (
        "" if pattern == floats else "_".join(("", *(str(k) for k, f in enumerate(pattern) if f)))
    )
    return Request(f"{name}_{mode}{places}", mode, callee, pattern)


def _closed(callee: Function, flags: tuple[bool, ...]) -> tuple[bool, ...]:
    """The flags with those of parameters that get varied values from calls of itself inside."""
    found, pattern = facts(callee), list(flags)
    while True:
        wrt = (p for p, wanted in zip(callee.params, pattern, strict=True) if wanted)
        active = activity(callee, found, wrt)
        before = list(pattern)
        for stmt in walk(callee.body):
            if isinstance(stmt, Call) and stmt.callee == callee.name:
                pattern = [
                    p or active.is_varied(a) for p, a in zip(pattern, stmt.args, strict=True)
                ]
        for k in written_parameters(callee):
            pattern[k] = pattern[k] or active.is_varied(callee.params[k])
        if pattern == before:
            return tuple(pattern)
