# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""Models of what calls functions for elements, rows or parts of arrays, or for their places: ``np.vectorize``,
``np.apply_along_axis``, ``np.piecewise``, ``np.fromfunction``.

>>> apply_along_axis(sum, 0, np.ones((2, 3))), Vectorized(lambda a, b: a + b)([1.5, 2.0], 1)
(array([2., 2., 2.]), array([2.5, 3. ]))

NumPy asks a first call for the dtype, unless it is given one, and then calls the function for all of them.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from srcgrad.language.models.table import models, stands_for, unknown
from srcgrad.runtime.places import require_rows
from srcgrad.runtime.shaping import memory_axes


@models(np.apply_along_axis)
def apply_along_axis(func1d, axis, arr, *args):
    array = np.asarray(arr)
    lines = np.moveaxis(array, axis, -1)
    made = [np.asarray(func1d(lines[place], *args)) for place in np.ndindex(lines.shape[:-1])]
    count, at = np.ndim(made[0]), axis % np.ndim(array)
    whole = np.reshape(np.stack(made).astype(made[0].dtype), lines.shape[:-1] + np.shape(made[0]))
    return np.moveaxis(whole, tuple(range(-count, 0)), tuple(range(at, at + count)))


@models(np.piecewise)
def piecewise(x, condlist, funclist, *args, **kw):
    array = np.asarray(x)
    whole = array if np.ndim(array) else np.reshape(array, (1,))
    if np.isscalar(condlist) or np.ndim(array) and not isinstance(condlist[0], (list, np.ndarray)):
        masks = np.asarray([condlist], dtype=bool)
    else:
        masks = np.asarray(condlist, dtype=bool)
    if not np.ndim(array):
        masks = np.reshape(masks, (-1, 1))
    if len(masks) != len(funclist) and len(masks) != len(funclist) - 1:
        count = len(masks)
        raise ValueError(f"with {count} condition(s), either {count} or {count + 1} functions are expected")
    if len(masks) == len(funclist) - 1:
        masks = np.concatenate([masks, ~np.any(masks, axis=0, keepdims=True)], axis=0)
    y = np.zeros_like(whole)
    if len(funclist) > 4:
        for place, function in enumerate(funclist):
            _store_part(y, whole, masks[place], function, args, kw)
    else:  # one by one: each is known for what it is, a number or a function
        if len(funclist) > 0:
            _store_part(y, whole, masks[0], funclist[0], args, kw)
        if len(funclist) > 1:
            _store_part(y, whole, masks[1], funclist[1], args, kw)
        if len(funclist) > 2:
            _store_part(y, whole, masks[2], funclist[2], args, kw)
        if len(funclist) > 3:
            _store_part(y, whole, masks[3], funclist[3], args, kw)
    return y if np.ndim(array) else np.reshape(y, ())


def _store_part(y, whole, mask, function, args, kw):
    if not callable(function):
        y[mask] = function
    elif np.any(mask):
        y[mask] = function(whole[mask], *args, **kw)


@models(np.fromfunction)
def fromfunction(function, shape, *, dtype=float, like=None, **kwargs):
    if like is not None:
        unknown()
    places = np.indices(shape, dtype=dtype)
    if len(shape) == 1:
        return function(places[0], **kwargs)
    if len(shape) == 2:
        return function(places[0], places[1], **kwargs)
    if len(shape) == 3:
        return function(places[0], places[1], places[2], **kwargs)
    return unknown()


@stands_for(np.vectorize)
class Vectorized:
    def __init__(self, pyfunc, otypes=None, doc=None, excluded=None, cache=False, signature=None):
        self.pyfunc, self.otypes, self.doc = pyfunc, otypes, doc
        self.excluded, self.cache, self.signature = excluded, cache, signature

    def __call__(self, *args):
        if self.excluded or self.cache or self.signature is not None:
            unknown()
        if len(args) == 1:
            array = np.asarray(args[0])
            order = memory_axes(array, "K")
            turned = np.transpose(array, order)
            values = np.ravel(turned).tolist()
            dtype = _dtype_of(self.pyfunc(np.ravel(array)[0])) if self.otypes is None else _first(self.otypes)
            whole = np.reshape(np.array([self.pyfunc(u) for u in values], dtype=dtype), turned.shape)
            return np.transpose(whole, np.argsort(order))
        require_rows(*args)
        if len(args) == 2:
            one, two = np.broadcast_arrays(args[0], args[1])
            us, vs = np.ravel(one).tolist(), np.ravel(two).tolist()
            first = self.pyfunc(np.ravel(one)[0], np.ravel(two)[0]) if self.otypes is None else None
            dtype = _dtype_of(first) if self.otypes is None else _first(self.otypes)
            return np.reshape(np.array([self.pyfunc(u, v) for u, v in zip(us, vs)], dtype=dtype), one.shape)
        if len(args) == 3:
            one, two, three = np.broadcast_arrays(args[0], args[1], args[2])
            us, vs, ws = np.ravel(one).tolist(), np.ravel(two).tolist(), np.ravel(three).tolist()
            first = self.pyfunc(np.ravel(one)[0], np.ravel(two)[0], np.ravel(three)[0]) if self.otypes is None else None
            dtype = _dtype_of(first) if self.otypes is None else _first(self.otypes)
            made = [self.pyfunc(u, v, w) for u, v, w in zip(us, vs, ws)]
            return np.reshape(np.array(made, dtype=dtype), one.shape)
        arrays = np.broadcast_arrays(*args)
        rows = list(zip(*[np.ravel(array).tolist() for array in arrays]))
        first = self.pyfunc(*[np.ravel(array)[0] for array in arrays]) if self.otypes is None else None
        dtype = _dtype_of(first) if self.otypes is None else _first(self.otypes)
        return np.reshape(np.array([self.pyfunc(*row) for row in rows], dtype=dtype), arrays[0].shape)


def _first(otypes):
    return otypes if isinstance(otypes, str) else otypes[0]


def _dtype_of(first):
    if isinstance(first, tuple):
        raise TypeError("a function under np.vectorize returns a tuple: give each of its results a function")
    return np.asarray(first).dtype


def fields_of(made: np.vectorize) -> dict[str, Any]:
    """What an object that was made outside holds; of its options, whether they are given, and the first dtype."""
    otypes = np.dtype(made.otypes[0]).str if made.otypes else None
    is_open = bool(made.excluded) or len(made.otypes or ()) > 1
    return {
        "pyfunc": made.pyfunc, "otypes": otypes, "doc": None, "excluded": is_open or None, "cache": bool(made.cache),
        "signature": made.signature,
    }  # fmt: skip
