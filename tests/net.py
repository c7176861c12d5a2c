"""What holds for every random program: the net under the transforms.

`check` runs a program interpreted: the value is plain Python's; the tangent is that of complex
step; ⟨v, J u⟩ = ⟨Jᵀ v, u⟩; the adjoint gives the same with its plan as chosen and with everything
kept, and under both plans what the reverse sweep makes again has the bits of the forward sweep; a
second pullback gives the same; arguments are written only by the function itself, cotangents never.
`check_compiled` holds the compiled programs and the public functions to the interpreted ones.
"""

import copy
import functools
import re
from typing import Any

import complex_step
import numpy as np
import oracles
import random_programs
from corpus import Program
from ir_evaluator import Evaluator
from probes import Probing

from srcad import vjp
from srcad.errors import UnsupportedSyntax
from srcad.ir.nodes import Function

# Slopes multiply through a hundred statements, and rounding grows with them; a fault is of the size
# of the terms. Programs steeper than STEEPEST say nothing.
STEEPEST = 1e5
ROUNDING = {False: 1e-8, True: 2e-3}  # by whether single precision is in the program
SHRINKS = 100  # in long double rounding shrinks two-thousandfold, a fault stays
REFUSALS = ("depends on the run", "and written later", "while it is iterated")


class Skipped(Exception):
    """A program that says nothing: refused as documented, or too steep to compare."""


class Case:
    """A random program with its derivatives."""

    def __init__(self, text: str) -> None:
        self.text = text
        function = random_programs.loaded(text)
        self.program = Program(function, random_programs.arguments, random_programs.FLOATS)
        self.made = oracles.Derivatives(self.program)
        body = text.partition("def f(x, a, p, b, q, n):")[2]
        self.single = bool(re.search(r"\b[bq]\b", body))
        self.rounding = ROUNDING[self.single]
        self.after = self.program.fresh()  # the arguments, as the function leaves them
        self.value = oracles.plain(self.program, self.after)
        self.cotangent = oracles.random_like(self.value, 2)
        self.u = oracles.random_like(self.after, 1)

    def close(self, found: Any, expected: Any) -> None:
        oracles.assert_close(found, expected, self.rounding)

    def derived(self, run: Any, *more: Any) -> Any:
        """A derivative, from fresh arguments; what it may not write has not been written."""
        args, given = self.program.fresh(), copy.deepcopy(more)
        found = run(*args, *more)
        self.left(args)
        same_bits(more, given)
        return found

    def left(self, args: Any) -> None:
        """Arguments are left as the function itself leaves them."""
        for found, after, before in zip(args, self.after, self.program.fresh()):
            if bits(after) == bits(before):
                assert bits(found) == bits(before)
            self.close(found, after)

    @functools.cached_property
    def bars(self) -> Any:
        """vᵀJ. Raises Skipped."""
        try:
            bars = self.derived(self.made.vjp, self.cotangent)
        except UnsupportedSyntax as error:
            if not any(text in str(error) for text in REFUSALS):
                raise
            raise Skipped("refused") from None
        if max(float(np.max(np.abs(b), initial=0.0)) for b in oracles.leaves(bars)) > STEEPEST:
            raise Skipped("too steep")
        return bars


def check(text: str) -> None:
    """Everything that needs no compiler. AssertionError for a fault, Skipped for no answer."""
    case = Case(text)
    bars = case.bars
    case.close(case.derived(case.made.primal), case.value)
    dots = case.derived(case.made.jvp, case.u)
    same_as_complex_step(case, dots)
    same_sum(case, dots)
    probing = Probing(case.made)
    for force_keep in (False, True):
        results = probing.run(probing.planned(force_keep=force_keep)).results
        case.close(results, [*oracles.leaves(case.value), *oracles.leaves(bars)])
    same_bits(case.made.vjp(*case.program.fresh(), case.cotangent), bars)


def same_as_complex_step(case: Case, dots: Any) -> None:
    value, expected = complex_step.tangents(case.text, case.program.fresh(), case.u)
    try:
        case.close(value, case.value)
    except AssertionError:
        assert case.single  # took another branch in double precision
    else:
        case.close(list(dots), oracles.leaves(expected))


def same_sum(case: Case, dots: Any) -> None:
    """The dot-product identity; a miss is repeated in long double."""
    (first, scale), (second, scale_2) = (
        oracles.terms(case.cotangent, dots),
        oracles.terms(case.bars, case.u),
    )
    miss = abs(first - second)
    assert np.isfinite(miss)
    if miss > case.rounding * 1e-3 * (1.0 + scale + scale_2):
        again = wide_miss(case)
        assert again <= miss / SHRINKS, f"{first} is not {second}; in long double off by {again}"


def wide_miss(case: Case) -> float:
    """How far ⟨v, J u⟩ and ⟨Jᵀ v, u⟩ are apart in long double."""
    made, argnums = case.made, case.program.argnums
    seeds, moves = oracles.floats(case.cotangent), oracles.floats(case.u)
    dots = _wide_run(case, made.derive("jvp", argnums), moves)[-len(seeds) :]
    bars = _wide_run(case, made.pullback, seeds)
    return float(abs(_inner(seeds, dots) - _inner(bars, moves)))


def _wide_run(case: Case, function: Function, more: Any) -> list[Any]:
    given = [*case.made.trace.captured(), *oracles.leaves(case.program.fresh()), *more]
    values = zip(function.params, map(_wide, given), strict=True)
    callees = {callee.name: callee for callee in function.callees}
    with np.errstate(all="ignore"):
        return Wide(dict(values), callees).block(function.body)


def _inner(left: Any, right: Any) -> Any:
    return sum(np.sum(np.multiply(_wide(a), _wide(b))) for a, b in zip(left, right, strict=True))


def _wide(value: Any) -> Any:
    value = np.asarray(value)
    return (value.astype(np.longdouble) if value.dtype.kind == "f" else value.copy())[()]


class Wide(Evaluator):
    """Every float in long double, whatever the program says."""

    def dtype(self, name: str) -> Any:
        return np.dtype(np.longdouble if name.startswith("float") else name)


def bits(value: Any) -> list[bytes]:
    return [np.asarray(leaf).tobytes() for leaf in oracles.leaves(value)]


def same_bits(found: Any, expected: Any) -> None:
    assert bits(found) == bits(expected)


def check_compiled(text: str) -> None:
    """Compiled is interpreted, and a pullback can be called any number of times."""
    case = Case(text)
    bars, args = case.bars, case.program.fresh()
    pullback = vjp(case.program.fn, *args)
    case.close(pullback.value, case.value)
    for _ in range(2):
        case.close(pullback(case.cotangent)[:-1], bars)
    case.left(args)
