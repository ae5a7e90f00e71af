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

from srcgrad.infer.outside import is_of_library
from srcgrad.infer.values import Bound, Value, exact

if TYPE_CHECKING:
    from srcgrad.infer.interpreter import Analysis


def of_enumeration(analysis: Analysis, receiver: Value, found: Any, name: str) -> Value | None:
    """An attribute of a class or a member; None where a class or a metaclass of the user's decides what it is."""
    if type(found) is EnumType:
        member = found.__members__.get(name)
        return None if member is None else exact(member)
    if not isinstance(found, Enum) or analysis.assigned.may_be(type(found), name):
        return None
    held = next((vars(base)[name] for base in type(found).__mro__ if name in vars(base)), None)
    if isinstance(held, FunctionType) and not is_of_library(held):
        return Value(frozenset((Bound(receiver, name, held),)))
    if held is None and name in vars(found):  # what its class's ``__init__`` put there
        return analysis.outside.value(vars(found)[name])
    if name in ("name", "value") and held is vars(Enum)[name]:
        return analysis.outside.value(getattr(found, name))
    return None
