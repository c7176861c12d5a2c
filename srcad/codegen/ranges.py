"""Which `range` does a counted loop run over?

The IR counts from 0; the user's `range(a, b, s)` stands as `add(a, mul(index, s))` at the start of
the body, a reversed loop as `sub(stop - 1, index)`. Where the bare index is not used otherwise, the
loop runs over these values directly. `maximum(n, 0)` trips are n trips: a range may be empty.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from srcad.ir.nodes import Atom, Const, For, Let, Stmt, Var, const
from srcad.ir.types import INT


@dataclass(frozen=True)
class Linear:
    """A sum of integers: coefficients of variables, in order of appearance, and a constant."""

    terms: tuple[tuple[Var, int], ...] = ()
    constant: int = 0

    def plus(self, other: "Linear", factor: int = 1) -> "Linear":
        """self + factor * other."""
        sums = dict(self.terms)
        for var, count in other.terms:
            sums[var] = sums.get(var, 0) + factor * count
        terms = tuple((var, count) for var, count in sums.items() if count)
        return Linear(terms, self.constant + factor * other.constant)

    @property
    def atoms(self) -> tuple[Var, ...]:
        return tuple(var for var, _ in self.terms)

    @property
    def size(self) -> int:
        """How much there is to read."""
        return sum(1 + (abs(c) != 1) for _, c in self.terms) + (self.constant != 0)


@dataclass(frozen=True)
class Range:
    """`for var in range(start, stop, step)`; `absorbed` is the Let that the loop makes needless.

    `hint` is the user's name for `var`.
    """

    var: Var
    hint: str
    start: Linear
    stop: Linear
    step: int
    absorbed: Var | None = None

    @property
    def reads(self) -> tuple[Var, ...]:
        return (*self.start.atoms, *self.stop.atoms)

    @property
    def counts_up_from_constant(self) -> bool:
        """Whether LLVM sees that no value is negative."""
        return not self.start.terms and self.start.constant >= 0 and self.step > 0


Expand = Callable[[Var], bool]


def linear(
    atom: Atom, definitions: Mapping[Var, Stmt], expand: Expand, trips: Atom | None = None
) -> Linear:
    """An integer as a sum; a variable for which `expand` does not hold is a term of its own.

    `trips`, if it is `maximum(n, 0)`, stands for n.
    """
    if isinstance(atom, Const):
        return Linear((), int(atom.value.real))
    stmt = definitions.get(atom)
    if atom == trips and isinstance(stmt, Let) and stmt.op == "maximum":
        return linear(stmt.args[0], definitions, expand) if stmt.args[1] == const(0) else _one(atom)
    if isinstance(stmt, Let) and atom.type == INT and expand(atom):
        match stmt.op, stmt.args:
            case ("add" | "sub") as op, (left, right):
                first = linear(left, definitions, expand, trips)
                other = linear(right, definitions, expand, trips)
                return first.plus(other, 1 if op == "add" else -1)
            case "neg", (only,):
                return Linear().plus(linear(only, definitions, expand, trips), -1)
            case ("mul", (Const(value=value), other)) | ("mul", (other, Const(value=value))):
                return Linear().plus(linear(other, definitions, expand, trips), int(value.real))
    return _one(atom)


def _one(var: Var) -> Linear:
    return Linear(((var, 1),))


def find(
    loop: For, definitions: Mapping[Var, Stmt], uses: Mapping[Var, int], inside: frozenset[Var]
) -> Range:
    """The range of a loop; `inside` are the variables that its body defines."""
    var, hint, absorbed = _followed(loop, uses)
    plain = Range(loop.index, loop.index.hint, Linear(), _trips(loop.stop, definitions, 1), 1)
    if absorbed is None or not uses.get(var):
        return plain
    found = []
    for expand, trips in (
        (lambda v: v in inside, None),
        (lambda v: v != loop.index, None),
        (lambda v: v != loop.index, loop.stop),
    ):
        value = linear(var, definitions, expand, trips)
        step = dict(value.terms).get(loop.index, 0)
        start = Linear(tuple(t for t in value.terms if t[0] != loop.index), value.constant)
        if step == 0 or any(v in inside for v in start.atoms):
            continue
        size = abs(step)
        for length in (
            Linear().plus(linear(loop.stop, definitions, lambda v: False, trips), size),
            _trips(loop.stop, definitions, size),
        ):
            stop = start.plus(length, step // size)
            found.append(Range(var, hint, start, stop, step, absorbed))
    return min(reversed(found), key=_size, default=plain)


def _size(made: Range) -> int:
    return made.start.size + made.stop.size


def _followed(loop: For, uses: Mapping[Var, int]) -> tuple[Var, str, Var | None]:
    """The value that the user's loop variable has, from the Lets that make it of the index."""
    var, absorbed, stage = loop.index, None, 0
    hints = [var.hint]
    for stmt in loop.body.stmts:
        if not isinstance(stmt, Let):
            break
        if var not in stmt.args or uses.get(var) != 1 or stmt.out.type != INT:
            continue
        match stmt.op, stmt.args:
            case "sub", (_, v) if v == var and stage < 1:
                stage = 1
            case "mul", (v, Const()) if v == var and stage < 2:
                stage = 2
            case "add", (_, v) if v == var and stage < 3:
                stage = 3
            case _:
                break
        var = absorbed = stmt.out
        hints.append(var.hint)
    telling = [hint for hint in hints if hint not in ("t", "back")]
    return var, telling[0] if telling else hints[-1], absorbed


def _trips(stop: Atom, definitions: Mapping[Var, Stmt], step: int) -> Linear:
    """Where a range in steps of `step` from 0 may end that makes `stop` steps."""
    count = stop
    made = definitions.get(stop) if isinstance(stop, Var) else None
    if isinstance(made, Let) and made.op == "maximum" and made.args[1] == const(0):
        count = made.args[0]
        made = definitions.get(count) if isinstance(count, Var) else None
    if step == 1:
        return linear(count, definitions, lambda v: count != stop)
    if isinstance(made, Let) and made.op == "floordiv" and made.args[1] == const(step):
        return linear(made.args[0], definitions, lambda v: True).plus(Linear((), 1 - step))
    return Linear().plus(linear(stop, definitions, lambda v: False), step)
