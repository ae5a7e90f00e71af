"""Operators and comparisons that the methods of the user's classes define, in the order in which Python tries them.

Enters: the operands, of which some may be objects of the user's.  Leaves: what the operation gives, and the heap after
it; each pair of classes is a case of its own::

    p + q          Point.__add__(p, q)
    2.0 * p        Point.__rmul__(p, 2.0): a number declines
    p < q          Point.__lt__(p, q), and if that declines Point.__gt__(q, p)
"""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from srcgrad.infer.answering import OF_ARRAYS
from srcgrad.infer.data import is_data
from srcgrad.infer.heap import Heap, Site, together
from srcgrad.infer.objects import ABSENT, Made, class_of, is_method, is_plain, iterates_itself, looked_up, truth
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.values import ANY, NEVER, At, Atom, Exact, Of, Value, exact, of, union
from srcgrad.language.models.iterators import contained
from srcgrad.language.operators import COMPARED, REFLECTED, SPECIAL

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.ir.regions import Statement

#: Methods, and what each is called with; None behind them where it is not known what is tried if they decline.
_Tries: TypeAlias = list[tuple[Any, tuple[Value, ...]] | None]

#: Classes whose operators decline objects of other classes, and those whose comparisons do.
_NUMBERS = (bool, int, float, complex)
_DECLINING = (*_NUMBERS, str, bytes, type(None), list, tuple, dict)


def by_methods(
    analysis: Analysis, frame: Frame, statement: Statement, symbol: str, operands: tuple[Value, ...], in_place: bool,
    heap: Heap, plainly: Callable[[tuple[Value, ...]], Made],
) -> Made:  # fmt: skip
    """What an operator or comparison gives where operands have methods of the user's; ``plainly`` where none has."""
    if symbol == "!=" and _is_inverted(operands):
        made = by_methods(analysis, frame, statement, "==", operands, in_place, heap, plainly)
        if made is None or made[0].consists_of(lambda atom: isinstance(atom, Of | Exact)):
            return None if made is None else (of(bool), made[1])
        return ANY, analysis.unknown(operands, heap)
    found: list[Made] = []
    for values in product(*(_by_class(value, analysis.facts.data) for value in operands)):
        atoms = tuple(next(filter(is_data, value.atoms), next(iter(value.atoms))) for value in values)
        if is_plain(analysis, heap, *values):
            found.append(plainly(values))
        else:
            tries = _tries(analysis, symbol, atoms, values, in_place)
            if tries is None:
                return ANY, analysis.unknown(operands, heap)
            found.append(_first(analysis, frame, statement, symbol, tries, values, heap))
    return together(found)


def _is_inverted(operands: tuple[Value, ...]) -> bool:
    """Whether ``!=`` is what ``__eq__`` gives, inverted: some operand has that, and none a ``__ne__`` of its own."""
    kinds = [kind for value in operands for kind in map(class_of, value.atoms) if kind and not is_of_library(kind)]
    return any(is_method(looked_up(kind, "__eq__")) for kind in kinds) and all(
        looked_up(kind, "__ne__") is object.__ne__ for kind in kinds
    )


def searched(
    analysis: Analysis, frame: Frame, statement: Statement, item: Value, searched_: Value, heap: Heap
) -> Made:
    """Whether an object of the user's contains another one: ``__contains__`` says it, or the items that it gives; None
    where that is not all."""
    found: list[Made] = []
    for part in _by_class(searched_):
        kind = class_of(next(iter(part.atoms)))
        method = None if kind is None or is_of_library(kind) else looked_up(kind, "__contains__")
        if kind is not None and not hasattr(kind, "__contains__") and iterates_itself(analysis, kind):
            method = contained
            analysis.facts.note_begun(statement, kind, NEVER)
        if kind is None or analysis.assigned.is_open(kind) or not is_method(method):
            return None
        made = analysis.call(frame, statement, exact(method), (part, item), heap)
        found.append(None if made is None else (of(bool), made[1]))
        if made is not None and not made[0].consists_of(lambda atom: isinstance(atom, Of | Exact)):
            return None  # which is asked for its truth in turn
    return together(found)


