"""What nothing needs: values, carried names, loops, and stores into memory that nothing reads.

Needed are the results, the assertions, and what is written into arrays from outside; then, until
nothing is added, what these read, the branches and loops around them, and every write to memory of
the function's own that a needed statement reads. A value carried only to compute itself is not
needed, nor is an array that is only read to be written.
"""

from collections.abc import Iterable
from dataclasses import replace

from srcad.ir.aliases import Memory, memory, targets
from srcad.ir.nodes import (
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
    Print,
    Stmt,
    Var,
    While,
)
from srcad.ir.types import Array
from srcad.ir.walk import blocks, defs, operands, params


def liveness(function: Function) -> Function:
    """The function without what nothing needs. Cost: one walk and one visit per needed value."""
    needed = Needed(function, memory(function))
    return replace(function, body=_kept(function.body, needed))


class Needed:
    """The statements (by id), variables and classes of memory that are needed."""

    def __init__(self, function: Function, classes: Memory) -> None:
        self.classes = classes
        self.stmts: set[int] = set()
        self.vars: set[Var] = set()
        self.read: set[Var] = set()  # classes of memory
        self.owner: dict[Var, Stmt] = {}
        self.holder: dict[int, Stmt | None] = {}  # the statement around each
        self.writers: dict[Var, list[Stmt]] = {}
        self.todo: list[Var] = []
        self.roots: list[Stmt] = []
        self._index(function.body, None)
        for result in function.body.results:
            self.value(result)
            self.memory_of(result)
        for stmt in self.roots:
            self.statement(stmt)
        while self.todo:
            self.variable(self.todo.pop())

    def _index(self, block: Block, around: Stmt | None) -> None:
        for stmt in block.stmts:
            self.holder[id(stmt)] = around
            for var in (*defs(stmt), *params(stmt)):
                self.owner[var] = stmt
            for array in targets(stmt):
                self.writers.setdefault(self.classes.key(array), []).append(stmt)
            if isinstance(stmt, Assert | Print | Call) or not all(
                map(self.classes.local, targets(stmt))
            ):
                self.roots.append(stmt)
            for inner in blocks(stmt):
                self._index(inner, stmt)

    # -- marking

    def value(self, atom: Atom) -> None:
        if isinstance(atom, Var) and atom not in self.vars:
            self.vars.add(atom)
            self.todo.append(atom)

    def values(self, atoms: Iterable[Atom]) -> None:
        for atom in atoms:
            self.value(atom)

    def memory_of(self, atom: Atom) -> None:
        """The elements of an array are read: every write to them is needed."""
        if not isinstance(atom, Var) or not isinstance(atom.type, Array):
            return
        key = self.classes.key(atom)
        if key not in self.read:
            self.read.add(key)
            for stmt in self.writers.get(key, ()):
                self.statement(stmt)

    def statement(self, stmt: Stmt | None) -> None:
        """The statement is executed, and what stands around it."""
        while stmt is not None and id(stmt) not in self.stmts:
            self.stmts.add(id(stmt))
            match stmt:
                case For(stop=stop):
                    self.value(stop)
                case While(carried=carried):
                    self.value(carried[0][0])
                case If(cond=cond):
                    self.value(cond)
                case _:
                    self.values(operands(stmt))
            match stmt:
                case Load(array=array):
                    self.memory_of(array)
                case Call(args=args):
                    for arg in args:
                        self.memory_of(arg)
                case Library(reads=reads):
                    for array in reads:
                        self.memory_of(array)
                case Let(op="dim", args=(Var() as array, _)) if self.classes.grows(array):
                    for writer in self.writers.get(self.classes.key(array), ()):
                        if isinstance(writer, Grow):
                            self.statement(writer)
                case Print():
                    for piece in operands(stmt):
                        self.memory_of(piece)
                case Map(body=body):
                    self.values(body.results)
                case _:
                    pass
            stmt = self.holder[id(stmt)]

    def variable(self, var: Var) -> None:
        """What makes the value: a statement, or what is handed on under this name."""
        stmt = self.owner.get(var)
        if stmt is None:
            return
        self.statement(stmt)
        match stmt:
            case For(carried=carried, outs=outs) | While(carried=carried, outs=outs):
                for k, (name, init) in enumerate(carried):
                    if var in (name, outs[k]):
                        self.values((name, init, stmt.body.results[k]))
            case If(outs=outs, then=then, orelse=orelse):
                if var in outs:
                    k = outs.index(var)
                    self.values((then.results[k], orelse.results[k]))
            case _:
                pass


def _kept(block: Block, needed: Needed) -> Block:
    stmts = tuple(_shrunk(stmt, needed) for stmt in block.stmts if id(stmt) in needed.stmts)
    return replace(block, stmts=stmts)


def _shrunk(stmt: Stmt, needed: Needed) -> Stmt:
    match stmt:
        case For(carried=carried) | While(carried=carried):
            keep = [k for k, (name, _) in enumerate(carried) if name in needed.vars]
            return replace(
                stmt,
                carried=tuple(carried[k] for k in keep),
                body=_with_results(stmt.body, keep, needed),
                outs=tuple(stmt.outs[k] for k in keep),
            )
        case If(then=then, orelse=orelse, outs=outs):
            keep = [k for k, out in enumerate(outs) if out in needed.vars]
            return replace(
                stmt,
                then=_with_results(then, keep, needed),
                orelse=_with_results(orelse, keep, needed),
                outs=tuple(outs[k] for k in keep),
            )
        case Map(body=body):
            return replace(stmt, body=_kept(body, needed))
        case _:
            return stmt


def _with_results(block: Block, keep: list[int], needed: Needed) -> Block:
    return replace(_kept(block, needed), results=tuple(block.results[k] for k in keep))
