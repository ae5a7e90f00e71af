"""The call that a program is compiled for, as a callee with its ``Instance``.

Enters: a function and the arguments of a call, or none.  Leaves: the callee, which holds of every call with arguments
of the same kinds (without arguments: with data), as long as what the function reads from outside is of the same kinds
too: the journal of the compile gets what describes those, from which its guards are made.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from typing import Any, NoReturn

import gast

from srcgrad.errors import LanguageError, MissingRule, UnsupportedSyntax
from srcgrad.frontend.journal import Journal
from srcgrad.frontend.lowering import converted
from srcgrad.frontend.source import source_of
from srcgrad.infer.calls import model_of
from srcgrad.infer.interpreter import GivenUp, analysed
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.reasons import Place, Reason
from srcgrad.infer.summaries import Called
from srcgrad.ir import regions as ir
from srcgrad.ir.normal_form import Callee
from srcgrad.ir.operations import Yield, YieldFrom
from srcgrad.language.models import is_of_model
from srcgrad.specialise.ended import refuse_ended
from srcgrad.specialise.instances import instance_of, taken_apart
from srcgrad.specialise.unruled import missing_rule
from srcgrad.syntax.parse import spelled

MOST = 5_000  # statements that the analysis runs; of a longer text, as many as it has
_OF_DERIVATIVES = 4  # times that, of texts of derivatives, in which loops nest deeper and hold more


def callee_for(
    callee: Callee,
    arguments: tuple[tuple[Any, ...], Mapping[str, Any]] | None,
    journal: Journal,
    is_data: bool = False,
) -> Callee:
    """Raises ``UnsupportedSyntax`` where it is not known what the values may be.

    ``is_data``: numbers, arrays and containers among the arguments stand for any.
    """
    function: Any = callee.function
    positional, keywords = (None, None) if arguments is None else arguments
    try:
        is_generated = source_of(function).generated
        as_data = is_generated or is_data
        most = max(MOST * (_OF_DERIVATIVES if is_generated else 1), len(function.__code__.co_code) // 4)
        ask = partial(analysed, function, positional, keywords, by_kind=True, as_data=as_data, most=most, stops=True)
        facts, joint = ask(), set[Called]()
        while facts is not None and (more := taken_apart(facts) - joint):
            joint |= more
            facts = ask(joint=joint)
    except GivenUp as given_up:
        raise _refusal(function, given_up.why, given_up.place) from None
    made = converted(function)  # which says why a text cannot be read
    if made.is_generator:
        _refuse_generator(function, made)
    if facts is None or len(facts.entry) != 1:
        raise UnsupportedSyntax(
            "what the variables of this function may be is not known", source_of(function).span(), code="E0202"
        )
    refuse_ended(function, facts)
    return replace(callee, instance=instance_of(model_of(function) or function, facts.entry[0], facts))


def _refuse_generator(function: Any, made: ir.Function) -> NoReturn:
    gives = [statement.node for _, statement in ir.walk(made.body)
             if isinstance(getattr(statement, "operation", None), Yield | YieldFrom)]  # fmt: skip
    span = source_of(function).span(*gives[:1])
    raise UnsupportedSyntax(
        "a generator cannot be reversed", span, code="E0102", label="this function yields", hint="return a list"
    )


def _refusal(function: Any, why: Reason, place: Place | None) -> LanguageError | MissingRule:
    """What is said of an analysis that is given up: of a function of a library, that it has no rule."""
    span = source_of(function).span() if place is None else source_of(place.owner).span(place.node)
    called = None if place is None else place.called
    is_ours = called is None or is_of_model(called) or not is_of_library(called)
    if place is not None and not is_ours and isinstance(place.node, gast.Call):
        return missing_rule(spelled(place.node.func), called, span)
    return UnsupportedSyntax(why.message, span, code=why.code, label=why.label, hint=why.hint)
