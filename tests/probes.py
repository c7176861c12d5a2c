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
from ir_evaluator import Evaluator

from srcad import ops
from srcad.ir.nodes import Function, Var
from srcad.ir.verifier import verify
from srcad.transform.adjoint import Joint, asked, emitted, planned
from srcad.transform.plan import Plan
from srcad.transform.references import references
from srcad.transform.simplify import simplify
from srcad.transform.split import split

UNREAD = "a value was not read as often as it was made"


class Probed(dict[Var, Any]):
    """The values of a run, watched: definitions push, repetitions pop and compare."""

    def __init__(self, given: Iterable[tuple[Var, Any]], made: Joint) -> None:
        super().__init__(given)
        self.remade = made.remade
        self.stacks: dict[Var, list[Any]] = {var: [] for var in made.remade.values()}
        self.compared = 0
        self.results: list[Any] = []

    def __setitem__(self, var: Var, value: Any) -> None:
        super().__setitem__(var, value)
        if var in self.stacks:
            self.stacks[var].append(value)
        if var in self.remade:
            before = self.stacks[self.remade[var]].pop()
            assert same_bits(before, value), f"{var} is {value}, and was {before}"
            self.compared += 1

    def update(self, pairs: Any) -> None:
        for var, value in pairs:
            self[var] = value


def same_bits(first: Any, second: Any) -> bool:
    a, b = np.asarray(first), np.asarray(second)
    return a.dtype == b.dtype and a.tobytes() == b.tobytes()


def as_type(value: Any, param: Var) -> Any:
    return value if isinstance(value, np.ndarray) else np.dtype(param.type.dtype).type(value)


class ProbedCalls(Evaluator):
    """Runs what is called with probes of its own."""

    def __init__(
        self, values: Probed, joints: dict[str, Joint], primal: dict[str, Function]
    ) -> None:
        super().__init__(values, primal)
        self.joints, self.primal = joints, primal

    def called(self, name: str, args: list[Any]) -> list[Any]:
        if name not in self.joints:
            return Evaluator(self.values, self.primal).called(name, args)
        joint = self.joints[name]
        values = Probed(zip(joint.function.params, args, strict=True), joint)
        results = ProbedCalls(values, self.joints, self.primal).block(joint.function.body)
        assert not any(values.stacks.values()), UNREAD
        self.values.compared += values.compared
        return results


class Probing:
    """The adjoint of a case, to be run with probes under any plan."""

    def __init__(self, made: oracles.Derivatives) -> None:
        self.case = made.case
        self.captured = list(made.trace.captured())
        self.function = simplify(split(simplify(references(made.trace.function))))
        self.wrt = made.places(self.function)

    def planned(self, *, force_keep: bool = False) -> Plan:
        return planned(self.function, self.wrt, force_keep=force_keep)

    def run(self, plan: Plan) -> Probed:
        made = emitted(plan, self.wrt)
        verify(made.function, ops.result_type)
        joints = asked(plan.function, made.requests, force_keep=plan.force_keep)
        primal = {callee.name: callee for callee in plan.function.callees}
        values = Probed(zip(made.function.params, self.flat(made), strict=True), made)
        with np.errstate(all="ignore"):
            values.results = ProbedCalls(values, joints, primal).block(made.function.body)
        assert not any(values.stacks.values()), UNREAD
        return values

    def flat(self, made: Joint) -> list[Any]:
        """The flat arguments, and cotangents."""
        cotangent = oracles.random_like(oracles.plain(self.case, self.case.fresh()), 2)
        given = [*self.captured, *oracles.leaves(self.case.fresh()), *oracles.floats(cotangent)]
        return [as_type(v, p) for v, p in zip(given, made.function.params, strict=True)]
