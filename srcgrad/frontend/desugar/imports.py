"""Imports inside of a function: their names as what they import.

Enters: the body of a function.  Leaves: the body without the imports, where no other statement binds their names::

    import math as m          ->
    return m.cos(x)                   return math.cos(x)

The module is imported when the function is compiled, as Python imports it when it is called, once.
"""

from __future__ import annotations

import importlib
from collections.abc import Collection, Iterator, Mapping, Sequence
from types import ModuleType

import gast

from srcgrad.frontend.unassigned import Unassigned
from srcgrad.rules.rewriting import rebuilt
from srcgrad.syntax.globals import GlobalBinding, GlobalReference, public_home, reference
from srcgrad.syntax.parse import walk

Imports = gast.Import | gast.ImportFrom


def without_imports(body: Sequence[gast.stmt], parameters: frozenset[str]) -> list[gast.stmt]:
    """An import whose names are bound elsewhere too or may be read before, or that fails, stays, to be refused."""
    if not any(isinstance(node, Imports) for node in walk(*body)):
        return list(body)
    others = bound_elsewhere(body, parameters) | Unassigned(body, parameters).names
    names: dict[str, GlobalBinding] = {}
    gone: set[int] = set()
    for node in walk(*body):
        if isinstance(node, Imports):
            found = dict(_imported(node))
            is_alone = not others & set(found) and all(names.get(n, b).value is b.value for n, b in found.items())
            if found and is_alone:
                names |= found
                gone.add(id(node))
    return with_meanings(body, names, gone)


def bound_elsewhere(body: Sequence[gast.stmt], parameters: frozenset[str]) -> set[str]:
    """The names that parameters, assignments and local functions bind."""
    others = set(parameters)
    for node in walk(*body):
        match node:
            case gast.Name(id=name, ctx=gast.Store() | gast.Param() | gast.Del()) | gast.FunctionDef(name=name):
                others.add(name)
    return others


def with_meanings(
    body: Sequence[gast.stmt], names: Mapping[str, GlobalBinding], gone: Collection[int]
) -> list[gast.stmt]:
    """The body with what names mean in their place, and without the statements that bound them, by ``id``."""

    def change(node: gast.AST) -> gast.AST | None:
        if isinstance(node, gast.Name) and not isinstance(node, GlobalReference) and node.id in names:
            return reference(names[node.id])
        return gast.Pass() if id(node) in gone else None

    return [rebuilt(statement, change) for statement in body if id(statement) not in gone]


def _imported(node: gast.Import | gast.ImportFrom) -> Iterator[tuple[str, GlobalBinding]]:
    """The names of an import and what they mean; none if it fails or is relative."""
    try:
        if isinstance(node, gast.Import):
            for alias in node.names:
                module = importlib.import_module(alias.name)
                if alias.asname is None:
                    module = importlib.import_module(alias.name.split(".")[0])
                yield alias.asname or module.__name__, GlobalBinding(module.__name__, module, module.__name__, None)
            return
        if node.level or node.module is None:
            return
        home = importlib.import_module(node.module)
        for alias in node.names:
            value = getattr(home, alias.name)
            name = alias.asname or alias.name
            if isinstance(value, ModuleType):
                yield name, GlobalBinding(name, value, value.__name__, None)
            else:
                yield name, GlobalBinding(name, value, *(public_home(value, alias.name) or (node.module, alias.name)))
    except (ImportError, AttributeError):
        return
