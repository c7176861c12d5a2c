"""Functions that call themselves at a depth that the run decides: they stay functions.

A function whose call is met again under arguments of the same kinds is traced once, as a function
of its own (`Function.callees`), and called (`Call`). Functions that it calls are traced in place,
so mutual recursion becomes recursion of the function that is called first. What it gives is found
in passes: first from the paths that do not call it again, then with that assumed, until it agrees.
"""

from collections.abc import Hashable
from dataclasses import dataclass, replace

from srcad.ir.aliases import memory, written_parameters
from srcad.ir.builder import OpenBlock
from srcad.ir.nodes import Atom, Block, Call, Function, Stmt, Var
from srcad.ir.trees import Group, Leaf
from srcad.ir.types import Array
from srcad.ir.walk import blocks, free, map_blocks, substitute, walk
from srcad.tracer import boxes, calls, indexing, joins
from srcad.tracer.joins import Kind
from srcad.tracer.machine import Frame, Machine, Unfinished
from srcad.tracer.source import Code
from srcad.tracer.values import UNSET, Arr, Recursive, Useless, Value

NESTED = 12  # calls of one function inside each other whose known arguments differ
CALLS = 100  # calls of one function that calls itself, all traced in place
PASSES = 12
Names = dict[str, Value]


@dataclass(eq=False)
class Callee:
    """A function that calls itself, while it is traced and afterwards."""

    key: Hashable
    name: str
    kinds: dict[str, Kind]  # of the parameters
    result: Kind | None = None  # None: not known yet
    wider: bool = False  # a call inside gave wider arguments
    function: Function | None = None
    outer: tuple[Var, ...] = ()  # what it reads from outside, as arguments before the others


def key_of(code: Code) -> Hashable:
    return id(code.node)


def note(machine: Machine, code: Code, names: Names) -> None:
    """Asks for a new trace, with the function as one that is called, where recursion shows."""
    key = key_of(code)
    chain = [before for other, before in machine.chain if other == key]
    if not chain:
        return
    machine.repeated[key] = machine.repeated.get(key, 0) + 1
    again = any(_alike(machine, before, names) for before in chain)
    if again or len(chain) > NESTED or machine.repeated[key] > CALLS:
        raise Recursive(key)


def _alike(machine: Machine, first: Names, second: Names) -> bool:
    """Whether a call repeats another one, as far as can be seen while tracing."""
    return all(_seen(machine, first[n]) == _seen(machine, second[n]) for n in first.keys() & second)


def _seen(machine: Machine, value: Value) -> object:
    match joins.kind_of(machine.emit, value):
        case joins.Number(dtype=dtype) if not isinstance(value, bool | int | float):
            return dtype
        case joins.Array(type=array):
            return array.dtype, array.ndim
        case joins.Items(items=items) if isinstance(value, tuple):
            return tuple(_seen(machine, item) for item in value), len(items)
        case _:
            return repr(value)


def call(machine: Machine, code: Code, outer: Frame | None, names: Names) -> Value:
    """A call of a function that calls itself."""
    given = {name: boxes.opened(machine.emit, value) for name, value in names.items()}
    kinds = {name: _kind(machine, name, value) for name, value in given.items()}
    building = machine.building.get(key_of(code))
    if building is not None:
        return _inside(machine, building, given, kinds)
    for known in machine.callees:
        if known.key == key_of(code) and _joined(known.kinds, kinds) == known.kinds:
            return _called(machine, known, given)
    if machine.building:
        machine.emit.fail(
            f"`{code.name}` calls itself, and another function that does",
            "functions that call each other and themselves are not supported yet",
            "write one of them as a loop",
        )
    name = code.name if code.name.isidentifier() else "function"
    made = Callee(key_of(code), f"{name}_{len(machine.callees) + 1}", kinds)
    _build(machine, made, code, outer)
    machine.callees.append(made)
    return _called(machine, made, given)


def _kind(machine: Machine, name: str, value: Value) -> Kind:
    """What an argument is: arrays of any strides and extents, ints as numbers of the run."""
    if isinstance(value, bool):
        return joins.Known(value)
    kind = _loose(joins.kind_of(machine.emit, value))
    match kind:
        case Useless(what=what, why=why, instead=instead):
            machine.emit.fail(what, why, instead)
        case joins.Boxed() | joins.Keyed():
            machine.emit.fail(
                f"`{name}` of a function that calls itself is a list or dictionary",
                instead="pass an array or a tuple",
            )
        case joins.Array(type=array) if array.ndim == 0 or not array.writable:
            machine.emit.fail(
                f"`{name}` of a function that calls itself is a read-only array or has no axes",
                instead="pass a copy",
            )
        case _:
            return kind


