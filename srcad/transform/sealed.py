"""Promises that an array is not written any more: checked here, and taken out.

A list that grows holds copies of the arrays that Python keeps by reference. The two mean the same
if nothing writes the array afterwards, under any name: the rule of *frozen* names (`moves`).
"""

from dataclasses import replace

from srcad.errors import Problem, UnsupportedSyntax
from srcad.ir.nodes import Block, Function, Sealed
from srcad.ir.walk import map_blocks, walk
from srcad.transform.facts import facts
from srcad.transform.moves import Move, Moves
from srcad.transform.unchanged import unchanged


def sealed(function: Function) -> Function:
    """The function without promises. Raises UnsupportedSyntax where one does not hold."""
    promises = [stmt for stmt in walk(function.body) if isinstance(stmt, Sealed)]
    if not promises:
        return function
    found = facts(function)
    moves = Moves(found, unchanged(function, found))
    moves.block(function.body)
    wrong = [
        Problem(stmt.what, stmt.loc, stmt.why, stmt.instead)
        for stmt in promises
        if not moves.is_frozen(Move(stmt.array, stmt.array, found.place[id(stmt)]))
    ]
    if wrong:
        raise UnsupportedSyntax(*dict.fromkeys(wrong))
    return replace(function, body=_without(function.body))


def _without(block: Block) -> Block:
    kept = (stmt for stmt in block.stmts if not isinstance(stmt, Sealed))
    return replace(block, stmts=tuple(map_blocks(stmt, _without) for stmt in kept))
