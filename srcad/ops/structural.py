"""Operations whose derivative `transform.rules` knows: choice, conversion, guarded products."""

import math

import numpy as np

from srcad.ops.declaration import declare
from srcad.ops.promotion import chosen, first, same

declare(
    "select", (), None, None, None,
    emit="select({0}, {1}, {2})", typing=chosen, numpy=np.where,
    samples=((True, 2.0, 3.0), (False, 2.0, math.nan)),
)  # fmt: skip
declare(
    "times", (), None, None,
    emit="times({0}, {1})", typing=same,
    numpy=lambda g, p: np.where((g == 0) | (p == 0), 0.0, g * p),
    samples=((0.0, math.inf), (0.0, math.nan), (math.inf, 0.0), (2.0, 3.0)),
)  # fmt: skip
declare(
    "cast", (), None,
    emit="{0}", typing=first, numpy=lambda x: x, samples=((1.0,),), jumps=True,
)  # fmt: skip
declare(
    "dim", (), None, None,
    emit="{0}.shape[{1}]", typing=first, numpy=lambda array, axis: np.shape(array)[axis],
    samples=((0.0, 0),),
)  # fmt: skip
