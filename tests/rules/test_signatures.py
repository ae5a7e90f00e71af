"""The parameters of the rules are those of the functions, in NumPy's words, order and defaults."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import gast
import numpy as np
import pytest

from srcgrad.rules.calling import NEUTRAL, signature_of
from srcgrad.rules.catalogue import NUMPY, PYTHON, entries, installed_libraries
from srcgrad.rules.formula import constant, literal
from srcgrad.rules.table import lookup
from srcgrad.rules.template import Rule, UnsupportedCall
from tests.parameters import for_each

NAMED = inspect.Parameter.POSITIONAL_OR_KEYWORD, inspect.Parameter.KEYWORD_ONLY


def cases() -> list[tuple[str, Rule, Callable[..., Any], inspect.Signature]]:
    """The ruled functions that tell their signature."""
    found = []
    for entry in entries(NUMPY + PYTHON + installed_libraries()):
        rule = lookup(entry.function) if callable(entry.function) else None
        signature = None if rule is None else signature_of(entry.function)
        if rule is not None and signature is not None:
            found.append((entry.name, rule, entry.function, signature))
    return found


CASES = cases()


def case_id(case: Any) -> str:
    return str(case[0])


def is_open(signature: inspect.Signature) -> bool:
    """Whether a signature takes any arguments (``*args``), so that its names say little."""
    return any(p.kind in (p.VAR_POSITIONAL, p.VAR_KEYWORD) for p in signature.parameters.values())


@for_each(CASES, case_id)
def test_parameters_are_those_of_the_function(case: Any) -> None:
    """Every parameter of the rule is one of the function, or a synonym, or stands at a positional-only place."""
    _, rule, function, signature = case
    if is_open(signature):
        return
    positions = list(signature.parameters.values())
    for place, p in enumerate(rule.parameters):
        synonyms = {name for name, meant in rule.synonyms.items() if meant == p}
        if p in signature.parameters or synonyms & set(signature.parameters):
            continue
        shared = any(p in getattr(signature_of(f), "parameters", {}) for f in rule.functions if f is not function)
        at_its_place = place < len(positions) and positions[place].kind is inspect.Parameter.POSITIONAL_ONLY
        assert shared or at_its_place, f"{p} is no parameter of {signature}"


@for_each(CASES, case_id)
def test_defaults_are_those_of_the_function(case: Any) -> None:
    _, rule, _, signature = case
    for name, parameter in signature.parameters.items():
        p = rule.synonyms.get(name, name)
        if p not in rule.defaults or parameter.default is inspect.Parameter.empty:
            continue
        given = parameter.default
        known, default = literal(rule.defaults[p])
        if given is np._NoValue or type(given).__name__ in ("_NoValueType", "object") or callable(given):
            continue  # "not given", which the function fills in by itself
        assert known
        assert default == given or (given is None and name != p) or (default is None and given in (False, ())), name


@for_each(CASES, case_id)
def test_what_is_not_understood_is_refused_by_name(case: Any) -> None:
    """A parameter that is neither the rule's nor without effect is refused, unless it has its neutral value."""
    _, rule, function, signature = case
    needed = [p for p in rule.parameters if p not in rule.defaults and p != rule.variadic]
    for name, parameter in signature.parameters.items():
        if parameter.kind not in NAMED or rule.synonyms.get(name, name) in rule.parameters or name in rule.ignored:
            continue
        strange = constant("a value that means nothing")
        keywords: dict[str, gast.expr] = {p: gast.Name("x", gast.Load(), None, None) for p in needed}
        with pytest.raises(UnsupportedCall, match=name):
            rule.bind(function, [], keywords | {name: strange})
        neutral = {**NEUTRAL, **rule.neutral}
        if name in neutral:
            rule.bind(function, [], keywords | {name: constant(neutral[name])})
