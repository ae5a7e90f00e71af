"""The judge of a random program: the compiler in every mode, and the eager machine, against numbers.

Enters: the text of a module that defines ``f``, and a plan: which modes, with which options, of which arguments.
Leaves: an ``Outcome``: agreement, a refusal with its reason, a finding (a wrong number, or an exception that is no
refusal), or that the program says nothing.  Besides derivatives it is required that the value is the program's own to
the last bit, that arguments stay as they were, that a pullback gives the same again, and that a value which was handed
out stays as it was.
"""

from __future__ import annotations

import os
import re
import signal
import sys
import traceback
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import FrameType

import numpy as np

from srcgrad.errors import InternalError, SrcgradError
from srcgrad.fuzz.modes import CHECKS, Case
from srcgrad.fuzz.numbers import Truth, Unsuitable, forget, is_smooth, load, truth
from srcgrad.fuzz.plans import THOROUGH, Check, Plan
from srcgrad.programs import Options, options
from srcgrad.requests import keeping_forms
from srcgrad.rules.calling import UnsupportedCall
from srcgrad.runtime.refusals import Refused, RefusedMode

# What may refuse a program by the values it meets.  A refusal from any other file is a finding.
_REFUSING = tuple(f"runtime/{name}.py" for name in ("broadcasting", "doors", "outputs", "overlaps"))


@dataclass(frozen=True)
class Outcome:
    """What was found out about a program.

    ``kind`` is agrees, unsuitable, refused, mismatch, or the name of an exception that is no refusal.
    """

    kind: str
    detail: str = ""
    check: Check | None = None
    place: str = ""  # where in srcgrad an exception came from
    refusals: tuple[tuple[str, str, str], ...] = ()  # (mode, code, reason) where some modes refused
    left_out: str = ""  # why the eager machine had no part

    @property
    def is_finding(self) -> bool:
        return self.kind not in ("agrees", "unsuitable", "refused")

    def resembles(self, other: Outcome) -> bool:
        """Whether both show the same fault, as far as one can tell: what shrinking must keep."""
        if self.kind != other.kind:
            return False
        return self.kind == "mismatch" and gist(self.detail, 3) == gist(other.detail, 3) or (
            self.kind != "mismatch" and (self.place == other.place or gist(self.detail) == gist(other.detail))
        )

    def __str__(self) -> str:
        return f"{self.kind} in {self.check}: {self.detail}  {self.place}".rstrip()


def gist(detail: str, words: int = 12) -> str:
    """The first words of a message, without what is quoted and without numbers."""
    line = detail.splitlines()[0] if detail else ""
    return " ".join(re.findall(r"[A-Za-z_.]{2,}", re.sub(r"'[^']*'|`[^`]*`", "…", line))[:words])


def judge(text: str, plan: Plan = THOROUGH) -> Outcome:
    """What the compiler and the eager machine make of a program."""
    try:
        with time_limit(4):
            expected = truth(text, plan.moving)
    except Unsuitable as error:
        return Outcome("unsuitable", str(error))
    except OutOfTime:
        return Outcome("unsuitable", "it runs too long")
    with keeping_forms(), _all_frames():  # nothing that the program reads changes between two modes
        return _asked(text, plan, expected)


def _asked(text: str, plan: Plan, expected: Truth) -> Outcome:
    function = load(text)
    refusals: list[tuple[str, str, str]] = []
    left_out = ""
    case = Case(text, function, expected, plan.moving)
    try:
        for check in plan.checks:
            try:
                with time_limit(20), np.errstate(all="ignore"), _without(check.changed):
                    complaint = CHECKS[check.mode](case)
            except Unsuitable:
                continue
            except RefusedMode as error:  # what stands under a test, reached
                refusals.append((check.mode, error.code, error.reason))
                continue
            except (NotImplementedError, UnsupportedCall) as error:
                if check.mode != "eager":
                    return Outcome(type(error).__name__, str(error)[:600], check, _place(error))
                left_out = gist(str(error))
                continue
            except Refused as error:
                if check.mode == "eager":
                    left_out = gist(error.reason)
                    continue
                refusing = (*_REFUSING, "runtime/isolation.py") if check.mode == "run again" else _REFUSING
                if not any(file in _place(error) for file in refusing):
                    return Outcome(type(error).__name__, str(error)[:600], check, _place(error))
                refusals.append((check.mode, error.code, f"when it runs: {error.reason}"))
                continue
            except SrcgradError as error:
                if check.mode == "eager":
                    left_out = gist(error.reason)
                    continue
                if isinstance(error, InternalError):
                    return Outcome("InternalError", str(error)[:600], check, _place(error))
                refusals.append((check.mode, error.code or "", error.reason))
                if check is plan.checks[0]:
                    break
                continue
            except Exception as error:  # whatever else the compiler or its code raises is a finding
                return Outcome(type(error).__name__, str(error)[:600], check, _place(error))
            except OutOfTime as error:
                return Outcome("OutOfTime", str(error), check)
            if complaint:
                if not _is_smooth(text, expected, plan.moving):
                    return Outcome("unsuitable", "not smooth here")
                return Outcome("mismatch", complaint, check)
    finally:
        forget(function)
    refused = any(mode in ("pair", "joint", "forward") for mode, *_ in refusals)
    return Outcome("refused" if refused else "agrees", "", None, "", tuple(refusals), left_out)


def _without(changed: tuple[str, ...]) -> AbstractContextManager[None]:
    """The compiler's options with some of them off, and with its checks, so that no fault is passed over."""
    return options(check=True, **{name: False for name in changed if name in Options.__dataclass_fields__})


def agree(text: str, plan: Plan = THOROUGH) -> None:
    """A regression test: every mode agrees with numbers on the program, and none refuses it."""
    outcome = judge(text, plan)
    if outcome.kind != "agrees" or outcome.refusals:
        raise AssertionError(f"{outcome} {'; '.join(map(': '.join, outcome.refusals))}\n{text}")


def _is_smooth(text: str, expected: Truth, moving: Sequence[int] | None) -> bool:
    try:
        with time_limit(10):
            return is_smooth(text, expected, moving)
    except OutOfTime:
        return False


@contextmanager
def _all_frames() -> Iterator[None]:
    """Tracebacks with the frames of srcgrad, which say where an exception came from."""
    before = os.environ.get("SRCGRAD_TRACEBACK")
    os.environ["SRCGRAD_TRACEBACK"] = "full"
    try:
        yield
    finally:
        os.environ.pop("SRCGRAD_TRACEBACK")
        os.environ.update({} if before is None else {"SRCGRAD_TRACEBACK": before})


def _place(error: Exception) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "srcgrad" in frame.filename]
    own = [frame for frame in frames if "/fuzz/" not in frame.filename]
    return f"[{own[-1].filename.rpartition('srcgrad/')[2]}:{own[-1].lineno}]" if own else "[?]"


class OutOfTime(BaseException):
    """Raised by a clock; no handler of the program or of the compiler may take it for its own."""


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Interrupt the block after so many seconds of the processor, where the platform can: other work does not count."""
    if not hasattr(signal, "setitimer") or sys.platform == "win32":
        yield
        return

    def expire(number: int, frame: FrameType | None) -> None:
        raise OutOfTime(f"longer than {seconds} s of the processor")

    try:
        old = signal.signal(signal.SIGPROF, expire)
    except ValueError:  # not in the main thread
        yield
        return
    signal.setitimer(signal.ITIMER_PROF, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, old)
