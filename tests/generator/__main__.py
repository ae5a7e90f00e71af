"""``python -m tests.generator``: hunt for programs whose derivative is wrong or refused.

    python -m tests.generator --count 5000 --seed 0 --modes reverse,pair,forward --settings optimised,plain

Plain random, faster than hypothesis.  A program that fails is shrunk and printed as a ready regression test.  Exit
status 1 when anything was found.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from multiprocessing import Pool

from tests.generator import MODES, SETTINGS, RandomChoices, Unsuitable, Verdict, judge, program, shrink


def regression(text: str, verdict: Verdict, origin: str) -> str:
    """A test to paste into tests/test_generated.py."""
    name = "".join(c if c.isalnum() else "_" for c in origin)
    body = "".join(f"    {line}".rstrip() + "\n" for line in text.rstrip().splitlines())
    return f'def test_{name}():\n    """{verdict.kind} in {verdict.mode}."""\n    agree("""\n{body}    """)\n'


def examine(task: tuple[int, tuple[str, ...], tuple[str, ...], float]) -> tuple[int, str, str, Verdict | None]:
    """(number, text, shrunk text, verdict) of one program; an empty text when it is unsuitable."""
    number, modes, settings, seconds = task
    text = program(RandomChoices(number))
    try:
        verdict = judge(text, modes, settings)
    except Unsuitable:
        return number, "", "", None
    if verdict is None or seconds <= 0:
        return number, text, text, verdict
    mode = (verdict.mode.split(",")[0],)
    setting = (verdict.mode.split(", ")[1],)

    def fails(candidate: str) -> bool:
        try:
            found = judge(candidate, mode, setting)
        except Unsuitable:
            return False
        return found is not None and found.resembles(verdict)

    small = shrink(text, fails, seconds=seconds)
    try:
        return number, text, small, judge(small, mode, setting) or verdict
    except Unsuitable:
        return number, text, small, verdict


def main() -> int:
    """The hunt."""
    parser = argparse.ArgumentParser(prog="python -m tests.generator", description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=1000, help="how many programs (default: 1000)")
    parser.add_argument("--seed", type=int, default=0, help="the number of the first program (default: 0)")
    parser.add_argument("--modes", default="reverse,pair,forward", help=f"of {', '.join(MODES)}")
    parser.add_argument("--settings", default="optimised", help=f"of {', '.join(SETTINGS)}")
    parser.add_argument("--jobs", type=int, default=1, help="processes (default: 1)")
    parser.add_argument("--shrink", type=float, default=60.0, help="seconds for shrinking one program (default: 60)")
    parser.add_argument("--stop", type=int, default=10, help="stop after so many findings (default: 10)")
    parser.add_argument("--print", action="store_true", dest="show", help="print the programs instead of judging them")
    options = parser.parse_args()
    numbers = range(options.seed, options.seed + options.count)
    if options.show:
        for number in numbers:
            print(f"# --- program {number}\n{program(RandomChoices(number))}")
        return 0
    modes, settings = tuple(options.modes.split(",")), tuple(options.settings.split(","))
    for chosen, known in ((modes, MODES), (settings, SETTINGS)):
        if unknown := set(chosen) - set(known):
            parser.error(f"unknown: {', '.join(sorted(unknown))}; known: {', '.join(known)}")

    begin = time.monotonic()
    seen: Counter[str] = Counter()
    tasks = ((number, modes, settings, options.shrink) for number in numbers)
    with Pool(options.jobs) as pool:
        for number, text, small, verdict in pool.imap_unordered(examine, tasks, chunksize=4):
            if not text:
                seen["unsuitable"] += 1
            elif verdict is None:
                seen["agree"] += 1
            else:
                seen[verdict.kind] += 1
                print(f"\n# program {number}: {verdict}\n{regression(small, verdict, f'program_{number}')}", flush=True)
            found = sum(seen.values()) - seen["unsuitable"] - seen["agree"]
            if found >= options.stop:
                pool.terminate()
                break
            if sum(seen.values()) % 250 == 0:
                print(f"{sum(seen.values())} programs, {time.monotonic() - begin:.0f} s: {dict(seen)}", flush=True)
    print(f"{sum(seen.values())} programs in {time.monotonic() - begin:.0f} s: {dict(seen)}")
    return 1 if set(seen) - {"agree", "unsuitable"} else 0


if __name__ == "__main__":
    sys.exit(main())
