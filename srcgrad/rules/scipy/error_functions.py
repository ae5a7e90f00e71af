"""Error functions, the normal distribution function, Fresnel and exponential integrals (DLMF, chapters 6 and 7)."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import special

from srcgrad.rules.table import elementwise, rule
from srcgrad.runtime import rebroadcast, unbroadcast
from srcgrad.runtime.scipy.exponentials import exponential_integral
from srcgrad.runtime.scipy.hypergeometric import hyp2f1
from srcgrad.runtime.scipy.quotients import xdivy

_ORDER = "its order counts the integrals"


# --- error functions; 1.128... is 2 / sqrt(pi) -----------------------------------------------------------------------
@elementwise(special.erf)
def erf(x, *, z, z_bar):
    """The error function, DLMF 7.2.1."""
    return z_bar * 1.1283791670955126 * np.exp(-x * x)


@elementwise(special.erfc)
def erfc(x, *, z, z_bar):
    """The complementary error function, DLMF 7.2.2."""
    return -z_bar * 1.1283791670955126 * np.exp(-x * x)


@elementwise(special.erfcx)
def erfcx(x, *, z, z_bar):
    """exp(x**2) erfc(x), DLMF 7.10.2."""
    return z_bar * (2.0 * x * z - 1.1283791670955126)


@elementwise(special.erfi)
def erfi(x, *, z, z_bar):
    """The error function of an imaginary argument, -i erf(ix)."""
    return z_bar * 1.1283791670955126 * np.exp(x * x)


@elementwise(special.erfinv)
def erfinv(y, *, z, z_bar):
    """The inverse of the error function, DLMF 7.17.1; 0.886... is sqrt(pi) / 2."""
    return z_bar * 0.886226925452758 * np.exp(z * z)


@elementwise(special.erfcinv)
def erfcinv(y, *, z, z_bar):
    """The inverse of the complementary error function, DLMF 7.17.1."""
    return -z_bar * 0.886226925452758 * np.exp(z * z)


@elementwise(special.wofz)
def wofz(x, *, z, z_bar):
    """The Faddeeva function exp(-x**2) erfc(-ix), DLMF 7.10.2."""
    return unbroadcast(z_bar * (1.1283791670955126j - 2.0 * x * z), x)


@wofz.tangent
def wofz(x, *, z, x_dot):
    return rebroadcast(x_dot * (1.1283791670955126j - 2.0 * x * z), z)


wofz.own_dtype = True  # complex, also of a real number


@elementwise(special.dawsn)
def dawsn(x, *, z, z_bar):
    """Dawson's integral, DLMF 7.10.4."""
    return z_bar * (1.0 - 2.0 * x * z)


@elementwise(special.voigt_profile)
def voigt_profile(x, sigma, gamma, *, z, z_bar):
    """The convolution of a normal and a Cauchy density, DLMF 7.19.1: the real part of wofz, scaled."""
    scale = 0.7071067811865476 / sigma
    point = (x + 1j * gamma) * scale
    slope = (1.1283791670955126j - 2.0 * point * special.wofz(point)) * (0.3989422804014327 * scale / sigma)
    by_x = z_bar * np.real(slope)
    by_gamma = -z_bar * np.imag(slope)
    return by_x, -(z_bar * z + x * by_x + gamma * by_gamma) / sigma, by_gamma


# --- the normal distribution function; 0.398... is 1 / sqrt(2 pi), 0.797... sqrt(2 / pi) ------------------------------
@elementwise(special.ndtr)
def ndtr(x, *, z, z_bar):
    """The normal distribution function."""
    return z_bar * 0.3989422804014327 * np.exp(-0.5 * x * x)


@elementwise(special.log_ndtr)
def log_ndtr(x, *, z, z_bar):
    """The logarithm of the normal distribution function; its slope is Mills' ratio inverted, sound in both tails."""
    return z_bar * 0.7978845608028654 / special.erfcx(-0.7071067811865476 * x)


@elementwise(special.ndtri)
def ndtri(y, *, z, z_bar):
    """The inverse of the normal distribution function."""
    return z_bar * 2.5066282746310002 * np.exp(0.5 * z * z)


