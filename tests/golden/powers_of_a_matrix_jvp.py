import math

import numpy as np

from srcad.runtime.support import at, compiled, matmul, matmul_add, maximum, select


@compiled
def powers_of_a_matrix_tangent(a, x, steps, tangents):
    tangents_0, tangents_1 = tangents
    # memory.py:106
    n = a.shape[0]
    n_2 = a.shape[1]
    n_3 = x.shape[0]
    n_4 = tangents_0.shape[0]
    n_5 = tangents_0.shape[1]
    n_6 = tangents_1.shape[0]
    a_dot = np.zeros((n_4, n_5))
    for i in range(n_4):
        for j in range(n_5):
            a_dot[i, j] = tangents_0[i, j]
    x_dot = np.zeros(n_6)
    for i in range(n_6):
        x_dot[i] = tangents_1[i]
    # memory.py:107
    x_2 = np.empty(n_3)
    x_dot_2 = np.zeros(n_3)
    for i in range(n_3):
        x_dot_2[i] = x_dot[i]
        x_2[i] = x[i]
    # memory.py:108
    m = np.empty((n, n_2))
    m_dot = np.zeros((n, n_2))
    for i in range(n):
        for j in range(n_2):
            m_dot[i, j] = a_dot[i, j]
            m[i, j] = a[i, j]
    # memory.py:110
    v = n == n_2
    v_2 = n == 1
    step = select(v_2, 0, 1)
    t = maximum(steps, 0) <= 0
    if not (t or n_2 == n_3):
        raise ValueError("matmul: the inner dimensions differ")
    if not (t or (v or v_2)):
        raise ValueError("operands could not be broadcast together")
    # memory.py:111
    if not (t or v):
        raise ValueError("matmul: the inner dimensions differ")
    # memory.py:109
    for _ in range(steps):
        # memory.py:110
        a_2 = np.empty(n)
        a_dot_2 = np.zeros(n)
        for i in range(n):
            total = 0.0
            total_dot = 0.0
            for j in range(n_2):
                v_3 = m[i, j]
                v_4 = x_2[j]
                total += v_3 * v_4
                total_dot += m_dot[i, j] * v_4 + x_dot_2[j] * v_3
            a_dot_2[i] = total_dot
            a_2[i] = total
        v_5 = np.empty(n)
        v_dot = np.zeros(n)
        for i in range(n):
            v_6 = math.tanh(0.3 * a_2[i])
            v_dot[i] = a_dot_2[i] * 0.3 * (1.0 - v_6 * v_6)
            v_5[i] = v_6
        for i in range(n_2):
            v_7 = i * step
            x_dot_2[i] = v_dot[at(v_7)]
            x_2[i] = v_5[at(v_7)]
        # memory.py:111
        a_3 = np.empty((n, n))
        a_dot_3 = np.zeros((n, n))
        matmul(m_dot, a, a_dot_3)
        matmul_add(m, a_dot, a_dot_3)
        matmul(m, a, a_3)
        for i in range(n):
            for j in range(n):
                m_dot[i, j] = a_dot_3[i, j] * 0.1
                m[i, j] = 0.1 * a_3[i, j]
    return (x_2, (x_dot_2,))
