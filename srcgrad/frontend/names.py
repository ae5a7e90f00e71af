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
def first_of_block(block: Sequence[gast.stmt], name: str) -> str | None:
    """What comes first in a block, ``READS`` or ``BINDS``; None where some way through it does neither.

    ``READS`` where any way does; what leaves the function binds the name, since nothing is read behind it.
    """
    return next((first for first in (first_of(statement, name) for statement in block) if first is not None), None)


def first_of(statement: Any, name: str) -> str | None:
    """The same for one statement."""

    def block(statements: Sequence[gast.stmt]) -> str | None:
        return first_of_block(statements, name)

    def loads(part: Any) -> bool:
        return reads(part, {name})

    match statement:
        case gast.FunctionDef(name=own):
            before = [*default_values(statement.args), *statement.decorator_list]
            return READS if loads(before) else BINDS if own == name else None
        case gast.Assign(targets=targets, value=gast.Lambda(args=arguments)):
            before = [*targets, *default_values(arguments)]
            return READS if loads(before) else BINDS if stores(targets, name) else None
        case gast.If(test=test, body=body, orelse=orelse):
            return READS if loads(test) else _of_ways([block(body), block(orelse)])
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
            if stores(items, name) or all(keeps_exceptions(item.context_expr) for item in items):
                return BINDS if stores(items, name) else block(body)
            return READS if block(body) == READS else None  # what it suppresses may be raised before the name is bound
        case gast.Try(body=body, handlers=handlers, orelse=orelse, finalbody=final):
            caught = [block(h.body) for h in handlers if h.name is None or name_of_handler(h) != name]
            tried = block([*body, *orelse])
            if READS in (tried, *caught, block(final)):
                return READS
            every = tried == BINDS and len(caught) == len(handlers) and all(found == BINDS for found in caught)
            return BINDS if every else block(final)
        case gast.Match(subject=subject, cases=cases):
            if loads(subject) or any(loads(c.guard) for c in cases if c.guard is not None):
                return READS
            ways = [BINDS if stores(c.pattern, name) else block(c.body) for c in cases]
            last = cases[-1]
            is_any = isinstance(last.pattern, gast.MatchAs) and last.pattern.pattern is None and last.guard is None
            return _of_ways(ways if is_any else [*ways, None])
        case gast.AugAssign(target=gast.Name(id=target)) if target == name:
            return READS
    if loads(statement):
        return READS
    return BINDS if isinstance(statement, gast.Return | gast.Raise) or stores(statement, name) else None


def _of_ways(ways: Sequence[str | None]) -> str | None:
    return READS if READS in ways else BINDS if all(way == BINDS for way in ways) else None


#: Context managers that do the same whether their body raises or not.
_HARMLESS = frozenset({"errstate", "no_grad", "catch_warnings"})


def keeps_exceptions(node: gast.expr) -> bool:
    """Whether a context manager does the same whether its body raises or not."""
    match node:
        case gast.Call(func=gast.Name(id=name) | gast.Attribute(attr=name)):
            return name in _HARMLESS
    return False


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


def names_evaluated(statement: gast.stmt) -> set[str]:
    """The names that a statement reads in any case, those of its blocks and of functions inside excepted."""
    inside = ("body", "orelse", "finalbody", "handlers", "cases")
    is_compound = isinstance(statement, gast.If | gast.For | gast.While | gast.With | gast.Try | gast.Match)
    pending: list[Any] = [
        part for field in statement._fields if not (is_compound and field in inside)
        for part in [getattr(statement, field, None)]
    ]  # fmt: skip
    if isinstance(statement, gast.FunctionDef):
        pending = [*default_values(statement.args), *statement.decorator_list]
    found: set[str] = set()
    while pending:
        match pending.pop():
            case list() as parts:
                pending += parts
            case GlobalReference():
                continue
            case gast.Name(id=name, ctx=gast.Load()):
                found.add(name)
            case gast.IfExp(test=test):
                pending.append(test)
            case gast.BoolOp(values=[first, *_]):
                pending.append(first)
            case gast.Lambda(args=arguments):
                pending += default_values(arguments)
            case gast.ListComp() | gast.SetComp() | gast.GeneratorExp() | gast.DictComp() as node:
                pending.append(node.generators[0].iter)
            case gast.AST() as node:
                pending += children(node)
    return found


def stores(part: Any, name: str) -> bool:
    return any(
        isinstance(n, gast.Name) and n.id == name and isinstance(n.ctx, gast.Store)
        or isinstance(n, gast.MatchAs | gast.MatchStar) and n.name == name
        for n in (walk(*part) if isinstance(part, list) else walk(part))
    )  # fmt: skip
