"""Statements of the normal form, from restored statements whose expressions know which versions they compute.

Enters: the tree of a function in which what is differentiated stands in statements of its own (``planning``).
Leaves: the normal form.  Which operation an expression is follows from its values::

    t = x[i + 1]           Index: x is an array
    t2 = np.sin(t)         Apply: np.sin is the function of that name, which has a rule
    n = x.shape[0] - 1     Fixed: an int has no derivative
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping
from dataclasses import replace
from itertools import chain
from typing import Any, NoReturn

import gast

from srcgrad import runtime
from srcgrad.errors import Span, UnsupportedSyntax
from srcgrad.frontend.classes import is_user_class
from srcgrad.frontend.signatures import default_expressions
from srcgrad.frontend.source import source_of
from srcgrad.infer.values import At, union
from srcgrad.ir import normal_form as nf
from srcgrad.ir import operations as ir
from srcgrad.ir.regions import Assign, Block, Function, Loop, Statement, With
from srcgrad.ir.regions import walk as walk_ir
from srcgrad.ir.restoring.functions import restored_body
from srcgrad.ir.restoring.pending import uses_of
from srcgrad.language.effects import of_function
from srcgrad.rules.table import is_constant
from srcgrad.specialise import containers, emitted, sets, sparse, stores
from srcgrad.specialise.asking import classes_of
from srcgrad.specialise.attempts import without_try
from srcgrad.specialise.attributes import read
from srcgrad.specialise.captures import misused
from srcgrad.specialise.collecting import collected
from srcgrad.specialise.context import CLASSES, Context, Nested
from srcgrad.specialise.early_returns import nested_returns
from srcgrad.specialise.entering import write_with
from srcgrad.specialise.expressions import operation_of
from srcgrad.specialise.fields import refuse_of_class, refuse_store, require_settable
from srcgrad.specialise.initialisers import returning_object
from srcgrad.specialise.instances import Instance, fixed_parameters, runs_users, static_of
from srcgrad.specialise.loop_ends import without_else
from srcgrad.specialise.loops import for_
from srcgrad.specialise.operands import are_writers, atom, named, settled
from srcgrad.specialise.operators import operate
from srcgrad.specialise.planning import decided, kind_of
from srcgrad.specialise.reduced import Reduced
from srcgrad.specialise.reducing import reduced
from srcgrad.specialise.reshaping import reshaped
from srcgrad.specialise.series import function_called, is_series, is_text, may_be_text
from srcgrad.specialise.set_operations import are_sets
from srcgrad.specialise.tapes import together
from srcgrad.syntax.build import load, placed, subscript
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import names_read, spelled, walk

#: What only looks at what it is given, when the program runs.
_CHECKS = (runtime.require_assigned, runtime.require_given, runtime.require_places, runtime.step)


def normal_form(instance: Instance, ended: Mapping[Statement, UnsupportedSyntax]) -> nf.Function:
    """The normal form of a function for one kind of call; ``ended``: statements in whose place a refusal is raised."""
    source, summary, facts = source_of(instance.function), instance.summary, instance.facts

    def apart(made: Reduced, function: Function) -> Block:
        return without_try(made, function, instance, source)

    made = reduced(instance, apart, ended)
    if source.generated:
        made.function = replace(made.function, body=together(made.function.body))
    for loop in (s for _, s in walk_ir(made.function.body) if isinstance(s, Loop)):
        for _, inner in walk_ir(loop.body):
            if isinstance(inner, Assign) and isinstance(inner.operation, ir.FreshCell):
                made.refuse(
                    "E0118", inner.node, f"{inner.operation.cell.variable!r}, which is a new variable in each round,"
                )
    naming = decided(made, facts)
    body = restored_body(made.function, frozenset(), naming.layout())
    given, fixed = made.function.parameters, fixed_parameters(summary)
    parameters = [version.variable or version.name for version in given if version not in fixed]
    captured = () if instance.captured is None else tuple(name for _, name in instance.captured.names)
    parameters += captured
    nodes = list(walk(*body))
    names = [node for node in nodes if isinstance(node, gast.Name)]
    used = {node.id for node in names}
    context = Context(_NESTED, made, facts, naming, source, Namer({*used, *parameters}), frozenset(parameters))
    if made.this is not None and made.this in uses_of(made.function):
        context.refuse("E0408", source.node, "an object that __init__ hands on")
    if (use := misused(made, made.function.body)) is not None:
        made.refuse_at(*use)
    if (what := sparse.misused(made)) is not None:
        context.refuse("E0508", source.node, what)
    for _, statement in walk_ir(made.function.body):
        if _binds_outside(made.function, statement):
            hint = "return the new value, and assign it where the name lives"
            made.refuse("E0108", statement.node, "a store into a variable outside of the function", hint=hint)
    context.cells = {cell.variable for cell in made.cells} - {cell.variable for cell in made.frame.outer}
    block = written(context, body if instance.made else _returned_once(context, body, nodes))
    for _, statement in walk_ir(made.function.body):
        if isinstance(statement, Assign) and statement not in context.written:
            if runs_users(facts, made.calls.get(statement, ())):
                made.refuse("E0214", statement.node, "an operation that runs a method of yours")
    if not block.statements or not isinstance(block.statements[-1], nf.Return):
        block = nf.Block((*block.statements, nf.Return(gast.Constant(None, None), source.span())))
    if instance.made is not None:
        block = returning_object(context, block, instance.made)
        parameters = parameters[1:]  # the object is made here
    is_shown = facts.data is not None and instance.made is None and instance.captured is None
    defaults = default_expressions(instance.function, parameters) if is_shown else {}
    return nf.Function(
        made.function.name, tuple(parameters), block, source, source.span(),
        defaults,
        keyword_only=frozenset(v.variable or v.name for v in given.keyword_only if v not in fixed),
        variadic=None if given.variadic is None else given.variadic.variable,
        keywords=None if given.rest is None else given.rest.variable,
        captured=captured, temporaries=frozenset(context.temporaries | _temporaries(made, names)),
        generated=source.generated,
    )  # fmt: skip


def _returned_once(context: Context, body: list[Any], nodes: list[gast.AST]) -> list[Any]:
    """The body, whose nodes are given, with its early returns as branches, where they return values of one kind."""
    returned = [context.value(node.value) for node in nodes if isinstance(node, gast.Return)]
    if len({kind_of(context.facts, value) for value in returned}) != 1:
        return body
    made = nested_returns(body, context.fresh)
    if made is not body:
        context.known[made[-1].value.id] = union(*returned)
        _bind_at_once(made, made[-1].value.id, Counter(n.id for n in walk(*made) if isinstance(n, gast.Name)))
    return made


def _bind_at_once(body: list[Any], result: str, mentioned: Counter[str]) -> None:
    """``t = f(x); value = t`` as ``value = f(x)`` in the branches of a body, where nothing else reads ``t``."""
    for statement in body:
        if isinstance(statement, gast.If):
            _bind_at_once(statement.body, result, mentioned)
            _bind_at_once(statement.orelse, result, mentioned)
    match body:
        case [
            *_,
            gast.Assign(targets=[gast.Name(id=name)]) as first,
            gast.Assign(targets=[gast.Name(id=bound)], value=gast.Name(id=read)) as last,
        ] if name == read and bound == result and mentioned[name] == 2:
            last.value, last.comes_from = first.value, first.comes_from
            del body[-2]


def _binds_outside(function: Function, statement: Any) -> bool:
    """Whether a statement binds a global, or a variable of a function around."""
    match getattr(statement, "operation", None):
        case ir.WriteCell(cell=cell) | ir.DeleteCell(cell=cell):
            return cell not in function.cells
        case ir.WriteGlobal() | ir.DeleteGlobal() | ir.WriteName() | ir.DeleteName():
            return True
    return False


def _temporaries(made: Reduced, names: list[gast.Name]) -> set[str]:
    """What the text of a function binds and no variable of the user's is called."""
    variables = {version.variable for version in made.function.parameters} | {cell.variable for cell in made.cells}
    for _, statement in walk_ir(made.function.body):
        bound = [version for name in ("targets", "heads") for version in getattr(statement, name, ())]
        variables.update(version.variable for version in bound)
        if isinstance(statement, With):
            variables.add(statement.entered.variable)
    return {node.id for node in names if not isinstance(node.ctx, gast.Load)} - variables


