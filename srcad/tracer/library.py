"""What calls of NumPy, `math` and built-ins mean while tracing."""

import builtins
import math
from collections.abc import Callable
from typing import Any

import numpy as np

from srcad import ops
from srcad.ir.nodes import Atom, For, const
from srcad.ir.types import INT, Scalar
from srcad.tracer.emit import Emit
from srcad.tracer.values import Arr, Num, Value

Handler = Callable[..., Value]


def handler(function: object) -> Handler | None:
    """What a callable means: f(emit, *args, **kwargs)."""
    for known, meaning in TABLE:
        if known is function:
            return meaning
    operation = ops.lookup(function)
    if operation is None:
        return None
    name = operation.name
    python = getattr(function, "__module__", "") == "math" or function in (builtins.abs,)

    def call(emit: Emit, *args: Value) -> Value:
        if not any(isinstance(a, Num | Arr) for a in args):
            return function(*args)  # type: ignore[operator]
        if len(args) != len(operation.partials):
            emit.fail(f"`{name}` takes {len(operation.partials)} arguments here")
        return emit.op(name, *args, weak=None if python else False)

    return call


def attribute(emit: Emit, array: Arr, name: str) -> Value:
    """An attribute of an array; methods come as functions of the remaining arguments."""
    match name:
        case "shape":
            return tuple(extent(n) for n in array.shape)
        case "size":
            return size(emit, array)
        case "ndim":
            return len(array.shape)
        case "T":
            return emit.transposed(array)
        case "dtype":
            return np.dtype(emit.dtype(array))
        case "sum" | "mean" | "copy" | "max" | "min" | "dot":
            function = METHODS[name]
            return Method(function, array)
        case _:
            emit.fail(f"the array attribute `{name}` is not supported yet")


class Method:
    """A method bound to an array."""

    def __init__(self, function: Handler, array: Arr) -> None:
        self.function, self.array = function, array


def extent(atom: Atom) -> Value:
    """An extent as a Python number where it is known."""
    return int(atom.value.real) if not hasattr(atom, "id") else Num(atom, True)


def size(emit: Emit, array: Arr) -> Value:
    total: Value = 1
    for n in array.shape:
        total = emit.arithmetic("mul", total, Num(n, True)) if total != 1 else extent(n)
    return total


def _shape(emit: Emit, shape: Value) -> tuple[Atom, ...]:
    extents = shape if isinstance(shape, tuple | list) else (shape,)
    return tuple(emit.index(n) for n in extents)


def _named(emit: Emit, dtype: Value) -> str:
    if dtype is None:
        return "float64"
    return np.dtype(dtype).name  # type: ignore[call-overload, no-any-return]


def _filled(fill: float | None) -> Handler:
    def make(emit: Emit, shape: Value, dtype: Value = None) -> Value:
        return emit.new(_named(emit, dtype), _shape(emit, shape), fill)

    return make


def _like(fill: float | None) -> Handler:
    def make(emit: Emit, array: Value) -> Value:
        if not isinstance(array, Arr):
            emit.fail("this function takes an array")
        return emit.new(emit.dtype(array), array.shape, fill)

    return make


def _full(emit: Emit, shape: Value, value: Value, dtype: Value = None) -> Value:
    made = emit.new(
        emit.dtype(value) if dtype is None else _named(emit, dtype), _shape(emit, shape)
    )
    emit.setitem(made, Ellipsis, value)
    return made


def _need_array(emit: Emit, array: Value) -> Arr:
    if not isinstance(array, Arr):
        emit.fail("this function takes an array")
    return array


def fold(emit: Emit, array: Arr, name: str, start: Value, first: bool = False) -> Value:
    """A reduction over all elements in memory order, starting from `start`."""
    builder = emit.builder
    dtype = emit.dtype(start)
    kind = Scalar(dtype)

    def nest(index: tuple[Atom, ...], carried: Atom) -> Atom:
        axis = len(index)
        if axis == len(array.shape):
            element = emit.load(array, index)
            return emit.atom(emit.op(name, Num(carried), element), dtype)
        at, inner, out = builder.var(INT, "ijkl"[axis % 4]), builder.var(kind), builder.var(kind)
        emit.indices[at] = array.shape[axis]
        with builder.block() as body:
            result = nest((*index, at), inner)
        loop = For(
            at, array.shape[axis], ((inner, carried),), body.finish(result), (out,), builder.loc
        )
        builder.add(loop)
        return out

    return Num(nest((), emit.atom(start, dtype)))


def _sum(emit: Emit, array: Value) -> Value:
    given = _need_array(emit, array)
    dtype = emit.dtype(given)
    if dtype == "float32":
        return Num(emit.atom(fold(emit, given, "add", Num(const(0.0, "float64"))), dtype))
    start = "int64" if dtype == "bool" else dtype
    return fold(emit, given, "add", Num(const(0, start)))


def _mean(emit: Emit, array: Value) -> Value:
    given = _need_array(emit, array)
    return emit.op("div", _sum(emit, given), Num(emit.atom(size(emit, given)), True))


def _prod(emit: Emit, array: Value) -> Value:
    given = _need_array(emit, array)
    return fold(emit, given, "mul", Num(const(1, emit.dtype(given))))


