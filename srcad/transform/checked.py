"""Under SRCAD_CHECK=1 the verifier looks at what each pass gives, and names the pass."""

import os

from srcad import ops
from srcad.ir.nodes import Function
from srcad.ir.verifier import verify


def checked(function: Function, stage: str) -> Function:
    """The function itself. Raises InternalError where it breaks a contract of the IR."""
    if os.environ.get("SRCAD_CHECK"):
        verify(function, ops.result_type, stage=stage)
    return function