# --- statements ------------------------------------------------------------------------------------------------------
def written(context: Context, statements: list[Any], start: Callable[[], None] | None = None) -> nf.Block:
    outer, context.out = context.out, []
    if start is not None:
        start()
    for statement in statements:
        _statement(context, statement)
    made, context.out = context.out, outer
    return nf.Block(tuple(made))


def _statement(context: Context, statement: Any) -> None:
    _enter(context, statement)
    is_ours = context.source.generated
    match statement:
        case gast.Assign(targets=[target], value=value) if is_ours and emitted.bound(context, target, value):
            pass
        case gast.AugAssign() if is_ours and emitted.augmented(context, statement):
            pass
        case gast.Expr(value=gast.Call() as called) if is_ours and emitted.effect(context, statement, called):
            pass
        case gast.Assign(targets=targets, value=value):
            assignment(context, targets, value)
        case gast.AugAssign():
            _augmented(context, statement)
        case gast.Expr(value=gast.Call() as called):
            _effect(context, called)
        case gast.Expr(value=gast.Constant() | gast.Name()):
            pass
        case gast.Expr(value=value):  # which may raise
            context.out.append(nf.Bind(context.fresh(), *operation_of(context, value), context.span))
        case gast.If(test=gast.Constant(value=False), orelse=[]):
            pass  # it says which names are variables
        case gast.If(test=test, body=body, orelse=orelse):
            span = context.span
            tested = settled(context, test)
            context.out.append(nf.If(tested, written(context, body), written(context, orelse), span))
        case gast.For(orelse=[_, *_]) | gast.While(orelse=[_, *_]):
            for part in without_else(statement, context.fresh):
                _statement(context, part)
        case gast.While(test=test, body=body, orelse=[]):
            span = context.span
            context.out.append(nf.While(settled(context, test), written(context, body), span))
        case gast.For(orelse=[]):
            for_(context, statement)
        case gast.With():
            write_with(context, statement, written, assignment)
        case gast.Return(value=value):
            context.out.append(nf.Return(atom(context, value), context.span))
        case gast.Break():
            context.out.append(nf.Break(context.span))
        case gast.Continue():
            context.out.append(nf.Continue(context.span))
        case gast.Pass():
            pass
        case gast.Assert() | gast.Raise():
            for name in statement._fields:
                part = getattr(statement, name, None)
                if isinstance(part, gast.expr):
                    setattr(statement, name, settled(context, part))
            context.out.append(nf.Effect(statement, context.span))
        case gast.Delete(targets=[gast.Subscript(value=base, slice=index)]):
            context.out.append(nf.Delete(named(context, base), settled(context, index), context.span))
        case gast.Delete(targets=[gast.Attribute(value=base, attr=name)]) if classes_of(context.value(base)):
            context.out.append(nf.Delete(named(context, base), None, context.span, name))
        case gast.Nonlocal() | gast.Global():
            pass
        case gast.Delete(targets=[gast.Name()]):
            context.refuse("E0114", statement, "a variable that has no value from here on")
        case _:
            kinds = {gast.Delete: ("E0311", "this del"), gast.Try: ("E0111", "this try")}
            code, what = kinds.get(type(statement), ("E0105", "this statement"))
            context.refuse(code, statement, what)


