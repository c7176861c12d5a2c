"""The joint program: the primal with its tapes, then the reverse sweep (ADJOINT section 6)."""

from collections.abc import Mapping
from dataclasses import dataclass

from srcad.ir.builder import Builder
from srcad.ir.nodes import Atom, Function, Var, const
from srcad.ir.trees import Group, Leaf, Nothing, Tree
from srcad.ir.types import Array, is_float
from srcad.ir.walk import next_id
from srcad.transform.activity import activity
from srcad.transform.facts import facts
from srcad.transform.forward import Forward
from srcad.transform.legal import check
from srcad.transform.plan import Plan, plan
from srcad.transform.reverse import Reverse
from srcad.transform.tapes import tapes


@dataclass(frozen=True)
class Joint:
    """A joint program, and its variables that repeat values of the first sweep."""

    function: Function
    remade: Mapping[Var, Var]


def adjoint(
    function: Function,
    wrt: tuple[int, ...],
    *,
    seeded: bool = False,
    force_keep: bool = False,
) -> Function:
    """The function of (*parameters, *cotangents) that gives (*results, *gradients), all flat.

    `wrt` are places in `function.params`. There is one cotangent per float result; `seeded` makes
    that of the only result 1.0 instead. `force_keep` keeps every value that can be kept (tests).
    """
    made = planned(function, wrt, force_keep=force_keep)
    check(made)
    return emitted(made, wrt, seeded=seeded).function


def planned(function: Function, wrt: tuple[int, ...], *, force_keep: bool = False) -> Plan:
    """The plan of the adjoint."""
    found = facts(function)
    active = activity(function, found, tuple(function.params[k] for k in wrt))
    return plan(function, found, active, force_keep=force_keep)


def emitted(made: Plan, wrt: tuple[int, ...], *, seeded: bool = False) -> Joint:
    """The joint program that a plan describes."""
    function = made.function
    wanted = tuple(function.params[k] for k in wrt)
    builder = Builder(next_id(function))
    kept = tapes(made, builder)
    cotangents = _cotangents(function, builder, seeded)
    forward = Forward(made, kept, builder)
    forward.block(function.body)
    reverse = Reverse(made, kept, builder, forward.block)
    reverse.fresh_shadows(iter(function.params), made.moved_in(function.body))
    results = list(zip(function.body.results, cotangents, strict=True))
    for result, given in results:
        if given is not None and not isinstance(result.type, Array):
            reverse.add(result, given)
    arrays = [(r, c) for r, c in results if isinstance(r.type, Array) and isinstance(c, Var)]
    reverse.block(function.body, (), reverse.ahead(arrays))
    gradients = tuple(_gradient(reverse, var) for var in wanted)
    given_params = tuple(c for c in cotangents if isinstance(c, Var))
    takes: list[tuple[str, Tree]] = list(function.takes)
    if given_params:
        takes.append(("gradient", _of_floats(function)))
    gives = Group((function.gives, Group((Leaf(),) * len(wanted))))
    body = builder.finish(*function.body.results, *gradients)
    program = Function(
        f"{function.name}_adjoint",
        (*function.params, *given_params),
        body,
        tuple(takes),
        gives,
        function.captured,
        function.loc,
    )
    return Joint(program, reverse.remade)


def _cotangents(function: Function, builder: Builder, seeded: bool) -> list[Atom | None]:
    found: list[Atom | None] = []
    for result in function.body.results:
        if not is_float(result.type):
            found.append(None)
        elif seeded:
            found.append(const(1.0, result.type.dtype))
        elif isinstance(result.type, Array):
            kind = Array(result.type.dtype, result.type.ndim, "C")
            found.append(builder.var(kind, "gradient"))
        else:
            found.append(builder.var(result.type, "gradient"))
    return found


def _of_floats(function: Function) -> Tree:
    """The structure of the cotangents: that of the results, without what is no float."""
    results = iter(function.body.results)

    def visit(tree: Tree) -> Tree:
        match tree:
            case Leaf():
                return tree if is_float(next(results).type) else Nothing()
            case Nothing():
                return tree
            case Group(items=items, cls=cls):
                return Group(tuple(map(visit, items)), cls)

    return visit(function.gives)


def _gradient(reverse: Reverse, var: Var) -> Atom:
    if not isinstance(var.type, Array):
        return reverse.bars.get(var, const(0.0, var.type.dtype))
    return reverse.shadows[var] if var in reverse.shadows else reverse.fresh(var)
