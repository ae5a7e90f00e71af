"""Models: what functions of the standard library do that are compositions of Python, as Python.

Enters: nothing.  Leaves: ``MODELS``, from a function or class to a function that does the same with the same arguments,
and ``KINDS``, the class of the object that a generator of a model stands for.  The abstract interpreter enters a model
as it enters a function of the user's, so that what is called, kept and changed on the way is known.  Hypothesis
compares each with its original.

>>> import itertools
>>> list(MODELS[itertools.accumulate]([1, 2, 3])), KINDS["accumulated"].__name__
([1, 3, 6], 'accumulate')
"""

from __future__ import annotations

from srcgrad.language.models import containers, folds, iterators, ordered, sources
from srcgrad.language.models.table import HOME, KINDS, MODELS, is_of_model

__all__ = ["HOME", "KINDS", "MODELS", "containers", "folds", "is_of_model", "iterators", "ordered", "sources"]
