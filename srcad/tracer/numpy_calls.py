"""What calls of NumPy, `math` and built-ins mean: a table from callables to handlers.

Element-wise functions come from the declarations of `ops`; what is here needs arrays, keywords or
several operations. A handler is `f(emit, *args, **kwargs)`, with NumPy's names of the parameters.
"""

import builtins
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from srcad import ops
from srcad.ir.types import FLOATS
from srcad.tracer import arithmetic, constructors, elementwise, products, reductions, scalars
from srcad.tracer.values import Arr, Emit, Num, Value

Handler = Callable[..., Value]


def lookup(function: object) -> Handler | None:
    """What a callable means, None where it is not known."""
    for known, meaning in TABLE:
        if known is function:
            return _folding(function, meaning) if function in STATIC else meaning
    operation = ops.lookup(function)
    if operation is not None:
        return _folding(function, _elementwise(operation, function))
    if isinstance(function, type) and issubclass(function, np.generic):
        return _folding(function, _cast(np.dtype(function).name, weak=False))
    return None


def _folding(function: Any, meaning: Handler) -> Handler:
    """Calls the function itself where all arguments are known."""

    def call(emit: Emit, *args: Value, **kwargs: Value) -> Value:
        values = [*args, *kwargs.values()]
        if all(isinstance(v, bool | int | float | str | np.generic | np.ndarray) for v in values):
            with np.errstate(all="ignore"):
                try:
                    return function(*args, **kwargs)
                except (ArithmeticError, ValueError, TypeError) as error:
                    emit.fail(f"this call fails: {error}")
        return meaning(emit, *args, **kwargs)

    return call


def _elementwise(operation: ops.Operation, function: object) -> Handler:
    """A function of `math`, in float64 with a Python number as its result, or of NumPy."""
    name, python = operation.name, getattr(function, "__module__", "") == "math"
    keeps = function is builtins.abs

    def call(emit: Emit, *args: Value, **kwargs: Value) -> Value:
        label = f"{'math' if python else 'np'}.{getattr(function, '__name__', name)}"
        if kwargs:
            emit.fail(f"the argument `{next(iter(kwargs))}` of `{label}` is not supported yet")
        if len(args) != operation.arity:
            emit.fail(f"`{label}` takes {operation.arity} arguments")
        values = [_literal(emit, a) for a in args]
        if not python:
            return _ufunc(emit, name, values, None if keeps else False)
        if any(isinstance(v, Arr) and v.shape for v in values):
            emit.fail(f"`{label}` takes numbers, not arrays", instead="use NumPy's function")
        floats = [scalars.convert(emit, v, "float64", weak=True) for v in values]
        return arithmetic.operate(emit, name, *floats)

    return call


def _ufunc(emit: Emit, name: str, values: Sequence[Value], weakly: bool | None) -> Value:
    if name in ("pow", "mod"):
        found = arithmetic.arithmetic(emit, name, values[0], values[1])
    else:
        found = arithmetic.operate(emit, name, *values, weakly=weakly)
    return Num(found.atom) if isinstance(found, Num) and weakly is False else found


def _literal(emit: Emit, value: Value) -> Value:
    """A nested literal as an array."""
    return constructors.array(emit, value) if isinstance(value, tuple | list) else value


# -- conversions


def _cast(dtype: str, *, weak: bool) -> Handler:
    def convert(emit: Emit, x: Value = 0) -> Value:
        if dtype not in scalars.DTYPES:
            emit.fail(f"numbers of {dtype} are not supported yet")
        if isinstance(x, Arr) and x.shape and not weak:
            return elementwise.copy(emit, x, dtype)
        if not isinstance(x, Num | Arr | bool | int | float | np.generic):
            emit.fail(f"a {type(x).__name__} cannot be converted to a number here")
        if dtype == "bool":
            known = scalars.truth(emit, x)
            return known if isinstance(known, bool) else Num(known.atom, weak)
        return scalars.convert(emit, x, dtype, weak=weak)

    return convert


def rounded(emit: Emit, a: Value, decimals: Value = 0) -> Value:
    """np.round: halves to even; to a number of decimals as NumPy has it, by scaling."""
    if type(decimals) is not int:
        emit.fail("the number of decimals must be a known integer")

    def one(x: Value) -> Value:
        if scalars.dtype(emit, x) not in FLOATS:
            if decimals < 0:
                emit.fail("integers are rounded to negative decimals")
            return x
        if decimals == 0:
            return arithmetic.operate(emit, "rint", x)
        scale = float(10 ** abs(decimals))
        names = ("mul", "div") if decimals > 0 else ("div", "mul")
        whole = arithmetic.operate(emit, "rint", arithmetic.operate(emit, names[0], x, scale))
        return arithmetic.operate(emit, names[1], whole, scale)

    return arithmetic.each(emit, one, _literal(emit, a))


