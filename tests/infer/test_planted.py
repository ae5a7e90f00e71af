"""The sanitizer finds unsound transfer functions: each of these says less than what may happen."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from srcgrad.infer import calls, control, heap, interpreter, items, iteration, objects, operations, values
from srcgrad.ir import operations as ir
from tests.infer.sanitizer import unforeseen


class Holder:
    def __init__(self, value):
        self.value = value

    @property
    def twice(self):
        return self.value * 2.0


def appended(x):
    held = [1.0]
    held.append(x)
    return held[1] if len(held) > 1 else 0.0


def viewed(x):
    y = x[:2]
    y[0] = 3.0
    return y


def joined_branches(x):
    y = [x] if x[0] > 5.0 else [2.0]
    return y[0]


def looped(x):
    total = 0
    for _ in range(4):
        total = [total]
    return total


def captured(x):
    n = 1.0

    def change():
        nonlocal n
        n = "text"

    change()
    return n


def kept_outside(x):
    held = [x]
    sorted([3, 1], key=lambda v: held.append("text") or v)
    return held[-1]


def overwritten(x):
    objects_ = [Holder(v) for v in (1.0, "text")]
    objects_[0].value = None
    return objects_[0].value, objects_[1].value


def raised(x):
    held = [1.0]
    try:
        held[0] = "text"
        held[7]
    except IndexError:
        return held[0]
    return 2.0


def negated(x):
    if not x[0] > 5.0:
        return 1.0
    return "text"


def given_out(x):
    y = np.zeros(3)
    z = np.multiply(x, 2.0, out=y)
    z[0] = 7.0
    return y


def powers(x):
    base = -2.0
    return base ** float(x[0] * 0.0 + 0.5)


def left_by_none(x):
    y = None if x[0] > 0.0 else 2.0
    for _ in range(2):
        if y is None:
            break
        x = x + y
    return [y]


LOG = [1.0]


class Noting:
    """Its special methods change a global."""

    def __init__(self, n=1.0):
        self.n = n

    @property
    def p(self):
        return self.n

    @p.setter
    def p(self, value):
        self.n = value

    def __hash__(self):
        LOG.append("text")
        return 1

    def __setitem__(self, index, value):
        raise ValueError


class Sum:
    def __add__(self, other):
        return 1.0


class TextSum(Sum):
    def __radd__(self, other):
        return "text"


def two_sets_of_cells(x):
    def make(v):
        def outer():
            def inner():
                return v

            return inner

        return outer

    def run(outer):
        return outer()

    first, _ = run(make(1.0)), run(make("text"))
    return [first()]


def raised_after_a_change(x):
    kept = [1.0]

    def bad(v):
        kept.append("text")
        raise ValueError

    try:
        sorted([1], key=bad)
    except ValueError:
        return [kept[-1]]
    return []


def raised_by_a_display(x):
    held = [1.0]
    try:
        held[0] = "text"
        {[]}
    except TypeError:
        return [held[0]]
    return []


def unpacked_from_anything(x):
    pair = (1.0, 2.0) if x[0] > 5.0 else eval("('a', 'b')")
    first, second = pair
    return [first, second]


def starred_dict(x):
    return [(lambda a: a)(*{"a": 1.0})]


def one_of_two_receivers(x):
    one, other = Noting(), Noting()
    chosen = one if x[0] > 0.5 else other
    chosen.p = "text"
    return [one.n, other.n]


def a_receiver_that_refuses(x):
    chosen = [1.0] if x[0] > 0.5 else Noting()
    chosen[0] = 2.0
    return [1]


def hashed_in_a_display(x):
    {Noting()}
    last = LOG[-1]
    LOG[:] = [1.0]
    return [last]


def reflected_by_a_subclass(x):
    return [Sum() + TextSum()]


def a_truth_as_an_index(x):
    b = 1.0 in [1.0]
    y = x[b]
    return [y]


def a_ufunc_of_the_users(x):
    return [MADE(float(x[2]))]


def what_has_no_samples(x):
    return [DAY - DAY, LARGE + 1]


MADE = np.frompyfunc(lambda v: "text" if v > 2.5 else 1.0, 1, 1)
DAY, LARGE = np.datetime64("2020-01-01"), 10**5000
PROGRAMS = [
    appended, viewed, joined_branches, looped, captured, kept_outside, overwritten, raised, negated, given_out, powers,
    left_by_none, two_sets_of_cells, raised_after_a_change, raised_by_a_display, unpacked_from_anything, starred_dict,
    one_of_two_receivers, a_receiver_that_refuses, hashed_in_a_display, reflected_by_a_subclass, a_truth_as_an_index,
    a_ufunc_of_the_users, what_has_no_samples,
]  # fmt: skip
X = np.array([1.0, 2.0, 3.0])


def complaints() -> list[str]:
    return [text for program in PROGRAMS for text in unforeseen(program, (X,), {})]


def test_without_a_fault_nothing_is_found():
    assert complaints() == []


def _append_nothing(patch: Any) -> None:
    before = calls._of_builtin

    def made(analysis: Any, frame: Any, statement: Any, receiver: Any, name: str, given: Any, heap_: Any) -> Any:
        if name == "append":
            return values.exact(None), heap_
        return before(analysis, frame, statement, receiver, name, given, heap_)

    patch(calls, "_of_builtin", made)


def _views_are_new(patch: Any) -> None:
    before = operations.get_item

    def made(analysis: Any, frame: Any, statement: Any, base: Any, index: Any, heap_: Any) -> Any:
        if all(isinstance(atom, values.Array) for atom in base.atoms) and not items.is_index(index):
            return objects.data(frame, statement, heap_)
        return before(analysis, frame, statement, base, index, heap_)

    patch(operations, "get_item", made)


def _branches_keep_the_first(patch: Any) -> None:
    patch(control, "merged", lambda ways: next((way for way in ways if way is not None), None))


def _loops_run_once(patch: Any) -> None:
    patch(control, "_ROUNDS", 0)


def _closures_do_not_write(patch: Any) -> None:
    run = operations._RUN
    patch(operations, "_RUN", {**run, ir.WriteCell: lambda a, frame, s, op, heap_: (values.exact(None), heap_)})


def _unknown_code_calls_nothing(patch: Any) -> None:
    patch(interpreter.Analysis, "run_unknown", lambda *given: None)


def _unknown_code_changes_nothing(patch: Any) -> None:
    patch(heap.Heap, "exposed", lambda self, roots: self)


def _every_site_is_one_object(patch: Any) -> None:
    patch(heap.Heap, "allocated", lambda self, site, contents: self._with({site: replace(contents, single=True)}))


def _exceptions_come_from_the_beginning(patch: Any) -> None:
    from srcgrad.infer.frames import Frame

    patch(Frame, "may_raise", lambda self, heap_: None)


def _not_is_bool(patch: Any) -> None:
    before = operations._operator

    def made(analysis: Any, frame: Any, statement: Any, op: Any, heap_: Any) -> Any:
        plain = replace(op, symbol="bool") if op.symbol == "not" else op
        return before(analysis, frame, statement, plain, heap_)

    def narrowed(analysis: Any, frame: Any, value: Any, heap_: Any) -> Any:
        return {True}, heap_

    patch(operations, "_RUN", {**operations._RUN, ir.Operator: made})
    patch(control, "truth", narrowed)


def _outputs_are_not_returned(patch: Any) -> None:
    before = calls.applied

    def made(analysis: Any, frame: Any, statement: Any, effect: Any, given: Any, heap_: Any) -> Any:
        return before(analysis, frame, statement, replace(effect, output=None), given, heap_)

    patch(calls, "applied", made)


def _powers_of_floats_are_floats(patch: Any) -> None:
    before = iteration._samples
    patch(iteration, "_samples", lambda kind: before(kind)[1:2])


def _tests_hold_for_good(patch: Any) -> None:
    patch(control, "run_block", lambda analysis, frame, block, heap_: control._run(analysis, frame, block, heap_, {}))


FAULTS = [
    _tests_hold_for_good,
    _append_nothing, _views_are_new, _branches_keep_the_first, _loops_run_once, _closures_do_not_write,
    _unknown_code_calls_nothing, _unknown_code_changes_nothing, _every_site_is_one_object,
    _exceptions_come_from_the_beginning, _not_is_bool, _outputs_are_not_returned, _powers_of_floats_are_floats,
]  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.__name__.strip("_").replace("_", " "))
def test_planted(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch.setattr)
    assert complaints()
