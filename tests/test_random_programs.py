"""Random programs, interpreted: everything that `net.check` holds.

SRCAD_RANDOM_PROGRAMS sets how many programs are tried.
"""

import os

import net
import pytest
import random_programs
from hypothesis import HealthCheck, given, note, reject, seed, settings

COUNT = int(os.environ.get("SRCAD_RANDOM_PROGRAMS", "150"))
SHARES = 10  # tests that workers can run side by side, each with a seed of its own


@pytest.mark.parametrize("share", range(SHARES))
def test_random_programs(share: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("SRCAD_CHECK")  # it takes longer than all the rest; the ends are verified

    @seed(share)
    @settings(
        max_examples=-(-COUNT // SHARES),
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(random_programs.sources())
    def right(text: str) -> None:
        note(text)
        try:
            net.check(text)
        except net.Skipped:
            reject()

    right()
