"""`Program`: a derivative as a Numba dispatcher that keeps the user's function as its `py_func`.

On new argument types it takes over the compile result of a generated @njit function, so calls cost
what calls of @njit functions cost, from Python and from @njit code. Where a call needs more, the
object changes its class:

- `Guarded`, if what the function reads from outside shaped the code, or is passed as hidden
  arguments;
- `Flexible`, if arguments or results are structures or flags, or parameters are not positional;
- `Interpreted` under `NUMBA_DISABLE_JIT=1`, which Numba does not look at here.
"""

import inspect
from collections.abc import Callable
from dataclasses import replace
from operator import call
from typing import Any

import numpy as np

from srcad.errors import Problem, TypingError
from srcad.ir.marks import Argnums, Mark
from srcad.runtime.interpret import interpret
from srcad.runtime.numba_private import (
    Adopting,
    OmittedArg,
    Types,
    argument_types,
    bound,
    default_of,
    disabled,
    global_compiler_lock,
    type_of,
)
from srcad.runtime.signatures import (
    called,
    checked,
    holds_array,
    is_constant,
    labels,
    need_floats,
    only_positional,
    ordered,
    parameters,
    plain_numbers,
    spec,
)
from srcad.runtime.specialise import Made, derived, innermost, reached, specialised
from srcad.runtime.structures import flat, is_plain, restored, structured
from srcad.runtime.surroundings import Place, surroundings, unchanged
from srcad.tracer import Spec, Trace

__all__ = ["Program", "derived", "spec"]
GROUPS = 16  # sets of outside values that are kept per program


class Program(Adopting):
    """`mode` applied to `inner`; call it like `inner`. Keywords and defaults work."""

    def __init__(self, inner: Callable[..., Any], mode: str, argnums: Argnums) -> None:
        self.python = checked(innermost(inner))
        self.signature = inspect.signature(self.python, follow_wrapped=False)
        self.__srcad__ = Mark(mode, inner, argnums)
        super().__init__(self.python)
        self.groups: list[Group] = []
        self.kept: list[Any] = []  # what compiled callers use by address
        self.traces: dict[tuple[tuple[Spec, ...], str | None], tuple[Trace, Any]] = {}
        self.forms: dict[tuple[Spec, ...], list[Made]] = {}
        if disabled():
            self.__class__ = Interpreted
        elif not only_positional(self.signature):
            self.__class__ = Flexible

    def made(self, args: Types) -> Made:
        """The generated function for these types, without hidden arguments."""
        mark = self.__srcad__
        assert mark.inner is not None
        made: Made = specialised(mark.inner, mark.mode, mark.argnums, args)
        return made

    @global_compiler_lock  # type: ignore[untyped-decorator]
    def compile(self, sig: Any) -> Any:
        """Numba's entry for @njit callers: what is outside counts as it is now, as Numba has it.

        Only elements of captured arrays are seen when they change.
        """
        args = argument_types(sig)
        if args in self.overloads:
            return self.overloads[args].entry_point
        arrays = self.arrays_left_out(args)
        with self._compiling_counter:
            names = zip(parameters(self.python), args, strict=False)
            kinds = (type_of(arrays[n]) if n in arrays else kind for n, kind in names)
            made = self.made(tuple(kinds))
            if not made.free:
                self.__class__ = Guarded  # calls from Python do not use what is frozen here
            if made.hidden or arrays:
                made = self.fixed(made, arrays)
            return self.adopt(made.result(args))

    def get_call_template(self, args: Any, kws: Any) -> Any:
        """Numba's entry for the type of a call in @njit code."""
        called(self.python.__name__, self.signature, tuple(args), dict(kws))
        return super().get_call_template(args, kws)

    def arrays_left_out(self, args: Types) -> dict[str, Any]:
        """The arrays among defaults; TypingError for what compiled callers cannot leave out."""
        found: dict[str, Any] = {}
        for label, name, kind in zip(
            labels(self.python), parameters(self.python), args, strict=False
        ):
            value = default_of(kind)
            if isinstance(value, np.ndarray):
                found[name] = value
            elif not is_constant(value):
                raise TypingError(
                    Problem(
                        f"argument {label} is left out by @njit code, and its default is a "
                        f"{type(value).__name__}",
                        None,
                        "compiled callers can only leave out numbers, texts and arrays",
                        "read it from outside instead, or pass it",
                    )
                )
        return found

    def fixed(self, made: Made, arrays: dict[str, Any]) -> Made:
        """With hidden arguments and defaults as they are now: arrays by address."""
        hidden = [place.current() for place in made.hidden]
        try:
            inner = bound(made.inner, hidden, parameters(self.python), arrays)
        except ValueError:
            names = ", ".join(f"`{name}`" for name in (*(p.name for p in made.hidden), *arrays))
            raise TypingError(
                Problem(
                    f"the derivative of `{made.name}` is called from @njit code and reads {names} "
                    "from outside",
                    None,
                    "compiled callers can only pass on arrays that are contiguous",
                    "make it contiguous: np.ascontiguousarray(...), or an argument",
                )
            ) from None
        # Numba forgets the code of a function that is collected.
        self.kept += [inner, *hidden, *arrays.values()]
        return replace(made, inner=inner, hidden=())

    def _compile_for_args(self, *args: Any, **kwargs: Any) -> Any:
        """Numba's entry for calls from Python with new types: gives what is called instead."""
        if any(map(_array_left_out, args)):
            return lambda *args: self(*map(_given, args))
        if any(map(structured, self.check(args))):
            self.__class__ = Flexible
            return lambda *args: self(*_without_omitted(args))
        constant = _constant_defaults(args)
        kinds = self.types_of(constant)
        with global_compiler_lock:
            if kinds in self.overloads:
                return self.overloads[kinds].entry_point
            with self._compiling_counter:
                made = self.made(kinds)
                if not is_plain(made.gives):
                    self.__class__ = Flexible
                    return lambda *args: self(*_without_omitted(args))
                same = all(a is b for a, b in zip(args, constant, strict=True))
                if made.free and same:
                    return self.adopt(made.result(kinds))
            self.groups.append(Group(self, made, kinds))
            self.__class__ = Guarded
        return lambda *args: self(*_without_omitted(args))

    def check(self, args: tuple[Any, ...]) -> tuple[Spec, ...]:
        """What the arguments are. Raises TypingError for one that srcad does not take."""
        defaults = [p.default for p in self.signature.parameters.values()]
        count = len(_without_omitted(args))  # those behind are constants
        given = (
            default if isinstance(arg, OmittedArg) else arg
            for arg, default in zip(args[:count], defaults, strict=False)
        )  # fmt: skip
        return tuple(map(spec, given, labels(self.python)))

    def __repr__(self) -> str:
        return f"<srcad {self.__srcad__.mode} of {self.python.__qualname__}>"

    def _reduce_states(self) -> dict[str, Any]:
        mark = self.__srcad__
        return {"inner": mark.inner, "mode": mark.mode, "argnums": mark.argnums}

    @classmethod
    def _rebuild(cls, inner: Any, mode: str, argnums: Argnums) -> "Program":
        return Program(inner, mode, argnums)


