"""The forward half of the joint program: the primal's statements, with kept values stored."""

from dataclasses import replace

from srcad import ops
from srcad.ir.builder import Builder
from srcad.ir.nodes import (
    Atom,
    Block,
    For,
    If,
    Library,
    Stmt,
    Var,
    While,
    array_type,
    const,
)
from srcad.ir.types import INT
from srcad.ir.walk import defs, params, walk
from srcad.transform.plan import Plan, Source
from srcad.transform.reverse import each_element
from srcad.transform.tapes import Loop, Tapes


class Forward:
    """Emits a block's statements; counts and tapes are threaded through loops and branches."""

    def __init__(self, plan: Plan, tapes: Tapes, builder: Builder) -> None:
        self.plan, self.tapes, self.builder = plan, tapes, builder
        self.counts: dict[int, Atom] = {}
        self.base_atoms: dict[int, Atom] = {}  # the counts at entry of the loops being emitted
        self.in_arm = False
        self.loops: list[Loop] = []

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            if not self.loops and isinstance(stmt, For | While | If) and not self.in_arm:
                self._allocate(stmt)
            with self.builder.at(stmt.loc):
                match stmt:
                    case For() | While():
                        self.loop(stmt)
                    case If():
                        self.branch(stmt)
                    case Library():
                        self.operands(stmt)
                        self.builder.add(stmt)
                    case _:
                        self.builder.add(stmt)
                for var in defs(stmt):
                    self.kept(var)

    def operands(self, stmt: Library) -> None:
        """Copies what a library statement of the scope reads and later statements change."""
        if id(stmt) not in self.plan.reversed or self.plan.found.around[id(stmt)]:
            return
        for array in dict.fromkeys(stmt.reads):
            if not self.plan.unchanged_array(stmt, array):
                self.plan.copies[id(stmt), array] = self.copied(array)

    def copied(self, array: Var) -> Var:
        builder, kind = self.builder, array_type(array)
        shape = tuple(builder.dim(array, k) for k in range(kind.ndim))
        copy = builder.alloc(kind.dtype, shape, hint=f"{array.hint}_kept")
        each_element(
            builder,
            array,
            lambda index: builder.store(copy, index, builder.load(array, *index)),
        )
        return copy

    def _allocate(self, stmt: Stmt) -> None:
        inside: set[Var] = set()
        holder = Block((stmt,))
        for inner in walk(holder):
            inside.update(params(inner))
            if inner is not stmt:
                inside.update(defs(inner))
            if isinstance(inner, For | While) and self.tapes.counted(inner):
                inside.add(self.tapes.bases[id(inner)])
                self.counts[id(inner)] = const(0)
        self.tapes.allocate(stmt, inside, self.builder)

    def kept(self, var: Var) -> None:
        """Stores a value that was just defined, if it is kept; an array's extents likewise."""
        extents = self.plan.extents.get(var)
        if extents is not None:
            for axis, extent in enumerate(extents):
                self.store(extent, self.builder.dim(var, axis))
        if self.plan.sources.get(var) is Source.KEEP:
            self.store(var, var)

    def store(self, key: Var, value: Atom) -> None:
        self.builder.store(self.tapes.arrays[key], self.position(key), value)

    def position(self, key: Var) -> tuple[Atom, ...]:
        loops = self.tapes.chains[key]
        if not loops:
            return (const(0),)
        if self.tapes.whole(loops):
            return tuple(loop.index for loop in loops)
        base = self.base_atoms.get(id(loops[-1]))
        index = loops[-1].index
        return (index if base is None else ops.apply(self.builder, "add", base, index),)

    def counted_inside(self, *blocks: Block) -> list[Loop]:
        return [
            stmt
            for block in blocks
            for stmt in walk(block)
            if isinstance(stmt, For | While) and self.tapes.counted(stmt)
        ]

    def loop(self, loop: Loop) -> None:
        builder = self.builder
        base: Atom = const(0)
        if self.tapes.counted(loop):
            name = self.tapes.bases[id(loop)]
            base = self.counts[id(loop)]
            self.base_atoms[id(loop)] = base
            self.store(name, base)
        growing = self.tapes.growing(loop)
        if isinstance(loop, For):
            for var in growing:
                length = ops.apply(builder, "add", base, loop.stop)
                builder.grow(self.tapes.arrays[var], length)
        inner = self.counted_inside(loop.body)
        names = [builder.var(INT, "count") for _ in inner]
        inits = [self.counts[id(stmt)] for stmt in inner]
        with builder.block() as body:
            self.loops.append(loop)
            for stmt, name in zip(inner, names, strict=True):
                self.counts[id(stmt)] = name
            if isinstance(loop, While):
                for var in growing:
                    filled = ops.apply(builder, "add", base, loop.index)
                    length = ops.apply(builder, "add", filled, const(1))
                    builder.grow(self.tapes.arrays[var], length)
            for var in params(loop):
                self.kept(var)
            self.block(loop.body)
            self.loops.pop()
            results = (*loop.body.results, *(self.counts[id(stmt)] for stmt in inner))
        outs = [builder.var(INT, "count") for _ in inner]
        carried = (*loop.carried, *zip(names, inits, strict=True))
        new = replace(loop, carried=carried, body=body.finish(*results), outs=(*loop.outs, *outs))
        builder.add(new)
        for stmt, out in zip(inner, outs, strict=True):
            self.counts[id(stmt)] = out
        if self.tapes.counted(loop):
            trips = loop.stop if isinstance(loop, For) else loop.trips
            self.counts[id(loop)] = ops.apply(builder, "add", base, trips)

    def branch(self, branch: If) -> None:
        builder = self.builder
        inner = self.counted_inside(branch.then, branch.orelse)
        before = dict(self.counts)
        arms: list[Block] = []
        was, self.in_arm = self.in_arm, True
        for arm in (branch.then, branch.orelse):
            self.counts = dict(before)
            with builder.block() as body:
                self.block(arm)
                arms.append(body.finish(*arm.results, *(self.counts[id(stmt)] for stmt in inner)))
        self.in_arm = was
        self.counts = before
        outs = [builder.var(INT, "count") for _ in inner]
        builder.add(replace(branch, then=arms[0], orelse=arms[1], outs=(*branch.outs, *outs)))
        for stmt, out in zip(inner, outs, strict=True):
            self.counts[id(stmt)] = out
