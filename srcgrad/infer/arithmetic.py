"""Operators and comparisons: of numbers by computing with samples, of arrays by examples, of objects by their methods.

Enters: operands, a symbol.  Leaves: what the operator gives, and the heap after it.
"""

from __future__ import annotations

import warnings
from dataclasses import replace
from enum import Enum
from functools import cache
from itertools import product
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.infer import sparse
from srcgrad.infer.answering import COMPARED as ASKED
from srcgrad.infer.answering import SHOWN, answered, is_generated
from srcgrad.infer.dispatch import by_methods, searched
from srcgrad.infer.examples import outcomes
from srcgrad.infer.heap import Contents, Heap
from srcgrad.infer.heap import joined as contents_of_one
from srcgrad.infer.items import compares_plainly
from srcgrad.infer.object_sets import note_operands
from srcgrad.infer.objects import (
    CONTAINERS,
    MAPPINGS,
    Made,
    class_of,
    container,
    data,
    is_method,
    is_plain,
    looked_up,
    shown,
)
from srcgrad.infer.outside import is_of_library, is_of_users
from srcgrad.infer.sequences import compared, joined_dicts, joined_sequences
from srcgrad.infer.sets import asks_identity, set_operator
from srcgrad.infer.values import (
    ANY,
    NEVER,
    SCALARS,
    Array,
    At,
    Atom,
    Exact,
    Of,
    Value,
    are_of,
    exact,
    of,
    union,
)
from srcgrad.ir.evaluating import BINARY, COMPARING, UNARY
from srcgrad.ir.operations import END, UNBOUND
from srcgrad.language.models import MODELS
from srcgrad.language.operators import COMPARED, SPECIAL

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.ir.regions import Statement


def arithmetic(
    analysis: Analysis, frame: Frame, statement: Statement, symbol: str, operands: tuple[Value, ...], in_place: bool,
    heap: Heap,
) -> Made:  # fmt: skip
    """``left symbol right``, or ``symbol operand``, per pair of atoms."""
    frame.may_raise(heap)
    if not all(operands):
        return None
    if any(value.is_any for value in operands):
        return ANY, analysis.unknown(operands, heap)
    if in_place:
        analysis.note_store(operands[:1])
    if any(map(sparse.may_be_matrix, operands)):
        return sparse.operated(analysis, frame, statement, symbol, operands, in_place, heap)
    numbers = [_scalar_kinds(value) for value in operands]
    if all(kinds is not None for kinds in numbers):
        return _with_heap(_of_numbers(symbol, operands, numbers), heap)  # type: ignore[arg-type]
    if symbol == "%" and operands[0].consists_of(lambda atom: class_of(atom) is str):
        if is_plain(analysis, heap, *operands):
            return of(str), heap
        if not any(hasattr(class_of(atom), "__getitem__") for atom in operands[1].atoms if is_of_users(atom)):
            behind = answered(analysis, frame, statement, SHOWN, operands, heap)
            if behind is not None:
                return of(str), behind
    if any(isinstance(atom, Array) for value in operands for atom in value.atoms):
        table = UNARY if len(operands) == 1 else BINARY
        known = outcomes(table[symbol], operands, heap)
        arrays = Value(frozenset(atom for atom in operands[0].atoms if isinstance(atom, Array)))
        if known is not None and not in_place:
            return shown(frame, statement, heap, known)
        if known is not None and arrays == operands[0]:
            return arrays, heap
        if known is not None and arrays and (others := Value(operands[0].atoms - arrays.atoms)):  # not in place
            value, heap = shown(frame, statement, heap, outcomes(table[symbol], (others, *operands[1:]), heap) or ())
            return union(arrays, value), heap
    if (joined := joined_sequences(symbol, operands, heap)) is not None:
        if joined[0] is tuple or not in_place or not all(isinstance(atom, At) for atom in operands[0].atoms):
            return container(frame, statement, heap, *joined, "joined")
        (changed,) = operands[0].atoms
        assert isinstance(changed, At)
        longer = replace(heap[changed.site], parts=joined[1].parts, rest=joined[1].rest)
        return operands[0], analysis.store(heap, changed.site, longer)
    if (merged := joined_dicts(symbol, operands, heap)) is not None:
        if not in_place:
            return container(frame, statement, heap, dict, replace(merged, single=True), "joined")
        for changed in operands[0].atoms:
            assert isinstance(changed, At)
            before, is_one = heap[changed.site], len(operands[0].atoms) == 1
            heap = analysis.store(heap, changed.site, merged if is_one else contents_of_one(before, merged))
        return operands[0], heap
    if (model := _model_of(symbol, operands, in_place)) is not None:
        return analysis.call(frame, statement, exact(model), operands, heap)
    if not is_plain(analysis, heap, *operands):
        note_operands(analysis, statement, operands, heap)
        return by_methods(
            analysis, frame, statement, symbol, operands, in_place, heap,
            lambda plain: arithmetic(analysis, frame, statement, symbol, plain, in_place, heap),
        )  # fmt: skip
    made = set_operator(analysis, frame, statement, symbol, operands, in_place, heap)
    if made is not NotImplemented:
        return made  # type: ignore[no-any-return]
    members = [v for value in operands for atom in value.atoms if isinstance(v := getattr(atom, "value", None), Enum)]
    if members and (member := _of_members(symbol, operands)) is not None:
        return _with_heap(member if member else None, heap)
    if not all(isinstance(each, int | float) for each in members):
        return ANY, analysis.unknown(operands, heap)
    held = [NEVER]
    kinds = {_container_of(atom) for value in operands for atom in value.atoms}
    for value in operands:
        for atom in value.atoms:
            if isinstance(atom, At):
                held.append(heap[atom.site].items)
    if in_place:
        for atom in operands[0].atoms:
            if isinstance(atom, At) and (atom.site.kind is None or atom.site.kind in CONTAINERS):
                more = Contents(single=False, rest=union(*held))
                heap = analysis.store(heap, atom.site, _added(heap[atom.site], more))
        held.append(operands[0])
    value, heap = data(frame, statement, heap, *held)
    if kinds <= {list}:
        rest = Contents(rest=union(*held))
        value, heap = container(frame, statement, heap, list, rest, "list")
    return union(value, *operands[:in_place]), heap


