"""Statements that belong together: what programs do with places, iterators, sets, contexts and objects of their own.

Each is written as a few lines that make something, use it, change it and use it again; what comes between and after
them is any other statement.  The classes and objects that they use stand outside of the functions (``OUTSIDE``).
"""

from __future__ import annotations

from collections.abc import Callable

from srcgrad.fuzz.containers import Text, built, taken
from srcgrad.fuzz.expressions import atom, condition, expression, scalar
from srcgrad.fuzz.operands import number, operands_that_change, rows_of_columns
from srcgrad.fuzz.scope import Scope, indent
from srcgrad.fuzz.stores import tame
from srcgrad.fuzz.updates import FUNCTIONS, POSITIONS, UPDATES, updating
from srcgrad.fuzz.writer import Simple, Writer


def idioms(writer: Writer) -> list[Simple]:
    """Those that the program may use."""
    found: list[Simple] = []
    if writer.has("containers") and writer.has("stores"):
        of_arrays = [place_that_changes, place_that_changes, iterator, seen]
        of_arrays += [operands_that_change] * 3 + [rows_of_columns] * 2
        of_arrays += [mask_that_changes] * 2
        found += [of_an_array(write) for write in of_arrays]
        found += [updated] * 4 + [of_an_array(of_another_type)]
    if writer.has("containers") and writer.has("objects"):
        found += [recorded, of_two_classes, copied, object_or_number]
        found += [outside, of_an_array(managed)]
    return found


def updated(writer: Writer, scope: Scope) -> list[str]:
    """An update, or the call of a function of the module that updates what it is given, which stands anywhere."""
    c = writer.choices
    kind = c.integer(0, len(UPDATES) - 1)
    made, updates, read = UPDATES[kind]
    q, v = writer.own("up"), writer.own("by")
    place = c.integer(0, updates.count("|"))
    is_callee = c.chance(75)
    call = f"update{kind}_{place}({q}, {v})" if is_callee else updating(kind, place, q, v)
    writer.met("update in a callee" if is_callee else "update in an expression", None)
    first = [f"{v} = {number(writer, scope)}", f"{q} = {made.format(v=v)}"]
    s = taken(writer, scope, "s")
    lines = c.pick(POSITIONS)
    rest = [line.format(call=call, v=v, s=s, read=read.format(q=q)) for line in lines]
    return [*first, f"{s} = {v} * 0.5", *rest]


def of_another_type(writer: Writer, scope: Scope, array: str) -> list[str]:
    """A branch that never runs binds the name of an array to something of another type."""
    c = writer.choices
    writer.met("dead branch of another type", None)
    test = c.pick((f"{array} is None", f"len({array}) > 9", f"isinstance({array}, str)", f"{array}.ndim == 7"))
    other = c.pick(("None", "'none'", "3", "[{0}, 1.0]", "({0}, {0})", "{{'k': {0}}}", "{0}.tolist()", "{0} > 0.5"))
    return [f"if {test}:", f"    {array} = {other.format(array)}"]


def of_an_array(write: Callable[[Writer, Scope, str], list[str]]) -> Simple:
    """The same of one of the vectors bound last; a container where there is none."""

    def written(writer: Writer, scope: Scope) -> list[str]:
        arrays = scope.named("v")
        return write(writer, scope, writer.choices.pick(arrays[-3:])) if arrays else built(writer, scope)

    return written


def place_that_changes(writer: Writer, scope: Scope, array: str) -> list[str]:
    """A container holds an index, which is used, changes, and is used again."""
    c = writer.choices
    at = writer.own("at")
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
    writer.met("place that a container holds", None)
    uses: list[Callable[[], list[str]]] = [
        lambda: [f"{array}[{place}] {c.pick(('=', '+=', '*='))} {number(writer, scope)}"],
        lambda: [f"{taken(writer, scope, 's')} = np.sum({array}[{place}] ** 2)"],
        lambda: _cut(writer, scope, f"{array}[{place}]"),
    ]
    lines = [f"{at} = {made}", *c.pick(uses)(), change]
    return lines + (c.pick(uses)() if c.chance(60) else [])


