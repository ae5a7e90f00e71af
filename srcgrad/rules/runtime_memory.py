"""Rules of the runtime's functions for memory that is stored into: copies, shadows, tangents.

Making a shadow carries no derivative, and that a shadow is a view of another is not arithmetic: what is stored into the
one is seen in the other.  ``taken`` and ``untaken`` transpose into each other.
"""

# Templates are read as text and carry no annotations.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

from srcgrad import runtime
from srcgrad.rules.facts import Array, Sequence, Unknown, is_floating
from srcgrad.rules.table import constant, linear, rule
from srcgrad.runtime import (
    items_moved,
    like_own,
    stored,
    taken,
    unpart_like,
    unprivate,
    untake,
    untaken,
    unview,
    view_moved,
    where_first,
)

constant(runtime.shadow, runtime.separate)


@rule(runtime.private)
def private_(*values, y, y_bar):
    """Copies."""
    return [unprivate(y_bar, i, len(values)) for i, x in enumerate(values)]


@private_.tangent
def private_(*values, y, values_dot):
    return runtime.private(*values_dot)


def _copies(arguments, literals):
    given = arguments["values"]
    items = given.items if isinstance(given, Sequence) else None
    if items is None:
        return Unknown()
    return items[0] if len(items) == 1 else Sequence("tuple", items)


private_.infer(_copies)


@linear(runtime.unprivate, "g")
def unprivate_(g, i, count, *, y, y_bar):
    """One of several cotangents; back to its place."""
    return runtime.placed_alone(y_bar, g, i, count)


@linear(runtime.placed_alone, "g")
def placed_alone_(g, like, i, count, *, y, y_bar):
    """One among zeros; taken out again."""
    return unprivate(y_bar, i, count)


@linear(runtime.entering, "moved")
def entering_(x, moved=None, *, y, y_bar):
    """A copy in the layout of the value."""
    return y_bar


@linear(runtime.fresh, "moved")
def fresh_(moved, v, *, y, y_bar):
    """A copy in the layout of the value."""
    return y_bar


@linear(runtime.stored, "moved")
def stored_(moved, v, *, y, y_bar):
    """What an array takes, or zero; the same again."""
    return stored(y_bar, v)


@linear(runtime.tangent_like, "moved")
def tangent_like_(moved, v, *known, y, y_bar):
    """The same numbers; where they lie is no arithmetic."""
    return y_bar


@tangent_like_.tangent
def tangent_like_(moved, v, *known, y, moved_dot):
    return moved_dot


# --- the adjoint of a place that is stored over ----------------------------------------------------------------------
@linear(runtime.taken, "held")
def taken_(held, v, index, *, y, y_bar):
    """Taken where a value lasted; put back there."""
    return untaken(y_bar, held, v, index)


@linear(runtime.untaken, "g")
def untaken_(g, held, v, index, *, y, y_bar):
    """Put where a value lasted; taken again."""
    return taken(y_bar, v, index)


def _like_first(arguments, literals):
    first = next(iter(arguments.values()))
    return first if isinstance(first, Array) and is_floating(first.dtype) else Unknown()


fresh_.infer(_like_first)
stored_.infer(_like_first)
tangent_like_.infer(_like_first)


# --- shadows of containers, and of what may be an array or a container -----------------------------------------------
@rule(runtime.view_like)
def view_like_(v, *known, y, y_bar):
    """A view of a shadow, or a new one."""
    return None, unview(y_bar, v, known, known)


@view_like_.tangent
def view_like_(v, *known, y, known_dot):
    return view_moved(v, known, known_dot)


@rule(runtime.items_like)
def items_like_(v, *known, y, y_bar):
    """The items of a shadow, or new ones."""
    return None, unview(y_bar, v, known, known)


@items_like_.tangent
def items_like_(v, *known, y, known_dot):
    return items_moved(v, known, known_dot)


@linear(runtime.view_moved, "moved")
def view_moved_(v, known, moved, *, y, y_bar):
    """Seen through a view; put back there."""
    return unview(y_bar, v, known, moved)


@linear(runtime.items_moved, "moved")
def items_moved_(v, known, moved, *, y, y_bar):
    """Seen as items; put back there."""
    return unview(y_bar, v, known, moved)


@linear(runtime.unview, "g")
def unview_(g, v, known, moved, *, y, y_bar):
    """Put back; seen again."""
    return items_moved(v, known, y_bar)


@linear(runtime.part_like, "held")
def part_like_(v, w, held, index, *, y, y_bar):
    """A part of a shadow, or a new one."""
    return unpart_like(y_bar, v, w, held, index)


@linear(runtime.unpart_like, "g")
def unpart_like_(g, v, w, held, index, *, y, y_bar):
    """Put back; taken out again."""
    return runtime.part_like(v, w, y_bar, index)


@linear(runtime.rest_like, "held")
def rest_like_(v, w, held, places, *, y, y_bar):
    """Several parts of a shadow."""
    return untake(y_bar, held, places)


@linear(runtime.frozen, "x")
def frozen_(x, *, y, y_bar):
    """A container as it is."""
    return y_bar


@linear(runtime.held_before, "w")
def held_before_(w, index, *, y, y_bar):
    """A copy of a part."""
    return untake(y_bar, w, index)


@linear(runtime.held_inside, "x")
def held_inside_(x, *, y, y_bar):
    """A copy."""
    return y_bar


@linear(runtime.as_given, "g")
def as_given_(g, e, *, y, y_bar):
    """Taken for what was added; put in its places again."""
    return runtime.given_to(y_bar, g)


@linear(runtime.given_to, "e")
def given_to_(e, g, *, y, y_bar):
    """Put in its places; taken again."""
    return runtime.as_given(y_bar, e)


@linear(runtime.own_adjoint, "held")
def own_adjoint_(held, *known, y, y_bar):
    """What is nobody else's."""
    return like_own(y_bar, y, held, known)


@own_adjoint_.tangent
def own_adjoint_(held, *known, y, held_dot):
    return like_own(held_dot, y, held, known)


@linear(runtime.like_own, "moved")
def like_own_(moved, y, held, known, *, z, z_bar):
    """What is left."""
    return like_own(z_bar, y, held, known)


@linear(runtime.each_once, "x")
def each_once_(x, *, y, y_bar):
    """What a shadow holds, once."""
    return where_first(y_bar, x)


@linear(runtime.where_first, "g")
def where_first_(g, x, *, y, y_bar):
    """What is met first."""
    return where_first(y_bar, x)
