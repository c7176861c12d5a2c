"""What derivatives are measured against, and how closely.

In the order of trust: the dot-product identity between tangent and adjoint, exact values, central
differences of the user's own function run by Python.
"""

import functools
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from corpus import Program as Case

from srcad import ops
from srcad.ir import trees
from srcad.ir.nodes import Block, Function
from srcad.ir.types import is_float
from srcad.ir.verifier import verify
from srcad.runtime.interpret import compile_function, interpret
from srcad.runtime.programs import derived, spec
from srcad.tracer import Trace
from srcad.transform.adjoint import adjoint
from srcad.transform.pipeline import derive
from srcad.transform.references import references
from srcad.transform.split import split


@dataclass(frozen=True)
class Tolerance:
    """Relative to the sum of the absolute terms that are compared."""

    rounding: float  # the same sum in another order: some hundred operations
    differences: float  # central differences: step ** 2 times a third derivative, and cancellation
    step: float  # of central differences, relative to arguments of size 1
    value: float  # an exact value, written down to the last digit or as a short formula


TOLERANCES = {
    "float64": Tolerance(rounding=1e-11, differences=2e-7, step=1e-6, value=1e-11),
    "float32": Tolerance(rounding=2e-5, differences=2e-2, step=1e-2, value=1e-5),
}


def tolerance(*values: Any) -> Tolerance:
    """That of the narrowest dtype among the values."""
    single = any(np.asarray(v).dtype == np.float32 for v in leaves(values))
    return TOLERANCES["float32" if single else "float64"]


def leaves(value: Any) -> list[Any]:
    """The arrays and numbers of a structure, None left out."""
    if isinstance(value, tuple | list):
        return [leaf for item in value for leaf in leaves(item)]
    return [] if value is None else [value]


def floats(value: Any) -> list[Any]:
    return [leaf for leaf in leaves(value) if np.asarray(leaf).dtype.kind == "f"]


def random_like(value: Any, seed: int) -> Any:
    """The same structure with normal numbers in place of floats, None in place of the rest."""
    random = np.random.default_rng(seed)

    def fill(item: Any) -> Any:
        if isinstance(item, tuple | list):
            return tuple(map(fill, item))
        if item is None or np.asarray(item).dtype.kind != "f":
            return None
        made = random.standard_normal(np.shape(item)).astype(np.asarray(item).dtype)
        return made if isinstance(item, np.ndarray) else type(item)(made)

    return fill(value)


def terms(left: Any, right: Any) -> tuple[float, float]:
    """The inner product of two structures, and the sum of its absolute terms."""
    pairs = list(zip(floats(left), floats(right), strict=True))
    products = [np.ravel(np.multiply(a, b, dtype=np.float64)) for a, b in pairs]
    return sum(float(p.sum()) for p in products), sum(float(abs(p).sum()) for p in products)


def assert_same_sum(left: Any, right: Any, dtypes: Any) -> None:
    """<a, b> of both pairs agree up to rounding. Sees no error that both sides share."""
    (first, scale), (second, scale_2) = terms(*left), terms(*right)
    assert np.isfinite(first) and np.isfinite(second)
    bound = tolerance(dtypes).rounding * (scale + scale_2 + 1e-30)
    assert abs(first - second) <= bound, f"{first} is not {second}"


def assert_close(found: Any, expected: Any, bound: float) -> None:
    """The same structure, shapes, and values: relative to the largest finite one expected."""
    if isinstance(expected, tuple | list):
        assert len(found) == len(expected)
        for a, b in zip(found, expected, strict=True):
            assert_close(a, b, bound)
        return
    want = np.asarray(expected)
    assert np.shape(found) == want.shape
    finite = np.abs(want[np.isfinite(want)])
    scale = max(1.0, float(finite.max())) if finite.size else 1.0
    np.testing.assert_allclose(found, want, rtol=bound, atol=bound * scale)


def ones_like(value: Any) -> Any:
    """Cotangents of one for every float of a result."""
    if isinstance(value, tuple):
        return tuple(map(ones_like, value))
    if np.asarray(value).dtype.kind != "f":
        return None
    return np.ones_like(value) if isinstance(value, np.ndarray) else type(value)(1.0)


def chosen(case: Case, args: tuple[Any, ...]) -> tuple[Any, ...]:
    return tuple(args[k] for k in case.argnums)


