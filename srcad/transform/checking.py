"""The verifier between passes, under SRCAD_CHECK=1 (our tests run so)."""

import os

from srcad import ops
from srcad.ir.nodes import Function
from srcad.ir.verifier import verify


def checked(function: Function, stage: str, *, maps: bool = False) -> Function:
    """The function itself. Raises InternalError, naming the pass, if it breaks a contract."""
    if os.environ.get("SRCAD_CHECK"):
        verify(function, ops.result_type, stage=f"after {stage}", maps=maps)
    return function
