"""Which array a name means where loops and branches join names (ADJOINT section 2).

Rule 1, *same*, is applied here: such names are replaced by what they stand for. What is left must
be *moved*: every array that comes in is a whole base and is used afterwards only through the new
name. Everything else is refused at the line.
"""

from dataclasses import replace

from srcad.errors import Problem, UnsupportedSyntax
from srcad.ir.nodes import (
    Atom,
    Block,
    For,
    Function,
    If,
    Let,
    Stmt,
    Var,
    View,
    While,
)
from srcad.ir.types import Array
from srcad.ir.walk import blocks, operands, substitute, walk
from srcad.transform.facts import Facts, facts


def references(function: Function) -> Function:
    """The function with *same* names replaced; refuses names that are neither same nor moved."""
    function = replace(function, body=_same(function.body))
    found = facts(function)
    uses = _uses(function)
    for stmt in walk(function.body):
        if isinstance(stmt, For | While | If):
            _check(stmt, found, uses)
    return function


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


def _uses(function: Function) -> dict[Var, list[Stmt]]:
    """The statements that read or write through each array variable, shapes left out."""
    found: dict[Var, list[Stmt]] = {}
    for stmt in walk(function.body):
        if isinstance(stmt, Let):
            continue
        for atom in operands(stmt):
            if isinstance(atom, Var) and isinstance(atom.type, Array):
                found.setdefault(atom, []).append(stmt)
    return found


def _refuse(name: Var, stmt: Stmt) -> None:
    raise UnsupportedSyntax(
        Problem(
            f"which array `{name.hint}` names here depends on the run",
            stmt.loc,
            "it may be another name for an array that is used later, and srcad cannot follow it",
            f"copy it where the names part: `{name.hint} = {name.hint}.copy()`",
        )
    )


def _check(stmt: For | While | If, found: Facts, uses: dict[Var, list[Stmt]]) -> None:
    """Rule 3 for every array name that the statement joins."""
    match stmt:
        case (
            For(carried=carried, body=body, outs=outs)
            | While(carried=carried, body=body, outs=outs)
        ):
            names = [name for name, _ in carried]
            _moved(stmt, outs, tuple(init for _, init in carried), found, uses, False)
            _moved(stmt, tuple(names), body.results, found, uses, True)
        case If(then=then, orelse=orelse, outs=outs):
            for arm in (then, orelse):
                _moved(stmt, outs, arm.results, found, uses, True)


def _moved(
    stmt: Stmt,
    names: tuple[Var, ...],
    incoming: tuple[Atom, ...],
    found: Facts,
    uses: dict[Var, list[Stmt]],
    at_end: bool,
) -> None:
    seen: set[Var] = set()
    for name, atom in zip(names, incoming, strict=True):
        if not (isinstance(atom, Var) and isinstance(atom.type, Array)):
            continue
        if isinstance(found.owner[atom], View) or atom in seen:
            _refuse(name, stmt)
        seen.add(atom)
        if _used_after(atom, stmt, found, uses, at_end):
            _refuse(name, stmt)


def _used_after(
    base: Var, stmt: Stmt, found: Facts, uses: dict[Var, list[Stmt]], at_end: bool
) -> bool:
    """Whether the base, or a view of it, is read or written after it moved at `stmt`.

    `at_end`: it moves at the end of a block of `stmt`; else where `stmt` begins. Loops that hold
    both the move and the base's birth outside bring every use in the loop after the move.
    """
    aliases = [v for v in uses if found.base(v) == base]
    inner = {id(s) for block in blocks(stmt) for s in walk(block)}
    shared = [
        loop
        for loop in found.loops((*found.around[id(stmt)], *((stmt,) if at_end else ())))
        if loop not in found.inside[base]
    ]
    for alias in aliases:
        for use in uses[alias]:
            if use is stmt:
                continue
            if isinstance(use, View) and not uses.get(use.out):
                continue
            if any(use is loop or loop in found.around[id(use)] for loop in shared):
                return True
            inside = id(use) in inner
            if inside and not at_end:
                return True
            if not inside and found.order[id(use)] > found.order[id(stmt)]:
                return True
    return False
