"""What an operation may raise, as far as the values of its operands say.

Enters: a statement of the reduced IR.  Leaves: the exceptions that it may raise, None where they may be any::

    s * 2.0                floats: nothing
    s / n                  numbers of Python: ZeroDivisionError, OverflowError
    x + y                  arrays of numbers: ValueError, of shapes; FloatingPointError and warnings, if they are errors
    f(x)                   anything

What comes at any time (``KeyboardInterrupt``, ``MemoryError``) is not counted.
"""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Sequence
from types import BuiltinFunctionType, EllipsisType, FunctionType, MethodType, ModuleType, NoneType
from typing import Any

import numpy as np

from srcgrad import runtime
from srcgrad.frontend.classes import is_plain_class
from srcgrad.infer.data import is_data
from srcgrad.infer.examples import is_of_kinds
from srcgrad.infer.values import Array, At, Bound, Exact, Of, Value, are_arrays
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand
from srcgrad.ir.regions import Assign, Fall, Handler
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.language.effects import member
from srcgrad.language.models.array_modules import model_in_numpy
from srcgrad.runtime.objects import package_of
from srcgrad.runtime.refusals import RefusedMode
from srcgrad.specialise.inlining import has_attempts
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.places import item_of
from srcgrad.specialise.receivers import is_lookup
from srcgrad.specialise.reduced import Reduced

Kinds = tuple[type[BaseException], ...]
_FLOATING: Kinds = (FloatingPointError, Warning)  # of numbers of NumPy, where these are errors
_SCALARS = frozenset({int, float, complex, bool, str, bytes, NoneType, EllipsisType})
_WITH_TRUTH = _SCALARS | {
    list, tuple, dict, set, frozenset, range, deque, type, FunctionType, BuiltinFunctionType, MethodType, ModuleType,
}
_SEQUENCES = frozenset({list, tuple, range, str, bytes})
_ITERABLE = _SEQUENCES | {dict, set, frozenset, zip, enumerate, reversed}
_ITERATED: tuple[Any, ...] = ([], (), range(0), "", np.zeros(1))
_BACKWARDS: tuple[Any, ...] = ([], (), range(0))
_ITERATORS = frozenset({zip, enumerate, reversed, *(type(iter(source)) for source in _ITERATED)}).union(
    type(reversed(source)) for source in _BACKWARDS
)
#: Exceptions that are not made of any operands.
_PARTICULAR = (UnicodeError, BaseExceptionGroup)


def raises(made: Reduced, statement: Assign, caught: Kinds) -> bool:
    """Whether a statement may raise what is caught."""
    kinds = _raised(made, statement)
    return kinds is None or any(issubclass(kind, c) or issubclass(c, kind) for kind in kinds for c in caught)


def is_caught(made: Reduced) -> bool:
    """Whether what a function raises may be caught, in the function or by one that calls it."""
    return any(each.catches or has_attempts(each.function.body) for each in made.frame.summaries)


def caught_of(made: Reduced, handler: Handler) -> Kinds | None:
    """The classes of exceptions that a handler catches; None where the values do not say."""
    if handler.kinds is None:
        return (BaseException,)
    if not isinstance(handler.kinds.exit, Fall):
        return None
    (operand,) = handler.kinds.exit.values
    parts: tuple[Operand, ...] = (operand,)
    for statement in handler.kinds.statements:
        if not isinstance(statement, Assign):
            return None
        if operand in statement.targets and isinstance(statement.operation, ir.Make):
            parts = statement.operation.elements
    kinds = [_exception(made, part) for part in parts]
    return None if None in kinds else tuple(kind for kind in kinds if kind is not None)


def _exception(made: Reduced, operand: Operand) -> type[BaseException] | None:
    kind = static_of(made.value(operand))
    return kind if isinstance(kind, type) and issubclass(kind, BaseException) else None


