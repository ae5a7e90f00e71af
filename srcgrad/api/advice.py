"""What may help with a failure: hints on the arguments of a call, and beside exceptions of Python's and NumPy's.

Enters: what was asked for, or an exception that emitted code raised and the arguments of the call.  Leaves: the text of
a hint; ``advise`` adds it to the exception as a note.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Collection, Iterable, Mapping
from inspect import Signature
from types import ModuleType
from typing import Any

import numpy as np

_SHOWN = 8  # of the keys of a dict


def close_to(name: str, known: Iterable[str]) -> str | None:
    """The name that was meant, if one of those known is close."""
    known = list(known)
    lower = {one.lower(): one for one in reversed(known)}
    found = difflib.get_close_matches(name, known, 1) or difflib.get_close_matches(name.lower(), lower, 1)
    return lower.get(found[0], found[0]) if found else None


def misfit(name: str, why: str, signature: Signature, keywords: Collection[str]) -> tuple[str, str]:
    """Reason and hint where a call of ``name`` does not fit its parameters; ``why`` as ``inspect`` says it."""
    known = list(signature.parameters)
    hint = f"its parameters are {signature.replace(return_annotation=Signature.empty)}"
    wrong = next((word for word in keywords if word not in known), None)
    if wrong is not None and repr(wrong) in why and (close := close_to(wrong, known)) is not None:
        hint = f"did you mean {close!r}? {hint}"
    return f"{name}(): {why}", hint


def advise(failure: BaseException, given: Mapping[str, Any]) -> None:
    """Add one note to what emitted code raised for the arguments ``given``, where something is known that may help."""
    hint = _hint(failure, given)
    notes = getattr(failure, "__notes__", [])
    if hint is not None and not any(note.startswith("hint: ") for note in notes):
        failure.add_note(f"hint: {hint}")


def _hint(failure: BaseException, given: Mapping[str, Any]) -> str | None:
    match failure:
        case AttributeError(name=str() as name, obj=owner) if owner is not None:
            if (close := close_to(name, (one for one in dir(owner) if one[0] != "_" or name[0] == "_"))) is not None:
                return f"did you mean {_spelled(owner)}{close}?"
        case KeyError(args=(key,)):
            for name, value in given.items():
                if isinstance(value, dict) and key not in value:
                    keys = ", ".join(map(repr, list(value)[:_SHOWN])) + (", …" if len(value) > _SHOWN else "")
                    return f"the keys of {name} are {keys}" if value else f"{name} is empty"
    if isinstance(failure, TypeError | AttributeError):
        for name, value in given.items():
            if isinstance(value, list | tuple) and value and all(isinstance(v, int | float | complex) for v in value):
                return f"{name} is a {type(value).__name__}; where an array is meant, pass np.array({name})"
    if isinstance(failure, TypeError):
        found = re.search(r"\bmath\.(\w+)\(", " ".join(getattr(failure, "__notes__", [])))
        if found is not None and isinstance(getattr(np, found[1], None), np.ufunc):
            return f"functions of math take one number; np.{found[1]} takes arrays"
    return None


def _spelled(owner: object) -> str:
    if isinstance(owner, ModuleType):
        return re.sub(r"^numpy\b", "np", owner.__name__) + "."
    return "." if not isinstance(owner, type) else f"{owner.__name__}."
