"""Array code as the tracer writes it: NumPy's values, derivatives, and the form of the IR.

Interpreted, nothing is compiled. What Python itself computes is the oracle for values, central
differences and the dot-product identity for derivatives; see `test_programs` for what they miss.
"""

import math
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import oracles
import pytest
from corpus.program import Program, Programs

from srcad import ops
from srcad.errors import ShapeError, SrcadError, UnsupportedSyntax
from srcad.ir.nodes import Alloc, Assert, Block, For, If, Let, Map, Stmt, Store, While
from srcad.ir.verifier import verify
from srcad.ir.walk import walk
from srcad.runtime.interpret import interpret
from srcad.runtime.programs import spec
from srcad.tracer import Trace, trace
from srcad.transform.pipeline import prepared

X = np.array([0.3, -0.4, 0.9, 1.2])
Y = np.array([1.1, 0.7, -0.6, 0.2])
A = np.array([[0.6, -0.3, 0.2], [0.1, 0.8, -0.5]])
B = np.arange(24.0).reshape(2, 3, 4) / 10.0 - 1.0
K = np.array([3, -1, 4, 1])
SMALL = np.array([3, -1, 4, 1], dtype=np.int8)
FLAGS = np.array([True, False, True, True])
F32 = X.astype(np.float32)
TABLE = {"w": np.array([[1.0, 2.0, 0.5]])}

PROGRAMS = Programs()


def program(*args: Any, **flags: Any) -> Callable[..., Any]:
    """A program differentiated in all its float arguments."""
    floats = tuple(k for k, a in enumerate(args) if np.asarray(a).dtype.kind == "f")
    return PROGRAMS.add(*args, argnums=floats, **flags)


def value_program(*args: Any) -> Callable[..., Any]:
    """A program whose value alone is compared."""
    return program(*args, kink=True)


# -- elements, slices, views


@program(X, 2)
def elements(x, k):
    return x[0] * x[-1] + x[k] * x[k - 4] + x[-k]


@program(X, 2)
def slices(x, k):
    return x[1:] * x[:-1] + x[k:][0] * x[-3:] + x[:3] * x[-k] + x[1:-1][0] * x[1:4]


@program(X, 1, 3)
def computed_slices(x, a, b):
    return np.sum(x[a:b]) * x[b:a].size + np.sum(x[-b:-a]) + np.sum(x[a:100]) + np.sum(x[-9:b])


@program(B)
def steps(b):
    return b[::-1, ::2, 3:0:-2] * 2.0 + b[:, ::-2, -1:0:-2][..., :1]


@program(np.zeros(0))
def slices_of_nothing(x):
    return np.sum(x[1:]) + np.sum(x[:-1]) + np.sum(x[::-1]) + x[::2].size


@program(B, 1)
def mixed_subscripts(b, k):
    return b[k, ..., 0] * b[0, :, k] + b[:, None, k, 1:3][0, 0, 1] + b[..., 2][k, k]


@program(A)
def rows(a):
    s = 0.0
    for row in a:
        s += row[0] * row[2]
    first, second = a
    return s * first + second


@program(X)
def new_axes(x):
    return (x[:, None] - x[None, :]) * x[np.newaxis, :, None][0]


@program(X)
def view_written(x):
    y = x * 2.0
    z = y[::-2]
    z[0] = x[0] * x[1]
    z *= x[2]
    return y * x


@program(A)
def written_transpose(a):
    y = a * 1.0
    t = y.T
    t[0] = a[:, 1] * a[:, 2]
    t[1:, 0] = a[0, 0]
    return y * a


@program(X)
def overlaps(x):
    y = x * 1.0
    y[1:] = y[:-1]
    y[:-1] *= y[1:]
    y[::-1] += y
    y += y
    return y * x


@program(X, Y)
def aliases(x, y):
    z = x.copy()
    w = z[1:]
    z[:3] = w * y[:3]
    w[...] = z[0]
    z[1:3] -= y[2:] * w[:2]
    return z


@program(A, np.array([[2.0], [0.5]]))
def broadcast_writes(a, c):
    y = np.zeros((2, 3))
    y[:] = c
    y[:, 1:] += a[0, :2]
    y[0] = 3.0
    y[:] *= a[None, 0]
    return y * a


@program(X, FLAGS)
def array_from_bools(x, flags):
    return np.sum(x * flags) + np.sum(flags) * x[0] + np.mean(flags) * x[1]


# -- operators


@program(X, Y)
def operators(x, y):
    return (x - y) / (x * x + 1.0) ** 2 + (-x) ** 3 + x**0 + (y**2.0 + 1.0) ** 0.5 + 2.0**x


