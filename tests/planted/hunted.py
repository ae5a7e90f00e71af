"""``python -m tests.planted.hunted``: plant each fault of memory and let random programs find it.

    python -m tests.planted.hunted                      all of them, up to five minutes for each
    python -m tests.planted.hunted --only tangent       those whose name contains the word
    python -m tests.planted.hunted --minutes 1 --jobs 1

Prints for each fault the program that showed it and after how long.  Exit status 1 when one is not found or cannot be
planted, or when something is found without any.
"""

from __future__ import annotations

import argparse
import os
import re
import subprocess
import sys
import time
from pathlib import Path

from tests.planted.__main__ import copied, plant
from tests.planted.memory_faults import FAULTS


def found(copy: Path, minutes: float, jobs: int, seed: int) -> str | None:
    """What the first finding of a hunt in the copy is, or None."""
    command = [sys.executable, "-B", "-W", "ignore", "-m", "srcgrad", "fuzz", "--stop", "1", "--shrink", "0"]
    command += ["--minutes", str(minutes), "--jobs", str(jobs), "--seed", str(seed)]
    environment = os.environ | {"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"}
    done = subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)
    if done.returncode == 0:
        return None
    first = re.search(r"^# (program \d+: .*)$", done.stdout, flags=re.MULTILINE)
    return first[1] if first else f"status {done.returncode}: {(done.stdout + done.stderr)[-300:]}"


def main() -> int:
    """Plant, hunt, report."""
    parser = argparse.ArgumentParser(prog="python -m tests.planted.hunted", description=__doc__.splitlines()[0])
    parser.add_argument("--only", default="", help="plant the faults whose name contains this")
    parser.add_argument("--minutes", type=float, default=5.0, help="for each fault (default: 5)")
    parser.add_argument("--jobs", type=int, default=2, help="processes (default: 2)")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first program (default: 0)")
    parser.add_argument("--skip-clean", action="store_true", help="do not hunt first without any fault")
    options = parser.parse_args()
    missed = 0
    with copied() as copy:
        if not options.skip_clean:
            seen = found(copy, min(options.minutes, 1.0), options.jobs, options.seed)
            if seen is not None:
                print(f"something is found without any fault: {seen}")
                return 1
            print("without a fault: nothing is found", flush=True)
        for fault in (fault for fault in FAULTS if options.only in fault.name):
            begin = time.monotonic()
            try:
                original = plant(fault, copy)
            except LookupError as error:
                print(f"CANNOT BE PLANTED  {error}", flush=True)
                missed += 1
                continue
            seen = found(copy, options.minutes, options.jobs, options.seed)
            (copy / "srcgrad" / fault.file).write_text(original, encoding="utf-8")
            missed += seen is None
            seconds = time.monotonic() - begin
            print(f"{'found' if seen else 'NOT FOUND':10}{fault.name:58}{seconds:5.0f} s   {(seen or '')[:90]}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
