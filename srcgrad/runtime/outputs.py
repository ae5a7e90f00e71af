"""What NumPy requires of ``out=`` before it stores into it, and of what some of its functions store.

>>> require_output(np.zeros(3), np.float64(1.0), "same_kind", "shape")
Traceback (most recent call last):
    ...
ValueError: an output of shape (3,) is given for a result of shape ()
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from srcgrad.runtime.objects import is_object
from srcgrad.runtime.refusals import RefusedType


def require_output(base: Any, made: Any, casting: str, exact: str | None) -> None:
    """Refuse an output that NumPy refuses, or that decides what the result is.

    ``exact`` names what the output has to have of the result: its ``shape``, else that may be repeated to fill it, its
    ``dtype``, where NumPy computes in that of the output, and ``axes``, where the call returns a number without them;
    ``start`` says that there is an initial value, which NumPy brings to that dtype; ``alone`` says that other results
    are made beside it, None that some elements are stored.  ``casting`` is NumPy's word for how the result may be
    brought to the dtype of the output, or ``back`` for the other way round, or ``equiv`` where the output has to lie in
    memory like a new array as well.
    """
    if not isinstance(base, np.ndarray):
        return  # the store says what it is
    shape, dtype = np.shape(made), np.asarray(made).dtype
    if exact == "axes shape" and not base.ndim:
        raise RefusedType(
            "E0302", "np.dot returns a number, and not its output, where that has no axes: leave out= out"
        )
    if exact == "alone" and shape != base.shape:
        raise RefusedType("E0302", "an output repeats a result, and would repeat the others: give an output for each")
    whole = exact is not None and "shape" in exact
    fits = shape == base.shape if whole else exact is None or len(shape) <= base.ndim and _fills(shape, base.shape)
    if not fits or casting == "equiv" and not (dtype == base.dtype and base.flags.c_contiguous):
        wanted = f"a result of shape {shape}" if not fits else f"a result of {dtype} in one piece"
        raise ValueError(f"an output of shape {base.shape} is given for {wanted}")
    given = (base.dtype, dtype, "safe") if casting == "back" else (dtype, base.dtype, casting)
    if not np.can_cast(*given):
        raise TypeError(f"a result of {dtype} cannot be cast to an output of {base.dtype} ({casting})")
    asked = "dtype" if dtype.kind in "fc" else "start" if base.dtype.kind in "fc" else "nothing"
    if exact and asked in exact and dtype != base.dtype:
        reason = f"NumPy computes in the dtype of an output, which is {base.dtype}; without it the result is of {dtype}"
        raise RefusedType("E0302", f"{reason}; give an output of that dtype, or dtype= as well")


def require_cast(base: Any, made: Any, casting: str | None) -> None:
    """Refuse to store what ``np.copyto`` refuses to bring to the dtype of an array, where a store just casts; an object
    that NumPy makes a number of, whose parts then have no derivative.

    Without ``casting`` what ``np.place`` and ``np.putmask`` refuse: arrays of which not every number is one there.

    >>> require_cast(np.zeros(3, int), np.ones(3), "same_kind")
    Traceback (most recent call last):
        ...
    TypeError: Cannot cast array data from dtype('float64') to dtype('int64') according to the rule 'same_kind'
    """
    if isinstance(base, np.ndarray) and base.dtype != object and is_object(made):
        kind = type(made).__name__
        raise RefusedType(
            "E0302", f"an object of class {kind} is stored into an array; store the number that it stands for"
        )
    if isinstance(base, np.ndarray) and isinstance(made, list | tuple | deque) and np.ndim(made) > base.ndim:
        raise RefusedType("E0302", "a list has more axes than the array that it is copied into: give np.array(items)")
    if not isinstance(base, np.ndarray) or casting is None and not isinstance(made, np.ndarray):
        return
    if casting is not None and not base.flags.writeable:
        np.copyto(base, made, casting)  # type: ignore[arg-type]  # raises, but of the very array
        raise RefusedType(
            "E0302", "an array that may not be stored into is copied into itself by np.copyto: leave that out"
        )
    if type(made) not in (bool, int, float, complex):  # Python's numbers take the dtype that they meet, if they can
        made = np.zeros(1, np.asarray(made).dtype)
    np.copyto(np.zeros(1, base.dtype), made, "safe" if casting is None else casting)  # type: ignore[arg-type]


def require_alike(before: Any, after: Any) -> None:
    """Refuse a new value in place of an array that an operator changes in place, unless it has its shape and dtype.

    >>> require_alike(np.zeros(1), np.zeros((2, 1)))
    Traceback (most recent call last):
        ...
    ValueError: non-broadcastable output operand with shape (1,) doesn't match the broadcast shape (2,1)
    """
    if type(before) is np.ndarray and (before.dtype, before.shape) != (getattr(after, "dtype", None), np.shape(after)):
        np.positive(after, out=before.copy(), casting="same_kind")  # raises what NumPy does
        kinds = f"an array of {before.dtype}, and its result is of {np.asarray(after).dtype}"
        raise RefusedType("E0311", f"an operator in place changes {kinds}: bind the result to the name")


def require_items(base: Any, given: Any) -> None:
    """Refuse a list or tuple whose items NumPy brings to the dtype of an array one by one, where an array that is made
    of them first would be brought there in another way: cut off, or without imaginary parts.

    >>> require_items(np.zeros(3, np.uint8), [300, 1.5])
    Traceback (most recent call last):
        ...
    srcgrad.runtime.refusals.RefusedType: items of a list are put into an array of uint8: give np.array(items) [E0302]
    """
    if isinstance(given, list | tuple | deque):
        dtype = np.asarray(base).dtype
        if not np.can_cast(np.asarray(given).dtype, dtype, "same_kind"):
            raise RefusedType("E0302", f"items of a list are put into an array of {dtype}: give np.array(items)")


def keeps_references(dtype: Any) -> bool:
    """Whether an array of this dtype holds objects, or records with some.

    >>> keeps_references("O"), keeps_references(float), keeps_references(None)
    (True, False, False)
    """
    if not isinstance(dtype, np.dtype | type | str):
        return False
    try:
        return np.dtype(dtype).hasobject
    except TypeError:  # it names no dtype, which NumPy says
        return False


def require_elements(base: Any) -> None:
    """Refuse a store of an array or container into an array of objects, or of a dtype of such, which keeps a reference
    to it: what is stored into the one would not be seen in the other.

    >>> require_elements(np.empty(2, dtype=object))
    Traceback (most recent call last):
        ...
    srcgrad.runtime.refusals.RefusedType: an array of dtype object keeps references; put them into a list [E0507]
    """
    dtype = base.dtype if isinstance(base, np.ndarray) else base
    if keeps_references(dtype):
        raise RefusedType("E0507", f"an array of dtype {np.dtype(dtype)} keeps references; put them into a list")


def require_memory(base: Any) -> None:
    """Refuse a method that changes an array in place where it is called of a number of NumPy's, which does not change.

    >>> require_memory(np.float64(1.0))  # doctest: +ELLIPSIS
    Traceback (most recent call last):
        ...
    srcgrad.runtime.refusals.RefusedType: a method that changes arrays is called of a float64, ... [E0405]
    """
    if isinstance(base, np.generic):
        kind = type(base).__name__
        raise RefusedType("E0405", f"a method that changes arrays is called of a {kind}, which stays as it is")


def require_signed(value: Any) -> None:
    """Refuse to change the sign of what ``np.subtract.at`` takes away: of unsigned integers it would wrap."""
    if np.asarray(value).dtype.kind == "u":
        raise RefusedType(
            "E0507", "np.subtract.at takes away unsigned integers here; give it e.astype(float), or signed ones"
        )


def _fills(shape: tuple[int, ...], place: tuple[int, ...]) -> bool:
    return all(n in (1, m) for n, m in zip(shape[::-1], place[::-1], strict=False))