def truth_by_methods(
    analysis: Analysis, frame: Frame, statement: Statement, value: Value, heap: Heap
) -> tuple[set[bool], Heap] | None:
    """What ``bool(value)`` may give: ``__bool__``, or whether ``__len__`` gives more than zero."""
    if value.is_any:
        return truth(analysis, frame, value, heap)
    decided: set[bool] = set()
    heaps: list[Heap] = []
    for part in _by_class(value):
        kind: Any = class_of(next(iter(part.atoms)))
        name = asks_for_truth(kind)
        if name is None or analysis.assigned.is_open(kind) or not is_method(looked_up(kind, name)):
            found = truth(analysis, frame, part, heap)
        else:
            frame.may_raise(heap)
            made = analysis.call(frame, statement, exact(looked_up(kind, name)), (part,), heap)
            found = None if made is None else truth(analysis, frame, *made)
        if found is not None:
            decided |= found[0]
            heaps.append(found[1])
    joined = together([(NEVER, each) for each in heaps])
    return (decided, joined[1]) if decided and joined is not None else None


def asks_for_truth(kind: Any) -> str | None:
    """The method of a class of the user's that says whether its objects are true; None where all of them are."""
    if not isinstance(kind, type) or is_of_library(kind):
        return None
    return next((name for name in ("__bool__", "__len__") if hasattr(kind, name)), None)


def _first(
    analysis: Analysis, frame: Frame, statement: Statement, symbol: str, tries: _Tries, operands: tuple[Value, ...],
    heap: Heap,
) -> Made:  # fmt: skip
    """What the first method gives that does not decline."""
    given: list[Value] = []
    for tried in tries:
        if tried is None:
            return union(ANY, *given), analysis.unknown(operands, heap)
        method, given_to = tried
        made = analysis.call(frame, statement, exact(method), given_to, heap)
        if made is None:
            break
        value, heap = made
        left = Value(value.atoms - {Exact(NotImplemented)}, value.is_any)
        given += [left] if left else []
        if left == value and not value.is_any:
            break
    else:
        if symbol in ("==", "!="):  # of what nobody compares: whether it is the same object
            given.append(of(bool))
    return (union(*given), heap) if given else None


def _by_class(value: Value, data: Site | None = None) -> list[Value]:
    """The objects of each of the user's classes together, for which the same methods are tried, and numbers, which have
    none, with data, which may be such; others one by one."""
    found: dict[Any, Value] = {}
    for atom in sorted(value.atoms, key=str):
        kind = class_of(atom)
        is_number = kind in _NUMBERS or isinstance(atom, Of) and issubclass(atom.kind, np.number)
        if is_number or isinstance(atom, At) and atom.site == data:
            found[float] = union(found.get(float, NEVER), Value(frozenset((atom,))))
            continue
        key = kind if isinstance(atom, At) and kind is not None and not is_of_library(kind) else atom
        found[key] = union(found.get(key, NEVER), Value(frozenset((atom,))))
    return list(found.values())


