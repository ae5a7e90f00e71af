"""The judge of a random program: the compiler in every mode, and the eager machine, against numbers.

Enters: the text of a module that defines ``f``, and a plan: which modes, with which options, of which arguments.
Leaves: an ``Outcome``: agreement, a refusal with its reason, a finding (a wrong number, or an exception that is no
refusal), or that the program says nothing.  Besides derivatives it is required that the value is the program's own to
the last bit, that arguments stay as they were, that a pullback gives the same again, and that a value which was handed
out stays as it was.
"""

from __future__ import annotations

import re
import signal
import sys
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import numpy as np

from srcgrad.api.arguments import is_floating
from srcgrad.api.dense import hvp
from srcgrad.api.derivative import Derivative
from srcgrad.api.transforms import grad, jvp, value_and_grad, vjp
from srcgrad.errors import InternalError, SrcgradError
from srcgrad.fuzz.numbers import (
    LARGEST,
    Truth,
    Unsuitable,
    Vector,
    copied,
    forget,
    is_inexact,
    is_object,
    is_smooth,
    leaves,
    load,
    point_of,
    random_like,
    ravel,
    same,
    truth,
    unravel,
)
from srcgrad.fuzz.plans import THOROUGH, Check, Plan
from srcgrad.programs import Options, keeping_forms, options
from srcgrad.rules.calling import UnsupportedCall
from srcgrad.runtime.refusals import Refused

# What may refuse a program by the values it meets.  A refusal from any other file is a finding.
_REFUSING = ("runtime/broadcasting.py", "runtime/doors.py", "runtime/overlaps.py")


@dataclass(frozen=True)
class Outcome:
    """What was found out about a program.

    ``kind`` is agrees, unsuitable, refused, mismatch, or the name of an exception that is no refusal.
    """

    kind: str
    detail: str = ""
    check: Check | None = None
    place: str = ""  # where in srcgrad an exception came from
    refusals: tuple[tuple[str, str], ...] = ()  # (mode, reason) where some modes refused
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
    with keeping_forms():  # nothing that the program reads changes between two modes
        return _asked(text, plan, expected)


def _asked(text: str, plan: Plan, expected: Truth) -> Outcome:
    function = load(text)
    refusals: list[tuple[str, str]] = []
    left_out = ""
    case = _Case(text, function, expected, plan.moving)
    try:
        for check in plan.checks:
            try:
                with time_limit(20), np.errstate(all="ignore"), _without(check.changed):
                    complaint = _CHECKS[check.mode](case)
            except Unsuitable:
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
                if not any(file in _place(error) for file in _REFUSING):
                    return Outcome(type(error).__name__, str(error)[:600], check, _place(error))
                refusals.append((check.mode, f"when it runs: {error.reason.partition(': ')[2]}"))
                continue
            except SrcgradError as error:
                if check.mode == "eager":
                    left_out = gist(error.reason)
                    continue
                if isinstance(error, InternalError):
                    return Outcome("InternalError", str(error)[:600], check, _place(error))
                refusals.append((check.mode, error.reason))
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
    refused = any(mode in ("pair", "joint", "forward") for mode, _ in refusals)
    return Outcome("refused" if refused else "agrees", "", None, "", tuple(refusals), left_out)


def _without(changed: tuple[str, ...]) -> AbstractContextManager[None]:
    """The compiler's options with some of them off."""
    return options(**{name: False for name in changed if name in Options.__dataclass_fields__})


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


def _place(error: Exception) -> str:
    frames = [frame for frame in traceback.extract_tb(error.__traceback__) if "srcgrad" in frame.filename]
    own = [frame for frame in frames if "/fuzz/" not in frame.filename]
    return f"[{own[-1].filename.rpartition('srcgrad/')[2]}:{own[-1].lineno}]" if own else "[?]"


@dataclass(frozen=True)
class _Case:
    """One program that is judged."""

    text: str
    function: Callable[..., Any]
    expected: Truth
    moving: tuple[int, ...] | None

    @property
    def argnums(self) -> tuple[int, ...]:
        every = range(len(self.arguments()))
        return tuple(k for k in every if self.moving is None or k in self.moving)

    def arguments(self) -> tuple[Any, ...]:
        return point_of(self.function)

    @property
    def is_number(self) -> bool:
        return is_inexact(self.expected.value) and np.shape(self.expected.value) == ()

    def chosen(self, tree: Sequence[Any]) -> tuple[Any, ...]:
        return tuple(tree[k] for k in self.argnums)

    def seed(self, number: int) -> Any:
        return random_like(self.expected.value, number)

    def direction(self, k: int) -> tuple[Any, ...]:
        """A direction in the structure of the arguments: nothing where none is differentiated."""
        arguments = self.arguments()
        whole = unravel(arguments, self.expected.directions[k])
        return tuple(part if j in self.argnums else None for j, part in enumerate(whole))

    def wrong(self, cotangents: Sequence[Any], seed: Any) -> str:
        """What is wrong with cotangents: they must give the derivative along each direction."""
        arguments = self.arguments()
        for k, j in enumerate(self.argnums):
            complaint = misfit(cotangents[k], arguments[j], f"the cotangent of argument {j}")
            if complaint:
                return complaint
        got = ravel(tuple(cotangents))
        weights = ravel(seed)
        for direction, tangent in zip(self.expected.directions, self.expected.tangents, strict=True):
            along = ravel(self.chosen(unravel(arguments, direction)))
            left, right = float(got @ along), float(weights @ tangent)
            scale = max(1.0, float(np.abs(got) @ np.abs(along)), float(np.abs(weights) @ np.abs(tangent)))
            if not abs(left - right) <= self.expected.tolerance * scale:
                return f"wrong derivative {left!r} along a direction where numbers give {right!r}: cotangents {got}"
        return ""

    def kept(self, arguments: Sequence[Any]) -> str:
        return "" if same(tuple(arguments), self.arguments()) else "changed argument: the caller's own"


