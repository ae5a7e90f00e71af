"""What is called: objects of the user's as methods of theirs, and one method for all of its objects of a class.

Enters: what a call calls.  Leaves: one atom for each function that is entered, which is written once::

    for layer in layers: y = layer(y)        Layer.__call__ of all layers
"""

from __future__ import annotations

from dataclasses import replace
from types import FunctionType
from typing import TYPE_CHECKING, Any

from srcgrad.infer.applying import applied
from srcgrad.infer.heap import Heap, Site
from srcgrad.infer.objects import class_of, is_method, looked_up
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.parameters import Given
from srcgrad.infer.values import ANY, Array, At, Bound, Of, Value, union
from srcgrad.ir.operations import MakeFunction
from srcgrad.ir.regions import Assign
from srcgrad.language.effects import Effect
from srcgrad.language.models import FUNCTIONS
from srcgrad.rules.memory import LIBRARIES
from srcgrad.rules.table import is_constant, lookup

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.ir.regions import Statement


def made_at(site: Site) -> Assign | None:
    """What makes the functions that a site stands for; None of other sites."""
    made = site.origin[0] if site.kind in FUNCTIONS and isinstance(site.origin, tuple) else None
    return made if isinstance(made, Assign) and isinstance(made.operation, MakeFunction) else None


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


def is_ruled(function: Any) -> bool:
    """Whether a function of Python has a rule, or is declared a constant, by which alone it is differentiated."""
    return isinstance(function, FunctionType) and (lookup(function) is not None or is_constant(function))


def by_rule(
    analysis: Analysis, frame: Frame, statement: Statement, given: Given, found: Value, heap: Heap
) -> tuple[Value, Heap]:
    """What a function of the user's gives that has a rule: ``found`` by its text, and data where that does not tell,
    which may share memory with what the function is given."""
    sites, held = heap.reachable([found])
    if not any(value.is_any for value in held) and heap.seen.isdisjoint(sites):
        return found, heap
    return applied(analysis, frame, statement, Effect(returns="view"), given, heap, holds=_without_objects)


def _without_objects(value: Value) -> Value:
    """What of a value may be in data: arrays, numbers, containers of Python's."""
    return Value(frozenset(
        atom for atom in value.atoms
        if isinstance(atom, Array | Of) or isinstance(atom, At) and (atom.site.kind is None or atom.site.kind in _HELD)
    ), value.is_any)  # fmt: skip


_HELD = (list, tuple, dict)


def _as_method(atom: Any) -> Any:
    """An object of the user's that is called as the method that this is."""
    kind = atom.site.kind if isinstance(atom, At) else None
    if kind is None or is_of_library(kind) or not is_method(held := looked_up(kind, "__call__")):
        return atom
    return Bound(Value(frozenset((atom,))), "__call__", held)