@program(X, K)
def integer_exponents(x, k):
    return x**k + x ** k[0] + (x + 2.0) ** (-2)


@program(X, 3)
def quotients(x, n):
    q, r = divmod(x[3] * 7.0, 2.0)
    return q * x + r + x % 0.7 + (x * 5.0) // 1.3 * x + x[2] % n + np.mod(-x, 0.43)


@value_program(K, 3, 2)
def integers(k, n, m):
    a = k // 2 + k % 3 + k**2 + (k & 3) + (k << 1) - (k ^ n) + n**m + divmod(n, m)[0]
    return a, n / m, 2**m, n // m, -n % m, abs(k), n**-1


@value_program(SMALL, 2.5)
def small_integers(k, x):
    return k * 2, k + 1.5, k / 2, k // 2, k.sum(), k * x, np.mean(k), abs(k)


@value_program(F32, 0.5, 3)
def single_precision(x, w, n):
    return x * w, x[0] * w, x * n, x / n, np.sum(x), x[1] * np.float32(2.0), np.float64(x[0]) * x


@value_program(X, FLAGS)
def bools(x, flags):
    both = (x > 0.0) & flags
    return both, both | ~flags, both ^ flags, flags + flags, flags * flags, (x > 0.0) * x


@value_program(X)
def comparisons(x):
    return x > 0.0, x <= x[0], x == x, x != x[1], np.isnan(x), np.logical_not(x > 0.5), not x[0]


@value_program(X, 2.5, -7)
def built_ins(x, t, n):
    return (
        int(t), float(n), bool(n), round(t), round(t, 1), abs(n), max(t, n), min(t, n, 0),
        sum((t, n, 1)), sum(x), max(x), min(x), pow(t, 2), len(x), math.floor(t), math.ceil(-t),
        int(x[1] * 10.0), math.trunc(-t), divmod(n, 3), max((t, n)),
    )  # fmt: skip


@program(X)
def functions(x):
    a = np.abs(x) + 0.1
    return (
        np.sqrt(a) + np.log1p(a) * np.hypot(x, a) + np.arctan2(x, a) + np.square(x)
        + np.reciprocal(a) + np.degrees(x) * np.copysign(a, x) + np.fmod(x, 0.35) + np.sign(x) * x
        + np.power(a, x) + np.floor(x * 3.0) * x + math.sin(x[0]) * math.pow(a[1], x[2])
    )  # fmt: skip


@program(X, Y)
def extremes(x, y):
    return np.maximum(x, y) * np.minimum(x, 0.5) + max(x[0], y[0]) + np.fmax(x, y[1])


@program(X, Y)
def clipped(x, y):
    return np.clip(x, -0.1, y[0]) + np.clip(x, y, None) + x.clip(0.2, 1.0) * np.clip(y[1], 0.0, 2.0)


@program(np.array([0.0, 1.0, 4.0, 0.0]), expect=(np.array([0.0, 0.5, 0.25, 0.0]),), kink=True)
def untaken_arms(x):
    return np.where(x > 0.0, np.sqrt(x), 0.0)


@program(A, X[:3].copy())
def where_broadcast(a, x):
    return np.where(x > 0.0, a, x[:, None][0]) + np.where(a > 0.0, 1, x) * np.where(True, a, 2.0)


@program(np.array([1.0, 2.0, 3.0]), expect=(np.array([1.0, 1.0, 0.0]),), kink=True)
def clip_at_bounds(x):
    return np.clip(x, 1.0, 2.0)


# -- reductions


@program(B)
def sums(b):
    return (
        b.sum(axis=1)[:, :3] * b.sum(axis=(0, 2)) + np.sum(b, axis=-1)
        + np.sum(b, axis=0, keepdims=True)[0, 0, 0] + np.sum(b * b, keepdims=True)[0]
    )  # fmt: skip


@program(A)
def means(a):
    return a - a.mean(axis=1, keepdims=True) + a.mean(axis=0) * np.mean(a)


@program(A)
def deviations(a):
    return a.std(axis=1, keepdims=True) * a + a.var(axis=0, ddof=1) + np.std(a) * np.var(a)


@program(np.array([2.0, 2.0, 2.0]), expect=(np.zeros(3),), kink=True)
def deviation_of_equals(x):
    return np.std(x)


@program(B + 1.05)
def products_along_axes(b):
    return np.prod(b, axis=2)[:, 0] * np.prod(b[0]) + b.prod(axis=1)[0, 0]


