"""The fence: which Python is differentiated.  One row for each gast node class.

Enters: a ``Source``.  Leaves: nothing; what is outside raises ``UnsupportedSyntax`` with a caret, the reason and what
to write instead.  A row is ``ADMITTED``, a ``Refusal``, or a check that admits the node in some places.  Only syntax is
judged here; what a name means is judged by ``normalize`` (which callee has a rule, which context manager is safe).
Annotations are not looked at: they have no effect in a function's body.

>>> from srcgrad.frontend.source import source_of
>>> def step(y, x):
...     yield x * x
>>> admit(source_of(step))
Traceback (most recent call last):
srcgrad.errors.UnsupportedSyntax: a generator cannot be reversed
  <doctest srcgrad.frontend.fence[1]>:2, in step
    2 |     yield x * x
      |     ^^^^^^^^^^^ this function yields
  hint: return a list
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import gast

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.desugar.matching import captures
from srcgrad.frontend.desugar.unpacking import is_unpacked_at_once
from srcgrad.frontend.local_classes import class_of
from srcgrad.frontend.names import bound_by
from srcgrad.frontend.source import Source
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import walk


@dataclass(frozen=True)
class Refusal:
    """Why a node is outside: the reason, what the caret points at, what to write instead, and where, if elsewhere."""

    reason: str
    label: str | None = None
    hint: str | None = None
    at: gast.AST | None = None


@dataclass(frozen=True)
class Place:
    """Where a node stands."""

    parent: gast.AST | None
    source: Source


Check = Callable[[Any, Place], Refusal | None]
Row = Refusal | Check | None

ADMITTED: Row = None
NEVER = Refusal("this node is no part of a function of Python 3", hint="please report the program that made it")

_SKIPPED = frozenset({"annotation", "returns", "type_params", "type_comment", "decorator_list"})
_CONSUMERS = frozenset(
    """sum max min any all list tuple sorted prod fsum fmean dict deque extend extendleft next fromiter set frozenset
    update union intersection difference symmetric_difference difference_update intersection_update
    symmetric_difference_update""".split()
)
_SECOND = frozenset({"reduce", "nlargest", "nsmallest"})  # which run through their second argument
_REFLECTION = frozenset(
    {"locals", "vars", "globals", "dir", "exec", "eval", "setattr", "delattr", "__import__"}
)
#: Functions that ask which exception is being handled where they are called.
_ASKING = (
    sys.exc_info, getattr(sys, "exception", sys.exc_info), traceback.format_exc, traceback.print_exc,
)  # fmt: skip


def admit(source: Source) -> None:
    """Raises ``UnsupportedSyntax`` at the first node of ``source`` that is outside the language."""
    pending: list[tuple[gast.AST, gast.AST | None]] = [(source.node, None)]
    while pending:
        node, parent = pending.pop()
        if isinstance(node, GlobalReference):
            continue  # of ours
        row = ROWS[type(node)]
        refusal = row(node, Place(parent, source)) if callable(row) else row
        if refusal is not None:
            span = source.span(node if refusal.at is None else refusal.at)
            raise UnsupportedSyntax(refusal.reason, span, label=refusal.label, hint=refusal.hint)
        pending.extend((child, node) for child in reversed(list(_inside(node, parent is None))))


def _inside(node: gast.AST, outermost: bool) -> Iterator[gast.AST]:
    """What is judged below ``node``; the defaults of the differentiated function itself are values, not syntax."""
    if isinstance(node, gast.ClassDef):
        return  # methods are judged where they are called
    for name in node._fields:
        if name in _SKIPPED or (outermost and name == "args"):
            continue
        value = getattr(node, name, None)
        for item in value if isinstance(value, list) else [value]:
            if isinstance(item, gast.AST):
                yield item


# --- admitted in some places -----------------------------------------------------------------------------------------
def _outside(node: gast.Global | gast.Nonlocal, place: Place) -> Refusal | None:
    """Names from around a function may be read."""
    function: gast.AST = place.source.node
    for inner in walk(place.source.node):
        if isinstance(inner, gast.FunctionDef) and any(below is node for below in walk(*inner.body)):
            function = inner
    if any(name in node.names for inner in walk(function) for name in bound_by(inner)):
        return _GLOBAL if isinstance(node, gast.Global) else _NONLOCAL
    return None


def _generator(node: gast.GeneratorExp, place: Place) -> Refusal | None:
    match place.parent:
        case gast.Call(func=gast.Name(id=name) | gast.Attribute(attr=name), args=[first, *_]):
            if first is node and name in _CONSUMERS:
                return None
            if name in _SECOND and len(place.parent.args) > 1 and place.parent.args[1] is node:
                return None
        case gast.Starred():
            return None
        case gast.Assign(targets=[gast.Tuple(elts=targets)]) if is_unpacked_at_once(node, len(targets)):
            return None
    return Refusal(
        "a generator expression cannot be reversed here",
        "this is evaluated later, item by item",
        "write a list: [... for ...]",
    )


def _comprehension(node: gast.comprehension, place: Place) -> Refusal | None:
    return Refusal("an async comprehension cannot be differentiated", hint=_SYNC) if node.is_async else None


def _call(node: gast.Call, place: Place) -> Refusal | None:
    match node.func:
        case gast.Name(id=name) if (binding := place.source.resolve(name)) is not None:
            called = binding.value
        case gast.Attribute(value=gast.Name(id=name), attr=attr) if (binding := place.source.resolve(name)) is not None:
            called = getattr(binding.value, attr, None) if isinstance(binding.value, ModuleType) else None
        case _:
            called = None
    if any(called is asking for asking in _ASKING):
        return Refusal(
            "what is raised is no exception that is being handled in a derivative",
            "this asks for that",
            "name the exception in its handler: except ... as e",
        )
    if not isinstance(node.func, gast.Name) or node.func.id not in _REFLECTION:
        return None
    binding = place.source.resolve(node.func.id)
    if binding is None or binding.module != "builtins":
        return None
    return Refusal(
        f"{node.func.id}() reaches names and objects behind the compiler's back",
        "this cannot be followed",
        "name what you read, and pass it as an argument",
    )


def _attribute(node: gast.Attribute, place: Place) -> Refusal | None:
    return _FIELDS if node.attr == "__dict__" else None


def _class(node: gast.ClassDef, place: Place) -> Refusal | None:
    return _CLASS if class_of(node, place.source) is None else None


def _match_value(node: gast.MatchValue, place: Place) -> Refusal | None:
    match node.value:
        case gast.Constant() | gast.Attribute() | gast.UnaryOp() | gast.BinOp():
            return None
    return _PATTERN


def _match_mapping(node: gast.MatchMapping, place: Place) -> Refusal | None:
    return None if node.rest is None else _REST


def _match_class(node: gast.MatchClass, place: Place) -> Refusal | None:
    """Attributes by their names; by position only what stands for the whole of a builtin's object."""
    if not node.patterns:
        return None
    binding = place.source.resolve(node.cls.id) if isinstance(node.cls, gast.Name) else None
    known = binding is not None and any(binding.value is kind for kind in _WHOLE)
    return None if known and len(node.patterns) == 1 else _PATTERN


