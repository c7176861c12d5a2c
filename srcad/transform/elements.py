"""Elements are read and written in the array itself, not through views of it.

A Load or Store through subscripts and permutations gets the index into the array underneath, so
that views which only elements are taken of disappear, and with them those of shadows. A reshape
stays.
"""

from dataclasses import replace

from srcad import ops
from srcad.ir.builder import Builder
from srcad.ir.nodes import (
    Atom,
    Block,
    For,
    Function,
    If,
    Index,
    Load,
    Map,
    NewAxis,
    Permute,
    Slice,
    Stmt,
    Store,
    Subscript,
    Var,
    View,
    While,
)
from srcad.ir.walk import next_id

Place = tuple[Var, tuple[Atom, ...]]


def elements(function: Function) -> Function:
    """The function with every element addressed in its array. Cost: one walk."""
    direct = Direct(Builder(next_id(function)))
    direct.block(function.body)
    return replace(function, body=direct.builder.finish(*function.body.results))


class Direct:
    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.views: dict[Var, View] = {}

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            self.builder.loc = stmt.loc
            self.builder.add(self.stmt(stmt))

    def inner(self, block: Block) -> Block:
        with self.builder.block() as opened:
            self.block(block)
        return opened.finish(*block.results)

    def stmt(self, stmt: Stmt) -> Stmt:
        match stmt:
            case View(out=out):
                self.views[out] = stmt
                return stmt
            case Load(array=array, index=index) | Store(array=array, index=index):
                array, index = self.place(array, index)
                return replace(stmt, array=array, index=index)
            case For(body=body) | While(body=body) | Map(body=body):
                return replace(stmt, body=self.inner(body))
            case If(then=then, orelse=orelse):
                return replace(stmt, then=self.inner(then), orelse=self.inner(orelse))
            case _:
                return stmt

    def place(self, array: Var, index: tuple[Atom, ...]) -> Place:
        while (view := self.views.get(array)) is not None:
            match view.how:
                case Permute(axes=axes):
                    by_axis = dict(zip(axes, index, strict=True))
                    index = tuple(by_axis[axis] for axis in range(len(axes)))
                case Subscript(items=items):
                    index = self.underneath(items, index)
                case _:
                    break
            array = view.array
        return array, index

    def underneath(
        self, items: tuple[Index | Slice | NewAxis, ...], index: tuple[Atom, ...]
    ) -> tuple[Atom, ...]:
        given, found = iter(index), []
        for item in items:
            match item:
                case Index(at=at):
                    found.append(at)
                case Slice(start=start, step=step):
                    product = ops.apply(self.builder, "mul", next(given), step)
                    found.append(ops.apply(self.builder, "add", start, product))
                case NewAxis():
                    next(given)
        return tuple(found)
