"""Losses and the layers in front of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.runtime import neural_losses
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(72)
u, n, distinct = draws.u, draws.n, draws.distinct
KINDS = ("mean", "sum", "none")
classes = np.array([1, 0, 2, -100])
pixels = np.array([[0, 2], [1, -100]])

SAMPLES: dict[Callable[..., Any], list[Call]] = {
    neural_losses.reduce_loss: [call(n(2, 3), kind) for kind in KINDS] + [call(n(3))],
    neural_losses.unreduce_loss: [
        call(0.7, n(2, 3)),
        call(0.7, n(2, 3), "sum"),
        call(n(2, 3), n(2, 3), reduction="none"),
    ],
    neural_losses.mse_loss: [call(n(2, 3), n(2, 3), kind) for kind in KINDS] + [call(n(3), n(3))],
    neural_losses.huber_loss: [call(n(2, 3), 2.0 * n(2, 3), kind) for kind in KINDS] + [call(n(3), n(3), delta=0.4)],
    neural_losses.smooth_l1_loss: [
        *(call(n(2, 3), 2.0 * n(2, 3), kind) for kind in KINDS),
        call(n(3), n(3), beta=0.4),
        call(n(3), n(3), "sum", 0.0),
    ],
    neural_losses.soft_margin_loss: [call(n(2, 3), n(2, 3), kind) for kind in KINDS],
    neural_losses.bce_loss: [
        *(call(u(2, 3), u(2, 3), None, kind) for kind in KINDS),
        call(u(2, 3), u(2, 3)),
        call(u(2, 3), u(2, 3), weight=u(3)),
    ],
    neural_losses.bce_logits_loss: [
        *(call(n(2, 3), u(2, 3), None, None, kind) for kind in KINDS),
        call(n(2, 3), u(2, 3)),
        call(n(2, 3), u(2, 3), weight=u(3), pos_weight=u(3)),
        call(n(2, 3), u(2, 3), pos_weight=u(3), reduction="sum"),
    ],
    neural_losses.nll_loss: [
        *(call(n(4, 3), classes, None, -100, kind) for kind in KINDS),
        call(n(4, 3), classes, u(3)),
        call(n(2, 3, 2), pixels, u(3)),
        call(n(2, 3, 2), pixels, u(3), reduction="none"),
        call(n(3), np.array(2)),
        call(n(4, 3), classes % 3, ignore_index=2),
    ],
    neural_losses.unnll_loss: [
        call(0.7, n(4, 3), classes),
        call(0.7, n(4, 3), classes % 3, None, 2, "sum"),
        call(n(4), n(4, 3), classes, weight=u(3), ignore_index=-100, reduction="none"),
    ],
    neural_losses.embedding: [
        call(n(4, 2), np.array([0, 3, 0])),
        call(n(4, 2), np.array([[1, 1], [2, 0]]), padding_idx=-1),
    ],
    neural_losses.unembedding: [
        call(n(3, 2), n(4, 2), np.array([0, 3, 0])),
        call(n(3, 2), n(4, 2), np.array([0, 3, 0]), padding_idx=3),
    ],
    neural_losses.embedded: [
        call(n(4, 2), np.array([0, 3, 0])),
        call(n(4, 2), np.array([[1, 1], [2, 0]]), padding_idx=2),
    ],
    neural_losses.addmm: [
        call(n(2, 4), n(2, 3), n(3, 4)),
        call(n(4), n(2, 3), n(3, 4), 0.5, 2.0),
        call(n(2, 1), n(2, 3), n(3, 4), beta=0.5, alpha=2.0),
    ],
}
ANALYTIC: set[Callable[..., Any]] = set()