def _match_or(node: gast.MatchOr, place: Place) -> Refusal | None:
    return _ALTERNATIVES if captures(node) else None


# --- refused ---------------------------------------------------------------------------------------------------------
_SYNC = "differentiate a plain function, and await around the call"
_ASYNC = Refusal("an async function cannot be differentiated", "this function is async", _SYNC)
_AWAIT = Refusal("await cannot be reversed", "this waits", _SYNC)
_YIELD = Refusal("a generator cannot be reversed", "this function yields", "return a list")
_CLASS = Refusal(
    "a class inside a differentiated function that each call makes anew",
    "its statement reads local variables, or does more than define it",
    "define it in the module",
)
_GLOBAL = Refusal(
    "a store into a global cannot be reversed", "this name is bound outside", "return the new value as a result"
)
_NONLOCAL = Refusal(
    "a store into an enclosing function cannot be reversed",
    "this name is bound outside",
    "return the new value, and assign it where the name lives; or give the name a value before it is read",
)
_FIELDS = Refusal(
    "__dict__ reaches the fields of an object behind the compiler's back",
    "this cannot be followed",
    "name the fields that you read",
)
_TRY = Refusal(
    "an exception handler cannot be reversed",
    "where it is left is not known",
    "test the condition with if before it fails, or catch around the differentiated call",
)
_TYPE_ALIAS = Refusal("a type alias is no computation", "defined at each call", "define it in the module")
_TEMPLATE = Refusal("a template string cannot be differentiated", "a t-string", "write an f-string")
_PATTERN = Refusal(
    "which attributes the patterns of a class stand for is not known",
    "these stand for attributes by their position",
    "name the attributes: Point(x=a, y=b)",
)
_REST = Refusal("the rest of a mapping is not taken apart", "its keys are not known", "name the keys")
_ALTERNATIVES = Refusal(
    "alternatives that bind names are not differentiated", "bound in one of several ways", "write a case for each"
)
_WHOLE = (bool, bytes, dict, float, int, list, set, str, tuple)

