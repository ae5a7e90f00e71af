"""What programs over a batch call: repeating values along it, axes in between, and examples one by one.

>>> over_batch(np.array([1.0, 2.0]), 3).shape
(3, 2)
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.runtime.broadcasting import unbroadcast
from srcgrad.runtime.cotangents import zeros_like
from srcgrad.runtime.shadows import cloned


class OneByOne(ValueError):
    """A batch has to be run example by example: what its program takes for granted does not hold for all of them."""


def over_batch(x: Any, size: int, carried: Any = True) -> Any:
    """``x`` repeated ``size`` times along a new first axis, in memory of its own; of a container each part is.

    ``carried`` says which parts are: True for all of a part, a tuple part by part, ``[one]`` for all parts alike, a
    dict key by key.  None stays None, and so does what is no number.
    """
    if carried is False or x is None:
        return cloned(x)
    if isinstance(x, tuple | list):
        parts = [over_batch(part, size, one) for part, one in zip(x, _each(x, carried), strict=True)]
        if isinstance(x, list):
            return parts
        return type(x)(*parts) if hasattr(x, "_fields") else tuple(parts)
    if isinstance(x, dict):
        return {key: over_batch(part, size, _of_key(carried, key)) for key, part in x.items()}
    if isinstance(x, np.ndarray | np.generic | float | int | complex):
        return np.repeat(np.asarray(x)[np.newaxis], size, 0)
    raise TypeError(f"a {type(x).__name__} is not repeated along a batch")


def zeros_over_batch(x: Any, size: int, carried: Any = True) -> Any:
    """``over_batch(zeros_like(x), size, carried)``, without a copy of the zeros."""
    if isinstance(x, tuple | list):
        return [zeros_over_batch(part, size, one) for part, one in zip(x, _each(x, carried), strict=True)]
    if isinstance(x, dict):
        return {key: zeros_over_batch(part, size, _of_key(carried, key)) for key, part in x.items()}
    zero = zeros_like(x)
    if carried is False or not isinstance(zero, np.ndarray | np.generic | float | int | complex):
        return zero
    return np.zeros((size, *np.shape(zero)), np.result_type(zero))


def _each(x: Any, carried: Any) -> Any:
    """What each part of a sequence carries."""
    return [carried] * len(x) if carried is True else carried * len(x) if type(carried) is list else carried


def _of_key(carried: Any, key: Any) -> Any:
    return carried[key] if type(carried) is dict else carried[0] if type(carried) is list else carried


def over_examples(g: Any, x: Any, carried: Any = True) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``over_batch(x, size, carried)``: the sum over the examples."""
    if carried is False or x is None or g is None:
        return cloned(g)
    if isinstance(x, tuple | list):
        return [over_examples(part, like, one) for part, like, one in zip(g, x, _each(x, carried), strict=True)]
    if isinstance(x, dict):
        return {key: over_examples(part, x[key], _of_key(carried, key)) for key, part in g.items()}
    return unbroadcast(np.sum(g, axis=0), x)


def number_of_examples(x: Any, carried: Any = True) -> int:
    """How many examples a batch has: that of the first part that carries one, and 0 where none does."""
    return next(_sizes(x, carried), 0)


def with_rank(x: Any, rank: int) -> Any:
    """A batch with axes of length one behind its first, until it has ``rank`` axes; one that has as many as it is."""
    missing = rank - x.ndim
    return x if missing <= 0 else x.reshape(x.shape[:1] + (1,) * missing + x.shape[1:])


def numbers_apart(x: Any) -> Any:
    """A batch of numbers in memory of its own, as each of them is one; a batch of arrays as it is, still a view."""
    return x.copy() if x.ndim == 1 else x


def unbroadcast_each(g: Any, like: Any, batched: bool = True) -> Any:
    """``unbroadcast`` for each example of ``g``: summed down to the shape of an example of ``like``.

    ``like`` is a batch too, or (not ``batched``) a value that is the same for every example.
    """
    shape = np.shape(like)[1:] if batched else np.shape(like)
    if type(like) is np.ndarray and g.dtype == like.dtype and g.shape[1:] == shape:
        return g
    missing = g.ndim - 1 - len(shape)
    if batched:
        whole = with_rank(like, g.ndim)
    else:
        whole = np.broadcast_to(like, g.shape[:1] + (1,) * max(missing, 0) + shape)
    return unbroadcast(with_rank(g, whole.ndim), whole).reshape(g.shape[:1] + shape)


def each_example(function: Callable[..., Any], carried: tuple[Any, ...], *arguments: Any) -> Any:
    """A function called for each example, its results stacked along a first axis; ``carried`` as in ``over_batch``.

    Results that have different shapes, or are no numbers and arrays or tuples of such, raise ``OneByOne``.
    """
    size = next(_sizes(arguments, carried))
    made = [function(*(_example(a, c, i) for a, c in zip(arguments, carried, strict=True))) for i in range(size)]
    return _stacked(made)


def _sizes(x: Any, carried: Any) -> Any:
    if carried is False or x is None:
        return
    if isinstance(x, tuple | list):
        for part, one in zip(x, _each(x, carried), strict=True):
            yield from _sizes(part, one)
    elif isinstance(x, dict):
        for key, part in x.items():
            yield from _sizes(part, _of_key(carried, key))
    else:
        yield len(x)


def _example(x: Any, carried: Any, i: int) -> Any:
    if carried is False or x is None:
        return x
    if isinstance(x, tuple | list):
        return type(x)(_example(part, one, i) for part, one in zip(x, _each(x, carried), strict=True))
    return x[i]


def _stacked(made: list[Any]) -> Any:
    first = made[0]
    if isinstance(first, tuple):
        return tuple(_stacked(list(column)) for column in zip(*made, strict=True))
    if not isinstance(first, np.ndarray | np.generic | float | int | complex):
        raise OneByOne(f"results of class {type(first).__name__} are not stacked")
    if len({np.shape(one) for one in made}) > 1:
        raise OneByOne("results of different shapes are not stacked")
    return np.stack(made)


def of_numbers(function: Callable[..., Any], *numbers: Any) -> Any:
    """A function of numbers, of a batch of them.  Raises ``OneByOne`` where Python may raise, or give a complex number.

    Functions of ``math`` raise for what has no finite result, and Python's floats for a division by zero; those of
    NumPy give an infinity or a NaN.
    """
    with np.errstate(all="ignore"):
        made = function(*numbers)
    if not np.all(np.isfinite(made)):
        raise OneByOne(f"{getattr(function, '__name__', function)} of a number is not finite")
    return made


def require_examples(*batches: Any) -> None:
    """Refuse batches of different numbers of examples."""
    sizes = list(map(len, batches))
    if len(set(sizes)) > 1:
        raise ValueError(f"the arguments have different numbers of examples: {', '.join(map(str, sizes))}")
