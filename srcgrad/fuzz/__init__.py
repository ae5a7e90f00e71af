"""Random programs: written, judged against numbers, shrunk (``srcgrad fuzz``)."""

from __future__ import annotations

from srcgrad.fuzz.agreement import Outcome, agree, judge
from srcgrad.fuzz.choices import Choices, RandomChoices
from srcgrad.fuzz.grammar import FUNCTIONAL, WHOLE, Program, program
from srcgrad.fuzz.plans import THOROUGH, Check, Plan, usual
from srcgrad.fuzz.shrinking import shrink

__all__ = [
    "FUNCTIONAL",
    "THOROUGH",
    "WHOLE",
    "Check",
    "Choices",
    "Outcome",
    "Plan",
    "Program",
    "RandomChoices",
    "agree",
    "judge",
    "program",
    "shrink",
    "usual",
]
