"""Prints a function as a Python module: imports, one decorated function, comments with places."""

import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import assert_never

from srcad import ops
from srcad.codegen.expressions import Expressions, Text
from srcad.codegen.folding import Folding, Tapes
from srcad.codegen.names import Names
from srcad.codegen.ranges import Linear
from srcad.codegen.variables import Variables
from srcad.errors import Loc
from srcad.ir.nodes import (
    Alloc,
    Assert,
    Atom,
    Block,
    Call,
    Const,
    For,
    Function,
    Grow,
    If,
    Let,
    Library,
    Load,
    Map,
    Print,
    Sealed,
    Stmt,
    Store,
    Var,
    View,
    While,
)
from srcad.ir.trees import Group, Leaf, Nothing, Tree
from srcad.ir.types import Array
from srcad.ir.walk import walk
from srcad.ops.declaration import ADD, MULTIPLY

SUPPORT = (
    "TypingError",
    "at",
    "behind",
    "grow",
    "overlap",
    "strict_add",
    "strict_sub",
    "strict_mul",
    "strict_div",
)
UPDATES = {"add": "+=", "sub": "-=", "mul": "*=", "div": "/="}
LONGEST = 30  # items of a tuple that Numba reads: Python builds longer ones as lists
INDENT = "    "


@dataclass(frozen=True)
class Source:
    """The text of a module and the name of its function."""

    text: str
    entry: str


def source(
    function: Function, *, vector_math: bool = False, written: frozenset[int] = frozenset()
) -> Source:
    """The module of a lowered function.

    With `vector_math`, elementary functions come from `runtime.vectormath` instead of `math`. The
    arrays among the parameters `written`, by position, must not overlap others: this is checked.
    """
    whole = Printer(function, vector_math=vector_math)
    body = whole.text(written)
    printers = [whole]
    texts: list[str] = []
    for callee in _called(function):
        inner = replace(callee, callees=function.callees)
        printers.append(Printer(inner, vector_math=vector_math))
        texts.append(printers[-1].text(frozenset()))
    return Source(module([*texts, body], printers), function.name)


def _called(function: Function) -> list[Function]:
    """The callees that are called, directly or not."""
    found: dict[str, Function] = {}
    todo = [function]
    while todo:
        names = {s.callee for s in walk(todo.pop().body) if isinstance(s, Call)}
        new = [f for f in function.callees if f.name in names and f.name not in found]
        found |= {f.name: f for f in new}
        todo += new
    return [f for f in function.callees if f.name in found]


def module(texts: list[str], printers: Sequence["Printer"]) -> str:
    """The texts of functions with the imports that they need before them."""
    body = "\n\n".join(texts)
    names = (name for p in printers for name in (*p.values.support, *p.libraries))
    imports = [f"from srcad.runtime.support import {', '.join(sorted({'compiled', *names}))}"]
    if "raise TypingError" in body:
        imports.insert(0, "from srcad.errors import TypingError")
    vector = sorted({name for p in printers for name in p.values.vector})
    if vector:
        imports.append(f"from srcad.runtime.vectormath import {', '.join(vector)}")
    if "np." in body:
        imports[:0] = ["import numpy as np", ""]
    if "math." in body:
        imports[:0] = ["import math", ""]
    return "\n".join([*imports, "", "", body])