def _loose(kind: Kind) -> Kind:
    match kind:
        case joins.Array(type=array, shape=shape):
            return joins.Array(replace(array, layout="A"), (None,) * len(shape))
        case joins.Items(items=items):
            return replace(kind, items=tuple(map(_loose, items)))
        case joins.Perhaps(kind=inner) if inner is not None:
            return replace(kind, kind=_loose(inner))
        case _:
            return kind


def _joined(first: dict[str, Kind], second: dict[str, Kind]) -> dict[str, Kind]:
    """The kinds of both; something known that differs becomes a number of the run if it can."""
    return {name: _both(name, kind, second[name]) for name, kind in first.items()}


def _both(name: str, first: Kind, second: Kind) -> Kind:
    if first == second:
        return first
    return joins.unify(name, _numbered(first), _numbered(second))


def _numbered(kind: Kind) -> Kind:
    if isinstance(kind, joins.Known) and isinstance(kind.value, bool):
        return joins.Number("bool", True)
    return kind


def _inside(machine: Machine, made: Callee, given: Names, kinds: dict[str, Kind]) -> Value:
    """The function calls itself while it is traced."""
    wider = _joined(made.kinds, kinds)
    for kind in wider.values():
        if isinstance(kind, Useless):
            machine.emit.fail(kind.what, "a function calls itself with both", kind.instead)
    if wider != made.kinds:
        made.kinds, made.wider = wider, True
    if made.result is None or made.wider:
        raise Unfinished
    return _emitted(machine, made, given)


def _emitted(machine: Machine, made: Callee, given: Names, writes: tuple[Var, ...] = ()) -> Value:
    assert made.result is not None
    emit, builder = machine.emit, machine.emit.builder
    args: list[Atom] = list(made.outer)
    for name, kind in made.kinds.items():
        args += joins.leaves(emit, given[name], kind)
    outs = joins.fresh(emit, made.result, "v")
    builder.add(Call(made.name, tuple(args), tuple(outs), writes, builder.loc))
    for out in outs:
        if isinstance(out.type, Array):
            emit.memory.separate.add(out)
    return joins.value(emit, made.result, iter(outs))


def _called(machine: Machine, made: Callee, given: Names) -> Value:
    """A call from outside: the arrays that are written must be apart from the others."""
    assert made.function is not None
    emit = machine.emit
    arrays = [v for v in _arrays(given, made.kinds)]
    flat = [*made.outer, *arrays]
    places = [k for k, p in enumerate(made.function.params) if isinstance(p.type, Array)]
    by_place = dict(zip(places, [v for v in flat if isinstance(v.type, Array)], strict=True))
    writes: list[Var] = []
    for k in sorted(written_parameters(made.function)):
        target = by_place[k]
        indexing.writable(emit, Arr(target, ()))
        writes.append(target)
        if any(j != k and not emit.memory.apart(target, v) for j, v in by_place.items()):
            emit.fail(
                "a function that calls itself gets arrays that may share memory, and writes one",
                instead="pass a copy of one of them",
            )
    return _emitted(machine, made, given, tuple(writes))


def _arrays(given: Names, kinds: dict[str, Kind]) -> list[Var]:
    def leaves(value: Value) -> list[Var]:
        if isinstance(value, Arr):
            return [value.var]
        return [v for item in value for v in leaves(item)] if isinstance(value, tuple) else []

    return [var for name in kinds for var in leaves(given[name])]


# -- the function itself


def _build(machine: Machine, made: Callee, code: Code, outer: Frame | None) -> None:
    machine.building[made.key] = made
    try:
        for _ in range(PASSES):
            made.wider = False
            before = made.result
            if _pass(machine, made, code, outer):
                return
            if made.result is None and before is None and not made.wider:
                machine.emit.fail(f"`{code.name}` calls itself on every path")
        machine.emit.fail(f"the kinds in `{code.name}`, which calls itself, do not settle")
    finally:
        del machine.building[made.key]


