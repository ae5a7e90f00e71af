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


def fuzz(copy: Path, *options: str) -> subprocess.CompletedProcess[str]:
    """``srcgrad fuzz`` of a copy of the package."""
    command = [sys.executable, "-B", "-W", "ignore", "-m", "srcgrad", "fuzz", *options]
    environment = os.environ | {"PYTHONPATH": str(copy), "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=copy, env=environment, capture_output=True, text=True, check=False)


def found(copy: Path, minutes: float, jobs: int, seed: int, clean: Path | None = None) -> str | None:
    """The first finding of a hunt in the copy, or None; nothing that the ``clean`` package shows as well."""
    end = time.monotonic() + 60.0 * minutes
    while (left := end - time.monotonic()) > 0.0:
        times = ("--minutes", str(left / 60.0), "--jobs", str(jobs), "--seed", str(seed))
        done = fuzz(copy, *times, "--stop", "1", "--shrink", "0")
        if done.returncode == 0:
            return None
        first = re.search(r"^# program (\d+): .*$", done.stdout, flags=re.MULTILINE)
        if first is None:
            return f"status {done.returncode}: {(done.stdout + done.stderr)[-300:]}"
        if clean is None or fuzz(clean, "--print", first[1]).returncode == 0:
            return first[0][2:]
        seed = int(first[1]) + 1
    return None


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
    with copied() as copy, copied() as clean:
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
            seen = found(copy, options.minutes, options.jobs, options.seed, clean)
            (copy / "srcgrad" / fault.file).write_text(original, encoding="utf-8")
            missed += seen is None
            seconds = time.monotonic() - begin
            what = "found" if seen else "NOT FOUND"
            print(f"{what:10}{fault.name:58}{seconds:5.0f} s   {(seen or '')[:90]}", flush=True)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
