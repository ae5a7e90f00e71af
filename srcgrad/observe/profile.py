"""Where a derivative spends time and memory, by lines of the user's program.

Enters: a compiled program and a call of it.  Leaves: a ``Profile``: for each line of the user's the time of its forward
and reverse statements, the bytes that are kept for it between the sweeps, and the peak of memory while it runs.

Times come from one clock reading before each statement; a call counts for the lines that it runs, not for the line that
calls.  Memory is what ``tracemalloc`` sees, NumPy's arrays included, above what was held when the call began; it is
measured in a second run.  Bytes that are kept count each array once, views by the memory that they hold.
"""

from __future__ import annotations

import sys
import time
import tracemalloc
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srcgrad.errors import Span
from srcgrad.observe.instrumented import observed
from srcgrad.observe.reading import Reading
from srcgrad.programs import Compiled

Place = tuple[str, int]  # file and line
_NUMBER = 24  # bytes of a Python float


@dataclass
class Cost:
    """What one line of the user's costs; seconds, passes, and bytes."""

    forward: float = 0.0
    reverse: float = 0.0
    passes: int = 0
    recorded: int = 0
    peak: int = 0

    def add(self, other: Cost) -> None:
        self.forward += other.forward
        self.reverse += other.reverse
        self.passes = max(self.passes, other.passes)
        self.recorded += other.recorded
        self.peak = max(self.peak, other.peak)


@dataclass(frozen=True)
class Profile:
    """The costs of a run by lines of the user's, and of the whole of it; ``str()`` is a table."""

    title: str
    lines: Mapping[Span, Cost]
    total: Cost
    compiled: Compiled = field(repr=False)  # what was run

    def __str__(self) -> str:
        header = ("", "forward", "reverse", "passes", "recorded", "peak", "")
        rows = [
            (span.place, seconds(c.forward), seconds(c.reverse), str(c.passes), size(c.recorded), size(c.peak),
             _line(span))
            for span, c in sorted(self.lines.items(), key=lambda pair: (pair[0].filename, pair[0].line))
        ]  # fmt: skip
        whole = self.total
        rows.append(
            ("in all", seconds(whole.forward), seconds(whole.reverse), "", size(whole.recorded), size(whole.peak), "")
        )
        widths = [max(map(len, column)) for column in zip(header, *rows)]
        lines = [self.title]
        for row in (header, *rows):
            first, *numbers, last = (
                text.ljust(w) if j in (0, len(row) - 1) else text.rjust(w)
                for j, (text, w) in enumerate(zip(row, widths))
            )
            lines.append("  ".join([first, *numbers, last]).rstrip())
        return "\n".join(lines)


    def _repr_html_(self) -> str:
        """The page of ``grad(f).annotate``, with these costs."""
        from srcgrad.observe.listing import listing
        from srcgrad.observe.page import annotation

        return annotation(listing(self.compiled, self.title, self))._repr_html_()


def profiled(compiled: Compiled, run: Callable[[Compiled], None], title: str) -> Profile:
    """The profile of a call, which ``run`` does with the functions of the program that it is given."""
    run(compiled)  # imports, caches and pages of memory are not the program's
    watched, clock = observed(compiled, _Clock)
    run(watched)
    clock.stop()
    watched, meter = observed(compiled, _Meter)
    was_tracing = tracemalloc.is_tracing()
    if not was_tracing:
        tracemalloc.start()
    try:
        meter.begin()
        run(watched)
        meter.stop()
    finally:
        if not was_tracing:
            tracemalloc.stop()
    lines: dict[Span, Cost] = {}
    at: dict[Place, Span] = {}
    for line, statement in clock.reading.statements.items():
        span = statement.span
        if span is None or not (clock.passes.get(line) or line in meter.recorded):
            continue
        span = at.setdefault((span.filename, span.line), span)
        spent = clock.spent.get(line, 0.0)
        is_reverse = statement.sweep == "adjoint"
        cost = Cost(
            0.0 if is_reverse else spent,
            spent if is_reverse else 0.0,
            clock.passes.get(line, 0),
            meter.recorded.get(line, 0),
            meter.peaks.get(line, 0),
        )
        lines.setdefault(span, Cost()).add(cost)
    total = Cost()
    for cost in lines.values():
        total.add(cost)
    total.peak = max(total.peak, meter.peak)
    return Profile(title, lines, total, compiled)


