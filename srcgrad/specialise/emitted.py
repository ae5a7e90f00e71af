"""Statements of code that srcgrad has emitted, which is differentiated again: tapes, and what adds to shadows.

Enters: a restored statement of such code.  Leaves: the statement of the normal form that it is, since such code keeps
tapes, and owns the buffers that it adds to::

    tape.append((s, t))         Append(tape, (s, t))
    s, t = tape.pop()           Pop((s, t), tape)
    x_bar[i] += g               AddAt(x_bar, i, g)
    accumulate(y_bar, g)        AddAt(y_bar, ..., g)
    t = claim(y_bar, y, i)      t = taken(y_bar, y, i);  y_bar[i] = 0.0
"""

from __future__ import annotations

from dataclasses import replace
from types import FunctionType
from typing import Any

import gast

from srcgrad import runtime
from srcgrad.infer.emitted import ATTEMPTS
from srcgrad.infer.values import At, Bound
from srcgrad.ir import normal_form as nf
from srcgrad.ir import operations as ir
from srcgrad.rules.memory import CHANGES
from srcgrad.specialise.containers import applied
from srcgrad.specialise.context import Context
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.operands import Made, atom, named, settled
from srcgrad.specialise.operators import operate
from srcgrad.specialise.set_operations import are_sets
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.build import call_runtime, constant, load, placed
from srcgrad.syntax.globals import of_runtime, reference
from srcgrad.syntax.parse import clone


def augmented(context: Context, statement: gast.AugAssign) -> bool:
    """``buffer[index] += value``, or ``buffer += value`` where other names see the buffer; whether it is one."""
    if _buffer(statement.target) != _buffer(getattr(_origin(statement), "target", statement.target)):
        context.refuse("E0311", statement, "an assignment in place whose parts may be anything")
    match statement.target:
        case gast.Subscript(value=base, slice=index) if isinstance(statement.op, gast.Add):
            _add_at(context, statement, base, index, statement.value)
        case gast.Name() as target if context.source.is_shared(_origin(statement)):
            value: Any = statement.value
            if not isinstance(statement.op, gast.Add | gast.Sub):
                context.refuse("E0311", statement, "this assignment in place")
            if isinstance(statement.op, gast.Sub):
                made, name = operate(context, gast.USub(), [atom(context, value)], value), context.fresh()
                context.out.append(nf.Bind(name, *made, context.span))
                value = load(name, value)
            _add_at(context, statement, target, constant(..., target), value)
        case gast.Name(id=name):
            operands = [load(name, statement), atom(context, statement.value)]
            node = gast.BinOp(operands[0], statement.op, operands[1])
            made = operate(context, statement.op, operands, node)
            context.out.append(nf.Bind(name, *made, context.span, owned=True))
        case _:
            return False
    return True


def effect(context: Context, statement: gast.Expr, called: gast.Call) -> bool:
    """A call that changes a tape or a shadow; whether it is one."""
    match called:
        case gast.Call(func=gast.Attribute(value=gast.Name() as tape, attr="append"), args=[item]) if not are_sets(
            context.value(tape)
        ):
            if isinstance(item, gast.Tuple) and not any(isinstance(part, gast.Starred) for part in item.elts):
                held = placed(gast.Tuple([atom(context, part) for part in item.elts], gast.Load()), item)
            else:
                held = atom(context, item)
            context.out.append(nf.Append(named(context, tape), held, context.span))
            return True
    if _is_pop(context, called):
        return bound(context, gast.Name(context.fresh(), gast.Store(), None, None), called)
    function = _function(context, called)
    if function in (runtime.add_at, runtime.accumulate):
        given = called.statement.node.args[0]
        if isinstance(given, gast.Name) and _buffer(given) != _buffer(called.args[0]):
            context.refuse(
                "E0213", statement, "an adjoint under another name, in a derivative that is differentiated again,"
            )
    if function is runtime.add_at:
        _add_at(context, statement, *called.args, function=function)
    elif function is runtime.accumulate:
        buffer, value = called.args
        _add_at(context, statement, buffer, constant(..., called), value, function=function)
    elif function is runtime.claim:
        _claim(context, context.fresh(), called)
    elif callable(function) and function in CHANGES:
        base, shadows = CHANGES[function]
        given = [atom(context, a) if j in shadows else settled(context, a) for j, a in enumerate(called.args)]
        made = call_runtime(function, given, called)
        context.out.append(nf.Bind(context.fresh(), made, nf.Exchange(
            given[base].id, made.func.id, tuple(given), shadows), context.span))  # fmt: skip
    elif function is runtime.step:
        context.out.append(nf.Effect(placed(gast.Expr(settled(context, called)), called), context.span))
    else:
        return False
    return True


def bound(context: Context, target: Any, value: Any) -> bool:
    """What is taken from a tape or a shadow, under a name or several; whether it is that."""
    if not isinstance(value, gast.Call):
        return False
    if isinstance(target, gast.Name) and _function(context, value) is runtime.claim:
        _claim(context, target.id, value)
        return True
    names = target.elts if isinstance(target, gast.Tuple) else [target]
    if not _is_pop(context, value) or not all(isinstance(name, gast.Name) for name in names):
        return False
    tape = named(context, value.func.value)
    is_several = isinstance(target, gast.Tuple)
    context.out.append(nf.Pop(tuple(name.id for name in names), tape, context.span, tupled=is_several))
    return True


