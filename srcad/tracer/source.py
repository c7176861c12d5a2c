"""The syntax tree of a function, and where it stands: whole files are read, so places are exact."""

import ast
import linecache
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from types import CodeType, FunctionType
from typing import NoReturn

from srcad.errors import Loc, Problem, UnsupportedSyntax
from srcad.tracer import live
from srcad.tracer.flow import normalise
from srcad.tracer.values import UNSET, Value

Node = ast.FunctionDef | ast.Lambda


@dataclass(frozen=True)
class Code:
    """A function's tree, and the function that its free names belong to."""

    node: Node
    file: str
    name: str
    function: FunctionType

    @property
    def parameters(self) -> list[str]:
        """The names that can be given by position."""
        return [a.arg for a in (*self.node.args.posonlyargs, *self.node.args.args)]

    @property
    def all_parameters(self) -> list[str]:
        """Every parameter, star and keyword-only ones too, as a signature orders them."""
        spec = self.node.args
        star = [] if spec.vararg is None else [spec.vararg.arg]
        rest = [] if spec.kwarg is None else [spec.kwarg.arg]
        return [*self.parameters, *star, *(a.arg for a in spec.kwonlyargs), *rest]

    @property
    def loc(self) -> Loc:
        return Loc(self.file, self.node.lineno, self.node.col_offset, None, self.name)

    @cached_property
    def body(self) -> list[ast.stmt]:
        """The statements without break, continue and return, annotated with what is live."""
        assert isinstance(self.node, ast.FunctionDef)
        made = normalise(self.node.body)
        live.annotate(made)
        return made

    def inner(self, node: Node) -> "Code":
        """A function defined inside this one."""
        name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
        return Code(node, self.file, name, self.function)

    def outside(self, name: str) -> Value:
        """The value of a free name: closure, then globals."""
        code, cells = self.function.__code__, self.function.__closure__ or ()
        if name in code.co_freevars:
            try:
                return cells[code.co_freevars.index(name)].cell_contents
            except ValueError:  # the cell is empty
                return UNSET
        return self.function.__globals__.get(name, UNSET)


_trees: dict[str, tuple[tuple[str, ...], ast.Module]] = {}
_nodes: dict[int, tuple[CodeType, Node]] = {}  # by identity: equal code may stand in two files


def code_of(function: FunctionType) -> Code:
    """The code of a Python function; refused where there is no source."""
    wanted = function.__code__
    known = _nodes.get(id(wanted))
    node = known[1] if known else _find(function)
    _nodes[id(wanted)] = wanted, node
    return Code(node, wanted.co_filename, function.__name__, function)


def _find(function: FunctionType) -> Node:
    code = function.__code__
    found = [node for node in _functions(_tree(function)) if _is(node, code)]
    if len(found) > 1:
        found = [node for node in found if _holds(node, code)][-1:]  # the innermost comes last
    if not found:
        _refuse(function, "its file has changed since it was loaded")
    (node,) = found
    if isinstance(node, ast.AsyncFunctionDef):
        _refuse(function, "it is a coroutine")
    return node


def _tree(function: FunctionType) -> ast.Module:
    file = function.__code__.co_filename
    linecache.checkcache(file)
    lines = tuple(linecache.getlines(file, function.__globals__))
    known = _trees.get(file)
    if known is not None and known[0] == lines:
        return known[1]
    if not lines:
        _refuse(function, "srcad differentiates source code")
    try:
        tree = ast.parse("".join(lines))
    except SyntaxError:
        _refuse(function, "its file has changed since it was loaded")
    _trees[file] = lines, tree
    return tree


def _refuse(function: FunctionType, why: str) -> NoReturn:
    raise UnsupportedSyntax(
        Problem(
            f"the source of `{function.__name__}` cannot be read",
            None,
            why,
            "define the function in a file",
        )
    )


def _functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda]:
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
            yield node


def _is(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, code: CodeType) -> bool:
    """Whether the code may be that of the node: the same first line, name and parameters."""
    args = node.args
    names = [a.arg for a in (*args.posonlyargs, *args.args, *args.kwonlyargs)]
    if list(code.co_varnames[: len(names)]) != names:
        return False
    if isinstance(node, ast.Lambda):
        return code.co_name == "<lambda>" and node.lineno == code.co_firstlineno
    first = min([node.lineno, *(d.lineno for d in node.decorator_list)])
    return node.name == code.co_name and first == code.co_firstlineno


def _holds(node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, code: CodeType) -> bool:
    """Whether the instructions of a lambda's code stand in the body of the node."""
    body = node.body
    assert isinstance(body, ast.expr), "two functions of one name at one place"
    places = [
        (line, column)
        for line, _, column, _ in code.co_positions()
        if line is not None and column is not None and (line, column) != (code.co_firstlineno, 0)
    ]
    start = body.lineno, body.col_offset
    end = body.end_lineno or 0, body.end_col_offset or 0
    return bool(places) and start <= min(places) and max(places) <= end
