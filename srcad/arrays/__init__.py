"""NumPy functions written as plain Python loops, traced like user code.

Each writes into `out`, which the tracer made before; it is run by nobody. Loops go through memory
in C order. To add a function, write it here and give it a handler in `tracer.numpy_calls`.
"""

from srcad.arrays.products import matrix_matrix, matrix_vector, vector_matrix, vector_vector
from srcad.arrays.scans import running_product, running_sum
from srcad.arrays.sorting import sort_into

__all__ = [
    "matrix_matrix",
    "matrix_vector",
    "running_product",
    "running_sum",
    "sort_into",
    "vector_matrix",
    "vector_vector",
]
