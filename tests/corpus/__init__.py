"""Ordinary NumPy programs with example arguments: what every mode of the compiler is judged on.

Nothing in these modules knows about derivatives.  ``CASES`` lists every (function, arguments) pair by theme, in the
order of the text.
"""

from __future__ import annotations

import importlib

from tests.corpus.example import Case, collected

THEMES = (
    "straight",
    "branches",
    "loops",
    "exits",
    "calls",
    "arrays",
    "indexing",
    "names",
    "containers",
    "containers_changed",
    "objects",
    "comprehensions",
    "closures",
    "higher_order",
    "control",
    "scalar_functions",
    "linear_algebra",
    "dtypes",
    "complex_numbers",
    "kernels",
    "survive",
    "directed",
    "mutation",
    "aliasing",
)

for _theme in THEMES:
    importlib.import_module(f"tests.corpus.{_theme}")

#: Programs that are refused; and those that are only where nothing is said of the arguments.
REFUSED = frozenset("choose_grad frozen_dataclass methodcall with_lock".split())
REFUSED_OF_DATA = frozenset(
    "dict_views lru_cached outputs_of_other_functions partial_outside put_place_and_copy shuffled_rows store_of_lists"
    .split()
)
#: Those of which the text of the derivative is not differentiated again: of keys that are computed, and of a tangent
#: that is bound in a last block.
REFUSED_TWICE = frozenset({"dicts_of_computed_keys", "try_else_finally"})
CASES: tuple[Case, ...] = tuple(case for case in collected() if case.function.__name__ not in REFUSED)
REFUSED_CASES: tuple[Case, ...] = tuple(case for case in collected() if case.function.__name__ in REFUSED)
BY_NAME: dict[str, Case] = {case.name: case for case in CASES}

_seen: set[object] = set()
# The first point of each function.
FIRST: tuple[Case, ...] = tuple(case for case in CASES if not (case.function in _seen or _seen.add(case.function)))
# Those of them that are written where nothing is said of the arguments.
OF_DATA: tuple[Case, ...] = tuple(case for case in FIRST if case.function.__name__ not in REFUSED_OF_DATA)

__all__ = [
    "BY_NAME", "CASES", "FIRST", "OF_DATA", "REFUSED_CASES", "REFUSED_OF_DATA", "REFUSED_TWICE", "THEMES", "Case",
]  # fmt: skip
