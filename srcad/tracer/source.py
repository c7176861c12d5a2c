"""The syntax tree of a function, and where it stands."""

import ast
import inspect
import textwrap
from dataclasses import dataclass
from types import FunctionType

from srcad.errors import Problem, UnsupportedSyntax
from srcad.tracer.values import UNSET, Value


@dataclass(frozen=True)
class Code:
    """A function's tree; `first` and `shift` turn its places into places of the file."""

    node: ast.FunctionDef | ast.Lambda
    file: str
    first: int
    shift: int
    name: str
    function: FunctionType

    @property
    def parameters(self) -> list[str]:
        return [a.arg for a in (*self.node.args.posonlyargs, *self.node.args.args)]

    def inner(self, node: ast.FunctionDef | ast.Lambda) -> "Code":
        """A function defined inside this one."""
        name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
        return Code(node, self.file, self.first, self.shift, name, self.function)

    def outside(self, name: str) -> Value:
        """The value of a free name: closure, then globals."""
        code, cells = self.function.__code__, self.function.__closure__ or ()
        if name in code.co_freevars:
            return cells[code.co_freevars.index(name)].cell_contents
        return self.function.__globals__.get(name, UNSET)


def code_of(function: FunctionType) -> Code:
    """The code of a Python function; refused where there is no source."""
    try:
        lines, first = inspect.getsourcelines(function)
    except (OSError, TypeError):
        raise UnsupportedSyntax(
            Problem(
                f"the source of `{function.__name__}` cannot be read",
                None,
                "srcad differentiates source code",
                "define the function in a file",
            )
        ) from None
    text = "".join(lines)
    plain = textwrap.dedent(text)
    shift = len(lines[0]) - len(lines[0].lstrip())
    node = _find(_parsed(plain), function)
    file = function.__code__.co_filename
    return Code(node, file, first, shift, function.__name__, function)


def _parsed(text: str) -> ast.Module:
    """The tree of a piece of source; a lambda's line may be part of a statement."""
    try:
        return ast.parse(text)
    except SyntaxError:
        start = text.index("lambda")
        for end in range(len(text), start, -1):
            try:
                return ast.parse(text[start:end].rstrip())
            except SyntaxError:
                continue
        raise


def _find(tree: ast.Module, function: FunctionType) -> ast.FunctionDef | ast.Lambda:
    wanted = function.__code__
    if function.__name__ != "<lambda>":
        for node in ast.walk(tree):
            if isinstance(node, ast.FunctionDef) and node.name == wanted.co_name:
                _refuse_kinds(node, function)
                return node
    found = [node for node in ast.walk(tree) if isinstance(node, ast.Lambda)]
    same = [n for n in found if [a.arg for a in n.args.args] == list(_names(function))]
    if len(same) != 1:
        raise UnsupportedSyntax(
            Problem(
                "this lambda cannot be told from others on its line",
                None,
                "several lambdas with the same parameters stand there",
                "give it a line of its own, or a `def`",
            )
        )
    return same[0]


def _names(function: FunctionType) -> tuple[str, ...]:
    return function.__code__.co_varnames[: function.__code__.co_argcount]


def _refuse_kinds(node: ast.FunctionDef, function: FunctionType) -> None:
    args = node.args
    if args.vararg or args.kwarg or args.kwonlyargs:
        raise UnsupportedSyntax(
            Problem(
                f"`{node.name}` takes star or keyword-only arguments",
                None,
                "they are not supported yet",
                "name every parameter",
            )
        )
