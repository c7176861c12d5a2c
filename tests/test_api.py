"""The public functions, with the values that the project was specified by."""

import math
import types

import numpy as np
import pytest
from numba import njit
from numba.core.registry import CPUDispatcher

import srcad
from srcad import grad, hessian, jacobian, jvp, value_and_grad, vjp
from srcad.errors import ShapeError, TypingError, UnsupportedSyntax

CLOSE = 1e-12  # rounding of a few operations


def same(got, want) -> None:
    assert np.shape(got) == np.shape(want)
    np.testing.assert_allclose(got, want, rtol=CLOSE, atol=CLOSE)


def test_doubled() -> None:
    pull = vjp(lambda x: 2 * x, np.array([[1.0, 2.0, 3.0, 4.0]]))
    for gradient in ([[1, 0, 0, 0]], [[0, 1, 0, 0]], [[1, 1, 1, 1]]):
        same(pull(gradient), 2.0 * np.array(gradient))


def three(x1, x2, x3):
    y = np.zeros(3)
    y[0] = x1 * x2 * x3
    y[1] = x1 + x2 + x3
    y[2] = x1 + x2 * x3
    return y


def test_weighted_rows() -> None:
    same(vjp(three, 1.0, 2.0, 3.0)([0.1, 0.2, 0.3]), (1.1, 1.4, 1.0))


def test_scalars() -> None:
    same(grad(lambda x: np.sum(x**2 + 2))(np.array([1.0, 2.0, 3.0])), [2.0, 4.0, 6.0])
    same(grad(lambda a: np.mean((a + 3) * 3))(np.array([[2.0, 3.0]])), [[1.5, 1.5]])


def powers(a):
    b = np.zeros((1, 2))
    b[0, 0] = a[0, 0] ** 2 + a[0, 1]
    b[0, 1] = a[0, 1] ** 3 + a[0, 0]
    return 2 * b


def test_powers() -> None:
    pull = vjp(powers, np.array([[2.0, 4.0]]))
    same(pull([[1, 1]]), [[10.0, 98.0]])
    same(pull([[1, 2]]), [[12.0, 194.0]])
    same(jacobian(powers)(np.array([[2.0, 4.0]])).shape, (1, 2, 1, 2))


def test_matrix_product() -> None:
    a = np.array([[2.0, 3.0], [1.0, 2.0]])
    _, w = vjp(lambda a, w: a @ w, a, np.zeros((2, 1)))([[1], [1]])
    same(w, [[3.0], [5.0]])


def test_chain() -> None:
    x = np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]])

    def z(x):
        y = x + 2
        return 3 * y * y

    same(grad(lambda x: np.mean(z(x)))(x), x + 2.0)
    same(vjp(z, x)(np.ones((2, 3))), 6.0 * (x + 2.0))
    same(vjp(z, x)(0.5 * np.ones((2, 3))), 3.0 * (x + 2.0))


def test_pullback_is_reusable_and_touches_nothing() -> None:
    x, g, buffer = np.array([2.0, 3.0]), np.array([1.0, 2.0]), np.ones(2)
    pull = vjp(lambda x: x * x, x)
    x[0] = 100.0
    pull.value[0] = -1.0
    for _ in range(2):
        same(pull(g), [4.0, 12.0])
    pull(g, into=buffer)
    pull(g, into=buffer)
    same(buffer, [9.0, 25.0])
    same(g, [1.0, 2.0])


def test_gradient_is_checked() -> None:
    pull = vjp(lambda x: x * x, np.ones(3))
    with pytest.raises(ShapeError, match=r"`gradient` has shape \(3, 1\)"):
        pull(np.ones((3, 1)))
    with pytest.raises(TypingError, match="`gradient` is complex128"):
        pull(np.ones(3) * 1j)
    with pytest.raises(TypingError, match="`gradient` is missing"):
        pull()


def test_wrong_arguments() -> None:
    with pytest.raises(TypingError, match="`n` of .* is no float"):
        grad(lambda n: n * 2.0)(3)
    with pytest.raises(TypingError, match=r"scalar(.|\n)*vjp(.|\n)*jacobian"):
        grad(lambda x: x * x)(np.ones(2))
    with pytest.raises(TypingError, match=r"argument 0 \(`x`\) of .* is a set"):
        grad(lambda x: x)({1.0})


