"""What data stands for: objects of built-in and library classes that hold nothing but each other, of which nothing else
is known, and what their attributes are.

Enters: values, names of attributes.  Leaves: what of a value is not data already, whether a name is that of a method.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache
from typing import TYPE_CHECKING

import numpy as np

from srcgrad.infer.heap import Heap, Site
from srcgrad.infer.values import SCALARS, At, Atom, Exact, Of, Value
from srcgrad.language.effects import KINDS
from srcgrad.rules.table import FIELDS

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame

#: Attributes by which objects that are like arrays say how they are laid out: numbers, tuples of such, and a dtype.
DESCRIBING = frozenset("dtype itemsize nbytes ndim shape size strides".split())


def is_data(atom: Atom) -> bool:
    return isinstance(atom, At) and atom.site.kind is None


def besides_data(frame: Frame, value: Value, heap: Heap) -> Value:
    """A value without what data stands for where nothing is said of the arguments: numbers, tuples and slices of such.
    """
    data = frame.facts.data
    if data is None:
        return value
    return replace(value, atoms=frozenset(a for a in value.atoms if not _is_of_data(data, a, heap)))


def _is_of_data(data: Site, atom: Atom, heap: Heap, depth: int = 0) -> bool:
    match atom:
        case Exact(value=bool() | int() | float() | complex()):
            return True
        case Of(kind=kind):
            return issubclass(kind, int | float | complex | np.number | np.bool_)
        case At(site=site) if site.kind in (tuple, slice) and depth < 4:
            items = heap[site].items
            others = items.atoms - {At(data), Exact(None)}
            return not items.is_any and all(_is_of_data(data, each, heap, depth + 1) for each in others)
    return False


def is_of_methods(name: str) -> bool:
    """Whether a name is that of an attribute of built-in methods themselves."""
    return hasattr([].append, name)


@cache
def is_attribute(name: str) -> bool:
    """Whether a name is that of data in all built-in classes, and classes of NumPy's, that have it: ``T``, ``shape``.

    A method of that name, in another library, is an object that is called as any other.
    """
    if name in FIELDS:  # of what decompositions give
        return True
    found = [getattr(kind, name) for kind in (*SCALARS, *KINDS, np.generic) if hasattr(kind, name)]
    return bool(found) and not any(map(callable, found))
