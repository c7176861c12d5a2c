"""Abstract execution of the syntax tree: static things are executed, the rest becomes IR."""

import ast
import builtins
import inspect
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any, NoReturn

import numpy as np

from srcad import ops
from srcad.errors import Loc
from srcad.ir.nodes import Atom, Block, For, If, Var, While, const
from srcad.ir.types import BOOL, INT, Array, Scalar
from srcad.tracer import methods, numpy_calls
from srcad.tracer.context import Emit
from srcad.tracer.flow import RESULT, RETURNED, assigned, normalise
from srcad.tracer.source import Code, code_of
from srcad.tracer.values import UNSET, Arr, Num, Value

BINARY = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.Div: "div", ast.FloorDiv: "floordiv",
    ast.Mod: "mod", ast.Pow: "pow", ast.BitAnd: "bitand", ast.BitOr: "bitor",
    ast.BitXor: "bitxor", ast.LShift: "lshift", ast.RShift: "rshift",
}  # fmt: skip
COMPARE = {
    ast.Lt: "lt", ast.LtE: "le", ast.Gt: "gt", ast.GtE: "ge", ast.Eq: "eq", ast.NotEq: "ne",
}  # fmt: skip
STATIC: dict[str, Callable[..., Any]] = {
    "add": operator.add, "sub": operator.sub, "mul": operator.mul, "div": operator.truediv,
    "floordiv": operator.floordiv, "mod": operator.mod, "pow": operator.pow, "lt": operator.lt,
    "bitand": operator.and_, "bitor": operator.or_, "bitxor": operator.xor,
    "lshift": operator.lshift, "rshift": operator.rshift,
    "le": operator.le, "gt": operator.gt, "ge": operator.ge, "eq": operator.eq, "ne": operator.ne,
}  # fmt: skip
DEPTH = 40  # calls inside calls: beyond it the function is recursive


class Frame:
    """The names of one function under execution."""

    def __init__(self, code: Code, outer: "Frame | None" = None) -> None:
        self.code, self.outer = code, outer
        self.names: dict[str, Value] = {}


class Function:
    """A function defined inside traced code."""

    def __init__(self, code: Code, frame: Frame, defaults: dict[str, Value]) -> None:
        self.code, self.frame, self.defaults = code, frame, defaults