class _Silent:
    """An observer that only wants to know which statement runs, call by call."""

    def __init__(self, reading: Reading) -> None:
        self.reading = reading
        self.stack: list[int] = []
        self.line = 0

    def settle(self) -> None:
        """What happened since the last call belongs to ``line``."""

    def enter(self, line: int) -> None:
        self.settle()
        self.stack.append(self.line)
        self.line = line

    def leave(self) -> None:
        self.settle()
        self.line = self.stack.pop()

    def before(self, line: int) -> None:
        self.settle()
        self.line = line

    def again(self, line: int) -> None:
        self.settle()
        self.line = line

    def after(self, line: int) -> None:
        """A statement has run, or a pass of a loop begins."""


class _Clock(_Silent):
    """Adds up the time of each line."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self.spent: dict[int, float] = {}
        self.passes: dict[int, int] = {}
        self.since = time.perf_counter()

    def settle(self) -> None:
        now = time.perf_counter()
        self.spent[self.line] = self.spent.get(self.line, 0.0) + now - self.since
        self.since = time.perf_counter()

    def before(self, line: int) -> None:
        super().before(line)
        self.passes[line] = self.passes.get(line, 0) + 1

    def stop(self) -> None:
        self.spent.pop(0, None)  # outside of the program


class _Meter(_Silent):
    """Measures the peak of memory at each line, and what is kept."""

    def __init__(self, reading: Reading) -> None:
        super().__init__(reading)
        self.peaks: dict[int, int] = {}
        self.peak = self.base = 0
        self.recorded: dict[int, int] = {}
        self.counted: dict[int, Any] = {}  # arrays that are counted, kept alive so that no other gets their address

    def begin(self) -> None:
        tracemalloc.reset_peak()
        self.base = tracemalloc.get_traced_memory()[0]

    def settle(self) -> None:
        peak = tracemalloc.get_traced_memory()[1] - self.base
        self.peaks[self.line] = max(self.peaks.get(self.line, 0), peak)
        self.peak = max(self.peak, peak)
        tracemalloc.reset_peak()

    def before(self, line: int) -> None:
        if kept := self.reading.kept.get(line):
            held = sys._getframe(1).f_locals
            for one in kept:
                if one.name in held:
                    amount = sum(self._new(held[one.name]))
                    self.recorded[one.made] = self.recorded.get(one.made, 0) + amount
        super().before(line)

    def _new(self, value: Any) -> Iterator[int]:
        """The bytes of what a value holds and has not been counted."""
        if isinstance(value, np.ndarray):
            whole = value
            while isinstance(whole.base, np.ndarray):
                whole = whole.base
            if id(whole) not in self.counted:
                self.counted[id(whole)] = whole
                yield whole.nbytes
        elif isinstance(value, np.generic):
            yield value.nbytes
        elif isinstance(value, int | float | complex):
            yield _NUMBER
        elif isinstance(value, list | tuple | dict) and id(value) not in self.counted:
            self.counted[id(value)] = value
            for part in value.values() if isinstance(value, dict) else value:
                yield from self._new(part)

    def stop(self) -> None:
        self.counted.clear()
        self.peaks.pop(0, None)


def _line(span: Span) -> str:
    return span.text.strip().splitlines()[0] if span.text.strip() else ""


def seconds(value: float) -> str:
    """A time with three digits: ``12.3 ms``; nothing for none."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if value >= scale:
            return f"{value / scale:.3g} {unit}"
    return f"{value * 1e9:.0f} ns" if value else ""


def size(count: int) -> str:
    """Bytes with three digits: ``1.17 MiB``; nothing for none."""
    value, unit = float(count), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.3g} {unit}" if count else ""
