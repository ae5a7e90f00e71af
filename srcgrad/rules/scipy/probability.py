"""Distribution functions of scipy.special and their inverses: binomial, Poisson, gamma, F, Student's t, chi-square.

By a probability or a point the derivative is a density; by a parameter it is that of an incomplete gamma or beta
function (Cephes; Abramowitz & Stegun, chapter 26).
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import special

from srcgrad.rules.table import elementwise
from srcgrad.runtime import masked
from srcgrad.runtime.scipy.beta import beta_density, betainc_slope
from srcgrad.runtime.scipy.gamma import gamma_density, gammainc_slope
from srcgrad.runtime.scipy.student import student_density, student_slope

_COUNT = "it counts events"


# --- binomial and negative binomial ----------------------------------------------------------------------------------
@elementwise(special.bdtr)
def bdtr(k, n, p, *, y, y_bar):
    """The binomial distribution function, I(1 - p; n - k, k + 1)."""
    return None, None, -y_bar * beta_density(np.floor(k) + 1, n - np.floor(k), p)


@elementwise(special.bdtrc)
def bdtrc(k, n, p, *, y, y_bar):
    """The complement of the binomial distribution function."""
    return None, None, y_bar * beta_density(np.floor(k) + 1, n - np.floor(k), p)


@elementwise(special.bdtri)
def bdtri(k, n, y, *, p, p_bar):
    """The inverse of the binomial distribution function by p."""
    return None, None, -p_bar / beta_density(np.floor(k) + 1, n - np.floor(k), p)


@elementwise(special.nbdtr)
def nbdtr(k, n, p, *, y, y_bar):
    """The negative binomial distribution function, I(p; n, k + 1)."""
    return None, None, y_bar * beta_density(n, k + 1, p)


@elementwise(special.nbdtrc)
def nbdtrc(k, n, p, *, y, y_bar):
    """The complement of the negative binomial distribution function."""
    return None, None, -y_bar * beta_density(n, k + 1, p)


@elementwise(special.nbdtri)
def nbdtri(k, n, y, *, p, p_bar):
    """The inverse of the negative binomial distribution function by p."""
    return None, None, p_bar / beta_density(n, k + 1, p)


# --- Poisson and gamma -----------------------------------------------------------------------------------------------
@elementwise(special.pdtr)
def pdtr(k, m, *, y, y_bar):
    """Poisson's distribution function, Q(k + 1, m)."""
    return None, -y_bar * gamma_density(np.floor(k) + 1, m)


@elementwise(special.pdtrc)
def pdtrc(k, m, *, y, y_bar):
    """The complement of Poisson's distribution function."""
    return None, y_bar * gamma_density(np.floor(k) + 1, m)


@elementwise(special.pdtri)
def pdtri(k, y, *, m, m_bar):
    """The inverse of Poisson's distribution function by m."""
    return None, -m_bar / gamma_density(np.floor(k) + 1, m)


for counting_ in (bdtr, bdtrc, bdtri, nbdtr, nbdtrc, nbdtri):
    counting_.refuse("write it with scipy.special.betainc", k=_COUNT, n=_COUNT)
for counting_ in (pdtr, pdtrc, pdtri):
    counting_.refuse("write it with scipy.special.gammaincc", k=_COUNT)


@elementwise(special.gdtr)
def gdtr(a, b, x, *, y, y_bar):
    """The gamma distribution function of shape b and rate a, P(b, a x)."""
    slope = y_bar * gamma_density(b, a * x)
    return slope * x, y_bar * gammainc_slope(b, a * x), slope * a


@elementwise(special.gdtrc)
def gdtrc(a, b, x, *, y, y_bar):
    """The complement of the gamma distribution function."""
    slope = -y_bar * gamma_density(b, a * x)
    return slope * x, -y_bar * gammainc_slope(b, a * x), slope * a


@elementwise(special.gdtria)
def gdtria(p, b, x, *, a, a_bar):
    """The inverse of the gamma distribution function by a."""
    by_p = a_bar / (x * gamma_density(b, a * x))
    return by_p, -by_p * gammainc_slope(b, a * x), -a_bar * a / x


@elementwise(special.gdtrix)
def gdtrix(a, b, p, *, x, x_bar):
    """The inverse of the gamma distribution function by x."""
    by_p = x_bar / (a * gamma_density(b, a * x))
    return -x_bar * x / a, -by_p * gammainc_slope(b, a * x), by_p


@elementwise(special.chdtr)
def chdtr(v, x, *, y, y_bar):
    """The chi-square distribution function, P(v / 2, x / 2)."""
    half = 0.5 * y_bar
    return half * gammainc_slope(0.5 * v, 0.5 * x), half * gamma_density(0.5 * v, 0.5 * x)


@elementwise(special.chdtrc)
def chdtrc(v, x, *, y, y_bar):
    """The complement of the chi-square distribution function."""
    half = -0.5 * y_bar
    return half * gammainc_slope(0.5 * v, 0.5 * x), half * gamma_density(0.5 * v, 0.5 * x)


@elementwise(special.chdtri)
def chdtri(v, p, *, x, x_bar):
    """The inverse of the complement of the chi-square distribution function by x."""
    slope = -x_bar / gamma_density(0.5 * v, 0.5 * x)
    return slope * gammainc_slope(0.5 * v, 0.5 * x), 2.0 * slope


