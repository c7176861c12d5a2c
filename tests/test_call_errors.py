"""Calls that are refused, in srcad's words: the function is named, Numba's text is not shown.

Not covered: a wrong number of arguments and unknown keywords where a derivative needs no guard.
Numba's C code raises its own TypeError there, before any code of srcad runs.
"""

from collections.abc import Callable
from typing import Any

import numba
import numpy as np
import pytest

import srcad.runtime.specialise as specialise
from srcad import grad, hessian, jacobian, jvp, value_and_grad, vjp
from srcad.codegen import Source
from srcad.errors import InternalError, ShapeError, SrcadError, TypingError

X = np.ones(2)


def loss(x, y=2.0):
    return np.sum(x * x) * y


gradient = grad(loss)
WRONG: list[tuple[Any, str]] = [
    ({1.0: 2.0}, "is a dict"), ({1}, "is a set"), ([1j], "is a complex"),
    (1j, "is a complex"), (X * 1j, "is a ndarray of complex128"), (object(), "is a object"),
    (np.array([1, None]), "is a ndarray of object"), (np.array(["a"]), "is a ndarray of <U1"),
    (X.astype(np.float16), "is a ndarray of float16"), (X.astype(">f8"), "is a ndarray of >f8"),
    (np.zeros(2, [("a", float)]), "is a ndarray of .*'a'"), ((X, {1}), "is a set"),
    (np.longdouble(1), "is a longdouble"), (2**70, "is a int of more than 64 bits"),
]  # fmt: skip
CALLS: list[Callable[[Any], Any]] = [
    gradient,
    lambda x: vjp(loss, x),
    lambda x: jvp(loss, (x,), (x,)),
]


@pytest.mark.parametrize("call", CALLS, ids=["grad", "vjp", "jvp"])
@pytest.mark.parametrize(("value", "text"), WRONG)
def test_wrong_kinds(call: Callable[[Any], Any], value: Any, text: str) -> None:
    with pytest.raises(TypingError, match=rf"argument 0 \(`x`\) of `loss` {text}"):
        call(value)


@pytest.mark.parametrize("call", CALLS[:2], ids=["grad", "vjp"])
@pytest.mark.parametrize("value", ["a", loss, {}, [1.0]])
def test_flags_and_lists_in_place_of_an_array(call: Callable[[Any], Any], value: Any) -> None:
    with pytest.raises(SrcadError, match="no float|this fails|used as a number"):
        call(value)


def test_wrong_kinds_after_a_call_that_was_right() -> None:
    """Masked arrays are left out: Numba takes them for plain ones then (README, Limits)."""
    g = grad(loss)
    with pytest.raises(TypingError, match="is a MaskedArray"):
        g(np.ma.array([1.0, 2.0]))
    assert g(X).tolist() == [4.0, 4.0]
    for value, text in WRONG:
        with pytest.raises(TypingError, match=rf"argument 0 \(`x`\) of `loss` {text}"):
            g(value)
        with pytest.raises(TypingError, match=r"argument 1 \(`y`\) of `loss`"):
            g(X, y=value)


@pytest.mark.parametrize("mode", [grad, value_and_grad, jacobian, hessian])
@pytest.mark.parametrize("argnums", [2, -3, "z", 1.5, [0], (0, "z"), (None,)])
def test_argnums_are_checked_when_the_derivative_is_made(mode: Any, argnums: Any) -> None:
    with pytest.raises(TypingError, match="`loss` has no argument (.|\n)* x, y"):
        mode(loss, argnums=argnums)
    with pytest.raises(TypingError, match="has no argument"):
        mode(argnums=argnums)(loss)
    with pytest.raises(TypingError, match="has no argument"):
        vjp(loss, X, argnums=argnums)


BAD_CALLS = [
    ((), {}, "missing a required argument: 'x'"),
    ((X, 1.0, 2.0), {}, "too many positional arguments"),
    ((X,), {"z": 1.0}, "got an unexpected keyword argument 'z'"),
    ((X,), {"x": X}, "multiple values for argument 'x'"),
]


