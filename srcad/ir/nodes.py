"""What a program is: structured SSA over scalars and arrays in memory.

Names are assigned once; a loop or a branch hands values on through `carried`, the results of its
blocks, and `outs`, as in MLIR's scf dialect. Memory is changed by `Store`, `Library` and `Grow`
alone. A variable is visible from its definition to the end of its block, inner blocks included.

Contracts, held by `verifier.verify` and relied on by every pass:
- indices, shapes and stops are int64; every index of a Load or Store lies in [0, extent), one that
  may be negative passes through the operation `wrap` first; stops and lengths are >= 0;
- operands of an operation have one dtype where arithmetic mixes them: conversions are `cast`s;
- a loop carries only names that are live where an iteration starts, or after the loop.
"""

from dataclasses import dataclass, field

from srcad.errors import Loc
from srcad.ir.trees import Tree
from srcad.ir.types import Array, Scalar, Type


@dataclass(frozen=True, slots=True)
class Var:
    """A value with a name; `id` is unique in one Function, in order of creation."""

    id: int
    type: Type = field(compare=False)
    hint: str = field(default="t", compare=False)  # the user's name, for readable output

    def __str__(self) -> str:
        return f"{self.hint}.{self.id}"


@dataclass(frozen=True, slots=True)
class Const:
    """A number known while tracing, of exactly this type.

    Consts are compared by the repr of their value: -0.0 differs from 0.0, nan equals nan.
    """

    value: bool | int | float | complex = field(compare=False)
    type: Scalar
    text: str = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "text", repr(self.value))

    def __str__(self) -> str:
        return self.text


Atom = Var | Const


@dataclass(frozen=True, slots=True)
class Block:
    """Statements in order, and the values handed to whatever owns the block."""

    stmts: tuple["Stmt", ...]
    results: tuple[Atom, ...] = ()


@dataclass(frozen=True, slots=True)
class Let:
    """out = op(*args), pure; `op` names a declaration of the package `ops`."""

    out: Var
    op: str
    args: tuple[Atom, ...]
    loc: Loc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Load:
    """out = array[index], all axes given."""

    out: Var
    array: Var
    index: tuple[Atom, ...]
    loc: Loc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Store:
    """array[index] = value, all axes given; `value` has the array's dtype."""

    array: Var
    index: tuple[Atom, ...]
    value: Atom
    loc: Loc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Alloc:
    """out = a new array; `fill` None leaves it uninitialised."""

    out: Var
    shape: tuple[Atom, ...]
    fill: Const | None = None
    loc: Loc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Index:
    """An axis of a subscript read at one position: the axis is dropped."""

    at: Atom


@dataclass(frozen=True, slots=True)
class Slice:
    """An axis of a subscript: `length` elements from `start` in steps of `step`, all in range.

    step may be negative; for length 0 the start is not looked at.
    """

    start: Atom
    length: Atom
    step: Atom


@dataclass(frozen=True, slots=True)
class NewAxis:
    """A new axis of length 1."""


@dataclass(frozen=True, slots=True)
class Subscript:
    """One item per axis of the array, new axes between them."""

    items: tuple[Index | Slice | NewAxis, ...]


@dataclass(frozen=True, slots=True)
class Permute:
    """Axis k of the view is axis axes[k] of the array."""

    axes: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Reshape:
    """The same elements in C order, of a C array, under another shape (no -1; sizes agree)."""

    shape: tuple[Atom, ...]


@dataclass(frozen=True, slots=True)
class View:
    """out = another name for some elements of `array`."""

    out: Var
    array: Var
    how: Subscript | Permute | Reshape
    loc: Loc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Map:
    """out = a new array whose element at `indices` is the block's only result.

    Its block reads memory as it is where the statement stands, and writes nothing. None is left
    after lowering.
    """

    out: Var
    shape: tuple[Atom, ...]
    indices: tuple[Var, ...]
    body: Block
    loc: Loc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class For:
    """`stop` iterations, index = 0, 1, ...; `carried` pairs a name inside with its first value.

    The results of `body` are the carried names' next values; `outs` their last.
    """

    index: Var
    stop: Atom
    carried: tuple[tuple[Var, Atom], ...]
    body: Block
    outs: tuple[Var, ...]
    loc: Loc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class While:
    """Iterations while the first carried value, a bool, holds; tested before each.

    index = 0, 1, ... as in For; `trips` is the number of iterations made.
    """

    index: Var
    carried: tuple[tuple[Var, Atom], ...]
    body: Block
    outs: tuple[Var, ...]
    trips: Var
    loc: Loc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class If:
    """`outs` are the results of the block taken."""

    cond: Atom
    then: Block
    orelse: Block
    outs: tuple[Var, ...]
    loc: Loc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Library:
    """Whole arrays in memory to whole arrays that were allocated before (`ops.libraries`)."""

    op: str
    reads: tuple[Var, ...]
    writes: tuple[Var, ...]
    loc: Loc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Grow:
    """The first axis of `array` gets at least `length` elements, old ones kept; same identity.

    No view on the array is alive across it.
    """

    array: Var
    length: Atom
    loc: Loc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Assert:
    """Raise the built-in exception `error` unless `cond`; `{}` in `message` stand for `args`."""

    cond: Atom
    error: str
    message: str
    args: tuple[Atom, ...] = ()
    loc: Loc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Print:
    """Print `pieces` with spaces between them, as Python's print; a program's own run alone does.

    Derivatives print nothing: their passes drop it.
    """

    pieces: tuple["Atom | str", ...]
    loc: Loc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Call:
    """outs = callee(*args): one of the program's `callees`, which calls itself.

    `writes` are the arrays among `args` that it may write into; arrays among `outs` are new.
    Arrays are passed under the callee's types exactly, but for the layout, which may be looser.
    """

    callee: str
    args: tuple[Atom, ...]
    outs: tuple[Var, ...]
    writes: tuple[Var, ...]
    loc: Loc | None = field(default=None, compare=False)


@dataclass(frozen=True, slots=True)
class Sealed:
    """A promise to be checked: nothing writes from here on what `array` shows.

    It stands where a copy is taken for what Python keeps by reference; `references` checks it,
    refuses with these texts, and leaves none.
    """

    array: Var
    what: str
    why: str
    instead: str
    loc: Loc | None = field(default=None, compare=False)


Stmt = (
    Let
    | Load
    | Store
    | Alloc
    | View
    | Map
    | For
    | While
    | If
    | Library
    | Grow
    | Assert
    | Print
    | Sealed
    | Call
)


@dataclass(frozen=True, slots=True)
class Function:
    """A whole program: flat parameters and results, and the structures they are packed in."""

    name: str
    params: tuple[Var, ...]  # the captured ones first
    body: Block
    takes: tuple[tuple[str, Tree], ...]  # the visible parameters: name and structure
    gives: Tree
    captured: int = 0
    loc: Loc | None = field(default=None, compare=False)
    callees: tuple["Function", ...] = ()  # recursive functions, by name; they have none themselves


def array_type(var: Var) -> Array:
    """The type of a variable that must be an array."""
    assert isinstance(var.type, Array), f"{var} is no array"
    return var.type


def const(value: bool | float, dtype: str = "int64") -> Const:
    """A Const of this dtype: const(3), const(0.5, "float32")."""
    if dtype == "bool":
        return Const(bool(value), Scalar(dtype))
    if dtype.startswith(("int", "uint")):
        return Const(int(value), Scalar(dtype))
    return Const(float(value), Scalar(dtype))
