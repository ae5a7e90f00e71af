"""What moves elements without touching them: other shapes, other axes, elements in reverse.

Each is linear, each has a transpose.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import gast
import numpy as np

from srcgrad.rules.facts import Array, Fact, Sequence, Unknown, as_array, dimensions, is_floating
from srcgrad.rules.formula import constant, is_none, spelling
from srcgrad.rules.results import Facts, Literals, reshaped, strong, total_size
from srcgrad.rules.rewriting import item, read
from srcgrad.rules.table import linear, rule
from srcgrad.rules.template import Argument, rank
from srcgrad.runtime import (
    memory_axes,
    memory_order,
    mesh,
    rebroadcast,
    unbroadcast,
    unmesh,
    unpermute,
    unrollaxis,
)


# --- shapes ----------------------------------------------------------------------------------------------------------
def _in_index_order(argument: Argument) -> bool:
    return argument.is_literal and argument.literal in ("C", "F")


@rule(np.reshape)
def reshape(a, shape, order="C", *, y, y_bar):
    """The same elements in another shape, in any order."""
    return np.reshape(y_bar, np.shape(a), order=memory_order(a, order))


@reshape.tangent
def reshape(a, shape, order="C", *, y, a_dot):
    return np.reshape(a_dot, shape, order=memory_order(a, order))


@reshape.when(order=_in_index_order)
def reshape(a, shape, order="C", *, y, y_bar):
    """The same elements in another shape, in the order of their indices."""
    return np.reshape(y_bar, np.shape(a), order=order)


@reshape.tangent_when(order=_in_index_order)
def reshape(a, shape, order="C", *, y, a_dot):
    return np.reshape(a_dot, shape, order=order)


reshape.accept(newshape="shape", ignored=("copy",))


@reshape.infer
def reshape(arguments, literals):
    return reshaped(as_array(arguments["a"]), arguments.get("shape"), literals.get("shape"))


@rule(np.ravel)
def ravel(a, order="C", *, y, y_bar):
    """All elements in a row, in any order."""
    axes = memory_axes(a, order)
    return unpermute(np.reshape(y_bar, np.shape(np.transpose(a, axes))), axes)


@ravel.tangent
def ravel(a, order="C", *, y, a_dot):
    return np.ravel(np.transpose(a_dot, memory_axes(a, order)))


@ravel.when(order=_in_index_order)
def ravel(a, order="C", *, y, y_bar):
    """All elements in a row, in the order of their indices."""
    return np.reshape(y_bar, np.shape(a), order=order)


@ravel.tangent_when(order=_in_index_order)
def ravel(a, order="C", *, y, a_dot):
    return np.ravel(a_dot, order=order)


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


# --- several arrays at a time ----------------------------------------------------------------------------------------
def _is_one(argument: Argument) -> bool:
    return argument.count == 1


def _each(variadic: str, term: Callable[[gast.expr, gast.expr, int], gast.expr], *, alone: bool = False):
    """The tangent of a function of several arrays that returns as many: ``term(x_dot, y[i], i)`` of each one.

    Where it is given one array and returns no tuple of one (``alone``), the term itself.
    """

    def tangent(given):
        operands, dots = given[variadic], given.get(f"{variadic}_dot")
        count = len(operands.elts)
        terms: list[gast.expr] = []
        for i in range(count):
            still = isinstance(dots, gast.Tuple) and is_none(dots.elts[i])
            result = read("y") if alone and count == 1 else item("y", i)
            zeros = gast.Call(spelling(np.zeros_like), [result], [])
            terms.append(zeros if still else term(item(f"{variadic}_dot", i), result, i))
        return terms[0] if alone and count == 1 else gast.Tuple(terms, gast.Load())

    return tangent


def _call(function: Callable[..., object], *args: gast.expr) -> gast.expr:
    return gast.Call(spelling(function), list(args), [])


def _results(variadic: str, make: Callable[[Array, int], Fact], *, alone: bool = False):
    """The facts of as many results as there are arrays."""

    def infer(arguments: Facts, literals: Literals) -> Fact:
        match arguments[variadic]:
            case Sequence(_, tuple() as items):
                made = tuple(make(as_array(fact), i) for i, fact in enumerate(items))
                return made[0] if alone and len(made) == 1 else Sequence("tuple", made)
        return Unknown()

    return infer


@rule(np.atleast_1d)
def atleast_1d(*arys, y, y_bar):
    """At least one axis each."""
    return [np.reshape(y_bar[i], np.shape(x)) for i, x in enumerate(arys)]


@atleast_1d.when(arys=_is_one)
def atleast_1d(*arys, y, y_bar):
    """At least one axis."""
    return [np.reshape(y_bar, np.shape(x)) for x in arys]


@rule(np.atleast_2d)
def atleast_2d(*arys, y, y_bar):
    """At least two axes each."""
    return [np.reshape(y_bar[i], np.shape(x)) for i, x in enumerate(arys)]


@atleast_2d.when(arys=_is_one)
def atleast_2d(*arys, y, y_bar):
    """At least two axes."""
    return [np.reshape(y_bar, np.shape(x)) for x in arys]


@rule(np.atleast_3d)
def atleast_3d(*arys, y, y_bar):
    """At least three axes each."""
    return [np.reshape(y_bar[i], np.shape(x)) for i, x in enumerate(arys)]


@atleast_3d.when(arys=_is_one)
def atleast_3d(*arys, y, y_bar):
    """At least three axes."""
    return [np.reshape(y_bar, np.shape(x)) for x in arys]


def _at_least(rank: int) -> Callable[[Array, int], Fact]:
    def make(a: Array, i: int) -> Fact:
        shape = None if a.rank is None else a.shape if a.rank >= rank else (None,) * rank
        return Array(shape, strong(a.dtype))

    return make


for _atleast, _function, _rank in (
    (atleast_1d, np.atleast_1d, 1), (atleast_2d, np.atleast_2d, 2), (atleast_3d, np.atleast_3d, 3),
):  # fmt: skip
    _atleast.expand(None, _each("arys", lambda dot, y, i, f=_function: _call(f, dot), alone=True))
    _atleast.infer(_results("arys", _at_least(_rank), alone=True))


@linear(np.broadcast_to, "array")
def broadcast_to(array, shape, *, y, y_bar):
    """Repeated up to a shape."""
    return unbroadcast(y_bar, array)


broadcast_to.accept(ignored=("subok",))


@broadcast_to.infer
def broadcast_to(arguments, literals):
    return Array(dimensions(arguments.get("shape"), literals.get("shape")), as_array(arguments["array"]).dtype)


@rule(np.broadcast_arrays)
def broadcast_arrays(*args, y, y_bar):
    """Repeated up to a common shape."""
    return [unbroadcast(y_bar[i], x) for i, x in enumerate(args)]


broadcast_arrays.accept(ignored=("subok",))
broadcast_arrays.expand(None, _each("args", lambda dot, y, i: _call(rebroadcast, dot, y)))
broadcast_arrays.infer(_results("args", lambda a, i: Array(None, strong(a.dtype))))


@rule(np.meshgrid)
def meshgrid(sparse=False, indexing="xy", *xi, y, y_bar):
    """Vectors as coordinates of a grid: each is repeated along the axes of the others."""
    return None, None, [unmesh(y_bar[i], x, i, indexing) for i, x in enumerate(xi)]


meshgrid.accept(ignored=("copy",))
meshgrid.expand(
    None, _each("xi", lambda dot, y, i: gast.Call(spelling(mesh), [dot, y, constant(i), read("indexing")], []))
)
meshgrid.infer(lambda arguments, literals: Unknown())  # a tuple of copies, or a list of views


@rule(np.ix_)
def ix_(*args, y, y_bar):
    """Vectors along the axes of a grid; of positions, an index of it."""
    return [np.reshape(y_bar[i], np.shape(x)) for i, x in enumerate(args)]


def _open_grid(a: Array, i: int) -> Fact:
    """A vector of positions along its axis; truth values become the positions where they hold."""
    return Array(None, "int64" if a.dtype in ("bool", "int64") else a.dtype if is_floating(a.dtype) else None)


ix_.infer(_results("args", _open_grid))
ix_.expand(None, _each("args", lambda dot, y, i: _call(np.reshape, dot, _call(np.shape, y))))


# --- axes ------------------------------------------------------------------------------------------------------------
@linear(np.transpose, "a")
def transpose(a, axes=None, *, y, y_bar):
    """Permuted axes."""
    return unpermute(y_bar, axes)


@transpose.when(a=rank(2), axes=None)
def transpose(a, axes=None, *, y, y_bar):
    """Rows as columns."""
    return y_bar.T


@transpose.when(axes=None)
def transpose(a, axes=None, *, y, y_bar):
    """Axes in reverse."""
    return np.transpose(y_bar)


@transpose.tangent_when(a=rank(2), axes=None)
def transpose(a, axes=None, *, y, a_dot):
    return a_dot.T


@transpose.infer
def transpose(arguments, literals):
    a, axes = as_array(arguments["a"]), literals.get("axes", 0)
    if a.shape is None:
        return a
    if axes is None:
        return Array(a.shape[::-1], strong(a.dtype))
    if isinstance(axes, tuple) and len(axes) == len(a.shape) and all(type(i) is int for i in axes):
        return Array(tuple(a.shape[i] for i in axes), strong(a.dtype))
    return Array((None,) * len(a.shape), strong(a.dtype))


@linear(np.matrix_transpose, np.linalg.matrix_transpose, "x")
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


@linear(np.rollaxis, "a")
def rollaxis(a, axis, start=0, *, y, y_bar):
    """An axis rolled back to a position, and put back."""
    return unrollaxis(y_bar, axis, start)


# --- elements in reverse ---------------------------------------------------------------------------------------------
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


def same_rank(name: str):
    """The fact of a result with as many axes as an argument."""

    def infer(arguments, literals):
        a = as_array(arguments[name])
        return Array(None if a.shape is None else (None,) * len(a.shape), a.dtype)

    return infer


def same_shape(name: str):
    """The fact of a result in the shape of an argument."""
    return lambda arguments, literals: as_array(arguments[name])


for kept, name in ((swapaxes, "a"), (moveaxis, "a"), (rollaxis, "a"), (rot90, "m")):
    kept.infer(same_rank(name))
for kept, name in ((flip, "m"), (fliplr, "m"), (flipud, "m")):
    kept.infer(same_shape(name))
roll.infer(lambda arguments, literals: replace(as_array(arguments["a"]), scalar=False))  # an array, also of a number
