"""The exceptions of srcad and the places they point to.

Every error about a user's function carries a `Loc` and is rendered the same way: what, where, the
source line, a caret, why, and what to write instead. The exceptions derive from `Exception`, never
from Numba's, because Numba rewraps its own when they pass through compiled callers.
"""

import linecache
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Loc:
    """A place in a user's file; lines count from 1, columns from 0."""

    file: str
    line: int
    column: int = 0
    end_column: int | None = None
    function: str = ""

    def __str__(self) -> str:
        where = f"{self.file}:{self.line}:{self.column + 1}"
        return f"{where}, in {self.function}" if self.function else where


@dataclass(frozen=True, slots=True)
class Problem:
    """One thing that is wrong: `what` at `loc`, `why`, and `instead`, a rewrite that works."""

    what: str
    loc: Loc | None = None
    why: str = ""
    instead: str = ""

    def render(self) -> str:
        lines = [self.what]
        if self.loc is not None:
            lines.append(f"  {self.loc}")
            text = linecache.getline(self.loc.file, self.loc.line).rstrip("\n")
            if text.strip():
                indent = len(text) - len(text.lstrip())
                start = max(self.loc.column - indent, 0)
                end = self.loc.end_column
                width = 1 if end is None else max(1, min(end, len(text)) - self.loc.column)
                lines.append(f"    {text.strip()}")
                lines.append("    " + " " * start + "^" * width)
        if self.why:
            lines.append(f"  why: {self.why}")
        if self.instead:
            lines.append(f"  try: {self.instead}")
        return "\n".join(lines)


class SrcadError(Exception):
    """Base of all errors that srcad raises about a function or a call."""

    problems: tuple[Problem, ...]

    def __init__(self, *problems: Problem | str) -> None:
        self.problems = tuple(Problem(p) if isinstance(p, str) else p for p in problems)
        super().__init__("\n".join(p.render() for p in self.problems))

    def __reduce__(self) -> tuple[type["SrcadError"], tuple[Problem, ...]]:
        return type(self), self.problems


class UnsupportedSyntax(SrcadError):
    """The function uses constructs that srcad does not differentiate; all of them are listed."""


class TypingError(SrcadError, TypeError):
    """A value of the wrong kind: an integer argument, a non-scalar result, a missing `gradient`."""


class ShapeError(SrcadError, ValueError):
    """An array of the wrong shape."""


class MissingRule(SrcadError):
    """An operation that has a value but no derivative here."""


class CheckFailed(SrcadError, AssertionError):
    """A derivative that `srcad.testing` found to be wrong."""


class InternalError(SrcadError):
    """A fault of srcad itself; the text asks for a report."""
