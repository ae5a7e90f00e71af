"""Read the parts of a tuple where the tuple was made.

    t_bar = u_bar, v_bar
    x_bar = t_bar[0] * w          →          x_bar = u_bar * w
    y_bar = t_bar[1] * w                     y_bar = v_bar * w

The adjoint of a tuple is a tuple, and so it is where a call that returns several values was written out.
"""

from __future__ import annotations

from bisect import bisect_left

import gast

from srcgrad.optimize.known import Known
from srcgrad.optimize.occurrences import Counts, Table
from srcgrad.optimize.scan import blocks, fields_below, header_fields
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import clone


def untuple(known: Known) -> bool:
    """Change the reads of tuples in place; whether there were any."""
    counts = known.counts
    temporaries = known.temporaries - counts.foreign
    changed = False
    for statements, _ in blocks(known.function):
        tuples = [j for j, s in enumerate(statements) if _is_tuple(s, temporaries, counts)]
        if not tuples:
            continue
        table = known.table(statements, changed)
        gone: set[int] = set()
        for position in tuples:
            statement = statements[position]
            assert isinstance(statement, gast.Assign)
            name, parts = statement.targets[0].id, statement.value.elts
            uses, reads = table.uses[name], counts.reads.get(name, [])
            # Every read stands behind the binding, in this block or below it, and takes a part that is still there.
            if not reads or uses.positions[0] != position or uses.reads != len(reads):
                continue
            taken = [site.parent if site.field == "value" else None for site in reads]
            if not all(_takes_part(node, len(parts)) for node in taken):
                continue
            if not all(_stays(part, position, uses.positions[-1], table) for part in parts):
                continue
            for site in reads:
                _replace(site.owner, name, parts)
                known.effects.forget(site.owner)
            gone.add(position)
        if gone:
            changed = True
            statements[:] = [kept for j, kept in enumerate(statements) if j not in gone] or [gast.Pass()]
            known.changed()
            counts = known.counts
    return changed


def _is_tuple(statement: gast.stmt, temporaries: frozenset[str], counts: Counts) -> bool:
    match statement:
        case gast.Assign(targets=[gast.Name(id=name)], value=gast.Tuple(elts=parts)) if name in temporaries:
            local = (isinstance(part, gast.Name) and not isinstance(part, GlobalReference) for part in parts)
            return counts.binds.get(name) == 1 and all(
                is_local and part.id not in counts.foreign or isinstance(part, gast.Constant)
                for part, is_local in zip(parts, local, strict=True)
            )
    return False


def _takes_part(node: object, count: int) -> bool:
    match node:
        case gast.Subscript(slice=gast.Constant(value=int() as index), ctx=gast.Load()):
            return not isinstance(index, bool) and 0 <= index < count
    return False


def _stays(part: gast.expr, position: int, last: int, table: Table) -> bool:
    """Whether a part is the same object from ``position`` to the last read of the tuple, at ``last``."""
    if isinstance(part, gast.Constant):
        return True
    binds = table.uses[part.id].binds
    following = bisect_left(binds, position + 1)
    if following == len(binds):
        return True
    bound = binds[following]
    return bound > last or (bound == last and last not in table.compound)


def _replace(statement: gast.stmt, name: str, parts: list[gast.expr]) -> None:
    """Put the part itself where a statement's own line takes it out of the tuple."""
    pending: list[gast.AST] = [statement]
    while pending:
        node = pending.pop()
        for field in header_fields(statement) if node is statement else fields_below(type(node)):
            held = getattr(node, field, None)
            items = held if isinstance(held, list) else [held]
            for index, item in enumerate(items):
                match item:
                    case gast.Subscript(value=gast.Name(id=base), slice=gast.Constant(value=place)) if base == name:
                        items[index] = clone(parts[place])
                    case gast.AST():
                        pending.append(item)
            if not isinstance(held, list):
                setattr(node, field, items[0])
