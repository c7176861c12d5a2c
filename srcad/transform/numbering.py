"""Values that are known or computed already: constants, copies, common subexpressions.

One walk in program order. Every value gets the atom that stands for it; a pure scalar operation is
emitted only if no value that is visible there is the same operation on the same atoms (floats), or
the same linear form (integers). Loads are merged while nothing is written in between. Branches on
a constant, loops of no or one iteration, and carried names that never change or advance by a fixed
step are resolved.
"""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from srcad import ops
from srcad.ir.aliases import memory
from srcad.ir.builder import Builder, OpenBlock, view_type
from srcad.ir.nodes import (
    Alloc,
    Assert,
    Atom,
    Block,
    Const,
    For,
    Function,
    If,
    Let,
    Load,
    Map,
    Permute,
    Reshape,
    Slice,
    Stmt,
    Subscript,
    Var,
    View,
    While,
    array_type,
    const,
)
from srcad.ir.types import INT, Array
from srcad.ir.walk import Renamer, defs, map_how, next_id, params, walk
from srcad.transform.affine import Linear, read
from srcad.transform.shapes import known, shapes

Place = tuple[Var, tuple[Atom, ...]]  # an array and the indices of an element
Step = Atom | None
AFFINE = ("add", "sub", "neg", "mul")
COMMUTING = ("add", "mul", "maximum", "minimum", "eq", "ne", "and", "or")
TRUE, FALSE = const(True, "bool"), const(False, "bool")


def numbering(function: Function) -> Function:
    """The function with every value that is known replaced. Cost: one walk."""
    return Numbering(with_extents(function)).run()


def with_extents(function: Function) -> Function:
    """Puts the extents of array parameters first, in order, each one time."""
    there: dict[tuple[Atom, ...], Let] = {}
    rest: list[Stmt] = []
    arrays = [p for p in function.params if isinstance(p.type, Array)]
    grown = memory(function)
    for stmt in function.body.stmts:
        if isinstance(stmt, Let) and stmt.op == "dim" and stmt.args[0] in arrays:
            if stmt.args not in there and not grown.grows(arrays[arrays.index(stmt.args[0])]):
                there[stmt.args] = stmt
                continue
        rest.append(stmt)
    builder = Builder(next_id(function))
    for param in arrays:
        if grown.grows(param):
            continue
        for axis in range(array_type(param).ndim):
            args = param, const(axis)
            out = there[args].out if args in there else builder.var(INT, f"{param.hint}_n")
            builder.add(there.get(args) or Let(out, "dim", args, function.loc))
    head = builder.finish().stmts
    return replace(function, body=Block((*head, *rest), function.body.results))


@dataclass
class Scope:
    """What holds inside one block: values computed before, what was assumed, loads made."""

    values: dict[object, Atom] = field(default_factory=dict)
    loads: dict[Place, Atom] = field(default_factory=dict)
    before: list[tuple[Var, Atom | None]] = field(default_factory=list)


