"""Random programs: written, judged against numbers, shrunk (``srcgrad fuzz``)."""

from __future__ import annotations

from srcgrad.fuzz.agreement import THOROUGH, Check, Outcome, Plan, agree, judge, usual
from srcgrad.fuzz.choices import Choices, RandomChoices
from srcgrad.fuzz.grammar import FUNCTIONAL, WHOLE, Program, program
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
