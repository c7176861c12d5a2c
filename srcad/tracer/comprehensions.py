"""Lists made by expressions: comprehensions, `list`, `sorted`, sums and products of lists.

A comprehension is the loop that it stands for, which appends to a list.
"""

import ast
from typing import Any

from srcad.arrays import sort_into
from srcad.tracer import boxes, constructors, elementwise, indexing, iteration, loops, scalars
from srcad.tracer.machine import Machine
from srcad.tracer.values import Arr, Box, Num, Value

Comprehension = ast.ListComp | ast.GeneratorExp | ast.DictComp


def run(machine: Machine, node: Comprehension) -> Value:
    """The value of a comprehension; its own names are gone afterwards."""
    here = machine.here
    before = dict(here.names)
    targets = {
        name.id for one in node.generators for name in ast.walk(one.target)
        if isinstance(name, ast.Name)
    }  # fmt: skip
    made = f"__made_{node.lineno}_{node.col_offset}"
    if isinstance(node, ast.DictComp):
        found: Value = _dictionary(machine, node)
    else:
        machine.place(node)
        found = here.names[made] = boxes.make_list(machine.emit, ())
        loops.for_loop(machine, _loop(node, made))
    for name in (*targets, made):
        here.names.pop(name, None)
        if name in before:
            here.names[name] = before[name]
    return found


def _loop(node: ast.ListComp | ast.GeneratorExp, made: str) -> ast.For:
    """The loop of a list comprehension, made once for each node."""
    known: ast.For | None = getattr(node, "loop", None)
    if known is not None:
        return known
    method = ast.Attribute(ast.Name(made, ast.Load()), "append", ast.Load())
    body: list[ast.stmt] = [ast.Expr(ast.Call(method, [node.elt], []))]
    for one in reversed(node.generators):
        for test in reversed(one.ifs):
            branch = ast.If(test, body, [])
            branch.live = frozenset()  # type: ignore[attr-defined]
            body = [branch]
        loop = ast.For(one.target, one.iter, body, [])
        loop.live, loop.short = frozenset(), True  # type: ignore[attr-defined]
        body = [loop]
    ast.fix_missing_locations(ast.copy_location(loop, node))
    node.loop = loop  # type: ignore[union-attr]
    return loop


def _dictionary(machine: Machine, node: ast.DictComp) -> Box:
    """A dictionary over something of known length: it is run while tracing."""
    one = node.generators[0]
    items = iteration.sequence(machine.emit, machine.used(one.iter), machine.subscript)
    if items is None or not isinstance(items.count, int) or len(node.generators) > 1:
        machine.refuse(node, "the keys of a dictionary must be known while tracing", "use a list")
    found: dict[Any, Value] = {}
    for k in range(items.count):
        machine.assign(one.target, items.item(k))
        tests = [machine.truth(machine.expr(test)) for test in one.ifs]
        if any(isinstance(test, Num) for test in tests):
            machine.refuse(node, "the keys of a dictionary must be known while tracing")
        key = machine.used(node.key)
        if not isinstance(key, str | int):
            machine.refuse(node.key, "keys must be known strings or integers")
        if all(tests):
            found[key] = machine.expr(node.value)
    return machine.emit.boxed(found)


def listed(machine: Machine, ordered: bool, args: list[Value], kwargs: dict[str, Value]) -> Box:
    """list(items), sorted(items)."""
    emit = machine.emit
    backwards = kwargs.pop("reverse", False)
    if kwargs or len(args) > 1 or not isinstance(backwards, bool):
        emit.fail("`list` and `sorted` take one argument here, `sorted` also a known `reverse`")
    if not args:
        return boxes.make_list(emit, ())
    over = machine.plain(args[0])
    if ordered:
        return _sorted(machine, over, backwards)
    if isinstance(over, Box) and not isinstance(emit.heap[over], dict):
        return boxes.copy(emit, over)
    items = iteration.sequence(emit, over, machine.subscript)
    if items is None:
        emit.fail("`list` takes lists, tuples, ranges and arrays")
    if isinstance(items.count, int) and items.count <= loops.MOST_FOR_STRUCTURE:
        return boxes.make_list(emit, tuple(items.item(k) for k in range(items.count)))
    made = boxes.make_list(emit, ())
    boxes.extend(emit, made, _array(machine, items))
    return made


def _array(machine: Machine, items: iteration.Sequence) -> Arr:
    """Items that are numbers as an array."""
    emit = machine.emit
    kinds: list[str] = []

    def element(index: tuple[Any, ...]) -> Any:
        value = items.item(index[0])
        kinds.append(scalars.dtype(emit, value))
        return scalars.to_atom(emit, value)

    with emit.builder.block():
        element((elementwise.index_var(emit, 0, items.stop),))
    return elementwise.build(emit, (items.stop,), kinds[0], element)


def _sorted(machine: Machine, over: Value, backwards: bool) -> Box:
    emit = machine.emit
    content = boxes.opened(emit, over)
    if isinstance(content, tuple | list) and scalars.static(*content):
        items: list[Any] = list(content)
        return boxes.make_list(emit, tuple(sorted(items, reverse=backwards)))
    array = constructors.array(emit, content) if isinstance(content, tuple | list) else content
    if not isinstance(array, Arr) or len(array.shape) != 1:
        emit.fail("only lists of numbers are sorted", instead="sort the keys, then pick the items")
    n = array.shape
    order, work = (elementwise.new(emit, "int64", n, None, name) for name in ("order", "work"))
    out = elementwise.new(emit, scalars.dtype(emit, array), n, None, "ordered")
    emit.call(sort_into, array, order, work, out)
    view: Value = indexing.getitem(emit, out, slice(None, None, -1)) if backwards else out
    assert isinstance(view, Arr)
    if isinstance(content, tuple | list):
        return boxes.make_list(
            emit, tuple(indexing.getitem(emit, view, k) for k in range(len(content)))
        )
    made = boxes.make_list(emit, ())
    boxes.extend(emit, made, view)
    return made


def combined(machine: Machine, op: str, left: Value, right: Value) -> Value:
    """A list in an arithmetic operation."""
    emit = machine.emit
    if op == "add" and not isinstance(left, Arr | Num) and not isinstance(right, Arr | Num):
        made = boxes.make_list(emit, ())
        for part in (left, right):
            boxes.extend(emit, made, part)
        return made
    if op == "mul" and isinstance(left, Box) and not isinstance(right, Arr | Box):
        return boxes.repeated(emit, left, right)
    if op == "mul" and isinstance(right, Box) and not isinstance(left, Arr | Box):
        return boxes.repeated(emit, right, left)
    values = [boxes.opened(emit, value) for value in (left, right)]
    return machine.binary(op, *values)