# --- F and Student's t -----------------------------------------------------------------------------------------------
@elementwise(special.fdtr)
def fdtr(dfn, dfd, x, *, y, y_bar):
    """The F distribution function, I(dfn x / (dfd + dfn x); dfn / 2, dfd / 2)."""
    total = dfd + dfn * x
    slope = y_bar * beta_density(0.5 * dfn, 0.5 * dfd, dfn * x / total) / (total * total)
    half = 0.5 * y_bar
    return (
        half * betainc_slope(0.5 * dfn, 0.5 * dfd, dfn * x / total, 1, 0) + slope * x * dfd,
        half * betainc_slope(0.5 * dfn, 0.5 * dfd, dfn * x / total, 0, 1) - slope * x * dfn,
        slope * dfn * dfd,
    )


@elementwise(special.fdtrc)
def fdtrc(dfn, dfd, x, *, y, y_bar):
    """The complement of the F distribution function."""
    total = dfd + dfn * x
    slope = y_bar * beta_density(0.5 * dfn, 0.5 * dfd, dfn * x / total) / (total * total)
    half = 0.5 * y_bar
    return (
        -half * betainc_slope(0.5 * dfn, 0.5 * dfd, dfn * x / total, 1, 0) - slope * x * dfd,
        -half * betainc_slope(0.5 * dfn, 0.5 * dfd, dfn * x / total, 0, 1) + slope * x * dfn,
        -slope * dfn * dfd,
    )


@elementwise(special.fdtri)
def fdtri(dfn, dfd, p, *, x, x_bar):
    """The inverse of the F distribution function by x."""
    total = dfd + dfn * x
    by_p = x_bar * total * total / (dfn * dfd * beta_density(0.5 * dfn, 0.5 * dfd, dfn * x / total))
    half = -0.5 * by_p
    return (
        half * betainc_slope(0.5 * dfn, 0.5 * dfd, dfn * x / total, 1, 0) - x_bar * x / dfn,
        half * betainc_slope(0.5 * dfn, 0.5 * dfd, dfn * x / total, 0, 1) + x_bar * x / dfd,
        by_p,
    )


@elementwise(special.stdtr)
def stdtr(df, t, *, y, y_bar):
    """Student's distribution function, 1/2 + sign(t) I(t**2 / (df + t**2); 1/2, df / 2) / 2."""
    return y_bar * student_slope(t, df), y_bar * student_density(t, df)


@elementwise(special.stdtrit)
def stdtrit(df, p, *, t, t_bar):
    """The inverse of Student's distribution function by t."""
    by_p = t_bar / student_density(t, df)
    return -by_p * student_slope(t, df), by_p


@elementwise(student_density)
def student_density_(t, df, *, z, z_bar):
    """The density of Student's distribution."""
    square = t * t / df
    digammas = special.digamma(0.5 * (df + 1)) - special.digamma(0.5 * df)
    by_df = 0.5 * (digammas - np.log1p(square) + (square * (df + 1) / (1 + square) - 1) / df)
    return -z_bar * z * (1 + 1 / df) * t / (1 + square), z_bar * z * by_df


@elementwise(student_slope)
def student_slope_(t, df, *, z, z_bar):
    """Student's distribution function by its degrees of freedom: once more by them, and the density by them."""
    density = student_density(t, df)
    square = t * t / df
    place = square / (1 + square)
    digammas = special.digamma(0.5 * (df + 1)) - special.digamma(0.5 * df)
    density_by_df = 0.5 * density * (digammas - np.log1p(square) + ((df + 1) * place - 1) / df)
    twice = 0.5 * betainc_slope(0.5, 0.5 * df, place, 0, 2)
    moved = beta_density(0.5, 0.5 * df, place, 0, 1) * square / (df * (1 + square) ** 2)
    by_df = 0.25 * np.sign(t) * (twice - moved) - 0.5 * t * (density_by_df - density / df) / df
    return z_bar * density_by_df, z_bar * by_df


# --- normal and Tukey's lambda ---------------------------------------------------------------------------------------
@elementwise(special.nrdtrimn)
def nrdtrimn(p, std, x, *, mn, mn_bar):
    """The mean of the normal distribution with the given quantile, x - std ndtri(p)."""
    quantile = (x - mn) / std
    return -mn_bar * std * 2.5066282746310002 * np.exp(0.5 * quantile * quantile), -mn_bar * quantile, mn_bar


@elementwise(special.nrdtrisd)
def nrdtrisd(mn, p, x, *, std, std_bar):
    """The standard deviation of the normal distribution with the given quantile, (x - mn) / ndtri(p)."""
    quantile = (x - mn) / std
    by_x = std_bar / quantile
    return -by_x, -by_x * std * 2.5066282746310002 * np.exp(0.5 * quantile * quantile), by_x


@elementwise(special.tklmbda)
def tklmbda(x, lmbda, *, y, y_bar):
    """Tukey's lambda distribution function, whose inverse is (y**lmbda - (1 - y)**lmbda) / lmbda."""
    inside = np.logical_and(y > 0.0, y < 1.0)
    return masked(y_bar, inside) / (y ** (lmbda - 1.0) + (1.0 - y) ** (lmbda - 1.0))


tklmbda.refuse("differentiate its inverse, boxcox(y, lmbda) - boxcox(1 - y, lmbda)", lmbda="it has no rule here")
