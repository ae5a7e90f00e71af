"""Functions that pick elements, by position, condition, choice or order."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(5)
n, c, distinct = draws.n, draws.c, draws.distinct

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

_mask = np.array([True, False, True])
_masks = np.array([[True, False, True], [False, False, True]])
_twice = np.array([0, 2, 0])
SAMPLES |= {
    operator.getitem: [
        call(n(3), 1),
        call(n(3), _twice),
        call(n(3, 4), (slice(1, None), 2)),
        call(n(3), _mask),
        call([0.3, n(2)], 1),
        call(n(3, 4), (_twice, 1)),
        call(n(3, 4), Ellipsis),
        call(n(3, 4), (Ellipsis, 0)),
        call(n(3), (None, slice(None, None, -1))),
        call(n(2, 3), (1, None, _twice)),
        call(n(3, 3), (_twice, _twice)),
        call(n(3, 2, 3), (_twice, slice(None), _twice)),
        call(n(2, 3), _masks),
        call(n(2, 3), (slice(None), _mask)),
        call(n(3), True),
        call(n(3), np.False_),
        call(n(3), (True, _twice)),
        call(n(2, 3), (1, 2)),
        call(n(), ()),
        call(n(), Ellipsis),
        call(n(), None),
        call(n(5), slice(-1, 0, -2)),
        call(n(3), [0, 0, 1]),
        call(n(3), [True, False, False]),
        call(n(3), np.array([[0, 1], [1, 1]])),
        call(n(3), np.int64(2)),
        call(n(3), np.array(1)),
        call(n(2, 3), (np.array([0, 1]), np.array([[0], [2]]))),
        call(n(0, 3), slice(None)),
        call(n(2, 3, 2), (_masks, 1)),
        call(c(3), _twice),
        call((0.3, 0.4, 0.5), slice(0, 2)),
    ],
    np.take: [
        call(n(3), _twice),
        call(n(2, 3), _twice, axis=1),
        call(n(2, 3), 1, 0),
        call(n(2, 3), [0, 5]),
        call(n(3), np.array([4, -5, 1]), mode="wrap"),
        call(n(2, 3), np.array([4, -5, 1]), 1, mode="clip"),
        call(n(3, 2), np.array([[4, -5], [1, 1]]), axis=0, mode="wrap"),
        call(n(3), -1),
        call(n(3, 2, 2), [-1, 0, -1], 0),
        call(n(2, 3), [], 1),
        call(c(3), _twice),
        call(n(20, 3), np.arange(100) % 20, axis=0),
        call(n(3, 20, 2), np.arange(-20, 20).reshape(4, 10), 1),
    ],
    np.take_along_axis: [
        call(n(2, 3), np.array([[0, 0], [2, 1]]), 1),
        call(n(2, 3), np.array([[0, 1, 1]]), axis=0),
        call(n(4), np.array([3, 3]), None),
        call(n(4), np.array([3, -1, 0])),
        call(n(2, 3), np.array([[0, 0]]), 1),
        call(n(2, 3, 2), np.array([[[2], [0]]]), axis=-2),
        call(c(2, 3), np.array([[0], [2]]), 1),
    ],
    np.compress: [
        call(_mask, n(3)),
        call(_mask, n(2, 3), axis=1),
        call([True, False, True, True], n(2, 3)),
        call([1], n(3)),
    ],
    runtime.compressed: [call(n(3), _mask), call(n(2, 3), _mask, axis=1)],
    np.extract: [call(_mask, n(3)), call(_masks, n(2, 3)), call(_masks, c(2, 3))],
    np.trim_zeros: [
        call(np.array([0.3, 0.4]), trim="f"),
        call(n(2, 3), "fb", axis=1),
        call(c(3)),
    ],
    np.choose: [
        call(np.array([0, 1, 1]), [n(3), n(3)]),
        call(np.array([[0], [2]]), (n(3), 0.4, n(2, 1))),
        call(np.array([0, 5, -1]), n(2, 3), mode="wrap"),
        call(np.array([0, 5, -1]), [0.3, n(3)], mode="clip"),
        call(np.array([0, 1]), [c(2), n(2)]),
        call(1, [n(3), n(3)]),
    ],
    np.select: [
        call([_mask, ~_mask], [n(3), n(3)]),
        call([_mask, np.array([True, True, False])], [n(3), 0.4], 0.7),
        call([_masks], [n(3)], default=n(2, 1)),
        call([_mask, _mask], (n(3), n(3)), default=n(2, 3)),
        call([_mask], [c(3)], n(3)),
    ],
    np.triu: [call(n(3, 4)), call(n(3, 3), 1), call(n(3)), call(n(2, 3, 3), k=-1), call(c(2, 2))],
    np.tril: [call(n(3, 4)), call(n(2, 3, 3), k=-1), call(n(3), 1), call(c(2, 2))],
    np.diag: [call(n(3)), call(n(3, 3)), call(n(3), 1), call(n(3, 4), -1), call(n(2), k=-2), call(c(2)), call(c(2, 3))],
    np.diagflat: [call(n(3)), call(n(2, 2), 1), call(0.3, k=-1), call([0.3, 0.4]), call(c(2))],
    runtime.item: [
        call(n(1)),
        call(n()),
        call(n(3), 1),
        call(n(3), -1),
        call(n(2, 3), 4),
        call(n(2, 3), 1, -1),
        call(n(2, 3), (0, 1)),
        call(0.3),
        call(c(3), 1),
    ],
    runtime.pick: [call(n(2, 3), (1, -1)), call(n(2, 3), (4,)), call(0.3, ())],
    runtime.unpick: [call(0.3, n(2, 3), (1, -1)), call(0.3, n(2, 3), (4,)), call(0.3, n(1), ()), call(0.2, 0.3, ())],
    np.sort: [
        call(distinct(4)),
        call(distinct(2, 3), axis=0),
        call(distinct(2, 3), None),
        call(distinct(2, 3, 2), 1, kind="stable"),
        call(distinct(2, 3), stable=True, order=None),
        call(c(4)),
        call(distinct(5000)),
        call(distinct(2, 3000), axis=1),
        call([0.4, 0.3]),
    ],
    np.partition: [
        call(distinct(6), 2),
        call(distinct(3, 5), 1, axis=0),
        call(distinct(2, 5), (1, 3), None),
        call(distinct(2, 5), kth=2, axis=-1, kind="introselect", order=None),
        call(c(5), 2),
    ],
    np.sort_complex: [call(distinct(4)), call(c(4)), call(distinct(2, 3))],
    runtime.permute_along: [
        call(n(3), np.array([2, 0, 1])),
        call(n(2, 3), np.array([[2, 0, 1], [0, 1, 2]]), 1),
        call(n(2, 2), np.array([2, 0, 1, 3]), None),
    ],
    runtime.unpermute_along: [
        call(n(3), n(3), np.array([2, 0, 1])),
        call(n(2, 3), n(2, 3), np.array([[2, 0, 1], [0, 1, 2]]), 1),
        call(n(4), n(2, 2), np.array([2, 0, 1, 3]), None),
    ],
    runtime.kept: [call(n(3)), call((0.3, n(2))), call([0.3])],
    runtime.snapshot: [call(n(3)), call([n(2), n(3)]), call((n(2), [0.3]))],
    runtime.retake: [call(n(3), _twice), call(0.3, ()), call([0.3, n(2)], 1)],
    runtime.untake: [
        call(0.7, n(3), 1),
        call(n(3), n(3), _twice),
        call(n(2), [0.3, n(2)], 1),
        call([0.2, 0.3], [0.1, 0.1, 0.1], slice(1, None)),
    ],
    runtime.untake_axis: [
        call(n(3), n(3), _twice),
        call(n(2, 3), n(2, 3), _twice, 1),
        call(n(3), n(3), np.array([4, -5, 1]), None, "wrap"),
    ],
    runtime.untake_along: [
        call(n(2, 2), n(2, 3), np.array([[0, 0], [2, 1]]), 1),
        call(n(2), n(4), np.array([3, 3]), None),
        call(n(2, 2), n(2, 3), np.array([[0, 0]]), 1),
    ],
    runtime.rechoose: [
        call([n(3), 0.4], np.array([0, 2, 1])),
        call([n(3), n(2, 1)], np.array([0, 1, 5]), "clip"),
    ],
    runtime.unchoose: [
        call(n(3), np.array([0, 1, 1]), [n(3), n(3)]),
        call(n(2, 3), np.array([[0], [2]]), (n(3), 0.4, n(2, 1))),
        call(n(3), np.array([0, 5, -1]), n(2, 3), "wrap"),
    ],
    runtime.undiagonal: [call(n(3), n(3, 4)), call(n(3, 1), n(2, 3, 4), 1, 2, 0)],
    runtime.untrace: [call(0.7, n(3, 3)), call(n(2), n(2, 3, 4), 0, 1, 2)],
    runtime.undiag: [call(n(3, 3), n(3)), call(n(3), n(3, 3)), call(n(4, 4), n(3), 1)],
}

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = {np.take, np.diag, np.triu, np.tril}
