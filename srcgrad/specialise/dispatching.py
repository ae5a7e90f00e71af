"""Methods of the user's that an operation runs, as calls: one for each class that the receiver may be of.

Enters: a statement of the IR, its operands' values, the summaries of what it calls.  Leaves: statements that call the
methods by themselves, so that what is written later knows plain calls and operations of built-in objects alone::

    r = p + q              Point.__add__(p, q)
    r = 2.0 * p            Point.__rmul__(p, 2.0)
    r = shape.area()       if type(shape) is Disk: r = Disk.area(shape)  else: r = Square.area(shape)
    p.size = v             Point.size.fset(p, v)

A call stays as it is where some receiver has no such method, or what is called is not certain; other operations of
which this holds are refused.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.classes import found, is_cached
from srcgrad.frontend.held import ABSENT
from srcgrad.infer.applying import OPERATORS, is_operator
from srcgrad.infer.enumerations import are_members
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import SCALARS, At, Bound, Exact, Of, Value, exact, of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.evaluating import COMPARING
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Block, Fall, If, Statement
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.ir.rewriting import with_operands
from srcgrad.language.models.folds import order_of
from srcgrad.language.operators import COMPARED, SPECIAL, by_place
from srcgrad.specialise.answers import is_asking, refuse_changes
from srcgrad.specialise.asking import Sent, classes_among, classes_of, methods_asked, user_class
from srcgrad.specialise.declining import (
    Try,
    class_asked,
    comes_first,
    is_inverted,
    may_decline,
    one_after_the_other,
)
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.missing import is_of_class, of_none, raising, refusing
from srcgrad.specialise.receivers import are_methods_of_users
from srcgrad.specialise.unseen import refuse_methods
from srcgrad.syntax.globals import importable, of_runtime, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


@dataclass(frozen=True)
class Method:
    """How the call of a method is spelled: ``receiver.name(...)``, or ``receiver.name`` of a property."""

    name: str
    is_read: bool = False


def explicit(made: Reduced, statement: Assign) -> list[Statement] | None:
    """The statements that call what an operation runs; None where it stays as it is."""
    called = made.called.get(statement)
    if not called:
        return [] if _is_of_object(made, statement) else None
    if is_asking(made, statement):
        refuse_changes(made, statement)
        return None
    is_ordered = isinstance(statement.operation, ir.Compare) and made.frame.owner is order_of
    if is_ordered and any(each.changes for each in called):  # Python decides how often
        made.refuse("E0415", statement.node, "an order by comparisons that store something")
    if is_inverted(made, statement.operation):
        assert isinstance(statement.operation, ir.Compare)
        told = made.version("t", of(bool))
        equal = replace(statement, targets=(told,), operation=replace(statement.operation, symbol="=="))
        made.called[equal] = called
        written = explicit(made, equal)
        last = Assign(statement.targets, ir.Operator("not", (told,)), statement.node)
        return None if written is None else [*written, last]
    if (first := _computed_first(made, statement, called)) is not None:
        return first
    if (read := _of_member(made, statement, called)) is not None:
        return [read]
    operation = _as_operator(made, statement.operation)
    if isinstance(operation, ir.Compare) and operation is not statement.operation:  # whose model compares
        called = [inner for outer in called for found_ in outer.calls.values() for inner in found_]
    statement = replace(statement, operation=operation)
    if any(map(may_decline, called)) and (tried := _tried(made, statement, called)) is not None:
        return tried
    for sent in [] if any(map(may_decline, called)) else methods_asked(made, statement.operation, statement.node):
        if isinstance(sent.receiver, Literal) and isinstance(static_of(made.value(sent.receiver)), type):
            return _of_class(made, statement, sent, called)
        kinds = classes_of(made.value(made.known.get(sent.receiver, sent.receiver)))
        tests = of_none(made, statement, sent.receiver, sent.name, sent.given)
        if kinds is None or tests is None or any(is_cached(found(kind, sent.name)) for kind in kinds):
            continue
        chosen = {kind: _chosen(kind, sent, statement.operation, called) for kind in kinds}
        if None not in chosen.values() and sum(len(each[1]) for each in chosen.values() if each) == len(called):
            return [*sent.before, *tests, *_finished(made, statement, sent, chosen)]
    if not any(map(may_decline, called)) and (divided := _divided(made, statement, called)) is not None:
        return divided
    if isinstance(statement.operation, _CALLING):
        refuse_methods(made, statement)
    return None


def _computed_first(made: Reduced, statement: Assign, called: list[Summary]) -> list[Statement] | None:
    """A field of ``cached_property``, computed where the object does not hold it; None of any other operation."""
    read, node = statement.operation, statement.node
    if not isinstance(read, ir.GetAttribute):
        return None
    base = made.known.get(read.base, read.base)
    kind, *others = classes_of(made.value(base)) or [object]
    raw: Any = found(kind, read.name)
    if others or not is_cached(raw) or any(not _is_of(each, kind, raw.func) for each in called):
        return None
    holds, lacks = made.version("t", of(bool)), made.version("t", of(bool))
    value = made.version("t", union(*(each.returned[0][0] for each in called if each.returned is not None)))
    asking = Literal(Spelled(reference(of_runtime(runtime.holds_field)), runtime.holds_field))
    head = gast.Attribute(reference(importable(kind.__name__, kind)), read.name, gast.Load())
    computing = Literal(Spelled(gast.copy_location(gast.Attribute(head, "func", gast.Load()), node), raw.func))
    call = Assign((value,), ir.Call(computing, (base,)), node)
    made.calls[call] = called
    store = Assign((), ir.SetAttribute(base, read.name, value), node)
    return [
        Assign((holds,), ir.Call(asking, (base, Literal(read.name))), node),
        Assign((lacks,), ir.Operator("not", (holds,)), node),
        If((), lacks, Block((call, store), Fall()), Block((), Fall()), node),
        Assign(statement.targets, ir.GetAttribute(base, read.name), node),
    ]


def _of_member(made: Reduced, statement: Assign, called: list[Summary]) -> Assign | None:
    """A property of a member of an enumeration; None of any other operation."""
    read = statement.operation
    if not isinstance(read, ir.GetAttribute):
        return None
    base = made.known.get(read.base, read.base)
    if not are_members(made.value(base)):
        return None
    kinds = {type(atom.value) for atom in made.value(base).atoms if isinstance(atom, Exact)}
    kind = min(kinds, key=str)
    raw = found(kind, read.name)
    if len(kinds) > 1 or not isinstance(raw, property) or not isinstance(raw.fget, FunctionType):
        return None
    return _call(made, statement, statement.targets, Sent(base, read.name), kind, raw.fget, called)


def _divided(made: Reduced, statement: Assign, called: list[Summary]) -> list[Statement] | None:
    """A branch on whether a receiver is of a class with the method, where it may be something else: a number, an array,
    an object without it.  None where that does not say all that is called."""
    if len(statement.targets) != 1 or not isinstance(statement.operation, _DIVIDED):
        return None
    node, (target,) = statement.node, statement.targets
    for sent in methods_asked(made, statement.operation, node):
        receiver = made.known.get(sent.receiver, sent.receiver)
        value = made.value(receiver)
        if not isinstance(receiver, Version) or value.is_any or any(isinstance(a, Bound) for a in value.atoms):
            continue
        for kind in sorted(classes_among(value), key=str):
            if (each := _chosen(kind, sent, statement.operation, called)) is not None:
                break
        else:
            continue
        others = frozenset(atom for atom in value.atoms if user_class(atom) is not kind)
        if not others:
            continue
        own, rest = made.version("t", replace(value, atoms=value.atoms - others)), made.version("t", Value(others))
        results = made.version("t", made.value(target)), made.version("t", made.value(target))
        operation = with_operands(statement.operation, made.known.get)
        (looked_up, mine), (looked_up_there, theirs) = (
            _sent_to(made, Assign((result,), operation, node), receiver, alone, sent.name)
            for result, alone in zip(results, (own, rest), strict=True)
        )
        made.called[mine] = each[1]
        made.called[theirs] = [summary for summary in called if summary not in each[1]]
        written = explicit(made, mine)
        other = explicit(made, theirs) if made.called[theirs] else [theirs]
        if written is None or other is None:
            return None
        tested, ask = is_of_class(made, receiver, kind, union(exact(kind), exact(None)), node)
        otherwise = Block((Assign((rest,), ir.Copy(receiver), node), *looked_up_there, *other), Fall((results[1],)))
        if not made.called[theirs] and isinstance(operation, ir.Call) and receiver not in operation.positional:
            otherwise = _not_called(made, statement, {user_class(atom) for atom in others}, sent.name)
        answered = Block((Assign((own,), ir.Copy(receiver), node), *looked_up, *written), Fall((results[0],)))
        return [*ask, If(statement.targets, tested, answered, otherwise, node)]
    return None


def _sent_to(
    made: Reduced, statement: Assign, receiver: Version, alone: Version, name: str
) -> tuple[list[Statement], Assign]:
    """An operation with another receiver, and before it what looks up the method that it calls."""
    call, node = statement.operation, statement.node
    if not isinstance(call, ir.Call) or not are_methods_of_users(made.value(call.function)):
        return [], replace(statement, operation=with_operands(call, {receiver: alone}.get))
    value = made.value(alone)
    methods = {Bound(Value(frozenset((a,))), name, found(k, name)) for a in value.atoms if (k := user_class(a))}
    method, read = made.version("t", Value(frozenset(methods))), ir.GetAttribute(alone, name)
    made.origins[method] = read
    return [Assign((method,), read, node)], replace(statement, operation=replace(call, function=method))


def _not_called(made: Reduced, statement: Assign, kinds: set[type | None], name: str) -> Block:
    """What is left where none of the other objects that a receiver may be is called: Python raises, or tests that
    stand before have told that it is none of them."""
    (kind,) = kinds if len(kinds) == 1 else (None,)
    if kind is not None and name == "__call__" and found(kind, name) is ABSENT:
        return raising(made, statement.node, TypeError, f"{kind.__name__!r} object is not callable")
    reason = "what is called here was taken to be of another class"
    return refusing(made, statement.node, UnsupportedSyntax(reason, made.place_of(statement.node), code="E0201"))


#: Operations of which the operand that a method is looked up of may be something else.
_DIVIDED = (ir.Operator, ir.Compare, ir.GetItem, ir.GetAttribute, ir.Call)


def asked(made: Reduced, statement: If) -> tuple[list[Statement], If] | None:
    """A branch whose test is an object that is asked whether it is true; None of any other."""
    if not (called := made.called.get(statement)):
        return None
    tested = made.version("t", of(bool))
    ask = Assign((tested,), ir.Operator("bool", (statement.test,)), statement.node)
    made.called[ask] = called
    written = explicit(made, ask)
    if written is None:
        refuse_methods(made, statement)
    return written, replace(statement, test=tested)


_COMPARISONS = {COMPARING[symbol]: symbol for symbol in COMPARED}


def _as_operator(made: Reduced, operation: ir.Operation) -> ir.Operation:
    """The operator that a function of ``operator`` applies, or ``pow``; any other operation as it is."""
    if not isinstance(operation, ir.Call) or operation.star is not None or operation.rest is not None:
        return operation
    function = static_of(made.value(made.known.get(operation.function, operation.function)))
    positional, keywords = by_place(function, operation.positional, operation.keywords)
    if function is round and len(positional) == 2 and made.value(positional[1]) == exact(None):
        positional = positional[:1]  # as if it were not given
    operation = replace(operation, positional=positional, keywords=keywords)
    if keywords:
        return operation
    if function is bool and len(positional) == 1 or function is divmod and len(positional) == 2:
        return ir.Operator("bool" if function is bool else "divmod", positional)
    if isinstance(function, BuiltinFunctionType) and function in _COMPARISONS and len(operation.positional) == 2:
        return ir.Compare(_COMPARISONS[function], *operation.positional)
    if not is_operator(function, len(operation.positional)):
        return operation
    symbol, in_place = OPERATORS[function]
    return ir.Operator(symbol, operation.positional, in_place)


def _is_of_object(made: Reduced, statement: Assign) -> bool:
    """Whether a statement is ``super().__init__()`` that does nothing: that of ``object``."""
    operation = statement.operation
    if not isinstance(operation, ir.Call) or operation.positional or operation.keywords or operation.star is not None:
        return False
    read = made.origins.get(operation.function)
    if not isinstance(read, ir.GetAttribute) or not isinstance(made.origins.get(read.base), ir.Super):
        return False
    atoms = made.value(operation.function).atoms
    if not atoms or any(not isinstance(a, Bound) or a.name != "__init__" or a.function is not None for a in atoms):
        return False
    made.known[statement.targets[0]] = Literal(None)
    return True


#: Operations in which nobody sees that they call something.
_CALLING = (
    ir.Operator, ir.Compare, ir.GetItem, ir.SetItem, ir.DeleteItem, ir.GetAttribute, ir.SetAttribute, ir.DeleteAttribute
)  # fmt: skip


def _tried(made: Reduced, statement: Assign, called: list[Summary]) -> list[Statement] | None:
    """What an operation does of which a method may decline; None where it is not known who is asked."""
    operation = statement.operation
    match operation:
        case ir.Operator(symbol=symbol, operands=(left, right)) if (symbol, 2) in SPECIAL:
            pass
        case ir.Compare(symbol=symbol, left=left, right=right) if symbol in COMPARED:
            pass
        case _:
            return None
    try:
        kinds = class_asked(made, left), class_asked(made, right)
    except LookupError:
        return None
    sent = methods_asked(made, operation, statement.node)
    sent = [each for each in sent if kinds[each.receiver is right] is not None]
    if comes_first(operation, *kinds):
        sent = [*sent[:-2], *sent[-1:], *sent[-2:-1]]
    tries, met = list[Try](), set[Summary]()
    for each in sent:
        kind = kinds[each.receiver is right]
        assert kind is not None
        chosen = _chosen(kind, each, operation, called)
        if chosen is not None:
            call = partial(_tried_call, made, statement, each, kind, *chosen)
            tries.append((call, chosen[1], each.before))
            met.update(chosen[1])
    return one_after_the_other(made, statement, operation, tries) if met == set(called) else None


def _tried_call(
    made: Reduced, statement: Assign, sent: Sent, kind: type, function: FunctionType, called: list[Summary],
    targets: tuple[Version, ...],
) -> Statement:  # fmt: skip
    return _call(made, statement, targets, sent, kind, function, called)


#: What a property holds for an operation on an attribute.
_PARTS: dict[type, str] = {ir.GetAttribute: "fget", ir.SetAttribute: "fset", ir.DeleteAttribute: "fdel"}


def _chosen(
    kind: type, sent: Sent, operation: ir.Operation, called: Sequence[Summary]
) -> tuple[FunctionType, list[Summary]] | None:
    """The method of a class, and the summaries of it."""
    raw = found(kind, sent.name, sent.above)
    if isinstance(operation, tuple(_PARTS)) and sent.name != "__delattr__":
        raw = raw.func if is_cached(raw) else getattr(raw, _PARTS[type(operation)], None)
    if not isinstance(raw, FunctionType):
        return None
    own = [summary for summary in called if _is_of(summary, kind, raw)]
    return (raw, own) if own else None


def _of_class(made: Reduced, statement: Assign, sent: Sent, called: list[Summary]) -> list[Statement]:
    """A call of a method that is bound to a class, by the name of the class."""
    assert isinstance(statement.operation, ir.Call)
    held = made.version("f", made.value(statement.operation.function))
    operands = tuple(made.known.get(operand, operand) for operand in sent.given)
    keywords = tuple((name, made.known.get(operand, operand)) for name, operand in sent.keywords)
    call = Assign(statement.targets, ir.Call(held, operands, keywords=keywords), statement.node)
    made.calls[call] = called
    return [Assign((held,), ir.GetAttribute(sent.receiver, sent.name), statement.node), call]


def _is_of(summary: Summary, kind: type, function: FunctionType) -> bool:
    first = next(iter(summary.arguments.values()), None)
    return summary.function.qualname == function.__qualname__ and first is not None and not first.is_any and all(
        isinstance(atom, At) and atom.site.kind is kind for atom in first.atoms
    )  # fmt: skip


def _finished(made: Reduced, statement: Assign, sent: Sent, chosen: dict[type, Any]) -> list[Statement]:
    """The call of a method, and what Python makes of its result."""
    operation = statement.operation
    result = made.version("t", union(
        *(s.returned[0][0] for _, each in chosen.values() for s in each if s.returned is not None)
    ))  # fmt: skip
    last: ir.Operation
    match operation:
        case ir.Operator(symbol="bool" | "not" as symbol):
            kinds: tuple[type, ...] = (bool,) if sent.name == "__bool__" else (int,)
            last = ir.Operator(symbol, (result,))
        case ir.Compare(symbol="in" | "not in" as symbol):
            kinds = (*SCALARS, np.generic)
            last = ir.Operator("bool" if symbol == "in" else "not", (result,))
        case ir.Call(function=function) if sent.name == "__float__" and (named := _named(made, function)) is not None:
            spelled = Spelled(reference(importable(named.__name__, named)), named)
            kinds, last = (float,), ir.Call(Literal(float if named is float else spelled), (result,))
        case ir.Call(function=function) if sent.name == "__len__" and _named(made, function) is len:
            kinds, last = (int,), ir.Copy(result)
        case _:
            return _written(made, statement, sent, chosen)
    if not made.value(result).consists_of(lambda atom: _is_instance(atom, kinds)):
        refuse_methods(made, statement)
    written = _written(made, replace(statement, targets=(result,)), sent, chosen)
    if kinds == (int,):
        negative = made.version("t", of(bool))
        block = raising(made, statement.node, ValueError, "__len__() should return >= 0")
        written.append(Assign((negative,), ir.Compare("<", result, Literal(0)), statement.node))
        written.append(If((), negative, block, Block((), Fall()), statement.node))
    return [*written, Assign(statement.targets, last, statement.node)]


def _named(made: Reduced, function: Operand) -> Any:
    """The function or class that is called, where it is known."""
    return static_of(made.value(made.known.get(function, function)))


def _is_instance(atom: Any, kinds: tuple[type, ...]) -> bool:
    """Whether an atom is a number of one of these classes."""
    kind = atom.kind if isinstance(atom, Of) else type(atom.value) if isinstance(atom, Exact) else None
    return kind is not None and issubclass(kind, kinds)


def _written(made: Reduced, statement: Assign, sent: Sent, chosen: dict[type, Any]) -> list[Statement]:
    """A call, or a branch on the class of the receiver with one in each."""
    (kind, (function, called)), *others = chosen.items()
    if not others:
        return [_call(made, statement, statement.targets, sent, kind, function, called)]
    node, result = statement.node, Version(made.namer.fresh("t"))
    receiver = made.known.get(sent.receiver, sent.receiver)
    tested, ask = is_of_class(made, receiver, kind, union(*map(exact, chosen)), node)
    made.values[result] = union(*(s.returned[0][0] for s in called if s.returned is not None))
    body = (_call(made, statement, (result,), sent, kind, function, called),)
    rest = Version(made.namer.fresh("t"))
    made.values[rest] = union(
        *(s.returned[0][0] for _, (_, each) in others for s in each if s.returned is not None)
    )  # fmt: skip
    orelse = _written(made, replace(statement, targets=(rest,)), sent, dict(others))
    return [
        *ask,
        If(statement.targets, tested, Block(body, Fall((result,) * len(statement.targets))),
           Block(tuple(orelse), Fall((rest,) * len(statement.targets))), node),
    ]  # fmt: skip


def _call(
    made: Reduced, statement: Assign, targets: tuple[Version, ...], sent: Sent, kind: type, function: FunctionType,
    called: list[Summary],
) -> Assign:  # fmt: skip
    operands = tuple(made.known.get(operand, operand) for operand in (sent.receiver, *sent.given))
    keywords = tuple((name, made.known.get(operand, operand)) for name, operand in sent.keywords)
    home = kind if sent.above is None else next(base for base in kind.__mro__ if function in vars(base).values())
    head: gast.expr = gast.Attribute(reference(importable(home.__name__, home)), sent.name, gast.Load())
    part = None if sent.name == "__delattr__" else _PARTS.get(type(statement.operation))
    if part is not None:
        head = gast.Attribute(head, part, gast.Load())
    spelled = Literal(Spelled(gast.copy_location(head, statement.node), function))
    if not targets:
        targets = (Version(made.namer.fresh("t")),)
        made.values[targets[0]] = exact(None)
    call = Assign(targets, ir.Call(spelled, operands, keywords=keywords), statement.node)
    made.calls[call] = called
    if part in (None, "fget") and sent.above is None:
        made.methods[call] = Method(sent.name, part == "fget")
    return call
