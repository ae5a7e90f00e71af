"""Bessel functions and their kin by their argument (NIST DLMF, chapters 9 to 12); by their order they are refused."""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import special

from srcgrad.rules.facts import Array
from srcgrad.rules.table import elementwise, rule
from srcgrad.runtime import rebroadcast, unbroadcast


# --- J, Y and the functions of Hankel, DLMF 10.6.1 -------------------------------------------------------------------
@elementwise(special.j0)
def j0(x, *, z, z_bar):
    """The Bessel function of the first kind of order 0, DLMF 10.6.3."""
    return -z_bar * special.j1(x)


@elementwise(special.j1)
def j1(x, *, z, z_bar):
    """The Bessel function of the first kind of order 1."""
    return z_bar * 0.5 * (special.j0(x) - special.jv(2, x))


@elementwise(special.jv)
def jv(v, z, *, y, y_bar):
    """The Bessel function of the first kind."""
    return None, y_bar * 0.5 * (special.jv(v - 1, z) - special.jv(v + 1, z))


@elementwise(special.y0)
def y0(x, *, z, z_bar):
    """The Bessel function of the second kind of order 0, DLMF 10.6.3."""
    return -z_bar * special.y1(x)


@elementwise(special.y1)
def y1(x, *, z, z_bar):
    """The Bessel function of the second kind of order 1."""
    return z_bar * 0.5 * (special.y0(x) - special.yv(2, x))


@elementwise(special.yn)
def yn(n, x, *, y, y_bar):
    """The Bessel function of the second kind of whole order."""
    return None, y_bar * 0.5 * (special.yn(n - 1, x) - special.yn(n + 1, x))


@elementwise(special.yv)
def yv(v, z, *, y, y_bar):
    """The Bessel function of the second kind."""
    return None, y_bar * 0.5 * (special.yv(v - 1, z) - special.yv(v + 1, z))


@elementwise(special.hankel1)
def hankel1(v, z, *, y, y_bar):
    """Hankel's first function, J + iY."""
    return None, unbroadcast(y_bar * 0.5 * (special.hankel1(v - 1, z) - special.hankel1(v + 1, z)), z)


@hankel1.tangent
def hankel1(v, z, *, y, z_dot):
    return rebroadcast(z_dot * 0.5 * (special.hankel1(v - 1, z) - special.hankel1(v + 1, z)), y)


@elementwise(special.hankel2)
def hankel2(v, z, *, y, y_bar):
    """Hankel's second function, J - iY."""
    return None, unbroadcast(y_bar * 0.5 * (special.hankel2(v - 1, z) - special.hankel2(v + 1, z)), z)


@hankel2.tangent
def hankel2(v, z, *, y, z_dot):
    return rebroadcast(z_dot * 0.5 * (special.hankel2(v - 1, z) - special.hankel2(v + 1, z)), y)


@elementwise(special.hankel1e)
def hankel1e(v, z, *, y, y_bar):
    """Hankel's first function times exp(-iz)."""
    slope = 0.5 * (special.hankel1e(v - 1, z) - special.hankel1e(v + 1, z)) - 1j * y
    return None, unbroadcast(y_bar * slope, z)


@hankel1e.tangent
def hankel1e(v, z, *, y, z_dot):
    slope = 0.5 * (special.hankel1e(v - 1, z) - special.hankel1e(v + 1, z)) - 1j * y
    return rebroadcast(z_dot * slope, y)


@elementwise(special.hankel2e)
def hankel2e(v, z, *, y, y_bar):
    """Hankel's second function times exp(iz)."""
    slope = 0.5 * (special.hankel2e(v - 1, z) - special.hankel2e(v + 1, z)) + 1j * y
    return None, unbroadcast(y_bar * slope, z)


@hankel2e.tangent
def hankel2e(v, z, *, y, z_dot):
    slope = 0.5 * (special.hankel2e(v - 1, z) - special.hankel2e(v + 1, z)) + 1j * y
    return rebroadcast(z_dot * slope, y)


# --- I and K, DLMF 10.29.1 -------------------------------------------------------------------------------------------
@elementwise(special.i0)
def i0(x, *, z, z_bar):
    """The modified Bessel function of the first kind of order 0, DLMF 10.29.3."""
    return z_bar * special.i1(x)


@elementwise(special.i1)
def i1(x, *, z, z_bar):
    """The modified Bessel function of the first kind of order 1."""
    return z_bar * 0.5 * (special.i0(x) + special.iv(2, x))


