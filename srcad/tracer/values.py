"""What names mean while tracing: run-time scalars, run-time arrays, or ordinary Python objects."""

from dataclasses import dataclass

from srcad.errors import Loc
from srcad.ir.nodes import Atom, Var


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
class Closure:
    """A function of the user, with the names it can see."""

    node: object  # ast.FunctionDef | ast.Lambda
    scope: object
    loc: Loc
