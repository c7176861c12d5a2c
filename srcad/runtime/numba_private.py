"""What srcad uses of Numba beyond its public interface, all of it in this file: Numba 0.68.

`tests/test_guards.py` and `tests/test_cache.py` run each of these.
"""

from typing import Any

import numba
import numba.extending
import numpy as np
from numba.core import config, runtime, sigutils, types, typing
from numba.core.compiler_lock import global_compiler_lock
from numba.core.dispatcher import OmittedArg
from numba.core.registry import CPUDispatcher

__all__ = ["OmittedArg", "global_compiler_lock"]

Types = tuple[types.Type, ...]
_config: Any = config  # Numba's own annotations are incomplete
_runtime: Any = runtime
_sigutils: Any = sigutils
_types: Any = types
_numba: Any = numba
_intrinsic: Any = numba.extending.intrinsic
_typeof: Any = typing.typeof


def compiled(inner: Any, args: Types) -> Any:
    """The compile result of an @njit function for these types, from the disk if it is there.

    `inner.compile` alone would spend half a second on registering every implementation before it
    looks at the disk (`refresh`); what was compiled before only needs the run-time library.
    Called under the compiler lock.
    """
    if args not in inner.overloads:
        result = _loaded(inner, args)
        if result is None:
            inner.compile(args)
        else:
            context = inner.targetctx
            context.insert_user_function(result.entry_point, result.fndesc, [result.library])
            inner.add_overload(result)
    return inner.overloads[args]


def _loaded(inner: Any, args: Types) -> Any:
    _runtime.rtsys.initialize(inner.targetctx)  # without it compiled code that allocates crashes
    try:
        result = inner._cache._load_overload(args, inner.targetctx)
    except AttributeError:  # a function without a cache
        return None
    except Exception:  # a damaged file: compile anew and write it again
        inner._cache.flush()
        return None
    if result is None or tuple(result.signature.args) != args:
        return None  # racing processes can leave an index that names another signature's code
    return result


def type_of(value: Any) -> Any:
    """Numba's type of an argument."""
    return _typeof.typeof(value, _typeof.Purpose.argument)


def default_of(kind: Any) -> Any:
    """The value of an argument that is left out; None for one that is given."""
    return kind.value if isinstance(kind, types.Omitted) else None


def argument_types(signature: Any) -> Types:
    """The argument types of a signature in any of Numba's forms, literals as their types."""
    args, _ = _sigutils.normalize_signature(signature)
    return tuple(map(_types.unliteral, args))


def disabled() -> bool:
    """Whether NUMBA_DISABLE_JIT asks for plain Python."""
    return bool(_config.DISABLE_JIT)


def addresses_meet(context: Any, builder: Any, kinds: Any, arrays: Any) -> Any:
    """LLVM code: whether two arrays, neither of them empty, have addresses in common."""
    (low, high, some), (low_2, high_2, some_2) = (
        _addresses(context, builder, kind, value) for kind, value in zip(kinds, arrays, strict=True)
    )
    meet = builder.and_(
        builder.icmp_unsigned("<", low, high_2), builder.icmp_unsigned("<", low_2, high)
    )
    return builder.and_(meet, builder.and_(some, some_2))


def _addresses(context: Any, builder: Any, kind: Any, value: Any) -> tuple[Any, Any, Any]:
    """The first address, the one behind the last, and whether the array has elements."""
    array = context.make_array(kind)(context, builder, value)
    zero, one = array.nitems.type(0), array.nitems.type(1)
    low = builder.ptrtoint(array.data, zero.type)
    high = builder.add(low, array.itemsize)
    for axis in range(kind.ndim):
        stride = builder.extract_value(array.strides, axis)
        last = builder.sub(builder.extract_value(array.shape, axis), one)
        reach = builder.mul(stride, last)
        down = builder.icmp_signed("<", reach, zero)
        low = builder.add(low, builder.select(down, reach, zero))
        high = builder.add(high, builder.select(down, zero, reach))
    return low, high, builder.icmp_signed("!=", array.nitems, zero)


def _address_of(array: Any) -> Any:
    """A function that gives the array's address in compiled code.

    No integer literal: this one marks the code as not cacheable, so that no later process uses it.
    """
    address = array.ctypes.data

    @_intrinsic  # type: ignore[untyped-decorator]
    def get(typing_context: Any) -> Any:
        def codegen(context: Any, builder: Any, signature: Any, args: Any) -> Any:
            return context.add_dynamic_addr(builder, address, info="captured array")

        return types.voidptr(), codegen

    return get


def bound(inner: Any, hidden: list[Any], names: list[str], defaults: dict[str, Any]) -> Any:
    """An @njit function of `names` that passes `hidden` to `inner` first.

    `defaults` are passed instead of what is called so. Arrays go by their address, so edits are
    seen; the caller keeps them alive. Numbers are constants. Raises ValueError for an array that is
    not contiguous.
    """
    space: dict[str, Any] = {"inner": inner, "carray": _numba.carray, "farray": _numba.farray}
    passed: list[str] = []
    for k, value in enumerate([*hidden, *defaults.values()]):
        name = f"_{k}"
        if not isinstance(value, np.ndarray):
            space[name] = value
            passed.append(name)
            continue
        if not (value.flags.c_contiguous or value.flags.f_contiguous):
            raise ValueError("strided")
        make = "carray" if value.flags.c_contiguous else "farray"
        space |= {f"get{name}": _address_of(value), f"dtype{name}": value.dtype}
        passed.append(f"{make}(get{name}(), {value.shape}, dtype{name})")
    instead = dict(zip(defaults, passed[len(hidden) :], strict=True))
    given = (*passed[: len(hidden)], *(instead.get(name, name) for name in names))
    text = f"def bound({', '.join(names)}): return inner({', '.join(given)})"
    exec(text, space)
    return numba.njit(error_model="numpy", nogil=True)(space["bound"])


class Adopting(CPUDispatcher):
    """A dispatcher that compiles nothing itself; it takes over results of other dispatchers."""

    overloads: Any
    _types_active_call: set[Any]

    def __init__(self, py_func: Any) -> None:
        super().__init__(py_func, targetoptions={"nopython": True})

    def adopt(self, result: Any) -> Any:
        """Makes a compile result answer calls with its types; its entry point."""
        self.add_overload(result)
        return result.entry_point

    def types_of(self, args: tuple[Any, ...]) -> Types:
        """The types of values as the dispatcher's C code hands them over."""
        found = tuple(
            _types.Omitted(a.value) if isinstance(a, OmittedArg) else self.typeof_pyval(a)
            for a in args
        )
        self._types_active_call.clear()
        return found

    def _make_finalizer(self) -> Any:
        return _nothing  # the adopted results belong to others


def _nothing() -> None:
    """A finalizer that releases nothing."""
