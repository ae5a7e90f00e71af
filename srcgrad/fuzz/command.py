"""``srcgrad fuzz``: hunt for programs whose derivative is wrong."""

from __future__ import annotations

import argparse
import os

from srcgrad.fuzz.agreement import judge
from srcgrad.fuzz.grammar import FEATURES
from srcgrad.fuzz.hunt import Hunt, hunt, written
from srcgrad.fuzz.plans import MODES
from srcgrad.fuzz.report import summary


def run(options: argparse.Namespace) -> int:
    """The command; 1 when anything was found."""
    os.environ.setdefault("SRCGRAD_TRACEBACK", "full")  # findings name places of ours; some refusals are told by them
    left_out = set(filter(None, options.without.split(",")))
    if unknown := left_out - set(FEATURES):
        raise SystemExit(f"srcgrad fuzz: --without takes {', '.join(FEATURES)}, found {', '.join(sorted(unknown))}")
    features = frozenset(FEATURES) - left_out
    modes = tuple(filter(None, options.modes.split(",")))
    if unknown := set(modes) - set(MODES):
        raise SystemExit(f"srcgrad fuzz: --modes takes {', '.join(MODES)}, found {', '.join(sorted(unknown))}")
    what = Hunt(
        seconds=60.0 * options.minutes,
        seed=options.seed,
        jobs=options.jobs,
        features=features,
        longest=options.longest,
        count=options.count,
        stop=options.stop,
        shrinking=options.shrink,
        out=options.out,
        modes=modes,
    )
    if options.number is not None:
        made = written(what, options.number)
        outcome = judge(made.text, what.plan(options.number))
        print(made.text)
        print(f"# {outcome}", *(f"\n# {mode}: {reason} [{code}]" for mode, code, reason in outcome.refusals))
        return int(outcome.is_finding)
    tally = hunt(what, lambda line: print(line, flush=True))
    print(summary(tally, options.every))
    return int(bool(tally.repeated))
