"""Random programs: their grammar, their judge, their shrinker.

``python -m tests.generator --count 5000 --seed 0`` hunts; ``tests/test_generated.py`` runs the same grammar under
hypothesis.
"""

from __future__ import annotations

from tests.generator.agreement import MODES, SETTINGS, Unsuitable, Verdict, judge
from tests.generator.choices import Choices, DrawnChoices, RandomChoices
from tests.generator.grammar import program
from tests.generator.shrinking import shrink

__all__ = [
    "MODES",
    "SETTINGS",
    "Choices",
    "DrawnChoices",
    "RandomChoices",
    "Unsuitable",
    "Verdict",
    "judge",
    "program",
    "shrink",
]
