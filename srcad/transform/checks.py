"""Checks that always hold go, and those that are decided before a loop are made there.

What is proved from the bounds of loops, the branches taken, earlier checks and the definitions of
integers: an `Assert` holds, an index needs no `wrap`, one side of a `maximum` or `minimum` is the
larger, a comparison has one answer. A check directly in the body of a counted loop, linear in its
index, is made before the loop at the first and last index instead, provided that the loop runs;
so an error may come before writes of the loop that would have come before it.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace

from srcad import ops
from srcad.ir.builder import Builder
from srcad.ir.nodes import (
    Assert,
    Atom,
    Block,
    For,
    Function,
    If,
    Let,
    Map,
    Stmt,
    Var,
    While,
    const,
)
from srcad.ir.types import INT
from srcad.ir.walk import Renamer, defs, next_id, params, variables, walk
from srcad.transform.affine import Linear, System, number, read
from srcad.transform.carried import bounds_of_carried, entered
from srcad.transform.conditions import ORDER, Conditions, compared, variables_of
from srcad.transform.witness import witness

MOST_FACTS = 60  # rows that one question may gather
Fact = tuple[frozenset[Var], System]


def checks(function: Function) -> Function:
    """The function with fewer checks. Cost: below a millisecond for each question asked."""
    return Checks(function).run()


class Checks:
    """`facts` holds what is true at the place that the walk has reached."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.builder = Builder(next_id(function))
        definitions: dict[Var, Stmt] = {}
        for stmt in walk(function.body):
            for var in (*defs(stmt), *params(stmt)):
                definitions[var] = stmt
        self.conditions = Conditions(definitions)
        self.facts: list[Fact] = []
        self.around: list[Stmt] = []
        self.depth: dict[Var, int] = {}
        self.before: dict[int, list[Stmt]] = {}  # checks that go before a loop, by its depth
        self.renamer = Renamer({})

    def run(self) -> Function:
        body = self.function.body
        self.block(body)
        results = self.renamer.atoms(body.results)
        return replace(self.function, body=self.builder.finish(*results))

    # -- what is known

    def know(self, system: System) -> None:
        names = variables_of(system)
        if names:
            self.facts.append((frozenset(names), system))

    def impossible(self, system: System) -> bool:
        """Whether the system contradicts what is known here."""
        if not system.rows and not system.equalities and not system.choices:
            return False
        total, names, done = system.copy(), variables_of(system), set[Var]()
        rest = list(self.facts)
        while names - done and len(total.rows) + len(total.equalities) < MOST_FACTS:
            for var in sorted(names - done, key=lambda v: v.id):
                done.add(var)
                made = self.conditions.defined(var)
                total.include(made)
                names |= variables_of(made)
            for fact in [fact for fact in rest if not names.isdisjoint(fact[0])]:
                rest.remove(fact)
                total.include(fact[1])
                names |= fact[0]
        if witness(total, self.conditions.definitions):
            return False
        return total.infeasible()

    def proved(self, cond: Atom, holds: bool = True) -> bool:
        return self.impossible(self.conditions.implied(cond, not holds))

    # -- the walk

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            self.builder.loc = stmt.loc
            self.stmt(stmt)
            for var in defs(stmt):
                self.depth[var] = len(self.around)

    @contextmanager
    def inner(self, stmt: Stmt, *known: System) -> Iterator[None]:
        facts = len(self.facts)
        self.around.append(stmt)
        for var in params(stmt):
            self.depth[var] = len(self.around)
        for system in known:
            self.know(system)
        yield
        del self.facts[facts:]
        self.around.pop()

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Let():
                self.let(stmt)
            case Assert():
                self.assertion(stmt)
            case For(body=body):
                self.loop(stmt, body)
            case While(body=body):
                self.loop(stmt, body, entered(stmt, self.conditions, self.impossible))
            case Map(body=body):
                self.loop(stmt, body)
            case If(cond=cond, then=then, orelse=orelse):
                arms: list[Block] = []
                for arm, holds in ((then, True), (orelse, False)):
                    known = self.conditions.implied(cond, holds)
                    with self.builder.block() as opened, self.inner(stmt, known):
                        self.block(arm)
                    arms.append(opened.finish(*self.renamer.atoms(arm.results)))
                cond = self.renamer.atom(cond)
                self.builder.add(replace(stmt, cond=cond, then=arms[0], orelse=arms[1]))
            case _:
                self.builder.add(self.renamer.stmt(stmt))

    def loop(self, stmt: For | While | Map, body: Block, *known: System) -> None:
        if isinstance(stmt, For | While):
            bounds_of_carried(stmt, self.conditions, self.impossible)
        shallow = replace(stmt, body=Block((), ()))
        depth = len(self.around)
        self.before[depth] = []
        with self.builder.block() as opened, self.inner(stmt, *known):
            self.block(body)
        new = self.renamer.stmt(shallow)
        assert isinstance(new, For | While | Map)
        for check in self.before.pop(depth):
            self.builder.add(check)
        self.builder.add(replace(new, body=opened.finish(*self.renamer.atoms(body.results))))

    def let(self, stmt: Let) -> None:
        """An operation of which the answer is known."""
        known: Atom | None = None
        match stmt.op, stmt.args:
            case "wrap", (index, extent):
                form = self.conditions.form(index)
                if self.impossible(System().below(form, 0)):
                    known = index
                elif self.impossible(System().at_least(form)):
                    known = ops.apply(self.builder, "add", *self.renamer.atoms((index, extent)))
            case ("maximum" | "minimum") as op, (left, right) if stmt.out.type == INT:
                difference = self.conditions.form(left).plus(self.conditions.form(right), -1)
                if self.impossible(System().below(difference, 0)):
                    known = left if op == "maximum" else right
                elif self.impossible(System().below(number(0), difference)):
                    known = right if op == "maximum" else left
            case "select", (cond, left, right) if stmt.out.type == INT:
                differ = compared("ne", self.conditions.form(left), self.conditions.form(right))
                for holds, other in ((True, right), (False, left)):
                    if self.impossible(self.conditions.implied(cond, holds).include(differ)):
                        known = other
            case op, (left, _) if op == "within" or op in ORDER and left.type == INT:
                for holds in (True, False):
                    if known is None and self.proved(stmt.out, holds):
                        known = const(holds, "bool")
        if known is None:
            self.builder.add(self.renamer.stmt(stmt))
        else:
            self.renamer.mapping[stmt.out] = self.renamer.atom(known)

    def assertion(self, stmt: Assert) -> None:
        cond = self.renamer.atom(stmt.cond)
        known = self.conditions.implied(stmt.cond, True)
        if cond == const(True, "bool") or self.proved(stmt.cond):
            return
        if not self.moved(stmt, known):
            self.builder.add(self.renamer.stmt(stmt))
        self.know(known)

    # -- moving a check before loops

    def moved(self, stmt: Assert, known: System) -> bool:
        """Puts the check before the outermost loop that decides it; whether there is one."""
        target = len(self.around)
        atoms = set(variables(stmt.args))
        linear = bool(known.rows) and not known.equalities and not known.choices
        rows = [row for row in known.rows if not self.impossible(System([row.negated()]))]
        names = (
            set(variables((stmt.cond,)))
            if not linear
            else {v for row in rows for v in row.variables}
        )
        indices: set[Var] = set()
        while target and isinstance(loop := self.around[target - 1], For):
            indices.add(loop.index)
            atoms |= set(variables((loop.stop,)))
            here = (names - indices if linear else names) | atoms
            if any(self.depth_of(var) >= target for var in here):
                break
            target -= 1
        loops = [loop for loop in self.around[target:] if isinstance(loop, For)]
        if not loops:
            return False
        with self.builder.block() as opened:
            cond = self.decided(rows, loops) if linear else self.renamer.atom(stmt.cond)
            for stop in dict.fromkeys(loop.stop for loop in loops):
                never = ops.apply(self.builder, "le", self.renamer.atom(stop), const(0))
                cond = ops.apply(self.builder, "or", never, cond)
        self.before[target] += opened.stmts
        self.before[target].append(replace(stmt, cond=cond, args=self.renamer.atoms(stmt.args)))
        return True

    def depth_of(self, var: Var) -> int:
        return self.depth.get(var, 0)

    def decided(self, rows: list[Linear], loops: list[For]) -> Atom:
        """Whether all rows are >= 0 in every iteration: at the corner where each is least."""
        total: Atom = const(True, "bool")
        for row in rows:
            for loop in loops:
                count = row.coefficient(loop.index)
                row = row.without(loop.index)
                if count < 0:
                    row = row.plus(_single(loop.stop).plus(number(1), -1), count)
            total = ops.apply(self.builder, "and", total, self.at_least_zero(row))
        return total

    def at_least_zero(self, row: Linear) -> Atom:
        """The comparison row >= 0, without negative terms on either side."""
        below = Linear(tuple((var, -count) for var, count in row.terms if count < 0))
        above = Linear(tuple((var, count) for var, count in row.terms if count > 0))
        if row.constant == -1:
            return ops.apply(self.builder, "lt", self.emitted(below), self.emitted(above))
        below = below.plus(number(max(-row.constant, 0)))
        above = above.plus(number(max(row.constant, 0)))
        return ops.apply(self.builder, "le", self.emitted(below), self.emitted(above))

    def emitted(self, form: Linear) -> Atom:
        total: Atom = const(0)
        for var, count in form.terms:
            term = ops.apply(self.builder, "mul", self.renamer.atom(var), const(count))
            total = ops.apply(self.builder, "add", total, term)
        return ops.apply(self.builder, "add", total, const(form.constant))


def _single(atom: Atom) -> Linear:
    return read(atom, {})
