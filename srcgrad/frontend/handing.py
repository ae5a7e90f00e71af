"""What functions of the rule table hand on of the objects that they are given: copies, joins, merges.

Enters: a function with a rule, and what is known of its arguments.  Leaves: what is known of its result.  Most results
are numbers; of a container that is made of others the objects in it are known as well, and of what is left which
classes may be met there (``known.Blurred``), so that the run looks::

    d = dict(table)          d["a"] is what table["a"] is
"""

from __future__ import annotations

import copy
import operator
from collections import deque
from collections.abc import Callable
from dataclasses import replace

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.classed import Foreign, Weighted
from srcgrad.frontend.known import (
    DATA,
    PLAIN,
    Blurred,
    Entries,
    Items,
    Known,
    classes_in,
    sequences,
    told,
)
from srcgrad.rules.template import Rule

_OF_ANYTHING = (operator.add, operator.mul, max, min)  # elementwise, but of lists and objects as well
_MERGES = (runtime.merged, runtime.union)


def handed_on(
    function: object,
    rule: Rule,
    arguments: list[Known],
    item: Callable[[Known, gast.expr], Known],
    resolved: Callable[[Known], Known],
) -> Known:
    """Numbers, but where objects are joined, repeated, copied or picked.

    ``item`` knows the items of a container, ``resolved`` looks into results of calls.
    """
    entries = list(map(_entries, arguments)) if function in _MERGES else []
    if entries and None not in entries:
        return told(Entries(tuple({key: known for part in entries for key, known in part or ()}.items())))
    match arguments:
        case [Items() as given, *_] if function is deque:
            return Items(deque, ()) if given.items == () else told(Items(deque, None, given.any()))
        case [Items(kind=kind) as given] if function is tuple and kind is not dict:
            return told(replace(given, kind=tuple))
        case [Items() as given] if function is runtime.from_pairs:
            return told(Items(dict, None, item(given.any(), gast.Constant(1, None))))
        case [Items() | Entries() as given] if function is np.copy:  # the method of that name
            return given
        case [given] if function in (copy.copy, copy.deepcopy):
            return given
        case [Items() as left, Items() as right] if function is operator.add and left.kind is right.kind:
            if left.items is None or right.items is None:
                return told(sequences(left, replace(right, items=None, item=right.any())))
            return told(Items(left.kind, left.items + right.items))
        case [Items() as given, _] | [_, Items() as given] if function is operator.mul:
            return told(Items(given.kind, None, given.any()))
    if rule.kind != "elementwise" or (function in _OF_ANYTHING and any(known != DATA for known in arguments)):
        return _met(arguments, resolved)
    return DATA


def is_of_sparse(function: object) -> bool:
    """Whether a function is one of the products with sparse matrices, whose results are arrays."""
    module = str(getattr(function, "__module__", ""))
    return module == "srcgrad.runtime.scipy.sparse" or module.startswith("scipy.sparse.linalg")


def of_sparse(function: object, matrix: Known, name: str) -> Known:
    """What a product with the sparse matrix of this name gives: an array, or the entries that an array weighs."""
    weighs = getattr(function, "__name__", "") == "entries"
    return Weighted(matrix.kind, name) if weighs and isinstance(matrix, Foreign) else DATA


def _entries(known: Known) -> tuple[tuple[object, Known], ...] | None:
    """The entries of a dict that is known by its keys."""
    if isinstance(known, Items) and known.kind is dict and known.items == ():
        return ()
    return known.items if isinstance(known, Entries) else None


def _met(arguments: list[Known], resolved: Callable[[Known], Known]) -> Known:
    """Nothing, but that objects of the classes in the arguments may be there."""
    kinds = {kind for known in arguments for kind in classes_in(known, resolved)}
    kinds.update(kind for known in arguments if isinstance(known, Blurred) for kind in known.kinds)
    return Blurred(frozenset(kinds)) if kinds else PLAIN
