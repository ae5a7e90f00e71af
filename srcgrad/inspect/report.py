"""Printing for people: tables, progress, excerpts of generated code, and median timings.

>>> print(table(("name", "value"), [("alpha", 0.54), ("beta", 0.0272)], digits=3))
name    value
alpha    0.54
beta   0.0272
"""

from __future__ import annotations

import re
import statistics
import sys
import time
from collections.abc import Callable, Iterable, Sequence
from importlib.util import find_spec
from typing import TextIO


def table(header: Sequence[str], rows: Iterable[Sequence[object]], digits: int = 4) -> str:
    """Rows as aligned text: the first column to the left, the others to the right, floats to ``digits`` digits."""
    cells = [list(header)] + [[_cell(value, digits) for value in row] for row in rows]
    widths = [max(len(row[column]) for row in cells) for column in range(len(header))]
    lines = []
    for row in cells:
        first, *others = (
            text.rjust(width) if column else text.ljust(width)
            for column, (text, width) in enumerate(zip(row, widths, strict=True))
        )
        lines.append("  ".join([first, *others]).rstrip())
    return "\n".join(lines)


def _cell(value: object, digits: int) -> str:
    return f"{value:.{digits}g}" if isinstance(value, float) else str(value)


def duration(seconds: float) -> str:
    """Seconds with a unit that keeps three digits readable.

    >>> duration(0.000371), duration(2.5), duration(0.0184)
    ('371 us', '2.5 s', '18.4 ms')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def median_seconds(call: Callable[[], object], *, rounds: int = 9, budget: float = 0.5) -> float:
    """The median time of one call, over ``rounds`` batches that together take about ``budget`` seconds."""
    begin = time.perf_counter()
    call()
    once = max(time.perf_counter() - begin, 1e-9)
    batch = max(1, int(budget / rounds / once))
    times = []
    for _ in range(rounds):
        begin = time.perf_counter()
        for _ in range(batch):
            call()
        times.append((time.perf_counter() - begin) / batch)
    return statistics.median(times)


class Progress:
    """One line that is rewritten while work goes on; where the output is no terminal, a line now and then."""

    def __init__(self, stream: TextIO | None = None, seconds: float = 2.0) -> None:
        self._stream = stream or sys.stdout
        self._live = self._stream.isatty()
        self._seconds = seconds
        self._printed = float("-inf")
        self._text = ""

    def show(self, text: str) -> None:
        """Show ``text`` in place of what was shown before."""
        self._text = text
        if self._live:
            self._stream.write(f"\r\x1b[K{text}")
            self._stream.flush()
        elif time.monotonic() - self._printed >= self._seconds:
            self._printed = time.monotonic()
            print(text, file=self._stream, flush=True)

    def close(self) -> None:
        """Leave the last text standing and end its line."""
        if self._live:
            self._stream.write("\n")
        else:
            print(self._text, file=self._stream)
        self._stream.flush()


_REVERSE = re.compile(r"    (\w+_bar\d* |for .* in reversed\(|# )")


def adjoint_excerpt(source: str, lines: int = 20) -> str:
    """The head of a generated function and the first lines of its reverse sweep, with what lies between left out.

    The reverse sweep begins where an adjoint is first made, or where a line of the user's file is first quoted.
    """
    text = source.rstrip().split("\n")
    head = next((number for number, line in enumerate(text) if line.startswith("def ")), 0)
    body = next((number for number in range(head, len(text)) if text[number].rstrip().endswith(":")), head) + 1
    start = next((number for number in range(body, len(text)) if _REVERSE.match(text[number])), body)
    excerpt = text[head:body]
    if start > body:
        excerpt.append(f"    ...  # {start - body} lines: the forward sweep")
    excerpt += text[start : start + lines]
    if len(text) > start + lines:
        excerpt.append(f"    ...  # {len(text) - start - lines} more lines")
    return "\n".join(excerpt)


def print_code(source: str, stream: TextIO | None = None) -> None:
    """Print Python text, coloured where the stream is a terminal and rich is installed."""
    stream = stream or sys.stdout
    if stream.isatty() and find_spec("rich"):
        from rich.console import Console
        from rich.syntax import Syntax

        Console(file=stream).print(Syntax(source.rstrip(), "python", background_color="default"))
    else:
        stream.write(source.rstrip() + "\n")
