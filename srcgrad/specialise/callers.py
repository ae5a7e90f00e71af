"""Where a refusal belongs in the text of the user's, when it was found in the text of somebody else.

Enters: a refusal that lies in a library, in a model of the standard library or in emitted text, and the function that
was being compiled.  Leaves: the same refusal at the user's own line, from which that text is reached::

    folds.py:122, in order_of                       model.py:8, in f
        keys[place] < keys[order[middle]]     ->        ordered = sorted(nodes)

A line of a library is named below; those of models and of emitted text mean nothing to the user.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from types import FunctionType

from srcgrad.errors import Span, SrcgradError
from srcgrad.frontend.source import Source, source_of
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.summaries import Summary
from srcgrad.ir.normal_form import Callee
from srcgrad.language.models import is_of_model
from srcgrad.specialise.instances import Instance


@contextmanager
def in_users_text(entry: Callable[[], Callee | None]) -> Iterator[None]:
    """While a function is compiled: refusals that lie elsewhere get the place of the user's that leads there."""
    try:
        yield
    except SrcgradError as refusal:
        callee = entry()
        if callee is not None and refusal.span is not None and isinstance(callee.instance, Instance):
            _place(refusal, callee.instance, refusal.span)
        raise


def _place(refusal: SrcgradError, instance: Instance, span: Span) -> None:
    calls = _Calls.of(instance)
    if (mapped := calls.of_emitted(span)) is not None:
        refusal.place(mapped)
        return
    if not calls.is_foreign(span):
        return
    path = calls.path_to(instance.summary, instance.function, span)
    own = [each for each in path if not calls.is_foreign(each)]
    if own:
        refusal.within = None if calls.is_hidden(span) else span
        refusal.place(own[-1])


@dataclass(frozen=True)
class _Calls:
    """The functions that an analysis has met, by the bodies that it ran, and who calls whom."""

    sources: dict[FunctionType, Source]
    owners: dict[int, FunctionType]

    @classmethod
    def of(cls, instance: Instance) -> _Calls:
        bodies = {function: body for function, body in instance.facts.functions.items() if body is not None}
        bodies[instance.function] = instance.summary.function
        sources = {function: source_of(function) for function in bodies}
        return cls(sources, {id(body): function for function, body in bodies.items()})

    def owner(self, span: Span) -> FunctionType | None:
        """The innermost function in whose text a place lies."""
        around = [f for f, source in self.sources.items() if _covers(source, span)]
        return max(around, key=lambda f: f.__code__.co_firstlineno, default=None)

    def is_foreign(self, span: Span) -> bool:
        owner = self.owner(span)
        return owner is not None and (is_of_library(owner) or is_of_model(owner) or self.sources[owner].generated)

    def is_hidden(self, span: Span) -> bool:
        """Whether a place lies in text of srcgrad's own."""
        owner = self.owner(span)
        return owner is None or is_of_model(owner) or owner.__module__.partition(".")[0] == "srcgrad"

    def of_emitted(self, span: Span) -> Span | None:
        """The user's line that a line of emitted text is a derivative of."""
        for function in self.sources:
            if function.__code__.co_filename == span.filename and "__srcgrad_line_map__" in function.__globals__:
                lines: dict[int, Span] = function.__globals__["__srcgrad_line_map__"]
                return next((lines[at] for at in range(span.line, 0, -1) if at in lines), None)
        return None

    def path_to(self, summary: Summary, owner: FunctionType, span: Span) -> list[Span]:
        """The places of the calls that lead from a function to a place, the outermost first."""
        target, seen = self.owner(span), set[int]()

        def found(at: Summary, within: FunctionType) -> list[Span] | None:
            seen.add(id(at))
            for statement, called in at.calls.items():
                here = self.sources[within].span(statement.node)
                for inner in called:
                    own = self.owners.get(id(inner.function), within)  # a local function stands in the text around it
                    if own is target and own is not within:
                        return [here]
                    rest = None if id(inner) in seen else found(inner, own)
                    if rest is not None:
                        return [here, *rest]
            return None

        return found(summary, owner) or []


def _covers(source: Source, span: Span) -> bool:
    node = source.node
    return source.filename == span.filename and node.lineno <= span.line <= (node.end_lineno or node.lineno)
