"""The main oracle of the front end: a program's normal form, executed, does what the program does."""

from __future__ import annotations

import copy
import warnings

import numpy as np
import pytest

from srcgrad import grad
from srcgrad.errors import UnsupportedSyntax
from tests.frontend.programs import PROGRAMS
from tests.frontend.running import bare, check, printed
from tests.normal_forms import normal_form
from tests.parameters import share_by_day

#: What is not followed where nothing is said of the arguments.
REFUSED = (
    "comprehensions_in_odd_places", "deep_closures", "lambda_in_comprehension", "nested_local_functions",
    "partial_applications", "star_parameters", "variadic_calls",
)  # fmt: skip
#: Over the keys of a dict: refused when the program runs, by a check that stands in the compiled program.
OVER_KEYS = ("over_dict", "over_globals")
CASES = [
    pytest.param(function, call, id=f"{function.__name__}-{number}")
    for function, calls in PROGRAMS
    if function.__name__ not in REFUSED
    for number, call in enumerate(calls)
]


def same(a, b):
    if isinstance(a, tuple | list):
        return type(a) is type(b) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    return type(a) is type(b) and np.array_equal(a, b)


@pytest.mark.parametrize(
    ("function", "call", "run"),
    [
        *(pytest.param(*case.values, printed, id=f"{case.id}-printed") for case in CASES),
        *share_by_day([
            pytest.param(*case.values, bare, id=f"{case.id}-bare")
            for case in CASES if case.values[0].__name__ not in OVER_KEYS
        ], 3),
    ],
)
def test_the_normal_form_does_what_the_program_does(function, call, run, capsys):
    lowered = run(check(normal_form(function)))
    expected = outcome(function, call)
    printed_by_program = capsys.readouterr().out
    assert same(outcome(lowered, call), expected)
    assert capsys.readouterr().out == printed_by_program


@pytest.mark.parametrize("function", [function for function, _ in PROGRAMS if function.__name__ in REFUSED])
def test_what_is_not_followed_is_refused(function):
    with pytest.raises(UnsupportedSyntax):
        _ = grad(function).source


def outcome(function, call):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return function(*copy.deepcopy(call))
        except (ArithmeticError, ValueError) as error:
            return type(error).__name__, str(error)
