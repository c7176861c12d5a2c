"""Random programs: everything that `net` holds, for many interpreted and some compiled.

SRCAD_RANDOM_PROGRAMS sets how many programs are tried.
"""

import os
from collections.abc import Callable

import net
import pytest
import random_programs
from hypothesis import HealthCheck, given, note, reject, seed, settings

COUNT = int(os.environ.get("SRCAD_RANDOM_PROGRAMS", "150"))
COMPILED = COUNT // 30
SHARES = 10  # tests that workers can run side by side, each with a seed of its own


def hold(check: Callable[[str], None], count: int, start: int) -> None:
    @seed(start)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(random_programs.sources())
    def right(text: str) -> None:
        note(text)
        try:
            check(text)
        except net.Skipped:
            reject()

    right()


@pytest.mark.parametrize("share", range(SHARES))
def test_random_programs(share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SRCAD_CHECK")  # it takes longer than all the rest; the ends are verified
    hold(net.check, -(-COUNT // SHARES), share)


@pytest.mark.compiles
def test_compiled_random_programs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SRCAD_CHECK")
    hold(net.check_compiled, COMPILED, SHARES)
