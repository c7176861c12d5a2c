"""What holds of the names that a loop carries, by induction over its iterations."""

from collections.abc import Callable

from srcad.ir.nodes import For, Var, While
from srcad.ir.types import INT
from srcad.ir.walk import defs, params, walk
from srcad.transform.affine import Linear, System, number
from srcad.transform.conditions import Conditions

Impossible = Callable[[System], bool]


def bounds_of_carried(loop: For | While, conditions: Conditions, impossible: Impossible) -> None:
    """Adds to `conditions.bounds` which carried integers stay >= 0 or <= first value + index."""
    index, trips = _single(loop.index), _trips(loop, conditions)
    names = [k for k, (name, _) in enumerate(loop.carried) if name.type == INT]
    inits = {k: conditions.form(loop.carried[k][1]) for k in names}
    low = [k for k in names if impossible(System().below(inits[k], 0))]
    high = list(names)

    def rows(k: int, var: Var, count: Linear) -> list[Linear]:
        me = _single(var)
        found = [me] if k in low else []
        return [*found, inits[k].plus(count).plus(me, -1)] if k in high else found

    settled = False
    while not settled:
        settled = True
        for k in names:
            conditions.bounds[loop.carried[k][0]] = System(rows(k, loop.carried[k][0], index))
        for k in names:
            result = conditions.form(loop.body.results[k])
            most = inits[k].plus(index).plus(number(1))
            if k in low and not impossible(System().below(result, 0)):
                low.remove(k)
                settled = False
            if k in high and not impossible(System().below(most, result)):
                high.remove(k)
                settled = False
    for k in names:
        conditions.bounds[loop.outs[k]] = System(rows(k, loop.outs[k], trips))


def entered(loop: While, conditions: Conditions, impossible: Impossible) -> System:
    """What holds at the start of an iteration because the condition held.

    A row of the condition at the end of the body, with carried names put for what is handed on to
    them and the index set back by one, holds if it does so in the first iteration too.
    """
    inside = {var for stmt in walk(loop.body) for var in (*defs(stmt), *params(stmt))}
    names = {
        result: name
        for (name, _), result in zip(loop.carried, loop.body.results, strict=True)
        if isinstance(result, Var) and result in inside and name.type == INT
    }
    given = {v: s for v, s in conditions.definitions.items() if v in inside and v not in names}
    last = Conditions(given).implied(loop.body.results[0], True)
    first = conditions.implied(loop.carried[0][1], True)
    own = {name: conditions.form(init) for name, init in loop.carried if name.type == INT}
    found = System()
    for row in last.rows:
        if not set(row.variables).isdisjoint(own.keys() | (inside - names.keys())):
            continue
        row = row.replaced({result: _single(name) for result, name in names.items()})
        before = row.plus(number(row.coefficient(loop.index)), -1)
        start = before.replaced({**own, loop.index: Linear()})
        if impossible(first.copy().at_least(start.negated())):
            found.rows.append(before)
    return found


def _single(var: Var) -> Linear:
    return Linear(((var, 1),))


def _trips(loop: For | While, conditions: Conditions) -> Linear:
    return conditions.form(loop.stop) if isinstance(loop, For) else _single(loop.trips)
