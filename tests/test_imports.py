"""The packages form layers; each imports only what stands below it."""

import ast
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent / "srcad"
BELOW = {
    "errors": set(),
    "ir": {"errors"},
    "ops": {"errors", "ir"},
    "arrays": set(),
    "tracer": {"errors", "ir", "ops", "arrays"},
    "transform": {"errors", "ir", "ops"},
    "codegen": {"errors", "ir", "ops"},
    "runtime": {"errors", "ir", "ops", "tracer", "transform", "codegen"},
    "api": {"errors", "ir", "runtime"},
}


def imported(path: Path) -> set[str]:
    """The packages of srcad that a file imports; fails on imports inside functions."""
    found: set[str] = set()
    tree = ast.parse(path.read_text())
    top = set(map(id, tree.body))
    for node in ast.walk(tree):
        if isinstance(node, ast.Import | ast.ImportFrom):
            assert id(node) in top, f"{path.name}:{node.lineno} imports inside a function"
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("srcad"):
            parts = node.module.split(".")
            found |= {parts[1]} if len(parts) > 1 else {alias.name for alias in node.names}
    return found


@pytest.mark.parametrize("name", BELOW)
def test_layers(name: str) -> None:
    single = ROOT / f"{name}.py"
    files = [single] if single.exists() else sorted((ROOT / name).rglob("*.py"))
    assert files
    for path in files:
        above = imported(path) - BELOW[name] - {name}
        assert not above, f"{path.name} imports {above}"
