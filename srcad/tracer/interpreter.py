"""Abstract execution of the syntax tree: static things are executed, the rest becomes IR."""

import ast
import builtins
import dataclasses
import inspect
import operator
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

from srcad.errors import SrcadError, UnsupportedSyntax
from srcad.ir.marks import Derive
from srcad.ir.nodes import Var
from srcad.tracer import (
    boxes,
    branches,
    calls,
    comprehensions,
    derivatives,
    iteration,
    loops,
    methods,
    numpy_calls,
    raising,
    records,
    refused,
    tuples,
)
from srcad.tracer.context import Emit
from srcad.tracer.flow import assigned
from srcad.tracer.joins import FREE
from srcad.tracer.machine import Frame, Function, Machine, Outside, Unfinished, Unroll
from srcad.tracer.values import (
    UNSET,
    Arr,
    Box,
    Grown,
    Num,
    Option,
    Record,
    Recursive,
    Retrace,
    Value,
)

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
NAMELESS = ("t", "a", "n", "total", "product", "best")  # hints of values that nobody named


class Interpreter(Machine):
    """Statements and expressions."""

    def __init__(self, emit: Emit, outside: Outside, derive: Derive | None = None) -> None:
        super().__init__(emit, outside, derive)
        emit.run = lambda function, args: self.call(function, args, {})

    # -- calls

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        if function is print and not kwargs:
            raising.printed(self, [self.plain(arg) for arg in args])
            return None
        if isinstance(function, records.Bound):
            return self.call(function.function, [function.value, *args], kwargs)
        if function is dataclasses.replace and len(args) == 1:
            return records.changed(self, args[0], kwargs)
        if function is isinstance and len(args) == 2:
            return records.isinstance_of(self, self.plain(args[0]), args[1])
        if isinstance(function, boxes.Method):
            return boxes.call(self.emit, function, [self.plain(arg) for arg in args], kwargs)
        if isinstance(function, methods.Method):
            return self.known(function.function, [function.array, *args], kwargs)
        meaning = numpy_calls.lookup(function)
        if meaning is not None:
            return self.known(meaning, args, kwargs)
        if isinstance(function, derivatives.KINDS) or hasattr(function, "__srcad__"):
            args = [boxes.opened(self.emit, arg) for arg in args]
            return derivatives.call(self, function, args, kwargs)
        return calls.call(self, function, args, kwargs)

    def known(
        self, meaning: numpy_calls.Handler, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """A call whose meaning is in a table; arguments that it does not take are refused."""
        if meaning is numpy_calls.length and len(args) == 1 and isinstance(args[0], Box):
            return boxes.length(self.emit, args[0])
        given = [boxes.opened(self.emit, self.plain(arg)) for arg in args]
        named = {n: boxes.opened(self.emit, self.plain(arg)) for n, arg in kwargs.items()}
        try:
            inspect.signature(meaning).bind(self.emit, *given, **named)
        except TypeError as error:
            self.emit.fail(f"these arguments are not supported yet: {error}")
        return meaning(self.emit, *given, **named)

    def call_node(self, node: ast.Call) -> Value:
        function = self.used(node.func)
        args: list[Value] = []
        for part in node.args:
            if isinstance(part, ast.Starred):
                args += self.unpacked(self.used(part.value), None)
            else:
                args.append(self.usable(self.expr(part)))
        kwargs: dict[str, Value] = {}
        for keyword in node.keywords:
            value = self.usable(self.expr(keyword.value))
            if keyword.arg is not None:
                kwargs[keyword.arg] = value
            elif isinstance(inner := boxes.content(self.emit, value), dict):
                kwargs |= inner
            else:
                self.refuse(node, "only a dictionary can be spread into keywords")
        self.place(node)
        if function is list or function is sorted:
            return comprehensions.listed(self, function is sorted, args, kwargs)
        if function is tuple and len(args) == 1 and not isinstance(args[0], tuple):
            return self.as_tuple(args[0])
        built = iteration.built_in(function, args, kwargs)
        return self.call(function, args, kwargs) if built is None else built.result

    def as_tuple(self, value: Value) -> Value:
        """tuple(items): of a list that grows a copy, which may not be changed."""
        items = iteration.sequence(self.emit, value, self.subscript)
        if items is not None and isinstance(items.count, int):
            return tuple(items.item(k) for k in range(items.count))
        made = comprehensions.listed(self, False, [value], {})
        assert isinstance(made, Box)
        made.fixed = "it is a tuple"
        return made

    def define(self, node: ast.FunctionDef | ast.Lambda) -> Function:
        code = self.here.code.inner(node)
        values = [self.expr(default) for default in node.args.defaults]
        names = code.parameters[len(code.parameters) - len(values) :]
        defaults = dict(zip(names, values, strict=True))
        for arg, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True):
            if default is not None:
                defaults[arg.arg] = self.expr(default)
        return Function(code, self.here, defaults)

    # -- statements

    def block(self, stmts: list[ast.stmt]) -> None:
        """Executes statements; after one that is refused the next is tried, to report it too."""
        for stmt in stmts:
            self.place(stmt)
            try:
                self.stmt(stmt)
            except UnsupportedSyntax as error:
                self.note(error)
                self.here.names |= dict.fromkeys(assigned([stmt]), FREE)
            except Unfinished:
                self.here.dead = True
            except (SrcadError, Unroll, Retrace, Recursive):
                raise
            except Exception:
                if not self.problems:  # else what failed may be a consequence
                    raise
                self.here.names |= dict.fromkeys(assigned([stmt]), FREE)
            if self.here.dead:
                return

    def stmt(self, stmt: ast.stmt) -> None:
        match stmt:
            case ast.Assign(targets=targets, value=value):
                new = self.usable(self.expr(value))
                for target in targets:
                    self.assign(target, new)
            case ast.AugAssign(target=target, op=op, value=value):
                self.augmented(target, BINARY.get(type(op)), value)
            case ast.AnnAssign(target=target, value=value):
                if value is not None:
                    self.assign(target, self.usable(self.expr(value)))
            case ast.If():
                branches.statement(self, stmt)
            case ast.For():
                loops.for_loop(self, stmt)
            case ast.While():
                loops.while_loop(self, stmt)
            case ast.FunctionDef(name=name, decorator_list=[]):
                self.here.names[name] = self.define(stmt)
            case ast.Expr(value=value):
                if not isinstance(value, ast.Constant):
                    self.expr(value)
            case ast.Assert(test=test, msg=text):
                cond = self.truth(self.expr(test))
                raising.check(self, cond, "AssertionError", text)
            case ast.Raise():
                raising.statement(self, stmt)
            case ast.Delete(targets=targets):
                for target in targets:
                    self.delete(target)
            case ast.With(items=items):
                self.entered(stmt, items)
            case ast.Pass():
                pass
            case _:
                refused.statement(self, stmt)

    def delete(self, target: ast.expr) -> None:
        """`del name`: the name has no value from here on."""
        if not isinstance(target, ast.Name):
            self.refuse(target, "only names can be deleted", "leave it, or use another name")
        self.name(target.id)
        self.here.names[target.id] = UNSET

    def entered(self, stmt: ast.With, items: list[ast.withitem]) -> None:
        """`with np.errstate(...)` changes warnings only, and generated code gives none."""
        for item in items:
            match item:
                case ast.withitem(context_expr=ast.Call(func=func), optional_vars=None):
                    if self.expr(func) is np.errstate:
                        continue
                case _:
                    pass
            self.refuse(stmt, "only `np.errstate` can be entered", "call what it does directly")

    def assign(self, target: ast.expr, new: Value) -> None:
        match target:
            case ast.Name(id=name):
                self.named(name, new)
                self.here.names[name] = new
            case ast.Tuple(elts=parts) | ast.List(elts=parts):
                self.spread(target, parts, self.plain(new))
            case ast.Subscript(value=value, slice=key):
                container = self.used(value)
                if isinstance(container, Box):
                    boxes.store(self.emit, container, self.used(key), self.usable(new))
                    return
                array = self.written(target, container)
                self.emit.setitem(array, self.used(key), self.plain(new))
            case _:
                self.refuse(target)

    def named(self, name: str, value: Value) -> None:
        """What the user calls a value is its name in the generated code."""
        match value:
            case Num(atom=Var() as var) | Arr(var=var):
                if var.hint in NAMELESS and not name.startswith("__"):
                    self.emit.names.setdefault(var, name)
            case _:
                pass

    def spread(self, target: ast.expr, parts: list[ast.expr], new: Value) -> None:
        """Unpacking; one part may be starred."""
        starred = [k for k, part in enumerate(parts) if isinstance(part, ast.Starred)]
        if not starred:
            for part, value in zip(parts, self.unpacked(new, len(parts)), strict=True):
                self.assign(part, value)
            return
        values = self.unpacked(new, None)
        first, after = starred[0], len(parts) - starred[0] - 1
        if len(values) < len(parts) - 1:
            self.refuse(target, f"{len(values)} values are too few here")
        middle = tuple(values[first : len(values) - after])
        star = parts[first]
        assert isinstance(star, ast.Starred)
        whole = [*values[:first], middle, *values[len(values) - after :]]
        targets = [*parts[:first], star.value, *parts[first + 1 :]]
        for part, value in zip(targets, whole, strict=True):
            self.assign(part, value)

    def unpacked(self, value: Value, count: int | None) -> list[Value]:
        """The items of a tuple or of an array of known length."""
        if isinstance(value, Arr) and count is not None:
            return self.emit.items(value, count)
        items = None if isinstance(value, Arr) else iteration.sequence(
            self.emit, value, self.subscript)  # fmt: skip
        if items is None or not isinstance(items.count, int):
            self.emit.fail("a tuple is needed here")
        if count is not None and items.count != count:
            self.emit.fail(f"{count} values are needed here, not {items.count}")
        return [items.item(k) for k in range(items.count)]

    def written(self, target: ast.Subscript, array: Value) -> Arr:
        if not isinstance(array, Arr):
            self.refuse(target, "only arrays can be written to")
        return array

    def augmented(self, target: ast.expr, op: str | None, value: ast.expr) -> None:
        if op is None:
            self.refuse(target, instead="write it as an assignment")
        if isinstance(target, ast.Subscript):
            container = self.used(target.value)
            if isinstance(container, Box):
                self.augmented_item(container, self.used(target.slice), op, value)
                return
            array = self.written(target, container)
            self.emit.augmented(array, self.used(target.slice), op, lambda: self.used(value))
            return
        if not isinstance(target, ast.Name):
            self.refuse(target)
        before = self.plain(self.name(target.id))
        if isinstance(before, Box) and op == "add":
            boxes.extend(self.emit, before, self.used(value))
        elif isinstance(before, Arr) and before.shape:  # in place: every other name sees it
            self.emit.augmented(before, Ellipsis, op, lambda: self.used(value))
        else:
            self.assign(target, self.binary(op, before, self.used(value)))

    def augmented_item(self, box: Box, key: Value, op: str, value: ast.expr) -> None:
        """`items[key] op= value`; an array in a list is changed in place."""
        content = self.emit.heap[box]
        if isinstance(content, Grown):
            key = Num(boxes.index(self.emit, content, key))
        before = self.plain(self.subscript(box, key))
        if isinstance(before, Arr) and before.shape:
            self.emit.augmented(before, Ellipsis, op, lambda: self.used(value))
        else:
            boxes.store(self.emit, box, key, self.binary(op, before, self.used(value)))

    # -- expressions

    def binary(self, op: str, left: Value, right: Value) -> Value:
        if isinstance(left, Box) or isinstance(right, Box):
            return comprehensions.combined(self, op, left, right)
        if isinstance(left, Num | Arr) or isinstance(right, Num | Arr):
            return self.emit.arithmetic(op, left, right)
        try:
            return STATIC[op](left, right)
        except Exception as error:
            lists = isinstance(left, tuple | list) or isinstance(right, tuple | list)
            instead = "make it an array: np.array(...)" if lists else ""
            self.emit.fail(f"this fails: {error}", instead=instead)

    def name(self, name: str) -> Value:
        frame: Frame | None = self.here
        while frame is not None:
            if name in frame.names:
                return self.bound(name, frame.names[name])
            last, frame = frame, frame.outer
        found = last.code.outside(name)
        if found is UNSET and hasattr(builtins, name):
            return getattr(builtins, name)
        if found is UNSET:
            self.emit.fail(f"the name `{name}` is not defined")
        code = last.code
        return self.outside(name, found, lambda: code.outside(name))

    def bound(self, name: str, value: Value) -> Value:
        if value is UNSET:
            self.emit.fail(
                f"`{name}` may have no value here", "nothing sets it before",
                f"give `{name}` a value before",
            )  # fmt: skip
        if isinstance(value, Option) and value.absent is UNSET:
            text = f"cannot access local variable '{name}' where it is not associated with a value"
            return self.checked(value, "UnboundLocalError", text)
        return value

    def expr(self, node: ast.expr) -> Value:
        self.place(node)
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self.name(name)
            case ast.Tuple(elts=parts):
                return tuple(self.items(parts))
            case ast.List(elts=parts):
                items = tuple(self.items(parts))
                self.place(node)
                return boxes.make_list(self.emit, items)
            case ast.BinOp(left=left, op=op, right=right):
                return self.binary_node(node, left, op, right)
            case ast.UnaryOp(op=op, operand=operand):
                return self.unary(op, self.used(operand))
            case ast.Compare():
                return self.compare(node)
            case ast.BoolOp(op=op, values=values):
                return branches.logic(self, isinstance(op, ast.And), values)
            case ast.IfExp():
                return branches.conditional(self, node)
            case ast.Call():
                return self.call_node(node)
            case ast.Attribute(value=value, attr=attr):
                return self.attribute(self.used(value), attr)
            case ast.Subscript(value=value, slice=key):
                return self.subscript(self.used(value), self.used(key))
            case ast.Slice(lower=lower, upper=upper, step=step):
                bounds = [None if p is None else self.expr(p) for p in (lower, upper, step)]
                return slice(*bounds)
            case ast.Lambda():
                return self.define(node)
            case ast.NamedExpr(target=target, value=value):
                new = self.usable(self.expr(value))
                self.assign(target, new)
                return new
            case ast.Dict(keys=keys, values=values):
                return self.emit.boxed(self.entries(keys, values))
            case ast.ListComp() | ast.GeneratorExp() | ast.DictComp():
                return comprehensions.run(self, node)
            case ast.JoinedStr(values=pieces):
                return "".join(self.formatted(node, piece) for piece in pieces)
            case _:
                refused.expression(self, node)

    def formatted(self, node: ast.expr, piece: ast.expr) -> str:
        """A piece of an f-string that is known while tracing."""
        value = self.used(piece.value if isinstance(piece, ast.FormattedValue) else piece)
        if not isinstance(value, str | int | float):
            refused.expression(self, node)
        return str(value)

    def items(self, parts: list[ast.expr]) -> list[Value]:
        found: list[Value] = []
        for part in parts:
            if isinstance(part, ast.Starred):
                found += self.unpacked(self.used(part.value), None)
            else:
                found.append(self.usable(self.expr(part)))
        return found

    def entries(self, keys: list[ast.expr | None], values: list[ast.expr]) -> dict[Any, Value]:
        """What a dictionary display holds; `**other` is spread."""
        found: dict[Any, Value] = {}
        for key, node in zip(keys, values, strict=True):
            value = self.usable(self.expr(node))
            inner = boxes.content(self.emit, value)
            if key is not None:
                found[self.key(key)] = value
            elif isinstance(inner, dict):
                found |= inner
            else:
                self.refuse(node, "only a dictionary can be spread into a dictionary")
        return found

    def key(self, node: ast.expr) -> Any:
        found = self.expr(node)
        if not isinstance(found, str | int):
            self.emit.fail("the keys of a dictionary must be known strings or integers")
        return found

    def binary_node(
        self, node: ast.BinOp, left: ast.expr, op: ast.operator, right: ast.expr
    ) -> Value:
        first, second = self.used(left), self.used(right)
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
        left = self.usable(self.expr(node.left))
        result: Value = True
        for op, right_node in zip(node.ops, node.comparators, strict=True):
            right = self.usable(self.expr(right_node))
            one = self.compared(node, op, left, right)
            if result is True:
                result = one
            else:
                result = self.emit.op("and", Num(self.emit.atom(result)), Num(self.emit.atom(one)))
            left = right
        return result

    def compared(self, node: ast.Compare, op: ast.cmpop, left: Value, right: Value) -> Value:
        if isinstance(op, ast.Is | ast.IsNot):
            return self.same(left, right, isinstance(op, ast.Is))
        first, second = (boxes.opened(self.emit, self.plain(v)) for v in (left, right))
        if isinstance(op, ast.In | ast.NotIn) and not isinstance(first, Num | Arr):
            if isinstance(second, tuple | list | dict | str | set | frozenset):
                return (first in second) is isinstance(op, ast.In)
        name = COMPARE.get(type(op))
        if name is None:
            self.refuse(node)
        return self.binary(name, first, second)

    def same(self, left: Value, right: Value, wanted: bool) -> Value:
        """`is` and `is not`; whether a value is None may be known at run time only."""
        if isinstance(left, Option) and right is None:
            return self.emit.op("not", left.known) if wanted else left.known
        return (left is right) is wanted

    def attribute(self, value: Value, attr: str) -> Value:
        if isinstance(value, Arr | Num):
            return self.emit.attribute(value, attr)
        if isinstance(value, Box) and attr in boxes.methods(self.emit, value):
            return boxes.Method(value, attr)
        value = boxes.content(self.emit, value)
        if isinstance(value, Record):
            return records.attribute(self, value, attr)
        if isinstance(value, tuple) and attr == "_replace":
            return records.Bound(dataclasses.replace, value)
        if isinstance(value, derivatives.KINDS):
            return derivatives.attribute(self, value, attr)
        if isinstance(value, dict) and attr in ("items", "keys", "values"):
            return iteration.Given(tuple(getattr(value, attr)()))
        if not hasattr(value, attr):
            self.emit.fail(f"`{attr}` is not an attribute here")
        found = getattr(value, attr)
        if isinstance(value, str):
            return found
        if isinstance(value, ModuleType) and value.__name__.split(".")[0] in ("numpy", "math"):
            return found
        if isinstance(value, tuple) and hasattr(value, "_fields"):
            return found
        return self.outside(attr, found, lambda: getattr(value, attr, UNSET))

    def subscript(self, value: Value, key: Value) -> Value:
        if isinstance(value, Box):
            content = self.emit.heap[value]
            if isinstance(key, slice):
                return boxes.sliced(self.emit, value, key)
            if isinstance(content, Grown):
                return boxes.take(self.emit, content, boxes.index(self.emit, content, key))
            return self.subscript(content, key)
        if isinstance(value, Arr):
            return self.emit.getitem(value, key)
        if isinstance(value, tuple | list | dict | str):
            if isinstance(key, Num) and not isinstance(value, str):
                return tuples.at(self, value, key)
            container: Any = value
            try:
                return container[key]
            except (LookupError, TypeError) as error:
                self.emit.fail(f"this subscript fails: {type(error).__name__}: {error}")
        self.emit.fail("only arrays, tuples, lists, dictionaries and texts can be subscripted")
