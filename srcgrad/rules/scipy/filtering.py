"""Filters along an axis of scipy.signal: recursive ones, forth and back, fitted windows, trends, analytic signals.

A filter solves ``sum_k a[k] y[n - k] = sum_k b[k] x[n - k]``.  Its transpose is the same filter backwards in time; the
cotangents of the coefficients are products of the solution of the transposed recursion with x and with y, by lag.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import signal

from srcgrad.rules.convolution import cotangent_of
from srcgrad.rules.facts import Array, Unknown, as_array, is_floating
from srcgrad.rules.reading import reads_shape
from srcgrad.rules.table import constant, linear, rule
from srcgrad.runtime import add, fitted, unarray, unbroadcast
from srcgrad.runtime.scipy import filters
from srcgrad.runtime.scipy.filters import (
    at_rest,
    lags,
    longest,
    state_input,
    unfiltfilt,
    unhilbert,
    unsavgol_filter,
    unsosfiltfilt,
    unstate_input,
    with_state,
)


# --- recursive filters -----------------------------------------------------------------------------------------------
@rule(signal.lfilter)
def lfilter(b, a, x, axis=-1, zi=None, *, y, y_bar):
    """From a state: monic coefficients c = a / a[0]; u solves the transposed recursion, and begins, behind the end of
    the signal, with the cotangent of the final state; u at the beginning is the cotangent of the initial state."""
    lead = np.ravel(a)[0]
    c = np.ravel(a) / lead
    g = with_state(y_bar, zi)
    end = signal.lfilter(c, 1.0, np.flip(g[1], axis), axis)
    u = np.flip(signal.lfilter(1.0, c, np.concatenate((end, np.flip(g[0], axis)), axis), axis), axis)
    b_bar = lags(u, x, np.ravel(b) / lead, axis) / lead
    rest = -lags(u, y[0], c, axis)[1:] / lead
    first = -(np.dot(b_bar, np.ravel(b)) + np.dot(rest, np.ravel(a)[1:])) / lead
    a_bar = np.concatenate((np.reshape(first, 1), rest))
    return (
        unarray(np.reshape(b_bar, np.shape(b)), b),
        unarray(np.reshape(a_bar, np.shape(a)), a),
        fitted(np.flip(signal.lfilter(np.ravel(b) / lead, 1.0, np.flip(u, axis), axis), axis), x),
        None,
        state_input(u, zi, axis),
    )


@lfilter.when(zi=None)
def lfilter(b, a, x, axis=-1, zi=None, *, y, y_bar):
    """From rest: u is y_bar through 1 / a, backwards in time."""
    u = np.flip(signal.lfilter(1.0, a, np.flip(y_bar, axis), axis), axis)
    return (
        lags(u, x, b, axis),
        lags(-u, y, a, axis),
        unbroadcast(np.flip(signal.lfilter(b, a, np.flip(y_bar, axis), axis), axis), x),
    )


@lfilter.tangent
def lfilter(b, a, x, axis=-1, zi=None, *, y, b_dot, a_dot, x_dot, zi_dot):
    lead = np.ravel(a)[0]
    turn = np.ravel(a_dot)[0] / lead
    rest = at_rest(zi)
    return (
        signal.lfilter(b_dot, a, x, axis, zi=rest),
        add(
            signal.lfilter(fitted(np.ravel(a) * turn - a_dot, longest(a, b)), a, y[0], axis, zi=rest),
            signal.lfilter(np.ravel(b) * -turn, a, x, axis, zi=rest),
        ),
        signal.lfilter(b, a, x_dot, axis, zi=rest),
        signal.lfilter(b, a, np.zeros_like(x), axis, zi=zi_dot),
    )


@lfilter.tangent_when(zi=None)
def lfilter(b, a, x, axis=-1, zi=None, *, y, b_dot, a_dot, x_dot):
    return (
        signal.lfilter(b_dot, a, x, axis),
        -signal.lfilter(a_dot, a, y, axis),
        signal.lfilter(b, a, x_dot, axis),
    )


lfilter.sums = add


@linear(filters.lags, "u", "x")
def lags_(u, x, like, axis=-1, *, y, y_bar):
    """Products by lag; a filter with y_bar for coefficients, forth and back."""
    return (
        unbroadcast(signal.lfilter(y_bar, 1.0, fitted(x, u), axis), u),
        fitted(np.flip(signal.lfilter(y_bar, 1.0, np.flip(u, axis), axis), axis), x),
    )


@linear(filters.with_state, "g")
def with_state_(g, zi, *, y, y_bar):
    """Nothing but a check."""
    return y_bar


@linear(filters.state_input, "u")
def state_input_(u, zi, axis=-1, *, y, y_bar):
    """The first elements; put back."""
    return unstate_input(y_bar, u, zi, axis)


@linear(filters.unstate_input, "g")
def unstate_input_(g, u, zi, axis=-1, *, y, y_bar):
    """The first elements put back; taken again."""
    return unbroadcast(state_input(y_bar, zi, axis), g)


@rule(signal.sosfilt)
def sosfilt(sos, x, axis=-1, zi=None, *, y, y_bar):
    """Sections of second order, one after the other, from rest: backwards in time."""
    return None, unbroadcast(np.flip(signal.sosfilt(sos, np.flip(y_bar, axis), axis), axis), x)


@sosfilt.tangent
def sosfilt(sos, x, axis=-1, zi=None, *, y, x_dot):
    return signal.sosfilt(sos, x_dot, axis)


sosfilt.accept(allowed={"zi": (None,)})
sosfilt.refuse("filter with scipy.signal.lfilter, section by section", sos="coefficients of sections are not followed")


# --- forth and back --------------------------------------------------------------------------------------------------
@linear(signal.filtfilt, "x")
def filtfilt(b, a, x, axis=-1, padtype="odd", padlen=None, method="pad", irlen=None, *, y, y_bar):
    """A filter forth and back over an extended signal."""
    return unfiltfilt(y_bar, b, a, x, axis, padtype, padlen)


filtfilt.accept(allowed={"method": ("pad",), "irlen": (None,)})
filtfilt.refuse(
    "filter with scipy.signal.lfilter, forth and, with np.flip, back",
    b="coefficients of a filter forth and back are not followed",
    a="coefficients of a filter forth and back are not followed",
)


@linear(signal.sosfiltfilt, "x")
def sosfiltfilt(sos, x, axis=-1, padtype="odd", padlen=None, *, y, y_bar):
    """Sections of second order forth and back over an extended signal."""
    return unsosfiltfilt(y_bar, sos, x, axis, padtype, padlen)


sosfiltfilt.refuse(
    "filter with scipy.signal.lfilter, section by section", sos="coefficients of sections are not followed"
)


@linear(filters.unfiltfilt, "g")
def unfiltfilt_(g, b, a, x, axis=-1, padtype="odd", padlen=None, *, y, y_bar):
    """The transpose of scipy.signal.filtfilt."""
    return unbroadcast(signal.filtfilt(b, a, y_bar, axis, padtype, padlen), g)


@linear(filters.unsosfiltfilt, "g")
def unsosfiltfilt_(g, sos, x, axis=-1, padtype="odd", padlen=None, *, y, y_bar):
    """The transpose of scipy.signal.sosfiltfilt."""
    return unbroadcast(signal.sosfiltfilt(sos, y_bar, axis, padtype, padlen), g)


# --- fitted windows, trends, the analytic signal ---------------------------------------------------------------------
@rule(signal.savgol_filter)
def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0, *, y, y_bar):
    """The value, or a derivative, of a polynomial fitted to each window."""
    return unsavgol_filter(y_bar, x, window_length, polyorder, deriv, delta, axis, mode)


@savgol_filter.tangent
def savgol_filter(x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", cval=0.0, *, y, x_dot):
    return signal.savgol_filter(x_dot, window_length, polyorder, deriv, delta, axis, mode)


savgol_filter.refuse("divide by delta ** deriv yourself", delta="the spacing is not followed")
savgol_filter.refuse("extend the array before the filter", cval="the value beyond the ends is not followed")


@linear(filters.unsavgol_filter, "g")
def unsavgol_filter_(g, x, window_length, polyorder, deriv=0, delta=1.0, axis=-1, mode="interp", *, y, y_bar):
    """The transpose of scipy.signal.savgol_filter."""
    return unbroadcast(signal.savgol_filter(y_bar, window_length, polyorder, deriv, delta, axis, mode), g)


@linear(signal.detrend, "data")
def detrend(data, axis=-1, type="linear", bp=0, *, y, y_bar):
    """What is left after a fit of means or lines: an orthogonal projection, its own transpose."""
    return unbroadcast(signal.detrend(y_bar, axis, type, bp), data)


@linear(signal.hilbert, "x")
def hilbert(x, N=None, axis=-1, *, y, y_bar):
    """The analytic signal: without negative frequencies."""
    return unhilbert(y_bar, x, N, axis)


@linear(filters.unhilbert, "g")
def unhilbert_(g, x, N=None, axis=-1, *, y, y_bar):
    """The transpose of scipy.signal.hilbert."""
    return signal.hilbert(y_bar, N, axis)


# --- facts -----------------------------------------------------------------------------------------------------------
constant(at_rest, longest)
reads_shape(at_rest, 0)
reads_shape(filters.with_state, 1)
reads_shape(longest, 0, 1)


def shaped(name):
    """What infers a result of the shape of an argument."""
    return lambda arguments, literals: Array(as_array(arguments[name]).shape, None)


for made, name in ((sosfilt, "x"), (filtfilt, "x"), (sosfiltfilt, "x"), (detrend, "data")):
    made.infer(shaped(name))


@savgol_filter.infer
def savgol_filter(arguments, literals):
    x = as_array(arguments["x"])
    return Array(x.shape, x.dtype if x.dtype in ("float32", "float64") else None)


@lfilter.infer
def lfilter(arguments, literals):
    b, a, x = (as_array(arguments[p]) for p in ("b", "a", "x"))
    if literals.get("zi", 0) is not None:
        return Unknown()
    same = is_floating(x.dtype) and a.dtype == b.dtype == x.dtype
    return Array(x.shape, x.dtype if same else None)


for made, name, place in (
    (lags_, "like", 2), (state_input_, "zi", 1), (unstate_input_, "u", 1), (unfiltfilt_, "x", 3),
    (unsosfiltfilt_, "x", 2), (unsavgol_filter_, "x", 1), (unhilbert_, "x", 1),
):  # fmt: skip
    made.infer(cotangent_of(name))
    reads_shape(made.functions[0], place)
