"""Programs in which values share spellings, or a branch that never runs binds another type: right, or refused."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad.fuzz.agreement import judge
from srcgrad.fuzz.choices import RandomChoices
from srcgrad.fuzz.grammar import WHOLE, program
from srcgrad.fuzz.plans import Check, Plan
from srcgrad.fuzz.spellings import respelled

PLAN = Plan((Check("joint"), Check("forward"), Check("joint", ("specialise",))))


def _judged(number: int) -> bool:
    """Whether the program was respelled; its derivative agrees with numbers, or is refused."""
    text = program(RandomChoices(number), WHOLE, 9).text
    made = respelled(text, RandomChoices(number))
    outcome = judge(made, PLAN)
    assert not outcome.is_finding, f"{outcome}\n{made}"
    return made != text


def test_shared_spellings_change_no_derivative() -> None:
    assert sum(map(_judged, range(6))) >= 3


@pytest.mark.nightly
def test_many_shared_spellings_change_no_derivative() -> None:
    assert sum(map(_judged, range(6, 1200))) >= 603


def test_a_loop_counts_under_the_name_of_a_parameter() -> None:
    """Without facts the adjoint of the array was a zero like the number that the loop had counted."""

    def f(a, x, y):
        total = 0.0
        for x in range(1, 3):
            total = total + np.sum(np.sin(y * x)) * a
        return total

    y = np.array([0.3, 0.4])
    with srcgrad.options(specialise=False):
        a_bar, x_bar, y_bar = srcgrad.grad(f, (0, 1, 2))(0.5, np.ones(3), y)
    np.testing.assert_allclose(a_bar, np.sum(np.sin(y) + np.sin(2.0 * y)))
    np.testing.assert_array_equal(x_bar, np.zeros(3))
    np.testing.assert_allclose(y_bar, 0.5 * (np.cos(y) + 2.0 * np.cos(2.0 * y)))


def test_no_spelling_reads_what_nobody_has_written() -> None:
    """An array that is filled from another one, and is spelt like it then, held whatever was in memory."""
    text = "import numpy as np\n\ndef f(x):\n    y = x * 1.0\n    w = np.empty(4)\n    for j in range(4):\n"
    text += "        w[j] = np.sum(y)\n    return np.sum(w)\n"
    made = {respelled(text, RandomChoices(number)) for number in range(20)}
    assert len(made) > 1 and not any("y = np.empty" in each for each in made)
