"""References to memory that exists already: views of every kind, items of containers, fields of objects."""

from __future__ import annotations

from collections.abc import Callable

from srcgrad.fuzz.expressions import Expressions
from srcgrad.fuzz.scope import Scope, factor

#: Views of a given kind: (construct, kind of what is viewed, text with ``{}`` for it).
VIEWS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "v": (
        ("slice view", "v", "{}[:]"),
        ("negative step view", "v", "{}[::-1]"),
        ("ellipsis view", "v", "{}[...]"),
        ("ravel view", "m", "{}.ravel()"),
        ("ravel view", "m", "np.ravel({})"),
        ("reshape view", "m", "{}.reshape(4)"),
        ("reshape view", "m", "{}.reshape(-1)"),
        ("reshape view", "c", "{}.reshape(2, 4)[1]"),
        ("reshape view", "c", "{}[0].reshape(-1)"),
        ("asarray view", "v", "np.asarray({})"),
        ("asarray view", "v", "np.atleast_1d({})"),
        ("newaxis view", "v", "{}[None][0]"),
        ("newaxis view", "v", "np.squeeze({}[:, np.newaxis])"),
        ("transposed view", "v", "{}.T"),
        ("view or copy", "m", "{}.T.ravel()"),
        ("view or copy", "m", "{}.T.reshape(4)"),
        ("view or copy", "v", "{}.astype(float, copy=False)"),
        ("view or copy", "v", "{}[::-1].reshape(2, 2).ravel()"),
    ),
    "m": (
        ("transposed view", "m", "{}.T"),
        ("transposed view", "m", "np.transpose({})"),
        ("transposed view", "m", "{}.swapaxes(0, 1)"),
        ("negative step view", "m", "{}[::-1]"),
        ("negative step view", "m", "{}[:, ::-1]"),
        ("flip view", "m", "np.flip({})"),
        ("flip view", "m", "np.flipud({})"),
        ("reshape view", "v", "{}.reshape(2, 2)"),
        ("reshape view", "v", "np.reshape({}, (2, -1))"),
        ("slice view", "m", "{}[:]"),
        ("ellipsis view", "m", "{}[...]"),
        ("integer view", "c", "{}[0]"),
        ("integer view", "c", "{}[:, 1]"),
        ("ellipsis view", "c", "{}[..., 0]"),
        ("integer view", "c", "{}[-1, :, ::-1]"),
        ("moved axis view", "c", "np.moveaxis({}, 0, 2)[1]"),
        ("asarray view", "m", "np.atleast_2d({})"),
        ("view or copy", "v", "{}[::-1].reshape(2, 2)"),
    ),
    "p": (
        ("slice view", "v", "{}[1:3]"),
        ("slice view", "v", "{}[:2]"),
        ("step view", "v", "{}[::2]"),
        ("negative step view", "v", "{}[::-2]"),
        ("negative step view", "v", "{}[2:0:-1]"),
        ("slice view", "v", "{}[-2:]"),
        ("integer view", "m", "{}[1]"),
        ("integer view", "m", "{}[0, :]"),
        ("integer view", "m", "{}[-1]"),
        ("column view", "m", "{}[:, 0]"),
        ("column view", "m", "{}.T[1]"),
        ("ellipsis view", "m", "{}[1, ...]"),
        ("integer view", "c", "{}[0, 1]"),
        ("column view", "c", "{}[:, 0, 1]"),
        ("ellipsis view", "c", "{}[1, ..., 0]"),
        ("negative step view", "p", "{}[::-1]"),
        ("reshape view", "v", "{}.reshape(2, 2)[1]"),
        ("ravel view", "m", "{}.ravel()[1:3]"),
        ("newaxis view", "v", "{}[np.newaxis, 1:3][0]"),
        ("split view", "v", "np.split({}, 2)[1]"),
    ),
    "c": (
        ("transposed view", "c", "{}.transpose(2, 0, 1)"),
        ("negative step view", "c", "{}[::-1]"),
        ("transposed view", "c", "np.swapaxes({}, 0, 2)"),
        ("negative step view", "c", "{}[:, ::-1]"),
        ("transposed view", "c", "{}.T"),
    ),
    "n": (
        ("0-d view", "v", "{}[1, ...]"),
        ("0-d view", "m", "{}[0, 1, ...]"),
        ("0-d view", "v", "{}[2:3].reshape(())"),
        ("0-d view", "n", "{}[...]"),
    ),
}

