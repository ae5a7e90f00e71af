"""Dicts that make what is missing, where nothing can be made: what is missing in them is refused.

What a ``defaultdict`` makes is written out where the dict is read under the name that it was made under.  Where it is
read otherwise its keys have to be there: a ``KeyError`` might be caught, and send the program where Python does not go.

>>> defaulting({"a": 1.0})["a"]
1.0
"""

from __future__ import annotations

from collections import defaultdict
from typing import Any


class Missing:
    """In place of ``made``, what makes the items of a ``defaultdict``."""

    def __init__(self, made: Any = None) -> None:
        self.made = made

    def __call__(self) -> Any:
        return missing()


def missing() -> Any:
    """Refuse what is missing."""
    from srcgrad.errors import UnsupportedSyntax  # what is saved runs on the runtime alone

    raise UnsupportedSyntax(
        "a missing key of a defaultdict is read where it is not known what the dict makes", code="E0412",
        hint="read it as d.setdefault(k, ...), or where the dict is made, or put it there before",
    )


def defaulting(items: dict[Any, Any], made: Any = None) -> defaultdict[Any, Any]:
    """A ``defaultdict`` of these items, of which it may be known what makes them."""
    return defaultdict(Missing(made), items)


def dict_like(x: Any, items: dict[Any, Any]) -> dict[Any, Any]:
    """The items as a dict in which is refused what is missing in ``x``."""
    return defaulting(items) if isinstance(x, defaultdict) and x.default_factory is not None else items