@elementwise(special.iv)
def iv(v, z, *, y, y_bar):
    """The modified Bessel function of the first kind."""
    return None, y_bar * 0.5 * (special.iv(v - 1, z) + special.iv(v + 1, z))


@elementwise(special.i0e)
def i0e(x, *, z, z_bar):
    """exp(-abs(x)) I0(x); slope 0 at 0."""
    return z_bar * (special.i1e(x) - np.sign(x) * z)


@elementwise(special.i1e)
def i1e(x, *, z, z_bar):
    """exp(-abs(x)) I1(x)."""
    return z_bar * (0.5 * (special.i0e(x) + special.ive(2, x)) - np.sign(x) * z)


@elementwise(special.k0)
def k0(x, *, z, z_bar):
    """The modified Bessel function of the second kind of order 0, DLMF 10.29.3."""
    return -z_bar * special.k1(x)


@elementwise(special.k1)
def k1(x, *, z, z_bar):
    """The modified Bessel function of the second kind of order 1."""
    return -z_bar * 0.5 * (special.k0(x) + special.kv(2, x))


@elementwise(special.k0e)
def k0e(x, *, z, z_bar):
    """exp(x) K0(x)."""
    return z_bar * (z - special.k1e(x))


@elementwise(special.k1e)
def k1e(x, *, z, z_bar):
    """exp(x) K1(x)."""
    return z_bar * (z - 0.5 * (special.k0e(x) + special.kve(2, x)))


@elementwise(special.kn)
def kn(n, x, *, y, y_bar):
    """The modified Bessel function of the second kind of whole order."""
    return None, -y_bar * 0.5 * (special.kn(n - 1, x) + special.kn(n + 1, x))


@elementwise(special.kv)
def kv(v, z, *, y, y_bar):
    """The modified Bessel function of the second kind."""
    return None, -y_bar * 0.5 * (special.kv(v - 1, z) + special.kv(v + 1, z))


@elementwise(special.kve)
def kve(v, z, *, y, y_bar):
    """exp(z) K(z)."""
    return None, y_bar * (y - 0.5 * (special.kve(v - 1, z) + special.kve(v + 1, z)))


# --- scaled by the modulus of an exponential: smooth on the real line, not holomorphic off it -------------------------
@elementwise(special.jve)
def jve(v, z, *, y, y_bar):
    """exp(-abs(imag(z))) J(z)."""
    slope = y_bar * 0.5 * (special.jve(v - 1, z) - special.jve(v + 1, z))
    return None, unbroadcast(slope + 1j * np.sign(np.imag(z)) * np.real(y_bar * y), z)


@jve.tangent
def jve(v, z, *, y, z_dot):
    slope = 0.5 * (special.jve(v - 1, z) - special.jve(v + 1, z))
    return rebroadcast(slope * z_dot - np.sign(np.imag(z)) * np.imag(z_dot) * y, y)


@elementwise(special.yve)
def yve(v, z, *, y, y_bar):
    """exp(-abs(imag(z))) Y(z)."""
    slope = y_bar * 0.5 * (special.yve(v - 1, z) - special.yve(v + 1, z))
    return None, unbroadcast(slope + 1j * np.sign(np.imag(z)) * np.real(y_bar * y), z)


@yve.tangent
def yve(v, z, *, y, z_dot):
    slope = 0.5 * (special.yve(v - 1, z) - special.yve(v + 1, z))
    return rebroadcast(slope * z_dot - np.sign(np.imag(z)) * np.imag(z_dot) * y, y)


@elementwise(special.ive)
def ive(v, z, *, y, y_bar):
    """exp(-abs(real(z))) I(z); slope 0 of the exponential at 0."""
    slope = y_bar * 0.5 * (special.ive(v - 1, z) + special.ive(v + 1, z))
    return None, unbroadcast(slope - np.sign(np.real(z)) * np.real(y_bar * y), z)


@ive.tangent
def ive(v, z, *, y, z_dot):
    slope = 0.5 * (special.ive(v - 1, z) + special.ive(v + 1, z))
    return rebroadcast(slope * z_dot - np.sign(np.real(z)) * np.real(z_dot) * y, y)


def _real(argument):
    return isinstance(argument.fact, Array) and argument.fact.is_real


@jve.when(z=_real)
def jve(v, z, *, y, y_bar):
    """A real argument: the factor is one."""
    return None, y_bar * 0.5 * (special.jve(v - 1, z) - special.jve(v + 1, z))


