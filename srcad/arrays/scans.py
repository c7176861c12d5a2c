"""Running sums and products along a line: (n,) -> (n,); `start` has the dtype of the result."""


def running_sum(x, out, start):
    """out[i] = x[0] + ... + x[i]."""
    total = start
    for i in range(x.shape[0]):
        total += x[i]
        out[i] = total


def running_product(x, out, start):
    """out[i] = x[0] * ... * x[i]."""
    total = start
    for i in range(x.shape[0]):
        total *= x[i]
        out[i] = total
