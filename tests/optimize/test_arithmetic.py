"""Two negations are none, of adjoints that a reverse sweep is given as well."""

from __future__ import annotations

import pytest

from srcgrad.optimize.passes import optimize
from srcgrad.syntax.parse import parse
from tests.optimize.running import body

SWEEP = "def g(saved, y_bar):\n    t, u = saved\n    return {}\n"


@pytest.mark.parametrize(
    "before, after",
    [
        ("-(-y_bar * t / u)", "y_bar * t / u"),
        ("t - -y_bar * u", "t + y_bar * u"),
        ("-(-t * u)", "-(-t * u)"),  # which may be unsigned
        ("1.0 * y_bar", "1.0 * y_bar"),  # and this whole
    ],
)
def test_negations_of_a_parameter(before, after):
    made = optimize(parse(SWEEP.format(before)).body[0], frozenset(), cotangents=frozenset({"y_bar"}))
    assert body(made).splitlines()[-1] == f"return {after}"
