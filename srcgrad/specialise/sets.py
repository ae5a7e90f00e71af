"""Sets: real ones, which the forward sweep alone makes, changes and reads; nothing in them varies.

Enters: expressions and calls whose values say that they make, change or read a set.  Leaves: ``Unruled``s that say what
is put in (``analysis.activity`` refuses what varies) and which set changes, and lists of the items, in the set's own
order, where they are gone over::

    seen.add(i + 1)            t = i + 1;  t2 = seen.add(t)          changes seen, is given t
    for j in a | b:            t = a | b;  items = list(t);  for k in range(len(items)): j = items[k]
"""

from __future__ import annotations

import copy
import math
from collections import deque
from collections.abc import Sequence
from types import BuiltinFunctionType
from typing import Any

import gast

from srcgrad import runtime
from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.classes import is_user_class
from srcgrad.infer.named import is_named_tuple
from srcgrad.infer.objects import MAPPINGS
from srcgrad.infer.values import SCALARS, Array, At, Bound, Exact, Of, Value
from srcgrad.ir import normal_form as nf
from srcgrad.language import effects
from srcgrad.language.models.ranks import MOMENTS
from srcgrad.specialise.collecting import collected
from srcgrad.specialise.context import Context
from srcgrad.specialise.fields import holds_objects
from srcgrad.specialise.operands import Made, atom, named, settled
from srcgrad.specialise.series import are, is_series
from srcgrad.specialise.set_operations import ASKING, SETS, are_sets, may_be_set
from srcgrad.syntax.build import call, call_builtin, call_runtime, load, method_call, placed
from srcgrad.syntax.parse import names_read

_PUTS = {"add": 1, "discard": 1, "remove": 1, "clear": 0, "pop": 0}  # how many arguments
_OPERATORS = (gast.BitOr, gast.BitAnd, gast.Sub, gast.BitXor)
_TAKING_OVER = ("update", "intersection_update", "difference_update", "symmetric_difference_update")
#: Functions with rules that go over the items of what they are given.
_GOING_OVER = (sorted, sum, max, min, math.prod, math.fsum, list, tuple, *MOMENTS)
_MAKES = effects.returning(frozenset, "element")


# --- making ----------------------------------------------------------------------------------------------------------
def displayed(context: Context, node: gast.Set) -> Made:
    """``{a, b}``, and ``{*a, b}``, which is made empty and put into."""
    if not node.elts:
        return call_builtin("set", [], node), kept(context, ())
    if not any(isinstance(element, gast.Starred) for element in node.elts):
        given = [_put(context, element) for element in node.elts]
        return placed(gast.Set([_checked(context, one) for one in given]), node), kept(context, given)
    name = context.fresh()
    context.out.append(nf.Bind(name, call_builtin("set", [], node), kept(context, ()), context.span))
    for element in node.elts:
        is_starred = isinstance(element, gast.Starred)
        _insert(context, name, "update" if is_starred else "add", element.value if is_starred else element)
    return load(name, node), nf.Copy(name)


def inserted(context: Context, base: Any, name: str, item: Any) -> None:
    """What a comprehension or a display with stars puts in."""
    _insert(context, named(context, base), name, item)


def _insert(context: Context, base: str, name: str, item: Any) -> None:
    if name == "update":
        atoms, given = _items(context, [item])
    else:
        given = [_put(context, item)]
        atoms = [_checked(context, one) for one in given]
    made = method_call(load(base, item), name, atoms, item)
    context.out.append(nf.Bind(context.fresh(), made, kept(context, given, base), context.span))


def constructed(context: Context, node: gast.Call, kind: type) -> Made:
    """``set(items)`` and ``frozenset(items)``."""
    if node.keywords or len(node.args) > 1:
        context.refuse("E0407", node, f"this call of {kind.__name__}")
    atoms, given = _items(context, node.args)
    return call_builtin(kind.__name__, atoms, node), kept(context, given)


def operated(context: Context, op: gast.AST, operands: list[gast.expr], node: gast.AST) -> Made | None:
    """``a | b`` of two sets; None of other operators."""
    if not any(may_be_set(context.value(operand)) for operand in operands):
        return None
    if not isinstance(op, _OPERATORS) or not all(are_sets(context.value(operand)) for operand in operands):
        context.refuse("E0407", node, "an operator of what may be a set")
    return placed(gast.BinOp(operands[0], op, operands[1]), node), kept(context, ())


# --- changing --------------------------------------------------------------------------------------------------------
def method(context: Context, node: gast.Call, bound: Bound) -> Made | None:
    """A method of a set; None of anything else."""
    if not may_be_set(bound.receiver):
        return None
    name = bound.name
    if not are_sets(bound.receiver) or node.keywords or not isinstance(node.func, gast.Attribute):
        context.refuse("E0407", node, f"the method {name!r} of what may be a set")
    if any(isinstance(argument, gast.Starred) for argument in node.args):
        context.refuse("E0407", node, f"the method {name!r} with stars")
    if name not in ("add", "discard"):
        _refuse_objects(context, node, bound.receiver)
    base = named(context, node.func.value)
    if name in _PUTS and _PUTS[name] == len(node.args):
        given = [_put(context, argument) for argument in node.args]
        checked = [_checked(context, one) for one in given]
        return method_call(load(base, node), name, checked, node), kept(context, given, base)
    if name in _TAKING_OVER:
        atoms, given = _items(context, node.args)
        return method_call(load(base, node), name, atoms, node), kept(context, given, base)
    if name in _MAKES or name in ASKING and len(node.args) == 1:
        atoms, given = _items(context, node.args)
        return method_call(load(base, node), name, atoms, node), kept(context, given if name in _MAKES else ())
    context.refuse("E0407", node, f"the method {name!r} of a set")


