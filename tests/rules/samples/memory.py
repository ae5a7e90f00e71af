"""Copies of memory that is stored into, and the adjoints of places that are stored over."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(78)
c, n = draws.c, draws.n

w = n(2, 3)
whole = np.arange(4)

_SHARED = np.ones(3)

SAMPLES: dict[Callable[..., Any], list[Call]] = {
    runtime.private: [call(n(4)), call(n(2, 3).T, n(2)), call(0.4, n(2)), call(c(2))],
    runtime.unprivate: [call(n(3), 0, 1), call((n(3), n(2)), 1, 2)],
    runtime.placed_alone: [call(n(3), n(3), 0, 1), call(n(2), (n(3), n(2)), 1, 2)],
    runtime.entering: [call(n(2, 3), n(2, 3)), call(0.3, 0.4), call(n(2, 3).T, n(3, 2))],
    runtime.fresh: [call(n(2, 3), n(2, 3)), call(n(3, 2), n(2, 3).T), call(0.4, 0.3)],
    runtime.stored: [call(n(3), n(4)), call(0.4, n(4)), call(0.4, whole), call(n(2), whole)],
    runtime.tangent_like: [call(n(3), n(3), w, n(2, 3)), call(0.4, 0.3, w, n(2, 3))],
    runtime.view_like: [call(n(2), n(4), n(4))],
    runtime.items_like: [call(n(2), n(4), n(4)), call([n(2), 0.3], n(4), n(4))],
    runtime.view_moved: [call(n(2), (n(4), n(4)), (n(4), n(4)))],
    runtime.items_moved: [call(n(2), (n(4), n(4)), (n(4), n(4)))],
    runtime.unview: [call(n(2), n(2), (n(4), n(4)), (n(4), n(4)))],
    runtime.part_like: [call(n(2), [n(3), n(2)], [n(3), n(2)], 1), call(n(2), n(2, 2), n(2, 2), 1)],
    runtime.unpart_like: [call(n(2), n(2), [n(3), n(2)], [n(3), n(2)], 1)],
    runtime.rest_like: [call([n(3), n(2)], [n(4), n(3), n(2)], [n(4), n(3), n(2)], slice(1, 3))],
    runtime.frozen: [call([n(3), [n(2)]]), call(n(3))],
    runtime.held_before: [call(n(4), 1), call(n(2, 3), (slice(None), 1))],
    runtime.where_first: [call([n(3), [n(2)]], (n(3), [n(2)])), call(n(3), n(3))],
    runtime.each_once: [call((n(3), [n(2)])), call(n(3))],
    runtime.as_stored: [call(n(3), n(3)), call(n(2, 3), n(3)), call(n(3), 0.4), call(n(2), [0.3, 0.4])],
    runtime.own_adjoint: [call(n(3), n(2)), call([n(3), n(1)], n(2))],
    runtime.held_inside: [call([n(3), [n(2)]]), call(n(3))],
    runtime.as_given: [call(n(3), n(3)), call([n(3), n(2)], [n(3), 0.4]), call({"a": n(2)}, {"a": n(2)})],
    runtime.given_to: [call(n(3), n(2, 3)), call([n(3), 0.4], [n(3), n(2)]), call({"a": n(2)}, {"a": n(2)})],
    runtime.like_own: [
        call(n(3), n(3), n(3), (n(3),)), call([n(3), n(2)], [n(3), n(2)], [n(3), n(2)], (n(3),)),
        call([n(3), n(2)], [n(3), n(2)], [_SHARED, n(2)], (_SHARED,)),
    ],
    runtime.taken: [
        call(n(4), n(4), slice(1, 3)),
        call(n(4), n(4), 2),
        call(n(4), n(4), np.array([1, 1, 3])),
        call(n(2, 3), n(2, 3), np.array([[True, False, True], [False, True, False]])),
        call(n(4), whole, slice(0, 2)),
    ],
    runtime.untaken: [
        call(n(2), n(4), n(4), slice(1, 3)),
        call(0.7, n(4), n(4), 2),
        call(n(3), n(4), n(4), np.array([1, 1, 3])),
        call(n(2), n(4), whole, slice(0, 2)),
    ],
}

ANALYTIC: set[Callable[..., Any]] = {runtime.fresh, runtime.stored}
