"""Refusals that lie in a library, in a model or in emitted text: at the user's own line that leads there."""

from __future__ import annotations

import re
import statistics
import sys
from collections.abc import Callable

import numpy as np
import pytest
import scipy.optimize

import srcgrad
from srcgrad.errors import UnsupportedSyntax
from srcgrad.runtime.refusals import RefusedValue


class Node:
    def __init__(self, value):
        self.value, self.asked = value, 0

    def __lt__(self, other):
        self.asked = self.asked + 1
        return self.value < other.value


def in_a_model(x):
    nodes = sorted([Node(x), Node(x * x)])
    return nodes[0].value * x


def called(x):
    return ordered(x)[0].value * x


def ordered(x):
    return sorted([Node(x), Node(x * x)])


def in_emitted_text(x):
    first, *rest = x * 2.0
    rest[0] *= first
    return rest[0] * x[2]


def in_a_library(x):
    return scipy.optimize.root_scalar(lambda y: y * y - x, x0=1.0, fprime=lambda y: 2.0 * y).root


def when_it_runs(x):
    d = {"a": x, "b": 2.0}

    def key(k):
        d["n"] = 3.0
        return d[k]

    return d[max(d, key=key)]


def refused(derivative: Callable[..., object], function: Callable[..., object], x: object) -> UnsupportedSyntax:
    with pytest.raises(UnsupportedSyntax) as caught:
        derivative(function)(x)
    return caught.value


@pytest.mark.parametrize(
    ("function", "line"), [(in_a_model, "sorted([Node(x), Node(x * x)])"), (called, "sorted([Node(x), Node(x * x)])")]
)
def test_a_refusal_in_a_model_is_at_the_call(function: Callable[..., object], line: str) -> None:
    error = refused(srcgrad.grad, function, 0.5)
    assert error.code == "E0415"
    assert error.span is not None and error.span.code == line
    assert "folds" not in str(error)


def test_a_refusal_in_emitted_text_is_at_the_line_that_it_is_the_derivative_of() -> None:
    error = refused(lambda f: srcgrad.jacobian(srcgrad.grad(f)), in_emitted_text, np.array([0.5, 1.5, 2.0]))
    assert error.span is not None and error.span.filename == __file__
    assert error.span.code == "first, *rest = x * 2.0"


def test_a_refusal_in_a_library_is_at_the_users_line_which_leads_there() -> None:
    error = refused(srcgrad.grad, in_a_library, 2.0)
    assert error.span is not None and error.span.filename == __file__
    assert re.search(r"\n  which leads to \S*_root_scalar\.py:", str(error))  # its folder, where that lies below here
    assert ", in root_scalar: `locals()`\n" in str(error)


def test_a_refusal_when_the_program_runs_is_at_the_users_line() -> None:
    with pytest.raises(RefusedValue) as caught:
        srcgrad.grad(when_it_runs)(0.5)
    assert (caught.value.span.filename, caught.value.span.text.strip()) == (__file__, 'd["n"] = 3.0')
    assert str(caught.value).startswith(
        "dictionary changed size during iteration; loop over a copy, list(...) [E0402]\n"
    )


@pytest.mark.skipif(sys.version_info >= (3, 12), reason="its text is followed since Python 3.12")
def test_a_refusal_of_a_library_function_itself_is_at_its_definition() -> None:
    """It stood in the text that applies the rule."""
    with pytest.raises(UnsupportedSyntax, match="the argument 'weights' is not supported") as caught:
        srcgrad.grad(statistics.fmean)([1.0, 2.0], [1.0, 3.0])
    assert caught.value.span is not None and caught.value.span.filename == statistics.__file__
