"""Arrays that show the memory of others, as a view or a copy of it: which memory, of which dtype and rank.

Enters: a function or method of NumPy, and its operands.  Leaves: what it gives; None where dtype and rank depend on
more than those of the operands::

    m = x.reshape(2, -1)     float64[2]@x | float64[2]@m
    t = np.transpose(m)      the same memory
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.infer.data import DESCRIBING
from srcgrad.infer.examples import Result, outcomes
from srcgrad.infer.heap import Contents, Heap, Site
from srcgrad.infer.objects import class_of, container, data, shown
from srcgrad.infer.parameters import Given
from srcgrad.infer.values import NEVER, Array, At, Atom, Exact, Of, Value, exact, of, union

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.objects import Made
    from srcgrad.ir.regions import Statement

_FUNCTIONS = {
    getattr(np, name): name
    for name in """array asanyarray asarray ascontiguousarray atleast_1d atleast_2d atleast_3d broadcast_to conj
    conjugate diag diagonal einsum expand_dims flip fliplr flipud imag moveaxis permute_dims ravel real reshape rollaxis
    rot90 squeeze swapaxes transpose""".split()
    if hasattr(np, name)
}
#: What is always a view, of an array.
_VIEWS = frozenset(
    """T diagonal expand_dims flip fliplr flipud mT moveaxis permute_dims rollaxis rot90 squeeze swapaxes
    transpose""".split()
)
ATTRIBUTES = ("imag", "mT", "real", "T")
METHODS = frozenset("astype conj conjugate diagonal flatten ravel reshape squeeze swapaxes transpose".split()).union(
    ATTRIBUTES
)
_MOST = 50  # views that are told apart
#: What gives several arrays, of which the class may depend on their numbers.
_SEVERAL = (np.linalg.eig, np.linalg.eigh, np.linalg.qr, np.linalg.slogdet, np.linalg.svd)
#: What gives a list of views, along an axis.
_SPLITTING = (np.split, np.array_split, np.hsplit, np.vsplit, np.dsplit)
_WORDS = frozenset("axes axis axis1 axis2 copy device dtype k ndmin offset order subok".split())
_KINDS = (bool, int, float, complex, np.bool_, np.float32, np.float64, np.complex128, np.int64)


def seen_again(
    frame: Frame, statement: Statement, function: object, given: Given, heap: Heap, *, is_method: bool = False
) -> Made:
    """What a function, or the method of an array by its name, gives."""
    if function is np.broadcast_arrays:
        return _broadcast(frame, statement, given, heap)
    if not is_method and any(function is each for each in _SPLITTING):
        return _split(frame, statement, given, heap)
    if not is_method and any(function is each for each in _SEVERAL):
        return _several(frame, statement, function, given, heap)
    name = str(function) if is_method else _name_of(function)
    if name is None or is_method and name not in METHODS or given.more is not None or not given.positional:
        return None
    source, *rest = given.positional
    if "out" in dict(given.keywords) or source.is_any:
        return None
    if name in ("reshape", "broadcast_to"):
        found = _reshaped(source, rest, given.keywords, heap, is_array=name == "broadcast_to")
    elif name in ("ravel", "flatten") and not rest and not given.keywords:
        found = _of_rank(source, 1)
    elif name == "squeeze":
        found = _squeezed(source)
    elif name == "astype" and rest and all(key == "copy" for key, _ in given.keywords):
        found = _cast(source, rest, heap)
    else:
        found = _run(function, name, given, heap, is_method)
    if found is None:
        return None
    is_view = name in _VIEWS and all(isinstance(atom, Array) for atom in source.atoms)
    # Of an array without axes it is that array, or one of its numbers.
    new = [result for result in found if not is_view or not result.type_string]
    value, heap = shown(frame, statement, heap, new) if new else (NEVER, heap)
    arrays = [atom for part in given.positional for atom in part.atoms if isinstance(atom, Array)]
    sites = set() if name == "flatten" else {atom.site for atom in arrays}
    again = {Array(s, result.type_string, result.rank) for s in sites for result in found if result.type_string}
    again |= {atom for atom in arrays if is_view and new}
    return union(value, Value(frozenset(again))), heap


def _broadcast(frame: Frame, statement: Statement, given: Given, heap: Heap) -> Made:
    """``broadcast_arrays``: as many arrays of one rank, each of which shows the memory of its operand."""
    if given.more is not None or given.keywords:
        return None
    ranks: set[int] = set()
    for value in given.positional:
        own = {atom.rank if isinstance(atom, Array) else 0 for atom in value.atoms}
        if value.is_any or len(own) != 1 or None in own or _of_rank(value, 0) is None:
            return None
        ranks |= {rank for rank in own if rank is not None}
    parts = []
    for place, value in enumerate(given.positional):
        fresh, heap = shown(frame, statement, heap, _of_rank(value, max(ranks)) or (), place)
        again = {Array(a.site, a.type_string, max(ranks)) for a in value.atoms if isinstance(a, Array)}
        parts.append(union(fresh, Value(frozenset(again))))
    kind = type(np.broadcast_arrays(0.0))
    return container(frame, statement, heap, kind, Contents(parts=tuple(parts)))


def _several(frame: Frame, statement: Statement, function: Any, given: Given, heap: Heap) -> Made:
    """A tuple of arrays, of dtypes and ranks that those of the operand give; ``eig`` may be complex."""
    if given.more is not None or len(given.positional) != 1:
        return None
    made: list[Any] = []
    names, values = [name for name, _ in given.keywords], given.values()

    def part(place: int) -> Callable[..., Any]:
        def run(array: Any, *options: Any) -> Any:
            found = function(array, **dict(zip(names, options, strict=True)))
            made.append(type(found))
            return found[place] if isinstance(found, tuple) else None

        return run

    first = outcomes(part(0), values, heap)
    if first is None or not made or not hasattr(made[0], "_fields"):
        return None
    parts = []
    for place in range(len(made[0]._fields)):
        found = outcomes(part(place), values, heap)
        if found is None:
            return None
        if function is np.linalg.eig:
            found += [Result(np.ndarray, np.result_type(each.type_string, "F").str, each.rank) for each in found]
        value, heap = shown(frame, statement, heap, found, place)
        parts.append(value)
    return container(frame, statement, heap, made[0], Contents(parts=tuple(parts)))


def _split(frame: Frame, statement: Statement, given: Given, heap: Heap) -> Made:
    """``split``: a list of views, as many as there are sections or as the places say, where that is known."""
    if given.more is not None or len(given.positional) < 2 or any(key != "axis" for key, _ in given.keywords):
        return None
    source, sections = given.positional[:2]
    atoms = [atom for atom in source.atoms if isinstance(atom, Array) and atom.number is not None]
    if source.is_any or not atoms or len(atoms) < len(source.atoms) or any(not atom.rank for atom in atoms):
        return None
    (atom,) = sections.atoms if len(sections.atoms) == 1 and not sections.is_any else (None,)
    count = atom.value if isinstance(atom, Exact) and type(atom.value) is int else None
    if isinstance(atom, At) and atom.site.kind in (list, tuple) and (places := heap[atom.site].parts) is not None:
        count = len(places) + 1
    is_counted = count is not None and 0 < count < _MOST
    contents = Contents(parts=(source,) * (count or 0)) if is_counted else Contents(rest=source)
    return container(frame, statement, heap, list, contents)


def _name_of(function: object) -> str | None:
    try:
        return _FUNCTIONS.get(function)
    except TypeError:  # what cannot be hashed
        return None


def _run(function: Any, name: str, given: Given, heap: Heap, is_method: bool) -> list[Result] | None:
    names = [key for key, _ in given.keywords]
    if not _WORDS.issuperset(names):
        return None

    def run(first: Any, *chosen: Any) -> Any:
        count = len(chosen) - len(names)
        called: Callable[..., Any] = function
        if is_method:
            called = getattr(first, name)
            if not callable(called):
                return called
        words = dict(zip(names, chosen[count:], strict=True))
        return called(*chosen[:count], **words) if is_method else called(first, *chosen[:count], **words)

    return outcomes(run, [*given.positional, *(value for _, value in given.keywords)], heap)


def _of_rank(source: Value, rank: int, *, is_array: bool = True) -> list[Result] | None:
    """Arrays of the dtypes of others, or of numbers; numbers of NumPy themselves, unless it ``is_array``."""
    found = []
    for atom in source.atoms:
        kind = class_of(atom)
        if isinstance(atom, Array) and atom.number is not None:
            found.append(Result(np.ndarray, atom.type_string, rank))
        elif kind in _KINDS:
            is_kept = not (rank or is_array) and issubclass(kind, np.generic)
            found.append(Result(kind) if is_kept else Result(np.ndarray, np.dtype(kind).str, rank))
        else:
            return None
    return found


def _squeezed(source: Value) -> list[Result] | None:
    """Which axes go depends on sizes, or on a number."""
    known = [atom.rank for atom in source.atoms if isinstance(atom, Array) and atom.rank is not None]
    if not known or len(known) < len(source.atoms):
        return None
    found = [_of_rank(source, rank) for rank in range(max(known) + 1)]
    return None if None in found else [result for results in found for result in results or ()]


def _reshaped(
    source: Value, rest: Sequence[Value], keywords: Sequence[tuple[str, Value]], heap: Heap, *, is_array: bool
) -> list[Result] | None:
    """The rank is that of the shape."""
    words = dict(keywords)
    if not words.keys() <= {"order", "copy", "shape", "newshape"}:
        return None
    shape = [*rest, *(words[key] for key in ("shape", "newshape") if key in words)]
    if len(shape) == 1 and len(shape[0].atoms) == 1 and not shape[0].is_any:
        (atom,) = shape[0].atoms
        if isinstance(atom, At) and isinstance(atom.site, Site) and atom.site.kind in (tuple, list):
            parts = heap[atom.site].parts
            return None if parts is None or not all(map(_is_number, parts)) else _of_rank(
                source, len(parts), is_array=is_array
            )
    return _of_rank(source, len(shape), is_array=is_array) if shape and all(map(_is_number, shape)) else None


def _is_number(value: Value) -> bool:
    return value.consists_of(
        lambda a: isinstance(a, Of) and issubclass(a.kind, int | np.integer)
        or isinstance(a, Exact) and isinstance(a.value, int)
    )  # fmt: skip


def _cast(source: Value, rest: Sequence[Value], heap: Heap) -> list[Result] | None:
    """The dtype is the one that is given."""
    wanted = [atom.value for atom in rest[0].atoms if isinstance(atom, Exact)]
    if len(rest) > 1 or rest[0].is_any or len(wanted) < len(rest[0].atoms):
        return None
    found: dict[Result, None] = {}
    for kind in wanted:
        is_dtype = isinstance(kind, np.dtype | str) or kind in _KINDS
        made = outcomes(lambda array, kind=kind: array.astype(kind), [source], heap) if is_dtype else None
        if made is None:
            return None
        found |= dict.fromkeys(made)
    return list(found)


def elements_of(frame: Frame, statement: Statement, array: Atom, name: str, heap: Heap) -> Made:
    """``array.flat``: an iterator over the elements, which are read and stored by places too."""
    return container(frame, statement, heap, np.flatiter, Contents(fields={"of": Value(frozenset((array,)))}))


def described(frame: Frame, statement: Statement, array: Atom, name: str, heap: Heap) -> Made:
    """An attribute that says how an array is laid out, of which nothing else is known; None of others."""
    if name not in DESCRIBING:
        return None
    if name == "dtype":
        return data(frame, statement, heap)
    if name in ("shape", "strides"):
        return container(frame, statement, heap, tuple, Contents(rest=of(int)))
    return of(int), heap


def attribute(frame: Frame, statement: Statement, array: Array, name: str, heap: Heap) -> Made:
    """An attribute that says how an array is laid out, or that shows its memory; None of others."""
    if name == "flat":
        return elements_of(frame, statement, array, name, heap)
    if array.rank is None or array.dtype is None:
        return described(frame, statement, array, name, heap)
    match name:
        case "shape" | "strides":
            return container(frame, statement, heap, tuple, Contents(parts=(of(int),) * array.rank))
        case "ndim":
            return exact(array.rank), heap
        case "size" | "itemsize" | "nbytes":
            return of(int), heap
        case "dtype" if array.dtype.isbuiltin == 1:  # of which there is one object
            return exact(array.dtype), heap
    source = Value(frozenset((array,)))
    return seen_again(frame, statement, name, Given((source,)), heap, is_method=True) if name in ATTRIBUTES else None


def as_lists(frame: Frame, statement: Statement, arrays: Value, heap: Heap) -> tuple[Value, Heap]:
    """``tolist``: as many lists in each other as there are axes, of Python's numbers."""
    found: list[Value] = []
    for atom in arrays.atoms:
        assert isinstance(atom, Array)
        made = of(type(np.zeros((), atom.dtype).item()))
        for axis in range(8 if atom.rank is None else atom.rank):
            rest = union(made, *found) if atom.rank is None else made
            made, heap = container(frame, statement, heap, list, Contents(rest=rest), (atom.type_string, axis))
            found += [made] if atom.rank is None else []
        found.append(made)
    return union(*found), heap
