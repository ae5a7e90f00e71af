"""Memory classes cover every run: whenever two names hold, or reach, the same memory, they are of one class.

The normal form of a program runs, with those of its callees, and its names are looked at line by line.
"""

from __future__ import annotations

import copy
import inspect
import itertools
import sys
import warnings
from collections import deque
from collections.abc import Iterator
from contextlib import suppress
from enum import Enum
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.analysis.memory import memory_classes
from srcgrad.errors import SrcgradError
from srcgrad.frontend.journal import Journal
from srcgrad.infer.entry import described
from srcgrad.ir.normal_form import Callee
from srcgrad.pipeline import Module
from srcgrad.rules.facts import Unknown, fact_of
from srcgrad.runtime.refusals import Refused
from srcgrad.specialise.entry import callee_for
from srcgrad.syntax.depth import deep_enough
from tests.corpus.example import Case
from tests.frontend.running import bare
from tests.hunted import random_program
from tests.ir.test_interpreter import runnable
from tests.parameters import for_each

#: What programs raise, and are refused with when they run: what they shared until then is looked at.
_ENDS = (Refused, ArithmeticError, ValueError, LookupError, UnboundLocalError)
_CODE = (type, ModuleType, FunctionType, BuiltinFunctionType, np.ufunc, type(np.sum), Enum)


def reached(value: Any) -> tuple[dict[int, Any], list[Any]]:
    """The containers and objects that a value is or holds, by identity, and the arrays."""
    objects, arrays, pending = dict[int, Any](), list[Any](), [value]
    while pending:
        part = pending.pop()
        if isinstance(part, np.ndarray):
            arrays.append(part)
            pending += part.ravel().tolist() if part.dtype.hasobject else []
        elif isinstance(part, tuple | frozenset):
            pending += part
        elif id(part) not in objects and not isinstance(part, _CODE):
            if isinstance(part, dict | list | set | deque) or hasattr(part, "__dict__"):
                objects[id(part)] = part
                pending += part.values() if isinstance(part, dict) else part if hasattr(part, "__iter__") else ()
                pending += getattr(part, "__dict__", {}).values()
    return objects, arrays


def is_shared(one: tuple[dict[int, Any], list[Any]], other: tuple[dict[int, Any], list[Any]]) -> bool:
    if one[0].keys() & other[0].keys():
        return True
    pairs = itertools.product(one[1], other[1])
    return any(p is q or np.may_share_memory(p, q) and np.shares_memory(p, q) for p, q in pairs)


@deep_enough
def unforeseen(function: FunctionType, arguments: tuple[Any, ...], *, of_kinds: bool) -> Iterator[str]:
    """Pairs of names that share memory in a run, and are of different classes; ``of_kinds``: compiled for these kinds
    of arguments."""
    module, callee = Module(), Callee(function)
    bound = inspect.signature(function).bind(*arguments)
    bound.apply_defaults()
    values = bound.arguments
    with srcgrad.options(specialise=of_kinds):
        if of_kinds:
            callee = callee_for(callee, (arguments, {}), Journal(described))
        normal = module.normalized(callee)
        entry = tuple(fact_of(values[p], p) if p in values else Unknown() for p in normal.parameters)
        classes = memory_classes(normal, module.facts_of(callee, entry), module.summary_of)
        run: Any = bare(normal, aligned=True)
    found: dict[tuple[str, str], None] = {}

    def watch(frame: Any, event: str, argument: Any) -> Any:
        if frame.f_code is not run.__code__:
            return None
        held = {name: reached(value) for name, value in frame.f_locals.items()}
        for one, other in itertools.combinations(held, 2):
            if classes.root(one) != classes.root(other) and is_shared(held[one], held[other]):
                found[one, other] = None
        return watch

    given = copy.deepcopy([values[p] for p in normal.parameters if not isinstance(values.get(p), FunctionType)])
    before = sys.gettrace()
    sys.settrace(watch)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            with suppress(*_ENDS):
                run(*given)
    finally:
        sys.settrace(before)
    yield from (f"{function.__name__}: {one} and {other}" for one, other in found)


def checked(function: Any, arguments: tuple[Any, ...]) -> None:
    for of_kinds in (True, False):
        with suppress(SrcgradError):  # it is refused when it is compiled
            assert list(unforeseen(function, arguments, of_kinds=of_kinds)) == []


@for_each(case for case in runnable(160) if not case.keywords)
def test_programs(case: Case) -> None:
    checked(case.function, case.arguments)


@pytest.mark.nightly
@for_each(case for case in runnable() if not case.keywords)
def test_all_programs(case: Case) -> None:
    checked(case.function, case.arguments)


@pytest.mark.nightly
@pytest.mark.parametrize("first", range(0, 3000, 500))
def test_random_programs(first: int) -> None:
    for number in range(first, first + 500):
        with random_program(number) as (function, given):
            checked(function, given)


def shares_a_row(x: Any) -> Any:
    rows = [x * 1.0, x * 2.0]
    first = rows[0]
    first[0] = x[1]
    return rows[0].sum()


def test_what_is_missing_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """A class that loses what a container holds."""
    assert list(unforeseen(shares_a_row, (np.ones(2),), of_kinds=True)) == []  # type: ignore[arg-type]
    monkeypatch.setattr("srcgrad.analysis.memory.Solver._hold", lambda *_: None)
    assert list(unforeseen(shares_a_row, (np.ones(2),), of_kinds=True))  # type: ignore[arg-type]
