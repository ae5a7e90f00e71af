"""Which of two operands Python asks first, and by which method.

Enters: classes and the names of methods.  Leaves: whether the second one goes before the first::

    class Own(Base): ...            Base() + Own()       Own.__radd__, where Own has one of its own
                                    Base() < Own()       Own.__gt__, inherited or not
"""

from __future__ import annotations

from dataclasses import is_dataclass
from types import FunctionType

from srcgrad.frontend.classes import ABSENT, BINARY, found
from srcgrad.frontend.known import is_named_tuple

REFLECTED = {"__lt__": "__gt__", "__le__": "__ge__", "__gt__": "__lt__", "__ge__": "__le__"}
REFLECTED |= {"__eq__": "__eq__", "__ne__": "__ne__"}
#: The method that Python calls of the second operand, where the first one has none.
SWAPPED = dict(BINARY.values()) | {name: other for name, other in REFLECTED.items() if name != other}


def is_written(kind: type, name: str) -> bool:
    """Whether a class has a method that the user wrote, no dataclass's."""
    raw = found(kind, name)
    return isinstance(raw, FunctionType) and not (is_dataclass(kind) and raw.__code__.co_filename == "<string>")


def has_method(kind: type, name: str) -> bool:
    """Whether a class has a method that an operator asks; what a tuple has is done by the rules of operators."""
    raw = found(kind, name)
    return isinstance(raw, FunctionType) if is_named_tuple(kind) else raw is not ABSENT


def goes_first(second: type, first: type, reflected: str) -> bool:
    """Whether Python asks the second of two operands first, since its class is a subclass of the first one's: where
    they are compared always, else for a method of its own."""
    if second is first or first not in second.__mro__:
        return False
    if reflected in REFLECTED:
        return is_written(second, reflected)
    return has_method(second, reflected) and found(second, reflected) is not found(first, reflected)
