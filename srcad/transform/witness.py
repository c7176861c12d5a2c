"""Small integers that satisfy a system: a quick answer to questions that no proof can settle.

Values are made as the program makes them, from a few small numbers for what is free (extents,
arguments, loaded integers), so most of what is known of them holds by itself.
"""

from collections.abc import Callable, Mapping
from typing import Any

from srcad.ir.nodes import Atom, Const, For, If, Let, Stmt, Var, While
from srcad.transform.affine import Linear, System

TRIALS = 24
SPREAD = 2654435761  # Knuth's multiplicative hash: different values for different variables


class Contradiction(Exception):
    """These numbers do not occur together: a loop that does not run has no index."""


def witness(system: System, definitions: Mapping[Var, Stmt]) -> bool:
    """Whether integers that satisfy the system were found."""
    for trial in range(TRIALS):
        numbers = Numbers(definitions, trial)
        try:
            if numbers.satisfies(system):
                return True
        except Contradiction:
            continue
    return False


class Numbers:
    def __init__(self, definitions: Mapping[Var, Stmt], trial: int) -> None:
        self.definitions, self.trial = definitions, trial
        self.values: dict[Var, int] = {}

    def satisfies(self, system: System) -> bool:
        return (
            all(self.sum(row) >= 0 for row in system.rows)
            and all(self.sum(row) == 0 for row in system.equalities)
            and all(any(map(self.satisfies, choice)) for choice in system.choices)
        )

    def sum(self, form: Linear) -> int:
        return form.constant + sum(count * self.var(var) for var, count in form.terms)

    def atom(self, atom: Atom) -> int:
        return int(atom.value.real) if isinstance(atom, Const) else self.var(atom)

    def var(self, var: Var) -> int:
        if var not in self.values:
            self.values[var] = self.made(var)
        return self.values[var]

    def free(self, var: Var, low: int, high: int) -> int:
        """A number in [low, high]: small and equal ones first, then spread."""
        if self.trial < 4:
            return min(max(self.trial, low), high)
        return low + (var.id * SPREAD + self.trial * 40503 >> 8) % (high - low + 1)

    def made(self, var: Var) -> int:
        match self.definitions.get(var):
            case For(index=index, stop=stop) if var == index:
                trips = self.atom(stop)
                if trips <= 0:
                    raise Contradiction
                return self.free(var, 0, trips - 1)
            case While(index=index, trips=trips) if var in (index, trips):
                return self.free(var, 0, 4)
            case If(cond=cond, then=then, orelse=orelse, outs=outs):
                arm = then if self.atom(cond) else orelse
                return self.atom(arm.results[outs.index(var)])
            case Let(op="dim"):
                return self.free(var, 0, 6)
            case Let(op=op, args=args) if op in MEANING:
                numbers = [self.atom(arg) for arg in args]
                return int(MEANING[op](*numbers))
            case _:
                return self.free(var, -3, 6)


MEANING: dict[str, Callable[..., Any]] = {
    "add": lambda a, b: a + b,
    "sub": lambda a, b: a - b,
    "mul": lambda a, b: a * b,
    "neg": lambda a: -a,
    "abs": abs,
    "maximum": max,
    "minimum": min,
    "wrap": lambda i, n: i + n if i < 0 else i,
    "within": lambda i, n: 0 <= i < n,
    "select": lambda c, a, b: a if c else b,
    "floordiv": lambda a, b: a // b if b else 0,
    "mod": lambda a, b: a % b if b else 0,
    "remainder": lambda a, b, q: a % b if b else 0,
    "cast": lambda a: a,
    "lt": lambda a, b: a < b,
    "le": lambda a, b: a <= b,
    "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b,
    "eq": lambda a, b: a == b,
    "ne": lambda a, b: a != b,
    "and": lambda a, b: a and b,
    "or": lambda a, b: a or b,
    "not": lambda a: not a,
}  # fmt: skip
