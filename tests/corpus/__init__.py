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

CASES: tuple[Case, ...] = collected()
BY_NAME: dict[str, Case] = {case.name: case for case in CASES}

_seen: set[object] = set()
# The first point of each function.
FIRST: tuple[Case, ...] = tuple(case for case in CASES if not (case.function in _seen or _seen.add(case.function)))

__all__ = ["BY_NAME", "CASES", "FIRST", "THEMES", "Case"]
