"""Integer arithmetic as linear forms, and whether a set of linear conditions can hold at all.

`System.infeasible` is the test behind every proof here: to show something, add its negation. It is
exact in integers and sound: True means that no integers satisfy the rows; False may also mean that
it gave up. Equalities are substituted, inequalities eliminated by Fourier-Motzkin, every row
divided by the greatest common divisor of its coefficients. Overflow of int64 is not considered.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from math import gcd

from srcad.ir.nodes import Atom, Const, Let, Stmt, Var
from srcad.ir.types import INT

MOST_ROWS = 200
MOST_TRIALS = 40  # combinations of choices
DEEPEST = 50  # nested operations that `read` looks through


@dataclass(frozen=True, slots=True)
class Linear:
    """The sum of coefficient * variable over `terms`, ordered by variable, and a constant."""

    terms: tuple[tuple[Var, int], ...] = ()
    constant: int = 0

    def plus(self, other: "Linear", factor: int = 1) -> "Linear":
        """self + factor * other."""
        if not other.terms:
            return Linear(self.terms, self.constant + factor * other.constant)
        sums = dict(self.terms)
        for var, count in other.terms:
            sums[var] = sums.get(var, 0) + factor * count
        return linear(sums, self.constant + factor * other.constant)

    def times(self, factor: int) -> "Linear":
        """factor * self."""
        if factor == 0:
            return Linear()
        terms = tuple((var, factor * count) for var, count in self.terms)
        return Linear(terms, factor * self.constant)

    def negated(self) -> "Linear":
        """The form that is >= 0 where this one is < 0."""
        return self.times(-1).plus(number(1), -1)

    def coefficient(self, var: Var) -> int:
        """The factor of a variable, 0 where it does not occur."""
        return next((count for other, count in self.terms if other == var), 0)

    def without(self, var: Var) -> "Linear":
        """The form with the variable set to 0."""
        return Linear(tuple(term for term in self.terms if term[0] != var), self.constant)

    def replaced(self, values: Mapping[Var, "Linear"]) -> "Linear":
        """The form with forms put in for some of its variables."""
        total = Linear((), self.constant)
        for var, count in self.terms:
            value = values.get(var)
            total = total.plus(Linear(((var, 1),)) if value is None else value, count)
        return total

    @property
    def variables(self) -> tuple[Var, ...]:
        return tuple(var for var, _ in self.terms)


def linear(terms: Mapping[Var, int], constant: int = 0) -> Linear:
    """A form from coefficients in any order."""
    kept = [term for term in terms.items() if term[1]]
    return Linear(tuple(sorted(kept, key=lambda term: term[0].id)), constant)


def number(value: int) -> Linear:
    """A form without variables."""
    return Linear((), value)


def read(atom: Atom, definitions: Mapping[Var, Stmt]) -> Linear:
    """An int64 atom as a form; what is not affine is a variable of its own.

    `definitions` maps variables to the statements that define them; a variable without one is
    left as it is.
    """
    return _read(atom, definitions, DEEPEST)


def _read(atom: Atom, definitions: Mapping[Var, Stmt], depth: int) -> Linear:
    if isinstance(atom, Const):
        return Linear((), int(atom.value.real))
    stmt = definitions.get(atom)
    if isinstance(stmt, Let) and atom.type == INT and depth:
        match stmt.op, stmt.args:
            case ("add" | "sub") as op, (left, right):
                first = _read(left, definitions, depth - 1)
                other = _read(right, definitions, depth - 1)
                return first.plus(other, 1 if op == "add" else -1)
            case "neg", (only,):
                return _read(only, definitions, depth - 1).times(-1)
            case "mul", (left, right):
                first = _read(left, definitions, depth - 1)
                other = _read(right, definitions, depth - 1)
                if not first.terms:
                    return other.times(first.constant)
                if not other.terms:
                    return first.times(other.constant)
    return Linear(((atom, 1),))


class System:
    """Conditions on integers: `rows` are >= 0, `equalities` are 0; at least one of each choice.

    A choice is a tuple of alternatives, each a System; with none of them nothing can hold.
    """

    def __init__(
        self,
        rows: Iterable[Linear] = (),
        equalities: Iterable[Linear] = (),
        choices: Iterable[tuple["System", ...]] = (),
    ) -> None:
        self.rows = list(rows)
        self.equalities = list(equalities)
        self.choices = list(choices)

    def copy(self) -> "System":
        return System(self.rows, self.equalities, self.choices)

    def at_least(self, form: Linear, other: Linear | int = 0) -> "System":
        """Adds form >= other; returns the system itself."""
        self.rows.append(form.plus(_form(other), -1))
        return self

    def below(self, form: Linear, other: Linear | int) -> "System":
        """Adds form < other."""
        self.rows.append(_form(other).plus(form, -1).plus(number(1), -1))
        return self

    def equal(self, form: Linear, other: Linear | int = 0) -> "System":
        """Adds form == other."""
        self.equalities.append(form.plus(_form(other), -1))
        return self

    def include(self, other: "System") -> "System":
        """Adds everything that the other system says."""
        self.rows += other.rows
        self.equalities += other.equalities
        self.choices += other.choices
        return self

    def infeasible(self) -> bool:
        """Whether no integers satisfy the system. Cost: below a millisecond as a rule.

        With choices, every way to choose must contradict itself; few ways are looked at.
        """
        return self._refuted(self.choices, [MOST_TRIALS])

    def _refuted(self, choices: list[tuple["System", ...]], left: list[int]) -> bool:
        left[0] -= 1
        if left[0] < 0:
            return False
        if _contradictory(tuple(self.rows), tuple(self.equalities)):
            return True
        if not choices:
            return False
        first, *rest = choices
        for option in first:
            chosen = System(self.rows + option.rows, self.equalities + option.equalities)
            if not chosen._refuted(option.choices + rest, left):
                return False
        return True


def _form(value: Linear | int) -> Linear:
    return number(value) if isinstance(value, int) else value


@lru_cache(maxsize=20_000)  # passes that run in turn ask the same again
def _contradictory(rows: tuple[Linear, ...], equalities: tuple[Linear, ...]) -> bool:
    table = _substituted(rows, equalities)
    if table is None:
        return True
    while table:
        if () in table:
            return True
        found = _cheapest(table)
        if found is None:
            return False
        eliminated = _eliminated(table, found)
        if len(eliminated) > MOST_ROWS:
            return False
        table = eliminated
    return False


Terms = tuple[tuple[Var, int], ...]
Table = dict[Terms, int]  # coefficients -> the smallest constant: the strongest of parallel rows


def _add(table: Table, row: Linear) -> None:
    """Adds a row divided by the common divisor of its coefficients, rounded inwards."""
    divisor = gcd(*(count for _, count in row.terms))
    terms, constant = row.terms, row.constant
    if divisor > 1:
        terms = tuple((var, count // divisor) for var, count in terms)
        constant //= divisor
    if not terms and constant >= 0:
        return  # what stays without variables is a contradiction
    before = table.get(terms)
    if before is None or constant < before:
        table[terms] = constant


def _substituted(rows: Sequence[Linear], equalities: Sequence[Linear]) -> Table | None:
    """The inequalities with every equality solved and put in; None: the equalities contradict."""
    left, todo = list(rows), list(equalities)
    while todo:
        place = next((k for k, e in enumerate(todo) if _unit(e) is not None), 0)
        equality = todo.pop(place)
        divisor = gcd(*(count for _, count in equality.terms))
        if equality.constant % divisor if divisor else equality.constant:
            return None
        if not equality.terms:
            continue
        var = _unit(equality) or equality.terms[0][0]
        todo = [_without(e, equality, var) for e in todo]
        left = [_without(row, equality, var) for row in left]
    table: Table = {}
    for row in left:
        _add(table, row)
    return table


def _unit(equality: Linear) -> Var | None:
    return next((var for var, count in equality.terms if abs(count) == 1), None)


def _without(form: Linear, equality: Linear, var: Var) -> Linear:
    """A positive multiple of the form with `var` eliminated by the equality."""
    count = form.coefficient(var)
    if not count:
        return form
    own = equality.coefficient(var)
    factor = -count if own > 0 else count
    return form.times(abs(own)).plus(equality, factor)


def _cheapest(table: Table) -> Var | None:
    """The variable whose elimination makes the fewest rows."""
    above: dict[Var, int] = {}
    below: dict[Var, int] = {}
    for terms in table:
        for var, count in terms:
            side = above if count > 0 else below
            side[var] = side.get(var, 0) + 1
    names = above.keys() | below.keys()

    def cost(var: Var) -> tuple[int, int]:
        up, down = above.get(var, 0), below.get(var, 0)
        return up * down - up - down, var.id

    return min(names, key=cost, default=None)


def _eliminated(table: Table, var: Var) -> Table:
    """All combinations of rows in which the variable cancels."""
    found: Table = {}
    above: list[Linear] = []
    below: list[Linear] = []
    for terms, constant in table.items():
        row = Linear(terms, constant)
        count = row.coefficient(var)
        if count:
            (above if count > 0 else below).append(row)
        else:
            _add(found, row)
    for up in above:
        count = up.coefficient(var)
        for down in below:
            other = -down.coefficient(var)
            _add(found, up.times(other).plus(down, count))
            if len(found) > MOST_ROWS:
                return found
    return found
