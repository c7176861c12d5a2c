"""Array names that loops and branches join: *moved*, *frozen*, or refused (ADJOINT section 2).

Rules 3 to 5. A join is moved if every array that comes in is a whole base, comes in once per path
and is used afterwards only through the new name: then its shadow is the one that arrives. It is
frozen if nothing that the name may show is written after the moment it came in: then the name has
a shadow of its own, which is added to that of the array that came in. Only the adjoint asks.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NoReturn

from srcad.errors import Problem, UnsupportedSyntax
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
    Library,
    Load,
    Stmt,
    Store,
    Var,
    While,
)
from srcad.ir.types import Array
from srcad.ir.walk import blocks, walk
from srcad.transform.facts import Facts, Place
from srcad.transform.unchanged import Unchanged


@dataclass(frozen=True, eq=False)
class Move:
    """`array` goes on as `name` at a place."""

    array: Var
    name: Var
    place: Place


@dataclass
class Moves:
    """All moves of a function, and all uses of every base."""

    found: Facts
    memory: Unchanged
    joins: list[tuple[Stmt, list[Move], tuple[Var, ...]]] = field(default_factory=list)
    uses: dict[Var, list[tuple[Place, object]]] = field(default_factory=dict)
    follow: dict[Var, set[Var]] = field(default_factory=dict)  # base -> names it may go on as

    # -- the tables

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            place = self.found.place[id(stmt)]
            match stmt:
                case Load(array=array) | Store(array=array) | Grow(array=array):
                    self.used(array, place, stmt)
                case Library(reads=reads, writes=writes):
                    for array in (*reads, *writes):
                        self.used(array, place, stmt)
                case Call(args=args):
                    for arg in args:
                        self.used(arg, place, stmt)
                case For() | While():
                    self.loop(stmt, place)
                case If():
                    self.branch(stmt)
                case _:
                    pass
            for inner in blocks(stmt):
                self.block(inner)

    def used(self, array: Atom, place: Place, by: object) -> None:
        if isinstance(array, Var) and isinstance(array.type, Array):
            self.uses.setdefault(self.found.base(array), []).append((place, by))

    def move(self, array: Atom, name: Var, place: Place) -> Move:
        assert isinstance(array, Var)
        made = Move(array, name, place)
        self.used(array, place, made)
        self.follow.setdefault(self.found.base(array), set()).add(name)
        return made

    def loop(self, loop: For | While, start: Place) -> None:
        end = self.found.end[id(loop.body)]
        for k, (name, init) in enumerate(loop.carried):
            if isinstance(name.type, Array):
                out = loop.outs[k]
                moves = [self.move(init, name, start), self.move(loop.body.results[k], name, end)]
                for move in moves:
                    self.follow[self.found.base(move.array)].add(out)
                self.follow.setdefault(name, set()).add(out)
                self.joins.append((loop, moves, (name, out)))

    def branch(self, branch: If) -> None:
        for k, out in enumerate(branch.outs):
            if isinstance(out.type, Array):
                moves = [
                    self.move(arm.results[k], out, self.found.end[id(arm)])
                    for arm in (branch.then, branch.orelse)
                ]
                self.joins.append((branch, moves, (out,)))

    # -- the rules

    def is_moved(self, move: Move) -> bool:
        """The whole base comes in once per path, and is used afterwards only as the new name."""
        base = self.found.base(move.array)
        born = self.found.inside[base]
        loops = self.found.loops(move.place.around)
        if base != move.array or any(loop not in born for loop in loops):
            return False
        return not any(
            use is not move and after(place, move.place) for place, use in self.uses[base]
        )

    def is_frozen(self, move: Move) -> bool:
        """No write after the move hits what came in, under any name that it may have."""
        base = self.found.base(move.array)
        if placeholder(self.found.owner[base]):
            return True
        for name in self.names(base, move.name):
            for write, target in self.memory.writes.get(name, ()):
                if name == base:
                    if self.memory.hit_after(move.array, move.place, write, target):
                        return False
                elif self.follows(self.found.place[id(write)], move.place):
                    return False
        return True

    def names(self, *start: Var) -> Iterator[Var]:
        """The bases, and every name that their arrays may go on as."""
        seen, todo = set(start), list(start)
        while todo:
            name = todo.pop()
            yield name
            for other in self.follow.get(name, set()) - seen:
                seen.add(other)
                todo.append(other)

    def follows(self, place: Place, other: Place) -> bool:
        """Whether the first can be reached after the second: later in the text, or by a loop."""
        loops = self.found.loops(place.around)
        return after(place, other) or any(loop in other.around for loop in loops)


def after(place: Place, other: Place) -> bool:
    """Later in the text or at the same point, and not in another arm of one branch."""
    return place.order >= other.order and not place.in_other_arm(other)


def placeholder(stmt: Stmt | None) -> bool:
    """An empty array that stands where a name is not set yet: it is never read."""
    return isinstance(stmt, Alloc) and all(
        isinstance(extent, Const) and extent.value == 0 for extent in stmt.shape
    )


def frozen(function: Function, found: Facts, memory: Unchanged) -> frozenset[Var]:
    """The joined names that are frozen; all others are moved.

    Raises UnsupportedSyntax where a name is neither.
    """
    names, undecided = decided(function, found, memory)
    for stmt, name in undecided:
        refuse(name, stmt)
    return names


def decided(
    function: Function, found: Facts, memory: Unchanged
) -> tuple[frozenset[Var], list[tuple[Stmt, Var]]]:
    """The frozen names, and the joins that are neither moved nor frozen."""
    names: set[Var] = set()
    undecided: list[tuple[Stmt, Var]] = []
    if not joins_arrays(function):
        return frozenset(), undecided
    moves = Moves(found, memory)
    moves.block(function.body)
    for result in function.body.results:
        moves.used(result, found.end[id(function.body)], result)
    for stmt, incoming, joined in moves.joins:
        if all(map(moves.is_moved, incoming)):
            continue
        if all(map(moves.is_frozen, incoming)):
            names |= set(joined)
        else:
            undecided.append((stmt, joined[0]))
    return frozenset(names), undecided


def joins_arrays(function: Function) -> bool:
    """Whether any loop or branch gives an array."""
    stmts = walk(function.body)
    return any(isinstance(out.type, Array) for stmt in stmts for out in _joined(stmt))


def _joined(stmt: Stmt) -> tuple[Var, ...]:
    return stmt.outs if isinstance(stmt, For | While | If) else ()


def refuse(name: Var, stmt: Stmt) -> NoReturn:
    """Rule 5."""
    raise UnsupportedSyntax(
        Problem(
            f"which array `{name.hint}` names here depends on the run",
            stmt.loc,
            "it may be another name for an array that is written later",
            f"copy it where the names part: `{name.hint} = {name.hint}.copy()`",
        )
    )