def _raised(made: Reduced, statement: Assign) -> Kinds | None:
    match statement.operation:
        case ir.Copy() | ir.ReadCell() | ir.WriteCell() | ir.DeleteCell() | ir.ReadGlobal() | ir.Join():
            return ()  # a variable that is not bound aside
        case ir.Bound():
            return (UnboundLocalError,)
        case ir.Import() | ir.ImportName() if static_of(made.value(statement.targets[0])) is not None:
            return ()  # it was imported when the program was compiled
        case ir.MakeClass() if static_of(made.value(statement.targets[0])) is not None:
            return ()
        case ir.Make(kind="tuple" | "list" | "slice") | ir.Compare(symbol="is" | "is not") | ir.MakeFunction():
            return ()
        case ir.Make(kind="dict", keys=keys) if all(isinstance(key, Literal) for key in keys):
            return ()
        case ir.Insert(container=container, key=None):
            return () if _classes(made.value(container)) == {list} else None
        case ir.Operator(symbol="bool" | "not", operands=(operand,)):
            kinds = _classes(made.value(operand)) or {object}
            return () if all(kind in _WITH_TRUTH or issubclass(kind, np.generic) for kind in kinds) else None
        case ir.Operator(symbol=symbol, operands=operands):
            return _computed(symbol, [made.value(operand) for operand in operands])
        case ir.Compare(symbol="<" | "<=" | ">" | ">=" | "==" | "!=", left=left, right=right):
            return _computed("<", [made.value(left), made.value(right)])
        case ir.Iterate(source=source):
            return () if _is_iterable(made.value(source)) else None
        case ir.Next(iterator=iterator) if _are_iterators_of_data(made.value(iterator)):
            return ()  # what has no places is refused when it runs
        case ir.Next(iterator=iterator):
            if not (_classes(made.value(iterator)) or {None}) <= _ITERATORS:
                return None
            return (ValueError,) if _may_differ_in_length(made, iterator) else ()
        case ir.GetAttribute(base=base, name="dtype" | "ndim" | "shape" | "size") if are_arrays(
            made.value(base), of_numbers=True
        ):
            return ()
        case ir.GetAttribute(base=base, name=name):
            return () if is_lookup(made.value(statement.targets[0]), made.value(base), name) else None
        case ir.Call(function=Literal(value=Spelled(value=called))) if (
            is_of_kinds(called) or model_in_numpy(called) is not None
        ) and _is_constant(made.value(statement.targets[0])):
            return ()  # the values say what it gives
        case ir.Call(function=function, positional=(), star=star, keywords=(), rest=None) if (
            star is not None and static_of(made.value(function)) is zip
        ):
            rows = made.value(star)
            return () if _is_iterable(rows) and (row := item_of(made, rows)) and _is_iterable(row) else None
        case ir.Call(function=function, positional=given, star=None, keywords=(), rest=None):
            return _called(made, function, [made.value(operand) for operand in given])
    return None


def _called(made: Reduced, function: Operand, given: Sequence[Value]) -> Kinds | None:
    """Of a call: of what makes exceptions and iterators, and of methods of containers that take any operand."""
    called = function.value if isinstance(function, Literal) else None
    called = called.value if isinstance(called, Spelled) else called
    if isinstance(called, type) and issubclass(called, BaseException):
        return () if called is RefusedMode or _is_plain(called) else None
    kinds = [_classes(value) for value in given]
    if called is isinstance and len(given) == 2:
        return () if _are_types(static_of(given[1])) else None
    if called is callable and len(given) == 1 or called in (runtime.left_early, runtime.keeping):
        return ()  # what it raises is never caught
    if called is float and len(given) == 1:
        return () if kinds[0] == {float} else None
    if called in (np.asarray, np.asanyarray) and len(given) == 1 and are_arrays(given[0], of_numbers=True):
        return ()
    if called is range and len(given) in (1, 2):
        return () if all(kind and kind <= {int, bool} for kind in kinds) else None
    if called in (zip, enumerate) and given:
        return () if all(map(_is_iterable, given)) else None
    if called in (len, reversed) and len(given) == 1:
        is_sequence = all(kind is np.ndarray or kind in _SEQUENCES for kind in kinds[0] or (None,))
        return () if is_sequence and _is_iterable(given[0]) else None
    value = made.value(function)
    if value.is_any or len(value.atoms) != 1 or len(given) != 1:
        return None
    (atom,) = value.atoms
    if not isinstance(atom, Bound) or atom.function is not None:
        return None
    name, receivers = atom.name, _classes(atom.receiver) or {object}
    return () if all(kind in (list, set) and not member(kind, name).raises for kind in receivers) else None