@elementwise(special.ndtri_exp)
def ndtri_exp(y, *, z, z_bar):
    """The inverse of the logarithm of the normal distribution function."""
    return z_bar * 1.2533141373155003 * special.erfcx(-0.7071067811865476 * z)


@elementwise(special.owens_t)
def owens_t(h, a, *, z, z_bar):
    """Owen's T: 1 / (2 pi) times the integral of exp(-h**2 (1 + t**2) / 2) / (1 + t**2) over t from 0 to a."""
    by_h = -0.19947114020071635 * np.exp(-0.5 * h * h) * special.erf(0.7071067811865476 * a * h)
    squares = 1.0 + a * a
    return z_bar * by_h, z_bar * 0.15915494309189535 * np.exp(-0.5 * h * h * squares) / squares


# --- Fresnel, sine and cosine integrals ------------------------------------------------------------------------------
@rule(special.fresnel)
def fresnel(x, *, y, y_bar):
    """The integrals of sin(pi t**2 / 2) and cos(pi t**2 / 2), DLMF 7.2(iii)."""
    phase = 1.5707963267948966 * x * x
    return unbroadcast(y_bar[0] * np.sin(phase) + y_bar[1] * np.cos(phase), x)


@fresnel.tangent
def fresnel(x, *, y, x_dot):
    phase = 1.5707963267948966 * x * x
    return np.sin(phase) * x_dot, np.cos(phase) * x_dot


@rule(special.sici)
def sici(x, *, y, y_bar):
    """The sine and cosine integrals, DLMF 6.2(ii)."""
    return unbroadcast(y_bar[0] * np.sinc(x / np.pi) + xdivy(y_bar[1] * np.cos(x), x), x)


@sici.tangent
def sici(x, *, y, x_dot):
    return np.sinc(x / np.pi) * x_dot, xdivy(np.cos(x) * x_dot, x)


@rule(special.shichi)
def shichi(x, *, y, y_bar):
    """The hyperbolic sine and cosine integrals, DLMF 6.2(ii)."""
    return unbroadcast(y_bar[0] * special.spherical_in(0, x) + xdivy(y_bar[1] * np.cosh(x), x), x)


@shichi.tangent
def shichi(x, *, y, x_dot):
    return rebroadcast(special.spherical_in(0, x) * x_dot, y[0]), xdivy(np.cosh(x) * x_dot, x)


# --- exponential integrals -------------------------------------------------------------------------------------------
@elementwise(special.exp1)
def exp1(x, *, z, z_bar):
    """The exponential integral E1, DLMF 6.2.1."""
    return -z_bar * np.exp(-x) / x


@elementwise(special.expi)
def expi(x, *, z, z_bar):
    """The exponential integral Ei, DLMF 6.2.5."""
    return z_bar * np.exp(x) / x


@elementwise(special.expn)
def expn(n, x, *, z, z_bar):
    """The generalized exponential integral, DLMF 8.19.13."""
    return None, -z_bar * exponential_integral(n - 1, x)


@elementwise(exponential_integral)
def exponential_integral_(n, x, *, z, z_bar):
    """The generalized exponential integral of any whole order, DLMF 8.19.13."""
    return None, -z_bar * exponential_integral(n - 1, x)


expn.refuse("pass an integer", n=_ORDER)
exponential_integral_.refuse("pass an integer", n=_ORDER)


# --- logarithms of complex kin ---------------------------------------------------------------------------------------
@elementwise(special.spence)
def spence(z, *, y, y_bar):
    """Spence's function, the dilogarithm of 1 - z: its slope log(z) / (1 - z) is a hypergeometric function."""
    return -y_bar * hyp2f1(1.0, 1.0, 2.0, 1.0 - z)


@elementwise(special.wrightomega)
def wrightomega(x, *, z, z_bar):
    """The solution of z + log(z) = x."""
    return z_bar * z / (1.0 + z)


@rule(special.lambertw)
def lambertw(z, k=0, tol=1e-8, *, w, w_bar):
    """The solution of w exp(w) = z, DLMF 4.13.4."""
    return unbroadcast(w_bar * np.exp(-w) / (1.0 + w), z)


@lambertw.tangent
def lambertw(z, k=0, tol=1e-8, *, w, z_dot):
    return rebroadcast(z_dot * np.exp(-w) / (1.0 + w), w)
