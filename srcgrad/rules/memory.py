"""Whose memory a function's result is: its own, or perhaps that of an argument.

Enters: a function and the name it is called by.  Leaves: whether every result is new, whatever the arguments are.  What
is not known to be new may be a view, the argument itself or a container of it: a function that is missing from what is
new costs a copy, and one that the table of effects takes for new and is not would be wrong, so
``tests/analysis/test_memory.py`` holds the results of all samples of the table of rules against their arguments.
"""

from __future__ import annotations

import copy
import sys
from collections.abc import Callable

import numpy as np

from srcgrad import runtime
from srcgrad.language import effects
from srcgrad.rules.table import is_constant, lookup

LIBRARIES = (sys.stdlib_module_names | {"numpy", "scipy"}) - {"__main__"}

#: What is made anew of a container may hold one memory in two places.
KEEPS_ALIASES = frozenset({copy.deepcopy})
#: Statements of emitted code: which argument a function of the runtime changes, and which have tangents of their own.
CHANGES: dict[Callable[..., object], tuple[int, tuple[int, ...]]] = {
    runtime.unrest: (0, (0, 2)),
    runtime.put_back: (0, (0, 1)),
}
#: Functions of emitted code that hand on memory, or lists, of what they are given; so do their tangents.
MIRRORS = frozenset(
    {
        runtime.view_like, runtime.view_moved, runtime.items_like, runtime.items_moved, runtime.part_like,
        runtime.rest_like, runtime.frozen, runtime.own_adjoint, runtime.tangent_like,
    }
)  # fmt: skip

#: Functions whose result is a view whatever the layout of the array is.
VIEWS = frozenset(
    {
        np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze, np.flip, np.fliplr, np.flipud, np.diagonal,
        np.matrix_transpose, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.rollaxis, np.rot90,
    }
)  # fmt: skip


def home_of(function: object) -> str:
    """The package that a function comes from, or the class of the object that it is a method of."""
    owner = getattr(function, "__self__", None)
    module = getattr(function, "__module__", None) or getattr(type(owner), "__module__", None) or ""
    return str(module).split(".")[0].lstrip("_")


def makes_new(function: object, name: str | None = None) -> bool:
    """Whether a function always returns memory of its own, or a number; ``name`` is that of the method if it is one.

    >>> makes_new(np.exp), makes_new(np.ravel), makes_new(np.conjugate, "conj")
    (True, False, False)
    """
    if function is None:
        return False
    try:
        if effects.is_of_emitted(function):
            return effects.of_function(function).returns == "fresh"
        if name is not None and not _is_new_method(name):
            return False
        if getattr(function, "__module__", "") == "srcgrad.runtime.scipy.sparse":
            return getattr(function, "__name__", "") != "turned"  # products
        if effects.of_function(function).returns != "fresh":
            return False
        if isinstance(function, type) and issubclass(function, np.generic):
            return False  # ``np.float64(x)`` of an array may be that array
        if home_of(function) not in LIBRARIES:
            return False  # what a user's function with a rule returns may be what it was given
        return lookup(function) is not None or is_constant(function)
    except TypeError:
        return False


def _is_new_method(name: str) -> bool:
    """Whether a method makes new memory: of an array, if arrays have it, else of whatever has one of that name.

    What the table does not list is a method of another class: the function that it means answers for it.
    """
    made = effects.member(np.ndarray, name)
    made = made if made.is_known else effects.method(name)
    return made.returns == "fresh" or not made.is_known
