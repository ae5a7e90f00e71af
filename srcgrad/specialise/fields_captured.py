"""Fields that functions read which an ``__init__`` makes: variables of the ``__init__``, kept with their values.

Enters: a class.  Leaves: the fields that may not be stored into later, since a function has captured what they were::

    def __init__(self, w):
        self.w = w
        self.scale = lambda x: x * self.w        reads w, whenever it is called
"""

from __future__ import annotations

from types import FunctionType

import gast

from srcgrad.errors import SourceUnavailable
from srcgrad.frontend.classes import ABSENT, found, is_field
from srcgrad.frontend.journal import remembered
from srcgrad.frontend.source import source_of
from srcgrad.syntax.parse import walk

_INNER = gast.FunctionDef | gast.Lambda | gast.GeneratorExp


@remembered
def captured_fields(kind: type) -> frozenset[str] | None:
    """The fields that functions read which the constructors of a class make; None where they may read any."""
    read: set[str] = set()
    for base in kind.__mro__:
        for name in ("__init__", "__post_init__"):
            made = vars(base).get(name)
            if isinstance(made, FunctionType):
                read |= _read_inside(made)
    if any(not is_field(found(kind, name)) and callable(found(kind, name)) for name in read):
        return None  # a method may read any field
    return frozenset(name for name in read if found(kind, name) is ABSENT or is_field(found(kind, name)))


def _read_inside(function: FunctionType) -> set[str]:
    """The attributes of its first parameter that functions read which stand in the text of a function."""
    try:
        node = source_of(function).node
    except SourceUnavailable:  # ``dataclass`` has written it, which makes no functions
        return set()
    parameters = [*node.args.posonlyargs, *node.args.args]
    this = parameters[0].id if parameters else ""
    return {
        part.attr
        for inner in walk(*node.body) if isinstance(inner, _INNER)
        for part in walk(inner)
        if isinstance(part, gast.Attribute) and isinstance(part.value, gast.Name) and part.value.id == this
    }  # fmt: skip
