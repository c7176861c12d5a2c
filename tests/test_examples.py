"""The mixture model recovers the species of the iris data."""

import re
import runpy
from pathlib import Path

import pytest

EXAMPLE = Path(__file__).parent.parent / "examples" / "gmm.py"
ERROR = 1e-7  # central differences with step 1e-5 on slopes of size 100
LIKELIHOOD = -180.3  # the maximum without a prior is -180.19; the prior costs 0.02


@pytest.mark.compiles
def test_gmm(capsys: pytest.CaptureFixture[str]) -> None:
    runpy.run_path(str(EXAMPLE), run_name="__main__")
    printed = capsys.readouterr().out

    def number(pattern: str) -> float:
        found = re.search(pattern, printed)
        assert found, printed
        return float(found.group(1))

    assert number(r"differences: (\S+) relative") < ERROR
    assert number(r"log-likelihood (\S+)") > LIKELIHOOD
    assert number(r"species: (\S+) %") > 95.0
    assert number(r"value and gradient (\d+) ") > 0.0
