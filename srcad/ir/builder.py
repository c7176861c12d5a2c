"""The only mutable object of the IR: it numbers variables and collects statements into blocks.

builder = Builder()
n = builder.param(INT, "n")
with builder.block() as body:
    ...
builder.loop(index, n, carried=(), body=body.finish(results), outs=())
"""

from collections.abc import Iterator
from contextlib import contextmanager

from srcad.errors import Loc
from srcad.ir.nodes import (
    Alloc,
    Assert,
    Atom,
    Block,
    Const,
    Grow,
    Index,
    Let,
    Library,
    Load,
    NewAxis,
    Permute,
    Print,
    Reshape,
    Sealed,
    Slice,
    Stmt,
    Store,
    Subscript,
    Var,
    View,
    array_type,
    const,
)
from srcad.ir.types import INT, Array, Layout, Scalar, Type


class OpenBlock:
    """A block under construction."""

    def __init__(self) -> None:
        self.stmts: list[Stmt] = []

    def finish(self, *results: Atom) -> Block:
        return Block(tuple(self.stmts), results)


class Builder:
    """Collects statements; `loc` is stamped on each that is added."""

    def __init__(self, next_id: int = 0) -> None:
        self.next_id = next_id
        self.loc: Loc | None = None
        self.open: list[OpenBlock] = [OpenBlock()]

    # -- names and blocks

    def var(self, type: Type, hint: str = "t") -> Var:
        """A fresh variable."""
        self.next_id += 1
        return Var(self.next_id - 1, type, hint)

    def like(self, var: Var, hint: str | None = None) -> Var:
        """A fresh variable of the same type."""
        return self.var(var.type, var.hint if hint is None else hint)

    @contextmanager
    def block(self) -> Iterator[OpenBlock]:
        """Statements added inside go to a new block."""
        opened = OpenBlock()
        self.open.append(opened)
        try:
            yield opened
        finally:
            self.open.pop()

    @contextmanager
    def at(self, loc: Loc | None) -> Iterator[None]:
        """Statements added inside carry this place."""
        before, self.loc = self.loc, loc
        try:
            yield
        finally:
            self.loc = before

    def add(self, stmt: Stmt) -> None:
        """Appends a statement to the innermost open block."""
        self.open[-1].stmts.append(stmt)

    def finish(self, *results: Atom) -> Block:
        """The outermost block."""
        assert len(self.open) == 1, "an inner block is still open"
        return self.open[0].finish(*results)

    # -- statements

    def let(self, op: str, *args: Atom, type: Type, hint: str = "t") -> Var:
        """A Let without any simplification; `ops.apply` types and folds."""
        out = self.var(type, hint)
        self.add(Let(out, op, args, self.loc))
        return out

    def dim(self, array: Var, axis: int, hint: str = "n") -> Atom:
        """The extent of an axis of a parameter or carried array."""
        return self.let("dim", array, const(axis), type=INT, hint=hint)

    def load(self, array: Var, *index: Atom, hint: str = "t") -> Var:
        out = self.var(Scalar(array_type(array).dtype), hint)
        self.add(Load(out, array, index, self.loc))
        return out

    def store(self, array: Var, index: tuple[Atom, ...], value: Atom) -> None:
        self.add(Store(array, index, value, self.loc))

    def alloc(
        self,
        dtype: str,
        shape: tuple[Atom, ...],
        fill: Const | None = None,
        hint: str = "a",
        layout: Layout = "C",
    ) -> Var:
        out = self.var(Array(dtype, len(shape), layout), hint)
        self.add(Alloc(out, shape, fill, self.loc))
        return out

    def view(
        self,
        array: Var,
        how: Subscript | Permute | Reshape,
        hint: str | None = None,
    ) -> Var:
        out = self.var(view_type(array_type(array), how), array.hint if hint is None else hint)
        self.add(View(out, array, how, self.loc))
        return out

    def library(self, op: str, reads: tuple[Var, ...], writes: tuple[Var, ...]) -> None:
        self.add(Library(op, reads, writes, self.loc))

    def grow(self, array: Var, length: Atom) -> None:
        self.add(Grow(array, length, self.loc))

    def check(self, cond: Atom, error: str, message: str, *args: Atom) -> None:
        """An Assert."""
        self.add(Assert(cond, error, message, args, self.loc))

    def seal(self, array: Var, what: str, why: str, instead: str) -> None:
        """A Sealed."""
        self.add(Sealed(array, what, why, instead, self.loc))

    def prints(self, *pieces: Atom | str) -> None:
        """A Print."""
        self.add(Print(pieces, self.loc))


def contiguous(item: Index | Slice | NewAxis) -> bool:
    """Whether a subscript item leaves the elements of its axis next to each other."""
    return isinstance(item, Slice) and item.step == const(1)


def view_type(array: Array, how: Subscript | Permute | Reshape) -> Array:
    """The type of a view.

    The layout is claimed only where the types alone prove it: the one axis that a subscript keeps
    is the fastest one of a contiguous array, in steps of 1. Everything else is "A".
    """
    match how:
        case Reshape(shape=shape):
            return Array(array.dtype, len(shape), "C", array.writable)
        case Permute(axes=axes):
            layout: Layout = "A"
            if axes == tuple(range(array.ndim)):
                layout = array.layout
            elif axes == tuple(reversed(range(array.ndim))) and array.layout != "A":
                layout = "F" if array.layout == "C" else "C"
            return Array(array.dtype, array.ndim, layout, array.writable)
        case Subscript(items=items):
            ndim = sum(not isinstance(item, Index) for item in items)
            fastest = items[0] if array.layout == "F" else items[-1] if items else None
            layout = "A"
            if ndim == 0 or ndim == 1 and array.layout != "A" and fastest and contiguous(fastest):
                layout = "C"
            return Array(array.dtype, ndim, layout, array.writable)
