"""Exponentials, logarithms, powers, entropies and angles of scipy.special; sums of exponentials are in ``softmax``."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import special

from srcgrad.rules.table import elementwise
from srcgrad.runtime import power_partial, quotient, safe_divide
from srcgrad.runtime.scipy.hypergeometric import hyp2f1
from srcgrad.runtime.scipy.quotients import log_quotient, xdivy, xlog1py_slope, xlogy_slope, xmuly


# --- exponentials and powers -----------------------------------------------------------------------------------------
@elementwise(special.exp2)
def exp2(x, *, z, z_bar):
    """2 ** x."""
    return z_bar * z * 0.6931471805599453


@elementwise(special.exp10)
def exp10(x, *, z, z_bar):
    """10 ** x."""
    return z_bar * z * 2.302585092994046


@elementwise(special.expm1)
def expm1(x, *, z, z_bar):
    """exp(x) - 1."""
    return z_bar * (z + 1.0)


@elementwise(special.log1p)
def log1p(x, *, z, z_bar):
    """log(1 + x)."""
    return quotient(z_bar, 1.0 + x)


@elementwise(special.cbrt)
def cbrt(x, *, z, z_bar):
    """The cube root."""
    return z_bar / (3.0 * z * z)


@elementwise(special.exprel)
def exprel(x, *, z, z_bar):
    """(exp(x) - 1) / x, which is Kummer's function of 1 and 2 (DLMF 13.3.15)."""
    return z_bar * 0.5 * special.hyp1f1(2.0, 3.0, x)


@elementwise(special.powm1)
def powm1(x, y, *, z, z_bar):
    """x ** y - 1."""
    return z_bar * power_partial(x, y, 1, 0), z_bar * power_partial(x, y, 0, 1)


@elementwise(special.cosm1)
def cosm1(x, *, z, z_bar):
    """cos(x) - 1."""
    return -z_bar * np.sin(x)


# --- the logistic function -------------------------------------------------------------------------------------------
@elementwise(special.expit)
def expit(x, *, z, z_bar):
    """The logistic function 1 / (1 + exp(-x))."""
    return z_bar * z * (1.0 - z)


@elementwise(special.logit)
def logit(x, *, z, z_bar):
    """log(x / (1 - x))."""
    return quotient(z_bar, x * (1.0 - x))


@elementwise(special.log_expit)
def log_expit(x, *, z, z_bar):
    """The logarithm of the logistic function."""
    return z_bar * special.expit(-x)


if hasattr(special, "softplus"):

    @elementwise(special.softplus)
    def softplus(x, *, z, z_bar):
        """log(1 + exp(x))."""
        return z_bar * special.expit(x)


# --- entropies -------------------------------------------------------------------------------------------------------
@elementwise(special.xlogy)
def xlogy(x, y, *, z, z_bar):
    """x log(y), zero where x is zero; so is its slope there where y has no logarithm."""
    return z_bar * xlogy_slope(x, y), xdivy(z_bar * x, y)


@elementwise(special.xlog1py)
def xlog1py(x, y, *, z, z_bar):
    """x log(1 + y), zero where x is zero; so is its slope there where 1 + y has no logarithm."""
    return z_bar * xlog1py_slope(x, y), xdivy(z_bar * x, 1.0 + y)


@elementwise(special.entr)
def entr(x, *, z, z_bar):
    """-x log(x); infinite slope at zero."""
    return -z_bar - special.xlogy(z_bar, x)


@elementwise(special.rel_entr)
def rel_entr(x, y, *, z, z_bar):
    """x log(x / y)."""
    return z_bar * (log_quotient(x, y) + 1.0), -xdivy(z_bar * x, y)


@elementwise(special.kl_div)
def kl_div(x, y, *, z, z_bar):
    """x log(x / y) - x + y."""
    return z_bar * log_quotient(x, y), z_bar - xdivy(z_bar * x, y)


@elementwise(xdivy)
def xdivy_(x, y, *, z, z_bar):
    """The quotient, zero where x is zero."""
    return xdivy(z_bar, y), -xdivy(z_bar * z, y)


