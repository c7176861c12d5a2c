"""The rule tester: walks every declared operation; a new declaration needs no line here.

It does not see an operation that should have been declared, nor points beside the samples; the
values at kinks and poles are a table at the end.
"""

import inspect
import itertools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

import mpmath
import numba
import numpy as np
import pytest

from srcad import ops
from srcad.ir.builder import Builder
from srcad.ir.nodes import Atom, Block, Const, Let, Var, const
from srcad.ir.types import FLOAT, Scalar, is_float
from srcad.ops.declaration import Operation, Registry, declare
from srcad.ops.polygamma import digamma, polygamma
from srcad.runtime import special, support

# Relative to the larger of 1 and the value.
ROUNDING = {"float64": 1e-14, "float32": 1e-5}  # the same function computed twice: some ulps
EXTENDED = 1e-12  # differences of long doubles, extrapolated
DOUBLE = 1e-7  # differences of doubles, extrapolated: half the digits are cancelled
SERIES = 1e-13  # digamma and its kin against mpmath

STRUCTURAL = ("select", "times", "cast", "dim")  # their derivatives are in transform.rules
DECLARED = ops.all_operations()
NAMED = {f"{op.name}": op for op in DECLARED}


def over(chosen: Iterable[Operation]) -> pytest.MarkDecorator:
    found = tuple(chosen)
    return pytest.mark.parametrize("op", found, ids=[op.name for op in found])


every = over(DECLARED)


def kinds(op: Operation, sample: tuple[float, ...], width: str) -> tuple[str, ...]:
    """The dtypes of the arguments: floats of this width, unless the sample has ints or bools."""
    own = {bool: "bool", int: "int64", float: width}
    return tuple(own[type(x)] for x in sample)


def numbers(sample: tuple[float, ...], dtypes: tuple[str, ...]) -> list[Any]:
    return [np.dtype(dtype).type(x) for x, dtype in zip(sample, dtypes, strict=True)]


def space() -> dict[str, Any]:
    """What generated code sees."""
    found = {**vars(special), **vars(support)}
    return {**found, "math": math, "np": np}


def text(op: Operation, names: list[str]) -> str:
    """The emitted code, with every operand in parentheses."""
    return op.emit.format(*(f"({name})" for name in names))


def close(got: Any, want: Any, tolerance: float) -> None:
    got, want = float(got), float(want)
    if math.isnan(want) or math.isinf(want):
        np.testing.assert_equal(got, want)
        return
    assert abs(got - want) <= tolerance * max(1.0, abs(want)), f"{got!r} instead of {want!r}"


# -- typing and value


@over(op for op in DECLARED if op.numpy in op.spellings)  # a ufunc, which has types
def test_typing_is_numpy(op: Operation) -> None:
    """Of every pair of dtypes that NumPy computes in; the rest is documented in `promotion`."""
    for dtypes in itertools.product(("float64", "float32", "int64", "int32"), repeat=op.arity):
        ones = [np.dtype(dtype).type(1) for dtype in dtypes]
        with np.errstate(all="ignore"):
            try:
                want = op.numpy(*ones).dtype.name
            except TypeError:
                with pytest.raises(TypeError):
                    op.typing(dtypes)
                continue
        assert op.typing(dtypes)[1] == want, dtypes


def reference(op: Operation, values: list[Any]) -> Any:
    with np.errstate(all="ignore"):
        return op.numpy(*values)


@over(op for op in DECLARED if op.name != "dim")  # it takes an array
def test_emitted_code_has_numpys_value(op: Operation) -> None:
    names = list("xyz"[: op.arity])
    for sample, width in itertools.product(op.samples, ROUNDING):
        dtypes, out = op.typing(kinds(op, sample, width))
        values = numbers(sample, dtypes)
        with np.errstate(all="ignore"):
            got = eval(text(op, names), space(), dict(zip(names, values, strict=True)))
        close(got, reference(op, values), ROUNDING["float32" if "float32" in dtypes else out]
              if out in ROUNDING else 0.0)  # fmt: skip