def _extreme(name: str) -> Handler:
    def reduce(emit: Emit, array: Value, *others: Value) -> Value:
        if others:
            result = array
            for other in others:
                result = emit.op(name, result, other)
            return result
        given = _need_array(emit, array)
        dtype = emit.dtype(given)
        if not dtype.startswith("float"):
            emit.fail("max and min of integer arrays are not supported yet")
        some = Num(emit.atom(size(emit, given)))
        full = emit.op("gt", some, 0)
        emit.builder.check(emit.atom(full), "ValueError", "reduction of an empty array")
        start = Num(const(-math.inf if name == "maximum" else math.inf, dtype))
        return fold(emit, given, name, start)

    return reduce


def _dot(emit: Emit, a: Value, b: Value) -> Value:
    left, right = _need_array(emit, a), _need_array(emit, b)
    ranks = len(left.shape), len(right.shape)
    emit.same_extent(left.shape[-1], right.shape[0])
    if ranks == (1, 1):
        return _sum(emit, emit.elementwise("mul", (left, right)))
    if ranks == (2, 2) and emit.dtype(left) == emit.dtype(right) == "float64":
        out = emit.new("float64", (left.shape[0], right.shape[1]))
        emit.builder.library("matmul", (left.var, right.var), (out.var,))
        return out
    if ranks not in ((2, 1), (1, 2)):
        emit.fail("this product is not supported yet", instead="use 1-d and 2-d float64 operands")
    matrix, vector = (left, right) if ranks == (2, 1) else (emit.transposed(right), left)
    out = emit.new(np.result_type(emit.dtype(left), emit.dtype(right)).name, matrix.shape[:1])

    def row(i: Atom) -> None:
        line = emit.getitem(matrix, (Num(i), slice(None)))
        emit.builder.store(out.var, (i,), emit.atom(_dot(emit, line, vector), emit.dtype(out)))

    emit.loop(matrix.shape[0], row)
    return out


def _length(emit: Emit, value: Value) -> Value:
    return extent(value.shape[0]) if isinstance(value, Arr) else len(value)  # type: ignore[arg-type]


def _cast(dtype: str, weak: bool) -> Handler:
    def convert(emit: Emit, value: Value = 0) -> Value:
        if isinstance(value, Num):
            return Num(emit.atom(value, dtype), weak)
        python: Any = {"int64": int, "float64": float, "bool": bool}[dtype]
        return python(value)

    return convert


def _where(emit: Emit, cond: Value, a: Value, b: Value) -> Value:
    if any(isinstance(v, Arr) for v in (cond, a, b)):
        emit.fail(
            "np.where on arrays is not supported yet",
            "both arms would be computed, and one may be nan",
            "loop over the elements with an `if`",
        )
    to = np.result_type(*emit.promoted((a, b))).name
    args = (emit.atom(cond, "bool"), emit.atom(a, to), emit.atom(b, to))
    return Num(ops.apply(emit.builder, "select", *args))


def _array(emit: Emit, value: Value, dtype: Value = None) -> Value:
    """np.array of a literal, nested or not, or of an array."""
    if isinstance(value, Arr):
        return emit.copy(value)
    items, shape = _leaves(emit, value)
    to = np.result_type(*map(emit.dtype, items)).name if dtype is None else _named(emit, dtype)
    out = emit.new(to, tuple(const(n) for n in shape))
    for place, item in zip(np.ndindex(*shape), items, strict=True):
        at = tuple(const(k) for k in place)
        emit.builder.store(out.var, at, emit.atom(item, to))
    return out


def _leaves(emit: Emit, value: Value) -> tuple[list[Value], tuple[int, ...]]:
    if not isinstance(value, tuple | list):
        return [value], ()
    parts = [_leaves(emit, item) for item in value]
    if not parts or any(shape != parts[0][1] for _, shape in parts):
        emit.fail("this array literal is empty or ragged")
    return [leaf for items, _ in parts for leaf in items], (len(parts), *parts[0][1])


METHODS: dict[str, Handler] = {
    "sum": _sum,
    "mean": _mean,
    "copy": lambda emit, array: emit.copy(array),
    "max": _extreme("maximum"),
    "min": _extreme("minimum"),
    "dot": _dot,
}

TABLE: tuple[tuple[object, Handler], ...] = (
    (np.zeros, _filled(0.0)),
    (np.ones, _filled(1.0)),
    (np.empty, _filled(None)),
    (np.full, _full),
    (np.zeros_like, _like(0.0)),
    (np.ones_like, _like(1.0)),
    (np.empty_like, _like(None)),
    (np.copy, METHODS["copy"]),
    (np.array, _array),
    (np.sum, _sum),
    (np.mod, lambda emit, x, y: emit.arithmetic("mod", x, y)),
    (pow, lambda emit, x, y: emit.arithmetic("pow", x, y)),
    (np.power, lambda emit, x, y: emit.arithmetic("pow", x, y)),
    (np.mean, _mean),
    (np.prod, _prod),
    (np.max, _extreme("maximum")),
    (np.min, _extreme("minimum")),
    (max, _extreme("maximum")),
    (min, _extreme("minimum")),
    (np.dot, _dot),
    (np.matmul, _dot),
    (len, _length),
    (int, _cast("int64", True)),
    (float, _cast("float64", True)),
    (bool, _cast("bool", True)),
    (np.where, _where),
)
