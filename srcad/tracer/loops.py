"""Loops: over what is known they run while tracing, else they become For or While.

The names that a loop sets and that are needed at the start of an iteration or after the loop are
carried. The body is traced until their kinds agree: first with what they are before the loop.
"""

import ast
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from srcad import ops
from srcad.ir.nodes import Atom, Block, For, If, Var, While, const
from srcad.ir.types import BOOL, INT
from srcad.tracer import boxes, branches, iteration, joins
from srcad.tracer.flow import assigned
from srcad.tracer.iteration import Sequence
from srcad.tracer.joins import Kind
from srcad.tracer.machine import Machine, Unroll
from srcad.tracer.values import UNSET, Box, Num, Useless, Value

ATTEMPTS = 8  # each makes some kind wider; there are few steps from an int to an unset float array
MOST_UNROLLED = 1000
MOST_FOR_STRUCTURE = 64


def for_loop(machine: Machine, stmt: ast.For) -> None:
    over = machine.used(stmt.iter)
    length = boxes.length(machine.emit, over) if isinstance(over, Box) else 0
    over_items(machine, stmt, over)
    if isinstance(over, Box) and not joins.identical(boxes.length(machine.emit, over), length):
        machine.emit.fail(
            "a list changes its length in a loop over it", instead="loop over a copy: `list(items)`"
        )


def over_items(machine: Machine, stmt: ast.For, over: Value) -> None:
    if isinstance(over, iteration.Indices) and len(over.shape) > 1:
        nested(machine, stmt, over)
        return
    items = iteration.sequence(machine.emit, over, machine.subscript)
    if items is None:
        machine.refuse(stmt.iter, "loops run over range, arrays, tuples, enumerate and zip")
    structure = isinstance(boxes.content(machine.emit, over), tuple | list | dict)
    short = hasattr(stmt, "short") and isinstance(items.count, int)
    short = short and items.count <= MOST_FOR_STRUCTURE  # type: ignore[operator]
    if structure or short or isinstance(items.count, int) and items.count < 2:
        unrolled(machine, stmt, items)
        return
    if not isinstance(items.count, int):
        rolled(machine, stmt, items)
        return
    emit, here = machine.emit, machine.here
    before, opened = machine.state, len(emit.builder.open)
    mark = len(emit.builder.open[-1].stmts)
    try:
        rolled(machine, stmt, items)
    except Unroll as wanted:
        if wanted.loop is not stmt or items.count > MOST_UNROLLED:
            raise
        del emit.builder.open[opened:], emit.builder.open[-1].stmts[mark:]
        machine.frame, machine.state, here.dead = here, before, False
        unrolled(machine, stmt, items)


def nested(machine: Machine, stmt: ast.For, over: iteration.Indices) -> None:
    """`for i, j in np.ndindex(n, m)` as one loop for each axis."""
    outer: ast.For = getattr(stmt, "nested", None) or _nested(stmt, over)
    stmt.nested = outer  # type: ignore[attr-defined]
    here = machine.here
    for axis, extent in enumerate(over.shape):
        here.names[f"__along_{axis}"] = iteration.Range(0, extent, 1)
    if over.array is not None:
        here.names["__array"] = over.array
    for_loop(machine, outer)


def _nested(stmt: ast.For, over: iteration.Indices) -> ast.For:
    axes = range(len(over.shape))
    index = ast.Tuple([ast.Name(f"__i{axis}", ast.Load()) for axis in axes], ast.Load())
    item: ast.expr = index
    if over.array is not None:
        element = ast.Subscript(ast.Name("__array", ast.Load()), index, ast.Load())
        item = ast.Tuple([index, element], ast.Load())
    body: list[ast.stmt] = [ast.Assign([stmt.target], item), *stmt.body]
    for axis in reversed(axes):
        along = ast.Name(f"__along_{axis}", ast.Load())
        made = ast.For(ast.Name(f"__i{axis}", ast.Store()), along, body, [])
        made.leave = getattr(stmt, "leave", [])  # type: ignore[attr-defined]
        made.live = getattr(stmt, "live", frozenset())  # type: ignore[attr-defined]
        body = [ast.copy_location(made, stmt)]
    outer = ast.fix_missing_locations(body[0])
    assert isinstance(outer, ast.For)
    return outer


def unrolled(machine: Machine, stmt: ast.For, items: Sequence, first: int = 0) -> None:
    """Runs the iterations from `first` on while tracing; a flag at run time guards the rest."""
    leave = getattr(stmt, "leave", [])
    assert isinstance(items.count, int)
    for k in range(first, items.count):
        machine.assign(stmt.target, items.item(k))
        machine.block(stmt.body)
        if machine.here.dead:
            return
        flags = [machine.truth(machine.here.names[f]) for f in leave if f in machine.here.names]
        if any(flag is True for flag in flags):
            return
        atoms = [flag.atom for flag in flags if isinstance(flag, Num)]
        if atoms and k + 1 < items.count:
            left = _any(machine, atoms)
            rest = (lambda: None), (lambda k=k: unrolled(machine, stmt, items, k + 1))
            branches.merge(machine, left, rest, getattr(stmt, "live", None))
            return


