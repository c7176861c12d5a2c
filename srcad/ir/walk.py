"""Questions about blocks, and rebuilding them: uses, definitions, substitution, fresh copies."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import assert_never

from srcad.ir.builder import Builder
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
    Index,
    Let,
    Library,
    Load,
    Map,
    NewAxis,
    Permute,
    Print,
    Reshape,
    Sealed,
    Slice,
    Stmt,
    Store,
    Subscript,
    Var,
    View,
    While,
)


def blocks(stmt: Stmt) -> tuple[Block, ...]:
    """The blocks that a statement owns."""
    match stmt:
        case Map(body=body) | For(body=body) | While(body=body):
            return (body,)
        case If(then=then, orelse=orelse):
            return (then, orelse)
        case _:
            return ()


def map_blocks(stmt: Stmt, change: Callable[[Block], Block]) -> Stmt:
    """The statement with its blocks changed."""
    match stmt:
        case Map(body=body) | For(body=body) | While(body=body):
            return replace(stmt, body=change(body))
        case If(then=then, orelse=orelse):
            return replace(stmt, then=change(then), orelse=change(orelse))
        case _:
            return stmt


def walk(block: Block) -> Iterator[Stmt]:
    """Every statement, inner ones after the one that holds them."""
    for stmt in block.stmts:
        yield stmt
        for inner in blocks(stmt):
            yield from walk(inner)


def defs(stmt: Stmt) -> tuple[Var, ...]:
    """The names that a statement defines in its own block."""
    match stmt:
        case Let(out=out) | Load(out=out) | Alloc(out=out) | View(out=out) | Map(out=out):
            return (out,)
        case For(outs=outs) | If(outs=outs) | Call(outs=outs):
            return outs
        case While(outs=outs, trips=trips):
            return (*outs, trips)
        case Store() | Library() | Grow() | Assert() | Print() | Sealed():
            return ()
        case _:
            assert_never(stmt)


def params(stmt: Stmt) -> tuple[Var, ...]:
    """The names that a statement defines for its inner blocks."""
    match stmt:
        case Map(indices=indices):
            return indices
        case For(index=index, carried=carried) | While(index=index, carried=carried):
            return (index, *(name for name, _ in carried))
        case _:
            return ()


def how_atoms(how: Subscript | Permute | Reshape) -> tuple[Atom, ...]:
    """The integers that a view reads."""
    match how:
        case Permute():
            return ()
        case Reshape(shape=shape):
            return shape
        case Subscript(items=items):
            found: list[Atom] = []
            for item in items:
                match item:
                    case Index(at=at):
                        found.append(at)
                    case Slice(start=start, length=length, step=step):
                        found += [start, length, step]
                    case NewAxis():
                        pass
            return tuple(found)


def operands(stmt: Stmt) -> tuple[Atom, ...]:
    """What a statement itself reads, inner blocks left out."""
    match stmt:
        case Let(args=args):
            return args
        case Load(array=array, index=index):
            return (array, *index)
        case Store(array=array, index=index, value=value):
            return (array, *index, value)
        case Alloc(shape=shape) | Map(shape=shape):
            return shape
        case View(array=array, how=how):
            return (array, *how_atoms(how))
        case For(stop=stop, carried=carried):
            return (stop, *(init for _, init in carried))
        case While(carried=carried):
            return tuple(init for _, init in carried)
        case If(cond=cond):
            return (cond,)
        case Library(reads=reads, writes=writes):
            return (*reads, *writes)
        case Grow(array=array, length=length):
            return (array, length)
        case Assert(cond=cond, args=args):
            return (cond, *args)
        case Call(args=args):
            return args
        case Sealed(array=array):
            return (array,)
        case Print(pieces=pieces):
            return tuple(piece for piece in pieces if not isinstance(piece, str))
        case _:
            assert_never(stmt)


def variables(atoms: Iterable[Atom]) -> Iterator[Var]:
    """The variables among atoms."""
    return (atom for atom in atoms if isinstance(atom, Var))


def uses(stmt: Stmt) -> set[Var]:
    """Every variable that a statement reads from outside, inner blocks included."""
    found = set(variables(operands(stmt)))
    for block in blocks(stmt):
        found |= free(block) - set(params(stmt))
    return found


def free(block: Block) -> set[Var]:
    """The variables that a block reads and does not define."""
    found = set(variables(block.results))
    for stmt in reversed(block.stmts):
        found.difference_update(defs(stmt))
        found |= uses(stmt)
    return found


def is_pure(stmt: Stmt) -> bool:
    """Whether a statement has no effect but its definitions: it may be dropped if unused.

    Stores into an array allocated inside count as effects here; see `transform.simplify`.
    """
    match stmt:
        case Let() | Load() | Alloc() | View() | Map():
            return True
        case For() | If():
            return all(is_pure(inner) for block in blocks(stmt) for inner in block.stmts)
        case While() | Call() | Store() | Library() | Grow() | Assert() | Print() | Sealed():
            return False
        case _:
            assert_never(stmt)


def next_id(function: Function) -> int:
    """A number above every variable's."""
    top = max((v.id for v in function.params), default=-1)
    for stmt in walk(function.body):
        for var in (*defs(stmt), *params(stmt)):
            top = max(top, var.id)
    return top + 1


# -- rebuilding


