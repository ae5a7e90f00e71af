"""Statements of the normal form, from restored statements whose expressions know which versions they compute.

Enters: the tree of a function in which what is differentiated stands in statements of its own (``planning``).
Leaves: the normal form.  Which operation an expression is follows from its values::

    t = x[i + 1]           Index: x is an array
    t2 = np.sin(t)         Apply: np.sin is the function of that name, which has a rule
    n = x.shape[0] - 1     Fixed: an int has no derivative
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import gast

from srcgrad import runtime
from srcgrad.frontend import normal_form as nf
from srcgrad.frontend.classes import is_user_class
from srcgrad.frontend.desugar.build import call_builtin, load, placed
from srcgrad.frontend.scope import importable
from srcgrad.frontend.source import source_of
from srcgrad.infer.facts import Facts
from srcgrad.infer.heap import sites_of
from srcgrad.infer.values import Array, At, Bound
from srcgrad.ir import operations as ir
from srcgrad.ir.regions import Block, Function
from srcgrad.ir.restoring.functions import restored_body
from srcgrad.ir.restoring.pending import uses_of
from srcgrad.language.effects import resizing
from srcgrad.rules.table import is_constant
from srcgrad.specialise.attempts import without_try
from srcgrad.specialise.context import Context
from srcgrad.specialise.elses import without_else
from srcgrad.specialise.expressions import atom, named, operate, operation_of, settled
from srcgrad.specialise.fields import classes_of, read, require_settable
from srcgrad.specialise.functions import misused
from srcgrad.specialise.instances import Instance, fixed_parameters, static_of
from srcgrad.specialise.managers import write_with
from srcgrad.specialise.planning import decided
from srcgrad.specialise.reducing import Reduced, reduced
from srcgrad.syntax.globals import call_runtime, reference
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import names_read, walk


def specialised(instance: Instance, facts: Facts) -> nf.Function:
    """The normal form of a function for one kind of call."""
    source, summary = source_of(instance.function), instance.summary

    def apart(made: Reduced, function: Function) -> Block:
        return without_try(made, function, instance, source)

    made = reduced(instance, facts, apart)
    naming = decided(made, facts)
    body = restored_body(made.function, frozenset(), naming.layout())
    given, fixed = made.function.parameters, fixed_parameters(summary)
    parameters = [version.variable or version.name for version in given if version not in fixed]
    captured = () if instance.captured is None else tuple(name for _, name in instance.captured.names)
    parameters += captured
    used = {node.id for statement in body for node in walk(statement) if isinstance(node, gast.Name)}
    context = Context(made, facts, naming, source, Namer({*used, *parameters}))
    if made.this is not None and made.this in uses_of(made.function):
        context.refuse(source.node, "an object that is handed on while it is made")
    if (what := misused(made, made.function.body)) is not None:
        context.refuse(source.node, what)
    context.cells = {cell.variable for cell in made.cells} - {cell.variable for cell in made.frame.outer}
    block = written(context, body)
    if not block.statements or not isinstance(block.statements[-1], nf.Return):
        block = nf.Block((*block.statements, nf.Return(gast.Constant(None, None), source.span())))
    if instance.made is not None:
        block = _returning_object(context, block, instance.made)
        parameters = parameters[1:]  # the object is made here
    return nf.Function(
        made.function.name, tuple(parameters), block, source, source.span(),
        keyword_only=frozenset(v.variable or v.name for v in given.keyword_only if v not in fixed),
        variadic=None if given.variadic is None else given.variadic.variable,
        keywords=None if given.rest is None else given.rest.variable,
        captured=captured, temporaries=frozenset(context.temporaries | {name for name in used if _is_temporary(name)}),
    )  # fmt: skip


def _returning_object(context: Context, block: nf.Block, kind: type) -> nf.Block:
    """The block of an ``__init__`` whose fields are variables, with the object that has these fields at its end."""
    *statements, last = block.statements
    assert isinstance(last, nf.Return)
    keys = tuple(gast.Constant(name, None) for name in context.reduced.fields)
    atoms = tuple(gast.Name(cell.variable, gast.Load(), None, None) for cell in context.reduced.fields.values())
    named = reference(importable(kind.__name__, kind))
    expression = call_runtime(runtime.made, named, gast.Dict(list(keys), list(atoms)))
    name = context.fresh()
    made = nf.Bind(name, expression, nf.Pack("object", atoms, keys, kind), last.span)
    return nf.Block((*statements, made, nf.Return(load(name, expression), last.span)))


def _is_temporary(name: str) -> bool:
    return name[:1] == "t" and name[1:].isdigit()


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
    match statement:
        case gast.Assign(targets=targets, value=value):
            _assignment(context, targets, value)
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
            without_else(context, statement, _statement)
        case gast.While(test=test, body=body, orelse=[]):
            span = context.span
            context.out.append(nf.While(settled(context, test), written(context, body), span))
        case gast.For(orelse=[]):
            _for(context, statement)
        case gast.With():
            write_with(context, statement, written, _assignment)
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
        case gast.Nonlocal() | gast.Global():
            pass
        case _:
            context.refuse(statement, type(statement).__name__)


def _enter(context: Context, statement: Any) -> None:
    """Take up the place that a statement comes from."""
    for node in walk(statement):
        origin = getattr(getattr(node, "statement", None), "node", None)
        if getattr(origin, "lineno", None) is not None:
            owner = context.reduced.functions.places.get(origin)
            context.span = (context.source if owner is None else source_of(owner)).span(origin)
            return


def _assignment(context: Context, targets: list[Any], value: Any) -> None:
    if len(targets) > 1:
        held = atom(context, value)
        for target in targets:
            _assignment(context, [target], held)
        return
    match targets[0]:
        case gast.Name(id=name):
            expression, operation = operation_of(context, value)
            context.out.append(nf.Bind(name, expression, operation, context.span))
        case gast.Subscript(value=base) if _is_users(context, base):
            context.refuse(value, "an item of an object that is stored")
        case gast.Subscript(value=base, slice=index):
            stored = atom(context, value)
            context.out.append(nf.Store(named(context, base), settled(context, index), stored, context.span))
        case gast.Tuple(elts=elements) | gast.List(elts=elements):
            _unpack(context, elements, value)
        case gast.Attribute(value=base, attr=name) if (kinds := classes_of(context.value(base))) is not None:
            require_settable(context, value, kinds, name)
            stored = atom(context, value)
            context.out.append(nf.SetField(named(context, base), name, stored, context.span))
        case _:
            context.refuse(value, "this target")


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
            _assignment(context, [element], load(name, value))
        return
    source = named(context, value)
    inner: list[tuple[str, Any]] = []
    names: list[str] = []
    for element in elements:
        target = element.value if isinstance(element, gast.Starred) else element
        names.append(target.id if isinstance(target, gast.Name) else context.fresh())
        if not isinstance(target, gast.Name):
            inner.append((names[-1], target))
    context.out.append(nf.Unpack(tuple(names), source, context.span, stars[0] if stars else None))
    for name, target in inner:
        _assignment(context, [target], load(name, value))


def _augmented(context: Context, statement: gast.AugAssign) -> None:
    match statement.target:
        case gast.Name(id=name):
            operand = atom(context, statement.value)
            node = gast.BinOp(load(name, statement), statement.op, operand)
            expression, operation = operate(context, statement.op, [load(name, statement), operand], node)
            context.out.append(nf.Bind(name, expression, operation, context.span, inplace=True))
        case gast.Subscript(value=base) if _is_users(context, base):
            context.refuse(statement, "an item of an object that is stored")
        case gast.Subscript(value=base, slice=index):
            operand = atom(context, statement.value)
            place = named(context, base), settled(context, index)
            context.out.append(
                nf.AugStore(*place, statement.op, operand, context.span, context.fresh(), context.fresh())
            )
        case gast.Attribute(value=base, attr=field_name) if (kinds := classes_of(context.value(base))) is not None:
            require_settable(context, statement, kinds, field_name)
            held, part = named(context, base), context.fresh()
            before = read(context, placed(gast.Attribute(base, field_name, gast.Load()), statement), kinds, held)
            context.out.append(nf.Bind(part, *before, context.span))
            operand = atom(context, statement.value)
            node = gast.BinOp(load(part, statement), statement.op, operand)
            made = operate(context, statement.op, [load(part, statement), operand], node)
            context.out.append(nf.Bind(part, *made, context.span, inplace=True))
            context.out.append(nf.SetField(held, field_name, load(part, statement), context.span))
        case _:
            context.refuse(statement, "this augmented target")


def _effect(context: Context, called: gast.Call) -> None:
    """A call for what it does."""
    match called:
        case gast.Call(func=gast.Attribute(value=base, attr="append"), args=[item], keywords=[]) if (
            _is_list(context, base)
        ):
            context.out.append(nf.Append(named(context, base), atom(context, item), context.span))
            return
    home = str(getattr(_called(context, called), "__module__", "")).split(".")[0].lstrip("_")
    if home == "warnings" and not names_read(called):
        context.out.append(nf.Effect(placed(gast.Expr(settled(context, called)), called), context.span))
        return
    expression, operation = operation_of(context, called)
    if not isinstance(operation, nf.Call | nf.Apply) and not is_constant(_called(context, called)):
        context.refuse(called, "a call for its effect")
    context.out.append(nf.Bind(context.fresh(), expression, operation, context.span))


def _is_list(context: Context, node: Any) -> bool:
    value = context.value(node)
    return not value.is_any and bool(value.atoms) and all(
        isinstance(a, At) and a.site.kind is list for a in value.atoms
    )  # fmt: skip


# --- loops -----------------------------------------------------------------------------------------------------------
def _for(context: Context, statement: gast.For) -> None:
    span, source, target = context.span, statement.iter, statement.target
    function = _called(context, source)
    if function is range and isinstance(target, gast.Name):
        iterable = settled(context, source)
        context.out.append(nf.For(target.id, iterable, written(context, statement.body), span))
        return
    parts = _sources(context, source)
    if parts is None:
        context.refuse(source, "this loop")
    is_counted, names = parts
    _refuse_resized(context, statement)
    names = _kept(context, statement, names)
    own = target.elts[0].id if is_counted and isinstance(target, gast.Tuple) and len(target.elts) == 2 and isinstance(
        target.elts[0], gast.Name) else None  # fmt: skip
    index = own or context.fresh("i")
    counts = [call_builtin("len", [load(name, source)], source) for name in names]
    count = counts[0]
    if len(counts) > 1:
        held = context.fresh()
        context.out.append(nf.Bind(held, call_builtin("min", counts, source), nf.Fixed(), span))
        count = load(held, source)
    if is_counted:
        if own is None:
            context.refuse(source, "this loop")
        targets = [target.elts[1]]
    else:
        targets = list(target.elts) if len(names) > 1 and isinstance(target, gast.Tuple) else [target]
    if len(targets) != len(names):
        context.refuse(source, "this loop")
    elements = 0

    def start() -> None:
        nonlocal elements
        for element, name in zip(targets, names, strict=True):
            item = placed(gast.Subscript(load(name, source), load(index, source), gast.Load()), source)
            if isinstance(element, gast.Name):
                context.out.append(nf.Bind(element.id, item, nf.Index(name, item.slice), span))
                continue
            held = context.fresh()
            context.out.append(nf.Bind(held, item, nf.Index(name, item.slice), span))
            _assignment(context, [element], load(held, source))
        elements = len(context.out)

    body = written(context, statement.body, start)
    stores = any(isinstance(node, gast.Subscript | gast.Attribute) for node in walk(target))
    heading = None if stores else (target, _printed(source, names))
    iterable = call_builtin("range", [count], source)
    count_of_elements = 0 if heading is None else elements
    context.out.append(nf.For(index, iterable, body, span, True, heading, count_of_elements, indexed=True))


def _kept(context: Context, statement: gast.For, names: list[str]) -> list[str]:
    """The names of what a loop runs over, under which its body, which reads the items, binds nothing else."""
    parts = [node for part in [statement.target, *statement.body] for node in walk(part)]
    bound = {node.id for node in parts if isinstance(node, gast.Name) and isinstance(node.ctx, gast.Store)}
    made = []
    for name in names:
        held = name
        if name in bound:
            held = context.fresh()
            context.out.append(nf.Bind(held, load(name, statement), nf.Copy(name), context.span))
        made.append(held)
    return made


def _refuse_resized(context: Context, statement: gast.For) -> None:
    """A list that changes its length while it is looped over: how often the body runs is not known before."""
    lists = {atom.site for node in walk(statement.iter) for atom in context.value(node).atoms
             if isinstance(atom, At) and atom.site.kind is list}  # fmt: skip
    for node in (node for part in statement.body for node in walk(part)):
        made = getattr(node, "statement", None)
        if made is None or not lists:
            continue
        for summary in context.reduced.calls.get(made, ()):
            after = None if summary.returned is None else summary.returned[1]
            if after is not None and any(after[site] != summary.heap[site] for site in lists):
                context.refuse(node, "a loop over a list that a call changes")
        if isinstance(made.operation, ir.Call):
            for atom in context.reduced.value(made.operation.function).atoms:
                if isinstance(atom, Bound) and atom.name in resizing() and lists & set(sites_of(atom.receiver)):
                    context.refuse(node, "a loop over a list that changes its length")


def _called(context: Context, node: Any) -> Any:
    made = getattr(node, "statement", None)
    if not isinstance(node, gast.Call) or made is None or not isinstance(made.operation, ir.Call):
        return None
    return static_of(context.reduced.value(made.operation.function))


def _sources(context: Context, node: Any) -> tuple[bool, list[str]] | None:
    """Whether a loop counts, and the names of what it runs over."""
    function = _called(context, node)
    if function is enumerate and len(node.args) == 1 and not node.keywords:
        return (True, [named(context, node.args[0])]) if _is_sequence(context, node.args[0]) else None
    if function is zip and node.args and not node.keywords:
        return (False, [named(context, a) for a in node.args]) if all(
            _is_sequence(context, a) for a in node.args) else None  # fmt: skip
    return (False, [named(context, node)]) if _is_sequence(context, node) else None


def _is_sequence(context: Context, node: Any) -> bool:
    value = context.value(node)
    return not value.is_any and bool(value.atoms) and all(
        isinstance(a, Array) or isinstance(a, At) and a.site.kind in (list, tuple) for a in value.atoms
    )  # fmt: skip


def _printed(node: Any, names: list[str]) -> gast.expr:
    if isinstance(node, gast.Call) and len(names) <= len(node.args):
        return placed(gast.Call(node.func, [load(name, node) for name in names], []), node)
    return load(names[0], node)