def _of_members(symbol: str, operands: tuple[Value, ...]) -> Value | None:
    """What operators that Python itself defines make of members of enumerations; None where that is not known."""
    if not all(isinstance(atom, Exact) for value in operands for atom in value.atoms):
        return None
    found, table = NEVER, UNARY if len(operands) == 1 else BINARY
    for atoms in product(*(value.atoms for value in operands)):
        try:
            made = table[symbol](*(atom.value for atom in atoms if isinstance(atom, Exact)))
        except (TypeError, ValueError):
            continue
        if not isinstance(made, Enum) and type(made) not in SCALARS:
            return None
        found = union(found, exact(made))
    return found


def _added(before: Contents, more: Contents) -> Contents:
    return replace(before, parts=None, entries=None, rest=union(before.items, more.rest), apart=None, single=False)


def _container_of(atom: Any) -> Any:
    if isinstance(atom, At):
        return atom.site.kind
    return np.ndarray if isinstance(atom, Array) else type(None)


def _scalar_kinds(value: Value) -> set[type] | None:
    """The classes of scalars that a value may be; None where it may be anything else."""
    found: set[type] = set()
    for atom in value.atoms:
        if isinstance(atom, Exact) and type(atom.value) in SCALARS:
            found.add(type(atom.value))
        elif isinstance(atom, Of):
            found.add(atom.kind)
        else:
            return None
    return found


def _with_heap(value: Value | None, heap: Heap) -> Made:
    return None if value is None else (value, heap)


