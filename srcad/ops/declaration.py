"""What an operation is: one declaration holds all that the other packages need to know of it.

A declaration is made by `declare`, which refuses a name or a spelling that is taken, and one
without samples for the rule tester. The registry is the package's only state.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from srcad.ir.types import INT, Array, Scalar, Type
from srcad.ops.symbol import Sym

Partial = Callable[..., Sym]
Dtypes = tuple[str, ...]
Typing = Callable[[Dtypes], tuple[Dtypes, str]]
Samples = tuple[tuple[float, ...], ...]

# Python precedence of emitted text: a text of lower level is put into parentheses by its reader.
COMPARE, BITOR, BITXOR, BITAND, SHIFT, ADD, MULTIPLY = 4, 5, 6, 7, 8, 10, 11
UNARY, POWER, ATOM = 12, 13, 20

# No Python callable means these; passes and codegen know them by name.
UNTYPED = ("cast",)


@dataclass(frozen=True)
class Operation:
    """A pure operation on scalars.

    `typing` maps the operands' dtypes to the dtypes they are converted to and the result's;
    `partials` holds d out / d argument as plain arithmetic in the arguments and `out`, None where
    the operation is flat; `pole`: a partial may be infinite or nan where the value is masked,
    unless `tame` of the constant arguments (None for the others) holds; `unbounded`: the value is
    infinite or nan wherever a partial is (1/x, but not sqrt); `jumps`: the value jumps,
    so the reverse sweep must not decide it again; `numpy` is the reference and folds constants;
    `support` is what generated code imports, `vector` the name of the function in libmvec.
    """

    name: str
    spellings: tuple[object, ...]
    typing: Typing
    partials: tuple[Partial | None, ...]
    emit: str
    level: int
    numpy: Callable[..., Any]
    samples: Samples
    pole: bool = False
    unbounded: bool = False
    jumps: bool = False
    tame: Callable[..., bool] | None = None
    support: str | None = None
    vector: str | None = None
    source: str = ""

    @property
    def arity(self) -> int:
        return len(self.partials)


class Registry:
    """The declared operations, by name and by Python spelling."""

    def __init__(self) -> None:
        self.operations: dict[str, Operation] = {}
        self.spellings: dict[int, tuple[object, Operation]] = {}

    def add(self, operation: Operation) -> None:
        name = operation.name
        assert name not in self.operations, f"{name} is declared twice"
        assert operation.samples, f"{name} has no samples"
        for sample in operation.samples:
            assert len(sample) == operation.arity, f"{name} takes {operation.arity} arguments"
        for spelling in operation.spellings:
            assert id(spelling) not in self.spellings, f"{spelling} is taken"
            self.spellings[id(spelling)] = spelling, operation
        self.operations[name] = operation


registry = Registry()


def declare(
    name: str,
    spellings: tuple[object, ...],
    *partials: Partial | None,
    typing: Typing,
    numpy: Callable[..., Any],
    samples: Samples,
    emit: str = "",
    level: int = ATOM,
    pole: bool = False,
    unbounded: bool = False,
    jumps: bool = False,
    tame: Callable[..., bool] | None = None,
    vector: str | None = None,
    source: str = "",
) -> Operation:
    """Adds an operation to the registry and returns it.

    `emit` is the call of a function of `math` by default. A call of a bare name in it is what
    generated code imports from `srcad.runtime.support`.
    """
    text = emit or f"math.{name}({', '.join(f'{{{k}}}' for k in range(len(partials)))})"
    head = text.partition("(")[0]
    support = head if head.isidentifier() and head not in BUILT_IN else None
    operation = Operation(
        name, spellings, typing, partials, text, level, numpy, samples,
        pole, unbounded, jumps, tame, support, vector, source,
    )  # fmt: skip
    registry.add(operation)
    return operation


BUILT_IN = ("abs", "float", "int", "bool")


def operation(name: str) -> Operation:
    """The declaration of this name."""
    return registry.operations[name]


def lookup(spelling: object) -> Operation | None:
    """The operation that a Python callable means, element by element."""
    found = registry.spellings.get(id(spelling))
    return None if found is None else found[1]


def all_operations() -> tuple[Operation, ...]:
    """Every declaration, in order."""
    return tuple(registry.operations.values())


def operand_types(name: str, dtypes: Dtypes) -> tuple[Dtypes, str]:
    """The dtypes that operands are converted to, and the result's.

    Raises TypeError, as NumPy does, where the operation is not defined for them.
    """
    return operation(name).typing(dtypes)


def result_type(name: str, types: tuple[Type, ...]) -> Type | None:
    """The type of a result; None for `cast`, whose result type is its own."""
    if name in UNTYPED:
        return None
    if name == "dim":
        return INT
    if any(isinstance(t, Array) for t in types):
        return None
    return Scalar(operand_types(name, tuple(t.dtype for t in types))[1])
