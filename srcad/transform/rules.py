"""What one operation contributes to a tangent or a cotangent: the sensitivity times the partial.

Both modes use the same product, so that they agree to rounding. `times` stands where the partial
can be infinite while the sensitivity is zero, or the other way round: zero contributes zero.
"""

from srcad import ops
from srcad.ir.builder import Builder
from srcad.ir.nodes import Atom, Const, Let, Var, const
from srcad.ir.types import is_float

STRUCTURAL = ("cast", "select", "times")


def reads(let: Let, k: int) -> frozenset[Var]:
    """The variables among arguments and result that `contribution` for argument k reads."""
    match let.op:
        case "cast":
            found: tuple[Atom, ...] = ()
        case "select":
            found = (let.args[0],)
        case "times":
            found = (let.args[1 - k],)
        case _:
            return ops.partial_reads(let, k)
    return frozenset(atom for atom in found if isinstance(atom, Var))


def differentiable(let: Let, k: int) -> bool:
    """Whether the result depends smoothly on argument k: it is a float and not flat in k."""
    if not is_float(let.out.type) or not is_float(let.args[k].type):
        return False
    if let.op in STRUCTURAL:
        return not (let.op == "select" and k == 0)
    return ops.operation(let.op).partials[k] is not None


def contribution(builder: Builder, let: Let, k: int, given: Atom, polar: bool) -> Atom:
    """`given` times d out / d args[k].

    `polar` says that `given` or the partial may be infinite, so that a plain product may be nan.
    """
    zero = const(0.0, given.type.dtype)
    match let.op:
        case "cast":
            # forwards the tangent becomes the result's type, backwards the argument's
            to = let.out.type if given.type == let.args[0].type else let.args[0].type
            return ops.apply(builder, "cast", given, type=to)
        case "select":
            chosen = (given, zero) if k == 1 else (zero, given)
            return ops.apply(builder, "select", let.args[0], *chosen)
        case "times" if k == 0:
            return ops.apply(builder, "times", given, let.args[1])
        case "times":
            return ops.apply(builder, "times", let.args[0], given)
    partial = ops.partial(builder, let, k)
    assert partial is not None, f"{let.op} is flat in argument {k}"
    if isinstance(partial, Const) and partial.value in (1.0, -1.0):
        return given if partial.value == 1.0 else ops.apply(builder, "neg", given)
    name = "times" if polar or ops.has_pole(let) else "mul"
    return ops.apply(builder, name, given, partial)
