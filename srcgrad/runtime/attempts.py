"""Calls where an exception may be caught, which ``try`` is taken apart into.

>>> attempt(int, (ValueError,), "7")
(7, None)
>>> value, raised = attempt(int, (ValueError,), "seven")
>>> type(raised)
<class 'ValueError'>
"""

from __future__ import annotations

import operator
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, nullcontext
from copy import copy
from numbers import Number
from operator import is_
from types import BuiltinFunctionType, EllipsisType, FunctionType, MethodType, ModuleType, NoneType
from typing import Any

import numpy as np

from srcgrad.runtime.isolation import can_change, contained
from srcgrad.runtime.objects import fields_of
from srcgrad.runtime.refusals import Refused, RefusedPath

Caught = tuple[type[BaseException], ...]


_CHANGED = "__srcgrad_changed__"
_RAISED_ALONE = ("No active exception to reraise",)


class PartlyStored(IndexError):
    """Raised before anything is stored where NumPy stores what comes before the index that is out of range."""


def changed_by_raising(raised: BaseException) -> None:
    """Note of an exception that a context manager has changed what it holds when it was raised, unseen."""
    setattr(raised, _CHANGED, True)


def attempt(function: Callable[..., Any], caught: Caught, *arguments: Any) -> tuple[Any, BaseException | None]:
    """What a function returns, and None; or None, and what it raised.  A refusal is nothing that a program raises."""
    try:
        return function(*arguments), None
    except caught as raised:
        from srcgrad.errors import SrcgradError  # what is saved runs on the runtime alone

        if isinstance(raised, SrcgradError | Refused):
            raise
        if isinstance(raised, PartlyStored) or getattr(raised, _CHANGED, False):
            raise _stored_before(raised) from raised
        if isinstance(raised, RuntimeError) and raised.args == _RAISED_ALONE:
            raise RefusedPath(
                "E0711", "raise alone in code that is run as it is: what it would raise is handled by a caller that is"
                " differentiated; name the exception, and raise that"
            ) from raised
        return None, raised


def enter(manager: Any) -> Any:
    """Enter a context manager as ``with`` does, which asks for both methods first."""
    kind = type(manager)
    for name in ("__enter__", "__exit__"):
        if not hasattr(kind, name):
            missing = " (missed __exit__ method)" if name == "__exit__" else ""
            raise TypeError(f"{kind.__name__!r} object does not support the context manager protocol{missing}")
    return kind.__enter__(manager)


class Tried:
    """A context manager that keeps what entering or leaving it raises, if that is caught around it."""

    def __init__(self, manager: Any, caught: Caught) -> None:
        self.manager, self.caught = manager, caught
        self.raised: BaseException | None = None
        self.value: Any = None
        self.is_inside = False

    def __enter__(self) -> Tried:
        self.value, self.raised = attempt(enter, self.caught, self.manager)
        self.is_inside = self.raised is None
        return self

    def __exit__(self, kind: Any, raised: Any, traceback: Any) -> Any:
        if not self.is_inside:  # it was not entered, or is left
            return None
        self.is_inside = False
        leave = type(self.manager).__exit__
        if raised is not None:
            return leave(self.manager, kind, raised, traceback)
        _, self.raised = attempt(leave, self.caught, self.manager, None, None, None)
        return None


def tried(manager: Any, caught: Caught) -> Tried:
    """A context manager around which what it raises itself may be caught."""
    return Tried(manager, caught)


def left_early(manager: Tried) -> None:
    """Leave a context manager where return, break or continue lead out of it."""
    manager.__exit__(None, None, None)
    if manager.raised is not None:
        raise RefusedPath(
            "E0711",
            f"leaving a {type(manager.manager).__name__} raised {type(manager.raised).__name__}, which is caught, where"
            " return, break or continue led out of it; let its body run to its end",
        ) from manager.raised


def raised_by_manager(manager: Tried) -> BaseException | None:
    """What entering or leaving it has raised so far."""
    return manager.raised


