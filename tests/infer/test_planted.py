"""The sanitizer finds unsound transfer functions: each of these says less than what may happen."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from srcgrad.infer import (
    arithmetic,
    assigned,
    calls,
    classes,
    control,
    copies,
    exceptions,
    frames,
    generators,
    heap,
    interpreter,
    items,
    objects,
    operations,
    outside,
    summaries,
    values,
)
from srcgrad.ir import operations as ir
from tests.infer import calling
from tests.infer.programs import PROGRAMS
from tests.infer.programs_of_containers import PROGRAMS as PROGRAMS_OF_CONTAINERS
from tests.infer.programs_of_models import PROGRAMS_OF_MODELS
from tests.infer.sanitizer import unforeseen, unforeseen_of_kinds
from tests.parameters import at_night

ALL = [*PROGRAMS, *PROGRAMS_OF_MODELS, *PROGRAMS_OF_CONTAINERS, *calling.PROGRAMS]
X = np.array([1.0, 2.0, 3.0])


def complaints() -> Iterator[str]:
    return (text for program in ALL for text in unforeseen(program, (X,), {}))


@pytest.mark.parametrize("every", [8, at_night(1)])
def test_without_a_fault_nothing_is_found(every):
    assert [text for program in ALL[::every] for text in unforeseen(program, (X,), {})] == []


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


def _keys_are_never_put_in(patch: Any) -> None:
    before = heap.Contents.with_sides
    patch(heap.Contents, "with_sides", lambda self, keys, held: before(self, values.NEVER, held))


def _values_are_those_of_one_side(patch: Any) -> None:
    before = heap.joined

    def made(one: Any, other: Any) -> Any:
        found = before(one, other)
        apart = found.apart and one.sides and (one.sides[0], found.apart[1])
        return replace(found, apart=apart, rest=found.rest if apart is None else values.union(*apart))

    patch(heap, "joined", made)


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
    patch(heap.Heap, "allocated", lambda self, site, contents: self.with_all({site: replace(contents, single=True)}))


def _exceptions_come_from_the_beginning(patch: Any) -> None:
    patch(frames.Frame, "may_raise", lambda self, heap_: None)


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
    before = arithmetic._samples
    patch(arithmetic, "_samples", lambda kind: before(kind)[1:2])
    patch(arithmetic, "_of_library", arithmetic._of_classes)  # which keeps what it found of other samples


def _tests_hold_for_good(patch: Any) -> None:
    patch(control, "run_block", lambda analysis, frame, block, heap_: control._run(analysis, frame, block, heap_, {}))


def _attributes_are_what_they_were(patch: Any) -> None:
    patch(assigned.Assigned, "may_be", lambda self, owner, name: False)
    patch(assigned.Assigned, "is_open", lambda self, kind: False)


def _objects_of_libraries_hold_nothing(patch: Any) -> None:
    patch(outside.Outside, "_whole", lambda self, found: self._noted(found, values.exact(found)))


def _classes_hold_nothing(patch: Any) -> None:
    before = interpreter.unwrapped
    patch(interpreter, "unwrapped", lambda found: [part for part in before(found) if callable(part)])


def _exceptions_hold_nothing(patch: Any) -> None:
    patch(exceptions, "operands_of", lambda operation: [])


def _classes_are_what_objects_say(patch: Any) -> None:
    patch(classes, "_answers_itself", lambda kind: False)


def _nothing_happens_between_items(patch: Any) -> None:
    before = generators.Body.give
    patch(generators.Body, "give", lambda self, value, heap_: (before(self, value, heap_), heap_)[1])


def _generators_forget(patch: Any) -> None:
    patch(generators.Body, "bind", frames.Frame.bind)


def _calls_do_not_depend_on_the_heap(patch: Any) -> None:
    patch(heap.Heap, "is_same", lambda self, other: True)


def _recursion_comes_to_an_end_at_once(patch: Any) -> None:
    patch(summaries, "_is_within", lambda after, before: True)


def _what_depends_on_a_first_round_is_kept(patch: Any) -> None:
    def asked(running: Any, found: Any) -> None:
        found.is_asked = True

    patch(summaries, "_ask", asked)


def _callees_make_what_the_caller_has(patch: Any) -> None:
    patch(summaries, "joined", lambda before, after: after)


def _callees_reach_no_globals(patch: Any) -> None:
    patch(summaries, "reached", lambda analysis, heap_, roots: heap_.part(analysis.reachable(heap_, roots)[0], ()))


def _suspended_bodies_hold_nothing(patch: Any) -> None:
    patch(interpreter.Analysis, "reachable", lambda self, heap_, roots: heap_.reachable(roots))


def _missing_keys_make_nothing(patch: Any) -> None:
    patch(items, "_or_missing", lambda *given: given[-2:])


def _copies_are_the_objects(patch: Any) -> None:
    itself = {copy.copy: lambda analysis, frame, statement, given, heap_: (given.positional[0], heap_)}
    patch(copies, "_FUNCTIONS", copies._FUNCTIONS | itself)


def _exceptions_leave_every_manager(patch: Any) -> None:
    patch(control, "_is_passed", lambda *given: True)


FAULTS = [
    _keys_are_never_put_in, _values_are_those_of_one_side,
    _missing_keys_make_nothing, _copies_are_the_objects, _exceptions_leave_every_manager,
    _calls_do_not_depend_on_the_heap, _recursion_comes_to_an_end_at_once, _what_depends_on_a_first_round_is_kept,
    _callees_make_what_the_caller_has, _callees_reach_no_globals, _suspended_bodies_hold_nothing,
    _nothing_happens_between_items, _generators_forget,
    _attributes_are_what_they_were, _objects_of_libraries_hold_nothing, _classes_hold_nothing, _exceptions_hold_nothing,
    _classes_are_what_objects_say,
    _tests_hold_for_good,
    _append_nothing, _views_are_new, _branches_keep_the_first, _loops_run_once, _closures_do_not_write,
    _unknown_code_calls_nothing, _unknown_code_changes_nothing, _every_site_is_one_object,
    _exceptions_come_from_the_beginning, _not_is_bool, _outputs_are_not_returned, _powers_of_floats_are_floats,
]  # fmt: skip


#: Faults that are found late, each in more than half a minute.
_LATE = (_what_depends_on_a_first_round_is_kept, _suspended_bodies_hold_nothing)


@pytest.mark.parametrize(
    "fault",
    [pytest.param(fault, marks=pytest.mark.nightly) if fault in _LATE else fault for fault in FAULTS],
    ids=[fault.__name__.strip("_").replace("_", " ") for fault in FAULTS],
)
@pytest.mark.costly(2, first=1)
def test_planted(fault: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    fault(monkeypatch.setattr)
    assert next(complaints(), None) is not None


def _itself(kinds: Any, value: Any) -> Any:
    """An argument as what it is in this call."""
    outside = kinds._outside
    by_kind, outside.by_kind = outside.by_kind, None
    found, outside.by_kind = outside.value(value), by_kind
    return found


def asks_about_a_number(n):
    return 1.0 if n > 1 else "text"


def changes_one_of_two(a, b):
    a[0] = "text"
    return b[0]


@pytest.mark.parametrize(("program", "arguments"), [(asks_about_a_number, (2,)), (changes_one_of_two, ([1.0], [2.0]))])
def test_what_one_call_says_is_not_said_of_all(program: Any, arguments: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert unforeseen_of_kinds(program, arguments) == []
    monkeypatch.setattr(interpreter.Kinds, "of", _itself)
    assert unforeseen_of_kinds(program, arguments)