class Derivatives:
    """The programs of one case: interpreted, or compiled. The verifier looks at each.

    Each is made once; `derivatives` hands out one such object per case of the corpus.
    """

    def __init__(self, case: Case, *, compiled: bool = False) -> None:
        self.case = case
        self.run = compile_function if compiled else interpret
        self.cotangent = len(case.fresh())  # the place of the cotangent among vjp's arguments
        self.specs = tuple(spec(a, k) for k, a in enumerate(case.fresh()))

    @functools.cached_property
    def trace(self) -> Trace:
        """The user's function as the derivatives take it, and what it captured."""
        return derived(self.case.fn, self.specs)

    def derive(self, mode: str, argnums: Any, function: Function | None = None) -> Function:
        return derive(function or self.trace.function, mode, argnums)

    def callable(self, function: Function) -> Callable[..., Any]:
        """`function` for the case's arguments, called with fresh memory each time."""
        verify(function, ops.result_type, maps=False)
        run = self.run(function)
        return lambda *args: run(*self.trace.captured(), *args)

    @functools.cached_property
    def kept(self) -> Callable[..., Any]:
        """As vjp, with every value that can be kept on a tape."""
        function = split(references(self.trace.function))
        joint = adjoint(function, self.places(function), force_keep=True)
        gradients = joint.body.results[len(function.body.results) :]
        body = Block(joint.body.stmts, gradients)
        return self.callable(replace(joint, gives=self.pullback.gives, body=body))

    def places(self, function: Function) -> tuple[int, ...]:
        """The flat parameters of the chosen arguments."""
        starts = [function.captured]
        for _, tree in function.takes:
            starts.append(starts[-1] + trees.leaves(tree))
        flat = [p for k in self.case.argnums for p in range(starts[k], starts[k + 1])]
        return tuple(p for p in flat if is_float(function.params[p].type))

    @functools.cached_property
    def primal(self) -> Callable[..., Any]:
        return self.callable(self.trace.function)

    @functools.cached_property
    def pullback(self) -> Function:
        return self.derive("vjp", self.case.argnums)

    @functools.cached_property
    def vjp(self) -> Callable[..., Any]:
        """(*args, cotangent) to a tuple of gradients."""
        return self.callable(self.pullback)

    @functools.cached_property
    def jvp(self) -> Callable[..., Any]:
        """(*args, tangents) to the flat tangents of the result; tangents may be structured."""
        run = self.callable(self.derive("jvp", self.case.argnums))
        return lambda *args: run(*args[:-1], tuple(floats(args[-1])))[1]

    def twice(self, outer: str) -> Callable[..., Any]:
        """`outer` of vjp, differentiated in the arguments and in the cotangent."""
        argnums = (*self.case.argnums, self.cotangent)
        run = self.callable(self.derive(outer, argnums, self.pullback))
        if outer == "vjp":
            return run
        return lambda *args: run(*args[:-1], tuple(floats(args[-1])))[1]


@functools.cache
def derivatives(case: Case) -> Derivatives:
    """The interpreted programs of a case, shared by all tests."""
    return Derivatives(case)


def plain(case: Case, args: tuple[Any, ...]) -> Any:
    """The user's function run by Python, scalars as NumPy's so that poles give inf."""
    made = tuple(np.float64(a) if type(a) is float else a for a in args)
    with np.errstate(all="ignore"):
        return case.fn(*made)


def moved(case: Case, direction: tuple[Any, ...], h: float) -> tuple[Any, ...]:
    args = list(case.fresh())
    for k, d in zip(case.argnums, direction, strict=True):
        args[k] = shifted(args[k], d, h)
    return tuple(args)


def shifted(value: Any, direction: Any, h: float) -> Any:
    """value + h * direction in the value's structure and dtype."""
    if isinstance(value, tuple):
        return tuple(shifted(v, d, h) for v, d in zip(value, direction, strict=True))
    if direction is None:
        return value
    if not isinstance(value, np.ndarray):
        return type(value)(value + h * direction)
    return np.asarray(value + h * direction, dtype=value.dtype)


def difference(case: Case, direction: tuple[Any, ...], h: float) -> list[Any]:
    """Central differences of the plain function, one array per float of the result."""
    above = floats(plain(case, moved(case, direction, h)))
    below = floats(plain(case, moved(case, direction, -h)))
    return [np.subtract(a, b, dtype=float) / (2 * h) for a, b in zip(above, below, strict=True)]
