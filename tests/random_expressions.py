"""What a random program has in scope, and random expressions of it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

from hypothesis import strategies as st

Shape = tuple[int, ...]
BOUNDED = ("math.sin", "math.cos", "math.tanh")


@dataclass(frozen=True)
class Kind:
    """Of an array."""

    shape: Shape
    single: bool = False

    def of(self, shape: Shape) -> "Kind":
        return replace(self, shape=shape)


VECTOR = Kind((4,))


class Expressions:
    """Names in scope are those that every path has set."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self.draw = draw
        self.lines = ["def f(x, a, p, b, q, n):"]
        self.indent = 1
        self.scalars = ["p"]
        self.arrays: dict[str, Kind] = {"x": VECTOR, "a": Kind((3, 4))}
        if self.choose(False, False, True):  # both precisions: compared less closely
            self.scalars.append("q")
            self.arrays["b"] = Kind((4,), single=True)
        self.indices: dict[str, int] = {}  # 0 <= i < bound
        self.lists: list[str] = []  # of numbers, may be empty
        self.rows: list[str] = []  # of arrays of four, may be empty
        self.loops: list[bool] = []  # around: whether `continue` is safe
        self.fresh = 0
        self.depth = 0
        self.shape_of_result = self.choose("number", "number", "array", "pair", "twice")

    def choose(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def say(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def name(self, kind: str) -> str:
        self.fresh += 1
        return f"{kind}{self.fresh}"

    @contextmanager
    def scope(self) -> Iterator[None]:
        """An indented block: names first set inside are forgotten behind it."""
        saved = (
            *(list(self.scalars), dict(self.arrays), dict(self.indices)),
            *(list(self.lists), list(self.rows), self.depth),
        )
        self.indent += 1
        yield
        self.indent -= 1
        self.scalars, self.arrays, self.indices, self.lists, self.rows, self.depth = saved

    @contextmanager
    def perhaps(self, condition: str) -> Iterator[None]:
        """What is said inside runs always, or under the condition."""
        under = self.choose(True, False)
        if under:
            self.say(condition)
        self.indent += under
        yield
        self.indent -= under

    @contextmanager
    def loop(self, *, continues: bool = True) -> Iterator[None]:
        self.loops.append(continues)
        yield
        self.loops.pop()

    def like(self, kind: Kind) -> list[str]:
        return [n for n, k in self.arrays.items() if k == kind]

    # -- numbers

    def position(self, extent: int) -> str:
        """An index that lies in [-extent, extent)."""
        fitting = [i for i, bound in self.indices.items() if bound <= extent]
        kind = self.choose("constant", "loop", "loop", "loop", "wrapped", "data")
        if kind == "data":
            return f"int(3.0 * abs({self.choose(*self.scalars)})) % {extent}"
        if kind == "wrapped" and self.indices:
            return f"({self.choose(*self.indices)} + {self.choose(1, 2)}) % {extent}"
        if kind == "loop" and fitting:
            i = self.choose(*fitting)
            return str(self.choose(i, f"{i} - 1", f"{extent - 1} - {i}"))
        return str(self.draw(st.integers(-extent, extent - 1)))

    def element(self) -> str:
        name = self.choose(*self.arrays)
        return f"{name}[{', '.join(map(self.position, self.arrays[name].shape))}]"

    def expression(self, depth: int = 2) -> str:
        kinds = ("element", "scalar", "literal", "sum", "product", "call", "quotient", "choice")
        kind = self.choose(*kinds[: 8 if depth else 3])
        if kind == "element":
            return self.element()
        if kind == "scalar":
            return str(self.choose(*self.scalars, *self.indices))
        if kind == "literal":
            return str(self.choose("0.5", "-1.3", "2", "0.1"))
        left, right = self.expression(depth - 1), self.expression(depth - 1)
        match kind:
            case "sum":
                return f"({left} {self.choose('+', '-')} {right})"
            case "product":
                return str(self.choose(f"{left} * {right}", f"({left}) ** 2"))
            case "call":
                functions = (*BOUNDED, "abs", "np.sin")
                return self.choose(f"{self.choose(*functions)}({left})", f"max({left}, {right})")
            case "quotient":
                return f"{left} / (1.0 + ({right}) ** 2)"
            case _:
                return f"({left} if {self.condition(0)} else {right})"

    def bounded(self, depth: int = 2) -> str:
        return f"{self.choose(*BOUNDED)}({self.expression(depth)})"

    def condition(self, depth: int = 1) -> str:
        kind = self.choose("index", "index", "element", "numbers", "numbers", "numbers")
        if kind == "index" and self.indices:
            return f"{self.choose(*self.indices)} % 2 == {self.choose(0, 1)}"
        if kind == "element" and self.indices:  # the second half must not run alone
            i, name = self.choose(*self.indices), self.choose(*self.arrays)
            rest = "".join(f", {self.position(m)}" for m in self.arrays[name].shape[1:])
            return f"{i} + 1 < {name}.shape[0] and {name}[{i} + 1{rest}] > {self.expression(0)}"
        sign = self.choose("<", ">", "<=")
        first = f"{self.expression(depth)} {sign} {self.expression(depth)}"
        if depth and self.choose(False, False, True):
            return f"{first} {self.choose('and', 'or')} {self.condition(0)}"
        return first

    # -- arrays

    def whole(self, kind: Kind) -> str:
        """An array expression of this kind."""
        same = self.like(kind)
        first = self.choose(*same)
        numbers = ["q"] if kind.single else self.scalars
        second = self.choose(*same, *(name for name in numbers if name in self.scalars))
        return str(
            self.choose(
                f"np.sin({first})", f"{first} * {second}", f"np.tanh({first} - {second}) + {first}"
            )
        )

    def vector(self) -> str:
        """The name of an array of four in double precision."""
        return str(self.choose(*self.like(VECTOR)))

    def pair_of_views(self) -> tuple[str, str]:
        """Two arrays of one length, of double precision: often of the same memory."""
        first, second = self.vector(), self.vector()
        parts = (("", ""), ("[1:]", "[:-1]"), ("[:-1]", "[1:]"), ("[::-1]", ""), ("[:2]", "[1:3]"))
        left, right = self.choose(*parts)
        return f"{first}{left}", f"{self.choose(first, second)}{right}"
