"""Imports inside of a function: their names as what they import.

Enters: the body of a function.  Leaves: the body without the imports, where no other statement binds their names::

    import math as m          ->
    return m.cos(x)                   return math.cos(x)

The module is imported when the function is compiled, as Python imports it when it is called, once.
"""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from types import ModuleType
from typing import Any

import gast

from srcgrad.frontend.desugar.build import assign
from srcgrad.frontend.names import bound_by
from srcgrad.frontend.unassigned import Unassigned
from srcgrad.rules.rewriting import rebuilt
from srcgrad.syntax.globals import GlobalBinding, GlobalReference, public_home, reference
from srcgrad.syntax.parse import walk

Imports = gast.Import | gast.ImportFrom


def without_imports(body: Sequence[gast.stmt], parameters: frozenset[str]) -> list[gast.stmt]:
    """An import whose names are bound elsewhere too, or that fails, stays, to be refused; one whose name may be read
    before is an assignment."""
    imports = [node for node in walk(*body) if isinstance(node, Imports)]
    if not imports:
        return list(body)
    others, early = bound_elsewhere(body, parameters, Imports), Unassigned(body, parameters).names
    bound = Counter(alias.asname or alias.name.split(".")[0] for node in imports for alias in node.names)
    names: dict[str, GlobalBinding] = {}
    instead: dict[int, gast.stmt] = {}
    for node in imports:
        found = dict(_imported(node))
        if not found or others & found.keys() or any(names.get(n, b).value is not b.value for n, b in found.items()):
            continue
        if not early & found.keys():
            names |= found
            instead[id(node)] = gast.Pass()
        elif len(found) == 1:
            [(name, binding)] = found.items()
            if bound[name] == 1:
                instead[id(node)] = assign(name, reference(binding), node)
    return with_meanings(body, names, instead)


def bound_elsewhere(body: Sequence[gast.stmt], parameters: frozenset[str], kinds: Any) -> set[str]:
    """The names that parameters, and statements of other kinds than these, bind, those in local functions too."""
    return {*parameters, *(name for node in walk(*body) if not isinstance(node, kinds) for name in bound_by(node))}


def with_meanings(
    body: Sequence[gast.stmt], names: Mapping[str, GlobalBinding], instead: Mapping[int, gast.stmt]
) -> list[gast.stmt]:
    """The body with what names mean in their place, and others instead of the statements that bound them, by ``id``."""

    def change(node: gast.AST) -> gast.AST | None:
        if isinstance(node, gast.Name) and not isinstance(node, GlobalReference) and node.id in names:
            return reference(names[node.id])
        return instead.get(id(node))

    kept = (statement for statement in body if not isinstance(instead.get(id(statement)), gast.Pass))
    return [rebuilt(statement, change) for statement in kept]


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
