"""The passes one after the other."""

from dataclasses import replace

import numpy as np
import oracles
import pytest
from corpus import ALL

from srcad import grad
from srcad.errors import InternalError
from srcad.ir.nodes import Block, Function
from srcad.transform import simplify as passes
from srcad.transform.pipeline import derive, prepared
from srcad.transform.simplify import simplify


def test_a_pass_that_breaks_a_contract_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    def forgetful(function: Function) -> Function:
        return replace(function, body=Block(function.body.stmts[:-1], function.body.results))

    monkeypatch.setattr(passes, "PASSES", (forgetful,))
    with pytest.raises(InternalError, match="after forgetful"):
        grad(lambda x: np.sum(x * x))(np.ones(3))


@pytest.mark.parametrize("case", ALL[::7], ids=lambda case: case.name)
def test_simplifying_again_changes_nothing_and_output_is_the_same_each_time(case) -> None:
    traced = oracles.derivatives(case).trace.function
    first, second = (derive(traced, "vjp", case.argnums) for _ in range(2))
    assert first == second
    assert simplify(first) == first
    assert prepared(prepared(traced)) == prepared(traced)
