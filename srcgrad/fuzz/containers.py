"""Statements that build, change and walk lists, deques, dicts, tuples and objects."""

from __future__ import annotations

from collections.abc import Callable

from srcgrad.fuzz.assignments import assign, target
from srcgrad.fuzz.expressions import container, expression, scalar, vector
from srcgrad.fuzz.scope import CONTAINERS, Scope, indent
from srcgrad.fuzz.stores import tame
from srcgrad.fuzz.views import reference
from srcgrad.fuzz.writer import Writer

Text = Callable[[], str]


def built(writer: Writer, scope: Scope) -> list[str]:
    """A container is built, or gets a second name."""
    c = writer.choices
    kind = c.pick(CONTAINERS + ("[v]", "[s]", "{}", "o"))
    again = scope.named(kind)
    if again and c.chance(30):
        source = writer.met("alias of a container", c.pick(again))
    else:
        source = container(writer, scope, kind)
    name = target(writer, scope, kind)
    scope.bind(name, kind)
    lines = [f"{name} = {source}"]
    if kind == "[v]" and c.chance(40):
        lines += shared(writer, scope, name)
    if kind == "[s]" and c.chance(40) and not scope.loops:
        lines += sorted_numbers(writer, scope, name)
    return lines


def changed(writer: Writer, scope: Scope) -> list[str]:
    """A method of a container, or a store of an item."""
    names = scope.named(*CONTAINERS)
    if not names:
        return built(writer, scope)
    name = writer.choices.pick(names[-3:])
    writers: dict[str, Callable[[Writer, Scope, str], list[str]]] = {
        "[v]": changed_list,
        "[s]": changed_numbers,
        "<v>": changed_deque,
        "{}": changed_dict,
        "()": changed_tuple,
        "o": changed_object,
        "t": changed_named_tuple,
    }
    return writers[scope.types[name]](writer, scope, name)


def item(writer: Writer, scope: Scope) -> str:
    """A vector to be put into a container: mostly one that has a name."""
    if writer.choices.chance(55):
        return reference(writer, scope, "v") or vector(writer, scope, 1)
    return tame(writer, scope, vector(writer, scope, 1))


def taken(writer: Writer, scope: Scope, kind: str) -> str:
    """A name for what is taken out of a container."""
    name = target(writer, scope, kind)
    scope.bind(name, kind)
    return name


def changed_list(writer: Writer, scope: Scope, name: str) -> list[str]:
    c = writer.choices
    v: Text = lambda: item(writer, scope)
    k: Text = lambda: c.pick(("0", "1", "-1"))
    s: Text = lambda: tame(writer, scope, scalar(writer, scope, 1))
    forms: list[Callable[[], list[str]]] = [
        lambda: [writer.met("append", f"{name}.append({v()})")],
        lambda: [writer.met("append", f"{name}.append({v()})")],
        lambda: [writer.met("item replaced", f"{name}[{k()}] = {v()}")],
        lambda: [writer.met("item replaced", f"{name}[{k()}] = {v()}")],
        lambda: shared(writer, scope, name),
        lambda: shared(writer, scope, name),
        lambda: [writer.met("store into an item", f"{name}[{k()}][{c.integer(0, 3)}] = {s()}")],
        lambda: [writer.met("store into an item", f"{name}[{k()}][1:3] = {expression(writer, scope, 'p', 1)}")],
        lambda: [writer.met("augmented item", f"{name}[{k()}] {c.pick(('+=', '-=', '*='))} {v()}")],
        lambda: [writer.met("append", f"{name}.append({v()})"), f"{taken(writer, scope, 'v')} = {name}.pop()"],
        lambda: [
            writer.met("append", f"{name}.append({v()})"),
            writer.met("pop of a place", f"{taken(writer, scope, 'v')} = {name}.pop({c.pick(('0', '1', '-2'))})"),
        ],
        lambda: [writer.met("insert", f"{name}.insert({k()}, {v()})")],
        lambda: [writer.met("extend", f"{name}.extend([{v()}, {v()}])")],
        lambda: [writer.met("list +=", f"{name} += [{v()}]")],
        lambda: [writer.met("reverse in place", f"{name}.reverse()")],
        lambda: [writer.met("items swapped", f"{name}[0], {name}[1] = {name}[1], {name}[0]")],
        lambda: [writer.met("append", f"{name}.append({v()})"), writer.met("del of an item", f"del {name}[0]")],
        lambda: [writer.met("slice of a list replaced", f"{name}[:2] = [{v()}, {v()}]")],
        lambda: unpacked(writer, scope, f"{name}[:2]"),
        lambda: walked(writer, scope, name),
        lambda: walked(writer, scope, name),
    ]
    return c.pick(forms)()