def mask_that_changes(writer: Writer, scope: Scope, array: str) -> list[str]:
    """A loop computes a mask or places, uses them, stores into them, and uses them again by another name."""
    c = writer.choices
    mask, held, j, total = writer.own("mask"), writer.own("held"), writer.own("j"), taken(writer, scope, "s")
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
    writer.met("mask that is stored into", None)
    uses = [f"{total} = {total} + np.sum({use.format(name, array)})" for name in (mask, other)]
    body = [f"{mask} = {made}", *([kept] if kept else []), *([uses[1]] if c.chance(60) else []), change]
    body += [uses[0]] if c.chance(60) else []
    return [f"{total} = {number(writer, scope)}", f"for {j} in range({c.integer(1, 3)}):", *indent(body)]


def _cut(writer: Writer, scope: Scope, part: str) -> list[str]:
    """A part of an array with a name, read after it has changed: a view, or a copy."""
    cut = writer.own("cut")
    change = writer.choices.pick(("*=", "+="))
    lines = [f"{cut} = {part}", f"{cut} {change} {number(writer, scope)}"]
    return [*lines, f"{taken(writer, scope, 's')} = np.sum({cut} * {cut})"]


def iterator(writer: Writer, scope: Scope, array: str) -> list[str]:
    """An iterator with a name is read by ``next``, and used up by a loop."""
    c = writer.choices
    it, each = writer.own("it"), writer.own("each")
    writer.met("iterator with a name", None)
    first = f"next({it}) * {scalar(writer, scope, 0)}"
    total = taken(writer, scope, "s")
    lines = [f"{it} = iter({array})", f"{total} = {first}"]
    if c.chance(40):
        lines.append(f"{array}[{c.integer(0, 3)}] = {number(writer, scope)}")
    rest = c.pick(
        (
            [f"for {each} in {it}:", f"    {total} = np.sin({total} + {each} * {each})"],
            [f"{total} = {total} * next({it})"],
            [f"{total} = {total} * sum({it})"],
        )
    )
    return lines + rest


def seen(writer: Writer, scope: Scope, array: str) -> list[str]:
    """A set says which places have been met."""
    c = writer.choices
    seen, place = writer.own("seen"), writer.own("place")
    places = ", ".join(str(c.integer(0, 3)) for _ in range(4))
    writer.met("set of places", None)
    change = f"{array}[{place}] {c.pick(('=', '+=', '*='))} {number(writer, scope)}"
    if c.chance(50):
        body = [f"if {place} in {seen}:", "    continue", f"{seen}.add({place})", change]
    else:
        body = [f"if {place} not in {seen}:", f"    {change}", f"{seen}.add({place})"]
    return [f"{seen} = set()", f"for {place} in ({places}):", *indent(body)]


def managed(writer: Writer, scope: Scope, array: str) -> list[str]:
    """A context manager with a class of its own, which changes what it was given."""
    c = writer.choices
    held = writer.own("held")
    writer.met("context manager of one's own", None)
    lines = [f"with Scaled({array}, {number(writer, scope)}) as {held}:"]
    bodies: list[Callable[[], list[str]]] = [
        lambda: [f"{taken(writer, scope, 's')} = np.sum({held} * {held})"],
        lambda: [f"{held}[{c.integer(0, 3)}] = {number(writer, scope)}"],
        lambda: [
            f"{c.pick((array, held))} {c.pick(('*=', '+='))} {number(writer, scope)}",
            f"{taken(writer, scope, 's')} = np.sum({held} * {array})",
        ],
        lambda: [f"{held} = {held} * {number(writer, scope)}", f"{taken(writer, scope, 's')} = {held}[0] * {held}[1]"],
    ]
    return lines + indent(c.pick(bodies)())


def outside(writer: Writer, scope: Scope) -> list[str]:
    """Objects that are global: their methods and operators, and what they store into that is given to them."""
    c = writer.choices
    kind = c.pick(("s", "v"))
    e: Text = lambda: tame(writer, scope, expression(writer, scope, kind, 1))
    gain = c.pick(("GAIN", "GAINS[0]", "GAINS[-1]", 'NAMED["low"]'))
    writer.met("object outside of the function", None)
    arrays = scope.named("v")
    if arrays and c.chance(25):
        return [f"{gain}.into({c.pick(arrays[-3:])}, {number(writer, scope)})"]
    forms: list[Callable[[], str]] = [
        lambda: f"{gain} * {atom(writer, scope, kind)}",
        lambda: f"{gain}({e()})",
        lambda: f"{gain}.of({e()})",
        lambda: f"{gain}.k * {atom(writer, scope, kind)}",
        lambda: f"sum(gain.of({atom(writer, scope, kind)}) for gain in GAINS)",
    ]
    made = c.pick(forms)()
    return [f"{taken(writer, scope, kind)} = {made}"]


