"""Random IR that is hard on code generation: names carried, swapped, handed out of branches.

Values stay of size 1, indices lie in range by construction.
"""

import random

from srcad import ops
from srcad.ir.builder import Builder
from srcad.ir.nodes import Atom, Block, For, Function, If, Slice, Subscript, Var, While, const
from srcad.ir.trees import Group, Leaf
from srcad.ir.types import BOOL, FLOAT, INT, Array, Scalar

EXTENT = 5  # of every array
KINDS = ("let", "let", "let", "int", "load", "load", "store", "update", "select", "view", "for",
         "for", "if", "if", "while", "alloc")  # fmt: skip


class Scope:
    """What may be read: floats, integers, indices in [0, EXTENT), arrays."""

    def __init__(self, outer: "Scope | None" = None) -> None:
        self.floats: list[Atom] = list(outer.floats) if outer else []
        self.ints: list[Atom] = list(outer.ints) if outer else []
        self.indices: list[Atom] = list(outer.indices) if outer else []
        self.arrays: list[Var] = list(outer.arrays) if outer else []


class Generator:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.builder = Builder()
        self.left = 40  # statements

    def function(self) -> Function:
        b = self.builder
        params = (b.var(FLOAT, "x"), b.var(FLOAT, "y"), b.var(INT, "n"))
        arrays = (b.var(Array("float64", 1), "a"), b.var(Array("float64", 1), "x"))
        scope = Scope()
        scope.floats = [*params[:2], const(0.5, "float64")]
        scope.ints = [params[2], const(2)]
        scope.indices = [const(0), const(3)]
        scope.arrays = list(arrays)
        self.statements(scope, 0, self.random.randint(4, 10))
        total: Atom = scope.floats[-1]
        for value in scope.floats[-6:-1]:
            total = ops.apply(b, "add", total, value)
        results = [total, *(self.random.choice(scope.floats) for _ in range(2))]
        takes = tuple((name, Leaf()) for name in ("x", "y", "n", "a", "b"))
        body = b.finish(*results, *arrays)
        return Function("f", (*params, *arrays), body, takes, Group((Leaf(),) * 5))

    def hint(self) -> str:
        return self.random.choice(("t", "t", "s", "u", "x"))

    def statements(self, scope: Scope, depth: int, count: int) -> None:
        for _ in range(count):
            self.left -= 1
            kind = self.random.choice(KINDS)
            if kind in ("for", "if", "while") and (depth > 2 or self.left < 0):
                kind = "let"
            getattr(self, f"make_{kind}")(scope, depth)

    def float(self, scope: Scope) -> Atom:
        recent = scope.floats[-5:] if self.random.random() < 0.7 else scope.floats
        return self.random.choice(recent)

    def cond(self, scope: Scope) -> Atom:
        op = self.random.choice(("lt", "ge"))
        found = ops.apply(self.builder, op, self.float(scope), self.float(scope))
        return found

    def make_let(self, scope: Scope, depth: int) -> None:
        op = self.random.choice(("sin", "cos", "add", "sub", "mul", "neg", "maximum"))
        args = [self.float(scope) for _ in range(1 if op in ("sin", "cos", "neg") else 2)]
        scope.floats.append(ops.apply(self.builder, op, *args, hint=self.hint()))
        if op in ("add", "sub", "mul"):  # keeps sizes down
            scope.floats.append(ops.apply(self.builder, "sin", scope.floats[-1]))

    def make_int(self, scope: Scope, depth: int) -> None:
        a, b = self.random.choice(scope.ints), self.random.choice(scope.ints)
        found = ops.apply(self.builder, self.random.choice(("add", "sub")), a, b, hint="k")
        found = ops.apply(self.builder, "maximum", found, const(0))
        scope.ints.append(ops.apply(self.builder, "minimum", found, const(EXTENT)))
        scope.indices.append(ops.apply(self.builder, "minimum", found, const(EXTENT - 1)))

    def make_load(self, scope: Scope, depth: int) -> None:
        array, index = self.random.choice(scope.arrays), self.random.choice(scope.indices)
        scope.floats.append(self.builder.load(array, index, hint=self.hint()))

    def make_store(self, scope: Scope, depth: int) -> None:
        array, index = self.random.choice(scope.arrays), self.random.choice(scope.indices)
        self.builder.store(array, (index,), self.float(scope))

    def make_update(self, scope: Scope, depth: int) -> None:
        array, index = self.random.choice(scope.arrays), self.random.choice(scope.indices)
        value = self.float(scope)
        old = self.builder.load(array, index)
        if self.random.random() < 0.3:
            self.make_store(scope, depth)
        pair = (old, value) if self.random.random() < 0.5 else (value, old)
        new = ops.apply(self.builder, self.random.choice(("add", "sub")), *pair)
        self.builder.store(array, (index,), new)
        self.builder.store(array, (index,), ops.apply(self.builder, "sin", new))

    def make_select(self, scope: Scope, depth: int) -> None:
        args = (self.cond(scope), self.float(scope), self.float(scope))
        scope.floats.append(ops.apply(self.builder, "select", *args, type=FLOAT))

    def make_view(self, scope: Scope, depth: int) -> None:
        start, step = self.random.choice(((0, 1), (EXTENT - 1, -1)))
        how = Subscript((Slice(const(start), const(EXTENT), const(step)),))
        scope.arrays.append(self.builder.view(self.random.choice(scope.arrays), how))

    def make_alloc(self, scope: Scope, depth: int) -> None:
        fill = const(self.random.choice((0.0, 0.25)), "float64")
        scope.arrays.append(self.builder.alloc("float64", (const(EXTENT),), fill))

    def carried(self, scope: Scope, inner: Scope) -> tuple[list[Var], list[Atom]]:
        names, inits = [], []
        for _ in range(self.random.randint(0, 3)):
            init = self.float(scope)
            name = self.builder.var(FLOAT, self.hint())
            names.append(name)
            inits.append(init)
            inner.floats.append(name)
        return names, inits

    def results(self, names: list[Var], inner: Scope) -> list[Atom]:
        """Next values: swapped, made new, or left as they are."""
        if len(names) > 1 and self.random.random() < 0.4:
            return [*names[1:], names[0]]
        return [self.float(inner) for _ in names]

    def make_for(self, scope: Scope, depth: int) -> None:
        b, inner = self.builder, Scope(scope)
        index = b.var(INT, "back" if self.random.random() < 0.4 else "i")
        names, inits = self.carried(scope, inner)
        stop = self.random.choice([const(3), *scope.ints])
        with b.block() as body:
            value: Atom = index
            if index.hint == "back":
                value = b.let("sub", ops.apply(b, "sub", stop, const(1)), index, type=INT, hint="i")
            elif self.random.random() < 0.5:
                twice = b.let("mul", index, const(2), type=INT)
                value = ops.apply(b, "add", const(1), twice)
            inner.indices.append(ops.apply(b, "minimum", value, const(EXTENT - 1)))
            if self.random.random() < 0.3:
                inner.floats.append(ops.apply(b, "cast", index, type=FLOAT))
            self.statements(inner, depth + 1, self.random.randint(1, 4))
            results = self.results(names, inner)
        outs = tuple(map(b.like, names))
        pairs = tuple(zip(names, inits, strict=True))
        b.add(For(index, stop, pairs, body.finish(*results), outs))
        scope.floats += outs

    def make_while(self, scope: Scope, depth: int) -> None:
        b, inner = self.builder, Scope(scope)
        index, trips, go = b.var(INT, "k"), b.var(INT, "trips"), b.var(BOOL, "go")
        names, inits = self.carried(scope, inner)
        limit = const(self.random.randint(1, 3))
        first = ops.apply(b, "lt", self.float(scope), self.float(scope))
        with b.block() as body:
            self.statements(inner, depth + 1, self.random.randint(1, 3))
            following = ops.apply(b, "add", index, const(1))
            again = ops.apply(b, "lt", following, limit)
            results = self.results(names, inner)
        outs = tuple(map(b.like, names))
        pairs = ((go, first), *zip(names, inits, strict=True))
        loop_outs = (b.like(go), *outs)
        b.add(While(index, pairs, body.finish(again, *results), loop_outs, trips))
        scope.floats += outs
        scope.ints.append(trips)

    def make_if(self, scope: Scope, depth: int) -> None:
        b = self.builder
        cond = self.cond(scope)
        count = self.random.randint(0, 3)
        arms: list[Block] = []
        for _ in range(2):
            inner = Scope(scope)
            with b.block() as body:
                self.statements(inner, depth + 1, self.random.randint(0, 3))
            arms.append(body.finish(*(self.float(inner) for _ in range(count))))
        outs = tuple(b.var(Scalar("float64"), self.hint()) for _ in range(count))
        b.add(If(cond, arms[0], arms[1], outs))
        scope.floats += outs
