"""Special functions of SciPy, but those of Bessel."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import special

from srcgrad.runtime.scipy import beta, exponentials, gamma, hypergeometric, quotients, student
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(41)
u, n, c = draws.u, draws.n, draws.c

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

for name in (
    "exp2 exp10 expm1 log1p cbrt exprel cosm1 expit logit log_expit softplus entr sindg cosdg tandg cotdg erf erfc "
    "erfcx erfi erfinv erfcinv dawsn ndtr log_ndtr ndtri exp1 expi spence gamma gammaln loggamma rgamma digamma ellipk "
    "ellipe ellipkm1"
).split():
    if hasattr(special, name):
        SAMPLES[getattr(special, name)] = [call(u(2, 3)), call(u()), call(0.4)]
for name in "erf erfc erfcx erfi dawsn ndtr log_ndtr spence gamma loggamma rgamma digamma exp1 wofz".split():
    SAMPLES.setdefault(getattr(special, name), []).append(call(c(3) + 1.5j))
for name in "expm1 log1p".split():
    SAMPLES[getattr(special, name)].append(call(c(3)))
for name in "xlogy xlog1py rel_entr kl_div boxcox boxcox1p inv_boxcox inv_boxcox1p powm1 owens_t beta betaln".split():
    SAMPLES[getattr(special, name)] = [
        call(u(2, 3), u(3) + 0.1),
        call(u(2, 1), 0.7),
        call(0.3, u(3)),
        call(0.3, 0.8),
    ]
for name in "huber pseudo_huber".split():
    SAMPLES[getattr(special, name)] = [call(0.6, n(7)), call(u(2, 1), n(3)), call(0.5, 0.3), call(0.5, -0.9)]

tails = np.array([-40.0, -8.0, -0.3, 0.4, 3.0])
SAMPLES[special.log_ndtr].append(call(tails))
SAMPLES[special.log_expit].append(call(tails))
SAMPLES[special.exprel].append(call(np.array([-30.0, -1e-5, 0.0, 2.0, 20.0])))
SAMPLES[special.digamma].append(call(np.array([-2.3, -0.4, 12.0])))
SAMPLES[special.rgamma].append(call(np.array([-2.0, -1.0, 0.0, 0.5, -2.3, 4.0])))
SAMPLES[special.rgamma].append(call(np.array([-1.3 + 0.2j, 2.0 - 0.5j])))
SAMPLES[special.digamma].append(call(np.array([-1.3 + 0.2j, 22.0 - 3.5j])))
SAMPLES[special.ellipk].append(call(np.array([-30.0, -1.0, 0.0, 0.8])))
SAMPLES[special.boxcox].append(call(u(4), np.array([0.0, -0.4, 1e-9, 2.0])))
SAMPLES[special.inv_boxcox].append(call(u(4), np.array([0.0, -0.4, 1e-9, 2.0])))
SAMPLES[special.spence].append(call(np.array([1.0, 0.999, 1.7, 30.0])))

SAMPLES |= {
    special.ndtri_exp: [call(-u(3)), call(-0.4), call(np.array([-30.0, -0.1]))],
    special.voigt_profile: [call(n(3), u(3), u(2, 1)), call(0.3, 0.5, 0.8)],
    special.radian: [call(u(3), u(2, 1), 0.4), call(3.0, 4.0, 5.0)],
    special.fresnel: [call(u(3)), call(0.4), call(c(2))],
    special.sici: [call(u(3)), call(0.4), call(c(2))],
    special.shichi: [call(u(3)), call(0.4), call(c(2))],
    special.expn: [call(2, u(3)), call(np.array([1, 3, 0]), 0.7), call(0, 0.4)],
    exponentials.exponential_integral: [call(2, u(3)), call(np.array([1, -1, -3]), 0.7), call(-2, u(2))],
    special.wrightomega: [call(n(3)), call(0.3), call(c(3))],
    special.lambertw: [call(u(3)), call(c(3), 1), call(c(2), k=-1, tol=1e-12), call(0.3)],
    # sums of exponentials
    special.softmax: [call(n(4)), call(n(2, 3), axis=1), call(n(2, 3), (0, 1)), call(n(2, 3, 2), axis=(0, -1))],
    special.log_softmax: [call(n(4)), call(n(2, 3), axis=1), call(n(2, 3), axis=(0, 1)), call(n(3, 2), 0)],
    special.logsumexp: [
        call(n(4)),
        call(n(2, 3), 1),
        call(n(2, 3), axis=(0, -1), keepdims=True),
        call(n(2, 3, 2), axis=(0, 2)),
        call(n(2, 3), axis=0, b=u(3)),
        call(n(3), b=u(2, 1), keepdims=False),
        call(n(3), None, u(3)),
        call(n(2, 3), 1, np.array([0.5, 2.0, -0.3]), False, False),
        call(n(2, 3), axis=1, return_sign=True),
        call(n(2, 3), axis=0, b=np.array([[0.5], [-2.0]]) * u(2, 3), return_sign=True),
    ],
    exponentials.shares: [call(n(4), 2.3), call(n(2, 3), n(2), 1), call(n(2, 3), n(1, 3), axis=0, keepdims=True)],
    quotients.xdivy: [call(n(3), u(2, 1)), call(0.4, 0.7), call(n(3), 0.7)],
    quotients.xlogy_slope: [call(n(3), u(2, 1)), call(0.4, 0.7), call(0.0, 0.7)],
    quotients.xlog1py_slope: [call(n(3), u(2, 1)), call(0.4, 0.7), call(0.0, 0.7)],
    quotients.xmuly: [call(n(3), u(2, 1)), call(0.4, 0.7), call(n(3), 0.7)],
    quotients.log_quotient: [call(u(3), u(2, 1)), call(0.4, 0.7), call(u(3), 0.7)],
    # gamma and beta functions
    special.polygamma: [call(1, u(3)), call(0, 0.4), call(np.array([2, 3]), 1.7)],
    special.multigammaln: [call(u(3) + 2.0, 3), call(4.5, 2)],
    special.zeta: [call(2.0, u(3)), call(x=3.0, q=0.7), call(n(2) ** 2 + 1.5, 0.4)],
    special.poch: [call(u(3), u(2, 1)), call(1.3, 2.4)],
    special.binom: [call(u(3) + 4.0, u(2, 1)), call(5.3, 2.4), call(-0.4, 3)],
    gamma.digamma_slope: [call(u(3)), call(np.array([-1.3, 12.0]), 2), call(c(3) + 2j, 1), call(0.4, 3)],
    gamma.rgamma_slope: [call(u(3)), call(np.array([-2.0, 0.0, 0.7, 4.0]), 2), call(c(3), 1), call(0.4, 3)],
    gamma.multigammaln_slope: [call(u(3) + 2.0, 3), call(4.5, 2, 2)],
}
for name in "gammainc gammaincc gammaincinv gammainccinv".split():
    SAMPLES[getattr(special, name)] = [
        call(u(3) + 0.1, u(2, 1)),
        call(2.3, 0.4),
        call(np.array([30.0, 0.4, 3.0]), np.array([0.9, 0.6, 0.2]) * (1 if "inv" in name else 20)),
    ]
for name in "betainc betaincc betaincinv betainccinv".split():
    SAMPLES[getattr(special, name)] = [
        call(u(3) + 0.3, u(2, 1) + 0.3, u(3)),
        call(2.3, 0.4, 0.7),
        call(np.array([9.0, 0.5, 3.0]), np.array([2.0, 9.0, 0.6]), np.array([0.8, 0.2, 0.3])),
    ]
SAMPLES |= {
    gamma.gammainc_slope: [call(u(3) + 0.1, u(2, 1)), call(2.3, 0.4, 2), call(30.0, np.array([20.0, 40.0]), 1)],
    gamma.gamma_density: [call(u(3) + 0.1, u(2, 1)), call(2.3, 0.4, 2), call(30.0, np.array([20.0, 40.0]), 1)],
    beta.betainc_slope: [
        call(u(3) + 0.4, u(2, 1) + 0.4, u(3), 1, 0),
        call(2.3, 3.4, 0.2, 0, 1),
        call(9.0, 12.0, u(3), 1, 1),
    ],
    beta.beta_density: [call(u(3) + 0.4, u(2, 1) + 0.4, u(3)), call(2.3, 3.4, 0.2, 0, 1), call(9.0, 12.0, u(3), 1, 1)],
}

# distribution functions
SAMPLES |= {
    special.bdtr: [call(np.array([0, 2, 4]), 6, u(2, 1)), call(2, 5, 0.3)],
    special.bdtri: [call(np.array([0, 2, 4]), 6, u(2, 1)), call(2, 5, 0.3)],
    special.nbdtr: [call(np.array([0, 2, 4]), 6, u(2, 1)), call(2, 5, 0.3)],
    special.pdtr: [call(np.array([0, 2, 4]), u(2, 1) * 5), call(2, 3.4)],
    special.pdtri: [call(np.array([0, 2, 4]), u(2, 1)), call(2, 0.4)],
    special.gdtr: [call(u(3) + 0.5, u(2, 1) + 0.5, u(3)), call(1.2, 2.3, 0.4)],
    special.gdtria: [call(u(3), u(2, 1) + 0.5, u(3)), call(0.2, 2.3, 0.4)],
    special.gdtrix: [call(u(3), u(2, 1) + 0.5, u(3)), call(0.2, 2.3, 0.4)],
    special.chdtr: [call(u(3) * 4, u(2, 1) * 4), call(2.3, 1.4)],
    special.chdtri: [call(u(3) * 4 + 0.3, u(2, 1)), call(2.3, 0.4)],
    special.fdtr: [call(u(3) * 4, u(2, 1) * 4, u(3)), call(2.3, 1.4, 0.7)],
    special.fdtri: [call(u(3) * 4 + 0.5, u(2, 1) * 4 + 0.5, u(3)), call(2.3, 1.4, 0.7)],
    special.stdtr: [call(u(3) * 4, n(2, 1)), call(2.3, 1.4), call(np.array([1.0, 30.0]), np.array([-20.0, 0.0]))],
    special.stdtrit: [call(u(3) * 4 + 0.5, u(2, 1)), call(2.3, 0.4)],
    student.student_density: [call(n(3), u(2, 1) * 4), call(0.4, 2.3)],
    student.student_slope: [call(n(3), u(2, 1) * 4), call(0.4, 2.3)],
    special.nrdtrimn: [call(u(3), u(2, 1), n(3)), call(0.4, 1.4, 0.7)],
    special.nrdtrisd: [call(n(3), u(2, 1) / 3, n(3) - 5.0), call(0.4, 0.7, 1.4)],
    special.tklmbda: [call(n(3) / 3, 0.3), call(0.4, 0.7)],
}
for inverse, function in (("bdtrc", "bdtr"), ("nbdtrc", "nbdtr"), ("nbdtri", "nbdtr"), ("pdtrc", "pdtr"),
                          ("gdtrc", "gdtr"), ("chdtrc", "chdtr"), ("fdtrc", "fdtr")):  # fmt: skip
    SAMPLES[getattr(special, inverse)] = SAMPLES[getattr(special, function)]

# polynomials, hypergeometric and elliptic functions
degrees = np.array([[0], [1], [4]])
for name in (
    "legendre sh_legendre chebyt sh_chebyt chebyc chebyu sh_chebyu chebys laguerre hermite hermitenorm".split()
):
    SAMPLES[getattr(special, f"eval_{name}")] = [call(degrees, u(3)), call(0, 0.4), call(3, u(2, 2))]
SAMPLES |= {
    special.eval_jacobi: [call(degrees, 0.3, u(3), u(3)), call(0, 0.5, 0.2, 0.4)],
    special.eval_sh_jacobi: [call(degrees, 2.3, 1.4, u(3)), call(0, 2.5, 0.2, 0.4)],
    special.eval_gegenbauer: [call(degrees, 0.3, u(3)), call(0, 0.5, 0.4)],
    special.eval_genlaguerre: [call(degrees, 0.3, u(3)), call(0, 0.5, 0.4)],
    special.hyp0f1: [call(u(3), n(2, 1)), call(0.4, 0.7), call(0.4, c(2))],
    special.hyp1f1: [call(u(3), 1.3, n(2, 1)), call(0.4, 0.7, 1.2), call(0.4, 1.1, c(2))],
    special.hyperu: [call(u(3), 1.3, u(2, 1)), call(0.4, 0.7, 1.2)],
    special.hyp2f1: [call(u(3), 1.3, 0.9, u(2, 1)), call(0.4, 0.7, 1.2, -0.6), call(0.4, 1.1, 1.2, c(2) / 4)],
    special.wright_bessel: [call(0.4, 0.7, u(3)), call(1.3, 0.2, 0.4)],
    special.ellipkinc: [call(n(3), u(2, 1)), call(0.4, 0.7)],
    special.ellipeinc: [call(n(3), u(2, 1)), call(0.4, 0.7)],
    hypergeometric.hyp2f1: [call(0.4, 1.3, 0.9, u(2)), call(0.4, 0.7, 1.2, -0.6)],
    special.ellipj: [call(n(3), 0.6), call(0.4, 0.7)],
}

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = {
    getattr(special, name) for name in "expm1 log1p erf erfc erfcx erfi dawsn ndtr log_ndtr xlogy xlog1py".split()
}
