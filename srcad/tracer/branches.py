"""Branches on run-time values: both arms are traced, and the names that differ are joined."""

import ast
from collections.abc import Callable, Collection, Iterable

from srcad import ops
from srcad.ir.builder import OpenBlock
from srcad.ir.nodes import Assert, Atom, Block, Const, If, Var, const
from srcad.ir.types import BOOL
from srcad.tracer import boxes, joins
from srcad.tracer.flow import RESULT, flag_of
from srcad.tracer.machine import Machine, Unfinished
from srcad.tracer.values import UNSET, Box, Num, Value

CHOSEN = "__chosen"  # the name that the arms of a conditional expression set
Names = dict[str | Box, Value]


def statement(machine: Machine, stmt: ast.If) -> None:
    """`if`. In an arm where one of `flow`'s flags is known, it is known while tracing."""
    cond = machine.truth(machine.expr(stmt.test))
    flag = flag_of(stmt.test)

    def arm(body: list[ast.stmt], first: bool) -> Callable[[], None]:
        def run() -> None:
            if flag is not None and not isinstance(cond, bool):
                machine.here.names[flag[0]] = flag[1] is first
            machine.block(body)

        return run

    arms = arm(stmt.body, True), arm(stmt.orelse, False)
    if isinstance(cond, bool):
        arms[0 if cond else 1]()
        return
    live = getattr(stmt, "live", None)
    merge(machine, cond.atom, arms, live)


def merge(
    machine: Machine,
    cond: Atom,
    arms: tuple[Callable[[], None], Callable[[], None]],
    live: Collection[str] | None,
) -> None:
    """Both arms, and an If that joins the names that they leave different and that are live."""
    here, builder = machine.here, machine.emit.builder
    before, loc, mark = machine.state, builder.loc, builder.next_id
    ends: list[Names] = []
    blocks: list[OpenBlock] = []
    dead: list[bool] = []
    for arm in arms:
        machine.state, here.dead = before, False
        with builder.block() as opened:
            try:
                arm()
            except Unfinished:
                here.dead = True
        ends.append(machine.state)
        blocks.append(opened)
        dead.append(here.dead)
    builder.loc, here.dead = loc, all(dead)
    if any(dead):
        leaves(machine, cond, blocks, dead)
        machine.state = ends[0 if dead[1] else 1]
        return
    names = before | ends[0] | ends[1]
    inside = [name for name in names if isinstance(name, Box) and name not in before]
    wanted = [
        name
        for name in names
        if (name in before if isinstance(name, Box) else live is None or name in live)
    ]
    made = joined(machine, wanted, ends, blocks, mark)
    builder.add(If(cond, made[0], made[1], made[2], loc))
    unset = {n: UNSET for n in names if n not in before and n not in inside}
    machine.state = before | unset | {box: names[box] for box in inside}
    values = rebuilt(machine, made)
    machine.state |= values


Made = tuple[Block, Block, tuple[Var, ...], list[tuple[str | Box, joins.Kind, list[Atom]]]]


def joined(
    machine: Machine,
    wanted: Iterable[str | Box],
    ends: list[Names],
    blocks: list[OpenBlock],
    mark: int,
) -> Made:
    """The arms with their results, the joined variables, and each name's kind and atoms."""
    emit = machine.emit
    results: tuple[list[Atom], list[Atom]] = ([], [])
    outs: list[Var] = []
    kinds: list[tuple[str | Box, joins.Kind, list[Atom]]] = []
    for name in wanted:
        unset = joins.FREE if name == RESULT else UNSET
        pair = [end.get(name, UNSET) for end in ends]
        pair = [unset if value is UNSET else value for value in pair]
        kind = joins.seen_from(emit, _kind(machine, name, pair, ends), mark)
        hint = name.hint if isinstance(name, Box) else name
        sides = []
        for value, block in zip(pair, blocks, strict=True):
            emit.builder.open.append(block)
            sides.append(joins.leaves(emit, value, kind))
            emit.builder.open.pop()
        atoms: list[Atom] = []
        for first, second, out in zip(*sides, joins.fresh(emit, kind, hint), strict=True):
            if first == second:
                atoms.append(first)
                continue
            joins.name_joined(emit, out, (first, second))
            results[0].append(first)
            results[1].append(second)
            outs.append(out)
            atoms.append(out)
        kinds.append((name, kind, atoms))
    then, orelse = (b.finish(*r) for b, r in zip(blocks, results, strict=True))
    return then, orelse, tuple(outs), kinds