# --- reading ---------------------------------------------------------------------------------------------------------
def listed(context: Context, node: Any) -> str:
    """The name of a list of the items that a set has now, in its order."""
    return _listed(context, atom(context, node), node)


def gone_over(context: Context, node: Any) -> str:
    """The same for a loop, in which the set must not change its length."""
    held = atom(context, node)
    items = _listed(context, held, node)
    if context.is_local(held):
        marked = call_runtime(runtime.followed, [held, load(items, node)], node)
        context.out.append(nf.Bind(context.fresh("walk"), marked, nf.Fixed(), context.span))
    return items


def _listed(context: Context, held: gast.expr, node: gast.AST) -> str:
    _refuse_objects(context, node, context.value(held))
    items = context.fresh("items")
    context.out.append(nf.Bind(items, call_builtin("list", [held], node), kept(context, ()), context.span))
    return items


def copied(context: Context, node: gast.Call, function: Any) -> Made | None:
    """``copy.copy(s)``; None of other calls."""
    is_copy = any(function is one for one in (copy.copy, copy.deepcopy)) and len(node.args) == 1 and not node.keywords
    if not is_copy or not are_sets(context.value(node.args[0])):
        return None
    _refuse_objects(context, node, context.value(node.args[0]))
    return call(settled(context, node.func), [atom(context, node.args[0])], node), kept(context, ())


def argument(context: Context, function: Any, node: Any) -> gast.expr | None:
    """What is given to a function that goes over the items of a set; None where nothing of it may be a set."""
    if not may_be_set(context.value(node)):
        return None
    if not any(function is one for one in _GOING_OVER) or not are_sets(context.value(node)):
        context.refuse("E0407", node, "a function that is applied to a set")
    return load(listed(context, node), node)


# --- parts -----------------------------------------------------------------------------------------------------------
def kept(context: Context, given: Sequence[gast.expr], changes: str | None = None) -> nf.Unruled:
    """The operation of what puts ``given`` into a set that it makes, or that it ``changes``."""
    refusal = UnsupportedSyntax(
        "what is put into a set varies: its derivative would be lost there",
        context.span, code="E0604",
        label="this varies",
        hint="sets are for numbers of things, keys and text; keep what varies in a list or dict",
    )
    varying = [] if context.source.generated else [one for one in given if not _is_object(context.value(one))]
    return nf.Unruled(refusal, True, tuple(names_read(*varying)), changes)


def _put(context: Context, node: Any) -> gast.expr:
    """An atom that is put into a set.  An object may be, since nothing is read from a set that holds one."""
    value = context.value(node)
    if _is_object(value):
        return atom(context, node)
    if holds_objects(context.facts, value) or value.is_any or not all(map(_is_plain, value.atoms)):
        context.refuse("E0407", node, "an object that is put into a set")
    return atom(context, node)


def _is_object(value: Value) -> bool:
    """Whether a value is an object of the user's for sure."""
    return value.consists_of(
        lambda one: isinstance(one, At) and one.site.kind is not None and is_user_class(one.site.kind)
        and not is_named_tuple(one.site.kind)
    )  # fmt: skip


def _refuse_objects(context: Context, node: gast.AST, value: Value) -> None:
    """Refuse reading from a set that holds objects: what varies in them would be lost."""
    if holds_objects(context.facts, value):
        context.refuse("E0407", node, "reading from a set that holds objects")


def _is_plain(one: Any) -> bool:
    """Whether what is read from a set again would be a number, text, a class, or made of such."""
    match one:
        case Exact(value=held):
            return type(held) in SCALARS or isinstance(held, type | BuiltinFunctionType)
        case At(site=site):
            return site.kind in (None, tuple, frozenset)
    return isinstance(one, Of | Array)


def _checked(context: Context, one: gast.expr) -> gast.expr:
    """In our own output, where more seems to vary than does, the run looks at what is put into a set."""
    if not context.source.generated or isinstance(one, gast.Constant):
        return one
    return call_runtime(runtime.unvaried, [one], one)


def _items(context: Context, nodes: Sequence[Any]) -> tuple[list[gast.expr], list[gast.expr]]:
    """Atoms for what sets are made of; which of them may vary: items of sets and keys of dicts never do."""
    atoms: list[gast.expr] = []
    given: list[gast.expr] = []
    for node in nodes:
        value = context.value(node)
        if holds_objects(context.facts, value):
            context.refuse("E0407", node, "an object that is put into a set")
        if are(value, (*SETS, *MAPPINGS)):
            atoms.append(atom(context, node))
            continue
        items = collected(context, node) if is_series(context, node) else None
        if items is None and not are(value, (list, tuple, deque, range), arrays=True) and not _is_text(value):
            context.refuse("E0407", node, "a set of the items of what may be no container")
        one = atom(context, node) if items is None else load(items, node)
        given.append(one)
        atoms.append(_checked(context, one))
    return atoms, given


def _is_text(value: Value) -> bool:
    return value.consists_of(
        lambda one: isinstance(one, Exact) and type(one.value) is str or isinstance(one, Of) and one.kind is str
    )
