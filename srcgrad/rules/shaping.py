"""What moves elements: reshaping, permuting, joining, repeating, padding.  Each is linear, each has a transpose."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad.rules.facts import Array, Dimension, as_array, dimensions
from srcgrad.rules.results import joined, reshaped, total_size
from srcgrad.rules.table import linear, rule
from srcgrad.runtime import (
    unbroadcast,
    uncolumn_stack,
    unconcatenate,
    undiag,
    unhstack,
    unpad,
    unpermute,
    unrepeat,
    unstack,
    untile,
    unvstack,
)


# --- shapes ----------------------------------------------------------------------------------------------------------
@linear(np.reshape, "a")
def reshape(a, shape, order="C", *, y, y_bar):
    """The same elements in another shape."""
    return np.reshape(y_bar, np.shape(a), order=order)


reshape.accept(newshape="shape", allowed={"order": ("C", "F")}, ignored=("copy",))


@reshape.infer
def reshape(arguments, literals):
    return reshaped(as_array(arguments["a"]), arguments.get("shape"), literals.get("shape"))


@linear(np.ravel, "a")
def ravel(a, order="C", *, y, y_bar):
    """All elements in a row."""
    return np.reshape(y_bar, np.shape(a), order=order)


ravel.accept(allowed={"order": ("C", "F")})


@ravel.infer
def ravel(arguments, literals):
    a = as_array(arguments["a"])
    return Array((total_size(a.shape),), a.dtype)


@linear(np.squeeze, "a")
def squeeze(a, axis=None, *, y, y_bar):
    """Without axes of length 1."""
    return np.reshape(y_bar, np.shape(a))


@squeeze.infer
def squeeze(arguments, literals):
    a, axis = as_array(arguments["a"]), literals.get("axis")
    if a.shape is None or type(axis) is not int or not -len(a.shape) <= axis < len(a.shape):
        return Array(None, a.dtype)
    return Array(tuple(n for i, n in enumerate(a.shape) if i != axis % len(a.shape)), a.dtype)


@linear(np.expand_dims, "a")
def expand_dims(a, axis, *, y, y_bar):
    """With new axes of length 1."""
    return np.reshape(y_bar, np.shape(a))


@expand_dims.infer
def expand_dims(arguments, literals):
    a, axis = as_array(arguments["a"]), literals.get("axis")
    if a.shape is None or type(axis) is not int or not -len(a.shape) - 1 <= axis <= len(a.shape):
        return Array(None, a.dtype)
    place = axis % (len(a.shape) + 1)
    return Array(a.shape[:place] + (1,) + a.shape[place:], a.dtype)


@linear(np.atleast_1d, "ary")
def atleast_1d(ary, *, y, y_bar):
    """At least one axis (one array at a time)."""
    return unbroadcast(np.reshape(y_bar, np.shape(ary)), ary)


@linear(np.atleast_2d, "ary")
def atleast_2d(ary, *, y, y_bar):
    """At least two axes (one array at a time)."""
    return unbroadcast(np.reshape(y_bar, np.shape(ary)), ary)


@linear(np.atleast_3d, "ary")
def atleast_3d(ary, *, y, y_bar):
    """At least three axes (one array at a time)."""
    return unbroadcast(np.reshape(y_bar, np.shape(ary)), ary)


@linear(np.broadcast_to, "array")
def broadcast_to(array, shape, *, y, y_bar):
    """Repeated up to a shape."""
    return unbroadcast(y_bar, array)


@broadcast_to.infer
def broadcast_to(arguments, literals):
    return Array(dimensions(arguments.get("shape"), literals.get("shape")), as_array(arguments["array"]).dtype)


# --- axes ------------------------------------------------------------------------------------------------------------
@linear(np.transpose, "a")
def transpose(a, axes=None, *, y, y_bar):
    """Permuted axes."""
    return unpermute(y_bar, axes)


@transpose.when(axes=None)
def transpose(a, axes=None, *, y, y_bar):
    """Axes in reverse."""
    return np.transpose(y_bar)


@transpose.infer
def transpose(arguments, literals):
    a, axes = as_array(arguments["a"]), literals.get("axes", 0)
    if a.shape is None:
        return a
    if axes is None:
        return Array(a.shape[::-1], a.dtype, a.scalar)
    if isinstance(axes, tuple) and len(axes) == len(a.shape) and all(type(i) is int for i in axes):
        return Array(tuple(a.shape[i] for i in axes), a.dtype)
    return Array((None,) * len(a.shape), a.dtype)


@linear(np.matrix_transpose, "x")
def matrix_transpose(x, *, y, y_bar):
    """The last two axes swapped."""
    return np.matrix_transpose(y_bar)


@matrix_transpose.infer
def matrix_transpose(arguments, literals):
    x = as_array(arguments["x"])
    return Array(None if x.shape is None else x.shape[:-2] + x.shape[:-3:-1], x.dtype)


@linear(np.swapaxes, "a")
def swapaxes(a, axis1, axis2, *, y, y_bar):
    """Two axes swapped."""
    return np.swapaxes(y_bar, axis1, axis2)


@linear(np.moveaxis, "a")
def moveaxis(a, source, destination, *, y, y_bar):
    """Axes moved, and moved back."""
    return np.moveaxis(y_bar, destination, source)


@linear(np.flip, "m")
def flip(m, axis=None, *, y, y_bar):
    """Elements in reverse."""
    return np.flip(y_bar, axis)


@linear(np.fliplr, "m")
def fliplr(m, *, y, y_bar):
    """Columns in reverse."""
    return np.fliplr(y_bar)


@linear(np.flipud, "m")
def flipud(m, *, y, y_bar):
    """Rows in reverse."""
    return np.flipud(y_bar)


@linear(np.rot90, "m")
def rot90(m, k=1, axes=(0, 1), *, y, y_bar):
    """Quarter turns, and back."""
    return np.rot90(y_bar, -k, axes)


@linear(np.roll, "a")
def roll(a, shift, axis=None, *, y, y_bar):
    """Elements shifted around, and back."""
    return np.roll(y_bar, np.negative(shift), axis)


@roll.when(shift=lambda argument: isinstance(argument.literal, int))
def roll(a, shift, axis=None, *, y, y_bar):
    """One shift."""
    return np.roll(y_bar, -shift, axis)


def _same_rank(name: str):
    def infer(arguments, literals):
        a = as_array(arguments[name])
        return Array(None if a.shape is None else (None,) * len(a.shape), a.dtype)

    return infer


def _same_shape(name: str):
    return lambda arguments, literals: as_array(arguments[name])


for kept, name in ((swapaxes, "a"), (moveaxis, "a"), (rot90, "m")):
    kept.infer(_same_rank(name))
for kept, name in ((flip, "m"), (fliplr, "m"), (flipud, "m"), (roll, "a")):
    kept.infer(_same_shape(name))


# --- joining and splitting -------------------------------------------------------------------------------------------
@linear(np.concatenate, "arrays")
def concatenate(arrays, axis=0, *, y, y_bar):
    """Arrays one after the other."""
    return unconcatenate(y_bar, arrays, axis)


@concatenate.infer
def concatenate(arguments, literals):
    fact, _ = joined(arguments["arrays"])
    if fact is None or literals.get("axis", None) is None:
        return Array()
    return fact


@linear(np.stack, "arrays")
def stack(arrays, axis=0, *, y, y_bar):
    """Arrays along a new axis."""
    return unstack(y_bar, arrays, axis)


@stack.infer
def stack(arguments, literals):
    fact, _ = joined(arguments["arrays"])
    if fact is None or fact.shape is None:
        return Array(None, None if fact is None else fact.dtype)
    return Array((None, *fact.shape), _strong(fact.dtype))


def _strong(dtype: str | None) -> str | None:
    return {"float": "float64", "int": None, "complex": "complex128"}.get(dtype or "", dtype)


@linear(np.vstack, "tup")
def vstack(tup, *, y, y_bar):
    """Rows below each other."""
    return unvstack(y_bar, tup)


@linear(np.hstack, "tup")
def hstack(tup, *, y, y_bar):
    """Columns beside each other."""
    return unhstack(y_bar, tup)


@linear(np.column_stack, "tup")
def column_stack(tup, *, y, y_bar):
    """Vectors as columns."""
    return uncolumn_stack(y_bar, tup)


def rows_result(arguments, literals):
    """The fact of stacked rows or columns."""
    fact, _ = joined(arguments["tup"])
    rank = None if fact is None or fact.rank is None else max(fact.rank, 2)
    return Array(None if rank is None else (None,) * rank, None if fact is None else _strong(fact.dtype))


vstack.infer(rows_result)
column_stack.infer(rows_result)


@hstack.infer
def hstack(arguments, literals):
    fact, _ = joined(arguments["tup"])
    rank = None if fact is None or fact.rank is None else max(fact.rank, 1)
    return Array(None if rank is None else (None,) * rank, None if fact is None else _strong(fact.dtype))


@linear(np.split, "ary")
def split(ary, indices_or_sections, axis=0, *, y, y_bar):
    """A list of equal pieces, joined again."""
    return np.concatenate(y_bar, axis)


@linear(np.array_split, "ary")
def array_split(ary, indices_or_sections, axis=0, *, y, y_bar):
    """A list of pieces, joined again."""
    return np.concatenate(y_bar, axis)


# --- repeating and padding -------------------------------------------------------------------------------------------
@linear(np.tile, "A")
def tile(A, reps, *, y, y_bar):
    """Copies side by side."""
    return untile(y_bar, A, reps)


@linear(np.repeat, "a")
def repeat(a, repeats, axis=None, *, y, y_bar):
    """Every element several times."""
    return unrepeat(y_bar, a, repeats, axis)


@repeat.infer
def repeat(arguments, literals):
    a = as_array(arguments["a"])
    if literals.get("axis", None) is None:
        return Array((None,) if "axis" in literals else None, _strong(a.dtype))
    return Array(None if a.shape is None else (None,) * len(a.shape), a.dtype)


@rule(np.pad)
def pad(array, pad_width, mode="constant", constant_values=0, *, y, y_bar):
    """Padded with constants: the part inside."""
    return unpad(y_bar, array, pad_width)


@pad.tangent
def pad(array, pad_width, mode="constant", constant_values=0, *, y, array_dot):
    return np.pad(array_dot, pad_width)


pad.accept(allowed={"mode": ("constant",)})
pad.infer(_same_rank("array"))


# --- parts -----------------------------------------------------------------------------------------------------------
@linear(np.triu, "m")
def triu(m, k=0, *, y, y_bar):
    """The upper triangle."""
    return np.triu(y_bar, k)


@linear(np.tril, "m")
def tril(m, k=0, *, y, y_bar):
    """The lower triangle."""
    return np.tril(y_bar, k)


triu.infer(_same_shape("m"))
tril.infer(_same_shape("m"))


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
