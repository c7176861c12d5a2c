"""Every program of the corpus: dot-product identity, differences, every value forced to a tape.

The identity does not see a rule that is wrong in both modes; the differences do.
"""

from typing import Any

import numpy as np
import pytest
from programs import PROGRAMS, Program

from srcad import ops
from srcad.ir.nodes import Function
from srcad.ir.verifier import verify
from srcad.runtime.interpret import interpret
from srcad.runtime.programs import spec
from srcad.tracer import trace
from srcad.transform.adjoint import adjoint
from srcad.transform.references import references
from srcad.transform.tangent import tangent

ROUNDING = 1e-12  # orders of summation differ by a few hundred terms of size 1
DIFFERENCES = 2e-7  # central differences with step 1e-6
IDS = [p.function.__name__ for p in PROGRAMS]


def flat(value: Any) -> np.ndarray:
    parts = value if isinstance(value, tuple | list) else (value,)
    return np.concatenate([np.ravel(np.asarray(p, dtype=float)) for p in parts])


def directions(arrays: tuple[Any, ...], seed: int) -> tuple[Any, ...]:
    r = np.random.default_rng(seed)
    made = (r.standard_normal(np.shape(a)) for a in arrays)
    return tuple(m if np.ndim(m) else float(m) for m in made)


def traced(case: Program) -> Function:
    made = trace(case.function, tuple(spec(a, k) for k, a in enumerate(case.arguments())))
    verify(made.function, ops.result_type)
    return references(made.function)


def places(function: Function, case: Program) -> tuple[int, ...]:
    return tuple(function.captured + k for k in case.argnums)


@pytest.mark.parametrize("force_keep", [False, True])
@pytest.mark.parametrize("case", PROGRAMS, ids=IDS)
def test_first_order(case: Program, force_keep: bool) -> None:
    f = traced(case)
    wrt = places(f, case)
    backwards, forwards = adjoint(f, wrt, force_keep=force_keep), tangent(f, wrt)
    verify(backwards, ops.result_type)
    verify(forwards, ops.result_type)
    chosen = tuple(case.arguments()[k] for k in case.argnums)
    u = directions(chosen, 1)
    value, (dot,) = interpret(forwards)(*case.arguments(), u)
    (v,) = directions((value,), 2)
    _, bars = interpret(backwards)(*case.arguments(), v)
    left = float(np.sum(np.asarray(v) * dot))
    assert flat(bars) @ flat(u) == pytest.approx(left, rel=ROUNDING, abs=ROUNDING)

    def moved(h: float) -> np.ndarray:
        arguments = list(case.arguments())
        for k, d in zip(case.argnums, u, strict=True):
            arguments[k] = arguments[k] + h * d
        return np.asarray(case.function(*arguments))

    step = (moved(1e-6) - moved(-1e-6)) / 2e-6
    np.testing.assert_allclose(dot, step, rtol=DIFFERENCES, atol=DIFFERENCES)


@pytest.mark.parametrize("case", PROGRAMS, ids=IDS)
def test_second_order(case: Program) -> None:
    """The tangent of the adjoint against the adjoint of the adjoint."""
    f = traced(case)
    wrt = places(f, case)
    first = references(adjoint(f, wrt))
    value = interpret(f)(*case.arguments())
    (v,) = directions((value,), 3)
    chosen = tuple(case.arguments()[k] for k in case.argnums)
    u, seeds = directions(chosen, 4), directions(chosen, 5)
    _, dots = interpret(tangent(first, wrt))(*case.arguments(), v, u)
    zero = np.zeros(np.shape(value)) if np.ndim(value) else 0.0
    _, bars = interpret(adjoint(first, wrt))(*case.arguments(), v, (zero, seeds))
    left = flat(dots[1:]) @ flat(seeds)
    assert flat(bars) @ flat(u) == pytest.approx(left, rel=ROUNDING, abs=ROUNDING)
