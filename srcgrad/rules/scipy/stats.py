"""Densities and distribution functions on the whole line: normal, Student's t, Cauchy, Laplace, logistic.

With u = (x - loc) / scale a slope by u is shared by x and, with the other sign, loc; that by scale is -u times it and,
of a density, less the density.  By a quantile the slope is one over the density (Johnson, Kotz & Balakrishnan,
*Continuous Univariate Distributions*).
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import special, stats

from srcgrad.rules.scipy.location_scale import location_scale
from srcgrad.runtime import quotient
from srcgrad.runtime.scipy.quotients import xmuly
from srcgrad.runtime.scipy.student import student_density, student_slope


# --- normal; 0.398... is 1 / sqrt(2 pi), 0.797... sqrt(2 / pi) -------------------------------------------------------
@location_scale(stats.norm.pdf)
def norm_pdf(x, loc=0, scale=1, *, y, y_bar):
    """The normal density."""
    u = (x - loc) / scale
    slope = y_bar * y * u / scale
    return -slope, slope, slope * u - y_bar * y / scale


@location_scale(stats.norm.logpdf)
def norm_logpdf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the normal density."""
    u = (x - loc) / scale
    slope = y_bar * u / scale
    return -slope, slope, slope * u - y_bar / scale


@location_scale(stats.norm.cdf)
def norm_cdf(x, loc=0, scale=1, *, y, y_bar):
    """The normal distribution function."""
    u = (x - loc) / scale
    slope = y_bar * 0.3989422804014327 * np.exp(-0.5 * u * u) / scale
    return slope, -slope, -xmuly(slope, u)


@location_scale(stats.norm.sf)
def norm_sf(x, loc=0, scale=1, *, y, y_bar):
    """The complement of the normal distribution function."""
    u = (x - loc) / scale
    slope = y_bar * 0.3989422804014327 * np.exp(-0.5 * u * u) / scale
    return -slope, slope, xmuly(slope, u)


@location_scale(stats.norm.logcdf)
def norm_logcdf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the normal distribution function: its slope is Mills' ratio inverted."""
    u = (x - loc) / scale
    slope = y_bar * 0.7978845608028654 / special.erfcx(-0.7071067811865476 * u) / scale
    return slope, -slope, -xmuly(slope, u)


@location_scale(stats.norm.logsf)
def norm_logsf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the complement of the normal distribution function."""
    u = (x - loc) / scale
    slope = y_bar * 0.7978845608028654 / special.erfcx(0.7071067811865476 * u) / scale
    return -slope, slope, xmuly(slope, u)


@location_scale(stats.norm.ppf)
def norm_ppf(q, loc=0, scale=1, *, y, y_bar):
    """The quantile of the normal distribution."""
    u = (y - loc) / scale
    return y_bar * 2.5066282746310002 * np.exp(0.5 * u * u) * scale, y_bar, y_bar * u


@location_scale(stats.norm.isf)
def norm_isf(q, loc=0, scale=1, *, y, y_bar):
    """The upper quantile of the normal distribution."""
    u = (y - loc) / scale
    return -y_bar * 2.5066282746310002 * np.exp(0.5 * u * u) * scale, y_bar, y_bar * u


# --- Student's t -----------------------------------------------------------------------------------------------------
@location_scale(stats.t.pdf)
def t_pdf(x, df, loc=0, scale=1, *, y, y_bar):
    """Student's density."""
    u = (x - loc) / scale
    weight = y_bar * y
    square = u * u / df
    slope = weight * (1 + 1 / df) * u / (1 + square) / scale
    digammas = special.digamma(0.5 * (df + 1)) - special.digamma(0.5 * df)
    by_df = 0.5 * weight * (digammas - np.log1p(square) + ((df + 1) * square / (1 + square) - 1) / df)
    return -slope, by_df, slope, slope * u - weight / scale


@location_scale(stats.t.logpdf)
def t_logpdf(x, df, loc=0, scale=1, *, y, y_bar):
    """The logarithm of Student's density."""
    u = (x - loc) / scale
    square = u * u / df
    slope = y_bar * (1 + 1 / df) * u / (1 + square) / scale
    digammas = special.digamma(0.5 * (df + 1)) - special.digamma(0.5 * df)
    by_df = 0.5 * y_bar * (digammas - np.log1p(square) + ((df + 1) * square / (1 + square) - 1) / df)
    return -slope, by_df, slope, slope * u - y_bar / scale


@location_scale(stats.t.cdf)
def t_cdf(x, df, loc=0, scale=1, *, y, y_bar):
    """Student's distribution function."""
    u = (x - loc) / scale
    slope = y_bar * student_density(u, df) / scale
    return slope, y_bar * student_slope(u, df), -slope, -xmuly(slope, u)


