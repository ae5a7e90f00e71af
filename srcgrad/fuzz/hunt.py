"""The hunt: make programs, judge them, shrink what is found, count what was met.

Enters: how long, from which number, with how many processes.  Leaves: a ``Tally``, and a test file for each finding.
"""

from __future__ import annotations

import gc
import itertools
import os
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from multiprocessing import Pipe, Process
from multiprocessing.connection import Connection, wait
from pathlib import Path

from srcgrad.fuzz.agreement import Outcome, agree, gist, judge
from srcgrad.fuzz.choices import RandomChoices
from srcgrad.fuzz.grammar import WHOLE, Program, program
from srcgrad.fuzz.plans import Plan, given, usual
from srcgrad.fuzz.shrinking import shrink
from srcgrad.fuzz.spellings import respelled

AGAIN = 2000  # programs per process: what rules cut is kept and makes it fast


@dataclass(frozen=True)
class Hunt:
    """What to do."""

    seconds: float
    seed: int = 0
    jobs: int = 2
    features: frozenset[str] = WHOLE
    longest: int = 9  # statements of ``f``, about
    count: int | None = None  # programs, where time alone should not end it
    stop: int = 10  # findings after which it ends
    shrinking: float = 30.0  # seconds for one finding
    out: Path | None = None
    modes: tuple[str, ...] = ()  # in which every program is compared; without any, a mixture

    def plan(self, number: int) -> Plan:
        """What is asked of the program of a number."""
        return given(number, self.modes) if self.modes else usual(number)


@dataclass(frozen=True)
class Judged:
    """One program and what was made of it."""

    number: int
    outcome: Outcome
    constructs: frozenset[str]
    text: str = ""  # of a finding, or of a refusal


@dataclass(frozen=True)
class Finding:
    """A fault: the program as it was written, and shrunk."""

    number: int
    outcome: Outcome
    plan: Plan
    text: str
    small: str

    @property
    def key(self) -> str:
        return f"{self.outcome.kind} {self.outcome.check and self.outcome.check.mode} {self.outcome.place}"


@dataclass
class Tally:
    """What a hunt met."""

    kinds: Counter[str] = field(default_factory=Counter)
    unsuitable: Counter[str] = field(default_factory=Counter)
    refusals: Counter[str] = field(default_factory=Counter)
    codes: Counter[str] = field(default_factory=Counter)  # of programs that were refused, in any mode
    examples: dict[str, int] = field(default_factory=dict)  # a refusal -> the number of a program
    constructs: Counter[str] = field(default_factory=Counter)  # in programs that were compared
    pairs: Counter[tuple[str, str]] = field(default_factory=Counter)
    without_eager: Counter[str] = field(default_factory=Counter)
    findings: list[Finding] = field(default_factory=list)
    repeated: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def programs(self) -> int:
        return sum(self.kinds.values())

    def add(self, judged: Judged) -> None:
        outcome = judged.outcome
        self.kinds[outcome.kind] += 1
        if outcome.kind == "unsuitable":
            self.unsuitable[gist(outcome.detail, 6)] += 1
        self.codes.update({code for _, code, _ in outcome.refusals})
        for reason in {f"{mode}: {code} {gist(reason)}" for mode, code, reason in outcome.refusals}:
            self.refusals[reason] += 1
            self.examples.setdefault(reason, judged.number)
        if outcome.left_out:
            self.without_eager[outcome.left_out] += 1
        if outcome.kind == "agrees":
            self.constructs.update(judged.constructs)
            self.pairs.update(itertools.combinations(sorted(judged.constructs), 2))


def hunt(what: Hunt, say: Callable[[str], None]) -> Tally:
    """Judge programs until the time is over or enough is found."""
    tally, begin = Tally(), time.monotonic()
    end = begin + what.seconds
    for judged in _judged(what, end):
        tally.add(judged)
        tally.seconds = time.monotonic() - begin
        if judged.outcome.is_finding:
            _follow(what, judged, tally, say)
        if tally.programs % 500 == 0:
            say(f"{tally.programs} programs, {tally.seconds:.0f} s: {dict(tally.kinds)}")
        if len(tally.findings) >= what.stop or tally.programs == what.count:
            break
    tally.seconds = time.monotonic() - begin
    return tally


