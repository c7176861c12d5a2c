"""The corpus under probes, and what they see (`probes` says how they work)."""

import pytest
from corpus import ALL
from corpus.program import Program
from oracles import derivatives
from probes import Probing
from test_programs import cases

from srcad.errors import InternalError
from srcad.ir.nodes import Load
from srcad.transform.legal import check
from srcad.transform.plan import Source


def probing(case: Program) -> Probing:
    return Probing(derivatives(case))


def two_buffers() -> Probing:
    return probing(next(p for p in ALL if p.name == "two_buffers"))


@pytest.mark.parametrize("force_keep", [False, True])
@pytest.mark.parametrize("case", cases())
def test_repeated_values_have_the_same_bits(case: Program, force_keep: bool) -> None:
    made = probing(case)
    made.run(made.planned(force_keep=force_keep))


def test_probes_compare_something() -> None:
    made = two_buffers()
    assert made.run(made.planned()).compared > 50


def test_a_wrong_reload_is_seen_by_probes_and_by_the_checker() -> None:
    """A value that changes afterwards, read again from memory: another plan than is legal."""
    made = two_buffers()
    plan = made.planned()
    kept = [v for v, s in plan.sources.items() if s is Source.KEEP]
    loads = [v for v in kept if isinstance(plan.found.owner[v], Load)]
    for var in loads:
        plan.sources[var] = Source.RELOAD
    with pytest.raises(InternalError, match="RELOAD"):
        check(plan)
    with pytest.raises(AssertionError, match="and was"):
        made.run(plan)


def test_the_checker_refuses_what_is_not_reversed() -> None:
    plan = two_buffers().planned()
    plan.reversed.pop()
    with pytest.raises(InternalError, match="not reversed"):
        check(plan)
