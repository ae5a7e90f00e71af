"""A ``Listing`` as one HTML file that needs nothing else: the user's functions left, the derivative right.

Everything that comes from a program is escaped, names and file names included; the page's policy lets no script run
but its own, and loads nothing.
"""

from __future__ import annotations

import base64
import hashlib
import io
import keyword
import math
import os
import token
import tokenize
from collections.abc import Callable, Iterable, Mapping, Sequence
from functools import cache
from html import escape
from importlib.resources import files

from srcgrad.observe.listing import Key, Line, Listing, Marks, Part, Stage
from srcgrad.observe.profile import Cost, seconds, size

_LEGEND = (
    ("primal", "forward sweep"), ("record", "recorded for the reverse sweep"), ("adjoint", "reverse sweep"),
    ("recall", "read back"), ("recompute", "computed again"),
)  # fmt: skip
_TAGS = (
    ("active", "A", "active: it has a derivative"),
    ("recorded", "R", "recorded: the reverse sweep needs values of this line"),
    ("recomputed", "C", "computed again in the reverse sweep"),
    ("refused", "!", "refused if it is reached"),
)


class Annotation:
    """A page in HTML: ``save`` writes it as one file, a notebook shows it below its cell, ``html`` is its text."""

    def __init__(self, html: str, title: str, lines: int) -> None:
        self.html = html
        self.title = title
        self._lines = lines

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the page; it needs no network and no other file."""
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(self.html)

    def _repr_html_(self) -> str:
        """The page in a frame of its own, so that neither its style nor its script meets those of the notebook."""
        height = min(max(self._lines * 20 + 170, 260), 640)
        return (
            f'<iframe srcdoc="{escape(self.html)}" sandbox="allow-scripts" title="{escape(self.title)}" '
            f'width="100%" height="{height}" style="border:1px solid #8884;border-radius:6px"></iframe>'
        )

    def __repr__(self) -> str:
        return f"<annotation: {self.title}>"


class Explanation(str):
    """The program at a stage, as text; a notebook shows the page that has it, with this stage open."""

    def __new__(cls, text: str, page: Callable[[], str | None]) -> Explanation:
        made = super().__new__(cls, text)
        made._page = page
        return made

    _page: Callable[[], str | None]

    def _repr_html_(self) -> str | None:
        return self._page()


def annotation(listing: Listing, opened: str = "optimised") -> Annotation:
    """The page of a listing, with one of its stages open."""
    longest = max(sum(len(part.lines) for part in parts) for parts in (listing.sources, listing.stages[-1].parts))
    return Annotation(page(listing, opened), listing.title, longest)


def page(listing: Listing, opened: str = "optimised") -> str:
    """The page of a listing as text."""
    left = "".join(_source(part, number, listing) for number, part in enumerate(listing.sources))
    right = "".join(map(_stage, listing.stages))
    body = f"""{header(listing.title)}
