"""What names mean while tracing: run-time scalars, run-time arrays, or ordinary Python objects.

`Emit` is what every function of this package that adds to the IR gets first.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import NoReturn

from srcad.errors import Loc, Problem, UnsupportedSyntax
from srcad.ir.builder import Builder, OpenBlock
from srcad.ir.nodes import Atom, Block, For, If, Let, Map, Stmt, Var, While


@dataclass(frozen=True, slots=True)
class Num:
    """A run-time number; `weak` as Python's numbers are in NumPy's promotion."""

    atom: Atom
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Arr:
    """A run-time array and its extents."""

    var: Var
    shape: tuple[Atom, ...]


class Unset:
    """A name that some path leaves without a value."""


UNSET = Unset()
Value = object


@dataclass(frozen=True, slots=True)
class Option:
    """A name that only some paths set: `value` where `known`, else `absent` (UNSET or None)."""

    value: Value
    known: Num
    absent: Value


@dataclass(frozen=True, slots=True)
class Useless:
    """A name that cannot be read, and why: `what`, `why`, `instead` of the problem."""

    what: str
    why: str = ""
    instead: str = ""


@dataclass(frozen=True, slots=True)
class Made:
    """An atom, and the statement of an open block behind which it is known."""

    atom: Atom
    block: OpenBlock
    place: int
    stmt: Stmt

    def holds(self, open: list[OpenBlock]) -> bool:
        """Whether the statement stands before the place where statements are added now."""
        stmts = self.block.stmts
        here = any(block is self.block for block in open)
        return here and self.place < len(stmts) and stmts[self.place] is self.stmt


class Memory:
    """What is known of arrays: whose elements a view shows, who shares memory with whom."""

    def __init__(self) -> None:
        self.roots: dict[Var, Var] = {}  # views and what they are views of, in the end
        self.separate: set[Var] = set()  # arrays that share no memory with each other
        self.frozen: set[Var] = set()  # arrays whose copy NumPy may or may not make
        self.joined: set[Var] = set()  # arrays that have, or are, another name from a join
        self.writes: list[tuple[Var, tuple[OpenBlock, ...]]] = []

    def root(self, array: Var) -> Var:
        return self.roots.get(array, array)

    def apart(self, first: Var, second: Var) -> bool:
        """Whether two arrays certainly share no memory: two of their own, or one by one name."""
        roots = self.root(first), self.root(second)
        own = [root in self.separate for root in roots]
        single = [known and root not in self.joined for known, root in zip(own, roots, strict=True)]
        return roots[0] != roots[1] and (all(own) or any(single))


class Emit:
    """A builder, and what is known of the atoms made so far."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.indices: dict[Var, Atom] = {}  # loop indices and the extents that they count
        self.covers: dict[Atom, frozenset[Atom]] = {}  # broadcast extents and what they cover
        self.lengths: dict[Atom, tuple[Atom, int]] = {}  # n - k, where made: n and k
        self.memory = Memory()
        self.made: dict[Hashable, Made] = {}
        self.everywhere: set[Var] = set()  # extents that stand before everything else
        self.names: dict[Var, str] = {}  # what the user calls values that came without a name
        self.run: Callable[[object, list[Value]], Value] | None = None  # set by the interpreter

    @property
    def loc(self) -> Loc | None:
        return self.builder.loc

    def fail(self, what: str, why: str = "", instead: str = "") -> NoReturn:
        """Refuses the construct at the current place."""
        raise UnsupportedSyntax(Problem(what, self.builder.loc, why, instead))

    def call(self, function: Callable[..., object], *args: Value) -> Value:
        """Traces a function of `srcad.arrays` in place; its statements carry the user's line."""
        assert self.run is not None, "no interpreter is attached"
        block, loc = self.builder.open[-1], self.builder.loc
        mark = len(block.stmts)
        result = self.run(function, list(args))
        block.stmts[mark:] = [located(stmt, loc) for stmt in block.stmts[mark:]]
        self.builder.loc = loc
        return result

    def once(self, key: Hashable, make: Callable[[], Atom]) -> Atom:
        """The atom that `make` gives, emitted again only where an earlier one is not visible."""
        found = self.made.get(key)
        if found is not None and found.holds(self.builder.open):
            return found.atom
        block = self.builder.open[-1]
        before = len(block.stmts)
        atom = make()
        place = len(block.stmts) - 1
        if place >= before:
            self.made[key] = Made(atom, block, place, block.stmts[place])
        return atom

    def definition(self, atom: Atom) -> Let | None:
        """The operation that an atom is the result of, where it stands in an open block."""
        if isinstance(atom, Var):
            for block in reversed(self.builder.open):
                for stmt in reversed(block.stmts):
                    if isinstance(stmt, Let) and stmt.out == atom:
                        return stmt
        return None


def located(stmt: Stmt, loc: Loc | None) -> Stmt:
    """The statement and all inside it at another place."""

    def block(inner: Block) -> Block:
        return Block(tuple(located(s, loc) for s in inner.stmts), inner.results)

    match stmt:
        case Map(body=body) | For(body=body) | While(body=body):
            return replace(stmt, body=block(body), loc=loc)
        case If(then=then, orelse=orelse):
            return replace(stmt, then=block(then), orelse=block(orelse), loc=loc)
        case _:
            return replace(stmt, loc=loc)
