"""NUMBA_DISABLE_JIT=1: the generated source run by Python gives the same, and compiles nothing."""

import json
import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent
SCRIPT = """
import json, math
import numpy as np
import srcad
from numba.core import event

w = np.array([2.0, 3.0])
slope, table = 1.0, [2.0]


def rows(x, a=2.0, t=table):
    y = w * x * x * a * t[0]
    return y


def loss(x, a=2.0):
    s = 0.0
    for i in range(x.shape[0]):
        s += w[i] * x[i] * x[i] * x[i] * a * slope
    return s


def into(x):
    x[0] = x[0] * x[1]
    return x[0]


x = np.array([1.0, 2.0])
found = []
with event.install_recorder("numba:compile") as compiled:
    g = srcad.grad(loss)
    found += [type(g).__name__, g(x), g(x, a=1.0), g(x, 1.0), *srcad.value_and_grad(loss)(x)]
    w[0] = 4.0
    slope = 0.5
    found += [g(x), srcad.grad(loss, argnums=(0, "a"))(x)]
    w = np.array([1.0, 1.0])
    found += [srcad.vjp(rows, x)(np.ones(2)), srcad.vjp(loss, x)()]
    value, dot = srcad.jvp(rows, (x,), (x,))
    found += [value, dot, srcad.jacobian(rows)(x), srcad.hessian(loss)(x)]
    table[0] = 1.0
    found += [srcad.jacobian(rows)(x), srcad.grad(lambda x: x * x)(3.0)]
    y = x.copy()
    found += [srcad.grad(into)(y), y]
    found += [srcad.jacobian(lambda s: math.sqrt(s))(0.0)]
    found += [srcad.grad(lambda s: 1.0 / s)(0.0)]
print(json.dumps([f.tolist() if isinstance(f, np.ndarray) else f for f in found],
                 default=lambda a: a.tolist()))
print(len(compiled.buffer))
"""


def results(folder: Path, **environment: str) -> tuple[list, int]:
    (folder / "script.py").write_text(SCRIPT)
    env = {**os.environ, "PYTHONPATH": str(ROOT), **environment}
    done = subprocess.run(
        [sys.executable, "-W", "error", str(folder / "script.py")], env=env, capture_output=True,
        text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    found, compiled = done.stdout.splitlines()
    return json.loads(found), int(compiled)


def test_every_mode_without_numba(tmp_path: Path) -> None:
    found, compiled = results(tmp_path, NUMBA_DISABLE_JIT="1")
    assert compiled == 0
    inf = float("inf")
    assert found == [
        "Interpreted", [12.0, 72.0], [6.0, 36.0], [6.0, 36.0], 52.0, [12.0, 72.0],
        [12.0, 36.0], [[12.0, 36.0], 14.0],
        [8.0, 16.0], [3.0, 12.0],
        [4.0, 16.0], [8.0, 32.0], [[8.0, 0.0], [0.0, 16.0]], [[6.0, 0.0], [0.0, 12.0]],
        [[4.0, 0.0], [0.0, 8.0]], 6.0,
        [2.0, 1.0], [2.0, 2.0],
        inf, -inf,
    ]  # fmt: skip


def test_the_same_with_numba(tmp_path: Path) -> None:
    """So that the values above are those of compiled code."""
    interpreted, _ = results(tmp_path, NUMBA_DISABLE_JIT="1")
    compiled, count = results(tmp_path, SRCAD_CACHE_DIR=str(tmp_path / "cache"))
    assert compiled[1:] == interpreted[1:] and compiled[0] == "Program"
    assert count > 0