<main data-open="{opened}">
<section class="pane" aria-label="Your program">
<div class="bar"><h2>Your program</h2></div>{_whole(listing.total)}{left}
</section>
<section class="pane" aria-label="The derivative">
<div class="bar needs-js">
<div role="tablist" aria-label="Stages">{"".join(map(_tab, listing.stages))}</div><p class="about" id="about"></p>
</div>{right}
</section>
</main>
{_footer()}
<div class="spoken" aria-live="polite"></div>"""
    return document(listing.title, body)


def document(title: str, body: str) -> str:
    """A whole file around a body: style, script, and a policy that lets nothing else run or load."""
    style, script = _resource("inspector.css"), _resource("inspector.js")
    policy = f"default-src 'none'; style-src '{_digest(style)}'; script-src '{_digest(script)}'; base-uri 'none'"
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}</title><style>{style}</style></head>\n<body>{body}"
        f"<script>{script}</script></body></html>\n"
    )


@cache
def _resource(name: str) -> str:
    return files("srcgrad.observe").joinpath(name).read_text(encoding="utf-8")


def _digest(text: str) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()


def header(title: str) -> str:
    theme = '<button class="theme needs-js" title="Light or dark (t)">Light / dark</button>'
    return f"<header><h1>{escape(title)}</h1>{theme}</header>"


def _whole(total: Cost | None) -> str:
    if total is None:
        return ""
    times = f"{seconds(total.forward)} forward, {seconds(total.reverse)} reverse"
    kept = f"{size(total.recorded) or '0 B'} recorded, {size(total.peak)} at the peak"
    return f'<p class="costs">Whole run: {times}, {kept}.</p>'


def _tab(stage: Stage) -> str:
    attributes = f'id="tab-{stage.name}" aria-controls="{stage.name}" data-stage="{stage.name}"'
    return f'<button role="tab" {attributes}>{escape(stage.title)}</button>'


# --- parts -----------------------------------------------------------------------------------------------------------
def _source(part: Part, number: int, listing: Listing) -> str:
    links = {other.name.rpartition(".")[2]: f"u{j}" for j, other in enumerate(listing.sources) if other.name}
    links.pop(part.name.rpartition(".")[2], None)
    most = max((_weight(marks) for marks in listing.marks.values()), default=0.0)
    first = _first_lines(listing.stages[-1])
    codes = coloured([line.text for line in part.lines], links)
    rows = [
        _user_line(line, code, _marks_of(line, listing), most, first, listing.total)
        for line, code in zip(part.lines, codes, strict=True)
    ]
    name = f"{part.name} · {part.place}" if part.name else part.place
    if listing.total is not None and number == 0:
        rows.insert(0, _COLUMNS)
    return f'<div class="part" id="u{number}"><h3>{escape(name)}</h3><div class="lines">{"".join(rows)}</div></div>'


def _marks_of(line: Line, listing: Listing) -> Marks:
    return Marks() if line.key is None else listing.marks.get(line.key, Marks())


def _first_lines(stage: Stage) -> Mapping[Key, int]:
    """The line of a stage that a line of the user's leads to first."""
    found: dict[Key, int] = {}
    for part in stage.parts:
        for line in part.lines:
            if line.key is not None:
                found.setdefault(line.key, line.number)
    return found


def _user_line(line: Line, code: str, marks: Marks, most: float, first: Mapping[Key, int], total: Cost | None) -> str:
    tags = "".join(
        f'<abbr class="tag {name}" title="{escape(_told(name, about, marks))}">{letter}</abbr>'
        for name, letter, about in _TAGS
        if getattr(marks, name)
    )
    heat = f" heat{1 + round(4 * _weight(marks) / most)}" if most and _weight(marks) else ""
    assert line.key is not None
    key = _key(line.key)
    number = _linked(line.number, f"optimised-{first[line.key]}") if line.key in first else _number(line.number)
    why = "".join(f'<p class="why">Refused if reached: {escape(reason)}</p>' for reason in marks.refused)
    data = f' data-k="{key}" tabindex="-1"' if line.key in first or marks != Marks() else ""
    cost = "" if total is None else _cost(marks.cost)
    return (
        f'<div class="ln{heat}" id="u-{key}"{data}>{number}<span class="tags">{tags}</span>{cost}'
        f"<code>{code}</code></div>{why}"
    )


def _told(name: str, about: str, marks: Marks) -> str:
    names = getattr(marks, name)
    return about if not isinstance(names, tuple) or name == "refused" else f"{about}: {', '.join(names)}"


def _weight(marks: Marks) -> float:
    """How dark a line is: by the bytes that it keeps, on a logarithmic scale; without a run by how many values."""
    if marks.cost is not None:
        return math.log1p(marks.cost.recorded / 64)
    return float(len(marks.recorded))


def _cost(cost: Cost | None) -> str:
    """The columns of a measured run: bytes that are kept and in how many passes, forward and reverse time."""
    if cost is None:
        return '<span class="cost"></span>'
    passes = f" in {cost.passes}" if cost.recorded and cost.passes > 1 else ""
    return (
        f'<span class="cost"><span title="recorded, in so many passes">{size(cost.recorded)}{passes}</span>'
        f'<span title="forward">{seconds(cost.forward)}</span>'
        f'<span title="reverse">{seconds(cost.reverse)}</span></span>'
    )


_COLUMNS = (
    '<div class="ln columns"><span class="no"></span><span class="tags"></span><span class="cost">'
    "<span>recorded</span><span>forward</span><span>reverse</span></span></div>"
)


