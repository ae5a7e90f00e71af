"""Whether a value can carry a derivative, by its class, dtype or what it holds.

Enters: what a value may be, and the facts of the program.  Leaves: whether any of its objects has a float in it::

    x @ w        float64[1]     yes
    x.shape      (int, int)     no
    {"k": x}     dict           yes, since x does
"""

from __future__ import annotations

import operator
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from srcgrad.infer.facts import Facts
from srcgrad.infer.heap import Site
from srcgrad.infer.objects import CONTAINERS
from srcgrad.infer.sparse import is_matrix, is_weighed
from srcgrad.infer.values import Array, At, Bound, Exact, Of, Value
from srcgrad.ir import operations as ir
from srcgrad.ir.regions import operands_of
from srcgrad.rules.table import is_constant
from srcgrad.specialise.captures import is_tuple
from srcgrad.specialise.functions import function_at

#: Classes whose objects hold no number that may vary.
_PLAIN = (slice, range, np.dtype, FunctionType, BuiltinFunctionType, ModuleType, type, BaseException)
#: Classes, and None of data, whose comparisons give truth values, or arrays of such.
_COMPARED = (None, *CONTAINERS, slice, range)
#: Constant functions of numbers that put dicts and sets together: what they give holds what these hold.
MERGING = (operator.and_, operator.or_, operator.xor)


def carries(facts: Facts, value: Value, depth: int = 0) -> bool:
    """Whether a value may carry a derivative, itself or in what it holds."""
    return value.is_any or any(_carries(facts, atom, depth) for atom in value.atoms)


def _carries(facts: Facts, atom: Any, depth: int) -> bool:
    match atom:
        case Exact():
            return False
        case Of(kind=kind):
            return issubclass(kind, float | complex | np.inexact)
        case Array():
            return atom.dtype is None or atom.dtype.kind in "fcO"
        case At(site=site) if is_matrix(atom) or is_weighed(atom):
            return True  # so that it is a name, which is refused where it varies
        case At(site=site) if site.kind in _PLAIN and not _is_tuple(facts, site):
            return False
        case At(site=site) if site.kind is not None and depth < 4 and (
            not facts.is_seen(site) or issubclass(site.kind, BaseException)  # once raised, it is not read
        ):
            contents = facts.contents.get(site)
            return contents is None or any(carries(facts, held, depth + 1) for held in contents.values())
        case Bound(receiver=receiver):
            return carries(facts, receiver, depth + 1)
    return True


def _is_tuple(facts: Facts, site: Site) -> bool:
    """Whether a site is a function that carries what it captured."""
    return site.kind is FunctionType and isinstance(site.origin, tuple) and is_tuple(facts, function_at(At(site)))


def gives_no_number(facts: Facts, made: ir.Operation, value_of: Any) -> bool:
    """Whether a result has no derivative, whatever it is: of a comparison of what is no object, or of a constant
    function that is given none and no container of what varies."""
    if not isinstance(made, ir.Compare | ir.Call):
        return False
    given = [value_of(operand) for operand in operands_of(made)]
    if isinstance(made, ir.Compare):
        return not any(value.is_any for value in given) and all(
            not isinstance(a, At) or a.site.kind in _COMPARED for value in given for a in value.atoms
        )
    if not value_of(made.function).consists_of(
        lambda a: isinstance(a, Exact) and is_constant(a.value) and a.value is not slice
    ):
        return False
    may_merge = any(isinstance(a, Exact) and a.value in MERGING for a in value_of(made.function).atoms)
    return not any(
        v.is_any or any(isinstance(a, At) and (may_merge or a.site.kind is not None) for a in v.atoms)
        and carries(facts, v) for v in given[1:]
    )  # fmt: skip
