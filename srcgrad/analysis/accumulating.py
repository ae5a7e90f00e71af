"""Parameters that a function reads place by place, so that its adjoint adds to places of theirs.

Enters: ``Function`` and the facts of its names.  Leaves: the positions of arrays of which items and views are read,
and which are not bound again.  The adjoint of such a parameter is best added to a buffer of the caller:
one of its own would be as large as the array, whatever part of it is read (one a call in a recursion)::

    def minor(a, m, n, r, c):       a: a[row, column] is read, and minor is called with it
"""

from __future__ import annotations

from collections.abc import Mapping

from srcgrad.analysis.activity import inputs
from srcgrad.analysis.cfg import bound_here, stores_of, walk
from srcgrad.ir.normal_form import Bind, Call, Fixed, Function, Index, Return
from srcgrad.rules.facts import Array, Fact, is_floating


def accumulated(function: Function, facts: Mapping[str, Fact]) -> frozenset[int]:
    """The positions of such parameters."""
    arrays = {name for name in function.parameters if _is_array(facts.get(name))}
    read: set[str] = set()
    for statement in walk(function.body):
        arrays.difference_update(bound_here(statement), stores_of(statement))
        match statement:
            case Bind(operation=Index(base=base)):
                read.add(base)
            case Bind(operation=Call() | Fixed()):
                pass
            case Bind() | Return():
                arrays.difference_update(inputs(statement))
    return frozenset(j for j, name in enumerate(function.parameters) if name in arrays & read)


def _is_array(fact: Fact | None) -> bool:
    return isinstance(fact, Array) and not fact.scalar and bool(fact.shape) and is_floating(fact.dtype)
