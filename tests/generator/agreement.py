"""The judge of random programs: complex step on the same text, against the compiler.

The text runs unchanged on complex scalars: comparisons look at real parts first (NumPy orders complex numbers
lexicographically), ``math`` becomes NumPy and ``abs`` a branch.  A disagreement counts only when it is still there at
points nearby, so that ties (``max`` of equal numbers) are no mismatch.
"""

from __future__ import annotations

import importlib
import itertools
import linecache
import re
import signal
import sys
import traceback
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType, SimpleNamespace
from typing import Any

import numpy as np

from tests.oracle import is_inexact, leaves, ravel, rebuild, seed_like, unravel

MODES = ("reverse", "pair", "forward", "second")
SETTINGS = ("optimised", "plain", "generic")
POINT = (0.73, -0.41, np.array([0.62, -0.87, 0.34, 0.15]), np.array([-0.29, 0.91, -0.53, 0.77]),
         np.array([[0.55, -0.38], [0.24, 0.69]]))  # fmt: skip
NAMES = ("a", "b", "x", "y", "m")
EVERY = (0, 1, 2, 3, 4)
LARGEST = 1e6
_numbers = itertools.count()


class Unsuitable(Exception):
    """The program itself fails, or its numbers are not tame: it says nothing about the compiler."""


@dataclass(frozen=True)
class Verdict:
    """What went wrong with a program: ``kind`` is ``mismatch`` or the name of an exception."""

    kind: str
    mode: str
    detail: str

    def resembles(self, other: Verdict) -> bool:
        """Whether both show the same fault, as far as one can tell: what shrinking must keep."""
        if self.kind == other.kind == "mismatch":
            return True
        return self.kind == other.kind and _gist(self.detail) == _gist(other.detail)

    def __str__(self) -> str:
        return f"{self.kind} in {self.mode}: {self.detail}"


def _gist(detail: str) -> str:
    """The words of a message, without names and numbers."""
    return " ".join(re.findall(r"[A-Za-z]{3,}", re.sub(r"'[^']*'", "", detail.splitlines()[0])))[:60]


def _absolute(value: Any) -> Any:
    return value if np.real(value) >= 0.0 else -value


_COMPLEX = {"math": SimpleNamespace(sin=np.sin), "abs": _absolute}


def load(text: str, *, complex_: bool = False) -> Callable[..., Any]:
    """The function ``f`` of a module's text; its source can be found."""
    name = f"<program {next(_numbers)}>"
    namespace: dict[str, Any] = {"__name__": "generated"}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        exec(compile(text, name, "exec"), namespace)
    if complex_:
        namespace.update(_COMPLEX)
    else:
        linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    function: Callable[..., Any] = namespace["f"]
    return function


def forget(function: Callable[..., Any]) -> None:
    """Drop the text of a function that is not needed any more."""
    linecache.cache.pop(function.__code__.co_filename, None)


@dataclass(frozen=True)
class Truth:
    """A program's value and Jacobian at one point."""

    value: Any
    jacobian: np.ndarray


def truth(text: str, point: tuple[Any, ...]) -> Truth:
    """Value and Jacobian by complex step; ``Unsuitable`` when the program is not tame."""
    with time_limit(3), np.errstate(all="ignore"):
        try:
            value = load(text)(*point)
            function = load(text, complex_=True)
            flat = ravel(point)
            columns = []
            for direction in np.eye(flat.size):
                result = function(*unravel(point, flat + 1e-25j * direction))
                columns.append(np.imag(ravel_numbers(result, value)) * 1e25)
        except Exception as error:
            raise Unsuitable(repr(error)) from error
    if not all(is_inexact(leaf) for leaf in leaves(value)):
        raise Unsuitable("the result is an integer")
    jacobian = np.stack(columns, axis=1)
    for numbers in (ravel(value), jacobian):
        if not np.all(np.isfinite(numbers)) or np.max(np.abs(numbers), initial=0.0) > LARGEST:
            raise Unsuitable("the numbers are not tame")
    return Truth(value, jacobian)


def ravel_numbers(result: Any, like: Any) -> np.ndarray:
    """The numbers of a complex run at the floating-point places of the real one."""
    pairs = zip(leaves(result), leaves(like), strict=True)
    parts = [np.asarray(got, dtype=complex).ravel() for got, expected in pairs if is_inexact(expected)]
    return np.concatenate(parts) if parts else np.zeros(0, dtype=complex)


def judge(text: str, modes: tuple[str, ...] = MODES[:3], settings: tuple[str, ...] = ("optimised",)) -> Verdict | None:
    """None when the compiler agrees with complex step in every mode."""
    verdict = _judge_at(text, POINT, modes, settings)
    if verdict is None or verdict.kind != "mismatch":
        return verdict
    nearby = 0
    for seed in (1, 2):
        change = np.random.default_rng(seed).uniform(-0.05, 0.05, ravel(POINT).size)
        try:
            nearby += _judge_at(text, unravel(POINT, ravel(POINT) + change), modes, settings) is not None
        except Unsuitable:
            nearby += 1
    return verdict if nearby == 2 else None


