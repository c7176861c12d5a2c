"""Where the reverse sweep gets its values: the sources that known programs must reach.

The corpus holds that the derivatives are right; this holds that they are cheap: which memory is
proved final, which arrays are kept whole, and how many numbers a step keeps.
"""

from collections import Counter
from typing import Any

import oracles
import pytest
from corpus import ALL

from srcad.ir.nodes import Function
from srcad.transform.activity import activity
from srcad.transform.facts import facts
from srcad.transform.plan import Plan, plan
from srcad.transform.references import references
from srcad.transform.simplify import simplify

# program: the numbers of scalar values that are kept, loaded from kept arrays, loaded again
SOURCES = {
    "elimination": (1, 0, 4),
    "cholesky_loops": (2, 0, 4),
    "lu_dot_form": (1, 0, 4),
    "trajectory": (0, 0, 3),
    "two_buffers": (2, 2, 0),
    "buffers_until_small": (2, 2, 0),
    "final_behind_a_window": (0, 0, 2),
}


def planned(name: str) -> Plan:
    case = next(p for p in ALL if p.name == name)
    made = oracles.derivatives(case)
    function: Function = simplify(references(made.trace.function))
    found = facts(function)
    wrt = tuple(function.params[k] for k in made.places(function))
    return plan(function, found, activity(function, found, wrt))


@pytest.mark.parametrize("name", SOURCES)
def test_sources(name: str) -> None:
    made = planned(name)
    floats = (s.name for v, s in made.sources.items() if v.type.dtype.startswith("float"))
    count: Counter[Any] = Counter(floats)
    assert (count["KEEP"], count["KEEP_ARRAY"], count["RELOAD"]) == SOURCES[name]


def test_operands_that_change_are_copied_and_others_are_not() -> None:
    assert {copy.array.hint for copy in planned("powers_of_a_matrix").copies.values()}
    assert not planned("products_of_one_buffer").copies


def test_tape_is_no_larger_than_the_work() -> None:
    """A kept array in a branch is kept when the branch is taken, not at every step."""
    made = planned("observed_now_and_then")
    assert [len(copy.around) for copy in made.copies.values()] == [2, 2]
