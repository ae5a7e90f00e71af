"""Orthogonal polynomials, hypergeometric and elliptic functions by their argument (NIST DLMF, chapters 13, 15, 18, 19).

By a degree or a parameter they are refused.  Where a degree n is lowered, n = 0 gives a factor zero; negative ones
are refused.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import special

from srcgrad.rules.table import constant, elementwise, rule
from srcgrad.runtime import unbroadcast
from srcgrad.runtime.scipy.degrees import lower_degree
from srcgrad.runtime.scipy.hypergeometric import hyp2f1 as hypergeometric

constant(lower_degree)


# --- orthogonal polynomials, DLMF 18.9(iii) --------------------------------------------------------------------------
@elementwise(special.eval_jacobi)
def eval_jacobi(n, alpha, beta, x, *, y, y_bar):
    """Jacobi's polynomial, DLMF 18.9.15."""
    lower = special.eval_jacobi(lower_degree(n), alpha + 1, beta + 1, x)
    return None, None, None, y_bar * 0.5 * (n > 0) * (n + alpha + beta + 1) * lower


@elementwise(special.eval_sh_jacobi)
def eval_sh_jacobi(n, p, q, x, *, y, y_bar):
    """Jacobi's polynomial on [0, 1], monic: its slope is n times that of lower degree, p and q raised by 2 and 1."""
    return None, None, None, y_bar * n * special.eval_sh_jacobi(lower_degree(n), p + 2, q + 1, x)


@elementwise(special.eval_gegenbauer)
def eval_gegenbauer(n, alpha, x, *, y, y_bar):
    """Gegenbauer's polynomial, DLMF 18.9.19."""
    return None, None, y_bar * 2.0 * (n > 0) * alpha * special.eval_gegenbauer(lower_degree(n), alpha + 1, x)


@elementwise(special.eval_legendre)
def eval_legendre(n, x, *, y, y_bar):
    """Legendre's polynomial, a Jacobi polynomial of parameters 0."""
    return None, y_bar * 0.5 * (n > 0) * (n + 1) * special.eval_jacobi(lower_degree(n), 1, 1, x)


@elementwise(special.eval_sh_legendre)
def eval_sh_legendre(n, x, *, y, y_bar):
    """Legendre's polynomial of 2x - 1."""
    return None, y_bar * (n > 0) * (n + 1) * special.eval_jacobi(lower_degree(n), 1, 1, 2 * x - 1)


@elementwise(special.eval_chebyt)
def eval_chebyt(n, x, *, y, y_bar):
    """Chebyshev's polynomial of the first kind, DLMF 18.9.21."""
    return None, y_bar * n * special.eval_chebyu(lower_degree(n), x)


@elementwise(special.eval_sh_chebyt)
def eval_sh_chebyt(n, x, *, y, y_bar):
    """Chebyshev's polynomial of the first kind of 2x - 1."""
    return None, y_bar * 2 * n * special.eval_sh_chebyu(lower_degree(n), x)


@elementwise(special.eval_chebyc)
def eval_chebyc(n, x, *, y, y_bar):
    """Twice Chebyshev's polynomial of the first kind of x / 2."""
    return None, y_bar * n * special.eval_chebys(lower_degree(n), x)


@elementwise(special.eval_chebyu)
def eval_chebyu(n, x, *, y, y_bar):
    """Chebyshev's polynomial of the second kind, a Gegenbauer polynomial of parameter 1."""
    return None, y_bar * 2.0 * (n > 0) * special.eval_gegenbauer(lower_degree(n), 2, x)


@elementwise(special.eval_sh_chebyu)
def eval_sh_chebyu(n, x, *, y, y_bar):
    """Chebyshev's polynomial of the second kind of 2x - 1."""
    return None, y_bar * 4.0 * (n > 0) * special.eval_gegenbauer(lower_degree(n), 2, 2 * x - 1)


@elementwise(special.eval_chebys)
def eval_chebys(n, x, *, y, y_bar):
    """Chebyshev's polynomial of the second kind of x / 2."""
    return None, y_bar * (n > 0) * special.eval_gegenbauer(lower_degree(n), 2, x / 2)


@elementwise(special.eval_genlaguerre)
def eval_genlaguerre(n, alpha, x, *, y, y_bar):
    """Laguerre's polynomial, DLMF 18.9.23."""
    return None, None, -y_bar * (n > 0) * special.eval_genlaguerre(lower_degree(n), alpha + 1, x)


@elementwise(special.eval_laguerre)
def eval_laguerre(n, x, *, y, y_bar):
    """Laguerre's polynomial of parameter 0."""
    return None, -y_bar * (n > 0) * special.eval_genlaguerre(lower_degree(n), 1, x)


@elementwise(special.eval_hermite)
def eval_hermite(n, x, *, y, y_bar):
    """Hermite's polynomial, DLMF 18.9.25."""
    return None, y_bar * 2 * n * special.eval_hermite(lower_degree(n), x)


@elementwise(special.eval_hermitenorm)
def eval_hermitenorm(n, x, *, y, y_bar):
    """Hermite's polynomial of the standard normal density, DLMF 18.9.27."""
    return None, y_bar * n * special.eval_hermitenorm(lower_degree(n), x)


