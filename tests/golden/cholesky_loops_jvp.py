import math

import numpy as np

from srcad.runtime.support import at, compiled, times


@compiled
def cholesky_loops_tangent(a, tangents):
    tangents_0, = tangents
    # inplace.py:48
    n = a.shape[0]
    n_2 = tangents_0.shape[0]
    n_3 = tangents_0.shape[1]
    a_dot = np.zeros((n_2, n_3))
    for i in range(n_2):
        for j in range(n_3):
            a_dot[i, j] = tangents_0[i, j]
    # inplace.py:50
    c = np.zeros((n, n))
    c_dot = np.zeros((n, n))
    # inplace.py:52
    if not (n <= 0 or n <= a.shape[1]):
        raise IndexError("index is out of bounds for axis 1")
    # inplace.py:51
    for j in range(n):
        # inplace.py:52
        s = a[j, j]
        s_dot = a_dot[j, j]
        # inplace.py:53
        for k in range(j):
            # inplace.py:54
            v = c[j, k]
            t = times(c_dot[j, k], v)
            s -= v * v
            s_dot -= t + t
        # inplace.py:55
        v_2 = math.sqrt(s)
        c_dot[j, j] = times(s_dot, 0.5 / v_2)
        c[j, j] = v_2
        # inplace.py:56
        v_3 = j + 1
        for i in range(v_3, v_3 + (n - v_3)):
            # inplace.py:57
            t_2 = a[at(i), j]
            t_dot = a_dot[at(i), j]
            # inplace.py:58
            for k in range(j):
                # inplace.py:59
                v_4 = c[at(i), k]
                v_5 = c[j, k]
                t_2 -= v_4 * v_5
                t_dot -= times(c_dot[at(i), k], v_5) + times(c_dot[j, k], v_4)
            # inplace.py:60
            v_6 = c[j, j]
            v_dot = c_dot[j, j]
            v_7 = t_2 / v_6
            c_dot[at(i), j] = times(t_dot, 1.0 / v_6) + times(v_dot, -(v_7 / v_6))
            c[at(i), j] = v_7
    return (c, (c_dot,))
