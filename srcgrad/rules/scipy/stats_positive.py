"""Densities and distribution functions on a half-line: exponential, gamma, chi-square, Weibull, Pareto, log-normal.

Outside of the support a density is 0, its logarithm minus infinity, and every slope 0: a weight that is 0 there comes
first, so that what it multiplies does not matter (``xdivy``, ``xmuly``, ``xlogy``).
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import special, stats

from srcgrad.rules.scipy.location_scale import location_scale
from srcgrad.runtime import quotient, safe_divide
from srcgrad.runtime.scipy.gamma import gamma_density, gammainc_slope
from srcgrad.runtime.scipy.quotients import xdivy, xmuly


# --- exponential -----------------------------------------------------------------------------------------------------
@location_scale(stats.expon.pdf)
def expon_pdf(x, loc=0, scale=1, *, y, y_bar):
    """The exponential density."""
    slope = y_bar * y / scale
    return -slope, slope, xmuly(slope, (x - loc) / scale - 1.0)


@location_scale(stats.expon.logpdf)
def expon_logpdf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the exponential density."""
    slope = np.where(y == -np.inf, 0.0, y_bar) / scale
    return -slope, slope, xmuly(slope, (x - loc) / scale - 1.0)


@location_scale(stats.expon.cdf)
def expon_cdf(x, loc=0, scale=1, *, y, y_bar):
    """The exponential distribution function."""
    u = (x - loc) / scale
    slope = y_bar * (u > 0) * np.exp(-np.abs(u)) / scale
    return slope, -slope, -xmuly(slope, u)


@location_scale(stats.expon.sf)
def expon_sf(x, loc=0, scale=1, *, y, y_bar):
    """The complement of the exponential distribution function."""
    u = (x - loc) / scale
    slope = y_bar * y * (u > 0) / scale
    return -slope, slope, xmuly(slope, u)


@location_scale(stats.expon.logcdf)
def expon_logcdf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the exponential distribution function."""
    u = (x - loc) / scale
    slope = safe_divide(y_bar * (u > 0) * np.exp(-np.abs(u)), -np.expm1(-np.abs(u))) / scale
    return slope, -slope, -xmuly(slope, u)


@location_scale(stats.expon.logsf)
def expon_logsf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the complement of the exponential distribution function."""
    u = (x - loc) / scale
    slope = y_bar * (u > 0) / scale
    return -slope, slope, xmuly(slope, u)


@location_scale(stats.expon.ppf)
def expon_ppf(q, loc=0, scale=1, *, y, y_bar):
    """The quantile of the exponential distribution."""
    return quotient(y_bar, 1.0 - q) * scale, y_bar, y_bar * ((y - loc) / scale)


@location_scale(stats.expon.isf)
def expon_isf(q, loc=0, scale=1, *, y, y_bar):
    """The upper quantile of the exponential distribution."""
    return -quotient(y_bar, q) * scale, y_bar, y_bar * ((y - loc) / scale)


# --- gamma -----------------------------------------------------------------------------------------------------------
@location_scale(stats.gamma.pdf)
def gamma_pdf(x, a, loc=0, scale=1, *, y, y_bar):
    """The gamma density."""
    u = (x - loc) / scale
    weight = y_bar * y
    slope = (xdivy(weight * (a - 1), u) - weight) / scale
    return slope, special.xlogy(weight, u) - weight * special.digamma(a), -slope, xmuly(weight, u - a) / scale


