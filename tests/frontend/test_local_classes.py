"""Classes inside of functions: which are made once, and which each call would make anew, so that they are refused."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import UnsupportedSyntax


def asked(v, other=None):
    class Part:
        def __init__(self, v):
            self.v = v

    if other is not None and isinstance(other, Part):
        v = v * 9.0
    return Part(v)


def of_another_call(x):
    first = asked(x[0])
    return asked(x[1], first).v * first.v


def made_in_a_loop(x):
    total, old = 0.0, None
    for k in range(2):

        class Part:
            def __init__(self, v):
                self.v = v

        part = Part(x[k])
        total = total + (part.v if old is None or isinstance(part, type(old)) else 5.0 * part.v)
        old = part
    return total


def bound_again(x):
    class Part:
        rate = 2.0

    Part = x[0]
    return Part * x[1]


@pytest.mark.parametrize("function", [of_another_call, made_in_a_loop, bound_again])
def test_a_class_that_is_another_at_each_call_is_refused(function):
    """Once wrong in silence: ``isinstance`` said yes of an object that another call, or another turn, had made."""
    with pytest.raises(UnsupportedSyntax):
        srcgrad.grad(function)(np.array([1.0, 2.0]))
