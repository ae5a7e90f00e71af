"""The table of models, which their modules fill.

>>> @models(abs)
... def absolute(x): return -x if x < 0 else x
>>> MODELS.pop(abs)(-2)
2
"""

from __future__ import annotations

from collections.abc import Callable
from types import FunctionType
from typing import Any


class Absent:
    """In place of an argument or item that there is none of; the class itself, which ``is`` can be told of."""


#: How the names of the modules of models begin.
HOME = "srcgrad.language.models."
#: By the function or class of the standard library that a model stands for.
MODELS: dict[Any, Callable[..., Any]] = {}
#: By a class of the standard library, a class whose objects do the same; their fields are those of its objects.
CLASSES: dict[type, type] = {}
#: The other way round.
ORIGINALS: dict[type, type] = {}
#: By the name of a generator function, of which class its generators are taken to be.
KINDS: dict[str, type] = {}

#: By the module and the name of a function that a model makes, of which class it is, as other functions are not.
MADE: dict[tuple[str, str], type] = {}


def models(*originals: Any) -> Callable[[Any], Any]:
    """The decorated function does what these do."""

    def noted(model: Any) -> Any:
        MODELS.update(dict.fromkeys(originals, model))
        return model

    return noted


def stands_for(kind: type) -> Callable[[Any], Any]:
    """The generators of the decorated function, or the objects of the decorated class, are taken for those of a class.
    """

    def noted(made: Any) -> Any:
        if isinstance(made, type):
            CLASSES[kind], ORIGINALS[made] = made, kind
        else:
            assert made.__name__ not in KINDS
            KINDS[made.__name__] = kind
        return made

    return noted


def perhaps() -> bool:
    """Whether something happens that a program does not decide: the analysis follows both, as of every text."""
    return bool(f"{1}")


def unknown() -> Any:
    """What no model says: the analysis gives up."""
    return eval("None")


def is_of_model(found: object) -> bool:
    """Whether an object is a function that a model consists of."""
    return isinstance(found, FunctionType) and str(found.__module__).startswith(HOME)
