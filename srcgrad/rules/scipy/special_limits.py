"""What scipy.special has without a derivative here: functions of whole numbers, and what varies but has no rule.

Names that an older or newer SciPy does not have are passed over.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from scipy import special

from srcgrad.rules.table import constant, refused


def named(names: str) -> list[Callable[..., Any]]:
    """The functions of these names that this SciPy has."""
    return [getattr(special, name) for name in names.split() if hasattr(special, name)]


# signs, rounding, functions of whole numbers, settings
constant(
    *named(
        """round gammasgn stirling2 bernoulli euler
        ai_zeros bi_zeros erf_zeros fresnel_zeros fresnelc_zeros fresnels_zeros jn_zeros jnp_zeros jnjnp_zeros
        jnyn_zeros yn_zeros ynp_zeros y0_zeros y1_zeros y1p_zeros ber_zeros bei_zeros berp_zeros beip_zeros ker_zeros
        kei_zeros kerp_zeros keip_zeros kelvin_zeros
        roots_legendre roots_chebyt roots_chebyu roots_chebyc roots_chebys roots_sh_chebyt roots_sh_chebyu
        roots_sh_legendre roots_hermite roots_hermitenorm roots_laguerre
        errstate geterr seterr test"""
    )
)

_ROOT = "it solves for a parameter, and has no rule here"
_PARAMETER = "derivatives by its parameters have no closed form, and those by its argument no rule here"
_WHOLE = "it is smooth in arguments that are meant to be whole numbers"

refused(
    "E0502", _WHOLE,
    *named("comb perm factorial factorial2 factorialk"),
    hint="write it with scipy.special.binom, poch or gamma, which take real numbers",
)
refused(
    "E0503", "its nodes and weights vary with its parameters, and have no rule here",
    *named("roots_jacobi roots_sh_jacobi roots_gegenbauer roots_genlaguerre"),
    hint="compute the rule of quadrature outside of the function",
)
refused(
    "E0505", "its result is a polynomial, an object",
    *named(
        """jacobi sh_jacobi gegenbauer genlaguerre laguerre legendre sh_legendre chebyt chebyu chebyc chebys sh_chebyt
        sh_chebyu hermite hermitenorm"""
    ),
    hint="evaluate it with the function whose name begins with eval_",
)
refused(
    "E0503", "it has no rule here",
    *named("assoc_laguerre lpmv legendre_p legendre_p_all assoc_legendre_p assoc_legendre_p_all"),
    hint="write it with eval_genlaguerre, eval_legendre or eval_gegenbauer",
)
refused(
    "E0503", "functions on the sphere have no rule here",
    *named("sph_harm sph_harm_y sph_harm_y_all sph_legendre_p sph_legendre_p_all clpmn lpmn lpn lqmn lqn"),
    hint="write the polynomials in Cartesian coordinates",
)
refused(
    "E0503", "sequences of functions have no rule here",
    *named("pbdn_seq pbdv_seq pbvv_seq riccati_jn riccati_yn lmbda"),
    hint="call the function of one order: pbdv, pbvv, spherical_jn, spherical_yn, jv",
)
refused(
    "E0503", "it has no rule here",
    *named("pbwa"),
    hint="solve the differential equation of DLMF 12.14 numerically",
)
refused(
    "E0503", "Kelvin functions have no rule of their own",
    *named("ber bei berp beip ker kei kerp keip kelvin"),
    hint="take the real and imaginary parts of jv(0, x * exp(0.75j * pi)) and kv(0, x * exp(0.25j * pi))",
)
refused(
    "E0503", "it has no rule here",
    *named("airye"),
    hint="multiply the results of airy by exp(2/3 * z**1.5) and exp(-abs(real(2/3 * z**1.5)))",
)
refused(
    "E0503", "integrals of Bessel, Struve and Airy functions have no rule here",
    *named("iti0k0 it2i0k0 itj0y0 it2j0y0 itstruve0 it2struve0 itmodstruve0 itairy besselpoly"),
    hint="write a rule for it: its derivative is the integrand",
)
refused(
    "E0503", "it has no rule here",
    *named("modfresnelp modfresnelm"),
    hint="write it with fresnel",
)
refused(
    "E0503", _PARAMETER,
    *named(
        """mathieu_a mathieu_b mathieu_cem mathieu_sem mathieu_modcem1 mathieu_modcem2 mathieu_modsem1 mathieu_modsem2
        mathieu_even_coef mathieu_odd_coef obl_ang1 obl_ang1_cv obl_cv obl_cv_seq obl_rad1 obl_rad1_cv obl_rad2
        obl_rad2_cv pro_ang1 pro_ang1_cv pro_cv pro_cv_seq pro_rad1 pro_rad1_cv pro_rad2 pro_rad2_cv
        ellip_harm ellip_harm_2 ellip_normal"""
    ),
    hint="write a rule for it with srcgrad.rule",
)
refused(
    "E0503", "symmetric elliptic integrals have no rule here",
    *named("elliprc elliprd elliprf elliprg elliprj"),
    hint="write it with ellipk, ellipe, ellipkinc or ellipeinc",
)
refused(
    "E0503", "it has no rule here",
    *named("agm"),
    hint="write it with ellipk: pi / 4 * (a + b) / ellipk(((a - b) / (a + b)) ** 2)",
)
refused(
    "E0503", "it has no rule here",
    *named("diric"),
    hint="write sin(n * x / 2) / (n * sin(x / 2))",
)
refused(
    "E0503", "its derivative by the exponent has no closed form",
    *named("zetac"),
    hint="write the sum, if it converges fast where you are",
)
refused(
    "E0503", "distributions of statistics of Kolmogorov and Smirnov have no rule here",
    *named("kolmogorov kolmogi smirnov smirnovi"),
    hint="write a rule for it with srcgrad.rule",
)
refused(
    "E0503", "noncentral distributions have no rule here",
    *named(
        """chndtr chndtridf chndtrinc chndtrix ncfdtr ncfdtri ncfdtridfd ncfdtridfn ncfdtrinc nctdtr nctdtridf
        nctdtrinc nctdtrit"""
    ),
    hint="write a rule for it with srcgrad.rule",
)
refused(
    "E0503", _ROOT,
    *named("bdtrik bdtrin nbdtrik nbdtrin pdtrik gdtrib btdtria btdtrib chdtriv stdtridf fdtridfd"),
    hint="differentiate the function that it inverts, and divide (the implicit function theorem)",
)
refused(
    "E0503", "it has no rule here",
    *named("log_wright_bessel"),
    hint="take the logarithm of wright_bessel",
)
