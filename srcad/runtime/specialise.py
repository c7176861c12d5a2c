"""From a function, a mode and the types of arguments to compiled code, by the shortest way.

What was made before in this process for the same surroundings is shared; else the disk index names
the generated module; else the function is traced, transformed and printed. Captured floats are
constants of the code until a second value is met for the same code in this process; from then on
they are passed as hidden arguments.
"""

import json
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from types import FunctionType, MethodType, ModuleType
from typing import Any

from numba.core import types

from srcad.codegen import source
from srcad.errors import InternalError, Loc, Problem, SrcadError, UnsupportedSyntax
from srcad.ir.aliases import written_parameters
from srcad.ir.marks import Argnums, Mark
from srcad.ir.nodes import Function
from srcad.ir.trees import Nothing, Tree
from srcad.runtime import diskcache, vectormath
from srcad.runtime.numba_private import Types, compiled, global_compiler_lock
from srcad.runtime.signatures import labels, parameters, plain, spec_of_type
from srcad.runtime.structures import decoded, encoded, text_of
from srcad.runtime.surroundings import Place, Surroundings, same, surroundings
from srcad.tracer import Spec, Trace, trace
from srcad.tracer.trace import Read
from srcad.transform.pipeline import derive, prepared


@dataclass(frozen=True)
class Made:
    """One generated function: it takes the hidden arguments, then the visible ones.

    A function that reads nothing but functions is not guarded: as in Numba, a helper that is bound
    anew is not noticed then. This is what makes its calls as cheap as those of an @njit function.
    """

    inner: Any  # the @njit function of the generated module
    guards: tuple[Place, ...]  # values that shaped the code
    hidden: tuple[Place, ...]  # arrays and numbers read from outside at each call
    written: frozenset[int]  # flat parameters, hidden ones first, that it writes into
    name: str  # the user's function
    gives: Tree  # the structure of its result

    @property
    def free(self) -> bool:
        """Whether a call needs nothing but the arguments: no guard, no hidden argument."""
        shaped = any(not callable(place.value) for place in self.guards)
        return not (shaped or self.hidden)

    def result(self, args: Types) -> Any:
        """Numba's compile result. Raises InternalError where Numba refuses the generated code."""
        try:
            return compiled(self.inner, args)
        except SrcadError:
            raise
        except Exception as error:
            code = self.inner.py_func.__code__
            lines = [line for line in str(error).splitlines() if line.strip()] or [repr(error)]
            raise InternalError(
                Problem(
                    f"Numba does not compile what srcad wrote for `{self.name}`",
                    Loc(code.co_filename, code.co_firstlineno),
                    f"{type(error).__name__}: {lines[0].strip()}",
                    f"report it with the file {code.co_filename}",
                )
            ) from error


@dataclass
class _Known:
    """What this process has made for functions that differ in captured floats only."""

    first: str  # the digest of the first one
    made: dict[str, diskcache.Entry] = field(default_factory=dict)


_known: dict[tuple[object, ...], _Known] = {}


@global_compiler_lock  # type: ignore[untyped-decorator]
def specialised(
    function: Callable[..., Any],
    mode: str,
    argnums: Argnums,
    args: Types,
    specs: tuple[Spec, ...] | None = None,
) -> Made:
    """The generated function for arguments of these types and for what is outside now.

    `specs` say what the arguments are where Numba's types do not: structures and flags.
    """
    mark = Mark(mode, function, argnums)
    around = surroundings(innermost(function))
    if around.digest is None or around.loose is None:
        return _made_anew(mark, args, around, specs, hide=False)[0]
    known = _known.setdefault((around.loose, _chain(mark), args, specs), _Known(around.digest))
    if known.first != around.digest:
        try:
            return _shared(mark, args, around, known, around.loose, specs)
        except UnsupportedSyntax:
            pass  # a float is needed while tracing
    return _shared(mark, args, around, known, around.digest, specs)


def _shared(
    mark: Mark,
    args: Types,
    around: Surroundings,
    known: _Known,
    which: str,
    specs: tuple[Spec, ...] | None,
) -> Made:
    """From this process, from the disk, or made anew; `which` says whether floats are hidden."""
    if which in known.made:
        return _made(known.made[which], around)
    hide = which == around.loose
    texts = text_of(specs) if specs is not None else ""
    key = diskcache.key(which, _chain(mark), repr([str(a) for a in args]), str(hide), str(texts))
    entry = None if texts is None else diskcache.recall(key)
    if entry is None or not _usable(entry):
        made, entry = _made_anew(mark, args, around, specs, hide=hide)
        if entry is None:
            return made
        if texts is not None:
            diskcache.remember(key, entry)
    known.made[which] = entry
    return _made(entry, around)


def _usable(entry: diskcache.Entry) -> bool:
    """Whether the module is there, and the classes of what it gives."""
    try:
        decoded(json.loads(entry.gives))
    except ValueError:
        return False
    return diskcache.load(entry.module) is not None


def _made(entry: diskcache.Entry, around: Surroundings) -> Made:
    return Made(
        getattr(diskcache.load(entry.module), entry.function),
        tuple(around.places[k].kept() for k in entry.guards),
        tuple(around.places[k] for k in entry.hidden),
        frozenset(entry.written),
        entry.name,
        decoded(json.loads(entry.gives)),
    )


