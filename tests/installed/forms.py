"""The argument lists that functions of other packages are tried with, by name.

>>> arguments("numbers", 2)
(0.43, 0.7)
>>> [np.shape(given) for given in arguments("vector, numbers", 2)]
[(6,), ()]
"""

from __future__ import annotations

from typing import Any

import numpy as np

from tests.installed.entry import numbers, signed


def _number(place: int) -> float:
    return round(0.43 + 0.27 * place, 2)


def _square(place: int) -> np.ndarray:
    """A symmetric positive definite matrix."""
    root = signed(3, 3, seed=place)
    return root @ root.T + 2.0 * np.eye(3)


#: By name: what stands at the first place, and at each later one.
FORMS = {
    "numbers": (_number, _number),
    "vectors": (lambda place: numbers(6, seed=place), lambda place: numbers(6, seed=place)),
    "vector, numbers": (lambda place: numbers(6, seed=place), _number),
    "triples": (lambda place: numbers(3, seed=place), lambda place: numbers(3, seed=place)),
    "quadruples": (lambda place: numbers(4, seed=place), lambda place: numbers(4, seed=place)),
    "rows": (lambda place: numbers(5, 3, seed=place), lambda place: numbers(5, 3, seed=place)),
    "rows, numbers": (lambda place: numbers(5, 3, seed=place), _number),
    "squares": (_square, _square),
}


def arguments(form: str, count: int) -> tuple[Any, ...]:
    """Fresh arguments of a form for ``count`` parameters; raises KeyError where there is no such form."""
    first, later = FORMS[form]
    return tuple((later if place else first)(place) for place in range(count))
