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

import copy
from collections.abc import Sequence
from dataclasses import dataclass, replace
from types import BuiltinFunctionType, FunctionType
from typing import TYPE_CHECKING, Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.classes import found, is_user_class
from srcgrad.infer.applying import OPERATORS, is_operator
from srcgrad.infer.data import is_data
from srcgrad.infer.dispatch import asks_for_truth, python_of
from srcgrad.infer.objects import class_of
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import At, Bound, Exact, Of, Value, exact, of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.evaluating import COMPARING
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Block, Fall, If, Statement
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.ir.rewriting import with_operands
from srcgrad.language.models.folds import order_of
from srcgrad.language.operators import COMPARED, OF_FLOATS, REFLECTED, SPECIAL, by_place, method_of
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.missing import is_of_class, of_none, raising
from srcgrad.specialise.receivers import are_methods_of_users, receiver_of
from srcgrad.syntax.globals import importable, of_runtime, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


@dataclass(frozen=True)
class Method:
    """How the call of a method is spelled: ``receiver.name(...)``, or ``receiver.name`` of a property."""

    name: str
    is_read: bool = False


@dataclass(frozen=True)
class _Sent:
    """An operation as a method of one of its operands."""

    receiver: Operand
    name: str
    given: tuple[Operand, ...] = ()
    keywords: tuple[tuple[str, Operand], ...] = ()
    above: type | None = None  # of ``super()``: the class behind whose the method is looked up
    before: tuple[Statement, ...] = ()  # what reads the receiver


def explicit(made: Reduced, statement: Assign) -> list[Statement] | None:
    """The statements that call what an operation runs; None where it stays as it is."""
    called = made.called.get(statement)
    if not called:
        return [] if _is_of_object(made, statement) else None
    is_compared = isinstance(statement.operation, ir.Compare)
    if is_compared and made.frame.owner is order_of and any(map(_stores, called)):  # Python decides how often
        made.refuse(statement.node, "an order by comparisons that store something")
    operation = _as_operator(made, statement.operation)
    if isinstance(operation, ir.Compare) and operation is not statement.operation:  # whose model compares
        called = [inner for outer in called for found_ in outer.calls.values() for inner in found_]
    statement = replace(statement, operation=operation)
    for sent in [] if any(map(_may_decline, called)) else _sent(made, statement.operation, statement.node):
        if isinstance(sent.receiver, Literal) and isinstance(static_of(made.value(sent.receiver)), type):
            return _of_class(made, statement, sent, called)
        kinds = _kinds(made.value(made.known.get(sent.receiver, sent.receiver)))
        tests = of_none(made, statement, sent.receiver, sent.name, sent.given)
        if kinds is None or tests is None:
            continue
        chosen = {kind: _chosen(kind, sent, statement.operation, called) for kind in kinds}
        if None not in chosen.values() and sum(len(each[1]) for each in chosen.values() if each) == len(called):
            return [*sent.before, *tests, *_finished(made, statement, sent, chosen)]
    if not any(map(_may_decline, called)) and (divided := _divided(made, statement, called)) is not None:
        return divided
    if isinstance(statement.operation, _CALLING):
        made.refuse(statement.node, "what a method does here")
    return None


def _stores(summary: Summary) -> bool:
    """Whether a call changes what was there before."""
    if summary.returned is None:
        return True
    after, before = summary.returned[1], summary.heap
    return any(site in before and contents != before.own(site) for site, contents in after.items())


def _divided(made: Reduced, statement: Assign, called: list[Summary]) -> list[Statement] | None:
    """A branch on whether a receiver is of a class with the method, where it may be something else: a number, an array,
    an object without it.  None where that does not say all that is called."""
    if len(statement.targets) != 1 or not isinstance(statement.operation, _DIVIDED):
        return None
    node, (target,) = statement.node, statement.targets
    for sent in _sent(made, statement.operation, node):
        receiver = made.known.get(sent.receiver, sent.receiver)
        value = made.value(receiver)
        if not isinstance(receiver, Version) or value.is_any or any(isinstance(a, Bound) for a in value.atoms):
            continue
        for kind in sorted(_kinds_among(value), key=str):
            if (each := _chosen(kind, sent, statement.operation, called)) is not None:
                break
        else:
            continue
        others = frozenset(atom for atom in value.atoms if _kind(atom) is not kind)
        if not others:
            continue
        own, rest = made.version("t", replace(value, atoms=value.atoms - others)), made.version("t", Value(others))
        results = made.version("t", made.value(target)), made.version("t", made.value(target))
        operation = with_operands(statement.operation, made.known.get)
        mine = Assign((results[0],), with_operands(operation, {receiver: own}.get), node)
        theirs = Assign((results[1],), with_operands(operation, {receiver: rest}.get), node)
        made.called[mine] = each[1]
        made.called[theirs] = [summary for summary in called if summary not in each[1]]
        written = explicit(made, mine)
        other = explicit(made, theirs) if made.called[theirs] else [theirs]
        if written is None or other is None:
            return None
        tested, ask = is_of_class(made, receiver, kind, union(exact(kind), exact(None)), node)
        return [*ask, If(
            statement.targets, tested,
            Block((Assign((own,), ir.Copy(receiver), node), *written), Fall((results[0],))),
            Block((Assign((rest,), ir.Copy(receiver), node), *other), Fall((results[1],))), node,
        )]  # fmt: skip
    return None


