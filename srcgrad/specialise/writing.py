"""Statements of the normal form, from restored statements whose expressions know which versions they compute.

Enters: the tree of a function in which what is differentiated stands in statements of its own (``planning``).
Leaves: the normal form.  Which operation an expression is, is asked of its values::

    t = x[i + 1]           Index: x is an array
    t2 = np.sin(t)         Apply: np.sin is the function of that name, which has a rule
    n = x.shape[0] - 1     Fixed: an int has no derivative
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from types import FunctionType
from typing import Any, NoReturn

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.errors import Span, UnsupportedSyntax
from srcgrad.frontend import normal_form as nf
from srcgrad.frontend.classes import ABSENT, found, is_user_class
from srcgrad.frontend.desugar.build import call_builtin, constant, load, placed
from srcgrad.frontend.folding import Initialiser
from srcgrad.frontend.scope import importable
from srcgrad.frontend.signatures import signature_of
from srcgrad.frontend.source import Source, source_of
from srcgrad.infer.facts import Facts
from srcgrad.infer.heap import Site
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import NEVER, Array, At, Bound, Of, Value
from srcgrad.ir import operations as ir
from srcgrad.ir.restoring.functions import restored_body
from srcgrad.rules.table import attribute as attribute_function
from srcgrad.rules.table import is_constant, lookup, operator_of
from srcgrad.rules.table import method as method_function
from srcgrad.rules.template import Rule, UnsupportedCall
from srcgrad.specialise.instances import Instance, instance_of
from srcgrad.specialise.planning import Naming, decided
from srcgrad.specialise.reducing import Reduced, reduced, static_of
from srcgrad.syntax.globals import GlobalReference, call_runtime, reference
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import walk

Made = tuple[gast.expr, nf.Operation]


@dataclass(eq=False)
class Context:
    """A function that is written."""

    reduced: Reduced
    facts: Facts
    naming: Naming
    source: Source
    namer: Namer
    out: list[nf.Statement] = field(default_factory=list)
    span: Span = field(default_factory=Span.unknown)
    temporaries: set[str] = field(default_factory=set)
    cells: set[str] = field(default_factory=set)  # the variables of the function that inner functions share

    def fresh(self, stem: str = "t") -> str:
        name = self.namer.fresh(stem)
        self.temporaries.add(name)
        return name

    def value(self, node: gast.AST) -> Value:
        """What an expression may be; never of what was not kept apart."""
        version = getattr(node, "version", getattr(node, "computes", None))
        return NEVER if version is None else self.reduced.value(version)

    def is_fixed(self, node: gast.AST) -> bool:
        """Whether an expression carries no derivative, or is read by nothing that does."""
        version = getattr(node, "version", getattr(node, "computes", None))
        return version is None or version in self.naming.fixed

    def is_local(self, node: gast.AST) -> bool:
        """Whether a node is a name of the function's own."""
        return isinstance(node, gast.Name) and not isinstance(node, GlobalReference) and (
            hasattr(node, "version") or node.id in self.temporaries or node.id in self.cells
        )  # fmt: skip

    def refuse(self, node: gast.AST, what: str) -> NoReturn:
        raise UnsupportedSyntax(f"{what} is not specialised yet", self.span)