def _enter(context: Context, statement: Any) -> None:
    """Take up the place that a statement comes from: of a block its header, else the first operation in it."""
    own = getattr(statement, "comes_from", None)
    inside = (getattr(getattr(node, "statement", None), "node", None) for node in walk(statement))
    for origin in chain([own], inside) if hasattr(statement, "body") else chain(inside, [own]):
        if getattr(origin, "lineno", None) is not None:
            context.span = _place(context, origin)
            return


def _place(context: Context, node: Any) -> Span:
    """Where a node stands, and which call of it that is where several are written out."""
    functions = context.reduced.functions
    owner, caller = functions.places.get(node), functions.callers.get(node)
    span = (context.source if owner is None else context.reduced.source_of(owner)).span(node)
    return span if caller is None else replace(span, caller=_place(context, caller))


def assignment(context: Context, targets: list[Any], value: Any) -> None:
    if len(targets) > 1:
        held = atom(context, value)
        for target in targets:
            assignment(context, [target], held)
        return
    match targets[0]:
        case gast.Name(id=name):
            expression, operation = operation_of(context, value)
            context.out.append(nf.Bind(name, expression, operation, context.span))
        case gast.Subscript(value=base) if _is_users(context, base):
            context.refuse("E0301", value, "an item of an object that is stored")
        case gast.Subscript(value=base) if stores.is_flat(context, base):
            stores.store_flat(context, targets[0], atom(context, value))
        case gast.Subscript(value=base, slice=index):
            stored = atom(context, value)
            stores.refuse_objects(context, base, stored)
            context.out.append(nf.Store(named(context, base), settled(context, index), stored, context.span))
        case gast.Tuple(elts=elements) | gast.List(elts=elements):
            _unpack(context, elements, value)
        case gast.Attribute(value=base, attr=name) if (kinds := classes_of(context.value(base))) is not None:
            require_settable(context, value, kinds, name)
            stored = atom(context, value)
            context.out.append(nf.SetField(named(context, base), name, stored, context.span))
        case gast.Attribute() as target if reshaped(context, target, settled(context, value)):
            pass
        case gast.Attribute() as target:
            refuse_store(context, target)
        case _:
            _refuse_target(context, targets[0], value)


