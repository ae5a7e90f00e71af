"""Statements that belong together: what programs do with places, iterators, sets, contexts and objects of their own.

Each is written as a few lines that make something, use it, change it and use it again; what comes between and after
them is any other statement.  The classes and objects that they use stand outside of the functions (``OUTSIDE``).
"""

from __future__ import annotations

from collections.abc import Callable

from srcgrad.fuzz.containers import Text
from srcgrad.fuzz.operands import Operands
from srcgrad.fuzz.scope import Scope, indent
from srcgrad.fuzz.updates import FUNCTIONS, POSITIONS, UPDATES, updating


class Idioms(Operands):
    """Writes statements that belong together."""

    def idioms(self) -> list[Callable[[Scope], list[str]]]:
        """Those that the program may use."""
        found: list[Callable[[Scope], list[str]]] = []
        if self.has("containers") and self.has("stores"):
            of_arrays = [self.place_that_changes, self.place_that_changes, self.iterator, self.seen]
            of_arrays += [self.operands_that_change] * 3 + [self.rows_of_columns] * 2
            of_arrays += [self.mask_that_changes] * 2
            found += [self.of_an_array(write) for write in of_arrays]
            found += [self.updated] * 4 + [self.of_an_array(self.of_another_type)]
        if self.has("containers") and self.has("objects"):
            found += [self.recorded, self.of_two_classes, self.copied, self.object_or_number]
            found += [self.outside, self.of_an_array(self.managed)]
        return found

    def updated(self, scope: Scope) -> list[str]:
        """An update, or the call of a function of the module that updates what it is given, which stands anywhere."""
        c = self.choices
        kind = c.integer(0, len(UPDATES) - 1)
        made, updates, read = UPDATES[kind]
        q, v = self.own("up"), self.own("by")
        place = c.integer(0, updates.count("|"))
        is_callee = c.chance(75)
        call = f"update{kind}_{place}({q}, {v})" if is_callee else updating(kind, place, q, v)
        self.met("update in a callee" if is_callee else "update in an expression", None)
        first = [f"{v} = {self.number(scope)}", f"{q} = {made.format(v=v)}"]
        s = self.taken(scope, "s")
        lines = c.pick(POSITIONS)
        rest = [line.format(call=call, v=v, s=s, read=read.format(q=q)) for line in lines]
        return [*first, f"{s} = {v} * 0.5", *rest]

    def of_another_type(self, scope: Scope, array: str) -> list[str]:
        """A branch that never runs binds the name of an array to something of another type."""
        c = self.choices
        self.met("dead branch of another type", None)
        test = c.pick((f"{array} is None", f"len({array}) > 9", f"isinstance({array}, str)", f"{array}.ndim == 7"))
        other = c.pick(("None", "'none'", "3", "[{0}, 1.0]", "({0}, {0})", "{{'k': {0}}}", "{0}.tolist()", "{0} > 0.5"))
        return [f"if {test}:", f"    {array} = {other.format(array)}"]

    def of_an_array(self, write: Callable[[Scope, str], list[str]]) -> Callable[[Scope], list[str]]:
        """The same of one of the vectors bound last; a container where there is none."""

        def written(scope: Scope) -> list[str]:
            arrays = scope.named("v")
            return write(scope, self.choices.pick(arrays[-3:])) if arrays else self.made(scope)

        return written

    # --- places and iterators -----------------------------------------------------------------------------------------
    def place_that_changes(self, scope: Scope, array: str) -> list[str]:
        """A container holds an index, which is used, changes, and is used again."""
        c = self.choices
        at = self.own("at")
        one, other = c.integer(0, 3), c.integer(0, 3)
        low, high = c.integer(0, 1), c.integer(2, 3)
        made, place, change = c.pick(
            (
                (f"[{one}]", f"{at}[0]", f"{at}[0] = {other}"),
                (f'{{"k": {one}}}', f'{at}["k"]', f'{at}["k"] = {other}'),
                (f"[{low}, {high}]", f"{at}[0]:{at}[1]", f"{at}[{c.integer(0, 1)}] += 1"),
                (f"[slice({low}, {high})]", f"{at}[0]", f"{at}[0] = slice(None, None, 2)"),
                (f"[{one}]", at, f"{at}.append({other})"),
                (f"np.array([{one}, {(one + 1) % 4}])", at, f"{at}[0] = {other}"),
                ("np.array([True, False, True, False])", at, f"{at}[{other}] = {c.pick(('True', 'False'))}"),
            )
        )
        self.met("place that a container holds", None)
        uses: list[Callable[[], list[str]]] = [
            lambda: [f"{array}[{place}] {c.pick(('=', '+=', '*='))} {self.number(scope)}"],
            lambda: [f"{self.taken(scope, 's')} = np.sum({array}[{place}] ** 2)"],
            lambda: self._cut(scope, f"{array}[{place}]"),
        ]
        lines = [f"{at} = {made}", *c.pick(uses)(), change]
        return lines + (c.pick(uses)() if c.chance(60) else [])

    def mask_that_changes(self, scope: Scope, array: str) -> list[str]:
        """A loop computes a mask or places, uses them, stores into them, and uses them again by another name."""
        c = self.choices
        mask, held, j, total = self.own("mask"), self.own("held"), self.own("j"), self.taken(scope, "s")
        limit = c.pick(("0.3", "0.9", f"0.{c.integer(1, 9)} + {j}"))
        made, change, use = c.pick(
            (
                (f"{array} < {limit}", f"{mask}[{j}] = not {mask}[{j}]", "np.where({0}, {1} ** 2, {1} * 0.5)"),
                (f"{array} > {limit}", f"{mask}[{j}:] = True", "np.select([{0}], [{1} * 0.5], {1} ** 2)"),
                (f"np.argsort({array})", f"{mask}[{j}] = {c.integer(0, 3)}", "{1}[{0}] ** 2 * np.arange(1.0, 5.0)"),
            )
        )
        kept, other = c.pick((("", mask), (f"{held} = {mask}", held), (f"{held} = [{mask}]", f"{held}[0]"),
                              (f'{held} = {{"k": {mask}}}', f'{held}["k"]')))  # fmt: skip
        self.met("mask that is stored into", None)
        uses = [f"{total} = {total} + np.sum({use.format(name, array)})" for name in (mask, other)]
        body = [f"{mask} = {made}", *([kept] if kept else []), *([uses[1]] if c.chance(60) else []), change]
        body += [uses[0]] if c.chance(60) else []
        return [f"{total} = {self.number(scope)}", f"for {j} in range({c.integer(1, 3)}):", *indent(body)]

    def _cut(self, scope: Scope, part: str) -> list[str]:
        """A part of an array with a name, read after it has changed: a view, or a copy."""
        cut = self.own("cut")
        change = self.choices.pick(("*=", "+="))
        lines = [f"{cut} = {part}", f"{cut} {change} {self.number(scope)}"]
        return [*lines, f"{self.taken(scope, 's')} = np.sum({cut} * {cut})"]

    def iterator(self, scope: Scope, array: str) -> list[str]:
        """An iterator with a name is read by ``next``, and used up by a loop."""
        c = self.choices
        it, each = self.own("it"), self.own("each")
        self.met("iterator with a name", None)
        first = f"next({it}) * {self.scalar(scope, 0)}"
        total = self.taken(scope, "s")
        lines = [f"{it} = iter({array})", f"{total} = {first}"]
        if c.chance(40):
            lines.append(f"{array}[{c.integer(0, 3)}] = {self.number(scope)}")
        rest = c.pick(
            (
                [f"for {each} in {it}:", f"    {total} = np.sin({total} + {each} * {each})"],
                [f"{total} = {total} * next({it})"],
                [f"{total} = {total} * sum({it})"],
            )
        )
        return lines + rest

    def seen(self, scope: Scope, array: str) -> list[str]:
        """A set says which places have been met."""
        c = self.choices
        seen, place = self.own("seen"), self.own("place")
        places = ", ".join(str(c.integer(0, 3)) for _ in range(4))
        self.met("set of places", None)
        change = f"{array}[{place}] {c.pick(('=', '+=', '*='))} {self.number(scope)}"
        if c.chance(50):
            body = [f"if {place} in {seen}:", "    continue", f"{seen}.add({place})", change]
        else:
            body = [f"if {place} not in {seen}:", f"    {change}", f"{seen}.add({place})"]
        return [f"{seen} = set()", f"for {place} in ({places}):", *indent(body)]

    # --- objects ------------------------------------------------------------------------------------------------------
    def managed(self, scope: Scope, array: str) -> list[str]:
        """A context manager with a class of its own, which changes what it was given."""
        c = self.choices
        held = self.own("held")
        self.met("context manager of one's own", None)
        lines = [f"with Scaled({array}, {self.number(scope)}) as {held}:"]
        bodies: list[Callable[[], list[str]]] = [
            lambda: [f"{self.taken(scope, 's')} = np.sum({held} * {held})"],
            lambda: [f"{held}[{c.integer(0, 3)}] = {self.number(scope)}"],
            lambda: [
                f"{c.pick((array, held))} {c.pick(('*=', '+='))} {self.number(scope)}",
                f"{self.taken(scope, 's')} = np.sum({held} * {array})",
            ],
            lambda: [f"{held} = {held} * {self.number(scope)}", f"{self.taken(scope, 's')} = {held}[0] * {held}[1]"],
        ]
        return lines + indent(c.pick(bodies)())

    def outside(self, scope: Scope) -> list[str]:
        """Objects that are global: their methods and operators, and what they store into that is given to them."""
        c = self.choices
        kind = c.pick(("s", "v"))
        e: Text = lambda: self.tame(scope, self.expression(scope, kind, 1))
        gain = c.pick(("GAIN", "GAINS[0]", "GAINS[-1]", 'NAMED["low"]'))
        self.met("object outside of the function", None)
        arrays = scope.named("v")
        if arrays and c.chance(25):
            return [f"{gain}.into({c.pick(arrays[-3:])}, {self.number(scope)})"]
        forms: list[Callable[[], str]] = [
            lambda: f"{gain} * {self.atom(scope, kind)}",
            lambda: f"{gain}({e()})",
            lambda: f"{gain}.of({e()})",
            lambda: f"{gain}.k * {self.atom(scope, kind)}",
            lambda: f"sum(gain.of({self.atom(scope, kind)}) for gain in GAINS)",
        ]
        made = c.pick(forms)()
        return [f"{self.taken(scope, kind)} = {made}"]

    def object_or_number(self, scope: Scope) -> list[str]:
        """A name holds an object, and a number afterwards; or objects of either class."""
        c = self.choices
        part = self.own("part")
        s: Text = lambda: self.number(scope)
        self.met("name of an object and of a number", None)
        lines = c.pick(
            (
                [f"{part} = Wave({s()})", f"{part} = {part}.value() * {s()}"],
                [f"{part} = None", f"{part} = Cube({s()})", f"{part} = {part}.value()"],
                [f"{part} = Wave({s()}) if {self.condition(scope)} else Cube({s()})", f"{part} = {part}.value()"],
                [f"{part} = {s()}", f"if {self.condition(scope)}:", f"    {part} = Cube({part}).value()"],
            )
        )
        return [*lines, f"{self.taken(scope, 's')} = np.sin({part} * {part})"]

    def copied(self, scope: Scope) -> list[str]:
        """A container of objects is copied: the copy holds the same objects."""
        c = self.choices
        parts, copy = self.own("parts"), self.own("copy")
        s: Text = lambda: self.number(scope)
        self.met("copy of a container of objects", None)
        if c.chance(35):
            one, other, made = '"p"', '"q"', f'{{"p": Wave({s()}), "q": Cube({s()})}}'
            form = c.pick((f"dict({parts})", f"{parts}.copy()", f"{{**{parts}}}"))
        else:
            one, other, made = "0", "1", f"[Wave({s()}), Cube({s()})]"
            form = c.pick((f"list({parts})", f"{parts}[:]", f"{parts}.copy()", f"[*{parts}]", f"tuple({parts})"))
        changes: list[Text] = [lambda: f"{copy}[{one}].v *= {s()}", lambda: f"{parts}[{other}].v = {s()}"]
        if not form.startswith("tuple"):
            changes.append(lambda: f"{copy}[{one}] = {copy}[{other}]")
        lines = [f"{parts} = {made}", f"{copy} = {form}", *(change() for change in changes if c.chance(60))]
        read = f"{parts}[{one}].value() * {copy}[{one}].value() + {copy}[{other}].v"
        return [*lines, f"{self.taken(scope, 's')} = {read}"]

    def recorded(self, scope: Scope) -> list[str]:
        """An object made here, with a list that its methods fill, is read, changed somehow, and read again."""
        c = self.choices
        self.functions += 1
        name = f"log{self.functions}"
        s: Text = lambda: self.tame(scope, self.scalar(scope, 1))
        self.met("object with a list of its own", None)
        lines = [f"{name} = logged({s()})"] if c.chance(40) else [f"{name} = Log()"]
        first = f"{name}.put({s()}) * {name}.top()"
        lines.append(f"{self.taken(scope, 's')} = {first}")
        changes: list[Callable[[], list[str]]] = [
            lambda: [f"{name}.put({s()})"],
            lambda: [f"{name}.kept[0] = {s()}"],
            lambda: [f"{name}.kept.append({name}.last * {s()})"],
            lambda: [f"{name}.kept = [{name}.top(), {s()}]"],
            lambda: [f"kept{self.functions} = {name}.kept", f"kept{self.functions}[-1] *= {s()}"],
            lambda: [f"for k{self.functions} in range(2):", f"    {name}.put(np.sin({s()}))"],
        ]
        for _ in range(c.integer(0, 2)):
            lines += c.pick(changes)()
        lines.append(f"{self.taken(scope, 's')} = np.sin(sum({name}.kept)) * {name}.last")
        return lines

    def of_two_classes(self, scope: Scope) -> list[str]:
        """A list of objects of two classes, whose places change: what an item is depends on the path taken."""
        c = self.choices
        self.functions += 1
        parts, other = f"parts{self.functions}", f"other{self.functions}"
        s: Text = lambda: self.tame(scope, self.scalar(scope, 1))
        some: Text = lambda: f"{c.pick(('Wave', 'Cube'))}({s()})"
        self.met("list of objects of two classes", None)
        queue = c.chance(25)
        lines = [f"{parts} = deque([{some()}, {some()}])" if queue else f"{parts} = [Wave({s()}), Cube({s()})]"]
        changes: list[Callable[[], list[str]]] = [
            lambda: [f"{parts}.append({some()})"],
            lambda: [f"{parts}.reverse()"],
            lambda: [f"{parts}.append({parts}.pop{'left()' if queue else '(0)'})"],
            lambda: [f"{parts}[0] = {some()}"],
            lambda: [f"{parts}[-1].v = {s()}"],
            lambda: [f"{parts}[0], {parts}[1] = {parts}[1], {parts}[0]"],
            lambda: [f"{other} = {parts}", f"{other}.append({some()})", f"{other}.reverse()"],
            lambda: [f"if {self.condition(scope)}:", f"    {parts}.reverse()"],
            lambda: [f"for k{self.functions} in range(2):", f"    {parts}[0].v *= 0.9", f"    {parts}.reverse()"],
        ]
        if not queue:
            changes += [
                lambda: [f"{parts}.insert(0, {some()})"],
                lambda: [f"{parts} = {parts}[1:] + [{some()}]"],
                lambda: [f"{parts} = {parts}[::-1]"],
                lambda: [f"{parts}.append({some()})", f"del {parts}[{c.integer(0, 1)}]"],
                lambda: [f"{other} = {parts}.copy()", f"{other}.pop(0)", f"{parts} = {other} + [{some()}]"],
            ]
        for _ in range(c.integer(1, 3)):
            lines += c.pick(changes)()
        if c.chance(50):
            lines.append(f"{self.taken(scope, 's')} = {parts}[0].value() * np.sin({parts}[-1].value())")
        else:
            weight = f"(0.5 if isinstance(part, {c.pick(('Wave', 'Cube'))}) else 0.8)"
            lines.append(f"{self.taken(scope, 's')} = sum([{weight} * part.value() for part in {parts}])")
        return lines


