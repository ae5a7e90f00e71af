"""Class, dtype and rank of what functions of NumPy give, found by running them on tiny arrays.

Enters: a function or operator, and the values of its operands.  Leaves: what the results are, of which the numbers and
sizes are forgotten; None where an operand is not known well enough.  It holds for functions whose results depend on the
values of their operands in nothing else: ``eigvals``, ``roots`` and ``squeeze`` are not among them.

>>> from srcgrad.infer.values import Array, of
>>> x = Value(frozenset((Array(Site(np.ndarray, "x"), "<f4", 2),)))
>>> [results(f, (x,), (), Heap({})) for f in (np.sin, np.sum, np.linalg.inv)]
[[float32[2]], [float32], [float32[2]]]
>>> results(np.zeros, (of(int),), (), Heap({})), results(np.linalg.eigvals, (x,), (), Heap({}))
([float64[1]], None)
"""

from __future__ import annotations

import itertools
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcgrad.infer.heap import Heap, Site
from srcgrad.infer.values import SCALARS, Array, At, Atom, Exact, Of, Value, exact, of, union
from srcgrad.language.effects import is_compiled_ufunc, method

#: How many combinations of operands are run, and how deep lists may lie in each other.
_MOST, _DEEPEST = 16, 4
_BY_NAME = """
    abs absolute all angle any append arange argmax argmin argsort around array average choose clip column_stack
    concatenate convolve copy correlate cos count_nonzero cumprod cumsum diagflat diff digitize dot dstack
    ediff1d empty empty_like exp eye fix flatnonzero full full_like geomspace hstack identity inner interp isclose kron
    linspace logspace matmul max mean median min nanargmax nanargmin nancumprod nancumsum nanmax nanmean nanmedian
    nanmin nanpercentile nanprod nanquantile nanstd nansum nanvar ones ones_like outer pad partition percentile
    polyval prod ptp quantile repeat resize roll round searchsorted select sinc sort stack std sum take
    take_along_axis tensordot tile trace trapezoid tri tril triu vander var vdot vstack where zeros zeros_like
""".split()
_FUNCTIONS = frozenset(
    id(getattr(np, name)) for name in _BY_NAME if hasattr(np, name)
) | frozenset(
    id(getattr(np.linalg, name)) for name in "cholesky cond det eigvalsh inv norm pinv solve".split()
) | {id(abs)}
_JOINING = frozenset(id(getattr(np, name)) for name in "column_stack concatenate dstack hstack stack vstack".split())
#: Methods of the functions that NumPy applies element by element.
_OF_UFUNCS = ("accumulate", "outer", "reduce", "reduceat")
_METHODS = frozenset(
    """all any argmax argmin argsort clip copy cumprod cumsum dot max mean min prod repeat round std sum trace
    var""".split()
)


#: What depends on the classes, dtypes and ranks of the operands alone.
_OF_KINDS = frozenset(
    id(getattr(np, name))
    for name in """common_type dtype finfo iinfo iscomplexobj isdtype isrealobj isscalar issubdtype iterable
    mintypecode ndim promote_types result_type""".split()
    if hasattr(np, name)
) | {id(getattr(np.dtypes, name)) for name in np.dtypes.__all__}

#: What is of one class, and raises of most examples.
_OF_CLASS = {id(np.lib.array_utils.normalize_axis_index): int}


@dataclass(frozen=True)
class Result:
    """An array of a dtype and rank, or an object of a class."""

    kind: type
    type_string: str = ""
    rank: int = 0

    def __repr__(self) -> str:
        return f"{np.dtype(self.type_string)}[{self.rank}]" if self.type_string else self.kind.__name__


def is_shown_by_example(function: object) -> bool:
    """Whether class, dtype and rank of the results of a function follow from those of its operands."""
    owner = getattr(function, "__self__", None)
    if isinstance(owner, np.ufunc) and getattr(function, "__name__", "") in _OF_UFUNCS:
        return is_compiled_ufunc(owner) and owner.nout == 1
    return is_compiled_ufunc(function) and function.nout == 1 or id(function) in _FUNCTIONS


def results(
    function: Callable[..., Any], positional: Iterable[Value], keywords: Iterable[tuple[str, Value]], heap: Heap
) -> list[Result] | None:
    """What a function may give."""
    if id(function) in _OF_CLASS:
        return [Result(_OF_CLASS[id(function)])]
    return _run(function, list(positional), list(keywords), heap) if is_shown_by_example(function) else None