def _made_anew(
    mark: Mark, args: Types, around: Surroundings, specs: tuple[Spec, ...] | None, *, hide: bool
) -> tuple[Made, diskcache.Entry | None]:
    """Traces, transforms and prints; the entry for the index if everything read has a number."""
    assert mark.inner is not None
    python = innermost(mark.inner)
    names = parameters(python)
    values = (k + 1 for k, a in enumerate(args) if not isinstance(a, types.Omitted))
    given = max((reached(mark, names), *values))  # defaults left out behind these are constants
    if specs is None:
        specs = tuple(map(spec_of_type, args[:given], labels(python)))
    found = derived(Marked(mark.mode, mark.inner, mark.argnums), specs, hide=hide)
    left_out = tuple((name, Nothing()) for name in names[given : len(args)])
    function = replace(found.function, takes=(*found.function.takes, *left_out))
    written = written_parameters(function)
    made = source(function, vector_math=vectormath.AVAILABLE, written=written)
    signature = f"{mark.mode} of {python.__qualname__}({', '.join(map(str, args))})"
    name = diskcache.store(made, signature.replace("\n", " "))
    module = diskcache.load(name)
    if module is None:
        raise InternalError(f"the generated module {name} is gone")
    guards = [r for r in found.reads if not r.hidden and not isinstance(r.value, ModuleType)]
    hidden = [r for r in found.reads if r.hidden]
    named = {id(r.value) for r in guards}
    guards += [r for r in hidden if id(r.value) in named]  # one argument for several names
    numbered, gives = _numbered(guards, hidden, around), found.function.gives
    if numbered is not None and (text := _encoded(gives)) is not None:
        places = tuple(sorted(written))
        entry = diskcache.Entry(name, made.entry, *numbered, places, python.__name__, text)
        return _made(entry, around), entry
    inner = getattr(module, made.entry)
    read = (Place(r.name, r.current(), r.current) for r in guards)
    shaping = tuple(p.kept() for p in (*read, *(around.places[k] for k in around.watched)))
    passed = tuple(Place(r.name, r.current(), r.current) for r in hidden)
    return Made(inner, shaping, passed, written, python.__name__, gives), None


def _encoded(gives: Tree) -> str | None:
    try:
        return json.dumps(encoded(gives))
    except ValueError:
        return None


def _numbered(
    guards: list[Read], hidden: list[Read], around: Surroundings
) -> tuple[tuple[int, ...], tuple[int, ...]] | None:
    """The numbers of guarded places and of hidden arguments; None if something has no number."""
    numbers = {id(r): _numbers(r, around) for r in (*guards, *hidden)}
    if around.digest is None or not all(numbers.values()):
        return None
    unclear = (r for r in hidden if len(numbers[id(r)]) > 1)
    guarded = {k for r in (*guards, *unclear) for k in numbers[id(r)]}
    return tuple(sorted(guarded.union(around.watched))), tuple(numbers[id(r)][0] for r in hidden)


def _numbers(read: Read, around: Surroundings) -> list[int]:
    """The places that may be what was read: same name and same object, or equal tuples."""
    now = read.current()
    named = [(k, p.current()) for k, p in enumerate(around.places) if p.name == read.name]
    if isinstance(now, MethodType):  # a new object at each look
        return [k for k, v in named if v == now]
    return [k for k, v in named if v is now or isinstance(now, tuple) and same(v, now)]


def reached(mark: Mark, names: list[str]) -> int:
    """How many parameters there are up to the last one that is differentiated at any level."""
    inner = getattr(mark.inner, "__srcad__", None)
    below = reached(inner, names) if isinstance(inner, Mark) else 0
    argnums = mark.argnums if isinstance(mark.argnums, tuple) else (mark.argnums,)
    places = [names.index(a) if isinstance(a, str) else a for a in argnums if a is not None]
    ends = [k % len(names) + 1 for k in places if -len(names) <= k < len(names)]
    return max((below, *ends))


class Marked:
    """A derivative as `derived` wants it, which nobody calls."""

    def __init__(self, mode: str, inner: Callable[..., Any], argnums: Argnums) -> None:
        self.__srcad__ = Mark(mode, inner, argnums)


def derived(function: Any, specs: tuple[Spec, ...], *, hide: bool = False) -> Trace:
    """The trace of a function of the user, or of a derivative of one."""
    mark = getattr(function, "__srcad__", None)
    if not isinstance(mark, Mark):
        found = trace(plain(function), specs, hide_floats=hide, derive=_inner)
        return replace(found, function=prepared(found.function))
    assert mark.inner is not None
    inner = derived(mark.inner, specs, hide=hide)
    if mark.mode == "primal":
        return inner
    function_ = derive(inner.function, mark.mode, mark.argnums)
    return Trace(function_, inner.reads)


def _inner(function: Function, mode: str, argnums: Argnums) -> Function:
    """The derivative of a function that is differentiated inside a traced one."""
    return derive(prepared(function), mode, argnums)


def innermost(function: Callable[..., Any]) -> FunctionType:
    """The user's Python function under any number of derivatives."""
    mark = getattr(function, "__srcad__", None)
    if isinstance(mark, Mark) and mark.inner is not None:
        return innermost(mark.inner)
    python: FunctionType = plain(function)
    return python


def _chain(mark: Mark) -> str:
    """The modes from the outermost to the function."""
    inner = getattr(mark.inner, "__srcad__", None)
    rest = _chain(inner) if isinstance(inner, Mark) else ""
    return f"{mark.mode} {mark.argnums!r} {rest}"