def operation(context: Context, node: gast.Call, function: Any) -> Made | None:
    """What makes an object, or reads a field of one; None of anything else."""
    if function is runtime.made:
        from srcgrad.specialise.constructing import packed  # which calls an ``__init__``

        kind = static_of(context.reduced.value(node.statement.operation.positional[0]))
        fields = node.args[1]
        if not isinstance(kind, type) or not isinstance(fields, gast.Dict):
            context.refuse("E0213", node, "an object in a derivative that is differentiated again")
        values = [atom(context, value) for value in fields.values]
        names = [str(key.value) for key in fields.keys]
        return packed(context, node, kind, dict(zip(names, values, strict=True)))
    if function is runtime.defaulting:
        shown, packed_ = context.nested.operation(context, node.args[0])
        if not isinstance(shown, gast.Dict) or not isinstance(packed_, nf.Pack):
            context.refuse("E0213", node, "a defaultdict in a derivative that is differentiated again")
        rest = [settled(context, each) for each in node.args[1:]]
        return call_runtime(runtime.defaulting, [shown, *rest], node), packed_
    if function in ATTEMPTS:
        return _attempted(context, node, function.__name__)
    if function is runtime.attribute:
        held, name = named(context, node.args[0]), node.args[1]
        made = call_runtime(runtime.attribute, [load(held, node), constant(name.value, node)], node)
        return made, nf.Field(held, name.value, shared=True)
    return None


def _attempted(context: Context, node: gast.Call, by: str) -> Made:
    """An attempt of another function of the text."""
    from srcgrad.specialise.calls import of_user  # which calls ``operation``

    first, caught = map(context.reduced.value, node.statement.operation.positional[:2])
    function, summaries = static_of(first), context.reduced.calls.get(node.statement, [])
    held = [context.facts.contents.get(atom.site) for atom in caught.atoms if isinstance(atom, At)]
    kinds = [static_of(kind) for one in held[:1] if one is not None and len(held) == 1 for kind in one.parts or ()]
    is_known = isinstance(function, FunctionType) and summaries and kinds
    if not is_known or not all(isinstance(kind, type) and issubclass(kind, BaseException) for kind in kinds):
        context.refuse("E0213", node, "a try in a derivative that is differentiated again")
    call = placed(gast.Call(node.args[0], node.args[2:], []), node)
    call.statement = node.statement
    _, operation = of_user(context, call, summaries, function, call.args, call.func)
    assert isinstance(operation, nf.Call)
    guarded = replace(operation.callee, function=nf.Guarded(function, tuple(kinds), by))
    head = reference(GlobalBinding("attempt", guarded))
    return placed(gast.Call(head, list(operation.arguments), []), node), nf.Call(guarded, operation.arguments)


def _is_pop(context: Context, node: gast.Call) -> bool:
    """Whether a call takes the last item from a list."""
    match node:
        case gast.Call(func=gast.Attribute(value=gast.Name() as base, attr="pop"), args=[], keywords=[]):
            value = context.reduced.value(node.statement.operation.function) if hasattr(node, "statement") else None
            bounds = [] if value is None else [a for a in value.atoms if isinstance(a, Bound)]
            return bool(bounds) and all(a.name == "pop" for a in bounds) and not are_sets(context.value(base))
    return False


def _function(context: Context, node: gast.Call) -> Any:
    operation = getattr(getattr(node, "statement", None), "operation", None)
    return static_of(context.reduced.value(operation.function)) if isinstance(operation, ir.Call) else None


def _claim(context: Context, target: str, node: gast.Call) -> None:
    base, value = named(context, node.args[0]), atom(context, node.args[1])
    place = settled(context, node.args[2])
    made = applied(context, runtime.taken, [load(base, node), value, place], node)
    context.out.append(nf.Bind(target, *made, context.span))
    context.out.append(nf.Store(base, clone(place), constant(0.0, node), context.span))


def _add_at(
    context: Context, node: Any, buffer: gast.expr, index: gast.expr, value: gast.expr, *, function: Any = None
) -> None:
    holder, place = named(context, buffer), settled(context, index)
    head = None if function is None else reference(of_runtime(function))
    is_shared = context.source.is_shared(_origin(node))
    context.out.append(nf.AddAt(holder, place, atom(context, value), context.span, head, is_shared))


def _buffer(target: gast.expr) -> object:
    """The variable that is added to: under another name, it would not be known that it is a buffer of the text."""
    base = target.value if isinstance(target, gast.Subscript) else target
    variable = getattr(getattr(base, "version", None), "variable", None)
    return type(target), variable or getattr(base, "id", None)


def _origin(statement: Any) -> Any:
    """The statement of the text that a restored one comes from."""
    return getattr(statement, "comes_from", None) or statement