_DEGREE = "it is the degree of a polynomial"
_PARAMETER = "derivatives by a parameter have no closed form"
_HINT = "keep it constant"
for by_degree_ in (
    eval_legendre, eval_sh_legendre, eval_chebyt, eval_sh_chebyt, eval_chebyc, eval_chebyu, eval_sh_chebyu,
    eval_chebys, eval_laguerre, eval_hermite, eval_hermitenorm,
):  # fmt: skip
    by_degree_.refuse(_HINT, n=_DEGREE)
for with_alpha_ in (eval_gegenbauer, eval_genlaguerre):
    with_alpha_.refuse(_HINT, n=_DEGREE, alpha=_PARAMETER)
eval_jacobi.refuse(_HINT, n=_DEGREE, alpha=_PARAMETER, beta=_PARAMETER)
eval_sh_jacobi.refuse(_HINT, n=_DEGREE, p=_PARAMETER, q=_PARAMETER)


# --- hypergeometric functions ----------------------------------------------------------------------------------------
@elementwise(special.hyp0f1)
def hyp0f1(v, z, *, y, y_bar):
    """The confluent hypergeometric limit function, DLMF 16.3.1."""
    return None, y_bar * special.hyp0f1(v + 1, z) / v


@elementwise(special.hyp1f1)
def hyp1f1(a, b, x, *, y, y_bar):
    """Kummer's function M, DLMF 13.3.15."""
    return None, None, y_bar * a / b * special.hyp1f1(a + 1, b + 1, x)


@elementwise(special.hyperu)
def hyperu(a, b, x, *, y, y_bar):
    """Kummer's function U, DLMF 13.3.22."""
    return None, None, -y_bar * a * special.hyperu(a + 1, b + 1, x)


@elementwise(special.hyp2f1)
def hyp2f1(a, b, c, z, *, y, y_bar):
    """Gauss's hypergeometric function, DLMF 15.5.1."""
    return None, None, None, y_bar * a * b / c * special.hyp2f1(a + 1, b + 1, c + 1, z)


@elementwise(hypergeometric)
def hyp2f1_(a, b, c, z, *, y, y_bar):
    """Gauss's hypergeometric function in the dtype of its argument."""
    return None, None, None, y_bar * a * b / c * hypergeometric(a + 1, b + 1, c + 1, z)


@elementwise(special.wright_bessel)
def wright_bessel(a, b, x, *, y, y_bar):
    """Wright's generalized Bessel function: b grows by a with every derivative."""
    return None, None, y_bar * special.wright_bessel(a, a + b, x)


hyp0f1.refuse(_HINT, v=_PARAMETER)
for gauss_ in (hyp2f1, hyp2f1_):
    gauss_.refuse(_HINT, a=_PARAMETER, b=_PARAMETER, c=_PARAMETER)
for kummer_ in (hyp1f1, hyperu, wright_bessel):
    kummer_.refuse(_HINT, a=_PARAMETER, b=_PARAMETER)


# --- elliptic integrals and functions; 0.392... is pi / 8 ------------------------------------------------------------
@elementwise(special.ellipk)
def ellipk(m, *, y, y_bar):
    """The complete elliptic integral of the first kind, a hypergeometric function, DLMF 19.5.1."""
    return y_bar * 0.39269908169872414 * hypergeometric(1.5, 1.5, 2.0, m)


@elementwise(special.ellipkm1)
def ellipkm1(p, *, y, y_bar):
    """The complete elliptic integral of the first kind of m = 1 - p, DLMF 19.4.1."""
    return -y_bar * 0.39269908169872414 * hypergeometric(1.5, 1.5, 2.0, 1.0 - p)


@elementwise(special.ellipe)
def ellipe(m, *, y, y_bar):
    """The complete elliptic integral of the second kind, a hypergeometric function, DLMF 19.5.2."""
    return -y_bar * 0.39269908169872414 * hypergeometric(0.5, 1.5, 2.0, m)


@elementwise(special.ellipkinc)
def ellipkinc(phi, m, *, y, y_bar):
    """The incomplete elliptic integral of the first kind, DLMF 19.2.4."""
    return y_bar / np.sqrt(1.0 - m * np.sin(phi) ** 2)


@elementwise(special.ellipeinc)
def ellipeinc(phi, m, *, y, y_bar):
    """The incomplete elliptic integral of the second kind, DLMF 19.2.5."""
    return y_bar * np.sqrt(1.0 - m * np.sin(phi) ** 2)


@rule(special.ellipj)
def ellipj(u, m, *, y, y_bar):
    """Jacobi's elliptic functions sn, cn, dn and the amplitude, DLMF 22.13(i)."""
    by_sn = y_bar[0] * y[1] * y[2] - y_bar[1] * y[0] * y[2]
    return unbroadcast(by_sn - y_bar[2] * m * y[0] * y[1] + y_bar[3] * y[2], u)


@ellipj.tangent
def ellipj(u, m, *, y, u_dot):
    return y[1] * y[2] * u_dot, -y[0] * y[2] * u_dot, -m * y[0] * y[1] * u_dot, y[2] * u_dot


for with_m_ in (ellipkinc, ellipeinc, ellipj):
    with_m_.refuse("keep the parameter constant", m="its derivative by the parameter has no rule here")
