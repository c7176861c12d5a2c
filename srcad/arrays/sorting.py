"""Sorting: the order is found by comparisons, which carry no derivative; the values are picked."""


def sort_into(x, order, work, out):
    """out = sorted x: (n,) -> (n,); `order` gets the places, `work` is scratch, both int64.

    Merge sort from below; equal values keep their order.
    """
    n = x.shape[0]
    for i in range(n):
        order[i] = i
    width = 1
    while width < n:
        for start in range(0, n, 2 * width):
            middle = min(start + width, n)
            end = min(start + 2 * width, n)
            i = start
            j = middle
            for k in range(start, end):
                if i < middle and (j >= end or x[order[i]] <= x[order[j]]):
                    work[k] = order[i]
                    i += 1
                else:
                    work[k] = order[j]
                    j += 1
        for k in range(n):
            order[k] = work[k]
        width = 2 * width
    for k in range(n):
        out[k] = x[order[k]]
