"""The reverse half of the joint program: cotangents flow from results to arguments.

Memory has shadows, scalars have `bars`; everything the formulas read is made available at the
start of each block as the plan says (ADJOINT section 6).
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace

from srcad import ops
from srcad.ir.builder import Builder
from srcad.ir.nodes import (
    Atom,
    Block,
    Call,
    Const,
    For,
    If,
    Index,
    Let,
    Library,
    Load,
    Permute,
    Reshape,
    Slice,
    Stmt,
    Store,
    Subscript,
    Var,
    View,
    While,
    array_type,
    const,
)
from srcad.ir.types import INT, Array, Layout, is_float
from srcad.ir.walk import defs, free, map_how, params, walk
from srcad.transform.plan import Copy, Loop, Plan, Source
from srcad.transform.requests import Request, request_of
from srcad.transform.rules import contribution, differentiable
from srcad.transform.tapes import Tapes, size


class Reverse:
    """State of the sweep: what is available (`env`), shadows of bases, cotangents of scalars."""

    def __init__(
        self, plan: Plan, tapes: Tapes, builder: Builder, forward: Callable[[Block], None]
    ) -> None:
        self.plan, self.tapes, self.builder = plan, tapes, builder
        self.forward = forward  # emits the first sweep of an arm that is a scope
        self.found, self.active = plan.found, plan.active
        self.env: dict[Var, Atom] = {}
        self.shadows: dict[Var, Var] = {}
        self.views: dict[tuple[Var, Var], Var] = {}
        self.copies: dict[tuple[Var, int], Var] = {}  # kept arrays, by key of the plan
        self.remade: dict[Var, Var] = {}  # variables of the sweep to the values that they repeat
        self.bars: dict[Var, Atom] = {}
        self.requests: dict[str, Request] = {}  # adjoints of functions that are called

    # -- values of the primal

    def value(self, atom: Atom) -> Atom:
        if isinstance(atom, Const):
            return atom
        return self.env[atom] if atom in self.env else self.in_scope(atom)

    def in_scope(self, var: Var) -> Var:
        assert self.plan.visible(var), f"{var} was not planned"
        return var

    def view_of(self, array: Var, root: Var) -> Var:
        """The view that `array` is of its base, taken of `root`, which stands for the base."""
        stmt = self.found.owner[array]
        if not (isinstance(stmt, View) and stmt.out == array):
            return root
        if (array, root) not in self.views:
            under = self.view_of(stmt.array, root)
            how = map_how(stmt.how, self.value)
            self.views[array, root] = self.builder.view(under, how)
        return self.views[array, root]

    def memory(self, array: Var) -> Var:
        """An array of the primal, by a name that is visible here."""
        if self.plan.visible(array):
            return array
        return self.view_of(array, self.found.base(array))

    def shadow(self, array: Var) -> Var:
        return self.view_of(array, self.shadows[self.found.base(array)])

    def tape(self, key: Var) -> Atom:
        """A kept value, from the position of the iteration that is reversed."""
        around = self.tapes.chains[key]
        loops = self.tapes.loops(around)
        index: tuple[Atom, ...] = (const(0),)
        if loops and self.tapes.whole(around):
            index = tuple(self.env[loop.index] for loop in loops)
        elif loops:
            base = self.tapes.loop_base.get(id(loops[-1]))
            at = self.env[loops[-1].index]
            index = (at if base is None else ops.apply(self.builder, "add", self.env[base], at),)
        return self.builder.load(self.tapes.arrays[key], *index, hint=key.hint)

    def copy(self, copy: Copy) -> Var:
        """A kept array, as a view of its tape."""
        builder, tape = self.builder, self.tapes.arrays[copy.key]
        if not copy.around:
            return tape
        extents = tuple(map(self.value, self.plan.extents[copy.array]))
        if self.tapes.whole_copy(copy):
            at = tuple(Index(self.env[loop.index]) for loop in copy.loops)
            all_ = tuple(Slice(const(0), extent, const(1)) for extent in extents)
            return builder.view(tape, Subscript((*at, *all_)))
        base = self.env[self.tapes.copy_base[copy.key]]
        flat = builder.view(tape, Subscript((Slice(base, size(builder, extents), const(1)),)))
        return flat if len(extents) == 1 else builder.view(flat, Reshape(extents))

    def make(self, var: Var) -> None:
        """Makes a planned value of this block available."""
        if self.plan.visible(var):
            return
        if var in self.plan.unsized:
            for extent in self.plan.extents[var]:
                assert isinstance(extent, Var)
                self.env[extent] = self.tape(extent)
        first = self.builder.next_id
        self.make_source(var)
        made = self.env.get(var)
        if isinstance(made, Var) and made.id >= first:
            self.remade[made] = var

    def make_source(self, var: Var) -> None:
        source, stmt = self.plan.sources.get(var), self.found.owner[var]
        if source is Source.KEEP:
            self.env[var] = self.tape(var)
        elif source is Source.RECOMPUTE and isinstance(stmt, Let):
            args = tuple(map(self.value, stmt.args))
            self.env[var] = ops.apply(
                self.builder, stmt.op, *args, type=stmt.out.type, hint=var.hint
            )
        elif source in (Source.RELOAD, Source.KEEP_ARRAY) and isinstance(stmt, Load):
            index = tuple(map(self.value, stmt.index))
            if source is Source.RELOAD:
                array = self.memory(stmt.array)
            else:
                array = self.view_of(stmt.array, self.copies[self.plan.copied[var].key])
            self.env[var] = self.builder.load(array, *index, hint=var.hint)

    def make_block(self, block: Block) -> None:
        for stmt in block.stmts:
            for var in defs(stmt):
                self.make(var)
            base = self.tapes.loop_base.get(id(stmt))
            if base is not None:
                self.env[base] = self.tape(base)
        places = {id(block), *map(id, block.stmts)}
        for key, copy in self.plan.copies.items():
            if id(copy.place) in places:
                base = self.tapes.copy_base.get(key)
                if base is not None:
                    self.env[base] = self.tape(base)
                self.copies[key] = self.copy(copy)

    # -- shadows

    def extents(self, base: Var) -> tuple[Atom, ...]:
        if self.plan.visible(base):
            return tuple(self.builder.dim(base, k) for k in range(array_type(base).ndim))
        return tuple(map(self.value, self.plan.extents[base]))

    def fresh(self, base: Var) -> Var:
        """A zero shadow of the base's shape; strided becomes C."""
        kind = array_type(base)
        layout: Layout = "F" if kind.layout == "F" else "C"
        zero = const(0.0, kind.dtype)
        return self.builder.alloc(
            kind.dtype, self.extents(base), zero, hint=f"{base.hint}_bar", layout=layout
        )

    def fresh_shadows(self, born: Iterator[Var], arriving: set[Var]) -> None:
        for base in born:
            if isinstance(base.type, Array) and self.found.base(base) == base:
                if self.active.active(base) and base not in self.shadows | dict.fromkeys(arriving):
                    self.shadows[base] = self.fresh(base)

    def ahead(self, arriving: Sequence[tuple[Atom, Var]]) -> list[tuple[Atom, Var]]:
        """Shadows of what a branch with both sweeps in its arms gives: they stand before it.

        Each is a copy of the cotangent, which has the same shape; what arrives besides is left.
        """
        left: list[tuple[Atom, Var]] = []
        for array, shadow in arriving:
            assert isinstance(array, Var)
            if id(self.found.owner[array]) in self.plan.scopes and array not in self.shadows:
                kind, axes = array_type(array), range(array_type(array).ndim)
                extents = tuple(self.builder.dim(shadow, axis) for axis in axes)
                made = self.builder.alloc(kind.dtype, extents, None, f"{array.hint}_bar")
                each_element(self.builder, made, _copier(self.builder, shadow, made))
                self.shadows[array] = made
            else:
                left.append((array, shadow))
        return left

    # -- the sweep

    def bar(self, atom: Atom) -> Atom:
        """The cotangent of a scalar so far."""
        zero = const(0.0, atom.type.dtype)
        return self.bars.get(atom, zero) if isinstance(atom, Var) else zero

    def add(self, atom: Atom, more: Atom) -> None:
        if not isinstance(atom, Var) or not self.active.active(atom):
            return
        if isinstance(more, Const) and more.value == 0.0:
            return
        before = self.bars.get(atom)
        self.bars[atom] = more if before is None else ops.apply(
            self.builder, "add", before, more, hint=f"{atom.hint}_bar"
        )  # fmt: skip

    @contextmanager
    def inner(self) -> Iterator[None]:
        """A nested block: what is made inside is not visible afterwards."""
        saved = dict(self.env), dict(self.shadows), dict(self.views), dict(self.bars)
        copies = dict(self.copies)
        yield
        self.env, self.shadows, self.views, self.bars = saved
        self.copies = copies

    def block(
        self, block: Block, names: tuple[Var, ...], arriving: Iterable[tuple[Atom, Var]] = ()
    ) -> None:
        """Reverses a block; `names` are what its owner defines for it.

        `arriving` are shadows to be added to those of arrays that the block hands on.
        """
        for name in names:
            self.make(name)
        self.make_block(block)
        born = (var for stmt in block.stmts for var in defs(stmt))
        self.fresh_shadows(iter((*names, *born)), self.plan.moved_in(block))
        for array, shadow in arriving:
            self.add_array(array, shadow)
        for stmt in reversed(block.stmts):
            if id(stmt) in self.plan.reversed | self.plan.scopes:
                with self.builder.at(stmt.loc):
                    self.stmt(stmt)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case Let(out=out):
                given = self.bars.pop(out, None)
                if given is not None:
                    self.let(stmt, given)
            case Load(out=out, array=array, index=index):
                given = self.bars.pop(out, None)
                if given is not None and self.active.active(array):
                    shadow, at = self.shadow(array), tuple(map(self.value, index))
                    before = self.builder.load(shadow, *at)
                    self.builder.store(shadow, at, ops.apply(self.builder, "add", before, given))
            case Store(array=array, index=index, value=value):
                if self.active.active(array):
                    shadow, at = self.shadow(array), tuple(map(self.value, index))
                    zero = const(0.0, value.type.dtype)
                    if self.active.active(value):
                        self.add(value, self.builder.load(shadow, *at, hint="g"))
                    self.builder.store(shadow, at, zero)
            case For() | While():
                self.loop(stmt)
            case If():
                self.branch(stmt)
            case Library():
                self.library(stmt)
            case Call():
                self.call(stmt)
            case _:
                pass

    def let(self, let: Let, given: Atom) -> None:
        args = tuple(
            arg if isinstance(arg, Const) or isinstance(arg.type, Array) else self.known(arg)
            for arg in let.args
        )
        known_out = self.known(let.out)
        out = known_out if isinstance(known_out, Var) else let.out
        here = Let(out, let.op, args, let.loc)
        for k, arg in enumerate(let.args):
            if self.active.active(arg) and differentiable(let, k):
                others = (*let.args[:k], *let.args[k + 1 :], let.out)
                polar = any(self.active.is_polar(o) for o in others if is_float(o.type))
                polar = polar or self.active.is_exposed(let.out)
                self.add(arg, contribution(self.builder, here, k, given, polar))

    def known(self, var: Var) -> Atom:
        """The value where it is available; rules do not read it where it is not."""
        return var if self.plan.visible(var) else self.env.get(var, var)

    def loop(self, loop: Loop) -> None:
        builder = self.builder
        trips = self.value(loop.stop if isinstance(loop, For) else loop.trips)
        names = [name for name, _ in loop.carried]
        scalars, arrays = self.actively(tuple(names))
        outer = sorted(
            (v for v in free(loop.body) - set(params(loop)) if self.is_scalar(v)),
            key=lambda v: v.id,
        )
        inits: list[Atom] = [self.bar(loop.outs[k]) for k in scalars]
        for k in scalars:
            self.bars.pop(loop.outs[k], None)
        inits += [self.bar(v) for v in outer]
        inits += [self.shadows.pop(loop.outs[k]) for k in arrays]
        carry = [_bar_like(builder, v, init) for init, v in zip(
            inits, [*(names[k] for k in scalars), *outer, *(names[k] for k in arrays)], strict=True
        )]  # fmt: skip
        back = builder.var(INT, "back")
        with builder.block() as body, self.inner():
            last = ops.apply(builder, "sub", trips, const(1))
            index = ops.apply(builder, "sub", last, back, hint=loop.index.hint)
            self.env[loop.index] = index
            if isinstance(index, Var) and index != back:
                self.remade[index] = loop.index
            self.bars = dict(zip(outer, carry[len(scalars) :], strict=False))
            for k, given in zip(scalars, carry, strict=False):
                self.add(loop.body.results[k], given)
            arrived = dict(zip(arrays, carry[len(scalars) + len(outer) :], strict=True))
            self.block(loop.body, tuple(names), self.arrive(loop.body, loop.outs, arrived))
            results = [self.bar(names[k]) for k in scalars] + [self.bar(v) for v in outer]
            results += [self.shadows[names[k]] for k in arrays]
        outs = [builder.like(name) for name in carry]
        pairs = tuple(zip(carry, inits, strict=True))
        builder.add(For(back, trips, pairs, body.finish(*results), tuple(outs), builder.loc))
        for v, out in zip(outer, outs[len(scalars) :], strict=False):
            self.bars[v] = out
        for k, out in zip(scalars, outs, strict=False):
            self.add(loop.carried[k][1], out)
        for k, out in zip(arrays, outs[len(scalars) + len(outer) :], strict=True):
            init = loop.carried[k][1]
            if loop.outs[k] in self.plan.frozen:
                self.add_array(init, out)
            else:
                assert isinstance(init, Var)
                self.shadows[init] = out

    def arrive(
        self, block: Block, outs: tuple[Var, ...], shadows: Mapping[int, Var]
    ) -> list[tuple[Atom, Var]]:
        """Gives arrays that a block hands on their shadows; those of frozen names are left."""
        left: list[tuple[Atom, Var]] = []
        for k, shadow in shadows.items():
            result = block.results[k]
            if outs[k] in self.plan.frozen:
                left.append((result, shadow))
            else:
                assert isinstance(result, Var)
                self.shadows[result] = shadow
        return left

    def add_array(self, array: Atom, more: Var) -> None:
        """Adds a shadow to that of an array, element by element."""
        assert isinstance(array, Var)
        if not self.active.active(array):
            return
        builder, target = self.builder, self.shadow(array)

        def step(index: tuple[Atom, ...]) -> None:
            total = ops.apply(
                builder, "add", builder.load(target, *index), builder.load(more, *index)
            )
            builder.store(target, index, total)

        each_element(builder, target, step)

    def is_scalar(self, var: Var) -> bool:
        return not isinstance(var.type, Array) and self.active.active(var)

    def actively(self, names: tuple[Var, ...]) -> tuple[list[int], list[int]]:
        active = [k for k, name in enumerate(names) if self.active.active(name)]
        arrays = [k for k in active if isinstance(names[k].type, Array)]
        return [k for k in active if k not in arrays], arrays

    def branch(self, branch: If) -> None:
        builder = self.builder
        scalars, arrays = self.actively(branch.outs)
        given = {k: self.bars.pop(branch.outs[k]) for k in scalars if branch.outs[k] in self.bars}
        arriving = {k: self.shadows.pop(branch.outs[k]) for k in arrays}
        moved = sorted(self.moved_out(branch), key=lambda v: v.id)
        outer = sorted(
            (v for v in free(branch.then) | free(branch.orelse) if self.is_scalar(v)),
            key=lambda v: v.id,
        )
        arms: list[tuple[Block, list[Atom]]] = []
        scope = id(branch) in self.plan.scopes
        for arm in (branch.then, branch.orelse):
            with builder.block() as body, self.inner():
                if scope:
                    self.forward(arm)
                for k, bar in given.items():
                    self.add(arm.results[k], bar)
                left = self.arrive(arm, branch.outs, arriving)
                for base in moved:  # one that only the other arm hands on
                    if base not in self.shadows.keys() | self.plan.moved_in(arm):
                        self.shadows[base] = self.fresh(base)
                self.block(arm, (), left)
                results = [self.bar(v) for v in outer] + [self.shadows[base] for base in moved]
            arms.append((body.finish(), results))
        first, second = arms[0][1], arms[1][1]
        keys: list[Var] = [*outer, *moved]
        changed = [k for k in range(len(keys)) if first[k] != second[k]]
        outs = {k: _bar_like(builder, keys[k], first[k], second[k]) for k in changed}
        primal = [arm.results if scope else () for arm in (branch.then, branch.orelse)]
        blocks = [
            Block(b.stmts, (*given, *(results[k] for k in changed)))
            for given, (b, results) in zip(primal, arms, strict=True)
        ]
        joined = (*(branch.outs if scope else ()), *outs.values())
        builder.add(If(self.value(branch.cond), blocks[0], blocks[1], joined, builder.loc))
        for k, key in enumerate(keys):
            new = outs.get(k, first[k])
            if k >= len(outer):
                assert isinstance(new, Var)
                self.shadows[key] = new
            elif not isinstance(new, Const):
                self.bars[key] = new

    def moved_out(self, branch: If) -> set[Var]:
        """The bases from outside that go on under another name in some arm."""
        inner = {var for stmt in walk(Block((branch,))) for var in (*defs(stmt), *params(stmt))}
        moved = self.plan.moved_in(Block((branch,)))
        return {base for base in moved - inner if self.active.active(base)}

    def library(self, stmt: Library) -> None:
        """out = a @ b, or out += a @ b: a_bar += out_bar @ b', b_bar += a' @ out_bar."""
        (a, b), (out,) = stmt.reads, stmt.writes
        out_bar, builder = self.shadow(out), self.builder
        for operand, other, left in ((a, b, True), (b, a, False)):
            if self.active.active(operand):
                kept = self.copies.get((other, id(stmt)))
                turned = builder.view(kept or self.memory(other), Permute((1, 0)))
                pair = (out_bar, turned) if left else (turned, out_bar)
                builder.library("matmul_add", pair, (self.shadow(operand),))
        if stmt.op == "matmul":
            self.clear(out_bar)

    def call(self, stmt: Call) -> None:
        """The adjoint of the callee, on what the call was given; it adds to the shadows."""
        flags = tuple(self.active.active(arg) for arg in stmt.args)
        request = request_of("adjoint", self.plan.function, stmt.callee, flags)
        self.requests[request.name] = request
        given: list[Atom] = []
        for arg in stmt.args:
            if isinstance(arg, Var) and isinstance(arg.type, Array):
                given.append(self.copies.get((arg, id(stmt))) or self.memory(arg))
            else:
                given.append(self.value(arg))
        writes = [a for a, arg in zip(given, stmt.args, strict=True) if arg in stmt.writes]
        args = [*given, *(self.out_bar(out) for out in stmt.outs if is_float(out.type))]
        outs: dict[Var, Atom] = {}
        for here, arg, wanted in zip(given, stmt.args, request.pattern, strict=True):
            if wanted and isinstance(arg.type, Array):
                assert isinstance(arg, Var) and isinstance(here, Var)
                shadow = self.shadow(arg) if self.active.active(arg) else self.zeros_like(here)
                args.append(shadow)
                writes.append(shadow)
            elif wanted:
                outs[self.builder.var(arg.type, "g")] = arg
        made = Call(request.name, tuple(args), tuple(outs), _arrays(writes), self.builder.loc)
        self.builder.add(made)
        for bar, arg in outs.items():
            self.add(arg, bar)

    def out_bar(self, out: Var) -> Atom:
        if not isinstance(out.type, Array):
            return self.bars.pop(out, const(0.0, out.type.dtype))
        return self.shadows[out] if self.active.active(out) else self.fresh(out)

    def zeros_like(self, array: Var) -> Var:
        kind = array_type(array)
        extents = tuple(self.builder.dim(array, axis) for axis in range(kind.ndim))
        return self.builder.alloc(kind.dtype, extents, const(0.0, kind.dtype), f"{array.hint}_bar")

    def clear(self, shadow: Var) -> None:
        """Zeroes a whole shadow: what a library statement overwrote."""
        zero = const(0.0, array_type(shadow).dtype)
        each_element(self.builder, shadow, lambda index: self.builder.store(shadow, index, zero))


