"""Generated code against the IR's own meaning, and how it reads."""

import itertools
import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from ir_evaluator import evaluate
from random_ir import Generator

from srcad import ops
from srcad.codegen import source
from srcad.errors import Loc
from srcad.ir.builder import Builder
from srcad.ir.nodes import (
    Atom,
    For,
    Function,
    If,
    NewAxis,
    Permute,
    Reshape,
    Slice,
    Subscript,
    Var,
    While,
    const,
)
from srcad.ir.trees import Group, Leaf, Nothing
from srcad.ir.types import BOOL, FLOAT, INT, Array, Scalar
from srcad.ir.verifier import verify
from srcad.runtime import support, vectormath
from srcad.runtime.compile import compile_function
from srcad.runtime.interpret import interpret

ROUNDING = 1e-12  # fast-math sums of a few terms of size 1
ULPS = 4  # what glibc promises for libmvec
VALUES = (0.0, -0.0, 1.5, -2.0, math.inf, -math.inf, math.nan)


def finished(b: Builder, name: str, params: tuple[Var, ...], *results: Atom) -> Function:
    """A function of plain parameters that gives a tuple of its results."""
    takes = tuple((p.hint, Leaf()) for p in params)
    gives = Leaf() if len(results) == 1 else Group((Leaf(),) * len(results))
    made = Function(name, params, b.finish(*results), takes, gives)
    verify(made, ops.result_type)
    return made


def body_of(function: Function) -> str:
    """The generated text below the function's head."""
    return source(function).text.split(":\n", 1)[1]


# -- random programs


def random_arguments() -> tuple[Any, ...]:
    ends = np.linspace(-1.0, 1.0, 5), np.linspace(0.5, 0.9, 5)
    return (np.float64(0.3), np.float64(-0.8), 4, *ends)


@pytest.mark.parametrize("start", range(0, 400, 50))
def test_random_programs_interpreted(start: int) -> None:
    """Bit for bit. Sees no error in operations: they are NumPy's on both sides."""
    for seed in range(start, start + 50):
        function = Generator(seed).function()
        verify(function, ops.result_type)
        expected = evaluate(function, *random_arguments())
        found = interpret(function)(*random_arguments())
        for a, b in zip(found, expected, strict=True):
            np.testing.assert_array_equal(a, b, err_msg=f"seed {seed}")


@pytest.mark.compiles
@pytest.mark.parametrize("seed", [103, 110, 114, 127])
def test_random_programs_compiled(seed: int) -> None:
    function = Generator(seed).function()
    expected = evaluate(function, *random_arguments())
    found = compile_function(function)(*random_arguments())
    for a, b in zip(found, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=ROUNDING, atol=ROUNDING)


def test_the_same_text_every_time() -> None:
    assert source(Generator(5).function()) == source(Generator(5).function())


# -- how it reads


def squares(b: Builder) -> Function:
    """The example of the README: a loop, a branch, an accumulator."""
    x = b.var(Array("float64", 1), "x")
    i, s, out = b.var(INT, "i"), b.var(FLOAT, "s"), b.var(FLOAT, "s")
    b.loc = Loc("/somewhere/f.py", 3)
    stop = b.dim(x, 0)
    with b.block() as body:
        b.loc = Loc("/somewhere/f.py", 4)
        t = ops.apply(b, "sin", b.load(x, i), hint="t")
        cond = ops.apply(b, "gt", t, const(0.0, "float64"))
        with b.block() as then:
            b.loc = Loc("/somewhere/f.py", 6)
            more = ops.apply(b, "add", s, ops.apply(b, "mul", t, t))
        b.loc = Loc("/somewhere/f.py", 5)
        b.add(If(cond, then.finish(more), Builder().finish(s), (out,), b.loc))
    end = b.like(s)
    carried = ((s, const(0.0, "float64")),)
    b.add(For(i, stop, carried, body.finish(out), (end,), Loc("/somewhere/f.py", 3)))
    return finished(b, "f", (x,), end)


