"""What a program that was wrong once is asked: by day the telling modes; at night every mode, without one option of the
compiler after the other.
"""

from __future__ import annotations

import textwrap

from srcgrad.fuzz import THOROUGH, Check, Plan, agree, judge

#: A joint program and a pair are of one road: options are taken from the pair.
_ONCE = tuple(check for check in THOROUGH.checks if check.mode != "joint" or not check.changed)
FIRST_ORDER = Plan(tuple(check for check in _ONCE if check.mode in ("joint", "pair", "forward")))
#: Second order is what a program of many branches and exits fails in: without every option there as well.
EVERY = Plan(
    _ONCE
    + tuple(Check("second", (option,)) for option in ("specialise", "optimise"))
    + tuple(Check("reverse over reverse", (option,)) for option in ("specialise", "optimise"))
)


#: By day: a pair, also where nothing is known, forward, second order, eagerly; a program that was wrong when it was
#: differentiated twice is asked the second order both ways instead.
TELLING = Plan((Check("pair"), Check("pair", ("specialise",)), Check("forward"), Check("second"), Check("eager")))
TWICE = Plan((Check("pair"), Check("second"), Check("reverse over reverse")))
TELLING_FIRST_ORDER = Plan((Check("pair"), Check("pair", ("specialise",)), Check("forward")))


class Asking:
    """``ask(text)``: every mode agrees with numbers on a program that was wrong once, by day the telling ones."""

    def __init__(self, every: bool) -> None:
        self.every = every

    def __call__(self, text: str) -> None:
        agree(laid_out(text), EVERY if self.every else TELLING)

    def refused(self, text: str, words: str) -> None:
        """Of a program that is refused at first order, in these words, and right in every mode that takes it."""
        refused(laid_out(text), words, EVERY if self.every else TELLING)

    def twice(self, text: str) -> None:
        """Of a program that was wrong at second order."""
        agree(laid_out(text), EVERY if self.every else TWICE)

    def first_order(self, text: str) -> None:
        """Of a program that has no second order, or takes long there."""
        agree(laid_out(text), FIRST_ORDER if self.every else TELLING_FIRST_ORDER)


def refused(text: str, words: str, plan: Plan) -> None:
    """Every mode agrees with numbers on the program, or refuses it in these words."""
    outcome = judge(text, plan)
    assert outcome.kind == "refused", f"{outcome}\n{text}"
    assert all(words in reason for *_, reason in outcome.refusals), outcome.refusals


def laid_out(text: str) -> str:
    """The module of a program that is written among others."""
    return "import numpy as np\n\n\n" + textwrap.dedent(text).lstrip()
