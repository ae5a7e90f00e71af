"""Classes: what the second argument of ``isinstance`` names, and whether objects are of one of them.

Enters: values.  Leaves: classes, and answers where they are certain.
"""

from __future__ import annotations

from types import MethodType
from typing import TYPE_CHECKING, Any

from srcgrad.frontend.classes import is_plain_class
from srcgrad.infer.heap import Heap, Site
from srcgrad.infer.objects import class_of, looked_up, stands_for
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.values import At, Atom, Bound, Exact, Value

if TYPE_CHECKING:
    from srcgrad.infer.interpreter import Analysis


def classes_of(analysis: Analysis, value: Value, heap: Heap) -> tuple[type, ...] | None:
    """The classes that the second argument of ``isinstance`` names, None where one may run code of its own."""
    found: list[type] = []
    pending = list(value.atoms)
    while pending:
        match pending.pop():
            case Exact(value=type() as kind) if is_plain_class(kind) and (
                type(kind) is type or not (analysis.assigned.may_be(kind, "register") or _decides(kind))
            ):
                found.append(kind)
            case At(site=Site(kind=kind) as site) if kind is tuple and heap[site].parts is not None:
                parts = heap[site].parts or ()
                if len(value.atoms) > 1 or any(len(part.atoms) != 1 or part.is_any for part in parts):
                    return None
                pending += [atom for part in parts for atom in part.atoms]
            case _:
                return None
    return None if value.is_any or len(value.atoms) != 1 else tuple(found)


def is_instance(atom: Atom, kinds: tuple[type, ...] | None) -> bool | None:
    """Whether the objects of an atom are of one of these classes; None where some may be."""
    kind = MethodType if isinstance(atom, Bound) and atom.function is not None else class_of(atom)
    if kind is None or kinds is None or not is_of_library(kind) and _answers_itself(kind):
        return None
    return issubclass(kind, kinds) or issubclass(stands_for(kind) or kind, kinds)


def _decides(kind: type) -> bool:
    """Whether a method of the user's says what the subclasses of an abstract class are."""
    hook = looked_up(kind, "__subclasshook__")
    return not is_of_library(getattr(hook, "__func__", hook))


def _answers_itself(kind: type) -> bool:
    """Whether objects of a class may say that they are of another one."""
    own = looked_up(kind, "__getattribute__") is not object.__getattribute__
    return own or looked_up(kind, "__class__") is not vars(object)["__class__"]


def has_identity(analysis: Analysis, kind: Any) -> bool:
    """Whether an object of a class of the user's equals itself alone, or cannot be a key."""
    if not is_plain_class(kind) or is_of_library(kind) or analysis.assigned.is_open(kind):
        return False
    return looked_up(kind, "__hash__") is None or looked_up(kind, "__eq__") is object.__eq__


def is_hashed_by_identity(analysis: Analysis, atom: Any) -> bool:
    """Whether an atom is objects of a class of the user's that equal themselves alone, and may be keys."""
    kind: Any = atom.site.kind if isinstance(atom, At) else None
    return has_identity(analysis, kind) and looked_up(kind, "__hash__") is object.__hash__