def object_or_number(writer: Writer, scope: Scope) -> list[str]:
    """A name holds an object, and a number afterwards; or objects of either class."""
    c = writer.choices
    part = writer.own("part")
    s: Text = lambda: number(writer, scope)
    writer.met("name of an object and of a number", None)
    lines = c.pick(
        (
            [f"{part} = Wave({s()})", f"{part} = {part}.value() * {s()}"],
            [f"{part} = None", f"{part} = Cube({s()})", f"{part} = {part}.value()"],
            [f"{part} = Wave({s()}) if {condition(writer, scope)} else Cube({s()})", f"{part} = {part}.value()"],
            [f"{part} = {s()}", f"if {condition(writer, scope)}:", f"    {part} = Cube({part}).value()"],
        )
    )
    return [*lines, f"{taken(writer, scope, 's')} = np.sin({part} * {part})"]


def copied(writer: Writer, scope: Scope) -> list[str]:
    """A container of objects is copied: the copy holds the same objects."""
    c = writer.choices
    parts, copy = writer.own("parts"), writer.own("copy")
    s: Text = lambda: number(writer, scope)
    writer.met("copy of a container of objects", None)
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
    return [*lines, f"{taken(writer, scope, 's')} = {read}"]


def recorded(writer: Writer, scope: Scope) -> list[str]:
    """An object made here, with a list that its methods fill, is read, changed somehow, and read again."""
    c = writer.choices
    writer.functions += 1
    name = f"log{writer.functions}"
    s: Text = lambda: tame(writer, scope, scalar(writer, scope, 1))
    writer.met("object with a list of its own", None)
    lines = [f"{name} = logged({s()})"] if c.chance(40) else [f"{name} = Log()"]
    first = f"{name}.put({s()}) * {name}.top()"
    lines.append(f"{taken(writer, scope, 's')} = {first}")
    changes: list[Callable[[], list[str]]] = [
        lambda: [f"{name}.put({s()})"],
        lambda: [f"{name}.kept[0] = {s()}"],
        lambda: [f"{name}.kept.append({name}.last * {s()})"],
        lambda: [f"{name}.kept = [{name}.top(), {s()}]"],
        lambda: [f"kept{writer.functions} = {name}.kept", f"kept{writer.functions}[-1] *= {s()}"],
        lambda: [f"for k{writer.functions} in range(2):", f"    {name}.put(np.sin({s()}))"],
    ]
    for _ in range(c.integer(0, 2)):
        lines += c.pick(changes)()
    lines.append(f"{taken(writer, scope, 's')} = np.sin(sum({name}.kept)) * {name}.last")
    return lines


def of_two_classes(writer: Writer, scope: Scope) -> list[str]:
    """A list of objects of two classes, whose places change: what an item is depends on the path taken."""
    c = writer.choices
    writer.functions += 1
    parts, other = f"parts{writer.functions}", f"other{writer.functions}"
    s: Text = lambda: tame(writer, scope, scalar(writer, scope, 1))
    some: Text = lambda: f"{c.pick(('Wave', 'Cube'))}({s()})"
    writer.met("list of objects of two classes", None)
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
        lambda: [f"if {condition(writer, scope)}:", f"    {parts}.reverse()"],
        lambda: [f"for k{writer.functions} in range(2):", f"    {parts}[0].v *= 0.9", f"    {parts}.reverse()"],
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
        lines.append(f"{taken(writer, scope, 's')} = {parts}[0].value() * np.sin({parts}[-1].value())")
    else:
        weight = f"(0.5 if isinstance(part, {c.pick(('Wave', 'Cube'))}) else 0.8)"
        lines.append(f"{taken(writer, scope, 's')} = sum([{weight} * part.value() for part in {parts}])")
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
