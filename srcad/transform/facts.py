"""Where things are defined in a function: owners, enclosing statements, bases of arrays."""

from dataclasses import dataclass, field

from srcad.ir.nodes import Block, For, Function, Stmt, Var, View, While
from srcad.ir.walk import blocks, defs, params


@dataclass
class Facts:
    """Tables over one function; filled by `facts`.

    `owner[v]` is the statement that defines v (None: a parameter of the function);
    `inside[v]` are the statements around v's definition, outermost first; a name that a loop
    defines for its body counts as inside that loop. `around[id(stmt)]` and `order[id(stmt)]` are
    the same for statements, and their place in the text; `within[id(stmt)]` are the blocks around
    it, one more: the function's first.
    """

    owner: dict[Var, Stmt | None] = field(default_factory=dict)
    inside: dict[Var, tuple[Stmt, ...]] = field(default_factory=dict)
    around: dict[int, tuple[Stmt, ...]] = field(default_factory=dict)
    within: dict[int, tuple[Block, ...]] = field(default_factory=dict)
    order: dict[int, int] = field(default_factory=dict)

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
    for stmt in within[-1].stmts:
        found.around[id(stmt)], found.within[id(stmt)] = around, within
        found.order[id(stmt)] = len(found.order)
        for var in defs(stmt):
            found.owner[var], found.inside[var] = stmt, around
        for var in params(stmt):
            found.owner[var], found.inside[var] = stmt, (*around, stmt)
        for inner in blocks(stmt):
            _visit(found, (*around, stmt), (*within, inner))
