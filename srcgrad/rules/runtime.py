"""Rules of the functions that emitted code calls, so that a derivative can be differentiated again.

Transposes come in pairs that transpose into each other: ``unbroadcast`` and ``rebroadcast``, ``unreduce`` and
``np.sum``, ``unmatmul_left`` and ``unmatmul_right``.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad import runtime
from srcgrad.rules.facts import Array, Unknown, as_array, is_discrete, is_floating
from srcgrad.rules.table import linear, rule
from srcgrad.runtime import (
    if_defined,
    pack_like,
    rearray,
    rebroadcast,
    retake,
    spread,
    stored,
    total,
    unarray,
    unbroadcast,
    ungather,
    unpack_like,
    untake,
    where_defined,
)


def _like(name: str):
    def infer(arguments, literals):
        return as_array(arguments[name])

    return infer


# --- broadcasting and reductions -------------------------------------------------------------------------------------
@linear(runtime.as_stored, "g")
def as_stored_(g, e, *, y, y_bar):
    """Summed down to what was stored; back up again."""
    return rebroadcast(np.asarray(stored(y_bar, g)), g)


@linear(runtime.or_zeros, "seed")
def or_zeros_(seed, x, *, y, y_bar):
    """A seed as it is."""
    return y_bar


@or_zeros_.infer
def _seed_of(arguments, literals):
    """The form of what it is a seed of, in floating numbers."""
    fact = arguments["x"]
    if not isinstance(fact, Array):
        return Unknown()
    dtype = "float64" if is_discrete(fact.dtype) else fact.dtype if is_floating(fact.dtype) else None
    return Array(fact.shape, dtype, fact.scalar)


@linear(runtime.unbroadcast, "g")
def unbroadcast_(g, like, *, y, y_bar):
    """Summed down; back up again."""
    return rebroadcast(y_bar, g)


@linear(runtime.rebroadcast, "g")
def rebroadcast_(g, like, *, y, y_bar):
    """Repeated up; down again."""
    return unbroadcast(y_bar, g)


@linear(runtime.where_nonzero, "value")
def where_nonzero_(seed, value, *, y, y_bar):
    """Zero where the seed is and the value undefined; the cotangent too."""
    return unbroadcast(where_defined(seed, value, y_bar), value)


@linear(runtime.where_defined, "value")
def where_defined_(seed, term, value, *, y, y_bar):
    """Zero where the seed is and the term undefined; the cotangent too."""
    return unbroadcast(where_defined(seed, term, y_bar), value)


@linear(runtime.if_nonzero, "value")
def if_nonzero_(seed, value, *, y, y_bar):
    """Zero if the seed is and the value undefined; the cotangent too."""
    return if_defined(seed, value, y_bar)


@linear(runtime.if_defined, "value")
def if_defined_(seed, term, value, *, y, y_bar):
    """Zero if the seed is and the term undefined; the cotangent too."""
    return if_defined(seed, term, y_bar)


for each in (where_nonzero_, where_defined_, if_nonzero_, if_defined_):
    each.infer(_like("value"))
unbroadcast_.infer(_like("like"))
rebroadcast_.infer(_like("like"))


# --- products --------------------------------------------------------------------------------------------------------
# --- differences ------------------------------------------------------------------------------------------------------
# --- containers ------------------------------------------------------------------------------------------------------
@rule(runtime.add)
def add_(a, b, *, y, y_bar):
    """The sum of two cotangents: both receive it."""
    return y_bar, y_bar


@add_.tangent
def add_(a, b, *, y, a_dot, b_dot):
    return a_dot, b_dot


add_.sums = runtime.add


@linear(runtime.as_list, "x")
def as_list_(x, *, y, y_bar):
    """A list, of which the cotangent of an array is made again."""
    return runtime.pack_like(y_bar, x)


@linear(runtime.own, "x", runtime.kept, runtime.snapshot)
def own_(x, *, y, y_bar):
    """A copy."""
    return y_bar


@linear(runtime.unshared, "x")
def unshared_(x, *, y, y_bar):
    """A copy whose parts are their own."""
    return y_bar


@unshared_.infer
def _unshared(arguments, literals):
    return arguments["x"]


@linear(runtime.retake, "g")
def retake_(g, index, *, y, y_bar):
    """Taken; put back."""
    return untake(y_bar, g, index)


@rule(runtime.untake)
def untake_(g, like, index, *, y, y_bar):
    """Put back; taken again."""
    return retake(y_bar, index)


@untake_.tangent
def untake_(g, like, index, *, y, g_dot):
    return untake(g_dot, like, index)


@linear(runtime.pack_like, "parts")
def pack_like_(parts, like, *, y, y_bar):
    """Items put together; taken apart again."""
    return unpack_like(y_bar, parts)


@linear(runtime.unpack_like, "g")
def unpack_like_(g, parts, *, y, y_bar):
    """Items taken apart; put together again."""
    return pack_like(y_bar, g)


@linear(runtime.spread, "g")
def spread_(g, items, *, y, y_bar):
    """To every item of a sum; summed again."""
    return total(y_bar, g)


@linear(runtime.total, "items")
def total_(items, like, *, y, y_bar):
    """A sum, repeated up; to every item."""
    return spread(y_bar, items)


@linear(runtime.gather, "items")
def gather_(items, places, *, y, y_bar):
    """Items in an order."""
    return ungather(y_bar, items, places)


@linear(runtime.ungather, "g")
def ungather_(g, items, places, *, y, y_bar):
    """Items put back; taken again."""
    return runtime.gather(y_bar, places)


@linear(runtime.unarray, "g")
def unarray_(g, object, *, y, y_bar):
    """An array taken apart; put together again."""
    return rearray(y_bar, g)


@linear(runtime.rearray, "g")
def rearray_(g, like, *, y, y_bar):
    """An array put together; taken apart again."""
    return unarray(y_bar, g)


@rule(runtime.handed)
def handed_(x, kind, *, y, y_bar):
    """The number itself, of another class."""
    return unbroadcast(y_bar, x)


@handed_.tangent
def handed_(x, kind, *, y, x_dot):
    return x_dot
