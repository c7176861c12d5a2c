"""The user's names, made unique in one generated function."""

import keyword

from srcad.ir.nodes import Var

RESERVED = frozenset(("math", "np", "range", "float", "int", "bool", "abs", "compiled"))


class Names:
    """Maps variables to Python names; `x`, `x_2`, `x_3` where hints meet."""

    def __init__(self, taken: frozenset[str]) -> None:
        self.taken = set(taken | RESERVED)
        self.of: dict[Var, str] = {}

    def name(self, var: Var) -> str:
        if var not in self.of:
            self.of[var] = self.fresh(var.hint)
        return self.of[var]

    def fresh(self, hint: str) -> str:
        """A name that is not in use."""
        base = hint if hint.isidentifier() and not keyword.iskeyword(hint) else "t"
        name, count = base, 1
        while name in self.taken:
            count += 1
            name = f"{base}_{count}"
        self.taken.add(name)
        return name
