"""Where numbers stop being finite: the first infinity or NaN of a run, with what made it.

Enters: a ``Compiled`` program.  Leaves: the same program, which looks at what each of its statements computes and
raises ``NonFiniteError`` at the first statement that makes an infinity or a NaN of operands that hold none.
"""

from __future__ import annotations

import cmath
import inspect
import re
import reprlib
import sys
import threading
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import FrameType, MemberDescriptorType
from typing import Any

import numpy as np

from srcgrad.errors import NonFiniteError
from srcgrad.observe.instrumented import observed
from srcgrad.observe.reading import Reading, Statement
from srcgrad.programs import Compiled

_DOING = {"primal": "the forward sweep", "adjoint": "the reverse sweep", "tangent": "the tangent sweep"}
_RESULT = "__srcgrad_result__"
_NAN, _INFINITY = "a NaN", "an infinity"
_SMALL = 6  # entries of an array that are shown
_DEEP = 3  # containers inside of containers that are looked into


def finite_checked(compiled: Compiled) -> Compiled:
    """The program with a check behind each statement; it stays one call, and raises from the statement."""
    return observed(compiled, lambda reading: _Check(reading, compiled))[0]


class _Check(threading.local):
    """The observer that looks; ``held`` has the operands of the statements that run, call by call of a thread."""

    def __init__(self, reading: Reading, compiled: Compiled) -> None:
        self.reading = reading
        self.entries = {one.__code__.co_firstlineno for one in (compiled.entry, compiled.backward) if one is not None}
        self.held: list[_Operands] = []
        self.passes: list[dict[int, int]] = []

    def enter(self, line: int) -> None:
        self.held.append(_Operands(line, {}, set()))
        self.passes.append({})
        if line in self.entries and len(self.held) == 1:
            self._look_at_arguments(line, sys._getframe(1))

    def leave(self) -> None:
        self.held.pop()
        self.passes.pop()

    def again(self, line: int) -> None:
        """A loop is asked for its next item, of which nothing is computed."""

    def before(self, line: int) -> None:
        statement = self.reading.statements[line]
        frame = sys._getframe(1)
        values = frame.f_locals
        read = {name: values[name] for name in statement.reads if name in values}
        for path in statement.outside:
            root, *attributes = path.split(".")
            held = values[root] if root in values else frame.f_globals.get(root)
            for attribute in attributes:
                held = _attribute(held, attribute)
            if _kind(held):
                read[path] = held
        changed = {kind for name in statement.binds if name in read and (kind := _kind(read[name]))}
        self.held[-1] = _Operands(line, read, changed)
        self.passes[-1][line] = 0

    def after(self, line: int) -> None:
        statement = self.reading.statements[line]
        self.passes[-1][line] += 1
        if statement.means_it or statement.role in ("recall", "record") or statement.called in self.reading.functions:
            return  # what a function of the program returns was looked at there
        frame = sys._getframe(1)
        values = frame.f_locals
        names = statement.binds if _RESULT not in values else (_RESULT,)
        made = [(name, kind) for name in names if name in values and (kind := _kind(values[name]))]
        if not made:
            return
        operands = self.held[-1]
        before = {kind for n, value in operands.values.items() if n not in statement.binds and (kind := _kind(value))}
        before |= operands.changed
        for name, kind in made:
            if not before or (kind == _NAN and before == {_INFINITY}):
                raise self._error(statement, name, kind, frame)

    def _look_at_arguments(self, line: int, frame: FrameType) -> None:
        code = frame.f_code
        for name in code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]:
            if _kind(value := frame.f_locals[name]) == _NAN:
                raise NonFiniteError(
                    f"{_spoken(name)} holds a NaN when {code.co_name} is called",
                    self.reading.span(line), label=f"{name} = {shown(value)}",
                    hint="look at where the argument comes from",
                )  # fmt: skip

    def _error(self, statement: Statement, name: str, kind: str, frame: FrameType) -> NonFiniteError:
        told = [f"{kind} appears in {_DOING[statement.sweep]}, in {_spoken(name)}"]
        told.append(f"  statement: {statement.text}")
        told.append(f"  gives:     {shown(frame.f_locals[name])}")
        operands = [(n, value) for n, value in self.held[-1].values.items() if not callable(value)]
        told += [f"  {'' if j else 'from:':10} {n} = {shown(value)}" for j, (n, value) in enumerate(operands)]
        told += [f"  in pass:   {one}" for one in self._passes(frame)]
        return NonFiniteError("\n".join(told), statement.span, hint=_hint(statement))

    def _passes(self, frame: FrameType) -> Iterator[str]:
        """The passes of the loops around what runs, innermost first: ``i = 3, pass 4 of the loop in model.py:7``."""
        at: FrameType | None = frame
        for operands, passes in zip(reversed(self.held), reversed(self.passes), strict=True):
            while at is not None and at.f_code.co_filename != frame.f_code.co_filename:
                at = at.f_back
            if at is None or (running := self.reading.statements.get(operands.line)) is None:
                return
            for line in reversed(running.loops):
                yield self._pass(self.reading.statements[line], passes[line], at.f_locals)
            at = at.f_back

    def _pass(self, loop: Statement, number: int, values: Mapping[str, Any]) -> str:
        named = [f"{n} = {values[n]!r}" for n in loop.binds if isinstance(values.get(n), int)]
        place = "" if loop.span is None else f" of the loop in {loop.span.place}"
        backwards = " from the end" if loop.sweep == "adjoint" else ""  # the reverse sweep begins with the last one
        return ", ".join([*named, f"pass {number}{backwards}{place}"])


