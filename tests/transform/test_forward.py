"""Tangent programs: their text, statement by statement, and their numbers over the corpus."""

from __future__ import annotations

import ast
import inspect
import linecache
import textwrap
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.ir.normal_form import Callee
from srcgrad.pipeline import compile_request
from srcgrad.programs import Compiled, options
from srcgrad.requests import Request
from srcgrad.rules.facts import fact_of
from tests.oracle import assert_close, directional

VECTOR = np.array([0.3, -0.7, 1.1])


def compiled(function: Callable[..., Any], wanted: tuple[str, ...], arguments: tuple[Any, ...] | None) -> Compiled:
    """The tangent program without the optimizer; ``arguments`` None: nothing is known of them."""
    facts, given = None, None
    if arguments is not None:
        named = dict(zip(inspect.signature(function).parameters, arguments, strict=True))
        given = arguments, {}
        facts = {name: fact_of(value, name) for name, value in named.items() if not isinstance(value, FunctionType)}
    with options(optimise=False):
        return compile_request(Request(Callee(function), wanted, "forward", facts, arguments=given))


def body_of(made: Compiled) -> str:
    """The text of the program, without imports and docstring."""
    lines = made.emission.text.splitlines()
    function = next(s for s in ast.parse(made.emission.text).body if isinstance(s, ast.FunctionDef))
    docstring = function.body[0]
    shown = lines[function.lineno - 1 : docstring.lineno - 1] + lines[docstring.end_lineno :]
    return "\n".join(shown).strip() + "\n"


def check_text(function: Callable[..., Any], wanted: str, arguments: tuple[Any, ...] | None, expected: str) -> None:
    assert body_of(compiled(function, tuple(wanted.split()), arguments)) == textwrap.dedent(expected).lstrip()


# --- one program per construct ---------------------------------------------------------------------------------------
def power(x, n):
    s = 1.0
    for i in range(n):
        s = s * x
    return s


def test_what_is_overwritten_is_read_first():
    expected = """
        def jvp_power(x, n, x_dot):
            s = 1.0
            s_dot = 0.0
            for i in range(n):
                s_dot = s_dot * x + x_dot * s
                s = s * x
            return s, s_dot
    """
    check_text(power, "x", (0.5, 3), expected)
    check_text(power, "x", None, expected)


def squash(y):
    y = np.exp(y)
    y = np.exp(y) + y
    y = np.arctan(y)
    return y


def test_the_result_is_read_where_the_rule_prefers_it():
    check_text(
        squash,
        "y",
        (VECTOR,),
        """
        def jvp_squash(y, y_dot):
            y = np.exp(y)
            y_dot = y_dot * y
            t = np.exp(y)
            t_dot = y_dot * t
            y = t + y
            y_dot = t_dot + y_dot
            y_dot = y_dot / (1.0 + y * y)
            y = np.arctan(y)
            return y, y_dot
        """,
    )


def joins(x, c):
    y = c
    if x > 0.0:
        y = x * c
    return y


def test_a_zero_stands_at_the_binder_that_a_join_needs():
    check_text(
        joins,
        "x",
        (0.5, VECTOR),
        """
        def jvp_joins(x, c, x_dot):
            y = c
            y_dot = np.zeros_like(y)
            if x > 0.0:
                y = x * c
                y_dot = x_dot * c
            return y, y_dot
        """,
    )


def parameter_joins(x, c, n):
    for _ in range(n):
        c = c + x
    return c


def test_a_parameter_that_becomes_varied_starts_with_zero():
    check_text(
        parameter_joins,
        "x",
        (0.5, 1.5, 2),
        """
        def jvp_parameter_joins(x, c, n, x_dot):
            c_dot = 0.0
            for _ in range(n):
                c = c + x
                c_dot = c_dot + x_dot
            return c, c_dot
        """,
    )


def unused(x, c):
    length = np.sum(x * x)
    print(length)
    return c * 2.0


def test_what_the_result_does_not_need_has_no_tangent():
    check_text(
        unused,
        "x",
        (VECTOR, 1.5),
        """
        def jvp_unused(x, c, x_dot):
            t = x * x
            length = np.sum(t)
            print(length)
            t2 = c * 2.0
            return t2, 0.0
        """,
    )


def broadcasts(x, c):
    a = x + c
    b = x * c
    d = c - a
    return b * d


def test_a_constant_operand_that_is_larger_repeats_the_tangent():
    check_text(
        broadcasts,
        "x",
        (0.5, VECTOR),
        """
        def jvp_broadcasts(x, c, x_dot):
            a = x + c
            a_dot = rebroadcast(x_dot, a)
            b = x * c
            b_dot = x_dot * c
            d = c - a
            d_dot = -a_dot
            t = b * d
            t_dot = b_dot * d + d_dot * b
            return t, t_dot
        """,
    )


def containers(x, c):
    pair = (x, c, 2, "mean")
    table = {"a": x, "b": pair}
    a, *rest = table["b"]
    return a * rest[0]


def test_containers_carry_tangents_in_their_places():
    check_text(
        containers,
        "x",
        (0.5, VECTOR),
        """
        def jvp_containers(x, c, x_dot):
            pair = x, c, 2, "mean"
            pair_dot = x_dot, np.zeros_like(c), 0.0, None
            table = {"a": x, "b": pair}
            table_dot = {"a": x_dot, "b": pair_dot}
            t = table["b"]
            t_dot = table_dot["b"]
            a, *rest = t
            a_dot, *rest_dot = t_dot
            t2 = rest[0]
            t2_dot = rest_dot[0]
            t3 = a * t2
            t3_dot = a_dot * t2 + t2_dot * a
            return t3, t3_dot
        """,
    )


