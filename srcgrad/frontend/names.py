"""Names in a function's tree: what binds them, what reads them, and which of both comes first.

Enters: a tree, as it is written or desugared.  Leaves: names; nothing is resolved here.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any, TypeAlias

import gast

from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import children, parameters_of, walk

Definition: TypeAlias = gast.FunctionDef | gast.Lambda
COMPREHENSIONS = gast.ListComp | gast.SetComp | gast.GeneratorExp | gast.DictComp
READS, BINDS = "reads", "binds"


def bindings(*roots: gast.AST) -> Iterator[tuple[str, gast.AST | None]]:
    """Every binding of a name in a function's body, with the function or expression bound if it stands alone.

    Local functions and lambdas are not entered, nor are the targets of comprehensions, which live in their own scope.
    """
    pending: list[gast.AST] = list(roots)
    while pending:
        node = pending.pop()
        match node:
            case gast.FunctionDef(name=name):
                yield name, node
                pending += default_values(node.args)
                continue
            case gast.Lambda():
                pending += default_values(node.args)
                continue
            case gast.ListComp() | gast.SetComp() | gast.GeneratorExp() | gast.DictComp():
                for generator in node.generators:
                    pending += [generator.iter, *generator.ifs]
                pending += [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
                continue
            case gast.Assign(targets=[gast.Name(id=name)], value=value):
                yield name, value
                pending.append(value)
                continue
            case gast.Name(id=name, ctx=gast.Store() | gast.Del()):
                yield name, None
        pending.extend(children(node))


def default_values(arguments: gast.arguments) -> list[gast.expr]:
    return [*arguments.defaults, *(default for default in arguments.kw_defaults if default is not None)]


def body_of(node: Definition) -> list[gast.stmt]:
    """The statements of a function; a lambda returns its expression."""
    if isinstance(node, gast.Lambda):
        return [gast.copy_location(gast.Return(node.body), node.body)]
    body: list[gast.stmt] = node.body
    return body


def free_names(node: Definition) -> list[str]:
    """The names that a function, and the functions inside it, read from around it; in order of appearance."""
    own = parameters_of(node.args) | {name for name, _ in bindings(*body_of(node))}
    found: dict[str, None] = {}
    pending: list[tuple[gast.AST, frozenset[str]]] = [(s, own) for s in reversed(body_of(node))]
    while pending:
        inner, bound = pending.pop()
        below: list[tuple[gast.AST, frozenset[str]]] = []
        match inner:
            case GlobalReference():
                continue
            case gast.Name(id=name, ctx=gast.Load()):
                if name not in bound:
                    found.setdefault(name)
            case gast.FunctionDef() | gast.Lambda():
                found.update((name, None) for name in free_names(inner) if name not in bound)
                below = [(default, bound) for default in default_values(inner.args)]
            case gast.ListComp() | gast.SetComp() | gast.GeneratorExp() | gast.DictComp():
                targets = frozenset(
                    n.id for g in inner.generators for n in walk(g.target) if isinstance(n, gast.Name)
                )
                below = [(inner.generators[0].iter, bound)]
                below += [(g.iter, bound | targets) for g in inner.generators[1:]]
                below += [(test, bound | targets) for g in inner.generators for test in g.ifs]
                values = [inner.key, inner.value] if isinstance(inner, gast.DictComp) else [inner.elt]
                below += [(value, bound | targets) for value in values]
            case _:
                below = [(child, bound) for child in children(inner)]
        pending.extend(reversed(below))
    return list(found)


def identifiers(node: gast.AST) -> set[str]:
    """Every identifier in a function, nested functions included: what fresh names must avoid."""
    found: set[str] = set()
    for inner in walk(node):
        match inner:
            case gast.Name(id=name) | gast.FunctionDef(name=name):
                found.add(name)
    return found


def names_of(targets: Iterable[gast.AST]) -> set[str]:
    """The names in assignment targets."""
    return {node.id for target in targets for node in walk(target) if isinstance(node, gast.Name)}


# --- which comes first -----------------------------------------------------------------------------------------------
def may_be_unbound(function: Definition, name: str) -> bool:
    """Whether a local function or module of this name may be read, by itself or by a local function that reads it, on a
    way on which nothing has bound it."""
    readers = {name}
    inside = [(bound, node) for bound, node in bindings(*body_of(function)) if isinstance(node, Definition)]
    while True:
        found = {bound for bound, node in inside if not readers.isdisjoint(free_names(node))}
        if found <= readers:
            return first_of_block(body_of(function), name, readers) == READS
        readers |= found


def first_of_block(block: Sequence[gast.stmt], name: str, readers: Iterable[str] = ()) -> str | None:
    """What comes first in a block, ``READS`` or ``BINDS``; None where some way through it does neither.

    ``READS`` where any way reads the name, or one of ``readers``; what leaves the function binds the name.
    """
    found = (first_of(statement, name, readers) for statement in block)
    return next((first for first in found if first is not None), None)


def first_of(statement: Any, name: str, readers: Iterable[str] = ()) -> str | None:
    """The same for one statement."""

    def block(statements: Sequence[gast.stmt]) -> str | None:
        return first_of_block(statements, name, readers)

    def loads(part: Any) -> bool:
        return reads(part, {name, *readers})

    match statement:
        case gast.FunctionDef(name=own):
            before = [*default_values(statement.args), *statement.decorator_list]
            return READS if loads(before) else BINDS if own == name else None
        case gast.Assign(targets=targets, value=gast.Lambda(args=arguments)):
            before = [*targets, *default_values(arguments)]
            return READS if loads(before) else BINDS if stores(targets, name) else None
        case gast.If(test=test, body=body, orelse=orelse):
            if loads(test):
                return READS
            ways = [block(body), block(orelse)]
            return READS if READS in ways else BINDS if ways == [BINDS, BINDS] else None
        case gast.For(target=target, iter=iterated, body=body, orelse=orelse):
            inside = None if stores(target, name) else block(body)
            return READS if loads(iterated) or READS in (inside, block(orelse)) else None
        case gast.While(test=test, body=body, orelse=orelse):
            if loads(test) or READS in (block(body), block(orelse)):
                return READS
            is_endless = isinstance(test, gast.Constant) and test.value
            return BINDS if is_endless and not any(isinstance(n, gast.Break) for n in walk(*body)) else None
        case gast.With(items=items, body=body):
            if loads(items):
                return READS
            # What the context suppresses may have been raised before the body bound the name.
            return BINDS if stores(items, name) else READS if block(body) == READS else None
        case gast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
            caught = [block(h.body) for h in handlers if h.name is None or name_of_handler(h) != name]
            tried = block([*body, *orelse])
            if READS in (tried, *caught):
                return READS
            every = tried == BINDS and len(caught) == len(handlers) and all(found == BINDS for found in caught)
            return BINDS if every else block(final)
        case gast.Match(subject=subject, cases=cases):
            ways = [block(c.body) for c in cases if not stores(c.pattern, name)]
            return READS if loads(subject) or READS in ways else None
        case gast.AugAssign(target=gast.Name(id=target)) if target == name:
            return READS
    if loads(statement):
        return READS
    return BINDS if isinstance(statement, gast.Return | gast.Raise) or stores(statement, name) else None


def name_of_handler(handler: Any) -> str:
    return str(handler.name if isinstance(handler.name, str) else handler.name.id)


def reads(part: Any, names: set[str]) -> bool:
    """Whether an expression reads one of a function's names; what a lambda reads that it holds counts as well."""
    pending = [(node, names) for node in (part if isinstance(part, list) else [part])]
    while pending:
        node, wanted = pending.pop()
        match node:
            case gast.Name(id=found, ctx=gast.Load()) if found in wanted:
                return True
            case gast.Lambda(args=arguments):
                if not wanted.isdisjoint(free_names(node)):
                    return True
                pending += [(default, wanted) for default in default_values(arguments)]
                continue
            case gast.ListComp() | gast.SetComp() | gast.GeneratorExp() | gast.DictComp():
                pending.append((node.generators[0].iter, wanted))
                wanted = wanted - names_of(generator.target for generator in node.generators)
        pending += [(child, wanted) for child in children(node)]
    return False


def stores(part: Any, name: str) -> bool:
    return any(
        isinstance(n, gast.Name) and n.id == name and isinstance(n.ctx, gast.Store)
        or isinstance(n, gast.MatchAs | gast.MatchStar) and n.name == name
        for n in (walk(*part) if isinstance(part, list) else walk(part))
    )  # fmt: skip