def _run(
    function: Callable[..., Any], positional: list[Value], keywords: list[tuple[str, Value]], heap: Heap
) -> list[Result] | None:
    names = [name for name, _ in keywords]
    if any(name in ("copy", "out", "where", "like") for name in names):
        return None
    if _is_rank_open(function, positional, keywords, heap):
        return None

    def run(*chosen: Any) -> Any:
        count = len(chosen) - len(names)
        return function(*chosen[:count], **dict(zip(names, chosen[count:], strict=True)))

    return outcomes(run, [*positional, *(value for _, value in keywords)], heap, is_joining=id(function) in _JOINING)


#: The place and the names of what says how many axes a result has.
_RANKS: dict[Any, tuple[int, str]] = dict.fromkeys((np.zeros, np.ones, np.empty, np.full), (0, "shape"))
_RANKS |= {np.tile: (1, "reps"), np.resize: (1, "new_shape"), np.tensordot: (2, "axes")}


def _is_rank_open(
    function: Any, positional: list[Value], keywords: list[tuple[str, Value]], heap: Heap
) -> bool:
    """Whether the number of axes depends on a number, or on how many numbers there are, which no example can show."""
    place, word = _RANKS.get(function, (None, "size")) if callable(function) and function.__hash__ else (None, "size")
    shapes = [value for name, value in keywords if name == word]
    shapes += [] if place is None else positional[place : place + 1]
    counts = [value for name, value in keywords if name in ("keepdims", "ndmin")] + positional[3:]
    counts += shapes if function is np.tensordot else []
    return any(not _has_length(value, heap) for value in shapes) or any(
        isinstance(atom, Of) and atom.kind is not bool and issubclass(atom.kind, int | np.integer)
        for value in counts for atom in value.atoms
    )  # fmt: skip


def _has_length(value: Value, heap: Heap) -> bool:
    """Whether it is known how many numbers a shape has."""
    return not value.is_any and all(
        not isinstance(atom, Array) and (not isinstance(atom, At) or heap[atom.site].parts is not None)
        for atom in value.atoms
    )


def results_of_method(
    name: str, receiver: Value, positional: Iterable[Value], keywords: Iterable[tuple[str, Value]], heap: Heap
) -> list[Result] | None:
    """What a method of an array may give."""
    if name not in _METHODS:
        return None

    def called(array: Any, *rest: Any, **named: Any) -> Any:
        return getattr(array, name)(*rest, **named)

    return _run(called, [receiver, *positional], list(keywords), heap)


def results_of_draw(
    kind: type, name: str, positional: Iterable[Value], keywords: Iterable[tuple[str, Value]], heap: Heap
) -> list[Result] | None:
    """What a method of a generator of random numbers may give that draws new ones."""
    if not method(name).draws or method(name).updates:
        return None
    given = [*positional, *(value for _, value in keywords)]
    if any(isinstance(a, At) and heap[a.site].parts is None for value in given for a in value.atoms):
        return None  # a size of so many axes
    generator = np.random.RandomState if kind is np.random.RandomState else np.random.default_rng
    return _run(lambda *given, **named: getattr(generator(0), name)(*given, **named),
                list(positional), list(keywords), heap)  # fmt: skip


def attribute_of_number(kind: type, name: str) -> Value | tuple[()] | None:
    """An attribute of the numbers of a class, ``()`` where it is that; None of methods and of other classes."""
    is_number = issubclass(kind, int | float | complex | np.number | np.bool_)
    if not is_number or kind.__module__ not in ("builtins", "numpy"):
        return None
    found = getattr(kind(2), name, None)
    if isinstance(found, np.dtype) and found.isbuiltin == 1:
        return exact(found)
    if type(found) is tuple and not found:
        return ()
    return of(type(found)) if isinstance(found, int | float | complex | np.number | np.bool_) else None


def is_of_kinds(function: object) -> bool:
    """Whether what a function gives depends on classes, dtypes and ranks alone."""
    return id(function) in _OF_KINDS


def constant_of_kinds(
    function: Callable[..., Any], positional: Iterable[Value], heap: Heap, more: Value | None = None
) -> Value | None:
    """What a function gives that asks for nothing but classes, dtypes and ranks, of ``more`` operands too, if any."""
    if id(function) not in _OF_KINDS:
        return None
    examples = [examples_of(value, heap) for value in positional]
    several = () if more is None else itertools.product(examples_of(more, heap) or (), repeat=2)
    rest: list[tuple[Any, ...]] = [(), *several]
    if None in examples or more is not None and len(rest) == 1:
        return None
    found: set[object] = set()
    for chosen in itertools.product(*[part or () for part in examples]):
        for others in rest:
            try:
                found.add(function(*chosen, *others))
            except (TypeError, ValueError):  # it raises for some of them
                if others or not rest[1:]:
                    return None
    return union(*map(exact, found)) if 0 < len(found) < 4 else None


