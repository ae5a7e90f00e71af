"""What making an object of a class runs.

Enters: a class, what it is called with.  Leaves: whether methods of the user's may run: its own, or of its operands::

    dict(parts)                    of a dict whose keys are texts: nothing is asked for its hash
    np.errstate(under="ignore")    calls nothing where something is rounded to zero
"""

from __future__ import annotations

from collections import deque
from types import FunctionType
from typing import TYPE_CHECKING, Any

import numpy as np

from srcgrad.infer.applying import parts_of
from srcgrad.infer.heap import Contents, Heap
from srcgrad.infer.objects import container, looked_up
from srcgrad.infer.outside import is_of_library
from srcgrad.infer.parameters import Given
from srcgrad.infer.values import Array, At, Exact, Value, are_numbers, of, union

if TYPE_CHECKING:
    from srcgrad.infer.frames import Frame
    from srcgrad.infer.objects import Made
    from srcgrad.ir.regions import Statement

#: What ``np.errstate`` is given where it calls nothing of the user's.
_ERRORS, _ANSWERS = ("all", "divide", "over", "under", "invalid"), ("ignore", "warn", "raise", None)


def calls_nothing(given: Given) -> bool:
    """Whether ``np.errstate`` is given no function that is called at errors."""
    return not given.positional and given.more is None and all(
        word in _ERRORS and not value.is_any and all(map(_is_answer, value.atoms)) for word, value in given.keywords
    )


def _is_answer(atom: Any) -> bool:
    return isinstance(atom, Exact) and type(atom.value) in (str, type(None)) and atom.value in _ANSWERS


def asks_nothing(kind: Any, given: Given, heap: Heap) -> bool:
    """Whether a ``dict`` is made of one whose keys are texts and integers, or ``zip`` and ``enumerate`` go over
    sequences: no method of what these hold runs."""
    atoms = [atom for value in given.positional for atom in value.atoms]
    if given.more is not None or any(value.is_any for value in given.positional):
        return False
    if kind is dict:
        return all(isinstance(a, At) and a.site.kind is dict and heap[a.site].entries is not None for a in atoms)
    return kind in (zip, enumerate) and not given.keywords and all(
        isinstance(a, Array) or isinstance(a, At) and a.site.kind in (list, tuple, deque, range) for a in atoms
    )  # fmt: skip


def starts_itself(kind: type[BaseException]) -> bool:
    """Whether making an exception of a class runs more than what Python's own do, which keep their arguments, or it
    has methods of the user's."""
    own = [base for base in kind.__mro__ if not is_of_library(base)]
    return type(kind) is not type or any(
        isinstance(looked_up(kind, name), FunctionType | staticmethod | classmethod) for name in ("__init__", "__new__")
    ) or any(callable(held) or hasattr(type(held), "__get__") for base in own for name, held in vars(base).items()
             if name not in ("__weakref__", "__dict__"))  # fmt: skip


def places(frame: Frame, statement: Statement, kind: Any, given: Given, heap: Heap) -> Made:
    """``ndindex`` and ``ndenumerate``: tuples of an index for each axis, and elements of an array of numbers."""
    sizes: tuple[Value, ...] | None = given.positional
    arrays = [a for a in given.positional[0].atoms if isinstance(a, Array)] if kind is np.ndenumerate else []
    if arrays:
        rank = arrays[0].rank if len({array.rank for array in arrays}) == 1 else None
        sizes = None if rank is None else (of(int),) * rank
    elif len(given.positional) == 1 and not are_numbers(*given.positional):
        sizes = parts_of(given.positional[0], heap)
    known = Contents(rest=of(int)) if sizes is None else Contents(parts=(of(int),) * len(sizes))
    place, heap = container(frame, statement, heap, tuple, known, "place")
    element = union(*(array.number for array in arrays if array.number is not None))
    return container(frame, statement, heap, kind, Contents(rest=place, fields={"element": element}))
