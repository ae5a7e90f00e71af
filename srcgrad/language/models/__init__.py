"""Models: what functions of the standard library do that are compositions of Python, as Python.

Enters: nothing.  Leaves: ``MODELS``, from a function or class to a function that does the same with the same arguments,
``CLASSES``, from a class to one whose objects do the same, and ``KINDS``, the class of the object that a generator of a
model stands for.  The abstract interpreter enters a model
as it enters a function of the user's, so that what is called, kept and changed on the way is known.  Hypothesis
compares each with its original.

>>> import itertools
>>> list(MODELS[itertools.accumulate]([1, 2, 3])), KINDS["accumulated"].__name__
([1, 3, 6], 'accumulate')
"""

from __future__ import annotations

from types import FunctionType

from srcgrad.language.models import (
    callables,
    containers,
    contexts,
    counting,
    derivatives,
    elementwise,
    folds,
    iterators,
    memory_order,
    object_sets,
    ordered,
    ranks,
    sources,
)
from srcgrad.language.models.contexts import PASSING
from srcgrad.language.models.table import CLASSES, HOME, KINDS, MADE, MODELS, ORIGINALS, is_of_model

#: The classes of functions that programs make, of which there may be other objects, too.
FUNCTIONS = (FunctionType, *dict.fromkeys(MADE.values()))

__all__ = [
    "CLASSES", "FUNCTIONS", "HOME", "KINDS", "MADE", "MODELS", "ORIGINALS", "PASSING", "callables", "containers",
    "contexts", "counting", "derivatives", "elementwise", "folds", "is_of_model", "iterators", "memory_order",
    "object_sets", "ordered", "ranks", "sources",
]  # fmt: skip