class Numbering:
    def __init__(self, function: Function) -> None:
        self.function = function
        self.builder = Builder(next_id(function))
        self.classes = memory(function)
        self.shapes = shapes(function, self.classes)
        self.renamer = Renamer({})
        self.scopes = [Scope()]
        self.made: dict[Var, Stmt] = {}  # definitions in what is emitted, for `read`
        self.given: dict[Var, Stmt] = {}  # definitions in the function that comes in
        for stmt in walk(function.body):
            for var in defs(stmt):
                self.given[var] = stmt
        self.integers: dict[Var, Stmt] = {}  # the integers that forms look through
        self.opaque: set[Var] = set()  # the users' loop variables: forms end there

    def run(self) -> Function:
        for stmt in self.function.body.stmts:
            self.stmt(stmt)
        results = self.renamer.atoms(self.function.body.results)
        return replace(self.function, body=self.builder.finish(*results))

    # -- scopes

    @contextmanager
    def inner(self, written: frozenset[Var] = frozenset()) -> Iterator[OpenBlock]:
        """A nested block; `written` are the classes whose elements may differ in it."""
        self.scopes.append(Scope(loads=self.unwritten(written)))
        with self.builder.block() as opened:
            yield opened
        for var, atom in reversed(self.scopes.pop().before):
            if atom is None:
                del self.renamer.mapping[var]
            else:
                self.renamer.mapping[var] = atom

    def forget(self, written: frozenset[Var]) -> None:
        """Loads from these classes must be made again."""
        self.scopes[-1].loads = self.unwritten(written)

    def unwritten(self, written: frozenset[Var]) -> dict[Place, Atom]:
        loads = self.scopes[-1].loads
        return {key: atom for key, atom in loads.items() if self.classes.key(key[0]) not in written}

    def lookup(self, key: object) -> Atom | None:
        for scope in reversed(self.scopes):
            if key in scope.values:
                return scope.values[key]
        return None

    def assume(self, cond: Atom, holds: bool) -> None:
        """From here to the end of the block the condition has this value."""
        if isinstance(cond, Const):
            return
        self.stands_for(cond, const(holds, "bool"))
        stmt = self.made.get(cond)
        match stmt:
            case Let(op="not", args=(inner,)):
                self.assume(inner, not holds)
            case Let(op="and", args=args) if holds:
                for arg in args:
                    self.assume(arg, True)
            case Let(op="or", args=args) if not holds:
                for arg in args:
                    self.assume(arg, False)
            case Let(op="eq", args=(Var() as a, b)) if holds and a.type == INT:
                if isinstance(b, Const):
                    self.stands_for(a, b)
                else:
                    self.stands_for(*((a, b) if a.id > b.id else (b, a)))
            case _:
                pass

    def stands_for(self, var: Var, atom: Atom) -> None:
        self.scopes[-1].before.append((var, self.renamer.mapping.get(var)))
        self.renamer.mapping[var] = atom

    # -- statements

    def set(self, var: Var, atom: Atom) -> None:
        """The variable needs no statement: the atom stands for it."""
        if var != atom:
            self.renamer.mapping[var] = atom

    def stmt(self, stmt: Stmt) -> None:
        self.builder.loc = stmt.loc
        match stmt:
            case Let():
                self.let(stmt)
            case Load():
                self.load(stmt)
            case View():
                self.view(stmt)
            case Assert():
                self.assertion(stmt)
            case If():
                self.branch(stmt)
            case For():
                self.counted(stmt)
            case While():
                self.loop(stmt)
            case Map(shape=shape, body=body):
                with self.inner() as opened:
                    results = self.block(body)
                new = opened.finish(*results)
                self.add(replace(stmt, shape=self.renamer.atoms(shape), body=new))
            case Alloc():
                self.add(self.renamer.stmt(stmt))
            case _:
                self.add(self.renamer.stmt(stmt))
                self.forget(self.classes.written(stmt))

    def add(self, stmt: Stmt) -> None:
        self.builder.add(stmt)
        for var in defs(stmt):
            self.made[var] = stmt

    def block(self, block: Block) -> tuple[Atom, ...]:
        for stmt in block.stmts:
            self.stmt(stmt)
        return self.renamer.atoms(block.results)

    def let(self, stmt: Let) -> None:
        if stmt.op == "dim":
            self.dim(stmt)
            return
        args = self.renamer.atoms(stmt.args)
        found = self.lookup(_key(stmt.op, args, stmt.out))
        if found is not None:
            self.set(stmt.out, found)
        elif stmt.out.type == INT and stmt.op in AFFINE and stmt.out not in self.opaque:
            self.integer(stmt, args)
        else:
            self.emit(stmt, args)

    def integer(self, stmt: Let, args: tuple[Atom, ...]) -> None:
        """A value of the same linear form stands for it; else the shortest operation is emitted."""
        out = stmt.out
        self.integers[out] = Let(out, stmt.op, args)
        form = read(out, self.integers)
        del self.integers[out]
        if form == Linear(((out, 1),)):  # a product of two variables
            self.emit(stmt, args)
            return
        found = const(form.constant) if not form.terms else self.lookup(form)
        if found is not None:
            self.set(out, found)
            return
        if len(form.terms) == 1 and form.terms[0][1] == 1:
            var = form.terms[0][0]
            if form.constant == 0:
                self.set(out, var)
                return
            if var not in args:
                name, args = "add" if form.constant > 0 else "sub", (var, const(abs(form.constant)))
                stmt = replace(stmt, op=name, args=args)
        self.emit(stmt, args)

    def emit(self, stmt: Let, args: tuple[Atom, ...]) -> None:
        """Emits the operation with constants folded; a new statement keeps the old name."""
        stmts = self.builder.open[-1].stmts
        before = len(stmts)
        result = ops.apply(self.builder, stmt.op, *args, hint=stmt.out.hint, type=stmt.out.type)
        emitted = [new for new in stmts[before:] if isinstance(new, Let)]
        if emitted and emitted[-1].out == result:
            last = emitted.pop()
            found = self.lookup(_key(last.op, last.args, last.out))
            if found is None:
                emitted.append(replace(last, out=stmt.out))
            result = stmt.out if found is None else found
        stmts[before:] = emitted
        for new in emitted:
            self.remember(new)
        self.scopes[-1].values[_key(stmt.op, args, stmt.out)] = result
        self.set(stmt.out, result)

    def remember(self, stmt: Let) -> None:
        """The value can be found again by its operation and by its linear form."""
        self.made[stmt.out] = stmt
        values = self.scopes[-1].values
        values[_key(stmt.op, stmt.args, stmt.out)] = stmt.out
        if stmt.out.type == INT and stmt.op in AFFINE and stmt.out not in self.opaque:
            self.integers[stmt.out] = stmt
            values.setdefault(read(stmt.out, self.integers), stmt.out)

    def extent(self, array: Var, axis: Atom) -> Atom | None:
        shape = self.shapes.get(array)
        return None if shape is None else known(shape, axis)

    def dim(self, stmt: Let) -> None:
        array, axis = stmt.args
        assert isinstance(array, Var)
        if self.classes.grows(array):
            self.add(self.renamer.stmt(stmt))
            return
        extent = self.extent(array, axis)
        while isinstance(view := self.given.get(array), View) and isinstance(view.how, Permute):
            assert isinstance(axis, Const)
            array, axis = view.array, const(view.how.axes[int(axis.value.real)])
        if extent is not None and extent != stmt.out:
            self.set(stmt.out, self.renamer.atom(extent))
            return
        args = self.renamer.var(array), axis
        found = self.lookup(_key("dim", args, stmt.out))
        if found is not None:
            self.set(stmt.out, found)
            return
        self.add(replace(stmt, args=args))
        self.scopes[-1].values[_key("dim", args, stmt.out)] = stmt.out

    def load(self, stmt: Load) -> None:
        array, index = self.renamer.var(stmt.array), self.renamer.atoms(stmt.index)
        loads = self.scopes[-1].loads
        if (array, index) in loads:
            self.set(stmt.out, loads[array, index])
            return
        loads[array, index] = stmt.out
        self.add(replace(stmt, array=array, index=index))

    def view(self, stmt: View) -> None:
        array, how = self.renamer.var(stmt.array), map_how(stmt.how, self.renamer.atom)
        under = self.made.get(array)
        if isinstance(how, Permute) and isinstance(under, View) and isinstance(under.how, Permute):
            how = Permute(tuple(under.how.axes[axis] for axis in how.axes))
            array = under.array
        found = array if self.whole(stmt, how) else self.lookup((array, how))
        if found is not None:
            self.set(stmt.out, found)
            return
        kind = view_type(array_type(array), how)
        out = stmt.out if kind == stmt.out.type else self.builder.var(kind, stmt.out.hint)
        self.set(stmt.out, out)
        self.scopes[-1].values[array, how] = out
        self.add(View(out, array, how, stmt.loc))

    def whole(self, stmt: View, how: Subscript | Permute | Reshape) -> bool:
        """Whether the view shows the whole array as it is."""
        match how:
            case Permute(axes=axes):
                return axes == tuple(range(len(axes)))
            case Reshape(shape=shape):
                items: tuple[object, ...] = shape
                wanted: list[object] = []
            case Subscript(items=items):
                wanted = []
        for axis in range(array_type(stmt.array).ndim):
            extent = self.extent(stmt.array, const(axis))
            if extent is None:
                return False
            extent = self.renamer.atom(extent)
            full = Slice(const(0), extent, const(1))
            wanted.append(extent if isinstance(how, Reshape) else full)
        return tuple(wanted) == items

    def assertion(self, stmt: Assert) -> None:
        cond = self.renamer.atom(stmt.cond)
        if cond == TRUE:
            return
        self.add(self.renamer.stmt(stmt))
        self.assume(cond, True)

    # -- branches and loops

    def branch(self, stmt: If) -> None:
        cond = self.renamer.atom(stmt.cond)
        if isinstance(cond, Const):
            results = self.block(stmt.then if cond.value else stmt.orelse)
            for out, result in zip(stmt.outs, results, strict=True):
                self.set(out, result)
            return
        arms: list[tuple[OpenBlock, tuple[Atom, ...]]] = []
        for arm, holds in ((stmt.then, True), (stmt.orelse, False)):
            with self.inner() as opened:
                self.assume(cond, holds)
                arms.append((opened, self.block(arm)))
        (then, first), (orelse, second) = arms
        keep: list[int] = []
        inverted: list[Var] = []
        for k, (out, pair) in enumerate(zip(stmt.outs, zip(first, second), strict=True)):
            if pair[0] == pair[1]:
                self.set(out, pair[0])
            elif pair == (TRUE, FALSE):
                self.set(out, cond)
            elif pair == (FALSE, TRUE):
                inverted.append(out)
            else:
                keep.append(k)
        if keep or then.stmts or orelse.stmts:
            blocks = [opened.finish(*(results[k] for k in keep)) for opened, results in arms]
            outs = tuple(stmt.outs[k] for k in keep)
            self.add(replace(stmt, cond=cond, then=blocks[0], orelse=blocks[1], outs=outs))
        for out in inverted:
            self.emit(Let(out, "not", (cond,), stmt.loc), (cond,))
        self.forget(self.classes.written(stmt))

    def counted(self, stmt: For) -> None:
        stop = self.renamer.atom(stmt.stop)
        if stop == const(0):
            self.hand_over(stmt.outs, tuple(init for _, init in stmt.carried))
        elif stop == const(1):
            self.set(stmt.index, const(0))
            self.hand_over((n for n, _ in stmt.carried), tuple(init for _, init in stmt.carried))
            self.hand_over(stmt.outs, self.block(stmt.body))
        else:
            self.iterated(replace(stmt, stop=stop), stmt)

    def loop(self, stmt: While) -> None:
        if self.renamer.atom(stmt.carried[0][1]) == FALSE:
            self.hand_over(stmt.outs, tuple(init for _, init in stmt.carried))
            self.set(stmt.trips, const(0))
        else:
            self.iterated(stmt, stmt)

    def hand_over(self, names: Iterable[Var], values: tuple[Atom, ...]) -> None:
        for name, value in zip(names, self.renamer.atoms(values), strict=True):
            self.set(name, value)

    def iterated(self, stmt: For | While, original: For | While) -> None:
        written = self.classes.written(original)
        inits = self.renamer.atoms(tuple(init for _, init in stmt.carried))
        steps = steps_of(stmt, self.given, inits)
        self.opaque.update(users_variables(stmt))
        with self.inner(written) as opened:
            for k, step in steps.items():
                name = stmt.carried[k][0]
                value = self.advanced(name, inits[k], stmt.index, step)
                self.set(name, value)
                if step is not None and isinstance(value, Var):
                    self.opaque.add(value)
                    self.integers.pop(value, None)
            results = self.block(stmt.body)
        keep = [k for k in range(len(inits)) if k not in steps]
        carried = tuple((stmt.carried[k][0], inits[k]) for k in keep)
        body = opened.finish(*(results[k] for k in keep))
        outs = tuple(stmt.outs[k] for k in keep)
        self.add(replace(stmt, carried=carried, body=body, outs=outs))
        self.forget(written)
        trips = stmt.stop if isinstance(stmt, For) else stmt.trips
        for k, step in steps.items():
            self.set(stmt.outs[k], self.advanced(stmt.outs[k], inits[k], trips, step))

    def advanced(self, name: Var, init: Atom, count: Atom, step: Step) -> Atom:
        """init + count * step, under the name of the carried variable."""
        if step is None:
            return init
        product = count
        if step != const(1):
            product = self.builder.var(INT, name.hint)
            self.let(Let(product, "mul", (count, step), self.builder.loc))
        total = self.builder.var(INT, name.hint)
        self.let(Let(total, "add", (init, product), self.builder.loc))
        return self.renamer.atom(total)