@elementwise(xmuly)
def xmuly_(x, y, *, z, z_bar):
    """The product, zero where x is zero."""
    return xmuly(z_bar, y), z_bar * x


@elementwise(xlogy_slope)
def xlogy_slope_(x, y, *, z, z_bar):
    """A logarithm, constant where it was left out."""
    return None, safe_divide(z_bar, y)


@elementwise(xlog1py_slope)
def xlog1py_slope_(x, y, *, z, z_bar):
    """A logarithm of 1 + y, constant where it was left out."""
    return None, safe_divide(z_bar, 1.0 + y)


@elementwise(log_quotient)
def log_quotient_(x, y, *, z, z_bar):
    """The logarithm of a quotient, zero where both are zero."""
    return safe_divide(z_bar, x), -safe_divide(z_bar, y)


# --- losses ----------------------------------------------------------------------------------------------------------
@elementwise(special.huber)
def huber(delta, r, *, z, z_bar):
    """r**2 / 2 within delta, linear beyond."""
    return z_bar * np.maximum(np.abs(r) - delta, 0.0), z_bar * np.clip(r, -delta, delta)


@elementwise(special.pseudo_huber)
def pseudo_huber(delta, r, *, z, z_bar):
    """delta**2 (sqrt(1 + (r / delta)**2) - 1)."""
    length = np.hypot(delta, r)
    return z_bar * (z / delta) ** 2 / length, z_bar * r * delta / length


# --- Box and Cox -----------------------------------------------------------------------------------------------------
@elementwise(special.boxcox)
def boxcox(x, lmbda, *, z, z_bar):
    """(x ** lmbda - 1) / lmbda = log(x) exprel(lmbda log(x))."""
    log = np.log(x)
    return z_bar * np.power(x, lmbda - 1.0), z_bar * 0.5 * log * log * special.hyp1f1(2.0, 3.0, lmbda * log)


@elementwise(special.boxcox1p)
def boxcox1p(x, lmbda, *, z, z_bar):
    """((1 + x) ** lmbda - 1) / lmbda = log(1 + x) exprel(lmbda log(1 + x))."""
    log = np.log1p(x)
    return z_bar * np.exp((lmbda - 1.0) * log), z_bar * 0.5 * log * log * special.hyp1f1(2.0, 3.0, lmbda * log)


@elementwise(special.inv_boxcox)
def inv_boxcox(y, lmbda, *, z, z_bar):
    """(1 + lmbda y) ** (1 / lmbda); the derivative of log(1 + t) / t is a hypergeometric function (DLMF 15.4.1)."""
    t = lmbda * y
    return z_bar * z / (1.0 + t), -0.5 * z_bar * z * y * y * hyp2f1(2.0, 2.0, 3.0, -t)


@elementwise(special.inv_boxcox1p)
def inv_boxcox1p(y, lmbda, *, z, z_bar):
    """(1 + lmbda y) ** (1 / lmbda) - 1."""
    t = lmbda * y
    power = z + 1.0
    return z_bar * power / (1.0 + t), -0.5 * z_bar * power * y * y * hyp2f1(2.0, 2.0, 3.0, -t)


# --- angles in degrees -----------------------------------------------------------------------------------------------
@elementwise(special.sindg)
def sindg(x, *, z, z_bar):
    """The sine of degrees."""
    return z_bar * 0.017453292519943295 * special.cosdg(x)


@elementwise(special.cosdg)
def cosdg(x, *, z, z_bar):
    """The cosine of degrees."""
    return -z_bar * 0.017453292519943295 * special.sindg(x)


@elementwise(special.tandg)
def tandg(x, *, z, z_bar):
    """The tangent of degrees."""
    return z_bar * 0.017453292519943295 * (1.0 + z * z)


@elementwise(special.cotdg)
def cotdg(x, *, z, z_bar):
    """The cotangent of degrees."""
    return -z_bar * 0.017453292519943295 * (1.0 + z * z)


@elementwise(special.radian)
def radian(d, m, s, *, z, z_bar):
    """Degrees, minutes and seconds in radians."""
    degrees = z_bar * 0.017453292519943295
    return degrees, degrees / 60.0, degrees / 3600.0
