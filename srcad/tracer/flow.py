"""Rewrites break, continue and return into flags and guards, so that control only falls through.

`return E` becomes `__result = E; __returned = True`; what follows a statement that may leave is
guarded, or moved into the other arm where one arm always leaves. Inside loops it becomes
`__site = k; __returned = True`, and E is evaluated behind the outermost loop, over the names that
are carried out. A loop that may be left has the names of the flags that end it in its attribute
`leave`. `raise` leaves without a flag: nothing is joined with what comes before it.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

RESULT, RETURNED, SITE = "__result", "__returned", "__site"


@dataclass(frozen=True)
class Exits:
    """The flags that a list of statements may set, and whether it always sets one."""

    flags: frozenset[str] = frozenset()
    always: bool = False


def normalise(body: list[ast.stmt]) -> list[ast.stmt]:
    """The statements of a function without break, continue and return."""
    first = _assign(RETURNED, ast.Constant(False), body[0])
    return [first, *_Flow().block(body, "")[0]]


def _assign(name: str, value: ast.expr, at: ast.stmt) -> ast.stmt:
    made = ast.Assign([ast.Name(name, ast.Store())], value)
    ast.copy_location(made, at)
    return ast.fix_missing_locations(made)


def _result(stmt: ast.Return) -> ast.stmt:
    value = stmt.value or ast.copy_location(ast.Constant(None), stmt)
    return _assign(RESULT, value, stmt)


def _unless(flags: frozenset[str], body: list[ast.stmt], at: ast.stmt) -> ast.stmt:
    tests: list[ast.expr] = [ast.Name(flag, ast.Load()) for flag in sorted(flags)]
    left = tests[0] if len(tests) == 1 else ast.BoolOp(ast.Or(), tests)
    made = ast.If(ast.UnaryOp(ast.Not(), left), body, [])
    ast.copy_location(made, at)
    return ast.fix_missing_locations(made)


def flag_of(test: ast.expr) -> tuple[str, bool] | None:
    """The flag that a test of this module asks, and its value in the first arm."""
    match test:
        case ast.Name(id=name) if name.startswith("__"):
            return name, True
        case ast.UnaryOp(op=ast.Not(), operand=ast.Name(id=name)) if name.startswith("__"):
            return name, False
        case _:
            return None


class _Flow:
    def __init__(self) -> None:
        self.loops = 0
        self.sites: list[ast.Return] = []  # the returns inside the outermost loop at hand

    def block(self, stmts: list[ast.stmt], loop: str) -> tuple[list[ast.stmt], Exits]:
        done: list[ast.stmt] = []
        stmts = list(opened(stmts))
        for k, stmt in enumerate(stmts):
            new, exits = self.stmt(stmt, loop)
            rest = stmts[k + 1 :]
            if exits.always or (exits.flags and not rest):
                return done + new, exits
            if not exits.flags:
                done += new
                continue
            after, more = self.block(rest, loop)
            last = new[-1]
            if isinstance(last, ast.If) and self._one_arm_leaves(last):
                arm = last.orelse if getattr(last, "then_leaves", False) else last.body
                arm.extend(after)
                both = exits.flags | more.flags
                return done + new, Exits(both, more.always)
            return [*done, *new, _unless(exits.flags, after, stmt)], Exits(
                exits.flags | more.flags, False
            )
        return done, Exits()

    def _one_arm_leaves(self, branch: ast.If) -> bool:
        return bool(getattr(branch, "clean", False))

    def stmt(self, stmt: ast.stmt, loop: str) -> tuple[list[ast.stmt], Exits]:
        match stmt:
            case ast.Return():
                return self.leave(stmt, loop), Exits(frozenset((RETURNED,)), True)
            case ast.Raise():
                return [stmt], Exits(frozenset(), True)
            case ast.Break():
                flag = f"__broke_{loop}"
                new = _assign(flag, ast.Constant(True), stmt)
                return [new], Exits(frozenset((flag,)), True)
            case ast.Continue():
                flag = f"__skip_{loop}"
                new = _assign(flag, ast.Constant(True), stmt)
                return [new], Exits(frozenset((flag,)), True)
            case ast.If(test=test, body=body, orelse=orelse):
                then, left = self.block(body, loop)
                other, right = self.block(orelse, loop)
                made = ast.If(test, then, other)
                ast.copy_location(made, stmt)
                # the rest can move into the arm that falls through, if the other always leaves
                made.then_leaves = left.always and not right.flags  # type: ignore[attr-defined]
                made.clean = made.then_leaves or (right.always and not left.flags)  # type: ignore[attr-defined]
                both = left.flags | right.flags
                return [made], Exits(both, left.always and right.always)
            case ast.For() | ast.While():
                return self.loop(stmt, loop)
            case _:
                return [stmt], Exits()

    def leave(self, stmt: ast.Return, loop: str) -> list[ast.stmt]:
        true = _assign(RETURNED, ast.Constant(True), stmt)
        if not loop:
            return [_result(stmt), true]
        self.sites.append(stmt)
        return [_assign(SITE, ast.Constant(len(self.sites)), stmt), true]

    def returned(self, loop: ast.stmt) -> ast.If:
        """What stands behind an outermost loop: the results of the returns inside."""
        sites, self.sites = self.sites, []
        true = _assign(RETURNED, ast.Constant(True), loop)
        body: list[ast.stmt] = [_result(sites[-1])]
        for k in range(len(sites) - 1, 0, -1):
            here = ast.Compare(ast.Name(SITE, ast.Load()), [ast.Eq()], [ast.Constant(k)])
            body = [ast.copy_location(ast.If(here, [_result(sites[k - 1])], body), loop)]
        made = ast.If(ast.Name(RETURNED, ast.Load()), [*body, true], [])
        made.then_leaves = made.clean = True  # type: ignore[attr-defined]
        return ast.fix_missing_locations(ast.copy_location(made, loop))

    def loop(self, stmt: ast.For | ast.While, outer: str) -> tuple[list[ast.stmt], Exits]:
        self.loops += 1
        own = str(self.loops)
        body, exits = self.block(stmt.body, own)
        broke, skip = f"__broke_{own}", f"__skip_{own}"
        before: list[ast.stmt] = []
        if skip in exits.flags:
            body = [_assign(skip, ast.Constant(False), stmt), *body]
        if broke in exits.flags:
            before.append(_assign(broke, ast.Constant(False), stmt))
        if isinstance(stmt, ast.For):
            made: ast.For | ast.While = ast.For(stmt.target, stmt.iter, body, [])
        else:
            made = ast.While(stmt.test, body, [])
        ast.copy_location(made, stmt)
        made.leave = sorted(exits.flags - {skip})  # type: ignore[union-attr]
        new: list[ast.stmt] = [*before, made]
        outward = exits.flags - {skip, broke}
        if stmt.orelse:
            orelse, more = self.block(stmt.orelse, outer)
            leave = exits.flags - {skip}
            new += [_unless(leave, orelse, stmt)] if leave else orelse
            outward |= more.flags
        if self.sites and not outer:
            new.append(self.returned(stmt))
        return new, Exits(outward)


def opened(stmts: list[ast.stmt]) -> Iterator[ast.stmt]:
    """Statements with the bodies of `with` behind an empty one, which says what is entered."""
    for stmt in stmts:
        if isinstance(stmt, ast.With):
            yield ast.copy_location(ast.With(stmt.items, []), stmt)
            yield from opened(stmt.body)
        else:
            yield stmt


def assigned(stmts: list[ast.stmt]) -> list[str]:
    """The names that statements assign, in order; nested functions' own names left out."""
    found: dict[str, None] = {}

    def visit(node: ast.AST) -> None:
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found[node.id] = None
        if isinstance(node, ast.FunctionDef):
            found[node.name] = None
            return
        if isinstance(node, ast.Lambda):
            return
        for child in ast.iter_child_nodes(node):
            visit(child)

    for stmt in stmts:
        visit(stmt)
    return list(found)
