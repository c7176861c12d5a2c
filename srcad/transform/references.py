"""Array names that mean one array wherever loops and branches join them (ADJOINT section 2).

Rule 1, *same*: such names are replaced by what they stand for; views of one array in
`joined_views`. Rule 2, *split*, is in `split`, the other rules in `moves`.
"""

from dataclasses import replace

from srcad.ir.nodes import (
    Atom,
    Block,
    For,
    Function,
    If,
    Stmt,
    Var,
    While,
)
from srcad.ir.types import Array
from srcad.ir.walk import substitute
from srcad.transform.joined_views import joined_views


def references(function: Function) -> Function:
    """The function with *same* names replaced. Cost: one walk."""
    return joined_views(replace(function, body=_same(function.body)))


def _same(block: Block) -> Block:
    """Rule 1: a joined array name whose incoming references are one variable is that variable."""
    stmts: list[Stmt] = []
    mapping: dict[Var, Atom] = {}
    for stmt in block.stmts:
        if mapping:
            (stmt,) = substitute(Block((stmt,)), mapping).stmts
        match stmt:
            case For(body=body) | While(body=body):
                stmt = replace(stmt, body=_same(body))
                stmt, gone = _loop(stmt)
                if gone:
                    stmt = replace(stmt, body=_same(substitute(stmt.body, gone)))
                mapping |= gone
            case If(then=then, orelse=orelse):
                stmt, gone = _branch(replace(stmt, then=_same(then), orelse=_same(orelse)))
                mapping |= gone
            case _:
                pass
        stmts.append(stmt)
    return Block(tuple(stmts), substitute(Block((), block.results), mapping).results)


def _loop(loop: For | While) -> tuple[For | While, dict[Var, Atom]]:
    keep: list[int] = []
    gone: dict[Var, Atom] = {}
    for k, ((name, init), result) in enumerate(zip(loop.carried, loop.body.results, strict=True)):
        if isinstance(name.type, Array) and result in (name, init):
            gone[name] = gone[loop.outs[k]] = init
        else:
            keep.append(k)
    if not gone:
        return loop, {}
    body = replace(loop.body, results=tuple(loop.body.results[k] for k in keep))
    carried = tuple(loop.carried[k] for k in keep)
    outs = tuple(loop.outs[k] for k in keep)
    return replace(loop, carried=carried, body=body, outs=outs), gone


def _branch(branch: If) -> tuple[If, dict[Var, Atom]]:
    keep: list[int] = []
    gone: dict[Var, Atom] = {}
    pairs = zip(branch.then.results, branch.orelse.results, strict=True)
    for k, (first, second) in enumerate(pairs):
        if isinstance(branch.outs[k].type, Array) and first == second:
            gone[branch.outs[k]] = first
        else:
            keep.append(k)
    then = replace(branch.then, results=tuple(branch.then.results[k] for k in keep))
    orelse = replace(branch.orelse, results=tuple(branch.orelse.results[k] for k in keep))
    outs = tuple(branch.outs[k] for k in keep)
    return replace(branch, then=then, orelse=orelse, outs=outs), gone
