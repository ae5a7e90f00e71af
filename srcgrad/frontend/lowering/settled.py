"""Variables that have their last value when a function that captures them is made.

Enters: the tree of a function, before it is lowered.  Leaves: the same tree, in which such a function reads a variable
of its own, which is bound once::

    o = o if isinstance(o, V) else V(o)         o = o if isinstance(o, V) else V(o)
    def back():                           ->    o2 = o
        o.grad += out.grad                      def back():
                                                    o2.grad += out.grad

So what is captured is what it was then, and nothing that the variable was before; a function that captured such
variables alone carries their values (``specialise.captures``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import gast

from srcgrad.frontend.lowering.names import Scope, names_bound, nodes_within, scopes_of
from srcgrad.frontend.names import bound_by, identifiers
from srcgrad.frontend.source import Source
from srcgrad.syntax.namer import Namer
from srcgrad.syntax.parse import parameters_of

_SIMPLE = gast.Assign | gast.AnnAssign | gast.AugAssign | gast.Expr | gast.Return


def settle(source: Source) -> None:
    """Give functions that are made inside variables of their own in place of those that nothing binds any more."""
    if isinstance(source.node, gast.FunctionDef):
        _function(scopes_of(source.node), Namer(identifiers(source.node)))


def _function(scope: Scope, namer: Namer) -> None:
    if isinstance(scope.node, gast.FunctionDef):
        if repeated := _bound_again(scope):
            _block(scope, scope.node.body, [], set(parameters_of(scope.node.args)), repeated, namer)
        for inner in scope.inner.values():
            _function(inner, namer)


def _bound_again(scope: Scope) -> set[str]:
    """The captured variables that are bound more than once, all of them by the function itself."""
    bound = [*parameters_of(scope.node.args)]
    bound += [name for part in scope.parts for name in bound_by(part)]
    inside = [inner for each in scope.inner.values() for inner in _scopes(each)]
    elsewhere = {name for inner in inside for name in inner.outer_names}
    return {name for name in scope.cells - elsewhere if bound.count(name) > 1 and not name.startswith("__")}


def _scopes(scope: Scope) -> Iterator[Scope]:
    yield scope
    for inner in scope.inner.values():
        yield from _scopes(inner)


def _block(
    scope: Scope, body: list[gast.stmt], behind: Sequence[gast.AST], before: set[str], repeated: set[str], namer: Namer
) -> None:
    """``behind``: what may run after the block; ``before``: what is surely bound before it."""
    before = set(before)
    for statement in list(body):
        later = [*body[body.index(statement) + 1 :], *behind]
        match statement:
            case _ if isinstance(statement, gast.FunctionDef | _SIMPLE):
                made = [part for part in nodes_within([statement]) if isinstance(part, gast.FunctionDef | gast.Lambda)]
                for name in sorted((repeated & before).difference(names_bound([statement, *later]))):
                    readers = [reader for part in made for reader in _readers(scope, scope.inner[part], name)]
                    if readers:
                        body.insert(body.index(statement), _renamed(readers, name, namer.fresh(name), statement))
            case gast.If():
                for part in (statement.body, statement.orelse):
                    _block(scope, part, later, before, repeated, namer)
            case gast.With():
                _block(scope, statement.body, later, before, repeated, namer)
            case gast.For() | gast.While():
                for part in (statement.body, statement.orelse):
                    _block(scope, part, [statement, *later], before, repeated, namer)
        if isinstance(statement, gast.Assign):
            before.update(target.id for target in statement.targets if isinstance(target, gast.Name))


def _readers(scope: Scope, inner: Scope, name: str) -> list[gast.Name]:
    """Where a function reads a variable of the one around; none where a class inside of it may."""
    inside = list(_scopes(inner))
    if any(each.is_class for each in inside):
        return []
    return [
        part for each in inside for part in each.parts
        if isinstance(part, gast.Name) and part.id == name and each.find(name) is scope
    ]  # fmt: skip


def _renamed(readers: list[gast.Name], name: str, fresh: str, statement: gast.stmt) -> gast.stmt:
    for reader in readers:
        reader.id = fresh
    target = gast.Name(fresh, gast.Store(), None, None)
    made = gast.Assign([target], gast.Name(name, gast.Load(), None, None), None)
    for part in (made, target, made.value):
        gast.copy_location(part, statement)
    return made
