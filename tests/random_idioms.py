"""Idioms of numerical programs: buffers that change roles, lists that grow, helpers that write."""

from random_expressions import VECTOR, Expressions

HELPERS = {
    "spread": """def spread(out, given, c):
    for k in range(given.size):
        out[k] += 0.3 * math.sin(c * given[k])
""",
    "sweep": """def sweep(v, c):
    last = 0.0
    for k in range(v.size):
        last = math.tanh(c * last + v[k])
        v[k] = last
    return last
""",
    "first_above": """def first_above(v, c):
    for k in range(v.size):
        if v[k] > c:
            return v[k] * c
    return c
""",
    "split": """def split(v, c):
    return v[0] * c, v[1:]
""",
    "chain": """def chain(m, z):
    if m <= 0:
        return z
    return math.sin(z * chain(m - 1, 0.9 * z + 0.1))
""",
    "halves": """def halves(v, lo, hi, c):
    if hi - lo <= 1:
        return c * v[lo]
    mid = (lo + hi) // 2
    return math.sin(halves(v, lo, mid, c) + halves(v, mid, hi, 0.5 * c) * c)
""",
    "soften": """def soften(v, k, c):
    if k < v.size - 1:
        soften(v, k + 1, c)
        v[k] = math.sin(v[k] + c * v[k + 1])
""",
}


