import numpy as np

from srcad.runtime.support import compiled


@compiled
def return_inside_loop_tangent(x, level, tangents):
    tangents_0, tangents_1 = tangents
    # control.py:15
    n = x.shape[0]
    n_2 = tangents_0.shape[0]
    x_dot = np.zeros(n_2)
    for i in range(n_2):
        x_dot[i] = tangents_0[i]
    # control.py:17
    go = n > 0
    result = 0.0
    returned = False
    result_dot = 0.0
    i_2 = 0
    while go:
        # control.py:18
        v = x[i_2]
        v_dot = x_dot[i_2]
        if v < 0.0:
            returned = False
        else:
            # control.py:20
            result += v * level
            # control.py:21
            returned = result > 0.6
            # control.py:20
            result_dot += v_dot * level + tangents_1 * v
        # control.py:18
        if returned:
            go = False
        else:
            go = i_2 + 1 < n
        i_2 += 1
    # control.py:17
    if returned:
        # control.py:22
        t = result_dot * result
        result *= result
        result_dot = t + t
    return (result, (result_dot,))
