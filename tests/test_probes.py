"""Probes: what the reverse sweep reads again has the same bits as in the forward sweep.

The reverse sweep meets the iterations in exactly the opposite order, so one stack per planned
value is all the bookkeeping (ADJOINT section 11): each definition pushes, each repetition pops and
must find the same bits, and all stacks end empty. This sees wrong reloads, recomputations,
positions and trip counts. It does not see shadows, forgotten requests or wrong rules; the
dot-product identity does.
"""

from collections.abc import Iterable
from typing import Any

import numpy as np
import oracles
import pytest
from corpus import ALL
from corpus.program import Program
from ir_evaluator import Evaluator
from test_programs import cases

from srcad import ops
from srcad.errors import InternalError
from srcad.ir.nodes import Function, Load, Var
from srcad.ir.verifier import verify
from srcad.transform.adjoint import Joint, asked, emitted, planned
from srcad.transform.legal import check
from srcad.transform.plan import Plan, Source
from srcad.transform.references import references
from srcad.transform.simplify import simplify
from srcad.transform.split import split


class Probed(dict[Var, Any]):
    """The values of a run, watched: definitions push, repetitions pop and compare."""

    def __init__(self, given: Iterable[tuple[Var, Any]], made: Joint) -> None:
        super().__init__(given)
        self.remade = made.remade
        self.stacks: dict[Var, list[Any]] = {var: [] for var in made.remade.values()}
        self.compared = 0

    def __setitem__(self, var: Var, value: Any) -> None:
        super().__setitem__(var, value)
        if var in self.stacks:
            self.stacks[var].append(value)
        if var in self.remade:
            before = self.stacks[self.remade[var]].pop()
            assert same_bits(before, value), f"{var} is {value}, and was {before}"
            self.compared += 1

    def update(self, pairs: Any) -> None:  # type: ignore[override]
        for var, value in pairs:
            self[var] = value


def same_bits(first: Any, second: Any) -> bool:
    a, b = np.asarray(first), np.asarray(second)
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


def flat(case: Program, made: Joint, captured: list[Any]) -> list[Any]:
    args = [*captured, *oracles.leaves(case.fresh())]
    cotangent = oracles.random_like(oracles.plain(case, case.fresh()), 1)
    given = args + oracles.floats(cotangent)
    params = made.function.params
    assert len(given) == len(params)
    return [as_type(value, param) for value, param in zip(given, params, strict=True)]


def as_type(value: Any, param: Var) -> Any:
    return value if isinstance(value, np.ndarray) else np.dtype(param.type.dtype).type(value)


def prepared(case: Program) -> tuple[Function, tuple[int, ...], list[Any]]:
    """The function before its adjoint, the places of what is differentiated, what it captured."""
    made = oracles.derivatives(case)
    trace = made.trace
    function = simplify(split(simplify(references(trace.function))))
    return function, made.places(function), list(trace.captured())


class ProbedCalls(Evaluator):
    """Runs what is called with probes of its own."""

    def __init__(
        self, values: Probed, joints: dict[str, Joint], primal: dict[str, Function]
    ) -> None:
        super().__init__(values, primal)
        self.joints, self.primal = joints, primal

    def called(self, name: str, args: list[Any]) -> list[Any]:
        if name not in self.joints:
            return super().called(name, args)
        joint = self.joints[name]
        values = Probed(zip(joint.function.params, args, strict=True), joint)
        results = ProbedCalls(values, self.joints, self.primal).block(joint.function.body)
        assert not any(values.stacks.values()), "a value was not read as often as it was made"
        self.values.compared += values.compared
        return results


def run(case: Program, plan: Plan, wrt: tuple[int, ...], captured: list[Any]) -> Probed:
    made = emitted(plan, wrt)
    verify(made.function, ops.result_type)
    joints = asked(plan.function, made.requests, force_keep=plan.force_keep)
    primal = {callee.name: callee for callee in plan.function.callees}
    values = Probed(zip(made.function.params, flat(case, made, captured), strict=True), made)
    with np.errstate(all="ignore"):
        ProbedCalls(values, joints, primal).block(made.function.body)
    assert not any(values.stacks.values()), "a value was not read as often as it was made"
    return values


@pytest.mark.parametrize("force_keep", [False, True])
@pytest.mark.parametrize("case", cases())
def test_repeated_values_have_the_same_bits(case: Program, force_keep: bool) -> None:
    function, wrt, captured = prepared(case)
    run(case, planned(function, wrt, force_keep=force_keep), wrt, captured)


def test_probes_compare_something() -> None:
    case = next(p for p in ALL if p.name == "two_buffers")
    function, wrt, captured = prepared(case)
    assert run(case, planned(function, wrt), wrt, captured).compared > 50


def test_a_wrong_reload_is_seen_by_probes_and_by_the_checker() -> None:
    """A value that changes afterwards, read again from memory: another plan than is legal."""
    case = next(p for p in ALL if p.name == "two_buffers")
    function, wrt, captured = prepared(case)
    plan = planned(function, wrt)
    kept = [v for v, s in plan.sources.items() if s is Source.KEEP]
    loads = [v for v in kept if isinstance(plan.found.owner[v], Load)]
    for var in loads:
        plan.sources[var] = Source.RELOAD
    with pytest.raises(InternalError, match="RELOAD"):
        check(plan)
    with pytest.raises(AssertionError, match="and was"):
        run(case, plan, wrt, captured)


def test_the_checker_refuses_what_is_not_reversed() -> None:
    case = next(p for p in ALL if p.name == "two_buffers")
    function, wrt, _ = prepared(case)
    plan = planned(function, wrt)
    plan.reversed.pop()
    with pytest.raises(InternalError, match="not reversed"):
        check(plan)
