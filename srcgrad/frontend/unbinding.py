"""Names that lose their value, by ``del`` or at the end of ``except ... as name``, and are read before they get one.

Enters: a ``Source``.  Leaves: nothing; ``UnsupportedSyntax`` where such a read may follow: Python raises a NameError
there, the names of the normal form keep their values::

    del v
    try:
        return v * x              refused: v may have no value here
    except NameError: ...
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import gast

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.desugar.assignment import flattened
from srcgrad.frontend.desugar.build import placed
from srcgrad.frontend.names import READS, first_of, free_names, name_of_handler, stores
from srcgrad.frontend.source import Source
from srcgrad.syntax.parse import walk

#: What stands behind a statement: blocks, the place in each to go on at, the loops that they are of; innermost first.
_Behind = tuple[tuple[Sequence[gast.stmt], int, Any], ...]
_FUNCTIONS = gast.FunctionDef | gast.Lambda


def refuse_lost_values(source: Source) -> None:
    for function in walk(source.node):
        if isinstance(function, gast.FunctionDef):
            inside = [inner for inner in walk(*function.body) if isinstance(inner, _FUNCTIONS)]
            for name, at, behind in _unbound(function.body, ()):
                if _is_read(name, behind) or any(name in free_names(inner) for inner in inside):
                    raise UnsupportedSyntax(
                        f"the variable {name!r} has no value any more here, and is read again",
                        source.span(at),
                        hint="give it another name, or a value",
                    )


def _unbound(block: Sequence[gast.stmt], around: _Behind, loop: Any = None) -> Iterator[tuple[str, Any, _Behind]]:
    """The names that statements unbind, with what stands behind."""
    for place, statement in enumerate(block):
        behind = ((block, place + 1, loop), *around)
        match statement:
            case gast.Delete(targets=targets):
                for target in [part for whole in targets for part in flattened(whole)]:
                    if isinstance(target, gast.Name):
                        yield target.id, statement, behind
            case gast.FunctionDef() | gast.ClassDef():
                continue
        for handler in getattr(statement, "handlers", ()):
            if handler.name is not None and not isinstance(handler.body[-1], gast.Return | gast.Raise):
                yield name_of_handler(handler), handler, behind
        for inner, is_loop in _blocks(statement):
            yield from _unbound(inner, behind, statement if is_loop else None)


def _blocks(statement: Any) -> Iterator[tuple[Sequence[gast.stmt], bool]]:
    is_loop = isinstance(statement, gast.For | gast.While)
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, []), is_loop and name == "body"
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body, False


def _is_read(name: str, behind: _Behind) -> bool:
    for block, place, loop in behind:
        rest = list(block[place:])
        if loop is not None and not (isinstance(loop, gast.For) and stores(loop.target, name)):
            again = loop if isinstance(loop, gast.While) else placed(gast.If(loop.target, loop.body, []), loop)
            rest.append(again)
        for statement in rest:
            found = first_of(statement, name)
            if found is not None:
                return found == READS
    return False
