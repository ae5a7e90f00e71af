"""Densities of vectors: multivariate normal and Dirichlet.

Of a covariance matrix SciPy reads the lower triangle; the derivative is that of the function as it is computed: the
other triangle has the cotangent 0 (formulas: Petersen & Pedersen, *The Matrix Cookbook*, 8.1).
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np
from scipy import special, stats

from srcgrad.rules.facts import Array, as_array, number
from srcgrad.rules.table import linear, rule
from srcgrad.runtime import rebroadcast
from srcgrad.runtime.scipy.gaussian import (
    centred,
    covariance_matrix,
    proportions,
    proportions_slope,
    uncentred_mean,
    uncentred_points,
    uncovariance,
    unproportions,
)
from srcgrad.runtime.scipy.quotients import xdivy


# --- multivariate normal ---------------------------------------------------------------------------------------------
@rule(stats.multivariate_normal.logpdf)
def normal_logpdf(x, mean=None, cov=1, allow_singular=False, *, y, y_bar):
    """The logarithm of the multivariate normal density, of a singular covariance on its range."""
    points = centred(x, mean, cov)
    precision = np.linalg.pinv(covariance_matrix(cov, points), hermitian=True)
    weight = np.reshape(np.where(y == -np.inf, 0.0, y_bar), (-1, 1))
    slopes = points @ precision
    moved = weight * slopes
    by_cov = 0.5 * (slopes.T @ moved - np.sum(weight) * precision)
    return -uncentred_points(moved, x), -uncentred_mean(moved, mean), uncovariance(by_cov, cov)


@normal_logpdf.tangent
def normal_logpdf(x, mean=None, cov=1, allow_singular=False, *, y, x_dot, mean_dot, cov_dot):
    points = centred(x, mean, cov)
    precision = np.linalg.pinv(covariance_matrix(cov, points), hermitian=True)
    slopes = np.where(np.reshape(y, (-1, 1)) == -np.inf, 0.0, points @ precision)
    shifted = covariance_matrix(cov_dot, points)
    by_cov = 0.5 * (np.sum((slopes @ shifted) * slopes, axis=1) - np.sum(precision * shifted))
    return (
        rebroadcast(-np.reshape(np.sum(slopes * np.reshape(x_dot, np.shape(points)), axis=1), np.shape(y)), y),
        rebroadcast(np.reshape(slopes @ np.ravel(mean_dot), np.shape(y)), y),
        rebroadcast(np.where(y == -np.inf, 0.0, np.reshape(by_cov, np.shape(y))), y),
    )


@normal_logpdf.when(allow_singular=False)
def normal_logpdf(x, mean=None, cov=1, allow_singular=False, *, y, y_bar):
    """The logarithm of the multivariate normal density."""
    points = centred(x, mean, cov)
    precision = np.linalg.inv(covariance_matrix(cov, points))
    weight = np.reshape(y_bar, (-1, 1))
    slopes = points @ precision
    moved = weight * slopes
    by_cov = 0.5 * (slopes.T @ moved - np.sum(weight) * precision)
    return -uncentred_points(moved, x), -uncentred_mean(moved, mean), uncovariance(by_cov, cov)


@rule(stats.multivariate_normal.pdf)
def normal_pdf(x, mean=None, cov=1, allow_singular=False, *, y, y_bar):
    """The multivariate normal density, of a singular covariance on its range."""
    points = centred(x, mean, cov)
    precision = np.linalg.pinv(covariance_matrix(cov, points), hermitian=True)
    weight = np.reshape(y_bar * y, (-1, 1))
    slopes = points @ precision
    moved = weight * slopes
    by_cov = 0.5 * (slopes.T @ moved - np.sum(weight) * precision)
    return -uncentred_points(moved, x), -uncentred_mean(moved, mean), uncovariance(by_cov, cov)


@normal_pdf.tangent
def normal_pdf(x, mean=None, cov=1, allow_singular=False, *, y, x_dot, mean_dot, cov_dot):
    points = centred(x, mean, cov)
    precision = np.linalg.pinv(covariance_matrix(cov, points), hermitian=True)
    slopes = points @ precision
    shifted = covariance_matrix(cov_dot, points)
    by_cov = 0.5 * (np.sum((slopes @ shifted) * slopes, axis=1) - np.sum(precision * shifted))
    return (
        -y * np.reshape(np.sum(slopes * np.reshape(x_dot, np.shape(points)), axis=1), np.shape(y)),
        y * np.reshape(slopes @ np.ravel(mean_dot), np.shape(y)),
        y * np.reshape(by_cov, np.shape(y)),
    )


@normal_pdf.when(allow_singular=False)
def normal_pdf(x, mean=None, cov=1, allow_singular=False, *, y, y_bar):
    """The multivariate normal density."""
    points = centred(x, mean, cov)
    precision = np.linalg.inv(covariance_matrix(cov, points))
    weight = np.reshape(y_bar * y, (-1, 1))
    slopes = points @ precision
    moved = weight * slopes
    by_cov = 0.5 * (slopes.T @ moved - np.sum(weight) * precision)
    return -uncentred_points(moved, x), -uncentred_mean(moved, mean), uncovariance(by_cov, cov)


for normal_ in (normal_logpdf, normal_pdf):
    normal_.accept(allowed={"allow_singular": (False, True)})


# --- Dirichlet -------------------------------------------------------------------------------------------------------
@rule(stats.dirichlet.logpdf)
def dirichlet_logpdf(x, alpha, *, y, y_bar):
    """The logarithm of Dirichlet's density."""
    rows = proportions(x, alpha)
    weight = np.reshape(y_bar, (-1, 1))
    digammas = special.digamma(alpha) - special.digamma(np.sum(alpha))
    by_x = xdivy(weight * np.subtract(alpha, 1), rows)
    return unproportions(by_x, x, alpha), np.sum(special.xlogy(weight, rows), axis=0) - np.sum(weight) * digammas


