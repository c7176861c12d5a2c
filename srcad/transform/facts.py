"""Where things are defined in a function: owners, enclosing statements, bases of arrays."""

from dataclasses import dataclass, field

from srcad.ir.nodes import Block, For, Function, Stmt, Var, View, While
from srcad.ir.walk import blocks, defs, params


@dataclass(frozen=True, eq=False)
class Place:
    """A point of a function: the statements and blocks around it, outermost first, and its order.

    There is one block more than statements: the function's. Later in the text is a higher order.
    """

    order: int
    around: tuple[Stmt, ...]
    within: tuple[Block, ...]

    def in_other_arm(self, other: "Place") -> bool:
        """Whether the two stand in different arms of one branch."""
        for k in range(min(len(self.around), len(other.around))):
            if self.around[k] is not other.around[k]:
                return False
            if self.within[k + 1] is not other.within[k + 1]:
                return True
        return False


@dataclass
class Facts:
    """Tables over one function; filled by `facts`.

    `owner[v]` is the statement that defines v (None: a parameter of the function);
    `inside[v]` are the statements around v's definition, outermost first; a name that a loop
    defines for its body counts as inside that loop. `place[id(stmt)]` is where a statement
    stands, `end[id(block)]` the end of a block.
    """

    owner: dict[Var, Stmt | None] = field(default_factory=dict)
    inside: dict[Var, tuple[Stmt, ...]] = field(default_factory=dict)
    place: dict[int, Place] = field(default_factory=dict)
    end: dict[int, Place] = field(default_factory=dict)

    def around(self, stmt: Stmt) -> tuple[Stmt, ...]:
        """The statements around a statement, outermost first."""
        return self.place[id(stmt)].around

    def base(self, array: Var) -> Var:
        """The array that `array` is a view of, through all views."""
        stmt = self.owner[array]
        while isinstance(stmt, View) and stmt.out == array:
            array = stmt.array
            stmt = self.owner[array]
        return array

    def loops(self, stmts: tuple[Stmt, ...]) -> tuple[For | While, ...]:
        return tuple(stmt for stmt in stmts if isinstance(stmt, For | While))


def facts(function: Function) -> Facts:
    """The tables of a function. Cost: one walk."""
    found = Facts()
    for param in function.params:
        found.owner[param], found.inside[param] = None, ()
    _visit(found, (), (function.body,))
    return found


def _visit(found: Facts, around: tuple[Stmt, ...], within: tuple[Block, ...]) -> None:
    def here() -> Place:
        return Place(len(found.place) + len(found.end), around, within)

    for stmt in within[-1].stmts:
        found.place[id(stmt)] = here()
        for var in defs(stmt):
            found.owner[var], found.inside[var] = stmt, around
        for var in params(stmt):
            found.owner[var], found.inside[var] = stmt, (*around, stmt)
        for inner in blocks(stmt):
            _visit(found, (*around, stmt), (*within, inner))
    found.end[id(within[-1])] = here()
