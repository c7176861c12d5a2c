"""Makes a function smaller without changing what it computes, whatever stage it comes from.

The passes feed each other, so they run in turn until nothing changes, `liveness` after each:

- `elements`    elements are addressed in the array itself, views of it disappear
- `numbering`   constants, copies, common subexpressions, loops and branches that are decided
- `checks`      range checks that always hold, or that can be made before the loop
- `invariants`  integers that do not change in a loop
- `liveness`    what nothing needs
"""

from collections.abc import Callable

from srcad.ir.nodes import Function
from srcad.transform.checking import checked
from srcad.transform.checks import checks
from srcad.transform.elements import elements
from srcad.transform.invariants import invariants
from srcad.transform.liveness import liveness
from srcad.transform.numbering import numbering

Pass = Callable[[Function], Function]

PASSES: tuple[Pass, ...] = (elements, numbering, checks, invariants)
MOST_ROUNDS = 6


def simplify(function: Function) -> Function:
    """The function simplified; simplifying again changes nothing."""
    function = liveness(function)
    quiet = 0  # passes in a row that changed nothing
    for each in PASSES * MOST_ROUNDS:
        made = liveness(each(function))  # numbering reads extents that may prove useless
        if made == function:
            quiet += 1
            if quiet == len(PASSES):
                break
        else:
            quiet, function = 0, checked(made, each.__name__)
    return function