def rolled(machine: Machine, stmt: ast.For, items: Sequence) -> None:
    """A For; a While if it may be left."""
    stop, leave = items.stop, getattr(stmt, "leave", [])
    hint = stmt.target.id.strip("_") if isinstance(stmt.target, ast.Name) else ""
    builder = machine.emit.builder

    def start(index: Var) -> None:
        machine.emit.indices[index] = stop
        if isinstance(items.count, int):
            machine.unrollable[index] = stmt
        machine.assign(stmt.target, items.item(index))

    if not leave:

        def make(index: Var, carried: Any, block: Block, outs: Any) -> For:
            return For(index, stop, carried, block, outs, builder.loc)

        Carry(machine, stmt, hint or "i", start, items.count).trace(make, None, None)
        return

    def again(index: Var) -> "bool | Num":
        following = ops.apply(builder, "add", index, const(1))
        return Num(ops.apply(builder, "lt", following, stop))

    more = Num(ops.apply(builder, "gt", stop, const(0)))
    _while(machine, stmt, hint or "i", start, more, again, items.count)


def while_loop(machine: Machine, stmt: ast.While) -> None:
    """`while`: the condition is computed before the loop and at the end of its body."""

    def test(index: Var | None = None) -> "bool | Num":
        return machine.truth(machine.expr(stmt.test))

    first = test()
    if first is False:
        return
    _while(machine, stmt, "k", lambda index: None, first, test)


def _while(
    machine: Machine,
    stmt: ast.For | ast.While,
    hint: str,
    start: Callable[[Var], None],
    first: "bool | Num",
    again: Callable[[Var], "bool | Num"],
    count: int | Atom | None = None,
) -> None:
    leave = getattr(stmt, "leave", [])

    def go_on(index: Var) -> Atom:
        """Whether no flag is set and the loop's own condition holds; tested in this order."""
        flags = [machine.truth(machine.here.names.get(f, False)) for f in leave]
        if any(flag is True for flag in flags):
            return const(False, "bool")
        atoms = [flag.atom for flag in flags if isinstance(flag, Num)]
        if not atoms:
            return machine.emit.atom(again(index))
        builder = machine.emit.builder
        stopped = _any(machine, atoms)
        with builder.block() as orelse:
            result = machine.emit.atom(again(index))
        out = builder.var(BOOL, "go")
        arms = Block((), (const(False, "bool"),)), orelse.finish(result)
        builder.add(If(stopped, arms[0], arms[1], (out,), builder.loc))
        return out

    def make(index: Var, carried: Any, block: Block, outs: Any) -> While:
        builder = machine.emit.builder
        return While(index, carried, block, outs, builder.var(INT, "trips"), builder.loc)

    atom = const(first, "bool") if isinstance(first, bool) else first.atom
    Carry(machine, stmt, hint, start, count).trace(make, atom, go_on)


def _any(machine: Machine, atoms: list[Atom]) -> Atom:
    found = atoms[0]
    for atom in atoms[1:]:
        found = ops.apply(machine.emit.builder, "or", found, atom)
    return found


Name = str | Box  # what a loop carries: names, and what is in lists and dictionaries
Kinds = dict[Name, Kind]
Make = Callable[[Var, tuple[tuple[Var, Atom], ...], Block, tuple[Var, ...]], For | While]


def hint_of(name: Name) -> str:
    return name.hint if isinstance(name, Box) else name


