"""Extrema over axes: the cotangent goes to where the extremum is attained, ties share it evenly (PyTorch's ``amax``).

An initial value is one more element, in the dtype of the result: among integers it has no derivative.  Of nan, nan
gets the cotangent; to ``nanmax`` nan is absent.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

import numpy as np

from srcgrad.rules.arguments import Argument
from srcgrad.rules.facts import as_array
from srcgrad.rules.results import reduced
from srcgrad.rules.table import rule
from srcgrad.runtime import if_floating, initial_share, present, rebroadcast, ties, unbroadcast, unreduce


@rule(np.max, np.amax, np.min, np.amin)
def max(a, axis=None, keepdims=False, initial=None, where=True, *, y, y_bar):
    """An extremum: its cotangent goes to where it is attained, ties share."""
    return (
        unreduce(y_bar, a, axis, keepdims) * ties(a, y, axis, initial, where),
        None,
        None,
        unbroadcast(if_floating(y_bar, np.result_type(y)) * initial_share(initial, y, a, axis, where), initial),
    )


def _is_of_float64(argument: Argument) -> bool:
    return argument.dtype == "float64" and bool(argument.rank)


@max.when(a=_is_of_float64, keepdims=True, initial=None, where=True)
def max(a, axis=None, keepdims=False, initial=None, where=True, *, y, y_bar):
    """An extremum that keeps its axes: its cotangent broadcasts to where it is attained."""
    return y_bar * ties(a, y, axis)


@max.tangent
def max(a, axis=None, keepdims=False, initial=None, where=True, *, y, a_dot, initial_dot):
    by_a = np.sum(a_dot * ties(a, y, axis, initial, where), axis=axis, keepdims=keepdims)
    by_initial = rebroadcast(initial_dot * initial_share(initial, y, a, axis, where), y)
    return by_a, if_floating(by_initial, np.result_type(y))


@rule(np.nanmax, np.nanmin)
def nanmax(a, axis=None, keepdims=False, initial=None, where=True, *, y, y_bar):
    """An extremum of the numbers, nan left out: ties share."""
    numbers = present(a, where)
    by_a = unreduce(y_bar, a, axis, keepdims, numbers) * ties(a, y, axis, initial, numbers)
    by_initial = if_floating(y_bar, np.result_type(y)) * initial_share(initial, y, a, axis, numbers)
    return by_a, None, None, unbroadcast(by_initial, initial)


@nanmax.tangent
def nanmax(a, axis=None, keepdims=False, initial=None, where=True, *, y, a_dot, initial_dot):
    numbers = present(a, where)
    by_a = np.sum(a_dot * ties(a, y, axis, initial, numbers), axis=axis, keepdims=keepdims)
    by_initial = rebroadcast(initial_dot * initial_share(initial, y, a, axis, numbers), y)
    return by_a, if_floating(by_initial, np.result_type(y))


@rule(np.ptp)
def ptp(a, axis=None, keepdims=False, *, y, y_bar):
    """The greatest less the smallest."""
    highest = ties(a, np.max(a, axis=axis, keepdims=keepdims), axis)
    lowest = ties(a, np.min(a, axis=axis, keepdims=keepdims), axis)
    return unreduce(y_bar, a, axis, keepdims) * (highest - lowest)


@ptp.tangent
def ptp(a, axis=None, keepdims=False, *, y, a_dot):
    highest = ties(a, np.max(a, axis=axis, keepdims=keepdims), axis)
    lowest = ties(a, np.min(a, axis=axis, keepdims=keepdims), axis)
    return np.sum(a_dot * (highest - lowest), axis=axis, keepdims=keepdims)


def extremum_result(arguments, literals):
    """The fact of an extremum."""
    a = as_array(arguments["a"])
    return reduced(a, a.dtype, literals)


for extremum_ in (max, nanmax, ptp):
    extremum_.infer(extremum_result)
