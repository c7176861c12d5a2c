"""Comparison, logic and tests of floats: bools, without a derivative."""

import math
import operator

import numpy as np

from srcad.ops.declaration import COMPARE, Samples, declare
from srcad.ops.promotion import compared, logical, tested

PAIRS: Samples = ((1.0, 2.0), (2.0, 1.0), (1.5, 1.5), (1.0, math.nan))
BOOLS: Samples = ((False, False), (False, True), (True, False), (True, True))
SPECIAL: Samples = ((1.5,), (math.inf,), (-math.inf,), (math.nan,))

for _name, _symbol, _function, _ufunc in (
    ("lt", "<", operator.lt, np.less),
    ("le", "<=", operator.le, np.less_equal),
    ("gt", ">", operator.gt, np.greater),
    ("ge", ">=", operator.ge, np.greater_equal),
    ("eq", "==", operator.eq, np.equal),
    ("ne", "!=", operator.ne, np.not_equal),
):
    declare(
        _name, (_function, _ufunc), None, None,
        emit=f"{{0}} {_symbol} {{1}}", level=COMPARE, typing=compared, numpy=_ufunc,
        samples=PAIRS, jumps=True,
    )  # fmt: skip

declare(
    "and", (np.logical_and,), None, None,
    emit="({0} and {1})", typing=logical, numpy=np.logical_and, samples=BOOLS,
)  # fmt: skip
declare(
    "or", (np.logical_or,), None, None,
    emit="({0} or {1})", typing=logical, numpy=np.logical_or, samples=BOOLS,
)  # fmt: skip
declare(
    "xor", (np.logical_xor,), None, None,
    emit="{0} != {1}", level=COMPARE, typing=logical, numpy=np.logical_xor, samples=BOOLS,
)  # fmt: skip
declare(
    "not", (operator.not_, np.logical_not), None,
    emit="(not {0})", typing=logical, numpy=np.logical_not, samples=((False,), (True,)),
)  # fmt: skip

for _name, _spellings in (
    ("isnan", (np.isnan, math.isnan)),
    ("isinf", (np.isinf, math.isinf)),
    ("isfinite", (np.isfinite, math.isfinite)),
):
    declare(
        _name, _spellings, None,
        typing=tested, numpy=_spellings[0], samples=SPECIAL, jumps=True,
    )  # fmt: skip
