"""The corpus: small programs with arguments, one module per kind, crossed with every transform."""

from corpus import (
    arrays,
    control,
    inplace,
    lists,
    loops,
    memory,
    mixed,
    names,
    recursion,
    scalars,
    second_order,
    syntax,
    traps,
    values,
)
from corpus.program import Program

__all__ = ["ALL", "Program"]

ALL: list[Program] = [
    program
    for module in (
        scalars,
        recursion,
        loops,
        arrays,
        inplace,
        lists,
        memory,
        mixed,
        names,
        control,
        traps,
        second_order,
        syntax,
        values,
    )
    for program in module.PROGRAMS
]