def test_reads_like_the_users_program() -> None:
    assert source(squares(Builder())).text == (
        "import math\n"
        "\n"
        "from srcad.runtime.support import compiled\n"
        "\n"
        "\n"
        "@compiled\n"
        "def f(x):\n"
        "    s = 0.0\n"
        "    # f.py:3\n"
        "    for i in range(x.shape[0]):\n"
        "        # f.py:4\n"
        "        t = math.sin(x[i])\n"
        "        # f.py:5\n"
        "        if t > 0.0:\n"
        "            # f.py:6\n"
        "            s += t * t\n"
        "    return s\n"
    )


def looped(start: int, step: int, *, used: bool = False) -> str:
    """`for i in range(start, n, step)` as the tracer writes it, and its reversal."""
    b = Builder()
    n, x = b.var(INT, "n"), b.var(Array("float64", 1), "x")
    span = ops.apply(b, "sub", n, const(start))
    if step != 1:
        span = ops.apply(b, "add", span, const(step - 1))
        span = ops.apply(b, "floordiv", span, const(step))
    trips = ops.apply(b, "maximum", span, const(0))
    for backwards in (False, True):
        index = b.var(INT, "back" if backwards else "i")
        with b.block() as body:
            at: Atom = index
            if backwards:
                at = ops.apply(b, "sub", ops.apply(b, "sub", trips, const(1)), index, hint="i")
            place = ops.apply(b, "add", const(start), ops.apply(b, "mul", at, const(step)))
            b.store(x, (place,), const(1.0, "float64"))
            if used:
                b.store(x, (index,), const(1.0, "float64"))
        b.add(For(index, trips, (), body.finish(), ()))
    return body_of(finished(b, "f", (n, x)))


def test_ranges() -> None:
    def heads(text: str) -> list[str]:
        return [line.strip() for line in text.splitlines() if "for " in line]

    assert heads(looped(0, 1)) == ["for i in range(n):", "for i in range(n - 1, -1, -1):"]
    assert heads(looped(2, 1)) == ["for i in range(2, n):", "for i in range(n - 1, 1, -1):"]
    assert heads(looped(1, 2))[0] == "for i in range(1, n, 2):"
    assert heads(looped(2, 1, used=True))[0] == "for i in range(n - 2):"
    assert "x[i] = 1.0" in looped(2, 1) and "x[at(i)] = 1.0" in looped(2, 1)


def test_carried_names_that_depend_on_each_other() -> None:
    b = Builder()
    n, u, v = b.var(INT, "n"), b.var(FLOAT, "u"), b.var(FLOAT, "v")
    with b.block() as body:
        following = ops.apply(b, "add", u, v)
    ones = const(0.0, "float64"), const(1.0, "float64")
    outs = b.like(u), b.like(v)
    carried = tuple(zip((u, v), ones, strict=True))
    b.add(For(b.var(INT, "i"), n, carried, body.finish(v, following), outs))
    fibonacci = finished(b, "fibonacci", (n,), outs[0])
    assert "        u, v = v, u + v\n" in body_of(fibonacci)
    assert [interpret(fibonacci)(n) for n in range(8)] == [0, 1, 1, 2, 3, 5, 8, 13]


def test_chain_of_branches_is_elif_and_empty_arms_vanish() -> None:
    b = Builder()
    x, out, inner = b.var(FLOAT, "x"), b.var(FLOAT, "y"), b.var(FLOAT, "y")
    one, two = const(1.0, "float64"), const(2.0, "float64")
    first = ops.apply(b, "lt", x, one)
    with b.block() as orelse:
        second = ops.apply(b, "lt", x, two)
        b.add(If(second, Builder().finish(two), Builder().finish(x), (inner,)))
    b.add(If(first, Builder().finish(one), orelse.finish(inner), (out,)))
    third = ops.apply(b, "lt", out, two)
    b.add(If(third, Builder().finish(), Builder().finish(), ()))
    text = body_of(finished(b, "f", (x,), out))
    assert [line.strip() for line in text.splitlines()] == [
        "if x < 1.0:", "y = 1.0", "elif x < 2.0:", "y = 2.0", "else:", "y = x", "return y",
    ]  # fmt: skip