def python_round(emit: Emit, number: Value, ndigits: Value = None) -> Value:
    """The built-in: a whole number without digits given."""
    found = rounded(emit, number, 0 if ndigits is None else ndigits)
    if ndigits is None and isinstance(found, Num):
        return scalars.convert(emit, found, "int64", weak=True)
    return found


def whole(name: str) -> Handler:
    """math.floor and its like, which give integers."""

    def call(emit: Emit, x: Value) -> Value:
        found = arithmetic.operate(emit, name, scalars.convert(emit, x, "float64", weak=True))
        return scalars.convert(emit, found, "int64", weak=True)

    return call


# -- several operations


def divided(emit: Emit, x1: Value, x2: Value) -> Value:
    """divmod."""
    quotient = arithmetic.arithmetic(emit, "floordiv", x1, x2)
    return quotient, arithmetic.arithmetic(emit, "mod", x1, x2)


def power(emit: Emit, x1: Value, x2: Value) -> Value:
    """pow; np.power gives NumPy's numbers."""
    return arithmetic.power(emit, _literal(emit, x1), _literal(emit, x2))


def numpy_binary(name: str) -> Handler:
    """np.power and np.mod."""

    def call(emit: Emit, x1: Value, x2: Value) -> Value:
        return _ufunc(emit, name, [_literal(emit, x1), _literal(emit, x2)], False)

    return call


def where(emit: Emit, condition: Value, *choices: Value) -> Value:
    """np.where with three arguments."""
    if len(choices) != 2:
        emit.fail(
            "np.where with one argument is not supported yet",
            "its shape depends on the values",
            "loop over the elements with an `if`",
        )
    return elementwise.where(emit, *(_literal(emit, v) for v in (condition, *choices)))


def clip(
    emit: Emit,
    a: Value,
    a_min: Value = None,
    a_max: Value = None,
    *,
    min: Value = None,
    max: Value = None,
) -> Value:
    """np.clip; its derivative is 1 at the bounds."""
    low = min if a_min is None else a_min
    high = max if a_max is None else a_max
    found = _literal(emit, a)
    for bound, comparison in ((low, "lt"), (high, "gt")):
        if bound is not None:
            found = _limited(emit, found, _literal(emit, bound), comparison)
    return Num(found.atom) if isinstance(found, Num) else found


def _limited(emit: Emit, value: Value, bound: Value, comparison: str) -> Value:
    def one(x: Value, limit: Value) -> Value:
        to = scalars.common(emit, (x, limit))
        pair = [scalars.to_atom(emit, v, to) for v in (x, limit)]
        beyond = ops.apply(emit.builder, comparison, *pair)
        return Num(ops.apply(emit.builder, "select", beyond, pair[1], pair[0]))

    return arithmetic.each(emit, one, value, bound)


def largest(name: str) -> Handler:
    """The built-ins max and min: of several values, or of the items of one."""

    def call(emit: Emit, *args: Value) -> Value:
        items: Sequence[Value] = args
        if len(args) == 1:
            (only,) = args
            if isinstance(only, Arr):
                if len(only.shape) != 1:
                    emit.fail("the built-in takes arrays of one dimension", instead="use x.max()")
                return reductions.extreme(name)(emit, only)
            if not isinstance(only, tuple | list):
                emit.fail("max and min take several values, or one array or tuple")
            items = only
        if not items:
            emit.fail("max or min of nothing")
        if scalars.static(*items):
            return (max if name == "maximum" else min)(items)  # type: ignore[type-var]
        if any(isinstance(v, Arr) and v.shape for v in items):
            emit.fail(
                "max and min compare whole arrays",
                "the truth value of an array is ambiguous",
                "use np.maximum or np.minimum",
            )
        result = items[0]
        for other in items[1:]:
            result = arithmetic.operate(emit, name, result, other)
        return result

    return call


def built_in_sum(emit: Emit, iterable: Value, start: Value = 0) -> Value:
    """sum of a tuple or of the items of an array."""
    if isinstance(iterable, Arr):
        total = reductions.sum_of(emit, iterable, 0)
        if scalars.static(start) and start == 0:
            return total
        return arithmetic.arithmetic(emit, "add", start, total)
    if not isinstance(iterable, tuple | list):
        emit.fail("the built-in `sum` takes an array or a tuple here")
    result = start
    for item in iterable:
        if scalars.static(result) and result == 0 and type(result) is int:
            result = item
        else:
            result = arithmetic.arithmetic(emit, "add", result, item)
    return result


