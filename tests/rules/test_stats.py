"""Distributions of scipy.stats: beyond their supports, at infinity, by every form of call; vectors; what is refused."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import MissingRule, UnsupportedSyntax

stats = pytest.importorskip("scipy.stats")

#: Distribution, shape parameters, points within its support and outside of it for loc 0.1 and scale 1.3.
FAMILIES: list[tuple[Any, tuple[float, ...], tuple[float, ...], tuple[float, ...]]] = [
    (stats.norm, (), (-0.3, 2.0), ()),
    (stats.t, (2.5,), (-0.3, 2.0), ()),
    (stats.cauchy, (), (-0.3, 2.0), ()),
    (stats.laplace, (), (-0.3, 2.0), ()),
    (stats.logistic, (), (-0.3, 2.0), ()),
    (stats.expon, (), (0.3, 2.0), (-1.0, 0.05)),
    (stats.gamma, (2.5,), (0.3, 2.0), (-1.0, 0.1)),
    (stats.chi2, (2.5,), (0.3, 2.0), (-1.0, 0.1)),
    (stats.weibull_min, (2.5,), (0.3, 2.0), (-1.0, 0.1)),
    (stats.pareto, (2.5,), (1.9, 3.0), (-1.0, 1.2)),
    (stats.lognorm, (0.7,), (0.3, 2.0), (-1.0, 0.05)),
    (stats.uniform, (), (0.3, 1.0), (-1.0, 1.6)),
    (stats.beta, (2.5, 1.5), (0.3, 1.0), (-1.0, 1.6)),
]
FUNCTIONS = ("pdf", "logpdf", "cdf", "logcdf", "sf", "logsf")


def name_of(family: Any) -> str:
    return str(getattr(family[0], "name", family[0])) if isinstance(family, tuple) else str(family)


def program(distribution: Any, name: str, count: int) -> Any:
    """A function of the point, ``count`` shape parameters, loc and scale."""
    method = getattr(distribution, name)
    if count == 0:
        return lambda x, loc, scale: np.sum(method(x, loc, scale))
    if count == 1:
        return lambda x, a, loc, scale: np.sum(method(x, a, loc, scale))
    return lambda x, a, b, loc, scale: np.sum(method(x, a, b, loc, scale))


@pytest.mark.parametrize("family", FAMILIES, ids=name_of)
def test_beyond_the_support_nothing_moves(family: Any) -> None:
    """Slopes are 0, and no warning says otherwise."""
    distribution, shapes, _, outside = family
    for name in FUNCTIONS if outside else ():
        argnums = tuple(range(len(shapes) + 3))
        slope = srcgrad.grad(program(distribution, name, len(shapes)), argnums)
        for x in outside:
            with np.errstate(all="ignore"), warnings.catch_warnings():
                warnings.simplefilter("error")
                assert slope(x, *shapes, 0.1, 1.3) == (0.0,) * len(argnums), (name, x)


@pytest.mark.parametrize("name", ["pdf", "logpdf", "logcdf"])
@pytest.mark.costly(1, first=1)
def test_beyond_the_support_nothing_curves(name: str) -> None:
    for distribution, shapes, x in ((stats.gamma, (2.5,), -1.0), (stats.beta, (2.5, 1.5), 1.6)):
        f = program(distribution, name, len(shapes))
        for argnum in range(len(shapes) + 3):
            with np.errstate(all="ignore"):
                assert srcgrad.hessian(f, argnum)(x, *shapes, 0.1, 1.3) == 0.0, (name, x, argnum)


@pytest.mark.parametrize("family", FAMILIES, ids=name_of)
def test_an_infinite_bound_of_an_interval(family: Any) -> None:
    """The probability of an interval without an end is cdf(inf) less cdf(low); cdf(inf) moves with nothing."""
    distribution, shapes, (low, _), _ = family
    cdf = program(distribution, "cdf", len(shapes))
    argnums = tuple(range(1, len(shapes) + 3))
    assert srcgrad.grad(cdf, argnums)(np.inf, *shapes, 0.1, 1.3) == (0.0,) * len(argnums)
    for made, expected in zip(
        srcgrad.grad(cdf, argnums)(np.array([low, np.inf]), *shapes, 0.1, 1.3),
        srcgrad.grad(cdf, argnums)(low, *shapes, 0.1, 1.3),
        strict=True,
    ):
        np.testing.assert_allclose(made, expected, rtol=1e-12)


@pytest.mark.parametrize("family", FAMILIES, ids=name_of)
@pytest.mark.costly(2)
def test_functions_agree_with_each_other(family: Any) -> None:
    """The slope of the distribution function is the density, of a quantile its reciprocal, of logarithms ratios."""
    distribution, shapes, inside, _ = family
    for x in inside:
        rest = (*shapes, 0.1, 1.3)
        density = distribution.pdf(x, *rest)
        probability, tail = distribution.cdf(x, *rest), distribution.sf(x, *rest)
        slopes = {name: srcgrad.grad(program(distribution, name, len(shapes)))(x, *rest) for name in FUNCTIONS}
        np.testing.assert_allclose(slopes["cdf"], density, rtol=1e-10)
        np.testing.assert_allclose(slopes["sf"], -density, rtol=1e-10)
        np.testing.assert_allclose(slopes["logcdf"], density / probability, rtol=1e-10)
        np.testing.assert_allclose(slopes["logsf"], -density / tail, rtol=1e-10)
        np.testing.assert_allclose(slopes["pdf"], density * slopes["logpdf"], rtol=1e-10, atol=1e-15)
        argnums = tuple(range(len(shapes) + 3))
        for quantile, q, cdf in (("ppf", probability, "cdf"), ("isf", tail, "sf")):
            by_q, *by_rest = srcgrad.grad(program(distribution, quantile, len(shapes)), argnums)(q, *rest)
            by_x, *moved = srcgrad.grad(program(distribution, cdf, len(shapes)), argnums)(x, *rest)
            np.testing.assert_allclose(by_q, 1 / by_x, rtol=1e-8)
            np.testing.assert_allclose(by_rest, [-m / by_x for m in moved], rtol=1e-7, atol=1e-12)


def test_parameters_by_keyword_and_by_position() -> None:
    x = np.array([0.3, 0.7])

    def positions(x, a, b, loc, scale):
        return np.sum(stats.beta.logpdf(x, a, b, loc, scale))

    def keywords(x, a, b, loc, scale):
        return np.sum(stats.beta.logpdf(x, scale=scale, b=b, loc=loc, a=a))

    arguments = (x, 2.0, np.array([[1.5], [2.5]]), -0.2, 1.5)
    made = srcgrad.grad(positions, (0, 1, 2, 3, 4))(*arguments)
    for one, other, like in zip(made, srcgrad.grad(keywords, (0, 1, 2, 3, 4))(*arguments), arguments, strict=True):
        np.testing.assert_array_equal(one, other)
        assert np.shape(one) == np.shape(like)
    assert srcgrad.grad(lambda s: stats.lognorm.pdf(2.0, s=s, scale=1.5))(0.5) != 0.0
    assert srcgrad.grad(lambda df: stats.chi2.sf(2.0, df=df))(3.0) == srcgrad.grad(lambda d: stats.chi2.sf(2.0, d))(3.0)
    with pytest.raises(UnsupportedSyntax, match="'mean' is not supported"):
        srcgrad.grad(lambda x: stats.norm.pdf(x, mean=0.0))(0.3)


def test_without_loc_and_scale_the_text_does_not_name_them() -> None:
    from scipy.stats import norm

    def f(x):
        return np.sum(norm.logpdf(x))

    derivative = srcgrad.value_and_grad(f)
    np.testing.assert_array_equal(derivative(np.array([1.0, -2.0]))[1], [-1.0, 2.0])
    assert "from scipy.stats import norm\n" in derivative.source
    assert " - 0" not in derivative.source and "/ 1" not in derivative.source


def test_integers_and_single_precision() -> None:
    """Results are double whatever is given; a gradient has the dtype of its argument."""
    x = np.array([0.5, 1.5], np.float32)
    gradient = srcgrad.grad(lambda x, s: np.sum(stats.gamma.logpdf(x, 2, scale=s)), (0, 1))(x, np.float32(1.5))
    assert gradient[0].dtype == np.float32 and gradient[1].dtype == np.float32
    tangent = srcgrad.jvp(lambda x: stats.norm.cdf(x), (x,), (np.ones_like(x),))[1]
    assert tangent.dtype == np.float64
    assert srcgrad.grad(lambda m: stats.norm.logpdf(3, m))(1.0) == 2.0


def test_students_distribution_without_end_is_normal() -> None:
    for name in FUNCTIONS:
        t, normal = program(stats.t, name, 1), program(stats.norm, name, 0)
        for argnum in (0, 2, 3):
            made = srcgrad.grad(t, argnum)(0.7, np.inf, 0.1, 1.3)
            assert made == pytest.approx(srcgrad.grad(normal, max(argnum - 1, 0))(0.7, 0.1, 1.3))


# --- counts ----------------------------------------------------------------------------------------------------------
def test_counts_without_probability() -> None:
    k = np.array([-1, 9])
    with np.errstate(all="ignore"):
        assert srcgrad.grad(lambda p: np.sum(stats.binom.logpmf(np.array([-1, 9]), 5, p)))(0.3) == 0.0
        assert srcgrad.grad(lambda p: np.sum(stats.binom.cdf(np.array([-1, 9]), 5, p)))(0.3) == 0.0
        assert srcgrad.grad(lambda m: np.sum(stats.poisson.pmf(-1, m)))(0.3) == 0.0
        assert srcgrad.grad(lambda m: stats.poisson.logpmf(0.5, m))(0.3) == 0.0
        assert srcgrad.grad(lambda m: stats.poisson.cdf(-0.5, m))(0.3) == 0.0
        assert srcgrad.grad(lambda p: np.sum(stats.geom.logpmf(0, p)))(0.3) == 0.0
        assert srcgrad.grad(lambda p, n: np.sum(stats.nbinom.cdf(k, n, p)), 1)(0.3, 2.5) != 0.0
    assert srcgrad.grad(lambda m: stats.poisson.pmf(0, m))(0.0) == -1.0


def test_counts_themselves_are_refused_by_name() -> None:
    for f, name in (
        (lambda k: stats.poisson.logpmf(k, 2.0), "'k'"),
        (lambda n: stats.binom.pmf(2, n, 0.3), "'n'"),
        (lambda loc: stats.geom.cdf(2, 0.3, loc), "'loc'"),
    ):
        with pytest.raises(MissingRule, match=f"has no derivative by its argument {name}"):
            srcgrad.grad(f)(3.0)


# --- vectors ---------------------------------------------------------------------------------------------------------
COVARIANCE = np.array([[2.0, 0.3, 0.1], [0.3, 1.0, -0.2], [0.1, -0.2, 0.5]])
POINTS = np.array([[0.3, -0.2, 0.1], [1.0, 0.4, -0.3]])


def test_a_covariance_by_its_lower_triangle() -> None:
    """SciPy reads the lower triangle: its entries off the diagonal count twice, the others not at all."""

    def f(cov):
        return np.sum(stats.multivariate_normal.logpdf(POINTS, np.zeros(3), cov))

    gradient = srcgrad.grad(f)(COVARIANCE)
    precision = np.linalg.inv(COVARIANCE)
    expected = 0.5 * (precision @ POINTS.T @ POINTS @ precision - 2 * precision)
    np.testing.assert_allclose(np.tril(gradient), gradient)
    np.testing.assert_allclose((gradient + gradient.T) / 2, expected)

    def of_factor(factor):
        return np.sum(stats.multivariate_normal.logpdf(POINTS, np.zeros(3), factor @ factor.T))

    factor = np.linalg.cholesky(COVARIANCE)
    np.testing.assert_allclose(srcgrad.grad(of_factor)(factor), 2 * expected @ factor, rtol=1e-10, atol=1e-12)


def test_every_order_of_the_multivariate_normal_density() -> None:
    def f(x, mean, spread):
        return np.sum(stats.multivariate_normal.pdf(x, mean, spread * COVARIANCE))

    def plain(x, mean, spread):
        d = x - mean
        square = np.sum(d * np.linalg.solve(spread * COVARIANCE, d.T).T, axis=1)
        return np.sum(np.exp(-0.5 * square) / np.sqrt((2 * np.pi) ** 3 * np.linalg.det(spread * COVARIANCE)))

    arguments = (POINTS, np.array([0.1, 0.2, 0.0]), 1.3)
    for k in range(3):
        np.testing.assert_allclose(
            srcgrad.hessian(f, k)(*arguments), srcgrad.hessian(plain, k)(*arguments), rtol=1e-8, atol=1e-12
        )


def test_a_singular_covariance() -> None:
    """On the range of the covariance the density has slopes, beyond it none."""
    singular = np.diag([2.0, 0.5, 0.0])

    def f(x, mean):
        return stats.multivariate_normal.logpdf(x, mean, singular, allow_singular=True)

    by_x, by_mean = srcgrad.grad(f, (0, 1))(np.array([1.0, 0.5, 0.0]), np.zeros(3))
    np.testing.assert_allclose(by_x, [-0.5, -1.0, 0.0], atol=1e-15)
    np.testing.assert_allclose(by_mean, [0.5, 1.0, 0.0], atol=1e-15)
    by_x, _ = srcgrad.grad(f, (0, 1))(np.array([1.0, 0.5, 1.0]), np.zeros(3))
    np.testing.assert_array_equal(by_x, np.zeros(3))


def test_forms_of_points_means_and_covariances() -> None:
    """Numbers, one-dimensional points, batches; what is left out."""
    logpdf = stats.multivariate_normal.logpdf
    assert srcgrad.grad(lambda x: logpdf(x))(0.4) == pytest.approx(-0.4)
    np.testing.assert_allclose(srcgrad.grad(lambda x: np.sum(logpdf(x)))(np.array([0.4, 1.0])), [-0.4, -1.0])
    by_mean = srcgrad.grad(lambda m: np.sum(logpdf(POINTS, mean=m, cov=2.0)))(np.zeros(3))
    np.testing.assert_allclose(by_mean, POINTS.sum(0) / 2)
    by_variance = srcgrad.grad(lambda v: np.sum(logpdf(POINTS, np.zeros(3), v)))
    assert by_variance(2.0) == pytest.approx(np.sum(by_variance(np.full(3, 2.0))))
    batch = np.reshape(np.arange(12.0), (2, 1, 2, 3)) / 10
    assert srcgrad.grad(lambda x: np.sum(logpdf(x, cov=COVARIANCE)))(batch).shape == batch.shape
    with pytest.raises(UnsupportedSyntax, match="CovViaDiagonal"):
        srcgrad.grad(lambda x: logpdf(x, cov=stats.Covariance.from_diagonal([1.0, 2.0])))(np.ones(2))


def test_all_proportions_of_a_point_of_dirichlet() -> None:
    """Along the simplex the slopes are those of the density; the last proportion may be left out."""
    x, alpha = np.array([0.2, 0.5, 0.3]), np.array([1.5, 2.0, 3.0])
    logpdf = stats.dirichlet.logpdf
    by_x, by_alpha = srcgrad.grad(lambda x, a: logpdf(x, a), (0, 1))(x, alpha)
    np.testing.assert_allclose(by_x, (alpha - 1) / x)
    np.testing.assert_allclose(srcgrad.grad(lambda x: logpdf(x, alpha))(x[:2]), by_x[:2] - by_x[2])
    np.testing.assert_allclose(by_alpha, np.log(x) - _digamma(alpha) + _digamma(alpha.sum()))
    points = np.stack([x, x[::-1]], axis=1)
    np.testing.assert_allclose(srcgrad.grad(lambda x: np.sum(logpdf(x, alpha)))(points)[:, 0], by_x)
    np.testing.assert_allclose(
        srcgrad.hessian(lambda a: stats.dirichlet.pdf(x, a))(alpha),
        srcgrad.hessian(lambda a: np.exp(logpdf(x, a)))(alpha),
    )


def _digamma(x: Any) -> Any:
    from scipy.special import digamma

    return digamma(x)


# --- refusals --------------------------------------------------------------------------------------------------------
@pytest.mark.parametrize(
    ("f", "reason"),
    [
        (lambda x: stats.norm.rvs(x), "stats.norm.rvs has no derivative: draws of scipy.stats have no rules"),
        (lambda x: stats.skewnorm.logpdf(0.3, x), "stats.skewnorm.logpdf has no derivative: this function of this"),
        (lambda x: stats.gamma.entropy(x), "summaries of distributions have no rules"),
        (lambda x: stats.kurtosis(x), "summary statistics have no rules of their own"),
        (lambda x: stats.ttest_1samp(x, 0.0), "a statistical test compares, ranks or simulates"),
    ],
)
def test_refusals(f: Any, reason: str) -> None:
    with pytest.raises(MissingRule, match=reason):
        srcgrad.grad(lambda x: np.sum(f(x)))(np.array([1.0, 2.0, 4.0]))
