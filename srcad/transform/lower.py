"""Array expressions to loops: Maps are fused into their readers, what is left becomes memory.

After this pass no Map is left; the adjoint and the tangent see scalars, loops and memory alone.
"""

from dataclasses import replace

from srcad.ir.nodes import Alloc, Block, For, Function, If, Map, Stmt, Store, While
from srcad.ir.walk import walk
from srcad.transform.elements import elements
from srcad.transform.fuse import fuse
from srcad.transform.liveness import liveness
from srcad.transform.numbering import numbering

MOST_ROUNDS = 20


def lower(function: Function) -> Function:
    """The function without Maps; one without any is given back as it is."""
    if not has_maps(function):
        return function
    for _ in range(MOST_ROUNDS):
        function = liveness(numbering(elements(function)))
        fused = fuse(function)
        if fused is function:
            break
        function = fused
    return replace(function, body=_block(function.body))


def has_maps(function: Function) -> bool:
    return any(isinstance(stmt, Map) for stmt in walk(function.body))


def _block(block: Block) -> Block:
    return Block(tuple(new for stmt in block.stmts for new in _stmt(stmt)), block.results)


def _stmt(stmt: Stmt) -> tuple[Stmt, ...]:
    match stmt:
        case Map(out=out, shape=shape, indices=indices, body=body, loc=loc):
            inner = _block(body)
            nest: tuple[Stmt, ...] = (*inner.stmts, Store(out, indices, inner.results[0], loc))
            for index, extent in reversed(list(zip(indices, shape, strict=True))):
                nest = (For(index, extent, (), Block(nest), (), loc),)
            return (Alloc(out, shape, None, loc), *nest)
        case For(body=body) | While(body=body):
            return (replace(stmt, body=_block(body)),)
        case If(then=then, orelse=orelse):
            return (replace(stmt, then=_block(then), orelse=_block(orelse)),)
        case _:
            return (stmt,)
