"""What names mean while tracing: run-time scalars, run-time arrays, or ordinary Python objects.

`Emit` is what every function of this package that adds to the IR gets first.
"""

from collections.abc import Callable, Hashable
from dataclasses import dataclass, replace
from typing import NoReturn

from srcad.errors import Loc, Problem, UnsupportedSyntax
from srcad.ir.builder import Builder, OpenBlock
from srcad.ir.nodes import Atom, Block, Let, Stmt, Var
from srcad.ir.walk import map_blocks


@dataclass(frozen=True, slots=True)
class Num:
    """A run-time number; `weak` as Python's numbers are in NumPy's promotion."""

    atom: Atom
    weak: bool = False


@dataclass(frozen=True, slots=True)
class Arr:
    """A run-time array and its extents."""

    var: Var
    shape: tuple[Atom, ...]


class Unset:
    """A name that some path leaves without a value."""


UNSET = Unset()
Value = object


@dataclass(frozen=True, slots=True)
class Option:
    """A name that only some paths set: `value` where `known`, else `absent` (UNSET or None)."""

    value: Value
    known: Num
    absent: Value


@dataclass(frozen=True, slots=True)
class Record:
    """An instance of a dataclass: its fields, by name, in order."""

    cls: type
    names: tuple[str, ...]
    items: tuple[Value, ...]

    def at(self, name: str) -> Value:
        return self.items[self.names.index(name)]


@dataclass(frozen=True, slots=True)
class Useless:
    """A name that cannot be read, and why: `what`, `why`, `instead` of the problem."""

    what: str
    why: str = ""
    instead: str = ""


@dataclass(eq=False, slots=True)
class Box:
    """A list or dictionary that the traced code made: what is in it now is `Emit.heap[box]`.

    That is a tuple, a dict, or `Grown` where a list has a length that is known at run time only.
    `path` and `birth` say where it was made; `before` is the builder's number there. `fixed` says
    why it may not be changed.
    """

    path: Hashable
    birth: int
    before: int
    hint: str = "items"
    fixed: str = ""


@dataclass(frozen=True, slots=True)
class Grown:
    """`count` items of the kind `item`, each leaf of it in a buffer along the first axis."""

    item: object
    buffers: tuple[Var, ...]
    count: Value


@dataclass(frozen=True, slots=True)
class Held:
    """A box and what is in it, at the end of an arm of a branch."""

    box: Box
    content: Value


class Retrace(Exception):  # noqa: N818  a request, not an error
    """A list must have been growable where it was made: the function is traced again."""

    def __init__(self, box: Box, item: object) -> None:
        super().__init__()
        self.box, self.item = box, item


class Recursive(Exception):  # noqa: N818  a request, not an error
    """A function calls itself at run time: it is traced again as a function of its own."""

    def __init__(self, key: Hashable) -> None:
        super().__init__()
        self.key = key


class Growth:
    """What a trace found out for the next: lists that grow, functions that call themselves.

    Of lists that are growable from their birth on the kinds of their items.

    Kinds that name run-time extents hold for one birth only: variables made before it have the
    same numbers in the next trace, as long as no list made earlier changes.
    """

    def __init__(self) -> None:
        self.by_path: dict[Hashable, object] = {}
        self.by_birth: dict[int, object] = {}
        self.recursive: set[Hashable] = set()  # functions that call themselves

    def add(self, box: Box, item: object, *, anywhere: bool) -> None:
        if anywhere:
            self.by_path[box.path] = item
        self.by_birth = {k: kind for k, kind in self.by_birth.items() if k < box.birth}
        if not anywhere:
            self.by_birth[box.birth] = item

    def item(self, box: Box) -> object | None:
        """The kind of its items, None for a list that is known while tracing."""
        return self.by_birth.get(box.birth, self.by_path.get(box.path))


@dataclass(frozen=True, slots=True)
class Made:
    """An atom, and the statement of an open block behind which it is known."""

    atom: Atom
    block: OpenBlock
    place: int
    stmt: Stmt

    def holds(self, open: list[OpenBlock]) -> bool:
        """Whether the statement stands before the place where statements are added now."""
        stmts = self.block.stmts
        here = any(block is self.block for block in open)
        return here and self.place < len(stmts) and stmts[self.place] is self.stmt


