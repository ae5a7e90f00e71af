"""The doors of a derivative: what leaves it has the structure of the argument, what is saved can be used again."""

from __future__ import annotations

import sys
from collections import deque
from collections.abc import Mapping, Sequence
from enum import Enum
from typing import Any

import numpy as np

from srcgrad.runtime.attempts import changed_by_raising, contents, enter, is_as_before
from srcgrad.runtime.broadcasting import real_for
from srcgrad.runtime.cotangents import zeros_like
from srcgrad.runtime.exact import is_foreign
from srcgrad.runtime.objects import cotangents_of, fields_of, has_operators, is_object, mirrored
from srcgrad.runtime.refusals import RefusedPath, RefusedType, RefusedValue


def stop_gradient(x: Any) -> Any:
    """``x`` itself, with zero derivative."""
    return x


class StopsGradients:
    """What ``no_grad`` is a kind of, so that a compiler that never meets the eager machine knows it."""


def require_number(x: Any, place: str) -> None:
    """Refuse to treat ``x += e`` at ``place`` as ``x = x + e`` when x is an array, which it would change in place."""
    if isinstance(x, np.ndarray) or not isinstance(x, int | float | complex | str | bytes | tuple | np.generic):
        raise RefusedType(
            "E0303",
            f"{place}: an augmented assignment changes a {type(x).__name__} in place, and other names may see it;"
            " write x = x + e, which makes a new value",
        )


def require_real(x: Any, place: str) -> None:
    """Refuse complex numbers of NumPy's at ``place``, where a function reads the real part alone."""
    if type(x) is float or type(x) is int:
        return
    if np.asarray(x).dtype.kind == "c":
        raise RefusedType(
            "E0510", f"{place}: this function reads the real part of a complex number alone; write z.real"
        )


def require_matrix(x: Any, place: str) -> None:
    """Refuse what has fewer than two dimensions in the place of a matrix: SciPy makes a matrix of it, or computes with
    what happens to lie behind it, and no formula is of that.

    >>> require_matrix(2.0, "f:3")
    Traceback (most recent call last):
        ...
    srcgrad.runtime.refusals.RefusedValue: f:3: 0 dimensions in the place of a matrix; write np.atleast_2d(a) [E0511]
    """
    if np.ndim(x) < 2:
        dimensions = "1 dimension" if np.ndim(x) else "0 dimensions"
        raise RefusedValue("E0511", f"{place}: {dimensions} in the place of a matrix; write np.atleast_2d(a)")


def require_wide(kinds: str, place: str, *operands: Any) -> None:
    """Refuse integers of few bits, or without a sign, in the place of all ``operands``: the function at ``place`` takes
    differences or squares of them as they are, which wrap around.  ``kinds``: of NumPy's ``"i"`` and ``"u"``, those
    that do.

    >>> require_wide("u", "f:3", np.uint8([0, 1]))
    Traceback (most recent call last):
        ...
    srcgrad.runtime.refusals.RefusedType: f:3: differences and squares of uint8 wrap around; give it floats [E0507]
    """
    dtypes = [{np.asarray(part).dtype for part in (x if isinstance(x, list | tuple) else [x])} for x in operands]
    narrow = [[str(t) for t in each if t.kind in kinds and t != np.int64] for each in dtypes]
    if all(narrow):
        raise RefusedType("E0507", f"{place}: differences and squares of {min(narrow[0])} wrap around; give it floats")


def require_kept(x: Any, place: str) -> None:
    """Refuse what a differentiated function captured when ``place`` may store into it: a derivative would lose that."""
    pending = [x]
    while pending:
        part = pending.pop()
        if type(part) is tuple:
            pending.extend(part)
        elif not (part is None or isinstance(part, int | float | complex | str | bytes | np.generic)):
            raise RefusedType(
                "E0305",
                f"{place}: a store into the {type(part).__name__} that a differentiated function captured would be"
                " lost; pass it as an argument, or store into a copy",
            )


def require_count(x: Any, place: str) -> None:
    """Refuse to repeat a list or tuple at ``place`` as often as ``x`` says where that is no integer."""
    if isinstance(x, np.ndarray | np.inexact | float | complex):
        raise RefusedType(
            "E0710",
            f"{place}: a list or tuple is multiplied by an array, not by an integer; make both arrays with np.array",
        )


def require_arithmetic(x: Any, y: Any, place: str) -> None:
    """Refuse an operator at ``place`` of an array and a list, which NumPy makes an array of: the derivative would read
    the list again, and it may have changed since."""
    for one, other in ((x, y), (y, x)):
        if isinstance(one, list | deque) and isinstance(other, np.ndarray | np.generic):
            raise RefusedType(
                "E0710",
                f"{place}: an operator of a {type(other).__name__} and a list, which may change later; make the list an"
                " array with np.array",
            )


def require_new(x: Any, place: str) -> None:
    """Refuse a list of arrays or containers that an operator made at ``place``, by the types that it met there: it
    shares its items with the operands, and may be stored into."""
    plain = int | float | complex | np.generic
    if isinstance(x, tuple | list | deque) and not all(isinstance(part, plain) for part in x):
        raise RefusedType(
            "E0413",
            f"{place}: an operator made a {type(x).__name__} of arrays or containers, and one of them may be stored"
            " into; differentiate with arguments of known kinds, or build the list with append",
        )


