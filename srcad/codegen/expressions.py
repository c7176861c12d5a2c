"""The text of values: constants, operations, indices and views.

A text comes with its Python precedence, `ops.declaration.ATOM` and below; readers put parentheses.
"""

import math

from srcad import ops
from srcad.codegen.folding import Folding
from srcad.codegen.names import Names
from srcad.codegen.ranges import Linear
from srcad.ir.nodes import (
    Alloc,
    Atom,
    Const,
    Index,
    Let,
    Load,
    NewAxis,
    Permute,
    Reshape,
    Slice,
    Subscript,
    Var,
    array_type,
    const,
)
from srcad.ops.declaration import ADD, ATOM, COMPARE, MULTIPLY, POWER, UNARY

Text = tuple[str, int]

STRICT = ("add", "sub", "mul", "div", "square")
WIDE = ("bool", "int64", "uint64")  # the integers in which Numba computes


def literal(atom: Const) -> str:
    """A constant of exactly its type: Numba's literals are float64, int64 and complex128."""
    value = atom.value
    if isinstance(value, float) and math.isnan(value):
        text = "math.nan"
    elif isinstance(value, float) and math.isinf(value):
        text = "math.inf" if value > 0 else "-math.inf"
    else:
        text = repr(value)
    plain = ("float64", "int64", "bool", "complex128")
    return text if atom.type.dtype in plain else f"np.{atom.type}({text})"