def attempt_store(function: Callable[..., Any], caught: Caught, *arguments: Any) -> tuple[Any, BaseException | None]:
    """The attempt of a function that stores: NumPy raises what floating point gives rise to when it has stored all
    results, emitted text when it has computed them.  Of a list NumPy stores what comes before the item that is no
    number."""
    value, raised = attempt(function, caught, *arguments)
    if isinstance(raised, FloatingPointError | Warning):
        raise _stored_before(raised) from raised
    if isinstance(raised, ValueError | TypeError) and any(map(_holds_no_numbers, arguments)):
        raise _stored_before(raised) from raised
    return value, raised


def _holds_no_numbers(value: Any) -> bool:
    """Whether this is a list or tuple that no array of numbers can be made of, whatever the shape."""
    pending = [value]
    while pending:
        part = pending.pop()
        if isinstance(part, list | tuple):
            pending.extend(part)
        elif part is not value and not isinstance(part, Number | np.generic | np.ndarray | slice | EllipsisType):
            return True
    return False


def raised_in_place(raised: BaseException | None, changed: Any) -> BaseException | None:
    """What ``changed[i] op= e`` raised: it may have stored into an array, or have changed an item of a tuple."""
    changes = {np.ndarray: FloatingPointError | Warning, tuple: TypeError}.get(type(changed))
    if raised is not None and changes is not None and isinstance(raised, changes):
        raise _stored_before(raised) from raised
    return raised


_AUGMENTED: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.iadd, "Sub": operator.isub, "Mult": operator.imul, "Div": operator.itruediv,
    "FloorDiv": operator.ifloordiv, "Mod": operator.imod, "Pow": operator.ipow, "MatMult": operator.imatmul,
    "BitAnd": operator.iand, "BitOr": operator.ior, "BitXor": operator.ixor,
    "LShift": operator.ilshift, "RShift": operator.irshift,
}  # fmt: skip
_NUMBERS = frozenset({int, float, complex, bool})
_IMMUTABLE = frozenset({str, bytes, tuple, frozenset, range, NoneType})
_MUTABLE = frozenset({list, dict, set, deque, bytearray})
_KNOWN = _NUMBERS | _IMMUTABLE | _MUTABLE | {np.ndarray}
_NOT_COMPUTED_WITH = (FunctionType, BuiltinFunctionType, MethodType, ModuleType, type, np.ufunc, type(np.sum))


def raised_augmenting(
    raised: BaseException | None, caught: Caught, operation: str, changed: Any, value: Any
) -> BaseException | None:
    """What ``changed op= value`` would raise of what is caught; nothing is changed.  ``ast`` names the operation.

    If something was raised before, that; of objects of other classes nothing is asked: their methods may do more than
    answer, and run once.

    >>> raised_augmenting(None, (ValueError,), "Add", np.ones(3), np.ones(2))
    ValueError('operands could not be broadcast together with shapes (3,) (2,) (3,) ')
    """
    if raised is not None or not (_is_known(changed) and (_is_known(value) or isinstance(value, _NOT_COMPUTED_WITH))):
        return raised
    if isinstance(value, Iterator):  # asked, it would be at its end
        return None
    if type(changed) in _NUMBERS and type(value) in _NUMBERS:
        return attempt(_AUGMENTED[operation], caught, changed, value)[1]
    alike = changed if type(changed) in _IMMUTABLE else copy(changed)
    with _silence():
        if not isinstance(changed, np.ndarray):
            return attempt(_AUGMENTED[operation], caught, alike, value)[1]
        alike.flags.writeable = changed.flags.writeable
        return attempt_store(_AUGMENTED[operation], caught, alike, value)[1]


def readable(x: Any, index: Any) -> None:
    """Read ``x[index]``, as ``x[index] op= value`` does before its value is evaluated, for what that raises.

    >>> readable([1.0], 1)
    Traceback (most recent call last):
    IndexError: list index out of range
    """
    if type(x) in _KNOWN:  # of objects of other classes nothing is asked: their methods may do more than answer
        x[index]


def asked(x: Any, name: str) -> None:
    """Look a method up, as a call does before its arguments are evaluated, for what that raises.

    >>> asked(None, "append")
    Traceback (most recent call last):
    AttributeError: 'NoneType' object has no attribute 'append'
    """
    if type(x) in _KNOWN:
        getattr(x, name)


