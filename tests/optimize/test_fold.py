"""What is folded, and above all what is not."""

from __future__ import annotations

import textwrap

import pytest

from srcgrad.optimize import optimize
from srcgrad.syntax.parse import parse
from tests.optimize.running import body, optimized

FOLDED = {
    "nested expressions come back": (
        "t t2",
        """
        t = u * x
        t2 = s / 3.0
        s = t + t2
        return s
        """,
        """
        s = u * x + s / 3.0
        return s
        """,
    ),
    "a name for a name": (
        "w_bar x_bar",
        """
        w_bar = s
        x_bar = w_bar * np.cos(x)
        y_bar = w_bar * x
        return x_bar, y_bar
        """,
        """
        y_bar = s * x
        return s * np.cos(x), y_bar
        """,
    ),
    "the last accumulation": (
        "x_bar",
        """
        x_bar = s * x
        "# y = x"
        x_bar = x_bar + u
        return x_bar
        """,
        """
        x_bar = s * x
        # y = x
        return x_bar + u
        """,
    ),
    "into a condition, an iterable and a call": (
        "t t2 t3",
        """
        t = u > 1.0
        if t:
            s = u
        t2 = range(3)
        for i in t2:
            t3 = s * i
            noise(t3)
        return s
        """,
        """
        if u > 1.0:
            s = u
        for i in range(3):
            noise(s * i)
        return s
        """,
    ),
    "an effect into the statement behind it": (
        "t",
        """
        t = noise(x)
        s = t
        return s
        """,
        """
        s = noise(x)
        return s
        """,
    ),
}

KEPT = {
    "an operand is bound in between": (
        "t",
        """
        t = s * 2.0
        s = np.sin(u)
        u = t + s
        return u, s
        """,
    ),
    "an operand is changed in place": (
        "t",
        """
        t = x * 2.0
        x[0] += u
        y = t + x
        return y, x
        """,
    ),
    "an operand is changed through a view": (
        "t",
        """
        v = x[::-1]
        t = x * 2.0
        v[0] += u
        y = t + x
        return y
        """,
    ),
    "an operand is changed by a call": (
        "t",
        """
        t = x * 2.0
        mangle(x, u)
        y = t + x
        return y
        """,
    ),
    "parameters may be one object": (
        "t",
        """
        t = x * 2.0
        y[0] += u
        return t, y, x
        """,
    ),
    "two effects keep their order": (
        "t",
        """
        t = noise(x)
        u = noise(y)
        return u, t
        """,
    ),
    "a loop would evaluate it again": (
        "t",
        """
        t = np.sin(x)
        for i in range(3):
            y = y + t
        return y
        """,
    ),
    "a branch would hide a failure": (
        "t",
        """
        t = 1.0 / u
        s = t if u > 0.0 else 0.0
        return s
        """,
    ),
    "the value leaves the loop with a break": (
        "t",
        """
        t = s
        for i in range(3):
            t = np.sin(u)
            if u > 2.0:
                break
            u = u + t
            t = np.cos(u)
        return t, u
        """,
    ),
    "a comment heads each": (
        "t",
        """
        "# one"
        t = np.sin(u)
        "# two"
        s = s * t
        return s
        """,
    ),
    "a copy whose original is bound again": (
        "t",
        """
        s = u * 2.0
        t = s
        print(s)
        for i in range(2):
            s = s * u
        return s, t
        """,
    ),
    "two uses": (
        "t",
        """
        t = np.sin(u)
        s = t * t
        return s
        """,
    ),
    "a lambda reads it later": (
        "t",
        """
        t = np.sin(u)
        g = lambda a: a * t
        return g(s)
        """,
    ),
}


def function(text: str) -> str:
    return "def f(s, u, x, y):\n" + textwrap.indent(textwrap.dedent(text).strip(), "    ")


@pytest.mark.parametrize("name", FOLDED)
def test_folded(name):
    temporaries, before, after = FOLDED[name]
    assert optimized(function(before), temporaries) == textwrap.dedent(after).strip()


@pytest.mark.parametrize("name", KEPT)
def test_kept(name):
    temporaries, text = KEPT[name]
    assert optimized(function(text), temporaries) == textwrap.dedent(text).strip().replace('"#', "#").replace('"', "")


def test_lines_stay_readable():
    terms = "\n".join(f"t{i} = t{i - 1} + np.sin(x_of_a_long_name * {i})" for i in range(1, 200))
    text = optimized(function(f"t0 = s\n{terms}\nreturn t199"), " ".join(f"t{i}" for i in range(200)))
    assert max(len(line) for line in text.splitlines()) <= 88
    assert len(text.splitlines()) < 150


def test_a_binding_sinks_below_the_last_read_of_the_old_value():
    before = """
    t_bar = s_bar
    s_bar = s_bar / 3.0
    u_bar = t_bar * x
    x_bar = x_bar + t_bar * u
    return u_bar, x_bar, s_bar
    """
    after = """
    u_bar = s_bar * x
    x_bar = x_bar + s_bar * u
    return u_bar, x_bar, s_bar / 3.0
    """
    assert optimized(function(before), "t_bar s_bar") == textwrap.dedent(after).strip()


def test_a_binding_does_not_sink_past_what_reads_it():
    text = """
    t_bar = s_bar
    s_bar = s_bar / 3.0
    u_bar = t_bar * s_bar
    return u_bar, s_bar
    """
    assert optimized(function(text), "t_bar") == textwrap.dedent(text).strip()


def test_the_users_assignments_keep_their_order():
    text = """
    s1 = s
    s = s * 2.0
    y = y + s1 * s1
    return s, y
    """
    assert optimized(function(text), "s1") == textwrap.dedent(text).strip()


def test_deep_and_long_programs_survive():
    chain = " + ".join(["x"] * 2000)
    branches = "".join(f"    elif u > {i}:\n        s = {i}.0\n" for i in range(600))
    before = f"def f(s, u, x, y):\n    t = {chain}\n    y = t\n    if u:\n        s = u\n{branches}    return s, y\n"
    text = body(optimize(parse(before).body[0], frozenset("t")))
    assert text.count("+ x") == 1999 and text.count("elif") == 600
