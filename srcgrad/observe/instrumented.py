"""The functions of a compiled program once more, with calls of an observer between their statements.

Enters: a ``Compiled`` program and an ``Observer``.  Leaves: the same program with functions of its own, which compute
the same and tell the observer where they are.  The text, and so each line number, stays what it was.
"""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from types import FunctionType
from typing import Any, Protocol, TypeVar

from srcgrad.observe.reading import Reading, blocks_of, reading_of
from srcgrad.programs import Compiled
from srcgrad.syntax.depth import alone

_BEFORE, _AGAIN, _AFTER, _ENTER, _LEAVE = (
    f"__srcgrad_{name}__" for name in ("before", "again", "after", "enter", "leave")
)


class Observer(Protocol):
    """Receives the events of a run; lines are those of the emitted text."""

    def enter(self, line: int) -> None:
        """A function begins, whose ``def`` stands at ``line``."""

    def leave(self) -> None:
        """It ends, by its return or by an exception."""

    def before(self, line: int) -> None:
        """The statement at ``line`` comes next."""

    def again(self, line: int) -> None:
        """The loop at ``line`` has come to the end of a pass."""

    def after(self, line: int) -> None:
        """The statement at ``line``, which is no exit, has run; of a loop: a pass begins."""


AnyObserver = TypeVar("AnyObserver", bound=Observer)


def observed(compiled: Compiled, make: Callable[[Reading], AnyObserver]) -> tuple[Compiled, AnyObserver]:
    """The program with an observer of it, which ``make`` makes of what the text says.

    The functions share the globals of the program as they are at each call: ``refresh`` of the result reads the live
    ones again.
    """
    reading = reading_of(compiled.emission)
    observer = make(reading)
    tree = alone(ast.parse)(compiled.emission.text)
    for function in tree.body:
        if isinstance(function, ast.FunctionDef):
            _instrument(function)
    tree.body = [one for one in tree.body if isinstance(one, ast.FunctionDef)]
    filename = compiled.entry.__code__.co_filename
    code = alone(compile)(ast.fix_missing_locations(tree), filename, "exec", dont_inherit=True)
    namespace: dict[str, Any] = dict(compiled.entry.__globals__)
    namespace |= {
        _BEFORE: observer.before, _AGAIN: observer.again, _AFTER: observer.after,
        _ENTER: observer.enter, _LEAVE: observer.leave,
    }  # fmt: skip
    exec(code, namespace)
    for name in reading.functions:
        namespace[name].__srcgrad_source__ = compiled.emission.text
    entry: FunctionType = namespace[compiled.entry.__name__]
    backward = None if compiled.backward is None else namespace[compiled.backward.__name__]
    return replace(compiled, entry=entry, backward=backward), observer


def _instrument(function: ast.FunctionDef) -> None:
    line = function.lineno
    body = function.body
    documented = isinstance(body[0], ast.Expr) and isinstance(body[0].value, ast.Constant)
    head, rest = (body[:1], body[1:]) if documented else ([], body)
    tried = ast.Try([_told(_ENTER, line, line), *_between(rest)], [], [], [_told(_LEAVE, None, line)])
    function.body = [*head, tried]


def _between(block: list[ast.stmt]) -> list[ast.stmt]:
    made: list[ast.stmt] = []
    for node in block:
        line = node.lineno
        made.append(_told(_BEFORE, line, line))
        for inside in blocks_of(node):
            inside[:] = _between(inside)
        match node:
            case ast.For() | ast.While():
                node.body.insert(0, _told(_AFTER, line, line))
                node.body.append(_told(_AGAIN, line, line))
                made.append(node)
            case ast.Return(value=value) if value is not None:
                kept = ast.Assign([ast.Name("__srcgrad_result__", ast.Store())], value, lineno=line)
                back = ast.Return(ast.Name("__srcgrad_result__", ast.Load()))
                made += [ast.copy_location(kept, node), _told(_AFTER, line, line), ast.copy_location(back, node)]
            case ast.Return() | ast.Break() | ast.Continue() | ast.Raise():
                made.append(node)
            case ast.If() | ast.With() | ast.Try() | ast.Match():
                made.append(node)
            case _:
                made += [node, _told(_AFTER, line, line)]
    return made


def _told(name: str, line: int | None, at: int) -> ast.stmt:
    call = ast.Call(ast.Name(name, ast.Load()), [] if line is None else [ast.Constant(line)], [])
    made = ast.Expr(call, lineno=at, col_offset=0)
    for node in ast.walk(made):
        node.lineno, node.end_lineno, node.col_offset, node.end_col_offset = at, at, 0, 0  # type: ignore[attr-defined]
    return made
