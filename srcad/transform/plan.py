"""Where the reverse sweep gets each primal value that it reads (ADJOINT section 4).

The plan is a table from values to sources; `adjoint` obeys any plan. First form: keep the leaves,
recompute pure scalar work, reload what no later write can change (every write to the base counts).
"""

from dataclasses import dataclass, field
from enum import Enum

from srcad import ops
from srcad.ir.nodes import (
    Alloc,
    Atom,
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
)
from srcad.ir.types import Array, is_float
from srcad.ir.walk import how_atoms, walk
from srcad.transform.activity import Activity
from srcad.transform.facts import Facts
from srcad.transform.rules import differentiable, reads


class Source(Enum):
    """How a value reaches the reverse sweep."""

    IN_SCOPE = "the same variable"
    INDEX = "made by the reverse loop"
    RECOMPUTE = "computed again from planned values"
    RELOAD = "loaded again from memory proved unchanged"
    KEEP = "kept on a tape"


@dataclass
class Plan:
    """`sources` of values; `reversed` holds the id of every loop and branch that is reversed."""

    function: Function
    found: Facts
    active: Activity
    force_keep: bool = False
    sources: dict[Var, Source] = field(default_factory=dict)
    reversed: set[int] = field(default_factory=set)
    extents: dict[Var, tuple[Var, ...]] = field(default_factory=dict)
    copies: dict[tuple[int, Var], Var] = field(default_factory=dict)  # (id(stmt), operand)
    _writes: dict[Var, list[Stmt]] = field(default_factory=dict)

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
        elif source is Source.RELOAD:
            assert isinstance(stmt, Load)
            self.ask_place(stmt.array, stmt.index)
        elif source is Source.KEEP:
            self.ask_position(atom)

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

    def ask_position(self, var: Var) -> None:
        """What the tape's positions need: trip counts that are not the scope's."""
        for loop in self.loops_around(var):
            self.ask_trips(loop)

    def ask_trips(self, loop: For | While) -> None:
        self.ask(loop.stop if isinstance(loop, For) else loop.trips)

    def loops_around(self, var: Var) -> tuple[For | While, ...]:
        return self.found.loops(self.found.inside[var])

    def visible(self, var: Var) -> bool:
        """Defined directly in the function's block, where both sweeps stand."""
        return not self.found.inside[var]

    def writes(self, base: Var) -> list[Stmt]:
        if not self._writes:
            for stmt in walk(self.function.body):
                for target in _targets(stmt):
                    self._writes.setdefault(self.found.base(target), []).append(stmt)
        return self._writes.get(base, [])

    def unchanged_array(self, stmt: Stmt, array: Var) -> bool:
        """Whether a whole array still holds, in the reverse sweep, what `stmt` read."""
        return self.unchanged(stmt, array, whole=True)

    def unchanged(self, load: Stmt, array: Var, *, whole: bool = False) -> bool:
        """Whether memory read by `load` is the same until the reverse sweep has read it again.

        True if the base belongs to the scope, is never moved, and nothing writes to it later in
        the text or in a loop around both.
        """
        base = self.found.base(array)
        if (self.force_keep and not whole) or not self.visible(base) or self._moves(base):
            return False
        place = self.found.order[id(load)]
        around = self.found.loops(self.found.around[id(load)])
        for write in self.writes(base):
            if self.found.order[id(write)] > place:
                return False
            if any(loop in self.found.around[id(write)] for loop in around):
                return False
        return True

    def grows(self, base: Var) -> bool:
        """Whether the array is longer in the end than where it was made."""
        return any(isinstance(write, Grow) for write in self.writes(base))

    def _moves(self, base: Var) -> bool:
        for stmt in walk(self.function.body):
            if isinstance(stmt, For | While) and any(init == base for _, init in stmt.carried):
                return True
            if isinstance(stmt, If) and base in (*stmt.then.results, *stmt.orelse.results):
                return True
        return False

    def _source(self, var: Var) -> Source:
        stmt = self.found.owner[var]
        if self.visible(var):
            return Source.IN_SCOPE
        if isinstance(stmt, For | While) and var == stmt.index:
            return Source.INDEX
        if isinstance(stmt, Let):
            return Source.RECOMPUTE if self._pure(stmt) else Source.KEEP
        if isinstance(stmt, Load) and self.unchanged(stmt, stmt.array):
            return Source.RELOAD
        return Source.KEEP

    def _pure(self, let: Let) -> bool:
        """Values that jump are kept: two sweeps may round what decides them differently."""
        if any(isinstance(arg.type, Array) and not self.visible(arg) for arg in let.args
               if isinstance(arg, Var)):  # fmt: skip
            return False
        takes_float = any(is_float(arg.type) for arg in let.args)
        if takes_float and (ops.operation(let.op).jumps or not is_float(let.out.type)):
            return False
        return not self.force_keep or not takes_float


def _targets(stmt: Stmt) -> tuple[Var, ...]:
    match stmt:
        case Store(array=array) | Grow(array=array):
            return (array,)
        case Library(writes=writes):
            return writes
        case _:
            return ()


def plan(function: Function, found: Facts, active: Activity, *, force_keep: bool = False) -> Plan:
    """The sources of everything that the reverse sweep of `function` reads."""
    made = Plan(function, found, active, force_keep)
    for stmt in walk(function.body):
        if needs_reverse(stmt, active, found):
            made.reversed.add(id(stmt))
            for outer in found.around[id(stmt)]:
                made.reversed.add(id(outer))
    for stmt in walk(function.body):
        if id(stmt) in made.reversed:
            _ask_statement(made, stmt)
    return made


def needs_reverse(stmt: Stmt, active: Activity, found: Facts) -> bool:
    """Whether a statement by itself has an effect on cotangents."""
    match stmt:
        case Let(out=out) | Load(out=out):
            return active.active(out)
        case Store(array=array):
            return active.active(array)
        case Alloc(out=out):
            return active.active(out) and bool(found.around[id(stmt)])
        case For(carried=carried) | While(carried=carried):
            return any(active.active(name) for name, _ in carried)
        case If(outs=outs):
            return any(active.active(out) for out in outs)
        case Library(writes=writes):
            return any(active.active(target) for target in writes)
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
        case Alloc(shape=shape):
            for atom in shape:
                made.ask(atom)
        case For() | While():
            made.ask_trips(stmt)
        case If(cond=cond):
            made.ask(cond)
        case Library(reads=arrays, writes=writes):
            for array in (*arrays, *writes):
                made.ask_place(array, ())
        case _:
            pass
