"""Members of enumerations: each is one object, whose name, value and methods are known.

Enters: a class or a member, the name of an attribute, what a class is called with or indexed by.  Leaves: what that may
be; ``NotImplemented`` of anything else::

    class Phase(Enum):
        GAS = 0.5
                                    Phase.GAS, Phase(0.5), Phase["GAS"]: this very member
                                    Phase.GAS.value: 0.5
"""

from __future__ import annotations

from enum import Enum, EnumType, Flag
from types import FunctionType
from typing import TYPE_CHECKING, Any

from srcgrad.frontend.journal import note_class, note_compiled_in, note_read
from srcgrad.infer.heap import Heap
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.values import NEVER, SCALARS, Array, At, Bound, Exact, Of, Value, exact, of, union

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.infer.objects import Made
    from srcgrad.ir.regions import Statement


def of_enumeration(
    analysis: Analysis, frame: Frame, statement: Statement, receiver: Value, found: Any, name: str, heap: Heap
) -> Made | Any:
    """An attribute of a class or a member, unless a class or a metaclass of the user's decides what it is."""
    is_class = type(found) is EnumType
    kind: Any = found if is_class else type(found)
    if not (is_class or isinstance(found, Enum)) or analysis.assigned.may_be(kind, name):
        return NotImplemented
    if is_class and (member := found.__members__.get(name)) is not None:
        return exact(member), heap
    if not is_class and isinstance(held_by(kind, "__getattribute__"), FunctionType):
        return NotImplemented
    note_class(kind)
    held = held_by(kind, name)
    kept = f"_{name}_" if name in ("name", "value") and held is vars(Enum)[name] else name
    value = None if is_class else vars(found).get(kept)
    is_held = not is_class and kept in vars(found)
    is_constant = is_held and type(value) in (bool, int, str)
    if not is_class:  # another kind of value is another program, and so is a field that hides a method
        (note_read if is_held and not is_constant else note_compiled_in)(vars(found), kept)
    is_users = not is_of_library(getattr(held, "__func__", getattr(held, "fget", held)))
    match held:
        case property(fget=FunctionType() as function) if is_users and not is_class:
            return analysis.call(frame, statement, exact(function), (receiver,), heap)
        case _ if is_held and (held is None or kept != name):  # what ``__init__`` has put there, or ``Enum`` itself
            number = of(type(value)) if type(value) in (float, complex) else None
            return number or (exact(value) if is_constant else analysis.outside.value(value)), heap
        case _ if is_held or not is_users:
            return NotImplemented
        case classmethod(__func__=FunctionType() as function):
            return Value(frozenset((Bound(exact(kind), name, function),))), heap
        case staticmethod(__func__=FunctionType() as function):
            return analysis.outside.value(function), heap
        case FunctionType():
            return (exact(held) if is_class else Value(frozenset((Bound(receiver, name, held),)))), heap
    return NotImplemented


def property_of_members(analysis: Analysis, members: Value, name: str) -> FunctionType | None:
    """The function that computes an attribute of members of one class, which is run once for all of them."""
    kind: Any = type(next(atom.value for atom in members.atoms if isinstance(atom, Exact)))
    held = None if analysis.assigned.may_be(kind, name) else held_by(kind, name)
    note_class(kind)
    function = held.fget if isinstance(held, property) else None
    return function if isinstance(function, FunctionType) and not is_of_library(function) else None


def held_by(kind: type, name: str) -> Any:
    """What the classes of a member hold under a name; None if none does."""
    return next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)


def member_of_value(frame: Frame, kind: Any, value: Value, heap: Heap) -> Made | Any:
    """``Phase(0.5)``; ``NotImplemented`` where the class decides itself, or an operand of the user's does."""
    usual: Any = vars(Flag if issubclass(kind, Flag) else Enum)["_missing_"]
    is_usual = kind.__new__ is Enum.__new__ and kind._missing_.__func__ is usual.__func__
    if not is_usual or not value.consists_of(_is_plain):
        return NotImplemented
    note_class(kind)
    frame.may_raise(heap)
    members: list[Value] = []
    for atom in value.atoms:
        if not isinstance(atom, Exact):
            if issubclass(kind, Flag):  # of which there are more than have names
                return NotImplemented
            members += map(exact, kind)
            continue
        try:
            members.append(exact(kind(atom.value)))
        except ValueError:
            pass
    return (union(*members), heap) if members else None


def _is_plain(atom: Any) -> bool:
    """Whether an atom is a number, a text or a member, or data in its place, which no code of the user's compares."""
    if isinstance(atom, Exact):
        return type(atom.value) in SCALARS or is_compared_plainly(atom.value)
    return isinstance(atom, Of | Array) or isinstance(atom, At) and atom.site.kind is None


def is_compared_plainly(found: object) -> bool:
    """Whether an object is a member of which no code of the user's says what it is equal to."""
    return isinstance(found, Enum) and type(found).__eq__ in _EQUAL and type(found).__ne__ in _UNEQUAL


_EQUAL, _UNEQUAL = ([getattr(kind, name) for kind in (object, int, str, float)] for name in ("__eq__", "__ne__"))


def member_of_name(frame: Frame, kind: Any, name: Value, heap: Heap) -> Made:
    """``Phase["GAS"]``."""
    note_class(kind)
    frame.may_raise(heap)
    found = kind.__members__
    names = [atom.value for atom in name.atoms if isinstance(atom, Exact) and type(atom.value) is str]
    if name.is_any or len(names) < len(name.atoms):
        members = union(NEVER, *map(exact, found.values()))
    else:
        members = union(NEVER, *(exact(found[each]) for each in names if each in found))
    return (members, heap) if members else None


def are_members(value: Value) -> bool:
    """Whether a value is a member of an enumeration, whichever it is."""
    return value.consists_of(lambda atom: isinstance(atom, Exact) and isinstance(atom.value, Enum))
