"""Packages of the extras ``examples`` and ``plot`` and what they bring: judged where they are installed."""

from __future__ import annotations

import numpy as np

from tests.installed.entry import entries, numbers, rising, signed

X, Y = signed(4, 3), signed(5, 3, seed=1)
TRUE, GUESS = numbers(6), numbers(6, seed=1)
LABELS, CHANCES = np.array([[1.0], [0.0], [1.0]]), np.array([[0.7], [0.2], [0.9]])

ENTRIES = [
    *entries(
        "sklearn.metrics",
        ("mean_absolute_error", (TRUE, GUESS), 1),
        ("mean_squared_error", (TRUE, GUESS), 1),
        ("mean_poisson_deviance", (TRUE, GUESS), 1),
    ),
    *entries(
        "sklearn.metrics._regression",
        ("_mean_tweedie_deviance", (TRUE, GUESS, None, 1.5), 1),
    ),
    *entries(
        "sklearn.metrics.pairwise",
        ("cosine_similarity.__wrapped__", (X, Y), (0, 1)),
        ("linear_kernel.__wrapped__", (X, Y), (0, 1)),
        ("polynomial_kernel.__wrapped__", (X, Y), (0, 1)),
        ("rbf_kernel.__wrapped__", (X, Y), (0, 1)),
        ("sigmoid_kernel.__wrapped__", (X, Y), (0, 1)),
    ),
    *entries(
        "sklearn.neural_network._base",
        ("binary_log_loss", (LABELS, CHANCES), 1),
        ("log_loss", (LABELS, CHANCES), 1),
        ("poisson_loss", (TRUE, GUESS), 1),
        ("squared_loss", (TRUE, GUESS), 1),
    ),
    *entries(
        "sklearn.utils.extmath",
        ("density", (X,)),
        ("row_norms", (X,)),
        ("safe_sparse_dot", (X, Y.T), (0, 1)),
        ("softmax", (X,)),
        ("squared_norm", (X,)),
        ("stable_cumsum.__wrapped__", (TRUE,)),
    ),
    *entries(
        "sklearn.linear_model._huber",
        ("_huber_loss_and_gradient", (numbers(4), X, numbers(4), 1.3, 0.1, np.ones(4))),
    ),
    *entries(
        "sklearn.covariance._empirical_covariance",
        ("empirical_covariance.__wrapped__", (X,)),
        ("log_likelihood", (np.eye(3), 2.0 * np.eye(3)), (0, 1)),
    ),
    *entries(
        "matplotlib.bezier",
        ("_de_casteljau1", (signed(4, 2), 0.3), (0, 1)),
        ("get_cos_sin", (0.1, 0.3, 1.2, 0.9), (0, 1, 2, 3)),
        ("get_intersection", (0.1, 0.2, 0.8, 0.6, 1.1, 0.3, 0.6, 0.8), (0, 1, 2, 3, 4, 5, 6, 7)),
        ("get_normal_points", (0.1, 0.2, 0.8, 0.6, 0.7), (0, 1, 2, 3, 4)),
        ("split_de_casteljau", (signed(4, 2), 0.3), (0, 1)),
    ),
    *entries(
        "matplotlib.mlab",
        ("detrend_linear", (numbers(6),)),
        ("detrend_mean", (numbers(6),)),
        ("window_hanning", (numbers(6),)),
    ),
    *entries(
        "matplotlib.colors",
        ("hsv_to_rgb", (numbers(4, 3, high=0.9),)),
        ("rgb_to_hsv", (numbers(2, 3, high=0.9, seed=4),)),
    ),
    *entries("matplotlib.cbook", ("simple_linear_interpolation", (rising(4), 3))),
    *entries(
        "matplotlib.projections.geo",
        ("HammerAxes.HammerTransform.transform_non_affine", (None, signed(4, 2)), 1),
    ),
    *entries(
        "mpl_toolkits.mplot3d.proj3d",
        ("proj_transform", (numbers(3), numbers(3), numbers(3), signed(4, 4)), (0, 1, 2, 3)),
        ("world_transformation", (0.1, 1.2, 0.2, 1.5, 0.3, 1.9), (0, 1, 2, 3, 4, 5)),
    ),
]
