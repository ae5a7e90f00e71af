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
from srcgrad.frontend.scope import COMPREHENSIONS, default_values, free_names
from srcgrad.frontend.source import Source
from srcgrad.syntax.parse import children, walk

#: What stands behind a statement: blocks, the place in each to go on at, the loops that they are of; innermost first.
_Behind = tuple[tuple[Sequence[gast.stmt], int, Any], ...]
READS, BINDS = "reads", "binds"
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
                yield _named(handler), handler, behind
        for inner, is_loop in _blocks(statement):
            yield from _unbound(inner, behind, statement if is_loop else None)


def _blocks(statement: Any) -> Iterator[tuple[Sequence[gast.stmt], bool]]:
    is_loop = isinstance(statement, gast.For | gast.While)
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, []), is_loop and name == "body"
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body, False


def _named(handler: Any) -> str:
    return str(handler.name if isinstance(handler.name, str) else handler.name.id)


def _is_read(name: str, behind: _Behind) -> bool:
    for block, place, loop in behind:
        rest = list(block[place:])
        if loop is not None and not (isinstance(loop, gast.For) and _stores(loop.target, name)):
            again = loop if isinstance(loop, gast.While) else placed(gast.If(loop.target, loop.body, []), loop)
            rest.append(again)
        for statement in rest:
            found = _first(statement, name)
            if found is not None:
                return found == READS
    return False


def _first(statement: Any, name: str) -> str | None:
    """What a statement does with a name first, as far as each way through it does that; what leaves binds it."""
    match statement:
        case gast.FunctionDef(name=own):
            before = [*default_values(statement.args), *statement.decorator_list]
            return READS if _loads(before, name) else BINDS if own == name else None
        case gast.If(test=test, body=body, orelse=orelse):
            if _loads(test, name):
                return READS
            ways = [_of_block(body, name), _of_block(orelse, name)]
            return READS if READS in ways else BINDS if ways == [BINDS, BINDS] else None
        case gast.For(target=target, iter=iterated, body=body, orelse=orelse):
            inside = None if _stores(target, name) else _of_block(body, name)
            return READS if _loads(iterated, name) or READS in (inside, _of_block(orelse, name)) else None
        case gast.While(test=test, body=body, orelse=orelse):
            return READS if _loads(test, name) or READS in (_of_block(body, name), _of_block(orelse, name)) else None
        case gast.With(items=items, body=body):
            if _loads(items, name):
                return READS
            return BINDS if _stores(items, name) else _of_block(body, name)
        case gast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
            caught = [_of_block(h.body, name) for h in handlers if h.name is None or _named(h) != name]
            tried = _of_block([*body, *orelse], name)
            if READS in (tried, *caught):
                return READS
            every = tried == BINDS and len(caught) == len(handlers) and all(found == BINDS for found in caught)
            return BINDS if every else _of_block(final, name)
        case gast.Match(subject=subject, cases=cases):
            ways = [_of_block(c.body, name) for c in cases if not _stores(c.pattern, name)]
            return READS if _loads(subject, name) or READS in ways else None
        case gast.AugAssign(target=gast.Name(id=target)) if target == name:
            return READS
    if _loads(statement, name):
        return READS
    return BINDS if isinstance(statement, gast.Return | gast.Raise) or _stores(statement, name) else None


def _of_block(block: Sequence[gast.stmt], name: str) -> str | None:
    return next((found for statement in block if (found := _first(statement, name)) is not None), None)


def _loads(part: Any, name: str) -> bool:
    """Whether an expression reads a name of the function's; those of inner functions are looked at apart."""
    pending = list(part) if isinstance(part, list) else [part]
    while pending:
        node = pending.pop()
        match node:
            case gast.Name(id=found, ctx=gast.Load()) if found == name:
                return True
            case gast.Lambda(args=arguments):
                pending += default_values(arguments)
                continue
        is_own = isinstance(node, COMPREHENSIONS) and any(_stores(g.target, name) for g in node.generators)
        pending += [node.generators[0].iter] if is_own else children(node)
    return False


def _stores(part: Any, name: str) -> bool:
    return any(
        isinstance(n, gast.Name) and n.id == name and isinstance(n.ctx, gast.Store)
        or isinstance(n, gast.MatchAs | gast.MatchStar) and n.name == name
        for n in (walk(*part) if isinstance(part, list) else walk(part))
    )  # fmt: skip
