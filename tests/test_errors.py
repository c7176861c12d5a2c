"""What srcad says where it refuses: every problem, at its line and column, with a reason."""

import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcad import grad, jacobian, value_and_grad, vjp
from srcad.errors import ShapeError, SrcadError, TypingError, UnsupportedSyntax

X = np.array([0.3, -0.4, 0.9])


def places(error: SrcadError, function: Callable[..., Any]) -> list[tuple[int, int, int | None]]:
    """Line (from the `def`), column and end column of each problem."""
    first = function.__code__.co_firstlineno
    found = [p.loc for p in error.problems]
    return [(loc.line - first, loc.column, loc.end_column) for loc in found if loc is not None]


def refused(function: Callable[..., Any], *args: Any) -> UnsupportedSyntax:
    with pytest.raises(UnsupportedSyntax) as caught:
        grad(function)(*args)
    return caught.value


def several(x):
    s = 0.0
    with open("file"):
        s += 1.0
    y = np.fft.fft(x)
    z = y * 2.0
    del x[0]
    return np.sum(np.linalg.pinv(x) + z)


def test_all_problems_are_reported_at_once() -> None:
    error = refused(several, X)
    assert places(error, several) == [(2, 4, None), (4, 8, 21), (6, 8, 12), (7, 18, 35)]
    assert [p.what.split("`")[1] for p in error.problems] == ["with", "fft", "subscript", "pinv"]


def test_rendering() -> None:
    text = str(refused(several, X))
    assert re.search(r"test_errors\.py:\d+:9, in several\n    y = np\.fft\.fft\(x\)\n", text)
    assert "\n        ^^^^^^^^^^^^^\n" in text


def number_or_array(x):
    s = 0.0
    for i in range(x.size):
        s = s + x * i
    return np.sum(s)


def test_a_number_that_becomes_an_array() -> None:
    error = refused(number_or_array, X)
    assert places(error, number_or_array)[0] == (3, 12, 13)
    assert "an array" in error.problems[0].what and "np.zeros" in error.problems[0].instead


def name_of_a_rotating_buffer(x):
    a, b = x.copy(), np.zeros_like(x)
    best = a
    for _ in range(5):
        for i in range(x.size):
            b[i] = a[i] * 0.9 + 0.1
        a, b = b, a
        if a[0] > 0.5:
            best = a
    return np.sum(best)


def test_a_name_of_memory_that_is_written_later() -> None:
    error = refused(name_of_a_rotating_buffer, X)
    assert "depends on the run" in error.problems[0].what
    assert ".copy()" in error.problems[0].instead


def in_a_helper(x):
    return helper(x)


def helper(x):
    return np.sum(np.linalg.svd(x))


def test_the_line_is_that_of_the_helper() -> None:
    error = refused(in_a_helper, X)
    loc = error.problems[0].loc
    assert loc is not None and loc.function == "helper"
    assert loc.line == helper.__code__.co_firstlineno + 1


def tuple_of_arrays(x):
    parts = (x, x * 2.0)
    k = 0
    s = 0.0
    while k < x.size - 1:
        s += np.sum(parts[k])
        k += 1
    return s


def test_arrays_in_a_tuple_need_a_known_index() -> None:
    error = refused(tuple_of_arrays, X)
    assert places(error, tuple_of_arrays)[0][0] == 5


def own_exception(x):
    if x[0] > 100.0:
        raise SrcadError("no")
    return x[0]


def test_own_exceptions() -> None:
    assert places(refused(own_exception, X), own_exception) == [(2, 8, 30)]


def recursive(x):
    return x * recursive(x - 1.0)


def test_recursion_without_end() -> None:
    assert "on every path" in refused(recursive, 2.0).problems[0].what


def unset(x):
    if x[0] > 100.0:
        y = x[0]
    return y


def test_unset_name_is_python_s_error() -> None:
    with pytest.raises(UnboundLocalError, match="'y'"):
        value_and_grad(unset)(X)


def never_set(x):
    return x[0] * missing_name  # noqa: F821


def test_a_name_that_nothing_sets() -> None:
    assert "missing_name" in refused(never_set, X).problems[0].what


def no_value(x):
    if x[0] > 100.0:
        return x[0]


def test_function_that_ends_without_a_value() -> None:
    with pytest.raises(ValueError, match="without returning"):
        grad(no_value)(X)


def raising(x):
    if x.size > 2:
        raise ValueError(f"{x.size} values {{too}} many")
    return x[0]


def test_raise_is_the_users_error() -> None:
    with pytest.raises(ValueError, match=r"3 values \{too\} many"):
        grad(raising)(X)
    assert grad(raising)(X[:2])[0] == 1.0


def vector(x):
    return x * x


@pytest.mark.parametrize("derivative", [grad, value_and_grad])
def test_a_result_that_is_no_scalar(derivative: Any) -> None:
    with pytest.raises(TypingError, match="vjp") as caught:
        derivative(vector)(X)
    assert "jacobian" in str(caught.value)


def test_integer_arguments() -> None:
    for derivative in (grad, jacobian):
        with pytest.raises(TypingError, match="integers"):
            derivative(lambda n: n * 2.0)(3)


def test_cotangents() -> None:
    pullback = vjp(vector, X)
    with pytest.raises(TypingError, match="gradient"):
        pullback()
    with pytest.raises(ShapeError):
        pullback(np.ones((3, 1)))
    with pytest.raises(TypingError):
        pullback(np.ones(3) * 1j)


@pytest.mark.parametrize("bad", ["text", np.array(["a"]), np.ones(2) * 1j, object(), {"a": 1.0}])
def test_arguments_of_no_use(bad: Any) -> None:
    with pytest.raises(TypingError, match="x"):
        grad(lambda x: x)(bad)


def test_wrong_number_of_arguments() -> None:
    with pytest.raises(TypeError):
        grad(vector)()
    with pytest.raises(TypeError):
        grad(vector)(X, X)
    with pytest.raises(TypeError):
        grad(vector)(X, y=1.0)


LAMBDAS = (lambda x: x * 2.0, lambda x: x * 3.0), lambda x: (lambda x: x + 1.0)(x * 5.0)


def test_lambdas_on_one_line_are_told_apart() -> None:
    (double, triple), nested = LAMBDAS
    assert [grad(f)(1.0) for f in (double, triple, nested)] == [2.0, 3.0, 5.0]