def test_structured_parameters_and_results() -> None:
    b = Builder()
    x, y, z = (b.var(FLOAT, name) for name in "xyz")
    takes = (("p", Group((Leaf(), Group((Leaf(),))))), ("q", Nothing()))
    gives = Group((Leaf(), Nothing(), Group((Leaf(),))))
    f = Function("f", (z, x, y), b.finish(x, ops.apply(b, "mul", y, z)), takes, gives, captured=1)
    assert "def f(z, p, q):\n    p_0, p_1 = p\n    p_1_0, = p_1\n" in source(f).text
    assert interpret(f)(10.0, (1.0, (2.0,)), None) == (1.0, None, (20.0,))


def test_checks_name_values() -> None:
    b = Builder()
    n = b.var(INT, "n")
    b.check(ops.apply(b, "lt", n, const(3)), "IndexError", 'no "{}" of {{3}}', n)
    f = finished(b, "f", (n,), n)
    with pytest.raises(IndexError, match='no "5" of'):
        interpret(f)(5)
    assert "if not n < 3:" in source(f).text


def test_an_index_that_may_look_negative_is_retyped() -> None:
    b = Builder()
    x, n = b.var(Array("float64", 1), "x"), b.var(INT, "n")
    last = ops.apply(b, "sub", n, const(1))
    f = finished(b, "f", (x, n), b.load(x, last), b.load(x, const(0)))
    assert "return (x[at(n - 1)], x[0])" in source(f).text


# -- memory


def test_loads_stay_before_writes() -> None:
    """A value read before a write to the same memory keeps a line of its own."""
    b = Builder()
    x, y = b.var(Array("float64", 1), "x"), b.alloc("float64", (const(2),), hint="y")
    old = b.load(x, const(0), hint="old")
    b.store(x, (const(0),), const(5.0, "float64"))
    other = b.load(x, const(1))
    b.store(y, (const(0),), const(5.0, "float64"))
    f = finished(b, "f", (x,), old, other)
    assert "old = x[0]\n    x[0] = 5.0" in source(f).text
    assert "return (old, x[1])" in source(f).text
    assert interpret(f)(np.array([1.0, 2.0])) == (1.0, 2.0)


def views(b: Builder) -> Function:
    """Slices with steps of both signs, known or not, new axes, orders, reshapes, small dtypes."""
    x, step = b.var(Array("float64", 2), "x"), b.var(INT, "step")
    rows, columns = b.dim(x, 0), b.dim(x, 1)
    last = ops.apply(b, "sub", columns, const(1))

    def columns_of(start: Atom, length: Atom, by: Atom) -> Var:
        whole = Slice(const(0), rows, const(1))
        return b.view(x, Subscript((whole, Slice(start, length, by))))

    made: list[Var] = [
        columns_of(last, columns, const(-1)),
        columns_of(last, const(2), const(-2)),
        columns_of(const(1), const(2), const(2)),
        columns_of(const(-1), const(0), const(-1)),
        columns_of(last, const(2), step),
        columns_of(const(1), const(3), const(1)),
        b.view(x, Permute((1, 0))),
        b.view(x, Reshape((ops.apply(b, "mul", rows, columns),))),
    ]
    line = b.view(x, Subscript((Slice(const(0), rows, const(1)), NewAxis(), Slice(const(0), columns, const(1)))))  # noqa: E501  # fmt: skip
    made += [line, b.view(line, Permute((2, 0, 1)))]
    small = b.alloc("float32", (const(2), const(3)), const(0.5, "float32"), layout="F")
    half = ops.apply(b, "mul", b.load(small, const(1), const(2)), const(0.1, "float32"))
    b.store(small, (const(0), const(1)), half)
    flags = b.alloc("bool", (const(2),), const(False, "bool"))
    b.store(flags, (const(1),), ops.apply(b, "lt", half, const(0.2, "float32")))
    wide = ops.apply(b, "cast", half, type=FLOAT)
    byte = ops.apply(b, "cast", ops.apply(b, "mul", step, const(100)), type=Scalar("int8"))
    byte = ops.apply(b, "add", byte, const(1, "int8"))
    back = ops.apply(b, "cast", byte, type=INT)
    return finished(b, "views", (x, step), *made, small, flags, wide, back)


