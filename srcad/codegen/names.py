"""The user's names, made unique in one generated function."""

import keyword

from srcad.codegen.variables import Variables
from srcad.ir.nodes import Var

RESERVED = frozenset(
    ("math", "np", "range", "float", "int", "bool", "abs", "min", "compiled", "cast", "_")
)


class Names:
    """Python names of values: `x`, `x_2`, `x_3` where hints meet.

    Values of one class (`Variables`) have one name. Loops one after the other use the same counter.
    """

    def __init__(self, variables: Variables, taken: frozenset[str]) -> None:
        self.variables = variables
        self.taken = set(taken | RESERVED)
        self.of: dict[Var, str] = {}
        self._counters: dict[str, list[Var]] = {}

    def name(self, var: Var) -> str:
        root = self.variables.root(var)
        if root not in self.of:
            self.of[root] = self.fresh(self._hint(root))
        return self.of[root]

    def bind(self, var: Var, name: str) -> None:
        """Gives a parameter the name that callers know."""
        self.of[self.variables.root(var)] = name

    def _hint(self, root: Var) -> str:
        """The first telling hint of a class."""
        members = self.variables.members.get(root, [root])
        return next((var.hint for var in members if var.hint != "t"), "t")

    def counter(self, var: Var, hint: str) -> str:
        """The name of a loop's counter, shared with loops that are not around it."""
        base = plain(hint)
        name, count = base, 1
        while name in self.taken:
            others = self._counters.get(name)
            if others and not any(self.variables.apart(var, other) for other in others):
                break
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        self._counters.setdefault(name, []).append(var)
        self.bind(var, name)
        return name

    def fresh(self, hint: str) -> str:
        """A name that is not in use."""
        base = plain(hint)
        name, count = base, 1
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        return name


def plain(hint: str) -> str:
    """A hint that may be a name, without a number at its end."""
    return hint if hint.isidentifier() and not keyword.iskeyword(hint) else "t"
