"""Random Python functions, as people write them, from a grammar; all run without error.

Every program reads the arguments below: indices are in range by construction, what is assigned
passes through a bounded function, trip counts are small. The idioms of whole programs (buffers that
change roles, lists that grow, helpers that write) are in `random_idioms`.
"""

import linecache
import math
import zlib
from collections.abc import Callable
from typing import Any

import numpy as np
from hypothesis import strategies as st
from random_idioms import HELPERS, Idioms

DEPTH = 3  # loops and branches inside each other
STATEMENTS = 5  # at most, in one block


class Writer(Idioms):
    """Writes one function."""

    # -- blocks

    def block(self, depth: int) -> None:
        for _ in range(self.draw(st.integers(1, STATEMENTS))):
            self.statement(depth)

    def statement(self, depth: int) -> None:
        simple = (
            *("scalar", "augmented", "store", "update", "whole", "view", "new", "rebind"),
            *(
                "shifted",
                "overlap",
                "append",
                "take",
                "call",
                "recursion",
                "packed",
                "walrus",
                "array_of",
            ),
        )
        nested = (
            *("for", "for", "if", "if", "while", "leave", "return", "swap", "parity", "best"),
            *("grow", "forever", "joined"),
        )
        self.depth = depth
        getattr(self, f"write_{self.choose(*simple, *(nested if depth else ()))}")()

    # -- simple statements

    def write_scalar(self) -> None:
        name = self.choose(*self.scalars, self.name("s"))
        self.say(f"{name} = {self.bounded()}")
        if name not in self.scalars:
            self.scalars.append(name)

    def write_augmented(self) -> None:
        sign = self.choose("+=", "-=", "*=")
        self.say(f"{self.choose(*self.scalars)} {sign} {self.bounded()}")

    def write_store(self) -> None:
        self.say(f"{self.element()} = {self.bounded()}")

    def write_update(self) -> None:
        sign = self.choose("+=", "-=", "*=")
        self.say(f"{self.element()} {sign} {self.bounded()}")

    def write_whole(self) -> None:
        name = self.choose(*self.arrays)
        target = f"{name}[{', '.join(':' for _ in self.arrays[name].shape)}]"
        self.say(f"{target} = np.cos({self.whole(self.arrays[name])})")

    def write_overlap(self) -> None:
        """A slice of an array from another slice of it: NumPy reads all before it writes."""
        name = self.choose(*(n for n, a in self.arrays.items() if len(a.shape) == 1))
        target, source = self.choose(
            ("1:", ":-1"), (":-1", "1:"), (":", "::-1"), ("::-1", ":"), ("::2", "::2")
        )
        c = self.choose("0.5", "-0.9", *self.scalars)
        self.say(
            self.choose(
                f"{name}[{target}] = {name}[{source}] * 0.9",
                f"{name}[{target}] += np.sin({name}[{source}] * {c})",
                f"{name}[{target}] *= np.tanh({name}[{source}] + {c})",
                f"{name}[{target}] = np.sin({name}[{source}]) * {c} + {name}[{target}] * 0.5",
            )
        )

    def write_view(self) -> None:
        source = self.choose(*self.arrays)
        kind = self.arrays[source]
        (n, *_) = shape = kind.shape
        if len(shape) == 1 and n > 1:
            how, made = self.choose(
                ("[1:]", (n - 1,)), ("[:-1]", (n - 1,)), ("[:2]", (2,)), ("[::-1]", (n,))
            )
        elif len(shape) == 2:
            how, made = self.choose(
                (".T", shape[::-1]),
                (f"[{self.position(shape[0])}]", shape[1:]),
                (f"[:, {self.position(shape[1])}]", shape[:1]),
                ("[1:, :2]", (n - 1, 2)),
                ("[::-2]", ((n + 1) // 2, shape[1])),
            )
        else:
            return self.write_update()
        name = self.name("v")
        self.say(f"{name} = {source}{how}")
        self.arrays[name] = kind.of(made)

    def write_new(self) -> None:
        name, like = self.name("u"), self.choose(*self.arrays)
        kind = self.arrays[like]
        dtype = ", np.float32" if kind.single else ""
        self.say(
            f"{name} = "
            + self.choose(
                f"{like}.copy()",
                f"np.zeros({kind.shape}{dtype})",
                f"np.zeros_like({like})",
                f"np.cos({self.whole(kind)})",
            )
        )
        self.arrays[name] = kind

    def write_rebind(self) -> None:
        """A name for another array of the same shape: fresh, another's, or exchanged."""
        name = self.choose(*self.arrays)
        kind = self.arrays[name]
        other = self.choose(*self.like(kind))
        self.say(
            self.choose(
                f"{name} = np.cos({self.whole(kind)})",
                f"{name} = {name} + 0.1 * np.sin({other})",
                f"{name}, {other} = {other}, {name}",
                f"{name} = {other}",
                f"{name} = {other} if {self.condition(0)} else {name}",
            )
        )

    def write_shifted(self) -> None:
        """The variable of a `for` loop is set inside of it, or behind it."""
        own = [i for i in self.indices if i[0] == "i"]
        if not own:
            return self.write_scalar()
        i = self.choose(*own)
        self.say(f"{i} = ({i} + 1) % {self.indices[i]}")

    def write_walrus(self) -> None:
        name, sign = self.name("w"), self.choose("<", ">")
        self.say(f"if ({name} := {self.bounded()}) {sign} {self.expression(1)}:")
        self.say(f"    {self.choose(*self.scalars)} = {name} * {self.expression(0)}")
        self.scalars.append(name)

    # -- loops and branches

    def write_for(self) -> None:
        name, n = self.name("i"), self.draw(st.integers(0, 4))
        options = [(f"{n}", n), (f"{n}, -1, -1", n + 1), (f"1, {n}", max(n, 1)), ("x.size", 4)]
        options += [(f"{i} + 1", bound) for i, bound in self.indices.items()]
        options += [(f"{i}, 4", 4) for i in self.indices]
        options += [("n", 4), (f"int(4.0 * abs({self.choose(*self.scalars)})) % 5", 4)]
        text, bound = self.choose(*options)
        self.say(f"for {name} in range({text}):")
        with self.scope(), self.loop():
            self.indices[name] = bound
            self.block(self.depth - 1)
        self.write_else_of_loop()
        if text == str(n) and n:
            self.indices[name] = bound  # what it was last

    def write_else_of_loop(self) -> None:
        if self.choose(False, False, False, True):
            self.say("else:")
            with self.scope():
                self.write_scalar()

    def write_if(self) -> None:
        self.say(f"if {self.condition()}:")
        depth = self.depth
        with self.scope():
            self.block(depth - 1)
        if self.choose(True, False):
            self.say("else:")
            with self.scope():
                self.block(depth - 1)

    def write_joined(self) -> None:
        """A name that both arms set."""
        name, depth = self.name("s"), self.depth
        self.say(f"if {self.condition()}:")
        for other in ("else:", None):
            with self.scope():
                self.block(depth - 1)
                self.say(f"{name} = {self.bounded()}")
            if other:
                self.say(other)
        self.scalars.append(name)

    def write_while(self) -> None:
        count = self.name("k")
        self.say(f"{count} = 0")
        self.say(f"while {count} < {self.choose(1, 3, 'n')} and {self.condition(0)}:")
        first = self.choose(True, False)
        with self.scope(), self.loop(continues=first):
            self.indices[count] = 4
            if first:
                self.say(f"{count} += 1")
            self.block(self.depth - 1)
            if not first:
                self.say(f"{count} += 1")
        self.write_else_of_loop()

    def write_forever(self) -> None:
        count = self.name("k")
        self.say(f"{count} = 0")
        self.say("while True:")
        with self.scope(), self.loop(continues=False):
            self.indices[count] = 4
            self.say(f"{count} += 1")
            self.block(self.depth - 1)
            self.say(f"if {count} >= 3 or {self.condition(0)}:")
            self.say("    break")
            if self.choose(True, False):
                self.write_scalar()

    def write_leave(self) -> None:
        if not self.loops:
            return self.write_scalar()
        word = self.choose("break", "continue") if self.loops[-1] else "break"
        self.say(f"if {self.condition(0)}:")
        self.say(f"    {word}")

    def write_return(self) -> None:
        self.say(f"if {self.condition(0)}:")
        self.say(f"    return {self.result()}")

    def whole_program(self) -> str:
        self.say("s = 0.5")
        self.scalars.append("s")
        for _ in range(self.draw(st.integers(2, STATEMENTS))):
            self.statement(DEPTH)
        self.say(f"return {self.result(full=True)}")
        body = "\n".join(self.lines) + "\n"
        return "".join(text + "\n\n" for name, text in HELPERS.items() if name in body) + body


@st.composite
def sources(draw: Callable[[Any], Any]) -> str:
    """The text of helpers and a function `f(x, a, p, b, q, n)`."""
    return Writer(draw).whole_program()


def loaded(text: str, **names: Any) -> Callable[..., Any]:
    """The function, with its source where the tracer looks for it; `names` stand for builtins."""
    name = f"random-{zlib.crc32(text.encode()):08x}.py"
    linecache.cache[name] = (len(text), None, text.splitlines(True), name)
    space: dict[str, Any] = {"math": math, "np": np, **names}
    exec(compile(text, name, "exec"), space)
    return space["f"]


FLOATS = (0, 1, 2, 3, 4)  # the places of the float arguments


def arguments() -> tuple[Any, ...]:
    """Fresh arguments for every random program: x, a, p, b and q in single precision, n."""
    x = np.array([0.3, -0.7, 1.1, 0.45])
    a = np.array([[0.2, -0.5, 0.9, 0.1], [1.2, 0.35, -0.25, 0.6], [-0.8, 0.75, 0.15, -0.4]])
    b = np.array([0.7, -0.15, 0.55, -1.05], np.float32)
    return x, a, 0.65, b, np.float32(0.35), 3