def specialised(instance: Instance, facts: Facts) -> nf.Function:
    """The normal form of a function for one kind of call."""
    source, summary = source_of(instance.function), instance.summary

    def resolve(name: str, at: gast.AST) -> Any:
        return reference(source.resolve(name, source.span(at)))

    made = reduced(summary, resolve, instance.made)
    naming = decided(made, facts)
    body = restored_body(made.function, frozenset(), naming.layout())
    given = made.function.parameters
    parameters = [version.variable or version.name for version in given]
    used = {node.id for statement in body for node in walk(statement) if isinstance(node, gast.Name)}
    context = Context(made, facts, naming, source, Namer({*used, *parameters}))
    context.cells = {cell.variable for cell in made.cells} - {cell.variable for cell in summary.function.free}
    block = written(context, body)
    if not block.statements or not isinstance(block.statements[-1], nf.Return):
        block = nf.Block((*block.statements, nf.Return(gast.Constant(None, None), source.span())))
    if instance.made is not None:
        block = _returning_object(context, block, instance.made)
        parameters = parameters[1:]
    return nf.Function(
        made.function.name, tuple(parameters), block, source, source.span(),
        keyword_only=frozenset(version.variable or version.name for version in given.keyword_only),
        variadic=None if given.variadic is None else given.variadic.variable,
        keywords=None if given.rest is None else given.rest.variable,
        temporaries=frozenset(context.temporaries | {name for name in used if _is_temporary(name)}),
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
        case gast.Expr():
            pass
        case gast.If(test=test, body=body, orelse=orelse):
            span = context.span
            tested = settled(context, test)
            context.out.append(nf.If(tested, written(context, body), written(context, orelse), span))
        case gast.While(test=test, body=body, orelse=[]):
            span = context.span
            context.out.append(nf.While(settled(context, test), written(context, body), span))
        case gast.For(orelse=[]):
            _for(context, statement)
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
            context.span = context.source.span(origin)
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
        case gast.Subscript(value=base, slice=index):
            stored = atom(context, value)
            context.out.append(nf.Store(named(context, base), settled(context, index), stored, context.span))
        case gast.Tuple(elts=elements) | gast.List(elts=elements):
            _unpack(context, elements, value)
        case gast.Attribute(value=base, attr=name) if _is_users(context, base):
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
            expression, operation = _operate(context, statement.op, [load(name, statement), operand], node)
            context.out.append(nf.Bind(name, expression, operation, context.span, inplace=True))
        case gast.Subscript(value=base, slice=index):
            operand = atom(context, statement.value)
            place = named(context, base), settled(context, index)
            context.out.append(
                nf.AugStore(*place, statement.op, operand, context.span, context.fresh(), context.fresh())
            )
        case gast.Attribute(value=base, attr=field_name) if _is_users(context, base):
            held, part, result = named(context, base), context.fresh(), context.fresh()
            read = placed(gast.Attribute(load(held, statement), field_name, gast.Load()), statement)
            context.out.append(nf.Bind(part, read, nf.Field(held, field_name), context.span))
            operand = atom(context, statement.value)
            node = gast.BinOp(load(part, statement), statement.op, operand)
            made = _operate(context, statement.op, [load(part, statement), operand], node)
            context.out.append(nf.Bind(result, *made, context.span, inplace=True))
            context.out.append(nf.SetField(held, field_name, load(result, statement), context.span))
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
    expression, operation = operation_of(context, called)
    if not isinstance(operation, nf.Call):
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


# --- expressions -----------------------------------------------------------------------------------------------------
def settled(context: Context, node: Any) -> Any:
    """An expression that stays as it is, on names of the normal form."""
    for part in walk(node):
        if isinstance(part, gast.ListComp | gast.GeneratorExp | gast.Lambda | gast.NamedExpr | gast.SetComp):
            context.refuse(part, "this expression")
    return _resolved(context, node)


def _resolved(context: Context, node: Any) -> Any:
    """Names of globals as references."""
    if isinstance(node, gast.Name) and not isinstance(node, GlobalReference):
        if not context.is_local(node) and isinstance(node.ctx, gast.Load):
            binding = context.source.resolve(node.id, context.span)
            return node if binding is None else reference(binding)
        return node
    if isinstance(node, gast.AST):
        for name in node._fields:
            value = getattr(node, name, None)
            if isinstance(value, gast.AST):
                setattr(node, name, _resolved(context, value))
            elif isinstance(value, list):
                setattr(node, name, [_resolved(context, part) for part in value])
    return node


def atom(context: Context, node: Any) -> gast.expr:
    """A name or a constant."""
    match node:
        case None:
            return gast.Constant(None, None)
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=int() | float() | complex() as number)):
            return placed(gast.Constant(-number, None), node)
        case gast.Constant():
            return node
        case gast.Name() if context.is_local(node):
            return node
    name = context.fresh()
    context.out.append(nf.Bind(name, *operation_of(context, node), context.span))
    return load(name, node)