def outcomes(
    run: Callable[..., Any], values: Iterable[Value], heap: Heap, *, is_joining: bool = False
) -> list[Result] | None:
    """What ``run`` gives of examples of values; None if one has none, or if it raises of one.

    ``is_joining``: it raises of nothing to join, whatever else it is given.
    """
    examples = [examples_of(value, heap) for value in values]
    found: dict[Result, None] = {}
    count = 1
    for part in examples:
        if part is None:
            return None
        count *= len(part)
    if count > _MOST:
        return None
    for chosen in itertools.product(*[part for part in examples if part is not None]):
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                try:
                    made = run(*chosen)
                except np.exceptions.AxisError:  # the example of an axis lies beyond; which one it is does not matter
                    made = run(*(0 if type(part) is int else part for part in chosen))
        except Exception:  # of sizes or numbers that do not fit: it tells nothing
            if is_joining and any(type(part) in (list, tuple) and not part for part in chosen[:1]):
                continue
            return None
        if type(made) is np.ndarray and made.dtype.kind in "biufc" and is_named(made.dtype):
            found[Result(np.ndarray, made.dtype.str, made.ndim)] = None
        elif type(made) in SCALARS or isinstance(made, np.generic):
            found[Result(type(made))] = None
        else:
            return None
    return list(found)


def is_named(dtype: np.dtype[Any]) -> bool:
    """Whether ``dtype.str`` says which dtype it is: ``longlong`` has that of ``int64``."""
    return np.dtype(dtype.str).char == dtype.char


def examples_of(value: Value, heap: Heap, depth: int = 0) -> list[Any] | None:
    """One object for each atom of a value, arrays of one dtype and rank once; None where one is not known well enough,
    or lies too deep."""
    if value.is_any or not value.atoms or depth > _DEEPEST:
        return None
    found: list[Any] = []
    kinds = {(atom.type_string, atom.rank): atom for atom in value.atoms if isinstance(atom, Array)}
    for atom in (*kinds.values(), *(atom for atom in value.atoms if not isinstance(atom, Array))):
        made = _example(atom, heap, depth)
        if made is None:
            return None
        found += made
    return found


def _example(atom: Atom, heap: Heap, depth: int) -> list[Any] | None:
    match atom:
        case Array(type_string=str() as dtype, rank=int() as rank) if dtype and np.dtype(dtype).kind in "biufc":
            made = np.ones((2,) * rank)
            if rank > 1:
                made += np.eye(2)  # matrices that have an inverse
            return [made.astype(dtype)] if rank < 8 else None
        case Exact(value=bool() | None | str() as constant):
            return [constant]
        case Exact(value=int() as constant) if abs(constant) < 8:
            return [constant]
        case Exact(value=int() as constant):
            sample = 2 if constant > 0 else -2
            return [sample] if abs(constant) < 2**31 else None  # beyond, another dtype may come of it
        case Exact(value=float() | complex() as constant):
            return [type(constant)(2)]
        case Exact(value=np.dtype() as dtype) if dtype.kind in "biufc":
            return [dtype]
        case Exact(value=type() as kind) if kind in (bool, int, float, complex) or issubclass(kind, np.generic):
            return [kind]
        case Of(kind=kind) if kind is bool:
            return [False, True]
        case Of(kind=kind) if kind in (int, float, complex) or issubclass(kind, np.number | np.bool_):
            return [kind(2)]
        case At(site=Site(kind=kind) as site) if kind in (tuple, list):
            parts = heap[site].parts
            if parts is None:
                return _of_any_length(kind, heap[site].rest, heap, depth)
            inner = [examples_of(part, heap, depth + 1) for part in parts]
            if any(part is None or len(part) != 1 for part in inner):
                return None
            return [kind([part[0] for part in inner if part is not None])]
    return None


def _of_any_length(kind: Any, item: Value, heap: Heap, depth: int) -> list[Any] | None:
    """Sequences of one item and another, which together may be of a third dtype, and one of none."""
    items = examples_of(item, heap, depth + 1) if item else []
    if items is None or len(items) > 2:
        return None
    pairs = itertools.combinations_with_replacement(items, 2)
    try:
        return [kind(), *(kind(pair) for pair in pairs if np.shape(pair[0]) == np.shape(pair[1]))]
    except ValueError:  # rows of several lengths
        return None
