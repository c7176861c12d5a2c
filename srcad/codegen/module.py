"""Prints a function as a Python module: imports, one decorated function, comments with places."""

import math
import os
import re
from dataclasses import dataclass
from typing import assert_never

from srcad import ops
from srcad.codegen.names import Names
from srcad.ir.nodes import (
    Alloc,
    Assert,
    Atom,
    Block,
    Const,
    For,
    Function,
    Grow,
    If,
    Index,
    Let,
    Library,
    Load,
    Map,
    NewAxis,
    Permute,
    Reshape,
    Slice,
    Stmt,
    Store,
    Subscript,
    Var,
    View,
    While,
    const,
)
from srcad.ir.trees import Group, Leaf, Nothing, Tree
from srcad.ir.walk import blocks, defs, operands, walk
from srcad.ops.declaration import ATOM, UNARY

SUPPORT = re.compile(
    r"\b(times|select|wrap|sign|maximum|minimum|remainder|floordiv|grow|matmul_add|matmul)\("
)
WIDTH = 88


@dataclass(frozen=True)
class Source:
    """The text of a module and the name of its function."""

    text: str
    entry: str


def source(function: Function) -> Source:
    """The module of a function."""
    return Printer(function).module()


def literal(atom: Const) -> str:
    """A constant of exactly its type: Numba's literals are float64 and int64."""
    value = atom.value
    if isinstance(value, float):
        if math.isnan(value):
            text = "math.nan"
        elif math.isinf(value):
            text = "math.inf" if value > 0 else "-math.inf"
        else:
            text = repr(value)
    else:
        text = repr(value)
    return text if atom.type.dtype in ("float64", "int64", "bool") else f"np.{atom.type}({text})"


