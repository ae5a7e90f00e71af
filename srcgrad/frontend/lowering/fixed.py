"""Expressions of class statements that are the same in each call of the function that holds them.

Enters: an expression, and the scope that it stands in.  Leaves: its value; raises ``Refused`` where it may be another
in another call, or running it runs code of the user's::

    @dataclass(frozen=True)            the decorator that ``dataclass`` makes
    rate: float = 2.0 * RATE           a global number is a constant of the program
    class Cube(Square):                a class of the function that is made already
"""

from __future__ import annotations

import ast
import dataclasses
import enum
import functools
import typing
from dataclasses import dataclass
from types import ModuleType
from typing import Any

import gast

from srcgrad.frontend.guards import is_compiled_in
from srcgrad.frontend.journal import note_compiled_in
from srcgrad.frontend.lowering.names import Scope
from srcgrad.frontend.source import Source
from srcgrad.runtime.objects import is_users
from srcgrad.syntax.parse import clone, walk

#: What a class statement may call: it runs nothing of the user's.
_CALLED = (
    dataclasses.dataclass, dataclasses.field, enum.auto, enum.unique, property, staticmethod, classmethod,
    functools.cached_property, typing.final,
)  # fmt: skip
_SCALARS = (bool, int, float, complex, str, bytes, type(None), type(Ellipsis))


class Refused(Exception):
    """Why a class statement is not converted."""


@dataclass(frozen=True)
class Made:
    """A class and the variables that its methods read, each with the scope whose it is."""

    kind: type
    captured: dict[str, Scope]


class Fixed:
    """What is the same in each call of a function, among that the classes that are made so far."""

    def __init__(self, source: Source) -> None:
        self.source = source
        self.made: dict[tuple[Scope, str], Made] = {}

    def require(self, scope: Scope, node: Any, own: frozenset[str]) -> None:
        """Raise unless an expression of a class statement is the same in each call, and runs nothing of the user's."""
        match node:
            case gast.Constant():
                return
            case gast.Name(id=name):
                if name not in own:
                    self._require_known(scope, name)
                return
            case gast.Attribute(value=gast.Name(id=name), attr="setter" | "getter" | "deleter") if name in own:
                return
            case gast.Attribute(value=base, attr=name):
                self.require(scope, base, frozenset())
                module = self.value(scope, base)
                held = getattr(module, name, None)
                is_fixed = is_compiled_in(held) or type(held) in _SCALARS and not is_users(module)
                if isinstance(module, ModuleType) and is_fixed:
                    return
            case gast.Tuple(elts=parts):
                for part in parts:
                    self.require(scope, part, own)
                return
            case gast.UnaryOp(operand=operand):
                return self.require(scope, operand, own)
            case gast.BinOp(left=left, right=right) | gast.Subscript(value=left, slice=right):
                self.require(scope, left, own)
                return self.require(scope, right, own)
            case gast.Lambda():
                return
            case gast.Call(func=function, args=args, keywords=keywords):
                self.require(scope, function, frozenset())
                if any(self.value(scope, function) is each for each in _CALLED):
                    for part in (*args, *(keyword.value for keyword in keywords)):
                        self.require(scope, part, own)
                    return
        raise Refused("its statement does more than define methods and constants")

    def _require_known(self, scope: Scope, name: str) -> None:
        owner = scope.find(name)
        if owner is not None:
            if (owner, name) not in self.made:
                raise Refused(f"its statement reads the variable {name!r} of the function")
            return
        binding = self.source.resolve(name)
        if binding is None:
            raise Refused(f"its statement reads {name!r}, which has no value")
        if binding.cell is None:
            return
        function = self.source.function
        if type(binding.value) not in _SCALARS or name in function.__code__.co_freevars:
            raise Refused(f"its statement reads {name!r}, which may change")
        note_compiled_in(function.__globals__, name)

    def value(self, scope: Scope, node: Any) -> Any:
        """What a fixed expression means."""
        names = {part.id: self._named(scope, part.id) for part in walk(node) if isinstance(part, gast.Name)}
        expression = ast.fix_missing_locations(gast.gast_to_ast(gast.Expression(clone(node))))
        return eval(compile(expression, self.source.filename, "eval"), names)

    def _named(self, scope: Scope, name: str) -> Any:
        owner = scope.find(name)
        if owner is not None:
            return self.made[owner, name].kind
        binding = self.source.resolve(name)
        assert binding is not None
        return binding.value
