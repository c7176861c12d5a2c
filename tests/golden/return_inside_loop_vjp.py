import numpy as np

from srcad.runtime.support import at, compiled, grow


@compiled
def return_inside_loop_adjoint(x, level, gradient):
    # control.py:15
    n = x.shape[0]
    # control.py:17
    v_kept = np.empty(16, np.bool_)
    go = n > 0
    s = 0.0
    returned = False
    i = 0
    while go:
        room = v_kept.shape[0]
        while go and i < room:
            t = i + 1
            # control.py:18
            v = x[i]
            v_2 = v < 0.0
            v_kept[i] = v_2
            if v_2:
                returned = False
            else:
                # control.py:20
                s += v * level
                # control.py:21
                returned = s > 0.6
            # control.py:18
            if returned:
                go = False
            else:
                go = t < n
            i += 1
        if go:
            v_kept = grow(v_kept, i + 1)
    x_bar = np.zeros(n)
    # control.py:17
    if returned:
        # control.py:22
        t_2 = gradient * s
        s_bar = t_2 + t_2
    else:
        s_bar = gradient
    level_bar = 0.0
    # control.py:17
    for i_2 in range(i - 1, -1, -1):
        v_3 = x[at(i_2)]
        # control.py:18
        if v_kept[at(i_2)]:
            v_bar = 0.0
        else:
            # control.py:20
            level_bar += s_bar * v_3
            v_bar = s_bar * level
        # control.py:18
        x_bar[at(i_2)] += v_bar
    return (x_bar, level_bar)
