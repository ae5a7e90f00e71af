"""Spans, the caret under the user's own line, and every exception that srcgrad raises on purpose.

Enters: a reason in plain words and the place in the user's file.  Leaves: an exception whose text points at that place.

>>> span = Span("model.py", "step", 42, 4, 42, 13, "    yield err")
>>> print(SrcgradError("a generator cannot be reversed", span, code="E0102", label="it yields", hint="return a list"))
a generator cannot be reversed [E0102]
  model.py:42, in step
    42 |     yield err
       |     ^^^^^^^^^ it yields
  hint: return a list
"""

from __future__ import annotations

import os
import sys
import unicodedata
from dataclasses import dataclass

_WIDTH = 104  # columns of the user's text that are shown; a longer line is cut around what is underlined
_TAB = 4
_SHOWN = 60  # of the line of a library that the user's leads to


@dataclass(frozen=True)
class Span:
    """A place in a source file: lines from 1, columns from 0 in characters, ``text`` the lines from first to last.

    A compound statement is placed at its header, so that ``text`` never holds a body.
    """

    filename: str
    function: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    caller: Span | None = None  # the call, where what it calls is written out in its place

    @classmethod
    def unknown(cls) -> Span:
        """The place of a node that no user wrote."""
        return cls("<unknown>", "<unknown>", 0, 0, 0, 0, "")

    @property
    def known(self) -> bool:
        return self.line > 0

    @property
    def file(self) -> str:
        """The file name as messages show it: relative to the working directory, else the last component."""
        if self.filename.startswith("<") or not os.path.isabs(self.filename):
            return self.filename
        relative = os.path.relpath(self.filename) if _same_drive(self.filename) else self.filename
        return os.path.basename(self.filename) if relative.startswith((os.pardir, os.sep)) else relative

    @property
    def place(self) -> str:
        """``models/model.py:42``, or ``Cell In[3], line 2``, as messages and notes on exceptions say it."""
        if (cell := _cell(self.filename)) is not None:
            return f"{cell}, line {self.line}" if self.known else cell
        return f"{self.file}:{self.line}" if self.known else self.file

    @property
    def base(self) -> str:
        """The last component of the file name, as emitted code says it: the same from every working directory."""
        return self.filename if self.filename.startswith("<") else os.path.basename(self.filename)

    @property
    def origin(self) -> str:
        """``model.py:42``, as emitted code says it."""
        return f"{self.base}:{self.line}" if self.known else self.base

    @property
    def seen(self) -> str:
        """``model.py:42``, or ``Cell In[3], line 2``, as text that is shown and not kept says it."""
        return self.origin if _cell(self.filename) is None else self.place

    @property
    def code(self) -> str:
        """The text under the carets, on one line."""
        lines = self.text.split("\n")
        lines[-1] = lines[-1][: self.end_column] if self.end_line > self.line or self.end_column else lines[-1]
        lines[0] = lines[0][self.column :]
        return " ".join(line.strip() for line in lines)

    def __str__(self) -> str:
        return f"{self.place}, in {self.function}"


def _shell() -> object:
    """IPython, where it runs."""
    return sys.modules["IPython"].get_ipython() if "IPython" in sys.modules else None


def _cell(filename: str) -> str | None:
    """``Cell In[3]``, of the name that IPython gives the text of a notebook's cell; it knows which number that has."""
    spelled = getattr(getattr(_shell(), "compile", None), "format_code_name", None)
    found = None if spelled is None else spelled(filename)
    return None if found is None else " ".join(found)


def _same_drive(filename: str) -> bool:
    return os.path.splitdrive(filename)[0] == os.path.splitdrive(os.getcwd())[0]


def render(
    reason: str,
    span: Span | None = None,
    label: str | None = None,
    hint: str | None = None,
    code: str | None = None,
    within: Span | None = None,
) -> str:
    """The text of an error: reason and code, place, the user's line with carets and a label, the line of a library that
    it leads to, hint."""
    lines = coded(reason, code).split("\n")
    if span is not None and span.known:
        lines.append(f"  {span}")
        lines.extend(_carets(span, label))
    elif label:
        lines.append(f"  {label}")
    if within is not None:
        shown = within.code if len(within.code) <= _SHOWN else f"{within.code[:_SHOWN]} …"
        lines.append(f"  which leads to {within}: `{shown}`")
    if hint:
        first, *more = hint.splitlines()
        lines.append(f"  hint: {first}")
        lines.extend(f"        {line}" for line in more)
    return "\n".join(lines)


def coded(reason: str, code: str | None) -> str:
    """The reason, with the code of the refusal at the end of its first line."""
    first, newline, rest = reason.partition("\n")
    return reason if code is None else f"{first} [{code}]{newline}{rest}"


def _carets(span: Span, label: str | None) -> list[str]:
    """The lines of ``span`` with carets below; of a span over more than four lines, the first two and the last."""
    texts = span.text.split("\n")
    rows: list[tuple[int, str, int, int]] = []
    for offset, text in enumerate(texts):
        start = span.column if offset == 0 else len(text) - len(text.lstrip())
        end = span.end_column if offset == len(texts) - 1 else len(text.rstrip())
        rows.append((span.line + offset, text.rstrip(), start, max(end, start + 1)))
    gutter = len(str(rows[-1][0]))
    shown = rows if len(rows) <= 4 else [*rows[:2], rows[-1]]
    lines: list[str] = []
    for row in shown:
        number, text, start, end = row
        if row is shown[-1] and len(shown) < len(rows):
            lines.append(f"    {'.' * min(3, gutter):>{gutter}} |")
        if not text.strip() and len(rows) > 1:
            lines.append(f"    {number:>{gutter}} |")
            continue
        text, under = _underline(text, start, end)
        lines.append(f"    {number:>{gutter}} | {text}".rstrip())
        lines.append(f"    {'':>{gutter}} | {under}")
    if label:
        lines[-1] += f" {label}"
    return lines