def any_or_all(name: str) -> Handler:
    """The built-ins any and all: of the items of an array or tuple."""

    def call(emit: Emit, iterable: Value) -> Value:
        if isinstance(iterable, Arr):
            reduce = reductions.some if name == "or" else reductions.every
            return reduce(emit, iterable)
        if not isinstance(iterable, tuple | list):
            emit.fail("any and all take arrays, tuples and lists here")
        result: Value = name == "and"
        for item in iterable:
            one = scalars.truth(emit, item)
            if isinstance(one, bool) and isinstance(result, bool):
                result = result and one if name == "and" else result or one
            else:
                both = (Num(scalars.to_atom(emit, v)) for v in (result, one))
                result = arithmetic.operate(emit, name, *both)
        return result

    return call


def length(emit: Emit, obj: Value) -> Value:
    """len."""
    if isinstance(obj, Arr) and obj.shape:
        return scalars.number(obj.shape[0])
    if isinstance(obj, Arr | Num) or not hasattr(obj, "__len__"):
        emit.fail("`len` is asked of a number")
    return len(obj)


def shape(emit: Emit, a: Value) -> Value:
    """np.shape."""
    return tuple(map(scalars.number, a.shape)) if isinstance(a, Arr) else np.shape(_plain(emit, a))


def size(emit: Emit, a: Value) -> Value:
    """np.size."""
    if isinstance(a, Arr):
        return scalars.number(constructors.product(emit, a.shape))
    return np.size(_plain(emit, a))


def ndim(emit: Emit, a: Value) -> Value:
    """np.ndim."""
    return len(a.shape) if isinstance(a, Arr) else np.ndim(_plain(emit, a))


def _plain(emit: Emit, value: Value) -> Any:
    """A number or literal with 0 in place of run-time numbers: it has the same shape."""
    if isinstance(value, tuple | list):
        return [_plain(emit, item) for item in value]
    if isinstance(value, Arr):
        emit.fail("the shape of a literal of arrays", instead="make it an array: np.array([...])")
    return 0 if isinstance(value, Num) else value


STATIC = (
    bool, divmod, float, int, math.ceil, math.floor, math.trunc, np.around, np.mod, np.power,
    np.round, pow, round,
)  # fmt: skip

TABLE: tuple[tuple[object, Handler], ...] = (
    (all, any_or_all("and")),
    (any, any_or_all("or")),
    (bool, _cast("bool", weak=True)),
    (divmod, divided),
    (float, _cast("float64", weak=True)),
    (int, _cast("int64", weak=True)),
    (len, length),
    (max, largest("maximum")),
    (min, largest("minimum")),
    (pow, power),
    (round, python_round),
    (sum, built_in_sum),
    (math.ceil, whole("ceil")),
    (math.floor, whole("floor")),
    (math.trunc, whole("trunc")),
    (np.all, reductions.every),
    (np.any, reductions.some),
    (np.amax, reductions.extreme("maximum")),
    (np.amin, reductions.extreme("minimum")),
    (np.arange, constructors.arange),
    (np.around, rounded),
    (np.array, constructors.array),
    (np.asarray, constructors.asarray),
    (np.ascontiguousarray, constructors.ascontiguousarray),
    (np.clip, clip),
    (np.copy, constructors.copy),
    (np.count_nonzero, reductions.count_nonzero),
    (np.cumprod, reductions.cumprod),
    (np.cumsum, reductions.cumsum),
    (np.diff, reductions.diff),
    (np.divmod, divided),
    (np.dot, products.dot),
    (np.empty, constructors.empty),
    (np.empty_like, constructors.empty_like),
    (np.expand_dims, constructors.expand_dims),
    (np.eye, constructors.eye),
    (np.full, constructors.full),
    (np.full_like, constructors.full_like),
    (np.identity, constructors.identity),
    (np.linspace, constructors.linspace),
    (np.matmul, products.matmul),
    (np.max, reductions.extreme("maximum")),
    (np.mean, reductions.mean),
    (np.min, reductions.extreme("minimum")),
    (np.mod, numpy_binary("mod")),
    (np.ndim, ndim),
    (np.ones, constructors.ones),
    (np.ones_like, constructors.ones_like),
    (np.outer, products.outer),
    (np.power, numpy_binary("pow")),
    (np.prod, reductions.prod),
    (np.ravel, constructors.ravel),
    (np.reshape, constructors.reshape),
    (np.round, rounded),
    (np.shape, shape),
    (np.size, size),
    (np.std, reductions.std),
    (np.sum, reductions.sum_of),
    (np.swapaxes, constructors.swapaxes),
    (np.transpose, constructors.transpose),
    (np.var, reductions.var),
    (np.where, where),
    (np.zeros, constructors.zeros),
    (np.zeros_like, constructors.zeros_like),
)
