"""The extents of arrays, as atoms that are visible wherever the array is.

Views take them from their array; a name that a loop or a branch joins has an extent where all that
comes in has the same one. What `Grow` may change has none.
"""

from collections.abc import Mapping

from srcad.ir.aliases import Memory, memory
from srcad.ir.nodes import (
    Alloc,
    Atom,
    Block,
    Const,
    For,
    Function,
    If,
    Index,
    Let,
    Map,
    NewAxis,
    Permute,
    Reshape,
    Slice,
    Stmt,
    Subscript,
    Var,
    View,
    While,
    const,
)
from srcad.ir.types import Array

Shape = tuple[Atom | None, ...]


def shapes(function: Function, classes: Memory | None = None) -> Mapping[Var, Shape]:
    """The shape of every array name; None for an axis whose extent is no known atom.

    An extent of a parameter is the `dim` of it that stands in the function's own block.
    """
    found = Extents(memory(function) if classes is None else classes)
    dims = {
        (stmt.args[0], stmt.args[1]): stmt.out
        for stmt in reversed(function.body.stmts)
        if isinstance(stmt, Let) and stmt.op == "dim"
    }
    for param in function.params:
        if isinstance(param.type, Array):
            axes = range(param.type.ndim)
            found.set(param, tuple(dims.get((param, const(axis))) for axis in axes))
    found.block(function.body)
    return found.shapes


def viewed(shape: Shape, how: Subscript | Permute | Reshape) -> Shape:
    """The shape of a view of an array of this shape."""
    match how:
        case Permute(axes=axes):
            return tuple(shape[axis] for axis in axes)
        case Reshape(shape=new):
            return new
        case Subscript(items=items):
            extents: list[Atom | None] = []
            for item in items:
                match item:
                    case Slice(length=length):
                        extents.append(length)
                    case NewAxis():
                        extents.append(const(1))
                    case Index():
                        pass
            return tuple(extents)


class Extents:
    """The walk; a loop is walked again until what is assumed of its names holds."""

    def __init__(self, classes: Memory) -> None:
        self.classes = classes
        self.shapes: dict[Var, Shape] = {}

    def set(self, array: Var, shape: Shape) -> None:
        unknown = self.classes.grows(array)
        self.shapes[array] = (None,) * len(shape) if unknown else shape

    def get(self, array: Atom) -> Shape:
        assert isinstance(array, Var) and isinstance(array.type, Array)
        return self.shapes.get(array, (None,) * array.type.ndim)

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            self.stmt(stmt)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Alloc(out=out, shape=shape):
                self.set(out, shape)
            case Map(out=out, shape=shape, body=body):
                self.block(body)
                self.set(out, shape)
            case View(out=out, array=array, how=how):
                self.set(out, viewed(self.get(array), how))
            case For() | While():
                self.loop(stmt)
            case If(then=then, orelse=orelse, outs=outs):
                self.block(then)
                self.block(orelse)
                for out, first, second in zip(outs, then.results, orelse.results, strict=True):
                    if isinstance(out.type, Array):
                        self.set(out, _common(self.get(first), self.get(second)))
            case _:
                pass

    def loop(self, loop: For | While) -> None:
        carried = [
            (name, init, result, out)
            for (name, init), result, out in zip(
                loop.carried, loop.body.results, loop.outs, strict=True
            )
            if isinstance(name.type, Array)
        ]
        for name, init, _, _ in carried:
            self.set(name, self.get(init))
        settled = False
        while not settled:
            self.block(loop.body)
            settled = True
            for name, _, result, _ in carried:
                common = _common(self.get(name), self.get(result))
                if common != self.get(name):
                    self.set(name, common)
                    settled = False
        for name, _, _, out in carried:
            self.set(out, self.get(name))


def _common(first: Shape, second: Shape) -> Shape:
    return tuple(a if a == b else None for a, b in zip(first, second, strict=True))


def known(shape: Shape, axis: Atom) -> Atom | None:
    """The extent of one axis, where it is known."""
    assert isinstance(axis, Const)
    return shape[int(axis.value.real)]
