"""``colorsys`` (all of it) and ``statistics`` (every function of numbers, and the methods of ``NormalDist``)."""

from __future__ import annotations

from statistics import NormalDist

from tests.installed.entry import entries

SAMPLE = [1.3, 0.4, 2.7, 1.9, 0.8]
OTHER = [0.7, 0.9, 2.1, 1.2, 0.1]
DISTRIBUTION = NormalDist(0.4, 1.3)

ENTRIES = [
    *entries(
        "colorsys",
        ("hls_to_rgb", (0.31, 0.42, 0.63), (0, 1, 2)),
        ("hsv_to_rgb", (0.31, 0.42, 0.63), (0, 1, 2)),
        ("rgb_to_hls", (0.31, 0.42, 0.63), (0, 1, 2)),
        ("rgb_to_hsv", (0.31, 0.42, 0.63), (0, 1, 2)),
        ("rgb_to_yiq", (0.31, 0.42, 0.63), (0, 1, 2)),
        ("yiq_to_rgb", (0.41, 0.12, 0.13), (0, 1, 2)),
    ),
    *entries(
        "statistics",
        ("correlation", (SAMPLE, OTHER), (0, 1)),
        ("covariance", (SAMPLE, OTHER), (0, 1)),
        ("fmean", (SAMPLE,)),
        ("fmean", (SAMPLE, OTHER), (0, 1)),
        ("geometric_mean", (SAMPLE,)),
        ("harmonic_mean", (SAMPLE,)),
        ("linear_regression", (SAMPLE, OTHER), (0, 1)),
        ("mean", (SAMPLE,)),
        ("median", (SAMPLE,)),
        ("median_grouped", (SAMPLE,)),
        ("median_high", (SAMPLE,)),
        ("median_low", (SAMPLE,)),
        ("pstdev", (SAMPLE,)),
        ("pvariance", (SAMPLE,)),
        ("quantiles", (SAMPLE,)),
        ("stdev", (SAMPLE,)),
        ("variance", (SAMPLE,)),
        ("NormalDist.pdf", (DISTRIBUTION, 0.7), 1),
        ("NormalDist.cdf", (DISTRIBUTION, 0.7), 1),
        ("NormalDist.inv_cdf", (DISTRIBUTION, 0.31), 1),
        ("NormalDist.zscore", (DISTRIBUTION, 0.7), 1),
    ),
]