@program(A)
def extremes_along_axes(a):
    return np.max(a, axis=1, keepdims=True) * a + a.min(axis=0) * a.max()


@program(np.array([2.0, 1.0, 2.0, 2.0]), kink=True)
def tied_maximum(x):
    return np.max(x)


@value_program(A, K, FLAGS)
def whole_results(a, k, flags):
    return (
        k.max(), k.min(), np.all(flags), np.any(flags, axis=0), np.count_nonzero(a > 0.0),
        np.sum(a > 0.0, axis=1), np.prod(k), k.mean(), np.max(flags),
    )  # fmt: skip


@program(B, X)
def running(b, x):
    return np.cumsum(b, axis=1)[0, 2] * np.cumsum(x) + np.cumprod(x) + b[:, :1].cumsum()[-1] * x


@program(B, X)
def differences(b, x):
    return np.diff(x) * np.diff(b, axis=1)[0, 0, :3] + np.diff(b)[1, 1]


# -- products


@program(A, X[:3].copy(), Y[:2].copy())
def dots(a, x, y):
    return (a @ x) @ y * np.dot(y, a) + np.dot(2.0, x) + x.dot(x) + a.T @ y


@program(A, K)
def mixed_products(a, k):
    i = np.array([[1, 2], [3, 4], [5, 6]])
    return a @ i + np.sum(i @ i.T) * a[:, :2] + (k @ k) * a[0, 0]


@program(A.astype(np.float32), A.T.copy())
def product_of_precisions(a, b):
    return a @ b


@program(X, Y)
def outer_product(x, y):
    return np.outer(x, y) @ np.eye(4)[:, :2] + np.identity(4)[0, 1]


# -- constructors and shapes


@program(X, 3)
def constructors(x, n):
    a = np.full((n, 4), x[0]) + np.ones((n, 1)) + np.zeros_like(x) + np.full_like(x, x[1])
    b = np.empty_like(x)
    b[:] = np.arange(4) * x + np.arange(0.0, 2.0, 0.5)
    return a * b + np.array([x, x * x, b])[:n] + np.array([[1, x[2], 2.0, n]])


@value_program(5, 2, 0.5)
def ranges(n, k, h):
    return (
        np.arange(n), np.arange(k, n), np.arange(n, k, -2), np.arange(k, n, 3), np.arange(n * h),
        np.arange(1.0, k, h), np.arange(n, dtype=np.float32), np.linspace(0.0, h, n),
        np.array([1, 2]), np.array([[1, 2.5]]), np.zeros(n, dtype=bool), np.array([True, 2]),
        np.arange(k - n), np.array(h), np.array([]), np.full(2, n), np.eye(2, 3, dtype=int),
    )  # fmt: skip


@program(B)
def shapes(b):
    r = b.reshape(4, -1)
    f = b.reshape((-1,))
    t = np.transpose(b, (2, 0, 1)).copy().reshape(b.shape[2], 6)
    return r * f[:6] + t * np.ravel(b)[0] + b.flatten()[:6] + b.swapaxes(0, 2)[:, 0, :1]


@program(B)
def reshaped_view_written(b):
    y = b * 1.0
    f = y.reshape(-1)
    f[3] = f[0] * f[1]
    y.ravel()[5] *= 2.0
    return y


@PROGRAMS.add(lambda: (np.asfortranarray(A), X[::-1][:3]), argnums=(0, 1))
def other_layouts(a, x):
    return a.reshape(3, 2).T * x.reshape(1, 3) + np.ravel(a)[:3] * np.ravel(x) + a.ravel()[-1]


@value_program(A, 2.5)
def attributes(a, t):
    s = np.shape(a)
    return (
        a.size, a.ndim, len(a), s[0] * s[1], np.size(t), np.ndim(a), a.T.shape, a.item(1, 2),
        a.astype(np.float32), a.astype(int), np.round(a, 1), a.round(), np.expand_dims(a, -1),
        np.asarray(a).shape[1], np.shape([t, t]), a[0].dtype == np.float64,
    )  # fmt: skip


@program(X)
def constant_table(x):
    return TABLE["w"] * x[0] + np.square(TABLE["w"]) * x[1]


@program(np.array([[0.5]]), A)
def stretched_at_run_time(c, a):
    y = c * a + c
    y += c
    return y * c + (c + a) * a


@program(X, Y)
def same_extents(x, y):
    z = x * y
    return z * x + y


@program(np.array(2.0), X)
def zero_dimensions(c, x):
    c[...] = c * c
    y = np.array(x[0])
    y += c
    return c * x + y


