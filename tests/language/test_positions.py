"""What updates its object is differentiated, or refused with a place, wherever it stands: never a wrong number."""

from __future__ import annotations

import pytest

from srcgrad.fuzz.agreement import judge
from srcgrad.fuzz.plans import Check, Plan
from srcgrad.language import effects
from tests.language.positions import OBJECTS, POSITIONS, programs

_PLAN = Plan((Check("pair"), Check("forward")))
_SECOND = Plan((*_PLAN.checks, Check("joint"), Check("second"), Check("eager")))
_CASES = list(programs())


def findings(cases: list[tuple[str, str]], plan: Plan) -> list[str]:
    outcomes = [(name, judge(text, plan)) for name, text in cases]
    assert sum(outcome.kind == "agrees" for _, outcome in outcomes) > len(cases) // 5
    return [f"{name}: {outcome}" for name, outcome in outcomes if outcome.is_finding]


def test_no_update_is_wrong_anywhere() -> None:
    stride = 127  # of no common factor with the number of positions: each of them, and each object, is met
    chosen = _CASES[::stride]
    assert {name.partition(":")[0] for name, _ in chosen} == set(OBJECTS)
    found = findings(chosen, _PLAN)
    assert not found, "\n".join(found)


@pytest.mark.nightly
@pytest.mark.parametrize("part", range(20))
def test_no_update_is_wrong_in_any_position(part: int) -> None:
    found = findings(_CASES[part::20], _SECOND)
    assert not found, "\n".join(found)


def test_every_updating_method_has_a_program() -> None:
    texts = " ".join(updates for _, _, updates in OBJECTS.values())
    missing = {name for name in effects.updating() if not name.startswith("_") and f".{name}(" not in texts}
    assert missing <= {"seed", "set_state", "truncate", "write", "writelines"}, missing
    assert len(POSITIONS) == 20
