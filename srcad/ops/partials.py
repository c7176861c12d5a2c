"""Derivatives of one operation: what `partial` emits, and what that reads.

A partial is recorded in a block of its own, of which only what its result needs is kept.
"""

from collections.abc import Iterator
from functools import cache

from srcad.ir.builder import Builder
from srcad.ir.nodes import Atom, Const, Let, Stmt, Var
from srcad.ir.types import Type
from srcad.ops.declaration import operation
from srcad.ops.fold import apply
from srcad.ops.symbol import Sym


def partial(builder: Builder, let: Let, k: int) -> Atom | None:
    """Emits d out / d args[k]; None where the operation is flat in it."""
    rule = operation(let.op).partials[k]
    if rule is None:
        return None

    def emit(name: str, *atoms: Atom, type: Type | None = None) -> Atom:
        return apply(builder, name, *atoms, type=type)

    with builder.block() as recorded:
        result = rule(*(Sym(emit, atom) for atom in (*let.args, let.out))).atom
    for stmt in reversed(list(_needed(recorded.stmts, result))):
        builder.add(stmt)
    return result


def _needed(stmts: list[Stmt], result: Atom) -> Iterator[Let]:
    """The statements that the result depends on, the last one first."""
    live = {result}
    for stmt in reversed(stmts):
        assert isinstance(stmt, Let), "partials consist of operations"
        if stmt.out in live:
            live.update(stmt.args)
            yield stmt


def partial_reads(let: Let, k: int) -> frozenset[Var]:
    """Which of the arguments and the result the partial reads."""
    kinds = tuple(arg if isinstance(arg, Const) else arg.type for arg in let.args)
    atoms = (*let.args, let.out)
    read = (atoms[place] for place in _places(let.op, k, kinds, let.out.type))
    return frozenset(atom for atom in read if isinstance(atom, Var))


@cache
def _places(name: str, k: int, kinds: tuple[Const | Type, ...], out: Type) -> tuple[int, ...]:
    """Found by emitting the partial for variables and looking at what it uses."""
    builder = Builder()
    args = tuple(kind if isinstance(kind, Const) else builder.var(kind) for kind in kinds)
    let = Let(builder.var(out), name, args)
    result = partial(builder, let, k)
    used = {result}
    for stmt in builder.finish().stmts:
        assert isinstance(stmt, Let)
        used.update(stmt.args)
    return tuple(place for place, atom in enumerate((*args, let.out)) if atom in used)


def has_pole(let: Let) -> bool:
    """Whether a partial of this very operation may be infinite or nan where it is masked.

    A division by a constant that is not 0 has no pole, nor has a polynomial.
    """
    op = operation(let.op)
    if not op.pole or op.tame is None:
        return op.pole
    return not op.tame(*(arg.value if isinstance(arg, Const) else None for arg in let.args))
