"""Whether a write may reach, after a read, an element that was read: the affine test.

Both accesses are taken to the base through the views; their indices are linear forms in the
indices of the loops around them and in integers that do not change. A write comes after the read
if it is equal in the first m common loops and later in the next one, or equal in all and later in
the text. If none of these cases has a solution with equal indices, the element is final
(ADJOINT section 4). What is not affine may be anything.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

from srcad.ir.nodes import (
    Const,
    For,
    If,
    Index,
    Load,
    NewAxis,
    Permute,
    Slice,
    Stmt,
    Store,
    Subscript,
    Var,
    View,
    While,
    array_type,
)
from srcad.ir.types import INT
from srcad.transform.affine import Linear, System
from srcad.transform.conditions import Conditions, variables_of
from srcad.transform.facts import Facts, Place
from srcad.transform.shapes import Shape

MOST_ROWS = 60  # that one access may gather
Forms = tuple[Linear | None, ...]  # one per axis of the base; None: not affine


@dataclass(frozen=True, eq=False)
class Access:
    """The elements that are read or written through one array at a place: indices into the base.

    `known` is what holds of the integers in them.
    """

    index: Forms
    known: System
    place: Place


@dataclass
class Hits:
    """`shapes` are the extents of arrays, `definitions` lead from variables to statements."""

    found: Facts
    shapes: Mapping[Var, Shape]
    conditions: Conditions
    _accesses: dict[tuple[int, Var], Access] = field(default_factory=dict)
    _fresh: int = 0

    def may_hit(self, read: Access, write: Access, depth: int) -> bool:
        """Whether the write can come after the read and change an element that was read.

        Both stand inside the first `depth` statements around them, which run once.
        """
        loops = self.found.loops(read.place.around[depth:])
        others = self.found.loops(write.place.around[depth:])
        common = 0
        while common < min(len(loops), len(others)) and loops[common] is others[common]:
            common += 1
        for same in range(common):
            if self._meet(read, write, depth, loops[:same], loops[same]):
                return True
        later = write.place.order >= read.place.order  # a library call both reads and writes
        if not later or read.place.in_other_arm(write.place):
            return False
        return self._meet(read, write, depth, loops[:common], None)

    def _meet(
        self,
        read: Access,
        write: Access,
        depth: int,
        same: tuple[For | While, ...],
        later: For | While | None,
    ) -> bool:
        """Whether both can be at one element, in the same iteration of `same`, later in `later`."""
        fixed = {id(s) for s in (*read.place.around[:depth], *same)}
        renamed: dict[Var, Linear] = {}
        names = variables_of(write.known) | {v for f in write.index if f for v in f.variables}
        for var in sorted(names | ({later.index} if later else set()), key=lambda v: v.id):
            around = self.found.loops(self.found.inside[var]) if var in self.found.inside else ()
            if var.id < 0 or any(id(loop) not in fixed for loop in around):
                renamed[var] = self._unknown()
        system = read.known.copy().include(_renamed(write.known, renamed))
        for here, there in zip(read.index, write.index, strict=True):
            if here is not None and there is not None:
                system.equal(here, there.replaced(renamed))
        if later is not None:
            now = Linear(((later.index, 1),))
            system.below(now, now.replaced(renamed))
        return not system.infeasible()

    def access(self, stmt: Stmt, array: Var) -> Access:
        """What a statement reads or writes through `array`: one element, or all of it."""
        key = id(stmt), array
        if key not in self._accesses:
            forms: Forms | None = None
            if isinstance(stmt, Load | Store):
                forms = tuple(map(self.conditions.form, stmt.index))
            self._accesses[key] = self.accessed(array, forms, self.found.place[id(stmt)])
        return self._accesses[key]

    def accessed(self, array: Var, forms: Forms | None, place: Place) -> Access:
        """Elements of an array at a place; all of them without indices."""
        known = System()
        if forms is None:
            forms = tuple(self._unknown() for _ in range(array_type(array).ndim))
        self._in_range(known, array, forms)
        while isinstance(view := self.found.owner[array], View) and view.out == array:
            forms = self._underneath(view, forms)
            array = view.array
            self._in_range(known, array, forms)
        for inner, block in zip(place.around, place.within[1:], strict=True):
            if isinstance(inner, If):
                known.include(self.conditions.implied(inner.cond, block is inner.then))
        self._gather(known, {v for f in forms if f for v in f.variables}, place.around)
        return Access(forms, known, place)

    def _in_range(self, known: System, array: Var, forms: Forms) -> None:
        for form, extent in zip(forms, self._extents(array), strict=True):
            if form is not None:
                known.at_least(form)
                if extent is not None:
                    known.below(form, extent)

    def _extents(self, array: Var) -> Forms:
        shape = self.shapes.get(array, (None,) * array_type(array).ndim)
        return tuple(None if e is None else self.conditions.form(e) for e in shape)

    def _underneath(self, view: View, forms: Forms) -> Forms:
        """The indices into the array that `view` shows, from those into the view."""
        match view.how:
            case Permute(axes=axes):
                place = dict(zip(axes, forms, strict=True))
                return tuple(place[axis] for axis in range(len(axes)))
            case Subscript(items=items):
                given, found = iter(forms), list[Linear | None]()
                for item in items:
                    match item:
                        case Index(at=at):
                            found.append(self.conditions.form(at))
                        case NewAxis():
                            next(given)
                        case Slice(start=start, step=Const(value=step)):
                            form = next(given)
                            begin = self.conditions.form(start)
                            found.append(None if form is None else begin.plus(form, int(step.real)))
                        case Slice():
                            next(given)
                            found.append(None)
                return tuple(found)
            case _:
                return (None,) * array_type(view.array).ndim

    def _gather(self, known: System, names: set[Var], around: tuple[Stmt, ...]) -> None:
        """Adds what holds of every integer that the system speaks of."""
        names |= variables_of(known) | {loop.index for loop in self.found.loops(around)}
        done: set[Var] = set()
        while (rest := names - done) and len(known.rows) + len(known.equalities) < MOST_ROWS:
            var = min(rest, key=lambda v: v.id)
            done.add(var)
            if var.id >= 0 and var.type == INT:
                made = self.conditions.defined(var)
                known.include(made)
                names |= variables_of(made)

    def _unknown(self) -> Linear:
        self._fresh -= 1
        return Linear(((Var(self._fresh, INT, "k"), 1),))


def _renamed(system: System, values: Mapping[Var, Linear]) -> System:
    if not values:
        return system
    return System(
        (row.replaced(values) for row in system.rows),
        (row.replaced(values) for row in system.equalities),
        (tuple(_renamed(o, values) for o in options) for options in system.choices),
    )
