"""The checker of the plan: refuses a source that could give another value than the first sweep's.

It knows nothing of how the planner chooses; a better planner changes the table, not this file.
"""

from srcad.errors import InternalError
from srcad.ir.nodes import (
    Atom,
    Call,
    Const,
    For,
    Let,
    Load,
    Var,
    View,
    While,
)
from srcad.ir.types import Array
from srcad.ir.walk import how_atoms, walk
from srcad.transform.plan import Plan, Source, needs_reverse


def check(plan: Plan) -> None:
    """Raises InternalError if a value cannot come from where the plan says."""
    for var, source in plan.sources.items():
        if not _legal(plan, var, source):
            raise InternalError(
                f"in {plan.function.name}: {var} cannot be had as {source.name}: {source.value}"
            )
    for stmt in walk(plan.function.body):
        if needs_reverse(stmt, plan.active):
            missing = [s for s in (*plan.found.around(stmt), stmt) if id(s) not in plan.reversed]
            if isinstance(stmt, Call):
                _entry(plan, stmt)
            if missing:
                raise InternalError(f"in {plan.function.name}: {missing[0]} is not reversed")


def _entry(plan: Plan, call: Call) -> None:
    """What a call is given again must be what it was given first."""
    for arg in call.args:
        if not isinstance(arg, Var) or not isinstance(arg.type, Array):
            known = _planned(plan, (arg,))
        elif arg in call.writes:
            known = (arg, id(call)) in plan.copies
        else:
            unchanged = plan.memory.holds(call, arg, plan.scope_depth(call))
            known = unchanged or (arg, id(call)) in plan.copies
        if not known:
            raise InternalError(f"in {plan.function.name}: {arg} of a call is not planned")


def _legal(plan: Plan, var: Var, source: Source) -> bool:
    stmt = plan.found.owner[var]
    match source:
        case Source.IN_SCOPE:
            return plan.visible(var)
        case Source.INDEX:
            return isinstance(stmt, For | While) and var == stmt.index
        case Source.RECOMPUTE:
            return isinstance(stmt, Let) and plan.recomputable(stmt) and _planned(plan, stmt.args)
        case Source.RELOAD:
            return isinstance(stmt, Load) and _readable(plan, stmt, plan.scope_depth(stmt))
        case Source.KEEP_ARRAY:
            copy = plan.copied.get(var)
            if not isinstance(stmt, Load) or copy is None or copy.key not in plan.copies:
                return False
            depth = plan.scope_depth(stmt) + len(copy.around)
            at_end = plan.found.place[id(stmt)].within[depth] is copy.place
            return at_end and _readable(plan, stmt, depth) and _stops(plan, copy.loops)
        case Source.KEEP:
            return not plan.visible(var) and _stops(plan, plan.loops_around(var))


def _readable(plan: Plan, load: Load, depth: int) -> bool:
    """Whether the element can be found again, and is the same at the end of the region."""
    array, atoms = load.array, list(load.index)
    while isinstance(view := plan.found.owner[array], View) and view.out == array:
        if not plan.visible(array):
            atoms += how_atoms(view.how)
        array = view.array
    return _planned(plan, tuple(atoms)) and plan.memory.holds(load, load.array, depth)


def _stops(plan: Plan, loops: tuple[For | While, ...]) -> bool:
    return _planned(plan, tuple(s.stop if isinstance(s, For) else s.trips for s in loops))


def _planned(plan: Plan, atoms: tuple[Atom, ...]) -> bool:
    return all(
        isinstance(atom, Const) or isinstance(atom.type, Array) or atom in plan.sources
        for atom in atoms
    )
