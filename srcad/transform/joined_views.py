"""Names that loops and branches give to views of one array: their integers are handed on instead.

The second half of rule 1 of ADJOINT section 2: `cur = path[0]; for t ...: ...; cur = path[t + 1]`
carries the row's number, and the view is taken where it is needed. Then no array is joined, and
writes through the name are writes into `path`.
"""

from dataclasses import dataclass, field, replace
from typing import Any

from srcad.ir.builder import Builder, view_type
from srcad.ir.nodes import (
    Atom,
    Block,
    For,
    Function,
    If,
    Map,
    Stmt,
    Subscript,
    Var,
    View,
    While,
    array_type,
)
from srcad.ir.types import INT, Array
from srcad.ir.walk import defs, how_atoms, map_how, next_id, substitute, walk


def joined_views(function: Function) -> Function:
    """The function with such names replaced. Cost: one walk."""
    joins = (s for s in walk(function.body) if isinstance(s, For | While | If))
    if not any(isinstance(out.type, Array) for stmt in joins for out in stmt.outs):
        return function
    walker = _Walker(Builder(next_id(function)))
    return replace(function, body=walker.block(function.body))


@dataclass
class _Walker:
    builder: Builder
    views: dict[Var, View] = field(default_factory=dict)

    def block(self, block: Block) -> Block:
        stmts: list[Stmt] = []
        mapping: dict[Var, Atom] = {}
        for stmt in block.stmts:
            (stmt,) = substitute(Block((stmt,)), mapping).stmts
            if isinstance(stmt, View):
                self.views[stmt.out] = stmt
            match stmt:
                case For(body=body) | While(body=body) | Map(body=body):
                    stmt = replace(stmt, body=self.block(body))
                case If(then=then, orelse=orelse):
                    stmt = replace(stmt, then=self.block(then), orelse=self.block(orelse))
                case _:
                    pass
            made, after = self.join(stmt, mapping)
            stmts += [made, *after]
        return Block(tuple(stmts), substitute(Block((), block.results), mapping).results)

    def join(self, stmt: Stmt, mapping: dict[Var, Atom]) -> tuple[Stmt, list[Stmt]]:
        """The statement without joined views, and the views that stand behind it."""
        after: list[Stmt] = []
        if isinstance(stmt, For | While | If):
            for k in reversed(range(len(stmt.outs))):
                pair = self.pair(stmt, k)
                if pair is not None:
                    name = stmt.outs[k]
                    stmt, view = self.split(stmt, k, *pair)
                    mapping[name] = view.out
                    after.append(view)
                    self.views[view.out] = view
        return stmt, after

    def pair(self, stmt: For | While | If, k: int) -> tuple[View, View] | None:
        """The two views that come in under a name, of one array that is known before."""
        if not isinstance(stmt.outs[k].type, Array):
            return None
        if isinstance(stmt, If):
            atoms = stmt.then.results[k], stmt.orelse.results[k]
        else:
            atoms = stmt.carried[k][1], stmt.body.results[k]
        first, second = (self.views.get(a) if isinstance(a, Var) else None for a in atoms)
        if first is None or second is None or first.array != second.array:
            return None
        inner = {var for s in walk(Block((stmt,))) for var in defs(s)}
        if first.array in inner or not _alike(first, second):
            return None
        return first, second

    def split(
        self, stmt: For | While | If, k: int, first: View, second: View
    ) -> tuple[For | While | If, View]:
        """Hands on the integers that differ in place of the name; the view stands behind."""
        pairs = list(zip(how_atoms(first.how), how_atoms(second.how), strict=True))
        moving = [n for n, (a, b) in enumerate(pairs) if a != b]
        outs = [self.builder.var(INT, "at") for _ in moving]
        old = stmt.outs[k]
        new_outs = (*_without(stmt.outs, k), *outs)
        starts, ends = [pairs[n][0] for n in moving], [pairs[n][1] for n in moving]
        if isinstance(stmt, If):
            then = replace(stmt.then, results=(*_without(stmt.then.results, k), *starts))
            orelse = replace(stmt.orelse, results=(*_without(stmt.orelse.results, k), *ends))
            stmt = replace(stmt, then=then, orelse=orelse, outs=new_outs)
        else:
            names = [self.builder.var(INT, "at") for _ in moving]
            name = stmt.carried[k][0]
            view = self.view(first, dict(zip(moving, names, strict=True)), name.hint)
            body = substitute(stmt.body, {name: view.out})
            results = (*_without(body.results, k), *ends)
            body = Block((view, *body.stmts), results)
            carried = (*_without(stmt.carried, k), *zip(names, starts, strict=True))
            stmt = replace(stmt, carried=carried, body=body, outs=new_outs)
        return stmt, self.view(first, dict(zip(moving, outs, strict=True)), old.hint)

    def view(self, like: View, moved: dict[int, Var], hint: str) -> View:
        """The view with some of its integers replaced."""
        count = iter(range(len(how_atoms(like.how))))

        def atom(old: Atom) -> Atom:
            return moved.get(next(count), old)

        how = map_how(like.how, atom)
        out = self.builder.var(view_type(array_type(like.array), how), hint)
        return View(out, like.array, how, like.loc)


def _without(items: tuple[Any, ...], k: int) -> tuple[Any, ...]:
    return (*items[:k], *items[k + 1 :])


def _alike(first: View, second: View) -> bool:
    """Whether two views differ in their integers only."""
    if not isinstance(first.how, Subscript) or not isinstance(second.how, Subscript):
        return False
    return list(map(type, first.how.items)) == list(map(type, second.how.items))
