"""Attributes and methods of arrays and numbers."""

from dataclasses import dataclass

import numpy as np

from srcad.tracer import (
    constructors,
    elementwise,
    indexing,
    numpy_calls,
    products,
    reductions,
    scalars,
)
from srcad.tracer.numpy_calls import Handler
from srcad.tracer.values import Arr, Emit, Num, Value


@dataclass(frozen=True, slots=True)
class Method:
    """A method bound to an array: `function(emit, array, ...)`."""

    function: Handler
    array: Arr


def fill(emit: Emit, array: Arr, value: Value) -> Value:
    """x.fill(value)."""
    indexing.setitem(emit, array, Ellipsis, value)
    return None


def item(emit: Emit, array: Arr, *args: Value) -> Value:
    """x.item() or x.item(i, j) as a Python number."""
    found = indexing.getitem(emit, array, args)
    if not isinstance(found, Num):
        emit.fail("`item` takes one integer for each axis", instead="use x[i, j]")
    return Num(found.atom, True)


METHODS: dict[str, Handler] = {
    "all": reductions.every,
    "any": reductions.some,
    "astype": constructors.astype,
    "clip": numpy_calls.clip,
    "copy": constructors.copy,
    "cumprod": reductions.cumprod,
    "cumsum": reductions.cumsum,
    "dot": products.dot,
    "fill": fill,
    "flatten": constructors.flatten,
    "item": item,
    "max": reductions.extreme("maximum"),
    "mean": reductions.mean,
    "min": reductions.extreme("minimum"),
    "prod": reductions.prod,
    "ravel": constructors.ravel,
    "reshape": constructors.reshape,
    "round": numpy_calls.rounded,
    "std": reductions.std,
    "sum": reductions.sum_of,
    "swapaxes": constructors.swapaxes,
    "transpose": constructors.transpose,
    "var": reductions.var,
}


def attribute(emit: Emit, value: Value, name: str) -> Value:
    """An attribute of an array; a method comes bound."""
    if isinstance(value, Num):
        return _of_number(emit, value, name)
    assert isinstance(value, Arr)
    match name:
        case "shape":
            return tuple(scalars.number(extent) for extent in value.shape)
        case "size":
            return scalars.number(constructors.product(emit, value.shape))
        case "ndim":
            return len(value.shape)
        case "T":
            return indexing.transposed(emit, value)
        case "dtype":
            return np.dtype(scalars.dtype(emit, value))
        case "real":
            return value
    if name in METHODS:
        return Method(METHODS[name], value)
    emit.fail(
        f"the array attribute `{name}` is not supported yet",
        instead="write it with loops or supported NumPy functions",
    )


def _of_number(emit: Emit, value: Num, name: str) -> Value:
    if value.weak:
        emit.fail(f"the attribute `{name}` of a number is not supported")
    match name:
        case "shape":
            return ()
        case "ndim":
            return 0
        case "size":
            return 1
        case "dtype":
            return np.dtype(scalars.dtype(emit, value))
        case "T" | "real":
            return value
        case _:
            emit.fail(f"the attribute `{name}` of a number is not supported")


def items(emit: Emit, value: Arr, count: int) -> list[Value]:
    """The items of an array that is unpacked into `count` names; the extent is checked."""
    if not value.shape:
        emit.fail("a 0-d array is unpacked")
    message = f"{count} values are needed to unpack"
    elementwise.same_extent(emit, value.shape[0], scalars.to_atom(emit, count), message)
    return [indexing.getitem(emit, value, k) for k in range(count)]
