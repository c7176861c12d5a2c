import math

import numpy as np

from srcad.runtime.support import at, compiled


@compiled
def gaussian_grad(x, m):
    # test_golden.py:27
    n = x.shape[0]
    x_bar = np.zeros(n)
    # test_golden.py:28
    for i in range(n - 1, -1, -1):
        v = x[at(i)] - m
        t = -math.exp(-(v * v)) * v
        x_bar[at(i)] += t + t
    return x_bar
