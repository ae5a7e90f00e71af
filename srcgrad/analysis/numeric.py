"""Which names certainly hold numbers or arrays, judged by what the function does with them.

Enters: ``Function``.  Leaves: a set of names.  Without facts about the arguments a name may hold a list, where ``+``
joins and ``*`` repeats.  A name that is divided, raised to a power, negated, multiplied by a float or given to
``np.sin`` is no list: the function would have raised.  The adjoints of such names are added with ``+``; what this
argument cannot see (the proving statement was not reached) the door at the end checks: cotangents must have the
structure of their arguments.

A name that is bound to None somewhere is not numeric: the adjoint of None is None, which only ``add`` adds as zero.
Nor is one that is a container later.

    u = np.sin(s)       s, u are numeric
    t = u * x           x and t are too: a number times a list of unknown length repeats it, but u is no integer literal
"""

from __future__ import annotations

import operator
from collections.abc import Mapping

import gast

from srcgrad.analysis.activity import atoms
from srcgrad.analysis.cfg import walk
from srcgrad.frontend.normal_form import Apply, Bind, Copy, Function, Pack

LIST_OPERATORS = (operator.add, operator.mul)


def numeric_names(function: Function) -> frozenset[str]:
    """Names that no container can be bound to on a path that reaches their uses."""
    found: set[str] = set()
    others: set[str] = set()  # bound to None somewhere, as generated text does before a branch, or to a container
    linked: list[tuple[str, ...]] = []
    copied: list[tuple[str, str]] = []
    for statement in walk(function.body):
        match statement:
            case Bind(target=target, operation=Copy(source=source)):
                linked.append((target, source))
                copied.append((target, source))
            case Bind(target=target, expression=gast.Constant(value=None)) | Bind(target=target, operation=Pack()):
                others.add(target)
            case Bind(target=target, operation=Apply(rule=rule, function=called, arguments=arguments)):
                if rule.kind != "elementwise" or runs_through(called, arguments):
                    continue
                names = [n for p, e in arguments.items() if p in rule.differentiable for n in atoms(e)]
                if called not in LIST_OPERATORS:
                    found.update((*names, target))
                elif any(
                    isinstance(e, gast.Constant) and isinstance(e.value, float | complex) for e in arguments.values()
                ):
                    found.update((*names, target))
                elif names:
                    linked.append((target, *names))
    changed = True
    while changed:
        changed = False
        for group in linked:
            known = sum(name in found for name in group)
            if 0 < known < len(group):
                found.update(group)
                changed = True
    while others_too := {target for target, source in copied if source in others and target not in others}:
        others |= others_too
    return frozenset(found - others)


def runs_through(function: object, arguments: Mapping[str, gast.expr]) -> bool:
    """Whether this is ``max`` or ``min`` of the items of its argument, which is no number then."""
    return function in (max, min) and isinstance(arguments["args"], gast.Tuple) and len(arguments["args"].elts) == 1
