"""Transposes of filters along an axis of scipy.signal: products by lag, filters forth and back, fitted ends."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import fft, signal

from srcgrad.runtime.broadcasting import rebroadcast, unbroadcast
from srcgrad.runtime.convolution import narrowed
from srcgrad.runtime.fourier import fitted
from srcgrad.runtime.refusals import RefusedMode
from srcgrad.runtime.scipy.boundaries import extended, folded
from srcgrad.runtime.scipy.ndimage import unconvolve1d


# --- recursive filters -----------------------------------------------------------------------------------------------
def lags(u: Any, x: Any, like: Any, axis: int = -1) -> Any:
    """The sums of products of ``x`` with ``u`` at each lag, ``sum_m x[m] u[m + k]``, as many as ``like`` is long."""
    if x.ndim > 1:
        x, u = np.moveaxis(x, axis, 0), np.moveaxis(u, axis, 0)
    count = np.size(like)
    sums = np.zeros(count, np.result_type(u, x))
    for k in range(min(count, len(u))):
        length = min(len(x), len(u) - k)
        sums[k] = np.dot(x[:length].ravel(), u[k : k + length].ravel())
    return narrowed(np.reshape(sums, np.shape(like)), like)


def state_input(u: Any, zi: Any, axis: int = -1) -> Any:
    """The cotangent of the state ``zi``, which is added to the first elements of what a filter is given: those of
    ``u``, summed where one state serves many rows."""
    count = np.shape(zi)[axis]
    return unbroadcast(np.moveaxis(np.moveaxis(u, axis, 0)[:count], 0, axis), zi)


def unstate_input(g: Any, u: Any, zi: Any, axis: int = -1) -> Any:
    """The cotangent of ``u`` where ``g`` is that of ``state_input(u, zi, axis)``."""
    shape = list(np.shape(u))
    shape[axis] = np.shape(zi)[axis]
    return fitted(rebroadcast(g, np.empty(shape, np.result_type(g))), u)


def with_state(g: Any, zi: Any) -> Any:
    """``g``, the cotangents of the signal and of the final state of a filter that begins in the state ``zi``."""
    at_rest(zi)
    return g


def at_rest(zi: Any) -> Any:
    """A state of zeros like ``zi``; None, which changes what a filter returns, must be known when compiling."""
    if zi is None:
        raise RefusedMode("E0708", "scipy.signal: leave zi out, or give it as the literal None, to filter from rest")
    return np.zeros_like(zi)


def longest(a: Any, b: Any) -> Any:
    """Zeros in the length of the longer of two vectors of coefficients."""
    return np.zeros(max(np.size(a), np.size(b)), np.result_type(a, b))


# --- forth and back --------------------------------------------------------------------------------------------------
def _row(values: Any, ndim: int, axis: int) -> Any:
    """A vector along an axis."""
    shape = [1] * ndim
    shape[axis] = -1
    return np.reshape(values, shape)


def _once(filter: Any, response: Any, g: Any, axis: int) -> Any:
    """The transpose of a filter that starts in the steady state of its first element; ``response`` is what that state
    adds to the result."""
    result = np.flip(filter(np.flip(g, axis)), axis)
    first = np.moveaxis(result, axis, 0)
    first[0] += np.sum(np.moveaxis(g * _row(response, g.ndim, axis), axis, 0), axis=0)
    return result


_EXTENSIONS = {"even": "mirror", "odd": "mirror", "constant": "nearest"}


def _forth_and_back(filter: Any, response: Any, g: Any, x: Any, edge: int, axis: int, padtype: str | None) -> Any:
    """The transpose of a filter forth and back over ``x``, extended by ``edge`` at both ends."""
    edge = 0 if padtype is None else edge
    long = extended(g, edge, edge, "constant", 0.0, axis)
    impulse = response(long.shape[axis])
    long = np.flip(_once(filter, impulse, np.flip(long, axis), axis), axis)
    long = _once(filter, impulse, long, axis)
    if not edge:
        return unbroadcast(long, x)
    if padtype == "odd":
        # 2 * end - mirrored: what is beyond counts twice at the end and less at its mirror image
        before, _, after = np.split(long, [edge, long.shape[axis] - edge], axis)
        ends = np.sum(before, axis, keepdims=True), np.sum(after, axis, keepdims=True)
        long = np.concatenate((-before, _, -after), axis)
        result = np.array(folded(long, edge, edge, "mirror", axis))
        rows = np.moveaxis(result, axis, 0)
        rows[0] += 2 * np.moveaxis(ends[0], axis, 0)[0]
        rows[-1] += 2 * np.moveaxis(ends[1], axis, 0)[0]
        return unbroadcast(result, x)
    return unbroadcast(folded(long, edge, edge, _EXTENSIONS[str(padtype)], axis), x)


def unfiltfilt(
    g: Any, b: Any, a: Any, x: Any, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None
) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``scipy.signal.filtfilt(b, a, x, axis, padtype, padlen)``."""
    zi = signal.lfilter_zi(b, a)
    return _forth_and_back(
        lambda u: signal.lfilter(b, a, u, axis),
        lambda n: signal.lfilter(b, a, np.zeros(n), zi=zi)[0],
        g,
        x,
        3 * max(np.size(a), np.size(b)) if padlen is None else padlen,
        axis,
        padtype,
    )


