"""Which loops go backwards over a tape instead of taking its items off."""

from __future__ import annotations

import pytest

from srcgrad.optimize import optimize
from tests.optimize.running import body, outcome, program
from tests.optimize.test_fold import function

BACKWARDS = {
    "numbers": """
        tape = []
        for i in range(3):
            tape.append((s, u))
            s = s * u
        for j in reversed(range(3)):
            s, u = tape.pop()
            x[0] = x[0] + s * u
        return s, x
        """,
}
TAKEN_OFF = {
    "arrays, which are let go of": """
        tape = []
        for i in range(3):
            tape.append(x)
            x = x * u
        for j in reversed(range(3)):
            x = tape.pop()
            y += x
        return y
        """,
    "a part of the tape in each round": """
        tape = []
        for k in range(2):
            for i in range(3):
                tape.append(s)
                s = s * u
        for k in range(2):
            for j in reversed(range(3)):
                s = tape.pop()
                x[k] += s
        return x
        """,
    "the number of the pass is read": """
        tape = []
        for i in range(3):
            tape.append(s)
            s = s * u
        for j in reversed(range(3)):
            s = tape.pop()
            x[j] += s
        return x
        """,
    "passes that end before": """
        tape = []
        for i in range(3):
            if s > 0.1:
                continue
            tape.append(s)
            s = s + 0.2
        for j in reversed(range(len(tape))):
            s = tape.pop()
            x[0] += s
        return x
        """,
    "fewer passes": """
        tape = []
        for i in range(3):
            tape.append(s)
            s = s * u
        for j in reversed(range(2)):
            s = tape.pop()
            x[0] += s
        return x, s
        """,
    "read once more": """
        tape = []
        for i in range(3):
            tape.append(s)
            s = s * u
        for j in reversed(range(3)):
            s = tape.pop()
            x[0] += s
        return x, s, len(tape)
        """,
}


@pytest.mark.parametrize("name", [*BACKWARDS, *TAKEN_OFF])
def test_tapes_of_numbers_are_read_backwards(name: str) -> None:
    plain = program(function((BACKWARDS | TAKEN_OFF)[name]))
    made = optimize(plain, frozenset(), numbers=frozenset({"s", "u"}))
    assert ("reversed(tape)" in body(made)) == (name in BACKWARDS)
    assert outcome(made) == outcome(plain)
