"""The verifier looks at every program between all passes."""

import os

os.environ.setdefault("SRCAD_CHECK", "1")


def pytest_addoption(parser) -> None:
    parser.addoption("--update-golden", action="store_true", help="write tests/golden anew")
