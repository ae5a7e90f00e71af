"""Iteration and operators on abstract values.

Enters: operands.  Leaves: what one item may be, or what an operator gives, and the heap after it.
"""

from __future__ import annotations

import warnings
from collections import OrderedDict, deque
from dataclasses import replace
from itertools import product
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.infer import sparse
from srcgrad.infer.dispatch import by_methods
from srcgrad.infer.examples import outcomes
from srcgrad.infer.generators import resumed
from srcgrad.infer.heap import Contents, Heap, Site, sites_of
from srcgrad.infer.named import is_named_tuple
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
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.sequences import compared, joined_sequences
from srcgrad.infer.sets import set_operator
from srcgrad.infer.values import (
    ANY,
    FUNCTIONS,
    NEVER,
    SCALARS,
    Array,
    At,
    Atom,
    Bound,
    Exact,
    Of,
    Value,
    exact,
    of,
    union,
)
from srcgrad.ir.evaluating import BINARY, COMPARING, UNARY
from srcgrad.ir.operations import END, UNBOUND
from srcgrad.language.models import CLASSES, MODELS
from srcgrad.language.operators import COMPARED, SPECIAL

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.interpreter import Analysis
    from srcgrad.ir.regions import Statement


# --- iteration -------------------------------------------------------------------------------------------------------
def elements(analysis: Analysis, frame: Frame, statement: Statement, value: Value, heap: Heap) -> tuple[Value, Heap]:
    """One of the items that iterating gives; NEVER of what has none, or cannot be iterated."""
    frame.may_raise(heap)
    if value.is_any:
        return ANY, analysis.unknown([value], heap)
    found: list[Value] = [NEVER]
    for atom in value.atoms:
        match atom:
            case Array(site=site, type_string=dtype, rank=rank):
                if atom.number is not None and rank:
                    view = Value(frozenset((Array(site, dtype, rank - 1),)))
                    found.append(atom.number if rank == 1 else view)
                    continue
                made, heap = data(frame, statement, heap, heap[site].items, part="item")
                found += [made, Value(frozenset((Array(site, dtype),)))]
            case At(site=site) if site in analysis.generators:
                made, _, heap = resumed(analysis, frame, site, heap)
                found.append(made)
            case At(site=Site(kind=kind) as site) if kind in CONTAINERS or is_named_tuple(kind):
                contents = heap[site]
                if contents.entries is not None and kind in MAPPINGS:
                    found.append(union(*(exact(key) for key, _ in contents.entries)))
                else:
                    found.append(contents.items)
            case At(site=Site(kind=kind) as site) if kind in ITERATORS:
                made, heap = _of_iterator(analysis, frame, statement, site, heap[site], heap)
                found.append(made)
            case At(site=Site(kind=np.flatiter) as site):
                arrays = heap[site].get("of")
                made, heap = data(frame, statement, heap, *(heap[one].items for one in sites_of(arrays)), part="item")
                numbers = [a.number if isinstance(a, Array) else None for a in arrays.atoms]
                found.append(made if None in numbers else union(*(number for number in numbers if number is not None)))
            case At(site=Site(kind=kind)) if kind in CLASSES and is_method(looked_up(kind, "__iter__")):
                begun = iterate(analysis, frame, statement, Value(frozenset((atom,))), heap)
                if begun is not None:
                    made, heap = elements(analysis, frame, statement, *begun)
                    found.append(made)
            case At(site=Site(kind=None) as site):
                found += [heap[site].items, Value(frozenset((Array(site),)))]
            case At(site=Site(kind=kind)) if kind is range:
                found.append(of(int))
            case Exact(value=str()) | Of() if isinstance(atom, Exact) or atom.kind is str:
                found.append(of(str))
            case Exact(value=bytes()) | Of() if isinstance(atom, Exact) or atom.kind is bytes:
                found.append(of(int))
            case Exact(value=found_) if type(found_) in (*SCALARS, type) or isinstance(found_, (np.dtype, *FUNCTIONS)):
                pass
            case At(site=Site(kind=kind)) if kind is slice:
                pass
            case Of(kind=kind) if kind in SCALARS or issubclass(kind, np.number | np.bool_):
                pass
            case Bound(function=None):
                pass
            case _:
                found.append(ANY)
                heap = analysis.unknown([Value(frozenset((atom,)))], heap)
    return union(*found), heap


