"""Rule 2 of ADJOINT section 2: what follows a branch goes into both arms.

`if t % 2 == 0: src, dst = a, b` names arrays that are written later: neither moved nor frozen. If
the names are not used outside the block of the branch, the statements up to their last use are put
into both arms, where each name is one array. Tried only where the other rules fail, because code
is doubled.
"""

from dataclasses import replace

from srcad.ir.builder import Builder
from srcad.ir.nodes import Atom, Block, For, Function, If, Map, Stmt, Var, While
from srcad.ir.types import Array
from srcad.ir.walk import Renamer, blocks, defs, free, next_id, uses, walk
from srcad.transform.facts import facts
from srcad.transform.moves import decided, joins_arrays
from srcad.transform.references import references
from srcad.transform.unchanged import unchanged

MOST_STATEMENTS = 200  # that one split copies
MOST_SPLITS = 8


def split(function: Function) -> Function:
    """The function with branches split where only that lets it be differentiated."""
    if not joins_arrays(function):
        return function
    for _ in range(MOST_SPLITS):
        found = facts(function)
        _, undecided = decided(function, found, unchanged(function, found))
        branches = [stmt for stmt, _ in undecided if isinstance(stmt, If)]
        for branch in branches:
            body = _block(function.body, branch, Builder(next_id(function)))
            if body is not None:
                function = references(replace(function, body=body))
                break
        else:
            return function
    return function


def _block(block: Block, branch: If, builder: Builder) -> Block | None:
    """The block with `branch` split wherever it stands inside; None if that is not possible."""
    for k, stmt in enumerate(block.stmts):
        if stmt is branch:
            return _split(block, k, branch, builder)
        inner = blocks(stmt)
        made = [_block(part, branch, builder) for part in inner]
        if any(part is not None for part in made):
            new = [part or old for part, old in zip(made, inner, strict=True)]
            return Block((*block.stmts[:k], _with(stmt, new), *block.stmts[k + 1 :]), block.results)
    return None


def _with(stmt: Stmt, inner: list[Block]) -> Stmt:
    if isinstance(stmt, If):
        return replace(stmt, then=inner[0], orelse=inner[1])
    assert isinstance(stmt, Map | For | While)
    return replace(stmt, body=inner[0])


def _split(block: Block, at: int, branch: If, builder: Builder) -> Block | None:
    names = {out for out in branch.outs if isinstance(out.type, Array)}
    rest = block.stmts[at + 1 :]
    if names & set(block.results) or not names:
        return None
    used = [k for k, stmt in enumerate(rest) if uses(stmt) & names]
    middle = rest[: max(used, default=-1) + 1]
    after = rest[len(middle) :]
    if sum(1 for _ in walk(Block(middle))) > MOST_STATEMENTS:
        return None
    needed = free(Block(after, block.results))
    outs = [var for stmt in middle for var in defs(stmt) if var in needed]
    outs += [out for out in branch.outs if out in needed]
    arms = [
        _arm(arm, branch.outs, Block(middle, tuple(outs)), builder)
        for arm in (branch.then, branch.orelse)
    ]
    joined = If(branch.cond, arms[0], arms[1], tuple(outs), branch.loc)
    return Block((*block.stmts[:at], joined, *after), block.results)


def _arm(arm: Block, outs: tuple[Var, ...], middle: Block, builder: Builder) -> Block:
    """An arm that goes on with its own copy of what follows."""
    mapping: dict[Var, Atom] = dict(zip(outs, arm.results, strict=True))
    copied = Renamer(mapping, builder).block(middle)
    return Block((*arm.stmts, *copied.stmts), copied.results)
