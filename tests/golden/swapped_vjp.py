import numpy as np

from srcad.runtime.support import at, compiled, maximum


@compiled
def swapped_adjoint(x, c, steps, gradient):
    # names.py:28
    n = x.shape[0]
    # names.py:29
    u = np.empty(n)
    for i in range(n):
        u[i] = x[i]
    v = np.empty(n)
    # names.py:30
    v_2 = maximum(steps, 0)
    # names.py:31
    if not (v_2 <= 0 or 0 < n):
        raise IndexError("index is out of bounds for axis 0")
    v_3 = n - 1
    # names.py:32
    v_4 = maximum(n - 2, 0)
    # names.py:30
    u_kept = np.empty((v_2, n))
    for i in range(steps):
        # names.py:31
        v_5 = u[at(v_3)]
        v[0] = u[0]
        v[at(v_3)] = v_5
        # names.py:32
        for i_2 in range(1, n - 1):
            # names.py:33
            v_6 = u[i_2]
            v[i_2] = v_6 - c * v_6 * (v_6 - u[at(i_2 - 1)])
        # names.py:30
        for i_2 in range(n):
            u_kept[i, i_2] = u[i_2]
        u, v = v, u
    x_bar = np.zeros(n)
    u_bar = np.zeros(n)
    v_bar = np.zeros(n)
    # names.py:35
    for i in range(n - 1, -1, -1):
        t = gradient * u[at(i)]
        u_bar[at(i)] += t + t
    c_bar = 0.0
    # names.py:30
    for i in range(steps - 1, -1, -1):
        # names.py:32
        for i_2 in range(v_4, 0, -1):
            v_7 = u_kept[at(i), at(i_2)]
            v_8 = i_2 - 1
            v_9 = u_kept[at(i), at(v_8)]
            # names.py:33
            g = u_bar[at(i_2)]
            u_bar[at(i_2)] = 0.0
            t_2 = -g
            t_3 = t_2 * (v_7 - v_9)
            t_4 = t_2 * (c * v_7)
            v_bar[at(v_8)] -= t_4
            v_bar[at(i_2)] += g + t_4 + t_3 * c
            c_bar += t_3 * v_7
        # names.py:31
        g_2 = u_bar[at(v_3)]
        u_bar[at(v_3)] = 0.0
        g_3 = u_bar[0]
        u_bar[0] = 0.0
        v_bar[at(v_3)] += g_2
        v_bar[0] += g_3
        u_bar, v_bar = v_bar, u_bar
    # names.py:29
    for i in range(n - 1, -1, -1):
        g_4 = u_bar[at(i)]
        u_bar[at(i)] = 0.0
        x_bar[at(i)] += g_4
    return (x_bar, c_bar)
