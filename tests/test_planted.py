"""The faults of ``tests/planted`` can still be planted, and (nightly) each turns the suite red."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.planted.__main__ import ROOT
from tests.planted.faults import FAULTS, Fault
from tests.planted.memory_faults import FAULTS as MEMORY_FAULTS

PLANTED = (*FAULTS, *MEMORY_FAULTS)


@pytest.mark.parametrize("fault", [pytest.param(fault, id=fault.name.replace(" ", "-")) for fault in PLANTED])
def test_can_be_planted(fault: Fault):
    text = (ROOT / "srcgrad" / fault.file).read_text(encoding="utf-8")
    assert text.count(fault.old) == 1
    compile(text.replace(fault.old, fault.new), fault.file, "exec")


@pytest.mark.nightly
@pytest.mark.skipif("not config.getoption('-m')", reason="run with -m nightly")
def test_each_turns_the_suite_red():
    command = [sys.executable, "-m", "tests.planted"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout
