"""Methods that decline by ``NotImplemented``: Python asks the other operand then.

Enters: an operator or comparison of which a method may decline.  Leaves: the calls in the order in which Python makes
them, and what it does where all of them decline::

    p == 3              t = P.__eq__(p, 3);  r = p is 3 where t is NotImplemented
    p <= q              t = P.__le__(p, q);  r = P.__ge__(q, p) where t is NotImplemented
    p - q               raises TypeError where nobody subtracts

Which one declines may depend on data where the results have no derivative.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.frontend.classes import found, is_user_class
from srcgrad.infer.objects import is_method, looked_up
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import At, Of, Value, exact, of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand
from srcgrad.ir.regions import Assign, Block, Fall, If, Statement
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.language.operators import REFLECTED, SPECIAL
from srcgrad.specialise.missing import raising
from srcgrad.syntax.globals import builtin, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced

#: A method that is tried: its call, which binds a version, the classes of what is bound, and what stands before it.
Try = tuple[Callable[[Any], Statement], list[Summary], Sequence[Statement]]

_DECLINED = exact(NotImplemented)
_SPELLED = Literal(Spelled(reference(builtin("NotImplemented")), NotImplemented))


def may_decline(summary: Summary) -> bool:
    return summary.returned is not None and _DECLINED <= summary.returned[0][0]


def is_inverted(made: Reduced, operation: ir.Operation) -> bool:
    """Whether ``!=`` is what ``__eq__`` gives, inverted: no operand has a ``__ne__`` of its own."""
    if not isinstance(operation, ir.Compare) or operation.symbol != "!=":
        return False
    values = [made.value(made.known.get(each, each)) for each in (operation.left, operation.right)]
    kinds = [kind for value in values for kind in _users(value)]
    return bool(kinds) and not any(is_method(looked_up(kind, "__ne__")) for kind in kinds)


def class_asked(made: Reduced, operand: Operand) -> type | None:
    """The class of the user's that an operand is of in any case; None of one that is of none."""
    value = made.value(made.known.get(operand, operand))
    kinds = set(_users(value))
    if not kinds:
        return None
    if value.is_any or len(kinds) > 1 or not all(isinstance(a, At) and a.site.kind in kinds for a in value.atoms):
        raise LookupError
    return kinds.pop()


def _users(value: Value) -> list[type]:
    kinds = [atom.site.kind for atom in value.atoms if isinstance(atom, At)]
    return [kind for kind in kinds if kind is not None and is_user_class(kind)]


def comes_first(operation: ir.Operation, left: type | None, right: type | None) -> bool:
    """Whether the method of the right operand is tried first: its class is derived from that of the left one."""
    if left is None or right is None or left is right or not issubclass(right, left):
        return False
    if isinstance(operation, ir.Compare):
        return True
    assert isinstance(operation, ir.Operator)
    name = REFLECTED[SPECIAL[operation.symbol, 2]]
    return found(right, name) is not found(left, name)


def one_after_the_other(
    made: Reduced, statement: Assign, operation: ir.Operation, tries: Sequence[Try]
) -> list[Statement]:
    """The tries, until one does not decline."""
    node = statement.node
    if not tries:
        return _nobody(made, statement, operation)
    (call, called, before), *others = tries
    result = union(*(each.returned[0][0] for each in called if each.returned is not None))
    left = Value(result.atoms - _DECLINED.atoms, result.is_any)
    if not _DECLINED <= result:
        return [*before, call(statement.targets)]
    bound = made.version("t", result)
    first = [*before, call((bound,))]
    if not left:
        return [*first, *one_after_the_other(made, statement, operation, others)]
    if not left <= of(bool, int, np.bool_):
        made.refuse("E0413", node, "a method that may give NotImplemented, or something that has a derivative,")
    declined, own, rest = (made.version("t", value) for value in (of(bool), left, union(left, of(bool))))
    asked = one_after_the_other(made, replace(statement, targets=(rest,)), operation, others)
    return [
        *first,
        Assign((declined,), ir.Compare("is", bound, _SPELLED), node),
        If(statement.targets, declined,
           Block(tuple(asked), Fall((rest,))),
           Block((Assign((own,), ir.Copy(bound), node),), Fall((own,))), node),
    ]  # fmt: skip


def _nobody(made: Reduced, statement: Assign, operation: ir.Operation) -> list[Statement]:
    """What Python does where all methods decline."""
    if isinstance(operation, ir.Compare):
        left, right, symbol = operation.left, operation.right, operation.symbol
        operands = tuple(made.known.get(each, each) for each in (left, right))
        values = [made.value(operand) for operand in operands]
        if symbol in ("==", "!=") and any(_users(value) for value in values) and not all(map(_users, values)):
            return [replace(statement, operation=ir.Copy(Literal(symbol == "!=")))]
        if symbol in ("==", "!="):
            same = ir.Compare("is" if symbol == "==" else "is not", *operands)
            return [replace(statement, operation=same)]
        text = f"'{symbol}' not supported between instances of {_name(made, left)} and {_name(made, right)}"
    else:
        assert isinstance(operation, ir.Operator)
        left, right = operation.operands
        symbol = "** or pow()" if operation.symbol == "**" else operation.symbol
        symbol += "=" * operation.in_place
        text = f"unsupported operand type(s) for {symbol}: {_name(made, left)} and {_name(made, right)}"
    block = raising(made, statement.node, TypeError, text)
    made.values[statement.targets[0]] = of(bool)
    test = made.version("t", of(bool))
    ask = Assign((test,), ir.Compare("is", Literal(None), Literal(None)), statement.node)
    return [ask, If((), test, block, Block((), Fall()), statement.node),
            replace(statement, operation=ir.Copy(Literal(None)))]  # fmt: skip


def _name(made: Reduced, operand: Operand) -> str:
    kinds = {a.site.kind if isinstance(a, At) else a.kind if isinstance(a, Of) else type(getattr(a, "value", None))
             for a in made.value(made.known.get(operand, operand)).atoms}  # fmt: skip
    return " or ".join(sorted(repr(getattr(kind, "__name__", "object")) for kind in kinds))


