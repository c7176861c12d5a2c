"""The IR: a hand-built function verifies, prints, and is copied with fresh names."""

import pytest

from srcad.errors import InternalError
from srcad.ir.builder import Builder
from srcad.ir.nodes import For, Function, Let, const
from srcad.ir.printer import show
from srcad.ir.trees import Leaf
from srcad.ir.types import FLOAT, INT, Array, Type
from srcad.ir.verifier import verify
from srcad.ir.walk import free, inline, next_id


def no_typing(op: str, args: tuple[Type, ...]) -> Type | None:
    return None


def sum_of_squares() -> Function:
    b = Builder()
    x = b.var(Array("float64", 1), "x")
    n = b.dim(x, 0)
    index, s = b.var(INT, "i"), b.var(FLOAT, "s")
    with b.block() as body:
        v = b.load(x, index)
        square = b.let("mul", v, v, type=FLOAT)
        total = b.let("add", s, square, type=FLOAT)
    out = b.like(s)
    b.add(For(index, n, ((s, const(0.0, "float64")),), body.finish(total), (out,)))
    return Function("f", (x,), b.finish(out), (("x", Leaf()),), Leaf())


def test_verifies_and_prints() -> None:
    function = sum_of_squares()
    verify(function, no_typing)
    assert "for i.2 < n.1 (s.3: float64 = 0.0)" in show(function)


def test_a_name_used_before_its_definition_is_found() -> None:
    function = sum_of_squares()
    loop = function.body.stmts[1]
    assert isinstance(loop, For)
    broken = Function(
        "f", function.params, type(function.body)((loop,), (loop.outs[0],)),
        function.takes, function.gives,
    )  # fmt: skip
    with pytest.raises(InternalError, match="not visible"):
        verify(broken, no_typing)


def test_inline_gives_fresh_names() -> None:
    function = sum_of_squares()
    b = Builder(next_id(function))
    results = inline(b, function.body, {})
    block = b.finish(*results)
    assert free(block) == set(function.params)
    first = block.stmts[0]
    assert isinstance(first, Let) and first.out != function.body.stmts[0].out  # type: ignore[union-attr]