@location_scale(stats.t.sf)
def t_sf(x, df, loc=0, scale=1, *, y, y_bar):
    """The complement of Student's distribution function."""
    u = (x - loc) / scale
    slope = y_bar * student_density(u, df) / scale
    return -slope, -y_bar * student_slope(u, df), slope, xmuly(slope, u)


@location_scale(stats.t.logcdf)
def t_logcdf(x, df, loc=0, scale=1, *, y, y_bar):
    """The logarithm of Student's distribution function."""
    u = (x - loc) / scale
    ratio = y_bar * np.exp(-y)
    slope = ratio * student_density(u, df) / scale
    return slope, ratio * student_slope(u, df), -slope, -xmuly(slope, u)


@location_scale(stats.t.logsf)
def t_logsf(x, df, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the complement of Student's distribution function."""
    u = (x - loc) / scale
    ratio = y_bar * np.exp(-y)
    slope = ratio * student_density(u, df) / scale
    return -slope, -ratio * student_slope(u, df), slope, xmuly(slope, u)


@location_scale(stats.t.ppf)
def t_ppf(q, df, loc=0, scale=1, *, y, y_bar):
    """The quantile of Student's distribution."""
    u = (y - loc) / scale
    by_u = y_bar * scale / student_density(u, df)
    return by_u, -xmuly(student_slope(u, df), by_u), y_bar, y_bar * u


@location_scale(stats.t.isf)
def t_isf(q, df, loc=0, scale=1, *, y, y_bar):
    """The upper quantile of Student's distribution."""
    u = (y - loc) / scale
    by_u = y_bar * scale / student_density(u, df)
    return -by_u, -xmuly(student_slope(u, df), by_u), y_bar, y_bar * u


# --- Cauchy; 0.318... is 1 / pi --------------------------------------------------------------------------------------
@location_scale(stats.cauchy.pdf)
def cauchy_pdf(x, loc=0, scale=1, *, y, y_bar):
    """Cauchy's density."""
    u = (x - loc) / scale
    slope = y_bar * y * 2.0 * u / (1.0 + u * u) / scale
    return -slope, slope, slope * u - y_bar * y / scale


@location_scale(stats.cauchy.logpdf)
def cauchy_logpdf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of Cauchy's density."""
    u = (x - loc) / scale
    slope = y_bar * 2.0 * u / (1.0 + u * u) / scale
    return -slope, slope, slope * u - y_bar / scale


@location_scale(stats.cauchy.cdf)
def cauchy_cdf(x, loc=0, scale=1, *, y, y_bar):
    """Cauchy's distribution function."""
    u = (x - loc) / scale
    slope = y_bar * 0.3183098861837907 / (1.0 + u * u) / scale
    return slope, -slope, -xmuly(slope, u)


@location_scale(stats.cauchy.sf)
def cauchy_sf(x, loc=0, scale=1, *, y, y_bar):
    """The complement of Cauchy's distribution function."""
    u = (x - loc) / scale
    slope = y_bar * 0.3183098861837907 / (1.0 + u * u) / scale
    return -slope, slope, xmuly(slope, u)


@location_scale(stats.cauchy.logcdf)
def cauchy_logcdf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of Cauchy's distribution function."""
    u = (x - loc) / scale
    slope = y_bar * 0.3183098861837907 * np.exp(-y) / (1.0 + u * u) / scale
    return slope, -slope, -xmuly(slope, u)


@location_scale(stats.cauchy.logsf)
def cauchy_logsf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the complement of Cauchy's distribution function."""
    u = (x - loc) / scale
    slope = y_bar * 0.3183098861837907 * np.exp(-y) / (1.0 + u * u) / scale
    return -slope, slope, xmuly(slope, u)


@location_scale(stats.cauchy.ppf)
def cauchy_ppf(q, loc=0, scale=1, *, y, y_bar):
    """The quantile of Cauchy's distribution."""
    u = (y - loc) / scale
    return y_bar * 3.141592653589793 * (1.0 + u * u) * scale, y_bar, y_bar * u


@location_scale(stats.cauchy.isf)
def cauchy_isf(q, loc=0, scale=1, *, y, y_bar):
    """The upper quantile of Cauchy's distribution."""
    u = (y - loc) / scale
    return -y_bar * 3.141592653589793 * (1.0 + u * u) * scale, y_bar, y_bar * u


# --- Laplace ---------------------------------------------------------------------------------------------------------
@location_scale(stats.laplace.pdf)
def laplace_pdf(x, loc=0, scale=1, *, y, y_bar):
    """Laplace's density; slope 0 at its peak."""
    u = (x - loc) / scale
    slope = y_bar * y * np.sign(u) / scale
    return -slope, slope, slope * u - y_bar * y / scale


@location_scale(stats.laplace.logpdf)
def laplace_logpdf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of Laplace's density; slope 0 at its peak."""
    u = (x - loc) / scale
    slope = y_bar * np.sign(u) / scale
    return -slope, slope, slope * u - y_bar / scale


@location_scale(stats.laplace.cdf)
def laplace_cdf(x, loc=0, scale=1, *, y, y_bar):
    """Laplace's distribution function."""
    u = (x - loc) / scale
    slope = y_bar * 0.5 * np.exp(-np.abs(u)) / scale
    return slope, -slope, -xmuly(slope, u)


@location_scale(stats.laplace.sf)
def laplace_sf(x, loc=0, scale=1, *, y, y_bar):
    """The complement of Laplace's distribution function."""
    u = (x - loc) / scale
    slope = y_bar * 0.5 * np.exp(-np.abs(u)) / scale
    return -slope, slope, xmuly(slope, u)


@location_scale(stats.laplace.logcdf)
def laplace_logcdf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of Laplace's distribution function."""
    u = (x - loc) / scale
    slope = y_bar * 0.5 * np.exp(-np.abs(u) - y) / scale
    return slope, -slope, -xmuly(slope, u)


@location_scale(stats.laplace.logsf)
def laplace_logsf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the complement of Laplace's distribution function."""
    u = (x - loc) / scale
    slope = y_bar * 0.5 * np.exp(-np.abs(u) - y) / scale
    return -slope, slope, xmuly(slope, u)


@location_scale(stats.laplace.ppf)
def laplace_ppf(q, loc=0, scale=1, *, y, y_bar):
    """The quantile of Laplace's distribution."""
    return y_bar * scale / np.minimum(q, 1.0 - q), y_bar, y_bar * ((y - loc) / scale)


@location_scale(stats.laplace.isf)
def laplace_isf(q, loc=0, scale=1, *, y, y_bar):
    """The upper quantile of Laplace's distribution."""
    return -y_bar * scale / np.minimum(q, 1.0 - q), y_bar, y_bar * ((y - loc) / scale)


# --- logistic --------------------------------------------------------------------------------------------------------
@location_scale(stats.logistic.pdf)
def logistic_pdf(x, loc=0, scale=1, *, y, y_bar):
    """The logistic density."""
    u = (x - loc) / scale
    slope = y_bar * y * np.tanh(0.5 * u) / scale
    return -slope, slope, slope * u - y_bar * y / scale


@location_scale(stats.logistic.logpdf)
def logistic_logpdf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the logistic density."""
    u = (x - loc) / scale
    slope = y_bar * np.tanh(0.5 * u) / scale
    return -slope, slope, slope * u - y_bar / scale


@location_scale(stats.logistic.cdf)
def logistic_cdf(x, loc=0, scale=1, *, y, y_bar):
    """The logistic distribution function."""
    u = (x - loc) / scale
    slope = y_bar * y * special.expit(-u) / scale
    return slope, -slope, -xmuly(slope, u)


@location_scale(stats.logistic.sf)
def logistic_sf(x, loc=0, scale=1, *, y, y_bar):
    """The complement of the logistic distribution function."""
    u = (x - loc) / scale
    slope = y_bar * y * special.expit(u) / scale
    return -slope, slope, xmuly(slope, u)


@location_scale(stats.logistic.logcdf)
def logistic_logcdf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the logistic distribution function."""
    u = (x - loc) / scale
    slope = y_bar * special.expit(-u) / scale
    return slope, -slope, -xmuly(slope, u)


@location_scale(stats.logistic.logsf)
def logistic_logsf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the complement of the logistic distribution function."""
    u = (x - loc) / scale
    slope = y_bar * special.expit(u) / scale
    return -slope, slope, xmuly(slope, u)


@location_scale(stats.logistic.ppf)
def logistic_ppf(q, loc=0, scale=1, *, y, y_bar):
    """The quantile of the logistic distribution."""
    return quotient(y_bar, q * (1.0 - q)) * scale, y_bar, y_bar * ((y - loc) / scale)


@location_scale(stats.logistic.isf)
def logistic_isf(q, loc=0, scale=1, *, y, y_bar):
    """The upper quantile of the logistic distribution."""
    return -quotient(y_bar, q * (1.0 - q)) * scale, y_bar, y_bar * ((y - loc) / scale)