def unsosfiltfilt(
    g: Any, sos: Any, x: Any, axis: int = -1, padtype: str | None = "odd", padlen: int | None = None
) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``scipy.signal.sosfiltfilt(sos, x, axis, padtype, padlen)``."""
    sos = np.atleast_2d(sos)
    zi = signal.sosfilt_zi(sos)
    taps = 2 * len(sos) + 1 - min((sos[:, 2] == 0).sum(), (sos[:, 5] == 0).sum())
    return _forth_and_back(
        lambda u: signal.sosfilt(sos, u, axis),
        lambda n: signal.sosfilt(sos, np.zeros(n), zi=zi)[0],
        g,
        x,
        3 * int(taps) if padlen is None else padlen,
        axis,
        padtype,
    )


# --- polynomials fitted to windows -----------------------------------------------------------------------------------
def unsavgol_filter(
    g: Any,
    x: Any,
    window_length: int,
    polyorder: int,
    deriv: int = 0,
    delta: float = 1.0,
    axis: int = -1,
    mode: str = "interp",
) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``scipy.signal.savgol_filter(x, window_length, ...)``."""
    weights = signal.savgol_coeffs(window_length, polyorder, deriv, delta)
    if mode != "interp":
        return unconvolve1d(g, x, weights, axis, mode)
    # the ends have the values of the polynomial of the first and the last whole window
    half = window_length // 2
    matrix = signal.savgol_filter(np.eye(window_length), window_length, polyorder, deriv, delta, axis=0)
    rows = np.moveaxis(g, axis, 0)
    inner = np.array(rows)
    inner[:half] = 0.0
    inner[len(rows) - half :] = 0.0
    result = np.array(unconvolve1d(inner, inner, weights, 0, "constant"))
    result[:window_length] += np.tensordot(matrix[:half], rows[:half], (0, 0))
    result[len(rows) - window_length :] += np.tensordot(
        matrix[window_length - half :], rows[len(rows) - half :], (0, 0)
    )
    return unbroadcast(np.moveaxis(result, 0, axis), x)


# --- the analytic signal ---------------------------------------------------------------------------------------------
def unhilbert(g: Any, x: Any, N: int | None = None, axis: int = -1) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``scipy.signal.hilbert(x, N, axis)``: its spectrum, weighed."""
    spectrum = np.moveaxis(fft.ifft(g, axis=axis), axis, -1)
    n = spectrum.shape[-1]
    spectrum[..., 1 : (n + 1) // 2] *= 2.0
    spectrum[..., n // 2 + 1 :] = 0.0
    return fitted(fft.fft(np.moveaxis(spectrum, -1, axis), axis=axis), x)
