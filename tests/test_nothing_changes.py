"""No call of a derivative changes an argument, a global, a closure cell or a class: the corpus, before and after."""

from __future__ import annotations

import inspect
import sys
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.api.derivative import Derivative
from tests import derivatives, oracle
from tests.corpus import FIRST
from tests.corpus.example import Case
from tests.parameters import some_by_day
from tests.test_corpus import scalar_result

pytestmark = pytest.mark.slow

PLAIN = (int, float, complex, str, bytes, bool, type(None), range, slice, np.dtype, np.generic, types.ModuleType)


def frozen(value: Any, seen: dict[int, int]) -> Any:
    """What a value is and holds, as something that compares: contents, layouts, identities, sharing."""
    if isinstance(value, np.ndarray):
        flags = value.flags.writeable, value.flags.c_contiguous
        return "array", id(value), value.shape, value.strides, str(value.dtype), flags, value.tobytes()
    if isinstance(value, PLAIN):
        return repr(value)
    if isinstance(value, Derivative):
        return "derivative", id(value)  # what it has compiled so far is its own
    if id(value) in seen:
        return "again", seen[id(value)]
    seen[id(value)] = len(seen)
    if isinstance(value, list | tuple | set | frozenset):
        items = sorted(value, key=repr) if isinstance(value, set | frozenset) else value
        which = None if isinstance(value, tuple) else id(value)
        return type(value), which, [frozen(item, seen) for item in items]
    if isinstance(value, dict):
        return type(value), id(value), [(repr(k), frozen(item, seen)) for k, item in value.items()]
    if isinstance(value, types.FunctionType):
        cells = [frozen(cell.cell_contents, seen) for cell in value.__closure__ or ()]
        return "function", id(value), cells, [frozen(item, seen) for item in value.__defaults__ or ()]
    if isinstance(value, type):
        held = {name: part for name, part in vars(value).items() if not name.startswith("__")}
        return "class", id(value), [(name, frozen(part, seen)) for name, part in held.items()]
    fields = getattr(value, "__dict__", {})
    return type(value), id(value), [(name, frozen(part, seen)) for name, part in fields.items()]


def surroundings(case: Case) -> Any:
    """The arguments of a case, and all that its function can see."""
    function = inspect.unwrap(case.function)
    module = vars(sys.modules[case.function.__module__])
    visible = {k: v for k, v in module.items() if not k.startswith("__") and not isinstance(v, types.ModuleType)}
    seen: dict[int, int] = {}
    return [frozen(part, seen) for part in (*case.arguments, *case.keywords.values(), function, *visible.values())]


def check(case: Case, run: Callable[[], object]) -> None:
    """``run`` leaves all as it was, unless the program itself does not: one that keeps a log writes it in every run."""
    before = surroundings(case)
    case.function(*derivatives.fresh(case.arguments), **case.keywords)
    if surroundings(case) != before:
        return
    run()
    assert surroundings(case) == before


STORING = ("mutation", "aliasing")
#: The themes whose programs change something, or hold what could be changed; a share of them runs by day.
CHANGING = (*STORING, "containers_changed", "objects", "closures", "higher_order", "control")


def parameters(cases: list[Case]) -> list[Any]:
    """Every third of what stores, and every ninth of the others that change something, at every run."""

    def marks(k: int, theme: str) -> Any:
        return () if theme in CHANGING and k % (3 if theme in STORING else 9) == 0 else pytest.mark.nightly

    return [pytest.param(c, id=f"{c.theme}-{c.name}", marks=marks(k, c.theme)) for k, c in enumerate(cases)]


CASES = parameters(FIRST)
SCALAR = parameters([case for case in FIRST if scalar_result(case)])
TWICE = some_by_day(
    [case for case in FIRST if case.theme in STORING and not case.keywords and scalar_result(case)], 6
)


@pytest.mark.parametrize("case", SCALAR)
@pytest.mark.costly(4, first=1)
def test_gradients_leave_everything_as_it_was(case: Case) -> None:
    if case.theme in STORING:
        check(case, lambda: srcgrad.grad(case.function, argnums=case.argnums)(*case.arguments, **case.keywords))
    check(case, lambda: srcgrad.value_and_grad(case.function, argnums=case.argnums)(*case.arguments, **case.keywords))


@pytest.mark.parametrize("case", CASES)
@pytest.mark.costly(3)
def test_pullbacks_leave_everything_as_it_was(case: Case) -> None:
    def run() -> None:
        value, pullback = srcgrad.vjp(case.function, *case.arguments, argnums=case.argnums, **case.keywords)
        seed = oracle.seed_like(value, 1)
        pullback(seed)
        pullback(seed)

    check(case, run)


@pytest.mark.parametrize("case", [p for p in CASES if not p.values[0].keywords])
@pytest.mark.costly(3)
def test_tangents_leave_everything_as_it_was(case: Case) -> None:
    tangents = derivatives.tangents_of(case, oracle.seed_like(derivatives.chosen(case), 2))
    check(case, lambda: srcgrad.jvp(case.function, case.arguments, tangents))


@pytest.mark.parametrize("case", TWICE)
@pytest.mark.costly(2)
def test_second_derivatives_leave_everything_as_it_was(case: Case) -> None:
    direction = oracle.seed_like(derivatives.chosen(case), 3)
    check(case, lambda: srcgrad.hvp(case.function, argnums=case.argnums)(*case.arguments, direction))


def test_a_change_is_seen() -> None:
    case = next(case for case in FIRST if case.name == "argument_is_stored_into")
    given = derivatives.fresh(case.arguments)
    before = frozen(given, {})
    assert frozen(given, {}) == before
    case.function(*given)
    assert frozen(given, {}) != before
