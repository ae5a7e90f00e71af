"""The corpus with every loop put into ``checkpointed``: the gradients are those of the loops, or refused."""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import replace
from functools import cache
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest

import srcgrad
from tests import derivatives, oracle
from tests.checkpoints.wrapping import module_of, wrapped
from tests.corpus import FIRST
from tests.corpus.example import Case

CASES = [case for case in FIRST if not case.keywords]
#: The themes each time; at night all of them.
OFTEN = ["loops"]
THEMES = [pytest.param(t, marks=[] if t in OFTEN else pytest.mark.nightly)
          for t in dict.fromkeys(case.theme for case in CASES) if t != "closures"]  # fmt: skip


@cache
def few_states(name: str, folder: Path) -> ModuleType:
    text = Path(str(sys.modules[name].__file__)).read_text()
    return module_of(wrapped(text), "few_" + name.replace(".", "_"), folder)


def compared(case: Case, folder: Path) -> str:
    """How the gradient of a case and that of its wrapped program agree, or the code of the refusal."""
    function = getattr(few_states(case.function.__module__, folder), case.function.__name__, None)
    if function is None:  # of no module: made by another one
        return "none"
    seed = oracle.seed_like(case.function(*derivatives.fresh(case.arguments)), 1)
    value, gradients = derivatives.reverse(case, seed)
    try:
        mine, found = derivatives.reverse(replace(case, function=function), seed)
    except (srcgrad.UnsupportedSyntax, srcgrad.MissingRule) as refusal:
        assert refusal.code in ("E0122", "E0123"), (case, refusal)
        return str(refusal.code)
    chosen = derivatives.chosen(case)
    pairs = [*zip(oracle.leaves(value), oracle.leaves(mine), strict=True)]
    pairs = [pair for pair in pairs if oracle.is_inexact(pair[0])]
    pairs += zip(derivatives.numbers_like(gradients, chosen), derivatives.numbers_like(found, chosen), strict=True)
    for theirs, ours in pairs:
        np.testing.assert_allclose(ours, theirs, rtol=1e-12, atol=1e-12, err_msg=str(case))
    return "same"


@pytest.mark.parametrize("theme", THEMES)
def test_the_corpus_in_checkpointed_loops(theme, tmp_path_factory):
    folder = tmp_path_factory.mktemp(theme)
    found = Counter(compared(case, folder) for case in CASES if case.theme == theme)
    assert found["same"] > found.total() // 2, found  # of exits, where returns stand in loops, a third is refused