@pytest.mark.parametrize(("args", "kwargs", "text"), BAD_CALLS)
def test_calls_that_do_not_fit_the_parameters(args: Any, kwargs: Any, text: str) -> None:
    scale = 2.0

    def guarded(x, y=2.0):
        return np.sum(x * x) * y * scale

    text = rf"`{{}}` cannot be called so: {text}(.|\n)*\(x, y=2.0\)"
    g = grad(guarded)
    assert g(X).tolist() == [8.0, 8.0]
    with pytest.raises(TypingError, match=text.format("guarded")):
        g(*args, **kwargs)
    with pytest.raises(TypingError, match=text.format("loss")):
        vjp(loss, *args, **kwargs)
    with pytest.raises(TypeError, match="argument"):
        gradient(*args, **kwargs)


def test_calls_in_compiled_code() -> None:
    @numba.njit
    def many(x):
        return gradient(x, 1.0, 2.0)

    @numba.njit
    def none():
        return gradient()

    @numba.njit
    def unknown(x):
        return gradient(x, z=1.0)

    for call, text in (
        (lambda: many(X), "too many"),
        (none, "missing"),
        (lambda: unknown(X), "'z'"),
    ):
        with pytest.raises(TypingError, match=f"`loss` cannot be called so: .*{text}"):
            call()

    @numba.njit
    def caller(x):
        return gradient(x)

    for value in ("a", 1j, (X, "a")):
        with pytest.raises(TypingError, match=r"argument 0 \(`x`\) of `loss` has Numba's type"):
            caller(value)


TANGENTS: list[tuple[Any, type[Exception], str]] = [
    (np.ones(3), ShapeError, r"has shape \(3,\), the argument \(2,\)"),
    (1.0, ShapeError, r"has shape \(\)"),
    (X * 1j, TypingError, "is complex128, the argument is float64"),
    ("a", TypingError, "is <U1"), (np.array([1, None]), TypingError, "is object"),
    ([1.0, [2.0]], ShapeError, "has rows of different lengths"),
]  # fmt: skip


@pytest.mark.parametrize(("tangent", "error", "text"), TANGENTS)
def test_wrong_tangents(tangent: Any, error: type[Exception], text: str) -> None:
    with pytest.raises(error, match=rf"tangent 0 \(`x`\) of `loss` {text}"):
        jvp(loss, (X,), (tangent,))


def test_tangents_of_the_wrong_structure() -> None:
    def f(pair, n):
        return pair[0] * pair[1] * n

    with pytest.raises(TypingError, match="1 primals and 2 tangents"):
        jvp(loss, (X,), (X, X))
    with pytest.raises(TypingError, match="jvp takes tuples"):
        jvp(loss, X, X)
    with pytest.raises(TypingError, match="must be a tuple of 2"):
        jvp(f, ((1.0, 2.0), 3), ((1.0,), None))
    with pytest.raises(TypingError, match=r"tangent 1 \(`n`\) of `f` must be None"):
        jvp(f, ((1.0, 2.0), 3), ((1.0, 1.0), 1.0))
    with pytest.raises(TypingError, match="missing a required argument: 'n'"):
        jvp(f, ((1.0, 2.0),), ((1.0, 1.0),))
    assert jvp(f, ((1.0, 2.0), 3), ((1.0, None), None)) == (6.0, 6.0)


@pytest.mark.compiles
def test_what_numba_does_not_compile(monkeypatch: pytest.MonkeyPatch) -> None:
    """From Python, from compiled code and in pullbacks; Numba's error is chained."""
    text = "from srcad.runtime.support import compiled\n\n\n@compiled\ndef f(x):\n    return x.y\n"
    monkeypatch.setattr(specialise, "source", lambda function, **options: Source(text, "f"))
    monkeypatch.setattr(specialise.diskcache, "recall", lambda name: None)

    def f(x):
        return x * 7.0

    g = grad(f)

    @numba.njit
    def caller(x):
        return g(x)

    for call in (g, caller, lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(
            InternalError, match=r"Numba does not compile(.|\n)*g_[0-9a-f]+"
        ) as found:
            call(1.0)
        assert found.value.__cause__ is not None


def test_a_list_of_arrays_that_differ_in_shape() -> None:
    def rows(x, n):
        items = [np.zeros(3) + x[0]]
        for _ in range(n):
            items.append(np.sin(x))
        return sum([np.sum(item) for item in items])

    with pytest.raises(ValueError, match="the arrays in a list differ in shape"):
        grad(rows)(np.ones(4), 2)