@jve.tangent_when(z=_real)
def jve(v, z, *, y, z_dot):
    return rebroadcast(z_dot * 0.5 * (special.jve(v - 1, z) - special.jve(v + 1, z)), y)


@yve.when(z=_real)
def yve(v, z, *, y, y_bar):
    """A real argument: the factor is one."""
    return None, y_bar * 0.5 * (special.yve(v - 1, z) - special.yve(v + 1, z))


@yve.tangent_when(z=_real)
def yve(v, z, *, y, z_dot):
    return rebroadcast(z_dot * 0.5 * (special.yve(v - 1, z) - special.yve(v + 1, z)), y)


@ive.when(z=_real)
def ive(v, z, *, y, y_bar):
    """A real argument."""
    return None, y_bar * (0.5 * (special.ive(v - 1, z) + special.ive(v + 1, z)) - np.sign(z) * y)


@ive.tangent_when(z=_real)
def ive(v, z, *, y, z_dot):
    slope = 0.5 * (special.ive(v - 1, z) + special.ive(v + 1, z)) - np.sign(z) * y
    return rebroadcast(slope * z_dot, y)


# --- derivatives of any order, as SciPy offers them ------------------------------------------------------------------
@elementwise(special.jvp)
def jvp(v, z, n=1, *, y, y_bar):
    """The n-th derivative of J."""
    return None, unbroadcast(y_bar * special.jvp(v, z, n + 1), z)


@jvp.tangent
def jvp(v, z, n=1, *, y, z_dot):
    return rebroadcast(z_dot * special.jvp(v, z, n + 1), y)


@elementwise(special.yvp)
def yvp(v, z, n=1, *, y, y_bar):
    """The n-th derivative of Y."""
    return None, unbroadcast(y_bar * special.yvp(v, z, n + 1), z)


@yvp.tangent
def yvp(v, z, n=1, *, y, z_dot):
    return rebroadcast(z_dot * special.yvp(v, z, n + 1), y)


@elementwise(special.ivp)
def ivp(v, z, n=1, *, y, y_bar):
    """The n-th derivative of I."""
    return None, unbroadcast(y_bar * special.ivp(v, z, n + 1), z)


@ivp.tangent
def ivp(v, z, n=1, *, y, z_dot):
    return rebroadcast(z_dot * special.ivp(v, z, n + 1), y)


@elementwise(special.kvp)
def kvp(v, z, n=1, *, y, y_bar):
    """The n-th derivative of K."""
    return None, unbroadcast(y_bar * special.kvp(v, z, n + 1), z)


@kvp.tangent
def kvp(v, z, n=1, *, y, z_dot):
    return rebroadcast(z_dot * special.kvp(v, z, n + 1), y)


@elementwise(special.h1vp)
def h1vp(v, z, n=1, *, y, y_bar):
    """The n-th derivative of Hankel's first function."""
    return None, unbroadcast(y_bar * special.h1vp(v, z, n + 1), z)


@h1vp.tangent
def h1vp(v, z, n=1, *, y, z_dot):
    return rebroadcast(z_dot * special.h1vp(v, z, n + 1), y)


@elementwise(special.h2vp)
def h2vp(v, z, n=1, *, y, y_bar):
    """The n-th derivative of Hankel's second function."""
    return None, unbroadcast(y_bar * special.h2vp(v, z, n + 1), z)


@h2vp.tangent
def h2vp(v, z, n=1, *, y, z_dot):
    return rebroadcast(z_dot * special.h2vp(v, z, n + 1), y)


for derivative in (jvp, yvp, ivp, kvp, h1vp, h2vp):
    derivative.wrapping = (("u", ("v",)),)  # SciPy computes v - k


# --- spherical Bessel functions, DLMF 10.51 --------------------------------------------------------------------------
@elementwise(special.spherical_jn)
def spherical_jn(n, z, derivative=False, *, y, y_bar):
    """The spherical Bessel function of the first kind, or its derivative."""
    lower = special.spherical_jn(np.maximum(n - 1, 0), z, derivative)
    return None, y_bar * (n * lower - (n + 1) * special.spherical_jn(n + 1, z, derivative)) / (2 * n + 1)


@elementwise(special.spherical_yn)
def spherical_yn(n, z, derivative=False, *, y, y_bar):
    """The spherical Bessel function of the second kind, or its derivative."""
    lower = special.spherical_yn(np.maximum(n - 1, 0), z, derivative)
    return None, y_bar * (n * lower - (n + 1) * special.spherical_yn(n + 1, z, derivative)) / (2 * n + 1)