def _refuse_target(context: Context, target: Any, value: Any) -> NoReturn:
    if not isinstance(target, gast.Attribute):
        context.refuse("E0301", value, "a store into this")
    if target.attr == "shape":
        raise UnsupportedSyntax(
            "the shape of an array that something else may hold is set in place", context.span, code="E0306",
            hint="write y = y.reshape(...)",
        )  # fmt: skip
    raise UnsupportedSyntax(
        "a store into an object whose class is not known when this is compiled", context.span, code="E0301",
        label=f"this stores into {spelled(target)}", hint=CLASSES,
    )  # fmt: skip


def _is_users(context: Context, node: Any) -> bool:
    """Whether an expression is an object of one class of the user's."""
    value = context.value(node)
    kinds = {a.site.kind if isinstance(a, At) else None for a in value.atoms}
    return not value.is_any and len(kinds) == 1 and all(kind is not None and is_user_class(kind) for kind in kinds)


def _unpack(context: Context, elements: list[Any], value: Any) -> None:
    stars = [place for place, element in enumerate(elements) if isinstance(element, gast.Starred)]
    if isinstance(value, gast.Tuple) and not stars and not hasattr(value, "computes"):  # all at once
        held = []
        for part in value.elts:
            name = context.fresh()
            context.out.append(nf.Bind(name, *operation_of(context, part), context.span))
            held.append(name)
        for element, name in zip(elements, held, strict=True):
            assignment(context, [element], load(name, value))
        return
    source = sets.listed(context, value) if are_sets(context.value(value)) else collected(context, value) if (
        is_series(context, value)
    ) else named(context, value)
    source = source or named(context, value)
    targets = [element.value if isinstance(element, gast.Starred) else element for element in elements]
    nodes = list(walk(*targets))
    bound = [node.id for node in nodes if isinstance(node, gast.Name)]
    in_order = len(set(bound)) < len(bound) or any(isinstance(n, gast.Subscript | gast.Attribute) for n in nodes)
    inner: list[tuple[str, Any]] = []  # bound behind the others, which must not matter
    names: list[str] = []
    for target in targets:
        names.append(target.id if isinstance(target, gast.Name) and not in_order else context.fresh())
        if names[-1] != getattr(target, "id", None):
            inner.append((names[-1], target))
    context.out.append(nf.Unpack(tuple(names), source, context.span, stars[0] if stars else None))
    for name, target in inner:
        assignment(context, [target], load(name, value))


def _augmented(context: Context, statement: gast.AugAssign) -> None:
    held_before = context.value(statement.target)
    is_of_text = is_text(held_before)  # which no name shares, and which has no derivative
    if isinstance(statement.op, gast.Mod) and not is_of_text and may_be_text(held_before):
        context.refuse("E0311", statement, "this augmented assignment to what may be text, or a number,")
    match statement.target:
        case gast.Name(id=name):
            operand = atom(context, statement.value)
            node = gast.BinOp(load(name, statement), statement.op, operand)
            if not isinstance(statement.op, gast.Add | gast.Mult) and any(
                isinstance(a, At) and a.site.kind is not None for a in context.value(statement.target).atoms
            ):
                context.refuse("E0311", statement, "this augmented assignment to a container")
            if is_of_text:
                context.out.append(nf.Bind(name, placed(node, statement), nf.Fixed(), context.span))
                return
            expression, operation = operate(context, statement.op, [load(name, statement), operand], node)
            context.out.append(nf.Bind(name, expression, operation, context.span, inplace=True))
        case gast.Subscript(value=base) if _is_users(context, base):
            context.refuse("E0301", statement, "an item of an object that is stored")
        case gast.Subscript(value=base, slice=index) if is_of_text:
            held, place, part = named(context, base), settled(context, index), context.fresh()
            before = subscript(load(held, statement), place, statement)
            context.out.append(nf.Bind(part, before, nf.Index(held, before.slice), context.span))
            node = gast.BinOp(load(part, statement), statement.op, atom(context, statement.value))
            context.out.append(nf.Bind(part, placed(node, statement), nf.Fixed(), context.span))
            context.out.append(nf.Store(held, place, load(part, statement), context.span))
        case gast.Subscript(value=base, slice=index):
            operand = atom(context, statement.value)
            is_flat = stores.is_flat(context, base)
            place = stores.flat_place(context, statement.target) if is_flat else (
                named(context, base), settled(context, index)
            )
            stores.refuse_objects(context, stores.named_as(place[0], base.value if is_flat else base), operand)
            context.out.append(
                nf.AugStore(*place, statement.op, operand, context.span, context.fresh(), context.fresh())
            )
        case gast.Attribute(value=base, attr=field_name) if (kinds := classes_of(context.value(base))) is not None:
            require_settable(context, statement, kinds, field_name)
            refuse_of_class(context, statement.target, kinds)
            held, part = named(context, base), context.fresh()
            before = read(context, placed(gast.Attribute(base, field_name, gast.Load()), statement), kinds, held)
            context.out.append(nf.Bind(part, *before, context.span))
            operand = atom(context, statement.value)
            node = gast.BinOp(load(part, statement), statement.op, operand)
            made = (placed(node, statement), nf.Fixed()) if is_of_text else (
                operate(context, statement.op, [load(part, statement), operand], node)
            )
            context.out.append(nf.Bind(part, *made, context.span, inplace=not is_of_text))
            context.out.append(nf.SetField(held, field_name, load(part, statement), context.span))
        case gast.Attribute() as target:
            refuse_store(context, target)
        case _:
            context.refuse("E0311", statement, "an augmented assignment to this")


