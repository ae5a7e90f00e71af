"""Classes that a function defines for itself, made once: closure conversion of class statements.

Enters: the tree of a function, before it is lowered.  Leaves: the same tree, in which each class statement whose bases,
decorators and body are known when it is compiled holds the class that it makes.  What methods read of the function is
handed to the objects when they are made, as fields of their own (Johnsson, *Lambda lifting*, 1985)::

    class P:                                class P:
        def __init__(self, v):                  def __init__(self, v):
            self.v = v                              self.v = v
        def sq(self):                  ->       def sq(self):
            return self.v**2 * k                    return self.v**2 * self._srcgrad_k
    return P(x).sq()                        return P(x, _srcgrad_k=k).sq()      the field is set before __init__ runs

Python makes another class in each call.  That cannot be told as long as no object of it, nor the class, is held when
the call has ended (``infer.local_classes``), the statement runs once in a call, and nothing that the class holds is
changed.  A variable that methods read is bound before the class, and never again: Python's methods see what is bound
later.
"""

from __future__ import annotations

import ast
import builtins
import enum
import functools
import typing
from collections.abc import Iterator, Sequence
from types import CellType, CodeType, FunctionType, resolve_bases
from typing import Any

import gast

from srcgrad.frontend.classes import CAPTURED, captured_by
from srcgrad.frontend.lowering.class_bodies import (
    AS_TEXT,
    Body,
    Place,
    bindings,
    hand_over,
    join,
    require_once,
)
from srcgrad.frontend.lowering.fixed import Fixed, Made, Refused
from srcgrad.frontend.lowering.names import Scope, scopes_of
from srcgrad.frontend.mangling import written_name
from srcgrad.frontend.source import Source
from srcgrad.runtime.objects import LIBRARIES, package_of
from srcgrad.syntax.parse import clone, walk

_FACTORY = "srcgrad_class"


def convert_classes(source: Source) -> None:
    """Make the classes that the tree of a function defines; a statement that stays as it is says why (``refused``)."""
    nodes = list(walk(source.node))
    names = (getattr(node, field, None) for node in nodes for field in ("id", "attr", "arg", "name"))
    if any(isinstance(node, gast.ClassDef) for node in nodes) and not any(
        isinstance(name, str) and name.startswith(CAPTURED) for name in names
    ):
        _Converter(source).function(scopes_of(source.node))


class _Converter:
    """The classes of one function that are made so far."""

    def __init__(self, source: Source) -> None:
        self.source, self.fixed = source, Fixed(source)

    # --- where classes stand -----------------------------------------------------------------------------------------
    def function(self, scope: Scope, place: Place | None = None) -> None:
        if isinstance(scope.node, gast.FunctionDef):
            self.block(scope, scope.node.body, place or Place(), repeats=False)

    def block(self, scope: Scope, body: list[gast.stmt], place: Place, *, repeats: bool) -> None:
        for index, statement in enumerate(body):
            here = place.inside(scope, body[:index], repeats=repeats)
            match statement:
                case gast.ClassDef():
                    self.define(scope, statement, here)
                case gast.FunctionDef():
                    self.function(scope.inner[statement], here)
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.Name(id=known)):
                    self.rename(scope, name, scope.find(known), known)
                case _:
                    is_loop = isinstance(statement, gast.For | gast.While)
                    for inner in _blocks_of(statement):
                        self.block(scope, inner, here, repeats=is_loop)

    def define(self, scope: Scope, node: Any, place: Place) -> None:
        """Make the class of a statement, which is emptied, or note why there is none."""
        if hasattr(node, "made") or hasattr(node, "refused"):
            return
        before = clone(node)
        try:
            made = self.converted(scope, node, place)
        except Refused as why:
            node.__dict__.update(before.__dict__)
            node.refused = str(why)
            return
        if bindings(scope, node.name) == 1:
            self.fixed.made[scope, node.name] = made
        hand_over(scope, scope, node.name, made)
        node.made = made.kind
        node.decorator_list, node.bases, node.keywords, node.body = [], [], [], [gast.copy_location(gast.Pass(), node)]

    def rename(self, scope: Scope, name: str, owner: Scope | None, known: str) -> None:
        """Another name of a class, which it has alone."""
        made = None if owner is None else self.fixed.made.get((owner, known))
        if made is not None and scope.find(name) is scope and bindings(scope, name) == 1:
            self.fixed.made[scope, name] = made
            hand_over(scope, scope, name, made)

    # --- one class ---------------------------------------------------------------------------------------------------
    def converted(self, scope: Scope, node: Any, place: Place) -> Made:
        if place.is_repeated:
            raise Refused("each turn of the loop makes another class")
        if any(isinstance(part, gast.Yield | gast.YieldFrom) for part in scope.parts):
            raise Refused("a generator makes it, several of which may run at a time")
        if node.keywords or getattr(node, "type_params", None):
            raise Refused("its statement has keywords or parameters")
        for expression in (*node.decorator_list, *node.bases):
            self.fixed.require(scope, expression, frozenset())
        body = Body(self.fixed, scope, node, place)
        body.read()
        try:
            decorators = [self.fixed.value(scope, expression) for expression in node.decorator_list]
            bases = tuple(self.fixed.value(scope, expression) for expression in node.bases)
            self.inherit(bases, body)
            body.rewrite()
            kind = self.built(scope, node, bases, body.free)
            for decorator in reversed(decorators):
                kind = decorator(kind)
        except Refused:
            raise
        except Exception as error:
            raise Refused(f"its statement raises {type(error).__name__}") from error
        if body.own is not None:
            body.own.cell_contents = kind
        _require_fields(kind, body.captured)
        if body.own is not None or body.captured:
            require_once(scope, node.name)
        kind.__srcgrad_captured__ = tuple(CAPTURED + name for name in body.captured)
        return Made(kind, body.captured)

    def inherit(self, bases: tuple[Any, ...], body: Body) -> None:
        """Add what the methods of bases read; raises where making a class of these runs code of the user's."""
        for base in bases:
            _require_base(base)
            known = next((each.captured for each in self.fixed.made.values() if each.kind is base), None)
            if known is None and captured_by(base):
                raise Refused("methods of a base read variables that are not known here")
            join(body.captured, known or {})

    # --- the class object --------------------------------------------------------------------------------------------
    def built(self, scope: Scope, node: Any, bases: tuple[Any, ...], free: dict[str, CellType]) -> Any:
        """The class of a statement, whose functions have the places of the user's file and names of the user's."""
        function, name = self.source.function, written_name(node)
        statement = clone(node)
        statement.decorator_list, statement.bases, statement.name = [], [], name
        for part in statement.body:
            if isinstance(part, gast.FunctionDef):
                part.name = written_name(part)
        given = gast.arguments([gast.Name(each, gast.Param(), None, None) for each in free], [], None, [], [], None, [])
        factory = gast.FunctionDef(_FACTORY, given, [statement], [], None, None, [])
        tree = ast.fix_missing_locations(gast.gast_to_ast(gast.Module([gast.copy_location(factory, node)], [])))
        flags = function.__code__.co_flags & AS_TEXT
        whole = compile(tree, self.source.filename, "exec", flags, dont_inherit=True)
        (outer,) = (each for each in whole.co_consts if isinstance(each, CodeType) and each.co_name == _FACTORY)
        (code,) = (each for each in outer.co_consts if isinstance(each, CodeType) and each.co_name == name)
        code = _renamed(code, f"{_FACTORY}.<locals>.{name}", _qualified(self.source, scope, name))
        cells = tuple(free[each] for each in code.co_freevars)
        body = FunctionType(code, function.__globals__, name, None, cells)
        made = builtins.__build_class__(body, name, *bases)
        methods = [each for each in statement.body if isinstance(each, gast.FunctionDef)]
        definitions = {(each.name, _first_line(each)): each for each in methods}
        for inner in _functions_of(made):
            definition = definitions.get((inner.__name__, inner.__code__.co_firstlineno))
            if definition is not None:
                definition.decorator_list = []
                inner.__srcgrad_definition__ = definition, self.source.file  # type: ignore[attr-defined]
        found = [each.__srcgrad_definition__ for each in _functions_of(made) if hasattr(each, "__srcgrad_definition__")]
        if any(_reads_fields(each) and all(each is not definition for definition, _ in found) for each in methods):
            raise Refused("a method that reads variables of the function is wrapped in something else")
        return made