#: Iterables of the class on the left give an iterator of the class on the right.
_SOURCES: tuple[Any, ...] = (*(kind() for kind in CONTAINERS), range(0), "", b"")
_VALUES, _ITEMS, _KEYS = (
    tuple(getattr(kind(), name)() for kind in (dict, OrderedDict)) for name in ("values", "items", "keys")
)
_VIEWS: tuple[Any, ...] = (*_ITEMS, *_VALUES, *_KEYS)
_OF_KIND: dict[Any, type] = {type(source): type(iter(source)) for source in (*_SOURCES, *_VIEWS, np.zeros(1))}
#: Iterators and views whose sources are known.
VIEWS = tuple(map(type, _VIEWS))
_BACKWARDS: dict[Any, type] = {
    type(source): type(reversed(source)) for source in ([], (), {}, deque(), OrderedDict(), range(0), *_VIEWS)
}
ITERATORS = (*_OF_KIND.values(), *VIEWS, *_BACKWARDS.values(), enumerate, reversed, zip, np.ndindex, np.ndenumerate)


def iterate(analysis: Analysis, frame: Frame, statement: Statement, value: Value, heap: Heap) -> Made:
    """``iter(value)``."""
    frame.may_raise(heap)
    if value.is_any:
        return ANY, analysis.unknown([value], heap)
    found: list[Value] = []
    for atom in value.atoms:
        source = Value(frozenset((atom,)))
        kind = atom.site.kind if isinstance(atom, At) else type(getattr(atom, "value", None))
        kind = tuple if isinstance(atom, At) and is_named_tuple(kind) else kind
        kind = atom.kind if isinstance(atom, Of) else np.ndarray if isinstance(atom, Array) else kind
        if kind in _OF_KIND and (isinstance(atom, At | Array) or kind in (str, bytes)):
            made, heap = container(frame, statement, heap, _OF_KIND[kind], Contents(fields={"of": source}), kind)
            found.append(made)
        elif isinstance(atom, At) and (kind in ITERATORS or atom.site in analysis.generators):
            found.append(source)
        elif kind is np.flatiter:
            found.append(source)
        elif isinstance(atom, At) and kind is None:
            held, heap = elements(analysis, frame, statement, source, heap)
            made, heap = container(frame, statement, heap, None, Contents(single=False, rest=held), "iterator")
            found += [made, source]  # an iterator is its own
        elif isinstance(atom, Exact | Of) and (kind in SCALARS or issubclass(kind or object, np.generic)):
            continue
        elif isinstance(atom, At) and kind in CLASSES and is_method(looked_up(kind, "__iter__")):
            begun = analysis.call(frame, statement, exact(looked_up(kind, "__iter__")), (source,), heap)
            if begun is not None:
                found.append(begun[0])
                heap = begun[1]
        else:
            heap = analysis.unknown([source], heap)
            found.append(ANY)
    return (union(*found), heap) if found else None


def backwards(frame: Frame, statement: Statement, value: Value, heap: Heap) -> Made | Any:
    """``reversed(value)`` of one object of a built-in class; ``NotImplemented`` of others."""
    atom = next(iter(value.atoms)) if len(value.atoms) == 1 and not value.is_any else None
    if isinstance(atom, Array) and atom.rank:
        return container(frame, statement, heap, reversed, Contents(fields={"of": value}))
    if not isinstance(atom, At) or atom.site.kind not in _BACKWARDS:
        return NotImplemented
    kind = _BACKWARDS[atom.site.kind]
    return container(frame, statement, heap, kind, Contents(fields={"of": value}))


def _of_iterator(
    analysis: Analysis, frame: Frame, statement: Statement, site: Site, contents: Contents, heap: Heap
) -> tuple[Value, Heap]:
    """What an iterator of a known source gives, as the source is now."""
    kind: Any = site.kind
    source = contents.get("of")
    if kind is np.ndindex:
        return contents.items, heap
    if kind is np.ndenumerate:
        return container(frame, statement, heap, tuple, Contents(parts=(contents.items, contents.get("element"))), site)
    if kind is zip:
        parts = []
        for one in contents.parts or (contents.items,):
            held, heap = elements(analysis, frame, statement, one, heap)
            if not held and contents.parts is not None:
                return NEVER, heap
            parts.append(held)
        known = contents.parts is not None
        made = Contents(parts=tuple(parts)) if known else Contents(rest=union(*parts))
        return container(frame, statement, heap, tuple, made, site)
    if kind is enumerate:
        held, heap = elements(analysis, frame, statement, source, heap)
        if not held:
            return NEVER, heap
        return container(frame, statement, heap, tuple, Contents(parts=(of(int), held)), site)
    if kind in map(type, (*_ITEMS, *_VALUES)):
        keys, values = NEVER, NEVER
        if source.is_any:
            return ANY, heap
        for atom in source.atoms:
            if not isinstance(atom, At):
                return ANY, analysis.unknown([source], heap)
            held_ = heap[atom.site]
            if held_.entries is not None:
                keys = union(keys, *(exact(key) for key, _ in held_.entries))
                values = union(values, *(value for _, value in held_.entries))
            else:
                keys, values = union(keys, held_.items), union(values, held_.items)
        if kind in map(type, _VALUES):
            return values, heap
        if not keys:
            return NEVER, heap
        return container(frame, statement, heap, tuple, Contents(parts=(keys, values)), site)
    return elements(analysis, frame, statement, source, heap)


