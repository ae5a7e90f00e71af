"""What a hunt says at its end: how fast it was, what it met, what was refused, what it found."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator

from srcgrad.fuzz.hunt import Tally
from srcgrad.refusals import entry

ENOUGH = 5  # a pair of constructs met less often than this is named


def summary(tally: Tally, every: bool = False) -> str:
    """The whole report; ``every`` construct with its count, or the rarest."""
    return "\n".join([*_totals(tally), *_refusals(tally), *_coverage(tally, every)])


def _totals(tally: Tally) -> Iterator[str]:
    rate = tally.programs / max(tally.seconds, 1e-9)
    yield f"{tally.programs} programs in {tally.seconds:.0f} s, {rate:.1f} a second"
    yield "  " + ", ".join(f"{count} {kind}" for kind, count in tally.kinds.most_common())
    if tally.findings or tally.repeated:
        yield f"  findings: {len(tally.findings)} shrunk"
        yield from (f"    {count:5}  {key}" for key, count in tally.repeated.most_common())
    else:
        yield "  no findings"


def _refusals(tally: Tally) -> Iterator[str]:
    refused = tally.kinds["refused"]
    suitable = tally.programs - tally.kinds["unsuitable"]
    yield f"refused: {refused} of {suitable} suitable programs ({100.0 * refused / max(suitable, 1):.1f} %)"
    for code, count in tally.codes.most_common():
        known = entry(code)
        yield f"  {count:5}  {code} {'' if known is None else known.title}"
    yield "refused in some mode, by reason:"
    for reason, count in tally.refusals.most_common(40):
        yield f"  {count:5}  {reason}  (program {tally.examples[reason]})"
    if tally.without_eager:
        yield "not run eagerly:"
        yield from (f"  {count:5}  {reason}" for reason, count in tally.without_eager.most_common(10))
    if tally.unsuitable:
        yield "unsuitable:"
        yield from (f"  {count:5}  {reason}" for reason, count in tally.unsuitable.most_common(6))


def _coverage(tally: Tally, every: bool) -> Iterator[str]:
    constructs = tally.constructs
    possible = list(itertools.combinations(sorted(constructs), 2))
    often = sum(tally.pairs[pair] >= ENOUGH for pair in possible)
    met = sum(tally.pairs[pair] > 0 for pair in possible)
    yield f"coverage, in programs that agreed: {len(constructs)} constructs"
    yield f"  {met} of {len(possible)} pairs of constructs met, {often} of them at least {ENOUGH} times"
    yield "  constructs met least often:" if not every else "  constructs:"
    rows = sorted(constructs.items(), key=lambda item: item[1])
    yield from (f"  {count:6}  {construct}" for construct, count in (rows if every else rows[:12]))
    yield "  constructs most often part of a pair that was never met:"
    lonely: Counter[str] = Counter()
    for pair in possible:
        if not tally.pairs[pair]:
            lonely.update(pair)
    yield from (f"  {count:6}  {construct}" for construct, count in lonely.most_common(5))