def _effect(context: Context, called: gast.Call) -> None:
    """A call for what it does."""
    if not hasattr(called, "statement"):  # of a comprehension
        _insert(context, called)
        return
    function = function_called(context, called)
    if any(function is each for each in _CHECKS):
        context.out.append(nf.Effect(placed(gast.Expr(settled(context, called)), called), context.span))
        return
    home = str(getattr(function, "__module__", "")).split(".")[0].lstrip("_")
    if home == "warnings" and not names_read(called):
        context.written.add(called.statement)
        context.out.append(nf.Effect(placed(gast.Expr(settled(context, called)), called), context.span))
        return
    inert = _inert(context, called)
    if inert is not None:
        context.out.append(nf.Effect(inert, context.span))
        return
    if context.is_stopped:
        raise UnsupportedSyntax(
            "a call for its effect under no_grad", context.span, code="E0117", hint="call it outside of the block"
        )
    expression, operation = operation_of(context, called)
    if isinstance(operation, nf.Fixed | nf.Copy) and isinstance(expression, gast.Constant | gast.Name):
        return  # all that it does is written
    if isinstance(operation, nf.Pack):
        return  # so is what is held by what it makes
    if not isinstance(operation, nf.Call | nf.Apply | nf.Exchange) and not (
        is_constant(function) or isinstance(operation, nf.Unruled) and (operation.given is not None or operation.draws)
    ):
        context.refuse("E0201", called, "a call for its effect")
    context.out.append(nf.Bind(context.fresh(), expression, operation, context.span))


def _insert(context: Context, called: gast.Call) -> None:
    match called:
        case gast.Call(func=gast.Attribute(value=base, attr=name), args=[item]) if are_sets(context.value(base)):
            sets.inserted(context, base, "add" if name in ("add", "append") else "update", item)
        case gast.Call(func=gast.Attribute(value=base, attr="append"), args=[item]):
            context.out.append(nf.Append(named(context, base), atom(context, item), context.span))
        case gast.Call(func=gast.Attribute(value=base, attr="__setitem__"), args=[key, value]):
            place = named(context, base), settled(context, key)
            context.out.append(nf.Store(*place, atom(context, value), context.span))
        case gast.Call(func=gast.Attribute(value=base, attr="extend" | "update" as name), args=[source]):
            containers.extend(context, named(context, base), name, source)
        case _:
            context.refuse("E0105", called, "this comprehension")


def _inert(context: Context, called: gast.Call) -> gast.Expr | None:
    """A call of a library that changes nothing and runs no code of the user's: ``print`` of numbers, of a logger."""
    made = getattr(called, "statement", None)
    if made is None or not made.targets or not isinstance(made.operation, ir.Call) or made in context.reduced.calls:
        return None
    function = static_of(context.reduced.value(made.operation.function))
    effect = of_function(function).without_idle(called.args, called.keywords)
    names, call = [str(keyword.arg) for keyword in called.keywords], made.operation
    updated = effect.updated(len(called.args), names, star=call.star is not None, rest=call.rest is not None)
    is_seen = updated or effect.keeps or effect.calls or context.reduced.value(made.targets[0]).is_any
    is_writer = isinstance(called.func, gast.Attribute) and are_writers(context.value(called.func.value))
    if not is_writer and (function is None or not effect.is_known or is_seen):
        return None
    return placed(gast.Expr(settled(context, called)), called)


_NESTED = Nested(operation_of, written, assignment)