@dataclass(frozen=True)
class _Operands:
    line: int  # of the statement
    values: Mapping[str, Any]  # of the names that a statement reads
    changed: set[str]  # what those held that it changes


def _attribute(held: Any, name: str) -> Any:
    """What an object holds under a name, where it holds it: nothing is computed."""
    found = inspect.getattr_static(held, name, None)
    return getattr(held, name, None) if isinstance(found, MemberDescriptorType) else found


def _spoken(name: str) -> str:
    if name == _RESULT:
        return "the result"
    of = re.fullmatch(r"(.+?)_(bar|dot)(\d*)", name)
    if of is None:
        return name
    return f"{name}, the {'adjoint' if of[2] == 'bar' else 'tangent'} of {of[1]}"


def _hint(statement: Statement) -> str:
    if statement.sweep == "primal":
        return "the function itself computes it: look at the operands above"
    return (
        "the value may be finite where its derivative is not, as a root or a logarithm at 0;\n"
        "write it so that this is not met: np.linalg.norm(x) for np.sqrt(np.sum(x**2)), or np.where on the operand"
    )


def _kind(value: Any, depth: int = 0) -> str | None:
    """Whether a value holds a NaN or, if none, an infinity."""
    if isinstance(value, float | complex | np.inexact):
        return None if cmath.isfinite(value) else _NAN if cmath.isnan(value) else _INFINITY
    if isinstance(value, np.ndarray):
        if not np.issubdtype(value.dtype, np.inexact) or np.isfinite(value).all():
            return None
        return _NAN if np.isnan(value).any() else _INFINITY
    if isinstance(value, list | tuple | dict) and depth < _DEEP:
        parts = value.values() if isinstance(value, dict) else value
        kinds = {_kind(part, depth + 1) for part in parts}
        return _NAN if _NAN in kinds else _INFINITY if _INFINITY in kinds else None
    return None


def shown(value: Any) -> str:
    """A value on one line: numbers as they are, arrays by their shape, range and first entry that is not finite."""
    if not isinstance(value, np.ndarray):
        return reprlib.repr(value.item() if isinstance(value, np.generic) else value)
    if value.size <= _SMALL:
        return np.array2string(value, precision=6, threshold=_SMALL, max_line_width=10_000).replace("\n", "")
    head = f"array of shape {value.shape}"
    if not np.issubdtype(value.dtype, np.inexact):
        return head
    bad = np.argwhere(~np.isfinite(value))
    if len(bad):
        at = ", ".join(map(str, bad[0]))
        return f"{head}, {len(bad)} of {value.size} entries not finite, the first at [{at}]: {value[tuple(bad[0])]}"
    return f"{head}, of absolute values from {np.abs(value).min():.6g} to {np.abs(value).max():.6g}"