def shared(writer: Writer, scope: Scope, name: str) -> list[str]:
    """An item that has a name, and a store through one of the two."""
    c = writer.choices
    names = scope.named("v")
    if not names:
        return [f"{name}.append({vector(writer, scope, 1)})"]
    item = c.pick(names[-3:])
    put, place = c.pick(
        (
            (f"{name}.append({item})", f"{name}[-1]"),
            (f"{name}[0] = {item}", f"{name}[0]"),
            (f"{name}.insert(0, {item})", f"{name}[0]"),
            (f"{name}.insert(1, {item})", f"{name}[1]"),
            (f"{name}.extend([{item}])", f"{name}[-1]"),
        )
    )
    store = f"{c.pick((item, place))}[{c.integer(0, 3)}] = {tame(writer, scope, scalar(writer, scope, 1))}"
    return [put, writer.met("store into what a list shares", store)]


def unpacked(writer: Writer, scope: Scope, source: str) -> list[str]:
    one = target(writer, scope, "v")
    other = target(writer, scope, "v")
    if one == other:
        return assign(writer, scope)
    scope.bind(one, "v")
    scope.bind(other, "v")
    return [writer.met("items unpacked", f"{one}, {other} = {source}")]


def walked(writer: Writer, scope: Scope, name: str) -> list[str]:
    """A loop over the items, which are changed."""
    c = writer.choices
    inner = scope.inner()
    inner.loops += 1
    inner.bind("item", "v")
    s = scalar(writer, inner, 1)
    body = c.pick(
        (
            f"item[{c.integer(0, 3)}] = np.sin({s})",
            f"item *= np.cos({s})",
            f"item += 0.3 * np.sin({s})",
            f"item[1:3] += np.sin({expression(writer, inner, 'p', 1)})",
            "item[:2] = item[2:]",
        )
    )
    heading = c.pick(
        (
            f"for item in {name}:",
            f"for k, item in enumerate({name}):",
            f"for item in reversed({name}):",
            f"for item, other in zip({name}, {name}[1:]):",
        )
    )
    total = target(writer, scope, "s")
    lines = [heading, *indent([body])]
    if scope.types.get(total) == "s" and total not in body:
        lines += indent([f"{total} = np.sin({total} + item[0])"])
    for gone in ("item", "k", "other"):
        scope.types.pop(gone, None)
    return writer.met("loop over items that are stored into", lines)


def outgrown(writer: Writer, scope: Scope) -> list[str]:
    """Sometimes a list that grows when nobody reads it any more."""
    c = writer.choices
    lists = [name for name, kind in scope.types.items() if kind in ("[v]", "[s]")]
    if not lists or not c.chance(25):
        return []
    name = c.pick(lists)
    added = item(writer, scope) if scope.types[name] == "[v]" else tame(writer, scope, scalar(writer, scope, 1))
    line = c.pick((f"{name}.append({added})", f"{name}.append({added})", f"{name}.insert(0, {added})"))
    return [writer.met("list that outlives its use", line)]


