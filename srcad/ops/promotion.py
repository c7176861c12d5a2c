"""To which dtypes operands are converted, and what the result is: NumPy 2's rules.

Where NumPy would compute in float16 (`np.sqrt` of int8) the dtype is float64, and so it is for
every function of integers, as in `math`. Arithmetic of two bools is Python's, on int64.
"""

import numpy as np

from srcad.ops.declaration import Dtypes


def promoted(dtypes: Dtypes) -> str:
    """The dtype that holds all of them."""
    return np.result_type(*dtypes).name


def same(dtypes: Dtypes) -> tuple[Dtypes, str]:
    """All operands and the result have the promoted dtype."""
    to = promoted(dtypes)
    return (to,) * len(dtypes), to


def number(dtypes: Dtypes) -> tuple[Dtypes, str]:
    """As `same`; bools alone count as int64."""
    to = promoted(dtypes)
    to = "int64" if to == "bool" else to
    return (to,) * len(dtypes), to


def inexact(dtypes: Dtypes) -> tuple[Dtypes, str]:
    """As `same`; integers become float64."""
    to = promoted(dtypes)
    to = to if to.startswith(("float", "complex")) else "float64"
    return (to,) * len(dtypes), to


def integer(dtypes: Dtypes) -> tuple[Dtypes, str]:
    """As `same`, for integers and bools only."""
    to = promoted(dtypes)
    if to.startswith(("float", "complex")):
        raise TypeError(f"this operation is not defined for {to}")
    return (to,) * len(dtypes), to


def compared(dtypes: Dtypes) -> tuple[Dtypes, str]:
    """Operands of one dtype, a bool as the result."""
    return same(dtypes)[0], "bool"


def logical(dtypes: Dtypes) -> tuple[Dtypes, str]:
    """Bools."""
    return ("bool",) * len(dtypes), "bool"


def tested(dtypes: Dtypes) -> tuple[Dtypes, str]:
    """Floats, a bool as the result."""
    return inexact(dtypes)[0], "bool"


def power_of_integer(dtypes: Dtypes) -> tuple[Dtypes, str]:
    """A float to the power of an int64."""
    to = inexact(dtypes[:1])[1]
    return (to, "int64"), to


def order_of_derivative(dtypes: Dtypes) -> tuple[Dtypes, str]:
    """An int64 and a float."""
    to = inexact(dtypes[1:])[1]
    return ("int64", to), to


def chosen(dtypes: Dtypes) -> tuple[Dtypes, str]:
    """A bool and two values of one dtype."""
    to = promoted(dtypes[1:])
    return ("bool", to, to), to


def first(dtypes: Dtypes) -> tuple[Dtypes, str]:
    """The result has the dtype of the first operand; nothing is converted."""
    return dtypes, dtypes[0]