# --- operators -------------------------------------------------------------------------------------------------------
def arithmetic(
    analysis: Analysis, frame: Frame, statement: Statement, symbol: str, operands: tuple[Value, ...], in_place: bool,
    heap: Heap,
) -> Made:  # fmt: skip
    """``left symbol right``, or ``symbol operand``, per pair of atoms."""
    frame.may_raise(heap)
    if any(value.is_any for value in operands):
        return ANY, analysis.unknown(operands, heap)
    if any(map(sparse.may_be_matrix, operands)):
        return sparse.operated(analysis, frame, statement, symbol, operands, in_place, heap)
    numbers = [_scalar_kinds(value) for value in operands]
    if all(kinds is not None for kinds in numbers):
        return _of_numbers(symbol, operands, numbers), heap  # type: ignore[arg-type]
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
    if (model := _model_of(symbol, operands, in_place)) is not None:
        return analysis.call(frame, statement, exact(model), operands, heap)
    if not is_plain(analysis, heap, *operands):
        return by_methods(
            analysis, frame, statement, symbol, operands, in_place, heap,
            lambda plain: arithmetic(analysis, frame, statement, symbol, plain, in_place, heap),
        )  # fmt: skip
    made = set_operator(analysis, frame, statement, symbol, operands, in_place, heap)
    if made is not NotImplemented:
        return made  # type: ignore[no-any-return]
    held = [NEVER]
    kinds = {_container_of(atom) for value in operands for atom in value.atoms}
    for value in operands:
        for atom in value.atoms:
            if isinstance(atom, At):
                held.append(heap[atom.site].items)
    if in_place:
        for atom in operands[0].atoms:
            if isinstance(atom, At) and (atom.site.kind is None or atom.site.kind in CONTAINERS):
                before = heap[atom.site]
                more = replace(before, parts=None, entries=None, rest=union(before.items, *held), single=False)
                heap = analysis.store(heap, atom.site, more)
        held.append(operands[0])
    value, heap = data(frame, statement, heap, *held)
    if kinds <= {list}:
        rest = Contents(rest=union(*held))
        value, heap = container(frame, statement, heap, list, rest, "list")
    return union(value, *operands[:in_place]), heap


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


def _of_numbers(symbol: str, operands: tuple[Value, ...], kinds: list[set[type]]) -> Value:
    found: list[Value] = [NEVER]
    atoms = [list(value.atoms) for value in operands]
    if symbol == "%" and kinds[0] & {str, bytes}:
        return ANY
    if all(isinstance(a, Exact) and not _is_large(a.value) for group in atoms for a in group):
        for chosen in product(*atoms):
            result = _computed(symbol, [a.value for a in chosen])  # type: ignore[union-attr]
            if result is not _FAILED:
                found.append(exact(result) if type(result) in SCALARS else of(type(result)))
        return union(*found) or ANY
    for classes in product(*kinds):
        if not all(map(_samples, classes)):
            return ANY  # of a class without samples
        for values in product(*map(_samples, classes)):
            result = _computed(symbol, list(values))
            if result is not _FAILED:
                found.append(exact(result) if isinstance(result, bool | None) else of(type(result)))
    made = union(*(of(bool) if v in (exact(True), exact(False)) else v for v in found))
    return made or ANY  # of some that are not among the samples


_FAILED = object()


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
        return _of_numbers(symbol, (left, right), numbers), heap  # type: ignore[arg-type]
    if (decided := compared(symbol, left, right, heap)) is not None:
        return exact(decided), heap
    known = None if symbol in ("in", "not in") else outcomes(COMPARING[symbol], (left, right), heap)
    if known is not None:
        return shown(frame, statement, heap, known)
    if not is_plain(analysis, heap, left, right):
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


def _identical(left: Value, right: Value) -> bool | None:
    """Whether two values are one object, where that is certain: of None and the truth values, functions and classes."""
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
    return value is None or value is END or value is UNBOUND or isinstance(value, bool | FunctionType | type)


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
    return not isinstance(atom, At) or kind is not None

