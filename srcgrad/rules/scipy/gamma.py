"""Gamma and beta functions, complete and incomplete, and their logarithmic derivatives (DLMF, chapters 5 and 8)."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import special

from srcgrad.rules.facts import Array, as_array, broadcast
from srcgrad.rules.table import elementwise
from srcgrad.runtime.scipy.beta import beta_density, betainc_slope
from srcgrad.runtime.scipy.gamma import (
    digamma_slope,
    gamma_density,
    gammainc_slope,
    multigammaln_slope,
    rgamma_slope,
)
from srcgrad.runtime.scipy.quotients import xdivy

_WHOLE = "it counts derivatives or dimensions"


# --- gamma functions -------------------------------------------------------------------------------------------------
@elementwise(special.gamma)
def gamma(z, *, y, y_bar):
    """The gamma function, DLMF 5.2.2."""
    return y_bar * y * special.digamma(z)


@elementwise(special.gammaln, special.loggamma)
def gammaln(x, *, z, z_bar):
    """The logarithm of the gamma function, of its absolute value for real numbers, DLMF 5.2.2."""
    return z_bar * special.digamma(x)


@elementwise(special.rgamma)
def rgamma(z, *, y, y_bar):
    """The reciprocal of the gamma function, an entire function."""
    return y_bar * rgamma_slope(z)


@elementwise(special.digamma)
def digamma(z, *, y, y_bar):
    """The logarithmic derivative of the gamma function, DLMF 5.2.2."""
    return y_bar * digamma_slope(z)


@elementwise(special.polygamma)
def polygamma(n, x, *, y, y_bar):
    """Each polygamma function is the derivative of the one before, DLMF 5.15.1."""
    return None, y_bar * special.polygamma(np.add(n, 1), x)


@elementwise(special.multigammaln)
def multigammaln(a, d, *, y, y_bar):
    """The logarithm of the multivariate gamma function, DLMF 35.3.4."""
    return y_bar * multigammaln_slope(a, d)


@elementwise(special.zeta)
def zeta(x, q=None, *, y, y_bar):
    """The zeta function of Hurwitz, DLMF 25.11.17."""
    return None, -y_bar * x * special.zeta(x + 1, q)


@elementwise(special.poch)
def poch(z, m, *, y, y_bar):
    """The rising factorial gamma(z + m) / gamma(z), DLMF 5.2.5."""
    upper = special.digamma(z + m)
    return y_bar * y * (upper - special.digamma(z)), y_bar * y * upper


@polygamma.infer
def polygamma(arguments, literals):
    """A 0-d array stays one, and a number becomes one."""
    return Array(broadcast(as_array(arguments["n"]), as_array(arguments["x"])).shape or None)


polygamma.refuse("pass an integer", n=_WHOLE)
multigammaln.refuse("pass an integer", d=_WHOLE)
zeta.refuse(
    "write the sum, if it converges fast where you are", x="its derivative by the exponent has no closed form"
)


# --- beta functions --------------------------------------------------------------------------------------------------
@elementwise(special.beta)
def beta(a, b, *, y, y_bar):
    """The beta function, DLMF 5.12.1."""
    both = special.digamma(a + b)
    return y_bar * y * (special.digamma(a) - both), y_bar * y * (special.digamma(b) - both)


@elementwise(special.betaln)
def betaln(a, b, *, y, y_bar):
    """The logarithm of the absolute value of the beta function."""
    both = special.digamma(a + b)
    return y_bar * (special.digamma(a) - both), y_bar * (special.digamma(b) - both)


@elementwise(special.binom)
def binom(n, k, *, y, y_bar):
    """The binomial coefficient of real numbers, 1 / ((n + 1) B(n - k + 1, k + 1))."""
    rest = special.digamma(n - k + 1)
    return y_bar * y * (special.digamma(n + 1) - rest), y_bar * y * (rest - special.digamma(k + 1))


# --- incomplete gamma functions --------------------------------------------------------------------------------------
@elementwise(special.gammainc)
def gammainc(a, x, *, y, y_bar):
    """The regularized lower incomplete gamma function, DLMF 8.2.4: by x it is a density."""
    return y_bar * gammainc_slope(a, x), y_bar * gamma_density(a, x)


@elementwise(special.gammaincc)
def gammaincc(a, x, *, y, y_bar):
    """The regularized upper incomplete gamma function, DLMF 8.2.4."""
    return -y_bar * gammainc_slope(a, x), -y_bar * gamma_density(a, x)


@elementwise(special.gammaincinv)
def gammaincinv(a, y, *, x, x_bar):
    """The inverse of the lower incomplete gamma function by x."""
    by_y = x_bar / gamma_density(a, x)
    return -by_y * gammainc_slope(a, x), by_y


@elementwise(special.gammainccinv)
def gammainccinv(a, y, *, x, x_bar):
    """The inverse of the upper incomplete gamma function by x."""
    by_y = x_bar / gamma_density(a, x)
    return -by_y * gammainc_slope(a, x), -by_y


# --- incomplete beta functions ---------------------------------------------------------------------------------------
@elementwise(special.betainc)
def betainc(a, b, x, *, y, y_bar):
    """The regularized incomplete beta function, DLMF 8.17.2: by x it is a density."""
    return (
        y_bar * betainc_slope(a, b, x, 1, 0),
        y_bar * betainc_slope(a, b, x, 0, 1),
        y_bar * beta_density(a, b, x),
    )


@elementwise(special.betaincc)
def betaincc(a, b, x, *, y, y_bar):
    """The complement of the regularized incomplete beta function."""
    return (
        -y_bar * betainc_slope(a, b, x, 1, 0),
        -y_bar * betainc_slope(a, b, x, 0, 1),
        -y_bar * beta_density(a, b, x),
    )


@elementwise(special.betaincinv)
def betaincinv(a, b, y, *, x, x_bar):
    """The inverse of the regularized incomplete beta function by x."""
    by_y = x_bar / beta_density(a, b, x)
    return -by_y * betainc_slope(a, b, x, 1, 0), -by_y * betainc_slope(a, b, x, 0, 1), by_y


@elementwise(special.betainccinv)
def betainccinv(a, b, y, *, x, x_bar):
    """The inverse of the complement of the regularized incomplete beta function by x."""
    by_y = x_bar / beta_density(a, b, x)
    return -by_y * betainc_slope(a, b, x, 1, 0), -by_y * betainc_slope(a, b, x, 0, 1), -by_y


# --- what the formulas above call ------------------------------------------------------------------------------------
@elementwise(digamma_slope)
def digamma_slope_(x, n=1, *, z, z_bar):
    """The derivatives of digamma, one by one."""
    return z_bar * digamma_slope(x, n + 1)


@elementwise(rgamma_slope)
def rgamma_slope_(x, n=1, *, z, z_bar):
    """The derivatives of 1 / gamma, one by one."""
    return z_bar * rgamma_slope(x, n + 1)


@elementwise(multigammaln_slope)
def multigammaln_slope_(a, d, n=1, *, z, z_bar):
    """The derivatives of the logarithm of the multivariate gamma function, one by one."""
    return z_bar * multigammaln_slope(a, d, n + 1)


@elementwise(gammainc_slope)
def gammainc_slope_(a, x, n=1, *, z, z_bar):
    """The derivatives of the incomplete gamma function by its parameter; by x, those of the density."""
    return z_bar * gammainc_slope(a, x, n + 1), z_bar * gamma_density(a, x, n)


@elementwise(gamma_density)
def gamma_density_(a, x, n=0, *, z, z_bar):
    """The derivatives of the gamma density by its parameter; x brings a factor (a - 1) / x - 1 to differentiate."""
    by_x = xdivy((a - 1) * z + n * gamma_density(a, x, n - 1), x) - z
    return z_bar * gamma_density(a, x, n + 1), z_bar * by_x


@gamma_density_.when(n=0)
def gamma_density_(a, x, n=0, *, z, z_bar):
    """The gamma density."""
    return z_bar * gamma_density(a, x, 1), z_bar * (xdivy((a - 1) * z, x) - z)


@elementwise(betainc_slope)
def betainc_slope_(a, b, x, m, n, *, z, z_bar):
    """The derivatives of the incomplete beta function by its parameters; by x, those of the density."""
    return (
        z_bar * betainc_slope(a, b, x, m + 1, n),
        z_bar * betainc_slope(a, b, x, m, n + 1),
        z_bar * beta_density(a, b, x, m, n),
    )


@elementwise(beta_density)
def beta_density_(a, b, x, m=0, n=0, *, z, z_bar):
    """The derivatives of the beta density by its parameters; x brings a factor to differentiate."""
    by_log_x = (a - 1) * z + m * beta_density(a, b, x, m - 1, n)
    by_log_y = (b - 1) * z + n * beta_density(a, b, x, m, n - 1)
    return (
        z_bar * beta_density(a, b, x, m + 1, n),
        z_bar * beta_density(a, b, x, m, n + 1),
        z_bar * (xdivy(by_log_x, x) - xdivy(by_log_y, 1 - x)),
    )


@beta_density_.when(m=0, n=0)
def beta_density_(a, b, x, m=0, n=0, *, z, z_bar):
    """The beta density."""
    return (
        z_bar * beta_density(a, b, x, 1, 0),
        z_bar * beta_density(a, b, x, 0, 1),
        z_bar * (xdivy((a - 1) * z, x) - xdivy((b - 1) * z, 1 - x)),
    )
