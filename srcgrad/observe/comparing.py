"""Two derivatives compared line by line: what a change of a program changes in its gradient.

Enters: two emissions.  Leaves: the rows of a comparison, as text like that of ``diff -u``, or as a page.  Places in
comments (``# model.py:14``) are left out of the comparison: a line more in the user's file moves all that follow.
"""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterator
from html import escape
from typing import NamedTuple

from srcgrad.emit.emission import Emission
from srcgrad.observe.page import coloured, document, header

_PLACE = re.compile(r"# \S+:\d+")
_AROUND = 3  # lines that are shown before and after a change


class Row(NamedTuple):
    """A line of the old text, of the new one, or of both; numbers from 1, None where there is none."""

    old: int | None
    new: int | None
    text: str

    @property
    def sign(self) -> str:
        return " " if self.old and self.new else "-" if self.old else "+"


def compared(old: Emission, new: Emission) -> list[list[Row]]:
    """The changes, each with lines around it; none if the two are one program."""
    left, right = (emission.text.rstrip("\n").split("\n") for emission in (old, new))
    matcher = difflib.SequenceMatcher(None, _spoken(left), _spoken(right), autojunk=False)
    return [list(_rows(group, left, right)) for group in matcher.get_grouped_opcodes(_AROUND)]


def _spoken(lines: list[str]) -> list[str]:
    """The lines without what tells where they come from: places in comments, docstrings."""
    spoken, is_quoted = [], False
    for line in lines:
        quotes = line.count('"""')
        spoken.append('"""' if quotes or is_quoted else _PLACE.sub("#", line))
        is_quoted ^= quotes % 2 == 1
    return spoken


def _rows(group: list[tuple[str, int, int, int, int]], left: list[str], right: list[str]) -> Iterator[Row]:
    for tag, a, b, c, d in group:
        if tag == "equal":
            yield from (Row(a + j + 1, c + j + 1, right[c + j]) for j in range(b - a))
        else:
            yield from (Row(j + 1, None, left[j]) for j in range(a, b))
            yield from (Row(None, j + 1, right[j]) for j in range(c, d))


def as_text(changes: list[list[Row]], names: tuple[str, str]) -> str:
    """The form of ``diff -u``."""
    lines = [f"--- {names[0]}", f"+++ {names[1]}"]
    for rows in changes:
        old, new = [r.old for r in rows if r.old], [r.new for r in rows if r.new]
        lines.append(f"@@ -{_extent(old)} +{_extent(new)} @@")
        lines += [f"{row.sign}{row.text}" for row in rows]
    return "\n".join(lines)


def _extent(numbers: list[int]) -> str:
    return f"{numbers[0]},{len(numbers)}" if numbers else "0,0"


def as_page(changes: list[list[Row]], names: tuple[str, str]) -> str:
    """One page with the old lines left and the new ones right, beside each other."""
    groups = [list(_beside(rows)) for rows in changes]
    sides = []
    for side, name in enumerate(names):
        parts = []
        for pairs in groups:
            rows = [pair[side] for pair in pairs]
            codes = coloured(["" if row is None else row.text for row in rows], {})
            lines = "".join(_line(row, code, side) for row, code in zip(rows, codes, strict=True))
            parts.append(f'<div class="part"><div class="lines">{lines}</div></div>')
        sides.append(
            f'<section class="pane" aria-label="{escape(name)}"><div class="bar"><h2>{escape(name)}</h2></div>'
            f"{''.join(parts) or _SAME}</section>"
        )
    title = f"{names[0]} and {names[1]}"
    return document(title, f'{header(title)}<main data-together="yes">{"".join(sides)}</main>')


_SAME = '<div class="part"><p class="about">Both derivatives are one program.</p></div>'


def _beside(rows: list[Row]) -> Iterator[tuple[Row | None, Row | None]]:
    """Lines in pairs: what is in both, and in turn what was and what is now."""
    for is_common, run in itertools.groupby(rows, lambda row: row.sign == " "):
        found = list(run)
        if is_common:
            yield from zip(found, found, strict=True)
        else:
            yield from itertools.zip_longest([r for r in found if r.old], [r for r in found if r.new])


def _line(row: Row | None, code: str, side: int) -> str:
    if row is None:
        return '<div class="ln"><span class="no"></span><code> </code></div>'
    kind = {" ": "", "-": " del", "+": " ins"}[row.sign]
    return f'<div class="ln{kind}"><span class="no">{row[side]}</span><code>{code or " "}</code></div>'