#: Items that are arrays or numbers: (construct, kind of the container, text).
ITEMS: dict[str, tuple[tuple[str, str, str], ...]] = {
    "v": (
        ("item of a list", "[v]", "{}[0]"),
        ("item of a list", "[v]", "{}[1]"),
        ("last item of a list", "[v]", "{}[-1]"),
        ("item of a dict", "{}", '{}["p"]'),
        ("item of a tuple", "()", "{}[0]"),
        ("item of a deque", "<v>", "{}[0]"),
        ("item of a deque", "<v>", "{}[-1]"),
        ("field", "o", "{}.v"),
        ("field", "o", "{}.v"),
        ("field of a named tuple", "t", "{}.v"),
        ("dict.get", "{}", '{}.get("p")'),
    ),
    "s": (
        ("item of a list", "[s]", "{}[0]"),
        ("last item of a list", "[s]", "{}[-1]"),
        ("item of a dict", "{}", '{}["q"]'),
        ("item of a tuple", "()", "{}[1]"),
        ("field", "o", "{}.s"),
        ("field", "o", "{}.s"),
        ("field of a named tuple", "t", "{}.s"),
        ("dict.get", "{}", '{}.get("q", 0.5)'),
    ),
    "p": (("method that returns a view", "o", "{}.part()"),),
}

#: What is computed from a whole container: (construct, kind of the container, text with a value {1} of the same kind).
COMPUTED: dict[str, tuple[tuple[str, str, str], ...]] = {
    "s": (
        ("sum of a list", "[s]", "sum({})"),
        ("array of a list", "[s]", "np.sum(np.sin(np.array({})))"),
        ("largest of a list", "[s]", "max({})"),
        ("generator expression", "[s]", "sum(e * e for e in {})"),
        ("generator expression", "[v]", "sum(np.sum(e * e) for e in {})"),
        ("method", "o", "{}.total()"),
        ("method that stores", "o", "{}.step({1})"),
        ("property", "o", "{}.norm"),
        ("object called", "o", "{}({1})"),
    ),
    "v": (
        ("sum of a list", "[v]", "sum({})"),
        ("stack of a list", "[v]", "np.stack({}).sum(axis=0)"),
        ("stack of a list", "<v>", "np.stack({}).sum(axis=0)"),
        ("method that returns a field", "o", "{}.shift().v"),
        ("operator of a class", "o", "({} + {1}).v"),
    ),
}


