"""The joint program: the primal with its tapes, then the reverse sweep (ADJOINT section 6)."""

from collections.abc import Mapping
from dataclasses import dataclass, replace

from srcad.errors import Problem, UnsupportedSyntax
from srcad.ir.aliases import written_parameters
from srcad.ir.builder import Builder
from srcad.ir.nodes import Atom, Function, Var, const
from srcad.ir.trees import Group, Leaf, Nothing, Tree
from srcad.ir.types import Array, Layout, is_float
from srcad.ir.walk import next_id
from srcad.transform.activity import activity
from srcad.transform.facts import facts
from srcad.transform.forward import Forward
from srcad.transform.legal import check
from srcad.transform.plan import Plan, plan
from srcad.transform.requests import Request
from srcad.transform.reverse import Reverse
from srcad.transform.simplify import simplify
from srcad.transform.tapes import tapes


@dataclass(frozen=True)
class Joint:
    """A joint program, and its variables that repeat values of the first sweep."""

    function: Function
    remade: Mapping[Var, Var]
    requests: Mapping[str, Request]


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
    joint = emitted(made, wrt, seeded=seeded)
    return with_callees(joint.function, joint.requests, force_keep=force_keep)


def with_callees(
    function: Function, requests: Mapping[str, Request], *, force_keep: bool = False
) -> Function:
    """The function with the adjoints that it asks for, and those that they ask for."""
    found = asked(function, requests, force_keep=force_keep)
    made = (simplify(joint.function) for joint in found.values())
    return replace(function, callees=(*function.callees, *made))


def asked(
    function: Function, requests: Mapping[str, Request], *, force_keep: bool = False
) -> dict[str, Joint]:
    """The adjoints of callees that are asked for, by name; those that are there are left out."""
    todo, known = dict(requests), {one.name: one for one in function.callees}
    found: dict[str, Joint] = {}
    while todo:
        name, request = todo.popitem()
        if name in known:
            continue
        source = replace(request.callee, callees=tuple(known.values()))
        joint = called_adjoint(source, request.places, force_keep=force_keep)
        found[name] = joint = replace(joint, function=replace(joint.function, name=name))
        known[name] = joint.function
        todo |= joint.requests
    return found


def called_adjoint(function: Function, wrt: tuple[int, ...], *, force_keep: bool = False) -> Joint:
    """The adjoint that a call of `function` is reversed by: (*params, *cotangents, *shadows).

    It gives the gradients of the scalars in `wrt`; the shadows are those of the arrays in `wrt`, at
    exit of the call and, afterwards, at its entry. What the function writes it writes again.
    """
    made = planned(function, wrt, force_keep=force_keep, changed=True)
    check(made)
    builder = Builder(next_id(function))
    kept = tapes(made, builder)
    cotangents = _cotangents(function, builder, False, layout="A")
    wanted = tuple(function.params[k] for k in wrt)
    shadows = {
        var: builder.var(replace(var.type, layout="A", writable=True), f"{var.hint}_bar")
        for var in wanted
        if isinstance(var.type, Array)
    }
    moved = made.moved_in(function.body)
    for k in written_parameters(function):
        if function.params[k] in moved:
            raise UnsupportedSyntax(_rebound(function, function.params[k]))
    forward = Forward(made, kept, builder)
    forward.block(function.body)
    reverse = Reverse(made, kept, builder, forward.block)
    reverse.shadows |= {var: shadow for var, shadow in shadows.items() if var not in moved}
    _sweep(reverse, cotangents, moved)
    for var in shadows.keys() & moved:
        arrived = reverse.shadows.get(var)
        reverse.shadows[var] = shadows[var]
        if arrived is not None:
            reverse.add_array(var, arrived)
    gradients = tuple(_gradient(reverse, v) for v in wanted if not isinstance(v.type, Array))
    given = (*(c for c in cotangents if isinstance(c, Var)), *shadows.values())
    params = (*function.params, *given)
    program = Function(
        f"{function.name}_adjoint",
        params,
        builder.finish(*gradients),
        tuple((p.hint, Leaf()) for p in params),
        Group((Leaf(),) * len(gradients)),
        0,
        function.loc,
    )
    return Joint(program, reverse.remade, reverse.requests)


def _rebound(function: Function, param: Var) -> Problem:
    return Problem(
        f"`{function.name}` calls itself, writes into `{param.hint}` and gives it another name",
        function.loc,
        "its cotangent would have to follow both",
        f"copy it first: `{param.hint} = {param.hint}.copy()`",
    )


def planned(
    function: Function, wrt: tuple[int, ...], *, force_keep: bool = False, changed: bool = False
) -> Plan:
    """The plan of the adjoint; with `changed` the arrays that it writes into are results too."""
    found = facts(function)
    params = function.params
    ends = [params[k] for k in written_parameters(function)] if changed else []
    active = activity(function, found, tuple(params[k] for k in wrt), ends)
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
    _sweep(reverse, cotangents, made.moved_in(function.body))
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
        function.callees,
    )
    return Joint(program, reverse.remade, reverse.requests)


def _sweep(reverse: Reverse, cotangents: list[Atom | None], moved: set[Var]) -> None:
    """The reverse sweep of a whole function from the cotangents of its results."""
    function = reverse.plan.function
    reverse.fresh_shadows(iter(function.params), moved)
    results = list(zip(function.body.results, cotangents, strict=True))
    for result, given in results:
        if given is not None and not isinstance(result.type, Array):
            reverse.add(result, given)
    arrays = [(r, c) for r, c in results if isinstance(r.type, Array) and isinstance(c, Var)]
    reverse.block(function.body, (), reverse.ahead(arrays))


def _cotangents(
    function: Function, builder: Builder, seeded: bool, layout: Layout = "C"
) -> list[Atom | None]:
    found: list[Atom | None] = []
    for result in function.body.results:
        if not is_float(result.type):
            found.append(None)
        elif seeded:
            found.append(const(1.0, result.type.dtype))
        elif isinstance(result.type, Array):
            kind = Array(result.type.dtype, result.type.ndim, layout)
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
