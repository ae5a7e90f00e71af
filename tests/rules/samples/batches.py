"""What programs over a batch call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(31)
n, c = draws.n, draws.c

SAMPLES: dict[Callable[..., Any], list[Call]] = {
    runtime.over_batch: [
        call(n(3), 2),
        call(n(2, 1), 1),
        call(n(), 3),
        call(0.3, 2),
        call(c(2), 3),
        call([n(2), 0.3], 3),
        call([n(2), n(3)], 3, [True]),
        call((n(2), n(3)), 4, (True, False)),
        call({"a": n(2), "b": n(1)}, 3, {"a": True, "b": False}),
        call(n(2), 3, False),
    ],
    runtime.over_examples: [
        call(n(2, 3), n(3)),
        call(n(1, 2, 1), n(2, 1)),
        call(n(3), n()),
        call(n(2), 0.3),
        call(c(3, 2), c(2)),
        call([n(3, 2), n(3)], [n(2), 0.3]),
        call([n(3, 2), n(3, 3)], [n(2), n(3)], [True]),
        call([n(4, 2), n(3)], (n(2), n(3)), (True, False)),
        call({"a": n(3, 2), "b": n(1)}, {"a": n(2), "b": n(1)}, {"a": True, "b": False}),
        call(n(2), n(2), False),
    ],
    runtime.with_rank: [call(n(3, 2), 4), call(n(3), 2), call(n(3, 2), 2), call(n(1, 2), 1), call(c(3, 2), 3)],
    runtime.numbers_apart: [call(n(3)), call(n(3, 2)), call(c(3))],
    runtime.unbroadcast_each: [
        call(n(4, 2, 3), n(4, 3)),
        call(n(4, 3), n(4, 1)),
        call(n(3, 3), n(3)),
        call(n(4, 3), n(4, 3)),
        call(n(4, 2, 3), n(3), False),
        call(n(3, 3, 3), n(3, 1), False),
        call(n(4, 2), 0.3, False),
        call(c(4, 2, 3), c(4, 3)),
    ],
}

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = set()