class Printer:
    """Collects the lines of one function."""

    def __init__(self, function: Function, *, vector_math: bool) -> None:
        self.function = function
        self.folding = Folding(function)
        declared = {name for op in ops.all_operations() for name in (op.support, op.vector) if name}
        own = (function.name, *(callee.name for callee in function.callees))
        taken = frozenset(declared.union(SUPPORT, ops.LIBRARY, own))
        self.names = Names(Variables(self.folding), taken)
        self.values = Expressions(self.folding, self.names, vector_math=vector_math)
        self.libraries: set[str] = set()
        self.lines: list[str] = []
        self.depth = 1
        self.place = ""  # in the user's code, of the last comment

    # -- the whole

    def text(self, written: frozenset[int]) -> str:
        f = self.function
        params = self.parameters()
        self.refuse_overlap(written)
        self.block(f.body)
        self.line(f"return {self.packed(f.gives, iter(f.body.results))}", self.last_loc(f.body))
        head = ["@compiled", f"def {f.name}({', '.join(params)}):"]
        return "\n".join([*head, *self.lines, ""])

    def parameters(self) -> list[str]:
        """The names in the function's head, and the lines that unpack tuples."""
        f = self.function
        visible = [self.names.fresh(name) for name, _ in f.takes]
        flat = iter(f.params)
        captured = [self.names.name(next(flat)) for _ in range(f.captured)]
        for name, (_, tree) in zip(visible, f.takes, strict=True):
            self.unpack(name, tree, flat)
        return captured + visible

    def refuse_overlap(self, written: frozenset[int]) -> None:
        """Checks that no array in `written` shares memory with another parameter."""
        f = self.function
        arrays = [(k, p) for k, p in enumerate(f.params) if isinstance(p.type, Array)]
        for k in sorted(written):
            one, user = self.names.name(f.params[k]), f.loc.function if f.loc else f.name
            others = [self.names.name(p) for j, p in arrays if j > k or j not in written]
            if others:
                self.values.support.add("overlap")
                self.line(f"if {' or '.join(f'overlap({one}, {other})' for other in others)}:")
                text = f"`{one}` overlaps another array, and `{user}` writes into one of them"
                self.line(f'{INDENT}raise TypingError("{text}: pass a copy")')

    def unpack(self, name: str, tree: Tree, flat: Iterator[Var]) -> None:
        """Binds the leaves of a parameter, or of a part of one, that is called `name`."""
        match tree:
            case Leaf():
                self.names.bind(next(flat), name)
            case Nothing():
                pass
            case Group(items=items) if items:
                place, parts = len(self.lines), []
                for k, item in enumerate(items):
                    parts.append(self.names.fresh(f"{name}_{k}"))
                    self.unpack(parts[-1], item, flat)
                comma = "," if len(parts) == 1 else ""
                self.line(f"{', '.join(parts)}{comma} = {name}")
                self.lines.insert(place, self.lines.pop())  # before its parts are unpacked

    def packed(self, tree: Tree, results: Iterator[Atom]) -> str:
        match tree:
            case Leaf():
                return self.values.text(next(results))
            case Nothing():
                return "None"
            case Group(items=items):
                parts = [self.packed(item, results) for item in items]
                chunks = [parts[k : k + LONGEST] for k in range(0, len(parts), LONGEST)] or [[]]
                return " + ".join(f"({', '.join(c)}{',' * (len(c) == 1)})" for c in chunks)

    # -- lines

    def line(self, text: str, loc: Loc | None = None) -> None:
        """A line, below a comment where it belongs to another line of the user than before."""
        if loc is not None:
            place = f"# {os.path.basename(loc.file)}:{loc.line}"
            if place != self.place:
                self.place = place
                self.lines.append(INDENT * self.depth + place)
        self.lines.append(INDENT * self.depth + text)

    def last_loc(self, block: Block) -> Loc | None:
        """The place of the values that a block gives, if they are made in its last line."""
        made = (self.folded_stmt(result) for result in block.results)
        return next((stmt.loc for stmt in made if stmt is not None), None)

    def folded_stmt(self, atom: Atom) -> Stmt | None:
        """What makes a value that is printed where it is read."""
        if isinstance(atom, Var) and atom in self.folding.folded:
            return self.folding.definitions[atom]
        return None

    # -- statements

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            self.stmt(stmt)

    def stmt(self, stmt: Stmt) -> None:
        values, loc = self.values, stmt.loc
        match stmt:
            case Let(out=out) | Load(out=out):
                if self.folding.printed(out):
                    self.set(self.names.name(out), values.value(stmt), stmt, loc)
            case Alloc(out=out):
                if self.folding.printed(out):
                    self.line(f"{self.names.name(out)} = {values.alloc(stmt)}", loc)
            case View(out=out, array=array, how=how):
                if self.folding.printed(out):
                    self.line(f"{self.names.name(out)} = {values.view(array, how)}", loc)
            case Store(array=array, index=index, value=value):
                update = self.folding.updates.get(id(stmt))
                symbol, new = (update.symbol, update.value) if update else ("=", value)
                target = f"{values.text(array)}[{values.index(index)}]"
                self.line(f"{target} {symbol} {values.text(new)}", loc)
            case For():
                self.for_loop(stmt)
            case While():
                self.while_loop(stmt)
            case If():
                self.branch(stmt)
            case Library(op=op, reads=reads, writes=writes):
                self.libraries.add(op)
                self.line(f"{op}({', '.join(map(values.text, (*reads, *writes)))})", loc)
            case Grow() if id(stmt) in self.folding.moved:
                pass
            case Grow(array=array, length=length):
                values.support.add("grow")
                name = values.text(array)
                self.line(f"{name} = grow({name}, {values.text(length)})", loc)
            case Assert(cond=cond):
                self.line(f"if not {values.above(cond, 3)}:", loc)
                self.line(f"    raise {self.raised(stmt)}")
            case Print(pieces=pieces):
                texts = (repr(p) if isinstance(p, str) else values.text(p) for p in pieces)
                self.line(f"print({', '.join(texts)})", loc)
            case Call():
                self.call(stmt)
            case Map() | Sealed():
                raise AssertionError("maps and promises are gone before code generation")
            case _:
                assert_never(stmt)

    def call(self, stmt: Call) -> None:
        """A call under exactly the types of the parameters: Numba compiles the callee once."""
        callee = next(f for f in (*self.function.callees, self.function) if f.name == stmt.callee)
        pairs = zip(stmt.args, callee.params, strict=True)
        args = ", ".join(self.passed(arg, param) for arg, param in pairs)
        names = [self.names.name(v) if self.folding.needed(v) else "_" for v in stmt.outs]
        comma = "," if len(names) == 1 else ""
        target = f"{', '.join(names)}{comma} = " if names else ""
        self.line(f"{target}{stmt.callee}({args})", stmt.loc)

    def passed(self, arg: Atom, param: Var) -> str:
        text = self.values.text(arg)
        if isinstance(arg.type, Array) and isinstance(param.type, Array):
            loose = param.type.layout == "A" and arg.type.layout != "A"
            return f"{text}[::1]" if loose else text
        if isinstance(arg, Const) or arg in self.folding.folded:
            return text if arg.type.dtype == "float64" else f"np.{arg.type.dtype}({text})"
        return text

    def raised(self, stmt: Assert) -> str:
        message = stmt.message.encode("unicode_escape").decode().replace('"', '\\"')
        if not stmt.args:
            return f'{stmt.error}("{message}")'
        pieces = [piece.replace("{", "{{").replace("}", "}}") for piece in message.split("{}")]
        holes = [f"{{{self.values.text(arg)}}}" for arg in stmt.args]
        text = "".join(a + b for a, b in zip(pieces, [*holes, ""], strict=True))
        return f'{stmt.error}(f"{text}")'

    def set(self, name: str, value: Text, stmt: Stmt | None, loc: Loc | None) -> None:
        """`name = value`, or an update of the name."""
        if isinstance(stmt, Let) and stmt.op in UPDATES and value[1] in (ADD, MULTIPLY):
            left, *right = map(self.values.text, stmt.args)
            if stmt.op in ("add", "mul") and right == [name]:
                left, right = name, [left]
            if left == name:
                self.line(f"{name} {UPDATES[stmt.op]} {right[0]}", loc)
                return
        self.line(f"{name} = {value[0]}", loc)

    # -- blocks

    def assign(self, pairs: Sequence[tuple[Var, Atom]]) -> None:
        """Sets carried names or outs as if all at once: a value may read names set here."""
        left: list[tuple[str, Atom, frozenset[str]]] = []
        for var, value in pairs:
            if self.folding.needed(var):
                read = frozenset(map(self.names.name, self.folding.leaves(value)))
                name = self.names.name(var)
                if self.values.text(value) != name:
                    left.append((name, value, read))
        while left:
            free = next((one for one in left if not _read_by_others(one, left)), None)
            if free is None:
                names, values, _ = zip(*left, strict=True)
                self.line(f"{', '.join(names)} = {', '.join(map(self.values.text, values))}")
                return
            left.remove(free)
            name, value, _ = free
            stmt = self.folded_stmt(value)
            self.set(name, self.values.atom(value), stmt, stmt.loc if stmt else None)

    def body(self, block: Block, names: Sequence[Var], *after: str) -> None:
        """The lines of an inner block, at least one."""
        self.depth += 1
        start = len(self.lines)
        self.block(block)
        self.assign(list(zip(names, block.results, strict=True)))
        for text in after:
            self.line(text)
        if all(text.lstrip().startswith("#") for text in self.lines[start:]):
            self.line("pass")
        self.depth -= 1

    def for_loop(self, loop: For) -> None:
        self.assign(loop.carried)
        over = self.folding.ranges[id(loop)]
        name = "_"
        if self.folding.needed(over.var):
            name = self.names.counter(over.var, over.hint)
        if over.counts_up_from_constant:
            self.values.counting_up.add(over.var)
        start, stop = (self.values.linear(end)[0] for end in (over.start, over.stop))
        bounds = [start, stop, str(over.step)]
        if over.step == 1:
            bounds.pop()
            if over.start == Linear():
                bounds.pop(0)
        self.line(f"for {name} in range({', '.join(bounds)}):", loop.loc)
        self.body(loop.body, [carried for carried, _ in loop.carried])

    def while_loop(self, loop: While) -> None:
        self.assign(loop.carried)
        after = []
        if self.folding.needed(loop.index):
            index = self.names.name(loop.index)
            self.line(f"{index} = 0")
            after.append(f"{index} += 1")
            self.values.counting_up.add(loop.index)
        names = [name for name, _ in loop.carried]
        go = self.names.name(names[0])
        self.line(f"while {go}:", loop.loc)
        tapes = self.folding.tapes.get(id(loop))
        if tapes is None:
            self.body(loop.body, names, *after)
            return
        self.depth += 1
        self.with_room(loop, tapes, go, lambda: self.body(loop.body, names, *after))
        self.depth -= 1

    def with_room(self, loop: While, tapes: Tapes, go: str, body: Callable[[], None]) -> None:
        """Iterations as long as the tapes have room, then longer tapes (NUMBA section 6)."""
        index = self.names.name(loop.index)
        room = self.names.fresh("room")
        self.line(f"{room} = {self.room(tapes)}")
        self.line(f"while {go} and {index} < {room}:")
        body()
        self.line(f"if {go}:")
        self.values.support.add("grow")
        for array, filled in tapes:
            name = self.values.text(array)
            length = filled.plus(Linear(((loop.index, 1),), 1))
            self.line(f"{INDENT}{name} = grow({name}, {self.values.linear(length)[0]})")

    def room(self, tapes: Tapes) -> str:
        """For how many iterations all tapes have room that hold `filled` elements already."""
        ends = []
        for array, filled in tapes:
            text, level = self.values.linear(filled)
            less = "" if filled == Linear() else f" - {text if level > ADD else f'({text})'}"
            ends.append(f"{self.values.text(array)}.shape[0]{less}")
        return ends[0] if len(ends) == 1 else f"min({', '.join(ends)})"

    def branch(self, branch: If) -> None:
        """If and else; `elif` where the else arm is one branch alone."""
        place = self.place
        start = len(self.lines)
        self.line(f"if {self.values.text(branch.cond)}:", branch.loc)
        head = len(self.lines)
        self.body(branch.then, branch.outs)
        middle = len(self.lines)
        self.body(branch.orelse, branch.outs)
        then, orelse = self.lines[head:middle], self.lines[middle:]
        del self.lines[middle:]
        pad = INDENT * self.depth
        if _does_nothing(then) and _does_nothing(orelse):
            del self.lines[start:]
            self.place = place
        elif _does_nothing(then):
            self.lines[head - 1 :] = [f"{pad}if not {self.values.above(branch.cond, 3)}:", *orelse]
        elif not _does_nothing(orelse):
            chain = _only_branch(orelse, len(pad) + len(INDENT))
            self.lines += chain or [f"{pad}else:", *orelse]


def _read_by_others(
    one: tuple[str, Atom, frozenset[str]], left: list[tuple[str, Atom, frozenset[str]]]
) -> bool:
    return any(one[0] in other[2] for other in left if other is not one)


def _does_nothing(lines: list[str]) -> bool:
    return all(line.lstrip().startswith("#") or line.strip() == "pass" for line in lines)


def _only_branch(lines: list[str], indent: int) -> list[str]:
    """The lines of an else arm that is one `if` as an `elif`; empty if it is more."""
    while lines and lines[0].lstrip().startswith("#"):
        lines = lines[1:]
    pad = " " * indent
    own = [line for line in lines if not line.startswith(pad + " ")]
    heads = ("if ", "elif ", "else:")
    if not own or own[0] != lines[0] or not all(line[indent:].startswith(heads) for line in own):
        return []
    if sum(line[indent:].startswith("if ") for line in own) != 1:
        return []
    shifted = [line[len(INDENT) :] for line in lines]
    shifted[0] = shifted[0].replace("if ", "elif ", 1)
    return shifted