def require_bound_of_slice(x: Any, place: str) -> None:
    """Refuse an array as a bound of a slice that is kept: once it is stored into, it is another slice."""
    if isinstance(x, np.ndarray):
        raise RefusedType("E0605", f"{place}: a slice holds an array, which may change; give it the number, int(...)")


def require_mapping(x: Any, place: str) -> None:
    """Refuse what has no keys where a loop was taken for one over a dict, since an item is read by a key elsewhere."""
    if not hasattr(x, "keys"):
        raise RefusedType(
            "E0418", f"{place}: a {type(x).__name__}, of which an item is read by a key elsewhere, is looped over"
        )


def require_places(x: Any, place: str) -> None:
    """Refuse to take the items of ``x`` at ``place`` by their places when it is a dict, which gives its keys there, or
    a class, of which its metaclass decides what it gives."""
    if isinstance(x, type):
        raise RefusedType("E0401", f"{place}: class {x.__name__} is gone over here, and has no places; write list(...)")
    if isinstance(x, Mapping):
        raise RefusedType(
            "E0418", f"{place}: a {type(x).__name__} gives its keys here; write .items(), .values() or .keys()"
        )


def require_entry(x: Any) -> None:
    """Raise what Python raises where the last entry of a dict without entries is taken out."""
    if not x:
        raise KeyError("popitem(): dictionary is empty")


def require_key(x: Any, place: str) -> None:
    """Refuse a number as a key, or keys that hold one, where it varies and keys are read: its derivative would end."""
    pending = [x]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple | list | deque | frozenset):
            pending.extend(part)
        elif isinstance(part, float | complex | np.inexact):
            raise RefusedType(
                "E0603", f"{place}: the number {part!r} varies and is a key here; keys have no derivative"
            )


def require_keys(x: Any, place: str) -> None:
    """The same of the keys of each dict that is, or lies in, what is read."""
    pending, seen = [x], set[int]()
    while pending:
        part = pending.pop()
        if id(part) in seen:
            continue
        seen.add(id(part))
        if isinstance(part, Mapping):
            for key in part:
                require_key(key, place)
            pending.extend(part.values())
        elif isinstance(part, tuple | list | deque):
            pending.extend(part)
        elif is_object(part):
            pending.extend(fields_of(part).values())


def unvaried(x: Any) -> Any:
    """``x``, which is put into a set where a derivative is differentiated again; refused if it could vary."""
    pending = [x]
    while pending:
        part = pending.pop()
        if isinstance(part, tuple | list | deque | frozenset):
            pending.extend(part)
        elif not (part is None or isinstance(part, int | str | bytes | range | Enum | np.integer | np.bool_)):
            if not (isinstance(part, np.ndarray) and part.dtype.kind in "biuSU"):
                raise RefusedType(
                    "E0604", f"a {type(part).__name__} is put into a set, and could vary in a second derivative"
                )
    return x


def require_length(x: Any, length: int, place: str) -> None:
    """Refuse a loop at ``place`` over ``x`` that had ``length`` items when it began: its passes were counted then."""
    if len(x) != length:
        raise RefusedValue(
            "E0402",
            f"{place}: a {type(x).__name__} changed its length from {length} to {len(x)} while it was looped over;"
            " loop over a copy of it, list(...), or write a while loop",
        )


def _says_itself(x: Any) -> bool:
    """Whether an operator on ``x`` may be a method that its class defines."""
    kind: Any = type(x)
    return is_object(x) or has_operators(kind) or is_foreign(kind)


def require_no_object(x: Any, place: str) -> None:
    """Refuse an object at ``place`` where a number is rounded, or its bits are used: it would be asked for a method."""
    if _says_itself(x):
        raise RefusedType(
            "E0413",
            f"{place}: an object of class {type(x).__name__} may stand here, or a number; what the object says to"
            " round(), or to this operator, would have no derivative; call its method where it is known",
        )


#: What numbers, tuples and arrays answer by methods of theirs.
_ANSWERS = {n for kind in (complex, float, tuple, np.ndarray) for n in dir(kind) if n[:2] == "__"} - {
    *dir(object), "__getnewargs__"
} | {"__eq__", "__ne__", "__lt__", "__le__", "__gt__", "__ge__", "__hash__"}  # fmt: skip


END = sys.maxsize  # the place of an iterator that has given its last item


