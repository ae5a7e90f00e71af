"""Programs whose normal form is written, or refused, and what they compute."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from pytest import MonkeyPatch

from srcgrad.errors import MissingRule, UnsupportedSyntax
from srcgrad.infer.interpreter import GivenUp, analysed
from srcgrad.ir.normal_form import Function
from srcgrad.runtime.refusals import Refused
from srcgrad.spec import check_normal_form
from srcgrad.specialise.ending import specialised
from srcgrad.specialise.entry import MOST
from srcgrad.specialise.instances import Instance, instance_of
from tests import derivatives
from tests.corpus.example import Case
from tests.directed import running
from tests.directed.program import Program


def instance_for(case: Case) -> Instance | None:
    """A function for the kinds of a case's arguments; None where they are not known."""
    try:
        facts = analysed(case.function, derivatives.fresh(case.arguments), by_kind=True, most=MOST)
    except GivenUp:
        return None
    if facts is None or facts.is_lost or len(facts.entry) != 1:
        return None
    return instance_of(case.function, facts.entry[0], facts)


def written(case: Case) -> Function | None:
    """The normal form of a case, which keeps to what is declared; None where it is not written yet."""
    found = instance_for(case)
    if found is None:
        return None
    try:
        made = specialised(found)
    except UnsupportedSyntax:
        return None
    check_normal_form(made)
    return made


@contextmanager
def serving(case: Case, monkeypatch: Callable[..., None]) -> Iterator[None]:
    """The compiler takes the function of a case, and what that calls, from here."""
    kept = vars(case.function)
    compiled_before = kept.pop("__srcgrad_kept__", None)
    try:
        yield
    finally:
        kept.pop("__srcgrad_kept__", None)
        if compiled_before is not None:
            kept["__srcgrad_kept__"] = compiled_before


def is_served(check: Callable[[], None]) -> bool:
    """Run a check; whether all that it needs is written."""
    try:
        check()
    except (UnsupportedSyntax, MissingRule, Refused):
        return False
    return True


def check_right(function: Callable[..., float], monkeypatch: MonkeyPatch, *arguments: Any) -> None:
    """A program is written, and right in both directions, against numbers."""
    made = program_of(function, arguments)
    assert written(made) is not None
    with serving(made, monkeypatch.setattr):
        assert is_served(lambda: running.run_reverse(made, sink=True))
        assert is_served(lambda: running.run_forward(made))


def check_refused(function: Callable[..., float], monkeypatch: MonkeyPatch, *arguments: Any) -> None:
    """A program is not written, or something that it calls is not."""
    made = program_of(function, arguments)
    if written(made) is not None:
        with serving(made, monkeypatch.setattr):
            assert not is_served(lambda: running.run_reverse(made, sink=True))


def program_of(function: Callable[..., float], arguments: tuple[Any, ...]) -> Program:
    return Program(function.__name__, "specialise", function, arguments, {}, (0,), True, 1, 1e-6, {})
