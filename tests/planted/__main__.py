"""``python -m tests.planted``: plant each fault in a temporary copy and run a fast part of the suite.

    python -m tests.planted                     all of them, after one run without a fault, which must be green
    python -m tests.planted --only break        those whose name contains the word

Prints for each fault the first test that turned red.  Exit status 1 when a fault stays green, cannot be planted, or the
suite is red without any.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.planted.faults import FAULTS, Fault

ROOT = Path(__file__).parent.parent.parent
DIRECTED = ["tests/test_corpus.py", "-k", "(test_reverse or test_joint) and (directed or exits or loops or survive)"]
RANDOM = ["tests/test_generated.py", "-k", "test_random_program", "--hypothesis-profile=planted"]


@contextmanager
def copied() -> Iterator[Path]:
    """A copy of the package and its tests."""
    with tempfile.TemporaryDirectory() as folder:
        copy = Path(folder)
        for name in ("srcgrad", "tests"):
            shutil.copytree(ROOT / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", copy)
        yield copy


def plant(fault: Fault, copy: Path) -> str:
    """Put the fault in; returns the text that was there."""
    path = copy / "srcgrad" / fault.file
    text = path.read_text(encoding="utf-8")
    if text.count(fault.old) != 1:
        raise LookupError(f"{fault.file} holds the text of {fault.name!r} {text.count(fault.old)} times, not once")
    path.write_text(text.replace(fault.old, fault.new), encoding="utf-8")
    return text


def first_red(copy: Path, selection: list[str]) -> str | None:
    """The first test that fails, or None."""
    command = [sys.executable, "-B", "-m", "pytest", "-x", "-q", "-m", "", "-p", "no:cacheprovider", *selection]
    environment = os.environ | {"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    found = re.search(r"^(?:FAILED|ERROR) (\S+)", done.stdout, flags=re.MULTILINE)
    return found[1] if found else f"pytest ended with status {done.returncode}: {(done.stdout + done.stderr)[-400:]}"


def main() -> int:
    """Plant, run, report."""
    parser = argparse.ArgumentParser(prog="python -m tests.planted", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="plant the faults whose name contains this")
    parser.add_argument("--random-only", action="store_true", help="let the random programs alone find them")
    options = parser.parse_args()
    selections = [RANDOM] if options.random_only else [DIRECTED, RANDOM]
    missed = 0
    with copied() as copy:
        for selection in selections:
            red = first_red(copy, selection)
            if red is not None:
                print(f"the suite is red without any fault: {red}")
                return 1
        print("without a fault: green")
        for fault in (fault for fault in FAULTS if options.only in fault.name):
            begin = time.monotonic()
            try:
                original = plant(fault, copy)
            except LookupError as error:
                print(f"CANNOT BE PLANTED  {error}")
                missed += 1
                continue
            red = next((red for selection in selections if (red := first_red(copy, selection)) is not None), None)
            (copy / "srcgrad" / fault.file).write_text(original, encoding="utf-8")
            missed += red is None
            seconds = time.monotonic() - begin
            print(f"{'red' if red else 'STAYED GREEN':14}{fault.name:50}{seconds:6.0f} s   {red or ''}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
