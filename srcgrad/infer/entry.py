"""Abstraction of the arguments of a call by their kinds: it holds of every call that runs the same program.

Enters: arguments, one per parameter.  Leaves: their values, and what is in them.  A program is compiled once for
arguments of the same kinds: types, dtypes, ranks, the lengths of containers, the keys of dicts, the fields of objects.
So nothing depends on what a number is, or on which arguments share memory: all arrays may overlap, and objects and
containers of one kind may be one and the same.  What lies outside otherwise, in globals and cells, may be what is
passed as well, and is known by its kind too.

>>> assigned = Assigned()
>>> outside = Outside(assigned, print)
>>> of_kind(outside, assigned, 2.0), of_kind(outside, assigned, np.zeros((2, 3)))
(float, float64[2]@ndarray)
>>> one, other = (of_kind(outside, assigned, [value]) for value in (1.0, 2.0))
>>> one == other, outside.contents[next(iter(one.atoms)).site].parts
(True, (float,))
"""

from __future__ import annotations

from collections import deque
from decimal import Decimal
from fractions import Fraction
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from srcgrad.infer.assigned import Assigned
from srcgrad.infer.heap import Contents, Site, joined
from srcgrad.infer.outside import Outside, is_of_library
from srcgrad.infer.values import ANY, SCALARS, Array, Value, at, exact, of
from srcgrad.runtime.objects import fields_of, is_object

#: The memory of all arrays among the arguments, which may overlap.
_MEMORY = Site(np.ndarray, "arguments", "outside")
_DEEPEST = 30  # objects in each other
_SINGLE = (type(None), type(Ellipsis), type(NotImplemented))
#: Classes of objects that hold nothing of the user's, whichever object it is.
_CLOSED = (np.random.Generator, np.random.RandomState, np.dtype, Decimal, Fraction, range, slice)


def of_kind(outside: Outside, assigned: Assigned, value: Any, depth: int = 0) -> Value:
    """What an argument of the same kind may be; the analysis is lost where its class does not tell what it holds, and
    where it holds itself."""
    kind: Any = type(value)
    if kind in _SINGLE or isinstance(value, FunctionType | np.ufunc | BuiltinFunctionType | ModuleType):
        return exact(value)  # a program is compiled for this very function
    if kind in SCALARS or isinstance(value, np.generic):
        return of(kind)

    def inside(held: Any) -> Value:
        return of_kind(outside, assigned, held, depth + 1)

    if depth > _DEEPEST:
        assigned.is_lost = True
        return ANY
    if kind is np.ndarray and value.dtype.kind in "biufcSUmM":
        outside.contents.setdefault(_MEMORY, Contents(single=False))
        outside.objects.setdefault(_MEMORY, value)
        return Value(frozenset((Array(_MEMORY, value.dtype.newbyteorder("=").str, value.ndim),)))
    if kind in (list, tuple, deque):
        parts = tuple(inside(item) for item in value)
        return _held(outside, value, Site(kind, ("argument", parts), "outside"), Contents(single=False, parts=parts))
    if kind is dict and all(type(key) in (str, int) for key in value):
        entries = tuple((key, inside(item)) for key, item in value.items())
        site = Site(kind, ("argument", entries), "outside")
        return _held(outside, value, site, Contents(single=False, entries=entries))
    if is_object(value) and not is_of_library(value) and not assigned.is_open(kind):
        fields = {name: inside(held) for name, held in fields_of(value).items()}
        site = Site(kind, ("argument", tuple(fields.items())), "outside")
        return _held(outside, value, site, Contents(single=False, fields=fields))
    if kind in _CLOSED:
        site = Site(None, ("argument", kind), "outside")
        return _held(outside, value, site, Contents(single=False, rest=at(site), others=at(site)))
    assigned.is_lost = True
    return ANY


def _held(outside: Outside, value: object, site: Site, contents: Contents) -> Value:
    outside.objects.setdefault(site, value)
    before = outside.contents.get(site)
    outside.contents[site] = contents if before is None else joined(before, contents)
    return at(site)
