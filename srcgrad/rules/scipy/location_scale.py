"""Rules of distributions that SciPy shifts by ``loc`` and stretches by ``scale``, where these are given."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from srcgrad.rules.facts import Array, Fact, as_array, broadcast
from srcgrad.rules.results import Facts, Literals
from srcgrad.rules.table import elementwise
from srcgrad.rules.template import Rule


def location_scale(function: Callable[..., Any]) -> Callable[[Callable[..., Any]], Rule]:
    """Decorator: the adjoint of a method of a distribution, without ``loc`` and ``scale`` where they are not given."""
    decorate = elementwise(function)

    def made(template: Callable[..., Any]) -> Rule:
        rule: Rule = decorate(template)
        rule.drops_neutral = rule.own_dtype = True
        x, *shapes = (p for p in rule.parameters if p not in ("loc", "scale"))
        rule.wrapping = (("iu", (x, "loc")), *(("iu", (p,)) for p in shapes if p in rule.differentiable))
        return rule.infer(double)

    return made


def double(arguments: Facts, literals: Literals) -> Fact:
    """The fact of a result: distributions compute in double precision whatever they are given."""
    made = Array((), "float64", True)
    for fact in arguments.values():
        made = broadcast(made, as_array(fact))
    return Array(made.shape, "float64", made.shape == ())
