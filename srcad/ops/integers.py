"""Operations on bits, and those that indices pass through. No derivatives."""

import operator

import numpy as np

from srcad.ops.declaration import (
    BITAND,
    BITOR,
    BITXOR,
    COMPARE,
    SHIFT,
    UNARY,
    Samples,
    declare,
)
from srcad.ops.promotion import compared, integer, same

PAIRS: Samples = ((12, 10), (-5, 3), (0, 7))
PLACES: Samples = ((-1, 3), (0, 3), (2, 3), (3, 3))

for _name, _symbol, _level, _spellings in (
    ("bitand", "&", BITAND, (operator.and_, np.bitwise_and)),
    ("bitor", "|", BITOR, (operator.or_, np.bitwise_or)),
    ("bitxor", "^", BITXOR, (operator.xor, np.bitwise_xor)),
    ("lshift", "<<", SHIFT, (operator.lshift, np.left_shift)),
    ("rshift", ">>", SHIFT, (operator.rshift, np.right_shift)),
):
    declare(
        _name, _spellings, None, None,
        emit=f"{{0}} {_symbol} {{1}}", level=_level, typing=integer, numpy=_spellings[1],
        samples=PAIRS,
    )  # fmt: skip
declare(
    "invert", (operator.invert, np.bitwise_not), None,
    emit="~{0}", level=UNARY, typing=integer, numpy=np.bitwise_not, samples=((5,), (-1,)),
)  # fmt: skip

declare(
    "wrap", (), None, None,
    emit="wrap({0}, {1})", typing=same, numpy=lambda i, n: i + n if i < 0 else i, samples=PLACES,
)  # fmt: skip
declare(
    "within", (), None, None,
    emit="0 <= {0} < {1}", level=COMPARE, typing=compared, numpy=lambda i, n: 0 <= i < n,
    samples=PLACES,
)  # fmt: skip
