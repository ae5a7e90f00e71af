# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""Models of ``statistics``: medians and modes, which select among values, and means without a rule.

>>> median([3, 1, 2]), median([1, 2]), median_high([1, 2]), mode("abb"), multimode("abba")
(2, 1.5, 2, 'b', ['a', 'b'])
"""

from __future__ import annotations

import math
import statistics

from srcgrad.language.models.counting import counter
from srcgrad.language.models.table import models, unknown

#: What takes numbers as they come, with a rule for lists and arrays of them.
MOMENTS = (
    statistics.mean, statistics.fmean, statistics.variance, statistics.pvariance, statistics.stdev, statistics.pstdev,
)  # fmt: skip


@models(statistics.median)
def median(data):
    items = _sorted(data)
    half = len(items) // 2
    if len(items) % 2 == 1:
        return items[half]
    return (items[half - 1] + items[half]) / 2


@models(statistics.median_low)
def median_low(data):
    items = _sorted(data)
    return items[(len(items) - 1) // 2]


@models(statistics.median_high)
def median_high(data):
    items = _sorted(data)
    return items[len(items) // 2]


@models(statistics.geometric_mean)
def geometric_mean(data):
    items = list(data)
    for item in items:
        if item < 0.0:
            raise statistics.StatisticsError("no negative inputs allowed")
        if item == 0.0:  # where the root has no derivative
            unknown()
    if not items:
        raise statistics.StatisticsError("must have a non-empty dataset")
    return math.exp(math.fsum([math.log(item) for item in items]) / len(items))


@models(statistics.harmonic_mean)
def harmonic_mean(data, weights=None):
    items = list(data)
    if not items:
        raise statistics.StatisticsError("harmonic_mean requires at least one data point")
    parts = [1] * len(items) if weights is None else list(weights)
    if len(parts) != len(items):
        raise statistics.StatisticsError("Number of weights does not match data size")
    for item in [*items, *parts]:
        if item < 0.0:
            raise statistics.StatisticsError("harmonic mean does not support negative values")
    if len(items) == 1 and weights is None:
        return items[0]
    for item, part in zip(items, parts):
        if item == 0.0 or part == 0.0:  # at the edge of where it is defined
            unknown()
    return math.fsum(parts) / math.fsum([part / item for part, item in zip(parts, items)])


def _sorted(data):
    items = sorted(data)
    if not items:
        raise statistics.StatisticsError("no median of no data")
    return items


@models(statistics.mode)
def mode(data):
    for item, _ in counter(iter(data)).most_common(1):
        return item
    raise statistics.StatisticsError("no mode of no data")


@models(statistics.multimode)
def multimode(data):
    counts = counter(iter(data))
    most = max(counts.values(), default=0)
    return [item for item, number in counts.items() if number == most]