def _of_numbers(symbol: str, operands: tuple[Value, ...], kinds: list[set[type]]) -> Value | None:
    """What an operator of scalars gives; None where their classes have no such operator."""
    found: list[Value] = [NEVER]
    atoms = [list(value.atoms) for value in operands]
    if symbol == "%" and kinds[0] & {str, bytes}:
        return of(*kinds[0]) if kinds[0] <= {str, bytes} else ANY
    if all(isinstance(a, Exact) and not _is_large(a.value) for group in atoms for a in group):
        results = [_computed(symbol, [a.value for a in chosen]) for chosen in product(*atoms)]  # type: ignore[union-attr]
        found += [exact(each) if type(each) in SCALARS else of(type(each)) for each in results if not _is_failed(each)]
    else:
        is_fixed = all(is_of_library(kind) for group in kinds for kind in group)
        return (_of_library if is_fixed else _of_classes)(symbol, tuple(map(frozenset, kinds)))
    if all(each is _NO_OPERATOR for each in results) and all(kind in SCALARS for group in kinds for kind in group):
        return None
    return union(*found) or ANY  # of some that are not among the samples


def _is_failed(result: object) -> bool:
    return result is _FAILED or result is _NO_OPERATOR


_FAILED, _NO_OPERATOR = object(), object()


def _of_classes(symbol: str, kinds: tuple[frozenset[type], ...]) -> Value | None:
    """The same where nothing is known but the classes: what it gives of samples of them."""
    samples = [[sample for kind in group for sample in _samples(kind)] for group in kinds]
    if not all(_samples(kind) for group in kinds for kind in group):
        return ANY  # of a class without samples
    results = [_computed(symbol, list(chosen)) for chosen in product(*samples)]
    if all(each is _NO_OPERATOR for each in results) and all(kind in SCALARS for group in kinds for kind in group):
        return None
    return of(*{type(each) for each in results if not _is_failed(each)}) or ANY  # of some that are not among them


_of_library = cache(_of_classes)  # whose operators nobody changes


def _samples(kind: type) -> list[Any]:
    """Objects of a class whose results show every class that a result may have."""
    if kind in (str, bytes):
        return [kind(), kind(b"a") if kind is bytes else "a"]
    if kind in (type(None), type(Ellipsis), type(NotImplemented)):
        return [None if kind is type(None) else Ellipsis if kind is type(Ellipsis) else NotImplemented]
    try:
        return [kind(value) for value in ((0, 1) if kind is bool else (0, 2, -2) if kind is int else (0.0, 0.5, -0.5))]
    except (TypeError, ValueError, OverflowError):  # a date has no numbers
        return []


def _computed(symbol: str, values: list[Any]) -> Any:
    table: dict[str, Any] = UNARY if len(values) == 1 else {**BINARY, **COMPARING}
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return table[symbol](*values)
    except TypeError:
        return _NO_OPERATOR
    except Exception:
        return _FAILED


def _is_large(value: Any) -> bool:
    """Whether a constant is too large to compute with: powers and repetitions of it may not end."""
    return isinstance(value, int) and abs(value) > 64 or isinstance(value, str | bytes) and len(value) > 1000


def _model_of(symbol: str, operands: tuple[Value, ...], in_place: bool) -> Any:
    """The model of an operator, where all operands are of one library class whose method has one; None of others."""
    name = SPECIAL.get((symbol, len(operands)))
    kinds = {class_of(atom) for value in operands for atom in value.atoms}
    if name is None or len(kinds) != 1 or (kind := kinds.pop()) is None or not is_of_library(kind):
        return None
    in_place_name = f"__i{name[2:]}"
    return MODELS.get(getattr(kind, in_place_name if in_place and hasattr(kind, in_place_name) else name, None))


def compare(
    analysis: Analysis, frame: Frame, statement: Statement, symbol: str, left: Value, right: Value, heap: Heap
) -> Made:
    if symbol in ("is", "is not"):
        same = _identical(left, right)
        if same is None:
            return of(bool), heap
        return exact(same is (symbol == "is")), heap
    frame.may_raise(heap)
    if left.is_any or right.is_any:
        return ANY, analysis.unknown([left, right], heap)
    numbers = [_scalar_kinds(value) for value in (left, right)]
    if all(kinds is not None for kinds in numbers):
        return _with_heap(_of_numbers(symbol, (left, right), numbers), heap)  # type: ignore[arg-type]
    if (decided := compared(symbol, left, right, heap)) is not None:
        return exact(decided), heap
    known = None if symbol in ("in", "not in") else outcomes(COMPARING[symbol], (left, right), heap)
    if known is not None:
        return shown(frame, statement, heap, known)
    if not is_plain(analysis, heap, left, right):
        if _asks_objects(symbol, left, right):
            behind = answered(analysis, frame, statement, ASKED, (left, right), heap)
            if behind is not None:
                return of(bool), behind
        if symbol in ("in", "not in") and (
            _asks_keys(analysis, left, right, heap)
            or right.atoms and all(asks_identity(analysis, heap, atom, left) for atom in right.atoms)
        ):
            return of(bool), heap
        if symbol in ("in", "not in") and (found := searched(analysis, frame, statement, left, right, heap)):
            return found
        if symbol in COMPARED:
            return by_methods(
                analysis, frame, statement, symbol, (left, right), False, heap,
                lambda plain: compare(analysis, frame, statement, symbol, plain[0], plain[1], heap),
            )  # fmt: skip
        return of(bool), analysis.unknown([left, right], heap)
    if symbol in ("in", "not in"):
        return of(bool), heap
    made, heap = data(frame, statement, heap)
    return union(made, of(bool)), heap


def _asks_keys(analysis: Analysis, left: Value, right: Value, heap: Heap) -> bool:
    """Whether a key is looked for in dicts, and asking whether it is one of theirs runs no code of the user's, whatever
    they hold beside their keys."""
    keys = union(*(heap[atom.site].keys for atom in right.atoms if isinstance(atom, At)))
    return are_of(right, *MAPPINGS) and is_plain(analysis, heap, left) and compares_plainly(analysis, heap, keys)


def _asks_objects(symbol: str, left: Value, right: Value) -> bool:
    """Whether objects are only asked whether they are equal: those in lists and tuples, and dataclasses."""
    if symbol in ("in", "not in"):
        return are_of(right, list, tuple)
    kinds = [class_of(atom) for value in (left, right) for atom in value.atoms]
    if symbol not in ("==", "!=") or any(kind is None or issubclass(kind, np.ndarray | np.generic) for kind in kinds):
        return False
    return not any(
        is_method(looked_up(kind, name)) and not is_generated(kind, name)
        for kind in kinds if kind is not None for name in ("__eq__", "__ne__")
    )  # fmt: skip


def _identical(left: Value, right: Value) -> bool | None:
    """Whether two values are one object, where that is certain: of None and the truth values, functions, classes and
    members of enumerations."""
    if left.is_any or right.is_any:
        return None
    singles = [a.value for value in (left, right) for a in value.atoms if isinstance(a, Exact) and _is_single(a.value)]
    if len(left.atoms) == len(right.atoms) == 1 and len(singles) == 2:
        return singles[0] is singles[1]
    for one, other in ((left, right), (right, left)):
        if all(isinstance(a, Exact) and _is_single(a.value) for a in one.atoms):
            if all(_differs(atom, one) for atom in other.atoms):
                return False
    return None


def _is_single(value: object) -> bool:
    is_one = any(value is each for each in (None, END, UNBOUND, np._NoValue))
    return is_one or isinstance(value, bool | FunctionType | type | Enum)


def is_single(atom: Atom) -> bool:
    """Whether an atom is an object that ``is`` itself alone, wherever it comes from."""
    return isinstance(atom, Exact) and _is_single(atom.value)


def _differs(atom: Any, singles: Value) -> bool:
    """Whether no object of an atom is one of some constants."""
    if isinstance(atom, Exact):
        return atom not in singles.atoms
    kind = class_of(atom)
    if isinstance(atom, Of) or kind is FunctionType:
        return all(type(getattr(a, "value", None)) is not kind for a in singles.atoms)
    is_absent = all(isinstance(a, Exact) and a.value is np._NoValue for a in singles.atoms)  # which is no data
    return not isinstance(atom, At) or kind is not None or is_absent

