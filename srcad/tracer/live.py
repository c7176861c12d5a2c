"""Which names are still needed behind each branch and loop: only those are joined or carried.

Works on the statements that `flow` has normalised. Each `If`, `For` and `While` gets an attribute
`live`: the names that may be read after it, for a loop also those read where an iteration starts.
"""

import ast

from srcad.tracer.flow import RESULT, RETURNED

Names = frozenset[str]


def annotate(body: list[ast.stmt]) -> None:
    """Sets `live` on every branch and loop of a function's body."""
    _Liveness(body).block(body, frozenset((RESULT, RETURNED)))


def loads(node: ast.AST | None) -> Names:
    """The names that an expression or statement reads, in nested functions too."""
    if node is None:
        return frozenset()
    return frozenset(
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)
    )


def stores(node: ast.AST) -> Names:
    """The names that a target sets."""
    return frozenset(
        n.id for n in ast.walk(node) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Store)
    )


class _Liveness:
    def __init__(self, body: list[ast.stmt]) -> None:
        inner = (n for stmt in body for n in ast.walk(stmt))
        functions = [n for n in inner if isinstance(n, ast.FunctionDef | ast.Lambda)]
        # a nested function reads names when it is called: they are live everywhere
        self.always: Names = frozenset().union(*map(loads, functions))

    def block(self, stmts: list[ast.stmt], live: Names) -> Names:
        for stmt in reversed(stmts):
            live = self.stmt(stmt, live)
        return live

    def stmt(self, stmt: ast.stmt, live: Names) -> Names:
        match stmt:
            case ast.Assign(targets=targets):
                plain = [stores(t) for t in targets]
                return (live - frozenset().union(*plain)) | loads(stmt)
            case ast.AugAssign(target=ast.Name(id=name)):
                return live | {name} | loads(stmt.value)
            case ast.FunctionDef(name=name):
                return (live - {name}) | loads(stmt)
            case ast.If(test=test, body=body, orelse=orelse):
                stmt.live = live | self.always  # type: ignore[attr-defined]
                return self.block(body, live) | self.block(orelse, live) | loads(test)
            case ast.For(target=target, iter=over, body=body):
                return self.loop(stmt, body, live, stores(target)) | loads(over)
            case ast.While(test=test, body=body):
                return self.loop(stmt, body, live | loads(test), frozenset())
            case _:
                return live | loads(stmt)

    def loop(
        self, stmt: ast.For | ast.While, body: list[ast.stmt], after: Names, target: Names
    ) -> Names:
        after |= frozenset(getattr(stmt, "leave", ()))
        live = after
        while True:
            start = self.block(body, live) - target
            if start <= live:
                break
            live |= start
        stmt.live = live | self.always  # type: ignore[union-attr]
        return live
