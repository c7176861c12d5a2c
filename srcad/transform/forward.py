"""The forward half of the joint program: the primal's statements, with kept values stored."""

from collections.abc import Callable
from dataclasses import replace

from srcad import ops
from srcad.ir.builder import Builder
from srcad.ir.nodes import (
    Atom,
    Block,
    Call,
    For,
    If,
    Library,
    Var,
    While,
    array_type,
    const,
)
from srcad.ir.types import INT
from srcad.ir.walk import defs, params
from srcad.transform.plan import Copy, Loop, Plan, Source
from srcad.transform.reverse import each_element
from srcad.transform.tapes import Tapes, size


class Forward:
    """Emits a block's statements; running counts are threaded through loops and branches.

    A branch that ends a scope is left to the reverse sweep, which calls back for its arms.
    """

    def __init__(self, plan: Plan, tapes: Tapes, builder: Builder) -> None:
        self.plan, self.tapes, self.builder = plan, tapes, builder
        self.counts: dict[Var, Atom] = {base: const(0) for base in tapes.counters}
        self.at_entry: dict[int, Atom] = {}  # the counts at entry of the loops being emitted
        self.in_scope = True

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            with self.builder.at(stmt.loc):
                if self.in_scope:
                    self.tapes.allocate(stmt, self.builder)
                match stmt:
                    case For() | While():
                        self.loop(stmt)
                    case If() if id(stmt) in self.plan.scopes:
                        return  # its arms hold both sweeps: the reverse sweep begins there
                    case If():
                        self.branch(stmt)
                    case Library() | Call():
                        self.copies(stmt)
                        self.builder.add(stmt)
                    case _:
                        self.builder.add(stmt)
                for var in defs(stmt):
                    self.kept(var)
        self.copies(block)
        for stmt in block.stmts:
            for var in defs(stmt):
                if var in self.plan.unsized and self.plan.grows(var):
                    self.kept_extents(var)

    def inner(self, block: Block) -> None:
        was, self.in_scope = self.in_scope, False
        self.block(block)
        self.in_scope = was

    # -- tapes

    def kept(self, var: Var) -> None:
        """Stores a value that was just defined, if it is kept; an array's extents likewise."""
        if var in self.plan.unsized and not self.plan.grows(var):
            self.kept_extents(var)
        if self.plan.sources.get(var) is Source.KEEP:
            self.store(var, var)

    def kept_extents(self, array: Var) -> None:
        """Stores the extents of an array: where it is born, or at its end if it grows."""
        for axis, extent in enumerate(self.plan.extents[array]):
            assert isinstance(extent, Var)
            self.store(extent, self.builder.dim(array, axis))

    def store(self, key: Var, value: Atom) -> None:
        self.builder.store(self.tapes.arrays[key], self.position(key), value)

    def position(self, key: Var) -> tuple[Atom, ...]:
        around = self.tapes.chains[key]
        loops = self.tapes.loops(around)
        if not loops:
            return (const(0),)
        if self.tapes.whole(around):
            return tuple(loop.index for loop in loops)
        base = self.at_entry.get(id(loops[-1]), const(0))
        return (ops.apply(self.builder, "add", base, loops[-1].index),)

    def copies(self, place: Block | Library | Call) -> None:
        """Copies the arrays that are kept here."""
        for copy in self.plan.copies.values():
            if copy.place is place:
                if self.tapes.whole_copy(copy):
                    loops = tuple(loop.index for loop in copy.loops)
                    self.copy(copy, lambda index, loops=loops: (*loops, *index))  # type: ignore[misc]
                else:
                    self.append(copy)

    def copy(self, copy: Copy, at: Callable[[tuple[Atom, ...]], tuple[Atom, ...]]) -> None:
        tape, builder = self.tapes.arrays[copy.key], self.builder
        each_element(
            builder,
            copy.array,
            lambda index: builder.store(tape, at(index), builder.load(copy.array, *index)),
        )

    def append(self, copy: Copy) -> None:
        """Copies to the end of a tape that grows."""
        builder, counter = self.builder, self.tapes.copy_base[copy.key]
        base = self.counts[counter]
        self.store(counter, base)
        kind = array_type(copy.array)
        extents = tuple(builder.dim(copy.array, k) for k in range(kind.ndim))
        end = ops.apply(builder, "add", base, size(builder, extents))
        builder.grow(self.tapes.arrays[copy.key], end)

        def at(index: tuple[Atom, ...]) -> tuple[Atom, ...]:
            flat: Atom = const(0)
            for i, extent in zip(index, extents, strict=True):
                flat = ops.apply(builder, "add", ops.apply(builder, "mul", flat, extent), i)
            return (ops.apply(builder, "add", base, flat),)

        self.copy(copy, at)
        self.counts[counter] = end

    # -- loops and branches

    def loop(self, loop: Loop) -> None:
        builder = self.builder
        base: Atom = const(0)
        counter = self.tapes.loop_base.get(id(loop))
        if counter is not None:
            base = self.at_entry[id(loop)] = self.counts[counter]
            self.store(counter, base)
        growing = self.tapes.growing(loop)
        if isinstance(loop, For):
            self.grow(growing, base, loop.stop)
        inner = self.tapes.counted_inside(loop)
        names = [builder.var(INT, "count") for _ in inner]
        inits = [self.counts[var] for var in inner]
        with builder.block() as body:
            self.counts.update(zip(inner, names, strict=True))
            if isinstance(loop, While):
                self.grow(growing, base, ops.apply(builder, "add", loop.index, const(1)))
            for var in params(loop):
                self.kept(var)
            self.inner(loop.body)
            results = (*loop.body.results, *(self.counts[var] for var in inner))
        outs = [builder.var(INT, "count") for _ in inner]
        carried = (*loop.carried, *zip(names, inits, strict=True))
        new = replace(loop, carried=carried, body=body.finish(*results), outs=(*loop.outs, *outs))
        builder.add(new)
        self.counts.update(zip(inner, outs, strict=True))
        if counter is not None:
            trips = loop.stop if isinstance(loop, For) else loop.trips
            self.counts[counter] = ops.apply(builder, "add", base, trips)

    def grow(self, growing: list[Var], base: Atom, more: Atom) -> None:
        for var in growing:
            self.builder.grow(self.tapes.arrays[var], ops.apply(self.builder, "add", base, more))

    def branch(self, branch: If) -> None:
        builder = self.builder
        inner = self.tapes.counted_inside(branch)
        before = dict(self.counts)
        arms: list[Block] = []
        for arm in (branch.then, branch.orelse):
            self.counts = dict(before)
            with builder.block() as body:
                self.inner(arm)
                arms.append(body.finish(*arm.results, *(self.counts[var] for var in inner)))
        outs = [builder.var(INT, "count") for _ in inner]
        builder.add(replace(branch, then=arms[0], orelse=arms[1], outs=(*branch.outs, *outs)))
        self.counts = before | dict(zip(inner, outs, strict=True))