# --- the table -------------------------------------------------------------------------------------------------------
ROWS: dict[type, Row] = {
    # modules
    gast.Module: NEVER,
    gast.Interactive: NEVER,
    gast.Expression: NEVER,
    gast.FunctionType: NEVER,
    gast.Suite: NEVER,
    # statements
    gast.FunctionDef: ADMITTED,
    gast.AsyncFunctionDef: _ASYNC,
    gast.ClassDef: _class,
    gast.Return: ADMITTED,
    gast.Delete: ADMITTED,
    gast.Assign: ADMITTED,
    gast.TypeAlias: _TYPE_ALIAS,
    gast.AugAssign: ADMITTED,
    gast.AnnAssign: ADMITTED,
    gast.Print: NEVER,
    gast.For: ADMITTED,
    gast.AsyncFor: _AWAIT,
    gast.While: ADMITTED,
    gast.If: ADMITTED,
    gast.With: ADMITTED,
    gast.AsyncWith: _AWAIT,
    gast.Match: ADMITTED,
    gast.Raise: ADMITTED,
    gast.Try: ADMITTED,
    gast.TryStar: _TRY,
    gast.Assert: ADMITTED,
    gast.Import: ADMITTED,
    gast.ImportFrom: ADMITTED,
    gast.Exec: NEVER,
    gast.Global: _outside,
    gast.Nonlocal: _outside,
    gast.Expr: ADMITTED,
    gast.Pass: ADMITTED,
    gast.Break: ADMITTED,
    gast.Continue: ADMITTED,
    # expressions
    gast.BoolOp: ADMITTED,
    gast.NamedExpr: ADMITTED,
    gast.BinOp: ADMITTED,
    gast.UnaryOp: ADMITTED,
    gast.Lambda: ADMITTED,
    gast.IfExp: ADMITTED,
    gast.Dict: ADMITTED,
    gast.Set: ADMITTED,
    gast.ListComp: ADMITTED,
    gast.SetComp: ADMITTED,
    gast.DictComp: ADMITTED,
    gast.GeneratorExp: _generator,
    gast.Await: _AWAIT,
    gast.Yield: _YIELD,
    gast.YieldFrom: _YIELD,
    gast.Compare: ADMITTED,
    gast.Call: _call,
    gast.Repr: NEVER,
    gast.FormattedValue: ADMITTED,
    gast.JoinedStr: ADMITTED,
    gast.Constant: ADMITTED,
    gast.Attribute: _attribute,
    gast.Subscript: ADMITTED,
    gast.Starred: ADMITTED,
    gast.Name: ADMITTED,
    gast.List: ADMITTED,
    gast.Tuple: ADMITTED,
    gast.Slice: ADMITTED,
    # contexts
    gast.Load: ADMITTED,
    gast.Store: ADMITTED,
    gast.Del: ADMITTED,
    gast.AugLoad: NEVER,
    gast.AugStore: NEVER,
    gast.Param: ADMITTED,
    # operators
    gast.And: ADMITTED,
    gast.Or: ADMITTED,
    gast.Add: ADMITTED,
    gast.Sub: ADMITTED,
    gast.Mult: ADMITTED,
    gast.MatMult: ADMITTED,
    gast.Div: ADMITTED,
    gast.Mod: ADMITTED,
    gast.Pow: ADMITTED,
    gast.LShift: ADMITTED,
    gast.RShift: ADMITTED,
    gast.BitOr: ADMITTED,
    gast.BitXor: ADMITTED,
    gast.BitAnd: ADMITTED,
    gast.FloorDiv: ADMITTED,
    gast.Invert: ADMITTED,
    gast.Not: ADMITTED,
    gast.UAdd: ADMITTED,
    gast.USub: ADMITTED,
    gast.Eq: ADMITTED,
    gast.NotEq: ADMITTED,
    gast.Lt: ADMITTED,
    gast.LtE: ADMITTED,
    gast.Gt: ADMITTED,
    gast.GtE: ADMITTED,
    gast.Is: ADMITTED,
    gast.IsNot: ADMITTED,
    gast.In: ADMITTED,
    gast.NotIn: ADMITTED,
    # parts of expressions and statements
    gast.comprehension: _comprehension,
    gast.ExceptHandler: ADMITTED,
    gast.arguments: ADMITTED,
    gast.keyword: ADMITTED,
    gast.alias: ADMITTED,
    gast.withitem: ADMITTED,
    gast.match_case: ADMITTED,
    # patterns
    gast.MatchValue: _match_value,
    gast.MatchSingleton: ADMITTED,
    gast.MatchSequence: ADMITTED,
    gast.MatchMapping: _match_mapping,
    gast.MatchClass: _match_class,
    gast.MatchStar: ADMITTED,
    gast.MatchAs: ADMITTED,
    gast.MatchOr: _match_or,
    # typing, which has no effect
    gast.type_ignore: ADMITTED,
    gast.TypeVar: ADMITTED,
    gast.ParamSpec: ADMITTED,
    gast.TypeVarTuple: ADMITTED,
}

for _name in ("TemplateStr", "Interpolation"):  # gast 0.7 and later
    if hasattr(gast, _name):
        ROWS[getattr(gast, _name)] = _TEMPLATE
