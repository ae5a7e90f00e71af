"""Functions of a module that are alike, kept once.

Enters: the functions of an emitted module, those first that it is made for.  Leaves: the same without copies, and calls
of the one that is kept in place of calls of its copies::

    a = get_fwd(box)                  a = get_fwd(box)
    b = get_fwd2(box)         ->      b = get_fwd(box)

A callee is written once for each way in which it is called; often the text is the same.  Alike are functions of the
same user's lines whose statements are the same, but for the functions' own names.
"""

from __future__ import annotations

from collections.abc import Callable, Set
from typing import Any

import gast

from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import walk

_BARE = frozenset({"ctx", "type_comment"})  # fields of which the text does not tell


def without_twins(functions: list[gast.FunctionDef], kept: Set[str]) -> list[gast.FunctionDef]:
    """``kept``: the names of functions that stay, whatever they are like."""
    while True:
        found: dict[object, str] = {}
        same: dict[str, str] = {}
        for function in functions:
            if function.name not in kept:
                first = found.setdefault(_text(function), function.name)
                if first != function.name:
                    same[function.name] = first
        if not same:
            return functions
        functions = [function for function in functions if function.name not in same]
        for node in walk(*functions):
            if isinstance(node, gast.Name) and not isinstance(node, GlobalReference) and node.id in same:
                node.id = same[node.id]


def _text(function: gast.FunctionDef) -> object:
    """All that a function consists of, to be compared."""
    found: list[object] = []
    pending: list[Any] = [function.body, function.args]
    while pending:
        value = pending.pop()
        if isinstance(value, GlobalReference):
            binding = value.binding
            reads: Callable[[], object] | None = binding.cell
            found += (binding.module, binding.attribute, id(binding.value), id(reads))
        elif isinstance(value, gast.Name) and value.id == function.name:
            found.append(None)  # a call of itself
        elif isinstance(value, gast.AST):
            found.append(type(value))
            pending += [getattr(value, name, None) for name in value._fields if name not in _BARE]
            pending.append(getattr(value, "span", None))
        elif isinstance(value, list):
            found.append(len(value))
            pending += value
        else:  # a name, a constant, the place that a statement comes from
            found += (type(value), repr(value))
    return tuple(found)
