"""srcad: derivatives of ordinary Python functions by source transformation, compiled by Numba.

Data flows one way: `tracer` turns a function into an `ir.Function`, `transform` turns that into
its adjoint or tangent, `codegen` prints it as Python, `runtime` compiles and calls it. `ops` says
what each operation means and what its partial derivatives are.
"""

from srcad import errors
from srcad.api import grad, hessian, jacobian, jvp, value_and_grad, vjp

__all__ = ["errors", "grad", "hessian", "jacobian", "jvp", "value_and_grad", "vjp"]