def named(context: Context, node: Any) -> str:
    made = atom(context, node)
    if not isinstance(made, gast.Name):
        context.refuse(node, "a literal in this place")
    return str(made.id)


def operation_of(context: Context, node: Any) -> Made:
    """One operation on names."""
    if context.is_local(node):
        return node, nf.Copy(node.id)
    if isinstance(node, gast.Call):
        return _call(context, node)
    match node:
        case gast.BinOp(left=left, right=right):
            by_method = _by_method(context, node, [left, right])
        case gast.Subscript(value=base, slice=index):
            by_method = _by_method(context, node, [base, index])
        case gast.Attribute(value=base):
            by_method = _by_method(context, node, [base])
        case gast.UnaryOp(operand=operand):
            by_method = _by_method(context, node, [operand])
        case gast.Compare(left=left, comparators=[right]):
            by_method = _by_method(context, node, [left, right])
        case _:
            by_method = None
    if by_method is not None:
        return by_method
    if context.is_fixed(node) or isinstance(node, gast.Name):
        return settled(context, node), nf.Fixed()
    match node:
        case gast.BinOp(op=op, left=left, right=right):
            return _operate(context, op, [atom(context, left), atom(context, right)], node)
        case gast.UnaryOp(op=op, operand=operand):
            return _operate(context, op, [atom(context, operand)], node)
        case gast.Subscript(value=base, slice=index):
            whole = named(context, base)
            if not _is_indexed(context.value(base)):
                context.refuse(node, "an item of this")
            made = placed(gast.Subscript(load(whole, node), settled(context, index), gast.Load()), node)
            return made, nf.Index(whole, made.slice)
        case gast.Attribute(value=base, attr=name):
            return _attribute(context, node, base, name)
        case gast.Tuple(elts=elements) | gast.List(elts=elements):
            if any(isinstance(element, gast.Starred) for element in elements):
                context.refuse(node, "a display with stars")
            given = tuple(atom(context, element) for element in elements)
            kind = "tuple" if isinstance(node, gast.Tuple) else "list"
            return placed(type(node)(list(given), gast.Load()), node), nf.Pack(kind, given)
        case gast.Dict(keys=keys, values=values) if all(isinstance(key, gast.Constant) for key in keys):
            given = tuple(atom(context, value) for value in values)
            return placed(gast.Dict(keys, list(given)), node), nf.Pack("dict", given, tuple(keys))
    context.refuse(node, f"an expression of class {type(node).__name__}")


def _is_indexed(value: Value) -> bool:
    """Whether a value is an array or a container, whose items are read by ``Index``."""
    return not value.is_any and bool(value.atoms) and all(
        isinstance(a, Array) or isinstance(a, At) and a.site.kind in (list, tuple, dict, None) for a in value.atoms
    )  # fmt: skip


def _operate(context: Context, op: gast.AST, atoms: list[gast.expr], node: Any) -> Made:
    if any(_is_object(context.value(operand)) for operand in atoms):
        context.refuse(node, "an operator of an object")
    function = operator_of(type(op))
    rule = lookup(function)
    expression = gast.UnaryOp(op, atoms[0]) if len(atoms) == 1 else gast.BinOp(atoms[0], op, atoms[1])
    if rule is None:
        if function is not None and is_constant(function):
            return placed(expression, node), nf.Fixed()
        context.refuse(node, "this operator")
    return placed(expression, node), nf.Apply(rule, function, rule.bind(function, atoms, {}))


def _is_object(value: Value) -> bool:
    return value.is_any or any(
        isinstance(a, At) and (not isinstance(a.site, Site) or a.site.kind not in (None, list, tuple, dict))
        for a in value.atoms
    )  # fmt: skip