def _stage(stage: Stage) -> str:
    links = {part.name: f"{stage.name}-f{j}" for j, part in enumerate(stage.parts) if part.name}
    parts = []
    for number, part in enumerate(stage.parts):
        own = {name: at for name, at in links.items() if name != part.name}
        rows = [
            _emitted_line(line, code, stage.name)
            for line, code in zip(part.lines, coloured([line.text for line in part.lines], own), strict=True)
        ]
        parts.append(f'<div class="part" id="{stage.name}-f{number}"><div class="lines">{"".join(rows)}</div></div>')
    return (
        f'<div class="stage" role="tabpanel" id="{stage.name}" aria-labelledby="tab-{stage.name}" '
        f'data-stage="{stage.name}" data-about="{escape(stage.about)}">'
        f'<h2>{escape(stage.title)}</h2><p class="about">{escape(stage.about)}</p>{"".join(parts)}</div>'
    )


def _emitted_line(line: Line, code: str, stage: str) -> str:
    role = f" role-{line.role}" if line.role and line.text else ""
    is_placed = line.key is not None and line.text
    data = f' data-k="{_key(line.key)}" tabindex="-1"' if is_placed and line.key else ""
    ref = f'<a class="ref" tabindex="-1" href="#u-{_key(line.key)}">{line.key[1]}</a>' if is_placed and line.key else (
        '<span class="ref"></span>'
    )
    return (
        f'<div class="ln{role}" id="{stage}-{line.number}"{data}>{_number(line.number)}{ref}<code>{code}</code></div>'
    )


def _key(key: Key) -> str:
    return f"{key[0]}-{key[1]}"


def _number(number: int) -> str:
    return f'<span class="no">{number}</span>'


def _linked(number: int, target: str) -> str:
    return f'<a class="no" tabindex="-1" href="#{target}">{number}</a>'


def _footer() -> str:
    roles = "".join(f'<li><span class="swatch {name}"></span>{about}</li>' for name, about in _LEGEND)
    tags = "".join(f'<li><span class="tag {name}">{letter}</span> {about}</li>' for name, letter, about in _TAGS)
    keys = (
        '<li class="needs-js"><kbd>↑</kbd> <kbd>↓</kbd> line, <kbd>→</kbd> other side, '
        "<kbd>1</kbd>–<kbd>3</kbd> stage, <kbd>t</kbd> theme</li>"
    )
    return f"<footer><ul>{tags}{roles}{keys}</ul></footer>"


# --- text ------------------------------------------------------------------------------------------------------------
def coloured(lines: Sequence[str], links: Mapping[str, str]) -> list[str]:
    """Lines of Python, each escaped, with its tokens in classes; names in ``links`` lead to a place in the page."""
    pieces: list[list[tuple[int, int, str, str]]] = [[] for _ in lines]  # start, end, class, target
    try:
        for one in tokenize.generate_tokens(io.StringIO("\n".join(lines) + "\n").readline):
            kind, target = _class(one), links.get(one.string, "") if one.type == token.NAME else ""
            if kind or target:
                (row, start), (last, end) = one.start, one.end
                for at in range(row, min(last, len(lines)) + 1):
                    left, right = start if at == row else 0, end if at == last else len(lines[at - 1])
                    pieces[at - 1].append((left, right, kind, target))
    except (tokenize.TokenError, SyntaxError, ValueError):
        pass  # a part that is no whole statement: what was read is coloured
    return [_marked(line, found) for line, found in zip(lines, pieces, strict=True)]


def _class(one: tokenize.TokenInfo) -> str:
    name = token.tok_name[one.type]
    if name == "NAME":
        return "k" if keyword.iskeyword(one.string) else ""
    if name == "STRING" or name.startswith(("FSTRING", "TSTRING")):
        return "s"
    return {"COMMENT": "c", "NUMBER": "n"}.get(name, "")


def _marked(line: str, pieces: Iterable[tuple[int, int, str, str]]) -> str:
    made, at = [], 0
    for start, end, kind, target in pieces:
        if start < at:
            continue
        text = escape(line[start:end])
        if target:
            text = f'<a href="#{target}">{text}</a>'
        made += [escape(line[at:start]), f'<span class="{kind}">{text}</span>' if kind else text]
        at = end
    return "".join([*made, escape(line[at:])])
