"""Every way of running a directed program, and what each has to give.

Numbers are the truth: complex step, or extrapolated differences where the program makes real arrays or compares.  Each
``run_...`` raises AssertionError with the program's text, the mode and the two numbers where a mode disagrees.
"""

from __future__ import annotations

import importlib
import inspect
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import fields
from functools import lru_cache
from typing import Any

import numpy as np

import srcgrad
import srcgrad.programs
from srcgrad.eager import plain
from tests import derivatives, oracle
from tests.directed.program import Program, collected
from tests.layouts import fresh, unravelled

THEMES = (
    "memory", "worked_example", "survive_stores", "stores", "numpy_stores", "containers", "objects", "control",
    "attempts", "iterating", "deques", "defaulting", "methods", "reused_names", "many_objects", "registries",
    "class_attributes", "abstract_classes", "cells", "local_classes", "library", "function_fields", "choosing",
    "spreading", "managers", "iterators", "kept_methods", "bookkeeping", "asked_objects", "outgrown_lists",
    "own_memory", "blurred_objects", "order_of_reads", "changing_loops", "everyday", "generator_functions",
    "recorded_graphs", "generator_managers", "sets_of_objects",
)  # fmt: skip
for _theme in THEMES:
    importlib.import_module(f"tests.directed.{_theme}")
PROGRAMS: tuple[Program, ...] = collected()

HAS_SINKING = any(option.name == "sink" for option in fields(srcgrad.programs.present_options()))


@contextmanager
def settings(sink: bool = True, **more: Any) -> Iterator[None]:
    """The compiler's options; the sinking of shadows where it can be chosen."""
    chosen = {**more, "sink": sink} if HAS_SINKING else more
    with srcgrad.programs.options(**chosen):
        yield


# --- the truth --------------------------------------------------------------------------------------------------------
class Truth:
    """The value of a program, a seed for it, and its cotangents for that seed by numbers."""

    def __init__(self, program: Program) -> None:
        self.program = program
        with quiet():
            self.value = program.function(*fresh(program.arguments))
        self.seed = oracle.seed_like(self.value, 1)
        self.weights = oracle.ravel(self.seed)
        self.like = tuple(program.arguments[k] for k in program.argnums)
        self.point = oracle.ravel(self.like)
        self.cotangent = slopes(self.at, self.weights, self.point, program.analytic)

    def at(self, point: np.ndarray) -> np.ndarray:
        """The program's value at another point."""
        arguments = list(fresh(self.program.arguments))
        for k, value in zip(self.program.argnums, unravelled(self.like, point), strict=True):
            arguments[k] = value
        return oracle.ravel(self.program.function(*arguments))


@lru_cache(maxsize=None)
def truth(program: Program) -> Truth:
    """Computed once."""
    return Truth(program)


@contextmanager
def quiet() -> Iterator[None]:
    """What programs warn of is no matter here."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        yield


def slopes(at: Callable[[Any], Any], weights: np.ndarray, point: np.ndarray, analytic: bool = True) -> np.ndarray:
    """The derivative of ``weights @ at(point)`` by every number of the point."""
    made = []
    for k in range(point.size):
        direction = np.eye(point.size)[k]
        measured = None
        if analytic:
            try:
                with quiet():
                    warnings.simplefilter("error", np.exceptions.ComplexWarning)
                    measured = oracle.complex_step(at, point, direction)
            except (TypeError, ValueError, np.exceptions.ComplexWarning):
                analytic = False  # an array of the program's own holds real numbers only
        if measured is None:
            with quiet():
                measured = oracle.differences(at, point, direction)
        made.append(float(np.real(weights @ measured.value)))
    return np.array(made)


# --- comparing --------------------------------------------------------------------------------------------------------
def numbers(tree: Any) -> np.ndarray:
    """The floating-point numbers of a result as one real vector."""
    return np.real(oracle.ravel(tree))


def assert_close(program: Program, mode: str, got: Any, expected: np.ndarray, tolerance: float | None = None) -> None:
    """Numbers that agree, or the program's text with what disagrees."""
    mine = got if isinstance(got, np.ndarray) else numbers(got)
    allowed = (tolerance or program.tolerance) * max(1.0, float(np.max(np.abs(expected), initial=0.0)))
    if mine.shape == expected.shape and np.all(np.abs(mine - expected) <= allowed):
        return
    raise AssertionError(f"{program.name}, {mode}:\n  got      {mine}\n  expected {expected}\n{text(program)}")


def text(program: Program) -> str:
    """The program, to be read beside a failure."""
    return inspect.getsource(program.function)


