"""What integers must satisfy: by their definitions, and where a condition holds or does not."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from srcad.ir.nodes import Atom, Const, For, If, Let, Stmt, Var, While
from srcad.ir.types import BOOL, INT
from srcad.transform.affine import Linear, System, number, read

DEEPEST = 8  # conditions inside conditions
ORDER = ("lt", "le", "gt", "ge", "eq", "ne")
OPPOSITE = {"lt": "ge", "le": "gt", "gt": "le", "ge": "lt", "eq": "ne", "ne": "eq"}


@dataclass
class Conditions:
    """`definitions` leads from variables to their statements, parameters of loops included."""

    definitions: Mapping[Var, Stmt]
    bounds: dict[Var, System] = field(default_factory=dict)  # of carried integers

    def form(self, atom: Atom) -> Linear:
        return read(atom, self.definitions)

    def implied(self, cond: Atom, holds: bool, depth: int = DEEPEST) -> System:
        """What is true of integers if the condition has this value."""
        if isinstance(cond, Const):
            return System() if bool(cond.value) == holds else never()
        stmt = self.definitions.get(cond)
        if not depth:
            return System()
        match stmt:
            case Let(op="not", args=(inner,)):
                return self.implied(inner, not holds, depth - 1)
            case Let(op="and" | "or" as op, args=args):
                parts = [self.implied(arg, holds, depth - 1) for arg in args]
                if (op == "and") == holds:
                    return parts[0].copy().include(parts[1])
                return either(*parts)
            case Let(op="within", args=(index, extent)):
                low = System().at_least(self.form(index))
                high = System().below(self.form(index), self.form(extent))
                if holds:
                    return low.include(high)
                return either(
                    System().below(self.form(index), 0),
                    System().at_least(self.form(index), self.form(extent)),
                )
            case Let(op=op, args=(left, right)) if op in ORDER and left.type == INT:
                name = op if holds else OPPOSITE[op]
                return compared(name, self.form(left), self.form(right))
            case Let(op="select", args=(inner, left, right)):
                return self.joined(inner, left, right, holds, depth)
            case If(cond=inner, then=then, orelse=orelse, outs=outs):
                k = outs.index(cond)
                return self.joined(inner, then.results[k], orelse.results[k], holds, depth)
            case _:
                return System()

    def joined(self, cond: Atom, left: Atom, right: Atom, holds: bool, depth: int) -> System:
        """The same for a bool that is `left` where `cond` holds, else `right`."""
        arms: list[System] = []
        for atom, taken in ((left, True), (right, False)):
            if not isinstance(atom, Const) or bool(atom.value) == holds:
                arm = self.implied(cond, taken, depth - 1)
                arms.append(arm.include(self.implied(atom, holds, depth - 1)))
        return either(*arms)

    def defined(self, var: Var) -> System:
        """What is true of an integer because of how it is made."""
        if var in self.bounds:
            return self.bounds[var].copy()
        stmt, me = self.definitions.get(var), Linear(((var, 1),))
        match stmt:
            case For(index=index, stop=stop) if var == index:
                return System().at_least(me).below(me, self.form(stop))
            case While(index=index, trips=trips) if var in (index, trips):
                return System().at_least(me)
            case If(outs=outs, then=then, orelse=orelse, cond=cond) if var.type == INT:
                k = outs.index(var)
                return self.chosen(me, cond, then.results[k], orelse.results[k])
            case Let():
                return self.computed(me, stmt)
            case _:
                return System()

    def computed(self, me: Linear, stmt: Let) -> System:
        match stmt.op, stmt.args:
            case "dim", _:
                return System().at_least(me)
            case ("maximum" | "minimum") as op, (left, right):
                forms = self.form(left), self.form(right)
                sign = 1 if op == "maximum" else -1
                system = System()
                for form in forms:
                    system.at_least(me.plus(form, -1).times(sign))
                return system.include(either(*(System().equal(me, form) for form in forms)))
            case "wrap", (index, extent):
                form = self.form(index)
                plain = System().at_least(form).equal(me, form)
                return either(
                    plain, System().below(form, 0).equal(me, form.plus(self.form(extent)))
                )
            case "select", (cond, left, right):
                return self.chosen(me, cond, left, right)
            case "floordiv", (whole, Const(value=value)) if value.real > 0:
                rest = self.form(whole).plus(me, -int(value.real))
                return System().at_least(rest).below(rest, int(value.real))
            case (("mod" | "remainder"), (_, Const(value=value), *_)) if value.real > 0:
                return System().at_least(me).below(me, int(value.real))
            case "abs", (only,):
                form = self.form(only)
                ways = (System().at_least(f).equal(me, f) for f in (form, form.times(-1)))
                return either(*ways)
            case "cast", (only,) if only.type == BOOL:
                return System().at_least(me).at_least(number(1), me)
            case _:
                return System()

    def chosen(self, me: Linear, cond: Atom, left: Atom, right: Atom) -> System:
        first = self.implied(cond, True).equal(me, self.form(left))
        other = self.implied(cond, False).equal(me, self.form(right))
        return either(first, other)


def never() -> System:
    """What nothing satisfies."""
    return System([number(-1)])


def either(*options: System) -> System:
    """At least one of them; a single one is that one."""
    possible = [option for option in options if number(-1) not in option.rows]
    if len(possible) == 1:
        return possible[0]
    return System(choices=[tuple(possible)]) if possible else never()


def compared(op: str, left: Linear, right: Linear) -> System:
    """left `op` right."""
    match op:
        case "lt":
            return System().below(left, right)
        case "le":
            return System().at_least(right, left)
        case "gt":
            return System().below(right, left)
        case "ge":
            return System().at_least(left, right)
        case "eq":
            return System().equal(left, right)
        case _:
            return either(System().below(left, right), System().below(right, left))


def variables_of(system: System) -> set[Var]:
    """Every variable that the system speaks of."""
    forms = (*system.rows, *system.equalities)
    found = {var for form in forms for var in form.variables}
    for choice in system.choices:
        for option in choice:
            found |= variables_of(option)
    return found
