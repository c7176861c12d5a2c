"""From a traced function to its derivative in one of the modes that the API offers."""

from dataclasses import replace

from srcad.errors import Problem, TypingError
from srcad.ir.marks import Argnums
from srcad.ir.nodes import Atom, Block, Function, Print, Var
from srcad.ir.trees import Group, Leaf, Nothing, Tree, leaves
from srcad.ir.types import is_float
from srcad.ir.walk import map_blocks
from srcad.transform.adjoint import adjoint
from srcad.transform.checking import checked
from srcad.transform.jacobian import jacobian
from srcad.transform.lower import lower
from srcad.transform.references import references
from srcad.transform.sealed import sealed
from srcad.transform.simplify import simplify
from srcad.transform.split import split
from srcad.transform.tangent import tangent


def derive(function: Function, mode: str, argnums: Argnums) -> Function:
    """The derivative of a `prepared` function in the parameters that `argnums` names.

    Modes: "grad" gives gradients, "value_and_grad" (value, gradients); "vjp" takes the cotangents
    of the results besides and gives gradients; "jvp" takes a tuple of tangents besides and gives
    (value, tangents); "jacobian" gives Jacobians in the structure of the results. Raises
    TypingError for integer arguments and, under the first two, for a result that is no one scalar.
    """
    places, shape = _chosen(function, argnums)
    function = replace(function, body=_silent(function.body))
    if mode == "jvp":
        return simplify(checked(tangent(function, places), "tangent"))
    scalar = mode in ("grad", "value_and_grad") or mode == "jacobian" and _is_scalar(function)
    if scalar:
        _need_scalar(function)
    elif not any(is_float(result.type) for result in function.body.results):
        raise TypingError(
            Problem(
                f"`{function.name}` gives no float, so it has no derivative",
                function.loc,
                "its result is None, an integer or a bool",
                "return the array or number that it computes",
            )
        )
    separated = simplify(checked(split(function), "split"))
    if mode == "jacobian" and not scalar:
        made = checked(jacobian(separated, places, shape), "jacobian")
        return simplify(references(made))
    joint = checked(adjoint(separated, places, seeded=scalar), "adjoint")
    values = len(function.body.results)
    results: tuple[Atom, ...] = joint.body.results
    if mode == "value_and_grad":
        gives = Group((function.gives, shape))
        return simplify(replace(joint, name=f"{function.name}_grad", gives=gives))
    body = Block(joint.body.stmts, results[values:])
    name = f"{function.name}_grad" if scalar else joint.name
    return simplify(references(replace(joint, name=name, body=body, gives=shape)))


def prepared(function: Function) -> Function:
    """A traced function as the derivatives want it: no Maps, no needless work."""
    callees = tuple(map(prepared, function.callees))
    function = replace(function, callees=callees)
    checked(function, "tracing", maps=True)
    named = checked(references(function), "references", maps=True)
    return simplify(checked(lower(sealed(named)), "lower"))


def _silent(block: Block) -> Block:
    """The block without prints: those belong to the function's own run."""
    kept = (stmt for stmt in block.stmts if not isinstance(stmt, Print))
    return replace(block, stmts=tuple(map_blocks(stmt, _silent) for stmt in kept))


def _is_scalar(function: Function) -> bool:
    results = function.body.results
    one = function.gives == Leaf() and not getattr(results[0].type, "ndim", 0)
    return one and is_float(results[0].type)


def _need_scalar(function: Function) -> None:
    if _is_scalar(function):
        return
    results = function.body.results
    what = "nothing" if not results else "no single scalar float"
    raise TypingError(
        Problem(
            f"grad needs a function with a scalar result; `{function.name}` gives {what}",
            function.loc,
            "a gradient is the derivative of one number",
            "use vjp with a cotangent, or jacobian",
        )
    )


def _chosen(function: Function, argnums: Argnums) -> tuple[tuple[int, ...], Tree]:
    """The places of the chosen float parameters, and the structure of their gradients."""
    names = [name for name, _ in function.takes]
    if argnums is None:
        wanted = list(range(len(names)))
    else:
        given = argnums if isinstance(argnums, tuple) else (argnums,)
        wanted = [_position(function, names, a) for a in given]
    places: list[int] = []
    trees: list[Tree] = []
    for k in wanted:
        start = function.captured + sum(leaves(tree) for _, tree in function.takes[:k])
        tree = function.takes[k][1]
        params = list(enumerate(function.params))[start : start + leaves(tree)]
        if argnums is not None and not any(is_float(p.type) for _, p in params):
            raise TypingError(
                Problem(
                    f"the argument `{names[k]}` of `{function.name}` is no float",
                    function.loc,
                    "integers, bools and None are constants: they have no gradient",
                    f"pass it as a float, or leave `{names[k]}` out of argnums",
                )
            )
        trees.append(_floats(tree, iter(params), places))
    single = not isinstance(argnums, tuple) and len(trees) == 1
    return tuple(places), trees[0] if single else Group(tuple(trees))


def _position(function: Function, names: list[str], which: int | str) -> int:
    if isinstance(which, str) and which in names:
        return names.index(which)
    if isinstance(which, int) and -len(names) <= which < len(names):
        return which % len(names)
    raise TypingError(
        Problem(
            f"`{function.name}` has no argument {which!r}",
            function.loc,
            f"its arguments are {', '.join(names)}",
            "name one of them, or give its position",
        )
    )


def _floats(tree: Tree, params: "object", places: list[int]) -> Tree:
    match tree:
        case Leaf():
            place, param = next(params)  # type: ignore[call-overload]
            assert isinstance(param, Var)
            if not is_float(param.type):
                return Nothing()
            places.append(place)
            return tree
        case Nothing():
            return tree
        case Group(items=items, cls=cls):
            return Group(tuple(_floats(item, params, places) for item in items), cls)
