"""Random programs in the tests: drawn by hypothesis, judged with whole Jacobians.

The programs are those of ``srcgrad.fuzz``; ``program`` here writes what only binds names, ``srcgrad fuzz`` hunts with
everything.
"""

from __future__ import annotations

from srcgrad.fuzz import FUNCTIONAL, Choices, RandomChoices, shrink
from srcgrad.fuzz import program as write
from tests.generator.agreement import MODES, SETTINGS, Unsuitable, Verdict, judge
from tests.generator.choices import DrawnChoices


def program(choices: Choices) -> str:
    """The text of a program without stores, named views, changed containers and objects."""
    return write(choices, FUNCTIONAL, longest=12).text


def regression(text: str, verdict: Verdict, origin: str) -> str:
    """A test to paste into tests/test_generated.py."""
    name = "".join(c if c.isalnum() else "_" for c in origin)
    body = "".join(f"    {line}".rstrip() + "\n" for line in text.rstrip().splitlines())
    return f'def test_{name}():\n    """{verdict.kind} in {verdict.mode}."""\n    agree("""\n{body}    """)\n'


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
    "regression",
    "shrink",
]
