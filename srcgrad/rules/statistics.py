"""Order statistics, weighted means, covariances.

A quantile moves with the elements between which it lies, equal ones in their stable order, and with q where it is
interpolated; a median of an even number is the mean of the two in the middle.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad import runtime
from srcgrad.rules.facts import Array, as_array
from srcgrad.rules.results import floating, reduced
from srcgrad.rules.table import linear, rule
from srcgrad.runtime import (
    aligned,
    count,
    deviation,
    freedom,
    if_floating,
    leading,
    observations,
    observed,
    or_ones,
    rebroadcast,
    unaligned,
    unarray,
    unbroadcast,
    unleading,
    unobservations,
    unreduce,
    unweighed,
    weighed,
    zeros_like,
)


# --- quantiles -------------------------------------------------------------------------------------------------------
@rule(np.median)
def median(a, axis=None, keepdims=False, *, y, y_bar):
    """The element in the middle, or the mean of the two."""
    return unweighed(y_bar, a, 0.5, axis, keepdims, "median")


@median.tangent
def median(a, axis=None, keepdims=False, *, y, a_dot):
    return weighed(a_dot, a, 0.5, axis, keepdims, "median")


@rule(np.nanmedian)
def nanmedian(a, axis=None, keepdims=False, *, y, y_bar):
    """The number in the middle, or the mean of the two; nan left out."""
    return unweighed(y_bar, a, 0.5, axis, keepdims, "median", True)


@nanmedian.tangent
def nanmedian(a, axis=None, keepdims=False, *, y, a_dot):
    return weighed(a_dot, a, 0.5, axis, keepdims, "median", True)


@rule(np.quantile)
def quantile(a, q, axis=None, method="linear", keepdims=False, *, y, y_bar):
    """Between two elements in order, (1 - gamma) lower + gamma upper (Hyndman & Fan 1996)."""
    slope = weighed(a, a, q, axis, keepdims, method, False, 1)
    return unweighed(y_bar, a, q, axis, keepdims, method), leading(y_bar * slope, q)


@quantile.tangent
def quantile(a, q, axis=None, method="linear", keepdims=False, *, y, a_dot, q_dot):
    slope = weighed(a, a, q, axis, keepdims, method, False, 1)
    return rebroadcast(weighed(a_dot, a, q, axis, keepdims, method), y), rebroadcast(unleading(q_dot, y) * slope, y)


@rule(np.percentile)
def percentile(a, q, axis=None, method="linear", keepdims=False, *, y, y_bar):
    """The quantile of q / 100."""
    p = np.divide(q, 100.0)
    slope = weighed(a, a, p, axis, keepdims, method, False, 1)
    return unweighed(y_bar, a, p, axis, keepdims, method), leading(y_bar * slope / 100.0, q)


@percentile.tangent
def percentile(a, q, axis=None, method="linear", keepdims=False, *, y, a_dot, q_dot):
    p = np.divide(q, 100.0)
    slope = weighed(a, a, p, axis, keepdims, method, False, 1) / 100.0
    return rebroadcast(weighed(a_dot, a, p, axis, keepdims, method), y), rebroadcast(unleading(q_dot, y) * slope, y)


@rule(np.nanquantile)
def nanquantile(a, q, axis=None, method="linear", keepdims=False, *, y, y_bar):
    """The quantile of the numbers, nan left out."""
    slope = weighed(a, a, q, axis, keepdims, method, True, 1)
    return unweighed(y_bar, a, q, axis, keepdims, method, True), leading(y_bar * slope, q)


@nanquantile.tangent
def nanquantile(a, q, axis=None, method="linear", keepdims=False, *, y, a_dot, q_dot):
    slope = weighed(a, a, q, axis, keepdims, method, True, 1)
    by_a = weighed(a_dot, a, q, axis, keepdims, method, True)
    return rebroadcast(by_a, y), rebroadcast(unleading(q_dot, y) * slope, y)


@rule(np.nanpercentile)
def nanpercentile(a, q, axis=None, method="linear", keepdims=False, *, y, y_bar):
    """The quantile of q / 100 of the numbers, nan left out."""
    p = np.divide(q, 100.0)
    slope = weighed(a, a, p, axis, keepdims, method, True, 1)
    return unweighed(y_bar, a, p, axis, keepdims, method, True), leading(y_bar * slope / 100.0, q)


@nanpercentile.tangent
def nanpercentile(a, q, axis=None, method="linear", keepdims=False, *, y, a_dot, q_dot):
    p = np.divide(q, 100.0)
    slope = weighed(a, a, p, axis, keepdims, method, True, 1) / 100.0
    by_a = weighed(a_dot, a, p, axis, keepdims, method, True)
    return rebroadcast(by_a, y), rebroadcast(unleading(q_dot, y) * slope, y)


for interpolated in (quantile, percentile, nanquantile, nanpercentile):
    interpolated.wrapping = (("i", ("a",)),)  # NumPy adds a part of the difference of two elements to one of them


@rule(weighed)
def weighed_(x, a, q, axis=None, keepdims=False, method="linear", skips_nan=False, slope=0, *, y, y_bar):
    """A weighted sum of x; the weights move with q."""
    change = weighed(x, a, q, axis, keepdims, method, skips_nan, slope + 1)
    return unweighed(y_bar, a, q, axis, keepdims, method, skips_nan, slope), None, leading(y_bar * change, q)


@weighed_.tangent
def weighed_(x, a, q, axis=None, keepdims=False, method="linear", skips_nan=False, slope=0, *, y, x_dot, q_dot):
    change = weighed(x, a, q, axis, keepdims, method, skips_nan, slope + 1)
    return weighed(x_dot, a, q, axis, keepdims, method, skips_nan, slope), unleading(q_dot, y) * change


@rule(unweighed)
def unweighed_(g, a, q, axis=None, keepdims=False, method="linear", skips_nan=False, slope=0, *, y, y_bar):
    """Weights times g; the weights move with q."""
    change = weighed(y_bar, a, q, axis, keepdims, method, skips_nan, slope + 1)
    by_g = unbroadcast(weighed(y_bar, a, q, axis, keepdims, method, skips_nan, slope), g)
    return by_g, None, leading(g * change, q)


@unweighed_.tangent
def unweighed_(g, a, q, axis=None, keepdims=False, method="linear", skips_nan=False, slope=0, *, y, g_dot, q_dot):
    by_g = unweighed(g_dot, a, q, axis, keepdims, method, skips_nan, slope)
    return by_g, unweighed(unleading(q_dot, g) * g, a, q, axis, keepdims, method, skips_nan, slope + 1)


@linear(leading, "g")
def leading_(g, q, *, y, y_bar):
    """Summed over the axes after those of q; repeated again."""
    return unleading(y_bar, g)


@linear(unleading, "g")
def unleading_(g, y, *, z, z_bar):
    """Repeated along the axes after its own; summed again."""
    return leading(z_bar, g)


def median_result(arguments, literals):
    """The fact of a median."""
    a = as_array(arguments["a"])
    return reduced(a, floating(a.dtype), literals)


def quantile_result(arguments, literals):
    """The fact of a quantile; that of several q is not followed."""
    a, q = as_array(arguments["a"]), as_array(arguments["q"])
    if not (q.scalar and q.dtype in ("int", "float", "float64")):
        return Array()
    return reduced(a, "float64" if a.dtype == "float64" else None, literals)


for median_ in (median, nanmedian):
    median_.infer(median_result)
for quantile_ in (quantile, percentile, nanquantile, nanpercentile):
    quantile_.infer(quantile_result)


# --- weighted means --------------------------------------------------------------------------------------------------
@rule(np.average)
def average(a, axis=None, weights=None, returned=False, keepdims=False, *, y, y_bar):
    """The weighted mean: w / W by an element, (a - y) / W by its weight."""
    w = aligned(weights, a, axis)
    terms = a * w
    share = unreduce(y_bar, terms, axis, keepdims) / np.sum(w, axis=axis, keepdims=True)
    by_weights = share * (a - unreduce(y, terms, axis, keepdims))
    return unarray(share * w, a), None, unaligned(by_weights, weights, a, axis)


@average.when(weights=None, returned=False)
def average(a, axis=None, weights=None, returned=False, keepdims=False, *, y, y_bar):
    """The mean."""
    return unreduce(y_bar / count(a, axis), a, axis, keepdims)


@average.when(weights=None, returned=True)
def average(a, axis=None, weights=None, returned=False, keepdims=False, *, y, y_bar):
    """The mean, and how many it is of."""
    return unreduce(y_bar[0] / count(a, axis), a, axis, keepdims)


@average.when(returned=True)
def average(a, axis=None, weights=None, returned=False, keepdims=False, *, y, y_bar):
    """The weighted mean, and the sum W of the weights."""
    w = aligned(weights, a, axis)
    terms = a * w
    share = unreduce(y_bar[0], terms, axis, keepdims) / np.sum(w, axis=axis, keepdims=True)
    by_weights = share * (a - unreduce(y[0], terms, axis, keepdims)) + unreduce(y_bar[1], terms, axis, keepdims)
    return unarray(share * w, a), None, unaligned(by_weights, weights, a, axis)


@average.tangent
def average(a, axis=None, weights=None, returned=False, keepdims=False, *, y, a_dot, weights_dot):
    w = aligned(weights, a, axis)
    total = np.sum(w, axis=axis, keepdims=keepdims)
    distance = a - unreduce(y, a * w, axis, keepdims)
    by_a = np.sum(a_dot * w, axis=axis, keepdims=keepdims) / total
    by_weights = np.sum(distance * aligned(weights_dot, a, axis), axis=axis, keepdims=keepdims) / total
    return rebroadcast(by_a, y), rebroadcast(by_weights, y)


@average.tangent_when(weights=None, returned=False)
def average(a, axis=None, weights=None, returned=False, keepdims=False, *, y, a_dot, weights_dot):
    return np.mean(a_dot, axis=axis, keepdims=keepdims), None


@average.tangent_when(weights=None, returned=True)
def average(a, axis=None, weights=None, returned=False, keepdims=False, *, y, a_dot, weights_dot):
    return (np.mean(a_dot, axis=axis, keepdims=keepdims), zeros_like(y[1])), None


@average.tangent_when(returned=True)
def average(a, axis=None, weights=None, returned=False, keepdims=False, *, y, a_dot, weights_dot):
    w = aligned(weights, a, axis)
    total = np.sum(w, axis=axis, keepdims=keepdims)
    distance = a - unreduce(y[0], a * w, axis, keepdims)
    by_a = np.sum(a_dot * w, axis=axis, keepdims=keepdims) / total
    w_dot = aligned(weights_dot, a, axis)
    by_weights = np.sum(distance * w_dot, axis=axis, keepdims=keepdims) / total
    by_total = rebroadcast(np.sum(w_dot, axis=axis, keepdims=keepdims), y[1])
    return (rebroadcast(by_a, y[0]), zeros_like(y[1])), (rebroadcast(by_weights, y[0]), by_total)


average.accept(allowed={"returned": (False, True)})
average.sums = runtime.add


@linear(aligned, "weights")
def aligned_(weights, a, axis=None, *, y, y_bar):
    """Weights in another shape; back in their own."""
    return unaligned(y_bar, weights, a, axis)


@linear(unaligned, "g")
def unaligned_(g, weights, a, axis=None, *, y, y_bar):
    """Summed in the shape of the weights; repeated again."""
    return rebroadcast(aligned(y_bar, a, axis), g)


# --- covariances -----------------------------------------------------------------------------------------------------
@rule(np.cov)
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None, *, c, c_bar):
    """x w x^H / n of centred rows x; n = W - ddof S, S = sum(w a) / W, with w = fweights * aweights of the sum W."""
    rows = observations(m, y, rowvar, dtype)
    f = np.real(or_ones(fweights, rows))
    a = np.real(or_ones(aweights, rows))
    whole = np.sum(f * a)
    excess = np.sum(f * a * a) / whole
    n = whole - freedom(ddof, bias) * excess
    x = rows - np.average(rows, axis=1, weights=f * a, keepdims=True)
    g = np.reshape(if_floating(c_bar, dtype), (len(rows), len(rows)))
    by_rows = (g + np.conj(g.T)) @ np.conj(x) * (f * a / n)
    by_n = np.sum(c_bar * c) * (1.0 - freedom(ddof, bias) * (2.0 * a - excess) / whole)
    by_a = f * (np.sum(x * (g @ np.conj(x)), axis=0) - by_n) / n
    return (
        unobservations(by_rows, m, rowvar),
        unobservations(by_rows, y, rowvar, True),
        None, None, None, None,
        unarray(np.real(by_a), aweights),
    )  # fmt: skip


@cov.when(fweights=None, aweights=None, dtype=None)
def cov(m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None, *, c, c_bar):
    """x x^H / n of centred rows x."""
    rows = observations(m, y, rowvar)
    g = np.reshape(c_bar, (len(rows), len(rows))) / count(rows, 1, freedom(ddof, bias))
    by_rows = (g + np.conj(g.T)) @ deviation(rows, 1)
    return unobservations(by_rows, m, rowvar), unobservations(by_rows, y, rowvar, True)


@cov.tangent
def cov(
    m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None, *, c, m_dot, y_dot,
    aweights_dot
):  # fmt: skip
    rows = observations(m, y, rowvar, dtype)
    f = np.real(or_ones(fweights, rows))
    a = np.real(or_ones(aweights, rows))
    whole = np.sum(f * a)
    excess = np.sum(f * a * a) / whole
    n = whole - freedom(ddof, bias) * excess
    x = rows - np.average(rows, axis=1, weights=f * a, keepdims=True)
    towards = (np.conj(x) * (f * a / n)).T
    by_m = observed(m_dot, rows, rowvar) @ towards
    by_y = observed(y_dot, rows, rowvar, True) @ towards
    change = f * np.real(aweights_dot) / n
    by_n = np.sum(change * (1.0 - freedom(ddof, bias) * (2.0 * a - excess) / whole))
    by_a = np.reshape(x * change @ np.conj(x).T, np.shape(c)) - c * by_n
    return (
        if_floating(rebroadcast(np.reshape(by_m + np.conj(by_m.T), np.shape(c)), c), dtype),
        if_floating(rebroadcast(np.reshape(by_y + np.conj(by_y.T), np.shape(c)), c), dtype),
        if_floating(rebroadcast(by_a, c), dtype),
    )


@cov.tangent_when(fweights=None, aweights=None, dtype=None)
def cov(
    m, y=None, rowvar=True, bias=False, ddof=None, fweights=None, aweights=None, dtype=None, *, c, m_dot, y_dot,
    aweights_dot
):  # fmt: skip
    rows = observations(m, y, rowvar)
    towards = (deviation(rows, 1) / count(rows, 1, freedom(ddof, bias))).T
    by_m = observed(m_dot, rows, rowvar) @ towards
    by_y = observed(y_dot, rows, rowvar, True) @ towards
    return (
        rebroadcast(np.reshape(by_m + np.conj(by_m.T), np.shape(c)), c),
        rebroadcast(np.reshape(by_y + np.conj(by_y.T), np.shape(c)), c),
        None,
    )


cov.refuse("give it a number that does not vary", ddof="degrees of freedom are a count")


@rule(np.corrcoef)
def corrcoef(x, y=None, rowvar=True, dtype=None, *, r, r_bar):
    """u u^H / n of rows u of mean 0 and variance 1: what moves along a row itself drops out."""
    rows = observations(x, y, rowvar, dtype)
    size = np.std(rows, axis=1, keepdims=True)
    u = deviation(rows, 1) / size
    g = np.reshape(if_floating(r_bar, dtype), (len(rows), len(rows)))
    both = g + np.conj(g.T)
    along = np.real(np.sum(both * np.reshape(r, np.shape(g)), axis=1, keepdims=True))
    by_rows = (both @ u - along * u) / (count(rows, 1) * size)
    return unobservations(by_rows, x, rowvar), unobservations(by_rows, y, rowvar, True)


@corrcoef.tangent
def corrcoef(x, y=None, rowvar=True, dtype=None, *, r, x_dot, y_dot):
    rows = observations(x, y, rowvar, dtype)
    size = np.std(rows, axis=1, keepdims=True)
    u = deviation(rows, 1) / size
    towards = u.T / count(rows, 1)
    by_x = (observed(x_dot, rows, rowvar) / size) @ towards
    by_y = (observed(y_dot, rows, rowvar, True) / size) @ towards
    along_x = np.real(np.diagonal(by_x))
    along_y = np.real(np.diagonal(by_y))
    square = np.reshape(r, (len(rows), len(rows)))
    turned_x = by_x + np.conj(by_x.T) - square * (along_x[:, np.newaxis] + along_x)
    turned_y = by_y + np.conj(by_y.T) - square * (along_y[:, np.newaxis] + along_y)
    return (
        if_floating(rebroadcast(np.reshape(turned_x, np.shape(r)), r), dtype),
        if_floating(rebroadcast(np.reshape(turned_y, np.shape(r)), r), dtype),
    )


@linear(observations, "m", "y")
def observations_(m, y=None, rowvar=True, dtype=None, *, z, z_bar):
    """Arrays as rows; as they were again."""
    g = if_floating(z_bar, dtype)
    return unobservations(g, m, rowvar), unobservations(g, y, rowvar, True)


@observations_.tangent
def observations_(m, y=None, rowvar=True, dtype=None, *, z, m_dot, y_dot):
    return if_floating(observed(m_dot, z, rowvar), dtype), if_floating(observed(y_dot, z, rowvar, True), dtype)


@linear(observed, "m")
def observed_(m, like, rowvar=True, second=False, *, y, y_bar):
    """Rows among zeros; cut out again."""
    return unobservations(y_bar, m, rowvar, second)


@linear(unobservations, "g")
def unobservations_(g, m, rowvar=True, second=False, *, y, y_bar):
    """Rows cut out; put among zeros again."""
    return observed(y_bar, g, rowvar, second)


@linear(or_ones, "weights")
def or_ones_(weights, rows, *, y, y_bar):
    """Weights, if there are any."""
    return unarray(y_bar, weights)