EACH = pytest.mark.parametrize("case", PROGRAMS, ids=lambda case: case.name)


@EACH
def test_value(case: Program) -> None:
    found = oracles.derivatives(case).primal(*case.fresh())
    expected = oracles.plain(case, case.fresh())
    oracles.assert_close(found, expected, oracles.tolerance(case.fresh()).rounding)


@EACH
def test_dtypes(case: Program) -> None:
    """Arrays come in NumPy's dtype; Python's numbers are weak."""
    found = oracles.derivatives(case).primal(*case.fresh())
    expected = case.fn(*case.fresh())
    for a, b in zip(oracles.leaves(found), oracles.leaves(expected), strict=True):
        if isinstance(b, np.ndarray):
            assert np.asarray(a).dtype == b.dtype


@pytest.mark.parametrize("case", [p for p in PROGRAMS if not p.kink], ids=lambda case: case.name)
def test_derivatives(case: Program) -> None:
    made = oracles.derivatives(case)
    u = oracles.random_like(oracles.chosen(case, case.fresh()), 1)
    dots = made.jvp(*case.fresh(), u)
    bound = oracles.tolerance(case.fresh())
    difference = oracles.difference(case, u, bound.step)
    oracles.assert_close(oracles.floats(dots), difference, bound.differences)
    cotangent = oracles.random_like(oracles.plain(case, case.fresh()), 2)
    bars = made.vjp(*case.fresh(), cotangent)
    dtypes = oracles.chosen(case, case.fresh())
    oracles.assert_same_sum((cotangent, dots), (bars, u), (dtypes, cotangent))


@pytest.mark.parametrize(
    "case", [p for p in PROGRAMS if p.expect is not None], ids=lambda case: case.name
)
def test_exact_gradient(case: Program) -> None:
    ones = oracles.ones_like(oracles.plain(case, case.fresh()))
    bars = oracles.derivatives(case).vjp(*case.fresh(), ones)
    oracles.assert_close(bars, case.expect, oracles.tolerance(bars).value)


def test_tied_maximum_shares_one() -> None:
    case = next(p for p in PROGRAMS if p.name == "tied_maximum")
    (bar,) = oracles.derivatives(case).vjp(*case.fresh(), 1.0)
    assert bar.sum() == 1.0 and bar[1] == 0.0


# -- array expressions as Maps


def lowered(block: Block) -> Block:
    """Each Map as the loops that it stands for."""
    stmts: list[Stmt] = []
    for stmt in block.stmts:
        match stmt:
            case Map(out=out, shape=shape, indices=indices, body=body):
                inner = lowered(body)
                nest: tuple[Stmt, ...] = (*inner.stmts, Store(out, indices, inner.results[0]))
                for index, extent in reversed(list(zip(indices, shape, strict=True))):
                    nest = (For(index, extent, (), Block(nest), ()),)
                stmts += [Alloc(out, shape), *nest]
            case If(then=then, orelse=orelse):
                stmts.append(replace(stmt, then=lowered(then), orelse=lowered(orelse)))
            case For(body=body) | While(body=body):
                stmts.append(replace(stmt, body=lowered(body)))
            case _:
                stmts.append(stmt)
    return Block(tuple(stmts), block.results)


@EACH
def test_maps(case: Program) -> None:
    """The same values without fusion; the verifier looks at the Maps."""
    found = traced(case.fn, *case.fresh())
    function = replace(found.function, body=lowered(found.function.body))
    value = interpret(function)(*found.captured(), *case.fresh())
    expected = oracles.plain(case, case.fresh())
    oracles.assert_close(value, expected, oracles.tolerance(case.fresh()).rounding)


# -- the form of the IR


def traced(f: Callable[..., Any], *args: Any) -> Trace:
    found = trace(f, tuple(spec(a, k) for k, a in enumerate(args)))
    verify(found.function, ops.result_type)
    return found


def count(found: Trace, kind: type) -> int:
    return sum(isinstance(stmt, kind) for stmt in walk(found.function.body))


def operations(found: Trace) -> list[str]:
    return [stmt.op for stmt in walk(found.function.body) if isinstance(stmt, Let)]


def test_loop_index_needs_no_check() -> None:
    def f(x):
        s = 0.0
        for i in range(x.shape[0]):
            s += x[i]
        return s

    assert count(traced(f, X), Assert) == 0


def test_equal_slices_have_one_length() -> None:
    """`x[1:]` and `x[:-1]` need no comparison, nor do `x[2:]` and `x[1:][1:]`."""

    def f(x):
        return np.sum((x[1:] - x[:-1])[1:] * x[2:] * x[1:-1] * x[:-2])

    assert count(traced(f, X), Assert) == 0


