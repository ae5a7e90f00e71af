"""Sums and multiples keep the structure of results."""

from __future__ import annotations

from collections import deque
from types import SimpleNamespace

import numpy as np
import pytest

from srcgrad.parallel.structure import added, over, times
from tests.parallel.losses import Layer, Pair, bits

RESULTS = [
    1.5,
    np.float64(1.5),
    np.float32(1.5),
    1.0 + 2j,
    np.array(1.5),
    np.array([1.0, 2.0], np.float32),
    (1.0, [2.0, None], {"a": np.ones(2)}),
    deque([1.0, 2.0], maxlen=3),
    Pair(1.0, np.ones(2)),
    Layer(np.ones(2), 0.5),
    SimpleNamespace(a=1.0, b=None),
    None,
]


@pytest.mark.parametrize("result", RESULTS, ids=repr)
def test_twice_a_result_is_its_sum_with_itself(result):
    assert bits(added(result, result)) == bits(times(result, 2.0))
    assert bits(over(times(result, 2.0), 2.0)) == bits(result)


def test_operands_are_left_as_they_are():
    left, right = {"w": np.ones(2)}, {"w": np.ones(2)}
    total = added(left, right)
    assert left["w"].tolist() == right["w"].tolist() == [1.0, 1.0] and total["w"].tolist() == [2.0, 2.0]


@pytest.mark.parametrize(
    ("left", "right", "text"),
    [
        (np.ones(2), np.ones(3), r"shapes \(2,\) and \(3,\) differ"),
        ({"w": [1.0, np.ones(2)]}, {"w": [1.0, 2.0]}, r"shapes \(2,\) and \(\) differ at \['w'\]\[1\]"),
        ((1.0,), (1.0, 2.0), "lengths 1 and 2 differ"),
        ({"a": 1.0}, {"b": 1.0}, r"keys \['a'\] and \['b'\] differ"),
        (None, np.ones(2), r"one is None, the other an array of shape \(2,\)"),
        ("a", "b", "a str cannot be added"),
        (SimpleNamespace(a=1.0), SimpleNamespace(b=1.0), r"fields \['a'\] and \['b'\] differ"),
    ],
)
def test_unlike_results_are_refused(left, right, text):
    with pytest.raises(ValueError, match=f"^{text}$"):
        added(left, right)