def _underline(text: str, start: int, end: int) -> tuple[str, str]:
    """``text`` as a terminal shows it, tabs expanded and cut where it is long, with the carets for [start, end)."""
    shown: list[str] = []
    widths: list[int] = []
    column = 0
    for character in text:
        cell = " " * (_TAB - column % _TAB) if character == "\t" else character
        width = len(cell) if character == "\t" else _columns(character)
        shown.append(cell)
        widths.append(width)
        column += width
    end = max(start + 1, min(end, len(text)))
    low, high = 0, len(text)
    if column > _WIDTH:
        low, high = _window(widths, start, end)
    before, after = ("… " if low else ""), (" …" if high < len(text) else "")
    indent = len(before) + sum(widths[low:start])
    carets = max(1, sum(widths[max(start, low) : min(end, high)]))
    return before + "".join(shown[low:high]) + after, " " * indent + "^" * carets


def _window(widths: list[int], start: int, end: int) -> tuple[int, int]:
    """The slice of a long line that is shown: what is underlined, its end cut if need be, and context on both sides."""
    low = high = min(start, len(widths) - 1)
    room = _WIDTH
    while high < min(end, len(widths)) and room >= widths[high]:
        room -= widths[high]
        high += 1
    while room > 0 and (low > 0 or high < len(widths)):
        if low > 0 and (high >= len(widths) or start - low <= high - end):
            low -= 1
            room -= widths[low]
        else:
            room -= widths[high]
            high += 1
    return low, high


def _columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in ("Cf", "Me", "Mn"):
        return 0
    return 2 if unicodedata.east_asian_width(character) in ("W", "F") else 1


class SrcgradError(Exception):
    """The root of srcgrad's exceptions: a reason, the place it concerns, what is wrong there and what to do instead.

    What refuses a program has a code, which ``srcgrad why`` explains (``srcgrad.refusals``).
    """

    def __init__(
        self,
        reason: str,
        span: Span | None = None,
        *,
        code: str | None = None,
        label: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(reason)
        self.reason = reason
        self.span = span
        self.code = code
        self.within: Span | None = None  # the line of a library that the place leads to
        self.label = label
        self.hint = hint

    def place(self, span: Span) -> None:
        """Say where, of what was found when the program ran."""
        self.span = span

    def __str__(self) -> str:
        return render(self.reason, self.span, self.label, self.hint, self.code, self.within)


class LanguageError(SrcgradError, SyntaxError):
    """The program is outside of the language that srcgrad differentiates."""

    def __init__(
        self,
        reason: str,
        span: Span | None = None,
        *,
        code: str | None = None,
        label: str | None = None,
        hint: str | None = None,
    ) -> None:
        super().__init__(reason, span, code=code, label=label, hint=hint)
        self._show()

    def place(self, span: Span) -> None:
        super().place(span)
        self._show()

    def _show(self) -> None:
        """Set what is printed of a SyntaxError: its own file and line would repeat the span, but a notebook that has
        none makes a place up."""
        self.msg = str(self)
        if self.span is not None and self.span.known and _shell() is not None:
            self.filename, self.lineno = self.span.filename, self.span.line


class UnsupportedSyntax(LanguageError):
    """A construct that the fence or the normal form does not admit."""


class UnresolvedName(LanguageError):
    """A name that is no local, closure variable, global or builtin of the function."""


class RuleError(LanguageError):
    """A derivative rule that breaks the laws of rules, or that does not fit the function it is for."""


class MissingRule(SrcgradError, NotImplementedError):
    """A function without source and without a derivative rule was given an active argument."""


class SeedError(SrcgradError, ValueError):
    """The output cannot be seeded: it is not a scalar, or the seed does not fit it."""


class ArgumentError(SrcgradError, TypeError):
    """An argument cannot be differentiated, or does not exist."""


class NonFiniteError(SrcgradError, FloatingPointError):
    """Inside ``srcgrad.debug_nans()``: an infinity or a NaN where there was none before."""


class SourceUnavailable(SrcgradError, OSError):
    """The text of a function cannot be found."""


class SourceChanged(UserWarning):
    """A file was edited after it was imported: the text that is differentiated is not the function that runs."""


class CheaperMode(UserWarning):
    """The same result takes far fewer sweeps by the other mode."""


class SparsityError(SrcgradError, ValueError):
    """A Jacobian has entries that its sparsity pattern does not have."""


class ExampleByExample(UserWarning):
    """``vmap`` runs something for one example after the other, since it has no batching rule."""


class NotBatched(SrcgradError):
    """Why a function has no program over a batch; ``vmap`` runs it example by example then, and says so."""


class InternalError(SrcgradError):
    """srcgrad's fault, not the user's: names the stage, and shows what stood at its door."""

    def __init__(
        self,
        reason: str,
        span: Span | None = None,
        *,
        label: str | None = None,
        hint: str | None = None,
        stage: str | None = None,
        door: object = None,
    ) -> None:
        super().__init__(reason, span, label=label, hint=hint)
        self.stage = stage
        self.door = None if door is None else str(door)

    def __str__(self) -> str:
        where = f" in {self.stage}" if self.stage else ""
        text = render(f"srcgrad failed{where}: {self.reason}", self.span, self.label, self.hint)
        return text if self.door is None else f"{text}\n\n{self.door}"
