"""What a writer of programs knows at one point: the kinds of the names that are certainly bound there.

Kinds are short strings: ``s`` a number, ``n`` a 0-d array, ``p`` (2,), ``v`` (4,), ``m`` (2, 2) and ``c`` (2, 2, 2)
arrays, ``u`` a number or a vector, ``i`` an integer, ``flag`` a truth value, ``f`` a function of one number; containers
that hold at least two items: ``[v]`` and ``[s]`` lists, ``<v>`` a deque, ``{}`` a dict with ``"p"``: v and ``"q"``: s,
``()`` a tuple (v, s), ``o`` an object with the fields v and s, ``t`` a named tuple of the same fields.
"""

from __future__ import annotations

from dataclasses import dataclass, field

ARRAYS = ("v", "m", "p", "c", "n")
CONTAINERS = ("[v]", "[s]", "<v>", "{}", "()", "o", "t")
SHAPES: dict[str, tuple[int, ...]] = {"s": (), "n": (), "p": (2,), "v": (4,), "m": (2, 2), "c": (2, 2, 2)}
#: Parameters by name: what ``f`` may be asked to take, and in which order.
PARAMETERS = {"a": "s", "b": "s", "x": "v", "y": "v", "m": "m", "c": "c", "h": "[v]", "d": "{}", "o": "o"}
USUAL = ("a", "b", "x", "y", "m")


@dataclass(frozen=True)
class Signature:
    """A function that may be called: the kinds of its parameters and of its result."""

    name: str
    parameters: tuple[str, ...]
    result: str  # a kind, or two kinds of arrays and numbers for a pair
    counted: bool = False  # its last parameter counts a recursion down


@dataclass
class Scope:
    """What is known at one point of a function."""

    types: dict[str, str]
    held: dict[str, str] = field(default_factory=dict)  # names whose kind an enclosing loop relies on
    guarded: list[tuple[str, str, str]] = field(default_factory=list)  # (flag, name, kind): bound where the flag is
    loops: int = 0
    depth: int = 0

    def inner(self) -> Scope:
        return Scope(dict(self.types), dict(self.held), list(self.guarded), self.loops, self.depth + 1)

    def bind(self, name: str, kind: str) -> None:
        """The name is bound from here on; the names bound last come last."""
        self.types.pop(name, None)
        self.types[name] = kind

    def named(self, *kinds: str) -> list[str]:
        return [name for name, known in self.types.items() if known in kinds]

    def join(self, *others: Scope) -> None:
        """Keep what holds at the end of every branch that falls through."""
        first, *rest = others
        self.types = {n: t for n, t in first.types.items() if all(o.types.get(n) == t for o in rest)}
        self.guarded = [g for g in self.guarded if self.types.get(g[0]) == "flag"]


def indent(lines: list[str]) -> list[str]:
    return ["    " + line for line in lines]


def factor(text: str) -> str:
    """Parentheses around what is not an atom, a call or an index."""
    depth = 0
    for position, character in enumerate(text):
        if character in "([{":
            depth += 1
        elif character in ")]}":
            depth -= 1
        elif depth == 0 and (character == " " or character == "-" and position == 0):
            return f"({text})"
    return text
