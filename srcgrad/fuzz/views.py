"""References to memory that exists already: views of every kind, items of containers, fields of objects.

Enters: the writer, the names available at the point, and a kind.  Leaves: an expression without a copy, or None.
"""

from __future__ import annotations

from srcgrad.fuzz.scope import Scope
from srcgrad.fuzz.writer import Writer

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


def reference(writer: Writer, scope: Scope, kind: str) -> str | None:
    """An expression for memory that exists already, at most two steps away from a name."""
    c = writer.choices
    found = [form for form in ITEMS.get(kind, ()) if scope.named(form[1])]
    if found and writer.has("containers") and c.chance(45):
        construct, held, text = c.pick(found)
        return writer.met(construct, text.replace("{}", c.pick(scope.named(held)), 1))
    if kind == "s" or not writer.has("views"):
        names = scope.named(kind)
        return c.pick(names) if names else None
    return view(writer, scope, kind) if c.chance(60) else named_or_view(writer, scope, kind)


def named_or_view(writer: Writer, scope: Scope, kind: str) -> str | None:
    names = scope.named(kind)
    return writer.choices.pick(names[-3:]) if names else view(writer, scope, kind)


def view(writer: Writer, scope: Scope, kind: str) -> str | None:
    """A view of a name, or of an item of a container; now and then a view of a view."""
    c = writer.choices
    possible = [form for form in VIEWS.get(kind, ()) if sources(writer, scope, form[1])]
    if not possible:
        return None
    construct, viewed, text = c.pick(possible)
    source = c.pick(sources(writer, scope, viewed))
    if c.chance(15):
        inner = [form for form in VIEWS.get(viewed, ()) if sources(writer, scope, form[1])]
        if inner:
            first, deeper, other = c.pick(inner)
            writer.met(first, None)
            source = writer.met("view of a view", other.format(c.pick(sources(writer, scope, deeper))))
    return writer.met(construct, text.format(source))


def sources(writer: Writer, scope: Scope, kind: str) -> list[str]:
    names = scope.named(kind)
    if writer.has("containers"):
        items = [text.replace("{}", name, 1) for _, held, text in ITEMS.get(kind, ()) for name in scope.named(held)]
        return names * 3 + items
    return names
