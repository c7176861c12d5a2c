"""Arrays that overlap are refused where the function writes into one: from everywhere."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

from srcad import grad, jacobian, jvp, value_and_grad, vjp
from srcad.errors import TypingError
from srcad.runtime.programs import Program
from srcad.runtime.support import overlap

pytestmark = pytest.mark.compiles
ROOT = Path(__file__).parent.parent
MEMORY = np.zeros(24)
PAIRS = [
    (MEMORY[:6], MEMORY[6:12], False), (MEMORY[:7], MEMORY[6:12], True),
    (MEMORY[5::-1], MEMORY[6:], False), (MEMORY[6::-1], MEMORY[6:], True),
    (MEMORY[10:2:-3], MEMORY[3:4], False), (MEMORY[10:2:-3], MEMORY[3:5], True),
    (MEMORY[:0], MEMORY, False), (MEMORY, MEMORY[7:7], False),
    (MEMORY.reshape(4, 6)[1:, ::2], MEMORY[:6], False),
    (MEMORY.reshape(4, 6).T[::-1], MEMORY[23:], True),
    (MEMORY[3:4].reshape(()), MEMORY[4:5].reshape(()), False),
    (MEMORY[3:4].reshape(()), MEMORY.reshape(2, 12), True),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "expected"), PAIRS)
def test_overlap_is_that_of_numpy(a, b, expected) -> None:
    both = numba.njit(lambda a, b: (overlap(a, b), overlap(b, a)))
    assert overlap(a, b) == expected and both(a, b) == (expected, expected)


def scaled(a, b):
    a[0] = a[0] * b[1]
    return a[0] * a[1]


def test_from_python_and_from_compiled_code() -> None:
    g = grad(scaled, argnums=(0, 1))

    @numba.njit
    def caller(a, b):
        return g(a, b)

    for call in (g, caller, g):
        x = np.array([2.0, 3.0, 5.0, 7.0])
        a_bar, b_bar = call(x[:2], x[2:])
        assert a_bar.tolist() == [21.0, 14.0] and b_bar.tolist() == [0.0, 6.0]
        for a, b in ((x, x), (x[:3], x[2:]), (x[2:], x[:3]), (x[::-1], x)):
            before = x.copy()
            with pytest.raises(TypingError, match="`a` overlaps .* `scaled` writes"):
                call(a, b)
            assert np.array_equal(x, before)  # nothing was written
    assert type(g) is Program  # no guard is needed


@pytest.mark.parametrize("mode", [value_and_grad, jacobian])
def test_in_other_modes(mode) -> None:
    x = np.ones(3)
    with pytest.raises(TypingError, match="overlap"):
        mode(scaled)(x, x)


def test_in_vjp_and_jvp() -> None:
    x = np.ones(3)
    with pytest.raises(TypingError, match="overlap"):
        vjp(scaled, x, x)
    with pytest.raises(TypingError, match="overlap"):
        jvp(scaled, (x, x), (x, x))


def test_defaults() -> None:
    default = np.array([3.0, 4.0])

    def f(a, w=default):
        a[0] = a[0] * w[1]
        return a[0]

    g = grad(f)
    for _ in range(3):
        x = np.array([2.0])
        assert g(x).tolist() == [4.0] and x[0] == 8.0
        with pytest.raises(TypingError, match="overlap"):
            g(default)


def test_captured_arrays() -> None:
    w = np.array([3.0, 4.0])

    def f(a):
        a[0] = a[0] * w[1]
        return a[0]

    g = grad(f)

    @numba.njit
    def caller(a):
        return g(a)

    for call in (g, caller, g):
        assert call(np.array([2.0, 0.0])).tolist() == [4.0, 0.0]
        with pytest.raises(TypingError, match="overlap"):
            call(w)


def test_a_captured_array_that_is_written() -> None:
    w = np.array([3.0, 4.0])

    def f(a):
        w[0] = a[0] * w[1]
        return w[0]

    g = grad(f)
    assert g(np.array([2.0])).tolist() == [4.0] and w[0] == 8.0
    with pytest.raises(TypingError, match="overlap"):
        g(w)


def test_items_of_tuples_and_arrays_that_are_only_read() -> None:
    def f(pair):
        pair[0][0] = pair[1][0]
        return pair[0][0]

    x = np.array([2.0])
    with pytest.raises(TypingError, match="overlap"):
        grad(f)((x, x))
    assert grad(lambda a, b: np.sum(a * b))(x, x).tolist() == [2.0]


def test_interpreted(tmp_path: Path) -> None:
    script = (
        "import numpy as np, srcad\n"
        "def f(a, b):\n    a[0] = b[0]\n    return a[0]\n"
        "x = np.ones(2)\n"
        "srcad.grad(f)(x[:1], x[1:])\n"
        "try:\n    srcad.grad(f)(x, x)\n"
        "except srcad.errors.TypingError as error:\n    print(error)\n"
    )
    (tmp_path / "script.py").write_text(script)
    env = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(ROOT)}
    done = subprocess.run(
        [sys.executable, str(tmp_path / "script.py")], env=env, capture_output=True, text=True
    )
    assert "overlaps another array" in done.stdout, done.stderr


def test_cached_code_raises_too(tmp_path: Path) -> None:
    """The exception's class is found again by the next process."""
    (tmp_path / "model.py").write_text("def f(a, b):\n    a[0] = b[0]\n    return a[0]\n")
    script = (
        "import numpy as np, srcad, model\n"
        "x = np.ones(2)\n"
        "try:\n    srcad.grad(model.f)(x, x)\n"
        "except srcad.errors.TypingError:\n    print('refused')\n"
    )
    env = {**os.environ, "SRCAD_CACHE_DIR": str(tmp_path / "cache")}
    env["PYTHONPATH"] = os.pathsep.join([str(tmp_path), str(ROOT)])
    for _ in range(2):
        done = subprocess.run(
            [sys.executable, "-c", script], env=env, capture_output=True, text=True
        )
        assert done.stdout == "refused\n", done.stderr