_LOG = """class Log:
    def __init__(self):
        self.kept = []
        self.last = None

    def put(self, t):
        self.kept.append(t * t)
        self.last = t
        return sum(self.kept)

    def top(self):
        return max(self.kept)


def logged(t):
    log = Log()
    log.put(t)
    return log


"""


_TWO = """class Wave:
    def __init__(self, v):
        self.v = v

    def value(self):
        return np.sin(self.v) * 1.5


class Cube:
    def __init__(self, v):
        self.v = v

    def value(self):
        return self.v ** 3 / (1.0 + self.v * self.v)


"""


_SCALED = """class Scaled:
    def __init__(self, v, t):
        self.v = v
        self.t = t

    def __enter__(self):
        self.v *= np.cos(self.t)
        return self.v

    def __exit__(self, *error):
        self.v[0] = self.t
        return False


"""


_GAINS = """class Gain:
    def __init__(self, k):
        self.k = k

    def __mul__(self, other):
        return np.sin(other * self.k)

    def __call__(self, t):
        return np.tanh(t) * self.k

    def of(self, t):
        return t * self.k

    def into(self, v, t):
        v[1] = t * self.k


GAIN = Gain(0.7)
GAINS = [Gain(0.4), Gain(1.3)]
NAMED = {"low": Gain(0.6), "high": Gain(1.1)}


"""


#: What stands before the functions, and what in their text asks for it.
OUTSIDE = (
    (("Log()", "logged("), _LOG),
    (("Wave(", "Cube("), _TWO),
    (("Scaled(",), _SCALED),
    (("GAIN", "NAMED"), _GAINS),
    *FUNCTIONS,
)