class Views(Expressions):
    """Writes references, and what is computed from containers."""

    def reference(self, scope: Scope, kind: str) -> str | None:
        """An expression for memory that exists already, at most two steps away from a name."""
        c = self.choices
        found = [form for form in ITEMS.get(kind, ()) if scope.named(form[1])]
        if found and self.has("containers") and c.chance(45):
            construct, held, text = c.pick(found)
            return self.met(construct, text.replace("{}", c.pick(scope.named(held)), 1))
        if kind == "s" or not self.has("views"):
            names = scope.named(kind)
            return c.pick(names) if names else None
        return self.view(scope, kind) if c.chance(60) else self.named_or_view(scope, kind)

    def named_or_view(self, scope: Scope, kind: str) -> str | None:
        names = scope.named(kind)
        return self.choices.pick(names[-3:]) if names else self.view(scope, kind)

    def view(self, scope: Scope, kind: str) -> str | None:
        """A view of a name, or of an item of a container; now and then a view of a view."""
        c = self.choices
        possible = [form for form in VIEWS.get(kind, ()) if self.sources(scope, form[1])]
        if not possible:
            return None
        construct, viewed, text = c.pick(possible)
        source = c.pick(self.sources(scope, viewed))
        if c.chance(15):
            inner = [form for form in VIEWS.get(viewed, ()) if self.sources(scope, form[1])]
            if inner:
                first, deeper, other = c.pick(inner)
                self.met(first, None)
                source = self.met("view of a view", other.format(c.pick(self.sources(scope, deeper))))
        return self.met(construct, text.format(source))

    def sources(self, scope: Scope, kind: str) -> list[str]:
        names = scope.named(kind)
        if self.has("containers"):
            items = [text.replace("{}", name, 1) for _, held, text in ITEMS.get(kind, ()) for name in scope.named(held)]
            return names * 3 + items
        return names

    # --- containers, as values ---------------------------------------------------------------------------------------
    def container(self, scope: Scope, kind: str) -> str:
        """A display of a container or an object."""
        c = self.choices
        s: Callable[[], str] = lambda: self.scalar(scope, 1)
        v: Callable[[], str] = lambda: self.atom(scope, "v") if c.chance(60) else self.vector(scope, 1)
        again = scope.named(kind)
        forms: dict[str, list[Callable[[], str]]] = {
            "[v]": [
                lambda: self.met("list display", f"[{v()}, {v()}]"),
                lambda: self.met("list display", f"[{v()}, {v()}, {v()}]"),
                lambda: self.met("list comprehension", f"[{factor(v())} * {c.pick(('0.5', 'k'))} for k in range(2)]"),
                lambda: self.met("list of rows", f"list(np.stack([{v()}, {v()}]))"),
                lambda: self.met("list times number", f"[{v()}] * 2"),
            ],
            "[s]": [
                lambda: self.met("list display", f"[{s()}, {s()}]"),
                lambda: self.met("list comprehension", f"[{factor(s())} * k for k in range(3)]"),
                lambda: self.met("list of items", f"[e * e for e in {self.atom(scope, 'v')}]"),
            ],
            "<v>": [
                lambda: self.met("deque", f"deque([{v()}, {v()}])"),
                lambda: self.met("bounded deque", f"deque([{v()}, {v()}], maxlen=2)"),
            ],
            "{}": [
                lambda: self.met("dict display", f'{{"p": {v()}, "q": {s()}}}'),
                lambda: self.met("dict of keywords", f"dict(p={v()}, q={s()})"),
            ],
            "()": [lambda: self.met("tuple display", f"({v()}, {s()})")],
            "o": [lambda: self.met("object built", f"Box({v()}, {s()})")],
            "t": [lambda: self.met("named tuple", f"Pair({v()}, {s()})")],
        }
        options = forms[kind]
        if again:
            name = c.pick(again)
            copies: dict[str, list[Callable[[], str]]] = {
                "[v]": [
                    lambda: self.met("copy of a list", f"list({name})"),
                    lambda: self.met("slice of a list", f"{name}[:2]"),
                    lambda: self.met("sum of lists", f"{name} + [{v()}]"),
                    lambda: self.met("list comprehension", f"[e * 0.5 for e in {name}]"),
                    lambda: self.met("reversed list", f"{name}[::-1]"),
                ],
                "[s]": [
                    lambda: self.met("copy of a list", f"{name}.copy()"),
                    lambda: self.met("sorted list", f"sorted({name})"),
                ],
                "{}": [
                    lambda: self.met("copy of a dict", f"dict({name})"),
                    lambda: self.met("dict display of a dict", f'{{**{name}, "q": {s()}}}'),
                ],
                "t": [lambda: self.met("named tuple replaced", f"{name}._replace(s={s()})")],
            }
            options = options + copies.get(kind, [])
        return c.pick(options)()

    def from_container(self, scope: Scope, kind: str) -> str | None:
        """A number or a vector computed from a whole container."""
        c = self.choices
        if not self.has("containers"):
            return None
        possible = [form for form in COMPUTED[kind] if scope.named(form[1])]
        if not possible:
            return None
        construct, held, text = c.pick(possible)
        given = self.scalar(scope, 0) if kind == "s" else self.atom(scope, "v")
        return self.met(construct, text.replace("{}", c.pick(scope.named(held))).replace("{1}", given))
