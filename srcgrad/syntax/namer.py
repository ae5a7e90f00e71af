"""Fresh names, the same ones on every run.

>>> namer = Namer(["x", "x_bar"])
>>> namer.fresh("x_bar"), namer.fresh("x_bar"), namer.fresh("lambda"), namer.fresh("w1"), namer.fresh("w1")
('x_bar2', 'x_bar3', 'lambda_', 'w1', 'w1_2')
"""

from __future__ import annotations

import keyword
import re
from collections.abc import Iterable


class Namer:
    """Hands out each identifier once: the wanted one, else the wanted one with the first free number."""

    def __init__(self, taken: Iterable[str] = ()) -> None:
        self._taken = set(taken)
        self._next: dict[str, int] = {}

    def fresh(self, wanted: str) -> str:
        """``wanted`` if it is free and no keyword, else ``wanted2``, ``wanted3`` …; never the same name again."""
        if not wanted.isidentifier():  # a function may be called anything after it was made
            wanted = re.sub(r"\W|^(?=\d)", "_", wanted) or "_"
        if keyword.iskeyword(wanted):
            wanted += "_"
        name, number = wanted, self._next.get(wanted, 2)
        joint = "_" if wanted[-1:].isdigit() else ""
        while name in self._taken:
            name = f"{wanted}{joint}{number}"
            number += 1
        self._next[wanted] = number
        self._taken.add(name)
        return name

    def reserve(self, *names: str) -> None:
        """Keeps ``names`` from being handed out."""
        self._taken.update(names)

    def copy(self) -> Namer:
        """A namer that knows what this one knows and goes its own way."""
        other = Namer(self._taken)
        other._next.update(self._next)
        return other

    def __contains__(self, name: str) -> bool:
        return name in self._taken
