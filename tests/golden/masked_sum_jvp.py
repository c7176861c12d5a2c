import math

import numpy as np

from srcad.runtime.support import compiled


@compiled
def masked_sum_tangent(x, w, tangents):
    tangents_0, tangents_1 = tangents
    n = tangents_0.shape[0]
    x_dot = np.zeros(n)
    for i in range(n):
        x_dot[i] = tangents_0[i]
    s = 0.0
    s_dot = 0.0
    # loops.py:26
    for i in range(x.shape[0]):
        # loops.py:27
        v = x[i]
        t = math.sin(v)
        t_2 = x_dot[i] * math.cos(v)
        # loops.py:28
        if t > 0.0:
            # loops.py:29
            v_2 = t * t
            t_3 = t_2 * t
            s += v_2 * w
            s_dot += (t_3 + t_3) * w + tangents_1 * v_2
    return (s, (s_dot,))