@pytest.mark.compiles
def test_views_and_dtypes() -> None:
    function, x = views(Builder()), np.arange(12.0).reshape(3, 4)
    expected = evaluate(function, x, np.int64(-3))
    for run in (interpret(function), compile_function(function)):
        for found, want in zip(run(x, -3), expected, strict=True):
            np.testing.assert_array_equal(found, want)
            if isinstance(found, np.ndarray):
                assert found.dtype == want.dtype
                assert np.shares_memory(found, x) == np.shares_memory(want, x)


@pytest.mark.compiles
@pytest.mark.parametrize("layout", ["C", "F", "A"])
def test_matmul_of_any_strides(layout: str) -> None:
    random = np.random.default_rng(1)
    a, b = random.standard_normal((3, 8))[:, ::2], random.standard_normal((4, 2)).copy("F")
    out = {"C": np.ones((3, 2)), "F": np.ones((3, 2), order="F"), "A": np.ones((6, 4))[::2, ::2]}

    @support.compiled
    def product(a: Any, b: Any, out: Any) -> None:
        support.matmul(a, b, out)
        support.matmul_add(a, b, out)

    for run in (product, product.py_func):
        run(a, b, out[layout])
        np.testing.assert_allclose(out[layout], 2 * a @ b, rtol=ROUNDING)


def tape(b: Builder) -> Function:
    """Halves x until it is small and keeps every value; gives the number and the sum of them."""
    x = b.var(FLOAT, "x")
    kept = b.alloc("float64", (const(2),), hint="kept")
    k, go, y = b.var(INT, "k"), b.var(BOOL, "go"), b.var(FLOAT, "y")
    small = const(1e-3, "float64")
    first = ops.apply(b, "gt", x, small)
    with b.block() as body:
        b.grow(kept, ops.apply(b, "add", k, const(1)))
        b.store(kept, (k,), y)
        half = ops.apply(b, "mul", y, const(0.5, "float64"))
        again = ops.apply(b, "gt", half, small)
    trips, outs = b.var(INT, "trips"), (b.like(go), b.like(y))
    b.add(While(k, ((go, first), (y, x)), body.finish(again, half), outs, trips))
    i, s, total = b.var(INT, "i"), b.var(FLOAT, "s"), b.var(FLOAT, "s")
    with b.block() as adding:
        more = ops.apply(b, "add", s, b.load(kept, i))
    b.add(For(i, trips, ((s, const(0.0, "float64")),), adding.finish(more), (total,)))
    return finished(b, "tape", (x,), trips, total)


@pytest.mark.compiles
def test_a_tape_grows_outside_the_fast_loop() -> None:
    function = tape(Builder())
    assert body_of(function).split("    for ")[0] == (
        "    kept = np.empty(2)\n"
        "    go = x > 0.001\n"
        "    y = x\n"
        "    k = 0\n"
        "    while go:\n"
        "        room = kept.shape[0]\n"
        "        while go and k < room:\n"
        "            kept[k] = y\n"
        "            y *= 0.5\n"
        "            go = y > 0.001\n"
        "            k += 1\n"
        "        if go:\n"
        "            kept = grow(kept, k + 1)\n"
        "    s = 0.0\n"
    )
    for x in (5.0, 0.0):
        expected = evaluate(function, np.float64(x))
        assert interpret(function)(x) == tuple(expected)
        assert compile_function(function)(x) == pytest.approx(tuple(expected), rel=ROUNDING)


# -- arithmetic


@pytest.mark.compiles
def test_what_decides_a_jump_is_not_reordered() -> None:
    """floor(k * 49 / 49) is k for every multiple; with reciprocals it was not for half of them."""
    b = Builder()
    x = b.var(FLOAT, "x")
    up = ops.apply(b, "mul", x, const(49.0, "float64"))
    down = ops.apply(b, "div", up, const(49.0, "float64"))
    f = finished(b, "f", (x,), ops.apply(b, "floor", down), down)
    assert "strict_div(strict_mul(x, 49.0), 49.0)" in source(f).text
    run = compile_function(f)
    for k in range(200):
        assert run(k / 7.0)[0] == math.floor(k / 7.0 * 49.0 / 49.0)


