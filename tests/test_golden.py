"""What is generated for a few programs, kept as files to be read; other tests say that it is right.

`python -m pytest --update-golden tests/test_golden.py` writes them anew.
"""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from corpus import ALL

from srcad.codegen import source
from srcad.runtime.programs import Program, derived, spec

GOLDEN = Path(__file__).parent / "golden"
CASES = ["masked_sum", "swapped", "return_inside_loop", "cholesky_loops", "powers_of_a_matrix"]


def generated(name: str, mode: str) -> str:
    case = next(p for p in ALL if p.name == name)
    kinds = tuple(spec(a, k) for k, a in enumerate(case.fresh()))
    return source(derived(Program(case.fn, mode, case.argnums), kinds).function).text


def gaussian(x, m):
    return np.sum(np.exp(-((x - m) ** 2)))


def same(name: str, text: str, update: bool) -> None:
    file = GOLDEN / f"{name}.py"
    if update:
        file.write_text(text)
    assert text == file.read_text()


@pytest.mark.parametrize("mode", ["vjp", "jvp"])
@pytest.mark.parametrize("name", CASES)
def test_corpus(name: str, mode: str, request: pytest.FixtureRequest) -> None:
    text = generated(name, mode)
    same(f"{name}_{mode}", text, request.config.getoption("--update-golden"))


@pytest.mark.parametrize("mode", ["primal", "grad", "jacobian"])
def test_fused(mode: str, request: pytest.FixtureRequest) -> None:
    kinds: tuple[Any, ...] = (spec(np.ones(3), 0), spec(0.5, 1))
    function: Callable[..., Any] = gaussian
    text = source(derived(Program(function, mode, 0), kinds).function).text
    same(f"gaussian_{mode}", text, request.config.getoption("--update-golden"))