@dataclass
class Carry:
    """The names that a loop carries; `start` is what each iteration begins with."""

    machine: Machine
    stmt: ast.For | ast.While
    hint: str
    start: Callable[[Var], None]
    count: int | Atom | None  # of iterations, if it is known before
    before: dict[Name, Value] = field(init=False)

    def trace(self, make: Make, first: Atom | None, go_on: Callable[[Var], Atom] | None) -> None:
        """Traces the body until the kinds of the carried names agree, then adds the loop."""
        here, emit = self.machine.here, self.machine.emit
        self.before = self.machine.state
        self.sets = assigned([self.stmt])
        live = getattr(self.stmt, "live", frozenset(self.sets))
        names = [name for name in self.sets if name in live]
        kinds: Kinds = {name: self.first_kind(name) for name in names}
        self.loc = emit.builder.loc
        mark, noted = emit.builder.next_id, len(self.machine.problems)
        for _ in range(ATTEMPTS):
            found = self.attempt(kinds, make, first, go_on)
            emit.builder.loc = self.loc
            if found is None:
                own = {n: kind for n, kind in kinds.items() if isinstance(n, str)}
                here.kinds[id(self.stmt)] = own
                return
            del self.machine.problems[noted:]
            kinds = {n: joins.seen_from(emit, kind, mark) for n, kind in found.items()}
        emit.fail("the types of the names in this loop do not settle")

    def first_kind(self, name: Name) -> Kind:
        """What a name is taken to be at first: a number of its dtype, anything else unchanged.

        Where the loop was traced before, in an attempt at a loop around it, that is remembered.
        """
        value = self.before.get(name, UNSET)
        own = joins.kind_of(self.machine.emit, value)
        earlier = self.machine.here.kinds.get(id(self.stmt), {}).get(hint_of(name))
        match earlier:
            case joins.Number() | joins.Perhaps(kind=joins.Number()):
                return joins.unify(hint_of(name), own, earlier)
            case None | joins.Known():
                simple = isinstance(own, joins.Number | joins.Perhaps | Useless)
                return own if simple else joins.Known(value)
            case _:
                return own

    def attempt(self, kinds: Kinds, make: Make, first: Atom | None, go_on: Any) -> Kinds | None:
        """The wider kinds that the body asks for; None if the loop was added."""
        here, emit = self.machine.here, self.machine.emit
        builder = emit.builder
        mark = len(builder.open[-1].stmts)
        inits = self.atoms(self.before, kinds)
        index = builder.var(INT, self.hint)
        condition = [] if first is None else [builder.var(BOOL, "go")]
        params = {n: joins.fresh(emit, kind, hint_of(n)) for n, kind in kinds.items()}
        flat = [p for several in params.values() for p in several]
        for param, init in zip(flat, inits, strict=True):
            joins.name_joined(emit, param, (init,))
        self.machine.state = self.named(kinds)
        with builder.block() as opened:
            self.rebind(self.values(kinds, params))
            here.names |= dict.fromkeys(getattr(self.stmt, "leave", ()), False)
            self.start(index)
            self.machine.block(self.stmt.body)
            if here.dead and self.machine.unfinished:
                here.dead = False
                self.machine.state = self.before  # as if the loop made no iteration
                return None
            if here.dead:
                emit.fail("the body of this loop always raises")
            end = [] if go_on is None else [go_on(index)]
            after = self.machine.state
            found = {n: self.wider(n, kind, after.get(n, UNSET)) for n, kind in kinds.items()}
            found |= self.changed_boxes(kinds, after)
            results = self.atoms(after, kinds) if found == kinds else []
        if found != kinds:
            self.unroll_if_structure_changes(found)
            del builder.open[-1].stmts[mark:]
            self.machine.state = self.before
            return found
        for param, result in zip(flat, results, strict=True):
            joins.name_joined(emit, param, (result,), written=True)
        if first is not None:
            inits, flat, results = [first, *inits], [*condition, *flat], [*end, *results]
        outs = tuple(builder.like(name) for name in flat)
        body = opened.finish(*results)
        builder.loc = self.loc
        builder.add(make(index, tuple(zip(flat, inits, strict=True)), body, outs))
        rest = iter(outs[len(condition) :])
        last = {n: [next(rest) for _ in several] for n, several in params.items()}
        for param, out in zip(flat, outs, strict=True):
            joins.name_joined(emit, out, (param,))
        self.machine.state = self.named(kinds)
        self.rebind(self.values(kinds, last))
        return None

    def rebind(self, values: dict[Name, Value]) -> None:
        self.machine.state |= values

    def changed_boxes(self, kinds: Kinds, after: dict[Name, Value]) -> Kinds:
        """The lists and dictionaries from before the loop that an iteration changes."""
        return {
            box: self.agreed(box, now, after[box])
            for box, now in self.before.items()
            if isinstance(box, Box) and box not in kinds and not joins.identical(now, after[box])
        }

    def agreed(self, box: Box, first: Value, second: Value) -> Kind:
        emit = self.machine.emit
        if isinstance(first, tuple) and isinstance(second, tuple) and len(first) != len(second):
            short = isinstance(self.count, int) and self.count <= MOST_FOR_STRUCTURE
            if short and not boxes.growable(emit, box, first, second):
                raise Unroll(self.stmt)
        return boxes.agree(emit, box, first, second)

    def unroll_if_structure_changes(self, found: Kinds) -> None:
        """A short loop that builds tuples, or an array out of a number, runs while tracing."""
        if isinstance(self.count, int) and self.count <= MOST_FOR_STRUCTURE:
            if any(isinstance(kind, Useless) for kind in found.values()):
                raise Unroll(self.stmt)

    def wider(self, name: Name, kind: Kind, value: Value) -> Kind:
        emit = self.machine.emit
        if isinstance(name, Box):
            return joins.unify(name.hint, kind, self.agreed(name, self.before[name], value))
        if isinstance(kind, joins.Known):
            if joins.identical(kind.value, value):
                return kind
            kind = joins.kind_of(emit, kind.value)
        return joins.unify(name, kind, joins.kind_of(emit, value))

    def atoms(self, names: dict[Name, Value], kinds: Kinds) -> list[Atom]:
        emit = self.machine.emit
        return [
            atom
            for name, kind in kinds.items()
            for atom in joins.leaves(emit, names.get(name, UNSET), kind)
        ]

    def values(self, kinds: Kinds, atoms: dict[Name, list[Var]]) -> dict[Name, Value]:
        emit = self.machine.emit
        return {name: joins.value(emit, kind, iter(atoms[name])) for name, kind in kinds.items()}

    def named(self, kinds: Kinds) -> dict[Name, Value]:
        """The names from before; one that only the iterations know has no value outside."""
        lost = Useless("a name that was set in another iteration is read")
        return self.before | {name: lost for name in self.sets if name not in kinds}
