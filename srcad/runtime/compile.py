"""Compiles an IR function in memory, for tests and for what cannot be cached."""

import hashlib
import linecache
import sys
from types import ModuleType
from typing import Any

from srcad.codegen import Source, source
from srcad.ir.aliases import written_parameters
from srcad.ir.nodes import Function
from srcad.runtime import vectormath


def compile_function(function: Function) -> Any:
    """The function compiled by Numba at its first call, without a disk cache.

    Its module is a known one: Numba does not find the symbols of recursive functions without.
    """
    written = written_parameters(function)
    made = source(function, vector_math=vectormath.AVAILABLE, written=written)
    file = register(made)
    module = sys.modules[file] = ModuleType(file)
    exec(compile(made.text, file, "exec"), module.__dict__)
    return getattr(module, made.entry)


def register(made: Source) -> str:
    """A file name under which tracebacks and debuggers find the text."""
    name = f"<srcad {made.entry} {hashlib.sha256(made.text.encode()).hexdigest()[:12]}>"
    linecache.cache[name] = (len(made.text), None, made.text.splitlines(True), name)
    return name
