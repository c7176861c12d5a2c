"""Where kept values lie: one array per value, indexed by the loops around it (ADJOINT section 5).

A tape is allocated whole and indexed by all loops around if their stops belong to the scope and no
branch lies between them. Else it is one-dimensional and grows; its position is base + index for
the innermost loop, where base is a running count of that loop's iterations so far, kept like any
other value. A kept array is the tape of an imaginary loop over its elements.
"""

from dataclasses import dataclass, field

from srcad import ops
from srcad.ir.builder import Builder
from srcad.ir.nodes import Atom, Const, For, If, Stmt, Var, While, array_type, const
from srcad.ir.types import INT, Scalar
from srcad.transform.plan import Copy, Loop, Plan, Source

START = 16  # elements of a tape that grows
CopyKey = tuple[Var, int]  # as in Plan.copies


@dataclass
class Tapes:
    """The tapes of one function.

    `chains` holds the statements around each kept value; `counters` those around what each running
    count counts: the iterations of a loop (`loop_base`), or the elements of a kept array
    (`copy_base`).
    """

    plan: Plan
    chains: dict[Var, tuple[Stmt, ...]] = field(default_factory=dict)
    arrays: dict[Var | CopyKey, Var] = field(default_factory=dict)
    counters: dict[Var, tuple[Stmt, ...]] = field(default_factory=dict)
    loop_base: dict[int, Var] = field(default_factory=dict)  # by id of the loop
    copy_base: dict[CopyKey, Var] = field(default_factory=dict)

    def keep(self, var: Var, around: tuple[Stmt, ...], builder: Builder) -> None:
        """Declares a value as kept; makes the counts that its position needs."""
        if var in self.chains:
            return
        self.chains[var] = around
        loops = self.loops(around)
        if len(loops) > 1 and not self.whole(around):
            loop = loops[-1]
            if id(loop) not in self.loop_base:
                outer = self.plan.around(loop)
                base = self.loop_base[id(loop)] = builder.var(INT, "base")
                self.counters[base] = outer
                self.keep(base, outer, builder)

    def keep_array(self, copy: Copy, builder: Builder) -> None:
        """Declares an array that is copied; a count of elements where its tape grows."""
        if not self.whole_copy(copy):
            base = self.copy_base[copy.key] = builder.var(INT, "base")
            self.counters[base] = copy.around
            self.keep(base, copy.around, builder)

    def loops(self, around: tuple[Stmt, ...]) -> tuple[Loop, ...]:
        return self.plan.found.loops(around)

    def whole(self, around: tuple[Stmt, ...]) -> bool:
        """Whether all stops are values of the scope, and no branch lies between the loops."""
        places = [k for k, stmt in enumerate(around) if isinstance(stmt, For | While)]
        if not places:
            return True
        nest = around[places[0] : places[-1] + 1]
        return all(isinstance(loop, For) and self.known(loop.stop) for loop in nest)

    def whole_copy(self, copy: Copy) -> bool:
        """The same for a kept array; a branch inside a loop means that it is not always made."""
        if not copy.around:
            return True
        loops = self.loops(copy.around)
        branch = bool(loops) and isinstance(copy.around[-1], If)
        extents = self.plan.extents[copy.array]
        return self.whole(copy.around) and not branch and all(map(self.known, extents))

    def known(self, atom: Atom) -> bool:
        """Whether an integer is a value of the scope."""
        if isinstance(atom, Const):
            return True
        return atom in self.plan.found.inside and self.plan.visible(atom)

    def allocate(self, stmt: Stmt, builder: Builder) -> None:
        """The tapes of everything that is kept inside a statement of the scope."""
        for var, around in self.chains.items():
            if around and around[0] is stmt:
                shape: tuple[Atom, ...] = (const(START),)
                if not self.loops(around):
                    shape = (const(1),)
                elif self.whole(around):
                    shape = self.stops(around)
                assert isinstance(var.type, Scalar)
                name = f"{var.hint}_kept"
                self.arrays[var] = builder.alloc(var.type.dtype, shape, hint=name)
        for key, copy in self.plan.copies.items():
            if copy.place is stmt or (copy.around and copy.around[0] is stmt):
                shape = (const(START),)
                if self.whole_copy(copy):
                    shape = (*self.stops(copy.around), *self.extents(copy, builder))
                dtype = array_type(copy.array).dtype
                self.arrays[key] = builder.alloc(dtype, shape, hint=f"{copy.array.hint}_kept")

    def stops(self, around: tuple[Stmt, ...]) -> tuple[Atom, ...]:
        return tuple(loop.stop for loop in self.loops(around) if isinstance(loop, For))

    def extents(self, copy: Copy, builder: Builder) -> tuple[Atom, ...]:
        """The extents of an array that is about to be copied."""
        if copy.around:
            return self.plan.extents[copy.array]
        return tuple(builder.dim(copy.array, k) for k in range(array_type(copy.array).ndim))

    def growing(self, loop: Loop) -> list[Var]:
        """The kept values in one-dimensional tapes that this loop is the innermost of."""
        found = []
        for var, around in self.chains.items():
            loops = self.loops(around)
            if loops and loops[-1] is loop and not self.whole(around):
                found.append(var)
        return found

    def counted_inside(self, stmt: Stmt) -> list[Var]:
        """The running counts that advance inside a statement."""
        return [var for var, around in self.counters.items() if any(s is stmt for s in around)]


def size(builder: Builder, extents: tuple[Atom, ...]) -> Atom:
    """The number of elements of an array with these extents."""
    total: Atom = const(1)
    for extent in extents:
        total = ops.apply(builder, "mul", total, extent)
    return total


def tapes(made: Plan, builder: Builder) -> Tapes:
    """Declares all that is kept: planned values, copies, and extents that are no known atoms."""
    found = Tapes(made)
    for array in made.unsized:
        kind = array_type(array)
        made.extents[array] = tuple(builder.var(INT, "extent") for _ in range(kind.ndim))
        for extent in made.extents[array]:
            assert isinstance(extent, Var)
            found.keep(extent, made.inside(array), builder)
    for var, source in made.sources.items():
        if source is Source.KEEP:
            found.keep(var, made.inside(var), builder)
    for copy in made.copies.values():
        found.keep_array(copy, builder)
    return found
