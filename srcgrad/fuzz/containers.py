"""Statements that build, change and walk lists, deques, dicts, tuples and objects."""

from __future__ import annotations

from collections.abc import Callable

from srcgrad.fuzz.scope import CONTAINERS, Scope, indent
from srcgrad.fuzz.stores import Stores

Text = Callable[[], str]


class Containers(Stores):
    """Writes statements on containers.  Every container keeps at least two items."""

    functions: int  # how many names of its own the program has so far

    def made(self, scope: Scope) -> list[str]:
        """A container is built, or gets a second name."""
        c = self.choices
        kind = c.pick(CONTAINERS + ("[v]", "[s]", "{}", "o"))
        again = scope.named(kind)
        if again and c.chance(30):
            source = self.met("alias of a container", c.pick(again))
        else:
            source = self.container(scope, kind)
        name = self.target(scope, kind)
        scope.bind(name, kind)
        lines = [f"{name} = {source}"]
        if kind == "[v]" and c.chance(40):
            lines += self.shared(scope, name)
        if kind == "[s]" and c.chance(40) and not scope.loops:
            lines += self.sorted_numbers(scope, name)
        return lines

    def changed(self, scope: Scope) -> list[str]:
        """A method of a container, or a store of an item."""
        names = scope.named(*CONTAINERS)
        if not names:
            return self.made(scope)
        name = self.choices.pick(names[-3:])
        writers: dict[str, Callable[[Scope, str], list[str]]] = {
            "[v]": self.changed_list,
            "[s]": self.changed_numbers,
            "<v>": self.changed_deque,
            "{}": self.changed_dict,
            "()": self.changed_tuple,
            "o": self.changed_object,
            "t": self.changed_named_tuple,
        }
        return writers[scope.types[name]](scope, name)

    def item(self, scope: Scope) -> str:
        """A vector to be put into a container: mostly one that has a name."""
        if self.choices.chance(55):
            return self.reference(scope, "v") or self.vector(scope, 1)
        return self.tame(scope, self.vector(scope, 1))

    def taken(self, scope: Scope, kind: str) -> str:
        """A name for what is taken out of a container."""
        name = self.target(scope, kind)
        scope.bind(name, kind)
        return name

    def changed_list(self, scope: Scope, name: str) -> list[str]:
        c = self.choices
        v: Text = lambda: self.item(scope)
        k: Text = lambda: c.pick(("0", "1", "-1"))
        s: Text = lambda: self.tame(scope, self.scalar(scope, 1))
        forms: list[Callable[[], list[str]]] = [
            lambda: [self.met("append", f"{name}.append({v()})")],
            lambda: [self.met("append", f"{name}.append({v()})")],
            lambda: [self.met("item replaced", f"{name}[{k()}] = {v()}")],
            lambda: [self.met("item replaced", f"{name}[{k()}] = {v()}")],
            lambda: self.shared(scope, name),
            lambda: self.shared(scope, name),
            lambda: [self.met("store into an item", f"{name}[{k()}][{c.integer(0, 3)}] = {s()}")],
            lambda: [self.met("store into an item", f"{name}[{k()}][1:3] = {self.expression(scope, 'p', 1)}")],
            lambda: [self.met("augmented item", f"{name}[{k()}] {c.pick(('+=', '-=', '*='))} {v()}")],
            lambda: [self.met("append", f"{name}.append({v()})"), f"{self.taken(scope, 'v')} = {name}.pop()"],
            lambda: [
                self.met("append", f"{name}.append({v()})"),
                self.met("pop of a place", f"{self.taken(scope, 'v')} = {name}.pop({c.pick(('0', '1', '-2'))})"),
            ],
            lambda: [self.met("insert", f"{name}.insert({k()}, {v()})")],
            lambda: [self.met("extend", f"{name}.extend([{v()}, {v()}])")],
            lambda: [self.met("list +=", f"{name} += [{v()}]")],
            lambda: [self.met("reverse in place", f"{name}.reverse()")],
            lambda: [self.met("items swapped", f"{name}[0], {name}[1] = {name}[1], {name}[0]")],
            lambda: [self.met("append", f"{name}.append({v()})"), self.met("del of an item", f"del {name}[0]")],
            lambda: [self.met("slice of a list replaced", f"{name}[:2] = [{v()}, {v()}]")],
            lambda: self.unpacked(scope, f"{name}[:2]"),
            lambda: self.walked(scope, name),
            lambda: self.walked(scope, name),
        ]
        return c.pick(forms)()

    def shared(self, scope: Scope, name: str) -> list[str]:
        """An item that has a name, and a store through one of the two."""
        c = self.choices
        names = scope.named("v")
        if not names:
            return [f"{name}.append({self.vector(scope, 1)})"]
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
        store = f"{c.pick((item, place))}[{c.integer(0, 3)}] = {self.tame(scope, self.scalar(scope, 1))}"
        return [put, self.met("store into what a list shares", store)]

    def unpacked(self, scope: Scope, source: str) -> list[str]:
        one = self.target(scope, "v")
        other = self.target(scope, "v")
        if one == other:
            return self.assign(scope)
        scope.bind(one, "v")
        scope.bind(other, "v")
        return [self.met("items unpacked", f"{one}, {other} = {source}")]

    def walked(self, scope: Scope, name: str) -> list[str]:
        """A loop over the items, which are changed."""
        c = self.choices
        inner = scope.inner()
        inner.loops += 1
        inner.bind("item", "v")
        s = self.scalar(inner, 1)
        body = c.pick(
            (
                f"item[{c.integer(0, 3)}] = np.sin({s})",
                f"item *= np.cos({s})",
                f"item += 0.3 * np.sin({s})",
                f"item[1:3] += np.sin({self.expression(inner, 'p', 1)})",
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
        total = self.target(scope, "s")
        lines = [heading, *indent([body])]
        if scope.types.get(total) == "s" and total not in body:
            lines += indent([f"{total} = np.sin({total} + item[0])"])
        for gone in ("item", "k", "other"):
            scope.types.pop(gone, None)
        return self.met("loop over items that are stored into", lines)

    def outgrown(self, scope: Scope) -> list[str]:
        """Sometimes a list that grows when nobody reads it any more."""
        c = self.choices
        lists = [name for name, kind in scope.types.items() if kind in ("[v]", "[s]")]
        if not lists or not c.chance(25):
            return []
        name = c.pick(lists)
        item = self.item(scope) if scope.types[name] == "[v]" else self.tame(scope, self.scalar(scope, 1))
        line = c.pick((f"{name}.append({item})", f"{name}.append({item})", f"{name}.insert(0, {item})"))
        return [self.met("list that outlives its use", line)]

    def changed_numbers(self, scope: Scope, name: str) -> list[str]:
        c = self.choices
        s: Text = lambda: self.tame(scope, self.scalar(scope, 1))
        forms: list[Callable[[], list[str]]] = [
            lambda: [self.met("append of a number", f"{name}.append({s()})")],
            lambda: [self.met("number replaced", f"{name}[{c.pick(('0', '1', '-1'))}] = {s()}")],
            lambda: [self.met("augmented number in a list", f"{name}[{c.pick(('0', '-1'))}] += {s()}")],
            lambda: [self.met("augmented number in a list", f"{name}[1] *= {s()}")],
            lambda: [
                self.met("append of a number", f"{name}.append({s()})"),
                self.met("pop of a number", f"{self.taken(scope, 's')} = {name}.pop()"),
            ],
            *[lambda: self.sorted_numbers(scope, name)] * 2,
            lambda: [self.met("list +=", f"{name} += [{s()}, {s()}]")],
            lambda: [self.met("insert", f"{name}.insert(0, {s()})")],
            lambda: [
                self.met("loop that appends", "for k in range(3):"),
                f"    {name}.append(np.sin({name}[-1] * {name}[k] + {self.scalar(scope, 1)}))",
            ],
            lambda: [
                self.met("loop that replaces numbers", "for k in range(2):"),
                f"    {name}[k] = np.sin({name}[k] * {name}[1 - k] + {self.scalar(scope, 1)})",
            ],
        ]
        made = c.pick(forms)()
        if made[0].startswith("for k") and scope.types.get("k", "i") != "i":
            del scope.types["k"]
        return made

    def sorted_numbers(self, scope: Scope, name: str) -> list[str]:
        """Numbers that are not in order are put in order."""
        mixed = f"{name}[0], {name}[-1] = {name}[-1] + 0.7, {name}[0] - {self.scalar(scope, 0)}"
        read = f"{name}[0] * {self.scalar(scope, 0)} - {name}[-1] ** 2"
        return [mixed, self.met("sort of a list", f"{name}.sort()"), f"{self.taken(scope, 's')} = {read}"]

    def changed_deque(self, scope: Scope, name: str) -> list[str]:
        c = self.choices
        v: Text = lambda: self.item(scope)
        forms: list[Callable[[], list[str]]] = [
            lambda: [self.met("deque.append", f"{name}.append({v()})")],
            lambda: [self.met("deque.appendleft", f"{name}.appendleft({v()})")],
            lambda: [self.met("deque.rotate", f"{name}.rotate(1)")],
            lambda: [self.met("store into an item", f"{name}[0][{c.integer(0, 3)}] = {self.scalar(scope, 1)}")],
            lambda: [
                self.met("deque.append", f"{name}.append({v()})"),
                self.met("deque.popleft", f"{self.taken(scope, 'v')} = {name}.popleft()"),
                f"{name}.appendleft({v()})",
            ],
            lambda: self.walked(scope, name) if c.chance(50) else [f"{name}[1] = {v()}"],
        ]
        return c.pick(forms)()

    def _item_anew(self, name: str, value: str) -> list[str]:
        """An item deleted and set again; a value that asks for it with ``get`` would be None."""
        if f"{name}.get(" in value:
            return [f'{name}["p"] = {value}']
        return [self.met("del of an item", f'del {name}["p"]'), f'{name}["p"] = {value}']

    def changed_dict(self, scope: Scope, name: str) -> list[str]:
        c = self.choices
        v: Text = lambda: self.item(scope)
        s: Text = lambda: self.tame(scope, self.scalar(scope, 1))
        forms: list[Callable[[], list[str]]] = [
            lambda: [self.met("item of a dict replaced", f'{name}["p"] = {v()}')],
            lambda: [self.met("item of a dict replaced", f'{name}["q"] = {s()}')],
            lambda: [self.met("augmented item of a dict", f'{name}["q"] {c.pick(("+=", "*=", "-="))} {s()}')],
            lambda: [self.met("augmented item of a dict", f'{name}["p"] {c.pick(("+=", "*=", "-="))} {v()}')],
            lambda: [self.met("store into an item", f'{name}["p"][{c.integer(0, 3)}] = {s()}')],
            lambda: [self.met("store into an item", f'{name}["p"][::2] += {self.expression(scope, "p", 1)}')],
            lambda: [self.met("dict.update", f"{name}.update(q={s()})")],
            lambda: [self.met("dict.update", f'{name}.update({{"p": {v()}}})')],
            lambda: [self.met("dict.setdefault", f'{self.taken(scope, "v")} = {name}.setdefault("p", {v()})')],
            lambda: [self.met("dict.pop", f'{self.taken(scope, "s")} = {name}.pop("q")'), f'{name}["q"] = {s()}'],
            lambda: self._item_anew(name, v()),
            lambda: [self.met("new key", f'{name}["z"] = {v()}'), f'{self.taken(scope, "v")} = {name}["z"]'],
            lambda: [
                self.met("loop over a dict", f"for key in {name}:"),
                f"    {name}[key] = np.sin({name}[key] + {self.scalar(scope, 1)})",
            ],
            lambda: [self.met("loop over items of a dict", f"for key, item in {name}.items():"), "    item *= 0.7"],
            lambda: [self.met("loop over values of a dict", f"for item in {name}.values():"), "    item += 0.2"],
        ]
        made = c.pick(forms)()
        if "item in" in made[0]:
            scope.types.pop("item", None)
        return made

    def changed_tuple(self, scope: Scope, name: str) -> list[str]:
        c = self.choices
        if c.chance(50):
            one, other = self.target(scope, "v"), self.target(scope, "s")
            if one == other:
                return self.assign(scope)
            scope.bind(one, "v")
            scope.bind(other, "s")
            return [self.met("tuple unpacked", f"{one}, {other} = {name}")]
        if c.chance(50):
            return [self.met("store into an item", f"{name}[0][{c.integer(0, 3)}] = {self.scalar(scope, 1)}")]
        return [self.met("tuple rebound", f"{name} = ({name}[0] * 0.8, {self.tame(scope, self.scalar(scope, 1))})")]

    def changed_named_tuple(self, scope: Scope, name: str) -> list[str]:
        return [self.met("store into a field", f"{name}.v[{self.choices.integer(0, 3)}] = {self.scalar(scope, 1)}")]

    def changed_object(self, scope: Scope, name: str) -> list[str]:
        c = self.choices
        v: Text = lambda: self.item(scope)
        s: Text = lambda: self.tame(scope, self.scalar(scope, 1))
        p: Text = lambda: self.expression(scope, "p", 1)
        forms: list[Callable[[], list[str]]] = [
            lambda: [self.met("field replaced", f"{name}.v = {v()}")],
            lambda: [self.met("field replaced", f"{name}.s = {s()}")],
            lambda: [self.met("augmented field", f"{name}.s {c.pick(('+=', '*=', '-='))} {s()}")],
            lambda: [self.met("augmented field", f"{name}.v {c.pick(('+=', '*=', '-='))} {v()}")],
            lambda: [self.met("store into a field", f"{name}.v[{c.integer(0, 3)}] = {s()}")],
            lambda: [self.met("store into a field", f"{name}.v[1:3] {c.pick(('=', '+='))} {p()}")],
            lambda: [self.met("method that stores", f"{name}.step({s()})")],
            lambda: [self.met("method that returns its object", f"{self.taken(scope, 'o')} = {name}.shift()")],
            lambda: [self.met("new field", f"{name}.extra = {v()}"), f"{self.taken(scope, 'v')} = {name}.extra"],
            lambda: [
                self.met("method called in a loop", f"for k in range({c.integer(1, 3)}):"),
                f"    {name}.step(np.sin({self.scalar(scope, 1)}))",
            ],
        ]
        made = c.pick(forms)()
        if made[0].startswith("for k") and scope.types.get("k", "i") != "i":
            del scope.types["k"]
        return made
