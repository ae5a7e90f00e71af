"""What runs through a dict runs through its keys: right, or refused; never the values at places that are keys too."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import grad, jvp
from srcgrad.errors import UnsupportedSyntax


def squares(x):
    d = {}
    for i, v in enumerate(x):
        d[2 - i] = v * v
    return d


def mapped(x):
    return sum(map(lambda k: k * 2.0, squares(x))) * x[0]


def zipped(x):
    return sum(k * v for k, v in zip(squares(x), [1.0, 2.0, 3.0])) * x[0]


def taken_apart(x):
    a, b, c = squares(x)
    return a * x[0] + b * x[1] + c * x[2]


def made_a_tuple(x):
    return tuple(squares(x))[0] * x[0]


@pytest.mark.parametrize("function", [mapped, zipped, taken_apart, made_a_tuple])
def test_what_reads_a_dict_by_places_is_refused(function: Callable[..., Any]) -> None:
    x = np.array([0.3, 0.4, 0.5])
    with pytest.raises(UnsupportedSyntax, match="a dict") as refusal:
        grad(function)(x)
    assert refusal.value.span is not None
    with pytest.raises(UnsupportedSyntax, match="a dict"):
        jvp(function, (x,), (x,))


def greatest(x):
    return max(squares(x)) * x[0]


def test_the_greatest_key_is_refused_when_it_is_met() -> None:
    with pytest.raises(TypeError, match="give a key, which has no derivative"):
        grad(greatest)(np.array([0.3, 0.4, 0.5]))
