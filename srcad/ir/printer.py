"""The IR as text, for tests, dumps and error reports."""

from typing import assert_never

from srcad.ir.nodes import (
    Alloc,
    Assert,
    Atom,
    Block,
    Call,
    For,
    Function,
    Grow,
    If,
    Index,
    Let,
    Library,
    Load,
    Map,
    NewAxis,
    Permute,
    Print,
    Reshape,
    Sealed,
    Slice,
    Stmt,
    Store,
    Subscript,
    View,
    While,
)


def show(function: Function) -> str:
    """The whole function."""
    params = ", ".join(f"{p}: {p.type}" for p in function.params)
    results = ", ".join(map(str, function.body.results))
    lines = [f"def {function.name}({params}):", *_lines(function.body, 1), f"    return {results}"]
    return "\n".join(lines) + "\n"


def _lines(block: Block, depth: int) -> list[str]:
    return [line for stmt in block.stmts for line in _stmt(stmt, depth)]


def _commas(atoms: tuple[Atom | str, ...]) -> str:
    return ", ".join(map(str, atoms))


def _how(how: Subscript | Permute | Reshape) -> str:
    match how:
        case Permute(axes=axes):
            return f".permute{axes}"
        case Reshape(shape=shape):
            return f".reshape({_commas(shape)})"
        case Subscript(items=items):
            texts: list[str] = []
            for item in items:
                match item:
                    case Index(at=at):
                        texts.append(str(at))
                    case Slice(start=start, length=length, step=step):
                        texts.append(f"{start} +{length} by {step}")
                    case NewAxis():
                        texts.append("new")
            return f"[{', '.join(texts)}]"


def _stmt(stmt: Stmt, depth: int) -> list[str]:
    pad = "    " * depth

    def nested(head: str, *parts: tuple[str, Block]) -> list[str]:
        lines: list[str] = []
        for k, (text, block) in enumerate(parts):
            lines.append(f"{pad}{head if k == 0 else ''}{text}:")
            lines += _lines(block, depth + 1)
            lines.append(f"{pad}    yield {_commas(block.results)}")
        return lines

    match stmt:
        case Let(out=out, op=op, args=args):
            return [f"{pad}{out}: {out.type} = {op}({_commas(args)})"]
        case Load(out=out, array=array, index=index):
            return [f"{pad}{out}: {out.type} = {array}[{_commas(index)}]"]
        case Store(array=array, index=index, value=value):
            return [f"{pad}{array}[{_commas(index)}] := {value}"]
        case Alloc(out=out, shape=shape, fill=fill):
            return [f"{pad}{out}: {out.type} = alloc({_commas(shape)}; {fill})"]
        case View(out=out, array=array, how=how):
            return [f"{pad}{out}: {out.type} = view {array}{_how(how)}"]
        case Map(out=out, shape=shape, indices=indices, body=body):
            head = f"{out}: {out.type} = map ({_commas(indices)}) < ({_commas(shape)})"
            return nested(head, ("", body))
        case For(index=index, stop=stop, carried=carried, body=body, outs=outs):
            inits = ", ".join(f"{name}: {name.type} = {init}" for name, init in carried)
            return nested(f"({_commas(outs)}) = for {index} < {stop} ({inits})", ("", body))
        case While(index=index, carried=carried, body=body, outs=outs, trips=trips):
            inits = ", ".join(f"{name}: {name.type} = {init}" for name, init in carried)
            head = f"({_commas(outs)}), {trips} trips = while {index} ({inits})"
            return nested(head, ("", body))
        case If(cond=cond, then=then, orelse=orelse, outs=outs):
            return nested(f"({_commas(outs)}) = if {cond}", ("", then), ("else", orelse))
        case Library(op=op, reads=reads, writes=writes):
            return [f"{pad}{op}({_commas(reads)} -> {_commas(writes)})"]
        case Grow(array=array, length=length):
            return [f"{pad}grow {array} to {length}"]
        case Assert(cond=cond, error=error, message=message, args=args):
            return [f"{pad}assert {cond} else {error}({message!r}, {_commas(args)})"]
        case Call(callee=callee, args=args, outs=outs, writes=writes):
            return [f"{pad}({_commas(outs)}) = {callee}({_commas(args)}; {_commas(writes)})"]
        case Sealed(array=array):
            return [f"{pad}sealed {array}"]
        case Print(pieces=pieces):
            return [f"{pad}print({_commas(pieces)})"]
        case _:
            assert_never(stmt)