@contextmanager
def nothing_changes(program: Program) -> Iterator[tuple[Any, ...]]:
    """Arguments of one's own, which no derivative may change."""
    arguments = fresh(program.arguments)
    with quiet():
        yield arguments
    before, after = oracle.ravel(program.arguments), oracle.ravel(arguments)
    np.testing.assert_array_equal(after, before, err_msg=f"{program.name}: an argument has changed")


def is_number(value: Any) -> bool:
    """Whether a value has a gradient."""
    return oracle.is_inexact(value) and np.ndim(value) == 0


def has_a_gradient(program: Program) -> bool:
    """Whether the value is one number."""
    with quiet():
        return is_number(program.function(*fresh(program.arguments)))


# --- the modes --------------------------------------------------------------------------------------------------------
def run_eager(program: Program) -> None:
    """Operation by operation, without the compiler."""
    known = truth(program)
    with nothing_changes(program) as arguments:
        run = plain.Run(program.function, arguments, program.argnums)
    np.testing.assert_array_equal(oracle.ravel(run.value), oracle.ravel(known.value), err_msg=text(program))
    assert_close(program, "eager", run(known.seed), known.cotangent)


def run_eager_twice(program: Program) -> None:
    """The Hessian along a direction, eager over eager."""
    known = truth(program)
    direction = oracle.seed_like(known.like, 3)
    with nothing_changes(program) as arguments:
        change = plain.Run(program.function, arguments, program.argnums).second(direction)
    assert_close(program, "eager over eager", change, second(program), 1e-5)


@lru_cache(maxsize=None)
def second(program: Program) -> np.ndarray:
    """The change of the gradient along a direction: the slope of eager gradients, or compiled ones where the program
    does not run eagerly; both are checked by numbers."""
    known = truth(program)
    direction = oracle.ravel(oracle.seed_like(known.like, 3))

    def gradient(point: np.ndarray) -> np.ndarray:
        arguments = list(fresh(program.arguments))
        for k, value in zip(program.argnums, unravelled(known.like, point), strict=True):
            arguments[k] = value
        vjp = srcgrad.vjp if "eager" in program.without else plain.vjp
        _, pullback = vjp(program.function, *arguments, argnums=program.argnums)
        return numbers(pullback(np.ones_like(known.value)[()] if np.shape(known.value) else 1.0))

    with quiet():
        return oracle.differences(gradient, known.point, direction).value


def run_reverse(program: Program, sink: bool, **more: Any) -> None:
    """A pullback, called three times."""
    known = truth(program)
    mode = f"reverse (sink={sink}, {more})"
    with settings(sink, **more), nothing_changes(program) as arguments:
        value, pullback = srcgrad.vjp(program.function, *arguments, argnums=program.argnums)
        handed_out = oracle.ravel(value).copy()
        got = [pullback(fresh(known.seed)) for _ in range(3)]
        np.testing.assert_array_equal(oracle.ravel(value), handed_out, err_msg=f"a changed value\n{text(program)}")
        for again in got:
            assert_close(program, mode, again, known.cotangent)
        assert_close(program, f"{mode}, value", numbers(value), numbers(known.value), 1e-12)


def run_joint(program: Program, sink: bool = True, **more: Any) -> None:
    """Value and gradient at once, of a program whose value is one number."""
    known = truth(program)
    with settings(sink, **more), nothing_changes(program) as arguments:
        value, gradient = srcgrad.value_and_grad(program.function, argnums=program.argnums)(*arguments)
    ratio = float(np.real(known.seed))
    assert_close(program, "joint", numbers(gradient) * ratio, known.cotangent)
    assert_close(program, "joint value", numbers(value), numbers(known.value), 1e-12)


def run_forward(program: Program, **more: Any) -> None:
    """The tangent program along a direction, the seed applied to it."""
    known = truth(program)
    direction = oracle.seed_like(known.like, 2)
    with settings(**more), nothing_changes(program) as arguments:
        value, tangent = srcgrad.jvp(program.function, arguments, derivatives.tangents_of(program, direction))
    assert_close(program, "forward, value", numbers(value), numbers(known.value), 1e-12)
    got = np.array([np.real(known.weights @ oracle.ravel(tangent))])
    assert_close(program, f"forward {more}", got, np.array([oracle.ravel(direction) @ known.cotangent]))


def run_second(program: Program, mode: str, sink: bool = True) -> None:
    """The Hessian along a direction by the programs of programs; no argument changes."""
    known = truth(program)
    direction = oracle.seed_like(known.like, 3)
    with settings(sink), nothing_changes(program) as arguments:
        if mode == "forward-over-reverse":
            change = srcgrad.hvp(program.function, argnums=program.argnums)(*arguments, direction)
        else:
            change = derivatives.SECOND_ORDER[mode](program, direction)
    change = derivatives.numbers_like(change, known.like)
    assert_close(program, f"{mode} (sink={sink})", numbers(change), second(program), 1e-5)
