"""Which array names may show the same memory, and which of it the function itself allocated.

All names that views, loops and branches connect form one class; names of different classes never
share memory (ADJOINT section 1). Coarser than `references`, and valid before it.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from srcad.ir.nodes import (
    Atom,
    Block,
    Call,
    For,
    Function,
    Grow,
    If,
    Library,
    Stmt,
    Store,
    Var,
    View,
    While,
)
from srcad.ir.types import Array
from srcad.ir.walk import blocks, walk


@dataclass
class Memory:
    """`parent` leads from a name to the one that stands for its class; filled by `memory`."""

    parent: dict[Var, Var] = field(default_factory=dict)
    outside: frozenset[Var] = frozenset()  # classes that hold a parameter of the function
    growing: frozenset[Var] = frozenset()  # classes whose extents change
    _written: dict[int, frozenset[Var]] = field(default_factory=dict)

    def key(self, array: Var) -> Var:
        """The name that stands for the class of `array`."""
        while (above := self.parent.get(array, array)) != array:
            array = above
        return array

    def local(self, array: Var) -> bool:
        """Whether all memory that the name may show was allocated by this function."""
        return self.key(array) not in self.outside

    def grows(self, array: Var) -> bool:
        return self.key(array) in self.growing

    def written(self, stmt: Stmt) -> frozenset[Var]:
        """The classes that a statement writes to, inner blocks included."""
        inner = blocks(stmt)
        if not inner:
            return frozenset(map(self.key, targets(stmt)))
        if id(stmt) not in self._written:
            self._written[id(stmt)] = self.written_in(s for block in inner for s in block.stmts)
        return self._written[id(stmt)]

    def written_in(self, stmts: Iterable[Stmt]) -> frozenset[Var]:
        return frozenset().union(*map(self.written, stmts))

    def _join(self, first: Atom, second: Atom) -> None:
        if isinstance(first, Var) and isinstance(second, Var) and isinstance(first.type, Array):
            one, other = self.key(first), self.key(second)
            if one != other:
                low, high = sorted((one, other), key=lambda v: v.id)
                self.parent[high] = low


def memory(function: Function) -> Memory:
    """The classes of a function's array names. Cost: one walk."""
    found = Memory()
    for stmt in walk(function.body):
        for first, second in _connected(stmt):
            found._join(first, second)
    arrays = (p for p in function.params if isinstance(p.type, Array))
    found.outside = frozenset(map(found.key, arrays))
    grown = (stmt.array for stmt in walk(function.body) if isinstance(stmt, Grow))
    found.growing = frozenset(map(found.key, grown))
    return found


def written_parameters(function: Function) -> frozenset[int]:
    """The places of the parameters that a write may reach, under a name that they go on as."""
    comes_from: dict[Atom, list[Atom]] = {}
    todo: list[Atom] = []
    for stmt in walk(function.body):
        for name, source in _connected(stmt):
            comes_from.setdefault(name, []).append(source)
        todo += targets(stmt)
    written: set[Atom] = set()
    while todo:
        name = todo.pop()
        if name not in written:
            written.add(name)
            todo += comes_from.get(name, ())
    return frozenset(
        k
        for k, param in enumerate(function.params)
        if isinstance(param.type, Array) and param in written
    )


def _connected(stmt: Stmt) -> Iterator[tuple[Atom, Atom]]:
    """Names, each with one that it may show the memory of."""
    match stmt:
        case View(out=out, array=array):
            yield out, array
        case (
            For(carried=carried, body=Block(results=results), outs=outs)
            | While(carried=carried, body=Block(results=results), outs=outs)
        ):
            for (name, init), result, out in zip(carried, results, outs, strict=True):
                yield name, init
                yield name, result
                yield out, name
        case If(then=then, orelse=orelse, outs=outs):
            for out, first, second in zip(outs, then.results, orelse.results, strict=True):
                yield out, first
                yield out, second
        case _:
            pass


def targets(stmt: Stmt) -> tuple[Var, ...]:
    """The arrays that a statement itself writes to."""
    match stmt:
        case Store(array=array) | Grow(array=array):
            return (array,)
        case Library(writes=writes) | Call(writes=writes):
            return writes
        case _:
            return ()