def with_try(x):
    s = 0.0
    try:
        s = x * x
    except ValueError:
        pass
    return s


def test_unsupported_syntax_names_the_line() -> None:
    with pytest.raises(UnsupportedSyntax) as caught:
        grad(with_try)(1.0)
    loc = caught.value.problems[0].loc
    assert loc is not None
    assert (loc.line, loc.column) == (with_try.__code__.co_firstlineno + 2, 4)


def test_higher_order_and_jvp() -> None:
    third = grad(grad(grad(lambda x: math.exp(-(x**2)))))
    same(third(0.5), 5.0 * math.exp(-0.25))
    same(hessian(lambda x: x[0] * x[0] * x[1])(np.array([2.0, 3.0])), [[6.0, 4.0], [4.0, 0.0]])
    value, tangent = jvp(lambda x, n: x**3 * n, (2.0, 5), (1.0, None))
    same((value, tangent), (40.0, 60.0))


def test_argnums_and_decorators() -> None:
    def f(a, b=2.0):
        return a * a * b

    same(grad(f, argnums="b")(3.0, b=4.0), 9.0)
    same(grad(f, argnums=(0, 1))(3.0, 4.0), (24.0, 9.0))
    assert value_and_grad(argnums=(0,))(f)(3.0, 4.0) == (36.0, (24.0,))


def test_what_is_outside_counts_as_it_is_now() -> None:
    config, table = types.SimpleNamespace(nu=0.5), {"scale": 1.0}
    weights = np.array([1.0, 2.0])

    def f(x):
        return config.nu * x * x * table["scale"] + weights[1] * x

    g = grad(f)
    same(g(1.0), 3.0)
    config.nu = 1.5
    same(g(1.0), 5.0)
    table["scale"] = 2.0
    same(g(1.0), 8.0)
    weights[1] = 0.0
    same(g(1.0), 6.0)
    weights = np.array([1.0, -1.0])
    same(g(1.0), 5.0)


def test_overlapping_arguments_are_refused_when_written() -> None:
    def f(a, b):
        a[0] = a[0] * b[1]
        return a[0]

    x = np.ones(3)
    with pytest.raises(TypingError, match="overlap"):
        grad(f)(x, x)


def test_float32_stays() -> None:
    x = np.array([1.0, 2.0], dtype=np.float32)
    got = grad(lambda x: np.sum(x * x * 0.5))(x)
    assert got.dtype == np.float32
    same(got, x)


def test_public_names() -> None:
    names = ["errors", "grad", "hessian", "jacobian", "jvp", "value_and_grad", "vjp"]
    assert srcad.__all__ == names


def test_jacobian_and_hessian_are_dispatchers() -> None:
    @jacobian
    def rows(x, w=2.0):
        return x * x * w + x[0]

    @njit
    def compiled(x):
        return rows(x, 3.0)[1]

    x = np.array([1.0, 2.0])
    assert isinstance(rows, CPUDispatcher)
    same(rows(x), [[5.0, 0.0], [1.0, 8.0]])
    same(compiled(x), [1.0, 12.0])
    first, second = jacobian(rows.py_func, argnums=(0, "w"))(x, 2.0)
    same(first, [[5.0, 0.0], [1.0, 8.0]])
    same(second, x * x)
    same(hessian(lambda x, n: np.sum(x**n), argnums=0)(x, 3), np.diag(6.0 * x))
    assert jacobian(lambda x: x[:0])(x).shape == (0, 2)
    assert jacobian(lambda x: np.outer(x, x))(x).shape == (2, 2, 2)


def test_jacobian_of_a_function_that_writes_into_its_argument() -> None:
    def f(x):
        x[0] = x[1] * x[2]
        return x * x[0]

    x = np.array([1.0, 2.0, 3.0])
    same(jacobian(f)(x), [[0.0, 36.0, 24.0], [0.0, 12.0, 4.0], [0.0, 9.0, 12.0]])
    same(x, [6.0, 2.0, 3.0])  # as the function does it, once
