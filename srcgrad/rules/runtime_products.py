"""Rules of the transposes of products: the first and the second transpose into each other."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined,call-overload"
from __future__ import annotations

import numpy as np

from srcgrad import runtime
from srcgrad.rules.facts import as_array
from srcgrad.rules.table import linear
from srcgrad.runtime import (
    unbroadcast,
    uncross_left,
    uncross_right,
    undot_left,
    undot_right,
    uninner_left,
    uninner_right,
    unkron_left,
    unkron_right,
    unmatmul_left,
    unmatmul_right,
    unouter_left,
    unouter_right,
    unproduct,
    untensordot_left,
    untensordot_right,
    unvdot_left,
    unvdot_right,
    unvecdot_left,
    unvecdot_right,
)


@linear(runtime.unmatmul_left, "g", "b")
def unmatmul_left_(g, a, b, *, y, y_bar):
    """g @ b.T in the shape of a."""
    return unbroadcast(y_bar @ b, g), unmatmul_right(g, y_bar, b)


@linear(runtime.unmatmul_right, "g", "a")
def unmatmul_right_(g, a, b, *, y, y_bar):
    """a.T @ g in the shape of b."""
    return unbroadcast(a @ y_bar, g), unmatmul_left(g, a, y_bar)


@linear(runtime.unproduct, "g", "b")
def unproduct_(g, b, like, *, y, y_bar):
    """A product element by element, summed and repeated: of each factor that of the other two."""
    return unproduct(y_bar, b, g), unproduct(y_bar, g, b)


@linear(runtime.undot_left, "g", "b")
def undot_left_(g, a, b, *, y, y_bar):
    """The first transpose of np.dot."""
    return unbroadcast(np.dot(y_bar, b), g), undot_right(g, y_bar, b)


@linear(runtime.undot_right, "g", "a")
def undot_right_(g, a, b, *, y, y_bar):
    """The second transpose of np.dot."""
    return unbroadcast(np.dot(a, y_bar), g), undot_left(g, a, y_bar)


@linear(runtime.uninner_left, "g", "b")
def uninner_left_(g, a, b, *, y, y_bar):
    """The first transpose of np.inner."""
    return unbroadcast(np.inner(y_bar, b), g), uninner_right(g, y_bar, b)


@linear(runtime.uninner_right, "g", "a")
def uninner_right_(g, a, b, *, y, y_bar):
    """The second transpose of np.inner."""
    return unbroadcast(np.inner(a, y_bar), g), uninner_left(g, a, y_bar)


@linear(runtime.unouter_left, "g", "b")
def unouter_left_(g, a, b, *, y, y_bar):
    """The first transpose of np.outer."""
    return unbroadcast(np.outer(y_bar, b), g), unouter_right(g, y_bar, b)


@linear(runtime.unouter_right, "g", "a")
def unouter_right_(g, a, b, *, y, y_bar):
    """The second transpose of np.outer."""
    return unbroadcast(np.outer(a, y_bar), g), unouter_left(g, a, y_bar)


@linear(runtime.untensordot_left, "g", "b")
def untensordot_left_(g, a, b, axes=2, *, y, y_bar):
    """The first transpose of np.tensordot."""
    return unbroadcast(np.tensordot(y_bar, b, axes), g), untensordot_right(g, y_bar, b, axes)


@linear(runtime.untensordot_right, "g", "a")
def untensordot_right_(g, a, b, axes=2, *, y, y_bar):
    """The second transpose of np.tensordot."""
    return unbroadcast(np.tensordot(a, y_bar, axes), g), untensordot_left(g, a, y_bar, axes)


@linear(runtime.unvdot_left, "g", "b")
def unvdot_left_(g, a, b, *, y, y_bar):
    """conj(g * b) in the shape of a."""
    return unbroadcast(np.vdot(y_bar, b), g), unvdot_right(g, y_bar, b)


@linear(runtime.unvdot_right, "g", "a")
def unvdot_right_(g, a, b, *, y, y_bar):
    """g * conj(a) in the shape of b."""
    return unbroadcast(np.vdot(a, y_bar), g), unvdot_left(g, a, y_bar)


@linear(runtime.unvecdot_left, "g", "x2")
def unvecdot_left_(g, x1, x2, axis=-1, *, y, y_bar):
    """conj(g * x2) in the shape of x1."""
    return unbroadcast(np.vecdot(y_bar, x2, axis=axis), g), unvecdot_right(g, y_bar, x2, axis)


@linear(runtime.unvecdot_right, "g", "x1")
def unvecdot_right_(g, x1, x2, axis=-1, *, y, y_bar):
    """g * conj(x1) in the shape of x2."""
    return unbroadcast(np.vecdot(x1, y_bar, axis=axis), g), unvecdot_left(g, x1, y_bar, axis)


@linear(runtime.unkron_left, "g", "b")
def unkron_left_(g, a, b, *, y, y_bar):
    """The first transpose of np.kron."""
    return unbroadcast(np.kron(y_bar, b), g), unkron_right(g, y_bar, b)


@linear(runtime.unkron_right, "g", "a")
def unkron_right_(g, a, b, *, y, y_bar):
    """The second transpose of np.kron."""
    return unbroadcast(np.kron(a, y_bar), g), unkron_left(g, a, y_bar)


@linear(runtime.uncross_left, "g", "b")
def uncross_left_(g, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None, *, y, y_bar):
    """The first transpose of np.cross."""
    return (
        unbroadcast(np.cross(y_bar, b, axisa, axisb, axisc, axis), g),
        uncross_right(g, y_bar, b, axisa, axisb, axisc, axis),
    )


@linear(runtime.uncross_right, "g", "a")
def uncross_right_(g, a, b, axisa=-1, axisb=-1, axisc=-1, axis=None, *, y, y_bar):
    """The second transpose of np.cross."""
    return (
        unbroadcast(np.cross(a, y_bar, axisa, axisb, axisc, axis), g),
        uncross_left(g, a, y_bar, axisa, axisb, axisc, axis),
    )


def _like(name: str):
    def infer(arguments, literals):
        return as_array(arguments[name])

    return infer


for left_ in (unmatmul_left_, undot_left_, uninner_left_, unouter_left_, untensordot_left_, unvdot_left_, unkron_left_):
    left_.infer(_like("a"))
for right_ in (
    unmatmul_right_, undot_right_, uninner_right_, unouter_right_, untensordot_right_, unvdot_right_, unkron_right_,
):  # fmt: skip
    right_.infer(_like("b"))
unproduct_.infer(_like("like"))
for left_, right_, first, second in (
    (unvecdot_left_, unvecdot_right_, "x1", "x2"),
    (uncross_left_, uncross_right_, "a", "b"),
):
    left_.infer(_like(first))
    right_.infer(_like(second))
