"""Sums of exponentials and their shares: logsumexp, softmax, log_softmax."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import special

from srcgrad.rules.facts import Array, Unknown, as_array, broadcast, is_floating
from srcgrad.rules.results import reduced
from srcgrad.rules.table import rule
from srcgrad.runtime import add, unbroadcast, unreduce
from srcgrad.runtime.scipy.exponentials import shares


@rule(special.softmax)
def softmax(x, axis=None, *, y, y_bar):
    """exp(x) divided by its sum over axes."""
    return y * (y_bar - np.sum(y * y_bar, axis=axis, keepdims=True))


@softmax.tangent
def softmax(x, axis=None, *, y, x_dot):
    return y * (x_dot - np.sum(y * x_dot, axis=axis, keepdims=True))


@rule(special.log_softmax)
def log_softmax(x, axis=None, *, y, y_bar):
    """The logarithm of softmax."""
    return y_bar - np.exp(y) * np.sum(y_bar, axis=axis, keepdims=True)


@log_softmax.tangent
def log_softmax(x, axis=None, *, y, x_dot):
    return x_dot - np.sum(np.exp(y) * x_dot, axis=axis, keepdims=True)


# --- logsumexp -------------------------------------------------------------------------------------------------------
@rule(special.logsumexp)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, *, y, y_bar):
    """log(sum(b exp(a))) over axes: each term receives its share; none where all are minus infinity."""
    log = y[0] if return_sign else y
    turn = y_bar[1] * y[1] if return_sign else 0.0
    seed = (y_bar[0] + (turn - np.real(turn))) * np.conjugate(y[1]) if return_sign else y_bar
    factor = 1.0 if b is None else b
    wide = np.broadcast_to(a, np.broadcast_shapes(np.shape(a), np.shape(factor)))
    part = shares(wide, log, axis, keepdims)
    share = unreduce(seed, part * factor, axis, keepdims) * part
    return unbroadcast(share * factor, a), None, unbroadcast(share, factor)


@logsumexp.tangent
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, *, y, a_dot, b_dot):
    log = y[0] if return_sign else y
    factor = 1.0 if b is None else b
    wide = np.broadcast_to(a, np.broadcast_shapes(np.shape(a), np.shape(factor)))
    share = shares(wide, log, axis, keepdims)
    by_a = np.sum(share * factor * a_dot, axis=axis, keepdims=keepdims)
    by_b = np.sum(share * b_dot, axis=axis, keepdims=keepdims)
    turn_a = by_a * np.conjugate(y[1]) if return_sign else by_a
    turn_b = by_b * np.conjugate(y[1]) if return_sign else by_b
    return (
        (np.real(turn_a), (turn_a - np.real(turn_a)) * y[1]) if return_sign else by_a,
        (np.real(turn_b), (turn_b - np.real(turn_b)) * y[1]) if return_sign else by_b,
    )


@logsumexp.when(b=None, return_sign=False)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, *, y, y_bar):
    """log(sum(exp(a))) over axes."""
    return unreduce(y_bar, a, axis, keepdims) * shares(a, y, axis, keepdims)


@logsumexp.tangent_when(b=None, return_sign=False)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, *, y, a_dot):
    return np.sum(shares(a, y, axis, keepdims) * a_dot, axis=axis, keepdims=keepdims)


@logsumexp.when(return_sign=False)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, *, y, y_bar):
    """log(sum(b exp(a))) over axes."""
    wide = np.broadcast_to(a, np.broadcast_shapes(np.shape(a), np.shape(b)))
    part = shares(wide, y, axis, keepdims)
    share = unreduce(y_bar, part * b, axis, keepdims) * part
    return unbroadcast(share * b, a), None, unbroadcast(share, b)


@logsumexp.tangent_when(return_sign=False)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, *, y, a_dot, b_dot):
    wide = np.broadcast_to(a, np.broadcast_shapes(np.shape(a), np.shape(b)))
    share = shares(wide, y, axis, keepdims)
    by_a = np.sum(share * b * a_dot, axis=axis, keepdims=keepdims)
    return by_a, np.sum(share * b_dot, axis=axis, keepdims=keepdims)


@logsumexp.when(b=None, return_sign=True)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, *, y, y_bar):
    """log(abs(sum(exp(a)))) over axes, and the sign: only that of complex numbers turns."""
    turn = y_bar[1] * y[1]
    seed = (y_bar[0] + (turn - np.real(turn))) * np.conjugate(y[1])
    return unreduce(seed, a, axis, keepdims) * shares(a, y[0], axis, keepdims)


@logsumexp.tangent_when(b=None, return_sign=True)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, *, y, a_dot):
    turn = np.sum(shares(a, y[0], axis, keepdims) * a_dot, axis=axis, keepdims=keepdims) * np.conjugate(y[1])
    return np.real(turn), (turn - np.real(turn)) * y[1]


@logsumexp.when(return_sign=True)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, *, y, y_bar):
    """log(abs(sum(b exp(a)))) over axes, and the sign: only that of complex numbers turns."""
    wide = np.broadcast_to(a, np.broadcast_shapes(np.shape(a), np.shape(b)))
    part = shares(wide, y[0], axis, keepdims)
    turn = y_bar[1] * y[1]
    seed = (y_bar[0] + (turn - np.real(turn))) * np.conjugate(y[1])
    share = unreduce(seed, part * b, axis, keepdims) * part
    return unbroadcast(share * b, a), None, unbroadcast(share, b)


@logsumexp.tangent_when(return_sign=True)
def logsumexp(a, axis=None, b=None, keepdims=False, return_sign=False, *, y, a_dot, b_dot):
    wide = np.broadcast_to(a, np.broadcast_shapes(np.shape(a), np.shape(b)))
    share = shares(wide, y[0], axis, keepdims)
    by_a = np.sum(share * b * a_dot, axis=axis, keepdims=keepdims)
    by_b = np.sum(share * b_dot, axis=axis, keepdims=keepdims)
    turn_a = by_a * np.conjugate(y[1])
    turn_b = by_b * np.conjugate(y[1])
    return (np.real(turn_a), (turn_a - np.real(turn_a)) * y[1]), (np.real(turn_b), (turn_b - np.real(turn_b)) * y[1])


logsumexp.accept(allowed={"return_sign": (False, True)})
logsumexp.sums = add


def like_x(arguments, literals):
    """The fact of a softmax."""
    x = as_array(arguments["x"])
    return Array(x.shape, x.dtype if is_floating(x.dtype) else None)


softmax.infer(like_x)
log_softmax.infer(like_x)


@logsumexp.infer
def logsumexp(arguments, literals):
    """The fact of the logarithm, unknown where a sign comes with it."""
    if literals.get("return_sign") is not False:
        return Unknown()
    a = as_array(arguments["a"])
    wide = broadcast(a, as_array(arguments["b"])) if "b" in arguments else a
    return reduced(wide, wide.dtype if wide.dtype in ("float32", "float64") else None, literals)


# --- shares ----------------------------------------------------------------------------------------------------------
@rule(shares)
def shares_(a, y, axis=None, keepdims=False, *, z, z_bar):
    """exp(a - y), y spread over the axes that were summed."""
    slope = z_bar * z
    return unbroadcast(slope, a), -np.sum(slope, axis=axis, keepdims=keepdims)


@shares_.tangent
def shares_(a, y, axis=None, keepdims=False, *, z, a_dot, y_dot):
    return z * a_dot, -z * unreduce(y_dot, z, axis, keepdims)


@shares_.infer
def shares_(arguments, literals):
    """The fact of the shares: like the terms, where the sum is."""
    a = as_array(arguments["a"])
    return a if as_array(arguments["y"]).dtype == a.dtype else Array(a.shape)