Reason = tuple[str, str, str]
RESHAPED = (
    "this array is written to after it was reshaped",
    "its memory layout is not known to be C, so NumPy may have copied it or not",
    "copy it first: `y = x.copy().reshape(...)`",
)
LISTED = (
    "an array that came out of a list is written to",
    "the list would change too, and lists that grow hold copies",
    "copy it: `y = items[i].copy()`, and put it back: `items[i] = y`",
)


class Memory:
    """What is known of arrays: whose elements a view shows, who shares memory with whom."""

    def __init__(self) -> None:
        self.roots: dict[Var, Var] = {}  # views and what they are views of, in the end
        self.separate: set[Var] = set()  # arrays that share no memory with each other
        self.frozen: dict[Var, Reason] = {}  # arrays that may not be written, and why
        self.joined: set[Var] = set()  # arrays that have, or are, another name from a join
        self.writes: list[tuple[Var, tuple[OpenBlock, ...]]] = []

    def root(self, array: Var) -> Var:
        return self.roots.get(array, array)

    def apart(self, first: Var, second: Var) -> bool:
        """Whether two arrays certainly share no memory: two of their own, or one by one name."""
        roots = self.root(first), self.root(second)
        own = [root in self.separate for root in roots]
        single = [known and root not in self.joined for known, root in zip(own, roots, strict=True)]
        return roots[0] != roots[1] and (all(own) or any(single))


class Emit:
    """A builder, and what is known of the atoms made so far."""

    def __init__(self, builder: Builder) -> None:
        self.builder = builder
        self.indices: dict[Var, Atom] = {}  # loop indices and the extents that they count
        self.covers: dict[Atom, frozenset[Atom]] = {}  # broadcast extents and what they cover
        self.lengths: dict[Atom, tuple[Atom, int]] = {}  # n - k, where made: n and k
        self.memory = Memory()
        self.made: dict[Hashable, Made] = {}
        self.everywhere: set[Var] = set()  # extents that stand before everything else
        self.names: dict[Var, str] = {}  # what the user calls values that came without a name
        self.heap: dict[Box, Value] = {}  # what is in lists and dictionaries, on this path
        self.growth = Growth()
        self.path: tuple[Hashable, ...] = ()  # of the calls that are open
        self.births = 0
        self.run: Callable[[object, list[Value]], Value] | None = None  # set by the interpreter

    @property
    def loc(self) -> Loc | None:
        return self.builder.loc

    def boxed(self, content: Value, fixed: str = "") -> Box:
        """A new list or dictionary with this content."""
        self.births += 1
        box = Box((*self.path, self.loc), self.births, self.builder.next_id, fixed=fixed)
        self.heap[box] = content
        return box

    def rows(self, content: Value, kind: object) -> list[Atom]:
        """The count and the buffers, at their exact lengths, of a list: `Rows` of a join."""
        raise NotImplementedError

    def fail(self, what: str, why: str = "", instead: str = "") -> NoReturn:
        """Refuses the construct at the current place."""
        raise UnsupportedSyntax(Problem(what, self.builder.loc, why, instead))

    def call(self, function: Callable[..., object], *args: Value) -> Value:
        """Traces a function of `srcad.arrays` in place; its statements carry the user's line."""
        assert self.run is not None, "no interpreter is attached"
        block, loc = self.builder.open[-1], self.builder.loc
        mark = len(block.stmts)
        result = self.run(function, list(args))
        block.stmts[mark:] = [located(stmt, loc) for stmt in block.stmts[mark:]]
        self.builder.loc = loc
        return result

    def once(self, key: Hashable, make: Callable[[], Atom]) -> Atom:
        """The atom that `make` gives, emitted again only where an earlier one is not visible."""
        found = self.made.get(key)
        if found is not None and found.holds(self.builder.open):
            return found.atom
        block = self.builder.open[-1]
        before = len(block.stmts)
        atom = make()
        place = len(block.stmts) - 1
        if place >= before:
            self.made[key] = Made(atom, block, place, block.stmts[place])
        return atom

    def definition(self, atom: Atom) -> Let | None:
        """The operation that an atom is the result of, where it stands in an open block."""
        if isinstance(atom, Var):
            for block in reversed(self.builder.open):
                for stmt in reversed(block.stmts):
                    if isinstance(stmt, Let) and stmt.out == atom:
                        return stmt
        return None


def located(stmt: Stmt, loc: Loc | None) -> Stmt:
    """The statement and all inside it at another place."""

    def block(inner: Block) -> Block:
        return Block(tuple(located(s, loc) for s in inner.stmts), inner.results)

    return replace(map_blocks(stmt, block), loc=loc)
