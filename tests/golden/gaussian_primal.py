import math

from srcad.runtime.support import compiled


@compiled
def gaussian(x, m):
    total = 0.0
    # test_golden.py:28
    for i in range(x.shape[0]):
        v = x[i] - m
        total += math.exp(-(v * v))
    return total
