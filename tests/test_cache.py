"""The disk cache across processes. Each test starts few of them: a cold one takes seconds."""

import json
import os
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from srcad.runtime import diskcache

ROOT = Path(__file__).parent.parent
pytestmark = pytest.mark.compiles

MODEL = """
import numpy as np
from helper import slope

DATA = np.array([1.0, 2.0, 4.0])
SHIFT = 0.5


def loss(p):
    s = 0.0
    for i in range(DATA.shape[0]):
        s += slope(p[0], DATA[i]) ** 2 + SHIFT * p[1]
    return s
"""
HELPER = """
def slope(a, x):
    return a * x - 1.0
"""
# Says what the derivatives are, and whether the second half of the work was needed.
SCRIPT = """
import json, sys, time
import numpy as np
import srcad
import srcad.runtime.specialise as specialise
from numba.core import event
from model import DATA, loss

traced = []
trace = specialise.trace
specialise.trace = lambda *a, **k: traced.append(1) or trace(*a, **k)
with event.install_recorder("numba:compile") as compiled:
    begin = time.perf_counter()
    gradient = srcad.grad(loss)(np.array([2.0, 3.0]))
    first = time.perf_counter() - begin
    DATA[0] = 10.0
    edited = srcad.grad(loss)(np.array([2.0, 3.0]))
print(json.dumps({"gradient": gradient.tolist(), "edited": edited.tolist(), "traced": len(traced),
                  "compiled": len(compiled.buffer), "first": first}))
"""


def run(folder: Path, cache: Path, script: str = SCRIPT, **environment: str) -> dict:
    """What the script prints in a new process that sees the modules in `folder`."""
    env = {**os.environ, "SRCAD_CACHE_DIR": str(cache), **environment}
    env["PYTHONPATH"] = os.pathsep.join([str(folder), str(ROOT)])
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", script], env=env, capture_output=True, text=True,
        timeout=120,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "model.py").write_text(MODEL)
    (tmp_path / "helper.py").write_text(HELPER)
    return tmp_path


def expected(data: list[float], shift: float = 0.5, offset: float = 1.0) -> list[float]:
    return [sum(2 * (2.0 * x - offset) * x for x in data), shift * len(data)]


def test_second_process_neither_traces_nor_compiles(folder: Path) -> None:
    """Also that captured arrays are read anew; sees no code that is right by luck."""
    cold = run(folder, folder / "cache")
    warm = run(folder, folder / "cache")
    for found in (cold, warm):
        assert found["gradient"] == pytest.approx(expected([1.0, 2.0, 4.0]))
        assert found["edited"] == pytest.approx(expected([10.0, 2.0, 4.0]))
    assert cold["traced"] == 1 and cold["compiled"] > 0
    assert warm["traced"] == 0 and warm["compiled"] == 0
    assert warm["first"] < cold["first"] / 3


def test_what_changes_outside_gives_new_code(folder: Path) -> None:
    """A helper's source, a constant, and a version of srcad (its header is part of the name)."""
    cache = folder / "cache"
    run(folder, cache)
    (folder / "helper.py").write_text(HELPER.replace("- 1.0", "- 3.0"))
    helper = run(folder, cache)
    assert helper["traced"] == 1
    assert helper["gradient"] == pytest.approx(expected([1.0, 2.0, 4.0], offset=3.0))
    (folder / "model.py").write_text(MODEL.replace("SHIFT = 0.5", "SHIFT = 2.0"))
    constant = run(folder, cache)
    assert constant["traced"] == 1
    assert constant["gradient"] == pytest.approx(expected([1.0, 2.0, 4.0], 2.0, 3.0))
    edited = "import srcad.runtime.diskcache as d\nd.own = lambda part='': 'another'\n" + SCRIPT
    assert run(folder, cache, edited)["compiled"] > 0