def _arrays(atoms: Iterable[Atom]) -> tuple[Var, ...]:
    return tuple(dict.fromkeys(atom for atom in atoms if isinstance(atom, Var)))


def _copier(builder: Builder, given: Var, made: Var) -> Callable[[tuple[Atom, ...]], None]:
    return lambda index: builder.store(made, index, builder.load(given, *index))


def _bar_like(builder: Builder, primal: Var, *atoms: Atom) -> Var:
    """What joins cotangents; shadows of several layouts, or of such a name, have none."""
    kind = atoms[0].type
    if isinstance(kind, Array) and isinstance(primal.type, Array):
        if primal.type.layout == "A" or any(atom.type != kind for atom in atoms):
            kind = replace(kind, layout="A")
    return builder.var(kind, f"{primal.hint}_bar")


def each_element(builder: Builder, array: Var, action: Callable[[tuple[Atom, ...]], None]) -> None:
    """A nest of loops over all elements of an array; `action` adds the body."""

    def nest(index: tuple[Atom, ...]) -> None:
        axis = len(index)
        if axis == array_type(array).ndim:
            action(index)
            return
        stop, at = builder.dim(array, axis), builder.var(INT, "ijkl"[axis % 4])
        with builder.block() as body:
            nest((*index, at))
        builder.add(For(at, stop, (), body.finish(), (), builder.loc))

    nest(())