def changed_numbers(writer: Writer, scope: Scope, name: str) -> list[str]:
    c = writer.choices
    s: Text = lambda: tame(writer, scope, scalar(writer, scope, 1))
    forms: list[Callable[[], list[str]]] = [
        lambda: [writer.met("append of a number", f"{name}.append({s()})")],
        lambda: [writer.met("number replaced", f"{name}[{c.pick(('0', '1', '-1'))}] = {s()}")],
        lambda: [writer.met("augmented number in a list", f"{name}[{c.pick(('0', '-1'))}] += {s()}")],
        lambda: [writer.met("augmented number in a list", f"{name}[1] *= {s()}")],
        lambda: [
            writer.met("append of a number", f"{name}.append({s()})"),
            writer.met("pop of a number", f"{taken(writer, scope, 's')} = {name}.pop()"),
        ],
        *[lambda: sorted_numbers(writer, scope, name)] * 2,
        lambda: [writer.met("list +=", f"{name} += [{s()}, {s()}]")],
        lambda: [writer.met("insert", f"{name}.insert(0, {s()})")],
        lambda: [
            writer.met("loop that appends", "for k in range(3):"),
            f"    {name}.append(np.sin({name}[-1] * {name}[k] + {scalar(writer, scope, 1)}))",
        ],
        lambda: [
            writer.met("loop that replaces numbers", "for k in range(2):"),
            f"    {name}[k] = np.sin({name}[k] * {name}[1 - k] + {scalar(writer, scope, 1)})",
        ],
    ]
    made = c.pick(forms)()
    if made[0].startswith("for k") and scope.types.get("k", "i") != "i":
        del scope.types["k"]
    return made


def sorted_numbers(writer: Writer, scope: Scope, name: str) -> list[str]:
    """Numbers that are not in order are put in order."""
    mixed = f"{name}[0], {name}[-1] = {name}[-1] + 0.7, {name}[0] - {scalar(writer, scope, 0)}"
    read = f"{name}[0] * {scalar(writer, scope, 0)} - {name}[-1] ** 2"
    return [mixed, writer.met("sort of a list", f"{name}.sort()"), f"{taken(writer, scope, 's')} = {read}"]


def changed_deque(writer: Writer, scope: Scope, name: str) -> list[str]:
    c = writer.choices
    v: Text = lambda: item(writer, scope)
    forms: list[Callable[[], list[str]]] = [
        lambda: [writer.met("deque.append", f"{name}.append({v()})")],
        lambda: [writer.met("deque.appendleft", f"{name}.appendleft({v()})")],
        lambda: [writer.met("deque.rotate", f"{name}.rotate(1)")],
        lambda: [writer.met("store into an item", f"{name}[0][{c.integer(0, 3)}] = {scalar(writer, scope, 1)}")],
        lambda: [
            writer.met("deque.append", f"{name}.append({v()})"),
            writer.met("deque.popleft", f"{taken(writer, scope, 'v')} = {name}.popleft()"),
            f"{name}.appendleft({v()})",
        ],
        lambda: walked(writer, scope, name) if c.chance(50) else [f"{name}[1] = {v()}"],
    ]
    return c.pick(forms)()


def _item_anew(writer: Writer, name: str, value: str) -> list[str]:
    """An item deleted and set again; a value that asks for it with ``get`` would be None."""
    if f"{name}.get(" in value:
        return [f'{name}["p"] = {value}']
    return [writer.met("del of an item", f'del {name}["p"]'), f'{name}["p"] = {value}']


