"""Elements taken by index, mask or order: the transpose puts them back, and adds where one is taken twice."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import operator

import numpy as np

from srcgrad.rules.facts import Array, as_array
from srcgrad.rules.table import linear, rule
from srcgrad.runtime import untake, untake_along, untake_axis


@rule(operator.getitem)
def getitem(a, b, *, y, y_bar):
    """``a[b]`` of an array, a list, a tuple or a dict."""
    return untake(y_bar, a, b)


@getitem.tangent
def getitem(a, b, *, y, a_dot):
    return a_dot[b]


@linear(np.take, "a")
def take(a, indices, axis=None, *, y, y_bar):
    """Elements by position."""
    return untake_axis(y_bar, a, indices, axis)


@linear(np.take_along_axis, "arr")
def take_along_axis(arr, indices, axis=-1, *, y, y_bar):
    """Elements by position along an axis."""
    return untake_along(y_bar, arr, indices, axis)


@linear(np.compress, "a")
def compress(condition, a, axis=None, *, y, y_bar):
    """Elements where a condition holds."""
    return untake_axis(y_bar, a, np.flatnonzero(condition), axis)


@rule(np.sort)
def sort(a, axis=-1, *, y, y_bar):
    """Elements in order: a gather by ``argsort``."""
    return untake_along(y_bar, a, np.argsort(a, axis), axis)


@sort.tangent
def sort(a, axis=-1, *, y, a_dot):
    return np.take_along_axis(a_dot, np.argsort(a, axis), axis)


sort.accept(ignored=("kind", "stable"))


@sort.infer
def sort(arguments, literals):
    a = as_array(arguments["a"])
    if "axis" not in literals:
        return Array(None, a.dtype)
    return Array(a.shape if literals["axis"] is not None else (None,), a.dtype)