#: Operations of which the operand that a method is looked up of may be something else.
_DIVIDED = (ir.Operator, ir.Compare, ir.GetItem, ir.GetAttribute, ir.Call)


def _kind(atom: Any) -> type | None:
    """The class of the user's that an atom is of."""
    kind = atom.site.kind if isinstance(atom, At) else None
    return kind if kind is not None and is_user_class(kind) else None


def _kinds_among(value: Value) -> set[type]:
    """The classes of the user's that a value may be of."""
    return {kind for atom in value.atoms if (kind := _kind(atom)) is not None}


def asked(made: Reduced, statement: If) -> tuple[list[Statement], If] | None:
    """A branch whose test is an object that is asked whether it is true; None of any other."""
    if not (called := made.called.get(statement)):
        return None
    tested = made.version("t", of(bool))
    ask = Assign((tested,), ir.Operator("bool", (statement.test,)), statement.node)
    made.called[ask] = called
    written = explicit(made, ask)
    if written is None:
        made.refuse(statement.node, "what a method does here")
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


def _may_decline(summary: Summary) -> bool:
    return summary.returned is not None and exact(NotImplemented) <= summary.returned[0][0]


def _sent(made: Reduced, operation: ir.Operation, node: gast.AST) -> list[_Sent]:
    """The methods that an operation may be, those that Python tries first before the others."""
    match operation:
        case ir.Operator(symbol=symbol, operands=(left, right), in_place=in_place) if (symbol, 2) in SPECIAL:
            name = SPECIAL[symbol, 2]
            own = [_Sent(left, f"__i{name[2:]}", (right,))] if in_place else []
            return [*own, _Sent(left, name, (right,)), *_reflected(made, right, REFLECTED[name], left, node)]
        case ir.Operator(symbol="bool" | "not", operands=(operand,)):
            names = {*map(asks_for_truth, _kinds_among(made.value(made.known.get(operand, operand))))} - {None}
            return [_Sent(operand, name) for name in names if name is not None and len(names) == 1]
        case ir.Operator(symbol=symbol, operands=(operand,)) if (symbol, 1) in SPECIAL:
            return [_Sent(operand, SPECIAL[symbol, 1])]
        case ir.Compare(symbol=symbol, left=left, right=right) if symbol in COMPARED:
            name, other = COMPARED[symbol]
            return [_Sent(left, name, (right,)), *_reflected(made, right, other, left, node)]
        case ir.GetItem(base=base, index=index):
            return [_Sent(base, "__getitem__", (index,))]
        case ir.SetItem(base=base, index=index, value=value):
            return [_Sent(base, "__setitem__", (index, value))]
        case ir.DeleteItem(base=base, index=index):
            return [_Sent(base, "__delitem__", (index,))]
        case ir.DeleteAttribute(base=base, name=name):
            return [_Sent(base, "__delattr__", (Literal(name),))]
        case ir.GetAttribute(base=base, name=name):
            return [_Sent(base, name)]
        case ir.SetAttribute(base=base, name=name, value=value):
            return [_Sent(base, name, (value,))]
        case ir.Call(function=function, star=None, rest=None):
            return _sent_by_call(made, replace(operation, function=made.known.get(function, function)), node)
    return []


def _reflected(made: Reduced, receiver: Operand, name: str, given: Operand, node: gast.AST) -> list[_Sent]:
    """The method of the right operand, which gets a number of NumPy's as one of Python's own, and no array."""
    value = made.value(made.known.get(given, given))
    receivers = _kinds(made.value(made.known.get(receiver, receiver))) or []
    kinds = {class_of(atom) or object for atom in value.atoms}
    own = {python_of(kind) if issubclass(kind, np.number) else kind for kind in kinds}
    if own == kinds and not any(map(is_data, value.atoms)) or len(receivers) != 1:
        return [_Sent(receiver, name, (given,))] if own == kinds else []
    number = made.version("t", union(*(of(kind) for kind in own if kind is not object), Value(
        frozenset(atom for atom in value.atoms if is_data(atom))
    )))  # fmt: skip
    call = ir.Call(Literal(float), (given,))
    if own != {float}:
        function = Literal(Spelled(reference(of_runtime(runtime.handed)), runtime.handed))
        call = ir.Call(function, (given, Literal(receivers[0].__name__)))
    return [_Sent(receiver, name, (number,), before=(Assign((number,), call, node),))]