# --- classes ---------------------------------------------------------------------------------------------------------
def _require_base(base: Any) -> None:
    for kind in () if base is typing.NamedTuple else resolve_bases((base,)):
        if not isinstance(kind, type) or type(kind) not in (type, enum.EnumType) and kind is not typing.Generic:
            raise Refused("a class of one of its bases is made by a class of its own")
        if any("__init_subclass__" in vars(each) and package_of(each) not in LIBRARIES for each in kind.__mro__):
            raise Refused("a base runs __init_subclass__")


def _require_fields(kind: Any, captured: dict[str, Scope]) -> None:
    """Raise if the objects of a class have no place for what its methods read."""
    if not isinstance(kind, type):
        raise Refused("its decorators make something else of it")
    if captured and (not kind.__dictoffset__ or issubclass(kind, tuple | enum.Enum | BaseException)):
        raise Refused("its methods read variables of the function, and its objects have no fields for them")


def _reads_fields(method: gast.FunctionDef) -> bool:
    return any(isinstance(node, gast.Attribute) and node.attr.startswith(CAPTURED) for node in walk(method))


def _functions_of(kind: type) -> Iterator[FunctionType]:
    for held in vars(kind).values():
        match held:
            case property():
                parts: Sequence[Any] = (held.fget, held.fset, held.fdel)
            case staticmethod() | classmethod():
                parts = (held.__func__,)
            case functools.cached_property():
                parts = (held.func,)
            case _:
                parts = (held,)
        yield from (part for part in parts if isinstance(part, FunctionType))


# --- text ------------------------------------------------------------------------------------------------------------
def _blocks_of(statement: Any) -> Iterator[list[gast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        block = getattr(statement, name, None)
        if isinstance(block, list):
            yield block
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def _first_line(node: Any) -> int:
    return int(min([node.lineno, *(each.lineno for each in node.decorator_list)]))


def _qualified(source: Source, scope: Scope, name: str) -> str:
    parts = [name]
    here: Scope | None = scope
    while here is not None and here.parent is not None:
        parts.insert(0, f"{written_name(here.node)}.<locals>")
        here = here.parent
    return ".".join([f"{source.qualname}.<locals>", *parts])


def _renamed(code: CodeType, before: str, after: str) -> CodeType:
    """The code of a class, with another qualified name, and what stands in it with it."""
    constants: list[object] = []
    for each in code.co_consts:
        is_name = isinstance(each, str) and each == before
        constants.append(_renamed(each, before, after) if isinstance(each, CodeType) else after if is_name else each)
    return code.replace(co_qualname=after + code.co_qualname.removeprefix(before), co_consts=tuple(constants))
