"""What the README shows is run: its Python blocks in order, the adjoint it prints, its example."""

import linecache
import re
import runpy
from pathlib import Path

import numpy as np

from srcad.codegen import source
from srcad.runtime.programs import derived, spec

ROOT = Path(__file__).parent.parent
TEXT = (ROOT / "README.md").read_text()


def run_blocks() -> dict:
    code = "\n".join(re.findall(r"```python\n(.*?)```", TEXT, re.DOTALL))
    name = "README-blocks.py"
    linecache.cache[name] = (len(code), None, code.splitlines(True), name)
    space: dict = {"__name__": "readme"}
    exec(compile(code, name, "exec"), space)
    return space


def test_blocks_run_and_the_adjoint_is_the_one_shown() -> None:
    space = run_blocks()
    x = np.array([0.3, -0.4, 0.9])
    made = source(derived(space["srcad"].grad(space["f"]), (spec(x, 0),)).function).text
    lines = [line for line in made.splitlines() if "#" not in line]
    shown = TEXT.split("one bool per iteration):\n\n")[1].split("\n\n## What")[0]
    assert "\n".join(lines).endswith(shown.rstrip())


def test_example(capsys) -> None:
    runpy.run_path(str(ROOT / "examples" / "rosenbrock.py"), run_name="__main__")
    printed = capsys.readouterr().out
    minimum = float(re.search(r"minimum (\S+),", printed).group(1))
    assert minimum < 1e-8
