"""Which values are printed inside the statement that reads them, and what is not printed at all.

A Let or Load that is read once in its own block becomes part of its reader's text, unless memory
that it reads is written in between or the line would grow too long. `a[i] = a[i] + v` becomes an
update. Values that nothing reads are dropped.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from srcad import ops
from srcad.codegen.ranges import Linear, Range, find, linear
from srcad.ir.nodes import (
    Alloc,
    Atom,
    Block,
    Call,
    Const,
    For,
    Function,
    Grow,
    If,
    Let,
    Library,
    Load,
    Stmt,
    Store,
    Var,
    View,
    While,
)
from srcad.ir.walk import blocks, defs, operands, params, variables, walk

WIDTH = 66  # of one statement's text, estimated from the names' hints
UPDATES = {"add": "+=", "sub": "-="}
EXACT = ("floor", "ceil", "trunc", "rint", "floordiv", "mod", "fmod", "truncdiv", "remainder")
ARITHMETIC = ("add", "sub", "mul", "div", "square", "neg", "abs")


@dataclass(frozen=True)
class Update:
    """A Store of the form `a[i] += value`."""

    symbol: str
    value: Atom


@dataclass(frozen=True)
class Place:
    """Where a value is read: a position in a block; `line` tells results of a block apart."""

    block: int
    position: int
    line: Var | None = None


Tapes = tuple[tuple[Var, Linear], ...]  # what a loop writes, and the elements there before it


class Folding:
    """The facts about one function."""

    def __init__(self, function: Function) -> None:
        self.function = function
        self.definitions: dict[Var, Stmt] = {}
        self.same: dict[Var, Var] = {}  # a loop's out is the carried name itself
        self.given: dict[Var, tuple[Atom, ...]] = {}  # what carried names and outs are set to
        self.ranges: dict[int, Range] = {}  # by id of the For
        self.updates: dict[int, Update] = {}  # by id of the Store
        self.tapes: dict[int, Tapes] = {}  # by id of the While
        self.moved: set[int] = set()  # the ids of the Grows of `tapes`, printed outside their loop
        self.absorbed: set[Var] = set()
        self.folded: set[Var] = set()
        self.uses: Counter[Var] = Counter()
        self._places: dict[Var, Place] = {}
        self._written: dict[tuple[int, int], frozenset[Var | None]] = {}
        self._leaves: dict[Var, frozenset[Var]] = {}
        self._define(function.body)
        raw = _occurrences(function)
        for block in _all_blocks(function.body):
            self._find_updates(block, raw)
        for stmt in walk(function.body):
            if isinstance(stmt, For):
                self._find_range(stmt, raw)
            elif isinstance(stmt, While):
                self._find_tapes(stmt)
        self._count()
        for block in _all_blocks(function.body):
            self._fold(block)
        self.strict = self._strict()

    # -- what others ask

    def itself(self, var: Var) -> Var:
        """The variable that stands for this one: a loop's outs are its carried names."""
        return self.same.get(var, var)

    def needed(self, var: Var) -> bool:
        return self.uses[self.itself(var)] > 0

    def printed(self, out: Var) -> bool:
        """Whether the definition of a variable is a line of its own."""
        return self.needed(out) and out not in self.folded and out not in self.absorbed

    def reads(self, stmt: Stmt) -> tuple[Atom, ...]:
        """What a statement's own text mentions; what loops carry in is left out."""
        match stmt:
            case Store(array=array, index=index) if id(stmt) in self.updates:
                return (array, *index, self.updates[id(stmt)].value)
            case For():
                return self.ranges[id(stmt)].reads
            case While():
                return tuple(v for _, filled in self.tapes.get(id(stmt), ()) for v in filled.atoms)
            case Grow(array=array) if id(stmt) in self.moved:
                return (array,)
            case _:
                return operands(stmt)

    def leaves(self, atom: Atom) -> frozenset[Var]:
        """The Python variables that the text of a value mentions."""
        if isinstance(atom, Const):
            return frozenset()
        if atom not in self.folded:
            return frozenset((self.itself(atom),))
        if atom not in self._leaves:
            below = self.reads(self.definitions[atom])
            self._leaves[atom] = frozenset().union(*map(self.leaves, below))
        return self._leaves[atom]

    # -- how the facts are found

    def _define(self, block: Block) -> None:
        for stmt in block.stmts:
            for var in (*defs(stmt), *params(stmt)):
                self.definitions[var] = stmt
            match stmt:
                case For(carried=carried, outs=outs) | While(carried=carried, outs=outs):
                    results = stmt.body.results
                    for (name, init), out, last in zip(carried, outs, results, strict=True):
                        self.same[out] = name
                        self.given[name] = (init, last)
                case If(then=then, orelse=orelse, outs=outs):
                    for out, *values in zip(outs, then.results, orelse.results, strict=True):
                        self.given[out] = tuple(values)
            if isinstance(stmt, While):
                self.same[stmt.trips] = stmt.index
            for inner in blocks(stmt):
                self._define(inner)

    def _find_updates(self, block: Block, raw: Counter[Var]) -> None:
        position = {stmt.out: k for k, stmt in enumerate(block.stmts) if isinstance(stmt, Load)}
        for k, stmt in enumerate(block.stmts):
            if not isinstance(stmt, Store) or not isinstance(stmt.value, Var):
                continue
            made = self.definitions.get(stmt.value)
            if not isinstance(made, Let) or made.op not in UPDATES or raw[made.out] != 1:
                continue
            for old, value in (made.args, made.args[::-1])[: 1 if made.op == "sub" else 2]:
                load = self.definitions.get(old) if isinstance(old, Var) else None
                if not isinstance(load, Load) or raw[load.out] != 1 or load.out not in position:
                    continue
                same = (load.array, load.index) == (stmt.array, stmt.index)
                if same and not self._conflict(load, block, position[load.out] + 1, k):
                    self.updates[id(stmt)] = Update(UPDATES[made.op], value)
                    self.absorbed |= {made.out, load.out}
                    break

    def _find_range(self, loop: For, raw: Counter[Var]) -> None:
        inside = {v for s in walk(loop.body) for v in (*defs(s), *params(s))}
        inside |= set(params(loop))
        made = find(loop, self.definitions, raw, frozenset(inside))
        self.ranges[id(loop)] = made
        if made.absorbed is not None:
            self.absorbed.add(made.absorbed)
            self.definitions[made.absorbed] = loop

    def _find_tapes(self, loop: While) -> None:
        """The arrays that grow by one element at the start of each iteration."""
        inside = {v for s in walk(loop.body) for v in (*defs(s), *params(s))} | set(params(loop))
        found: dict[int, tuple[Var, Linear]] = {}
        for stmt in loop.body.stmts:
            if isinstance(stmt, Grow):
                length = linear(stmt.length, self.definitions, lambda v: v != loop.index)
                filled = length.plus(Linear(((loop.index, 1),), 1), -1)
                if stmt.array in inside or not inside.isdisjoint(filled.atoms):
                    return
                found[id(stmt)] = stmt.array, filled
            elif not isinstance(stmt, Let):
                break
        if found:
            self.tapes[id(loop)] = tuple(found.values())
            self.moved |= found.keys()

    def _count(self) -> None:
        """Counts the reads of what is needed, from effects and results backwards."""
        todo: list[tuple[Atom, Place | None]] = [(r, None) for r in self.function.body.results]
        places = {}
        for block in _all_blocks(self.function.body):
            for k, stmt in enumerate(block.stmts):
                places[id(stmt)] = place = Place(id(block), k)
                if isinstance(stmt, Let | Load | View | Alloc):
                    continue
                todo += [(atom, place) for atom in self.reads(stmt)]
                if isinstance(stmt, While):
                    todo.append((stmt.carried[0][0], None))
                    if id(stmt) in self.tapes:
                        todo.append((stmt.index, None))
        end = Place(id(self.function.body), len(self.function.body.stmts))
        while todo:
            atom, reader = todo.pop()
            if isinstance(atom, Const):
                continue
            var = self.itself(atom)
            self.uses[var] += 1
            self._places[var] = reader or end
            if self.uses[var] > 1 or var not in self.definitions:
                continue
            stmt = self.definitions[var]
            if var in self.given:
                todo += self._handed(var, stmt, places[id(stmt)])
            elif isinstance(stmt, Let | Load | View | Alloc) and var not in self.absorbed:
                weight = 2 if isinstance(stmt, Let) and _doubled(stmt) else 1
                todo += [(atom, places[id(stmt)]) for atom in self.reads(stmt)] * weight

    def _handed(self, var: Var, stmt: Stmt, place: Place) -> Iterator[tuple[Atom, Place]]:
        inner = blocks(stmt)
        if isinstance(stmt, For | While):
            init, last = self.given[var]
            yield init, Place(place.block, place.position, var)
            yield last, Place(id(inner[0]), len(inner[0].stmts), var)
            return
        for block, value in zip(inner, self.given[var], strict=True):
            yield value, Place(id(block), len(block.stmts), var)

    def _fold(self, block: Block) -> None:
        """Backwards, so that it is known where a reader's own text goes."""
        goes: dict[int, tuple[int, object]] = {}  # position -> position and line of its text
        width: Counter[object] = Counter()
        for k in reversed(range(len(block.stmts))):
            stmt = block.stmts[k]
            goes[k] = k, k
            width[k] = _width(stmt)
            if not isinstance(stmt, Let | Load) or stmt.out in self.absorbed:
                continue
            place = self._places.get(stmt.out)
            if place is None or self.uses[stmt.out] != 1 or place.block != id(block):
                continue
            where, line = goes.get(place.position, (place.position, place.position))
            line = line if place.line is None else place.line
            if width[line] + width[k] > WIDTH or self._conflict(stmt, block, k + 1, where):
                continue
            self.folded.add(stmt.out)
            goes[k] = where, line
            width[line] += width[k]

    def _conflict(self, stmt: Let | Load, block: Block, first: int, last: int) -> bool:
        """Whether memory that the statement reads is written at the positions [first, last)."""
        match stmt:
            case Load(array=array):
                writers: tuple[type, ...] = (Store, Library, Grow, Call)
            case Let(op="dim", args=(Var() as array, _)):
                writers = (Grow,)
            case _:
                return False
        root = self._root(array)
        for other in block.stmts[first:last]:
            written = self._writes(other, writers)
            if written and (root is None or None in written or root in written):
                return True
        return False

    def _root(self, array: Var) -> Var | None:
        """The memory that a name stands for; None where it may be any."""
        stmt = self.definitions.get(array)
        if isinstance(stmt, View):
            return self._root(stmt.array)
        return array if stmt is None or isinstance(stmt, Alloc) else None

    def _writes(self, stmt: Stmt, kinds: tuple[type, ...]) -> frozenset[Var | None]:
        """The memory that a statement may write by one of these kinds of statement."""
        if blocks(stmt):
            key = id(stmt), len(kinds)
            if key not in self._written:
                inner = (s for block in blocks(stmt) for s in block.stmts)
                self._written[key] = frozenset().union(*(self._writes(s, kinds) for s in inner))
            return self._written[key]
        if not isinstance(stmt, kinds):
            return frozenset()
        match stmt:
            case Store(array=array) | Grow(array=array):
                return frozenset((self._root(array),))
            case Library(writes=writes) | Call(writes=writes):
                return frozenset(map(self._root, writes))
            case _:
                return frozenset()

    def _strict(self) -> frozenset[Var]:
        """Arithmetic that decides a value that jumps: reordered, it may land on the other side."""
        found: set[Var] = set()
        todo = [
            arg
            for stmt in walk(self.function.body)
            if isinstance(stmt, Let) and _jumps(stmt)
            for arg in variables(stmt.args)
        ]
        while todo:
            var = todo.pop()
            stmt = self.definitions.get(var)
            if var in found or not isinstance(stmt, Let) or stmt.op not in ARITHMETIC:
                continue
            if var.type.dtype.startswith("float"):
                found.add(var)
                todo += variables(stmt.args)
        return frozenset(found)


def _jumps(stmt: Let) -> bool:
    if stmt.op == "cast":
        return stmt.args[0].type.dtype.startswith("float") and "float" not in stmt.out.type.dtype
    return stmt.op in EXACT


def _doubled(stmt: Let) -> bool:
    """Whether the text mentions the first argument twice."""
    return ops.operation(stmt.op).emit.count("{0}") > 1


def _width(stmt: Stmt) -> int:
    """About how long a statement's text is."""
    names = sum(len(a.hint if isinstance(a, Var) else a.text) for a in operands(stmt))
    match stmt:
        case Let(op=op):
            return names + len(ops.operation(op).emit.replace("{0}", "").replace("{1}", ""))
        case Load(index=index):
            return names + 2 * len(index)
        case Store():
            return names + 5
        case _:
            return names


def _all_blocks(block: Block) -> Iterator[Block]:
    yield block
    for stmt in block.stmts:
        for inner in blocks(stmt):
            yield from _all_blocks(inner)


def _occurrences(function: Function) -> Counter[Var]:
    count: Counter[Var] = Counter()
    for block in _all_blocks(function.body):
        count.update(variables(block.results))
        for stmt in block.stmts:
            count.update(variables(operands(stmt)))
    return count
