"""Incomplete gamma and beta functions by their parameters, against digits of mpmath (differences at 40 digits)."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad

special = pytest.importorskip("scipy.special")
stats = pytest.importorskip("scipy.stats")

from srcgrad.runtime.scipy.beta import beta_density, betainc_slope  # noqa: E402
from srcgrad.runtime.scipy.gamma import gamma_density, gammainc_slope  # noqa: E402
from srcgrad.runtime.scipy.student import student_density, student_slope  # noqa: E402

#: a, x, then the first three derivatives of P(a, x) by a.
GAMMA = [
    (0.01, 0.3, -0.908745802268545858, -0.289922348326061309, 3.37597562169059781),
    (0.5, 1e-08, -0.00208266868572313293, 0.0383346903587123413, -0.703562638338933749),
    (2.0, 1.5, -0.313488637825079324, 0.100589198392543561, 0.122650269230275659),
    (7.5, 40.0, -1.23687113346565438e-10, -2.09123005476612118e-10, -3.36656516584397673e-10),
    (30.0, 12.0, -8.4424793436036674e-6, 7.75778741202485989e-6, -6.84722055933332964e-6),
    (300.0, 310.0, -0.0192538383747014287, -0.000631487556651871361, 0.000043486227880161249),
    (1000.0, 900.0, -0.0000624570903584156516, 6.58106479589088249e-6, -6.30980973590193355e-7),
    (3.0, 0.01, -9.69687426767748491e-7, 5.63732514891896177e-6, -0.0000324824787694368094),
]
#: a, b, x, then the derivatives of I(x; a, b) by a, by b, by both, and twice by a.
BETA = [
    (0.02, 0.5, 0.3, -2.25320875295393296, 0.0843532103171674076, 3.87658890778888835, 7.89155139386496826),
    (2.0, 3.0, 0.4, -0.240869376087556572, 0.156344336413598775, 0.00892340767003428305, 0.0583966012515410914),
    (0.5, 20.0, 0.9, -6.4047339835509017e-21, 3.0673050663031495e-21, 1.4839203731682657e-20, -2.4683716733655166e-20),
    (40.0, 0.3, 0.5, -2.6014825195662803e-14, 2.3871397657493686e-13, -1.6863195004561667e-13, 1.8490665554529084e-14),
    (300.0, 200.0, 0.61, -0.013019268712332675, 0.019946917236122257, 0.00032313589297055259, -0.00018914806908144705),
    (1000.0, 3.0, 0.99, -2.1737716176436421e-5, 0.00392461166209753329, -3.0037165631693039e-5, 1.7503936979946974e-7),
]
#: t, df, then the first two derivatives of Student's distribution function by df.
STUDENT = [
    (0.5, 3.0, 0.00529909273003017976, -0.00323023045305558731),
    (-4.0, 1.0, -0.096424410194645371, 0.168215118908643232),
    (1e-06, 2.5, 1.35544378626626349e-8, -9.73386502579686296e-9),
    (-30.0, 3.0, -0.000101485074762245516, 0.00026150665415814941),
    (2.0, 500.0, 5.40924387755806784e-7, -2.16570489803375553e-9),
]


def test_the_incomplete_gamma_function_by_its_parameter() -> None:
    """Relative accuracy in both tails, for parameters small and large, elementwise."""
    a, x, *expected = np.array(GAMMA).T
    for n, slopes in enumerate(expected, 1):
        np.testing.assert_allclose(gammainc_slope(a, x, n), slopes, rtol=1e-10)
    np.testing.assert_allclose([gammainc_slope(*row[:2]) for row in GAMMA], gammainc_slope(a, x), rtol=1e-14)


def test_the_incomplete_beta_function_by_its_parameters() -> None:
    a, b, x, *expected = np.array(BETA).T
    for (m, n), slopes in zip([(1, 0), (0, 1), (1, 1), (2, 0)], expected, strict=True):
        np.testing.assert_allclose(betainc_slope(a, b, x, m, n), slopes, rtol=2e-9)
    np.testing.assert_allclose(betainc_slope(b, a, 1 - x, 0, 1)[:2], -expected[0][:2], rtol=1e-12)


def test_students_distribution_function_by_its_degrees_of_freedom() -> None:
    t, df, *expected = np.array(STUDENT).T
    np.testing.assert_allclose(student_slope(t, df), expected[0], rtol=1e-9)
    curved = srcgrad.hessian(lambda df, t: stats.t.cdf(t, df))
    np.testing.assert_allclose([curved(float(d), float(s)) for s, d in zip(t, df, strict=True)], expected[1], rtol=1e-7)


def test_densities_of_large_parameters() -> None:
    """Against the logarithms that SciPy has."""
    for a, x in ((0.3, 0.2), (25.0, 20.0), (1e4, 1.01e4), (1e6, 1e6)):
        expected = stats.poisson.pmf(a - 1, x) if a > 1 else stats.gamma.pdf(x, a)
        np.testing.assert_allclose(gamma_density(a, x), expected, rtol=1e-9)
    for a, b, x in ((0.3, 0.4, 0.2), (25.0, 40.0, 0.4), (1e4, 2e4, 0.3341), (3.0, 1e5, 2e-5)):
        np.testing.assert_allclose(beta_density(a, b, x), stats.beta.pdf(x, a, b), rtol=1e-9)
    np.testing.assert_allclose(student_density(1.5, 1e12), stats.norm.pdf(1.5), rtol=1e-9)
    assert student_density(1.5, np.inf) == pytest.approx(stats.norm.pdf(1.5))


def test_edges() -> None:
    """Nothing moves beyond the support, nothing is nan at its ends."""
    assert gamma_density(2.0, -1.0) == gamma_density(2.0, 0.0) == gamma_density(2.0, np.inf) == 0.0
    assert gamma_density(1.0, 0.0) == 1.0 and gamma_density(0.5, 0.0) == np.inf
    assert gammainc_slope(2.0, 0.0) == gammainc_slope(2.0, np.inf) == gammainc_slope(2.0, -1.0) == 0.0
    assert np.isnan(gammainc_slope(-1.0, 2.0)) and np.isnan(gammainc_slope(2.0, np.nan))
    assert beta_density(2.0, 3.0, 1.0) == beta_density(2.0, 3.0, -0.1) == beta_density(2.0, 3.0, 1.1) == 0.0
    assert beta_density(1.0, 3.0, 0.0) == 3.0
    assert betainc_slope(2.0, 3.0, 0.0, 1, 0) == betainc_slope(2.0, 3.0, 1.0, 0, 1) == 0.0
    assert student_slope(np.inf, 3.0) == student_slope(0.0, 3.0) == 0.0


def test_orders_by_every_argument() -> None:
    """Second derivatives of the inverse functions are differences of first ones."""

    def quantile(p, x):
        return special.gammaincinv(p[0], x) * special.betaincinv(p[1], 2.0, x)

    p, h = np.array([2.3, 1.7]), 1e-4
    curved = srcgrad.hessian(quantile)
    slope = srcgrad.grad(quantile)
    for k in range(2):
        step = h * np.eye(2)[k]
        np.testing.assert_allclose(
            curved(p, 0.4)[k], (slope(p + step, 0.4) - slope(p - step, 0.4)) / (2 * h), rtol=1e-6
        )


def test_single_precision_is_kept() -> None:
    a, x = np.array([2.0, 3.0], np.float32), np.array([1.0, 0.5], np.float32)
    for gradient in srcgrad.grad(lambda a, x: np.sum(special.gammainc(a, x)), (0, 1))(a, x):
        assert gradient.dtype == np.float32
    for gradient in srcgrad.grad(lambda a, x: np.sum(special.betainc(a, 2.0, x)), (0, 1))(a, x / 2):
        assert gradient.dtype == np.float32