class Printer:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.names = Names(frozenset(SUPPORT.pattern.strip("\\b()").split("|")) | {function.name})
        self.lines: list[str] = []
        self.depth = 0
        self.place: tuple[str, int] | None = None
        self.texts: dict[Var, tuple[str, int]] = {}  # values folded into their reader
        self.reading: set[Var] = set()  # values whose folded text reads memory
        self.uses = _count_uses(function)

    def module(self) -> Source:
        f = self.function
        self.depth = 1
        params = [self.names.name(p) for p in f.params[: f.captured]]
        leaves = iter(f.params[f.captured :])
        for name, tree in f.takes:
            params.append(self.parameter(name, tree, leaves))
        self.block(f.body)
        results = iter(f.body.results)
        self.line(f"return {self.packed(f.gives, results)}")
        body = "\n".join(self.lines)
        used = sorted(set(SUPPORT.findall(body)))
        imports = ["import math", "", "import numpy as np"]
        imports.append(f"from srcad.runtime.support import {', '.join(['compiled', *used])}")
        head = f"@compiled\ndef {f.name}({', '.join(params)}):"
        return Source("\n".join([*imports, "", "", head, body, ""]), f.name)

    def parameter(self, name: str, tree: Tree, leaves: "object") -> str:
        match tree:
            case Leaf():
                return self.names.name(next(leaves))  # type: ignore[call-overload]
            case Nothing():
                return self.names.fresh(name)
            case Group(items=items):
                own = self.names.fresh(name)
                place = len(self.lines)
                parts = [self.parameter(f"{name}_{k}", t, leaves) for k, t in enumerate(items)]
                self.line(f"{', '.join(parts)}{',' if len(parts) == 1 else ''} = {own}")
                self.lines.insert(place, self.lines.pop())  # before its parts are unpacked
                return own

    def packed(self, tree: Tree, results: "object") -> str:
        match tree:
            case Leaf():
                return self.text(next(results))  # type: ignore[call-overload]
            case Nothing():
                return "None"
            case Group(items=items):
                parts = [self.packed(item, results) for item in items]
                return f"({', '.join(parts)}{',' if len(parts) == 1 else ''})"

    # -- text

    def line(self, text: str) -> None:
        self.lines.append("    " * self.depth + text)

    def atom(self, atom: Atom) -> tuple[str, int]:
        if isinstance(atom, Const):
            text = literal(atom)
            return text, UNARY if text.startswith("-") else ATOM
        return self.texts.get(atom) or (self.names.name(atom), ATOM)

    def text(self, atom: Atom) -> str:
        return self.atom(atom)[0]

    def at_level(self, atom: Atom, level: int) -> str:
        text, own = self.atom(atom)
        return text if own > level else f"({text})"

    def index(self, atoms: tuple[Atom, ...]) -> str:
        return ", ".join(map(self.text, atoms)) if atoms else "()"

    def expression(self, let: Let) -> tuple[str, int]:
        if let.op == "cast":
            dtype = let.out.type.dtype
            name = {"float64": "float", "int64": "int", "bool": "bool"}.get(dtype, f"np.{dtype}")
            return f"{name}({self.text(let.args[0])})", ATOM
        op = ops.operation(let.op)
        if op.level == ATOM:
            parts = [self.text(a) for a in let.args]
            if let.op == "dim":
                parts[0] = self.at_level(let.args[0], UNARY)
        else:
            first = self.at_level(let.args[0], op.level - (op.level in (10, 11)))
            parts = [first, *(self.at_level(a, op.level) for a in let.args[1:])]
            if op.level in (12, 13) or let.op == "square":
                parts[0] = self.at_level(let.args[0], op.level)
        return op.emit.format(*parts), op.level

    # -- statements

    def block(self, block: Block) -> None:
        for k, stmt in enumerate(block.stmts):
            self.stmt(stmt, block, k)

    def define(self, out: Var, text: str, level: int, block: Block, k: int) -> None:
        """Binds a name, or folds the text into its only reader."""
        short = len(text) < WIDTH // 2
        if short and self.uses.get(out) == 1 and self.foldable(out, block, k):
            self.texts[out] = text, level
        else:
            self.line(f"{self.names.name(out)} = {text}")

    def foldable(self, out: Var, block: Block, k: int) -> bool:
        """Whether the only reader stands in this block with no write, loop or rebinding between."""
        reads_memory = isinstance(block.stmts[k], Load) or self.memory_below(block.stmts[k])
        for stmt in block.stmts[k + 1 :]:
            if out in operands(stmt):
                if isinstance(stmt, For | While):
                    return False
                if reads_memory and isinstance(stmt, Let | Load):
                    self.reading.add(stmt.out)
                return True
            if isinstance(stmt, For | While | If):
                return False
            if reads_memory and isinstance(stmt, Store | Library | Grow):
                return False
        return False

    def memory_below(self, stmt: Stmt) -> bool:
        return any(out in self.reading for out in defs(stmt))

    def comment(self, stmt: Stmt) -> None:
        if stmt.loc is None:
            return
        place = os.path.basename(stmt.loc.file), stmt.loc.line
        if place != self.place:
            self.place = place
            self.line(f"# {place[0]}:{place[1]}")

    def stmt(self, stmt: Stmt, block: Block, k: int) -> None:
        if isinstance(stmt, Store | For | While | If | Assert | Library):
            self.comment(stmt)
        match stmt:
            case Let(out=out):
                self.define(out, *self.expression(stmt), block, k)
            case Load(out=out, array=array, index=index):
                self.define(out, f"{self.text(array)}[{self.index(index)}]", ATOM, block, k)
            case Store(array=array, index=index, value=value):
                self.line(f"{self.text(array)}[{self.index(index)}] = {self.text(value)}")
            case Alloc(out=out):
                self.line(f"{self.names.name(out)} = {self.alloc(stmt)}")
            case View(out=out, array=array, how=how):
                self.line(f"{self.names.name(out)} = {self.view(self.text(array), how)}")
            case For():
                self.loop(stmt)
            case While():
                self.while_loop(stmt)
            case If():
                self.branch(stmt)
            case Library(op=op, reads=reads, writes=writes):
                self.line(f"{op}({', '.join(map(self.text, (*reads, *writes)))})")
            case Grow(array=array, length=length):
                name = self.text(array)
                self.line(f"{name} = grow({name}, {self.text(length)})")
            case Assert(cond=cond, error=error, message=message):
                self.line(f"if not ({self.text(cond)}):")
                self.line(f"    raise {error}({message!r})")
            case Map():
                raise AssertionError("maps are lowered before code generation")
            case _:
                assert_never(stmt)

    def alloc(self, stmt: Alloc) -> str:
        turned = stmt.out.type.layout == "F" and len(stmt.shape) > 1  # type: ignore[union-attr]
        shape = tuple(reversed(stmt.shape)) if turned else stmt.shape
        texts = [self.text(extent) for extent in shape]
        size = texts[0] if len(texts) == 1 else f"({', '.join(texts)})"
        dtype = stmt.out.type.dtype
        of = "" if dtype == "float64" else f", np.{dtype}{'_' if dtype == 'bool' else ''}"
        if stmt.fill is None:
            text = f"np.empty({size}{of})"
        elif not stmt.fill.value:
            text = f"np.zeros({size}{of})"
        else:
            text = f"np.full({size}, {literal(stmt.fill)}{of})"
        return f"{text}.T" if turned else text

    def view(self, array: str, how: Subscript | Permute | Reshape) -> str:
        match how:
            case Permute(axes=axes):
                return f"{array}.transpose({', '.join(map(str, axes))})"
            case Reshape(shape=shape):
                return f"{array}.reshape(({', '.join(map(self.text, shape))},))"
            case Subscript(items=items):
                return f"{array}[{', '.join(map(self.item, items)) or '()'}]"

    def item(self, item: Index | Slice | NewAxis) -> str:
        match item:
            case Index(at=at):
                return self.text(at)
            case NewAxis():
                return "None"
            case Slice(start=start, length=length, step=step):
                first = self.at_level(start, 10)
                size = self.at_level(length, 11)
                if step == const(1):
                    zero = isinstance(start, Const) and start.value == 0
                    return f":{self.text(length)}" if zero else f"{first}:{first} + {size}"
                raise AssertionError("only slices of step 1 are printed")

    def body(self, block: Block, assigns: list[tuple[Var, Atom]]) -> None:
        self.depth += 1
        start = len(self.lines)
        place, self.place = self.place, None
        self.block(block)
        self.assign(assigns)
        if len(self.lines) == start or all(
            text.lstrip().startswith("#") for text in self.lines[start:]
        ):
            self.line("pass")
        self.depth -= 1
        self.place = place

    def assign(self, pairs: list[tuple[Var, Atom]]) -> None:
        """All at once: a value may read names that are assigned here."""
        named = [(self.names.name(var), self.text(atom)) for var, atom in pairs]
        named = [(name, text) for name, text in named if name != text]
        targets = {name for name, _ in named}
        clash = any(
            other != name and re.search(rf"\b{re.escape(other)}\b", text)
            for name, text in named
            for other in targets
        )
        if clash:
            left, right = zip(*named, strict=True)
            self.line(f"{', '.join(left)} = {', '.join(right)}")
            return
        for name, text in named:
            self.line(f"{name} = {text}")

    def begin(self, carried: tuple[tuple[Var, Atom], ...], outs: tuple[Var, ...]) -> list[Var]:
        """Carried names and what they are called behind the loop are one Python variable."""
        self.assign([(name, init) for name, init in carried])
        for (name, _), out in zip(carried, outs, strict=True):
            self.names.of[out] = self.names.name(name)
        return [name for name, _ in carried]

    def loop(self, loop: For) -> None:
        names = self.begin(loop.carried, loop.outs)
        self.line(f"for {self.names.name(loop.index)} in range({self.text(loop.stop)}):")
        self.body(loop.body, list(zip(names, loop.body.results, strict=True)))

    def while_loop(self, loop: While) -> None:
        names = self.begin(loop.carried, loop.outs)
        index = self.names.name(loop.index)
        self.names.of[loop.trips] = index
        self.line(f"{index} = 0")
        self.line(f"while {self.names.name(names[0])}:")
        self.body(loop.body, list(zip(names, loop.body.results, strict=True)))
        self.line(f"    {index} += 1")

    def branch(self, branch: If) -> None:
        self.line(f"if {self.text(branch.cond)}:")
        self.body(branch.then, list(zip(branch.outs, branch.then.results, strict=True)))
        if branch.orelse.stmts or branch.outs:
            self.line("else:")
            self.body(branch.orelse, list(zip(branch.outs, branch.orelse.results, strict=True)))


def _count_uses(function: Function) -> dict[Var, int]:
    count: dict[Var, int] = {}

    def seen(atoms: tuple[Atom, ...], weight: int) -> None:
        for atom in atoms:
            if isinstance(atom, Var):
                count[atom] = count.get(atom, 0) + weight

    seen(function.body.results, 2)
    for stmt in walk(function.body):
        weight = 2 if isinstance(stmt, Let) and "{0} * {0}" in _emit(stmt) else 1
        seen(operands(stmt), weight)
        for block in blocks(stmt):
            seen(block.results, 2)
    return count


def _emit(let: Let) -> str:
    return ops.operation(let.op).emit
