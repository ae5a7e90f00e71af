"""Read a view where its copy is read, if nothing changes in between.

    e_bar = u_bar[1:-1].copy()               e_bar = u_bar[1:-1]
    r_bar = r_bar + np.sum(e_bar * w)   →    r_bar = r_bar + np.sum(e_bar * w)
    u_bar[2:] += e_bar * rate                u_bar[2:] += e_bar * rate

The adjoint of a place is copied because its memory will change.  A copy that is an operand of arithmetic only, and read
for the last time before the first change, is not needed.
"""

from __future__ import annotations

import gast

from srcgrad.optimize.aliases import Aliases
from srcgrad.optimize.effects import Effects
from srcgrad.optimize.known import Known
from srcgrad.optimize.occurrences import Counts
from srcgrad.optimize.scan import Site, blocks
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import names_read


def uncopy(known: Known) -> bool:
    """Drop idle copies in place; whether there were any."""
    function, effects, aliases = known.function, known.effects, known.aliases
    counts = known.counts
    temporaries = known.temporaries - counts.foreign
    changed = False
    for statements, _ in blocks(function):
        copies = [j for j, s in enumerate(statements) if _is_copy(s, temporaries, counts)]
        if not copies:
            continue
        table = known.table(statements, changed)
        for position in copies:
            statement = statements[position]
            assert isinstance(statement, gast.Assign)
            place, name = _copied(statement.value), statement.targets[0].id
            assert place is not None
            reads = counts.reads.get(name, [])
            uses = table.uses[name].positions
            if uses[0] != position or len(uses) != len(reads) + 1 or not all(map(_is_operand, reads)):
                continue  # read elsewhere, or as an object
            last = uses[-1]
            if not table.compound.isdisjoint(uses) or effects.of(statements[last]).barrier:
                continue
            seen = aliases.classes(names_read(place.value))
            if all(_leaves(s, seen, effects, aliases) for s in statements[position + 1 : last]):
                statement.value = place
                effects.forget(statement)
                changed = True
    return changed


def _is_copy(statement: gast.stmt, temporaries: frozenset[str], counts: Counts) -> bool:
    match statement:
        case gast.Assign(targets=[gast.Name(id=name)], value=value):
            return name in temporaries and counts.binds.get(name) == 1 and _copied(value) is not None
    return False


def _copied(value: gast.expr) -> gast.Subscript | None:
    """``v[i]`` of ``v[i].copy()`` and of ``own(v[i])``."""
    match value:
        case gast.Call(func=gast.Attribute(value=gast.Subscript() as place, attr="copy"), args=[], keywords=[]):
            pass
        case gast.Call(func=GlobalReference() as called, args=[gast.Subscript() as place], keywords=[]):
            binding = called.binding
            if binding.attribute != "own" or not (binding.module or "").startswith("srcgrad.runtime"):
                return None
        case _:
            return None
    base = place.value
    return place if isinstance(base, gast.Name) and not isinstance(base, GlobalReference) else None


def _is_operand(site: Site) -> bool:
    """Whether arithmetic makes something new of what is read there."""
    return isinstance(site.parent, gast.BinOp) or (
        isinstance(site.parent, gast.UnaryOp) and not isinstance(site.parent.op, gast.UAdd)
    )


def _leaves(statement: gast.stmt, seen: set[str], effects: Effects, aliases: Aliases) -> bool:
    effect = effects.of(statement)
    return not effect.barrier and seen.isdisjoint(aliases.classes_of(effect.changes))