@pytest.mark.compiles
@pytest.mark.parametrize("width", ROUNDING)
def test_compiled_code_has_numpys_value_and_type(width: str) -> None:
    """All operations in one function: a float32 stays float32, and nothing raises at a pole."""
    tested = [op for op in DECLARED if op.name not in ("dim", "cast")]
    params = [[f"{op.name}_{k}" for k in range(op.arity)] for op in tested]
    texts = [text(op, names) for op, names in zip(tested, params, strict=True)]
    parts = [", ".join(texts[k : k + 20]) for k in range(0, len(texts), 20)]
    code = f"def f({', '.join(name for names in params for name in names)}):\n"
    code += f"    return ({', '.join(f'({part},)' for part in parts)})\n"
    namespace = space()
    exec(code, namespace)
    compiled = numba.njit(error_model="numpy")(namespace["f"])
    for turn in range(max(len(op.samples) for op in tested)):
        args = [sampled(op, turn, width) for op in tested]
        got = [value for part in compiled(*itertools.chain(*args)) for value in part]
        for op, values, value in zip(tested, args, got, strict=True):
            close(value, reference(op, values), ROUNDING[width])
    (signature,) = compiled.nopython_signatures
    types = [str(type) for part in signature.return_type for type in part]
    wanted = [op.typing(kinds(op, op.samples[0], width))[1] for op in tested]
    names = [op.name for op in tested]
    assert dict(zip(names, types, strict=True)) == dict(zip(names, wanted, strict=True))


def sampled(op: Operation, turn: int, width: str) -> list[Any]:
    """The arguments of one of the samples, as numbers of this width."""
    sample = op.samples[turn % len(op.samples)]
    return numbers(sample, op.typing(kinds(op, sample, width))[0])


# -- derivatives


def evaluate(stmts: tuple[Any, ...], env: dict[Atom, Any]) -> None:
    """Runs Lets with the reference values; every result has the dtype that its Let claims."""
    for stmt in stmts:
        assert isinstance(stmt, Let)
        values = [known(env, arg) for arg in stmt.args]
        for arg, value in zip(stmt.args, values, strict=True):
            assert arg.type.dtype == np.asarray(value).dtype.name
        dtype = np.dtype(stmt.out.type.dtype)
        env[stmt.out] = dtype.type(reference(NAMED[stmt.op], values))


def known(env: dict[Atom, Any], atom: Atom) -> Any:
    return np.dtype(atom.type.dtype).type(atom.value) if isinstance(atom, Const) else env[atom]


class Recorded:
    """The partial of an operation in argument k, as a program of its own."""

    def __init__(self, op: Operation, k: int, dtypes: tuple[str, ...]) -> None:
        self.builder = Builder()
        types, out = op.typing(dtypes)
        self.op, self.types = op, types
        self.args = tuple(self.builder.var(Scalar(dtype)) for dtype in types)
        self.let = Let(self.builder.var(Scalar(out), "out"), op.name, self.args)
        self.result = ops.partial(self.builder, self.let, k)
        self.body: Block = self.builder.finish()

    def env(self, sample: tuple[float, ...]) -> dict[Atom, Any]:
        values = numbers(sample, self.types)
        env: dict[Atom, Any] = dict(zip(self.args, values, strict=True))
        env[self.let.out] = np.dtype(self.let.out.type.dtype).type(reference(self.op, values))
        return env

    def value(self, sample: tuple[float, ...]) -> Any:
        env = self.env(sample)
        evaluate(self.body.stmts, env)
        assert self.result is not None
        return known(env, self.result)


def slope(function: Callable[[Any], Any], x: float, dtype: type) -> float:
    """Central differences extrapolated to step 0 (Ridders 1982): the least error estimate wins.

    Long doubles give 13 digits, doubles 8.
    """
    best, error = math.nan, math.inf
    before: list[Any] = []
    for level in range(14):
        step = dtype(0.0625) / 2**level
        with np.errstate(all="ignore"):
            up, down = dtype(x) + step, dtype(x) - step
            row = [(function(up) - function(down)) / (up - down)]
            for k, coarse in enumerate(before):
                factor = dtype(4 ** (k + 1))
                row.append((factor * row[k] - coarse) / (factor - 1))
                estimate = max(abs(row[-1] - row[-2]), abs(row[-1] - coarse))
                if estimate < error:
                    best, error = float(row[-1]), estimate
        before = row
    return best


def cases(op: Operation) -> list[tuple[int, tuple[float, ...]]]:
    """(argument, sample) of all derivatives that the declaration makes a claim about."""
    if op.name in STRUCTURAL or op.typing(kinds(op, op.samples[0], "float64"))[1] != "float64":
        return []
    found = itertools.product(range(op.arity), op.samples)
    return [(k, sample) for k, sample in found if type(sample[k]) is float]


