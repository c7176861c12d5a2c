"""Tangent mode: every varied value gets a tangent beside it, every varied array a tangent array.

The exact partner of the adjoint: it uses the same contributions.
"""

from collections.abc import Iterable
from dataclasses import replace

from srcad import ops
from srcad.ir.builder import Builder
from srcad.ir.nodes import (
    Alloc,
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
    Stmt,
    Store,
    Var,
    View,
    While,
    array_type,
    const,
)
from srcad.ir.trees import Group, Leaf, Tree
from srcad.ir.types import Array, Layout, Type, is_float
from srcad.ir.walk import next_id
from srcad.transform.activity import activity
from srcad.transform.facts import facts
from srcad.transform.requests import Request, request_of
from srcad.transform.reverse import each_element
from srcad.transform.rules import contribution, differentiable
from srcad.transform.simplify import simplify


def tangent(function: Function, wrt: tuple[int, ...]) -> Function:
    """The function of (*parameters, *tangents) that gives (*results, *result tangents), flat.

    There is one tangent per parameter in `wrt`, and one per float result.
    """
    made = Tangent(function, wrt)
    todo, known = made.requests, {one.name: one for one in function.callees}
    whole = made.run()
    while todo:
        name, request = todo.popitem()
        if name in known:
            continue
        inner = Tangent(replace(request.callee, callees=tuple(known.values())), request.places)
        known[name] = simplify(replace(inner.called(), name=name))
        todo |= inner.requests
    return replace(whole, callees=tuple(known.values()))


