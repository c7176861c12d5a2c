"""A tuple under a run-time index: numbers become a small array, anything else unrolls the loop."""

from srcad.ir.builder import OpenBlock
from srcad.ir.nodes import Atom, Let, Var
from srcad.ir.walk import defs
from srcad.tracer import constructors, joins
from srcad.tracer.machine import Machine, Unroll
from srcad.tracer.values import Arr, Num, Value


def at(machine: Machine, value: Value, key: Num) -> Value:
    """value[key]."""
    if isinstance(value, tuple | list) and value and all(map(joins.is_number, value)):
        return machine.emit.getitem(_small_array(machine, tuple(value)), key)
    for index in _indices(machine, key.atom):
        raise Unroll(machine.unrollable[index])
    machine.emit.fail(
        "a tuple of arrays or objects has a run-time index",
        "which one is meant must be known while tracing",
        "index it in a loop over `range` of a known length, or stack the arrays into one",
    )


def _indices(machine: Machine, atom: Atom, depth: int = 20) -> list[Var]:
    """The indices of loops of a known count that an integer is computed from."""
    if not isinstance(atom, Var):
        return []
    if atom in machine.unrollable:
        return [atom]
    let = machine.emit.definition(atom)
    if not isinstance(let, Let) or not depth:
        return []
    return [index for arg in let.args for index in _indices(machine, arg, depth - 1)]


def _small_array(machine: Machine, items: tuple[Value, ...]) -> Arr:
    """The numbers as an array, made once where all of them are known."""
    emit, builder = machine.emit, machine.emit.builder
    key = ("tuple", *(i.atom if isinstance(i, Num) else repr(i) for i in items))
    for block, stmt, known in machine.arrays.get(key, ()):
        if any(block is b for b in builder.open) and any(stmt is s for s in block.stmts):
            return known
    open = builder.open
    depth = max((_depth(machine, i.atom) for i in items if isinstance(i, Num)), default=0)
    builder.open, mark = open[: depth + 1], len(open[depth].stmts)
    made = constructors.array(emit, items)
    builder.open = open
    assert isinstance(made, Arr)
    machine.arrays.setdefault(key, []).append((open[depth], open[depth].stmts[mark], made))
    return made


def _depth(machine: Machine, atom: Atom) -> int:
    """The outermost open block in which an atom is known; what is no statement's counts as here."""
    open = machine.emit.builder.open
    if not isinstance(atom, Var) or atom in machine.parameters:
        return 0
    for depth, block in enumerate(open):
        if _defines(block, atom):
            return depth
    return len(open) - 1


def _defines(block: OpenBlock, var: Var) -> bool:
    return any(var in defs(stmt) for stmt in block.stmts)
