"""Draws of numpy.random: a draw is recorded, never made again, and moves with its parameters along its own path.

A draw z is a function of its parameters and of chance, which stays fixed: a normal one is ``loc + scale * n``, so that
its derivative by ``scale`` is ``(z - loc) / scale`` (Kingma & Welling, *Auto-encoding variational Bayes*, 2014, 2.4).
Counts and choices move by jumps and are refused where their parameters are active, as is what NumPy makes by rejection.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.rules.facts import Array, Static, as_array, broadcast, dimensions, number
from srcgrad.rules.table import constant, refused, rule
from srcgrad.runtime import quotient, rebroadcast, unbroadcast


def named(names: str) -> list[Callable[..., Any]]:
    """The functions of these names that this NumPy has."""
    return [getattr(np.random, name) for name in names.split() if hasattr(np.random, name)]


def drawn(arguments, literals):
    """The fact of draws: of the shape ``size``, else of that of the parameters; Python's number where these are one."""
    size = arguments.get("size")
    if size is not None and size != Static(None):
        return Array(dimensions(size, literals.get("size")), "float64") if literals.get("size") else Array()
    made = number()
    for parameter, fact in arguments.items():
        made = broadcast(made, as_array(fact)) if parameter != "size" else made
    return Array(made.shape, "float64") if made.shape else number(real=True) if made.shape == () else Array()


# --- shifted and stretched -------------------------------------------------------------------------------------------
@rule(np.random.normal)
def normal(loc=0.0, scale=1.0, size=None, *, z, z_bar):
    """A normal draw, loc + scale * n."""
    return unbroadcast(z_bar, loc), unbroadcast(quotient(z_bar * (z - loc), scale), scale)


@normal.tangent
def normal(loc=0.0, scale=1.0, size=None, *, z, loc_dot, scale_dot):
    return rebroadcast(loc_dot, z), rebroadcast(quotient(scale_dot * (z - loc), scale), z)


@rule(np.random.laplace)
def laplace(loc=0.0, scale=1.0, size=None, *, z, z_bar):
    """A draw of Laplace's distribution, shifted and stretched."""
    return unbroadcast(z_bar, loc), unbroadcast(quotient(z_bar * (z - loc), scale), scale)


@laplace.tangent
def laplace(loc=0.0, scale=1.0, size=None, *, z, loc_dot, scale_dot):
    return rebroadcast(loc_dot, z), rebroadcast(quotient(scale_dot * (z - loc), scale), z)


@rule(np.random.logistic)
def logistic(loc=0.0, scale=1.0, size=None, *, z, z_bar):
    """A logistic draw, shifted and stretched."""
    return unbroadcast(z_bar, loc), unbroadcast(quotient(z_bar * (z - loc), scale), scale)


@logistic.tangent
def logistic(loc=0.0, scale=1.0, size=None, *, z, loc_dot, scale_dot):
    return rebroadcast(loc_dot, z), rebroadcast(quotient(scale_dot * (z - loc), scale), z)


@rule(np.random.gumbel)
def gumbel(loc=0.0, scale=1.0, size=None, *, z, z_bar):
    """A draw of Gumbel's distribution, shifted and stretched."""
    return unbroadcast(z_bar, loc), unbroadcast(quotient(z_bar * (z - loc), scale), scale)


@gumbel.tangent
def gumbel(loc=0.0, scale=1.0, size=None, *, z, loc_dot, scale_dot):
    return rebroadcast(loc_dot, z), rebroadcast(quotient(scale_dot * (z - loc), scale), z)


@rule(np.random.uniform)
def uniform(low=0.0, high=1.0, size=None, *, z, z_bar):
    """A uniform draw, between its bounds in a fixed proportion."""
    return unbroadcast(z_bar * (high - z) / (high - low), low), unbroadcast(z_bar * (z - low) / (high - low), high)


@uniform.tangent
def uniform(low=0.0, high=1.0, size=None, *, z, low_dot, high_dot):
    return rebroadcast(low_dot * (high - z) / (high - low), z), rebroadcast(high_dot * (z - low) / (high - low), z)


@rule(np.random.exponential)
def exponential(scale=1.0, size=None, *, z, z_bar):
    """An exponential draw, stretched."""
    return unbroadcast(z_bar * z / scale, scale)


