# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""Models of ``statistics``, of what selects among values: medians and modes.

>>> median([3, 1, 2]), median([1, 2]), median_high([1, 2]), mode("abb"), multimode("abba")
(2, 1.5, 2, 'b', ['a', 'b'])
"""

from __future__ import annotations

import statistics

from srcgrad.language.models.counting import counter
from srcgrad.language.models.table import models


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
