"""Array code: element-wise with broadcasting, reductions, products, shapes, layouts."""

import numpy as np

from corpus.program import Programs

PROGRAMS = Programs()

X = np.array([0.3, -0.4, 0.9, 1.2])
A = np.array([[0.6, -0.3, 0.2], [0.1, 0.8, -0.5]])


@PROGRAMS.add(X, 0.4, argnums=(0, 1), compiled=True)
def gaussian_sum(x, m):
    return np.sum(np.exp(-((x - m) ** 2)))


@PROGRAMS.add(np.array([[1.0], [2.0]]), np.array([0.5, -1.0, 2.0]), argnums=(0, 1))
def broadcast_column_row(a, b):
    return np.exp(-a * b) + a


@PROGRAMS.add(A, np.array([[2.0]]), np.array(0.5), argnums=(0, 1, 2), compiled=True)
def broadcast_size_one(a, b, c):
    return a * b + c * a * a


@PROGRAMS.add(np.array(1.5))
def zero_dimensional(x):
    return x * x + np.sin(x)


@PROGRAMS.add(A)
def reductions(a):
    return np.sum(a) * np.mean(a) + np.prod(a + 1.0) + np.max(a) * np.min(a)


@PROGRAMS.add(A)
def method_forms(a):
    return a.sum() * a.mean() + a.max() - a.min() + a.size * a.T.copy().sum()


@PROGRAMS.add(A)
def sum_along_axes(a):
    return np.sum(a * a, axis=0) + np.sum(a, axis=1)[0] * a.sum(axis=-2)


@PROGRAMS.add(A)
def softmax_rows(a):
    e = np.exp(a - np.max(a, axis=1, keepdims=True))
    return e / np.sum(e, axis=1, keepdims=True)


@PROGRAMS.add(A)
def mean_and_product_along_axis(a):
    return np.mean(a, axis=1) * np.prod(a + 1.0, axis=1) + np.min(a, axis=1)


@PROGRAMS.add(X, X[::-1].copy(), argnums=(0, 1))
def dot_products(x, y):
    return np.dot(x, y) * (x @ x) + x.dot(y)


@PROGRAMS.add(A, X[:3].copy(), X[:2].copy(), argnums=(0, 1, 2), compiled=True)
def matrix_vector(a, x, y):
    return (a @ x) @ y + np.sum(y @ a * x)


@PROGRAMS.add(A, A.T.copy(), argnums=(0, 1), compiled=True)
def matrix_matrix(a, b):
    c = a @ b
    return c @ c + a @ np.ones((3, 2))


@PROGRAMS.add(A)
def transposed_product(a):
    return a.T @ a


@PROGRAMS.add(np.array([0.0, 1.0, 3.0]), np.array([1.0, 2.0, 0.5]), argnums=(0, 1))
def pairwise(x, m):
    d = x[:, None] - x[None, :]
    return np.sum(m[:, None] * m[None, :] * np.exp(-d * d))


@PROGRAMS.add(A)
def reshaped(a):
    return a.reshape(3, 2) @ a + np.ravel(a)[0]


@PROGRAMS.add(A)
def transpose_reshaped(a):
    return a.T.reshape(2, 3) * a


@PROGRAMS.add(np.arange(24.0).reshape(2, 3, 4) / 10.0)
def three_dimensions(a):
    s = 0.0
    for i in range(a.shape[0]):
        s += np.sum(a[i, 1:, :] * a[i, :2, :]) * a[i, 0, 3]
    return s + np.sum(a[:, 1] * a[:, 2])


@PROGRAMS.add(np.arange(16.0).reshape(2, 2, 2, 2) / 10.0)
def four_dimensions(a):
    return a * a[1] + np.sum(a[:, :, 0, 1])


@PROGRAMS.add(lambda: (np.arange(8.0)[::2], np.arange(6.0)[::-1][:4]), argnums=(0, 1))
def strided_arguments(x, y):
    return x * y + np.sum(x)


@PROGRAMS.add(lambda: (np.asfortranarray(A), A[:, ::-1]), argnums=(0, 1))
def fortran_argument(a, b):
    out = np.empty(a.shape)
    for i in range(a.shape[0]):
        for j in range(a.shape[1]):
            out[i, j] = a[i, j] * b[i, j] + a[0, j]
    return out


@PROGRAMS.add(X.astype(np.float32), argnums=(0,))
def float32_array(x):
    return np.sum(x * x * 0.5) + x[1] * x[2]


@PROGRAMS.add(X.astype(np.float32), X, argnums=(0, 1))
def mixed_precision(x, y):
    return x * y + x


@PROGRAMS.add(X)
def constructors(x):
    a = np.zeros(4) + np.ones_like(x) * x[0]
    a += np.full(4, x[2])
    return a * np.array([1.0, x[3], 2.0, x[0]])


@PROGRAMS.add(0.3, 0.8, argnums=(0, 1))
def literal_matrix(c, s):
    r = np.array([[c, -s], [s, c]])
    return r @ r


@PROGRAMS.add(X)
def more_constructors(x):
    return np.asarray(x) * np.arange(4) + np.full_like(x, x[1])


@PROGRAMS.add((A, np.array([0.1, -0.2])), np.array([1.0, 2.0, -1.0]), argnums=(0, 1))
def tuple_of_arrays(layer, x):
    w, b = layer
    return np.tanh(w @ x + b)


@PROGRAMS.add(X)
def array_where(x):
    return np.sum(np.where(x > 0.0, np.sqrt(np.abs(x)), x * x))


@PROGRAMS.add(X)
def array_clip(x):
    return np.clip(x * 2.0, -0.5, 1.0) * x


@PROGRAMS.add(X)
def array_extremes(x):
    return np.maximum(x, 0.5) * np.minimum(x, x[1] + 1.0) + np.abs(x)


@PROGRAMS.add(X)
def array_functions(x):
    return np.sin(x) * np.tanh(x) + np.expm1(x) / (1.0 + x**2) + np.arctan(x) ** 3


@PROGRAMS.add(X, np.array([True, False, True, True]))
def bool_array(x, use):
    return np.sum(x * x * use)


WEIGHTS = np.array([0.5, 1.0, -2.0, 0.25])


@PROGRAMS.add(X, expect=(WEIGHTS,), compiled=True)
def captured_array(x):
    return np.sum(x * WEIGHTS)


@PROGRAMS.add(np.zeros(0), 2.0, argnums=(0, 1))
def empty_array(x, y):
    return np.sum(x * y) + y * y
