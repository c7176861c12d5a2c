"""Evaluates IR directly, statement by statement: an oracle for generated code.

It knows nothing of names, folding or loops' ranges, so it sees what `codegen` gets wrong there.
"""

from collections.abc import Mapping
from typing import Any

import numpy as np

from srcad import ops
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
    NewAxis,
    Permute,
    Print,
    Reshape,
    Stmt,
    Store,
    Var,
    View,
    While,
    array_type,
)


def evaluate(function: Function, *args: Any) -> list[Any]:
    """The flat results for flat arguments."""
    callees = {callee.name: callee for callee in function.callees}
    run = Evaluator(dict(zip(function.params, args, strict=True)), callees)
    with np.errstate(all="ignore"):
        return run.block(function.body)


class Evaluator:
    def __init__(
        self, values: dict[Var, Any], callees: Mapping[str, Function] | None = None
    ) -> None:
        self.values = values
        self.callees = dict(callees or {})
        self.names: dict[Var, Var] = {}  # arrays that grow keep their identity

    def called(self, name: str, args: list[Any]) -> list[Any]:
        """The results of a function that calls itself."""
        callee = self.callees[name]
        return self.again(dict(zip(callee.params, args, strict=True))).block(callee.body)

    def again(self, values: dict[Var, Any]) -> "Evaluator":
        """One like this, for a function that is called."""
        return type(self)(values, self.callees)

    def dtype(self, name: str) -> np.dtype[Any]:
        return np.dtype(name)

    def atom(self, atom: Atom) -> Any:
        if isinstance(atom, Const):
            return self.dtype(atom.type.dtype).type(atom.value)
        return self.values[atom]

    def at(self, index: tuple[Atom, ...]) -> tuple[int, ...]:
        found = tuple(int(self.atom(i)) for i in index)
        assert all(i >= 0 for i in found), "a negative index reaches memory"
        return found

    def block(self, block: Block) -> list[Any]:
        for stmt in block.stmts:
            self.stmt(stmt)
        return [self.atom(result) for result in block.results]

    def stmt(self, stmt: Stmt) -> None:
        values = self.values
        match stmt:
            case Let(out=out, op="dim", args=(array, axis)):
                values[out] = np.int64(self.atom(array).shape[self.atom(axis)])
            case Let(out=out, op="select", args=(cond, a, b)):
                values[out] = self.atom(a) if self.atom(cond) else self.atom(b)
            case Let(out=out, op=op, args=args):
                made = ops.operation(op).numpy(*map(self.atom, args))
                values[out] = np.asarray(made).astype(self.dtype(out.type.dtype))[()]
            case Load(out=out, array=array, index=index):
                values[out] = values[array][self.at(index)]
            case Store(array=array, index=index, value=value):
                values[array][self.at(index)] = self.atom(value)
            case Alloc(out=out, shape=shape, fill=fill):
                size = tuple(int(self.atom(extent)) for extent in shape)
                start = 0 if fill is None else fill.value
                values[out] = np.full(
                    size, start, self.dtype(out.type.dtype), order=array_type(out).layout
                )
            case View(out=out, array=array, how=how):
                values[out] = self.view(values[array], how)
            case Library(op="matmul", reads=(a, b), writes=(out,)):
                values[out][...] = values[a] @ values[b]
            case Library(op="matmul_add", reads=(a, b), writes=(out,)):
                values[out][...] += values[a] @ values[b]
            case Grow(array=array, length=length):
                old = values[array]
                longer = np.zeros(
                    (max(int(self.atom(length)), len(old)), *old.shape[1:]), old.dtype
                )
                longer[: len(old)] = old
                values[array] = longer
            case Assert(cond=cond, error=error, message=message):
                if not self.atom(cond):
                    raise getattr(__builtins__, error, IndexError)(message)
            case If(cond=cond, then=then, orelse=orelse, outs=outs):
                made = self.block(then if self.atom(cond) else orelse)
                values.update(zip(outs, made, strict=True))
            case For(index=index, stop=stop, carried=carried):
                now = [self.atom(init) for _, init in carried]
                for k in range(int(self.atom(stop))):
                    values[index] = np.int64(k)
                    now = self.iteration(stmt, now)
                values.update(zip(stmt.outs, now, strict=True))
            case While(index=index, carried=carried, trips=trips):
                now, k = [self.atom(init) for _, init in carried], 0
                while now[0]:
                    values[index] = np.int64(k)
                    now, k = self.iteration(stmt, now), k + 1
                values.update(zip(stmt.outs, now, strict=True))
                values[trips] = np.int64(k)
            case Print():
                pass
            case Call(callee=callee, args=args, outs=outs):
                values.update(
                    zip(outs, self.called(callee, list(map(self.atom, args))), strict=True)
                )
            case _:
                raise AssertionError(stmt)

    def iteration(self, loop: For | While, now: list[Any]) -> list[Any]:
        self.values.update(zip((name for name, _ in loop.carried), now, strict=True))
        return self.block(loop.body)

    def view(self, array: Any, how: Any) -> Any:
        match how:
            case Permute(axes=axes):
                return array.transpose(axes)
            case Reshape(shape=shape):
                return array.reshape(tuple(int(self.atom(n)) for n in shape))
        for axis in reversed(range(len(how.items))):
            item = how.items[axis]
            place = sum(not isinstance(i, NewAxis) for i in how.items[:axis])
            if isinstance(item, NewAxis):
                array = np.expand_dims(array, place)
                continue
            if isinstance(item, Index):
                key: Any = self.atom(item.at)
            else:
                start, n, step = map(self.atom, (item.start, item.length, item.step))
                stop = start + n * step
                key = slice(start, None if stop < 0 else stop, step) if n else slice(0, 0)
            array = array[(slice(None),) * place + (key, ...)]
        return array
