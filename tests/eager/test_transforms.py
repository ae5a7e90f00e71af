"""Random functions under the transforms of ``torch.func`` and ``torch.autograd``: as PyTorch, and as the compiler."""

from __future__ import annotations

import json
import linecache
from functools import cache
from typing import Any

import numpy as np
import pytest

import srcgrad
import srcgrad.eager as torch
from tests.eager.transform_answers import RECORDED, answer, digest, same
from tests.eager.transform_programs import Program, program

BY_DAY, EACH = 250, 50
REFUSED = 0.02  # of the programs that PyTorch answers


@cache
def recorded() -> list[Any]:
    """What PyTorch 2.13 answered."""
    return json.loads(RECORDED.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def assert_as_recorded(seeds: range) -> None:
    """No other number than PyTorch's; hardly anything that only PyTorch answers."""
    refused = []
    for seed in seeds:
        expected = recorded()[seed]
        found = answer(program(seed), torch)
        if isinstance(found, Exception):
            refused += [f"{seed}: {found!r}"] if expected is not None else []
        elif expected is not None:
            assert same(digest(found) or [], expected), f"{program(seed).text}\n{found}"
    assert len(refused) <= max(2, REFUSED * len(seeds)), refused


@pytest.mark.parametrize("first", range(0, BY_DAY, EACH))
@pytest.mark.costly(2)
def test_random_functions_under_transforms_answer_as_recorded(first: int) -> None:
    assert_as_recorded(range(first, first + EACH))


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(BY_DAY, 5000, 10 * EACH))
def test_more_random_functions_under_transforms_answer_as_recorded(first: int) -> None:
    assert_as_recorded(range(first, min(first + 10 * EACH, len(recorded()))))


def assert_as_compiled(made: Program) -> None:
    """The plain function, compiled, answers the same."""
    assert made.plain is not None and made.call is not None
    file = f"<plain program {made.seed}>"
    linecache.cache[file] = (len(made.plain), None, made.plain.splitlines(True), file)
    names: dict[str, Any] = {"np": np, "srcgrad": srcgrad}
    exec(compile(made.plain, file, "exec"), names)
    compiled = eval(made.call, names)
    found = answer(made, torch)
    if not isinstance(found, Exception):
        expected = [np.asarray(one) for one in (compiled if isinstance(compiled, tuple) else (compiled,))]
        assert same(digest(found) or [], digest(expected) or []), f"{made.text}\n{found}\n{compiled}"


def plain(seeds: range) -> list[Program]:
    """The programs that are also plain ones, away from kinks."""
    return [made for made in map(program, seeds) if made.plain is not None and made.generic]


@pytest.mark.parametrize("made", plain(range(100)), ids=lambda made: str(made.seed))
def test_random_functions_under_transforms_answer_as_compiled_ones(made: Program) -> None:
    assert_as_compiled(made)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(100, 5000, 490))
def test_more_random_functions_under_transforms_answer_as_compiled_ones(first: int) -> None:
    for made in plain(range(first, first + 490)):
        assert_as_compiled(made)