def _are_types(asked: object) -> bool:
    """Whether ``isinstance`` asks a class, or one of several, and no method of a metaclass answers."""
    if isinstance(asked, tuple):
        return all(map(_are_types, asked))
    return is_plain_class(asked)


def _may_differ_in_length(made: Reduced, iterator: Operand) -> bool:
    """Whether an iterator may be of a ``zip`` that raises where one of what it goes over ends before another."""
    if zip not in (_classes(made.value(iterator)) or ()):
        return False
    begun = made.origins.get(iterator)
    called = made.origins.get(begun.source) if isinstance(begun, ir.Iterate) else begun
    return not isinstance(called, ir.Call) or bool(called.keywords) or called.rest is not None


def _is_plain(kind: type[BaseException]) -> bool:
    """Whether an exception is made of any operands, and runs no code of the user's then."""
    homes = [next(base for base in kind.__mro__ if name in vars(base)) for name in ("__init__", "__new__")]
    is_builtin = all(package_of(home) == "builtins" for home in homes) and type(kind) is type
    return is_builtin and not issubclass(kind, _PARTICULAR)


def _computed(symbol: str, operands: list[Value]) -> Kinds | None:
    """Of an operator of numbers."""
    found = [_classes(value) for value in operands]
    kinds: set[Any] = set().union(*(each or {object} for each in found))
    if not all(kind in (int, float, complex, bool) or _is_numpy(kind) for kind in kinds):
        return None
    floating = _FLOATING if any(map(_is_numpy, kinds)) else ()
    if symbol == "<" and complex not in kinds and not any(map(_is_numpy, kinds)):
        return ()  # integers are compared with floats exactly
    if symbol in ("+", "-", "*", "<") and complex not in kinds:
        is_plain = kinds <= {int, bool} or not any(map(_is_numpy, kinds)) and all(map(_has_float, operands))
        return () if is_plain else (*floating, OverflowError)  # of an integer beyond all floats
    return (*floating, ArithmeticError, ValueError, TypeError) if symbol in _ARITHMETIC else None


def _has_float(value: Value) -> bool:
    """Whether a number of Python's has a float: integers that are not known may be beyond all."""
    return all(
        abs(atom.value) < sys.float_info.max if isinstance(atom, Exact) and type(atom.value) is int
        else _classes(Value(frozenset((atom,)))) in ({float}, {bool})
        for atom in value.atoms
    )  # fmt: skip


_ARITHMETIC = ("+", "-", "*", "/", "//", "%", "**", "<")


def _is_numpy(kind: Any) -> bool:
    return isinstance(kind, type) and issubclass(kind, np.number)


def _classes(value: Value) -> set[Any] | None:
    """The classes of a value; None where it may be of any."""
    if value.is_any:
        return None
    found: set[Any] = set()
    for atom in value.atoms:
        match atom:
            case Exact(value=held):
                found.add(type(held))
            case Of(kind=kind):
                found.add(kind)
            case Array():
                found.add(np.ndarray)
            case At(site=site) if site.kind is not None:
                found.add(site.kind)
            case _:
                return None
    return found


def _is_constant(value: Value) -> bool:
    return not value.is_any and len(value.atoms) == 1 and all(isinstance(atom, Exact) for atom in value.atoms)


def _are_iterators_of_data(value: Value) -> bool:
    return any(map(is_data, value.atoms)) and value.consists_of(
        lambda atom: isinstance(atom, At) and (is_data(atom) or atom.site.kind in _ITERATORS)
    )


def _is_iterable(value: Value) -> bool:
    atoms = value.atoms
    arrays = all(not isinstance(a, Array) or a.rank is not None and a.rank > 0 for a in atoms)
    kinds = _classes(value)
    return bool(kinds) and arrays and all(
        kind is np.ndarray or kind in _ITERABLE or kind in _ITERATORS for kind in kinds or ()
    )