@elementwise(special.spherical_in)
def spherical_in(n, z, derivative=False, *, y, y_bar):
    """The modified spherical Bessel function of the first kind, or its derivative."""
    lower = special.spherical_in(np.maximum(n - 1, 0), z, derivative)
    return None, y_bar * (n * lower + (n + 1) * special.spherical_in(n + 1, z, derivative)) / (2 * n + 1)


@elementwise(special.spherical_kn)
def spherical_kn(n, z, derivative=False, *, y, y_bar):
    """The modified spherical Bessel function of the second kind, or its derivative."""
    lower = special.spherical_kn(np.maximum(n - 1, 0), z, derivative)
    return None, -y_bar * (n * lower + (n + 1) * special.spherical_kn(n + 1, z, derivative)) / (2 * n + 1)


# --- functions of Struve, DLMF 11.4(v); 0.564... is 1 / sqrt(pi) -----------------------------------------------------
@elementwise(special.struve)
def struve(v, x, *, y, y_bar):
    """Struve's function H, DLMF 11.4.27, 11.4.31."""
    power = 0.5641895835477563 * np.power(0.5 * x, v) * special.rgamma(v + 1.5)
    return None, y_bar * 0.5 * (special.struve(v - 1, x) - special.struve(v + 1, x) + power)


@elementwise(special.modstruve)
def modstruve(v, x, *, y, y_bar):
    """The modified Struve function L."""
    power = 0.5641895835477563 * np.power(0.5 * x, v) * special.rgamma(v + 1.5)
    return None, y_bar * 0.5 * (special.modstruve(v - 1, x) + special.modstruve(v + 1, x) + power)


# --- functions of Airy and parabolic cylinder functions --------------------------------------------------------------
@rule(special.airy)
def airy(z, *, y, y_bar):
    """Ai, Ai', Bi, Bi', all solutions of w'' = z w or their slopes, DLMF 9.2.1."""
    by_ai = y_bar[0] * y[1] + y_bar[1] * z * y[0]
    return unbroadcast(by_ai + y_bar[2] * y[3] + y_bar[3] * z * y[2], z)


@airy.tangent
def airy(z, *, y, z_dot):
    return y[1] * z_dot, z * y[0] * z_dot, y[3] * z_dot, z * y[2] * z_dot


@rule(special.pbdv)
def pbdv(v, x, *, y, y_bar):
    """The parabolic cylinder function D and its slope: D'' = (x**2 / 4 - v - 1/2) D, DLMF 12.2.4."""
    return None, unbroadcast(y_bar[0] * y[1] + y_bar[1] * (0.25 * x * x - v - 0.5) * y[0], x)


@pbdv.tangent
def pbdv(v, x, *, y, x_dot):
    return rebroadcast(y[1] * x_dot, y[0]), rebroadcast((0.25 * x * x - v - 0.5) * y[0] * x_dot, y[1])


@rule(special.pbvv)
def pbvv(v, x, *, y, y_bar):
    """The parabolic cylinder function V and its slope: V'' = (x**2 / 4 - v - 1/2) V, DLMF 12.2.4."""
    return None, unbroadcast(y_bar[0] * y[1] + y_bar[1] * (0.25 * x * x - v - 0.5) * y[0], x)


@pbvv.tangent
def pbvv(v, x, *, y, x_dot):
    return rebroadcast(y[1] * x_dot, y[0]), rebroadcast((0.25 * x * x - v - 0.5) * y[0] * x_dot, y[1])


# --- orders ----------------------------------------------------------------------------------------------------------
_BY_ORDER = "derivatives by the order are no Bessel functions (DLMF 10.15)"
_BY_COUNT = "it is a whole number"
_HINT = "keep the order constant"
for real_ in (jv, yv, hankel1, hankel2, hankel1e, hankel2e, iv, kv, kve, jve, yve, ive, struve, modstruve, pbdv, pbvv):
    real_.refuse(_HINT, v=_BY_ORDER)
for nth_ in (jvp, yvp, ivp, kvp, h1vp, h2vp):
    nth_.refuse(_HINT, v=_BY_ORDER, n=_BY_COUNT)
for complex_ in (hankel1, hankel2, hankel1e, hankel2e, h1vp, h2vp):  # also of a real number
    complex_.own_dtype = True
for whole_ in (yn, kn, spherical_jn, spherical_yn, spherical_in, spherical_kn):
    whole_.refuse(_HINT, n=_BY_COUNT)