def truncated(path: Path) -> None:
    content = path.read_bytes()
    path.write_bytes(content[: len(content) // 2])


@pytest.mark.parametrize("change", [truncated, Path.unlink])
def test_damaged_files_are_made_anew(folder: Path, change: Callable[[Path], object]) -> None:
    """Index and module, or what Numba writes. Sees no damage that leaves valid machine code."""
    cache = folder / "cache"
    run(folder, cache)
    for suffixes in ((".json",), (".py",), (".nbi",), (".nbc",)):
        found = [path for path in cache.rglob("*") if path.suffix in suffixes]
        assert found
        for path in found:
            change(path)
        again = run(folder, cache)
        assert again["gradient"] == pytest.approx(expected([1.0, 2.0, 4.0]))
        assert again["traced"] == (suffixes in ((".json",), (".py",)))
    assert run(folder, cache)["compiled"] == 0


def test_cached_caller_loads_in_the_next_process(folder: Path) -> None:
    """A user's cached @njit function that calls a gradient brings its code along."""
    (folder / "caller.py").write_text(
        "import numba\nimport srcad\nfrom plain import square\n\ng = srcad.grad(square)\n\n\n"
        "@numba.njit(cache=True)\ndef caller(x):\n    return g(x) + 1.0\n"
    )
    (folder / "plain.py").write_text("def square(x):\n    return x * x\n")
    script = (
        "import json\nfrom numba.core import event\nfrom caller import caller\n"
        "with event.install_recorder('numba:compile') as compiled:\n    value = caller(3.0)\n"
        "print(json.dumps({'value': value, 'compiled': len(compiled.buffer)}))\n"
    )
    environment = {"NUMBA_CACHE_DIR": str(folder / "numba")}
    assert run(folder, folder / "cache", script, **environment)["value"] == 7.0
    assert run(folder, folder / "cache", script, **environment) == {"value": 7.0, "compiled": 0}


def test_two_processes_at_once(folder: Path) -> None:
    env = {**os.environ, "SRCAD_CACHE_DIR": str(folder / "cache")}
    env["PYTHONPATH"] = os.pathsep.join([str(folder), str(ROOT)])
    both = [
        subprocess.Popen([sys.executable, "-c", SCRIPT], env=env, stdout=subprocess.PIPE)
        for _ in range(2)
    ]
    for process in both:
        found = json.loads(process.communicate(timeout=120)[0])
        assert found["gradient"] == pytest.approx(expected([1.0, 2.0, 4.0]))
        assert process.returncode == 0
    after = run(folder, folder / "cache")
    assert after["gradient"] == pytest.approx(expected([1.0, 2.0, 4.0]))
    assert after["traced"] == after["compiled"] == 0


def test_unusable_folders(tmp_path: Path) -> None:
    assert diskcache.unusable(tmp_path / "new") is None
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o700
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o770)
    assert diskcache.unusable(shared) == "other users may write to it"
    (tmp_path / "file").write_text("")
    reason = diskcache.unusable(tmp_path / "file" / "inside")
    assert reason is not None and "cannot be written" in reason


@pytest.mark.parametrize("why", ["other users may write", "cannot be written"])
def test_unusable_folder_is_said_once_and_replaced(tmp_path: Path, why: str) -> None:
    script = (
        "import json, warnings\n"
        "with warnings.catch_warnings(record=True) as said:\n"
        "    warnings.simplefilter('always')\n"
        "    import srcad\n"
        "    square = srcad.grad(lambda x: x * x)\n"
        "    double = srcad.grad(lambda x: 2.0 * x)\n"
        "    found = [square(3.0), double(3.0)]\n"
        "from srcad.runtime.diskcache import folder\n"
        "print(json.dumps({'found': found, 'said': [str(w.message) for w in said],\n"
        "                  'folder': str(folder())}))\n"
    )
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    (tmp_path / "file").write_text("")
    (tmp_path / "script.py").write_text(script)
    cache = shared if why == "other users may write" else tmp_path / "file" / "inside"
    found = run(tmp_path, cache, "import script")
    assert found["found"] == [6.0, 2.0]
    assert len(found["said"]) == 1 and why in found["said"][0]
    assert list(shared.iterdir()) == [] and not Path(found["folder"]).exists()


def test_folder_that_goes_away(tmp_path: Path) -> None:
    script = (
        "import json, shutil, srcad\n"
        "from srcad.runtime.diskcache import folder\n"
        "first = srcad.grad(lambda x: x * x)(3.0)\n"
        "shutil.rmtree(folder())\n"
        "print(json.dumps([first, srcad.grad(lambda x: 2.0 * x)(3.0)]))\n"
    )
    (tmp_path / "script.py").write_text(script)
    assert run(tmp_path, tmp_path / "cache", "import script") == [6.0, 2.0]


MODES = """
import json
import numpy as np
import srcad
import srcad.runtime.specialise as specialise
from numba.core import event
from many import CONFIG, LAYERS, loss, rows

traced = []
trace = specialise.trace
specialise.trace = lambda *a, **k: traced.append(1) or trace(*a, **k)
x = np.array([2.0, 3.0])
with event.install_recorder("numba:compile") as compiled:
    found = [srcad.jacobian(rows)(x), srcad.hessian(loss)(x), *srcad.value_and_grad(loss)(x),
             srcad.vjp(rows, x)(np.ones(2)), srcad.jvp(rows, (x,), (x,))[1]]
    CONFIG.nu = 2.0
    found.append(srcad.grad(loss)(x))
    CONFIG.nu = 3.0
    found.append(srcad.grad(loss)(x))
    LAYERS[0] = (np.array([5.0]), 1.0)
    found.append(srcad.jacobian(rows)(x))
print(json.dumps({"found": [np.asarray(f).tolist() for f in found], "traced": len(traced),
                  "compiled": len(compiled.buffer)}))
"""
MANY = """
import types
import numpy as np

CONFIG = types.SimpleNamespace(nu=1.0)
LAYERS = [(np.array([2.0]), 1.0)]


def rows(x, powers=[2]):
    w, b = LAYERS[0]
    return w[0] * x ** powers[0] + b


def loss(x):
    return CONFIG.nu * x[0] * x[0] * x[1]
"""


def test_every_mode_in_the_second_process(tmp_path: Path) -> None:
    """Also numbers that became hidden arguments, containers of arrays, defaults."""
    (tmp_path / "many.py").write_text(MANY)
    cold = run(tmp_path, tmp_path / "cache", MODES)
    warm = run(tmp_path, tmp_path / "cache", MODES)
    assert cold["found"] == warm["found"] == [
        [[8.0, 0.0], [0.0, 12.0]], [[6.0, 4.0], [4.0, 0.0]], 12.0, [12.0, 4.0], [8.0, 12.0],
        [16.0, 36.0], [24.0, 8.0], [36.0, 12.0], [[20.0, 0.0], [0.0, 30.0]],
    ]  # fmt: skip
    assert cold["traced"] > 0 and cold["compiled"] > 0
    assert warm["traced"] == warm["compiled"] == 0
