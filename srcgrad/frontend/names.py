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
SCOPES = gast.FunctionDef | gast.AsyncFunctionDef | gast.ClassDef | gast.Lambda | COMPREHENSIONS


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


#: What may bind a name.
_BINDING = frozenset({
    gast.Name, gast.FunctionDef, gast.AsyncFunctionDef, gast.ClassDef, gast.Import, gast.ImportFrom, gast.ExceptHandler,
    gast.MatchAs, gast.MatchStar, gast.MatchMapping,
})  # fmt: skip


def bound_by(node: gast.AST) -> list[str]:
    """The names that a node itself binds or deletes."""
    if node.__class__ not in _BINDING:
        return []
    match node:
        case gast.Name(id=name, ctx=gast.Store() | gast.Param() | gast.Del()):
            return [name]
        case gast.FunctionDef(name=name) | gast.AsyncFunctionDef(name=name) | gast.ClassDef(name=name):
            return [name]
        case gast.Import(names=names):
            return [alias.asname or alias.name.split(".")[0] for alias in names]
        case gast.ImportFrom(names=names):
            return [alias.asname or alias.name for alias in names]
        case gast.ExceptHandler(name=name) if name is not None:
            return [str(getattr(name, "id", name))]
        case gast.MatchAs(name=name) | gast.MatchStar(name=name) | gast.MatchMapping(rest=name) if name is not None:
            return [str(getattr(name, "id", name))]
    return []


def default_values(arguments: gast.arguments) -> list[gast.expr]:
    return [*arguments.defaults, *(default for default in arguments.kw_defaults if default is not None)]


def body_of(node: Definition) -> list[gast.stmt]:
    """The statements of a function; a lambda returns its expression."""
    if isinstance(node, gast.Lambda):
        return [gast.copy_location(gast.Return(node.body), node.body)]
    body: list[gast.stmt] = node.body
    return body


def parts_of_scope(body: Sequence[gast.stmt]) -> Iterator[gast.AST]:
    """The nodes that belong to a function itself; of the functions, classes and comprehensions in it the node alone."""
    pending: list[gast.AST] = list(body)
    while pending:
        part = pending.pop()
        yield part
        if not isinstance(part, SCOPES):
            pending.extend(children(part))


def _declared(part: gast.AST) -> list[str]:
    return list(part.names) if isinstance(part, gast.Nonlocal | gast.Global) else []


def declared_in(node: Definition) -> set[str]:
    """The names around a function that it says to bind."""
    return {n for part in parts_of_scope(body_of(node)) for n in _declared(part)}


def names_of_scope(body: Sequence[gast.stmt]) -> set[str]:
    """The names that the body of a function binds, those that functions inside bind excepted."""
    parts = list(parts_of_scope(body))
    found = {name for part in parts for name in bound_by(part)}
    if any(isinstance(part, SCOPES) for part in parts):  # what stands in a comprehension may bind for the function
        found.update(name for name, _ in bindings(*body))
    return found


def free_names(node: Definition) -> list[str]:
    """The names that a function, and the functions inside it, read from around it; in order of appearance."""
    own = parameters_of(node.args) | names_of_scope(body_of(node)) - declared_in(node)
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
            case gast.AugAssign(target=gast.Name(id=name), value=value):
                if name not in bound:
                    found.setdefault(name)
                below = [(value, bound)]
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


def names_evaluated(statement: gast.stmt) -> list[gast.Name]:
    """The names that a statement reads in any case, those of its blocks and of functions inside excepted."""
    inside = ("body", "orelse", "finalbody", "handlers", "cases")
    is_compound = isinstance(statement, gast.If | gast.For | gast.While | gast.With | gast.Try | gast.Match)
    pending: list[Any] = [
        part for field in statement._fields if not (is_compound and field in inside)
        for part in [getattr(statement, field, None)]
    ]  # fmt: skip
    if isinstance(statement, gast.Assert):
        pending = [statement.test]
    if isinstance(statement, gast.FunctionDef):
        pending = [*default_values(statement.args), *statement.decorator_list]
    found: list[gast.Name] = []
    while pending:
        match pending.pop():
            case list() as parts:
                pending += parts
            case GlobalReference():
                continue
            case gast.Name(ctx=gast.Load()) as name:
                found.append(name)
            case gast.IfExp(test=test):
                pending.append(test)
            case gast.BoolOp(values=[first, *_]):
                pending.append(first)
            case gast.Compare(left=left, comparators=[first, *_]):
                pending += [left, first]
            case gast.Lambda(args=arguments):
                pending += default_values(arguments)
            case gast.ListComp() | gast.SetComp() | gast.GeneratorExp() | gast.DictComp() as node:
                pending.append(node.generators[0].iter)
            case gast.AST() as node:
                pending += children(node)
    return found


def surely_read(function: Definition) -> Iterator[gast.Name]:
    """The names that a function reads whatever happens: what stands behind its first statement may not run."""
    first, *_ = body_of(function)
    yield from names_evaluated(first)
