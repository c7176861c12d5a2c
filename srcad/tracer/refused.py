"""What no program can do under srcad, and what to write instead."""

import ast
from typing import NoReturn

from srcad.tracer.machine import Machine

STATEMENTS: dict[type[ast.stmt], tuple[str, str, str]] = {
    ast.Try: (
        "`try`",
        "which statements ran before an exception is not known to the reverse sweep",
        "test for the case first: `if ...: ... else: ...`",
    ),
    ast.TryStar: ("`try`", "exceptions cannot be caught", "test for the case first"),
    ast.Global: (
        "`global`",
        "a derivative has no place for what is written outside the function",
        "pass the value in and return it",
    ),
    ast.Nonlocal: (
        "`nonlocal`",
        "an inner function cannot write names of the outer one",
        "return the value from the inner function and assign it outside",
    ),
    ast.ClassDef: (
        "a class inside a function",
        "objects with methods and state are not traced",
        "use a tuple, namedtuple or frozen dataclass defined at module level, and functions",
    ),
    ast.Match: ("`match`", "patterns are not traced", "write `if`, `elif`, `else`"),
    ast.Import: ("an import inside a function", "", "import at the top of the file"),
    ast.ImportFrom: ("an import inside a function", "", "import at the top of the file"),
    ast.FunctionDef: (
        "a decorated function inside a function",
        "",
        "define it at module level, or leave the decorator out",
    ),
}
EXPRESSIONS: dict[type[ast.expr], tuple[str, str, str]] = {
    ast.Yield: ("a generator", "it runs in pieces", "collect the values in a list"),
    ast.YieldFrom: ("a generator", "it runs in pieces", "collect the values in a list"),
    ast.Await: ("`await`", "", "write an ordinary function"),
    ast.Set: ("a set", "", "use a tuple or a list"),
    ast.SetComp: ("a set", "", "use a list"),
    ast.JoinedStr: (
        "an f-string outside an error message",
        "texts are known while tracing",
        "use it in `raise` or `assert` only",
    ),
}


def statement(machine: Machine, stmt: ast.stmt) -> NoReturn:
    """Refuses a statement."""
    _refuse(machine, stmt, STATEMENTS.get(type(stmt)))


def expression(machine: Machine, node: ast.expr) -> NoReturn:
    """Refuses an expression."""
    _refuse(machine, node, EXPRESSIONS.get(type(node)))


def _refuse(machine: Machine, node: ast.AST, text: tuple[str, str, str] | None) -> NoReturn:
    if text is None:
        machine.refuse(node)
    machine.place(node)
    what, why, instead = text
    machine.emit.fail(f"{what} is not supported", why, instead)