def _kind(machine: Machine, name: str | Box, pair: list[Value], ends: list[Names]) -> joins.Kind:
    """The kind of a name or box; boxes that differ are held with their content."""
    emit = machine.emit
    if joins.identical(*pair):
        return joins.Known(pair[0])
    for k, end in enumerate(ends):
        emit.heap = {box: value for box, value in end.items() if isinstance(box, Box)}
        pair[k] = joins.held(emit, pair[k])
    if isinstance(name, Box):
        return boxes.agree(emit, name, *pair)
    return joins.branch_kind(emit, name, *pair)


def rebuilt(machine: Machine, made: Made) -> Names:
    """The names after the branch."""
    found = {name: joins.value(machine.emit, kind, iter(atoms)) for name, kind, atoms in made[3]}
    unset = (RESULT,) if found.get(RESULT) is joins.FREE else ()
    return found | dict.fromkeys(unset, UNSET)


def leaves(machine: Machine, cond: Atom, blocks: list[OpenBlock], dead: list[bool]) -> None:
    """An arm that raises is a check; the other arm goes on where the branch stood."""
    builder = machine.emit.builder
    if all(dead):
        builder.add(If(cond, blocks[0].finish(), blocks[1].finish(), (), builder.loc))
        return
    raising, other = (blocks[0], blocks[1]) if dead[0] else (blocks[1], blocks[0])
    wrong = cond if dead[0] else ops.apply(builder, "not", cond)
    match raising.stmts:
        case [Assert(cond=Const(), args=()) as check]:
            fine = ops.apply(builder, "not", wrong)
            builder.add(Assert(fine, check.error, check.message, (), check.loc))
        case _:
            builder.add(If(wrong, raising.finish(), Block(()), (), builder.loc))
    builder.open[-1].stmts += other.stmts


def logic(machine: Machine, is_and: bool, nodes: list[ast.expr]) -> Value:
    """`and`, `or` with their short circuit; operands count as bools."""
    first = machine.truth(machine.expr(nodes[0]))
    if len(nodes) == 1:
        return first
    if isinstance(first, bool):
        return logic(machine, is_and, nodes[1:]) if first == is_and else first
    if any(isinstance(part, ast.NamedExpr) for node in nodes[1:] for part in ast.walk(node)):
        return _naming(machine, is_and, first, nodes[1:])
    builder = machine.emit.builder
    with builder.block() as rest:
        more = machine.emit.atom(machine.truth(logic(machine, is_and, nodes[1:])))
    with builder.block() as stop:
        pass
    out = builder.var(BOOL, "t")
    going, known = rest.finish(more), stop.finish(const(not is_and, "bool"))
    arms = (going, known) if is_and else (known, going)
    builder.add(If(first.atom, arms[0], arms[1], (out,), builder.loc))
    return Num(out)


def _naming(machine: Machine, is_and: bool, first: Num, nodes: list[ast.expr]) -> Value:
    """`and`, `or` whose later operands set names by `:=`."""

    def rest() -> None:
        machine.here.names[CHOSEN] = machine.truth(logic(machine, is_and, nodes))

    def stop() -> None:
        machine.here.names[CHOSEN] = not is_and

    merge(machine, first.atom, (rest, stop) if is_and else (stop, rest), None)
    return machine.usable(machine.here.names.pop(CHOSEN))


def conditional(machine: Machine, node: ast.IfExp) -> Value:
    """`a if c else b`."""
    cond = machine.truth(machine.expr(node.test))
    if isinstance(cond, bool):
        return machine.expr(node.body if cond else node.orelse)

    def arm(part: ast.expr) -> Callable[[], None]:
        def run() -> None:
            machine.here.names[CHOSEN] = machine.expr(part)

        return run

    merge(machine, cond.atom, (arm(node.body), arm(node.orelse)), None)
    return machine.usable(machine.here.names.pop(CHOSEN))
