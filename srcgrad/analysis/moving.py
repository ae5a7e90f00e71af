"""Which mutable classes move: those that a varied value enters, by a binding, a store or in a callee.

Enters: ``Function``, the differentiated parameters, ``MemoryClasses``, summaries of callees.  Leaves: ``Moving``:
the names whose tangent is bound wherever they are bound, because a store through any other name may make it vary, and
an ``Activity`` in which they vary throughout.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import dataclass

from srcgrad.analysis.activity import Activity, activity, atoms, flat_names, inputs
from srcgrad.analysis.cfg import bound_here, stores_of
from srcgrad.analysis.memory import MemoryClasses
from srcgrad.analysis.shapes import inert as has_no_tangent
from srcgrad.analysis.summaries import Summary
from srcgrad.analysis.values import fact_of_expression
from srcgrad.ir.normal_form import Bind, Call, Callee, Function, Statement
from srcgrad.rules.facts import Fact, Sequence, Unknown
from srcgrad.rules.facts import Mapping as FactOfMapping


@dataclass(frozen=True, eq=False)
class Moving:
    names: frozenset[str]
    activity: Activity
    classes: MemoryClasses


def moving(
    function: Function,
    wanted: Collection[str],
    facts: Mapping[str, Fact],
    classes: MemoryClasses,
    summary_of: Callable[[Callee, tuple[Fact, ...]], Summary],
) -> Moving:
    """Solve to a fixpoint: what moves makes more vary."""
    flat = flat_names(function, facts).difference(classes.shadowed)

    def inert(name: str) -> bool:
        fact = facts.get(name, Unknown())
        grows = isinstance(fact, FactOfMapping) or isinstance(fact, Sequence) and fact.kind != "tuple"
        if name in classes.shadowed and grows:
            return False  # what it holds as yet has no tangent, and others may put in what has
        return name in flat or has_no_tangent(fact)

    def of_call(made: Call) -> Summary:
        given = (fact_of_expression(argument, lambda name: facts.get(name, Unknown())) for argument in made.arguments)
        return summary_of(made.callee, tuple(given))

    found: frozenset[str] = frozenset()
    while True:
        solved = activity(function, wanted, inert, always=found)
        roots = {classes.root(name) for name in _entered(solved, of_call) if name in classes.shadowed}
        roots |= {classes.root(p) for p in wanted if p in classes.shadowed and not inert(p)}
        larger = frozenset(name for root in roots for name in classes.members(root) if not inert(name))
        if larger == found:
            return Moving(found, solved, classes)
        found = larger


def _entered(solved: Activity, summary_of: Callable[[Call], Summary]) -> set[str]:
    """The names that hold, or are bases of stores of, something varied."""
    found: set[str] = set()
    for statement in solved.graph.heads:
        varied = solved.varied_before(statement)
        if not any(name in varied for name in inputs(statement)):
            continue
        found.update(bound_here(statement), stores_of(statement))
        found.update(_stored_by_callee(statement, summary_of))
    return found


def _stored_by_callee(statement: Statement, summary_of: Callable[[Call], Summary]) -> set[str]:
    match statement:
        case Bind(operation=Call(arguments=arguments) as made):
            return {name for j in summary_of(made).stored for name in atoms(arguments[j])}
    return set()
