"""Every function that a rule calls has a rule or carries no derivative, so that derivatives of any order exist."""

from __future__ import annotations

from typing import Any

import gast

from srcgrad import runtime
from srcgrad.rules.formula import attributes, callees, displayed, literal
from srcgrad.rules.laws import is_own
from srcgrad.rules.table import attribute, is_constant, lookup, operator_of, refusal, rules
from srcgrad.rules.template import Rule
from srcgrad.syntax.parse import walk
from tests.parameters import for_each

RULES = [rule for rule in rules() if is_own(rule.template)]
PLAIN = {"shape", "ndim", "size", "dtype"}
#: Called by the compiler itself, as statements with an adjoint of their own, or outside of derivatives.
STATEMENTS = {
    runtime.add_at, runtime.accumulate, runtime.claim, runtime.as_cotangent, runtime.require_number,
    runtime.StopsGradients, runtime.Closure, runtime.unrest, runtime.put_back,
}  # fmt: skip


def name_of(rule: Any) -> str:
    return displayed(rule.functions[0])


@for_each(RULES, name_of)
def test_every_call_in_a_rule_is_ruled_or_constant(rule: Rule) -> None:
    for formula in rule.formulas():
        for expression in [*(value for _, value in formula.body), *formula.returned]:
            for function in callees(expression):
                assert function is not None, f"{name_of(rule)}: a call that is not resolved"
                known = function in (enumerate, range) or is_constant(function) or lookup(function) is not None
                assert known, f"{name_of(rule)} calls {displayed(function)}"
            for read in attributes(expression):
                assert read in PLAIN or attribute(read) is not None, f"{name_of(rule)} reads .{read}"
            for node in walk(expression):
                if isinstance(node, gast.BinOp | gast.UnaryOp):
                    function = operator_of(type(node.op))
                    assert is_constant(function) or lookup(function) is not None


@for_each(RULES, name_of)
def test_every_rule_has_a_tangent(rule: Rule) -> None:
    assert rule.has_tangent


@for_each(runtime.__all__)
def test_every_function_of_the_runtime_is_ruled_constant_or_refused(name: str) -> None:
    function = getattr(runtime, name)
    assert function in STATEMENTS or is_constant(function) or lookup(function) is not None or refusal(function)


@for_each(RULES, name_of)
def test_laws(rule: Rule) -> None:
    """A docstring of one sentence or more, defaults that are literals, one formula per case."""
    assert rule.__doc__
    for default in rule.defaults.values():
        assert literal(default)[0]
    assert rule.differentiable <= set(rule.parameters)
    for formula in rule.formulas():
        names = [name for name, _ in formula.body]
        assert len(names) == len(set(names))


def test_no_function_is_both_ruled_and_constant() -> None:
    for rule in RULES:
        for function in rule.functions:
            assert not is_constant(function), displayed(function)
