"""Members of enumerations: each is one object, whose name, value and methods are known.

Enters: a class or a member, the name of an attribute.  Leaves: what it may be; None of anything else::

    class Phase(Enum):
        GAS = 0.5
                                    Phase.GAS: this very member
                                    Phase.GAS.value: 0.5
"""

from __future__ import annotations

from enum import Enum, EnumType
from types import FunctionType
from typing import TYPE_CHECKING, Any

from srcgrad.frontend.journal import note_class, note_compiled_in, note_read
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.values import Bound, Value, exact

if TYPE_CHECKING:
    from srcgrad.infer.interpreter import Analysis


def of_enumeration(analysis: Analysis, receiver: Value, found: Any, name: str) -> Value | None:
    """An attribute of a class or a member; None where a class or a metaclass of the user's decides what it is."""
    if type(found) is EnumType:
        member = found.__members__.get(name)
        return None if member is None else exact(member)
    kind: Any = type(found)
    if not isinstance(found, Enum) or analysis.assigned.may_be(kind, name):
        return None
    if kind.__getattribute__ is not object.__getattribute__:
        return None
    note_class(kind)
    held = next((vars(base)[name] for base in kind.__mro__ if name in vars(base)), None)
    kept = f"_{name}_" if name in ("name", "value") and held is vars(Enum)[name] else name
    # Another kind of value is another program, and so is a field that hides a method.
    (note_read if kept in vars(found) else note_compiled_in)(vars(found), kept)
    if held is None or kept != name:  # what its class's ``__init__`` put there, or ``Enum`` itself
        return analysis.outside.value(vars(found)[kept]) if kept in vars(found) else None
    if isinstance(held, FunctionType) and not is_of_library(held) and name not in vars(found):
        return Value(frozenset((Bound(receiver, name, held),)))
    return None
