"""Kinds of calls: summaries that a function is written once for.

Enters: summaries of one function.  Leaves: an ``Instance``, equal to others whose arguments are of the same classes,
dtypes, ranks and constants, and share and hold the same: where objects were made does not matter.  What lies outside is
the same for all calls of a program, which is compiled again where it changes (guards).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from types import FunctionType
from typing import Any

from srcgrad.infer.heap import Site
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import Array, At, Bound, Exact, Value


@dataclass(frozen=True)
class Instance:
    """A function for one kind of call."""

    function: FunctionType
    key: str
    summary: Summary = field(compare=False)
    made: type | None = None  # the class of the object that it returns, where it is an ``__init__``


def instance_of(function: FunctionType, summary: Summary, made: type | None = None) -> Instance:
    return Instance(function, _Key(summary).text(), summary, made)


class _Key:
    """What a call is given, with sites numbered as they are met."""

    def __init__(self, summary: Summary) -> None:
        self.summary = summary
        self.numbers: dict[Site, int] = {}

    def text(self) -> str:
        return ", ".join(self.of(value) for value in self.summary.arguments.values())

    def of(self, value: Value) -> str:
        parts = sorted(map(self.atom, sorted(value.atoms, key=str)))
        return " | ".join([*["any"] * value.is_any, *parts])

    def atom(self, atom: Any) -> str:
        match atom:
            case Exact(value=found):
                return f"{atom} {id(found)}" if callable(found) else str(atom)
            case Array(site=site):
                return f"{atom.type_string}[{atom.rank}]{self.site(site)}"
            case At(site=site):
                return self.site(site)
            case Bound(receiver=receiver, name=name):
                return f"{self.of(receiver)}.{name}"
        return str(atom)

    def site(self, site: Site) -> str:
        if site in self.numbers:
            return f"#{self.numbers[site]}"
        number = self.numbers[site] = len(self.numbers)
        contents = self.summary.heap[site]
        held = [f"{name}={self.of(value)}" for name, value in sorted(contents.fields.items())]
        held += [self.of(part) for part in contents.parts or ()]
        held += [f"{key}: {self.of(value)}" for key, value in contents.entries or ()]
        held += [f"*{self.of(contents.rest)}"] if contents.rest else []
        kind = "data" if site.kind is None else f"{site.kind.__module__}.{site.kind.__qualname__} {id(site.kind)}"
        return f"#{number} {kind}({', '.join(held)}){'' if contents.single else '*'}"
