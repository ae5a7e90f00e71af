"""From gast, with our own leaves, to the ``ast`` of the running Python.

``GlobalReference`` becomes a plain name, constants become what a parser would have made (``Constant(-2)`` is a minus
and a two), and each statement remembers the gast statement it came from.  ``gast.gast_to_ast`` knows neither leaf.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import gast

from srcgrad.errors import InternalError
from srcgrad.syntax.comment import Comment
from srcgrad.syntax.globals import GlobalReference

LITERALS = (int, float, complex, str, bytes, bool, type(None), type(...))


class CommentLine(ast.stmt):
    """A comment, or with an empty text a blank line, in an ``ast`` body; no parser makes one."""

    _fields = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text


def to_ast(node: gast.AST, identifiers: Mapping[int, str]) -> ast.AST:
    """Convert one tree; ``identifiers`` names each binding by identity."""

    def name(value: Any) -> ast.AST:
        if isinstance(value.ctx, gast.Param):
            return ast.arg(value.id, convert(value.annotation))
        return ast.Name(value.id, convert(value.ctx))

    def handler(value: Any) -> ast.AST:
        name = value.name.id if value.name is not None else None
        return ast.ExceptHandler(convert(value.type), name, convert(value.body))

    apart: dict[type, Callable[[Any], ast.AST]] = {
        GlobalReference: lambda value: ast.Name(identifiers[id(value.binding)], ast.Load()),
        gast.Name: name,
        gast.Constant: lambda value: constant(value.value),
        Comment: lambda value: _located(CommentLine(value.text), value),
        gast.ExceptHandler: handler,
    }

    def convert(value: Any) -> Any:
        of_class: Any = value.__class__
        if of_class is list:
            return [convert(item) for item in value]
        if of_class in apart:
            return apart[of_class](value)
        if not isinstance(value, gast.AST):
            return value
        if not value._fields and not isinstance(value, gast.stmt):
            return _without_fields(of_class)
        kind, shared = _counterpart(of_class)
        here = value.__dict__
        made = kind(**{name: convert(here.get(name) or _absent(here, name)) for name in shared})
        return _located(made, value) if isinstance(made, ast.stmt) else made

    result: ast.AST = convert(node)
    return result


@cache
def _counterpart(kind: Any) -> tuple[Any, tuple[str, ...]]:
    """The class of the running Python's ``ast``, and the fields that it shares with the gast class."""
    found = getattr(ast, kind.__name__, None)
    if found is None:
        raise InternalError(f"a node of class {kind.__name__} cannot be printed", stage="emit")
    return found, tuple(name for name in found._fields if name in kind._fields)


@cache
def _without_fields(kind: Any) -> Any:
    """The operator or context of a class: trees may share it."""
    return _counterpart(kind)[0]()


def _absent(contents: Mapping[str, object], name: str) -> object:
    """What a parser leaves in a field that is empty: trees made by hand may lack some."""
    value = contents.get(name)
    return [] if value is None and name in ("type_params", "decorator_list", "keywords") else value


def constant(value: object) -> ast.expr:
    """The expression a parser makes of the literal: no negative, complex or tuple constants, no ``nan``."""
    if isinstance(value, tuple):
        return ast.Tuple([constant(item) for item in value], ast.Load())
    if type(value) not in LITERALS:
        raise InternalError(f"a value of type {type(value).__name__} is no literal", stage="emit")
    if isinstance(value, complex):
        if any(part == 0 and _negative(part) for part in (value.real, value.imag)):  # the first of -1j is
            return ast.UnaryOp(ast.USub(), constant(-value))
        if value.real == 0 and not _negative(value.imag):
            return _literal(value)
        real, imaginary = constant(value.real), constant(complex(0, abs(value.imag)))
        return ast.BinOp(real, ast.Sub() if _negative(value.imag) else ast.Add(), imaginary)
    if isinstance(value, (int, float)) and not isinstance(value, bool):
        if value != value:
            return ast.BinOp(ast.Constant(math.inf), ast.Sub(), ast.Constant(math.inf))
        return _signed(value, _literal)
    return _literal(value)


def _literal(value: Any) -> ast.expr:
    return ast.Constant(value)


def _negative(value: float) -> bool:
    return value < 0 or (value == 0 and isinstance(value, float) and math.copysign(1, value) < 0)


def _signed(value: float, literal: Callable[[float], ast.expr]) -> ast.expr:
    made = literal(abs(value))
    return ast.UnaryOp(ast.USub(), made) if _negative(value) else made


def _located(made: ast.stmt, origin: gast.AST) -> ast.stmt:
    made.origin = origin  # type: ignore[attr-defined]
    return made


def same_ast(left: ast.AST, right: ast.AST) -> bool:
    """Whether two ``ast`` trees are one program; comments, contexts and positions aside.  Runs without recursion."""
    stack: list[tuple[object, object]] = [(left, right)]
    while stack:
        a, b = stack.pop()
        if isinstance(a, list) and isinstance(b, list):
            a, b = _without_comments(a), _without_comments(b)
            if len(a) != len(b):
                return False
            stack.extend(zip(a, b))
        elif isinstance(a, ast.AST):
            if type(a) is not type(b):
                return False
            if isinstance(a, ast.Expr) and isinstance(b, ast.Expr) and _same_text(a.value, b.value):
                continue  # a docstring, indented anew
            kind: Any = a.__class__
            for name in _compared(kind):
                one, other = getattr(a, name, None), getattr(b, name, None)
                if one is not other and not (one.__class__ is str and one == other):
                    stack.append((one, other))
        elif type(a) is not type(b) or (a != b and repr(a) != repr(b)):
            return False
    return True


@cache
def _compared(kind: Any) -> tuple[str, ...]:
    return tuple(name for name in kind._fields if name not in ("ctx", "kind", "type_comment", "type_params"))


def _without_comments(items: list[object]) -> list[object]:
    """The statements of a block; one of comments alone is printed with a ``pass``."""
    kept = [item for item in items if not isinstance(item, CommentLine)]
    return kept if kept or not items else [ast.Pass()]


def _same_text(left: ast.expr, right: ast.expr) -> bool:
    texts = [node.value for node in (left, right) if isinstance(node, ast.Constant) and isinstance(node.value, str)]
    return len(texts) == 2 and texts[0].split() == texts[1].split()