def _judge_at(text: str, point: tuple[Any, ...], modes: tuple[str, ...], settings: tuple[str, ...]) -> Verdict | None:
    expected = truth(text, point)
    function = load(text)
    derivatives = importlib.import_module("tests.derivatives")
    try:
        for setting in settings:
            with derivatives.settings(setting):
                for mode in modes:
                    what = f"{mode}, {setting}"
                    try:
                        with time_limit(60), np.errstate(all="ignore"):
                            complaint = _CHECKS[mode](function, point, expected, text)
                    except Exception as error:  # whatever the compiler or its code raises is a finding
                        return Verdict(type(error).__name__, what, _place(error))
                    if complaint:
                        return Verdict("mismatch", what, complaint)
    finally:
        forget(function)
    return None


def _place(error: Exception) -> str:
    frames = traceback.extract_tb(error.__traceback__)
    own = [frame for frame in frames if "srcgrad" in frame.filename and "/tests/" not in frame.filename]
    where = f"{own[-1].filename.rpartition('/')[2]}:{own[-1].lineno}" if own else "?"
    return f"{str(error)[:600]}  [{where}]"


def difference(got: Any, like: Any, expected: np.ndarray) -> str:
    """A complaint, or nothing."""
    importlib.import_module("tests.derivatives").assert_same_structure(got, like)
    numbers = ravel(got)
    scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    worst = np.max(np.abs(numbers - expected), initial=0.0)
    if worst <= 1e-9 * scale:
        return ""
    return f"off by {worst:.3e}\n    got      {numbers}\n    expected {expected}"


def _reverse(function: Callable[..., Any], point: tuple[Any, ...], expected: Truth, text: str) -> str:
    """The joint form, where the result is one number."""
    import srcgrad

    if not is_inexact(expected.value) or np.shape(expected.value) != ():
        return ""
    value, gradient = srcgrad.value_and_grad(function, argnums=EVERY)(*_copied(point))
    if value != expected.value:
        return f"the value is {value}, not {expected.value}"
    return difference(gradient, point, expected.jacobian[0])


def _pair(function: Callable[..., Any], point: tuple[Any, ...], expected: Truth, text: str) -> str:
    """The pair; its pullback is called three times with two seeds."""
    import srcgrad

    arguments = _copied(point)
    value, pullback = srcgrad.vjp(function, *arguments, argnums=EVERY)
    if not np.array_equal(ravel(value), ravel(expected.value)):
        return f"the value is {value}, not {expected.value}"
    for number in (1, 2, 1):
        seed = seed_like(expected.value, number)
        complaint = difference(pullback(seed), point, ravel(seed) @ expected.jacobian)
        if complaint:
            return f"(seed {number}) {complaint}"
    if not np.array_equal(ravel(arguments), ravel(point)):
        return "an argument was changed"
    return ""


def _forward(function: Callable[..., Any], point: tuple[Any, ...], expected: Truth, text: str) -> str:
    import srcgrad

    tangents = seed_like(point, 3)
    _, tangent = srcgrad.jvp(function, _copied(point), tangents)
    return difference(tangent, expected.value, expected.jacobian @ ravel(tangents))


def _second(function: Callable[..., Any], point: tuple[Any, ...], expected: Truth, text: str) -> str:
    """Reverse over reverse and forward over reverse agree with the difference of two complex-step gradients."""
    import srcgrad

    if not is_inexact(expected.value) or np.shape(expected.value) != ():
        return ""
    direction = seed_like(point, 4)
    flat, along, step = ravel(point), ravel(direction), 1e-5
    gradients = [truth(text, unravel(point, flat + sign * step * along)).jacobian[0] for sign in (1.0, -1.0)]
    numeric = (gradients[0] - gradients[1]) / (2.0 * step)
    gradient = srcgrad.grad(function, argnums=EVERY)
    _, pullback = srcgrad.vjp(gradient, *_copied(point), argnums=EVERY)
    reverse = ravel(pullback(direction))
    forward = ravel(srcgrad.jvp(gradient, _copied(point), direction)[1])
    scale = max(1.0, float(np.max(np.abs(forward), initial=0.0)))
    if np.max(np.abs(reverse - forward)) > 1e-9 * scale:
        return f"reverse over reverse differs from forward over reverse\n    {reverse}\n    {forward}"
    if np.max(np.abs(numeric)) < LARGEST and np.max(np.abs(numeric - forward)) > 1e-3 * scale:
        return f"second order differs from numbers\n    got      {forward}\n    expected {numeric}"
    return ""


_CHECKS = {"reverse": _reverse, "pair": _pair, "forward": _forward, "second": _second}


def _copied(point: tuple[Any, ...]) -> tuple[Any, ...]:
    copied: tuple[Any, ...] = rebuild(point, lambda leaf: leaf.copy() if isinstance(leaf, np.ndarray) else leaf)
    return copied


@contextmanager
def time_limit(seconds: int) -> Iterator[None]:
    """Interrupt the block after a while, where the platform can."""
    if not hasattr(signal, "SIGALRM") or sys.platform == "win32":
        yield
        return

    def expire(number: int, frame: FrameType | None) -> None:
        raise TimeoutError(f"longer than {seconds} s")

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
