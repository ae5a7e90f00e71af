"""What is kept beside a function for as long as it lives: its programs, and the derivatives that ``vjp`` makes of it.

Enters: a function.  Leaves: ``Kept``, which is the same at the next call for this very function.

>>> def f(x): ...
>>> beside(f) is beside(f)
True
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import partial
from types import FunctionType, MethodType
from typing import TYPE_CHECKING
from weakref import ref

if TYPE_CHECKING:
    from srcgrad.api.derivative import Derivative
    from srcgrad.batching.carried import Carried
    from srcgrad.programs import Compiled

#: How many programs of one function are kept: functions among the arguments are compiled in, and may differ each time.
PROGRAMS = 1000
#: What decides a program besides the function and the sizes of its arguments, and the pattern of these.
Slot = tuple[object, tuple[int, ...]]
_NAME = "__srcgrad_kept__"


@dataclass(frozen=True)
class Variant:
    """Which of the programs of a derivative: ``shown`` ones are made to be read, ``is_flat`` ones to be differentiated
    again, ``carried`` says which parts of the arguments have an axis of examples."""

    mode: str
    shown: bool = False
    is_flat: bool = False
    carried: tuple[Carried, ...] = ()


@dataclass(frozen=True, eq=False)
class Kept:
    """``programs`` of all derivatives of a function, by what they were compiled for."""

    programs: dict[Slot, Compiled] = field(default_factory=dict)
    derivatives: dict[object, Derivative] = field(default_factory=dict)


def beside(function: object) -> Kept:
    """What is kept beside a function; nothing stays beside what takes no attributes, or is no function.

    A decorator copies what the function that it wraps has (``functools.wraps``): that is not the wrapper's.
    """
    if not isinstance(function, FunctionType):
        return Kept()
    held: tuple[ref[FunctionType], Kept] | None = vars(function).get(_NAME)
    if held is not None and held[0]() is function:
        return held[1]
    kept = Kept()
    vars(function)[_NAME] = ref(function), kept
    return kept


def is_own_attribute(name: str) -> bool:
    """Whether an attribute of a function is what is kept beside it."""
    return name == _NAME


def keep(programs: dict[Slot, Compiled], key: Slot, found: Compiled) -> None:
    """Add a program, and let go those that were compiled from what has changed, and the oldest where there are many.

    Other threads may read meanwhile."""
    kept = list(programs.items())
    stale = [each for each, one in kept if not one.is_current()]
    for each in [*stale, *(each for each, _ in kept[: max(len(kept) - PROGRAMS + 1, 0)])]:
        programs.pop(each, None)
    programs[key] = found


def is_made_per_call(kinds: object) -> bool:
    """Whether there are functions among the kinds of arguments that a call may have made for itself: a program for them
    serves no other call, and would keep what they captured."""
    if isinstance(kinds, tuple | frozenset):
        return any(map(is_made_per_call, kinds))
    return isinstance(kinds, partial | MethodType) or isinstance(kinds, FunctionType) and "<" in kinds.__qualname__
