"""Functions that join arrays, put parts in, take parts out, and take arrays apart."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(6)
n, c = draws.n, draws.c

SAMPLES: dict[Callable[..., Any], list[Call]] = {}

_three = [n(2, 3), n(1, 3), n(4, 3)]
SAMPLES |= {
    np.concatenate: [
        call(_three),
        call(tuple(_three), axis=0),
        call([n(2, 3), n(2, 1)], axis=1),
        call([n(2), n(2, 3)], axis=None),
        call([n(2), n(3)], -1),
        call([n(2), c(3)]),
        call([n(2), n(0)]),
        call(n(2, 3)),
        call([n(2), n(3)], dtype=complex),
        call([n(2), n(3)], dtype=np.float64, casting="same_kind"),
        call([n(2), n(3)], 0, dtype=np.longdouble),
        call([n(2), n(3)], dtype=int, casting="unsafe"),
    ],
    np.stack: [
        call([n(3), n(3)]),
        call([n(2, 3), n(2, 3)], axis=-1),
        call((n(3), n(3)), 1),
        call([0.3, 0.4]),
        call([n(3), c(3)]),
        call(n(2, 3), 1),
        call([n(3), n(3)], dtype=complex),
        call([n(3), n(3)], dtype=int, casting="unsafe"),
    ],
    np.vstack: [
        call([n(3), n(2, 3)]),
        call([n(2, 3), n(1, 3)]),
        call([n(3), c(3)]),
        call([n(3), n(3)], dtype=int, casting="unsafe"),
        call([n(3), n(3)], dtype=complex),
    ],
    np.hstack: [
        call([n(3), n(2)]),
        call([n(2, 3), n(2, 1)]),
        call([0.3, n(2)]),
        call([n(2), c(2)]),
        call((n(3), n(2)), dtype=complex),
        call((n(3), n(2)), dtype=int, casting="unsafe"),
    ],
    np.dstack: [call([n(3), n(3)]), call([n(2, 3), n(2, 3, 2)]), call((0.3, 0.4)), call([n(2, 3), c(2, 3)])],
    np.column_stack: [call([n(3), n(3, 2)]), call([n(3), n(3)]), call((n(2), c(2))), call([0.3, 0.4])],
    runtime.join_rows: [
        call((n(3), 0.3, n(2))),
        call((n(2, 3), n(1, 3))),
        call([[0.3, 0.4], n(1)]),
        call((n(2, 1, 3), n(1, 1, 3))),
        call((c(2), n(2))),
    ],
    runtime.join_columns: [
        call((n(3), n(3, 2))),
        call((0.3, n(1, 2))),
        call((n(2, 1, 3), n(2, 1, 1))),
        call((c(2), n(2))),
    ],
    np.block: [
        call([n(2), n(3)]),
        call([[n(2, 2), n(2, 1)], [n(1, 2), n(1, 1)]]),
        call([[n(2)], [n(2)]]),
        call([0.3, n(2)]),
        call([[0.3, 0.4], [0.5, 0.6]]),
        call(n(2)),
        call([[[n(2)], [n(2)]], [[n(2)], [n(2)]]]),
        call([c(2), n(1)]),
        call([[n(2, 1, 2), n(2, 1, 1)]]),
    ],
    np.append: [
        call(n(2), n(3)),
        call(n(2), 0.4),
        call(n(2, 2), n(1, 3)),
        call(n(2, 2), n(1, 2), axis=0),
        call(n(2, 2), n(2, 1), 1),
        call(n(2), [0.3, 0.4]),
        call(n(2), c(1)),
        call(0.3, 0.4, None),
    ],
    np.insert: [
        call(n(3), 1, 0.4),
        call(n(2, 3), 1, n(2)),
        call(n(3), [1, 3], n(2)),
        call(n(3), [3, 1], n(2)),
        call(n(3), [2, 2], n(2)),
        call(n(3), -1, 0.5),
        call(n(3), [0, 1], 0.5),
        call(n(2, 3), 1, 0.5, axis=1),
        call(n(2, 3), 1, n(2), axis=1),
        call(n(2, 3), [1], n(2, 1), axis=1),
        call(n(2, 3), (0, 2), n(2, 2), axis=1),
        call(n(2, 3), [0, 1], n(3), 0),
        call(n(2, 3), 1, n(3), axis=-2),
        call(n(3), slice(0, 2), n(2)),
        call(n(3), 1, n(4)),
        call(n(3), np.array([True, False, True]), n(2)),
        call(n(2, 3), 0, n(4, 3), axis=0),
        call(n(3), 1, [0.3, 0.4]),
        call(c(3), 1, n(1)),
        call(n(2, 3, 2), 1, n(4, 2, 2), axis=1),
    ],
    np.delete: [
        call(n(3), 1),
        call(n(2, 3), [0, 2], axis=1),
        call(n(2, 3), 4),
        call(n(4), slice(1, None, 2)),
        call(n(4), -1),
        call(n(3), np.array([True, False, True])),
        call(n(2, 3), 1, -2),
        call(c(3), 0),
    ],
    np.split: [
        call(n(6), 3),
        call(n(4, 3), [1, 3]),
        call(n(2, 4), 2, axis=1),
        call(n(4), (1,)),
        call(n(4), [3, 1]),
        call(n(4), [-1]),
        call(n(4), [2, 7]),
        call(n(3, 4), np.array([3, 2]), 1),
        call(c(4), 2),
    ],
    np.array_split: [call(n(5), 3), call(n(3, 5), [2], axis=1), call(n(2), 3), call(n(5), [4, 1]), call(c(3), 2)],
    np.hsplit: [call(n(4), 2), call(n(2, 4), [1]), call(n(2, 4, 2), 2), call(c(2, 2), 2)],
    np.vsplit: [call(n(4, 2), 2), call(n(4, 2), [1, 3]), call(c(2, 2), 2)],
    np.dsplit: [call(n(2, 2, 4), 2), call(n(2, 2, 4), [1])],
    runtime.unconcatenate: [
        call(n(7, 3), _three),
        call(n(2, 4), [n(2, 3), n(2, 1)], 1),
        call(n(8), [n(2), n(2, 3)], None),
        call(n(6), n(2, 3)),
        call(c(4), [c(2), c(2)]),
    ],
    runtime.unappend: [call(n(5), n(2), n(3)), call(n(2, 3), n(2, 2), n(2, 1), 1), call(n(3), 0.3, [0.4, 0.5])],
    runtime.unstack: [call(n(2, 3), [n(3), n(3)]), call(n(3, 2), [n(3), n(3)], 1), call(n(3, 2), n(2, 3), -1)],
    runtime.unvstack: [call(n(3, 3), [n(3), n(2, 3)])],
    runtime.unhstack: [call(n(5), [n(3), n(2)]), call(n(2, 4), [n(2, 3), n(2, 1)])],
    runtime.undstack: [call(n(2, 3, 3), [n(2, 3), n(2, 3, 2)]), call(n(1, 3, 2), [n(3), n(3)])],
    runtime.uncolumn_stack: [call(n(3, 3), [n(3), n(3, 2)])],
    runtime.unjoin_rows: [call(n(6), (n(3), 0.3, n(2))), call(n(3, 3), (n(2, 3), n(1, 3)))],
    runtime.unjoin_columns: [call(n(3, 3), (n(3), n(3, 2))), call(n(2, 1, 4), (n(2, 1, 3), n(2, 1, 1)))],
    runtime.unblock: [
        call(n(3, 3), [[n(2, 2), n(2, 1)], [n(1, 2), n(1, 1)]]),
        call(n(3), [0.3, n(2)]),
        call(n(2, 2), [[n(2)], [n(2)]]),
    ],
    runtime.uninsert: [
        call(n(4), n(3), 0.4, 1),
        call(n(2, 5), n(2, 3), n(2, 2), [0, 2], 1),
        call(n(8), n(2, 3), n(2), 1),
        call(n(5), n(3), 0.4, [0, 1]),
    ],
    runtime.reinsert_values: [
        call(0.4, n(3), 1),
        call(n(2, 2), n(2, 3), [0, 2], 1),
        call(n(2), n(2, 3), 1),
    ],
    runtime.uninsert_values: [
        call(n(4), n(3), 0.4, 1),
        call(n(2, 5), n(2, 3), n(2, 2), [0, 2], 1),
        call(n(8), n(2, 3), n(2), 1),
        call(n(5), n(3), 0.4, [1, 0]),
        call(n(2, 4), n(2, 3), n(2), 1, 1),
    ],
    runtime.unsplit: [
        call([n(2), n(2)], n(4), 2),
        call([n(3, 1), n(3, 2)], n(3, 3), [1], 1),
        call([n(3), n(0), n(3)], n(4), [3, 1]),
    ],
}
if hasattr(np, "row_stack"):
    SAMPLES[np.row_stack] = [call([n(3), n(2, 3)])]
if hasattr(np, "unstack"):
    SAMPLES[np.unstack] = [call(n(2, 3)), call(n(2, 3), axis=1), call(n(2, 3, 2), axis=-1), call(c(2, 2))]

#: Functions whose formula continues to complex numbers, so that a complex step is exact.
ANALYTIC: set[Callable[..., Any]] = {np.column_stack}
