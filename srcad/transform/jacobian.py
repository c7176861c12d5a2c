"""The Jacobian program: one reverse sweep per element of the result, the first sweep only once.

It takes the joint program apart. What depends on the cotangent, or touches memory that such a
statement writes, is the reverse sweep and stands in a loop over the elements of the result, with a
cotangent that is 1 at that element; the rest stands before the loop. Where this leaves a result of
the function or a write into an argument inside the loop (a branch that holds both sweeps), the
function itself runs first and the whole joint program once per element, on the arguments as they
were.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace

from srcad.ir.aliases import Memory, memory
from srcad.ir.builder import Builder
from srcad.ir.nodes import Atom, Block, Const, Function, Stmt, Var, const
from srcad.ir.trees import Group, Leaf, Nothing, Tree
from srcad.ir.types import Array, is_float
from srcad.ir.walk import defs, inline, next_id, uses, variables
from srcad.transform.adjoint import adjoint
from srcad.transform.reverse import each_element


def jacobian(function: Function, wrt: tuple[int, ...], shape: Tree) -> Function:
    """The function of the same parameters that gives a block per float result and `wrt`.

    A block has the shape of the result followed by that of the parameter. `shape` is the structure
    of the gradients of one result; it stands in the place of each float result.
    """
    return Rows(function, adjoint(function, wrt), wrt).run(shape)


@dataclass(frozen=True)
class Split:
    """The statements of a joint program: those before the loop, and those inside it."""

    once: tuple[Stmt, ...]
    each: tuple[Stmt, ...]


def split(joint: Function, cotangents: tuple[Var, ...]) -> Split:
    """Separates what depends on the cotangents, directly or through memory."""
    classes = memory(joint)
    names: set[Var] = set(cotangents)
    written: set[Var] = set()
    inside: set[int] = set()
    grown = True
    while grown:
        grown = False
        for stmt in joint.body.stmts:
            if id(stmt) in inside or not _depends(stmt, names, written, classes):
                continue
            inside.add(id(stmt))
            names.update(defs(stmt))
            written |= classes.written(stmt)
            grown = True
    once = tuple(stmt for stmt in joint.body.stmts if id(stmt) not in inside)
    return Split(once, tuple(stmt for stmt in joint.body.stmts if id(stmt) in inside))


def _depends(stmt: Stmt, names: set[Var], written: set[Var], classes: Memory) -> bool:
    touched = uses(stmt) | set(defs(stmt))
    if not names.isdisjoint(touched):
        return True
    arrays = (var for var in touched if isinstance(var.type, Array))
    return not written.isdisjoint(map(classes.key, arrays))


class Rows:
    """Writes the program; `restored` are pairs of a parameter and a copy of it at entry."""

    def __init__(self, function: Function, joint: Function, wrt: tuple[int, ...]) -> None:
        self.function, self.joint = function, joint
        self.results = function.body.results
        self.wanted = tuple(function.params[k] for k in wrt)
        self.cotangents = joint.params[len(function.params) :]
        self.builder = Builder(next_id(joint))
        self.restored: list[tuple[Var, Var]] = []
        self.sweep = Block(joint.body.stmts, joint.body.results[len(self.results) :])

    def run(self, shape: Tree) -> Function:
        self.first_sweep()
        floats = [result for result in self.results if is_float(result.type)]
        seeds = list(map(self.zero, floats))
        blocks = [b for k, result in enumerate(floats) for b in self.blocks(result, seeds, k)]
        f = self.function
        gives = _in_place_of_results(f.gives, iter(self.results), shape)
        name, body = f"{f.name}_jacobian", self.builder.finish(*blocks)
        return replace(f, name=name, body=body, gives=gives, callees=self.joint.callees)

    def first_sweep(self) -> None:
        """Everything before the loops: what no cotangent changes."""
        parts, classes = split(self.joint, self.cotangents), memory(self.joint)
        made = {var for stmt in parts.each for var in defs(stmt)}
        arguments = {p for p in self.function.params if isinstance(p.type, Array)}
        written = classes.written_in(parts.each)
        if made.isdisjoint(variables(self.results)) and arguments.isdisjoint(written):
            self.sweep = replace(self.sweep, stmts=parts.each)
            first = parts.once
        else:
            written = classes.written_in(self.joint.body.stmts)
            params = (p for p in self.function.params if p in arguments & written)
            self.restored = [(param, self.copied(param)) for param in params]
            first = self.function.body.stmts
        for stmt in first:
            self.builder.add(stmt)

    def blocks(self, result: Atom, seeds: list[Atom], k: int) -> list[Atom]:
        """The derivatives of one result, with one sweep per element of it."""
        found = [self.room(result, param) for param in self.wanted]

        def row(at: tuple[Atom, ...]) -> None:
            for target, gradient in zip(found, self.swept(seeds, k, at), strict=True):
                if target is not None:
                    self.fill(target, at, gradient)

        if isinstance(result, Var) and isinstance(result.type, Array):
            each_element(self.builder, result, row)
            return [target for target in found if target is not None]
        blocks: list[Atom] = []
        for target, gradient in zip(found, self.swept(seeds, k, ()), strict=True):
            if target is not None:
                self.fill(target, (), gradient)
            blocks.append(gradient if target is None else target)
        return blocks

    def swept(self, seeds: list[Atom], k: int, at: tuple[Atom, ...]) -> list[Atom]:
        """The gradients for a cotangent that is 1 at one element of result `k`, else 0."""
        seed, builder = seeds[k], self.builder
        one, zero = const(1.0, seed.type.dtype), const(0.0, seed.type.dtype)
        for param, copy in self.restored:
            self.overwrite(param, copy)
        if isinstance(seed, Const):
            given = [*seeds[:k], one, *seeds[k + 1 :]]
            return list(inline(builder, self.sweep, dict(zip(self.cotangents, given, strict=True))))
        builder.store(seed, at, one)
        gradients = inline(builder, self.sweep, dict(zip(self.cotangents, seeds, strict=True)))
        builder.store(seed, at, zero)
        return list(gradients)

    # -- arrays

    def dims(self, array: Atom) -> tuple[Atom, ...]:
        if not isinstance(array, Var) or not isinstance(array.type, Array):
            return ()
        return tuple(self.builder.dim(array, axis) for axis in range(array.type.ndim))

    def zero(self, result: Atom) -> Atom:
        """The cotangent of a result that is left out."""
        zero = const(0.0, result.type.dtype)
        if not isinstance(result.type, Array):
            return zero
        return self.builder.alloc(zero.type.dtype, self.dims(result), zero, "gradient")

    def room(self, result: Atom, param: Var) -> Var | None:
        """The array for one block; None where it is a number."""
        if not isinstance(result.type, Array) and not isinstance(param.type, Array):
            return None
        shape = (*self.dims(result), *self.dims(param))
        return self.builder.alloc(param.type.dtype, shape, None, f"{param.hint}_jacobian")

    def fill(self, target: Var, at: tuple[Atom, ...], gradient: Atom) -> None:
        builder = self.builder
        if not isinstance(gradient, Var) or not isinstance(gradient.type, Array):
            builder.store(target, at, gradient)
            return
        source = gradient

        def element(index: tuple[Atom, ...]) -> None:
            builder.store(target, (*at, *index), builder.load(source, *index))

        each_element(builder, source, element)

    def copied(self, param: Var) -> Var:
        copy = self.builder.alloc(param.type.dtype, self.dims(param), None, f"{param.hint}_before")
        self.overwrite(copy, param)
        return copy

    def overwrite(self, target: Var, source: Var) -> None:
        self.fill(target, (), source)


def _in_place_of_results(tree: Tree, results: Iterator[Atom], shape: Tree) -> Tree:
    """The structure of the results with `shape` for each float and None for the others."""
    match tree:
        case Leaf():
            return shape if is_float(next(results).type) else Nothing()
        case Nothing():
            return tree
        case Group(items=items, cls=cls):
            return Group(tuple(_in_place_of_results(i, results, shape) for i in items), cls)
