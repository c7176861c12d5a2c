"""Checks the contracts of `nodes`; run between passes in the tests and under SRCAD_CHECK=1.

It re-derives scoping and types. It does not see an index out of range, nor a wrong formula.
"""

from collections.abc import Callable
from typing import assert_never

from srcad.errors import InternalError
from srcad.ir.builder import view_type
from srcad.ir.nodes import (
    Alloc,
    Assert,
    Atom,
    Block,
    Call,
    For,
    Function,
    Grow,
    If,
    Let,
    Library,
    Load,
    Map,
    NewAxis,
    Print,
    Sealed,
    Stmt,
    Store,
    Subscript,
    Var,
    View,
    While,
    array_type,
)
from srcad.ir.trees import leaves
from srcad.ir.types import BOOL, INT, Array, Scalar, Type
from srcad.ir.walk import defs, how_atoms, operands, params, variables

Typing = Callable[[str, tuple[Type, ...]], Type | None]


def verify(function: Function, typing: Typing, *, stage: str = "", maps: bool = True) -> None:
    """Raises InternalError where the function breaks a contract.

    `typing(op, argument types)` gives the result type of an operation, None where it depends on
    more (a cast); `maps` says whether Map statements may be left; `stage` goes into the message.
    """
    Verifier(function, typing, stage, maps).run()


class Verifier:
    def __init__(self, function: Function, typing: Typing, stage: str, maps: bool) -> None:
        self.function, self.typing, self.stage, self.maps = function, typing, stage, maps
        self.seen: set[int] = set()

    def fail(self, text: str) -> None:
        raise InternalError(f"{self.stage or 'the IR'}: in {self.function.name}: {text}")

    def need(self, condition: bool, text: str) -> None:
        if not condition:
            self.fail(text)

    def run(self) -> None:
        f = self.function
        for param in f.params:
            self.define(param)
        self.block(f.body, frozenset(f.params))
        count = f.captured + sum(leaves(tree) for _, tree in f.takes)
        self.need(count == len(f.params), f"{len(f.params)} parameters for {count} leaves")
        given = leaves(f.gives)
        self.need(given == len(f.body.results), f"{len(f.body.results)} results for {given} leaves")

    def define(self, var: Var) -> None:
        self.need(var.id not in self.seen, f"{var} is defined twice")
        self.seen.add(var.id)

    def block(self, block: Block, scope: frozenset[Var]) -> None:
        visible = set(scope)
        for stmt in block.stmts:
            for var in variables(operands(stmt)):
                self.need(var in visible, f"{var} is not visible in {type(stmt).__name__} {stmt}")
            self.stmt(stmt, visible)
            for var in defs(stmt):
                self.define(var)
                visible.add(var)
        for var in variables(block.results):
            self.need(var in visible, f"result {var} is not visible")

    def ints(self, atoms: tuple[Atom, ...], what: str) -> None:
        for atom in atoms:
            self.need(atom.type == INT, f"{what} {atom} is {atom.type}, not int64")

    def same(self, got: Atom, want: Type, what: str) -> None:
        self.need(got.type == want, f"{what}: {got} is {got.type}, not {want}")

    def inner(self, stmt: Stmt, block: Block, visible: set[Var]) -> None:
        for var in params(stmt):
            self.define(var)
        self.block(block, frozenset(visible | set(params(stmt))))

    def carried(
        self, carried: tuple[tuple[Var, Atom], ...], body: Block, outs: tuple[Var, ...]
    ) -> None:
        self.need(len(carried) == len(body.results) == len(outs), "carried, results, outs differ")
        for (name, init), result, out in zip(carried, body.results, outs, strict=True):
            self.joins(init, name.type, f"first value of {name}")
            self.joins(result, name.type, f"next value of {name}")
            self.same(out, name.type, f"last value of {name}")

    def joins(self, got: Atom, want: Type, what: str) -> None:
        """A value handed on under another name; an array may lose layout and writability."""
        if isinstance(want, Array) and isinstance(got.type, Array):
            fits = (got.type.dtype, got.type.ndim) == (want.dtype, want.ndim)
            fits = fits and want.layout in ("A", got.type.layout)
            self.need(fits, f"{what}: {got} is {got.type}, not {want}")
        else:
            self.same(got, want, what)

    def stmt(self, stmt: Stmt, visible: set[Var]) -> None:
        match stmt:
            case Let(out=out, op=op, args=args):
                found = self.typing(op, tuple(arg.type for arg in args))
                if found is not None:
                    self.need(found == out.type, f"{op} gives {found}, not {out.type}: {stmt}")
            case Load(out=out, array=array, index=index):
                self.ints(index, "index")
                self.need(len(index) == array_type(array).ndim, f"indices of {array}")
                self.same(out, Scalar(array_type(array).dtype), f"element of {array}")
            case Store(array=array, index=index, value=value):
                self.ints(index, "index")
                self.need(len(index) == array_type(array).ndim, f"indices of {array}")
                self.same(value, Scalar(array_type(array).dtype), f"stored into {array}")
                self.need(array_type(array).writable, f"store into read-only {array}")
            case Alloc(out=out, shape=shape, fill=fill):
                self.ints(shape, "extent")
                self.need(len(shape) == array_type(out).ndim, f"rank of {out}")
                self.need(array_type(out).layout != "A", f"{out} needs a layout")
                if fill is not None:
                    self.same(fill, Scalar(out.type.dtype), f"fill of {out}")
            case View(out=out, array=array, how=how):
                self.ints(how_atoms(how), "view")
                if isinstance(how, Subscript):
                    axes = sum(not isinstance(item, NewAxis) for item in how.items)
                    self.need(axes == array_type(array).ndim, f"axes of {array}")
                self.same(out, view_type(array_type(array), how), f"view {out}")
            case Map(out=out, shape=shape, indices=indices, body=body):
                self.need(self.maps, f"{out} is still a Map")
                self.need(len(shape) == len(indices) == array_type(out).ndim, f"rank of {out}")
                self.inner(stmt, body, visible)
                self.need(len(body.results) == 1, f"element of {out}")
                self.same(body.results[0], Scalar(out.type.dtype), f"element of {out}")
            case For(index=index, stop=stop, carried=carried, body=body, outs=outs):
                self.ints((index, stop), "loop")
                self.carried(carried, body, outs)
                self.inner(stmt, body, visible)
            case While(index=index, carried=carried, body=body, outs=outs, trips=trips):
                self.ints((index, trips), "loop")
                self.need(bool(carried) and carried[0][0].type == BOOL, "while needs a condition")
                self.carried(carried, body, outs)
                self.inner(stmt, body, visible)
            case If(cond=cond, then=then, orelse=orelse, outs=outs):
                self.same(cond, BOOL, "condition")
                self.need(len(then.results) == len(orelse.results) == len(outs), "arms differ")
                for arm in (then, orelse):
                    self.inner(stmt, arm, visible)
                    for result, out in zip(arm.results, outs, strict=True):
                        self.joins(result, out.type, f"result {out}")
            case Library() | Print() | Sealed() | Call():
                pass
            case Grow(array=array, length=length):
                self.ints((length,), "length")
                self.need(isinstance(array.type, Array), f"{array} cannot grow")
            case Assert(cond=cond):
                self.same(cond, BOOL, "assertion")
            case _:
                assert_never(stmt)
