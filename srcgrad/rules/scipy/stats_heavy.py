"""Densities and distribution functions on a half-line that fall slowly: Pareto, log-normal.

A point outside of the support is moved inside, where its weight 0 decides.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import special, stats

from srcgrad.rules.scipy.location_scale import location_scale
from srcgrad.runtime import safe_divide
from srcgrad.runtime.scipy.quotients import xmuly


# --- Pareto ----------------------------------------------------------------------------------------------------------
@location_scale(stats.pareto.pdf)
def pareto_pdf(x, b, loc=0, scale=1, *, y, y_bar):
    """Pareto's density."""
    u = np.maximum((x - loc) / scale, 1.0)
    weight = y_bar * y
    slope = weight * (b + 1) / u / scale
    return -slope, weight / b - xmuly(weight, np.log(u)), slope, weight * b / scale


@location_scale(stats.pareto.logpdf)
def pareto_logpdf(x, b, loc=0, scale=1, *, y, y_bar):
    """The logarithm of Pareto's density."""
    u = np.maximum((x - loc) / scale, 1.0)
    weight = np.where(y == -np.inf, 0.0, y_bar)
    slope = weight * (b + 1) / u / scale
    return -slope, weight / b - xmuly(weight, np.log(u)), slope, weight * b / scale


@location_scale(stats.pareto.cdf)
def pareto_cdf(x, b, loc=0, scale=1, *, y, y_bar):
    """Pareto's distribution function."""
    u = np.maximum((x - loc) / scale, 1.0)
    weight = y_bar * (u > 1) * u ** (-b)
    slope = weight * b / u / scale
    return slope, xmuly(weight, np.log(u)), -slope, -weight * b / scale


@location_scale(stats.pareto.sf)
def pareto_sf(x, b, loc=0, scale=1, *, y, y_bar):
    """The complement of Pareto's distribution function."""
    u = np.maximum((x - loc) / scale, 1.0)
    weight = y_bar * (u > 1) * y
    slope = weight * b / u / scale
    return -slope, -xmuly(weight, np.log(u)), slope, weight * b / scale


@location_scale(stats.pareto.logcdf)
def pareto_logcdf(x, b, loc=0, scale=1, *, y, y_bar):
    """The logarithm of Pareto's distribution function."""
    u = np.maximum((x - loc) / scale, 1.0)
    weight = safe_divide(y_bar, np.expm1(b * np.log(u)))
    slope = weight * b / u / scale
    return slope, xmuly(weight, np.log(u)), -slope, -weight * b / scale


@location_scale(stats.pareto.logsf)
def pareto_logsf(x, b, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the complement of Pareto's distribution function."""
    u = np.maximum((x - loc) / scale, 1.0)
    weight = y_bar * (u > 1)
    slope = weight * b / u / scale
    return -slope, -xmuly(weight, np.log(u)), slope, weight * b / scale


@location_scale(stats.pareto.ppf)
def pareto_ppf(q, b, loc=0, scale=1, *, y, y_bar):
    """The quantile of Pareto's distribution."""
    u = (y - loc) / scale
    return y_bar * u / (b * (1.0 - q)) * scale, -y_bar * u * np.log(u) / b * scale, y_bar, y_bar * u


@location_scale(stats.pareto.isf)
def pareto_isf(q, b, loc=0, scale=1, *, y, y_bar):
    """The upper quantile of Pareto's distribution."""
    u = (y - loc) / scale
    return -y_bar * u / (b * q) * scale, -y_bar * u * np.log(u) / b * scale, y_bar, y_bar * u


# --- log-normal: w is normal; 0.398... is 1 / sqrt(2 pi), 0.797... sqrt(2 / pi) --------------------------------------
@location_scale(stats.lognorm.pdf)
def lognorm_pdf(x, s, loc=0, scale=1, *, y, y_bar):
    """The log-normal density."""
    u = np.where(y > 0, x - loc, scale)
    w = np.log(u / scale) / s
    weight = y_bar * y
    slope = weight * (1 + w / s) / u
    return -slope, weight * (w * w - 1) / s, slope, weight * w / s / scale


@location_scale(stats.lognorm.logpdf)
def lognorm_logpdf(x, s, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the log-normal density."""
    u = np.where(y > -np.inf, x - loc, scale)
    w = np.log(u / scale) / s
    weight = np.where(y == -np.inf, 0.0, y_bar)
    slope = weight * (1 + w / s) / u
    return -slope, weight * (w * w - 1) / s, slope, weight * w / s / scale


@location_scale(stats.lognorm.cdf)
def lognorm_cdf(x, s, loc=0, scale=1, *, y, y_bar):
    """The log-normal distribution function."""
    u = np.where(x > loc, x - loc, scale)
    w = np.log(u / scale) / s
    weight = y_bar * (x > loc) * 0.3989422804014327 * np.exp(-0.5 * w * w) / s
    return weight / u, -xmuly(weight, w), -weight / u, -weight / scale


@location_scale(stats.lognorm.sf)
def lognorm_sf(x, s, loc=0, scale=1, *, y, y_bar):
    """The complement of the log-normal distribution function."""
    u = np.where(x > loc, x - loc, scale)
    w = np.log(u / scale) / s
    weight = y_bar * (x > loc) * 0.3989422804014327 * np.exp(-0.5 * w * w) / s
    return -weight / u, xmuly(weight, w), weight / u, weight / scale


@location_scale(stats.lognorm.logcdf)
def lognorm_logcdf(x, s, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the log-normal distribution function."""
    u = np.where(x > loc, x - loc, scale)
    w = np.log(u / scale) / s
    weight = y_bar * (x > loc) * 0.7978845608028654 / special.erfcx(-0.7071067811865476 * w) / s
    return weight / u, -xmuly(weight, w), -weight / u, -weight / scale


@location_scale(stats.lognorm.logsf)
def lognorm_logsf(x, s, loc=0, scale=1, *, y, y_bar):
    """The logarithm of the complement of the log-normal distribution function."""
    u = np.where(x > loc, x - loc, scale)
    w = np.log(u / scale) / s
    weight = y_bar * (x > loc) * 0.7978845608028654 / special.erfcx(0.7071067811865476 * w) / s
    return -weight / u, xmuly(weight, w), weight / u, weight / scale


@location_scale(stats.lognorm.ppf)
def lognorm_ppf(q, s, loc=0, scale=1, *, y, y_bar):
    """The quantile of the log-normal distribution."""
    u = y - loc
    w = np.log(u / scale) / s
    by_q = y_bar * u * s * 2.5066282746310002 * np.exp(0.5 * w * w)
    return by_q, xmuly(y_bar * u, w), y_bar, y_bar * u / scale


@location_scale(stats.lognorm.isf)
def lognorm_isf(q, s, loc=0, scale=1, *, y, y_bar):
    """The upper quantile of the log-normal distribution."""
    u = y - loc
    w = np.log(u / scale) / s
    by_q = y_bar * u * s * 2.5066282746310002 * np.exp(0.5 * w * w)
    return -by_q, xmuly(y_bar * u, w), y_bar, y_bar * u / scale