def _sent_by_call(made: Reduced, call: ir.Call, node: gast.AST) -> list[_Sent]:
    function, given, keywords = call.function, call.positional, call.keywords
    value = made.value(function)
    atoms, named = value.atoms, static_of(value)
    if named is copy.copy and len(given) == 1:
        return [_Sent(given[0], "__copy__")]
    if (named is float or named is len) and len(given) == 1 and not keywords:
        return [_Sent(given[0], "__float__" if named is float else "__len__")]
    if given and (name := method_of(named)) is not None:
        kinds = _kinds(made.value(made.known.get(given[0], given[0]))) or []
        if any(named is one for one in OF_FLOATS) and kinds and not any(hasattr(kind, name) for kind in kinds):
            name = "__float__"
        return [_Sent(given[0], name, given[1:], keywords)]
    read = made.origins.get(function)
    while isinstance(read, ir.Copy):
        read = made.origins.get(read.source)
    if are_methods_of_users(value):
        base = made.origins.get(read.base) if isinstance(read, ir.GetAttribute) else None
        if isinstance(read, ir.GetAttribute) and isinstance(base, ir.Super):
            owner = _owner(made, base)
            return [] if owner is None else [_Sent(base.first, read.name, given, keywords, owner)]
        found_ = receiver_of(made, call, node)
        return [] if found_ is None else [_Sent(found_[0], found_[1], given, keywords, before=tuple(found_[2]))]
    if atoms - exact(None).atoms and all(isinstance(atom, At) for atom in atoms - exact(None).atoms):
        return [_Sent(function, "__call__", given, keywords)]
    return []


def _owner(made: Reduced, operation: ir.Super) -> type | None:
    """The class that ``super()`` is behind."""
    sites = [None if operation.cell is None else each.cells.get(operation.cell) for each in made.frame.summaries]
    if None in sites:
        return None
    held = union(*(each.heap[site].get("cell") for each, site in zip(made.frame.summaries, sites, strict=True) if site))
    found_ = [atom.value for atom in held.atoms if isinstance(atom, Exact) and isinstance(atom.value, type)]
    return found_[0] if len(found_) == len(held.atoms) == 1 and not held.is_any else None


def _kinds(value: Value) -> list[type] | None:
    """The classes of a receiver, which are the user's, but for None; None of others."""
    kinds: dict[type, None] = {}
    for atom in sorted(value.atoms - exact(None).atoms, key=str):
        kind = atom.site.kind if isinstance(atom, At) else None
        if kind is None or not is_user_class(kind):
            return None
        kinds[kind] = None
    return list(kinds) if kinds and not value.is_any else None


def _chosen(
    kind: type, sent: _Sent, operation: ir.Operation, called: Sequence[Summary]
) -> tuple[FunctionType, list[Summary]] | None:
    """The method of a class, and the summaries of it."""
    raw = found(kind, sent.name, sent.above)
    if isinstance(operation, ir.GetAttribute | ir.SetAttribute):
        raw = getattr(raw, "fget" if isinstance(operation, ir.GetAttribute) else "fset", None)
    if not isinstance(raw, FunctionType):
        return None
    own = [summary for summary in called if _is_of(summary, kind, raw)]
    return (raw, own) if own else None


def _of_class(made: Reduced, statement: Assign, sent: _Sent, called: list[Summary]) -> list[Statement]:
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


def _finished(made: Reduced, statement: Assign, sent: _Sent, chosen: dict[type, Any]) -> list[Statement]:
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
        case ir.Call(function=function) if sent.name == "__float__" and (named := _named(made, function)) is not None:
            spelled = Spelled(reference(importable(named.__name__, named)), named)
            kinds, last = (float,), ir.Call(Literal(float if named is float else spelled), (result,))
        case ir.Call(function=function) if sent.name == "__len__" and _named(made, function) is len:
            kinds, last = (int,), ir.Copy(result)
        case _:
            return _written(made, statement, sent, chosen)
    if not made.value(result).consists_of(lambda atom: _is_instance(atom, kinds)):
        made.refuse(statement.node, "what a method does here")
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


def _written(made: Reduced, statement: Assign, sent: _Sent, chosen: dict[type, Any]) -> list[Statement]:
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
    made: Reduced, statement: Assign, targets: tuple[Version, ...], sent: _Sent, kind: type, function: FunctionType,
    called: list[Summary],
) -> Assign:  # fmt: skip
    operands = tuple(made.known.get(operand, operand) for operand in (sent.receiver, *sent.given))
    keywords = tuple((name, made.known.get(operand, operand)) for name, operand in sent.keywords)
    home = kind if sent.above is None else next(base for base in kind.__mro__ if function in vars(base).values())
    head: gast.expr = gast.Attribute(reference(importable(home.__name__, home)), sent.name, gast.Load())
    is_set, is_read = (isinstance(statement.operation, kind) for kind in (ir.SetAttribute, ir.GetAttribute))
    if is_set or is_read:
        head = gast.Attribute(head, "fset" if is_set else "fget", gast.Load())
    spelled = Literal(Spelled(gast.copy_location(head, statement.node), function))
    if not targets:
        targets = (Version(made.namer.fresh("t")),)
        made.values[targets[0]] = exact(None)
    call = Assign(targets, ir.Call(spelled, operands, keywords=keywords), statement.node)
    made.calls[call] = called
    if not is_set and sent.above is None:
        made.methods[call] = Method(sent.name, is_read)
    return call
