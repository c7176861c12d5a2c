"""What operations MEAN: one declaration each, and the functions by which passes use them.

A rule is written once, as partials; tangent and adjoint both follow from it. `apply` emits an
operation with constants folded, `partial` emits a derivative, `partial_reads` says what it reads.
To add an operation, add a declaration to one of the modules; the rule tester finds it.
"""

from srcad.ops import arithmetic as arithmetic
from srcad.ops import comparison as comparison
from srcad.ops import elementary as elementary
from srcad.ops import integers as integers
from srcad.ops import special as special
from srcad.ops import structural as structural
from srcad.ops.declaration import (
    Operation,
    all_operations,
    lookup,
    operand_types,
    operation,
    result_type,
)
from srcad.ops.fold import apply
from srcad.ops.libraries import LIBRARY
from srcad.ops.partials import has_pole, partial, partial_reads

__all__ = [
    "LIBRARY",
    "Operation",
    "all_operations",
    "apply",
    "has_pole",
    "lookup",
    "operand_types",
    "operation",
    "partial",
    "partial_reads",
    "result_type",
]
