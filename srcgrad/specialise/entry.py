"""The call that a program is compiled for, as a callee with its ``Instance``.

Enters: a function and the arguments of a call, or none.  Leaves: the callee, which holds of every call with arguments
of the same kinds (without arguments: with data), as long as what the function reads from outside is of the same kinds
too: the journal of the compile gets what describes those, from which its guards are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.journal import Journal
from srcgrad.frontend.lowering import lowered
from srcgrad.frontend.source import source_of
from srcgrad.infer.calls import model_of
from srcgrad.infer.interpreter import GivenUp, analysed
from srcgrad.ir.normal_form import Callee
from srcgrad.specialise.ended import refuse_ended
from srcgrad.specialise.instances import instance_of

MOST = 5_000  # statements that the analysis runs; of a longer text, as many as it has


def callee_for(callee: Callee, arguments: tuple[tuple[Any, ...], Mapping[str, Any]] | None, journal: Journal) -> Callee:
    """Raises ``UnsupportedSyntax`` where it is not known what the values may be."""
    function: Any = callee.function
    positional, keywords = (None, None) if arguments is None else arguments
    try:
        as_data = source_of(function).generated
        most = max(MOST, len(function.__code__.co_code) // 4)
        facts = analysed(function, positional, keywords, by_kind=True, as_data=as_data, most=most, stops=True)
    except GivenUp as given_up:
        owner, node = given_up.place or (function, None)
        why = given_up.why
        raise UnsupportedSyntax(why.message, source_of(owner).span(node), label=why.label, hint=why.hint) from None
    if facts is None:
        lowered(function)  # which says why it has no text that can be read
    if facts is None or len(facts.entry) != 1:
        raise UnsupportedSyntax("what its values may be is not known", source_of(function).span())
    refuse_ended(function, facts)
    return replace(callee, instance=instance_of(model_of(function) or function, facts.entry[0], facts))


