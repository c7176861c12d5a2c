"""The two kinds of run-time value: scalars and arrays.

Shapes are run-time values and no part of a type: a new shape never recompiles.
"""

from dataclasses import dataclass
from typing import Literal

Layout = Literal["C", "F", "A"]

FLOATS = ("float32", "float64")
COMPLEXES = ("complex64", "complex128")
INTEGERS = ("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")


@dataclass(frozen=True, slots=True)
class Scalar:
    """One number; `dtype` is NumPy's name of it."""

    dtype: str

    def __str__(self) -> str:
        return self.dtype


@dataclass(frozen=True, slots=True)
class Array:
    """An array in memory; layout "C" and "F" are contiguous, "A" has any strides."""

    dtype: str
    ndim: int
    layout: Layout = "C"
    writable: bool = True

    def __str__(self) -> str:
        readonly = "" if self.writable else ", readonly"
        return f"array({self.dtype}, {self.ndim}d, {self.layout}{readonly})"


Type = Scalar | Array

FLOAT = Scalar("float64")
INT = Scalar("int64")
BOOL = Scalar("bool")


def is_float(type: Type) -> bool:
    """Whether values of this type can carry a derivative."""
    return type.dtype in FLOATS or type.dtype in COMPLEXES
