"""Rules of the runtime's transposes of what moves, joins, repeats and picks elements: each transposes back."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from srcgrad import runtime
from srcgrad.rules.facts import Array, Sequence, Unknown, element, is_floating
from srcgrad.rules.table import constant, linear
from srcgrad.runtime import (
    join_columns,
    join_rows,
    mesh,
    permute_along,
    pick,
    reastype,
    rechoose,
    reinsert_values,
    repad,
    repad_chosen,
    repad_values,
    unastype,
    unbroadcast,
    unchoose,
    uninsert_values,
    unmesh,
    unpad,
    unpad_chosen,
    unpad_values,
    unpermute_along,
    unpick,
    zeros_like,
)

constant(
    runtime.arranging, runtime.exponents, runtime.intervals, runtime.is_between, runtime.is_replaced,
    runtime.knots_around, runtime.laps, runtime.memory_axes, runtime.memory_order, runtime.selected, runtime.sorting,
    runtime.span_of,
)  # fmt: skip


def _like(name: str):
    """The fact of the cotangent of an argument: an array like it, where it is one; a sequence has a list."""

    def infer(arguments, literals):
        fact = arguments[name]
        if not isinstance(fact, Array):
            return Unknown()
        return fact if is_floating(fact.dtype) else Array(fact.shape)

    return infer


# --- joining ---------------------------------------------------------------------------------------------------------
def _items_like(arguments, literals):
    """The fact of the cotangents of arrays that were joined: a list of arrays like them."""
    match arguments.get("arrays", arguments.get("items")):
        case Sequence(_, tuple() as items) if all(map(_is_floating, items)):
            return Sequence("list", items)
        case Sequence() as fact if _is_floating(element(fact)):
            return Sequence("list", None, element(fact))
    return Unknown()


def _is_floating(fact):
    return isinstance(fact, Array) and is_floating(fact.dtype)


@linear(runtime.unconcatenate, "g")
def unconcatenate_(g, arrays, axis=0, *, y, y_bar):
    """Taken apart; joined again."""
    return np.concatenate(y_bar, axis)


@linear(runtime.unappend, "g")
def unappend_(g, arr, values, axis=None, *, y, y_bar):
    """Taken apart; joined again."""
    return np.append(y_bar[0], y_bar[1], axis)


@linear(runtime.unstack, "g")
def unstack_(g, arrays, axis=0, *, y, y_bar):
    """Taken apart; stacked again."""
    return np.stack(y_bar, axis)


@linear(runtime.unvstack, "g")
def unvstack_(g, arrays, *, y, y_bar):
    """Taken apart; stacked again."""
    return np.vstack(y_bar)


@linear(runtime.unhstack, "g")
def unhstack_(g, arrays, *, y, y_bar):
    """Taken apart; stacked again."""
    return np.hstack(y_bar)


@linear(runtime.undstack, "g")
def undstack_(g, arrays, *, y, y_bar):
    """Taken apart; stacked again."""
    return np.dstack(y_bar)


@linear(runtime.uncolumn_stack, "g")
def uncolumn_stack_(g, arrays, *, y, y_bar):
    """Taken apart; stacked again."""
    return np.column_stack(y_bar)


@linear(runtime.unjoin_rows, "g")
def unjoin_rows_(g, items, *, y, y_bar):
    """Taken apart; joined again."""
    return join_rows(y_bar)


@linear(runtime.unjoin_columns, "g")
def unjoin_columns_(g, items, *, y, y_bar):
    """Taken apart; joined again."""
    return join_columns(y_bar)


@linear(runtime.unblock, "g")
def unblock_(g, arrays, *, y, y_bar):
    """Taken apart; put together again."""
    return np.block(y_bar)


@linear(runtime.uninsert, "g")
def uninsert_(g, arr, values, obj, axis=None, *, y, y_bar):
    """What was there before; room is made in it again."""
    return np.insert(y_bar, obj, zeros_like(values), axis)


@linear(runtime.uninsert_values, "g")
def uninsert_values_(g, arr, values, obj, axis=None, *, y, y_bar):
    """What was put in; put in again."""
    return reinsert_values(y_bar, arr, obj, axis)


@linear(runtime.reinsert_values, "v")
def reinsert_values_(v, arr, obj, axis=None, *, y, y_bar):
    """Put in; what was put in again."""
    return uninsert_values(y_bar, arr, v, obj, axis)


@linear(runtime.unsplit, "g")
def unsplit_(g, ary, indices_or_sections, axis=0, *, y, y_bar):
    """Joined; split again."""
    return np.array_split(y_bar, indices_or_sections, axis)


# --- axes and dtypes -------------------------------------------------------------------------------------------------
@linear(runtime.unpermute, "g")
def unpermute_(g, axes, *, y, y_bar):
    """Axes put back; permuted again."""
    return np.transpose(y_bar, axes)


@linear(runtime.unrollaxis, "g")
def unrollaxis_(g, axis, start=0, *, y, y_bar):
    """An axis put back; rolled again."""
    return np.rollaxis(y_bar, axis, start)


@linear(runtime.mesh, "x")
def mesh_(x, like, i, indexing="xy", *, y, y_bar):
    """A vector along one axis of a grid; summed over the others."""
    return unmesh(y_bar, x, i, indexing)


@linear(runtime.unmesh, "g")
def unmesh_(g, x, i, indexing="xy", *, y, y_bar):
    """A grid summed over all axes but one; repeated along them."""
    return mesh(y_bar, g, i, indexing)


@linear(runtime.unastype, "g")
def unastype_(g, a, dtype, *, y, y_bar):
    """Nothing passes through integers, either way."""
    return unastype(y_bar, g, dtype)


@linear(runtime.reastype, "g")
def reastype_(g, like, *, y, y_bar):
    """Nothing passes through integers, either way."""
    return unbroadcast(reastype(y_bar, like), g)


# --- repeating -------------------------------------------------------------------------------------------------------
@linear(runtime.untile, "g")
def untile_(g, a, reps, *, y, y_bar):
    """Copies summed; made again."""
    return np.tile(y_bar, reps)


@linear(runtime.unrepeat, "g")
def unrepeat_(g, a, repeats, axis=None, *, y, y_bar):
    """Copies summed; made again."""
    return np.repeat(y_bar, repeats, axis)


@linear(runtime.unresize, "g")
def unresize_(g, a, *, y, y_bar):
    """Copies summed; made again."""
    return np.resize(y_bar, np.shape(g))


@linear(runtime.unwindow, "g")
def unwindow_(g, x, window_shape, axis=None, *, y, y_bar):
    """Windows summed; taken again."""
    return sliding_window_view(y_bar, window_shape, axis)


@linear(runtime.unpad, "g")
def unpad_(g, array, pad_width, mode="constant", stat_length=None, reflect_type="even", *, y, y_bar):
    """The part inside, with what the padding took from it; padded again."""
    return repad(y_bar, g, pad_width, mode, stat_length, reflect_type)


@linear(runtime.repad, "v")
def repad_(v, array, pad_width, mode="constant", stat_length=None, reflect_type="even", *, y, y_bar):
    """Padded; the part inside again."""
    return unpad(y_bar, v, pad_width, mode, stat_length, reflect_type)


@linear(runtime.unpad_chosen, "g")
def unpad_chosen_(g, array, pad_width, mode="constant", stat_length=None, reflect_type="even", *, y, y_bar):
    """The part inside, with what the padding took from it; padded again."""
    return repad_chosen(y_bar, array, pad_width, mode, stat_length, reflect_type)


@linear(runtime.repad_chosen, "v")
def repad_chosen_(v, array, pad_width, mode="constant", stat_length=None, reflect_type="even", *, y, y_bar):
    """Padded; the part inside again."""
    return unpad_chosen(y_bar, array, pad_width, mode, stat_length, reflect_type)


@linear(runtime.unpad_values, "g")
def unpad_values_(g, array, values, pad_width, mode="constant", *, y, y_bar):
    """The padding summed; filled again."""
    return repad_values(y_bar, array, pad_width, mode)


@linear(runtime.repad_values, "v")
def repad_values_(v, array, pad_width, mode="constant", *, y, y_bar):
    """The padding filled; summed again."""
    return unpad_values(y_bar, array, v, pad_width, mode)


# --- picking ---------------------------------------------------------------------------------------------------------
@linear(runtime.undiagonal, "g")
def undiagonal_(g, a, offset=0, axis1=0, axis2=1, *, y, y_bar):
    """Put on a diagonal; taken again."""
    return np.diagonal(y_bar, offset, axis1, axis2)


@linear(runtime.untrace, "g")
def untrace_(g, a, offset=0, axis1=0, axis2=1, *, y, y_bar):
    """One value along a diagonal; summed again."""
    return np.trace(y_bar, offset, axis1, axis2)


@linear(runtime.undiag, "g")
def undiag_(g, v, k=0, *, y, y_bar):
    """The transpose of np.diag."""
    return np.diag(y_bar, k)


@linear(runtime.untake_axis, "g")
def untake_axis_(g, a, indices, axis=None, mode="raise", *, y, y_bar):
    """Put back; taken again."""
    return np.take(y_bar, indices, axis, mode=mode)


@linear(runtime.untake_along, "g")
def untake_along_(g, arr, indices, axis=-1, *, y, y_bar):
    """Put back; taken again."""
    return np.take_along_axis(y_bar, indices, axis)


@linear(runtime.permute_along, "a")
def permute_along_(a, places, axis=-1, *, y, y_bar):
    """Another order; put back."""
    return unpermute_along(y_bar, a, places, axis)


@linear(runtime.unpermute_along, "g")
def unpermute_along_(g, arr, places, axis=-1, *, y, y_bar):
    """Put back; in the other order again."""
    return permute_along(y_bar, places, axis)


@linear(runtime.pick, "a")
def pick_(a, args, *, y, y_bar):
    """One element; put back."""
    return unpick(y_bar, a, args)


@linear(runtime.unpick, "g")
def unpick_(g, a, args, *, y, y_bar):
    """Put back; taken again."""
    return pick(y_bar, args)


@linear(runtime.unchoose, "g")
def unchoose_(g, a, choices, mode="raise", *, y, y_bar):
    """Handed to what was chosen; chosen again."""
    return rechoose(y_bar, a, mode)


@linear(runtime.rechoose, "choices")
def rechoose_(choices, a, mode="raise", *, y, y_bar):
    """Chosen; handed to what was chosen."""
    return unchoose(y_bar, a, choices, mode)


# --- facts -----------------------------------------------------------------------------------------------------------
for taken_apart in (
    unconcatenate_, unstack_, unvstack_, unhstack_, undstack_, uncolumn_stack_, unjoin_rows_, unjoin_columns_,
):  # fmt: skip
    taken_apart.infer(_items_like)
for shaped_, name in (
    (unpad_, "array"), (undiagonal_, "a"), (untrace_, "a"), (undiag_, "v"), (untake_axis_, "a"), (untake_along_, "arr"),
    (unrepeat_, "a"), (unwindow_, "x"), (untile_, "a"), (unresize_, "a"), (mesh_, "like"), (unmesh_, "x"),
    (unpad_chosen_, "array"), (unpermute_along_, "arr"), (unastype_, "a"),
):  # fmt: skip
    shaped_.infer(_like(name))
