"""Variables that have no value where they are read, whatever the data."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import SrcgradError, options, value_and_grad


def read_after_del(x):
    v = x[0]
    del v
    return v  # noqa: F821


def captured_by_a_pattern_that_fails(x):
    ys = [x[0], x[1], x[0]]
    match ys:
        case [p, _]:
            r = p
    return r * x[0]


@pytest.mark.parametrize(
    ("function", "error", "words"),
    [
        (read_after_del, SrcgradError, "the variable 'v' has no value any more here"),
        (captured_by_a_pattern_that_fails, UnboundLocalError, "'r'"),
    ],
)
def test_a_variable_without_a_value_is_named(function, error, words):
    """Once a NameError of a name that the compiler had made, or that is no variable of the emitted module."""
    x = np.array([2.0, 1.0])
    with pytest.raises(UnboundLocalError):
        function(x)
    with options(infer_first=True), pytest.raises(error, match=words):
        value_and_grad(function)(x)
