"""Keywords that fit no parameter, or one that has its value already, on both roads."""

from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from srcgrad import SrcgradError, value_and_grad
from tests.roads import POINT, right


@dataclasses.dataclass
class Rate:
    a: float


@dataclasses.dataclass
class Set(Rate):
    b: float = dataclasses.field(init=False, default=3.0)
    c: float = dataclasses.field(kw_only=True, default=2.0)


class Open:
    def __init__(self, a, **others):
        self.a = a
        self.others = others

    def of(self, a, **others):
        return a


def open_function(a, **others):
    return a


def unknown_field(x):
    return Rate(x[0], foo=x[1]).a


def field_twice(x):
    return Rate(x[0], a=x[1]).a


def field_that_is_set(x):
    return Set(x[0], b=x[1]).a


def initialiser_twice(x):
    return Open(x[0], a=x[1]).a


def the_object_by_its_name(x):
    return Open(self=x[0], a=x[1]).a


def function_twice(x):
    return open_function(x[0], a=x[1])


def method_twice(x):
    return Open(x[0]).of(x[0], a=x[1])


def local_twice(x):
    def inner(a, **others):
        return a

    return inner(x[0], **{"a": x[1]})


_WRONG = [unknown_field, field_twice, field_that_is_set, initialiser_twice, the_object_by_its_name, function_twice,
          method_twice, local_twice]  # fmt: skip


@pytest.mark.parametrize("function", _WRONG)
def test_a_keyword_that_python_does_not_take_is_refused(function):
    """Once let through: one of the two values was taken."""
    with pytest.raises(TypeError):
        function(POINT)
    with pytest.raises((SrcgradError, TypeError), match="multiple val|takes no|call"):
        value_and_grad(function)(POINT.copy())


def fits(x):
    made, rate = Open(x[0], b=x[1]), Set(x[0], c=x[1])
    return made.a * made.others["b"] * np.sin(rate.c * rate.b) * open_function(x[1], b=x[0])


def test_keywords_that_fit():
    right(fits, "inferred")
