"""Integers that a loop does not change are computed before it.

Only pure integer operations, conditions on integers, and extents move: they never fail, so it does
no harm that the loop may not run, or that they stood in a branch of it.
"""

from dataclasses import replace

from srcad.ir.aliases import Memory, memory
from srcad.ir.nodes import Block, For, Function, If, Let, Map, Stmt, Var, While
from srcad.ir.types import BOOL, INT
from srcad.ir.walk import blocks, defs, params, variables

STAY = ("pow", "cast")  # an integer to a negative power raises; floats do not move


def invariants(function: Function) -> Function:
    """The function with invariant integers moved out of loops. Cost: one walk."""
    hoist = Hoist(memory(function))
    for param in function.params:
        hoist.depth[param] = 0
    return replace(function, body=hoist.block(function.body))


class Hoist:
    """`depth[v]` is the number of statements around v; `waiting[d]` goes before `around[d]`."""

    def __init__(self, classes: Memory) -> None:
        self.classes = classes
        self.depth: dict[Var, int] = {}
        self.around: list[Stmt] = []
        self.waiting: list[list[Stmt]] = []

    def block(self, block: Block) -> Block:
        stmts: list[Stmt] = []
        for stmt in block.stmts:
            if isinstance(stmt, Let) and (target := self.target(stmt)) is not None:
                self.depth[stmt.out] = target
                self.waiting[target].append(stmt)
                continue
            for var in defs(stmt):
                self.depth[var] = len(self.around)
            if blocks(stmt):
                self.around.append(stmt)
                self.waiting.append([])
                for var in params(stmt):
                    self.depth[var] = len(self.around)
                stmt = self.inside(stmt)
                self.around.pop()
                stmts += self.waiting.pop()
            stmts.append(stmt)
        return replace(block, stmts=tuple(stmts))

    def inside(self, stmt: Stmt) -> Stmt:
        match stmt:
            case For(body=body) | While(body=body) | Map(body=body):
                return replace(stmt, body=self.block(body))
            case If(then=then, orelse=orelse):
                return replace(stmt, then=self.block(then), orelse=self.block(orelse))
            case _:
                return stmt

    def target(self, stmt: Let) -> int | None:
        """The outermost place behind all operands that stands before a loop."""
        if not self.movable(stmt):
            return None
        first = max((self.depth[var] for var in variables(stmt.args)), default=0)
        for depth in range(first, len(self.around)):
            if not isinstance(self.around[depth], If):
                return depth
        return None

    def movable(self, stmt: Let) -> bool:
        if stmt.op == "dim":
            array = stmt.args[0]
            return isinstance(array, Var) and not self.classes.grows(array)
        kinds = {arg.type for arg in stmt.args}
        return stmt.op not in STAY and stmt.out.type in (INT, BOOL) and kinds <= {INT, BOOL}