@every
def test_partials_are_slopes(op: Operation) -> None:
    wide = isinstance(op.numpy, np.ufunc) and "g->g" in "".join(op.numpy.types)
    dtype, tolerance = (np.longdouble, EXTENDED) if wide else (np.float64, DOUBLE)
    for k, sample in cases(op):

        def moved(t: Any, k: int = k, sample: tuple[float, ...] = sample) -> Any:
            values = [dtype(x) if type(x) is float else np.int64(x) for x in sample]
            values[k] = t
            return op.numpy(*values)

        want = slope(moved, sample[k], dtype)
        made = Recorded(op, k, kinds(op, sample, "float64"))
        got = 0.0 if made.result is None else made.value(sample)
        close(got, want, tolerance)


@every
def test_partials_in_single_precision(op: Operation) -> None:
    """Every step is in float32 (`evaluate` looks), and the value is that of float64."""
    for k, sample in cases(op):
        single = Recorded(op, k, kinds(op, sample, "float32"))
        if single.result is None:
            continue
        assert single.result.type == Scalar("float32")
        rounded = tuple(float(np.float32(x)) if type(x) is float else x for x in sample)
        double = Recorded(op, k, kinds(op, sample, "float64"))
        want = double.value(rounded)
        close(single.value(sample), want, 30 * ROUNDING["float32"])


@every
def test_second_order(op: Operation) -> None:
    """The tangent of each partial's own program is the slope of its value.

    A partial made of constants is left out; so are third derivatives.
    """
    for k, sample in cases(op):
        made = Recorded(op, k, kinds(op, sample, "float64"))
        for j, x in enumerate(sample):
            if made.result is None or not isinstance(made.result, Var) or type(x) is not float:
                continue

            def moved(t: Any, j: int = j, sample: tuple[float, ...] = sample) -> Any:
                return made.value((*sample[:j], float(t), *sample[j + 1 :]))  # noqa: B023

            close(tangent(made, sample, j), slope(moved, x, np.float64), DOUBLE)


def tangent(made: Recorded, sample: tuple[float, ...], j: int) -> Any:
    """The derivative of a partial along argument j, forwards through its statements."""
    env = made.env(sample)
    dots: dict[Atom, Any] = {made.args[j]: np.float64(1.0)}
    for stmt in (made.let, *made.body.stmts):
        if stmt is not made.let:
            evaluate((stmt,), env)
        total = np.float64(0.0)
        for i, arg in enumerate(stmt.args):
            if arg in dots and is_float(stmt.out.type):
                total = total + contribution(stmt, i, env, dots[arg])
        dots[stmt.out] = total
    return dots.get(made.result, 0.0)


def contribution(let: Let, i: int, env: dict[Atom, Any], dot: Any) -> Any:
    if let.op == "select":
        return dot if i == (1 if known(env, let.args[0]) else 2) else 0.0
    builder = Builder(1000)
    partial = ops.partial(builder, let, i)
    if partial is None or dot == 0:
        return 0.0
    inner = dict(env)
    evaluate(builder.finish().stmts, inner)
    with np.errstate(all="ignore"):  # in the arm of a select that is not taken
        return dot * known(inner, partial)


@every
def test_partials_read_what_they_say(op: Operation) -> None:
    for k, sample in cases(op):
        made = Recorded(op, k, kinds(op, sample, "float64"))
        if made.result is None:
            continue
        read = {made.result} | {arg for stmt in made.body.stmts for arg in stmt.args}
        assert ops.partial_reads(made.let, k) == read & {*made.args, made.let.out}


def test_linear_operations_keep_nothing() -> None:
    x, y = Var(0, FLOAT), Var(1, FLOAT)
    for name in ("add", "sub"):
        for k in (0, 1):
            assert ops.partial_reads(Let(Var(2, FLOAT), name, (x, y)), k) == frozenset()
    product = Let(Var(2, FLOAT), "mul", (x, const(2.0, "float64")))
    assert ops.partial_reads(product, 0) == frozenset()
    square = Let(Var(2, FLOAT), "powi", (x, const(2)))
    assert ops.partial_reads(square, 0) == {x}


# -- values at kinks and poles: DESIGN section 10

