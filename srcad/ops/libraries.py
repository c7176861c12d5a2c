"""The operations of `Library` statements: whole arrays in memory to arrays allocated before."""

from dataclasses import dataclass


@dataclass(frozen=True)
class LibraryOperation:
    """`reads` and `writes` name the arrays in the order of the statement."""

    name: str
    reads: tuple[str, ...]
    writes: tuple[str, ...]
    meaning: str


LIBRARY = {
    op.name: op
    for op in (
        LibraryOperation("matmul", ("a", "b"), ("out",), "out = a @ b: (m, k), (k, n) -> (m, n)"),
        LibraryOperation("matmul_add", ("a", "b"), ("out",), "out += a @ b"),
    )
}
