"""What repeats elements: tiles, repetitions, padding in every mode."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view

from srcgrad.rules.facts import Array, as_array, dimensions
from srcgrad.rules.results import strong
from srcgrad.rules.shaping import same_rank
from srcgrad.rules.table import linear, rule
from srcgrad.rules.template import Argument
from srcgrad.runtime import (
    repad,
    repad_chosen,
    repad_values,
    unpad,
    unpad_chosen,
    unpad_values,
    unrepeat,
    unresize,
    untile,
    unwindow,
)


@linear(np.tile, "A")
def tile(A, reps, *, y, y_bar):
    """Copies side by side."""
    return untile(y_bar, A, reps)


@tile.infer
def tile(arguments, literals):
    a, reps = as_array(arguments["A"]), literals.get("reps")
    count = len(reps) if isinstance(reps, tuple) else 1 if type(reps) is int else None
    shape = None if a.rank is None or count is None else (None,) * max(a.rank, count)
    return Array(shape, strong(a.dtype))


@linear(np.repeat, "a")
def repeat(a, repeats, axis=None, *, y, y_bar):
    """Every element several times."""
    return unrepeat(y_bar, a, repeats, axis)


@repeat.infer
def repeat(arguments, literals):
    a = as_array(arguments["a"])
    if literals.get("axis", None) is None:
        return Array((None,) if "axis" in literals else None, strong(a.dtype))
    return Array(None if a.shape is None else (None,) * len(a.shape), a.dtype)


@linear(np.resize, "a")
def resize(a, new_shape, *, y, y_bar):
    """The elements over and over, as many as fit."""
    return unresize(y_bar, a)


@resize.infer
def resize(arguments, literals):
    a = as_array(arguments["a"])
    return Array(dimensions(arguments.get("new_shape"), literals.get("new_shape")), strong(a.dtype))


@linear(sliding_window_view, "x")
def windows(x, window_shape, axis=None, *, y, y_bar):
    """All windows of a shape: every element belongs to several."""
    return unwindow(y_bar, x, window_shape, axis)


windows.accept(ignored=("subok", "writeable"))


# --- padding ---------------------------------------------------------------------------------------------------------
def _is_linear(argument: Argument) -> bool:
    """A mode in which what is padded is linear in the array: its values need not be known."""
    return argument.is_literal and argument.literal in (
        "constant", "edge", "empty", "linear_ramp", "mean", "reflect", "symmetric", "wrap",
    )  # fmt: skip


@rule(np.pad)
def pad(
    array, pad_width, mode="constant", stat_length=None, constant_values=0, end_values=0, reflect_type="even",
    *, y, y_bar,
):  # fmt: skip
    """Padded with constants, ramps, statistics or elements: each axis over what the ones before it made."""
    return (
        unpad_chosen(y_bar, array, pad_width, mode, stat_length, reflect_type),
        None,
        None,
        None,
        unpad_values(y_bar, array, constant_values, pad_width, mode),
        unpad_values(y_bar, array, end_values, pad_width, mode),
    )


@pad.when(mode=_is_linear)
def pad(
    array, pad_width, mode="constant", stat_length=None, constant_values=0, end_values=0, reflect_type="even",
    *, y, y_bar,
):  # fmt: skip
    """Padded with constants, ramps, means or elements of the array."""
    return (
        unpad(y_bar, array, pad_width, mode, stat_length, reflect_type),
        None,
        None,
        None,
        unpad_values(y_bar, array, constant_values, pad_width, mode),
        unpad_values(y_bar, array, end_values, pad_width, mode),
    )


@pad.tangent
def pad(
    array, pad_width, mode="constant", stat_length=None, constant_values=0, end_values=0, reflect_type="even",
    *, y, array_dot, constant_values_dot, end_values_dot,
):  # fmt: skip
    return (
        repad_chosen(array_dot, array, pad_width, mode, stat_length, reflect_type),
        repad_values(constant_values_dot, array, pad_width, mode),
        repad_values(end_values_dot, array, pad_width, mode),
    )


@pad.tangent_when(mode=_is_linear)
def pad(
    array, pad_width, mode="constant", stat_length=None, constant_values=0, end_values=0, reflect_type="even",
    *, y, array_dot, constant_values_dot, end_values_dot,
):  # fmt: skip
    return (
        repad(array_dot, array, pad_width, mode, stat_length, reflect_type),
        repad_values(constant_values_dot, array, pad_width, mode),
        repad_values(end_values_dot, array, pad_width, mode),
    )


pad.infer(same_rank("array"))