def map_how(
    how: Subscript | Permute | Reshape, atom: Callable[[Atom], Atom]
) -> Subscript | Permute | Reshape:
    """The same view with every integer replaced by `atom` of it."""
    match how:
        case Permute():
            return how
        case Reshape(shape=shape):
            return Reshape(tuple(map(atom, shape)))
        case Subscript(items=items):
            new: list[Index | Slice | NewAxis] = []
            for item in items:
                match item:
                    case Index(at=at):
                        new.append(Index(atom(at)))
                    case Slice(start=start, length=length, step=step):
                        new.append(Slice(atom(start), atom(length), atom(step)))
                    case NewAxis():
                        new.append(item)
            return Subscript(tuple(new))


class Renamer:
    """Rebuilds statements with atoms replaced; with a builder, definitions get fresh names."""

    def __init__(self, mapping: Mapping[Var, Atom], builder: Builder | None = None) -> None:
        self.mapping: dict[Var, Atom] = dict(mapping)
        self.builder = builder

    def atom(self, atom: Atom) -> Atom:
        return atom if isinstance(atom, Const) else self.mapping.get(atom, atom)

    def var(self, var: Var) -> Var:
        new = self.mapping.get(var, var)
        assert isinstance(new, Var), f"{var} must stay a variable"
        return new

    def define(self, var: Var) -> Var:
        if self.builder is None:
            return var
        new = self.builder.like(var)
        self.mapping[var] = new
        return new

    def atoms(self, atoms: tuple[Atom, ...]) -> tuple[Atom, ...]:
        return tuple(map(self.atom, atoms))

    def block(self, block: Block) -> Block:
        stmts = tuple(self.stmt(stmt) for stmt in block.stmts)
        return Block(stmts, self.atoms(block.results))

    def carried(self, carried: tuple[tuple[Var, Atom], ...]) -> tuple[tuple[Var, Atom], ...]:
        inits = [self.atom(init) for _, init in carried]
        return tuple(
            (self.define(name), init) for (name, _), init in zip(carried, inits, strict=True)
        )

    def stmt(self, stmt: Stmt) -> Stmt:
        match stmt:
            case Let(out=out, args=args):
                new = self.atoms(args)
                return replace(stmt, args=new, out=self.define(out))
            case Load(out=out, array=array, index=index):
                array, index = self.var(array), self.atoms(index)
                return replace(stmt, array=array, index=index, out=self.define(out))
            case Store(array=array, index=index, value=value):
                return replace(
                    stmt,
                    array=self.var(array),
                    index=self.atoms(index),
                    value=self.atom(value),
                )
            case Alloc(out=out, shape=shape):
                return replace(stmt, shape=self.atoms(shape), out=self.define(out))
            case View(out=out, array=array, how=how):
                array, how = self.var(array), map_how(how, self.atom)
                return replace(stmt, array=array, how=how, out=self.define(out))
            case Map(out=out, shape=shape, indices=indices, body=body):
                shape = self.atoms(shape)
                indices = tuple(map(self.define, indices))
                body = self.block(body)
                return replace(stmt, shape=shape, indices=indices, body=body, out=self.define(out))
            case For(index=index, stop=stop, carried=carried, body=body, outs=outs):
                stop, carried = self.atom(stop), self.carried(carried)
                index = self.define(index)
                body = self.block(body)
                outs = tuple(map(self.define, outs))
                return replace(stmt, index=index, stop=stop, carried=carried, body=body, outs=outs)
            case While(index=index, carried=carried, body=body, outs=outs, trips=trips):
                carried, index = self.carried(carried), self.define(index)
                body = self.block(body)
                outs, trips = tuple(map(self.define, outs)), self.define(trips)
                return replace(
                    stmt, index=index, carried=carried, body=body, outs=outs, trips=trips
                )
            case If(cond=cond, then=then, orelse=orelse, outs=outs):
                cond, then, orelse = self.atom(cond), self.block(then), self.block(orelse)
                outs = tuple(map(self.define, outs))
                return replace(stmt, cond=cond, then=then, orelse=orelse, outs=outs)
            case Library(reads=reads, writes=writes):
                return replace(
                    stmt,
                    reads=tuple(map(self.var, reads)),
                    writes=tuple(map(self.var, writes)),
                )
            case Grow(array=array, length=length):
                return replace(stmt, array=self.var(array), length=self.atom(length))
            case Assert(cond=cond, args=args):
                return replace(stmt, cond=self.atom(cond), args=self.atoms(args))
            case Call(args=args, writes=writes, outs=outs):
                args, writes = self.atoms(args), tuple(map(self.var, writes))
                outs = tuple(map(self.define, outs))
                return replace(stmt, args=args, writes=writes, outs=outs)
            case Sealed(array=array):
                return replace(stmt, array=self.var(array))
            case Print(pieces=pieces):
                new_pieces = (p if isinstance(p, str) else self.atom(p) for p in pieces)
                return replace(stmt, pieces=tuple(new_pieces))
            case _:
                assert_never(stmt)


def substitute(block: Block, mapping: Mapping[Var, Atom]) -> Block:
    """The block with free variables replaced; definitions keep their names."""
    return Renamer(mapping).block(block) if mapping else block


def inline(builder: Builder, body: Block, mapping: Mapping[Var, Atom]) -> tuple[Atom, ...]:
    """Adds a fresh copy of the block's statements to the builder; returns its results."""
    renamer = Renamer(mapping, builder)
    for stmt in body.stmts:
        builder.add(renamer.stmt(stmt))
    return renamer.atoms(body.results)


class _Caller(Renamer):
    """Replaces variables by themselves under another hint, definitions too."""

    def define(self, var: Var) -> Var:
        return self.var(var)


def called(function: Function, names: Mapping[Var, str]) -> Function:
    """The function with other hints for some variables that its statements define."""
    renamer = _Caller({var: replace(var, hint=name) for var, name in names.items()})
    return replace(function, body=renamer.block(function.body)) if names else function
