import numpy as np

from srcad.runtime.support import at, compiled, maximum


@compiled
def swapped_tangent(x, c, steps, tangents):
    tangents_0, tangents_1 = tangents
    # names.py:28
    n = x.shape[0]
    n_2 = tangents_0.shape[0]
    x_dot = np.zeros(n_2)
    for i in range(n_2):
        x_dot[i] = tangents_0[i]
    # names.py:29
    u = np.empty(n)
    u_dot = np.zeros(n)
    for i in range(n):
        u_dot[i] = x_dot[i]
        u[i] = x[i]
    v = np.empty(n)
    v_dot = np.zeros(n)
    # names.py:31
    if not (maximum(steps, 0) <= 0 or 0 < n):
        raise IndexError("index is out of bounds for axis 0")
    v_2 = n - 1
    # names.py:30
    for _ in range(steps):
        # names.py:31
        v_3 = u[0]
        v_4 = u[at(v_2)]
        v_dot_2 = u_dot[at(v_2)]
        v_dot[0] = u_dot[0]
        v[0] = v_3
        v_dot[at(v_2)] = v_dot_2
        v[at(v_2)] = v_4
        # names.py:32
        for i in range(1, n - 1):
            # names.py:33
            v_5 = u[i]
            v_dot_3 = u_dot[i]
            v_6 = c * v_5
            t = tangents_1 * v_5
            t_2 = v_dot_3 * c
            v_7 = i - 1
            v_8 = v_5 - u[at(v_7)]
            v_dot[i] = v_dot_3 - ((t + t_2) * v_8 + (v_dot_3 - u_dot[at(v_7)]) * v_6)
            v[i] = v_5 - v_6 * v_8
        u, v, u_dot, v_dot = v, u, v_dot, u_dot
    total = 0.0
    total_dot = 0.0
    # names.py:35
    for i in range(n):
        v_9 = u[i]
        t_3 = u_dot[i] * v_9
        total += v_9 * v_9
        total_dot += t_3 + t_3
    return (total, (total_dot,))
