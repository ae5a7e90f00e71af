"""What a program that was wrong once is asked: every mode, without one option of the compiler after the other."""

from __future__ import annotations

import textwrap

from srcgrad.fuzz import THOROUGH, Check, Plan, agree

#: A joint program and a pair are of one road: options are taken from the pair.
_ONCE = tuple(check for check in THOROUGH.checks if check.mode != "joint" or not check.changed)
FIRST_ORDER = Plan(tuple(check for check in _ONCE if check.mode in ("joint", "pair", "forward")))
#: Second order is what a program of many branches and exits fails in: without every option there as well.
EVERY = Plan(
    _ONCE
    + tuple(Check("second", (option,)) for option in ("specialise", "optimise"))
    + tuple(Check("reverse over reverse", (option,)) for option in ("specialise", "optimise"))
)


def in_every_mode(text: str) -> None:
    agree(laid_out(text), EVERY)


def in_the_first_order(text: str) -> None:
    agree(laid_out(text), FIRST_ORDER)


def laid_out(text: str) -> str:
    """The module of a program that is written among others."""
    return "import numpy as np\n\n\n" + textwrap.dedent(text).lstrip()
