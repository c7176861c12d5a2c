"""Which values the derivative passes through: varied by an argument and useful for a result.

A fixpoint over scalars and bases of arrays. Names that a loop or a branch joins share their
activity if they are arrays. A third flag, *polar*, marks values that may come from a pole
(division, logarithm, an infinite constant), and a fourth, *exposed*, values that a pole is computed
from: the tangent of the former and the cotangent of the latter may be infinite. Products with
either need `times`, or the two modes disagree where a zero masks the pole. Only a pole at which
the value stays finite (sqrt, not 1/x) exposes: where the value is infinite too, a cotangent that
is not 0 belongs to a result that is infinite itself.
"""

import math
from collections.abc import Iterable
from dataclasses import dataclass

from srcad import ops
from srcad.ir.nodes import (
    Atom,
    Call,
    Const,
    For,
    Function,
    If,
    Let,
    Library,
    Load,
    Store,
    Var,
    While,
)
from srcad.ir.types import Array, is_float
from srcad.ir.walk import walk
from srcad.transform.facts import Facts
from srcad.transform.rules import differentiable

Edge = tuple[Var, Var]  # a derivative may pass from the first to the second


@dataclass(frozen=True)
class Activity:
    """Sets of scalars and of array bases (as `key` names them)."""

    keys: dict[Var, Var]
    varied: frozenset[Var]
    useful: frozenset[Var]
    polar: frozenset[Var]
    exposed: frozenset[Var]

    def active(self, atom: Atom) -> bool:
        if isinstance(atom, Const) or not is_float(atom.type):
            return False
        key = self.keys.get(atom, atom)
        return key in self.varied and key in self.useful

    def is_varied(self, atom: Atom) -> bool:
        return (
            isinstance(atom, Var)
            and is_float(atom.type)
            and self.keys.get(atom, atom) in self.varied
        )

    def is_exposed(self, var: Var) -> bool:
        """Whether the cotangent may be infinite."""
        return self.keys.get(var, var) in self.exposed

    def is_polar(self, atom: Atom) -> bool:
        if isinstance(atom, Const):
            return not math.isfinite(atom.value) if isinstance(atom.value, float) else False
        return self.keys.get(atom, atom) in self.polar


def activity(
    function: Function, found: Facts, wrt: Iterable[Var], changed: Iterable[Var] = ()
) -> Activity:
    """The activity with respect to some parameters; `changed` arrays count as results."""
    keys = _keys(function, found)

    def key(atom: Atom) -> Var | None:
        return keys.get(atom, atom) if isinstance(atom, Var) else None

    smooth: list[Edge] = []
    value: list[Edge] = []  # every flow of floats, flat or not: for poles
    poles: set[Var] = set()
    masked: set[Var] = set()  # what poles are computed from
    for stmt in walk(function.body):
        for source, target, passes in _flows(stmt):
            to = key(target)
            if to is None or not is_float(to.type):
                continue
            at = key(source)
            if at is None:
                if isinstance(source.type, Array) or not isinstance(source, Const):
                    continue
                if isinstance(source.value, float) and not math.isfinite(source.value):
                    poles.add(to)
                continue
            if not is_float(at.type):
                continue
            value.append((at, to))
            if passes:
                smooth.append((at, to))
        if isinstance(stmt, Call):  # what it computes may come from a pole, and go into one
            floats = [v for v in (*stmt.outs, *stmt.writes) if is_float(v.type)]
            poles |= {k for v in floats if (k := key(v))}
            masked |= {k for arg in stmt.args if is_float(arg.type) and (k := key(arg))}
        if isinstance(stmt, Let) and ops.has_pole(stmt):
            poles.add(stmt.out)
            if not ops.operation(stmt.op).unbounded:
                masked |= {k for arg in stmt.args if is_float(arg.type) and (k := key(arg))}
    varied = _reach({k for v in wrt if (k := key(v))}, smooth)
    backwards = [(target, source) for source, target in smooth]
    ends = (*function.body.results, *changed)
    useful = _reach({k for v in ends if (k := key(v))}, backwards)
    polar = _reach(poles, value)
    exposed = _reach(masked, [(target, source) for source, target in value])
    return Activity(
        keys, frozenset(varied), frozenset(useful), frozenset(polar), frozenset(exposed)
    )


def _flows(stmt: object) -> Iterable[tuple[Atom, Atom, bool]]:
    """(source, target, whether a derivative passes) of one statement."""
    match stmt:
        case Let(out=out, args=args):
            for k, arg in enumerate(args):
                yield arg, out, differentiable(stmt, k)
        case Load(out=out, array=array):
            yield array, out, True
        case Store(array=array, value=value):
            yield value, array, True
        case (
            For(carried=carried, body=body, outs=outs)
            | While(carried=carried, body=body, outs=outs)
        ):
            for (name, init), result, out in zip(carried, body.results, outs, strict=True):
                yield init, name, True
                yield result, name, True
                yield name, out, True
        case If(then=then, orelse=orelse, outs=outs):
            for arm in (then, orelse):
                for result, out in zip(arm.results, outs, strict=True):
                    yield result, out, True
        case Call(args=args, outs=outs, writes=writes):
            for changed in (*outs, *writes):
                for arg in args:
                    yield arg, changed, True
        case Library(reads=reads, writes=writes):
            for target in writes:
                for source in reads:
                    yield source, target, True
        case _:
            return


def _reach(start: set[Var], edges: list[Edge]) -> set[Var]:
    follow: dict[Var, list[Var]] = {}
    for source, target in edges:
        follow.setdefault(source, []).append(target)
    found, todo = set(start), list(start)
    while todo:
        for target in follow.get(todo.pop(), ()):
            if target not in found:
                found.add(target)
                todo.append(target)
    return found


def _keys(function: Function, found: Facts) -> dict[Var, Var]:
    """Every array variable's representative: its base, joined with the names it moves to."""
    parent: dict[Var, Var] = {}

    def root(var: Var) -> Var:
        while var in parent:
            var = parent[var]
        return var

    def join(a: Atom, b: Atom) -> None:
        if isinstance(a, Var) and isinstance(b, Var) and isinstance(a.type, Array):
            first, second = root(found.base(a)), root(found.base(b))
            if first != second:
                parent[max(first, second, key=lambda v: v.id)] = min(
                    first, second, key=lambda v: v.id
                )

    for stmt in walk(function.body):
        if isinstance(stmt, For | While | If):
            for source, target, _ in _flows(stmt):
                join(source, target)
    return {var: root(found.base(var)) for var in found.owner if isinstance(var.type, Array)}
