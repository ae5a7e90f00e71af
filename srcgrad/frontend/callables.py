"""Values that programs call or look into, rather than compute with: functions, classes, modules."""

from __future__ import annotations

from types import FunctionType, ModuleType

from srcgrad.frontend.classes import found
from srcgrad.frontend.normal_form import Derived, LocalFunction
from srcgrad.runtime.objects import has_fields

_OTHER = object()


def is_callee(value: object) -> bool:
    """Whether a value is one that programs call or look into, rather than compute with.

    An object whose class has a ``__call__`` is computed with: it is one of its methods.
    """
    if isinstance(value, ModuleType | LocalFunction | Derived):
        return True
    return callable(value) and not _has_call(type(value)) and _equals_itself_alone(value)


def _has_call(kind: type) -> bool:
    return has_fields(kind) and isinstance(found(kind, "__call__"), FunctionType)


def _equals_itself_alone(value: object) -> bool:
    """Whether a callable can be looked up among others; the class of an object may say that it equals anything."""
    try:
        return (value == _OTHER) is False
    except Exception:
        return False
