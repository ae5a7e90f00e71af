"""Statements that ask objects of the user's for an answer, and stay as they are: that nothing is changed by that.

Enters: a statement that ``infer.answering`` has noted, and the summaries of the methods that it may run.  Leaves:
whether all of them only answer::

    print(layer)                 Layer.__repr__ reads fields: stays
    print(counter)               Counter.__repr__ counts how often it is asked: refused
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from srcgrad.errors import UnsupportedSyntax
from srcgrad.infer.summaries import Summary
from srcgrad.ir.regions import Statement

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


def is_asking(made: Reduced, statement: Statement) -> bool:
    """Whether a statement asks objects for an answer."""
    return made.functions.origins.get(statement, statement) in made.facts.answered


def only_answers(made: Reduced, statement: Statement) -> bool:
    """Whether a statement asks objects for an answer, and changes nothing by that."""
    return is_asking(made, statement) and changes(made, statement) is None


def refuse_changes(made: Reduced, statement: Statement) -> None:
    """Refuse to ask by a method that changes something."""
    if (name := changes(made, statement)) is not None:
        span = made.source_of(made.frame.owner).span(statement.node)
        hint = "call it by its name, or keep it from storing"
        raise UnsupportedSyntax(f"{name} stores, and is called where no call is written", span, code="E0214", hint=hint)


def changes(made: Reduced, statement: Statement) -> str | None:
    """The method of the user's that a statement runs and that changes something, in words."""
    for called in made.called.get(statement, []):
        if called.changes or any(made.facts.runs_unknown(each.reached) for each in _all([called])):
            return called.function.qualname
    return None


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