def _judged(what: Hunt, end: float) -> Iterator[Judged]:
    """Programs one after the other, with what was made of them, until the time is over."""
    blocks = itertools.count(what.seed, AGAIN)
    if what.jobs <= 1:
        for number in itertools.count(what.seed):
            if time.monotonic() >= end:
                return
            yield examine(what, number)
    for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"):
        os.environ.setdefault(name, "1")
    working = dict(_started(what, next(blocks)) for _ in range(what.jobs))
    try:
        while (left := end - time.monotonic()) > 0:
            for ready in wait([*working], timeout=left):
                assert isinstance(ready, Connection)
                try:
                    judged: Judged = ready.recv()
                except EOFError:  # its numbers are done
                    working.pop(ready).join()
                    working.update([_started(what, next(blocks))])
                    continue
                yield judged
    finally:
        for process in working.values():
            process.kill()


def _started(what: Hunt, first: int) -> tuple[Connection, Process]:
    """A process that judges the next programs, and where it says what it found."""
    here, there = Pipe(duplex=False)
    process = Process(target=_examine_many, args=(what, first, there), daemon=True)
    process.start()
    there.close()
    return here, process


def _examine_many(what: Hunt, first: int, found: Connection) -> None:
    gc.disable()  # what is imported and compiled stays: looking through it for garbage took a tenth of the time
    for number in range(first, first + AGAIN):
        if (number - first) % 50 == 0:
            gc.collect()
            gc.freeze()
        found.send(examine(what, number))


def written(what: Hunt, number: int) -> Program:
    """The program of a number; every fourth shares spellings between values."""
    made = program(RandomChoices(number), what.features, what.longest)
    if number % 4 != 3:
        return made
    return Program(respelled(made.text, RandomChoices(number)), made.constructs | {"shared spellings"})


def examine(what: Hunt, number: int) -> Judged:
    """Write and judge the program of one number."""
    made = written(what, number)
    outcome = judge(made.text, what.plan(number))
    return Judged(number, outcome, made.constructs, made.text if outcome.is_finding else "")


def _follow(what: Hunt, judged: Judged, tally: Tally, say: Callable[[str], None]) -> None:
    """Shrink a finding of a new kind, and write it as a test."""
    outcome = judged.outcome
    plan = Plan((outcome.check,) if outcome.check else (), what.plan(judged.number).moving)
    found = Finding(judged.number, outcome, plan, judged.text, judged.text)
    tally.repeated[found.key] += 1
    if tally.repeated[found.key] > (3 if outcome.kind == "mismatch" else 1):
        return
    say(f"\n# program {judged.number}: {outcome} (shrinking)")
    small = smaller(judged.text, outcome, plan, what.shrinking)
    found = Finding(judged.number, judge(small, plan), plan, judged.text, small)
    tally.findings.append(found)
    say(f"\n# program {found.number}: {found.outcome}\n{regression(found)}")
    if what.out is not None:
        what.out.mkdir(parents=True, exist_ok=True)
        (what.out / f"test_program_{found.number}.py").write_text(regression(found), encoding="utf-8")


def smaller(text: str, outcome: Outcome, plan: Plan, seconds: float) -> str:
    """The smallest program found that fails in the same way."""

    def fails(candidate: str) -> bool:
        found = judge(candidate, plan)
        return found.is_finding and found.resembles(outcome)

    return shrink(text, fails, seconds=seconds)


def regression(found: Finding) -> str:
    """A file with one test."""
    what = str(found.outcome).splitlines()[0][:100].replace('"', "'").replace("\\", "/").rstrip()
    body = found.small.rstrip().replace("\\", "\\\\")
    checks = ", ".join(repr(check) for check in found.plan.checks)
    return (
        f'"""Program {found.number} of srcgrad fuzz: {what}"""\n\n'
        f"from srcgrad.fuzz import THOROUGH, Check, Plan, agree\n\nPROGRAM = '''\n{body}\n'''\n\n\n"
        f"def test_as_found():\n    agree(PROGRAM, Plan(({checks},), {found.plan.moving}))\n\n\n"
        f"def test_in_every_mode():\n    agree(PROGRAM, THOROUGH)\n"
    )


__all__ = ["Finding", "Hunt", "Judged", "Tally", "agree", "examine", "hunt", "regression", "smaller"]
