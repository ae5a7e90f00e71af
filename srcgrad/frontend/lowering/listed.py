"""Generator expressions that a built-in function takes all items of at once, as lists.

Enters: the tree of a function, and where generator expressions stand that would be resumed while they run, since they
call the function in which they stand.  Leaves: the same tree, with lists in their place::

    def total(self):                                        def total(self):
        return sum(k.total() for k in self.kids)     ->         return sum([k.total() for k in self.kids])

What stops before the last item (``any``) is left as it is.  What adds or compares items as they come (``is_folded``)
does so when it has all of them, which nobody can tell where they are data.
"""

from __future__ import annotations

import builtins
import math
from collections.abc import Set
from typing import Any

import gast

from srcgrad.frontend.lowering.names import Scope, scopes_of
from srcgrad.frontend.source import Source

_FOLDING = (sum, max, min, math.prod, math.fsum)
_TAKING_ALL: tuple[Any, ...] = (*_FOLDING, list, tuple, sorted, dict, set, frozenset, str.join)


def list_generators(source: Source, places: Set[tuple[int, int]]) -> bool:
    """Make lists of the generator expressions that stand at some places; whether there are any."""
    return _scope(source, scopes_of(source.node), places)


def _scope(source: Source, scope: Scope, places: Set[tuple[int, int]]) -> bool:
    is_changed = False
    for inner in scope.inner.values():
        is_changed |= _scope(source, inner, places)
    for part in scope.parts:
        if isinstance(part, gast.Call) and part.args and (part.args[0].lineno, part.args[0].col_offset) in places:
            given: Any = part.args[0]
            function = _function(source, scope, part.func)
            if isinstance(given, gast.GeneratorExp) and any(function is each for each in _TAKING_ALL):
                part.args[0] = made = gast.copy_location(gast.ListComp(given.elt, given.generators), given)
                made.is_folded = any(function is each for each in _FOLDING)
                is_changed = True
    return is_changed


def _function(source: Source, scope: Scope, called: gast.expr) -> Any:
    """Which function of Python's own is called; None of others."""
    function = source.function
    match called:
        case gast.Name(id=name) | gast.Attribute(value=gast.Name(id=name)) if (
            scope.find(name) is not None or name in function.__code__.co_freevars
        ):
            return None
        case gast.Name(id=name):
            return function.__globals__.get(name, getattr(builtins, name, None))
        case gast.Attribute(value=gast.Name(id=name), attr=attribute) if function.__globals__.get(name) is math:
            return getattr(math, attribute, None)
        case gast.Attribute(value=gast.Constant(value=str()), attr="join"):
            return str.join
    return None