def raised_iterating(raised: BaseException | None, caught: Caught, how: Any, *given: Any) -> BaseException | None:
    """What a loop by ``iter`` or ``reversed`` over each of these, or by ``range`` of them, would raise of what is
    caught, before an item; if something was raised before, that.

    >>> raised_iterating(None, (TypeError,), iter, [1.0], 2.0), raised_iterating(None, (TypeError,), range, 2, 5)
    (TypeError("'float' object is not iterable"), None)
    """
    for values in [given] if how is range else [(value,) for value in given]:
        if raised is None:
            raised = attempt(_require_iterable, caught, how, *values)[1]
    return raised


def raised_entering(
    raised: BaseException | None, caught: Caught, kind: Any, names: tuple[str, ...], *options: Any
) -> BaseException | None:
    """What entering a context manager of a class would raise of what is caught, by its options; if something was raised
    before, that.

    >>> raised_entering(None, (ValueError,), np.errstate, ("all",), "warm")
    ValueError("invalid error mode 'warm'")
    """
    given = dict(zip(names, options, strict=True))
    return attempt(_entered, caught, kind, given)[1] if raised is None else raised


def _entered(kind: Any, options: dict[str, Any]) -> None:
    with kind(**options):
        pass


_ITERATED_BY: dict[Any, tuple[str, ...]] = {
    iter: ("__iter__", "__getitem__"), reversed: ("__reversed__", "__getitem__"), range: ("__index__",),
}  # fmt: skip


def _require_iterable(how: Callable[..., Any], *values: Any) -> None:
    if all(map(_is_known, values)):
        how(*values)
        return
    for value in values:  # of objects of other classes it is not asked: their methods may do more than answer
        kind: Any = type(value)
        if not any(callable(getattr(kind, name, None)) for name in _ITERATED_BY[how]):
            raise TypeError(f"{kind.__name__!r} object is not iterable")


def _is_known(value: Any) -> bool:
    return type(value) in _KNOWN or isinstance(value, np.generic)


def _silence() -> AbstractContextManager[Any]:
    """No warnings, which the program gives later, unless they are errors, which are to be caught."""
    if any(action == "error" for action, *_ in warnings.filters):
        return nullcontext()
    return warnings.catch_warnings(action="ignore")


def attempt_whole(function: Callable[..., Any], caught: Caught, *arguments: Any) -> tuple[Any, BaseException | None]:
    """The attempt of a function that stores: what it stored before it raised would stay, and how to take that back is
    known to the rest of it alone."""
    before = contents(arguments)
    value, raised = attempt_store(function, caught, *arguments)
    if raised is None or all(is_as_before(part, held) for part, held in before):
        return value, raised
    raise _stored_before(raised) from raised


def _stored_before(raised: BaseException) -> Exception:
    from srcgrad.errors import UnsupportedSyntax

    return UnsupportedSyntax(
        f"a function that is called where an exception may be caught stored before it raised {raised!r}", code="E0711",
        hint="let it raise before it stores, store into a copy, or call it outside of try",
    )


def raisable(made: Any) -> BaseException:
    """The exception that ``raise made`` raises: a class is called."""
    raised: BaseException = made() if isinstance(made, type) else made
    return raised


def contents(values: Sequence[Any]) -> list[tuple[Any, Any]]:
    """Every array, container and object in the values, with what it holds now."""
    return [(part, _held(part)) for part in contained(values) if isinstance(part, np.ndarray) or can_change(part)]


def _held(part: Any) -> Any:
    if isinstance(part, np.ndarray):
        return part.tobytes()
    if isinstance(part, list | deque | set):
        return list(part)
    return [each for pair in (part if isinstance(part, dict) else fields_of(part)).items() for each in pair]


def is_as_before(part: Any, held: Any) -> bool:
    now = _held(part)
    if isinstance(part, np.ndarray):
        return bool(now == held)
    return len(now) == len(held) and all(map(is_, now, held))
