"""What memory the reverse sweep may read again: where it is proved unchanged.

A *region* is a block, named by its depth among the blocks around a statement (0: the function's).
At the end of a region the reverse sweep of it begins; a read in the region finds there what it
found before if no write to the base inside the region comes after it and hits it, and the base is
not moved on inside the region (ADJOINT section 4).
"""

from dataclasses import dataclass, field

from srcad.ir.aliases import targets
from srcad.ir.nodes import (
    Atom,
    Block,
    Call,
    For,
    Function,
    If,
    Let,
    Library,
    Load,
    Stmt,
    Store,
    Var,
    While,
)
from srcad.ir.types import Array
from srcad.ir.walk import blocks, defs, params, walk
from srcad.transform.affine import Linear
from srcad.transform.conditions import Conditions
from srcad.transform.facts import Facts, Place
from srcad.transform.hits import Hits
from srcad.transform.shapes import shapes

Shape = tuple[Atom | None, ...]


@dataclass
class Unchanged:
    """Tables over one function; made by `unchanged`."""

    found: Facts
    hits: Hits
    writes: dict[Var, list[tuple[Stmt, Var]]] = field(default_factory=dict)  # by base
    touches: dict[Var, list[tuple[Stmt, Var]]] = field(default_factory=dict)
    moves: dict[Var, list[Stmt]] = field(default_factory=dict)

    def shape(self, array: Var) -> Shape:
        assert isinstance(array.type, Array)
        return self.hits.shapes.get(array, (None,) * array.type.ndim)

    def holds(self, read: Stmt, array: Var, depth: int) -> bool:
        """Whether memory read at `read` is the same at the end of the region."""
        base = self.found.base(array)
        region = self.found.place[id(read)].within[depth]
        if len(self.found.inside[base]) > depth:
            return False  # born deeper: gone at the end
        if any(self._in(move, region) for move in self.moves.get(base, ())):
            return False
        seen = self.hits.access(read, array)
        return not any(
            self._in(write, region)
            and self.hits.may_hit(seen, self.hits.access(write, target), depth)
            for write, target in self.writes.get(base, ())
        )

    def hit_after(self, array: Var, place: Place, write: Stmt, target: Var) -> bool:
        """Whether a write can change what an array shows at a place, once that is passed."""
        depth = len(self.found.inside[self.found.base(array)])
        shown = self.hits.accessed(array, None, place)
        return self.hits.may_hit(shown, self.hits.access(write, target), depth)

    def _in(self, stmt: Stmt, region: Block) -> bool:
        return any(block is region for block in self.found.place[id(stmt)].within)

    def covered(self, read: Stmt, array: Var, depth: int) -> bool:
        """Whether an execution of the region touches every element of the base anyway.

        Up to a constant border, and outside deeper branches: then a copy of the base costs no
        more than the region itself.
        """
        base = self.found.base(array)
        region = self.found.place[id(read)].within[depth]
        return any(
            self._in(stmt, region) and self._spans(stmt, name, base, depth)
            for stmt, name in self.touches.get(base, ())
        )

    def _spans(self, stmt: Stmt, name: Var, base: Var, depth: int) -> bool:
        around = self.found.around(stmt)[depth:]
        if any(isinstance(outer, If) for outer in around):
            return False
        if not isinstance(stmt, Load | Store):
            return name == base
        loops = {loop.index: loop for loop in around if isinstance(loop, For)}
        form = self.hits.conditions.form
        used: set[Var] = set()
        forms = self.hits.access(stmt, name).index
        for index, extent in zip(forms, self.shape(base), strict=True):
            own = [v for v in index.variables if v in loops] if index is not None else []
            if index is None or extent is None or len(own) != 1 or own[0] in used:
                return False
            (var,) = own
            used.add(var)
            missing = form(extent).plus(self._trips(loops[var]), -1)
            if abs(index.coefficient(var)) != 1 or missing.terms:
                return False
        return True

    def _trips(self, loop: For) -> Linear:
        """The loop's stop without its bound at zero: the difference is no more than a constant."""
        stop = loop.stop
        made = self.found.owner[stop] if isinstance(stop, Var) else None
        if isinstance(made, Let) and made.op == "maximum" and stop == made.out:
            return self.hits.conditions.form(made.args[0])
        return self.hits.conditions.form(stop)


def unchanged(function: Function, found: Facts) -> Unchanged:
    """The tables of a function. Cost: one walk; questions cost about a millisecond each."""
    definitions: dict[Var, Stmt] = {}
    for stmt in walk(function.body):
        for var in (*defs(stmt), *params(stmt)):
            definitions[var] = stmt
    made = Unchanged(found, Hits(found, shapes(function), Conditions(definitions)))
    for stmt in walk(function.body):
        for target in targets(stmt):
            made.writes.setdefault(found.base(target), []).append((stmt, target))
        for name in _touched(stmt):
            made.touches.setdefault(found.base(name), []).append((stmt, name))
        for name in _moved(stmt):
            made.moves.setdefault(found.base(name), []).append(stmt)
    return made


def _touched(stmt: Stmt) -> tuple[Var, ...]:
    match stmt:
        case Load(array=array) | Store(array=array):
            return (array,)
        case Library(reads=reads, writes=writes):
            return (*reads, *writes)
        case Call(args=args):
            return tuple(a for a in args if isinstance(a, Var) and isinstance(a.type, Array))
        case _:
            return ()


def _moved(stmt: Stmt) -> set[Var]:
    """The arrays that go on under another name at a loop or branch, or at the end of its blocks."""
    handed: list[Atom] = [result for block in blocks(stmt) for result in block.results]
    if isinstance(stmt, For | While):
        handed += [init for _, init in stmt.carried]
    return {a for a in handed if isinstance(a, Var) and isinstance(a.type, Array)}
