"""Statements that ask objects of the user's for an answer, and stay as they are: that nothing is changed by that.

Enters: a statement that ``infer.answering`` has noted, and the summaries of the methods that it may run.  Leaves:
whether all of them only answer::

    print(layer)                 Layer.__repr__ reads fields: stays
    print(counter)               Counter.__repr__ counts how often it is asked: refused
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from srcgrad.infer.summaries import Summary
from srcgrad.ir.regions import Statement

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


def only_answers(made: Reduced, statement: Statement) -> bool:
    """Whether a statement runs methods of the user's that change nothing."""
    called = made.called.get(statement, [])
    if made.functions.origins.get(statement, statement) not in made.facts.answered:
        return False
    return not any(each.changes for each in called) and all(
        made.facts.opaque.isdisjoint(each.reached) for each in _all(called)
    )


def _all(called: Sequence[Summary]) -> list[Summary]:
    """Summaries, and those of all calls inside."""
    found: list[Summary] = []
    pending = list(called)
    while pending:
        summary = pending.pop()
        if summary not in found:
            found.append(summary)
            pending += [inner for each in summary.calls.values() for inner in each]
    return found