class Idioms(Expressions):
    # -- results

    def result(self, *, full: bool = False) -> str:
        """All returns of a program have the same structure."""
        number = "p * np.sum(x) + np.sum(a)"
        if full:
            number += "".join(f" + {name}" for name in self.scalars)
            number += "".join(f" + np.sum({name} * {name})" for name in self.arrays)
            number += "".join(f" + sum({name})" for name in self.lists)
        array = self.choose(
            self.vector(), f"np.sin({self.vector()}) * {self.choose(*self.scalars)}"
        )
        match self.shape_of_result:
            case "number":
                return number
            case "array":
                return f"{array} * ({number})" if full else str(array)
            case "pair":
                return f"{number}, {array}"
        name = self.vector()
        return f"{name}, {name}"

    # -- helpers and recursion

    def write_call(self) -> None:
        """A helper, perhaps with overlapping views, perhaps one that writes into its argument."""
        s, name = self.choose(*self.scalars), self.name("s")
        out, given = self.pair_of_views()
        line = self.choose(
            f"spread({out}, {given}, {s})",
            f"{name} = sweep({out}, {s})",
            f"{name} = first_above({given}, {s})",
            f"{name}, {name}_rest = split({self.vector()}, {s})",
        )
        self.say_making(name, line)
        if "_rest" in line:
            self.arrays[f"{name}_rest"] = VECTOR.of((3,))

    def write_recursion(self) -> None:
        s, depth = self.choose(*self.scalars), self.choose("n", "2", *self.indices)
        name = self.name("s")
        line = self.choose(
            f"{name} = chain({depth}, {self.bounded(1)})",
            f"{name} = halves({self.vector()}, 0, {self.choose('n', '4')}, {s})",
            f"soften({self.vector()}, n - {self.choose(1, 2, 3)}, {s})",
        )
        self.say_making(name, line)

    def say_making(self, name: str, line: str) -> None:
        """A line that may set a new number."""
        self.say(line)
        if line.startswith(name):
            self.scalars.append(name)

    # -- tuples and dictionaries

    def write_packed(self) -> None:
        """An array and a number go through a tuple or a dictionary."""
        pack, s, v = self.name("pack"), self.name("s"), self.name("v")
        array, bounded = self.choose(*self.arrays), self.bounded()
        if self.choose(True, False):
            self.say(f"{pack} = ({bounded}, {array})")
            self.say(f"{s}, {v} = {pack}")
        else:
            self.say(f'{pack} = {{"v": {array}, "s": {bounded}}}')
            with self.perhaps(f"if {self.condition(0)}:"):
                self.say(f'{pack}["s"] *= {self.bounded(1)}')
            self.say(f'{s}, {v} = {pack}["s"], {pack}["v"]')
        self.scalars.append(s)
        self.arrays[v] = self.arrays[array]

    # -- lists

    def write_grow(self) -> None:
        """A list that starts empty, or with one item, and grows in a loop."""
        name, i = self.name("items"), self.name("i")
        of_rows = self.choose(False, False, True)
        first, depth = self.item(of_rows), self.depth
        self.say(f"{name} = {self.choose('[]', f'[{first}]')}")
        self.say(f"for {i} in range({self.choose('n', '4', 'n - 3', *self.indices)}):")
        with self.scope(), self.loop():
            self.indices[i] = 4
            if depth > 1 and self.choose(True, False):
                self.block(depth - 2)
            with self.perhaps(f"if {self.condition(0)}:"):
                self.say(f"{name}.append({self.item(of_rows)})")
        (self.rows if of_rows else self.lists).append(name)

    def item(self, of_rows: bool) -> str:
        if not of_rows:
            return self.bounded()
        return str(self.choose(f"{self.vector()}.copy()", f"np.sin({self.vector()})"))

    def write_append(self) -> None:
        if not self.lists + self.rows:
            return self.write_update()
        name = self.choose(*self.lists, *self.rows)
        self.say(f"{name}.append({self.item(name in self.rows)})")

    def write_take(self) -> None:
        """Something is read from a list, or changed in it."""
        if not self.lists + self.rows:
            return self.write_store()
        name, s = self.choose(*self.lists, *self.rows), self.choose(*self.scalars)
        at, v = f"{self.choose('n', *self.indices)} % len({name})", self.name("v")
        if name in self.rows:
            lines = self.choose(
                (f"for {v} in {name}:", f"    {s} += 0.1 * np.sum({v} * {v})"),
                (f"if len({name}) > 0:", f"    {s} += np.sum({name}[{at}])"),
                (f"if len({name}) > 1:", f"    x = x + 0.5 * {name}[{self.choose(0, -1, -2)}]"),
            )
        else:
            lines = self.choose(
                (f"for {v} in {name}:", f"    {s} = math.sin({s} + {v} * {v})"),
                (f"{s} += math.sin(sum({name}))",),
                (f"if len({name}) > 0:", f"    {s} *= {self.choose('max', 'min')}({name})"),
                (f"if len({name}) > 0:", f"    {name}[{at}] *= {self.bounded(1)}"),
                (f"if len({name}) > 0:", f"    {s} += math.sin({name}.pop())"),
                (f"for {v} in sorted({name}):", f"    {s} = math.tanh({s} * {v} + 0.2)"),
                (f"{s} += sum([{v} * {v} for {v} in {name} if {v} > 0.1])",),
            )
        for line in lines:
            self.say(line)

    def write_array_of(self) -> None:
        """A comprehension."""
        name, i = self.name("u"), self.name("i")
        bound = dict(self.indices)
        self.indices[i] = 4
        made = f"[{self.bounded(1)} for {i} in range(4)]"
        self.indices = bound
        if self.choose(True, False):
            self.say(f"{name} = np.array({made})")
            self.arrays[name] = VECTOR
        else:
            self.say(f"{self.choose(*self.scalars)} += math.sin(sum({made}))")

    # -- buffers that change roles

    def write_swap(self) -> None:
        """Two or three buffers that are exchanged in a time loop, one of them perhaps kept."""
        depth, u, v = self.depth, self.name("u"), self.name("v")
        names = [u, v, self.name("w")] if self.choose(False, False, True) else [u, v]
        for name in names:
            self.say(f"{name} = {self.buffer()}")
        best, kept = self.name("best"), self.choose("no", "no", "name", "copy", "none")
        if kept != "no":
            first = {"name": u, "copy": f"{u}.copy()", "none": "None"}[kept]
            self.say(f"{best} = {first}")
        t = self.name("t")
        self.say(f"for {t} in range({self.choose('n', '2', '3')}):")
        with self.scope(), self.loop(continues=False):
            self.indices[t] = 4
            self.arrays |= dict.fromkeys(names, VECTOR)
            self.step(u, v)
            if depth > 1 and self.choose(False, True):
                self.block(depth - 2)
            if kept != "no":
                copy = "" if kept == "name" else ".copy()"
                with self.perhaps(f"if {self.condition(0)}:"):
                    self.say(f"{best} = {u}{copy}")
            if self.choose(False, False, True):
                self.say(f"if {self.condition(0)}:")
                self.say(f"    {self.choose('break', f'return {self.result()}')}")
            self.say(f"{', '.join(names)} = {', '.join([*names[1:], u])}")
        self.arrays |= dict.fromkeys(names, VECTOR)
        if kept == "none":
            self.say(f"if {best} is not None:")
            self.say(f"    s += np.sum({best} * {best})")
        elif kept != "no":
            self.arrays[best] = VECTOR

    def buffer(self) -> str:
        made = (f"{self.vector()}.copy()", f"np.cos({self.vector()})", "np.zeros(4)")
        return str(self.choose(*made))

    def step(self, u: str, v: str) -> None:
        """v is made of u."""
        i, c = self.name("i"), self.choose("p", "0.4", *self.scalars)
        lines = self.choose(
            (f"for {i} in range(4):", f"    {v}[{i}] = math.sin({u}[{i}] + {c} * {u}[{i} - 1])"),
            (
                f"for {i} in range(1, 3):",
                f"    {v}[{i}] = {u}[{i}] + 0.2 * ({u}[{i} + 1] * {u}[{i} - 1] - {c})",
            ),
            (f"{v}[:] = np.sin({u}) * {c}",),
            (f"{v}[1:] = 0.5 * {u}[:-1] * {u}[1:]", f"{v}[0] = {c}"),
            (f"spread({v}, {u}, {c})",),
        )
        for line in lines:
            self.say(line)

    def write_parity(self) -> None:
        """Two buffers that are written in turn, told apart by the parity of the step."""
        u, v, t = self.name("u"), self.name("v"), self.name("t")
        self.say(f"{u} = {self.buffer()}")
        self.say(f"{v} = {self.buffer()}")
        self.say(f"for {t} in range({self.choose('n', '2', '4')}):")
        with self.scope(), self.loop():
            self.indices[t] = 4
            if self.choose(True, False):
                self.say(f"if {t} % 2 == 0:")
                with self.scope():
                    self.step(u, v)
                self.say("else:")
                with self.scope():
                    self.step(v, u)
            else:
                self.say(f"old, new = ({u}, {v}) if {t} % 2 == 0 else ({v}, {u})")
                self.step("old", "new")
        w = self.name("w")
        self.say(f"{w} = {u} if n % 2 == 0 else {v}")
        self.arrays |= dict.fromkeys((u, v, w), VECTOR)

    def write_best(self) -> None:
        """The best number so far, None at first."""
        best, i, c = self.name("best"), self.name("i"), self.name("c")
        self.say(f"{best} = None")
        self.say(f"for {i} in range({self.choose('n', '4', *self.indices)}):")
        with self.scope(), self.loop():
            self.indices[i] = 4
            self.say(f"{c} = {self.bounded()}")
            self.say(f"if {best} is None or {c} {self.choose('<', '>')} {best}:")
            self.say(f"    {best} = {c}")
        self.say(f"if {best} is not None:")
        self.say(f"    {self.choose(*self.scalars)} += {best} * {best}")
