"""Elements in order: a permutation, which the values decide and which is constant between ties.

Equal elements keep their old order, as in PyTorch's stable sort.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad.rules.facts import Array, as_array
from srcgrad.rules.results import strong
from srcgrad.rules.table import rule
from srcgrad.runtime import arranging, permute_along, reastype, sorting, unpermute_along


@rule(np.sort)
def sort(a, axis=-1, order=None, *, y, y_bar):
    """Elements in order."""
    return unpermute_along(y_bar, a, sorting(a, y, axis), axis)


@sort.tangent
def sort(a, axis=-1, order=None, *, y, a_dot):
    return permute_along(a_dot, sorting(a, y, axis), axis)


sort.accept(ignored=("kind", "stable"), allowed={"order": (None,)})


@rule(np.partition)
def partition(a, kth, axis=-1, order=None, *, y, y_bar):
    """Elements on their side of the k-th one."""
    return unpermute_along(y_bar, a, arranging(a, y, axis), axis)


@partition.tangent
def partition(a, kth, axis=-1, order=None, *, y, a_dot):
    return permute_along(a_dot, arranging(a, y, axis), axis)


partition.accept(ignored=("kind",), allowed={"order": (None,)})


def sorted_result(arguments, literals):
    """The fact of the same elements in another order."""
    a = as_array(arguments["a"])
    if "axis" not in literals:
        return Array(None, strong(a.dtype))
    return Array(a.shape if literals["axis"] is not None else (None,), strong(a.dtype))


sort.infer(sorted_result)
partition.infer(sorted_result)


@rule(np.sort_complex)
def sort_complex(a, *, y, y_bar):
    """Complex numbers in order of their real parts, then of their imaginary ones."""
    return unpermute_along(y_bar, a, sorting(a, y, -1), -1)


@sort_complex.tangent
def sort_complex(a, *, y, a_dot):
    return reastype(permute_along(a_dot, sorting(a, y, -1), -1), y)
