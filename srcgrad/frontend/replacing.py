"""Atoms in place of the expressions that they hold, in the tree of a function while it is written.

A function that calls itself is written again while it is written, from the same tree: the inner writer sees it as the
author wrote it, the outer one goes on with what it has put there::

    c = n * V(0.3).unit().x         c = n * t.x          while what follows is written
    return c + f(n, depth + 1)                           f is: its writer reads V(0.3).unit()

What a writer asks of the whole text when it needs the answer first (``of_the_text``) is asked of the author's: an
atom says nothing of the names that were read, bound or changed by what it stands for.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import cached_property, wraps
from typing import Protocol, TypeVar

import gast


class Replacements:
    """What one writer has put into a tree, and what stood there."""

    def __init__(self) -> None:
        self._made: list[tuple[gast.AST, str, gast.expr | list[gast.expr]]] = []

    def put(self, node: gast.AST, name: str, part: gast.expr | list[gast.expr]) -> None:
        self._made.append((node, name, getattr(node, name)))
        setattr(node, name, part)

    def undo(self) -> list[tuple[gast.AST, str, gast.expr | list[gast.expr]]]:
        """Give the tree back all that stood there; what was in its place, for ``redo``."""
        undone: list[tuple[gast.AST, str, gast.expr | list[gast.expr]]] = []
        for node, name, before in reversed(self._made):
            undone.append((node, name, getattr(node, name)))
            setattr(node, name, before)
        return undone

    @contextmanager
    def as_written(self) -> Iterator[None]:
        """Inside, the tree is as its author wrote it."""
        undone = self.undo()
        try:
            yield
        finally:
            redo(undone)


class Replacing(Protocol):
    """A writer that puts atoms into the tree which it reads."""

    replaced: Replacements


R = TypeVar("R", bound=Replacing)
Answer = TypeVar("Answer")


def of_the_text(question: Callable[[R], Answer]) -> cached_property[Answer]:
    """A property that is found once, from the text of the function as its author wrote it."""

    @wraps(question)
    def asked(writer: R) -> Answer:
        with writer.replaced.as_written():
            return question(writer)

    return cached_property(asked)


def redo(undone: list[tuple[gast.AST, str, gast.expr | list[gast.expr]]]) -> None:
    for node, name, part in reversed(undone):
        setattr(node, name, part)


_writing: ContextVar[tuple[tuple[gast.AST, Replacements], ...]] = ContextVar("srcgrad_writing", default=())


@contextmanager
def written(tree: gast.AST, replaced: Replacements) -> Iterator[None]:
    """Inside, parts of a function's tree are replaced; after that it is as it was."""
    token = _writing.set((*_writing.get(), (tree, replaced)))
    try:
        yield
    finally:
        _writing.reset(token)
        replaced.undo()


@contextmanager
def as_it_was(tree: gast.AST) -> Iterator[None]:
    """Inside, a function's tree is as its author wrote it, though a writer further out is in the midst of it."""
    undone = [replaced.undo() for other, replaced in reversed(_writing.get()) if other is tree]
    try:
        yield
    finally:
        for each in reversed(undone):
            redo(each)
