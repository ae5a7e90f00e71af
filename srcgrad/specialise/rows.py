"""``zip(*rows)`` in the IR, where it is not known how many rows there are.

Enters: the call.  Leaves: the call with a list of the rows that there are by then, whatever is done with theirs later;
or an iterator that is kept, where more than one loop, or one function, asks it::

    it = zip(*rows)       held = list(rows);  place = 0
    c = next(it)    ->    if place < shortest(held):  t = [];  for r in held: t.append(r[place])
                                                      c = tuple(t);  place = place + 1
"""

from __future__ import annotations

import math
import sys
from collections import deque
from dataclasses import replace
from typing import TYPE_CHECKING

import gast

from srcgrad import runtime
from srcgrad.infer.data import is_data
from srcgrad.infer.heap import Contents, Site
from srcgrad.infer.values import Array, At, Value, at, of, union
from srcgrad.ir import operations as ir
from srcgrad.ir.operations import Literal, Operand, Version
from srcgrad.ir.regions import Assign, Statement
from srcgrad.ir.restoring.tree import Spelled
from srcgrad.specialise.instances import static_of
from srcgrad.specialise.places import Found, Kept, advanced, builtin_of, each, item_of, over
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import of_runtime, reference

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced


def rows_of(made: Reduced, call: ir.Call) -> Operand | None:
    """The rows of ``zip(*rows)``; None of any other call, or where nothing says that they are in a sequence."""
    star = call.star
    if star is None or star in made.arguments or call.rest is not None or call.keywords or call.positional:
        return None
    kinds = (list, tuple, deque, None)
    are_rows = made.value(star).consists_of(
        lambda a: isinstance(a, Array) or isinstance(a, At) and a.site.kind in kinds
    )
    return star if are_rows and static_of(made.value(call.function)) is zip else None


def taken_now(made: Reduced, statement: Assign, call: ir.Call) -> list[Statement] | None:
    """The call with a list of its own of the rows."""
    rows = rows_of(made, call)
    if rows is None:
        return None
    taken, held = _held(made, rows, statement.node)
    return [taken, replace(statement, operation=replace(call, star=held))]


def distance(made: Reduced, statement: Assign, call: ir.Call) -> list[Statement] | None:
    """``math.hypot(*xs)`` of any number of coordinates as the distance from the origin, which is computed alike."""
    if call.star is None or call.star in made.arguments or call.positional or call.rest is not None or call.keywords:
        return None
    if static_of(made.value(call.function)) is not math.hypot:
        return None
    node = statement.node
    taken, held = _held(made, call.star, node)
    count, zeros = made.version("t", of(int)), made.version("t", items_value(made, list, of(float), node))
    origin = made.version("t", items_value(made, list, of(float), node))
    dist = Literal(Spelled(reference(GlobalBinding("dist", math.dist, "math", "dist")), math.dist))
    return [
        taken, Assign((count,), ir.Call(builtin_of(len), (held,)), node),
        Assign((zeros,), ir.Make("list", (Literal(0.0),)), node),
        Assign((origin,), ir.Operator("*", (zeros, count)), node),
        replace(statement, operation=ir.Call(dist, (held, origin))),
    ]  # fmt: skip


def columns(made: Reduced, call: ir.Call, node: gast.AST) -> Found | None:
    """An iterator over columns that is kept."""
    rows = rows_of(made, call)
    row = None if rows is None else item_of(made, made.value(rows))
    is_of_data = row is not None and any(map(is_data, row.atoms))
    element = None if row is None else row if is_of_data else item_of(made, row)
    if rows is None or row is None or element is None:
        return None
    taken_, held = _held(made, rows, node)
    place, item = made.new_cell("place"), items_value(made, tuple, element, node)

    def asked(at_: gast.AST) -> tuple[list[Statement], Operand]:
        here, count, more = (made.version("t", of(kind)) for kind in (int, int, bool))
        shortest = Literal(Spelled(reference(of_runtime(runtime.shortest)), runtime.shortest))
        return [
            Assign((here,), ir.ReadCell(place), at_), Assign((count,), ir.Call(shortest, (held,)), at_),
            Assign((more,), ir.Compare("<", here, count), at_),
        ], more  # fmt: skip

    def taken(at_: gast.AST, target: Version) -> list[Statement]:
        here, listed = made.version("t", of(int)), made.version("t", items_value(made, list, element, at_))
        one, part = made.version("row", row), made.version("t", element)
        begun = over(made, held, at_)
        assert begun is not None
        put: list[Statement] = [Assign((part,), ir.GetItem(one, here), at_), Assign((), ir.Insert(listed, part), at_)]
        return [
            Assign((here,), ir.ReadCell(place), at_), Assign((listed,), ir.Make("list"), at_), *begun[0],
            each(made, begun[1], one, put, at_, is_over=True),
            Assign((target,), ir.Call(builtin_of(tuple), (listed,)), at_), *advanced(made, place, at_),
        ]  # fmt: skip

    def ended(at_: gast.AST) -> list[Statement]:
        return [Assign((), ir.WriteCell(place, Literal(sys.maxsize)), at_)]  # it stays so if the rows grow

    return [taken_, Assign((), ir.WriteCell(place, Literal(0)), node)], Kept(asked, taken, ended, item)


def _held(made: Reduced, rows: Operand, node: gast.AST) -> tuple[Assign, Version]:
    held = made.version("rows", items_value(made, list, items_of(made, made.value(rows)), node))
    return Assign((held,), ir.Call(builtin_of(list), (rows,)), node), held


def items_of(made: Reduced, value: Value) -> Value:
    """What the items of a sequence may be."""
    if (found := item_of(made, value)) is not None:
        return found
    held = [made.facts.contents.get(atom.site) for atom in value.atoms if isinstance(atom, At)]
    return union(*(contents.items for contents in held if contents is not None))


def items_value(made: Reduced, kind: type, item: Value, node: gast.AST) -> Value:
    """The value of a list or tuple of any number of items."""
    site = Site(kind, (node, made.namer.fresh("items")), made.frame.summaries[0].context)
    made.facts.contents[site] = Contents(single=False, rest=item)
    return at(site)
