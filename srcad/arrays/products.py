"""Products of vectors and matrices; `zero` is 0 in the dtype of the result."""


def vector_vector(x, y, zero):
    """The inner product: (n,), (n,) -> a number."""
    total = zero
    for i in range(x.shape[0]):
        total += x[i] * y[i]
    return total


def matrix_vector(a, x, out, zero):
    """out = a @ x: (m, n), (n,) -> (m,)."""
    for i in range(a.shape[0]):
        total = zero
        for j in range(a.shape[1]):
            total += a[i, j] * x[j]
        out[i] = total


def vector_matrix(x, a, out):
    """out += x @ a: (m,), (m, n) -> (n,)."""
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[j] += x[i] * a[i, j]


def matrix_matrix(a, b, out):
    """out += a @ b: (m, k), (k, n) -> (m, n); for dtypes that BLAS does not have."""
    for i in range(a.shape[0]):
        for k in range(a.shape[1]):
            for j in range(b.shape[1]):
                out[i, j] += a[i, k] * b[k, j]
