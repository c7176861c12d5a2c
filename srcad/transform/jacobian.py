"""The Jacobian: one reverse sweep per element of the result, in loops over its indices.

The function itself runs once before, for the shape of its result and for what it writes into its
arguments; the sweeps run on copies of arrays that it writes.
"""

from collections.abc import Callable
from dataclasses import replace

from srcad.errors import Problem, TypingError
from srcad.ir.aliases import written_params
from srcad.ir.builder import Builder
from srcad.ir.nodes import Atom, Block, For, Function, Var, array_type, const
from srcad.ir.trees import Leaf, Tree
from srcad.ir.types import INT, Array, is_float
from srcad.ir.walk import inline, next_id
from srcad.transform.adjoint import adjoint

Place = tuple[Atom, ...]


def jacobian(
    function: Function, separated: Function, places: tuple[int, ...], gives: Tree
) -> Function:
    """The Jacobians with respect to the parameters at `places`, packed as `gives`.

    `separated` is the function as the adjoint takes it. Shape: the result's, then the argument's.
    """
    if function.gives != Leaf() or not is_float(function.body.results[0].type):
        raise TypingError(
            Problem(
                f"jacobian needs one array or number; `{function.name}` gives something else",
                function.loc,
                "the Jacobian of several results is several Jacobians",
                "return one of them, or use vjp",
            )
        )
    name = f"{function.name}_jacobian"
    if not isinstance(function.body.results[0].type, Array):
        joint = adjoint(separated, places, seeded=True)
        body = Block(joint.body.stmts, joint.body.results[1:])
        return replace(joint, name=name, body=body, gives=gives)
    rows = _Rows(function, adjoint(separated, places), places)
    body = rows.builder.finish(*rows.build())
    return replace(function, name=name, body=body, gives=gives)


class _Rows:
    """Builds the program; `joint` gives (result, *gradients) for (*parameters, cotangent)."""

    def __init__(self, function: Function, joint: Function, places: tuple[int, ...]) -> None:
        self.function, self.joint = function, joint
        self.chosen = [function.params[k] for k in places]
        self.builder = Builder(max(next_id(function), next_id(joint)))
        self.builder.loc = function.loc

    def build(self) -> list[Var]:
        builder = self.builder
        written = (self.function.params[k] for k in written_params(self.function))
        copies = {param: self.copy(param) for param in written}
        (result,) = inline(builder, self.function.body, {})
        assert isinstance(result, Var)
        extents = self.extents(result)
        made = [self.alloc(param, extents) for param in self.chosen]
        dtype = array_type(result).dtype

        def axis(index: Place) -> None:
            if len(index) < len(extents):
                self.loop(extents[len(index)], lambda at: axis((*index, at)))
                return
            unit = builder.alloc(dtype, extents, const(0.0, dtype), "unit")
            builder.store(unit, index, const(1.0, dtype))
            fresh = {param: self.copy(copy) for param, copy in copies.items()}
            params = [fresh.get(param, param) for param in self.joint.params[:-1]]
            mapping: dict[Var, Atom] = dict(zip(self.joint.params, (*params, unit), strict=True))
            _, *bars = inline(builder, self.joint.body, mapping)
            for target, bar in zip(made, bars, strict=True):
                self.put(target, index, bar)

        axis(())
        return made

    def extents(self, array: Var) -> Place:
        return tuple(self.builder.dim(array, axis) for axis in range(array_type(array).ndim))

    def alloc(self, param: Var, rows: Place) -> Var:
        columns = self.extents(param) if isinstance(param.type, Array) else ()
        return self.builder.alloc(param.type.dtype, (*rows, *columns), None, f"{param.hint}_jac")

    def loop(self, stop: Atom, body: Callable[[Atom], None]) -> None:
        builder = self.builder
        at = builder.var(INT, "i")
        with builder.block() as opened:
            body(at)
        builder.add(For(at, stop, (), opened.finish(), (), builder.loc))

    def copy(self, array: Var) -> Var:
        kind = array_type(array)
        made = self.builder.alloc(kind.dtype, self.extents(array), None, array.hint)
        self.each(made, (), lambda index: self.builder.load(array, *index))
        return made

    def put(self, target: Var, index: Place, bar: Atom) -> None:
        """target[index] = bar."""
        if not isinstance(bar.type, Array):
            self.builder.store(target, index, bar)
            return
        assert isinstance(bar, Var)
        self.each(bar, (), lambda at: self.builder.load(bar, *at), into=target, before=index)

    def each(
        self, shape: Var, index: Place, value: Callable[[Place], Atom],
        into: Var | None = None, before: Place = (),
    ) -> None:  # fmt: skip
        """into[before, index] = value(index) for every index of `shape`."""
        if len(index) < array_type(shape).ndim:
            stop = self.builder.dim(shape, len(index))
            self.loop(stop, lambda at: self.each(shape, (*index, at), value, into, before))
            return
        self.builder.store(into or shape, (*before, *index), value(index))
