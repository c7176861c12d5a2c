"""Twice the work costs at most twice the time and memory, as ADJOINT section 4 promises.

`python tests/benchmarks/test_growth.py` prints the table: seconds of the function and of
value_and_grad compiled, and the bytes that the gradient allocates at its peak, at two sizes.
"""

import time
import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numba import njit
from workloads import WORKLOADS, Workload

from srcad import value_and_grad
from srcad.runtime.interpret import interpret
from srcad.runtime.programs import Program, derived, spec

EACH = pytest.mark.parametrize("workload", WORKLOADS, ids=lambda w: w.name)
MEMORY_SLACK = 1.1  # what does not grow: shadows of parameters
TIME_SLACK = 1.6  # caches, and page faults of larger tapes; a factor that grows would be 2
ROUNDS = 15


def peak_bytes(workload: Workload, scale: int) -> int:
    """What the gradient program has allocated at its peak; interpreted, so that it is counted."""
    args = workload.inputs(scale)
    kinds = tuple(spec(a, k) for k, a in enumerate(args))
    run = interpret(derived(Program(workload.function, "grad", 0), kinds).function)
    tracemalloc.start()
    run(*args)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    return peak


def seconds(calls: list[tuple[Callable[..., Any], tuple[Any, ...]]]) -> list[float]:
    """CPU seconds of each call: the fastest of several rounds, in which they alternate."""
    best = [np.inf] * len(calls)
    for f, args in calls:
        f(*args)
    for _ in range(ROUNDS):
        for k, (f, args) in enumerate(calls):
            start = time.process_time()
            f(*args)
            best[k] = min(best[k], time.process_time() - start)
    return best


def measured(workload: Workload, scale: int, *functions: Callable[..., Any]) -> list[float]:
    """Seconds of functions at `scale`, then at twice that."""
    sizes = workload.inputs(scale), workload.inputs(2 * scale)
    return seconds([(f, args) for args in sizes for f in functions])


@EACH
def test_memory_grows_as_the_work(workload: Workload) -> None:
    small, large = (peak_bytes(workload, scale) for scale in (1, 2))
    assert large <= MEMORY_SLACK * 2**workload.power * small


@pytest.mark.compiles
@EACH
def test_time_grows_as_the_work(workload: Workload) -> None:
    small, large = measured(workload, 4, value_and_grad(workload.function))
    assert large <= TIME_SLACK * 2**workload.power * small


if __name__ == "__main__":
    print(f"{'workload':16}{'function':>20}{'value_and_grad':>22}{'peak bytes':>22}")
    plain = njit(error_model="numpy", fastmath={"reassoc", "contract", "nsz", "afn"})
    for each in WORKLOADS:
        f1, g1, f2, g2 = measured(each, 8, plain(each.function), value_and_grad(each.function))
        small, large = (peak_bytes(each, scale) for scale in (1, 2))
        print(
            f"{each.name:16}{f1 * 1e6:9.0f}us{f2 * 1e6:9.0f}us{g1 * 1e6:10.0f}us{g2 * 1e6:10.0f}us"
            f"{small:11}{large:11}"
        )
