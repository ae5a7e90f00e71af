"""Iterators over dicts and their views that are kept: Python's own goes along, and says when the dict has changed.

::

    it = iter(d)              keys = places_of(d);  walk = alongside(d);  place = 0
    k = next(it)      ->      step(walk, "model.py:4")
                              if place < len(keys): k = keys[place];  place = place + 1

Values are read when they are asked for, by their keys.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

import gast

from srcgrad import runtime
from srcgrad.infer.heap import UNKNOWN
from srcgrad.infer.objects import MAPPINGS
from srcgrad.infer.values import At, are_of, exact, of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Statement
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.specialise.places import Found, Kept, advanced, builtin_of, tuple_of_parts, tuple_value
from srcgrad.specialise.rows import items_value
from srcgrad.syntax.globals import of_runtime, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced

_VIEWS = ("keys", "values", "items")


def over_dict(made: Reduced, source: Operand, node: gast.AST) -> Found | None:
    """An iterator over a dict, or over a view of one; None of anything else."""
    shown = _shown(made, source)
    if shown is None:
        return None
    base, name = shown
    sites = [atom.site for atom in made.value(base).atoms if isinstance(atom, At)]
    known = [UNKNOWN if made.facts.is_seen(site) else made.facts.contents.get(site, UNKNOWN) for site in sites]
    key, held = union(*(each.keys for each in known)), union(*(each.held for each in known))
    place, keys = made.new_cell("place"), made.version("keys", items_value(made, list, key, node))
    walk, where = made.version("walk", of(int)), Literal(made.source_of(made.frame.owner).span(node).origin)
    parts = {"keys": key, "values": held, "items": tuple_value(made, node, (key, held))}

    def asked(at_: gast.AST) -> tuple[list[Statement], Operand]:
        here, count, more = (made.version("t", of(kind)) for kind in (int, int, bool))
        return [
            Assign((made.version("t", exact(None)),), ir.Call(_of(runtime.step), (walk, where)), at_),
            Assign((here,), ir.ReadCell(place), at_), Assign((count,), ir.Call(builtin_of(len), (keys,)), at_),
            Assign((more,), ir.Compare("<", here, count), at_),
        ], more  # fmt: skip

    def taken(at_: gast.AST, target: Version) -> list[Statement]:
        here = made.version("t", of(int))
        found = target if name == "keys" else made.version("k", key)
        item = target if name == "values" else made.version("t", held)
        read: list[Statement] = [
            Assign((here,), ir.ReadCell(place), at_), Assign((found,), ir.GetItem(keys, here), at_),
        ]  # fmt: skip
        if name != "keys":
            read.append(Assign((item,), ir.GetItem(base, found), at_))
        if name == "items":
            read.append(tuple_of_parts(made, target, (found, item), at_))
        return [*read, *advanced(made, place, at_)]

    begun: list[Statement] = [
        Assign((keys,), ir.Call(_of(runtime.places_of), (base,)), node),
        Assign((walk,), ir.Call(_of(runtime.alongside), (base,)), node),
        Assign((), ir.WriteCell(place, Literal(0)), node),
    ]  # fmt: skip
    return begun, Kept(asked, taken, lambda at_: [], parts[name])


def _shown(made: Reduced, source: Operand) -> tuple[Operand, str] | None:
    """The dict that is gone over, and what of it is shown."""
    if are_of(made.value(source), *MAPPINGS):
        return source, "keys"
    call = made.origins.get(source)
    looked = made.origins.get(call.function) if isinstance(call, ir.Call) and not call.positional else None
    if not isinstance(looked, ir.GetAttribute) or looked.name not in _VIEWS:
        return None
    base = made.known.get(looked.base, looked.base)
    if not are_of(made.value(base), *MAPPINGS) or not isinstance(call, ir.Call):
        return None
    made.iterators.update((source, call.function))  # which nothing reads
    return base, looked.name


def _of(function: Callable[..., object]) -> Literal:
    return Literal(Spelled(reference(of_runtime(function)), function))