def headings(xs, names, c):
    s = c
    for k, x in enumerate(xs):
        s = s * x
    for name in names:
        print(name)
    return s


def test_a_loop_keeps_its_heading_unless_an_element_has_a_tangent():
    text = body_of(compiled(headings, ("xs",), (VECTOR, ["a"], 1.5)))
    assert "for k in range(len(xs)):\n        x = xs[k]\n        x_dot = xs_dot[k]\n" in text
    assert "for name in names:" in text
    assert "for k, x in enumerate(xs):" in body_of(compiled(headings, ("c",), (VECTOR, ["a"], 1.5)))


def helper(u, scale=2.0):
    if u > 0.0:
        return u * scale
    return scale


def calls(x, c):
    y = helper(x)
    z = helper(c, x)
    w = helper(c)
    return y * z * w


def test_a_call_is_one_call_of_the_callees_tangent_program():
    text = body_of(compiled(calls, ("x",), (0.5, 1.5)))
    assert "y, y_dot = helper_jvp(x, 2.0, x_dot)" in text
    assert "z, z_dot = helper_jvp2(c, x, x_dot)" in text
    assert "w = helper(c)\n" in text
    assert "value = scale\n        value_dot = 0.0\n" in text
    assert "def helper_jvp(u, scale, u_dot):" in text


def clashes(x_dot, x):
    y_dot = x * 2.0
    y = y_dot * x_dot
    return y


def test_names_of_the_user_are_kept():
    check_text(
        clashes,
        "x",
        (0.5, 1.5),
        """
        def jvp_clashes(x_dot, x, x_dot2):
            y_dot = x * 2.0
            y_dot_dot = x_dot2 * 2.0
            y = y_dot * x_dot
            y_dot2 = y_dot_dot * x_dot
            return y, y_dot2
        """,
    )


def keeps_defaults(x, scale=2.0):
    return x * scale


def test_tangents_have_defaults_only_after_defaults():
    assert "def jvp_keeps_defaults(x, scale=2.0, x_dot=1.0):" in body_of(compiled(keeps_defaults, ("x",), None))
    assert "def jvp_power(x, n, x_dot):" in body_of(compiled(power, ("x",), None))


def swapped(x, y):
    return x * y * y


def test_tangents_come_in_the_order_of_the_request():
    assert "def jvp_swapped(x, y, y_dot, x_dot):" in body_of(compiled(swapped, ("y", "x"), None))


# --- over reverse programs -------------------------------------------------------------------------------------------
def taped(x, n):
    s = x[0]
    for i in range(n):
        if s > 0.5:
            s = np.sin(s) * x[i]
        else:
            s = s * s + x[1:].sum()
    return s


@pytest.mark.parametrize("known", [True, False], ids=["specialised", "generic"])
@pytest.mark.costly(1)
def test_tapes_and_buffers_have_tangents(known):
    x, direction = np.array([0.4, -0.8, 1.3]), np.array([0.7, 0.2, -0.5])
    facts = {"x": fact_of(x, "x"), "n": fact_of(3, "n")} if known else None
    with options(optimise=False):
        gradient = compile_request(Request(Callee(taped), ("x",), "reverse", facts)).entry
        made = compile_request(Request(Callee(gradient), ("x",), "forward", facts))
    text = made.emission.text
    assert "tape_dot.append(" in text and "tape_dot.pop()" in text and "x_bar_dot" in text
    value, moved = made.entry(x.copy(), 3, x_dot=direction)
    np.testing.assert_array_equal(value, gradient(x, 3))
    expected = directional(lambda point: gradient(point, 3), (x,), (direction,), (0,))
    assert_close(moved, expected.value, tolerance=1e-8, error=expected.error)


def test_what_a_buffer_is_copied_from_is_not_added_to():
    """``x_bar = y_bar + c`` makes a buffer; where c stands still, its tangent would be that of y_bar itself."""
    namespace: dict[str, Any] = {"np": np}
    text = """
    def program(y_bar, c, w):
        x_bar = y_bar + c
        x_bar[0] += w
        return x_bar * y_bar
    """
    lines = textwrap.dedent(text).lstrip().splitlines(keepends=True)
    name = "<srcgrad buffer>"
    linecache.cache[name] = (sum(map(len, lines)), None, lines, name)
    exec(compile("".join(lines), name, "exec"), namespace)
    program = namespace["program"]
    program.__srcgrad_source__ = "".join(lines)
    made = compiled(program, ("y_bar", "w"), (VECTOR, VECTOR, 2.0))
    assert "x_bar_dot = own(" in made.emission.text
    _, moved = made.entry(VECTOR.copy(), VECTOR.copy(), 2.0, np.ones(3), 1.0)
    expected = directional(
        lambda y, w: (y + VECTOR + np.array([w, 0.0, 0.0])) * y, (VECTOR, 2.0), (np.ones(3), 1.0), (0, 1), analytic=True
    )
    assert_close(moved, expected.value)


def kept_by_letters(x, a):
    p = {}
    for k, v in zip(f"{3}bcd", x, strict=True):
        p[k] = v * a
    p["b"] *= p["c"]
    return p["b"] * p["d"]


def test_items_of_an_iterator_that_vary_beside_changes():
    """What an iterator hands out had no tangent: it was zero in silence where a container that changes took it."""
    x, step = np.array([1.1, 0.6, 2.2, 0.4]), 1e-6
    _, slope = srcgrad.jvp(kept_by_letters, (x, 0.2), (x, 0.1))
    above, below = (kept_by_letters(x + h * x, 0.2 + h * 0.1) for h in (step, -step))
    assert slope == pytest.approx((above - below) / (2 * step), rel=1e-6)
