import math

import numpy as np

from srcad.runtime.support import at, compiled, grow, times


@compiled
def cholesky_loops_adjoint(a, gradient):
    # inplace.py:48
    n = a.shape[0]
    n_2 = a.shape[1]
    # inplace.py:50
    c = np.zeros((n, n))
    # inplace.py:52
    if not (n <= 0 or n <= n_2):
        raise IndexError("index is out of bounds for axis 1")
    # inplace.py:51
    s_kept = np.empty(n)
    v_kept = np.empty(16)
    base_kept = np.empty(n, np.int64)
    count = 0
    for j in range(n):
        # inplace.py:52
        s = a[j, j]
        # inplace.py:53
        for k in range(j):
            # inplace.py:54
            v = c[j, k]
            s -= v * v
        # inplace.py:53
        s_kept[j] = s
        # inplace.py:55
        c[j, j] = math.sqrt(s)
        # inplace.py:56
        v_2 = j + 1
        v_3 = n - v_2
        base_kept[j] = count
        t = count + v_3
        v_kept = grow(v_kept, t)
        for i in range(v_3):
            i_2 = v_2 + i
            # inplace.py:57
            t_2 = a[at(i_2), j]
            # inplace.py:58
            for k in range(j):
                # inplace.py:59
                t_2 -= c[at(i_2), k] * c[j, k]
            # inplace.py:58
            v_kept[at(count + i)] = t_2
            # inplace.py:60
            c[at(i_2), j] = t_2 / c[j, j]
        count = t
    a_bar = np.zeros((n, n_2))
    c_bar = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            c_bar[i, j] += gradient[i, j]
    # inplace.py:51
    for j in range(n - 1, -1, -1):
        v_4 = j + 1
        v_5 = n - v_4
        base = base_kept[at(j)]
        # inplace.py:56
        t_3 = v_5 - 1
        for i in range(t_3, t_3 - v_5, -1):
            i_3 = v_4 + i
            v_6 = c[at(j), at(j)]
            # inplace.py:60
            g = c_bar[at(i_3), at(j)]
            c_bar[at(i_3), at(j)] = 0.0
            t_4 = times(g, 1.0 / v_6)
            c_bar[at(j), at(j)] += times(g, -(v_kept[at(base + i)] / v_6 / v_6))
            # inplace.py:58
            for k in range(j - 1, -1, -1):
                # inplace.py:59
                t_5 = -t_4
                c_bar[at(j), at(k)] += times(t_5, c[at(i_3), at(k)])
                c_bar[at(i_3), at(k)] += times(t_5, c[at(j), at(k)])
            # inplace.py:57
            a_bar[at(i_3), at(j)] += t_4
        # inplace.py:55
        g_2 = c_bar[at(j), at(j)]
        c_bar[at(j), at(j)] = 0.0
        t_6 = times(g_2, 0.5 / math.sqrt(s_kept[at(j)]))
        # inplace.py:53
        for k in range(j - 1, -1, -1):
            # inplace.py:54
            t_7 = times(-t_6, c[at(j), at(k)])
            c_bar[at(j), at(k)] += t_7 + t_7
        # inplace.py:52
        a_bar[at(j), at(j)] += t_6
    return (a_bar,)