class Interpreter:
    """Executes functions; `outside` is told of every value read from globals and closures."""

    def __init__(
        self, emit: Emit, outside: Callable[[str, object, Callable[[], object]], Value]
    ) -> None:
        self.emit, self.outside = emit, outside
        emit.run = lambda function, args: self.call(function, args, {})
        self.frame: Frame | None = None
        self.depth = 0

    @property
    def here(self) -> Frame:
        assert self.frame is not None
        return self.frame

    def refuse(self, node: ast.AST, why: str = "", instead: str = "") -> NoReturn:
        self.place(node)
        name = type(node).__name__.lower()
        self.emit.fail(f"`{name}` is not supported here", why, instead)

    def place(self, node: ast.AST) -> None:
        line = getattr(node, "lineno", None)
        if line is not None:
            code = self.here.code
            end = node.end_col_offset if node.end_lineno == line else None  # type: ignore[attr-defined]
            shift = code.shift
            self.emit.builder.loc = Loc(
                code.file, line + code.first - 1, node.col_offset + shift,  # type: ignore[attr-defined]
                None if end is None else end + shift, code.name,
            )  # fmt: skip

    # -- calls

    def run(self, code: Code, outer: Frame | None, names: dict[str, Value]) -> Value:
        """Executes a function's body; its result."""
        if self.depth > DEPTH:
            self.emit.fail("a recursive call", "recursion is not supported yet", "write a loop")
        saved, loc = self.frame, self.emit.builder.loc
        self.frame = Frame(code, outer)
        self.frame.names = dict(names)
        self.depth += 1
        if isinstance(code.node, ast.Lambda):
            result = self.expr(code.node.body)
        else:
            self.block(normalise(code.node.body))
            result = self.frame.names.get(RESULT)
            if self.frame.names.get(RETURNED) is not True and result is not None:
                self.check_returned(self.frame.names.get(RETURNED))
        self.depth -= 1
        self.frame, self.emit.builder.loc = saved, loc
        return None if result is UNSET else result

    def check_returned(self, flag: Value) -> None:
        if isinstance(flag, Num):
            self.emit.builder.check(
                flag.atom, "ValueError", "the function ended without returning a value"
            )

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if isinstance(function, methods.Method):
            return self.known(function.function, [function.array, *args], kwargs)
        if isinstance(function, Function):
            names = self.bind(function.code, args, kwargs, function.defaults)
            return self.run(function.code, function.frame, names)
        meaning = numpy_calls.lookup(function)
        if meaning is not None:
            return self.known(meaning, args, kwargs)
        if hasattr(function, "__srcad__"):
            self.emit.fail("derivatives inside a traced function are not supported yet")
        target: Any = getattr(function, "py_func", function)
        if inspect.isfunction(target):
            code = code_of(target)
            defaults = {
                name: p.default
                for name, p in inspect.signature(target).parameters.items()
                if p.default is not inspect.Parameter.empty
            }
            return self.run(code, None, self.bind(code, args, kwargs, defaults))
        name = getattr(function, "__name__", type(function).__name__)
        self.emit.fail(f"a call of `{name}` is not supported")

    def known(
        self, meaning: numpy_calls.Handler, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """A call whose meaning is in `library`; arguments that it does not take are refused."""
        try:
            inspect.signature(meaning).bind(self.emit, *args, **kwargs)
        except TypeError as error:
            self.emit.fail(f"these arguments are not supported yet: {error}")
        return meaning(self.emit, *args, **kwargs)

    def bind(
        self, code: Code, args: list[Value], kwargs: dict[str, Value], defaults: dict[str, Value]
    ) -> dict[str, Value]:
        names = code.parameters
        if len(args) > len(names) or set(kwargs) - set(names):
            self.emit.fail(f"`{code.name}` takes {len(names)} arguments")
        bound = {**defaults, **dict(zip(names, args, strict=False)), **kwargs}
        missing = [name for name in names if name not in bound]
        if missing:
            self.emit.fail(f"`{code.name}` misses the argument `{missing[0]}`")
        return bound

    # -- statements

    def block(self, stmts: list[ast.stmt]) -> None:
        for stmt in stmts:
            self.place(stmt)
            self.stmt(stmt)

    def stmt(self, stmt: ast.stmt) -> None:
        match stmt:
            case ast.Assign(targets=targets, value=value):
                new = self.expr(value)
                for target in targets:
                    self.assign(target, new)
            case ast.AugAssign(target=target, op=op, value=value):
                self.augmented(target, BINARY.get(type(op)), value)
            case ast.AnnAssign(target=target, value=value) if value is not None:
                self.assign(target, self.expr(value))
            case ast.If(test=test, body=body, orelse=orelse):
                self.branch(self.truth(self.expr(test)), body, orelse)
            case ast.For():
                self.for_loop(stmt)
            case ast.While(test=test, body=body):
                self.while_loop(stmt, body, lambda: self.truth(self.expr(test)))
            case ast.FunctionDef(name=name):
                self.here.names[name] = self.define(stmt)
            case ast.Expr(value=value):
                if not isinstance(value, ast.Constant):
                    self.expr(value)
            case ast.Assert(test=test):
                cond = self.truth(self.expr(test))
                atom = const(cond, "bool") if isinstance(cond, bool) else cond.atom
                self.emit.builder.check(atom, "AssertionError", "assertion failed")
            case ast.Pass():
                pass
            case _:
                self.refuse(stmt)

    def define(self, node: ast.FunctionDef | ast.Lambda) -> Function:
        code = self.here.code.inner(node)
        values = [self.expr(default) for default in node.args.defaults]
        names = code.parameters[len(code.parameters) - len(values) :]
        return Function(code, self.here, dict(zip(names, values, strict=True)))

    def assign(self, target: ast.expr, new: Value) -> None:
        match target:
            case ast.Name(id=name):
                self.here.names[name] = new
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                for part, value in zip(parts, self.unpacked(new, len(parts)), strict=True):
                    self.assign(part, value)
            case ast.Subscript(value=value, slice=key):
                array = self.expr(value)
                if not isinstance(array, Arr):
                    self.refuse(target, "only arrays can be written to")
                self.emit.setitem(array, self.expr(key), new)
            case _:
                self.refuse(target)

    def unpacked(self, value: Value, count: int) -> list[Value]:
        if isinstance(value, Arr):
            return self.emit.items(value, count)
        if not isinstance(value, tuple | list) or len(value) != count:
            self.emit.fail(f"{count} values are needed here")
        return list(value)

    def augmented(self, target: ast.expr, op: str | None, value: ast.expr) -> None:
        if op is None:
            self.refuse(target)
        if isinstance(target, ast.Subscript):
            array, key = self.expr(target.value), self.expr(target.slice)
            if not isinstance(array, Arr):
                self.refuse(target, "only arrays can be written to")
            self.emit.augmented(array, key, op, self.expr(value))
            return
        before = self.expr(ast.copy_location(ast.Name(target.id, ast.Load()), target))  # type: ignore[attr-defined]
        if isinstance(before, Arr) and before.shape:  # in place: every other name sees it
            self.emit.augmented(before, Ellipsis, op, self.expr(value))
        else:
            self.assign(target, self.binary(op, before, self.expr(value)))

    # -- branches

    def branch(self, cond: "bool | Num", then: list[ast.stmt], orelse: list[ast.stmt]) -> None:
        if isinstance(cond, bool):
            self.block(then if cond else orelse)
            return
        self.merge(cond.atom, lambda: self.block(then), lambda: self.block(orelse))

    def merge(self, cond: Atom, *arms: Callable[[], None]) -> None:
        """Both arms, and an If that joins the names that they leave different."""
        builder, before = self.emit.builder, dict(self.here.names)
        loc = builder.loc
        ends: list[dict[str, Value]] = []
        blocks = []
        for arm in arms:
            self.here.names = dict(before)
            with builder.block() as body:
                arm()
            ends.append(self.here.names)
            blocks.append(body)
        names, results, outs = dict(before), ([], []), []  # type: ignore[var-annotated]
        builder.loc = loc
        for name in dict.fromkeys([*ends[0], *ends[1]]):
            first, second = ends[0].get(name, UNSET), ends[1].get(name, UNSET)
            if self.identical(first, second):
                names[name] = first
                continue
            joined = self.join(name, (first, second), (blocks[0], blocks[1]), results, outs)
            names[name] = joined
        arm_blocks = [Block(tuple(b.stmts), tuple(r)) for b, r in zip(blocks, results, strict=True)]
        builder.add(If(cond, arm_blocks[0], arm_blocks[1], tuple(outs), loc))
        self.here.names = names

    def identical(self, first: Value, second: Value) -> bool:
        if isinstance(first, Num) and isinstance(second, Num):
            return first.atom == second.atom
        if isinstance(first, Arr) and isinstance(second, Arr):
            return first.var == second.var
        if type(first) is not type(second):
            return False
        if isinstance(first, tuple) and isinstance(second, tuple):
            return len(first) == len(second) and all(map(self.identical, first, second))
        try:
            return first is second or bool(first == second)
        except Exception as error:  # an odd user object: not known to be the same
            del error
            return False

    def join(
        self, name: str, values: tuple[Value, Value], blocks: Any, results: Any, outs: list[Var]
    ) -> Value:
        """One name for two values of an If, UNSET where they have nothing in common."""
        builder = self.emit.builder
        if name == RESULT:
            values = self.with_placeholder(values)
        first, second = values
        if first is UNSET or second is UNSET:
            return UNSET
        if isinstance(first, tuple) and isinstance(second, tuple) and len(first) == len(second):
            return tuple(
                a if self.identical(a, b) else self.join("", (a, b), blocks, results, outs)
                for a, b in zip(first, second, strict=True)
            )
        if isinstance(first, Arr) and isinstance(second, Arr):
            kinds = first.var.type, second.var.type
            if (kinds[0].dtype, len(first.shape)) != (kinds[1].dtype, len(second.shape)):
                return UNSET
            out = builder.var(self.wider(*kinds), name)  # type: ignore[arg-type]
            results[0].append(first.var)
            results[1].append(second.var)
            outs.append(out)
            shape = tuple(builder.dim(out, k) for k in range(len(first.shape)))
            self.emit.fail(f"which array `{name}` names depends on the run: {len(shape)}-d",
                           "joining arrays at a branch is not supported yet",
                           "copy into one array made before the branch")  # fmt: skip
        if not self.number(first) or not self.number(second):
            return UNSET
        dtype = np.result_type(*self.emit.promoted((first, second))).name
        for value, block, result in zip(values, blocks, results, strict=True):
            builder.open.append(block)
            result.append(self.emit.atom(value, dtype))
            builder.open.pop()
        out = builder.var(Scalar(dtype), name if name.isidentifier() else "t")
        outs.append(out)
        return Num(out, self.emit.weak(first) and self.emit.weak(second))

    def with_placeholder(self, values: tuple[Value, Value]) -> tuple[Value, Value]:
        """The result that one arm does not set is never read: any number stands for it."""
        first, second = values
        if first is UNSET and self.number(second):
            return Num(const(0, self.emit.dtype(second)), True), second
        if second is UNSET and self.number(first):
            return first, Num(const(0, self.emit.dtype(first)), True)
        return values

    def wider(self, first: Array, second: Array) -> Array:
        layout = first.layout if first.layout == second.layout else "A"
        return Array(first.dtype, first.ndim, layout, first.writable and second.writable)

    def number(self, value: Value) -> bool:
        return isinstance(value, Num | bool | int | float | np.generic)

    # -- loops

    def for_loop(self, stmt: ast.For) -> None:
        iterable = self.expr(stmt.iter)
        if isinstance(iterable, tuple | list):
            self.unrolled(stmt, list(iterable))
            return
        if isinstance(iterable, Range):
            stop = self.trip_count(iterable)

            def value(index: Var) -> Value:
                at = self.emit.arithmetic("mul", Num(index, True), iterable.step)
                return self.emit.arithmetic("add", iterable.start, at)
        elif isinstance(iterable, Arr):
            stop = iterable.shape[0]

            def value(index: Var) -> Value:
                return self.emit.getitem(iterable, Num(index))
        else:
            self.refuse(stmt.iter, "loops run over range, arrays and tuples")
        leave = getattr(stmt, "leave", [])
        hint = stmt.target.id if isinstance(stmt.target, ast.Name) else "i"
        if not leave:
            self.counted(stmt, stop, value, hint)
            return
        more = Num(ops.apply(self.emit.builder, "gt", stop, const(0)))

        def again(index: Var) -> "bool | Num":
            following = ops.apply(self.emit.builder, "add", index, const(1))
            return Num(ops.apply(self.emit.builder, "lt", following, stop))

        self.general(stmt, leave, more, value, again, hint)

    def trip_count(self, over: "Range") -> Atom:
        start, stop, step = over.start, over.stop, over.step
        if any(self.emit.dtype(bound).startswith("float") for bound in (start, stop)):
            self.emit.fail("the bounds of a range must be integers", instead="range(int(n))")
        if type(step) is not int or step == 0:
            self.emit.fail("the step of a range must be a known integer other than 0")
        span = self.emit.op("sub", stop, start) if step > 0 else self.emit.op("sub", start, stop)
        if abs(step) != 1:
            span = self.emit.op("floordiv", self.emit.op("add", span, abs(step) - 1), abs(step))
        atom = self.emit.atom(span, "int64")
        if step == 1 and type(start) is int and start == 0 and atom in self.extents():
            return atom
        return ops.apply(self.emit.builder, "maximum", atom, const(0))

    def extents(self) -> set[Atom]:
        """Integers known to be extents of arrays, hence not negative."""
        found: set[Atom] = set()
        frame = self.frame
        while frame is not None:
            for value in frame.names.values():
                if isinstance(value, Arr):
                    found.update(value.shape)
            frame = frame.outer
        return found

    def unrolled(self, stmt: ast.For, items: list[Value]) -> None:
        if getattr(stmt, "leave", []):
            self.refuse(stmt, "a loop over a tuple cannot be left yet")
        for item in items:
            self.assign(stmt.target, item)
            self.block(stmt.body)

    def carried_names(self, stmt: ast.For | ast.While) -> list[str]:
        """The names that the body assigns and that have a value before."""
        names = assigned(stmt.body)
        return [n for n in names if self.here.names.get(n, UNSET) is not UNSET]

    def counted(self, stmt: ast.For, stop: Atom, value: Callable[[Var], Value], hint: str) -> None:
        def body(index: Var) -> None:
            self.emit.indices[index] = stop
            self.assign(stmt.target, value(index))
            self.block(stmt.body)

        self.carry(
            stmt,
            lambda index, carried, block, outs: For(index, stop, carried, block, outs, None),
            body,
            None,
            hint,
        )

    def while_loop(
        self, stmt: ast.While, body: list[ast.stmt], test: Callable[[], "bool | Num"]
    ) -> None:
        self.general(stmt, getattr(stmt, "leave", []), test(), None, lambda index: test(), "k")

    def general(
        self,
        stmt: ast.For | ast.While,
        leave: list[str],
        first: "bool | Num",
        value: Callable[[Var], Value] | None,
        again: Callable[[Var], "bool | Num"],
        hint: str,
    ) -> None:
        """A While: the condition is computed before the loop and at the end of its body."""
        start = const(first, "bool") if isinstance(first, bool) else first.atom
        end: list[Atom] = []

        def body(index: Var) -> None:
            end.clear()
            if value is not None and isinstance(stmt, ast.For):
                self.assign(stmt.target, value(index))
            self.block(stmt.body)
            left = [self.here.names.get(flag) for flag in leave]
            end.append(self.go_on([f for f in left if f is not None], lambda: again(index)))

        def make(index: Var, carried: Any, block: Block, outs: Any) -> While:
            trips = self.emit.builder.var(INT, "trips")
            return While(index, carried, block, outs, trips, None)

        self.carry(stmt, make, body, (start, end), hint)

    def go_on(self, left: list[Value], again: Callable[[], "bool | Num"]) -> Atom:
        """Whether no flag is set and the loop's own condition holds; tested in this order."""
        flags = [self.truth(flag) for flag in left]
        if any(flag is True for flag in flags):
            return const(False, "bool")
        atoms = [flag.atom for flag in flags if isinstance(flag, Num)]
        if not atoms:
            return self.emit.atom(again())
        builder = self.emit.builder
        stopped = atoms[0]
        for atom in atoms[1:]:
            stopped = ops.apply(builder, "or", stopped, atom)
        with builder.block() as then:
            pass
        with builder.block() as orelse:
            result = self.emit.atom(again())
        out = builder.var(BOOL, "go")
        arms = then.finish(const(False, "bool")), orelse.finish(result)
        builder.add(If(stopped, arms[0], arms[1], (out,), builder.loc))
        return out

    def carry(
        self,
        stmt: ast.For | ast.While,
        make: Callable[..., For | While],
        body: Callable[[Var], None],
        condition: tuple[Atom, list[Atom]] | None,
        hint: str,
    ) -> None:
        """Traces the body until the types of the carried names agree, then adds the loop."""
        before, loc = dict(self.here.names), self.emit.builder.loc
        inits = {n: before[n] for n in self.carried_names(stmt) if self.number(before[n])}
        if isinstance(before.get(RESULT, UNSET), type(UNSET)) and RESULT in assigned(stmt.body):
            inits[RESULT] = 0.0  # never read unless set
        kinds = {n: self.emit.dtype(v) for n, v in inits.items()}
        for _ in range(4):
            done, kinds = self.attempt(stmt, make, body, condition, hint, before, inits, kinds)
            if done:
                break
        else:
            self.emit.fail("the types of the names in this loop do not settle")
        self.emit.builder.loc = loc

    def attempt(
        self, stmt: Any, make: Any, body: Any, condition: Any, hint: str,
        before: dict[str, Value], inits: dict[str, Value], kinds: dict[str, str],
    ) -> tuple[bool, dict[str, str]]:  # fmt: skip
        builder = self.emit.builder
        mark = len(builder.open[-1].stmts)
        index = builder.var(INT, hint)
        go = [builder.var(BOOL, "go")] if condition else []
        weak = {n: self.emit.weak(v) for n, v in inits.items()}
        params = {n: builder.var(Scalar(kinds[n]), n) for n in inits}
        first = {n: self.emit.atom(inits[n], kinds[n]) for n in inits}
        unset = {n: UNSET for n in assigned(stmt.body) if n not in before}
        self.here.names = {**before, **unset, **{n: Num(p, weak[n]) for n, p in params.items()}}
        if isinstance(stmt, ast.For):
            for name in assigned([ast.Assign([stmt.target], ast.Constant(0))]):
                self.here.names[name] = UNSET
        with builder.block() as opened:
            body(index)
            after = self.here.names
            found = {n: self.settled(n, after[n]) for n in inits}
            wider = {n: np.result_type(kinds[n], found[n]).name for n in inits}
            if wider != kinds:
                results: list[Atom] = []
            else:
                results = [self.emit.atom(after[n], kinds[n]) for n in inits]
        if wider != kinds:
            del builder.open[-1].stmts[mark:]
            self.here.names = dict(before)
            return False, wider
        self.arrays_stay(stmt, before, after, inits)
        carried = [(params[n], first[n]) for n in inits]
        if condition:
            carried.insert(0, (go[0], condition[0]))
            results.insert(0, condition[1][0])
        outs = [builder.like(name) for name, _ in carried]
        builder.add(make(index, tuple(carried), opened.finish(*results), tuple(outs)))
        self.here.names = {**before, **unset}
        for n, out in zip(inits, outs[len(go) :], strict=True):
            self.here.names[n] = Num(out, weak[n] and self.emit.weak(after[n]))
        if isinstance(stmt, ast.For):
            for name in assigned([ast.Assign([stmt.target], ast.Constant(0))]):
                self.here.names[name] = UNSET
        return True, kinds

    def settled(self, name: str, value: Value) -> str:
        if not self.number(value):
            self.emit.fail(f"`{name}` is a number before this loop and none after it")
        return self.emit.dtype(value)

    def arrays_stay(
        self, stmt: Any, before: dict[str, Value], after: dict[str, Value], inits: Any
    ) -> None:
        for name in assigned(stmt.body):
            if name in inits or name not in before or before[name] is UNSET:
                continue
            if not self.identical(before[name], after.get(name, UNSET)):
                self.emit.fail(
                    f"`{name}` names another array or object after each iteration",
                    "carrying arrays through loops by rebinding is not supported yet",
                    f"write into it: `{name}[:] = ...`",
                )

    # -- expressions

    def truth(self, value: Value) -> "bool | Num":
        return self.emit.truth(value)

    def binary(self, op: str, left: Value, right: Value) -> Value:
        if not isinstance(left, Num | Arr) and not isinstance(right, Num | Arr):
            return STATIC[op](left, right)
        return self.emit.arithmetic(op, left, right)

    def name(self, name: str) -> Value:
        frame: Frame | None = self.here
        while frame is not None:
            if name in frame.names:
                value = frame.names[name]
                if value is UNSET:
                    self.emit.fail(
                        f"`{name}` may have no value here",
                        "only some branches, or only a loop, set it",
                        f"give `{name}` a value before",
                    )
                return value
            last, frame = frame, frame.outer
        found = last.code.outside(name)
        if found is UNSET and hasattr(builtins, name):
            return getattr(builtins, name)
        if found is UNSET:
            self.emit.fail(f"the name `{name}` is not defined")
        code = last.code
        return self.outside(name, found, lambda: code.outside(name))

    def expr(self, node: ast.expr) -> Value:
        self.place(node)
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.name(name)
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                return tuple(self.expr(part) for part in parts)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary_node(node, left, op, right)
            case ast.UnaryOp(op=op, operand=operand):
                return self.unary(op, self.expr(operand))
            case ast.Compare():
                return self.compare(node)
            case ast.BoolOp(op=op, values=values):
                return self.logic(isinstance(op, ast.And), values)
            case ast.IfExp(test=test, body=body, orelse=orelse):
                return self.conditional(self.truth(self.expr(test)), body, orelse)
            case ast.Call():
                return self.call_node(node)
            case ast.Attribute(value=value, attr=attr):
                return self.attribute(self.expr(value), attr)
            case ast.Subscript(value=value, slice=key):
                return self.subscript(self.expr(value), self.expr(key))
            case ast.Slice(lower=lower, upper=upper, step=step):
                bounds = [None if p is None else self.expr(p) for p in (lower, upper, step)]
                return slice(*bounds)
            case ast.Lambda():
                return self.define(node)
            case _:
                self.refuse(node)

    def binary_node(
        self, node: ast.BinOp, left: ast.expr, op: ast.operator, right: ast.expr
    ) -> Value:
        first, second = self.expr(left), self.expr(right)
        self.place(node)
        if isinstance(op, ast.MatMult):
            return self.call(np.matmul, [first, second], {})
        name = BINARY.get(type(op))
        if name is None:
            self.refuse(node)
        return self.binary(name, first, second)

    def unary(self, op: ast.unaryop, value: Value) -> Value:
        match op:
            case ast.USub():
                return self.emit.op("neg", value) if isinstance(value, Num | Arr) else -value  # type: ignore[operator]
            case ast.UAdd():
                return value
            case ast.Not():
                known = self.truth(value)
                return not known if isinstance(known, bool) else self.emit.op("not", known)
            case _:
                return self.emit.op("invert", value) if isinstance(value, Num | Arr) else ~value  # type: ignore[operator]

    def compare(self, node: ast.Compare) -> Value:
        left = self.expr(node.left)
        result: Value = True
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.expr(right_node)
            one = self.compared(node, op, left, right)
            if result is True:
                result = one
            else:
                result = self.emit.op("and", Num(self.emit.atom(result)), Num(self.emit.atom(one)))
            left = right
        return result

    def compared(self, node: ast.Compare, op: ast.cmpop, left: Value, right: Value) -> Value:
        if isinstance(op, ast.Is | ast.IsNot):
            return (left is right) == isinstance(op, ast.Is)
        name = COMPARE.get(type(op))
        if name is None:
            self.refuse(node)
        return self.binary(name, left, right)

    def logic(self, is_and: bool, nodes: list[ast.expr]) -> Value:
        """`and`, `or` with their short circuit."""
        first = self.truth(self.expr(nodes[0]))
        if len(nodes) == 1:
            return first
        if isinstance(first, bool):
            return self.logic(is_and, nodes[1:]) if first == is_and else first
        builder = self.emit.builder
        with builder.block() as rest:
            more = self.emit.atom(self.truth(self.logic(is_and, nodes[1:])))
        with builder.block() as stop:
            pass
        out = builder.var(BOOL, "t")
        going, known = rest.finish(more), stop.finish(const(not is_and, "bool"))
        arms = (going, known) if is_and else (known, going)
        builder.add(If(first.atom, arms[0], arms[1], (out,), builder.loc))
        return Num(out)

    def conditional(self, cond: "bool | Num", body: ast.expr, orelse: ast.expr) -> Value:
        if isinstance(cond, bool):
            return self.expr(body if cond else orelse)
        target = "__chosen"

        def arm(node: ast.expr) -> Callable[[], None]:
            def run() -> None:
                self.here.names[target] = self.expr(node)

            return run

        self.merge(cond.atom, arm(body), arm(orelse))
        result = self.here.names.pop(target)
        if result is UNSET:
            self.emit.fail("the arms of this conditional expression have nothing in common")
        return result

    def call_node(self, node: ast.Call) -> Value:
        function = self.expr(node.func)
        if any(isinstance(a, ast.Starred) for a in node.args) or any(
            k.arg is None for k in node.keywords
        ):
            self.refuse(node, "star arguments are not supported yet")
        args = [self.expr(a) for a in node.args]
        kwargs = {k.arg: self.expr(k.value) for k in node.keywords if k.arg is not None}
        self.place(node)
        if function is range:
            bounds = [*args]
            start, stop = (0, bounds[0]) if len(bounds) == 1 else (bounds[0], bounds[1])
            return Range(start, stop, bounds[2] if len(bounds) == 3 else 1)
        if function in (enumerate, zip) or function is print:
            self.refuse(node, f"`{getattr(function, '__name__', '')}` is not supported yet",
                        "loop over range(len(...))")  # fmt: skip
        return self.call(function, args, kwargs)

    def attribute(self, value: Value, attr: str) -> Value:
        if isinstance(value, Arr | Num):
            return self.emit.attribute(value, attr)
        if not hasattr(value, attr):
            self.emit.fail(f"`{attr}` is not an attribute here")
        found = getattr(value, attr)
        if isinstance(value, ModuleType) and value.__name__.split(".")[0] in ("numpy", "math"):
            return found
        return self.outside(attr, found, lambda: getattr(value, attr, UNSET))

    def subscript(self, value: Value, key: Value) -> Value:
        if isinstance(value, Arr):
            return self.emit.getitem(value, key)
        if isinstance(value, tuple | list | dict):
            if isinstance(key, Num):
                self.emit.fail("a tuple cannot have a run-time index yet", instead="use an array")
            container: Any = value
            return container[key]
        self.emit.fail("only arrays and tuples can be subscripted")


class Range:
    """A `range` whose bounds may be known at run time only."""

    def __init__(self, start: Value, stop: Value, step: Value) -> None:
        self.start, self.stop, self.step = start, stop, step