def test_poles_as_in_compiled_code() -> None:
    """Interpreted, a pole gives inf or nan, and int() of nan raises nothing."""
    b = Builder()
    x = b.var(FLOAT, "x")
    zero = const(0.0, "float64")
    results = [ops.apply(b, "div", const(1.0, "float64"), x)]
    results += [ops.apply(b, name, x) for name in ("log", "sqrt", "arctanh")]
    results.append(ops.apply(b, "cast", ops.apply(b, "div", zero, x), type=INT))
    f = finished(b, "f", (x,), *results)
    assert interpret(f)(0.0)[:4] == (math.inf, -math.inf, 0.0, 0.0)
    assert math.isnan(interpret(f)(-1.0)[1])


def table(x: Any, y: Any, i: Any, n: Any, c: Any) -> Any:
    return (
        support.times(x, y),
        support.select(c, x, y),
        support.select(c, 1, i),
        support.sign(x),
        support.sign(i),
        support.maximum(x, y),
        support.minimum(x, y),
        support.maximum(i, 0),
        support.minimum(n, i),
        support.strict_sub(x, y),
        support.strict_div(x, y),
        support.wrap(i, n),
        support.within(i, n),
        support.behind(i, n, -1, 7),
        support.fmod(x, y),
        support.floordiv(x, y),
        support.mod(x, y),
        support.floordiv(n, i),
        support.mod(n, i),
        support.fmod(n, i),
    )


@pytest.mark.compiles
def test_support_is_the_same_compiled() -> None:
    """At zeros of both signs, infinities, nan; the quotient and the remainder are NumPy's."""
    fast = support.compiled(_in_memory(table))
    others = (0.1, -0.1, 49.0, 1 / 49, 98.00000000000001, 1e300)
    with np.errstate(all="ignore"):
        for x, y in itertools.product((*VALUES, *others), repeat=2):
            for i, n, c in ((-1, 3, True), (2, 5, False), (0, 0, True)):
                plain = table(np.float64(x), np.float64(y), i, n, c)
                np.testing.assert_array_equal(fast(x, y, i, n, c), plain, err_msg=f"{x} {y} {i}")


def _in_memory(function: Callable[..., Any]) -> Callable[..., Any]:
    """The function without a file, so that the tests leave no cache behind."""
    code = function.__code__.replace(co_filename="<test>")
    return type(function)(code, function.__globals__, function.__name__)


def test_every_function_of_vector_math_is_there() -> None:
    vector = {op.vector for op in ops.all_operations() if op.vector}
    assert vector <= {*vectormath.NAMES, *vectormath.BINARY}
    for op in ops.all_operations():
        if op.vector:
            for sample in op.samples:
                found = getattr(vectormath, op.vector)(*sample)
                assert found == pytest.approx(op.numpy(*sample), rel=ROUNDING)


def test_support_has_what_operations_name() -> None:
    named = {op.support for op in ops.all_operations() if op.support} | set(ops.LIBRARY)
    assert [name for name in named if not hasattr(support, name)] == []


@pytest.mark.compiles
@pytest.mark.skipif(not vectormath.AVAILABLE, reason="no libmvec on this machine (issue 3)")
def test_vector_math_is_used_and_precise() -> None:
    b = Builder()
    x, i = b.var(Array("float64", 1), "x"), b.var(INT, "i")
    n = b.dim(x, 0)
    with b.block() as body:
        value = b.load(x, i)
        small = ops.apply(b, "neg", ops.apply(b, "exp", value))
        b.store(x, (i,), ops.apply(b, "sin", small))
    b.add(For(i, n, (), body.finish(), ()))
    f = finished(b, "f", (x,))
    text = source(f, vector_math=True).text
    assert "from srcad.runtime.vectormath import exp, sin\n" in text
    assert "x[i] = sin(-exp(x[i]))" in text
    run, x_ = compile_function(f), np.linspace(-1.0, 0.5, 1001)
    found = x_.copy()
    run(found)
    scale = np.abs(np.cos(np.exp(x_)) * np.exp(x_)) + np.abs(np.sin(np.exp(x_)))
    assert np.all(np.abs(found - np.sin(-np.exp(x_))) <= ULPS * 2.0**-52 * scale)
    assert "_ZGVdN4v_exp" in run.inspect_asm(run.signatures[0])
