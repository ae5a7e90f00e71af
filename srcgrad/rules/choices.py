"""Choices between numbers, element by element: extrema of two, bounds, conditions, replacements.

At a tie each of two receives a half, as in PyTorch; what is not taken receives an exact zero, whatever stands there.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad.rules.arguments import is_real
from srcgrad.rules.facts import Array, Unknown, as_array, broadcast, is_floating, promote
from srcgrad.rules.table import elementwise
from srcgrad.runtime import is_above, is_below, is_within, masked, prevails, rebroadcast, where_finite, wins


# --- extrema of two --------------------------------------------------------------------------------------------------
@elementwise(np.maximum)
def maximum(x1, x2, *, z, z_bar):
    """The greater one; equal arguments share."""
    return z_bar * wins(x1, x2), z_bar * wins(x2, x1)


@elementwise(np.minimum)
def minimum(x1, x2, *, z, z_bar):
    """The smaller one; equal arguments share."""
    return z_bar * wins(x2, x1), z_bar * wins(x1, x2)


@elementwise(np.fmax)
def fmax(x1, x2, *, z, z_bar):
    """The greater one that is a number; equal arguments share."""
    return z_bar * prevails(x1, x2), z_bar * prevails(x2, x1)


@elementwise(np.fmin)
def fmin(x1, x2, *, z, z_bar):
    """The smaller one that is a number; equal arguments share."""
    return z_bar * prevails(x1, x2, True), z_bar * prevails(x2, x1, True)


# --- conditions ------------------------------------------------------------------------------------------------------
@elementwise(np.where)
def where(condition, x=None, y=None, *, z, z_bar):
    """A choice; what is not taken gets an exact zero, whatever the cotangent holds there."""
    return None, np.where(condition, z_bar, 0.0), np.where(condition, 0.0, z_bar)


@where.infer
def where(arguments, literals):
    if "x" not in arguments or "y" not in arguments:
        return Unknown()  # the positions where the condition holds
    condition, x, y = (as_array(arguments[p]) for p in ("condition", "x", "y"))
    return Array(broadcast(condition, broadcast(x, y)).shape, promote(x.dtype, y.dtype))  # never a scalar


@elementwise(np.heaviside)
def heaviside(x1, x2, *, z, z_bar):
    """A step at 0, where the value is x2."""
    return None, np.where(x1 == 0, z_bar, 0.0)


# --- bounds and replacements -----------------------------------------------------------------------------------------
@elementwise(np.clip)
def clip(a, a_min=None, a_max=None, *, z, z_bar):
    """Bounded values; at a bound the derivative belongs to ``a`` (PyTorch's clamp)."""
    return (
        masked(z_bar, is_within(a, a_min, a_max)),
        masked(z_bar, is_below(a, a_min, a_max)),
        masked(z_bar, is_above(a, a_min, a_max)),
    )


clip.accept(min="a_min", max="a_max", ignored=("casting", "order", "subok"))
clip.casts = True


@elementwise(np.nan_to_num)
def nan_to_num(x, nan=0.0, posinf=None, neginf=None, *, z, z_bar):
    """Finite values pass; what stands in for another gets what comes to its places, in both parts of a number."""
    a = np.real(x)
    b = np.imag(x)
    a_bar = np.real(z_bar)
    b_bar = -np.imag(z_bar)
    return (
        where_finite(z_bar, x),
        np.where(np.isnan(a), a_bar, 0.0) + np.where(np.isnan(b), b_bar, 0.0),
        np.where(np.isposinf(a), a_bar, 0.0) + np.where(np.isposinf(b), b_bar, 0.0),
        np.where(np.isneginf(a), a_bar, 0.0) + np.where(np.isneginf(b), b_bar, 0.0),
    )


@nan_to_num.when(x=is_real)
def nan_to_num(x, nan=0.0, posinf=None, neginf=None, *, z, z_bar):
    """Finite values pass; what stands in for another gets what comes to its places."""
    return (
        np.where(np.isfinite(x), z_bar, 0.0),
        np.where(np.isnan(x), z_bar, 0.0),
        np.where(np.isposinf(x), z_bar, 0.0),
        np.where(np.isneginf(x), z_bar, 0.0),
    )


@nan_to_num.tangent
def nan_to_num(x, nan=0.0, posinf=None, neginf=None, *, z, x_dot, nan_dot, posinf_dot, neginf_dot):
    a = np.real(x)
    b = np.imag(x)
    return (
        where_finite(x_dot, x),
        rebroadcast(np.where(np.isnan(a), nan_dot, 0.0) + 1j * np.where(np.isnan(b), nan_dot, 0.0), z),
        rebroadcast(np.where(np.isposinf(a), posinf_dot, 0.0) + 1j * np.where(np.isposinf(b), posinf_dot, 0.0), z),
        rebroadcast(np.where(np.isneginf(a), neginf_dot, 0.0) + 1j * np.where(np.isneginf(b), neginf_dot, 0.0), z),
    )


@nan_to_num.tangent_when(x=is_real)
def nan_to_num(x, nan=0.0, posinf=None, neginf=None, *, z, x_dot, nan_dot, posinf_dot, neginf_dot):
    return (
        np.where(np.isfinite(x), x_dot, 0.0),
        rebroadcast(np.where(np.isnan(x), nan_dot, 0.0), z),
        rebroadcast(np.where(np.isposinf(x), posinf_dot, 0.0), z),
        rebroadcast(np.where(np.isneginf(x), neginf_dot, 0.0), z),
    )


nan_to_num.accept(neutral={"copy": True})


@nan_to_num.infer
def nan_to_num(arguments, literals):
    x = as_array(arguments["x"])
    return Array(x.shape, x.dtype if is_floating(x.dtype) else None, scalar=x.shape == ())


for kept in (maximum, minimum, fmax, fmin, where, clip):
    kept.keeps_integers = True
