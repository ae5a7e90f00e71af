"""Random programs of views and in-place writes: values, gradients, flags, versions and errors as PyTorch has them."""

from __future__ import annotations

from functools import cache
from typing import Any

import pytest

import srcgrad.eager as torch
from tests.eager.view_answers import SHOWN, answers, difference, digest, recorded
from tests.eager.view_programs import draw

EACH = 50


@cache
def expected() -> dict[str, Any]:
    """What is recorded."""
    return recorded()


@pytest.mark.parametrize("first", range(0, SHOWN, EACH))
@pytest.mark.costly(2, first=1)
def test_views_and_writes_answer_as_recorded(first: int) -> None:
    for seed in range(first, first + EACH):
        theirs = expected()["answers"][seed]
        if theirs is not None:
            program = draw(seed)
            assert answers(program, torch) == theirs, f"{seed}:\n{program.text()}"


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(SHOWN, 5000, 10 * EACH))
def test_more_views_and_writes_answer_as_recorded(first: int) -> None:
    digests = expected()["digests"].split()
    for seed in range(first, min(first + 10 * EACH, len(digests))):
        program = draw(seed)
        if digests[seed] != "-":
            found = answers(program, torch)
            assert digest(found) == digests[seed], f"{seed}:\n{program.text()}\n" + "\n".join(found)


def assert_as_numbers(seeds: range) -> None:
    """The gradients of programs that detach nothing are the slopes of their numbers."""
    for seed in seeds:
        program = draw(seed)
        assert difference(program, torch) is None, f"{seed}:\n{program.text()}"


def test_gradients_through_views_and_writes_are_slopes() -> None:
    assert_as_numbers(range(SHOWN // 2))


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(SHOWN // 2, 20_000, 500))
def test_more_gradients_through_views_and_writes_are_slopes(first: int) -> None:
    assert_as_numbers(range(first, first + 500))
