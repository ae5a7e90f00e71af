"""Classes that functions define for themselves: whether it can be told that they are made once, and not in each call.

Enters: calls of functions that hold class statements, and tests of what class something is.  Leaves: nothing, or the
analysis is given up.  A class of another call can be told from this one by ``isinstance``, ``type``, ``match`` and the
``==`` of dataclasses.  So either no object is left when the call ends that has made its class, or no such test asks for
it; the class itself is not left; and when such a call begins, nothing of an earlier one is there::

    def part(y):                       p, q = part(x[0]), part(x[1])
        @dataclass                     return p.v * q.v               right: nothing asks
        class Part:                    return float(p == q)           refused: Python says False of any two
            v: float
        return Part(y)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from srcgrad.frontend.classes import is_local
from srcgrad.infer.heap import Heap
from srcgrad.infer.reasons import Reason
from srcgrad.infer.values import Exact, Value, at
from srcgrad.ir import operations as ir
from srcgrad.ir.regions import Assign, Function, walk

if TYPE_CHECKING:
    from srcgrad.infer.assigned import Assigned
    from srcgrad.infer.summaries import Summary

_HINT = "define it in the module"
_KEPT = Reason("E0106", "an object of a class inside a differentiated function leaves it",
               "each call makes another class", _HINT)  # fmt: skip
_AGAIN = Reason("E0106", "a class inside a differentiated function is made again while objects of an earlier call are"
                " there", "each call makes another class", _HINT)  # fmt: skip
_ASKED = Reason("E0106", "a test of the class of an object, where each call of a function makes that class again",
                "each call makes another class", _HINT)  # fmt: skip


class LocalClasses:
    """Those of one analysis: whose objects outlive the call that has made them, and for which some test asks."""

    def __init__(self, assigned: Assigned) -> None:
        self._assigned = assigned
        self._made: dict[Function, tuple[type, ...]] = {}
        self._left, self._asked = set[type](), set[type]()
        self._are_any = False  # whether a function that was called holds a class statement

    def ask(self, kinds: Iterable[type | None]) -> None:
        """Note a test that tells objects of these classes from others."""
        self._asked.update(kind for kind in kinds if kind is not None and is_local(kind))
        self._look()

    def compare(self, heap: Heap, *operands: Value) -> None:
        """Note that objects are compared, by which dataclasses tell their class."""
        if self._are_any:
            self.ask(kind for kind in _kinds_of(heap, operands)[0] if dataclasses.is_dataclass(kind))

    def catch(self, heap: Heap, kinds: Sequence[Value]) -> None:
        """Note classes of which exceptions are caught."""
        if self._are_any:
            self.ask(_kinds_of(heap, kinds)[1])

    def throw(self, heap: Heap, given: Sequence[Value]) -> None:
        """Note what an exception holds, which may leave the function."""
        if self._are_any and any(not issubclass(kind, BaseException) for kind in _kinds_of(heap, given)[0]):
            self._assigned.give_up(_KEPT)

    def _look(self) -> None:
        if any(issubclass(one, other) or issubclass(other, one) for one in self._asked for other in self._left):
            self._assigned.give_up(_ASKED)

    def begin(self, function: Function, heap: Heap, given: Sequence[Value]) -> None:
        """A call begins, of a function that is given this."""
        made = self._of(function)
        if made and any(not made.isdisjoint(kinds) for kinds in _kinds_of(heap, given)):
            self._assigned.give_up(_AGAIN)

    def end(self, summary: Summary, kept: Sequence[Value], *, is_last: bool) -> None:
        """A call has ended, which has been given what is ``kept``; ``is_last``: that of the whole program."""
        made = self._of(summary.function)
        if not made and not is_last:
            return
        before = set[type]().union(*_kinds_of(summary.heap, kept)) if is_last else set[type]()
        for heap, values in _ends(summary):
            outside = [at(site) for site in heap if site.context == "outside"]
            by_objects, themselves = _kinds_of(heap, [*values, *kept, *outside])
            if made & themselves or is_last and (by_objects | themselves) - before:
                self._assigned.give_up(_KEPT)
            self._left |= by_objects & made
        if not is_last:
            self._left.update(kind for kind in made if issubclass(kind, BaseException))  # which may be raised from it
        self._look()

    def _of(self, function: Function) -> set[type]:
        """The classes that a function makes itself."""
        if function not in self._made:
            operations = (s.operation for _, s in walk(function.body) if isinstance(s, Assign))
            kinds = (op.made for op in operations if isinstance(op, ir.MakeClass))
            self._made[function] = tuple(kind for kind in kinds if kind is not None)
            self._are_any |= bool(self._made[function])
        return set(self._made[function])


def _ends(summary: Summary) -> list[tuple[Heap, tuple[Value, ...]]]:
    ends = [] if summary.returned is None else [(summary.returned[1], summary.returned[0])]
    return ends if summary.raised is None else [*ends, (summary.raised, ())]


def _kinds_of(heap: Heap, values: Sequence[Value]) -> tuple[set[type], set[type]]:
    """The local classes of which objects can be reached from values, and those that can themselves, or by members."""
    sites, held = heap.reachable(values)
    constants = [atom.value for value in held for atom in value.atoms if isinstance(atom, Exact)]
    themselves = (each if isinstance(each, type) else type(each) for each in constants)
    return {s.kind for s in sites if s.kind is not None and is_local(s.kind)}, {k for k in themselves if is_local(k)}
