"""What there is to see of a derivative: the program that runs, its stages, its page, what a run costs.

Enters: a ``Derivative``.  Leaves: one of its programs, text, or a page.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

from srcgrad.api.annotations import Told, told_by_annotations
from srcgrad.api.arguments import kinds_of
from srcgrad.api.stages import text_at
from srcgrad.errors import ArgumentError, SrcgradError
from srcgrad.faults import reported
from srcgrad.ir.normal_form import Callee
from srcgrad.observe.listing import listing
from srcgrad.observe.page import Annotation, Explanation, annotation
from srcgrad.observe.profile import Profile, profiled
from srcgrad.pipeline import compile_request
from srcgrad.programs import Compiled, options
from srcgrad.requests import Request
from srcgrad.rules.facts import fact_of
from srcgrad.runtime import kind_of, zeros_like

if TYPE_CHECKING:
    from srcgrad.api.derivative import Derivative

#: The stage of a page that has what ``explain`` prints; other stages are text alone.
_TABS = {
    "normalize": "normal", "desugar": "normal", "reverse": "reverse", "optimize": "optimised", "emit": "optimised",
}  # fmt: skip


def shown(derivative: Derivative) -> Compiled:
    """The program of the last call; before one, that for arguments as annotations say, and for a bound method its
    object; without either, the program that assumes nothing."""
    ran = derivative.ran
    if ran is not None and ran.is_current():
        return ran
    names, first = derivative.parameters.names, derivative.parameters.first
    told = {**told_by_annotations(derivative.primal), **{n: Told(v, fact_of(v, n)) for n, v in zip(names, first)}}
    if not told:
        return derivative.program(None, shown=True)
    samples = tuple(told[name].sample if name in told else None for name in names)
    if all(sample is not None for sample in samples):
        with options(sizes=False):  # of which annotations say nothing
            return derivative.program_for(samples)
    return reported(_compiled)(derivative, told)


def saved_for(derivative: Derivative) -> Compiled:
    """The program of a bound method as it is saved: it takes the object first, and looks whether it is as this one."""
    names, first = derivative.parameters.names, derivative.parameters.first
    if not first:
        return derivative.program(None)
    kinds_of(first)  # refuses an object that contains itself
    kinds = {name: kind_of(value) for name, value in zip(names, first)}
    if None in kinds.values():
        raise ArgumentError(
            "this derivative is not saved as a file: its object holds more than numbers, arrays and such objects",
            hint="save the derivative of a function of what it computes with",
        )
    told = {name: Told(value, fact_of(value, name)) for name, value in zip(names, first)}
    return reported(_compiled)(derivative, told, {name: str(kind) for name, kind in kinds.items()})


def _compiled(derivative: Derivative, told: Mapping[str, Told], kinds: Mapping[str, str] | None = None) -> Compiled:
    """The program for arguments that are described in part: by an object, or by a fact.  ``kinds``: of those that
    it looks at when it is called, else it is made to be read."""
    facts = {name: one.fact for name, one in told.items() if one.fact is not None}
    names, first = derivative.parameters.names, derivative.parameters.first
    callee, tupled = Callee(derivative.function(None)), isinstance(derivative.argnums, tuple)  # type: ignore[arg-type]
    request = Request(callee, derivative.wanted, derivative.mode, facts, tupled, shown=kinds is None)
    own = names[: len(first)]
    request = replace(request, open=kinds is not None, told=kinds or {}, kept=own)
    if first:
        known = derivative.parameters.spread((*first, *(0.0 for _ in names[len(first) :])))
        request = replace(request, arguments=known, kinds=("of an object", kinds_of(first)), is_data=True)
    return compile_request(request)


def explained(derivative: Derivative, at: str) -> Explanation:
    """The program at a stage, which a notebook shows as the page with that stage open."""
    text = text_at(Callee(derivative.function(None)), at, derivative.wanted)  # type: ignore[arg-type]
    return Explanation(text, lambda: as_html(derivative, _TABS[at]) if at in _TABS else None)


def annotated(
    derivative: Derivative, compiled: Compiled, profile: Profile | None = None, opened: str = "optimised"
) -> Annotation:
    """The page of one of its programs, with the costs of a run, and with one stage open."""
    return annotation(listing(compiled, derivative.title, profile), opened)


def as_html(derivative: Derivative, opened: str = "optimised") -> str:
    """What a notebook shows of a derivative: its page, or why it is refused."""
    try:
        return annotated(derivative, derivative.shown(), opened=opened)._repr_html_()
    except SrcgradError as refusal:
        return f"<pre>{escape(repr(derivative))}\n\n{escape(type(refusal).__name__)}: {escape(str(refusal))}</pre>"


def measured(derivative: Derivative, values: tuple[Any, ...]) -> Profile:
    """The costs of a call of a gradient, line by line."""
    derivative.ran = compiled = derivative.program_for(values)

    def run(program: Compiled) -> None:
        outcome = derivative.run(program.entry, *derivative.arguments(values))
        if program.backward is not None:
            outcome, saved = outcome
            value = derivative.finished(outcome, values)
            derivative.require_scalar(value[0] if derivative.has_aux else value, compiled)
            seeds = (1.0, zeros_like(value[1])) if derivative.has_aux else derivative.spread(1.0, outcome)
            derivative.run(program.backward, saved, seeds)

    return profiled(compiled, run, derivative.title)
