"""Which names certainly hold numbers or arrays, judged by what the function does with them.

Enters: ``Function``.  Leaves: a set of names.  Without facts about the arguments a name may hold a list, where ``+``
joins and ``*`` repeats.  A name that is divided, raised to a power, negated, multiplied by a float or given to
``np.sin`` is no list: the function would have raised.  The adjoints of such names are added with ``+``; what this
argument cannot see (the proving statement was not reached) the door at the end checks: cotangents must have the
structure of their arguments.

Of a name that something may bind to a list every path with two uses, whose adjoints are added, has to prove it.

A name that is bound to None somewhere is not numeric: the adjoint of None is None, which only ``add`` adds as zero.
Nor is one that is a container later.

    u = np.sin(s)       s, u are numeric
    t = u * x           x and t are too: a number times a list of unknown length repeats it, but u is no integer literal
"""

from __future__ import annotations

import operator
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field

import gast

from srcgrad.analysis.activity import atoms, inputs
from srcgrad.analysis.cfg import ENTRY, Graph, Names, NameSet, bound_here, graph_of, kept_with_function, solve, walk
from srcgrad.analysis.values import is_copy
from srcgrad.ir.normal_form import Apply, Bind, Copy, Function, Pack, Statement

LIST_OPERATORS = (operator.add, operator.mul)


@dataclass
class _Evidence:
    """What the statements of a function say of the names in them."""

    numbers: dict[Statement, tuple[str, ...]] = field(default_factory=dict)  # read here as only numbers can be
    made: dict[Statement, str] = field(default_factory=dict)  # bound here to a number
    linked: dict[Statement, tuple[str, tuple[str, ...]]] = field(default_factory=dict)  # all are numeric if one is
    others: set[str] = field(default_factory=set)  # bound to None somewhere, or to a container


@kept_with_function
def numeric_names(function: Function) -> frozenset[str]:
    """Names that no container can be bound to on a path that reaches their uses."""
    evidence = _evidence(function)
    doubted = _proven(evidence) - evidence.others
    if not doubted:
        return frozenset()
    graph, names, found = graph_of(function), Names(sorted(doubted)), set[str]()
    while kept := doubted - _doubted(graph, names, function.parameters, evidence, found):
        doubted -= kept
        found = _proven(evidence, doubted)
    return frozenset(found - evidence.others)


def _evidence(function: Function) -> _Evidence:
    """``others`` are names bound to None somewhere, as generated text does before a branch, or to a container."""
    told = _Evidence()
    copied: list[tuple[str, str]] = []
    for statement in walk(function.body):
        match statement:
            case Bind(target=target, operation=Copy(source=source)):
                told.linked[statement] = (target, (source,))
                copied.append((target, source))
            case Bind(target=target, operation=Apply(arguments=arguments)) if is_copy(statement):
                sources = tuple(name for argument in arguments.values() for name in atoms(argument))
                told.linked[statement] = (target, sources)
                copied += [(target, source) for source in sources]
            case Bind(target=target, expression=gast.Constant(value=None)) | Bind(target=target, operation=Pack()):
                told.others.add(target)
            case Bind(target=target, operation=Apply(rule=rule, function=called, arguments=arguments)):
                if rule.kind != "elementwise" or runs_through(called, arguments):
                    continue
                names = tuple(n for p, e in arguments.items() if p in rule.differentiable for n in atoms(e))
                if called not in LIST_OPERATORS or any(
                    isinstance(e, gast.Constant) and isinstance(e.value, float | complex) for e in arguments.values()
                ):
                    told.numbers[statement] = names
                    told.made[statement] = target
                elif names:
                    told.linked[statement] = (target, names)
    while others_too := {target for target, source in copied if source in told.others and target not in told.others}:
        told.others |= others_too
    return told


def _proven(evidence: _Evidence, doubted: Collection[str] = ()) -> set[str]:
    """The names that evidence makes numeric, or a link to one that is; of those that are doubted, none."""
    found = {name for names in evidence.numbers.values() for name in names} | {*evidence.made.values()}
    found.difference_update(doubted)
    changed = True
    while changed:
        changed = False
        for target, names in evidence.linked.values():
            group = {target, *names}
            if not group.isdisjoint(found) and not (more := group - found).issubset(doubted):
                found |= more.difference(doubted)
                changed = True
    return found


def _doubted(
    graph: Graph, names: Names, parameters: Sequence[str], evidence: _Evidence, found: Collection[str]
) -> set[str]:
    """The names of which some binding may be to a container, and is used twice on a path that does not prove otherwise.

    Two adjoints are added on such a path, and lists would be joined.
    """
    certain = _certain(graph, parameters, evidence)
    proved, used, twice, bound, unknown = ([0] * len(graph.statements) for _ in range(5))
    for node, statement in enumerate(graph.statements):
        if statement is None or graph.is_tail[node]:
            continue
        bound[node] = names.mask(bound_here(statement))
        read = inputs(statement)
        used[node] = names.mask(read)
        twice[node] = names.mask(name for name, count in Counter(read).items() if count > 1)
        proved[node] = names.mask(evidence.numbers.get(statement, ()))
        target, linked = evidence.linked.get(statement, ("", ()))
        if target in found:
            proved[node] |= names.mask(linked)
        constant = isinstance(statement, Bind) and isinstance(statement.expression, gast.Constant)
        if not constant and not _is_number(statement, evidence, certain):
            unknown[node] = bound[node]
    width = len(names.listed)

    def transfer(node: int, ahead: int) -> int:
        """Of what some path has no proof: names that it does not use, uses once, and uses more often."""
        never, once, often = (ahead >> k * width & names.all & ~bound[node] for k in range(3))
        never |= bound[node]
        often |= once & used[node] | never & twice[node]
        once = once & ~used[node] | never & used[node] & ~twice[node]
        never &= ~used[node]
        return sum((part & ~proved[node]) << k * width for k, part in enumerate((never, once, often)))

    after, before = solve(graph, transfer, names.all, backward=True)
    lost = names.mask(parameters) & before[ENTRY] >> 2 * width
    for node, here in enumerate(unknown):
        lost |= here & after[node] >> 2 * width
    return set(NameSet(names, lost))


def _certain(graph: Graph, parameters: Sequence[str], evidence: _Evidence) -> set[str]:
    """The names that are bound to nothing but numbers, whatever is done with them."""
    heads = [s for s, is_tail in zip(graph.statements, graph.is_tail, strict=True) if s is not None and not is_tail]
    certain: set[str] = set()
    while True:
        lost = {n for s in heads if not _is_number(s, evidence, certain) for n in bound_here(s)}.union(parameters)
        more = {n for s in heads for n in bound_here(s)} - lost
        if more <= certain:
            return certain
        certain |= more


def _is_number(statement: Statement, evidence: _Evidence, certain: AbstractSet[str]) -> bool:
    """Whether what a statement binds is an array, or a number that repeats no list; ``certain``: names of such."""
    if isinstance(statement, Bind) and isinstance(statement.expression, gast.Constant):
        return isinstance(statement.expression.value, float | complex)
    _, linked = evidence.linked.get(statement, ("", ()))
    return statement in evidence.made or not certain.isdisjoint(linked)


def runs_through(function: object, arguments: Mapping[str, gast.expr]) -> bool:
    """Whether this is ``max`` or ``min`` of the items of its argument, which is no number then."""
    return function in (max, min) and isinstance(arguments["args"], gast.Tuple) and len(arguments["args"].elts) == 1
