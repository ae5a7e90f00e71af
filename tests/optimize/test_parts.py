"""Which reads of the parts of a tuple are those of the parts themselves."""

from __future__ import annotations

import pytest

from srcgrad.optimize import optimize
from tests.optimize.running import optimized, outcome, program
from tests.optimize.test_fold import function

GONE = {
    "parts that stay": """
        t = (s, x)
        a = t[0] * u
        b = t[1] * u
        return a, b, t[1]
        """,
    "read in a branch": """
        t = (s, 2.0)
        if u > 0.0:
            s = t[0] * t[1]
        else:
            s = t[1]
        return s
        """,
    "the part changes, and is the same array": """
        t = (x, s)
        x[0] = 3.0
        return t[0] * t[1]
        """,
}
KEPT = {
    "a part is bound again before the last read": """
        t = (s, u)
        s = u * 2.0
        return t[0] * s
        """,
    "bound again in a loop that reads it": """
        t = (s, u)
        for i in range(3):
            s = s + t[0]
        return s
        """,
    "read whole": """
        t = (s, u)
        return t[0] * 2.0, t
        """,
    "read at a place that is not known": """
        t = (s, u)
        for i in range(2):
            y[i] = t[i]
        return y
        """,
}


@pytest.mark.parametrize("name", [*GONE, *KEPT])
def test_parts_are_read_where_they_are(name: str) -> None:
    text = (GONE | KEPT)[name]
    assert ("t = " in optimized(function(text), "t")) == (name in KEPT)
    plain = program(function(text))
    assert outcome(optimize(plain, frozenset({"t"}))) == outcome(plain)
