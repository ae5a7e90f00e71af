"""What is put into containers after they are made: into which of them nobody knows, but into lists or dicts, and where.

Enters: stores of items and calls of methods, one by one.  Leaves: what an item that is read may be besides what the
container was made with.  A place is a text, beside the names of fields in what a caller is told::

    rows[0] = p      "[.]"    a list, or a deque         table[k] = p      "{}"       a dict, the key not being known
    seen[0] = p      "[]"     what that is, is unknown   table["p"] = p    "{}'p'"    a dict, under this key
"""

from __future__ import annotations

from ast import literal_eval
from collections.abc import Iterable

import gast

from srcgrad.frontend.known import NEVER, Entries, Items, Known

ITEMS = "[]"  # in place of the name of a field: what is put into some container
LISTS = "[.]"
ENTRIES = "{}"
Put = tuple[str, Known]


def is_put(name: str) -> bool:
    """Whether this is no field's name."""
    return name[0] in "[{"


def place_in(container: Known, index: gast.expr | None = None) -> str:
    """Where something is put that is put into this container, under this index if it is known."""
    if isinstance(container, Entries) or isinstance(container, Items) and container.kind is dict:
        keyed = isinstance(index, gast.Constant) and type(index.value) is str
        return f"{ENTRIES}{index.value!r}" if keyed else ENTRIES  # type: ignore[union-attr]
    return LISTS if isinstance(container, Items) else ITEMS


def put_into(puts: Iterable[Put], kind: type) -> list[Known]:
    """What was put into containers of this kind, maybe."""
    return [known for place, known in puts if place == ITEMS or place.startswith(ENTRIES) == (kind is dict)]


def put_at(puts: Iterable[Put], key: object) -> list[Known]:
    """What was put into dicts under this key, maybe."""
    if type(key) is not str:  # 1 is True
        return [known for known in put_into(puts, dict) if known != NEVER]
    places = (ITEMS, ENTRIES, f"{ENTRIES}{key!r}")
    return [known for place, known in puts if place in places and known != NEVER]


def keys_put(puts: Iterable[Put]) -> list[str] | None:
    """The keys under which something was put into dicts; None where not all are known."""
    places = [place for place, known in puts if known != NEVER and place != LISTS]
    if ITEMS in places or ENTRIES in places:
        return None
    return list(dict.fromkeys(literal_eval(place.removeprefix(ENTRIES)) for place in places))