def as_cotangent(g: Any, x: Any, held: set[int] | None = None) -> Any:
    """``g`` in the structure, shape and dtype of ``x``; the caller owns every array of the result.

    ``held`` are the identities of the arrays that others hold (arguments, results already handed out).  An array that
    is none of these, and no view, is handed out as it is; without ``held`` every array is copied.

    Tuples, lists, deques, named tuples and dicts come back as they are in ``x``; what has no derivative there
    (integers, text) has None.  An integer that is all of ``x`` has a float64 cotangent.  A cotangent that does not fit
    raises.
    """
    if type(x) is np.ndarray and type(g) is np.ndarray and g.shape == x.shape and g.dtype == x.dtype:
        if x.dtype.kind in "fc":
            return _handed_out(g, held)
    elif type(x) is float and type(g) is float:
        return g
    if g is None:
        g = zeros_like(x)
    if isinstance(x, tuple | list | deque):
        if isinstance(g, np.ndarray) and g.shape == np.shape(x):  # NumPy took it for an array
            g = list(g)
        if not isinstance(g, tuple | list | deque) or len(g) != len(x):
            raise TypeError(f"the cotangent of a {type(x).__name__} of length {len(x)} is a {type(g).__name__}")
        items = [_part(part, item, held) for part, item in zip(g, x, strict=True)]
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return type(x)(*items)
        if isinstance(x, deque):
            return deque(items, x.maxlen)
        return tuple(items) if isinstance(x, tuple) else items
    if isinstance(x, dict):
        if is_object(g):
            g = fields_of(g)  # a derivative by an object is a dict of its fields until it is handed out
        if not isinstance(g, dict):
            raise TypeError(f"the cotangent of a dict is a {type(g).__name__}")
        return {key: _part(g.get(key), item, held) for key, item in x.items()}
    if is_object(x):
        parts = cotangents_of(g, x)
        return mirrored(x, {name: _part(parts.get(name), item, held) for name, item in fields_of(x).items()})
    if g is None:
        return None
    zero = zeros_like(x)
    if zero is None:
        return None
    if np.shape(g) != np.shape(x):
        raise ValueError(f"a cotangent of shape {np.shape(g)} does not fit a value of shape {np.shape(x)}")
    dtype = np.asarray(zero).dtype
    g = real_for(g, dtype)
    if isinstance(x, np.ndarray):
        result = np.array(g, dtype)  # a copy: what the sweep holds stays its own
        return result
    if isinstance(zero, np.generic):
        return dtype.type(g)
    return complex(g) if isinstance(zero, complex) else float(g)


def _part(g: Any, x: Any, held: set[int] | None) -> Any:
    """The cotangent of an item of a container: None for integers and truth values, and arrays of them."""
    if isinstance(x, np.ndarray | np.generic):
        return None if x.dtype.kind in "biu" else as_cotangent(g, x, held)
    return None if isinstance(x, int) else as_cotangent(g, x, held)


def _handed_out(g: Any, held: set[int] | None) -> Any:
    """``g`` if nobody else has it, else a copy."""
    if held is None or id(g) in held or (g.base is not None and not _is_alone(g)):
        g = g.copy(order="K")
    if held is not None:
        held.add(id(g))
    return g


def _holders(view: Any) -> int:
    """How many references there are to the array that a view looks at, the view's own and this call's included."""
    base = view.base
    return sys.getrefcount(base)


_VIEW_ALONE = _holders(np.empty(2)[:])


def _is_alone(view: Any) -> bool:
    """Whether a view is all that is left of an array, half of it or more: as good as an array of its own."""
    base = view.base
    if type(base) is not np.ndarray or not view.flags.writeable or base.nbytes > 2 * view.nbytes:
        return False
    del base
    return _holders(view) == _VIEW_ALONE


class Once:
    """A context manager that is entered in the forward sweep only; ``value`` is what ``as`` binds.

    One that swallows an exception is refused: what had run of its body when that was raised is not known.
    """

    value: Any = None

    def __init__(self, manager: Any) -> None:
        self.manager = manager

    def __enter__(self) -> Once:
        self.value = enter(self.manager)
        return self

    def __exit__(self, kind: Any, raised: Any, traceback: Any) -> None:
        if type(self.manager).__exit__(self.manager, kind, raised, traceback) and raised is not None:
            raise RefusedPath(
                "E0113",
                f"a {type(self.manager).__name__} swallowed the exception {kind.__name__}: where its body was left"
                " is not known to the derivative; write try and except",
            ) from raised


class Leaving(Once):
    """A context manager whose methods are called in the text beside it, but where an exception leaves its body."""

    def __enter__(self) -> Leaving:
        return self

    def __exit__(self, kind: Any, raised: Any, traceback: Any) -> None:
        if raised is not None:
            before = contents((self.manager,))
            super().__exit__(kind, raised, traceback)
            if not all(is_as_before(part, held) for part, held in before):
                changed_by_raising(raised)


def leaving(manager: Any) -> Leaving:
    """What leaves a context manager where its body raises."""
    return Leaving(manager)


def once(manager: Any) -> Once:
    """A context manager that is not entered again by the reverse sweep."""
    return Once(manager)


def entered(manager: Once) -> Any:
    """What a context manager gave when it was entered."""
    return manager.value


def is_sequence(subject: Any) -> bool:
    """Whether ``match`` takes a value apart as a sequence."""
    return isinstance(subject, Sequence) and not isinstance(subject, str | bytes | bytearray)


def is_mapping(subject: Any) -> bool:
    """Whether ``match`` takes a value apart as a mapping."""
    return isinstance(subject, Mapping)
