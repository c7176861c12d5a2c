"""What the parts of the interpreter share: the names of the function at hand, places, refusals.

`Machine` declares what `branches`, `loops` and `calls` ask of the interpreter; `interpreter` has
the statements and expressions.
"""

import ast
from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable
from typing import Any, NoReturn

from srcad.errors import Loc, Problem, UnsupportedSyntax
from srcad.ir.builder import OpenBlock
from srcad.ir.marks import Derive
from srcad.ir.nodes import Atom, Stmt, Var
from srcad.tracer import boxes, scalars
from srcad.tracer.context import Emit
from srcad.tracer.joins import FREE, Kind
from srcad.tracer.source import Code
from srcad.tracer.values import Arr, Box, Num, Option, Useless, Value

Outside = Callable[[str, object, Callable[[], object]], Value]


class Frame:
    """The names of one function under execution."""

    def __init__(self, code: Code, outer: "Frame | None" = None) -> None:
        self.code, self.outer = code, outer
        self.names: dict[str, Value] = {}
        self.dead = False  # this path has raised: nothing of it is joined
        self.kinds: dict[int, dict[str, Kind]] = {}  # what the names of a loop turned out to be


class Function:
    """A function defined inside traced code."""

    def __init__(self, code: Code, frame: Frame, defaults: dict[str, Value]) -> None:
        self.code, self.frame, self.defaults = code, frame, defaults


class Unroll(Exception):
    """A run-time index picks from a tuple: the loop that counts it must run while tracing."""

    def __init__(self, loop: object) -> None:
        super().__init__()
        self.loop = loop


class Unfinished(Exception):  # noqa: N818  a request, not an error
    """What a function that calls itself gives is not known yet: this path waits."""


class Machine(ABC):
    """Executes functions; `outside` is told of every value read from globals and closures."""

    def __init__(self, emit: Emit, outside: Outside, derive: Derive | None) -> None:
        self.emit, self.outside, self.derive = emit, outside, derive
        self.frame: Frame | None = None
        self.depth = 0
        self.problems: list[Problem] = []
        self.chain: list[tuple[Hashable, dict[str, Value]]] = []  # the calls that are open
        self.repeated: dict[Hashable, int] = {}  # calls of a function inside itself, so far
        self.building: dict[Hashable, Any] = {}  # functions that call themselves, being traced
        self.callees: list[Any] = []  # and those that are done
        self.derived: list[Any] = []  # derivatives of these, asked for inside the traced function
        self.unfinished = False
        self.died = False  # the function called last ended on no path that is known
        self.unrollable: dict[Var, object] = {}  # the indices of loops over known counts
        self.parameters: set[Var] = set()  # of the whole function
        self.arrays: dict[Hashable, list[tuple[OpenBlock, Stmt, Arr]]] = {}  # made of tuples

    @property
    def here(self) -> Frame:
        assert self.frame is not None
        return self.frame

    @property
    def state(self) -> "dict[str | Box, Value]":
        """What branches and loops join: names, and what is in lists and dictionaries."""
        names: dict[str | Box, Value] = dict(self.here.names.items())
        return names | self.emit.heap

    @state.setter
    def state(self, new: "dict[str | Box, Value]") -> None:
        self.here.names = {name: v for name, v in new.items() if isinstance(name, str)}
        self.emit.heap = {box: v for box, v in new.items() if isinstance(box, Box)}

    # -- places and problems

    def place(self, node: ast.AST) -> None:
        line = getattr(node, "lineno", None)
        if line is not None:
            end = node.end_col_offset if node.end_lineno == line else None  # type: ignore[attr-defined]
            code = self.here.code
            self.emit.builder.loc = Loc(code.file, line, node.col_offset, end, code.name)  # type: ignore[attr-defined]

    def refuse(self, node: ast.AST, why: str = "", instead: str = "") -> NoReturn:
        self.place(node)
        name = type(node).__name__.lower()
        self.emit.fail(f"`{name}` is not supported here", why, instead)

    def note(self, error: UnsupportedSyntax) -> None:
        """Keeps a problem: the rest is traced too, so that all are reported at once."""
        self.problems += [p for p in error.problems if p not in self.problems]

    def finish(self) -> None:
        """Raises what was noted."""
        if self.problems:
            raise UnsupportedSyntax(*self.problems)

    # -- values

    def usable(self, value: Value) -> Value:
        """Refuses a value that two paths leave different; silently one that failed before."""
        if value is FREE:
            raise UnsupportedSyntax
        if isinstance(value, Useless):
            self.emit.fail(value.what, value.why, value.instead)
        return value

    def plain(self, value: Value) -> Value:
        """A value that is used: one that may be None is checked not to be."""
        self.usable(value)
        if not isinstance(value, Option):
            return value
        error, text = "TypeError", "a value that is used here is None"
        return self.checked(value, error, text)

    def checked(self, value: Option, error: str, text: str) -> Value:
        known = value.known.atom

        def check() -> Atom:
            self.emit.builder.check(known, error, text)
            return known

        self.emit.once(("known", known), check)
        return value.value

    def truth(self, value: Value) -> "bool | Num":
        if isinstance(value, Box):
            value = boxes.length(self.emit, value)
        return scalars.truth(self.emit, self.plain(value))

    # -- what the interpreter does

    @abstractmethod
    def block(self, stmts: list[ast.stmt]) -> None:
        """Executes statements."""

    @abstractmethod
    def expr(self, node: ast.expr) -> Value:
        """The value of an expression; it may be an Option."""

    @abstractmethod
    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """The result of a call."""

    @abstractmethod
    def binary(self, op: str, left: Value, right: Value) -> Value:
        """left op right."""

    @abstractmethod
    def subscript(self, value: Value, key: Value) -> Value:
        """value[key]."""

    @abstractmethod
    def assign(self, target: ast.expr, new: Value) -> None:
        """Binds names, writes elements."""

    def used(self, node: ast.expr) -> Value:
        """The value of an expression that is used: not None."""
        return self.plain(self.expr(node))