def misfit(got: Any, like: Any, what: str) -> str:
    """Whether a cotangent has the shapes of what it belongs to."""
    here = [leaf for leaf in leaves(got) if is_floating(leaf)]
    there = [leaf for leaf in leaves(like) if is_floating(leaf)]
    if [np.shape(leaf) for leaf in here] != [np.shape(leaf) for leaf in there]:
        return f"misfit: {what} has the shapes {[*map(np.shape, here)]}, not {[*map(np.shape, there)]}"
    return ""


# --- the modes -------------------------------------------------------------------------------------------------------
def _joint(case: _Case) -> str:
    if not case.is_number:
        return ""
    arguments = case.arguments()
    value, gradient = value_and_grad(case.function, argnums=case.argnums)(*arguments)
    if not value == case.expected.value:
        return f"different value {value!r}, not {case.expected.value!r}"
    return case.wrong(gradient, np.float64(1.0)) or case.kept(arguments)


def _pair(case: _Case) -> str:
    arguments = case.arguments()
    value, pullback = vjp(case.function, *arguments, argnums=case.argnums)
    if not same(value, case.expected.value):
        return f"different value {value!r}, not {case.expected.value!r}"
    kept = copied(value)
    first = pullback(case.seed(1))
    complaint = case.wrong(first, case.seed(1))
    if complaint:
        return complaint
    first = copied(first)
    complaint = case.wrong(pullback(case.seed(2)), case.seed(2))
    if complaint:
        return f"second pullback: {complaint}"
    if not same(pullback(case.seed(1)), first):
        return "third pullback differs from the first"
    if not same(value, kept):
        return "value handed out was changed by the pullback"
    return case.kept(arguments)


def _forward(case: _Case) -> str:
    arguments = case.arguments()
    value, tangent = jvp(case.function, arguments, case.direction(0))
    if not same(value, case.expected.value):
        return f"different value {value!r}, not {case.expected.value!r}"
    complaint = misfit(tangent, case.expected.value, "the tangent")
    if complaint:
        return complaint
    got, wanted = ravel(tangent), case.expected.tangents[0]
    scale = max(1.0, float(np.max(np.abs(wanted), initial=0.0)))
    if not np.all(np.abs(got - wanted) <= case.expected.tolerance * scale):
        return f"wrong tangent {got} where numbers give {wanted}"
    return case.kept(arguments)


def _slope(case: _Case) -> Vector:
    """The change of the compiled gradient along a direction, by numbers."""
    arguments = case.arguments()
    flat, along = ravel(arguments), case.expected.directions[0]
    compiled = grad(case.function, argnums=case.argnums)

    def central(h: float) -> Vector:
        upper, lower = (ravel(compiled(*unravel(arguments, flat + sign * h * along))) for sign in (1.0, -1.0))
        slope: Vector = (upper - lower) / (2.0 * h)
        return slope

    one, other = central(2e-4), central(1e-4)
    made: Vector = other + (other - one) / 3.0
    size = np.max(np.abs(made), initial=0.0)
    if not size < LARGEST or np.max(np.abs(one - other), initial=0.0) > 1e-4 * max(1.0, size):
        raise Unsuitable("no second derivative by numbers")
    return made


def _second(case: _Case) -> str:
    """Forward over reverse."""
    if not case.is_number:
        return ""
    arguments = case.arguments()
    got = ravel(hvp(case.function, argnums=case.argnums)(*arguments, case.chosen(case.direction(0))))
    return _unequal(got, _slope(case)) or case.kept(arguments)


def _twice(case: _Case) -> str:
    """Reverse over reverse: the adjoint of the gradient's own text."""
    if not case.is_number:
        return ""
    arguments = case.arguments()
    gradient = Derivative(case.function, case.argnums, mode="reverse")
    _, pullback = vjp(gradient, *arguments, argnums=case.argnums)
    return _unequal(ravel(pullback(case.chosen(case.direction(0)))), _slope(case)) or case.kept(arguments)


def _unequal(got: Vector, wanted: Vector) -> str:
    if got.shape != wanted.shape:
        return f"misfit: {got.size} second derivatives where there are {wanted.size}"
    if not np.all(np.abs(got - wanted) <= 1e-5 * max(1.0, float(np.max(np.abs(wanted), initial=0.0)))):
        return f"wrong second derivative {got} where numbers give {wanted}"
    return ""


def _eager(case: _Case) -> str:
    from srcgrad.eager import plain

    arguments = case.arguments()
    if any(map(is_object, arguments)):
        raise NotImplementedError("an object among the arguments")
    value, pullback = plain.vjp(case.function, *arguments, argnums=case.argnums)
    if not same(value, case.expected.value):
        return f"different value {value!r}, not {case.expected.value!r}"
    return case.wrong(pullback(case.seed(1)), case.seed(1)) or case.kept(arguments)


_CHECKS: dict[str, Callable[[_Case], str]] = {
    "joint": _joint,
    "pair": _pair,
    "forward": _forward,
    "second": _second,
    "reverse over reverse": _twice,
    "eager": _eager,
}


class OutOfTime(BaseException):
    """Raised by a clock; no handler of the program or of the compiler may take it for its own."""


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Interrupt the block after a while, where the platform can."""
    if not hasattr(signal, "SIGALRM") or sys.platform == "win32":
        yield
        return

    def expire(number: int, frame: FrameType | None) -> None:
        raise OutOfTime(f"longer than {seconds} s")

    try:
        old = signal.signal(signal.SIGALRM, expire)
    except ValueError:  # not in the main thread
        yield
        return
    signal.alarm(seconds)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, old)
