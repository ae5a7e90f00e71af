"""Densities and distribution functions on an interval: uniform, beta."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import special, stats

from srcgrad.rules.scipy.location_scale import location_scale
from srcgrad.runtime.scipy.beta import beta_density, betainc_slope
from srcgrad.runtime.scipy.quotients import xdivy, xmuly


# --- uniform ---------------------------------------------------------------------------------------------------------
@location_scale(stats.uniform.pdf)
def uniform_pdf(x, loc=0, scale=1, *, y, y_bar):
    """The uniform density, constant between its jumps."""
    return None, None, -y_bar * y / scale


@location_scale(stats.uniform.logpdf)
def uniform_logpdf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the uniform density, constant between its jumps."""
    return None, None, -np.where(y == -np.inf, 0.0, y_bar) / scale


@location_scale(stats.uniform.cdf)
def uniform_cdf(x, loc=0, scale=1, *, y, y_bar):
    """The uniform distribution function."""
    u = (x - loc) / scale
    slope = y_bar * ((u > 0) & (u < 1)) / scale
    return slope, -slope, -xmuly(slope, u)


@location_scale(stats.uniform.sf)
def uniform_sf(x, loc=0, scale=1, *, y, y_bar):
    """The complement of the uniform distribution function."""
    u = (x - loc) / scale
    slope = y_bar * ((u > 0) & (u < 1)) / scale
    return -slope, slope, xmuly(slope, u)


@location_scale(stats.uniform.logcdf)
def uniform_logcdf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the uniform distribution function."""
    u = (x - loc) / scale
    slope = xdivy(y_bar * ((u > 0) & (u < 1)), u) / scale
    return slope, -slope, -xmuly(slope, u)


@location_scale(stats.uniform.logsf)
def uniform_logsf(x, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the complement of the uniform distribution function."""
    u = (x - loc) / scale
    slope = xdivy(y_bar * ((u > 0) & (u < 1)), 1.0 - u) / scale
    return -slope, slope, xmuly(slope, u)


@location_scale(stats.uniform.ppf)
def uniform_ppf(q, loc=0, scale=1, *, y, y_bar):
    """The quantile of the uniform distribution."""
    return y_bar * scale, y_bar, y_bar * q


@location_scale(stats.uniform.isf)
def uniform_isf(q, loc=0, scale=1, *, y, y_bar):
    """The upper quantile of the uniform distribution."""
    return -y_bar * scale, y_bar, y_bar * (1.0 - q)


# --- beta ------------------------------------------------------------------------------------------------------------
@location_scale(stats.beta.pdf)
def beta_pdf(x, a, b, loc=0, scale=1, *, y, y_bar):
    """The beta density."""
    u = (x - loc) / scale
    weight = y_bar * y
    slope = (xdivy(weight * (a - 1), u) - xdivy(weight * (b - 1), 1 - u)) / scale
    by_a = special.xlogy(weight, u) - weight * (special.digamma(a) - special.digamma(a + b))
    by_b = special.xlog1py(weight, -u) - weight * (special.digamma(b) - special.digamma(a + b))
    return slope, by_a, by_b, -slope, -xmuly(slope, u) - weight / scale


@location_scale(stats.beta.logpdf)
def beta_logpdf(x, a, b, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the beta density."""
    u = (x - loc) / scale
    weight = np.where(y == -np.inf, 0.0, y_bar)
    slope = (xdivy(weight * (a - 1), u) - xdivy(weight * (b - 1), 1 - u)) / scale
    by_a = special.xlogy(weight, u) - weight * (special.digamma(a) - special.digamma(a + b))
    by_b = special.xlog1py(weight, -u) - weight * (special.digamma(b) - special.digamma(a + b))
    return slope, by_a, by_b, -slope, -xmuly(slope, u) - weight / scale


@location_scale(stats.beta.cdf)
def beta_cdf(x, a, b, loc=0, scale=1, *, y, y_bar):
    """The beta distribution function."""
    u = (x - loc) / scale
    slope = y_bar * beta_density(a, b, u) / scale
    by_a = y_bar * betainc_slope(a, b, u, 1, 0)
    return slope, by_a, y_bar * betainc_slope(a, b, u, 0, 1), -slope, -xmuly(slope, u)


@location_scale(stats.beta.sf)
def beta_sf(x, a, b, loc=0, scale=1, *, y, y_bar):
    """The complement of the beta distribution function."""
    u = (x - loc) / scale
    slope = y_bar * beta_density(a, b, u) / scale
    by_a = -y_bar * betainc_slope(a, b, u, 1, 0)
    return -slope, by_a, -y_bar * betainc_slope(a, b, u, 0, 1), slope, xmuly(slope, u)


@location_scale(stats.beta.logcdf)
def beta_logcdf(x, a, b, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the beta distribution function."""
    u = (x - loc) / scale
    ratio = xdivy(y_bar * (y > -np.inf), np.exp(y))
    slope = ratio * beta_density(a, b, u) / scale
    by_a = ratio * betainc_slope(a, b, u, 1, 0)
    return slope, by_a, ratio * betainc_slope(a, b, u, 0, 1), -slope, -xmuly(slope, u)


@location_scale(stats.beta.logsf)
def beta_logsf(x, a, b, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the complement of the beta distribution function."""
    u = (x - loc) / scale
    ratio = xdivy(y_bar * (y > -np.inf), np.exp(y))
    slope = ratio * beta_density(a, b, u) / scale
    by_a = -ratio * betainc_slope(a, b, u, 1, 0)
    return -slope, by_a, -ratio * betainc_slope(a, b, u, 0, 1), slope, xmuly(slope, u)


@location_scale(stats.beta.ppf)
def beta_ppf(q, a, b, loc=0, scale=1, *, y, y_bar):
    """The quantile of the beta distribution."""
    u = (y - loc) / scale
    by_u = y_bar / beta_density(a, b, u) * scale
    by_a = -xmuly(betainc_slope(a, b, u, 1, 0), by_u)
    return by_u, by_a, -xmuly(betainc_slope(a, b, u, 0, 1), by_u), y_bar, y_bar * u


@location_scale(stats.beta.isf)
def beta_isf(q, a, b, loc=0, scale=1, *, y, y_bar):
    """The upper quantile of the beta distribution."""
    u = (y - loc) / scale
    by_u = y_bar / beta_density(a, b, u) * scale
    by_a = -xmuly(betainc_slope(a, b, u, 1, 0), by_u)
    return -by_u, by_a, -xmuly(betainc_slope(a, b, u, 0, 1), by_u), y_bar, y_bar * u
