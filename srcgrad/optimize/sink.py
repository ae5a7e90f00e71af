"""Bind a name again only after the last read of what it held.

    t_bar = s_bar                              u_bar = s_bar * x
    s_bar = s_bar / 3.0              →         x_bar = x_bar + s_bar * u
    u_bar = t_bar * x                          s_bar = s_bar / 3.0
    x_bar = x_bar + t_bar * u

The adjoint of ``s = u * x + s / 3.0`` hands the old ``s_bar`` to several operands.  When the new one is bound last, no
copy of the old one is needed: the binding sinks here, and ``fold`` then drops the copy.  The user's own assignments
keep their order.
"""

from __future__ import annotations

from bisect import bisect_left

import gast

from srcgrad.optimize.aliases import Aliases
from srcgrad.optimize.effects import Effects
from srcgrad.optimize.known import Known
from srcgrad.optimize.occurrences import Counts
from srcgrad.optimize.scan import COMPOUND
from srcgrad.syntax.comment import Comment


def sink(known: Known) -> bool:
    """Move bindings down in place; whether any moved."""
    effects, aliases = known.effects, known.aliases
    counts = known.counts
    temporaries = known.temporaries - counts.foreign
    changed = False
    for statements, positions in known.copies:
        copies = [j for j in positions if _is_copy(statements[j], temporaries, counts)]
        if not copies:
            continue
        table = known.table(statements, changed)
        moves: dict[int, int] = {}
        free = 0  # no two moves overlap; what is left waits for the next round
        for position in copies:
            name, original = _names(statements[position])
            binds = table.uses[original].binds
            following = bisect_left(binds, position + 1)
            uses = table.uses[name]
            if following == len(binds) or position < free or uses.positions[0] != position:
                continue
            bound, last = binds[following], uses.positions[-1]
            complete = uses.reads == len(counts.reads.get(name, ()))
            if not complete or bound > last:
                continue
            if original not in temporaries and _binds_others(statements, bound, last, temporaries, effects):
                continue
            if _may_sink(statements, bound, last, original, effects, aliases):
                moves[bound] = last
                free = last + 1
        if moves:
            changed = True
            statements[:] = _moved(statements, moves)
    return changed


def _is_copy(statement: gast.stmt, temporaries: frozenset[str], counts: Counts) -> bool:
    """Whether a name is copied into a temporary that is bound once."""
    match statement:
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.Name(id=original)) if name in temporaries:
            return counts.binds.get(name) == 1 and original not in counts.foreign
    return False


def _names(statement: gast.stmt) -> tuple[str, str]:
    assert isinstance(statement, gast.Assign)
    return statement.targets[0].id, statement.value.id


def _binds_others(
    statements: list[gast.stmt], bound: int, last: int, temporaries: frozenset[str], effects: Effects
) -> bool:
    """Whether a statement that would be passed binds a name of the user's."""
    return any(not effects.of(statement).binds <= temporaries for statement in statements[bound + 1 : last + 1])


def _may_sink(
    statements: list[gast.stmt], bound: int, last: int, name: str, effects: Effects, aliases: Aliases
) -> bool:
    """Whether the statement at ``bound`` gives the same when it runs right after the one at ``last``."""
    binding = statements[bound]
    match binding:
        case gast.Assign(targets=[gast.Name(id=target)], value=value) if target == name and effects.pure(value):
            pass
        case _:
            return False
    operands = set(effects.of(binding).header)
    classes: set[str] | None = None
    for statement in statements[bound + 1 : last + 1]:
        if isinstance(statement, (Comment, *COMPOUND)):
            return False
        effect = effects.of(statement)
        if effect.barrier or effect.exits or name in effect.reads or name in effect.binds or effect.binds & operands:
            return False
        if effect.changes:
            classes = classes if classes is not None else aliases.classes(operands)
            if not classes.isdisjoint(aliases.classes_of(effect.changes)):
                return False
    return True


def _moved(statements: list[gast.stmt], moves: dict[int, int]) -> list[gast.stmt]:
    made: list[gast.stmt] = []
    waiting: dict[int, gast.stmt] = {}
    for position, statement in enumerate(statements):
        if position in moves:
            waiting[moves[position]] = statement
        else:
            made.append(statement)
        if position in waiting:
            made.append(waiting[position])
    return made
