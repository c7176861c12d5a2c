"""The passes one after the other."""

import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

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


HASHED = """
import hashlib, oracles
from corpus import ALL
from srcad.codegen import source
texts = [source(oracles.Derivatives(case).pullback).text for case in ALL[::25]]
print(hashlib.sha256("".join(texts).encode()).hexdigest())
"""


def test_the_same_input_gives_the_same_text_in_every_process() -> None:
    folder = Path(__file__).parent
    path = os.pathsep.join(str(p) for p in (folder.parent, folder))
    found = [
        subprocess.run(
            [sys.executable, "-c", HASHED],
            env={**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": path},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for seed in ("1", "2")
    ]
    assert found[0] == found[1] and len(found[0]) > 60
