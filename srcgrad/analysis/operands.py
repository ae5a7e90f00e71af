"""Lists that a program hands to NumPy, made arrays.

Enters: ``Function`` and the facts about its names.  Leaves: the function with ``np.array`` before every call whose rule
computes with a list or tuple as with an array, as NumPy does: ``+`` and ``*`` of a formula would join and repeat it::

    y = np.square(xs)          t = np.array(xs);  y = np.square(t)             xs is a list
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.stores import Lowering
from srcgrad.analysis.values import is_copy
from srcgrad.errors import Span, UnsupportedSyntax
from srcgrad.ir.normal_form import Apply, Bind, Effect, Function, Statement
from srcgrad.rules.facts import Array, Fact, Object, Sequence, Static, Unknown, as_array, element
from srcgrad.rules.facts import Mapping as MappingFact
from srcgrad.rules.table import lookup, made_arrays
from srcgrad.syntax.globals import call_runtime

Facts = Mapping[str, Fact]


def lists_made_arrays(
    function: Function, facts: Facts, solve: Callable[[Function], Facts], generic: bool, shown: bool
) -> tuple[Function, Facts]:
    """The function whose calls of NumPy are given arrays, and the facts, solved again where names were added.

    What nothing is known of goes through ``operand``.  In a ``generic`` program that is everything; it is left as
    written there, and so are operands in our own output, where the first derivative made arrays of lists: an adjoint
    that is given a list says so when it runs, and only tangents that would be silent are not.  What must be a
    matrix is looked at unless the text is to be read (``shown``).
    """
    made = _Operands(function, facts, not generic and not function.generated, not shown).function()
    return (function, facts) if made is function else (made, solve(made))


class _Operands(Lowering):
    def __init__(self, function: Function, facts: Facts, looked_at: bool, checked: bool) -> None:
        super().__init__(function, facts)
        self.looked_at, self.checked = looked_at, checked and not function.generated

    def replaced(self, statement: Statement) -> list[Statement] | None:
        if not isinstance(statement, Bind) or not isinstance(statement.operation, Apply):
            return None
        apply, call = statement.operation, statement.expression
        if not isinstance(call, gast.Call) or is_copy(statement):
            return None
        made: dict[str, Bind] = {}
        arguments = dict(apply.arguments)
        computed = made_arrays(apply.function)
        for parameter, given in apply.arguments.items():
            if parameter not in computed:
                continue
            for part in given.elts if isinstance(given, gast.Tuple) else [given]:
                if not isinstance(part, gast.Name) or part.id in made:
                    continue
                fact = self.fact(part.id)
                if _is_list_of_numbers(fact):
                    made[part.id] = self.array_of(part, statement.span)
                elif isinstance(fact, Unknown) and (self.looked_at or _is_silent(apply.function)):
                    made[part.id] = self.array_of(part, statement.span, runtime.operand)
            arguments[parameter] = _with_arrays(given, made)
        checks = self._checks(apply, statement.span)
        if not made and not checks:
            return None
        printed = gast.Call(
            call.func,
            [_with_arrays(part, made) for part in call.args],
            [gast.keyword(k.arg, _with_arrays(k.value, made)) for k in call.keywords],
        )
        applied = replace(statement, expression=printed, operation=replace(apply, arguments=arguments))
        return [*checks, *made.values(), applied]

    def _checks(self, apply: Apply, span: Span) -> list[Statement]:
        """What requires that ``np.insert`` may be given an array of the items that it puts into another one, and that
        matrices are."""
        rule = lookup(apply.function)
        made = [
            check
            for parameter in (rule.matrices if rule and self.checked else ())
            for check in self._of_matrices(parameter, apply.arguments.get(parameter), span)
        ]
        values = apply.arguments.get("values") if apply.function is np.insert else None
        if not isinstance(values, gast.Name) or not isinstance(self.fact(values.id), Sequence | Unknown):
            return made
        check = call_runtime(runtime.require_items, apply.arguments["arr"], values)
        return [*made, Effect(gast.Expr(check), span)]

    def _of_matrices(self, parameter: str, operand: gast.expr | None, span: Span) -> list[Statement]:
        if not isinstance(operand, gast.Name):
            return []
        fact = self.fact(operand.id)
        shape = as_array(fact).shape if isinstance(fact, Array | Sequence) else None
        if shape is not None and len(shape) < 2:
            dimensions = "one dimension" if shape else "no dimensions"
            reason = f"the argument {parameter} has {dimensions}, in the place of a matrix"
            raise UnsupportedSyntax(reason, span, code="E0511", hint=f"write np.atleast_2d({parameter})")
        if shape is not None or not isinstance(fact, Array | Unknown):
            return []
        check = call_runtime(runtime.require_matrix, operand, gast.Constant(span.origin, None))
        return [Effect(gast.Expr(check), span)]


def _is_silent(function: object) -> bool:
    """Whether a tangent is that of an operand, or may be multiplied by a whole number, as lists are: where kinds are
    unknown nothing would tell that a list was joined or repeated."""
    rule = lookup(function)
    return function is np.positive or rule is not None and rule.kind == "elementwise" and len(rule.parameters) > 1


def _with_arrays(given: gast.expr, made: Mapping[str, Bind]) -> gast.expr:
    """An argument with the names of the arrays in place of those of the lists."""
    if isinstance(given, gast.Tuple):
        return gast.Tuple([_with_arrays(part, made) for part in given.elts], gast.Load())
    if isinstance(given, gast.Name) and given.id in made:
        return gast.Name(made[given.id].target, gast.Load(), None, None)
    return given


def _is_list_of_numbers(fact: Fact) -> bool:
    """Whether a name holds a list or tuple that NumPy may make an array of numbers of."""
    if not isinstance(fact, Sequence):
        return False
    item = element(fact)
    return not isinstance(item, Static | MappingFact | Object) or as_array(item).shape is not None