@location_scale(stats.gamma.logpdf)
def gamma_logpdf(x, a, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the gamma density."""
    u = (x - loc) / scale
    weight = np.where(y == -np.inf, 0.0, y_bar)
    slope = (xdivy(weight * (a - 1), u) - weight) / scale
    return slope, special.xlogy(weight, u) - weight * special.digamma(a), -slope, xmuly(weight, u - a) / scale


@location_scale(stats.gamma.cdf)
def gamma_cdf(x, a, loc=0, scale=1, *, y, y_bar):
    """The gamma distribution function."""
    u = (x - loc) / scale
    slope = y_bar * gamma_density(a, u) / scale
    return slope, y_bar * gammainc_slope(a, u), -slope, -xmuly(slope, u)


@location_scale(stats.gamma.sf)
def gamma_sf(x, a, loc=0, scale=1, *, y, y_bar):
    """The complement of the gamma distribution function."""
    u = (x - loc) / scale
    slope = y_bar * gamma_density(a, u) / scale
    return -slope, -y_bar * gammainc_slope(a, u), slope, xmuly(slope, u)


@location_scale(stats.gamma.logcdf)
def gamma_logcdf(x, a, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the gamma distribution function."""
    u = (x - loc) / scale
    ratio = xdivy(y_bar * (y > -np.inf), np.exp(y))
    slope = ratio * gamma_density(a, u) / scale
    return slope, ratio * gammainc_slope(a, u), -slope, -xmuly(slope, u)


@location_scale(stats.gamma.logsf)
def gamma_logsf(x, a, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the complement of the gamma distribution function."""
    u = (x - loc) / scale
    ratio = xdivy(y_bar * (y > -np.inf), np.exp(y))
    slope = ratio * gamma_density(a, u) / scale
    return -slope, -ratio * gammainc_slope(a, u), slope, xmuly(slope, u)


@location_scale(stats.gamma.ppf)
def gamma_ppf(q, a, loc=0, scale=1, *, y, y_bar):
    """The quantile of the gamma distribution."""
    u = (y - loc) / scale
    by_u = y_bar / gamma_density(a, u) * scale
    return by_u, -xmuly(gammainc_slope(a, u), by_u), y_bar, y_bar * u


@location_scale(stats.gamma.isf)
def gamma_isf(q, a, loc=0, scale=1, *, y, y_bar):
    """The upper quantile of the gamma distribution."""
    u = (y - loc) / scale
    by_u = y_bar / gamma_density(a, u) * scale
    return -by_u, -xmuly(gammainc_slope(a, u), by_u), y_bar, y_bar * u


# --- chi-square: gamma of a = df / 2, twice as wide ------------------------------------------------------------------
@location_scale(stats.chi2.pdf)
def chi2_pdf(x, df, loc=0, scale=1, *, y, y_bar):
    """The chi-square density."""
    u = (x - loc) / scale
    half = 0.5 * y_bar * y
    slope = (xdivy(half * (df - 2), u) - half) / scale
    by_df = special.xlogy(half, 0.5 * u) - half * special.digamma(0.5 * df)
    return slope, by_df, -slope, xmuly(half, u - df) / scale


@location_scale(stats.chi2.logpdf)
def chi2_logpdf(x, df, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the chi-square density."""
    u = (x - loc) / scale
    half = 0.5 * np.where(y == -np.inf, 0.0, y_bar)
    slope = (xdivy(half * (df - 2), u) - half) / scale
    by_df = special.xlogy(half, 0.5 * u) - half * special.digamma(0.5 * df)
    return slope, by_df, -slope, xmuly(half, u - df) / scale


@location_scale(stats.chi2.cdf)
def chi2_cdf(x, df, loc=0, scale=1, *, y, y_bar):
    """The chi-square distribution function."""
    u = (x - loc) / scale
    slope = 0.5 * y_bar * gamma_density(0.5 * df, 0.5 * u) / scale
    return slope, 0.5 * y_bar * gammainc_slope(0.5 * df, 0.5 * u), -slope, -xmuly(slope, u)


@location_scale(stats.chi2.sf)
def chi2_sf(x, df, loc=0, scale=1, *, y, y_bar):
    """The complement of the chi-square distribution function."""
    u = (x - loc) / scale
    slope = 0.5 * y_bar * gamma_density(0.5 * df, 0.5 * u) / scale
    return -slope, -0.5 * y_bar * gammainc_slope(0.5 * df, 0.5 * u), slope, xmuly(slope, u)


@location_scale(stats.chi2.logcdf)
def chi2_logcdf(x, df, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the chi-square distribution function."""
    u = (x - loc) / scale
    half = xdivy(0.5 * y_bar * (y > -np.inf), np.exp(y))
    slope = half * gamma_density(0.5 * df, 0.5 * u) / scale
    return slope, half * gammainc_slope(0.5 * df, 0.5 * u), -slope, -xmuly(slope, u)


@location_scale(stats.chi2.logsf)
def chi2_logsf(x, df, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the complement of the chi-square distribution function."""
    u = (x - loc) / scale
    half = xdivy(0.5 * y_bar * (y > -np.inf), np.exp(y))
    slope = half * gamma_density(0.5 * df, 0.5 * u) / scale
    return -slope, -half * gammainc_slope(0.5 * df, 0.5 * u), slope, xmuly(slope, u)


@location_scale(stats.chi2.ppf)
def chi2_ppf(q, df, loc=0, scale=1, *, y, y_bar):
    """The quantile of the chi-square distribution."""
    u = (y - loc) / scale
    by_u = y_bar / gamma_density(0.5 * df, 0.5 * u) * scale
    return 2.0 * by_u, -xmuly(gammainc_slope(0.5 * df, 0.5 * u), by_u), y_bar, y_bar * u


@location_scale(stats.chi2.isf)
def chi2_isf(q, df, loc=0, scale=1, *, y, y_bar):
    """The upper quantile of the chi-square distribution."""
    u = (y - loc) / scale
    by_u = y_bar / gamma_density(0.5 * df, 0.5 * u) * scale
    return -2.0 * by_u, -xmuly(gammainc_slope(0.5 * df, 0.5 * u), by_u), y_bar, y_bar * u


# --- Weibull: (x / scale)**c is exponential --------------------------------------------------------------------------
@location_scale(stats.weibull_min.pdf)
def weibull_pdf(x, c, loc=0, scale=1, *, y, y_bar):
    """Weibull's density."""
    u = np.maximum((x - loc) / scale, 0.0)
    power = u**c
    weight = y_bar * y
    slope = xdivy(weight * (c - 1 - c * power), u) / scale
    return slope, special.xlogy(weight * (1 - power), u) + weight / c, -slope, weight * c * (power - 1) / scale


@location_scale(stats.weibull_min.logpdf)
def weibull_logpdf(x, c, loc=0, scale=1, *, y, y_bar):
    """The logarithm of Weibull's density."""
    u = np.maximum((x - loc) / scale, 0.0)
    power = u**c
    weight = np.where(y == -np.inf, 0.0, y_bar)
    slope = xdivy(weight * (c - 1 - c * power), u) / scale
    return slope, special.xlogy(weight * (1 - power), u) + weight / c, -slope, weight * c * (power - 1) / scale


@location_scale(stats.weibull_min.cdf)
def weibull_cdf(x, c, loc=0, scale=1, *, y, y_bar):
    """Weibull's distribution function."""
    u = np.maximum((x - loc) / scale, 0.0)
    weight = y_bar * xmuly(np.exp(-(u**c)), u**c)
    slope = xdivy(weight * c, u) / scale
    return slope, special.xlogy(weight, u), -slope, -weight * c / scale


@location_scale(stats.weibull_min.sf)
def weibull_sf(x, c, loc=0, scale=1, *, y, y_bar):
    """The complement of Weibull's distribution function."""
    u = np.maximum((x - loc) / scale, 0.0)
    weight = y_bar * xmuly(y, u**c)
    slope = xdivy(weight * c, u) / scale
    return -slope, -special.xlogy(weight, u), slope, weight * c / scale


@location_scale(stats.weibull_min.logcdf)
def weibull_logcdf(x, c, loc=0, scale=1, *, y, y_bar):
    """The logarithm of Weibull's distribution function."""
    u = np.maximum((x - loc) / scale, 0.0)
    weight = y_bar * (u > 0) / special.exprel(u**c)
    slope = xdivy(weight * c, u) / scale
    return slope, special.xlogy(weight, u), -slope, -weight * c / scale


@location_scale(stats.weibull_min.logsf)
def weibull_logsf(x, c, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the complement of Weibull's distribution function."""
    u = np.maximum((x - loc) / scale, 0.0)
    slope = xdivy(y_bar * y * c, u) / scale
    return slope, special.xlogy(y_bar * y, u), -slope, -y_bar * y * c / scale


@location_scale(stats.weibull_min.ppf)
def weibull_ppf(q, c, loc=0, scale=1, *, y, y_bar):
    """The quantile of Weibull's distribution."""
    u = (y - loc) / scale
    by_q = -y_bar * u / (c * np.log1p(-q) * (1.0 - q)) * scale
    return by_q, -special.xlogy(y_bar * u, u) / c * scale, y_bar, y_bar * u


@location_scale(stats.weibull_min.isf)
def weibull_isf(q, c, loc=0, scale=1, *, y, y_bar):
    """The upper quantile of Weibull's distribution."""
    u = (y - loc) / scale
    by_q = y_bar * u / (c * np.log(q) * q) * scale
    return by_q, -special.xlogy(y_bar * u, u) / c * scale, y_bar, y_bar * u