def changed_dict(writer: Writer, scope: Scope, name: str) -> list[str]:
    c = writer.choices
    v: Text = lambda: item(writer, scope)
    s: Text = lambda: tame(writer, scope, scalar(writer, scope, 1))
    forms: list[Callable[[], list[str]]] = [
        lambda: [writer.met("item of a dict replaced", f'{name}["p"] = {v()}')],
        lambda: [writer.met("item of a dict replaced", f'{name}["q"] = {s()}')],
        lambda: [writer.met("augmented item of a dict", f'{name}["q"] {c.pick(("+=", "*=", "-="))} {s()}')],
        lambda: [writer.met("augmented item of a dict", f'{name}["p"] {c.pick(("+=", "*=", "-="))} {v()}')],
        lambda: [writer.met("store into an item", f'{name}["p"][{c.integer(0, 3)}] = {s()}')],
        lambda: [writer.met("store into an item", f'{name}["p"][::2] += {expression(writer, scope, "p", 1)}')],
        lambda: [writer.met("dict.update", f"{name}.update(q={s()})")],
        lambda: [writer.met("dict.update", f'{name}.update({{"p": {v()}}})')],
        lambda: [writer.met("dict.setdefault", f'{taken(writer, scope, "v")} = {name}.setdefault("p", {v()})')],
        lambda: [writer.met("dict.pop", f'{taken(writer, scope, "s")} = {name}.pop("q")'), f'{name}["q"] = {s()}'],
        lambda: _item_anew(writer, name, v()),
        lambda: [writer.met("new key", f'{name}["z"] = {v()}'), f'{taken(writer, scope, "v")} = {name}["z"]'],
        lambda: [
            writer.met("loop over a dict", f"for key in {name}:"),
            f"    {name}[key] = np.sin({name}[key] + {scalar(writer, scope, 1)})",
        ],
        lambda: [writer.met("loop over items of a dict", f"for key, item in {name}.items():"), "    item *= 0.7"],
        lambda: [writer.met("loop over values of a dict", f"for item in {name}.values():"), "    item += 0.2"],
    ]
    made = c.pick(forms)()
    if "item in" in made[0]:
        scope.types.pop("item", None)
    return made


def changed_tuple(writer: Writer, scope: Scope, name: str) -> list[str]:
    c = writer.choices
    if c.chance(50):
        one, other = target(writer, scope, "v"), target(writer, scope, "s")
        if one == other:
            return assign(writer, scope)
        scope.bind(one, "v")
        scope.bind(other, "s")
        return [writer.met("tuple unpacked", f"{one}, {other} = {name}")]
    if c.chance(50):
        return [writer.met("store into an item", f"{name}[0][{c.integer(0, 3)}] = {scalar(writer, scope, 1)}")]
    return [writer.met("tuple rebound", f"{name} = ({name}[0] * 0.8, {tame(writer, scope, scalar(writer, scope, 1))})")]


def changed_named_tuple(writer: Writer, scope: Scope, name: str) -> list[str]:
    return [writer.met("store into a field", f"{name}.v[{writer.choices.integer(0, 3)}] = {scalar(writer, scope, 1)}")]


def changed_object(writer: Writer, scope: Scope, name: str) -> list[str]:
    c = writer.choices
    v: Text = lambda: item(writer, scope)
    s: Text = lambda: tame(writer, scope, scalar(writer, scope, 1))
    p: Text = lambda: expression(writer, scope, "p", 1)
    forms: list[Callable[[], list[str]]] = [
        lambda: [writer.met("field replaced", f"{name}.v = {v()}")],
        lambda: [writer.met("field replaced", f"{name}.s = {s()}")],
        lambda: [writer.met("augmented field", f"{name}.s {c.pick(('+=', '*=', '-='))} {s()}")],
        lambda: [writer.met("augmented field", f"{name}.v {c.pick(('+=', '*=', '-='))} {v()}")],
        lambda: [writer.met("store into a field", f"{name}.v[{c.integer(0, 3)}] = {s()}")],
        lambda: [writer.met("store into a field", f"{name}.v[1:3] {c.pick(('=', '+='))} {p()}")],
        lambda: [writer.met("method that stores", f"{name}.step({s()})")],
        lambda: [writer.met("method that returns its object", f"{taken(writer, scope, 'o')} = {name}.shift()")],
        lambda: [writer.met("new field", f"{name}.extra = {v()}"), f"{taken(writer, scope, 'v')} = {name}.extra"],
        lambda: [
            writer.met("method called in a loop", f"for k in range({c.integer(1, 3)}):"),
            f"    {name}.step(np.sin({scalar(writer, scope, 1)}))",
        ],
    ]
    made = c.pick(forms)()
    if made[0].startswith("for k") and scope.types.get("k", "i") != "i":
        del scope.types["k"]
    return made
