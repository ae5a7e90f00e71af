"""Parameters of tests that run over the corpus: readable names, and what waits for the night."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pytest

from tests.corpus.example import Case


def cases(chosen: Iterable[Case]) -> list[Any]:
    """Every program at every run."""
    return [pytest.param(case, id=f"{case.theme}-{case.name}") for case in chosen]


def some_by_day(chosen: Iterable[Case], every: int) -> list[Any]:
    """One program of so many at every run, the others at night (``pytest -m nightly``)."""
    return [
        pytest.param(case, id=f"{case.theme}-{case.name}", marks=pytest.mark.nightly if k % every else ())
        for k, case in enumerate(chosen)
    ]
