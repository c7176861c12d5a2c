"""The operations of the tracer as methods of the builder that the interpreter holds."""

from collections.abc import Callable

from srcad.ir.nodes import Atom
from srcad.tracer import arithmetic, boxes, indexing, methods, scalars, values
from srcad.tracer.values import Arr, Num, Value


class Emit(values.Emit):
    """A builder with the meaning of Python and NumPy."""

    # -- numbers

    def dtype(self, value: Value) -> str:
        return scalars.dtype(self, value)

    def weak(self, value: Value) -> bool:
        return scalars.weak(value)

    def promoted(self, values: tuple[Value, ...]) -> tuple[str, ...]:
        return scalars.promoted(self, values)

    def atom(self, value: Value, dtype: str | None = None) -> Atom:
        return scalars.to_atom(self, value, dtype)

    def truth(self, value: Value) -> bool | Num:
        return scalars.truth(self, value)

    def op(self, name: str, *values: Value) -> Value:
        return arithmetic.operate(self, name, *values)

    def arithmetic(self, name: str, left: Value, right: Value) -> Value:
        return arithmetic.arithmetic(self, name, left, right)

    # -- lists

    def rows(self, content: Value, item: object) -> list[Atom]:
        return list(boxes.rows(self, content, item))  # type: ignore[arg-type]

    # -- arrays

    def getitem(self, array: Arr, key: Value) -> Value:
        return indexing.getitem(self, array, key)

    def setitem(self, array: Arr, key: Value, new: Value) -> None:
        indexing.setitem(self, array, key, new)

    def augmented(self, array: Arr, key: Value, name: str, given: Callable[[], Value]) -> None:
        indexing.augmented(self, array, key, name, given)

    def attribute(self, value: Value, name: str) -> Value:
        return methods.attribute(self, value, name)

    def items(self, array: Arr, count: int) -> list[Value]:
        return methods.items(self, array, count)
