import math

import numpy as np

from srcad.runtime.support import at, compiled


@compiled
def masked_sum_adjoint(x, w, gradient):
    # loops.py:24
    n = x.shape[0]
    # loops.py:26
    v_kept = np.empty(n, np.bool_)
    for i in range(n):
        # loops.py:28
        v_kept[i] = math.sin(x[i]) > 0.0
    x_bar = np.zeros(n)
    w_bar = 0.0
    # loops.py:26
    for i in range(n - 1, -1, -1):
        v = x[at(i)]
        t = math.sin(v)
        # loops.py:28
        if v_kept[at(i)]:
            # loops.py:29
            t_2 = gradient * w * t
            w_bar += gradient * (t * t)
            t_bar = t_2 + t_2
        else:
            t_bar = 0.0
        # loops.py:27
        x_bar[at(i)] += t_bar * math.cos(v)
    return (x_bar, w_bar)
