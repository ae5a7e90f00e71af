"""Objects that a function makes: of the fields that their class only sets, or by an ``__init__`` that is called.

Enters: a call of a class.  Leaves: an operation of the normal form::

    p = Pair(a, b)             Pack of a tuple of its class           (a named tuple)
    p = Point(a, b)            Pack of an object: x=a, y=b            (a dataclass, a namespace)
    m = Model(w)               Call of Model.__init__, which returns an object of its fields
    m = Stack(w)               m = an object without fields; Stack.__init__(m, w)   (which hands itself on)
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from enum import Enum
from types import FunctionType, SimpleNamespace
from typing import Any

import gast

from srcgrad import runtime
from srcgrad.frontend.classes import (
    captured_by,
    found,
    initial_fields,
    is_generated_init,
    makes_plainly,
    sets_default,
    setter,
)
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.summaries import Summary
from srcgrad.infer.values import At
from srcgrad.ir import normal_form as nf
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Version
from srcgrad.ir.regions import Assign, Block, operands_of, walk
from srcgrad.runtime.binding import default_objects
from srcgrad.specialise.calls import of_user
from srcgrad.specialise.context import Context
from srcgrad.specialise.operands import Made, atom
from srcgrad.syntax.build import call_runtime, constant, load, placed
from srcgrad.syntax.globals import importable, reference

#: Values that are the same wherever they are written.
_CONSTANTS = (bool, int, float, complex, str, bytes, type(None))


def constructed(context: Context, node: gast.Call, called: list[Summary] | None, kind: type) -> Made:
    """An object of a class of the user's, or of a namespace."""
    made = context.value(node)
    if made.is_any or {a.site.kind if isinstance(a, At) else None for a in made.atoms} != {kind}:
        context.refuse("E0408", node, f"a call of {kind.__name__}")
    if is_named_tuple(kind):
        return _named_tuple(context, node, kind)
    if kind is SimpleNamespace:
        return packed(context, node, kind, {str(k.arg): atom(context, k.value) for k in node.keywords})
    if not makes_plainly(kind) or setter(kind) is not None:
        context.refuse("E0408", node, f"a call of {kind.__name__}")
    if is_generated_init(kind):
        return _dataclass(context, node, called, kind)
    initialiser, captured = found(kind, "__init__"), _captured(context, node, kind)
    if initialiser is object.__init__:
        return packed(context, node, kind, captured)
    if not isinstance(initialiser, FunctionType) or not called:
        context.refuse("E0408", node, f"a call of {kind.__name__}")
    if any(summary.function.qualname != initialiser.__qualname__ for summary in called):
        context.refuse("E0408", node, f"a call of {kind.__name__}")
    if captured or any(_hands_on(summary) for summary in called):
        given = [a if isinstance(a, gast.Starred) else atom(context, a) for a in node.args]
        node.args = given
        for keyword in node.keywords:
            keyword.value = atom(context, keyword.value)
        made_of = packed(context, node, kind, captured)
        return _started(context, node, called, "__init__", initialiser, made_of, given)
    receiver = constant(None, node)
    return of_user(context, node, called, initialiser, [receiver, *node.args], node.func, skipped=1, kind=kind)


def _captured(context: Context, node: gast.Call, kind: type) -> dict[str, gast.expr]:
    """What the methods of a local class read of its function, which its objects are handed; no more among the
    arguments of the call."""
    names = captured_by(kind)
    for keyword in node.keywords if names else ():
        keyword.value = atom(context, keyword.value)
    captured = {str(keyword.arg): keyword.value for keyword in node.keywords if keyword.arg in names}
    node.keywords = [keyword for keyword in node.keywords if keyword.arg not in names]
    return captured


def packed(context: Context, node: gast.AST, kind: type, fields: dict[str, gast.expr]) -> Made:
    """An object of these fields, on which nothing of its class has run."""
    keys = tuple(constant(name, node) for name in fields)
    named = placed(gast.Dict(list(keys), list(fields.values())), node)
    expression = call_runtime(runtime.made, [reference(importable(kind.__name__, kind)), named], node)
    return expression, nf.Pack("object", tuple(fields.values()), keys, kind)


def _started(
    context: Context, node: gast.Call, called: list[Summary], held: str, method: FunctionType, made: Made,
    given: list[Any],
) -> Made:  # fmt: skip
    """An object on which the method has run that its class holds under a name."""
    name = context.fresh()
    context.out.append(nf.Bind(name, *made, context.span))
    head = placed(gast.Attribute(load(name, node), held, gast.Load()), node)
    run = of_user(context, node, called, method, [load(name, node), *given], head, skipped=1)
    context.out.append(nf.Bind(context.fresh(), *run, context.span))
    return load(name, node), nf.Copy(name)