def test_range_checks_are_not_repeated() -> None:
    def f(x, i):
        return x[i + 1] * x[i + 1] + x[i + 1]

    found = traced(f, X, 1)
    assert (count(found, Assert), operations(found).count("wrap")) == (1, 1)


def test_counting_up_is_not_wrapped() -> None:
    def f(x):
        s = 0.0
        for i in range(1, x.size - 1):
            s += x[i - 1] * x[i + 1] + x[2 * i]
        return s

    assert operations(traced(f, X)).count("wrap") == 1  # only i - 1 may be negative


def test_extents_are_compared_once() -> None:
    def f(x, y):
        z = x * y
        for _ in range(3):
            z = z * x + y
        return np.sum(z)

    def g(x, y):
        return x * y + x * y - (x + y) * x

    del f
    assert count(traced(g, X, Y), Assert) == 1


def test_fresh_values_are_written_without_a_copy() -> None:
    def f(x):
        y = np.zeros(4)
        y[:] = x
        return y

    assert count(traced(f, X), For) == 1


def test_statements_of_library_loops_carry_the_users_line() -> None:
    def f(x, y):
        return x @ y

    locs = {stmt.loc.function for stmt in walk(traced(f, X, Y).function.body) if stmt.loc}
    assert locs == {"f"}


# -- errors


def reshaped_then_written(x):
    y = x.T.reshape(6)
    x[0, 0] = 2.0
    return y


@pytest.mark.parametrize(
    ("f", "args", "what"),
    [
        (lambda x: x[[0, 1]], (X,), "an index that is an array"),
        (lambda x: x[x > 0.0], (X,), "an index that is a mask"),
        (lambda x: x[0.5], (X,), "must be an integer"),
        (lambda x: x[0, 1], (X,), "too many indices"),
        (lambda x, k: x[::k], (X, 2), "the step of a slice"),
        (lambda x: np.where(x > 0.0), (X,), "one argument"),
        (lambda x: np.sum(x, axis=2), (A,), "axis 2 is out of bounds"),
        (lambda x: x @ x, (B,), "a product of 3-d"),
        (lambda x: np.array([[1.0, 2.0], [x]]), (1.0,), "ragged"),
        (lambda x: x.tolist(), (X,), "`tolist`"),
        (lambda x: np.sin(x, out=x), (X,), "`out` of `np.sin`"),
        (lambda x: math.sin(x), (X,), "`math.sin` takes numbers"),
        (lambda x: max(x, x), (X,), "compare whole arrays"),
        (lambda x: 1.0 if x > 0.0 else 2.0, (X,), "truth value"),
        (lambda x: np.zeros(3, dtype=complex) + x, (1.0,), "arrays of complex128"),
        (reshaped_then_written, (A,), "written to after it was reshaped"),
    ],
)
def test_refused(f: Callable[..., Any], args: tuple[Any, ...], what: str) -> None:
    with pytest.raises(UnsupportedSyntax, match=what) as error:
        traced(f, *args)
    assert error.value.problems[0].loc is not None


def test_known_mismatch() -> None:
    def f(x):
        return np.zeros(3) + np.ones(4) * x

    with pytest.raises(ShapeError) as error:
        traced(f, 1.0)
    assert isinstance(error.value, ValueError) and isinstance(error.value, SrcadError)


@pytest.mark.parametrize(
    ("f", "args", "error"),
    [
        (lambda x, k: x[k], (X, 4), IndexError),
        (lambda x, k: x[k], (X, -5), IndexError),
        (lambda x, k: x[4 + 0 * k], (X, 1), IndexError),
        (lambda x, y: x + y, (X, X[1:].copy()), ValueError),
        (lambda x, y: x @ y, (X, X[1:].copy()), ValueError),
        (lambda x, n: np.zeros(n) + x[0], (X, -1), ValueError),
        (lambda x: np.max(x), (np.zeros(0),), ValueError),
        (lambda x, n: x.reshape(n, 3), (X, 2), ValueError),
        (lambda x, n: x.reshape(n, -1), (X, 3), ValueError),
        (lambda k, n: k**n, (2, -1), ValueError),
    ],
)
def test_raised_at_run_time(
    f: Callable[..., Any], args: tuple[Any, ...], error: type[Exception]
) -> None:
    found = traced(f, *args)
    with pytest.raises(error):
        interpret(prepared(found.function))(*found.captured(), *args)
