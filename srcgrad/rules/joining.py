"""What joins arrays, puts parts in, takes parts out, takes arrays apart: each transpose does the opposite."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad.rules.facts import Array, Sequence, as_array
from srcgrad.rules.results import dtype_of, joined, of_dtype, strong
from srcgrad.rules.table import linear, rule
from srcgrad.runtime import (
    count,
    join_columns,
    join_rows,
    reastype,
    reinsert_values,
    unappend,
    unastype,
    unblock,
    uncolumn_stack,
    unconcatenate,
    undstack,
    unhstack,
    uninsert,
    uninsert_values,
    unjoin_columns,
    unjoin_rows,
    unsplit,
    unstack,
    untake_axis,
    unvstack,
    zeros_like,
)


# --- joining ---------------------------------------------------------------------------------------------------------
@rule(np.concatenate)
def concatenate(arrays, axis=0, dtype=None, *, y, y_bar):
    """Arrays one after the other, in another dtype."""
    return unconcatenate(unastype(y_bar, y_bar, dtype), arrays, axis)


@concatenate.tangent
def concatenate(arrays, axis=0, dtype=None, *, y, arrays_dot):
    return reastype(np.concatenate(arrays_dot, axis), y)


@concatenate.when(dtype=None)
def concatenate(arrays, axis=0, dtype=None, *, y, y_bar):
    """Arrays one after the other."""
    return unconcatenate(y_bar, arrays, axis)


@concatenate.tangent_when(dtype=None)
def concatenate(arrays, axis=0, dtype=None, *, y, arrays_dot):
    return np.concatenate(arrays_dot, axis)


@concatenate.infer
def concatenate(arguments, literals):
    fact, _ = joined(arguments["arrays"])
    if fact is None or literals.get("axis", None) is None:
        return Array()
    return of_dtype(fact.shape, arguments, literals, fact.dtype)


@rule(np.stack)
def stack(arrays, axis=0, dtype=None, *, y, y_bar):
    """Arrays along a new axis, in another dtype."""
    return unstack(unastype(y_bar, y_bar, dtype), arrays, axis)


@stack.tangent
def stack(arrays, axis=0, dtype=None, *, y, arrays_dot):
    return reastype(np.stack(arrays_dot, axis), y)


@stack.when(dtype=None)
def stack(arrays, axis=0, dtype=None, *, y, y_bar):
    """Arrays along a new axis."""
    return unstack(y_bar, arrays, axis)


@stack.tangent_when(dtype=None)
def stack(arrays, axis=0, dtype=None, *, y, arrays_dot):
    return np.stack(arrays_dot, axis)


@stack.infer
def stack(arguments, literals):
    fact, _ = joined(arguments["arrays"])
    if fact is None or fact.shape is None:
        return Array(None, None if fact is None else dtype_of(arguments, literals, fact.dtype))
    return of_dtype((None, *fact.shape), arguments, literals, fact.dtype)


@rule(np.vstack, *({np.row_stack} if hasattr(np, "row_stack") else ()))
def vstack(tup, dtype=None, *, y, y_bar):
    """Rows below each other, in another dtype."""
    return unvstack(unastype(y_bar, y_bar, dtype), tup)


@vstack.tangent
def vstack(tup, dtype=None, *, y, tup_dot):
    return reastype(np.vstack(tup_dot), y)


@vstack.when(dtype=None)
def vstack(tup, dtype=None, *, y, y_bar):
    """Rows below each other."""
    return unvstack(y_bar, tup)


@vstack.tangent_when(dtype=None)
def vstack(tup, dtype=None, *, y, tup_dot):
    return np.vstack(tup_dot)


@rule(np.hstack)
def hstack(tup, dtype=None, *, y, y_bar):
    """Columns beside each other, in another dtype."""
    return unhstack(unastype(y_bar, y_bar, dtype), tup)


@hstack.tangent
def hstack(tup, dtype=None, *, y, tup_dot):
    return reastype(np.hstack(tup_dot), y)


@hstack.when(dtype=None)
def hstack(tup, dtype=None, *, y, y_bar):
    """Columns beside each other."""
    return unhstack(y_bar, tup)


@hstack.tangent_when(dtype=None)
def hstack(tup, dtype=None, *, y, tup_dot):
    return np.hstack(tup_dot)


@linear(np.dstack, "tup")
def dstack(tup, *, y, y_bar):
    """Layers behind each other."""
    return undstack(y_bar, tup)


@linear(np.column_stack, "tup")
def column_stack(tup, *, y, y_bar):
    """Vectors as columns."""
    return uncolumn_stack(y_bar, tup)


@linear(join_rows, "items")
def join_rows_(items, *, y, y_bar):
    """``np.r_[items]``: along the first axis."""
    return unjoin_rows(y_bar, items)


@linear(join_columns, "items")
def join_columns_(items, *, y, y_bar):
    """``np.c_[items]``: vectors as columns, along the last axis."""
    return unjoin_columns(y_bar, items)


def _stacked(least: int, of: str = "tup"):
    """The fact of stacked arrays of at least so many axes."""

    def infer(arguments, literals):
        fact, _ = joined(arguments[of])
        if fact is None:
            return Array()
        shape = None if fact.rank is None else (None,) * max(fact.rank, least)
        return of_dtype(shape, arguments, literals, fact.dtype)

    return infer


hstack.infer(_stacked(1))
vstack.infer(_stacked(2))
column_stack.infer(_stacked(2))
dstack.infer(_stacked(3))
join_rows_.infer(_stacked(1, "items"))
join_columns_.infer(_stacked(2, "items"))
for joining in (concatenate, stack, vstack, hstack):
    joining.accept(ignored=("casting",))


@linear(np.block, "arrays")
def block(arrays, *, y, y_bar):
    """Nested lists of blocks: the innermost side by side, the outer ones below each other."""
    return unblock(y_bar, arrays)


block.infer(lambda arguments, literals: Array())


# --- parts put in and taken out --------------------------------------------------------------------------------------
@rule(np.append)
def append(arr, values, axis=None, *, y, y_bar):
    """Values after an array, along an axis."""
    parts = unappend(y_bar, arr, values, axis)
    return parts[0], parts[1]


@append.tangent
def append(arr, values, axis=None, *, y, arr_dot, values_dot):
    return (
        np.append(arr_dot, zeros_like(values), axis),
        np.append(zeros_like(arr), values_dot, axis),
    )


@rule(np.insert)
def insert(arr, obj, values, axis=None, *, y, y_bar):
    """Values put in before positions."""
    return uninsert(y_bar, arr, values, obj, axis), None, uninsert_values(y_bar, arr, values, obj, axis)


@insert.tangent
def insert(arr, obj, values, axis=None, *, y, arr_dot, values_dot):
    return (
        np.insert(arr_dot, obj, zeros_like(values), axis),
        reinsert_values(values_dot, arr, obj, axis),
    )


@linear(np.delete, "arr")
def delete(arr, obj, axis=None, *, y, y_bar):
    """Without the elements at positions."""
    kept = np.delete(np.arange(count(arr, axis)), obj)
    return untake_axis(y_bar, arr, kept, axis)


def appended(arguments, literals):
    """The fact of an array with parts put in or taken out."""
    arr = as_array(arguments["arr"])
    axis = literals.get("axis", 0)
    shape = (None,) if axis is None else None if arr.rank is None else (None,) * arr.rank
    return Array(shape if "axis" in literals else None)


for changed in (append, insert, delete):
    changed.infer(appended)


# --- taken apart -----------------------------------------------------------------------------------------------------
@linear(np.split, "ary")
def split(ary, indices_or_sections, axis=0, *, y, y_bar):
    """A list of equal pieces, joined again."""
    return unsplit(y_bar, ary, indices_or_sections, axis)


@split.when(indices_or_sections=lambda argument: isinstance(argument.literal, int))
def split(ary, indices_or_sections, axis=0, *, y, y_bar):
    """So many equal pieces, joined again."""
    return np.concatenate(y_bar, axis)


@linear(np.array_split, "ary")
def array_split(ary, indices_or_sections, axis=0, *, y, y_bar):
    """A list of pieces, joined again."""
    return unsplit(y_bar, ary, indices_or_sections, axis)


@array_split.when(indices_or_sections=lambda argument: isinstance(argument.literal, int))
def array_split(ary, indices_or_sections, axis=0, *, y, y_bar):
    """So many pieces, joined again."""
    return np.concatenate(y_bar, axis)


@linear(np.vsplit, "ary")
def vsplit(ary, indices_or_sections, *, y, y_bar):
    """A list of rows, joined again."""
    return unsplit(y_bar, ary, indices_or_sections)


@linear(np.hsplit, "ary")
def hsplit(ary, indices_or_sections, *, y, y_bar):
    """A list of columns, joined again; of a vector, its parts."""
    return unsplit(y_bar, ary, indices_or_sections, min(np.ndim(ary) - 1, 1))


@linear(np.dsplit, "ary")
def dsplit(ary, indices_or_sections, *, y, y_bar):
    """A list of layers, joined again."""
    return unsplit(y_bar, ary, indices_or_sections, 2)


def pieces(arguments, literals):
    """The fact of a list of pieces: each has the axes of the whole."""
    ary = as_array(arguments["ary"])
    each = Array(None if ary.shape is None else (None,) * len(ary.shape), strong(ary.dtype))
    sections = literals.get("indices_or_sections")
    if type(sections) is int and sections > 0:
        return Sequence("list", (each,) * sections)
    return (
        Sequence("list", (each,) * (len(sections) + 1)) if isinstance(sections, tuple) else Sequence("list", None, each)
    )


for splitting in (split, array_split, vsplit, hsplit, dsplit):
    splitting.infer(pieces)


if hasattr(np, "unstack"):  # NumPy 2.1

    @linear(np.unstack, "x")
    def unstack_(x, axis=0, *, y, y_bar):
        """The parts along an axis, stacked again."""
        return np.stack(y_bar, axis)

    @unstack_.infer
    def unstack_(arguments, literals):
        x = as_array(arguments["x"])
        return Sequence("tuple", None, Array((None,) * (x.rank - 1) if x.rank else None, x.dtype))
