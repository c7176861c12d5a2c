"""Which values may share a Python variable?

A carried name, its next value and what comes out of the branch that makes it are one variable
wherever no other value of it is still needed: `s += t`, not `s_2 = s + t; s = s_2`. Liveness is
computed on what is printed: a folded value's operands live until its reader's line.
"""

from collections import defaultdict
from collections.abc import Sequence

from srcad.codegen.folding import Folding
from srcad.ir.nodes import (
    Alloc,
    Atom,
    Block,
    Call,
    For,
    Grow,
    If,
    Let,
    Load,
    Stmt,
    Var,
    View,
    While,
)

Live = frozenset[Var]


class Variables:
    """The classes of values that share a variable: `root(var)` stands for the class."""

    def __init__(self, folding: Folding) -> None:
        self.folding = folding
        self.fixed = frozenset(folding.function.params)
        self._apart: defaultdict[Var, set[Var]] = defaultdict(set)
        self._copies: dict[tuple[Var, Var], None] = {}
        self._parent: dict[Var, Var] = {}
        self.members: dict[Var, list[Var]] = {}
        body = folding.function.body
        live = self._block(body, self._read(body.results))
        for param in folding.function.params:
            self._define(param, live | self.fixed)
        for target, value in self._copies:
            self._join(target, value)

    def root(self, var: Var) -> Var:
        var = self.folding.itself(var)
        while var in self._parent:
            var = self._parent[var]
        return var

    def apart(self, a: Var, b: Var) -> bool:
        """Whether the variables of two values are live at the same time."""
        left, right = self.root(a), self.root(b)
        others = self.members.get(right, [right])
        return any(not self._apart[v].isdisjoint(others) for v in self.members.get(left, [left]))

    # -- liveness

    def _read(self, atoms: Sequence[Atom]) -> Live:
        return frozenset().union(*map(self.folding.leaves, atoms))

    def _define(self, var: Var, live: Live) -> None:
        """A variable is set where others are needed later."""
        for other in live:
            if other != var:
                self._apart[var].add(other)
                self._apart[other].add(var)

    def _block(self, block: Block, live: Live) -> Live:
        for stmt in reversed(block.stmts):
            live = self._stmt(stmt, live)
        return live

    def _stmt(self, stmt: Stmt, live: Live) -> Live:
        match stmt:
            case Let(out=out) | Load(out=out) | View(out=out) | Alloc(out=out):
                if not self.folding.printed(out):
                    return live
                self._define(out, live)
                live -= {out}
            case Call(outs=outs):
                for out in outs:
                    self._define(self.folding.itself(out), live | frozenset(outs))
                live -= frozenset(outs)
            case Grow(array=array):
                self._define(self.folding.itself(array), live)
            case For() | While():
                return self._loop(stmt, live)
            case If(then=then, orelse=orelse, outs=outs):
                first = self._arm(then, outs, live)
                live = first | self._arm(orelse, outs, live)
            case _:
                pass
        return live | self._read(self.folding.reads(stmt))

    def _arm(self, arm: Block, outs: tuple[Var, ...], live: Live) -> Live:
        pairs = list(zip(outs, arm.results, strict=True))
        return self._block(arm, self._assigned(pairs, live))

    def _loop(self, loop: For | While, after: Live) -> Live:
        names = [name for name, _ in loop.carried]
        results = list(zip(names, loop.body.results, strict=True))
        counter = self.folding.ranges[id(loop)].var if isinstance(loop, For) else loop.index
        counts = isinstance(loop, While) and self.folding.needed(counter)
        live = after
        if isinstance(loop, While):
            live |= {names[0]} | self._read(self.folding.reads(loop))
        while True:
            end = live | {counter} if counts else live
            start = self._block(loop.body, self._assigned(results, end))
            self._define(counter, live | start)
            more = live | start if counts else live | (start - {counter})
            if more == live:
                break
            live = more
        live = (live - {counter}) | self._read(self.folding.reads(loop))
        return self._assigned(list(loop.carried), live)

    def _assigned(self, pairs: Sequence[tuple[Var, Atom]], live: Live) -> Live:
        """Carried names or outs are set all at once; gives what is live before."""
        pairs = [pair for pair in pairs if self.folding.needed(pair[0])]
        targets = frozenset(target for target, _ in pairs)
        before = live - targets
        for target, value in pairs:
            others = live | targets
            if isinstance(value, Var) and value not in self.folding.folded:
                value = self.folding.itself(value)
                others -= {value}
                self._copies[target, value] = None
            self._define(target, others)
            before |= self.folding.leaves(value)
        return before

    # -- joining

    def _join(self, target: Var, value: Var) -> None:
        left, right = self.root(target), self.root(value)
        if left == right or target.type != value.type or self.apart(left, right):
            return
        both = [*self.members.get(left, [left]), *self.members.get(right, [right])]
        if any(v in self.fixed and v.hint != target.hint for v in both):
            return
        if any(self._is_counter(v) for v in both):
            return
        self._parent[right] = left
        self.members[left] = both

    def _is_counter(self, var: Var) -> bool:
        stmt = self.folding.definitions.get(var)
        match stmt:
            case For():
                return var == self.folding.ranges[id(stmt)].var or var == stmt.index
            case While(index=index):
                return var == index
            case _:
                return False
