"""Where kept values lie: one array per value, indexed by the loops around it (ADJOINT section 5).

A tape whose loops all have stops of the scope is allocated whole and indexed by all of them. Else
it is one-dimensional and grows; its position is base(L) + index(L) for the innermost loop L, where
base(L) is a running count of L's iterations so far, kept like any other value.
"""

from dataclasses import dataclass, field

from srcad.ir.builder import Builder
from srcad.ir.nodes import Atom, Const, For, Stmt, Var, While, const
from srcad.ir.types import INT, Scalar
from srcad.transform.facts import Facts

Loop = For | While
START = 16  # elements of a tape that grows


@dataclass
class Tapes:
    """The tapes of one function; `chains` holds the loops around each kept value."""

    found: Facts
    chains: dict[Var, tuple[Loop, ...]] = field(default_factory=dict)
    arrays: dict[Var, Var] = field(default_factory=dict)
    bases: dict[int, Var] = field(default_factory=dict)  # id(loop) -> its running count at entry

    def keep(self, var: Var, loops: tuple[Loop, ...], builder: Builder) -> None:
        """Declares a value as kept; makes the counts that its position needs."""
        if var in self.chains:
            return
        self.chains[var] = loops
        if loops and not self.whole(loops):
            self._count(loops, builder)

    def _count(self, loops: tuple[Loop, ...], builder: Builder) -> None:
        loop = loops[-1]
        if len(loops) > 1 and id(loop) not in self.bases:
            base = self.bases[id(loop)] = builder.var(INT, "base")
            self.keep(base, loops[:-1], builder)

    def whole(self, loops: tuple[Loop, ...]) -> bool:
        """Whether all stops are values of the scope."""
        return all(
            isinstance(loop, For)
            and (isinstance(loop.stop, Const) or not self.found.inside[loop.stop])
            for loop in loops
        )

    def allocate(self, stmt: Stmt, inside: set[Var], builder: Builder) -> None:
        """The tapes of the kept values inside a statement of the scope."""
        for var, loops in self.chains.items():
            if var in self.arrays or var not in inside:
                continue
            shape: tuple[Atom, ...] = (const(START),)
            if not loops:
                shape = (const(1),)
            elif self.whole(loops):
                shape = tuple(loop.stop for loop in loops if isinstance(loop, For))
            name = f"{var.hint}_kept"
            assert isinstance(var.type, Scalar)
            self.arrays[var] = builder.alloc(var.type.dtype, shape, hint=name)

    def growing(self, loop: Loop) -> list[Var]:
        """The kept values in one-dimensional tapes that this loop is the innermost of."""
        return [
            var
            for var, loops in self.chains.items()
            if loops and loops[-1] is loop and not self.whole(loops)
        ]

    def counted(self, loop: Loop) -> bool:
        return id(loop) in self.bases
