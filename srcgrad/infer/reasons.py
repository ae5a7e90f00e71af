"""Why something is not known: what is said where a program is refused for it.

Enters: an attribute, a function, an object.  Leaves: a ``Reason``, which is kept beside an unknown value, or beside an
analysis that is given up.

>>> reaching("locals()").message
"locals() reaches names and objects behind the compiler's back"
"""

from __future__ import annotations

from dataclasses import dataclass
from types import FunctionType
from typing import Any

import gast
import numpy as np

from srcgrad.infer.values import Exact, Value
from srcgrad.runtime.exact import named, why_refused

#: Modules of NumPy whose functions make arrays of a class that decides what operators mean, and such functions.
_MAKING = ("numpy.ma", "numpy.matlib", "numpy.rec", "numpy.char", "numpy.matrixlib")
_MAKERS = (np.matrix, np.asmatrix, np.bmat)
_PREDICATES = frozenset("isMaskedArray isMA isarray is_masked".split())


@dataclass(frozen=True)
class Reason:
    """The code of a refusal, a reason, what is wrong at its place, and what to do instead."""

    code: str
    message: str
    label: str | None = None
    hint: str | None = None


@dataclass(frozen=True)
class Place:
    """A statement of a function of the user's, and the function of a library that it calls, as far as that matters."""

    owner: FunctionType
    node: gast.AST
    called: FunctionType | None = None


#: Of an object of a library that may give what it is indexed by.
INDEXED = Reason(
    "E0209",
    "this object may hold the array that it is indexed by",
    "what it gives is not known",
    "index the array itself",
)


def reaching(name: str) -> Reason:
    """Of what hands out frames, cells, namespaces."""
    if name == "__dict__":
        message = "__dict__ reaches the fields of an object behind the compiler's back"
        return Reason("E0109", message, "this cannot be followed", "name the fields that you read")
    message = f"{name} reaches names and objects behind the compiler's back"
    return Reason("E0109", message, "this cannot be followed", "name what you read, and pass it as an argument")


def replacing(name: str) -> Reason:
    """Of a store by which an object becomes another one."""
    return Reason(
        "E0109", f"a store to {name} makes another object of one that is known", "this store", "make a new object"
    )


def stored_global(name: str) -> Reason:
    """Of a global that the program stores to."""
    return Reason("E0108", f"the global {name!r} is stored to, which cannot be reversed", "it is read here",
                  "return the new value as a result")  # fmt: skip


def of_class(value: Any) -> Reason | None:
    """Why an object is not computed with: its class decides what operators mean."""
    refused = why_refused(value)
    return None if refused is None else Reason("E0209", f"this is {refused[0]}", "it is read here", refused[1])


def of_maker(function: Any) -> Reason | None:
    """Of a function that makes what is not computed with."""
    is_maker = any(function is each for each in _MAKERS) or str(getattr(function, "__module__", "")).startswith(_MAKING)
    return Reason(
        "E0209",
        f"{function.__name__} makes an array of a class that decides what operators mean: it has no derivative",
        hint="make a plain array: np.asarray(...), and masks with np.where",
    ) if is_maker and function.__name__ not in _PREDICATES else None  # fmt: skip


def reason_of(value: Value) -> Reason | None:
    """Why an operand is not computed with."""
    found = (atom.value for atom in value.atoms if isinstance(atom, Exact) and not callable(atom.value))
    return value.why or next(filter(None, map(of_class, found)), None)


IMPORT = Reason(
    "E0107", "this import cannot be differentiated",
    "it fails, is relative, or binds a name that is bound elsewhere too",
    "import at the top of the module",
)
STORED = Reason(
    "E0106", "an attribute of a class inside a differentiated function is stored to",
    "each call makes another class", "keep it in the objects, or define the class in the module",
)
NOT_HANDED = Reason(
    "E0106", "an object of a class inside a differentiated function is made where its methods have no variables",
    "the class is called by another name than its own, or where what its methods read has other values",
    "call it by its name, in the function or in its methods",
)
NOT_FOLLOWED = Reason(
    "E0206",
    "this call is not followed with what it is given",
    hint="call it in another form, or write out what it does",
)
TOO_LONG = Reason(
    "E0208", "what this function and the functions that it calls do takes too long to work out",
    hint="split it, or write a rule for a part of it: @srcgrad.rule(function)",
)
TOO_DEEP = Reason(
    "E0208",
    "calls are nested too deep in each other to be followed",
    hint="write a rule for one: @srcgrad.rule(function)",
)
TOO_MANY = Reason("E0208", "the objects that this function reads, and what they hold, are too many to look at",
                  hint="pass what it needs of them, as arrays")  # fmt: skip


def otherwise(code: str) -> str:
    """What to do where no more is known than the code of the refusal."""
    return (
        f"write it in another form (srcgrad why {code}), compute it outside, or write a rule: @srcgrad.rule(function)"
    )


def hidden(value: Any) -> Reason:
    """Of an object that does not tell what it holds."""
    message = f"what an object of class {named(type(value))} holds is not known"
    return Reason("E0210", message, "it is read here", "pass what is needed of it, as numbers and arrays")
