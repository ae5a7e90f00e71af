"""The registry of refusals: what each code means, an example, and what to write instead.

Enters: a code, such as ``srcgrad why E0102`` is given.  Leaves: its ``Entry``.  Whatever refuses a program names a code
of this registry where it is raised; the texts are loaded only when they are asked for.

>>> entry("E0102").title
'a generator is differentiated'
"""

from __future__ import annotations

from functools import cache
from importlib import import_module
from textwrap import fill

from srcgrad.refusals.entry import Entry, indented, program

__all__ = ["GROUPS", "Entry", "entries", "entry", "indented", "overview", "page", "program"]

#: The groups of codes, by their first three characters, with the modules that hold them.
GROUPS = {
    "E01": ("Syntax and the language", "language"),
    "E02": ("Values and calls that are not known", "unknown"),
    "E03": ("Stores and memory", "stores"),
    "E04": ("Objects, containers and loops", "objects"),
    "E05": ("Functions without a derivative", "rules"),
    "E06": ("Where a derivative would be lost", "lost"),
    "E07": ("What only the run shows", "running"),
}


@cache
def entries() -> dict[str, Entry]:
    """Every entry, by its code, in order."""
    modules = (import_module(f"srcgrad.refusals.{module}") for _, module in GROUPS.values())
    return {each.code: each for module in modules for each in module.ENTRIES}


def entry(code: str) -> Entry | None:
    """The entry of a code, however it is spelled; None of what is no code."""
    return entries().get(code.strip(" []").upper())


def overview() -> str:
    """Every code with its title."""
    parts = []
    for start, (title, _) in GROUPS.items():
        listed = [f"  {each.code}  {each.title}" for each in entries().values() if each.code.startswith(start)]
        parts.append("\n".join([title, *listed]))
    return "\n\n".join(parts)


def page() -> str:
    """``docs/refusals.md``."""
    lines = [
        "# Refusals", "",
        "A program that srcgrad cannot differentiate correctly is *refused*: an error is raised, and its first line",
        "ends with a code. This page explains each code, with a program that is refused and one that is accepted in",
        "its place. `srcgrad why E0102` prints the part on one code, `srcgrad why` lists the codes. A value *varies*",
        "if it depends on the arguments with respect to which you differentiate. Made by `srcgrad why --page`;",
        "the tests run its programs.",
    ]  # fmt: skip
    for start, (title, _) in GROUPS.items():
        lines += ["", f"## {title}"]
        for each in entries().values():
            if each.code.startswith(start):
                lines += [
                    "", f"### {each.code}: {each.title}", "", fill(each.meaning, 120),
                    "", "Refused:", "", "```python", each.refused, "```",
                    "", "Instead:", "", "```python", each.written, "```",
                ]  # fmt: skip
    return "\n".join([*lines, ""])
