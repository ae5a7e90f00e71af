"""Which copies of places are idle, and above all which are not."""

from __future__ import annotations

import pytest

from srcgrad.optimize import optimize
from tests.optimize.running import optimized, outcome, program
from tests.optimize.test_fold import function

IDLE = {
    "arithmetic before the first change": """
        w = y * 1.0
        t = w[1:].copy()
        s = np.sum(t * u) + s
        w[:-1] += t * u
        return s, w
        """,
    "the last read changes the place itself": """
        w = y * 1.0
        t = w[1:].copy()
        s = -t @ t
        w[1:] = t * w[:-1]
        return s, w
        """,
    "another array changes": """
        w = np.zeros(3)
        v = y * s
        t = v[:2].copy()
        w[1] = 2.0
        return w, t * t
        """,
    "memory of the caller": """
        t = y[1:].copy()
        s = np.sum(t * u) + s
        y[:-1] += t * u
        return s, y
        """,
}
NEEDED = {
    "the place changes before the last read": """
        z = y * 1.0
        t = z[1:].copy()
        z[1:] = t * u
        return t * s, t * u
        """,
    "a view of the place changes": """
        z = y * 1.0
        v = z[1:]
        t = z[1:].copy()
        v += u
        return t * s, t * u
        """,
    "a parameter may be another": """
        t = y[1:].copy()
        x[1] = s
        return t * s, t * u
        """,
    "it is handed out": """
        z = y * 1.0
        t = z[1:].copy()
        return t, t * u
        """,
    "a name for it is changed": """
        z = y * 1.0
        t = z[1:].copy()
        v = t[1:]
        v += u
        return t * u, z
        """,
    "it is changed": """
        z = y * 1.0
        t = z[1:].copy()
        t += u
        return t * u, z
        """,
    "it is kept in a list": """
        z = y * 1.0
        t = z[1:].copy()
        w = [t * u, t]
        z[1] = s
        return w
        """,
    "it is read in a loop that changes the place": """
        z = y * 1.0
        t = z[1:].copy()
        for i in range(3):
            z[1:] = t * z[:-1]
        return z
        """,
    "a call may change anything": """
        z = y * 1.0
        t = z[1:].copy()
        mangle(z, s)
        return t * s, t * u
        """,
    "a branch changes the place": """
        z = y * 1.0
        t = z[1:].copy()
        if s > 0.0:
            z[1] = u
        return t * s, t * u
        """,
}


@pytest.mark.parametrize("name", IDLE)
def test_idle_copies_go(name: str) -> None:
    assert ".copy()" not in optimized(function(IDLE[name]), "t")


@pytest.mark.parametrize("name", NEEDED)
def test_needed_copies_stay(name: str) -> None:
    assert ".copy()" in optimized(function(NEEDED[name]), "t")


@pytest.mark.parametrize("name", [*IDLE, *NEEDED])
def test_a_copy_that_goes_makes_no_difference(name: str) -> None:
    plain = program(function((IDLE | NEEDED)[name]))
    assert outcome(optimize(plain, frozenset({"t"}))) == outcome(plain)
