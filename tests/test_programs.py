"""Every program of the corpus crossed with the transforms, interpreted and compiled.

The dot-product identity does not see a rule that is wrong in both modes; differences and exact
values do. Differences do not see an error smaller than their own.
"""

from typing import Any

import numpy as np
import oracles
import pytest
from corpus import ALL, Program
from corpus.second_order import HESSIANS
from hypothesis import given, settings
from hypothesis import strategies as st

from srcad.transform.adjoint import adjoint
from srcad.transform.references import references


def cases(*, only: Any = None) -> list[Any]:
    """The corpus as parameters."""
    return [pytest.param(p, id=p.name) for p in ALL if only is None or only(p)]


def directions(case: Program, seed: int) -> Any:
    return oracles.random_like(oracles.chosen(case, case.fresh()), seed)


@pytest.mark.parametrize("case", cases())
def test_value_is_python_s(case: Program) -> None:
    value = oracles.derivatives(case).primal(*case.fresh())
    expected = oracles.plain(case, case.fresh())
    oracles.assert_close(value, expected, oracles.tolerance(expected).rounding)


@pytest.mark.parametrize("case", cases(only=lambda p: not p.pole))
def test_dot_product_identity(case: Program) -> None:
    made = oracles.derivatives(case)
    u = directions(case, 1)
    dots = made.jvp(*case.fresh(), u)
    cotangent = oracles.random_like(oracles.plain(case, case.fresh()), 2)
    bars = made.vjp(*case.fresh(), cotangent)
    dtypes = oracles.chosen(case, case.fresh())
    oracles.assert_same_sum((cotangent, dots), (bars, u), (dtypes, cotangent))


@pytest.mark.parametrize("case", cases())
def test_everything_kept_gives_the_same(case: Program) -> None:
    """Every value that can be kept on a tape is kept: no recomputation, no reload."""
    made = oracles.derivatives(case)
    cotangent = oracles.random_like(oracles.plain(case, case.fresh()), 2)
    bars = made.vjp(*case.fresh(), cotangent)
    kept = made.kept(*case.fresh(), cotangent)
    oracles.assert_close(kept, bars, oracles.tolerance(bars).rounding)


@pytest.mark.parametrize("case", cases(only=lambda p: not p.kink))
def test_central_differences(case: Program) -> None:
    u = directions(case, 3)
    bound = oracles.tolerance(case.fresh())
    found = oracles.floats(oracles.derivatives(case).jvp(*case.fresh(), u))
    oracles.assert_close(found, oracles.difference(case, u, bound.step), bound.differences)


SMOOTH = [p for p in ALL if not p.kink and not p.pole]


@settings(max_examples=100, deadline=None, derandomize=True, database=None)
@given(case=st.sampled_from(SMOOTH), number=st.integers(0, 2**32 - 1))
def test_any_direction_against_differences(case: Program, number: int) -> None:
    """⟨v, f(x + hu) - f(x - hu)⟩ / 2h is ⟨Jᵀv, u⟩ for random u and v."""
    u, bound = directions(case, number), oracles.tolerance(case.fresh())
    cotangent = oracles.random_like(oracles.plain(case, case.fresh()), number + 1)
    bars = oracles.derivatives(case).vjp(*case.fresh(), cotangent)
    found, scale = oracles.terms(bars, u)
    step, size = oracles.terms(cotangent, oracles.difference(case, u, bound.step))
    assert abs(found - step) <= bound.differences * (1.0 + scale + size)


@pytest.mark.parametrize("case", cases(only=lambda p: p.expect is not None))
def test_exact_gradient(case: Program) -> None:
    ones = oracles.ones_like(oracles.plain(case, case.fresh()))
    bars = oracles.derivatives(case).vjp(*case.fresh(), ones)
    oracles.assert_close(bars, case.expect, oracles.tolerance(bars).value)


