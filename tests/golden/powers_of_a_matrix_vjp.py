import math

import numpy as np

from srcad.runtime.support import at, compiled, matmul, matmul_add, maximum, select


@compiled
def powers_of_a_matrix_adjoint(a, x, steps, gradient):
    # memory.py:106
    n = a.shape[0]
    n_2 = a.shape[1]
    n_3 = x.shape[0]
    # memory.py:107
    x_2 = np.empty(n_3)
    for i in range(n_3):
        x_2[i] = x[i]
    # memory.py:108
    m = np.empty((n, n_2))
    for i in range(n):
        for j in range(n_2):
            m[i, j] = a[i, j]
    # memory.py:109
    v = maximum(steps, 0)
    # memory.py:110
    v_2 = n == n_2
    v_3 = n == 1
    step = select(v_3, 0, 1)
    t = v <= 0
    if not (t or n_2 == n_3):
        raise ValueError("matmul: the inner dimensions differ")
    if not (t or (v_2 or v_3)):
        raise ValueError("operands could not be broadcast together")
    # memory.py:111
    if not (t or v_2):
        raise ValueError("matmul: the inner dimensions differ")
    # memory.py:109
    v_kept = np.empty((v, n, n_2))
    v_kept_2 = np.empty((v, n, n_2))
    a_kept = np.empty((v, n))
    m_kept = np.empty((v, n, n_2))
    for i in range(steps):
        # memory.py:110
        a_2 = np.empty(n)
        for i_2 in range(n):
            total = 0.0
            for j in range(n_2):
                v_4 = m[i_2, j]
                v_kept_2[i, i_2, j] = v_4
                v_5 = x_2[j]
                v_kept[i, i_2, j] = v_5
                total += v_4 * v_5
            a_2[i_2] = total
        v_6 = np.empty(n)
        for i_2 in range(n):
            v_6[i_2] = math.tanh(0.3 * a_2[i_2])
        for i_2 in range(n_2):
            x_2[i_2] = v_6[at(i_2 * step)]
        # memory.py:111
        a_3 = np.empty((n, n))
        for i_2 in range(n):
            for j in range(n_2):
                m_kept[i, i_2, j] = m[i_2, j]
        matmul(m, a, a_3)
        for i_2 in range(n):
            for j in range(n):
                m[i_2, j] = 0.1 * a_3[i_2, j]
        # memory.py:109
        for i_2 in range(n):
            a_kept[i, i_2] = a_2[i_2]
    a_bar = np.zeros((n, n_2))
    x_bar = np.zeros(n_3)
    x_bar_2 = np.zeros(n_3)
    m_bar = np.zeros((n, n_2))
    for i in range(n_3):
        x_bar_2[i] += gradient[i]
    for i in range(steps - 1, -1, -1):
        m_kept_2 = m_kept[at(i), :n, :n_2]
        a_bar_2 = np.zeros(n)
        v_bar = np.zeros(n)
        a_bar_3 = np.zeros((n, n))
        # memory.py:111
        for i_2 in range(n - 1, -1, -1):
            for j in range(n - 1, -1, -1):
                g = m_bar[at(i_2), at(j)]
                m_bar[at(i_2), at(j)] = 0.0
                a_bar_3[at(i_2), at(j)] += g * 0.1
        a_4 = a.T
        matmul_add(a_bar_3, a_4, m_bar)
        m_kept_3 = m_kept_2.T
        matmul_add(m_kept_3, a_bar_3, a_bar)
        for i_2 in range(n):
            for j in range(n):
                a_bar_3[i_2, j] = 0.0
        # memory.py:110
        for i_2 in range(n_2 - 1, -1, -1):
            g_2 = x_bar_2[at(i_2)]
            x_bar_2[at(i_2)] = 0.0
            v_bar[at(i_2 * step)] += g_2
        for i_2 in range(n - 1, -1, -1):
            v_7 = math.tanh(0.3 * a_kept[at(i), at(i_2)])
            g_3 = v_bar[at(i_2)]
            v_bar[at(i_2)] = 0.0
            a_bar_2[at(i_2)] += g_3 * (1.0 - v_7 * v_7) * 0.3
        for i_2 in range(n - 1, -1, -1):
            g_4 = a_bar_2[at(i_2)]
            a_bar_2[at(i_2)] = 0.0
            for j in range(n_2 - 1, -1, -1):
                x_bar_2[at(j)] += g_4 * v_kept_2[at(i), at(i_2), at(j)]
                m_bar[at(i_2), at(j)] += g_4 * v_kept[at(i), at(i_2), at(j)]
    # memory.py:108
    for i in range(n - 1, -1, -1):
        for j in range(n_2 - 1, -1, -1):
            g_5 = m_bar[at(i), at(j)]
            m_bar[at(i), at(j)] = 0.0
            a_bar[at(i), at(j)] += g_5
    # memory.py:107
    for i in range(n_3 - 1, -1, -1):
        g_6 = x_bar_2[at(i)]
        x_bar_2[at(i)] = 0.0
        x_bar[at(i)] += g_6
    return (a_bar, x_bar)
