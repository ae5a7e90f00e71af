"""``python -m tests.installed``: the table of verdicts, then the totals, refusals by code and reason."""

from __future__ import annotations

import argparse
import sys
from collections import Counter

from srcgrad.refusals import entries
from tests.installed.judge import judge
from tests.installed.table import ENTRIES


def main(argv: list[str] | None = None) -> int:
    """Status 1 where a gradient is wrong or the compiler failed."""
    parser = argparse.ArgumentParser(prog="python -m tests.installed", description=__doc__)
    parser.add_argument("--only", default="", metavar="TEXT", help="functions whose name contains TEXT")
    parser.add_argument("--verbose", action="store_true", help="print each refusal and failure in full")
    options = parser.parse_args(argv)
    verdicts = []
    for entry in ENTRIES:
        if options.only in entry.name:
            verdict = judge(entry)
            verdicts.append(verdict)
            print(f"{verdict.kind:8} {entry.name:60} {verdict.why[:140]}", flush=True)
            if options.verbose and verdict.text:
                print(verdict.text)
    counts = Counter(verdict.kind for verdict in verdicts)
    print(f"\n{len(verdicts) - counts['absent']} functions:", end=" ")
    print(", ".join(f"{counts[kind]} {kind}" for kind in ("right", "refused", "wrong", "crash", "absent")))
    refused = [verdict for verdict in verdicts if verdict.kind == "refused"]
    print("\nrefused because")
    for code, count in Counter(verdict.code for verdict in refused).most_common():
        print(f"{count:4}  {code} {entries()[code].title if code in entries() else ''}")
        for why, times in Counter(verdict.why for verdict in refused if verdict.code == code).most_common():
            print(f"      {times:4}  {why}")
    return 1 if counts["wrong"] or counts["crash"] else 0


if __name__ == "__main__":
    sys.exit(main())
