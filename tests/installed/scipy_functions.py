"""SciPy's functions in Python whose arguments are numbers and arrays: optimize, integrate, linalg, spatial, special."""

from __future__ import annotations

import numpy as np

from tests.installed.entry import entries, numbers, rising, signed, weights

U, V, W = numbers(5), numbers(5, seed=1), weights(5)
P, Q = weights(5), numbers(5, seed=9) / numbers(5, seed=9).sum()
H = signed(3, 3) @ signed(3, 3).T + 3.0 * np.eye(3)


def logistic(t: float, y: np.ndarray) -> np.ndarray:
    return y * (1.0 - y) * (1.0 + 0.1 * t)


ENTRIES = [
    *entries(
        "scipy.optimize",
        ("rosen", (numbers(5),)),
        ("rosen_der", (numbers(5),)),
        ("rosen_hess", (numbers(4),)),
        ("rosen_hess_prod", (numbers(4), signed(4)), (0, 1)),
    ),
    *entries(
        "scipy.optimize._linesearch",
        ("_cubicmin", (0.1, 1.3, -0.9, 1.1, 0.7, 2.2, 1.9), (0, 1, 2, 3, 4, 5, 6)),
        ("_quadmin", (0.1, 1.3, -0.9, 1.1, 0.7), (0, 1, 2, 3, 4)),
    ),
    *entries(
        "scipy.optimize._lsq.common",
        ("CL_scaling_vector", (signed(3), signed(3, seed=1), np.full(3, -2.0), np.full(3, 2.5)), (0, 1, 2, 3)),
        ("build_quadratic_1d", (signed(4, 3), signed(3), signed(3, seed=1)), (0, 1, 2)),
        ("evaluate_quadratic", (signed(4, 3), signed(3), signed(3, seed=1)), (0, 1, 2)),
        ("intersect_trust_region", (0.1 * signed(3), signed(3, seed=1), 2.0), (0, 1, 2)),
        ("minimize_quadratic_1d", (1.3, -0.9, -1.0, 1.0), (0, 1)),
        ("scale_for_robust_loss_function", (signed(4, 3), signed(4), numbers(3, 4)), (0, 1)),
        ("solve_trust_region_2d", (H[:2, :2], signed(2), 5.0), (0, 1)),
        ("step_size_to_bound", (signed(3), signed(3, seed=1), np.full(3, -2.0), np.full(3, 2.5)), (0, 1)),
        ("update_tr_radius", (1.3, 0.7, 0.9, 1.2, False), (0, 1, 2)),
    ),
    *entries(
        "scipy.optimize._lsq.least_squares",
        ("arctan", (numbers(4), np.zeros((3, 4)), False)),
        ("cauchy", (numbers(4), np.zeros((3, 4)), False)),
        ("huber", (numbers(4), np.zeros((3, 4)), False)),
        ("soft_l1", (numbers(4), np.zeros((3, 4)), False)),
    ),
    *entries(
        "scipy.optimize._numdiff",
        ("_compute_absolute_step", (None, numbers(3), signed(3), "2-point"), 1),
        ("_adjust_scheme_to_bounds", (U[:3], 0.1 * V[:3], 1, "2-sided", np.zeros(3), np.full(3, 3.0)), (0, 1)),
    ),
    *entries(
        "scipy.integrate",
        ("cumulative_simpson", (numbers(6),)),
        ("cumulative_trapezoid", (numbers(6), rising(6)), (0, 1)),
        ("fixed_quad", (np.sin, 0.2, 1.7), (1, 2)),
        ("romb", (numbers(9),)),
        ("simpson", (numbers(7), rising(7)), (0, 1)),
        ("trapezoid", (numbers(6), rising(6)), (0, 1)),
    ),
    *entries("scipy.integrate._ivp.common", ("norm", (signed(5),))),
    *entries(
        "scipy.integrate._ivp.rk",
        (
            "rk_step",
            (logistic, 0.1, U[:3], signed(3), 0.2, np.tril(signed(3, 3), -1), weights(3), np.array([0.0, 0.5, 1.0])),
            (2, 3, 4),
            {"K": np.zeros((4, 3))},
        ),
    ),
    *entries(
        "scipy.linalg",
        ("block_diag", (signed(2, 2), signed(3, 1)), (0, 1)),
        ("circulant", (signed(4),)),
        ("companion", (signed(4),)),
        ("convolution_matrix", (signed(3), 4)),
        ("fiedler", (rising(4),)),
        ("fiedler_companion", (signed(5),)),
        ("hankel", (signed(3), signed(4)), (0, 1)),
        ("khatri_rao.__wrapped__", (signed(2, 3), signed(4, 3)), (0, 1)),
        ("leslie.__wrapped__", (numbers(4), numbers(3)), (0, 1)),
        ("polar.__wrapped__", (H,)),
        ("toeplitz", (signed(3), signed(4)), (0, 1)),
    ),
    *entries(
        "scipy.spatial",
        ("distance_matrix", (signed(3, 2), signed(4, 2)), (0, 1)),
        ("minkowski_distance", (U, V), (0, 1)),
        ("minkowski_distance_p", (U, V, 3), (0, 1)),
        ("procrustes", (signed(4, 2), signed(4, 2, seed=1)), (0, 1)),
        ("geometric_slerp", (np.array([1.0, 0.0]), np.array([0.6, 0.8]), 0.3), 2),
    ),
    *entries(
        "scipy.spatial.distance",
        ("braycurtis", (U, V), (0, 1)),
        ("canberra", (U, V), (0, 1)),
        ("chebyshev", (U, V), (0, 1)),
        ("cityblock", (U, V, W), (0, 1, 2)),
        ("correlation", (U, V), (0, 1)),
        ("cosine", (U, V, W), (0, 1, 2)),
        ("euclidean", (U, V), (0, 1)),
        ("jensenshannon", (P, Q), (0, 1)),
        ("mahalanobis", (signed(3), signed(3, seed=1), H), (0, 1, 2)),
        ("minkowski", (U, V, 3, W), (0, 1, 3)),
        ("seuclidean", (U, V, W), (0, 1, 2)),
        ("sqeuclidean", (U, V), (0, 1)),
    ),
    *entries(
        "scipy.special",
        ("assoc_laguerre", (numbers(3), 2, 0.5)),
        ("diric", (numbers(4), 5)),
        ("h1vp", (1.0, 0.7), 1),
        ("ivp", (1.0, 0.7), 1),
        ("jvp", (1.0, 0.7, 2), 1),
        ("kvp", (1.0, 0.7), 1),
        ("multigammaln", (numbers(3) + 2.0, 3)),
        ("polygamma", (1, numbers(3)), 1),
        ("sinc.__wrapped__", (numbers(3),)),
        ("spherical_jn.__wrapped__", (2, numbers(3)), 1),
        ("yvp", (1.0, 0.7), 1),
        ("zeta", (numbers(3) + 2.0,)),
    ),
    *entries(
        "scipy.interpolate",
        ("barycentric_interpolate", (rising(4), signed(4), numbers(3)), (1, 2)),
        ("krogh_interpolate", (rising(4), signed(4), numbers(3)), (1, 2)),
        ("lagrange", (rising(4), signed(4)), (0, 1)),
        ("pade", (signed(5), 2)),
        ("pchip_interpolate", (rising(4), signed(4), numbers(3)), (1, 2)),
        ("PchipInterpolator._edge_case", (U[:2], V[:2], signed(2), signed(2, seed=1), np), (0, 1, 2, 3)),
        ("PchipInterpolator._find_derivatives", (rising(5), rising(5, 0.3, 3.0), np), (0, 1)),
    ),
    *entries(
        "scipy.constants",
        ("convert_temperature", (numbers(3), "Celsius", "Fahrenheit")),
        ("lambda2nu", (numbers(3),)),
        ("nu2lambda", (numbers(3),)),
    ),
    *entries("scipy.cluster.vq", ("whiten", (numbers(4, 3),))),
    *entries("scipy.ndimage._filters", ("_gaussian_kernel1d", (1.3, 0, 3)), ("_gaussian_kernel1d", (1.3, 1, 3))),
]
