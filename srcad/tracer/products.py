"""Products of vectors and matrices: BLAS for float matrices, loops of `srcad.arrays` otherwise."""

from srcad import arrays
from srcad.ir.nodes import const
from srcad.ir.types import FLOATS
from srcad.tracer import arithmetic, constructors, elementwise, indexing, scalars
from srcad.tracer.values import Arr, Emit, Num, Value

MISMATCH = "matmul: the inner dimensions differ"


def dot(emit: Emit, a: Value, b: Value) -> Value:
    """np.dot of numbers, vectors and matrices."""
    if any(
        not isinstance(v, Arr | tuple | list) or isinstance(v, Arr) and not v.shape for v in (a, b)
    ):
        return arithmetic.operate(emit, "mul", a, b)
    return matmul(emit, a, b)


def matmul(emit: Emit, x1: Value, x2: Value) -> Value:
    """`@` of vectors and matrices."""
    left, right = (constructors.need_array(emit, v, "@") for v in (x1, x2))
    ranks = len(left.shape), len(right.shape)
    if not all(rank in (1, 2) for rank in ranks):
        emit.fail(
            f"a product of {ranks[0]}-d and {ranks[1]}-d arrays is not supported yet",
            "only vectors and matrices are",
            "loop over the leading axes",
        )
    elementwise.same_extent(emit, left.shape[-1], right.shape[0], MISMATCH)
    to = scalars.common(emit, (left, right))
    zero = Num(const(0, to))
    match ranks:
        case (1, 1):
            return emit.call(arrays.vector_vector, left, right, zero)
        case (2, 1):
            out = elementwise.new(emit, to, left.shape[:1])
            emit.call(arrays.matrix_vector, left, right, out, zero)
        case (1, 2):
            out = elementwise.new(emit, to, right.shape[1:], const(0, to))
            emit.call(arrays.vector_matrix, left, right, out)
        case _:
            return _matrices(emit, left, right, to)
    return out


def _matrices(emit: Emit, left: Arr, right: Arr, to: str) -> Value:
    shape = left.shape[0], right.shape[1]
    if to not in FLOATS:
        out = elementwise.new(emit, to, shape, const(0, to))
        emit.call(arrays.matrix_matrix, left, right, out)
        return out
    operands = [
        v if scalars.dtype(emit, v) == to else elementwise.copy(emit, v, to) for v in (left, right)
    ]
    out = elementwise.new(emit, to, shape)
    emit.builder.library("matmul", (operands[0].var, operands[1].var), (out.var,))
    return out


def outer(emit: Emit, a: Value, b: Value) -> Value:
    """np.outer: all products of the elements of two arrays."""
    left, right = (constructors.ravel(emit, v) for v in (a, b))
    assert isinstance(left, Arr)
    column = indexing.getitem(emit, left, (slice(None), None))
    return arithmetic.operate(emit, "mul", column, right)
