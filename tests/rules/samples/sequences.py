"""Sequences that are joined and repeated, dicts of computed keys."""

from __future__ import annotations

import copy
from collections import deque
from collections.abc import Callable
from typing import Any

from srcgrad import runtime
from tests.rules.samples.calls import Call, Draws, call

draws = Draws(79)
n = draws.n

SAMPLES: dict[Callable[..., Any], list[Call]] = {
    runtime.joined: [call([0.3, n(2)], [0.1]), call((0.3, 0.2), (n(2),))],
    runtime.unjoined: [call([0.3, 0.4, 0.5], [0.1], [0.2, 0.7])],
    runtime.repeated: [call([0.3, n(2)], 3), call((0.3, 0.4), 2)],
    runtime.unrepeated: [call([0.3, 0.4, 0.5, 0.6], [0.1, 0.2], 2)],
    runtime.keyed: [call(["a", "b", "c"], [0.3, n(2), 0.1])],
    runtime.unkeyed: [call({"a": 0.3, "b": n(2)}, ["a", "b"])],
    runtime.from_pairs: [call([("a", 0.3), ("b", n(2))])],
    runtime.unpairs: [
        call({"a": 0.3, "b": n(2)}, [("a", 0.1), ("b", n(2))]),
        call({0: 0.3, 1: n(2)}, [(0, 0.1), (1, n(2))], like=[(None, 0.2), None]),
    ],
    runtime.repairs: [call([(None, 0.3), (None, n(2))], ((0, None), (1, None)))],
    copy.copy: [call([0.3, n(2), 0.1]), call(n(3)), call({"a": 0.3, "b": n(2)}), call((n(2), 0.4)), call(0.7)],
    copy.deepcopy: [call([0.3, n(2), 0.1]), call(n(2, 3)), call({"a": (0.3,), "b": n(2)}), call(0.7)],
    deque: [call([0.3, n(2), 0.1], 2), call([n(2), 0.4])],
    tuple: [call([0.3, n(2), 0.1]), call(n(3)), call((n(2), 0.4))],
    runtime.unqueue: [call([0.3, 0.4], [0.1, 0.3, 0.2]), call([n(2)], [n(2)])],
    runtime.merged: [call({"a": 0.3, "b": n(2)}, {"c": 0.1}), call({"a": 0.3}, {"a": 0.5, "b": 0.2})],
    runtime.remerged: [call([{"a": 0.3}, {"b": 0.4, "a": 0.7}], {"a": 0.1}, {"b": 0.2, "a": 0.5})],
    runtime.unmerged: [call({"a": 0.3, "b": 0.4}, {"a": 0.1}, {"b": 0.2})],
    runtime.union: [call({"a": 0.3, "b": n(2)}, {"c": 0.1}), call({"a": 0.3}, {"a": 0.5, "b": 0.2})],
}
ANALYTIC: set[Callable[..., Any]] = set()
