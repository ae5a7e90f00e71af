"""The text of a module, with its line map and the meaning of its names."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from srcgrad.errors import Span
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.marks import Role


@dataclass(frozen=True)
class Emission:
    """Text of a module, the spans of its lines (from 1), what its global identifiers mean, and how many lines (header,
    imports, constants) stand above its functions.  ``shared`` are the lines that add to memory of several names, and
    ``roles`` says what each line is for.  Every line of a function has a span and a role if anything in it has."""

    text: str
    line_map: Mapping[int, Span] = field(default_factory=dict)
    bindings: tuple[tuple[str, GlobalBinding], ...] = ()
    above: int = 0
    shared: frozenset[int] = frozenset()
    roles: Mapping[int, Role] = field(default_factory=dict)

    def __str__(self) -> str:
        return self.text