def _attribute(context: Context, node: Any, base: Any, name: str) -> Made:
    value = context.value(base)
    kinds = {a.site.kind for a in value.atoms if isinstance(a, At)}
    if not value.is_any and len(kinds) == 1 and len(value.atoms) >= 1 and all(isinstance(a, At) for a in value.atoms):
        (kind,) = kinds
        if kind is not None and is_user_class(kind):
            held = named(context, base)
            shared = found(kind, name) is not ABSENT
            expression = placed(gast.Attribute(load(held, node), name, gast.Load()), node)
            return expression, nf.Field(held, name, shared)
    if value.is_any or not all(
        isinstance(a, Array | Of) or isinstance(a, At) and a.site.kind is None for a in value.atoms
    ):
        context.refuse(node, "an attribute of this")
    function = attribute_function(name)
    rule = None if function is None else lookup(function)
    if rule is None:
        context.refuse(node, f"the attribute {name!r}")
    held = atom(context, base)
    expression = placed(gast.Attribute(held, name, gast.Load()), node)
    return expression, nf.Apply(rule, function, rule.bind(function, [held], {}))


# --- calls -----------------------------------------------------------------------------------------------------------
def _call(context: Context, node: gast.Call) -> Made:
    made = node.statement
    operation = made.operation
    if not isinstance(operation, ir.Call) or operation.star is not None or operation.rest is not None:
        context.refuse(node, "a call with stars")
    called = context.reduced.calls.get(made)
    function = static_of(context.reduced.value(operation.function))
    if called is not None and isinstance(function, FunctionType) and lookup(function) is None:
        return _of_user(context, node, called[-1], function, list(node.args), node.func)
    if isinstance(function, type) and is_user_class(function):
        return _constructed(context, node, called, function)
    if function is not None:
        return _of_library(context, node, function)
    value = context.reduced.value(operation.function)
    if len(value.atoms) == 1 and not value.is_any and isinstance(node.func, gast.Attribute):
        (bound,) = value.atoms
        if isinstance(bound, Bound) and bound.function is None:
            return _method(context, node, bound)
        if isinstance(bound, Bound) and called is not None and isinstance(bound.function, FunctionType):
            receiver = atom(context, node.func.value)
            head = placed(gast.Attribute(receiver, node.func.attr, gast.Load()), node.func)
            return _of_user(context, node, called[-1], bound.function, [receiver, *node.args], head, skipped=1)
    context.refuse(node, "this call")


def _constructed(context: Context, node: gast.Call, called: list[Summary] | None, kind: type) -> Made:
    """An object of a class of the user's."""
    initialiser = found(kind, "__init__")
    plain = found(kind, "__new__") is object.__new__ and called is not None and isinstance(initialiser, FunctionType)
    if not plain or called is None or called[-1].function.name != "__init__" or initialiser.__name__ != "__init__":
        context.refuse(node, f"a call of {kind.__name__}")
    receiver = constant(None, node)
    return _of_user(context, node, called[-1], initialiser, [receiver, *node.args], node.func, skipped=1, kind=kind)


def _of_library(context: Context, node: gast.Call, function: Any) -> Made:
    rule = lookup(function)
    if rule is not None and not context.is_fixed(node):
        return _applied(context, node, rule, function, None, list(node.args))
    if context.is_fixed(node) and (rule is not None or is_constant(function)):
        return settled(context, node), nf.Fixed()
    context.refuse(node, f"a call of {getattr(function, '__name__', function)}")


def _method(context: Context, node: gast.Call, bound: Bound) -> Made:
    kinds = {np.ndarray if isinstance(a, Array) else None for a in bound.receiver.atoms}
    function = method_function(bound.name)
    rule = None if function is None else lookup(function)
    if kinds != {np.ndarray} or rule is None or bound.receiver.is_any:
        context.refuse(node, f"the method {bound.name!r}")
    arguments = list(node.args)
    if bound.name in ("reshape", "transpose") and len(arguments) > 1:
        arguments = [placed(gast.Tuple(arguments, gast.Load()), node)]
    return _applied(context, node, rule, function, node.func.value, arguments)


