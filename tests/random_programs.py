"""Small random Python functions: nested loops, branches, element writes, views, early exits.

Every program reads `x` (4,), `a` (3, 4) and a number `p`, and runs without error: indices are in
range by construction, what is assigned passes through a bounded function, trip counts are small.
"""

import linecache
import math
import zlib
from collections.abc import Callable
from contextlib import contextmanager
from typing import Any

import numpy as np
from hypothesis import strategies as st

Shape = tuple[int, ...]
BOUNDED = ("math.sin", "math.cos", "math.tanh")
DEPTH = 3  # loops and branches inside each other
STATEMENTS = 5  # at most, in one block


class Writer:
    """Writes one function; the names in scope are those that every path has set."""

    def __init__(self, draw: Callable[[Any], Any]) -> None:
        self.draw = draw
        self.lines = ["def f(x, a, p):"]
        self.indent = 1
        self.scalars = ["p"]
        self.arrays: dict[str, Shape] = {"x": (4,), "a": (3, 4)}
        self.indices: dict[str, int] = {}  # loop variables: 0 <= i < bound
        self.fresh = 0
        self.in_for = False

    def choose(self, *options: Any) -> Any:
        return self.draw(st.sampled_from(options))

    def say(self, line: str) -> None:
        self.lines.append("    " * self.indent + line)

    def name(self, kind: str) -> str:
        self.fresh += 1
        return f"{kind}{self.fresh}"

    @contextmanager
    def scope(self) -> Any:
        """An indented block: names first set inside are forgotten behind it."""
        saved = list(self.scalars), dict(self.arrays), dict(self.indices), self.in_for
        self.indent += 1
        yield
        self.indent -= 1
        self.scalars, self.arrays, self.indices, self.in_for = saved

    # -- expressions

    def position(self, extent: int) -> str:
        """An index that lies in [-extent, extent)."""
        fitting = [i for i, bound in self.indices.items() if bound <= extent]
        kind = self.choose("constant", "loop", "loop", "loop", "wrapped", "data")
        if kind == "data" and self.scalars:
            return f"int(3.0 * abs({self.choose(*self.scalars)})) % {extent}"
        if kind == "wrapped" and self.indices:
            return f"({self.choose(*self.indices)} + {self.choose(1, 2)}) % {extent}"
        if kind == "loop" and fitting:
            i = self.choose(*fitting)
            return str(self.choose(i, f"{i} - 1", f"{extent - 1} - {i}"))
        return str(self.draw(st.integers(-extent, extent - 1)))

    def element(self) -> str:
        name = self.choose(*self.arrays)
        return f"{name}[{', '.join(map(self.position, self.arrays[name]))}]"

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

    def condition(self, depth: int = 1) -> str:
        if self.indices and self.choose(True, False):
            return f"{self.choose(*self.indices)} % 2 == {self.choose(0, 1)}"
        sign = self.choose("<", ">", "<=")
        first = f"{self.expression(depth)} {sign} {self.expression(depth)}"
        if depth and self.choose(False, False, True):
            return f"{first} {self.choose('and', 'or')} {self.condition(0)}"
        return first

    def whole(self, shape: Shape) -> str:
        """An array expression of this shape."""
        same = [n for n, s in self.arrays.items() if s == shape]
        first = self.choose(*same)
        second = self.choose(*same, *self.scalars)
        return str(
            self.choose(
                f"np.sin({first})", f"{first} * {second}", f"np.tanh({first} - {second}) + {first}"
            )
        )

    # -- statements

    def block(self, depth: int) -> None:
        for _ in range(self.draw(st.integers(1, STATEMENTS))):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        simple = ("scalar", "augmented", "store", "update", "whole", "view", "new", "rebind")
        nested = ("for", "for", "if", "while", "leave", "return") if depth else ()
        getattr(self, f"write_{self.choose(*simple, *nested)}")(depth)

    def write_scalar(self, depth: int) -> None:
        name = self.choose(*self.scalars, self.name("s"))
        self.say(f"{name} = {self.choose(*BOUNDED)}({self.expression()})")
        if name not in self.scalars:
            self.scalars.append(name)

    def write_augmented(self, depth: int) -> None:
        sign = self.choose("+=", "-=", "*=")
        self.say(
            f"{self.choose(*self.scalars)} {sign} {self.choose(*BOUNDED)}({self.expression()})"
        )

    def write_store(self, depth: int) -> None:
        self.say(f"{self.element()} = {self.choose(*BOUNDED)}({self.expression()})")

    def write_update(self, depth: int) -> None:
        sign = self.choose("+=", "-=", "*=")
        self.say(f"{self.element()} {sign} {self.choose(*BOUNDED)}({self.expression()})")

    def write_whole(self, depth: int) -> None:
        name = self.choose(*self.arrays)
        shape = self.arrays[name]
        target = f"{name}[{', '.join(':' for _ in shape)}]"
        self.say(f"{target} = np.cos({self.whole(shape)})")

    def write_view(self, depth: int) -> None:
        source = self.choose(*self.arrays)
        shape = self.arrays[source]
        if len(shape) == 1 and shape[0] > 1:
            taken: tuple[str, Shape] = self.choose(
                ("1:", (shape[0] - 1,)), (":-1", (shape[0] - 1,)), (":2", (2,))
            )
            how, made = f"[{taken[0]}]", taken[1]
        elif len(shape) == 2:
            how, made = self.choose(
                (".T", shape[::-1]),
                (f"[{self.position(shape[0])}]", shape[1:]),
                (f"[:, {self.position(shape[1])}]", shape[:1]),
                ("[1:, :2]", (shape[0] - 1, 2)),
            )
        else:
            return self.write_update(depth)
        name = self.name("v")
        self.say(f"{name} = {source}{how}")
        self.arrays[name] = made

    def write_new(self, depth: int) -> None:
        name, like = self.name("u"), self.choose(*self.arrays)
        shape = self.arrays[like]
        self.say(
            f"{name} = "
            + self.choose(f"{like}.copy()", f"np.zeros({shape})", f"np.cos({self.whole(shape)})")
        )
        self.arrays[name] = shape

    def write_rebind(self, depth: int) -> None:
        """A name for another array of the same shape: fresh, another's, or exchanged."""
        name = self.choose(*self.arrays)
        shape = self.arrays[name]
        other = self.choose(*(n for n, s in self.arrays.items() if s == shape))
        self.say(
            self.choose(
                f"{name} = np.cos({self.whole(shape)})",
                f"{name} = {name} + 0.1 * np.sin({other})",
                f"{name}, {other} = {other}, {name}",
                f"{name} = {other}",
                f"{name} = {other} if {self.condition(0)} else {name}",
            )
        )

    def write_for(self, depth: int) -> None:
        name, n = self.name("i"), self.draw(st.integers(0, 4))
        options = [(f"{n}", n), (f"{n}, -1, -1", n + 1), (f"1, {n}", max(n, 1)), ("x.size", 4)]
        options += [(f"{i} + 1", bound) for i, bound in self.indices.items()]
        text, bound = self.choose(*options)
        self.say(f"for {name} in range({text}):")
        with self.scope():
            self.indices[name], self.in_for = bound, True
            self.block(depth - 1)

    def write_if(self, depth: int) -> None:
        self.say(f"if {self.condition()}:")
        with self.scope():
            self.block(depth - 1)
        if self.choose(True, False):
            self.say("else:")
            with self.scope():
                self.block(depth - 1)

    def write_while(self, depth: int) -> None:
        count = self.name("k")
        self.say(f"{count} = 0")
        self.say(f"while {count} < {self.choose(1, 3)} and {self.condition(0)}:")
        with self.scope():
            self.indices[count], self.in_for = 4, True
            self.say(f"{count} += 1")
            self.block(depth - 1)

    def write_leave(self, depth: int) -> None:
        if not self.in_for:
            return self.write_scalar(depth)
        self.say(f"if {self.condition(0)}:")
        self.say(f"    {self.choose('break', 'continue')}")

    def write_return(self, depth: int) -> None:
        self.say(f"if {self.condition(0)}:")
        self.say(f"    return {self.result}")

    def whole_program(self) -> str:
        self.result = "p * np.sum(x) + np.sum(a)"  # also of early returns
        self.say("s = 0.5")
        self.scalars.append("s")
        for _ in range(self.draw(st.integers(2, STATEMENTS))):
            self.statement(DEPTH)
        used = [f"np.sum({n} * {n})" for n in self.arrays]
        self.say(f"return {self.result} + {' + '.join((*self.scalars, *used))}")
        return "\n".join(self.lines) + "\n"


@st.composite
def sources(draw: Callable[[Any], Any]) -> str:
    """The text of a function `f(x, a, p)` with a scalar result."""
    return Writer(draw).whole_program()


def loaded(text: str) -> Callable[..., Any]:
    """The function, with its source where the tracer looks for it."""
    name = f"random-{zlib.crc32(text.encode()):08x}.py"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"math": math, "np": np}
    exec(compile(text, name, "exec"), space)
    return space["f"]


def arguments() -> tuple[Any, ...]:
    """Fresh arguments for every random program."""
    x = np.array([0.3, -0.7, 1.1, 0.45])
    a = np.array([[0.2, -0.5, 0.9, 0.1], [1.2, 0.35, -0.25, 0.6], [-0.8, 0.75, 0.15, -0.4]])
    return x, a, 0.65
