"""`Sym`: an IR value that partials compute with in ordinary arithmetic.

lambda x, y, out: -(out / y)            emits a division and a negation
lambda x, out: x.op("cos")              any operation by its name
"""

from typing import Protocol

from srcad.ir.nodes import Atom, const
from srcad.ir.types import Type


class Emit(Protocol):
    """Adds an operation on atoms and returns its result."""

    def __call__(self, name: str, *atoms: Atom, type: Type | None = None) -> Atom: ...


class Sym:
    """Wraps an atom; operators emit operations. Numbers take the dtype of the Sym."""

    def __init__(self, emit: Emit, atom: Atom) -> None:
        self.emit, self.atom = emit, atom

    def op(self, name: str, *others: "Sym | float") -> "Sym":
        """The operation `name` on this value and others."""
        return Sym(self.emit, self.emit(name, self.atom, *map(self._lift, others)))

    def _lift(self, other: "Sym | float") -> Atom:
        return other.atom if isinstance(other, Sym) else const(other, self.atom.type.dtype)

    def _reversed(self, name: str, other: float) -> "Sym":
        return Sym(self.emit, self.emit(name, self._lift(other), self.atom))

    def __add__(self, other: "Sym | float") -> "Sym":
        return self.op("add", other)

    def __radd__(self, other: float) -> "Sym":
        return self._reversed("add", other)

    def __sub__(self, other: "Sym | float") -> "Sym":
        return self.op("sub", other)

    def __rsub__(self, other: float) -> "Sym":
        return self._reversed("sub", other)

    def __mul__(self, other: "Sym | float") -> "Sym":
        return self.op("mul", other)

    def __rmul__(self, other: float) -> "Sym":
        return self._reversed("mul", other)

    def __truediv__(self, other: "Sym | float") -> "Sym":
        return self.op("div", other)

    def __rtruediv__(self, other: float) -> "Sym":
        return self._reversed("div", other)

    def __neg__(self) -> "Sym":
        return self.op("neg")

    def constant(self, value: float) -> "Sym":
        """A number of the same dtype."""
        return Sym(self.emit, self._lift(value))

    def integer(self, value: int) -> "Sym":
        """A number of dtype int64."""
        return Sym(self.emit, const(value))

    def like(self, other: "Sym") -> "Sym":
        """This value converted to the dtype of the other."""
        return Sym(self.emit, self.emit("cast", self.atom, type=other.atom.type))

    def where(self, cond: "Sym", other: "Sym | float") -> "Sym":
        """This value where `cond` holds, else the other; both are computed."""
        return Sym(self.emit, self.emit("select", cond.atom, self.atom, self._lift(other)))