INFINITY, NAN = math.inf, math.nan
KINKS = (
    ("abs", 0, (0.0,), 0.0),
    ("fabs", 0, (-0.0,), 0.0),
    ("maximum", 0, (1.5, 1.5), 0.5),
    ("maximum", 1, (1.5, 1.5), 0.5),
    ("minimum", 0, (1.5, 1.5), 0.5),
    ("minimum", 1, (1.5, 1.5), 0.5),
    ("fmax", 0, (1.5, 1.5), 0.5),
    ("fmax", 0, (1.5, NAN), 1.0),
    ("fmax", 1, (1.5, NAN), 0.0),
    ("fmin", 1, (NAN, 1.5), 1.0),
    ("pow", 0, (0.0, 0.0), 0.0),
    ("pow", 0, (2.0, 0.0), 0.0),
    ("pow", 0, (0.0, 1.0), 1.0),
    ("pow", 0, (0.0, 0.5), INFINITY),
    ("pow", 0, (-2.0, 3.0), 12.0),
    ("pow", 1, (0.0, 2.0), 0.0),
    ("pow", 1, (-2.0, 3.0), NAN),
    ("powi", 0, (0.0, 0), 0.0),
    ("powi", 0, (0.0, 1), 1.0),
    ("powi", 0, (0.0, 2), 0.0),
    ("sqrt", 0, (0.0,), INFINITY),
    ("cbrt", 0, (0.0,), INFINITY),
    ("log", 0, (0.0,), INFINITY),
    ("hypot", 0, (0.0, 0.0), 0.0),
    ("hypot", 1, (0.0, 0.0), 0.0),
    ("arcsin", 0, (1.0,), INFINITY),
    ("copysign", 0, (0.0, -1.0), 0.0),
    ("copysign", 0, (2.0, -0.0), -1.0),
    ("fmod", 1, (6.0, 2.0), -3.0),
    ("mod", 1, (-6.0, 2.0), 3.0),
    ("mod", 1, (0.6, 0.2), -2.0),
    ("fmod", 0, (6.0, 2.0), 1.0),
)


@pytest.mark.parametrize(("name", "k", "sample", "want"), KINKS)
def test_kinks(name: str, k: int, sample: tuple[float, ...], want: float) -> None:
    made = Recorded(NAMED[name], k, kinds(NAMED[name], sample, "float64"))
    np.testing.assert_equal(float(made.value(sample)) + 0.0, want)


@pytest.mark.parametrize("name", ["sign", "floor", "ceil", "trunc", "rint", "floordiv"])
def test_steps_are_flat(name: str) -> None:
    assert set(NAMED[name].partials) == {None}
    assert NAMED[name].jumps


# -- digamma and its kin


@pytest.mark.parametrize("order", [0, 1, 2, 3])
def test_polygamma(order: int) -> None:
    """Relative to the value and to its condition, which rules next to a zero of the function."""
    mpmath.mp.dps = 30
    points = (
        1e-5,
        0.3,
        1.0,
        1.4616,
        1.47,
        3.0,
        11.99,
        12.01,
        1e3,
        1e9,
        -0.5,
        -0.999,
        -7.3,
        -1e4 / 3,
    )
    for x in points:
        want = mpmath.polygamma(order, mpmath.mpf(x))
        condition = abs(x * mpmath.polygamma(order + 1, mpmath.mpf(x)))
        error = abs(polygamma(order, x) - want)
        assert error <= SERIES * abs(want) + 1e-15 * condition, x


def test_polygamma_at_poles() -> None:
    assert (digamma(0.0), digamma(-0.0)) == (-INFINITY, INFINITY)
    assert math.isnan(digamma(-1.0)) and math.isnan(digamma(NAN)) and math.isnan(polygamma(1, NAN))
    assert polygamma(1, -2.0) == INFINITY and math.isnan(polygamma(2, -2.0))
    assert digamma(INFINITY) == INFINITY and polygamma(1, INFINITY) == 0.0
    assert special.digamma(np.float32(2.0)).dtype == np.float32


# -- the registry


def test_lookup() -> None:
    for op in DECLARED:
        for spelling in op.spellings:
            assert ops.lookup(spelling) is op
    assert ops.lookup(np.tanh) is ops.lookup(math.tanh) is NAMED["tanh"]
    assert ops.lookup(operator.mul) is NAMED["mul"]
    assert ops.lookup(print) is None


@pytest.mark.parametrize(
    "change",
    [{"name": "tanh"}, {"spellings": (np.tanh,)}, {"samples": ()}, {"samples": ((1.0, 2.0),)}],
)
def test_registration_refuses(change: dict[str, Any]) -> None:
    """A name or spelling that is taken, no samples, samples of the wrong length."""
    given = {"name": "new", "spellings": (), "samples": ((1.0,),), **change}
    known = [op.name for op in ops.all_operations()]
    typing = NAMED["tanh"].typing
    with pytest.raises(AssertionError):
        declare(
            given["name"], given["spellings"], None,
            typing=typing, numpy=np.tanh, samples=given["samples"],
        )  # fmt: skip
    assert [op.name for op in ops.all_operations()] == known


def test_support_exists() -> None:
    """What generated code imports is there, under the declared name."""
    for op in DECLARED:
        if op.support is not None:
            assert inspect.isroutine(space()[op.support]) or callable(space()[op.support])
    assert Registry().operations == {}
