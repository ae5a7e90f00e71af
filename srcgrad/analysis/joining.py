"""The webs of one spelling under one name again, where nothing is gained by telling them apart.

Enters: ``Function`` whose names are webs (``frontend.webs``), and the facts of them.  Leaves: the function in which
webs of one spelling share the user's name, if their facts are equal and none is overwritten while another
is live; of each group of others one keeps it.  What is emitted then reads as the user wrote it::

    y2 = np.exp(y)              y = np.exp(y)
    y3 = y2 * y2        ->      y = y * y
    return y3                   return y

Live names that interfere: Chaitin et al., Register allocation via coloring, Computer Languages 6 (1981).
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace

from srcgrad.analysis.cfg import ENTRY, Names, bound_here, graph_of, solve, walk
from srcgrad.frontend.normal_form import Bind, Block, For, Function, If, Statement, While, With
from srcgrad.frontend.renaming import mentioned, renamed
from srcgrad.rules.facts import Array, Fact, Unknown


def joined(
    function: Function, facts: Mapping[str, Fact], generic: bool = False
) -> tuple[Function, Mapping[str, Fact]]:
    """The function with fewer names, and facts of those that are left.  ``generic``: no kinds of arguments are known,
    and what may be an array is taken to be as unknown as they are."""
    groups: defaultdict[str, list[str]] = defaultdict(list)
    for web, spelling in function.webs.items():
        groups[spelling].append(web)
    if not groups:
        return function, facts
    for spelling, webs in groups.items():
        webs.insert(0, spelling)
    apart = _interfering(function, groups)
    names: dict[str, str] = {}

    # What a loop counts has no adjoint, and that of an array or object of its spelling has another structure.
    counted = {statement.index for statement in walk(function.body) if isinstance(statement, For)}

    def described(name: str) -> tuple[Fact, bool, bool]:
        fact = facts.get(name, Unknown())
        made = Unknown() if generic and isinstance(fact, Array) else fact
        return made, name in function.blurred, name in counted

    for webs in groups.values():
        shared: list[list[str]] = []
        for web in webs:
            for others in shared:
                if apart[web].isdisjoint(others) and described(web) == described(others[0]):
                    others.append(web)
                    break
            else:
                shared.append([web])
        names.update((web, others[0]) for others in shared for web in others[1:])
    if not names:
        return function, facts
    body = Block(tuple(renamed(statement, names) for statement in function.body.statements))
    webs_left = {web: spelling for web, spelling in function.webs.items() if web not in names}
    unknown = frozenset(names.get(name, name) for name in function.unknown)
    blurred = function.blurred.difference(names)
    made = replace(function, body=body, webs=webs_left, blurred=blurred, unknown=unknown)
    if generic:
        shared_names = set(names.values())
        return made, {n: Unknown() if n in shared_names else fact for n, fact in facts.items() if n not in names}
    return made, {name: fact for name, fact in facts.items() if name not in names}


def _interfering(function: Function, groups: Mapping[str, Iterable[str]]) -> defaultdict[str, set[str]]:
    """By name, the others of its spelling that are bound and live where it is bound, or the other way round."""
    graph, names = graph_of(function), Names(name for webs in groups.values() for name in webs)
    of_spelling = {web: names.mask(webs) for webs in groups.values() for web in webs}
    reads, kills, bound = [0] * len(graph.statements), [0] * len(graph.statements), [0] * len(graph.statements)
    for node, statement in enumerate(graph.statements):
        if statement is not None and not graph.is_tail[node]:
            reads[node] = names.mask(_reads(statement))
            bound[node] = names.mask(bound_here(statement))
            kills[node] = 0 if isinstance(statement, For) else bound[node]
    bound[ENTRY] = names.mask(function.parameters)
    after, _ = solve(graph, lambda node, live: (live & ~kills[node]) | reads[node], 0, backward=True)
    _, held = solve(graph, lambda node, before: before | bound[node], bound[ENTRY])
    apart: defaultdict[str, set[str]] = defaultdict(set)
    for node, made in enumerate(bound):
        for name in _listed(names, made):
            for other in _listed(names, (after[node] & held[node] | made) & of_spelling[name]):
                if other != name:
                    apart[name].add(other)
                    apart[other].add(name)
    return apart


def _listed(names: Names, bits: int) -> Iterable[str]:
    while bits:
        low = bits & -bits
        yield names.listed[low.bit_length() - 1]
        bits ^= low


def _reads(statement: Statement) -> set[str]:
    """The names that a statement itself reads, or may leave as they were."""
    match statement:
        case Bind(target=target, expression=expression, operation=operation, inplace=inplace):
            return mentioned((expression, operation)) | ({target} if inplace else set())
        case For(iterable=iterable):
            return mentioned(iterable)
        case If(test=test) | While(test=test):
            return mentioned(test)
        case With(items=items):
            return mentioned(items)
    return mentioned(statement) - set(bound_here(statement))
