"""Random array programs: element-wise expressions, broadcasting, slices, reductions, updates."""

from hypothesis import strategies as st

# arrays by their shape: a, b are (3, 4), r is (4,), c is (3, 1); u is written to
SHAPES = {"full": ("a", "b", "u", "u.copy()"), "row": ("r", "a[1]", "u[0]"), "column": ("c",)}
UNARY = ("np.sin({})", "np.exp(0.3 * {})", "-{}", "np.tanh({})", "({} * {})", "np.abs({})")
BINARY = ("({} + {})", "({} - {})", "({} * {})", "np.maximum({}, {})", "({} / (2.0 + np.sin({})))")


@st.composite
def expressions(draw: st.DrawFn, depth: int = 3) -> str:
    """An expression that broadcasts against (3, 4)."""
    if depth == 0 or draw(st.booleans()) and depth < 3:
        kind = draw(st.sampled_from(list(SHAPES)))
        return draw(st.sampled_from((*SHAPES[kind], "w", "0.5")))
    choice = draw(st.integers(0, 5))
    first = draw(expressions(depth - 1))
    if choice == 0:
        text = draw(st.sampled_from(UNARY))
        return text.format(*[first] * text.count("{}"))
    second = draw(expressions(depth - 1))
    if choice == 1:
        return f"np.where({first} > 0.1, {first}, {second})"
    return draw(st.sampled_from(BINARY)).format(first, second)


@st.composite
def statements(draw: st.DrawFn) -> list[str]:
    value = draw(expressions())
    match draw(st.integers(0, 8)):
        case 0:
            return [f"u[...] = {value}"]
        case 1:
            return [f"u += {value}"]
        case 2:
            return [f"u[1:] -= 0.5 * ({value} + u)[:-1]"]
        case 3:
            return [f"u[:, ::2] = u[:, 1::2] * np.mean({value} + a)"]
        case 4:
            return [f"t = {value} + b", "s += np.sum(t * t) + np.sum(t[::-1] * u)"]
        case 5:
            return [
                f"t = {value} + a",
                f"u[0] = {draw(expressions(1))} if False else r",
                "s += t.sum()",
            ]
        case 6:
            return [f"u = u + 0.1 * ({value})"]
        case 7:
            body = [f"    {line}" for line in draw(statements())]
            return [f"for k in range({draw(st.integers(0, 3))}):", *body, "    s += 0.1 * k"]
        case _:
            axis = draw(st.sampled_from(("axis=0", "axis=1", "axis=1, keepdims=True")))
            name = draw(st.sampled_from(("sum", "mean", "max")))
            return [f"s += np.sum(np.{name}({value} * a, {axis}) ** 2)"]


@st.composite
def sources(draw: st.DrawFn) -> str:
    """The text of a function `f(a, b, r, c, w)` with a scalar result."""
    lines = ["s = 0.0", "u = a * b"]
    for _ in range(draw(st.integers(1, 4))):
        lines += draw(statements())
    lines.append("return s + np.sum(u * u) * 0.1")
    return "\n".join(["def f(a, b, r, c, w):", *(f"    {line}" for line in lines)])
