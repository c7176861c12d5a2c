"""Where the reverse sweep gets each primal value that it reads (ADJOINT section 4).

The plan is a table from values to sources; `adjoint` obeys any plan. Leaves are kept, pure scalar
work on them is computed again, and memory that is proved unchanged is read again: in place, or in
a copy of the array that is kept once for each execution of a region.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from enum import Enum

from srcad import ops
from srcad.ir.nodes import (
    Atom,
    Block,
    Call,
    Const,
    For,
    Function,
    Grow,
    If,
    Let,
    Library,
    Load,
    Stmt,
    Store,
    Var,
    View,
    While,
    array_type,
)
from srcad.ir.types import Array, is_float
from srcad.ir.walk import how_atoms, walk
from srcad.transform.activity import Activity
from srcad.transform.facts import Facts
from srcad.transform.moves import frozen
from srcad.transform.rules import differentiable, reads
from srcad.transform.unchanged import Unchanged, unchanged

Loop = For | While


class Source(Enum):
    """How a value reaches the reverse sweep."""

    IN_SCOPE = "the same variable"
    INDEX = "made by the reverse loop"
    RECOMPUTE = "computed again from planned values"
    RELOAD = "loaded again from memory proved unchanged"
    KEEP_ARRAY = "loaded from a kept copy of the array"
    KEEP = "kept on a tape"


@dataclass(frozen=True)
class Copy:
    """An array that is copied each time the sweep is at one place, and read by the reverse sweep.

    `place` is the block at whose end it is copied, or the library statement before which it is;
    the statements `around` stand around that place. `array` is the name that is copied.
    """

    array: Var
    place: Block | Library | Call
    around: tuple[Stmt, ...]

    @property
    def key(self) -> tuple[Var, int]:
        return self.array, id(self.place)

    @property
    def loops(self) -> tuple[Loop, ...]:
        return tuple(stmt for stmt in self.around if isinstance(stmt, For | While))


@dataclass
class Plan:
    """`sources` of values; `reversed` holds the id of every loop and branch that is reversed.

    `scopes` are the ids of the branches that end a scope: each arm is one, and has its reverse code
    in it. `frozen` are the joined names whose shadows are their own (`moves`).
    `copies` are the kept arrays, by array and id of their place; `copied` tells which of them a
    Load with source KEEP_ARRAY reads. `extents` are those of arrays that the reverse sweep makes
    shadows or copies of; of the arrays in `unsized` they are kept.
    """

    function: Function
    found: Facts
    active: Activity
    memory: Unchanged
    frozen: frozenset[Var] = frozenset()
    scopes: frozenset[int] = frozenset()
    force_keep: bool = False
    sources: dict[Var, Source] = field(default_factory=dict)
    reversed: set[int] = field(default_factory=set)
    extents: dict[Var, tuple[Atom, ...]] = field(default_factory=dict)
    unsized: list[Var] = field(default_factory=list)
    copies: dict[tuple[Var, int], Copy] = field(default_factory=dict)
    copied: dict[Var, Copy] = field(default_factory=dict)

    def ask(self, atom: Atom) -> None:
        """Plans a value and everything that its source reads."""
        if isinstance(atom, Const) or atom in self.sources:
            return
        assert not isinstance(atom.type, Array), f"{atom} is an array"
        source = self.sources[atom] = self._source(atom)
        stmt = self.found.owner[atom]
        if source is Source.RECOMPUTE:
            assert isinstance(stmt, Let)
            for arg in stmt.args:
                if not isinstance(arg.type, Array):
                    self.ask(arg)
        elif source in (Source.RELOAD, Source.KEEP_ARRAY):
            assert isinstance(stmt, Load)
            self.ask_place(stmt.array, stmt.index)
            if source is Source.KEEP_ARRAY:
                self.ask_copy(self.copied[atom])
        elif source is Source.KEEP:
            self.ask_position(self.loops_around(atom))

    def ask_place(self, array: Var, index: tuple[Atom, ...]) -> None:
        """The indices, and the integers of the views down to the base."""
        for atom in index:
            self.ask(atom)
        stmt = self.found.owner[array]
        while isinstance(stmt, View):
            if not self.visible(array):
                for atom in how_atoms(stmt.how):
                    self.ask(atom)
            array = stmt.array
            stmt = self.found.owner[array]

    def ask_copy(self, copy: Copy) -> None:
        self.copies[copy.key] = copy
        self.ask_position(copy.loops)
        if copy.around:
            self.ask_extents(copy.array)

    def ask_extents(self, array: Var) -> None:
        """The extents of an array: known integers, or kept where the array is born."""
        if array in self.extents or array in self.unsized:
            return
        shape = tuple(e for e in self.memory.shape(array) if e is not None)
        if len(shape) == array_type(array).ndim and not self.grows(self.found.base(array)):
            self.extents[array] = shape
            for extent in shape:
                self.ask(extent)
        else:
            self.unsized.append(array)
            self.ask_position(self.loops_around(array))

    def ask_position(self, loops: tuple[Loop, ...]) -> None:
        """What the tape's positions need: trip counts that are not the scope's."""
        for loop in loops:
            self.ask(loop.stop if isinstance(loop, For) else loop.trips)

    def ask_array(self, stmt: Library | Call, array: Var) -> None:
        """A whole operand: the array itself where it stays as it is, else a copy."""
        self.ask_place(array, ())
        written = isinstance(stmt, Call) and array in stmt.writes
        if written or not self.memory.holds(stmt, array, self.scope_depth(stmt)):
            self.ask_copy(Copy(array, stmt, self.around(stmt)))

    def around(self, stmt: Stmt) -> tuple[Stmt, ...]:
        """The statements between a statement and its scope."""
        return self.in_scope(self.found.around(stmt))

    def inside(self, var: Var) -> tuple[Stmt, ...]:
        """The statements between a definition and its scope."""
        return self.in_scope(self.found.inside[var])

    def in_scope(self, around: tuple[Stmt, ...]) -> tuple[Stmt, ...]:
        return around[sum(id(stmt) in self.scopes for stmt in around) :]

    def scope_depth(self, stmt: Stmt) -> int:
        """The depth of the block of the scope around a statement."""
        return len(self.found.around(stmt)) - len(self.around(stmt))

    def loops_around(self, var: Var) -> tuple[Loop, ...]:
        return self.found.loops(self.inside(var))

    def moved_in(self, block: Block) -> set[Var]:
        """The arrays that go on under another name in a block, and take their shadow from there."""
        found: set[Atom] = set()
        for stmt in walk(block):
            match stmt:
                case For(carried=carried, outs=outs) | While(carried=carried, outs=outs):
                    inits = (init for _, init in carried)
                    pairs = [*zip(inits, outs), *zip(stmt.body.results, outs)]
                case If(then=then, orelse=orelse, outs=outs):
                    pairs = [*zip(then.results, outs), *zip(orelse.results, outs)]
                case _:
                    continue
            found.update(array for array, out in pairs if out not in self.frozen)
        return {a for a in found if isinstance(a, Var) and isinstance(a.type, Array)}

    def visible(self, var: Var) -> bool:
        """Defined directly in the block of a scope, where both sweeps stand."""
        return not self.inside(var)

    def grows(self, base: Var) -> bool:
        """Whether the array is longer in the end than where it was made."""
        return any(isinstance(write, Grow) for write, _ in self.memory.writes.get(base, ()))

    def _source(self, var: Var) -> Source:
        stmt = self.found.owner[var]
        if self.visible(var):
            return Source.IN_SCOPE
        if isinstance(stmt, For | While) and var == stmt.index:
            return Source.INDEX
        if isinstance(stmt, Let):
            return Source.RECOMPUTE if self.recomputable(stmt) else Source.KEEP
        if isinstance(stmt, Load) and not self.force_keep:
            if self.memory.holds(stmt, stmt.array, self.scope_depth(stmt)):
                return Source.RELOAD
            copy = self._copy(stmt)
            if copy is not None:
                self.copied[var] = copy
                return Source.KEEP_ARRAY
        return Source.KEEP

    def _copy(self, load: Load) -> Copy | None:
        """A region, with a loop around the load inside it, at whose end a copy still shows it.

        The outermost inside the branches around those loops: what a branch reads now and then is
        not copied at every step. Else the outermost at all.
        """
        around, within = self.around(load), self.found.place[id(load)].within
        scope = self.scope_depth(load)
        most = next((k for k in reversed(range(len(around))) if isinstance(around[k], Loop)), 0)
        arms = [k for k in range(1, most + 1) if isinstance(around[k - 1], If)]
        inner = max(arms, default=1)
        for depth in (*range(inner, most + 1), *range(1, inner)):
            if self.memory.covered(load, load.array, scope + depth):
                if self.memory.holds(load, load.array, scope + depth):
                    base = self.found.base(load.array)
                    return Copy(base, within[scope + depth], around[:depth])
        return None

    def recomputable(self, let: Let) -> bool:
        """Values that jump are kept: two sweeps may round what decides them differently."""
        arrays = [a for a in let.args if isinstance(a, Var) and isinstance(a.type, Array)]
        if any(not self.visible(array) for array in arrays):
            return False
        takes_float = any(is_float(arg.type) for arg in let.args)
        if takes_float and (ops.operation(let.op).jumps or not is_float(let.out.type)):
            return False
        return not self.force_keep or not takes_float


def plan(function: Function, found: Facts, active: Activity, *, force_keep: bool = False) -> Plan:
    """The sources of everything that the reverse sweep of `function` reads."""
    memory = unchanged(function, found)
    names = frozen(function, found, memory)
    scopes = frozenset(id(stmt) for stmt in _scopes(function.body))
    made = Plan(function, found, active, memory, names, scopes, force_keep)
    for stmt in walk(function.body):
        if needs_reverse(stmt, active):
            made.reversed.add(id(stmt))
            for outer in found.around(stmt):
                made.reversed.add(id(outer))
    for stmt in walk(function.body):
        if id(stmt) in made.reversed:
            _ask_statement(made, stmt)
    for array in found.owner:
        if isinstance(array.type, Array) and found.base(array) == array:
            if active.active(array) and not made.visible(array):
                made.ask_extents(array)
    return made


def _scopes(block: Block) -> Iterator[If]:
    """The branches after which a scope has nothing but its results."""
    if block.stmts and isinstance(last := block.stmts[-1], If):
        yield last
        yield from _scopes(last.then)
        yield from _scopes(last.orelse)


def needs_reverse(stmt: Stmt, active: Activity) -> bool:
    """Whether a statement by itself has an effect on cotangents."""
    match stmt:
        case Let(out=out) | Load(out=out):
            return active.active(out)
        case Store(array=array):
            return active.active(array)
        case For(carried=carried) | While(carried=carried):
            return any(active.active(name) for name, _ in carried)
        case If(outs=outs):
            return any(active.active(out) for out in outs)
        case Library(writes=writes):
            return any(active.active(target) for target in writes)
        case Call(outs=outs, writes=writes):
            return any(active.active(target) for target in (*outs, *writes))
        case _:
            return False


def _ask_statement(made: Plan, stmt: Stmt) -> None:
    match stmt:
        case Let():
            for k, arg in enumerate(stmt.args):
                if made.active.active(arg) and differentiable(stmt, k):
                    for var in reads(stmt, k):
                        made.ask(var)
        case Load(array=array, index=index) | Store(array=array, index=index):
            made.ask_place(array, index)
        case For() | While():
            made.ask_position((stmt,))
            inits = tuple(init for _, init in stmt.carried)
            _ask_joined(made, stmt.outs, inits, stmt.body.results)
        case If(cond=cond):
            made.ask(cond)
            _ask_joined(made, stmt.outs, stmt.then.results, stmt.orelse.results)
        case Call(args=args, outs=outs):
            for arg in args:
                if isinstance(arg, Var) and isinstance(arg.type, Array):
                    made.ask_array(stmt, arg)
                else:
                    made.ask(arg)
            for out in outs:
                if isinstance(out.type, Array) and not made.visible(out):
                    made.ask_extents(out)
        case Library(writes=writes):
            for array in library_reads(stmt, made.active):
                made.ask_array(stmt, array)
            for array in (*stmt.reads, *writes):
                made.ask_place(array, ())
        case _:
            pass


def _ask_joined(made: Plan, outs: tuple[Var, ...], *incoming: tuple[Atom, ...]) -> None:
    """What comes in under a frozen name gets its shadow added: through the views that it is."""
    for atoms in incoming:
        for out, array in zip(outs, atoms, strict=True):
            if out in made.frozen and made.active.active(out) and isinstance(array, Var):
                made.ask_place(array, ())


def library_reads(stmt: Library, active: Activity) -> tuple[Var, ...]:
    """The operands that the rule for out = a @ b reads: each where the other is active."""
    a, b = stmt.reads
    pairs = ((a, b), (b, a))
    return tuple(dict.fromkeys(operand for operand, other in pairs if active.active(other)))
