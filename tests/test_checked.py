"""SRCAD_CHECK=1: every pass of every derivative keeps the contracts of the IR."""

from dataclasses import replace

import oracles
import pytest
from corpus import Program
from test_programs import cases

from srcad import grad
from srcad.errors import InternalError
from srcad.ir.nodes import Block, Function
from srcad.runtime.programs import Program as Dispatcher
from srcad.runtime.programs import derived
from srcad.transform import simplify


@pytest.mark.parametrize("case", cases())
def test_corpus(case: Program, monkeypatch: pytest.MonkeyPatch) -> None:
    """Sees no wrong formula: `test_programs` looks at the values."""
    monkeypatch.setenv("SRCAD_CHECK", "1")
    specs = oracles.derivatives(case).specs
    for mode in ("vjp", "jvp"):
        derived(Dispatcher(case.fn, mode, case.argnums), specs)


def losing(function: Function) -> Function:
    """A pass with a fault: it drops the first statement."""
    return replace(function, body=Block(function.body.stmts[1:], function.body.results))


def test_the_pass_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SRCAD_CHECK", "1")
    monkeypatch.setattr(simplify, "PASSES", (losing,))
    with pytest.raises(InternalError, match="^losing: in .* is not visible"):
        grad(lambda x: x * (x + 1.0) * 17.0)(2.0)
