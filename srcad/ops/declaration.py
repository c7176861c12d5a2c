"""What an operation is: one declaration holds all that the other packages need to know of it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from srcad.ops.symbol import Sym

Partial = Callable[..., Sym]
Dtypes = tuple[str, ...]

# Python precedence of emitted text: a text of lower level is put into parentheses by its reader.
COMPARE, ADD, MULTIPLY, UNARY, POWER, ATOM = 4, 10, 11, 12, 13, 20


@dataclass(frozen=True)
class Operation:
    """A pure operation on scalars.

    `typing` maps the operands' dtypes to the dtypes they are converted to and the result's;
    `partials` holds d out / d argument as plain arithmetic in the arguments and `out`, None where
    the operation is flat; `pole`: a partial may be infinite or nan where the value is masked;
    `jumps`: the value jumps, so the reverse sweep must not decide it again.
    """

    name: str
    spellings: tuple[object, ...]
    typing: Callable[[Dtypes], tuple[Dtypes, str]]
    partials: tuple[Partial | None, ...]
    emit: str
    level: int
    numpy: Callable[..., Any]
    samples: tuple[tuple[float, ...], ...]
    pole: bool = False
    jumps: bool = False
    support: str | None = None
    source: str = ""


class Registry:
    """The declared operations, by name and by Python spelling."""

    def __init__(self) -> None:
        self.operations: dict[str, Operation] = {}
        self.spellings: list[tuple[object, Operation]] = []

    def declare(self, operation: Operation) -> None:
        assert operation.name not in self.operations, f"{operation.name} is declared twice"
        for spelling in operation.spellings:
            assert self.find(spelling) is None, f"{spelling} is taken"
            self.spellings.append((spelling, operation))
        self.operations[operation.name] = operation

    def find(self, spelling: object) -> Operation | None:
        for known, operation in self.spellings:
            if known is spelling:
                return operation
        return None


registry = Registry()
