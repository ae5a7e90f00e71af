"""The pages of docs/eager say what happens, and the digits are learned both ways."""

from __future__ import annotations

import doctest
import re
import sys
from pathlib import Path

import numpy as np
import pytest

import srcgrad.eager
from benchmarks.eager_step import handwritten_step, step_with, weights
from tests.eager.recording import reset

ROOT = Path(__file__).resolve().parents[2]
PAGES = sorted((ROOT / "docs" / "eager").glob("*.md"))


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
@pytest.mark.costly(2, first=1)
def test_what_a_page_shows_happens(page):
    """The fences around the examples are taken off, for they would count as output."""
    text = re.sub(r"^```.*$", "", page.read_text(encoding="utf-8"), flags=re.MULTILINE)
    examples = doctest.DocTestParser().get_doctest(text, {}, page.stem, str(page), 0)
    assert examples.examples
    said: list[str] = []
    flags = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
    try:
        doctest.DocTestRunner(verbose=False, optionflags=flags).run(examples, out=said.append)
    finally:
        reset()
    assert not said, "".join(said)


def test_every_page_is_in_the_table_of_contents():
    index = (ROOT / "docs" / "eager.md").read_text(encoding="utf-8").split()
    assert {f"eager/{page.stem}" for page in PAGES} <= set(index)


@pytest.fixture
def digits(monkeypatch):
    """The example as a module."""
    for name in ("sklearn", "tqdm"):
        pytest.importorskip(name)
    monkeypatch.syspath_prepend(str(ROOT / "examples"))
    import digits

    yield digits
    del sys.modules["digits"]


def test_digits_are_learned_alike_eagerly_and_compiled(digits, capsys, tmp_path):
    arguments = ["--epochs", "3", "--hidden", "24", "--quiet"]
    picture = tmp_path / "losses.png"
    try:
        import matplotlib  # noqa: F401
    except ImportError:
        pass
    else:
        arguments += ["--plot", str(picture)]
    eager, compiled = digits.main(arguments)
    assert len(eager.losses) == len(compiled.losses) == 3 * (1437 // 32)
    np.testing.assert_allclose(eager.losses, compiled.losses, rtol=1e-9)
    assert eager.losses[0] > 2.0 and np.mean(eager.losses[-20:]) < 0.4
    assert eager.accuracy == compiled.accuracy > 0.85
    assert "apart by" in capsys.readouterr().out
    assert "--plot" not in arguments or picture.read_bytes().startswith(b"\x89PNG")


def test_the_step_that_is_timed_is_the_hand_written_one():
    by_hand, eager = handwritten_step(weights()), step_with(srcgrad.eager, weights())
    np.testing.assert_allclose([eager() for _ in range(3)], [by_hand() for _ in range(3)], rtol=1e-5)
