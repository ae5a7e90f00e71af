"""What nobody reads goes; what has an effect stays."""

from __future__ import annotations

import textwrap

import pytest

from srcgrad.optimize.effects import IN_PLACE
from srcgrad.rules.memory import CHANGES
from tests.optimize.running import optimized
from tests.optimize.test_fold import function

PRUNED = {
    "a dead chain, through a loop that only feeds itself": (
        """
        a = np.sin(u)
        for i in range(3):
            a = a * u
            s = s + u
        return s
        """,
        """
        for i in range(3):
            s = s + u
        return s
        """,
    ),
    "a loop with nothing in it, a branch with nothing in it": (
        """
        for i in range(3):
            if u > 1.0:
                a = u
        with np.errstate(all="ignore"):
            b = u
        return s
        """,
        "return s",
    ),
    "unused targets": (
        """
        a, b = noise(u)
        c, d = u, s
        e = noise(s)
        return a, d
        """,
        """
        a, _ = noise(u)
        d = s
        noise(s)
        return a, d
        """,
    ),
    "a tape whose values nobody reads": (
        """
        tape = []
        for i in range(3):
            tape.append((s, u))
            s = s * u
        for i in reversed(range(3)):
            u, a = tape.pop()
            b = a
        assert not tape
        return s
        """,
        """
        for i in range(3):
            s = s * u
        return s
        """,
    ),
    "a tape of which one value is read": (
        """
        tape = []
        for i in range(3):
            tape.append((s, u))
            s = s * u
        for i in reversed(range(3)):
            a, b = tape.pop()
            s = s + a
        assert not tape
        return s
        """,
        """
        tape = []
        for i in range(3):
            tape.append((s, u))
            s = s * u
        for i in reversed(range(3)):
            a, _ = tape.pop()
            s = s + a
        assert not tape
        return s
        """,
    ),
    "a buffer of our own": (
        """
        x_bar = np.zeros_like(x)
        for i in range(3):
            x_bar[i] += u * s
        return s
        """,
        "return s",
    ),
    "comments with nothing below them, and what cannot be reached": (
        """
        "# first"
        a = s
        "# second"
        s = u
        "# third"
        b = s
        return s
        s = 2.0
        """,
        """
        # second
        s = u
        return s
        """,
    ),
}

KEPT = {
    "a change that the caller sees": "y[0] += u\nreturn s",
    "a change through another name": "v = y[::-1]\nv[0] = u\nreturn y",
    "an endless loop": "while u > 1.0:\n    pass\nreturn s",
    "what the next iteration reads": "a = s\nfor i in range(3):\n    s = s * a\n    a = u\nreturn s",
    "what a break takes along": (
        "a = s\nfor i in range(3):\n    a = u\n    if s > u:\n        break\n    a = s\nreturn a"
    ),
    "what an exception handler reads": (
        "a = s\ntry:\n    a = u\n    noise(s)\n    a = s\nexcept ValueError:\n    s = a\nreturn s"
    ),
    "a name of which only one branch makes a new one": "a = s\nif u > 1.0:\n    a = u\nreturn a",
}


@pytest.mark.parametrize("name", PRUNED)
def test_pruned(name):
    before, after = PRUNED[name]
    assert optimized(function(before)) == textwrap.dedent(after).strip()


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    assert optimized(function(KEPT[name])) == KEPT[name]


def test_an_underscore_of_the_users_own_stays_his():
    assert optimized(function("_ = s\na, b = noise(u)\nreturn a * _")) == "_ = s\na, b = noise(u)\nreturn a * _"


def test_a_name_bound_to_itself_goes():
    before = "def f(x, y):\n    y = y\n    x = x * y\n    return x\n"
    assert "y = y" not in optimized(before)


def test_the_only_binding_of_a_local_stays():
    before = "def f(x, c):\n    if c:\n        q = q\n        x = q\n    return x\n"
    assert "q = q" in optimized(before)


def test_what_the_runtime_changes_is_a_change_here():
    assert {function.__name__ for function in CHANGES} <= IN_PLACE
