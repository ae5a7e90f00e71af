"""Probabilities and distribution functions of counts: Poisson, binomial, Bernoulli, geometric, negative binomial.

They vary smoothly with their parameters; with the count and its shift by jumps, and these are refused by name.  Where
a count has no probability every slope is 0.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import special, stats

from srcgrad.rules.scipy.location_scale import location_scale
from srcgrad.runtime.scipy.beta import beta_density, betainc_slope
from srcgrad.runtime.scipy.gamma import gamma_density
from srcgrad.runtime.scipy.quotients import xdivy


# --- Poisson ---------------------------------------------------------------------------------------------------------
@location_scale(stats.poisson.pmf)
def poisson_pmf(k, mu, loc=0, *, y, y_bar):
    """Poisson's probability."""
    weight = y_bar * y
    return None, xdivy(weight * (k - loc), mu) - weight


@location_scale(stats.poisson.logpmf)
def poisson_logpmf(k, mu, loc=0, *, y, y_bar):
    """The logarithm of Poisson's probability."""
    weight = np.where(y == -np.inf, 0.0, y_bar)
    return None, xdivy(weight * (k - loc), mu) - weight


@location_scale(stats.poisson.cdf)
def poisson_cdf(k, mu, loc=0, *, y, y_bar):
    """Poisson's distribution function."""
    return None, -y_bar * gamma_density(np.floor(k - loc) + 1, mu)


@location_scale(stats.poisson.sf)
def poisson_sf(k, mu, loc=0, *, y, y_bar):
    """The complement of Poisson's distribution function."""
    return None, y_bar * gamma_density(np.floor(k - loc) + 1, mu)


@location_scale(stats.poisson.logcdf)
def poisson_logcdf(k, mu, loc=0, *, y, y_bar):
    """The logarithm of Poisson's distribution function."""
    return None, -xdivy(y_bar * gamma_density(np.floor(k - loc) + 1, mu), np.exp(y))


@location_scale(stats.poisson.logsf)
def poisson_logsf(k, mu, loc=0, *, y, y_bar):
    """The logarithm of the complement of Poisson's distribution function."""
    return None, xdivy(y_bar * gamma_density(np.floor(k - loc) + 1, mu), np.exp(y))


# --- binomial and Bernoulli ------------------------------------------------------------------------------------------
@location_scale(stats.binom.pmf)
def binom_pmf(k, n, p, loc=0, *, y, y_bar):
    """The binomial probability."""
    weight = y_bar * y
    return None, None, xdivy(weight * (k - loc), p) - xdivy(weight * (n - (k - loc)), 1 - p)


@location_scale(stats.binom.logpmf)
def binom_logpmf(k, n, p, loc=0, *, y, y_bar):
    """The logarithm of the binomial probability."""
    weight = np.where(y == -np.inf, 0.0, y_bar)
    return None, None, xdivy(weight * (k - loc), p) - xdivy(weight * (n - (k - loc)), 1 - p)


@location_scale(stats.binom.cdf)
def binom_cdf(k, n, p, loc=0, *, y, y_bar):
    """The binomial distribution function."""
    count = np.floor(k - loc)
    inside = (count >= 0) & (count < n)
    return None, None, -y_bar * inside * beta_density(np.maximum(count, 0) + 1, np.maximum(n - count, 1), p)


@location_scale(stats.binom.sf)
def binom_sf(k, n, p, loc=0, *, y, y_bar):
    """The complement of the binomial distribution function."""
    count = np.floor(k - loc)
    inside = (count >= 0) & (count < n)
    return None, None, y_bar * inside * beta_density(np.maximum(count, 0) + 1, np.maximum(n - count, 1), p)


@location_scale(stats.bernoulli.pmf)
def bernoulli_pmf(k, p, loc=0, *, y, y_bar):
    """Bernoulli's probability, p or 1 - p."""
    count = k - loc
    return None, y_bar * ((count == 1) - 1.0 * (count == 0))


@location_scale(stats.bernoulli.logpmf)
def bernoulli_logpmf(k, p, loc=0, *, y, y_bar):
    """The logarithm of Bernoulli's probability."""
    count = k - loc
    return None, xdivy(y_bar * (count == 1), p) - xdivy(y_bar * (count == 0), 1 - p)


# --- geometric and negative binomial ---------------------------------------------------------------------------------
@location_scale(stats.geom.pmf)
def geom_pmf(k, p, loc=0, *, y, y_bar):
    """The geometric probability, p (1 - p)**(k - 1)."""
    weight = y_bar * y
    return None, xdivy(weight, p) - xdivy(weight * (k - loc - 1), 1 - p)


@location_scale(stats.geom.logpmf)
def geom_logpmf(k, p, loc=0, *, y, y_bar):
    """The logarithm of the geometric probability."""
    weight = np.where(y == -np.inf, 0.0, y_bar)
    return None, xdivy(weight, p) - xdivy(weight * (k - loc - 1), 1 - p)


@location_scale(stats.geom.cdf)
def geom_cdf(k, p, loc=0, *, y, y_bar):
    """The geometric distribution function, 1 - (1 - p)**k."""
    count = np.maximum(np.floor(k - loc), 0)
    return None, y_bar * count * (1 - p) ** (count - 1)


@location_scale(stats.nbinom.pmf)
def nbinom_pmf(k, n, p, loc=0, *, y, y_bar):
    """The negative binomial probability."""
    weight = y_bar * y
    count = np.maximum(k - loc, 0)
    by_n = weight * (special.digamma(count + n) - special.digamma(n)) + special.xlogy(weight, p)
    return None, by_n, xdivy(weight * n, p) - xdivy(weight * count, 1 - p)


@location_scale(stats.nbinom.logpmf)
def nbinom_logpmf(k, n, p, loc=0, *, y, y_bar):
    """The logarithm of the negative binomial probability."""
    weight = np.where(y == -np.inf, 0.0, y_bar)
    count = np.maximum(k - loc, 0)
    by_n = weight * (special.digamma(count + n) - special.digamma(n)) + special.xlogy(weight, p)
    return None, by_n, xdivy(weight * n, p) - xdivy(weight * count, 1 - p)


@location_scale(stats.nbinom.cdf)
def nbinom_cdf(k, n, p, loc=0, *, y, y_bar):
    """The negative binomial distribution function."""
    count = np.floor(k - loc)
    place = np.where(count < 0, 0.0, p)
    by_n = y_bar * betainc_slope(n, np.maximum(count, 0) + 1, place, 1, 0)
    return None, by_n, y_bar * (count >= 0) * beta_density(n, np.maximum(count, 0) + 1, p)


# --- counts ----------------------------------------------------------------------------------------------------------
_COUNT = "probabilities vary with it by jumps"
for counting_ in (
    poisson_pmf, poisson_logpmf, poisson_cdf, poisson_sf, poisson_logcdf, poisson_logsf, binom_pmf, binom_logpmf,
    binom_cdf, binom_sf, bernoulli_pmf, bernoulli_logpmf, geom_pmf, geom_logpmf, geom_cdf, nbinom_pmf, nbinom_logpmf,
    nbinom_cdf,
):  # fmt: skip
    counting_.refuse("keep counts constant, with stop_gradient where they are computed", k=_COUNT, loc=_COUNT)
for trying_ in (binom_pmf, binom_logpmf, binom_cdf, binom_sf):
    trying_.refuse("keep counts constant, with stop_gradient where they are computed", n=_COUNT)