def _pass(machine: Machine, made: Callee, code: Code, outer: Frame | None) -> bool:
    """Traces the body; whether what it gives is what was assumed."""
    emit, builder = machine.emit, machine.emit.builder
    open, builder.open, loc = builder.open, [OpenBlock()], builder.loc
    heap, noted, assumed = dict(emit.heap), len(machine.problems), made.result
    machine.unfinished = assumed is None
    try:
        params = [var for n, kind in made.kinds.items() for var in joins.fresh(emit, kind, n)]
        rest = iter(params)
        names = {name: joins.value(emit, kind, rest) for name, kind in made.kinds.items()}
        try:
            result = boxes.given(emit, calls.body(machine, code, outer, names))
            kind = _result_kind(machine, result)
        except Unfinished:
            kind = None
        if any(emit.heap.get(box) is not content for box, content in heap.items()):
            emit.fail("a function that calls itself changes a list from outside")
        found = kind if assumed is None or kind is None else joins.unify("v", assumed, kind)
        if isinstance(found, Useless):
            emit.fail(found.what, "a function that calls itself gives both", found.instead)
        made.result = assumed if found is None else found
        if found is None or found != assumed or made.wider:
            del machine.problems[noted:]
            return False
        atoms = joins.leaves(emit, result, found)
        body = builder.finish(*atoms)
    finally:
        builder.open, builder.loc, emit.heap = open, loc, heap
        machine.unfinished = any(one.result is None for one in machine.building.values())
    _finish(machine, made, code, params, body)
    return True


def _result_kind(machine: Machine, result: Value) -> Kind | None:
    if result is UNSET or result is None and machine.died:
        return None
    kind = joins.kind_of(machine.emit, result)
    return _new_arrays(kind)


def _new_arrays(kind: Kind) -> Kind:
    match kind:
        case joins.Array(type=array, shape=shape):
            return joins.Array(array, (None,) * len(shape))
        case joins.Items(items=items):
            return replace(kind, items=tuple(map(_new_arrays, items)))
        case joins.Perhaps(kind=inner) if inner is not None:
            return replace(kind, kind=_new_arrays(inner))
        case _:
            return kind


def _finish(machine: Machine, made: Callee, code: Code, params: list[Var], body: Block) -> None:
    """The function, its calls of itself completed by what it reads from outside and writes."""
    outer = tuple(sorted(free(body) - set(params), key=lambda var: var.id))
    inside = {var: machine.emit.builder.like(var) for var in outer}
    made.outer = outer
    whole = (*inside.values(), *params)
    body = substitute(_completed(body, made, outer, frozenset()), inside)
    written: frozenset[int] = frozenset()
    while True:
        function = Function(
            made.name,
            whole,
            _completed(body, made, (), written),
            tuple((p.hint, Leaf()) for p in whole),
            Group((Leaf(),) * len(body.results)),
            0,
            code.loc,
        )
        now = written_parameters(function)
        if now == written:
            break
        written = now
    _results_are_new(machine, function)
    made.function = function


def _completed(
    block: Block, made: Callee, outer: tuple[Var, ...], written: frozenset[int]
) -> Block:
    """The block with its calls of the function given more arguments, and what they write."""

    def stmt(one: Stmt) -> Stmt:
        if isinstance(one, Call) and one.callee == made.name:
            args = (*outer, *one.args)
            arrays = (args[k] for k in sorted(written))
            return replace(one, args=args, writes=tuple(a for a in arrays if isinstance(a, Var)))
        return map_blocks(one, lambda inner: _completed(inner, made, outer, written))

    return replace(block, stmts=tuple(map(stmt, block.stmts)))


def _results_are_new(machine: Machine, function: Function) -> None:
    """An array that the function gives must be made in it, and be given once."""
    classes = memory(function)
    arrays = [r for r in function.body.results if isinstance(r, Var) and isinstance(r.type, Array)]
    keys = [classes.key(a) for a in arrays]
    if len(set(keys)) < len(keys) or not all(map(classes.local, arrays)):
        machine.emit.fail(
            "a function that calls itself returns an array that it was given, or one twice",
            "its memory would have two names in the caller",
            "return a copy: `return x.copy()`",
        )
    for stmt in walk(function.body):
        if isinstance(stmt, Call) and stmt.writes and not blocks(stmt):
            others = [a for a in stmt.args if isinstance(a, Var) and isinstance(a.type, Array)]
            keys = [classes.key(a) for a in others]
            if any(keys.count(classes.key(w)) > 1 for w in stmt.writes):
                machine.emit.fail(
                    "a function calls itself with arrays that share memory, and writes one",
                    instead="pass a copy of one of them",
                )
