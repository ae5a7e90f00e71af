"""Values that no statement reads, left out of what regions take and give.

Lowering hands every variable that a loop may bind through its heads, and every variable that a branch changes out of
it.  Most of them are read no more.  Removed are heads and targets only: every operation stays, in its place.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import TypeVar

from srcgrad.ir.operations import MakeClass, MakeFunction, Version
from srcgrad.ir.regions import (
    Assign,
    Block,
    Break,
    Continue,
    Fall,
    Function,
    Handler,
    If,
    Loop,
    Statement,
    Try,
    With,
    operands_of,
)

Item = TypeVar("Item")


def pruned(function: Function) -> Function:
    """The function, and those inside of it, without heads and targets that nothing reads."""
    kept = _Reads().of(function.body)
    return replace(function, body=_block(function.body, kept, None, None))


class _Reads:
    """The versions that are read, directly or through what a version that is read is bound to."""

    def __init__(self) -> None:
        self.kept: set[Version] = set()
        self.sources: dict[Version, list[Version]] = {}  # a head or target -> what regions bind it to

    def of(self, body: Block) -> set[Version]:
        self._block(body, None, None, None)
        pending = list(self.kept)
        while pending:
            for source in self.sources.get(pending.pop(), ()):
                if source not in self.kept:
                    self.kept.add(source)
                    pending.append(source)
        return self.kept

    def _read(self, part: object) -> None:
        self.kept.update(operand for operand in operands_of(part) if isinstance(operand, Version))

    def _flow(self, targets: Sequence[Version], values: Sequence[object]) -> None:
        for target, value in zip(targets, values, strict=True):
            if isinstance(value, Version):
                self.sources.setdefault(target, []).append(value)

    def _block(
        self,
        block: Block,
        falls: Sequence[Version] | None,
        breaks: Sequence[Version] | None,
        continues: Sequence[Version] | None,
    ) -> None:
        for statement in block.statements:
            self._statement(statement, breaks, continues)
        match block.exit:
            case Fall(values=values) if falls is not None:
                self._flow(falls, values)
            case Break(values=values) if breaks is not None:
                self._flow(breaks, values)
            case Continue(values=values) if continues is not None:
                self._flow(continues, values)
            case leaving:
                self._read(leaving)

    def _statement(
        self, statement: Statement, breaks: Sequence[Version] | None, continues: Sequence[Version] | None
    ) -> None:
        match statement:
            case Assign(operation=operation):
                self._read(operation)
            case If(test=test, targets=targets, body=body, orelse=orelse):
                if isinstance(test, Version):
                    self.kept.add(test)
                self._block(body, targets, breaks, continues)
                self._block(orelse, targets, breaks, continues)
            case Loop(targets=targets, heads=heads, initial=initial, body=body):
                self._flow(heads, initial)
                self._block(body, None, targets, heads)
            case With(manager=manager, body=body):
                if isinstance(manager, Version):
                    self.kept.add(manager)
                self._block(body, None, breaks, continues)
            case Try(body=body, handlers=handlers, orelse=orelse, final=final):
                for handler in handlers:
                    if handler.kinds is not None:
                        self._block(handler.kinds, None, breaks, continues)
                    self._block(handler.body, None, breaks, continues)
                for part in (body, orelse, final):
                    self._block(part, None, breaks, continues)


_Mask = tuple[bool, ...]


def _block(
    block: Block, kept: set[Version], breaks: _Mask | None, continues: _Mask | None, falls: _Mask | None = None
) -> Block:
    statements = tuple(_statement(statement, kept, breaks, continues) for statement in block.statements)
    leaving = block.exit
    match leaving:
        case Fall(values=values) if falls is not None:
            leaving = Fall(_kept(values, falls))
        case Break(values=values) if breaks is not None:
            leaving = Break(_kept(values, breaks))
        case Continue(values=values) if continues is not None:
            leaving = Continue(_kept(values, continues))
    return Block(statements, leaving)


def _statement(statement: Statement, kept: set[Version], breaks: _Mask | None, continues: _Mask | None) -> Statement:
    def inner(block: Block) -> Block:
        return _block(block, kept, breaks, continues)

    match statement:
        case Assign(operation=MakeFunction(function=function) as made):
            return replace(statement, operation=replace(made, function=pruned(function)))
        case Assign(operation=MakeClass(body=function) as made):
            return replace(statement, operation=replace(made, body=pruned(function)))
        case If(targets=targets, body=body, orelse=orelse):
            mask = tuple(target in kept for target in targets)
            blocks = [_block(part, kept, breaks, continues, mask) for part in (body, orelse)]
            return replace(statement, targets=_kept(targets, mask), body=blocks[0], orelse=blocks[1])
        case Loop(targets=targets, heads=heads, initial=initial, body=body):
            given = tuple(target in kept for target in targets)
            taken = tuple(head in kept for head in heads)
            return replace(
                statement,
                targets=_kept(targets, given),
                heads=_kept(heads, taken),
                initial=_kept(initial, taken),
                body=_block(body, kept, given, taken),
            )
        case With(body=body):
            return replace(statement, body=inner(body))
        case Try(body=body, handlers=handlers, orelse=orelse, final=final):
            caught = tuple(_handler(handler, inner) for handler in handlers)
            return replace(statement, body=inner(body), handlers=caught, orelse=inner(orelse), final=inner(final))
    return statement


def _handler(handler: Handler, inner: Callable[[Block], Block]) -> Handler:
    kinds = None if handler.kinds is None else inner(handler.kinds)
    return replace(handler, kinds=kinds, body=inner(handler.body))


def _kept(items: Sequence[Item], mask: _Mask) -> tuple[Item, ...]:
    return tuple(item for item, keep in zip(items, mask, strict=True) if keep)