def _tries(
    analysis: Analysis, symbol: str, atoms: tuple[Atom, ...], values: tuple[Value, ...], in_place: bool
) -> _Tries | None:
    """The methods that Python tries for operands of the classes of these; None where that is not known."""
    kinds: list[Any] = [class_of(atom) for atom in atoms]
    known = analysis.facts.data
    if len(atoms) == 2 and known is not None and atoms[0] == At(known):
        return _of_data(analysis, symbol, kinds[1], values, in_place)
    if is_data(atoms[-1]) and len(atoms) == 2:  # of no class of the user's, hence none derived from the left one's
        kinds[-1] = object
    if any(kind is None or not is_of_library(kind) and analysis.assigned.is_open(kind) for kind in kinds):
        return None
    if len(atoms) == 1:
        method = looked_up(kinds[0], SPECIAL.get((symbol, 1), ""))
        return [(method, (values[0],))] if is_method(method) else None
    left, right = kinds
    if is_of_library(left) and is_of_library(right):
        return None
    if symbol in COMPARED:
        name, reflected = COMPARED[symbol]
        declining: tuple[type, ...] = _DECLINING
    elif (symbol, 2) in SPECIAL:
        name = SPECIAL[symbol, 2]
        reflected = REFLECTED[name]
        is_formatted, is_repeated = symbol == "%", hasattr(right, "__index__")
        declining = (*_NUMBERS, type(None))
        if not (in_place or is_formatted or is_repeated):
            declining = (*declining, str, bytes)
    else:
        return None
    if not all(_is_followed(atom, name, declining, right) for atom in values[0].atoms):
        return None
    if not all(_is_followed(atom, reflected, declining, left) for atom in values[1].atoms):
        # Classes of NumPy, and of data, are no subclasses of the user's: methods of the left operand come first.
        names = [*[f"__i{name[2:]}"] * in_place, name]
        own_ = [(looked_up(left, each), values) for each in names if is_method(looked_up(left, each))]
        return [*own_, None] if own_ and is_of_library(right) else None
    own = looked_up(left, name), (values[0], values[1])
    other = looked_up(right, reflected), (values[1], _as_python(values[0]))
    ordered = [own, other]
    if left is right and symbol not in COMPARED:
        ordered = [own]
    elif left is not right and issubclass(right, left) and (
        symbol in COMPARED or other[0] is not looked_up(left, reflected)
    ):
        ordered = [other, own]
    if in_place:
        ordered.insert(0, (looked_up(left, f"__i{name[2:]}"), own[1]))
    return [(method, given) for method, given in ordered if is_method(method)]


def _of_data(
    analysis: Analysis, symbol: str, kind: Any, values: tuple[Value, ...], in_place: bool
) -> _Tries | None:
    """The reflected method that data declines for, which is looked at when the program runs: not of arrays, whose
    elements are taken; nor of texts and dicts, whose operators take any object."""
    if symbol == "%" or in_place and symbol == "|" or kind is None or analysis.assigned.is_open(kind):
        return None
    name = COMPARED[symbol][1] if symbol in COMPARED else REFLECTED[SPECIAL[symbol, 2]]
    method = looked_up(kind, name)
    if is_of_library(kind) or not is_method(method) or any(_holds(kind, each) for each in OF_ARRAYS):
        return None
    return [(method, values[::-1])]


def _is_followed(atom: Atom, name: str, declining: tuple[type, ...], other: type) -> bool:
    """Whether an operand either has a method of the user's or declines whatever the other one is."""
    kind: Any = class_of(atom)
    if is_of_library(kind):
        scalar = isinstance(kind, type) and issubclass(kind, np.number)
        return kind in declining or scalar and not any(_holds(other, each) for each in OF_ARRAYS)
    if not isinstance(atom, At):
        return False
    if name == "__ne__" and is_method(looked_up(kind, "__eq__")) and not is_method(looked_up(kind, name)):
        return False  # which is what ``__eq__`` gives, inverted
    held = looked_up(kind, name)
    return is_method(held) or held is ABSENT or held is getattr(object, name, None)


def _holds(kind: type, name: str) -> bool:
    """Whether a class or one of its bases holds a name."""
    return any(name in vars(base) for base in kind.__mro__)


def _as_python(value: Value) -> Value:
    """A number as the reflected method gets it: NumPy's own hands over its elements as Python's."""
    handed = {a for a in value.atoms if isinstance(a, Of) and issubclass(a.kind, np.number)}
    return union(Value(value.atoms - handed), *(of(python_of(atom.kind)) for atom in handed))


def python_of(kind: type[np.number[Any]]) -> type:
    """The class of Python's own that a number of NumPy's is handed over as."""
    return type(kind().item())
