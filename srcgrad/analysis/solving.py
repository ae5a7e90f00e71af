"""The activity of a function as reverse mode takes it: what is stored into memory counts as what is bound.

Enters: ``Function``, what varies, the facts of its names, its mutable classes, what callees store into.  Leaves:
``Activity``.  Forward mode is judged by it as well, where what no longer varies would be lost.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping

from srcgrad.analysis.activity import Activity, activity, atoms, flat_names
from srcgrad.analysis.cfg import stores_of
from srcgrad.analysis.memory import MemoryClasses
from srcgrad.analysis.shapes import inert
from srcgrad.ir.normal_form import Bind, Call, Function, Statement
from srcgrad.rules.facts import Fact, Unknown


def solved(
    function: Function,
    wanted: tuple[str, ...],
    facts: Mapping[str, Fact],
    classes: MemoryClasses | None,
    stored_by: Callable[[Call], Collection[int]],
    with_shadow: frozenset[str] = frozenset(),
) -> Activity:
    """``stored_by`` gives the positions of the arguments of a call that it stores into."""
    stored = {} if classes is None else {name: classes.members(name) for name in sorted(classes.shadowed)}
    flat = flat_names(function, facts).difference(stored)

    def stores(statement: Statement) -> tuple[str, ...]:
        match statement:
            case Bind(operation=Call() as made):
                return tuple(name for j in sorted(stored_by(made)) for name in atoms(made.arguments[j]))
        return stores_of(statement)

    return activity(
        function,
        wanted,
        lambda name: name in flat or inert(facts.get(name, Unknown())),
        stored,
        with_shadow,
        stores=stores,
    )