@pytest.mark.parametrize("case", cases())
def test_gradients_look_like_arguments(case: Program) -> None:
    """Shapes, dtypes; arguments and cotangent untouched; no memory shared."""
    args = case.fresh()
    cotangent = oracles.ones_like(oracles.plain(case, case.fresh()))
    bars = oracles.derivatives(case).vjp(*args, cotangent)
    arrays = [a for a in oracles.leaves((args, cotangent)) if isinstance(a, np.ndarray)]
    for bar, arg in zip(
        oracles.floats(bars), oracles.floats(oracles.chosen(case, args)), strict=True
    ):
        assert np.shape(bar) == np.shape(arg)
        if isinstance(arg, np.ndarray):
            assert bar.dtype == arg.dtype
            assert not any(np.may_share_memory(bar, a) for a in arrays)
    for now, before in zip(oracles.leaves(args), oracles.leaves(case.fresh()), strict=True):
        assert case.mutates or np.array_equal(now, before)
    assert all(np.all(np.asarray(c) == 1.0) for c in oracles.leaves(cotangent))


@pytest.mark.parametrize("case", cases(only=lambda p: p.second and not p.pole))
def test_second_order_identity(case: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """jvp of vjp against vjp of vjp, in the arguments and in the cotangent."""
    monkeypatch.delenv("SRCAD_CHECK")  # these programs are large; their ends are verified
    made = oracles.derivatives(case)
    cotangent = oracles.random_like(oracles.plain(case, case.fresh()), 4)
    u = (*directions(case, 5), oracles.random_like(cotangent, 6))
    seeds = directions(case, 7)
    dots = made.twice("jvp")(*case.fresh(), cotangent, u)
    bars = made.twice("vjp")(*case.fresh(), cotangent, seeds)
    dtypes = (oracles.chosen(case, case.fresh()), cotangent)
    oracles.assert_same_sum((seeds, dots), (bars, u), dtypes)


@pytest.mark.parametrize("name", HESSIANS)
@pytest.mark.parametrize("outer", ["jvp", "vjp"])
def test_hessian_in_both_nestings(name: str, outer: str) -> None:
    case = next(p for p in ALL if p.name == name)
    check_hessian(case, oracles.derivatives(case).twice(outer), outer)


@pytest.mark.compiles
@pytest.mark.parametrize("name", ["exact_fit", "masked_distance"])
@pytest.mark.parametrize("outer", ["jvp", "vjp"])
def test_hessian_compiled(name: str, outer: str) -> None:
    case = next(p for p in ALL if p.name == name)
    check_hessian(case, oracles.Derivatives(case, compiled=True).twice(outer), outer)


def check_hessian(case: Program, twice: Any, outer: str) -> None:
    rows = []
    for unit in np.eye(case.fresh()[0].size):
        given = (unit, 0.0) if outer == "jvp" else (unit,)
        rows.append(twice(*case.fresh(), 1.0, given)[0])
    expected = np.asarray(HESSIANS[case.name])
    oracles.assert_close(np.array(rows), expected, oracles.tolerance(expected).value)


@pytest.mark.compiles
@pytest.mark.parametrize("case", cases(only=lambda p: p.compiled))
def test_compiled_is_interpreted(case: Program) -> None:
    cotangent = oracles.random_like(oracles.plain(case, case.fresh()), 8)
    expected = oracles.derivatives(case).vjp(*case.fresh(), cotangent)
    found = oracles.Derivatives(case, compiled=True).vjp(*case.fresh(), cotangent)
    oracles.assert_close(found, expected, oracles.tolerance(expected).rounding)


def test_kept_is_what_it_says() -> None:
    """The forced plan is another program: else the test above would compare one with itself."""
    case = next(p for p in ALL if p.name == "logistic")
    made = oracles.derivatives(case)
    function = references(made.trace.function)
    wrt = made.places(function)
    assert adjoint(function, wrt, force_keep=True) != adjoint(function, wrt)