def _applied(
    context: Context, node: gast.Call, rule: Rule, function: Any, receiver: Any, arguments: list[Any]
) -> Made:
    """A function with a rule."""
    first = [] if receiver is None else [receiver]
    keywords = {keyword.arg: keyword.value for keyword in node.keywords}
    if "out" in keywords:
        context.refuse(node, "a call that stores into an array")
    try:
        bound = rule.bind(function, [*first, *arguments], keywords)
    except UnsupportedCall:
        context.refuse(node, "this form of call")
    done: dict[int, Any] = {}
    for parameter, expression in bound.items():
        parts = expression.elts if parameter == rule.variadic and isinstance(expression, gast.Tuple) else [expression]
        for part in parts:
            done[id(part)] = atom(context, part) if parameter in rule.sensitive else settled(context, part)
    given: dict[str, Any] = {}
    for parameter, expression in bound.items():
        if id(expression) in done:
            given[parameter] = done[id(expression)]
        else:
            given[parameter] = placed(gast.Tuple([done[id(e)] for e in expression.elts], gast.Load()), node)
    printed = [done.get(id(a), a) for a in node.args]
    named_ = [placed(gast.keyword(k.arg, done.get(id(k.value), k.value)), k) for k in node.keywords]
    head = node.func
    if receiver is not None:
        head = placed(gast.Attribute(done[id(receiver)], node.func.attr, gast.Load()), node.func)
    return placed(gast.Call(head, printed, named_), node), nf.Apply(rule, function, given)


def _of_user(
    context: Context,
    node: Any,
    called: Summary,
    function: FunctionType,
    given: list[Any],
    head: gast.expr,
    *,
    skipped: int = 0,
    kind: type | None = None,
) -> Made:
    """A function of the user's: an operand for each of its parameters."""
    signature = signature_of(function)
    if signature.variadic is not None or signature.keywords is not None:
        context.refuse(node, "a call of a function with stars")
    bound = dict(zip(signature.positional, given, strict=False))
    keywords = node.keywords if isinstance(node, gast.Call) else []
    bound |= {keyword.arg: keyword.value for keyword in keywords}
    passed: list[gast.expr] = []
    for parameter in signature.parameters:
        if parameter in bound:
            passed.append(atom(context, bound[parameter]))
            continue
        default = signature.defaults.get(parameter)
        if not isinstance(default, gast.Constant):
            context.refuse(node, "this default")
        passed.append(default)
    if any(static_of(context.value(argument)) is not None for argument in passed):
        context.refuse(node, "a function that is passed on")
    named_ = [placed(gast.keyword(k.arg, passed[signature.parameters.index(k.arg)]), k) for k in keywords]
    expression = placed(gast.Call(head, passed[skipped : len(given)], named_), node)
    makes = None if kind is None else Initialiser(kind, function)
    callee = nf.Callee(function, makes=makes, instance=instance_of(function, called, kind))
    return expression, nf.Call(callee, tuple(passed if kind is None else passed[1:]))


# --- objects ---------------------------------------------------------------------------------------------------------
def _by_method(context: Context, node: Any, operands: list[Any]) -> Made | None:
    """An operation that a method of an object does; None of any other."""
    called = context.reduced.calls.get(getattr(node, "statement", None))
    if called is None or isinstance(node, gast.Call):
        return None
    summary = called[-1]
    atoms = [atom(context, operand) for operand in operands]
    kinds = [a.site.kind for a in next(iter(summary.arguments.values())).atoms if isinstance(a, At)]
    raw = found(kinds[0], summary.function.name) if len(set(kinds)) == 1 and kinds[0] is not None else None
    if isinstance(raw, property):
        raw = raw.fget
    if isinstance(node, gast.Attribute) and len(set(kinds)) == 1:
        raw = getattr(found(kinds[0], node.attr), "fget", None)
    if not isinstance(raw, FunctionType) or len(called) > 1 and any(c.function is not summary.function for c in called):
        context.refuse(node, "what a method does here")
    first = summary.arguments[next(iter(summary.arguments))]
    if len(atoms) == 2 and not first <= context.value(operands[0]):
        atoms.reverse()
    name = node.attr if isinstance(node, gast.Attribute) else raw.__name__
    head: gast.expr = placed(gast.Attribute(atoms[0], name, gast.Load()), node)
    made, operation = _of_user(context, node, summary, raw, atoms, head, skipped=1)
    return (head if isinstance(node, gast.Attribute) else made), operation


