"""A Map that is read element by element in one place is computed there (ADJOINT section 8).

Legal if all its readers stand in one block and load the same element; the loops between the Map
and that block count exactly its axes; and no write between the two may change what it loads. A
write in the loop that reads is harmless where it comes after the reads and stores the very element
that the Map loads (`u += f(u)`; `u[1:] -= u[:-1]` needs the temporary). Then each element is made
once, where it is read, and the array disappears.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from srcad.ir.aliases import Memory, memory, targets
from srcad.ir.builder import Builder
from srcad.ir.nodes import (
    Atom,
    Block,
    Const,
    For,
    Function,
    If,
    Let,
    Load,
    Map,
    Stmt,
    Store,
    Var,
    While,
)
from srcad.ir.types import Array
from srcad.ir.walk import Renamer, blocks, next_id, operands, walk
from srcad.transform.facts import Facts, Place, facts
from srcad.transform.moves import decided
from srcad.transform.unchanged import unchanged


@dataclass(frozen=True, eq=False)
class Reading:
    """Where a Map is inlined: before `first`, with its indices as atoms of that block."""

    made: Map
    first: Stmt
    index: tuple[Atom, ...]


@dataclass
class Uses:
    """The statements that read or write each array, and views of it."""

    by: dict[Var, list[Stmt]] = field(default_factory=dict)

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            for atom in operands(stmt):
                self.add(atom, stmt)
            for inner in blocks(stmt):
                self.block(inner)
                for atom in inner.results:
                    self.add(atom, stmt)

    def add(self, atom: Atom, stmt: Stmt) -> None:
        if isinstance(atom, Var):
            self.by.setdefault(atom, []).append(stmt)


def fuse(function: Function) -> Function:
    """The function with Maps inlined into their readers; the same object if there are none."""
    found, uses = facts(function), Uses()
    uses.block(function.body)
    kept = set(function.body.results)
    separate = not decided(function, found, unchanged(function, found))[1]
    fusing = Fusing(found, memory(function), uses, separate)
    readings: list[Reading] = []
    for stmt in walk(function.body):
        if isinstance(stmt, Map):
            reading = None if stmt.out in kept else fusing.reading(stmt)
            if reading is not None:
                readings.append(reading)
    if not readings:
        return function
    return replace(function, body=_Inliner(function, readings).block(function.body))


Read = tuple[Var, tuple[Atom, ...]]  # an array and the index that is loaded


@dataclass
class Fusing:
    """Decides for one Map. `separate`: two bases that have not one name share no memory."""

    found: Facts
    classes: Memory
    uses: Uses
    separate: bool
    reads: dict[Var, list[Read]] = field(default_factory=dict)  # of Maps that are inlined

    def reading(self, made: Map) -> Reading | None:
        loads: list[Load] = []
        for stmt in self.uses.by.get(made.out, ()):
            if isinstance(stmt, Load):
                loads.append(stmt)
            elif not (isinstance(stmt, Let) and stmt.op == "dim"):
                return None
        if not loads or any(load.index != loads[0].index for load in loads):
            return None
        loads.sort(key=lambda load: self.found.place[id(load)].order)
        first, last = (self.found.place[id(loads[k])] for k in (0, -1))
        if any(self.found.place[id(load)].within[-1] is not first.within[-1] for load in loads):
            return None
        if not self.counts(made, loads[0], first):
            return None
        reads = self.loaded(made)
        bases = {self.found.base(array) for array, _ in reads}
        for stmt in self.between(made, first, last):
            if any(self.found.base(array) in bases for array in handed_on(stmt)):
                return None
            if targets(stmt) and not self.harmless(made, loads[0], reads, stmt, last):
                return None
        mapping = dict(zip(made.indices, loads[0].index, strict=True))
        self.reads[made.out] = [(array, mapped(index, mapping)) for array, index in reads]
        return Reading(made, loads[0], loads[0].index)

    def loaded(self, made: Map) -> list[Read]:
        """What the Map loads, those inlined into it included."""
        found: list[Read] = []
        for stmt in walk(made.body):
            if isinstance(stmt, Load):
                found += self.reads.get(stmt.array, [(stmt.array, stmt.index)])
        return found

    def counts(self, made: Map, load: Load, place: Place) -> bool:
        """Whether the loops between the Map and the load count its axes, each once."""
        depth = len(self.found.around(made))
        indices: dict[Var, Atom] = {}
        for stmt in place.around[depth:]:
            match stmt:
                case For(index=index, stop=stop):
                    indices[index] = stop
                case Map(indices=several, shape=shape):
                    indices |= dict(zip(several, shape, strict=True))
                case If():
                    pass
                case _:
                    return False
        axes = [at for at in load.index if isinstance(at, Var)]
        wanted = dict(zip(load.index, made.shape, strict=True))
        return len(axes) == len(load.index) == len(indices) and wanted == indices

    def between(self, made: Map, first: Place, last: Place) -> Iterator[Stmt]:
        """What may run between the Map and its last reader, by the text or by a loop."""
        start = self.found.place[id(made)]
        depth = len(start.around)
        nest = first.around[depth] if len(first.around) > depth else None
        for stmt in walk(start.within[-1]):
            place = self.found.place[id(stmt)]
            inside = nest is stmt or nest in place.around
            if place.order > start.order and (place.order < last.order or inside):
                yield stmt

    def harmless(self, made: Map, load: Load, reads: list[Read], write: Stmt, last: Place) -> bool:
        """Whether a write changes nothing that the Map loads, or only what was read by then."""
        mapping = dict(zip(made.indices, load.index, strict=True))
        for target in targets(write):
            base = self.found.base(target)
            for array, index in reads:
                if self.apart(base, self.found.base(array)):
                    continue
                if target != array or not isinstance(write, Store):
                    return False
                at = mapped(index, mapping)
                place = self.found.place[id(write)]
                behind = place.within[-1] is last.within[-1] and place.order > last.order
                if not behind or at != write.index or not set(load.index) <= set(at):
                    return False
        return True

    def apart(self, first: Var, second: Var) -> bool:
        if first == second:
            return False
        return self.separate or self.classes.key(first) != self.classes.key(second)


def mapped(index: tuple[Atom, ...], mapping: dict[Var, Atom]) -> tuple[Atom, ...]:
    return tuple(mapping.get(at, at) if isinstance(at, Var) else at for at in index)


def handed_on(stmt: Stmt) -> Iterator[Var]:
    """The arrays that get another name in a loop or branch."""
    match stmt:
        case For(carried=carried, body=body) | While(carried=carried, body=body):
            atoms = [*(init for _, init in carried), *body.results]
        case If(then=then, orelse=orelse):
            atoms = [*then.results, *orelse.results]
        case _:
            atoms = []
    return (atom for atom in atoms if isinstance(atom, Var) and isinstance(atom.type, Array))


class _Inliner:
    """Rebuilds the function with each reading carried out."""

    def __init__(self, function: Function, readings: list[Reading]) -> None:
        self.builder = Builder(next_id(function))
        self.at = {id(reading.first): reading for reading in readings}
        self.gone = {id(reading.made) for reading in readings}
        self.values: dict[Var, Atom] = {}
        self.made = {reading.made.out: reading.made for reading in readings}

    def block(self, block: Block) -> Block:
        stmts: list[Stmt] = []
        values: dict[Var, Atom] = {}
        for stmt in block.stmts:
            if id(stmt) in self.gone:
                continue
            reading = self.at.get(id(stmt))
            if reading is not None:
                stmts += self.inlined(reading)
            stmts += self.stmt(stmt, values)
        return self.renamed(Block(tuple(stmts), block.results), values)

    def renamed(self, block: Block, values: dict[Var, Atom]) -> Block:
        return Renamer(values).block(block) if values else block

    def inlined(self, reading: Reading) -> tuple[Stmt, ...]:
        body = self.block(reading.made.body)
        mapping: dict[Var, Atom] = dict(zip(reading.made.indices, reading.index, strict=True))
        made = Renamer(mapping, self.builder).block(body)
        self.values[reading.made.out] = made.results[0]
        return made.stmts

    def stmt(self, stmt: Stmt, values: dict[Var, Atom]) -> tuple[Stmt, ...]:
        match stmt:
            case Load(out=out, array=array) if array in self.made:
                values[out] = self.values[array]
                return ()
            case Let(out=out, op="dim", args=(array, Const(value=axis))) if array in self.made:
                values[out] = self.made[array].shape[int(axis.real)]
                return ()
            case For(body=body) | While(body=body) | Map(body=body):
                return (replace(stmt, body=self.block(body)),)
            case If(then=then, orelse=orelse):
                return (replace(stmt, then=self.block(then), orelse=self.block(orelse)),)
            case _:
                return (stmt,)
