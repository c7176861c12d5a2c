"""`raise`, `assert` and `print`: what generated code says."""

import ast
import builtins

from srcad.ir.nodes import Atom, const
from srcad.tracer.machine import Machine
from srcad.tracer.values import Arr, Num, Value


def statement(machine: Machine, stmt: ast.Raise) -> None:
    """`raise Error("text")`: the path ends here."""
    match stmt.exc:
        case ast.Call(func=kind, args=args):
            text = args[0] if args else None
        case None:
            machine.refuse(stmt, "there is no exception to raise again", "raise ValueError(...)")
        case _:
            kind, text = stmt.exc, None
    error = machine.expr(kind)
    name = getattr(error, "__name__", "")
    if getattr(builtins, name, None) is not error or not issubclass(error, Exception):  # type: ignore[arg-type]
        machine.refuse(stmt, "only Python's own exceptions can be raised", "raise ValueError(...)")
    check(machine, False, name, text)
    machine.here.dead = True


def check(machine: Machine, cond: "bool | Num", error: str, text: ast.expr | None) -> None:
    """Raises unless `cond`; `text` is a constant, or a string with values in it."""
    if cond is True:
        return
    atom = const(False, "bool") if isinstance(cond, bool) else cond.atom
    message, args = _message(machine, text)
    machine.emit.builder.check(atom, error, message, *args)


def printed(machine: Machine, args: list[Value]) -> None:
    """`print(...)`: texts and what is known while tracing as they are, numbers at run time."""
    pieces = [
        a.atom if isinstance(a, Num) else a.var if isinstance(a, Arr) else str(a) for a in args
    ]
    if any(isinstance(a, tuple | list | dict) for a in args):
        machine.emit.fail("`print` takes texts, numbers and arrays here", instead="print the items")
    machine.emit.builder.prints(*pieces)


def _message(machine: Machine, text: ast.expr | None) -> tuple[str, list[Atom]]:
    """The text with `{}` in place of run-time numbers, and these."""
    if text is None:
        return "", []
    pieces = text.values if isinstance(text, ast.JoinedStr) else [text]
    inner = (p.value if isinstance(p, ast.FormattedValue) else p for p in pieces)
    values = [machine.used(piece) for piece in inner]
    args = [value.atom for value in values if isinstance(value, Num)]
    parts = ["{}" if isinstance(v, Num) else str(v).replace("{}", "{ }") for v in values]
    return "".join(parts if args else map(str, values)), args
