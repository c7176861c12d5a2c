"""Elementary functions that LLVM's vectoriser can call four or eight at a time: glibc's libmvec.

Each is a plain Python function; compiled, it is a call of the scalar function of libm that says
which vector variants exist (DESIGN section 8). Errors of the vector variants are below 4 ulp. Where
libmvec is missing, `AVAILABLE` is False and generated code uses `math`.
"""

import ctypes
import math
import platform
import sys
from collections.abc import Callable
from typing import Any

import llvmlite.binding as llvm
from llvmlite import ir

from srcad.runtime.lowering import lower

LIBRARY = "libmvec.so.1"
NAMES = ("exp", "expm1", "exp2", "log", "log1p", "log2", "log10", "sin", "cos", "tan", "asin",
         "acos", "atan", "sinh", "cosh", "tanh", "asinh", "acosh", "atanh", "cbrt", "erf",
         "erfc")  # fmt: skip
BINARY = ("pow", "atan2", "hypot")
PURE = ("nounwind", "willreturn", "memory(none)")
USED = "llvm.compiler.used"


def symbols(name: str, kind: ir.Type) -> tuple[str, str, int]:
    """The scalar and the AVX2 symbol, and the latter's number of lanes."""
    vectors = "vv" if name in BINARY else "v"
    if kind == ir.DoubleType():
        return name, f"_ZGVdN4{vectors}_{name}", 4
    return f"{name}f", f"_ZGVdN8{vectors}_{name}f", 8


def _load() -> bool:
    """Makes libmvec's symbols visible to compiled code; says whether all of them are there."""
    if not sys.platform.startswith("linux") or platform.machine() != "x86_64":
        return False
    if not llvm.get_host_cpu_features().get("avx2", False):
        return False
    try:
        library = ctypes.CDLL(LIBRARY)
    except OSError:
        return False
    kinds = (ir.DoubleType(), ir.FloatType())
    wanted = [symbols(name, kind)[1] for name in (*NAMES, *BINARY) for kind in kinds]
    if not all(hasattr(library, symbol) for symbol in wanted):
        return False
    llvm.load_library_permanently(LIBRARY)
    return True


AVAILABLE = _load()


def _keep(module: ir.Module, function: ir.Function) -> None:
    """Names a function in llvm.compiler.used, which exists once per module."""
    pointer = ir.IntType(8).as_pointer()
    old = module.globals.pop(USED, None)
    items = list(old.initializer.constant) if old is not None else []
    items.append(function.bitcast(pointer))
    kind = ir.ArrayType(pointer, len(items))
    if old is None:
        old = ir.GlobalVariable(module, kind, USED)
        old.linkage, old.section = "appending", "llvm.metadata"
    else:
        old.value_type, old.type = kind, kind.as_pointer()
        module.globals[USED] = old
    old.initializer = ir.Constant(kind, items)


def _declared(module: ir.Module, name: str, kind: ir.Type) -> ir.Function:
    """The scalar function, marked with its vector variant, declared once per module."""
    scalar, vector, lanes = symbols(name, kind)
    found = module.globals.get(scalar)
    count = 2 if name in BINARY else 1
    if found is None:
        found = ir.Function(module, ir.FunctionType(kind, [kind] * count), scalar)
    if AVAILABLE and vector not in module.globals:
        lane = ir.VectorType(kind, lanes)
        _keep(module, ir.Function(module, ir.FunctionType(lane, [lane] * count), vector))
        variant = f'"vector-function-abi-variant"="{vector}({vector})"'
        for attribute in (*PURE, variant):
            set.add(found.attributes, attribute)  # llvmlite's own add refuses what it does not know
    return found


def _lower(function: Callable[..., Any], name: str) -> None:
    def emit(builder: Any, kind: Any, values: tuple[Any, ...]) -> Any:
        return builder.call(_declared(builder.module, name, values[0].type), values)

    lower(function, 2 if name in BINARY else 1, emit)


def _elementary(name: str) -> Callable[..., Any]:
    """A function of numbers of one float type, by `math` where it is run by Python."""
    python = getattr(math, name)

    def unary(x: Any) -> Any:
        return type(x)(python(x))

    def binary(x: Any, y: Any) -> Any:
        return type(x)(python(x, y))

    function = binary if name in BINARY else unary
    function.__name__ = function.__qualname__ = name
    function.__doc__ = python.__doc__
    _lower(function, name)
    return function


exp = _elementary("exp")
expm1 = _elementary("expm1")
exp2 = _elementary("exp2")
log = _elementary("log")
log1p = _elementary("log1p")
log2 = _elementary("log2")
log10 = _elementary("log10")
sin = _elementary("sin")
cos = _elementary("cos")
tan = _elementary("tan")
asin = _elementary("asin")
acos = _elementary("acos")
atan = _elementary("atan")
sinh = _elementary("sinh")
cosh = _elementary("cosh")
tanh = _elementary("tanh")
asinh = _elementary("asinh")
acosh = _elementary("acosh")
atanh = _elementary("atanh")
cbrt = _elementary("cbrt")
erf = _elementary("erf")
erfc = _elementary("erfc")
pow = _elementary("pow")
atan2 = _elementary("atan2")
hypot = _elementary("hypot")