def _without_omitted(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Arguments as the caller gave them: defaults at the end left out again."""
    kept = list(args)
    while kept and isinstance(kept[-1], OmittedArg):
        kept.pop()
    return tuple(map(_given, kept))


def _array_left_out(arg: Any) -> bool:
    """Whether it is an array as a default: Numba would copy it into the code."""
    return isinstance(arg, OmittedArg) and holds_array(arg.value)


def _constant_defaults(args: tuple[Any, ...]) -> tuple[Any, ...]:
    """Defaults at the end that Numba has no type for (lists, functions) as None.

    The tracer looks at the function's own defaults; those that can be edited are guarded.
    """
    last = len(_without_omitted(args))
    return args[:last] + tuple(a if is_constant(a.value) else OmittedArg(None) for a in args[last:])


def _given(arg: Any) -> Any:
    return arg.value if isinstance(arg, OmittedArg) else arg


class Elsewhere(Exception):
    """These arguments need other code than that of the group that was asked."""


class Group(Adopting):
    """The compiled code for one set of values outside: hidden arguments first."""

    def __init__(self, program: Program, made: Made, kinds: Types) -> None:
        self.program, self.hidden = program, made.hidden
        self.values = [place.current for place in made.hidden]
        self.guards = [(place.current, place.value) for place in made.guards]
        super().__init__(_stub(program.python, len(made.hidden)))
        self.adopt(made.result((*(type_of(current()) for current in self.values), *kinds)))

    def _compile_for_args(self, *args: Any, **kwargs: Any) -> Any:
        if any(map(_array_left_out, args)):
            return lambda *args: self(*map(_given, args))
        if any(map(structured, self.program.check(args[len(self.hidden) :]))):
            raise Elsewhere
        kinds = self.types_of(args)
        with global_compiler_lock:
            if kinds in self.overloads:
                return self.overloads[kinds].entry_point
            made = self.program.made(kinds[len(self.hidden) :])
            if not _alike(made.hidden, self.hidden):
                raise Elsewhere
            self.guards += [(place.current, place.value) for place in made.guards]
            return self.adopt(made.result(kinds))


def _alike(first: tuple[Place, ...], second: tuple[Place, ...]) -> bool:
    """Whether two lists of hidden arguments are the same list."""
    return len(first) == len(second) and all(
        a.name == b.name and a.current() is b.current() for a, b in zip(first, second, strict=True)
    )


def _stub(function: Any, hidden: int) -> Any:
    """A function with the same parameters and defaults behind `hidden` more."""
    names = [f"_hidden_{k}" for k in range(hidden)] + parameters(function)
    space: dict[str, Any] = {}
    exec(f"def stub({', '.join(names)}): pass", space)
    stub = space["stub"]
    defaults = function.__defaults__ or ()
    stub.__defaults__ = tuple(v if is_constant(v) or holds_array(v) else None for v in defaults)
    return stub


class Guarded(Program):
    """A program that looks at what is outside at each call."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        for group in self.groups:
            for current, value in group.guards:
                now = current()
                if now is not value and not unchanged(now, value):
                    break
            else:
                try:
                    if kwargs:
                        return group(*map(call, group.values), *args, **kwargs)
                    if group.values:
                        return group(*map(call, group.values), *args)
                    return group(*args)
                except Elsewhere:
                    continue
                except TypeError:  # Numba's text would count hidden arguments and name nothing
                    called(self.python.__name__, self.signature, args, kwargs)
                    raise
        return self.first(args, kwargs)

    def first(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """A call for which nothing was compiled yet."""
        given = ordered(self.python.__name__, self.signature, args, kwargs)
        if any(map(structured, self.check(given))):
            self.__class__ = Flexible  # type: ignore[assignment]
            return self(*args, **kwargs)
        defaults = list(self.signature.parameters.values())[len(given) :]
        left_out = tuple(OmittedArg(p.default) for p in defaults if p.default is not p.empty)
        if any(map(_array_left_out, left_out)):
            return self(*given, *map(_given, left_out))
        kinds = self.types_of(_constant_defaults((*given, *left_out)))
        with global_compiler_lock:
            made = self.made(kinds)
            if not is_plain(made.gives):
                self.__class__ = Flexible  # type: ignore[assignment]
                return self(*args, **kwargs)
            group = Group(self, made, kinds)
        self.groups[:] = [group, *self.groups[: GROUPS - 1]]
        return group(*map(call, group.values), *args, **kwargs)


class Flexible(Program):
    """A program whose arguments are flattened, and whose results are rebuilt, by Python."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given, specs = self.given(args, kwargs)
        passed = tuple(map(flat, given, specs))
        made = next(filter(_holds, self.forms.get(specs, ())), None)
        if made is None:
            kinds = tuple(map(type_of, passed))
            mark = self.__srcad__
            assert mark.inner is not None
            made = specialised(mark.inner, mark.mode, mark.argnums, kinds, specs)
            self.forms[specs] = [made, *self.forms.get(specs, ())][:GROUPS]
        hidden = tuple(place.current() for place in made.hidden)
        made.result(tuple(map(type_of, (*hidden, *passed))))
        return restored(made.gives, made.inner(*hidden, *passed))

    def given(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], tuple[Spec, ...]]:
        """The arguments in the order of the parameters, and what they are."""
        least = reached(self.__srcad__, parameters(self.python))
        given = ordered(self.python.__name__, self.signature, args, kwargs, least)
        specs = tuple(map(spec, given, labels(self.python)))
        need_floats(self.python, specs, self.__srcad__.argnums)
        return given, specs


def _holds(made: Made) -> bool:
    """Whether what shaped the code reads the same now."""
    return all(unchanged(place.current(), place.value) for place in made.guards)


class Interpreted(Flexible):
    """A program run by Python."""

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        given, specs = self.given(args, kwargs)
        traced, run = self.run(specs)
        found = run(*traced.captured(), *map(flat, given, specs))
        return restored(traced.function.gives, plain_numbers(found))

    def run(self, specs: tuple[Spec, ...]) -> tuple[Trace, Any]:
        """The trace for what is outside now, and what runs it."""
        around = surroundings(self.python).digest
        if around is None or (specs, around) not in self.traces:
            traced = derived(self, specs)
            self.traces[specs, around] = traced, interpret(traced.function)
        return self.traces[specs, around]
