"""Versions, tests and arithmetic."""

from __future__ import annotations

import textwrap

import pytest

from tests.optimize.running import optimized
from tests.optimize.test_fold import function

TIDIED = {
    "what is added with a minus is taken off": (
        "s_bar u_bar",
        """
        s_bar = np.sin(s)
        u_bar = x * s_bar
        u_bar += -s_bar * 2.0
        u_bar += -s
        return u_bar, s_bar
        """,
        """
        s_bar = np.sin(s)
        u_bar = x * s_bar
        u_bar -= s_bar * 2.0
        u_bar += -s
        return u_bar, s_bar
        """,
    ),
    "a version is bound under its own name": (
        "s1",
        """
        s = np.sin(u)
        y = y * s
        s1 = s
        s = s + u
        return s, s1, y
        """,
        """
        s1 = np.sin(u)
        y = y * s1
        s = s1 + u
        return s, s1, y
        """,
    ),
    "tests inside of a test that is joined are joined once": (
        "",
        """
        if x > 0.1:
            s = s + u
        if x > 0.1:
            if y > 0.2:
                s = s * s
            if y > 0.2:
                s = s * 3.0
        return s
        """,
        """
        if x > 0.1:
            s = s + u
            if y > 0.2:
                s = s * s
                s = s * 3.0
        return s
        """,
    ),
    "a version of a parameter stays a copy": (
        "s1",
        """
        s1 = s
        s = s + u
        return s, s1
        """,
        """
        s1 = s
        s = s + u
        return s, s1
        """,
    ),
    "not across an exit": (
        "s1",
        """
        for i in range(3):
            s = np.sin(u)
            if s > 2.0:
                break
            s1 = s
            s = s + u
            y = y * s1 * s1
        return s, y
        """,
        """
        for i in range(3):
            s = np.sin(u)
            if s > 2.0:
                break
            s1 = s
            s = s + u
            y = y * s1 * s1
        return s, y
        """,
    ),
    "one test is asked once": (
        "",
        """
        if u > 1.0:
            s = u
        else:
            s = 2.0
        if u > 1.0:
            x = y
        return s, x
        """,
        """
        if u > 1.0:
            s = u
            x = y
        else:
            s = 2.0
        return s, x
        """,
    ),
    "twice if the answer may change": (
        "",
        """
        if u > 1.0:
            u = s
        if u > 1.0:
            s = u
        return s
        """,
        """
        if u > 1.0:
            u = s
        if u > 1.0:
            s = u
        return s
        """,
    ),
    "tests are turned": (
        "",
        """
        if u is not None:
            pass
        else:
            s = 2.0
        if u < s:
            pass
        else:
            x = y
        return s, x
        """,
        """
        if u is None:
            s = 2.0
        if not u < s:
            x = y
        return s, x
        """,
    ),
    "units, double signs and literals": (
        "s_bar x_bar y_bar",
        """
        s_bar = np.sum(x)
        x_bar = 1.0 * s_bar * np.cos(x) / 1.0
        y_bar = 0.0 + s_bar * 3 * y ** (3 - 1) + -(s_bar * x)
        x_bar = x_bar * y ** (2 - 1) - -s_bar
        return x_bar, y_bar
        """,
        """
        s_bar = np.sum(x)
        return s_bar * np.cos(x) * y + s_bar, s_bar * 3 * y**2 - s_bar * x
        """,
    ),
    "a choice that is made": (
        "s_bar x_bar",
        """
        s_bar = np.sum(x)
        x_bar = np.where(3 == 0, 0.0, s_bar * 3 * x**2)
        return x_bar
        """,
        """
        return np.sum(x) * 3 * x**2
        """,
    ),
    "what a user wrote stays": (
        "t",
        """
        t = 1.0 * u
        s = t ** 1 + 0.0
        return s
        """,
        """
        s = (1.0 * u) ** 1 + 0.0
        return s
        """,
    ),
    "a buffer of its own stays": (
        "y_bar x_bar",
        """
        y_bar = np.cos(x)
        x_bar = 1.0 * y_bar
        x_bar[0] += u
        return x_bar, y_bar
        """,
        """
        y_bar = np.cos(x)
        x_bar = 1.0 * y_bar
        x_bar[0] += u
        return x_bar, y_bar
        """,
    ),
}


@pytest.mark.parametrize("name", TIDIED)
def test_tidied(name):
    temporaries, before, after = TIDIED[name]
    assert optimized(function(before), temporaries) == textwrap.dedent(after).strip()
