"""What a class, or another namespace, holds under a name."""

from __future__ import annotations

from types import FunctionType
from typing import Any, TypeGuard

from srcgrad.runtime.objects import defines

ABSENT = object()


def is_descriptor(raw: object) -> bool:
    return defines(type(raw), "__get__")


def is_generated(function: Any) -> TypeGuard[FunctionType]:
    """Whether ``dataclass`` or ``namedtuple`` wrote a function, so that there is no file to read."""
    return isinstance(function, FunctionType) and function.__code__.co_filename == "<string>"