@dirichlet_logpdf.tangent
def dirichlet_logpdf(x, alpha, *, y, x_dot, alpha_dot):
    rows = proportions(x, alpha)
    by_x = xdivy(np.subtract(alpha, 1) * proportions_slope(x_dot, x, alpha), rows)
    digammas = special.digamma(alpha) - special.digamma(np.sum(alpha))
    return (
        rebroadcast(np.reshape(np.sum(by_x, axis=1), np.shape(y)), y),
        rebroadcast(
            np.reshape(np.sum(special.xlogy(alpha_dot, rows), axis=1) - np.sum(alpha_dot * digammas), np.shape(y)), y
        ),
    )


@rule(stats.dirichlet.pdf)
def dirichlet_pdf(x, alpha, *, y, y_bar):
    """Dirichlet's density."""
    rows = proportions(x, alpha)
    weight = np.reshape(y_bar * y, (-1, 1))
    digammas = special.digamma(alpha) - special.digamma(np.sum(alpha))
    by_x = xdivy(weight * np.subtract(alpha, 1), rows)
    return unproportions(by_x, x, alpha), np.sum(special.xlogy(weight, rows), axis=0) - np.sum(weight) * digammas


@dirichlet_pdf.tangent
def dirichlet_pdf(x, alpha, *, y, x_dot, alpha_dot):
    rows = proportions(x, alpha)
    by_x = xdivy(np.subtract(alpha, 1) * proportions_slope(x_dot, x, alpha), rows)
    digammas = special.digamma(alpha) - special.digamma(np.sum(alpha))
    return (
        y * np.reshape(np.sum(by_x, axis=1), np.shape(y)),
        y * np.reshape(np.sum(special.xlogy(alpha_dot, rows), axis=1) - np.sum(alpha_dot * digammas), np.shape(y)),
    )


def of_points(arguments, literals):
    """The fact of Dirichlet's density: one number for one point."""
    return number("float64") if as_array(arguments["x"]).rank == 1 else Array(None, "float64")


dirichlet_logpdf.infer(of_points)
dirichlet_pdf.infer(of_points)
for normal_ in (normal_logpdf, normal_pdf):
    normal_.infer(lambda arguments, literals: Array(None, "float64"))


# --- what the formulas above call ------------------------------------------------------------------------------------
@rule(centred)
def centred_(x, mean, cov, *, y, y_bar):
    """Points less their mean, in rows; put back."""
    return uncentred_points(y_bar, x), uncentred_mean(y_bar, mean)


@centred_.tangent
def centred_(x, mean, cov, *, y, x_dot, mean_dot):
    return np.reshape(x_dot, np.shape(y)), np.broadcast_to(-np.ravel(mean_dot), np.shape(y))


@linear(uncentred_points, "g")
def uncentred_points_(g, x, *, y, y_bar):
    """The shape of the points; rows again."""
    return np.reshape(y_bar, np.shape(g))


@linear(uncentred_mean, "g")
def uncentred_mean_(g, mean, *, y, y_bar):
    """A sum of rows, less; repeated, less."""
    return np.broadcast_to(-np.ravel(y_bar), np.shape(g))


@linear(covariance_matrix, "cov")
def covariance_matrix_(cov, points, *, y, y_bar):
    """A matrix of what may be one number; taken apart again."""
    return uncovariance(y_bar, cov)


@rule(uncovariance)
def uncovariance_(g, cov, *, y, y_bar):
    """A matrix taken apart; put together again."""
    return covariance_matrix(y_bar, g)


@uncovariance_.tangent
def uncovariance_(g, cov, *, y, g_dot):
    return uncovariance(g_dot, cov)


@rule(proportions)
def proportions_(x, alpha, *, y, y_bar):
    """Proportions in rows, the last one completed; put back."""
    return unproportions(y_bar, x, alpha)


@proportions_.tangent
def proportions_(x, alpha, *, y, x_dot):
    return proportions_slope(x_dot, x, alpha)


@linear(unproportions, "g")
def unproportions_(g, x, alpha, *, y, y_bar):
    """Rows put back; rows again."""
    return proportions_slope(y_bar, x, alpha)


@linear(proportions_slope, "g")
def proportions_slope_(g, x, alpha, *, y, y_bar):
    """Rows of a tangent; put back."""
    return unproportions(y_bar, x, alpha)