def _key(op: str, args: tuple[Atom, ...], out: Var) -> object:
    if op in COMMUTING and len(args) == 2:
        return op, frozenset(args), args[0] == args[1], out.type
    return op, args, out.type


def users_variables(loop: For | While) -> set[Var]:
    """The values that the user's loop variable is made of, at the start of the body.

    Forms end there, so that `u[i - 1]` stays what it is under `for i in range(1, n)`.
    """
    found: set[Var] = set()
    last: Var = loop.index
    for stmt in loop.body.stmts:
        if not isinstance(stmt, Let) or stmt.out.type != INT or stmt.op not in AFFINE:
            break
        if last in stmt.args:
            last = stmt.out
            found.add(last)
    return found


def steps_of(
    loop: For | While, given: Mapping[Var, Stmt], inits: tuple[Atom, ...]
) -> dict[int, Step]:
    """The carried names that never change (None), or that advance by a fixed integer."""
    found: dict[int, Step] = {}
    inside = {var: given[var] for stmt in walk(loop.body) for var in defs(stmt)}
    own = {*params(loop), *(v for s in walk(loop.body) for v in params(s)), *inside}
    for k, ((name, init), result) in enumerate(zip(loop.carried, loop.body.results, strict=True)):
        if isinstance(loop, While) and k == 0:
            continue
        if result in (name, init, inits[k]):
            found[k] = None
        elif name.type == INT:
            form = read(result, inside).plus(Linear(((name, 1),)), -1)
            if not form.terms:
                found[k] = const(form.constant) if form.constant else None
            elif len(form.terms) == 1 and form.terms[0][1] == 1 and not form.constant:
                var = form.terms[0][0]
                if var not in own:
                    found[k] = var
    return found