@exponential.tangent
def exponential(scale=1.0, size=None, *, z, scale_dot):
    return rebroadcast(scale_dot * z / scale, z)


@rule(np.random.rayleigh)
def rayleigh(scale=1.0, size=None, *, z, z_bar):
    """A draw of Rayleigh's distribution, stretched."""
    return unbroadcast(z_bar * z / scale, scale)


@rayleigh.tangent
def rayleigh(scale=1.0, size=None, *, z, scale_dot):
    return rebroadcast(scale_dot * z / scale, z)


@rule(np.random.lognormal)
def lognormal(mean=0.0, sigma=1.0, size=None, *, z, z_bar):
    """The exponential of a normal draw."""
    return unbroadcast(z_bar * z, mean), unbroadcast(z_bar * z * (np.log(z) - mean) / sigma, sigma)


@lognormal.tangent
def lognormal(mean=0.0, sigma=1.0, size=None, *, z, mean_dot, sigma_dot):
    return rebroadcast(mean_dot * z, z), rebroadcast(sigma_dot * z * (np.log(z) - mean) / sigma, z)


# --- powers of a fixed draw ------------------------------------------------------------------------------------------
@rule(np.random.weibull)
def weibull(a, size=None, *, z, z_bar):
    """A draw of Weibull's distribution, e ** (1 / a) of an exponential e."""
    return unbroadcast(-z_bar * z * np.log(z) / a, a)


@weibull.tangent
def weibull(a, size=None, *, z, a_dot):
    return rebroadcast(-a_dot * z * np.log(z) / a, z)


@rule(np.random.pareto)
def pareto(a, size=None, *, z, z_bar):
    """A draw of Pareto's distribution less 1, u ** (-1 / a) - 1 of a uniform u."""
    return unbroadcast(-z_bar * (1.0 + z) * np.log1p(z) / a, a)


@pareto.tangent
def pareto(a, size=None, *, z, a_dot):
    return rebroadcast(-a_dot * (1.0 + z) * np.log1p(z) / a, z)


@rule(np.random.power)
def power(a, size=None, *, z, z_bar):
    """A draw of the power distribution, u ** (1 / a) of a uniform u."""
    return unbroadcast(-z_bar * z * np.log(z) / a, a)


@power.tangent
def power(a, size=None, *, z, a_dot):
    return rebroadcast(-a_dot * z * np.log(z) / a, z)


for draw_ in (normal, laplace, logistic, gumbel, uniform, exponential, rayleigh, lognormal, weibull, pareto, power):
    draw_.drops_neutral = True
    draw_.infer(drawn)


# --- draws that depend on nothing, and the generator's state ----------------------------------------------------------
constant(
    *named(
        """rand randn random random_sample ranf sample standard_normal standard_exponential standard_cauchy randint
        random_integers bytes seed get_state set_state get_bit_generator set_bit_generator default_rng RandomState
        Generator BitGenerator MT19937 PCG64 PCG64DXSM Philox SFC64 SeedSequence test"""
    )
)

# --- draws without a path --------------------------------------------------------------------------------------------
refused(
    "E0502", "a count varies with its parameters by jumps",
    *named("binomial geometric hypergeometric logseries multinomial negative_binomial poisson zipf"),
    hint="keep the parameters constant with stop_gradient, or differentiate its log-probability (the score) instead",
)
refused(
    "E0502", "which items are drawn is a matter of chance, not of their values",
    *named("choice permutation shuffle"),
    hint="draw indices: x[np.random.permutation(len(x))], x[np.random.choice(len(x), k)]",
)
refused(
    "E0503", "it is drawn by rejection, so that no formula makes it of chance",
    *named("f gamma beta chisquare standard_gamma standard_t noncentral_chisquare noncentral_f wald vonmises"),
    hint="make it of draws that have a derivative, or differentiate its log-density (the score) instead",
)
refused(
    "E0503", "it has no rule here",
    *named("triangular"),
    hint="write it with np.random.uniform and its inverse distribution function",
)
refused(
    "E0503", "how it is made of standard numbers is NumPy's affair",
    *named("multivariate_normal"),
    hint="write mean + np.linalg.cholesky(cov) @ np.random.standard_normal(n)",
)
refused(
    "E0503", "it has no rule here",
    *named("dirichlet"),
    hint="differentiate its log-density, scipy.stats.dirichlet.logpdf (the score), instead",
)
