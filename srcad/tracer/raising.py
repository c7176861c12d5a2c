"""`raise` and `assert`: checks of the generated code."""

import ast
import builtins

from srcad.ir.nodes import Atom, const
from srcad.tracer.machine import Machine
from srcad.tracer.values import Num, Value


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


def _message(machine: Machine, text: ast.expr | None) -> tuple[str, list[Atom]]:
    """The text with `{}` in place of run-time numbers, and these."""
    if text is None:
        return "", []
    if not isinstance(text, ast.JoinedStr):
        found = machine.used(text)
        if isinstance(found, Num):
            return "{}", [found.atom]
        return _escaped(str(found)), []
    parts: list[str] = []
    args: list[Atom] = []
    for part in text.values:
        if isinstance(part, ast.FormattedValue):
            value: Value = machine.used(part.value)
            if isinstance(value, Num):
                parts.append("{}")
                args.append(value.atom)
            else:
                parts.append(_escaped(str(value)))
        else:
            parts.append(_escaped(str(machine.expr(part))))
    return "".join(parts), args


def _escaped(text: str) -> str:
    return text.replace("{", "{{").replace("}", "}}")
