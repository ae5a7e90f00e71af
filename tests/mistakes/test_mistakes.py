"""What a newcomer is told: typical mistakes, and the exact texts that a terminal and a notebook show of them.

``programs/NN_name.py`` says in its first line what its user did; ``terminal/NN_name.txt`` and ``notebook/NN_name.txt``
hold what is printed.  ``pytest tests/mistakes --bless`` writes the texts again.
"""

from __future__ import annotations

import importlib.util
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.mistakes.shown import HERE, PROGRAMS, how, run_by_name

_HAS_IPYTHON = importlib.util.find_spec("IPython") is not None
NOTEBOOK = pytest.mark.skipif(not _HAS_IPYTHON, reason="IPython is not installed (extra: test)")


@pytest.mark.slow
@pytest.mark.parametrize("where", ["terminal", pytest.param("notebook", marks=NOTEBOOK)])
def test_what_is_shown(where: str, bless: bool, tmp_path: Path) -> None:
    environment = {k: v for k, v in os.environ.items() if not k.startswith("SRCGRAD_")} | {"IPYTHONDIR": str(tmp_path)}
    run = subprocess.run(
        [sys.executable, "-m", "tests.mistakes.shown", where],
        capture_output=True, text=True, timeout=300, env=environment, cwd=HERE.parent.parent,
    )  # fmt: skip
    assert run.returncode == 0, run.stderr
    shown = json.loads(run.stdout)
    if bless:
        for name, text in shown.items():
            (HERE / where / f"{name}.txt").write_text(text, encoding="utf-8")
    expected = {name: (HERE / where / f"{name}.txt").read_text(encoding="utf-8") for name in shown}
    assert shown == expected
    assert len(shown) >= 50


@pytest.mark.nightly
@pytest.mark.parametrize("path", [path for path in PROGRAMS if how(path) is None], ids=lambda path: path.stem)
def test_a_process_prints_the_same(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("SRCGRAD_CHECK", "SRCGRAD_TRACEBACK"):
        monkeypatch.delenv(name, raising=False)
    expected = (HERE / "terminal" / f"{path.stem}.txt").read_text(encoding="utf-8")
    found = run_by_name(path)
    # A stream that is no terminal is written when it is full: what is printed and what is warned of may change places.
    assert sorted(found.splitlines()) == sorted(expected.splitlines())


def test_every_text_has_its_program() -> None:
    names = {path.stem for path in PROGRAMS}
    assert {path.stem for path in (HERE / "terminal").glob("*.txt")} == names
    assert {path.stem for path in (HERE / "notebook").glob("*.txt")} <= names
