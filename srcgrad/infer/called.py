"""What is called: objects of the user's as methods of theirs, and one method for all of its objects of a class.

Enters: what a call calls.  Leaves: one atom for each function that is entered, which is written once::

    for layer in layers: y = layer(y)        Layer.__call__ of all layers
"""

from __future__ import annotations

from dataclasses import replace
from types import FunctionType
from typing import Any

from srcgrad.infer.objects import class_of, is_method, looked_up
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.values import ANY, At, Bound, Value, union
from srcgrad.rules.memory import LIBRARIES
from srcgrad.rules.table import lookup


def by_class(function: Value) -> list[Any]:
    """What is called, with one method for all of its objects of a class, which is written once for them."""
    found: dict[Any, Any] = {}
    for atom in map(_as_method, function.atoms):
        receiver = atom.receiver if isinstance(atom, Bound) else ANY
        kinds = set() if receiver.is_any else {class_of(one) for one in receiver.atoms}
        if isinstance(atom, Bound) and isinstance(atom.function, FunctionType) and len(kinds) == 1:
            key = atom.name, atom.function, kinds.pop()
            receivers = [found[key].receiver] if key in found else []
            found[key] = replace(atom, receiver=union(atom.receiver, *receivers))
        else:
            found[atom] = atom
    return list(found.values())


def is_by_rule(function: Any) -> bool:
    """Whether a function is a library's, or one of Python's own that has a rule: its text does not say what it does.
    """
    is_pythons = isinstance(function, FunctionType) and function.__module__ in LIBRARIES
    return is_of_library(function) or is_pythons and lookup(function) is not None


def _as_method(atom: Any) -> Any:
    """An object of the user's that is called as the method that this is."""
    kind = atom.site.kind if isinstance(atom, At) else None
    if kind is None or is_of_library(kind) or not is_method(held := looked_up(kind, "__call__")):
        return atom
    return Bound(Value(frozenset((atom,))), "__call__", held)