def _hands_on(summary: Summary) -> bool:
    """Whether an ``__init__`` does more with its object than set fields, and read those that it has set."""
    this = next(iter(summary.function.parameters))
    known: set[str] = set()
    for _, statement in walk(summary.function.body):
        match statement:
            case Assign(operation=ir.SetAttribute(base=base, name=name, value=value)) if base is this is not value:
                known.add(name)
            case Assign(operation=ir.GetAttribute(base=base, name=name)) if base is this and name in known:
                pass
            case Assign(operation=operation) if this in operands_of(operation):
                return True
    return _is_read_at_ends(summary.function.body, this)


def _is_read_at_ends(body: Block, this: Version) -> bool:
    return any(this in operands_of(block.exit) for block in (body, *(block for block, _ in walk(body))))


# --- classes that only keep what they are given ----------------------------------------------------------------------
def _bound(
    context: Context, node: gast.Call, kind: type, names: list[str], defaults: dict[str, Any], only: Sequence[str] = ()
) -> dict[str, Any]:
    """An operand for each parameter, of those that are given in the order of the call; ``only`` by name."""
    bound = {name: atom(context, value) for name, value in zip(names, node.args, strict=False)}
    for keyword in node.keywords:
        if keyword.arg in bound or keyword.arg not in (*names, *only):
            context.refuse(
                "E0408", node, f"a call of {kind.__name__}, which takes no {keyword.arg!r} by its name here,"
            )
        bound[keyword.arg] = atom(context, keyword.value)
    for name, default in defaults.items():
        if name not in bound:
            bound[name] = default()
    if len(node.args) > len(names) or None in bound:
        context.refuse("E0408", node, f"a call of {kind.__name__}")
    return bound


def _default(context: Context, node: gast.AST, value: object) -> gast.expr:
    """The default of a field, which is one object for all calls."""
    if type(value) in _CONSTANTS:
        return constant(value, node)
    if not isinstance(value, FunctionType | type | Enum):
        context.refuse("E0408", node, f"a {type(value).__name__} as the default of a field")
    name, expression = context.fresh(), reference(importable(getattr(value, "__name__", "member"), value))
    context.out.append(nf.Bind(name, expression, nf.Fixed(), context.span))
    return load(name, node)


def _named_tuple(context: Context, node: gast.Call, kind: Any) -> Made:
    defaults = {name: lambda v=v: _default(context, node, v) for name, v in default_objects(kind.__new__).items()}
    bound = _bound(context, node, kind, list(kind._fields), defaults)
    atoms = tuple(bound[name] for name in kind._fields)
    head = reference(importable(kind.__name__, kind))
    return placed(gast.Call(head, list(atoms), []), node), nf.Pack("tuple", atoms, (), kind)


def _dataclass(context: Context, node: gast.Call, called: list[Summary] | None, kind: type) -> Made:
    """An object whose ``__init__`` was written by ``dataclass``."""
    fields = [field for field in initial_fields(kind) if field._field_type is dataclasses._FIELD]  # type: ignore[attr-defined]
    if len(fields) < len(initial_fields(kind)):
        context.refuse("E0408", node, "a dataclass with other fields")
    defaults = {}
    for field in fields:
        if field.default is not dataclasses.MISSING and field.init or sets_default(kind, field):
            defaults[field.name] = lambda value=field.default: _default(context, node, value)
        elif field.default_factory is not dataclasses.MISSING:
            defaults[field.name] = lambda factory=field.default_factory: _made_by(context, node, factory)
    taken = [field.name for field in fields if field.init and not field.kw_only]
    named = [field.name for field in fields if field.init and field.kw_only]
    captured = _captured(context, node, kind)
    bound = _bound(context, node, kind, taken, defaults, named)
    held = {field.name: bound[field.name] for field in fields if field.name in bound}
    made = packed(context, node, kind, {**captured, **held})
    after = found(kind, "__post_init__")
    if isinstance(after, FunctionType):
        if not called or any(summary.function.qualname != after.__qualname__ for summary in called):
            context.refuse("E0408", node, f"a call of {kind.__name__}")
        plain = placed(gast.Call(node.func, [], []), node)
        plain.statement = getattr(node, "statement", None)
        return _started(context, plain, called, "__post_init__", after, made, [])
    if all(field.init for field in fields) and not captured:
        only = [gast.keyword(f.name, bound[f.name]) for f in fields if f.kw_only]
        head = reference(importable(kind.__name__, kind))
        return placed(gast.Call(head, [bound[name] for name in taken], only), node), made[1]
    return made


def _made_by(context: Context, node: gast.AST, factory: object) -> gast.expr:
    """What a ``default_factory`` makes."""
    displays: dict[object, tuple[str, gast.expr]] = {
        list: ("list", gast.List([], gast.Load())), dict: ("dict", gast.Dict([], [])),
    }  # fmt: skip
    if factory not in (list, dict):
        context.refuse("E0408", node, "a default_factory other than list and dict")
    kind, display = displays[factory]
    name = context.fresh()
    context.out.append(nf.Bind(name, placed(display, node), nf.Pack(kind, ()), context.span))
    return load(name, node)
