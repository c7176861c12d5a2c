"""How the scalar functions of `support` become LLVM instructions: no call, no compile time.

Each is a plain Python function too (NUMBA section 11). Numba adds its fastmath flags to every
floating-point instruction that has none, so a strict one carries `nsz`, which reorders nothing.
"""

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import extending, types
from numba.core.typing import templates

from srcad.runtime.numba_private import addresses_meet

Emit = Callable[[Any, Any, tuple[Any, ...]], Any]  # (builder, type, values) -> value
STRICT = ("nsz",)

# Numba's own functions have no types.
signature: Callable[..., Any] = templates.signature
unliteral: Callable[[Any], Any] = types.unliteral
type_callable: Callable[[Any], Callable[[Any], Any]] = extending.type_callable
lower_builtin: Callable[..., Callable[[Any], Any]] = extending.lower_builtin
overload: Callable[..., Callable[[Any], Any]] = extending.overload
register_jitable: Callable[..., Callable[[Any], Any]] = extending.register_jitable


def number(*found: Any) -> Any:
    """The type of operands that are converted to one; None if they are no real numbers."""
    kinds = [unliteral(t) for t in found]
    if not all(isinstance(t, types.Integer | types.Float | types.Boolean) for t in kinds):
        return None
    for kind in (types.Float, types.Integer):
        chosen = [t for t in kinds if isinstance(t, kind)]
        if chosen:
            return max(chosen, key=bits)
    return types.boolean


def bits(kind: Any) -> int:
    return int(kind.bitwidth)


def is_float(kind: Any) -> bool:
    return isinstance(kind, types.Float)


def lower(function: Callable[..., Any], arity: int, emit: Emit) -> None:
    """Registers a function of numbers of one type, which is the result's too."""

    def same(*args: Any) -> Any:
        to = number(*args)
        return None if to is None else signature(to, *(to,) * arity)

    typers: dict[int, Callable[..., Any]] = {  # Numba reads the parameters' names
        1: lambda x: same(x),
        2: lambda x, y: same(x, y),
        4: lambda x, y, z, w: same(x, y, z, w),
    }
    type_callable(function)(lambda context: typers[arity])

    @lower_builtin(function, *(types.Any,) * arity)
    def _(context: Any, builder: Any, sig: Any, args: tuple[Any, ...]) -> Any:
        return emit(builder, sig.return_type, args)


def lower_select(function: Callable[..., Any]) -> None:
    """Registers select(cond, a, b)."""

    @type_callable(function)
    def _(context: Any) -> Any:
        def typer(cond: Any, a: Any, b: Any) -> Any:
            to = number(a, b)
            return None if to is None else signature(to, types.boolean, to, to)

        return typer

    @lower_builtin(function, types.Boolean, types.Any, types.Any)
    def _(context: Any, builder: Any, sig: Any, args: tuple[Any, ...]) -> Any:
        return builder.select(*args)


def lower_unsigned(function: Callable[..., Any]) -> None:
    """Registers at(i): an intp retyped as uintp, for which Numba tests no wrap-around."""

    @type_callable(function)
    def _(context: Any) -> Any:
        def typer(i: Any) -> Any:
            return types.uintp if isinstance(i, types.Integer) else None

        return typer

    @lower_builtin(function, types.Integer)
    def _(context: Any, builder: Any, sig: Any, args: tuple[Any, ...]) -> Any:
        return context.cast(builder, args[0], sig.args[0], types.uintp)


def lower_overlap(function: Callable[..., Any]) -> None:
    """Registers overlap(a, b): whether the address ranges of two arrays meet."""

    @type_callable(function)
    def _(context: Any) -> Any:
        def typer(a: Any, b: Any) -> Any:
            both = isinstance(a, types.Array) and isinstance(b, types.Array)
            return types.boolean if both else None

        return typer

    @lower_builtin(function, types.Array, types.Array)
    def _(context: Any, builder: Any, sig: Any, args: tuple[Any, ...]) -> Any:
        return addresses_meet(context, builder, sig.args, args)


def compare(builder: Any, kind: Any, symbol: str, a: Any, b: Any) -> Any:
    """a `symbol` b, false if one is nan."""
    if is_float(kind):
        return builder.fcmp_ordered(symbol, a, b)
    signed = kind != types.boolean and kind.signed
    return (builder.icmp_signed if signed else builder.icmp_unsigned)(symbol, a, b)


def times(builder: Any, kind: Any, values: tuple[Any, ...]) -> Any:
    g, p = values
    floating = is_float(kind)
    product = builder.fmul(g, p) if floating else builder.mul(g, p)
    zero = ir.Constant(g.type, 0)
    either = builder.or_(
        compare(builder, kind, "==", g, zero), compare(builder, kind, "==", p, zero)
    )
    return builder.select(either, zero, product)


def wrap(builder: Any, kind: Any, values: tuple[Any, ...]) -> Any:
    i, n = values
    negative = builder.icmp_signed("<", i, ir.Constant(i.type, 0))
    return builder.select(negative, builder.add(i, n), i)


def behind(builder: Any, kind: Any, values: tuple[Any, ...]) -> Any:
    start, length, step, extent = values
    zero = ir.Constant(start.type, 0)
    stop = builder.add(start, builder.mul(length, step))
    out = builder.and_(builder.icmp_signed("<", step, zero), builder.icmp_signed("<", stop, zero))
    stop = builder.select(out, builder.sub(stop, extent), stop)
    return builder.select(builder.icmp_signed("==", length, zero), start, stop)


def sign(builder: Any, kind: Any, values: tuple[Any, ...]) -> Any:
    (x,) = values
    zero, one, minus = (ir.Constant(x.type, v) for v in (0, 1, -1))
    below = builder.select(compare(builder, kind, "<", x, zero), minus, x)
    return builder.select(compare(builder, kind, ">", x, zero), one, below)


def fmod(builder: Any, kind: Any, values: tuple[Any, ...]) -> Any:
    """The remainder with the sign of x; integers by 0 give 0, as in NumPy."""
    x, y = values
    if is_float(kind):
        return builder.frem(x, y, flags=STRICT)
    zero, one = ir.Constant(y.type, 0), ir.Constant(y.type, 1)
    unsafe = builder.icmp_signed("==", y, zero)
    if not kind.signed:
        return builder.urem(x, builder.select(unsafe, one, y))
    unsafe = builder.or_(unsafe, builder.icmp_signed("==", y, ir.Constant(y.type, -1)))
    return builder.srem(x, builder.select(unsafe, one, y))


def extremum(symbol: str) -> Emit:
    """The larger or smaller one; nan if one is nan."""

    def emit(builder: Any, kind: Any, values: tuple[Any, ...]) -> Any:
        a, b = values
        first = compare(builder, kind, symbol, a, b)
        if is_float(kind):
            first = builder.or_(first, builder.fcmp_unordered("uno", a, a))
        return builder.select(first, a, b)

    return emit


def strict(name: str) -> Emit:
    """An operation that is done as written, also in code that is compiled with fastmath."""

    def emit(builder: Any, kind: Any, values: tuple[Any, ...]) -> Any:
        if is_float(kind):
            return getattr(builder, f"f{name}")(*values, flags=STRICT)
        return getattr(builder, name)(*values)

    return emit
