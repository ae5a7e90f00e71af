"""Elements taken by index, mask or choice: the transpose puts them back, and adds where one is taken twice."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import operator

import numpy as np

from srcgrad import runtime
from srcgrad.rules.facts import Array, Dimension, Unknown, as_array, number
from srcgrad.rules.results import strong
from srcgrad.rules.table import add_method, linear, rule
from srcgrad.runtime import (
    compressed,
    pick,
    rebroadcast,
    selected,
    span_of,
    unarray,
    unbroadcast,
    unchoose,
    undiag,
    unpick,
    untake,
    untake_along,
    untake_axis,
    zeros_like,
)


def along_axis(name: str):
    """The fact of elements picked along an axis; of all in a row where it is None."""

    def infer(arguments, literals):
        a = as_array(arguments[name])
        if "axis" not in literals or (a.rank is None and literals["axis"] is not None):
            return Array(None, strong(a.dtype))
        return Array((None,) * (1 if literals["axis"] is None else a.rank or 0), strong(a.dtype))

    return infer


@rule(operator.getitem)
def getitem(a, b, *, y, y_bar):
    """``a[b]`` of an array, a list, a tuple or a dict."""
    return untake(y_bar, a, b)


@getitem.tangent
def getitem(a, b, *, y, a_dot):
    return a_dot[b]


# --- by position -----------------------------------------------------------------------------------------------------
@linear(np.take, "a")
def take(a, indices, axis=None, mode="raise", *, y, y_bar):
    """Elements by position."""
    return untake_axis(y_bar, a, indices, axis, mode)


@take.infer
def take(arguments, literals):
    a, indices = as_array(arguments["a"]), as_array(arguments["indices"])
    if a.rank is None or indices.rank is None or "axis" not in literals:
        return Array(None, strong(a.dtype))
    rank = indices.rank if literals["axis"] is None else max(a.rank, 1) - 1 + indices.rank
    return Array((None,) * rank, strong(a.dtype))


@linear(np.take_along_axis, "arr")
def take_along_axis(arr, indices, axis=-1, *, y, y_bar):
    """Elements by position along an axis."""
    return untake_along(y_bar, arr, indices, axis)


take_along_axis.infer(along_axis("arr"))


@rule(runtime.item)
def item(a, *args, y, y_bar):
    """One element as a number."""
    return unpick(y_bar, a, args)


@item.tangent
def item(a, *args, y, a_dot):
    return pick(a_dot, args)


@item.infer
def item(arguments, literals):
    made = {"float64": "float", "float32": "float", "complex128": "complex", "int64": "int", "bool": "bool"}
    return number(made.get(as_array(arguments["a"]).dtype or ""))


add_method("item", runtime.item)


# --- by conditions ---------------------------------------------------------------------------------------------------
@linear(np.compress, "a")
def compress(condition, a, axis=None, *, y, y_bar):
    """Elements where a condition holds."""
    return untake_axis(y_bar, a, np.flatnonzero(condition), axis)


@linear(compressed, "a")
def compressed_(a, condition, axis=None, *, y, y_bar):
    """Elements where a condition holds, as the method of arrays."""
    return untake_axis(y_bar, a, np.flatnonzero(condition), axis)


compress.infer(along_axis("a"))
compressed_.infer(along_axis("a"))
add_method("compress", compressed)


@linear(np.extract, "arr")
def extract(condition, arr, *, y, y_bar):
    """Elements where a condition holds, in a row."""
    return untake_axis(y_bar, arr, np.flatnonzero(condition))


extract.infer(lambda arguments, literals: Array((None,), strong(as_array(arguments["arr"]).dtype)))


@rule(np.trim_zeros)
def trim_zeros(filt, trim="fb", axis=None, *, y, y_bar):
    """Without the zeros at the ends; how many there are is a constant."""
    return untake(y_bar, filt, span_of(filt, trim, axis))


@trim_zeros.tangent
def trim_zeros(filt, trim="fb", axis=None, *, y, filt_dot):
    return filt_dot[span_of(filt, trim, axis)]


@trim_zeros.infer
def trim_zeros(arguments, literals):
    fact = arguments["filt"]
    return (
        Array(None if fact.shape is None else (None,) * len(fact.shape), fact.dtype) if _is_array(fact) else Unknown()
    )


def _is_array(fact):
    return isinstance(fact, Array) and not fact.scalar


@linear(np.choose, "choices")
def choose(a, choices, mode="raise", *, y, y_bar):
    """Of several arrays, at every place the element of the one whose number stands there."""
    return unchoose(y_bar, a, choices, mode)


@rule(np.select)
def select(condlist, choicelist, default=0, *, y, y_bar):
    """Of several arrays, at every place the element of the first one whose condition holds."""
    first = selected(condlist, y)
    return (
        None,
        unchoose(y_bar, first, choicelist),
        unbroadcast(np.where(first == len(condlist), y_bar, 0), default),
    )


@select.tangent
def select(condlist, choicelist, default=0, *, y, choicelist_dot, default_dot):
    return (
        rebroadcast(np.select(condlist, choicelist_dot), y),
        rebroadcast(np.select(condlist, zeros_like(choicelist), default_dot), y),
    )


choose.infer(lambda arguments, literals: Array())
select.infer(lambda arguments, literals: Array())


# --- triangles and diagonals -----------------------------------------------------------------------------------------
@linear(np.triu, "m")
def triu(m, k=0, *, y, y_bar):
    """The upper triangle."""
    return unbroadcast(np.triu(y_bar, k), m)


@linear(np.tril, "m")
def tril(m, k=0, *, y, y_bar):
    """The lower triangle."""
    return unbroadcast(np.tril(y_bar, k), m)


def _of_matrices(arguments, literals):
    m = as_array(arguments["m"])
    return m if (m.rank or 0) >= 2 else Array(None, m.dtype)  # a vector is repeated into a matrix


triu.infer(_of_matrices)
tril.infer(_of_matrices)


@linear(np.diag, "v")
def diag(v, k=0, *, y, y_bar):
    """A diagonal of a matrix, or the matrix with one."""
    return undiag(y_bar, v, k)


@diag.infer
def diag(arguments, literals):
    v = as_array(arguments["v"])
    shape: tuple[Dimension, ...] | None = {1: (None, None), 2: (None,)}.get(v.rank or 0)
    if v.rank == 1 and v.shape is not None and literals.get("k") == 0:
        shape = (v.shape[0], v.shape[0])
    return Array(shape, v.dtype)


@linear(np.diagflat, "v")
def diagflat(v, k=0, *, y, y_bar):
    """A matrix with all elements on a diagonal."""
    return unarray(np.reshape(np.diagonal(y_bar, k), np.shape(v)), v)


diagflat.infer(lambda arguments, literals: Array((None, None)))
