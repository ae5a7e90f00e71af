"""Counts with weights.

What jumps as data move from bin to bin is refused.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad.rules.table import linear, refused, rule
from srcgrad.runtime import from_bins, into_bins, unarray, zeros_like


@linear(np.bincount, "weights")
def bincount(x, weights=None, minlength=0, *, y, y_bar):
    """Sums of weights in bins: each weight receives what its bin does."""
    return unarray(np.take(y_bar, x), weights)


@rule(np.histogram)
def histogram(a, bins=10, range=None, density=None, weights=None, *, y, y_bar):
    """Sums of weights between edges: each weight receives what its bin does."""
    return None, None, None, None, unarray(from_bins(y_bar[0], a, y[1]), weights)


@histogram.tangent
def histogram(a, bins=10, range=None, density=None, weights=None, *, y, weights_dot):
    return into_bins(weights_dot, a, y[1]), zeros_like(y[1])


histogram.accept(allowed={"density": (None, False)})
histogram.refuse(
    "derivatives by the data: a sum of smooth kernels,\n"
    "np.sum(np.exp(-0.5 * ((edges[:, None] - x) / width) ** 2), axis=1)",
    a="numbers move from bin to bin by jumps",
    bins="numbers move from bin to bin by jumps, as the edges do",
    range="numbers move from bin to bin by jumps, as the edges do",
)  # fmt: skip


@linear(from_bins, "g")
def from_bins_(g, a, edges, *, y, y_bar):
    """What bins hold, for each number of theirs; summed in the bins again."""
    return into_bins(y_bar, a, edges)


@linear(into_bins, "weights")
def into_bins_(weights, a, edges, *, y, y_bar):
    """Sums in bins; for each number what its bin holds."""
    return from_bins(y_bar, a, edges)


refused(
    "E0502", "numbers move from bin to bin by jumps, and what the edges do to them too",
    np.histogram2d, np.histogramdd, np.histogram_bin_edges,
    hint="derivatives by weights: np.bincount(np.digitize(x, edges), weights); by the data: a sum of smooth kernels,\n"
    "np.sum(np.exp(-0.5 * ((edges[:, None] - x) / width) ** 2), axis=1)",
)  # fmt: skip