class Tangent:
    def __init__(self, function: Function, wrt: tuple[int, ...]) -> None:
        self.function = function
        self.found = facts(function)
        self.wanted = tuple(function.params[k] for k in wrt)
        self.active = activity(function, self.found, self.wanted)
        self.builder = Builder(next_id(function))
        self.dots: dict[Var, Atom] = {}
        self.requests: dict[str, Request] = {}  # tangents of functions that are called

    def run(self) -> Function:
        f, builder = self.function, self.builder
        given = [builder.var(p.type, f"{p.hint}_dot") for p in self.wanted]
        for param, dot in zip(self.wanted, given, strict=True):
            self.dots[param] = self.copied(dot) if isinstance(dot.type, Array) else dot
        for param in f.params:
            if isinstance(param.type, Array) and self.active.is_varied(param):
                if param not in self.dots:
                    self.dots[param] = self.zeros(param, self.dims(param))
        self.block(f.body)
        floats = [r for r in f.body.results if is_float(r.type)]
        dots = tuple(self.array_dot(r) if isinstance(r.type, Array) else self.dot(r)
                     for r in floats)  # fmt: skip
        takes: list[tuple[str, Tree]] = [*f.takes, ("tangents", Group((Leaf(),) * len(given)))]
        gives = Group((f.gives, Group((Leaf(),) * len(floats))))
        body = builder.finish(*f.body.results, *dots)
        return Function(
            f"{f.name}_tangent", (*f.params, *given), body, tuple(takes), gives, f.captured, f.loc
        )

    def called(self) -> Function:
        """The tangent program that a call is replaced by: arrays' tangents are changed in place."""
        f, builder = self.function, self.builder
        given: list[Var] = []
        for param in self.wanted:
            kind = param.type
            if isinstance(kind, Array):
                kind = replace(kind, layout="A", writable=True)
            given.append(builder.var(kind, f"{param.hint}_dot"))
            self.dots[param] = given[-1]
        self.block(f.body)
        floats = [r for r in f.body.results if is_float(r.type)]
        dots = tuple(self.handed(r) for r in floats)
        params = (*f.params, *given)
        return Function(
            f"{f.name}_tangent",
            params,
            builder.finish(*f.body.results, *dots),
            tuple((p.hint, Leaf()) for p in params),
            Group((Leaf(),) * (len(f.body.results) + len(dots))),
            0,
            f.loc,
        )

    # -- tangents of values

    def dot(self, atom: Atom) -> Atom:
        zero = const(0.0, atom.type.dtype)
        return self.dots.get(atom, zero) if isinstance(atom, Var) else zero

    def dims(self, array: Var) -> tuple[Atom, ...]:
        return tuple(self.builder.dim(array, k) for k in range(array_type(array).ndim))

    def zeros(self, array: Var, shape: tuple[Atom, ...]) -> Var:
        kind = array_type(array)
        layout: Layout = "F" if kind.layout == "F" else "C"
        zero = const(0.0, kind.dtype)
        return self.builder.alloc(kind.dtype, shape, zero, f"{array.hint}_dot", layout)

    def copied(self, given: Var) -> Var:
        """The caller's tangent stays as it is: the program may write into its own."""
        copy = self.zeros(replace(given, hint=given.hint.removesuffix("_dot")), self.dims(given))
        each_element(
            self.builder,
            given,
            lambda index: self.builder.store(copy, index, self.builder.load(given, *index)),
        )
        return copy

    def array_dot(self, array: Atom) -> Var:
        assert isinstance(array, Var)
        dot = self.dots.get(array)
        if dot is None:
            dot = self.dots[array] = self.zeros(array, self.dims(array))
        assert isinstance(dot, Var)
        return dot

    def varied(self, atom: Atom) -> bool:
        return self.active.is_varied(atom)

    # -- statements

    def block(self, block: Block) -> None:
        for stmt in block.stmts:
            with self.builder.at(stmt.loc):
                self.stmt(stmt)

    def stmt(self, stmt: Stmt) -> None:
        match stmt:
            case For() | While():
                self.loop(stmt)
                return
            case If():
                self.branch(stmt)
                return
            case Store(array=array, index=index, value=value) if self.varied(array):
                self.builder.store(self.array_dot(array), index, self.dot(value))
            case Library():
                self.library(stmt)
                return
            case Call() if any(map(self.varied, (*stmt.outs, *stmt.writes))):
                self.call(stmt)
                return
            case _:
                pass
        self.builder.add(stmt)
        match stmt:
            case Let(out=out) if self.varied(out):
                self.let(stmt)
            case Load(out=out, array=array, index=index) if self.varied(array):
                self.dots[out] = self.builder.load(
                    self.array_dot(array), *index, hint=f"{out.hint}_dot"
                )
            case Alloc(out=out, shape=shape) if self.varied(out):
                self.dots[out] = self.zeros(out, shape)
            case View(out=out, array=array, how=how) if self.varied(array):
                self.dots[out] = self.builder.view(
                    self.array_dot(array), how, hint=f"{out.hint}_dot"
                )
            case Grow(array=array, length=length) if self.varied(array):
                self.builder.grow(self.array_dot(array), length)
            case _:
                pass

    def let(self, let: Let) -> None:
        total: Atom | None = None
        for k, arg in enumerate(let.args):
            if not differentiable(let, k) or not self.varied(arg):
                continue
            given = self.dot(arg)
            if isinstance(given, Const) and given.value == 0.0:
                continue
            values = (*let.args, let.out)
            polar = any(self.active.is_polar(o) for o in values if is_float(o.type))
            more = contribution(self.builder, let, k, given, polar)
            total = more if total is None else ops.apply(self.builder, "add", total, more)
        if total is not None:
            self.dots[let.out] = total

    def library(self, stmt: Library) -> None:
        """Bilinear: out_dot = a_dot @ b + a @ b_dot."""
        (a, b), (out,) = stmt.reads, stmt.writes
        pairs: list[tuple[Var, Var]] = []
        if self.varied(a):
            pairs.append((self.array_dot(a), b))
        if self.varied(b):
            pairs.append((a, self.array_dot(b)))
        name = stmt.op
        for pair in pairs:
            self.builder.library(name, pair, (self.array_dot(out),))
            name = "matmul_add"
        self.builder.add(stmt)

    def call(self, stmt: Call) -> None:
        """The callee's tangent program: values and tangents in one call."""
        request = request_of(
            "tangent", self.function, stmt.callee, tuple(map(self.varied, stmt.args))
        )
        self.requests[request.name] = request
        wanted = [a for a, w in zip(stmt.args, request.pattern, strict=True) if w]
        dots = [self.handed(arg) for arg in wanted]
        changed = [
            dot for arg, dot in zip(wanted, dots, strict=True) if isinstance(arg.type, Array)
        ]
        outs = list(stmt.outs)
        for out in stmt.outs:
            if is_float(out.type):
                dot = self.builder.like(out, f"{out.hint}_dot")
                self.dots[out] = dot
                outs.append(dot)
        writes = (*stmt.writes, *(dot for dot in changed if isinstance(dot, Var)))
        args = (*stmt.args, *dots)
        self.builder.add(Call(request.name, args, tuple(outs), writes, stmt.loc))

    def joined(self, names: Iterable[Var]) -> list[int]:
        return [k for k, name in enumerate(names) if self.varied(name)]

    def handed(self, atom: Atom) -> Atom:
        return self.array_dot(atom) if isinstance(atom.type, Array) else self.dot(atom)

    def loop(self, loop: For | While) -> None:
        builder, saved = self.builder, dict(self.dots)
        names = [name for name, _ in loop.carried]
        places = self.joined(names)
        more: list[tuple[Var, Atom]] = []
        for k in places:
            name, init = loop.carried[k]
            first = self.handed(init)
            more.append((builder.var(_kind(name, first), f"{name.hint}_dot"), first))
        with builder.block() as body:
            for k, (dot, _) in zip(places, more, strict=True):
                self.dots[names[k]] = dot
            self.block(loop.body)
            results = [self.handed(loop.body.results[k]) for k in places]
        self.dots = saved
        outs = [builder.like(dot) for dot, _ in more]
        builder.add(
            replace(
                loop,
                carried=(*loop.carried, *more),
                body=body.finish(*loop.body.results, *results),
                outs=(*loop.outs, *outs),
            )
        )
        for k, out in zip(places, outs, strict=True):
            self.dots[loop.outs[k]] = out

    def branch(self, branch: If) -> None:
        builder, saved = self.builder, dict(self.dots)
        places = self.joined(branch.outs)
        arms: list[Block] = []
        kinds: list[Atom] = []
        for arm in (branch.then, branch.orelse):
            with builder.block() as body:
                self.block(arm)
                kinds = [self.handed(arm.results[k]) for k in places]
            arms.append(body.finish(*arm.results, *kinds))
            self.dots = dict(saved)
        outs = [
            builder.var(_kind(branch.outs[k], kind), f"{branch.outs[k].hint}_dot")
            for k, kind in zip(places, kinds, strict=True)
        ]
        builder.add(replace(branch, then=arms[0], orelse=arms[1], outs=(*branch.outs, *outs)))
        for k, out in zip(places, outs, strict=True):
            self.dots[branch.outs[k]] = out


def _kind(name: Var, dot: Atom) -> Type:
    """The type of the tangent of a joined name: of several layouts, like the name."""
    if isinstance(name.type, Array) and isinstance(dot.type, Array) and name.type.layout == "A":
        return replace(dot.type, layout="A")
    return dot.type