class Expressions:
    """Texts of one function's values; `imports` collects what the module needs from support."""

    def __init__(self, folding: Folding, names: Names, *, vector_math: bool) -> None:
        self.folding, self.names, self.vector_math = folding, names, vector_math
        self.support: set[str] = set()
        self.vector: set[str] = set()
        self.counting_up: set[Var] = set()  # loop variables that LLVM knows are not negative
        self._texts: dict[Var, Text] = {}

    # -- values

    def atom(self, atom: Atom) -> Text:
        if isinstance(atom, Const):
            text = literal(atom)
            return text, UNARY if text.startswith("-") else ATOM
        if atom not in self.folding.folded:
            return self.names.name(atom), ATOM
        if atom not in self._texts:
            stmt = self.folding.definitions[atom]
            assert isinstance(stmt, Let | Load)
            self._texts[atom] = self.value(stmt)
        return self._texts[atom]

    def text(self, atom: Atom) -> str:
        return self.atom(atom)[0]

    def above(self, atom: Atom, level: int) -> str:
        """The text, in parentheses unless it binds more tightly than `level`."""
        text, own = self.atom(atom)
        return text if own > level else f"({text})"

    def value(self, stmt: Let | Load) -> Text:
        """What a Let or Load computes."""
        if isinstance(stmt, Load):
            return f"{self.text(stmt.array)}[{self.index(stmt.index)}]", ATOM
        if stmt.op == "cast":
            return self._cast(stmt), ATOM
        if stmt.op in STRICT and stmt.out in self.folding.strict:
            return self._strict(stmt), ATOM
        text, level = self._operation(stmt)
        dtype = stmt.out.type.dtype
        if "int" in dtype and dtype not in WIDE and stmt.op not in ("select", "wrap"):
            return f"np.{dtype}({text})", ATOM
        return text, level

    def _operation(self, stmt: Let) -> Text:
        op = ops.operation(stmt.op)
        if op.support is not None:
            self.support.add(op.support)
        if op.vector and self.vector_math and self._varies(stmt):
            self.vector.add(op.vector)
            return f"{op.vector}({', '.join(map(self.text, stmt.args))})", ATOM
        if stmt.op == "dim":
            return op.emit.format(self.above(stmt.args[0], UNARY), self.text(stmt.args[1])), ATOM
        match op.level:
            case 20:  # calls
                parts = [self.text(arg) for arg in stmt.args]
            case 10 | 11 if len(stmt.args) > 1:  # left to right
                first = self.above(stmt.args[0], op.level - 1)
                parts = [first, *(self.above(arg, op.level) for arg in stmt.args[1:])]
            case 12:
                parts = [self.above(arg, UNARY - 1) for arg in stmt.args]
            case 13:
                parts = [self.above(stmt.args[0], POWER), self.above(stmt.args[1], UNARY - 1)]
            case _:
                parts = [self.above(arg, op.level) for arg in stmt.args]
        return op.emit.format(*parts), op.level

    def _varies(self, stmt: Let) -> bool:
        """Whether libmvec is worth a call: LLVM knows powers with a constant exponent."""
        fixed = stmt.op == "pow" and isinstance(stmt.args[1], Const)
        return stmt.out.type.dtype in ("float32", "float64") and not fixed

    def _strict(self, stmt: Let) -> str:
        name = "mul" if stmt.op == "square" else stmt.op
        args = stmt.args * 2 if stmt.op == "square" else stmt.args
        self.support.add(f"strict_{name}")
        return f"strict_{name}({', '.join(map(self.text, args))})"

    def _cast(self, stmt: Let) -> str:
        """Numba's float() and int() keep float32 and the small integers."""
        source, dtype = stmt.args[0].type.dtype, stmt.out.type.dtype
        name = f"np.{dtype}"
        if dtype == "bool":
            name = "bool"
        elif dtype == "float64" and source == "int64":
            name = "float"
        elif dtype == "int64" and source in ("float64", "bool"):
            name = "int"
        return f"{name}({self.text(stmt.args[0])})"

    def linear(self, sum_: Linear) -> Text:
        """A sum of integers, what is added first."""
        text, level = "", ATOM
        for var, count in sorted(sum_.terms, key=lambda term: term[1] < 0):
            size = "" if abs(count) == 1 else f"{abs(count)} * "
            part = size + self.above(var, MULTIPLY if size or count < 0 else ADD)
            if text:
                text, level = f"{text} {'-' if count < 0 else '+'} {part}", ADD
            elif count < 0:
                text, level = f"-{part}", MULTIPLY if size else UNARY
            else:
                text, level = (part, MULTIPLY) if size else self.atom(var)
        if not text:
            return str(sum_.constant), ATOM if sum_.constant >= 0 else UNARY
        if sum_.constant:
            text += f" {'-' if sum_.constant < 0 else '+'} {abs(sum_.constant)}"
            level = ADD
        return text, level

    # -- indices

    def index(self, atoms: tuple[Atom, ...]) -> str:
        return ", ".join(map(self.position, atoms)) if atoms else "()"

    def position(self, atom: Atom) -> str:
        """An index; `at` says that it is not negative where LLVM does not see it."""
        if self._counts_up(atom):
            return self.text(atom)
        self.support.add("at")
        return f"at({self.text(atom)})"

    def _counts_up(self, atom: Atom) -> bool:
        if isinstance(atom, Const):
            return True
        if atom not in self.folding.folded:
            return atom in self.counting_up
        stmt = self.folding.definitions[atom]
        if not isinstance(stmt, Let) or stmt.op != "add":
            return False
        return all(map(self._counts_up, stmt.args)) and any(
            isinstance(arg, Const) for arg in stmt.args
        )

    # -- arrays

    def view(self, array: Var, how: Subscript | Permute | Reshape) -> str:
        text = self.text(array)
        match how:
            case Permute(axes=axes):
                if axes == tuple(reversed(range(len(axes)))):
                    return f"{text}.T"
                return f"{text}.transpose({', '.join(map(str, axes))})"
            case Reshape(shape=shape):
                return f"{text}.reshape({self.shape(shape)})"
            case Subscript(items=items):
                parts, axis = [], 0
                for item in items:
                    parts.append(self._item(item, array, axis))
                    axis += not isinstance(item, NewAxis)
                if not any(isinstance(item, Slice | NewAxis) for item in items):
                    return self._element(text, items)
                return f"{text}[{', '.join(parts)}]"

    def _element(self, array: str, items: tuple[Index | Slice | NewAxis, ...]) -> str:
        """A 0-d view of one element: full indexing would give a number."""
        ends = [item.at for item in items if isinstance(item, Index)]
        parts = [f"{self.text(end)} : {self.above(end, ADD - 1)} + 1" for end in ends]
        return f"{array}[{', '.join(parts)}].reshape(())" if parts else array

    def _item(self, item: Index | Slice | NewAxis, array: Var, axis: int) -> str:
        match item:
            case Index(at=at):
                return self.position(at)
            case NewAxis():
                return "None"
            case Slice():
                return self._slice(item, array, axis)

    def _slice(self, item: Slice, array: Var, axis: int) -> str:
        """`start : stop : step`; a stop before the first element needs `behind`."""
        start, length, step = item.start, item.length, item.step
        whole = self._is_extent(length, array, axis)
        if step == const(1):
            if start == const(0):
                return ":" if whole else f":{self.above(length, COMPARE)}"
            stop = f"{self.above(start, ADD - 1)} + {self.above(length, ADD)}"
            return f"{self.text(start)} : {stop}"
        if whole and step == const(-1):
            return "::-1"
        if isinstance(step, Const) and isinstance(step.value, int) and step.value > 0:
            size = f"{step.value} * {self.above(length, MULTIPLY)}"
            if start == const(0):
                return f":{size}:{step.value}"
            return f"{self.text(start)} : {self.above(start, ADD - 1)} + {size} : {step.value}"
        self.support.add("behind")
        extent = f"{self.text(array)}.shape[{axis}]"
        stop = f"behind({', '.join(map(self.text, (start, length, step)))}, {extent})"
        return f"{self.text(start)} : {stop} : {self.text(step)}"

    def _is_extent(self, length: Atom, array: Var, axis: int) -> bool:
        stmt = self.folding.definitions.get(length) if isinstance(length, Var) else None
        return isinstance(stmt, Let) and stmt.op == "dim" and stmt.args == (array, const(axis))

    def shape(self, extents: tuple[Atom, ...]) -> str:
        texts = [self.text(extent) for extent in extents]
        return texts[0] if len(texts) == 1 else f"({', '.join(texts)})"

    def alloc(self, stmt: Alloc) -> str:
        """A new array; in Fortran order it is the transpose of one in C order."""
        kind = array_type(stmt.out)
        turned = kind.layout == "F" and kind.ndim > 1
        size = self.shape(stmt.shape[::-1] if turned else stmt.shape)
        underscore = "_" if kind.dtype == "bool" else ""
        dtype = "" if kind.dtype == "float64" else f", np.{kind.dtype}{underscore}"
        if stmt.fill is None:
            text = f"np.empty({size}{dtype})"
        elif not stmt.fill.value and not stmt.fill.text.startswith("-"):
            text = f"np.zeros({size}{dtype})"
        else:
            text = f"np.full({size}, {literal(stmt.fill)}{dtype})"
        return f"{text}.T" if turned else text
