"""Tangents of programs that store into arrays: against central differences, with what is known and without."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.ir.normal_form import Callee
from srcgrad.pipeline import compile_request
from srcgrad.programs import Compiled, options
from srcgrad.requests import Request
from srcgrad.rules.facts import fact_of
from tests.parameters import share_by_day
from tests.programs_with_stores import PROGRAMS, Program, arguments

pytestmark = pytest.mark.slow

NAMES = ("a", "b", "x", "y", "m")
WANTED = [NAMES, ("a",), ("x",), ("y", "m")]


def compiled(function: Program, wanted: tuple[str, ...], specialised: bool) -> Compiled:
    facts = {p: fact_of(v, p) for p, v in zip(NAMES, arguments(), strict=True)} if specialised else None
    return compile_request(Request(Callee(function), wanted, "forward", facts))  # type: ignore[arg-type]


def directions(seed: int) -> tuple[Any, ...]:
    rng = np.random.default_rng(seed)
    return tuple(rng.standard_normal(v.shape) if np.ndim(v) else float(rng.standard_normal()) for v in arguments())


def difference(function: Program, dots: tuple[Any, ...], step: float = 1e-6) -> Any:
    ahead, behind = (
        np.asarray(function(*(p + s * d for p, d in zip(arguments(), dots, strict=True))), float)
        for s in (step, -step)
    )
    return (ahead - behind) / (2.0 * step)


@pytest.mark.parametrize("specialised", [True, False], ids=["specialised", "generic"])
@pytest.mark.parametrize("name", share_by_day(PROGRAMS, 3))
@pytest.mark.costly(3)
def test_tangent_of_every_program(name: str, specialised: bool) -> None:
    function = PROGRAMS[name]
    for seed, wanted in enumerate(WANTED):
        dots = directions(seed)
        moving = tuple(d if p in wanted else 0.0 * d for p, d in zip(NAMES, dots, strict=True))
        values = arguments()
        given = [d for p, d in zip(NAMES, dots, strict=True) if p in wanted]
        before = copy.deepcopy((values, given))
        value, tangent = compiled(function, wanted, specialised).entry(*values, *given)
        np.testing.assert_allclose(value, function(*arguments()), rtol=1e-13)
        np.testing.assert_allclose(tangent, difference(function, moving), rtol=1e-6, atol=1e-8)
        assert np.shape(tangent) == np.shape(value)
        for kept, now in zip([*before[0], *before[1]], [*values, *given], strict=True):
            np.testing.assert_array_equal(kept, now)


@pytest.mark.parametrize("name", PROGRAMS)
def test_tangent_without_the_optimizer(name: str) -> None:
    dots = directions(9)
    with options(optimise=False):
        _, tangent = compiled(PROGRAMS[name], NAMES, True).entry(*arguments(), *dots)
    np.testing.assert_allclose(tangent, difference(PROGRAMS[name], dots), rtol=1e-6, atol=1e-8)


# --- the text --------------------------------------------------------------------------------------------------------
def test_the_text_is_what_a_person_would_write() -> None:
    def f(x, a):
        y = np.sin(x)
        v = y[1:3]
        v[0] = a * v[1]
        y[0] += a
        return np.sum(y * y)

    facts = {"x": fact_of(np.ones(4), "x"), "a": fact_of(1.0, "a")}
    text = compile_request(Request(Callee(f), ("x", "a"), "forward", facts)).emission.text  # type: ignore[arg-type]
    body = [line.strip() for line in text.split('instead."""')[1].strip().splitlines()]
    assert body == [
        "y = np.sin(x)",
        "y_dot = x_dot * np.cos(x)",
        "v = y[1:3]",
        "v_dot = y_dot[1:3]",
        "t = v[1]",
        "t2 = a * t",
        "v_dot[0] = a_dot * t + v_dot[1] * a",
        "v[0] = t2",
        "y_dot[0] += a_dot",
        "y[0] += a",
        "return np.sum(y * y), np.sum(y_dot * y + y_dot * y)",
    ]


def test_what_does_not_move_has_no_tangent() -> None:
    def f(x, a):
        table = np.zeros(4)
        table[1] = 2.0
        return np.sum(table * x) * a

    facts = {"x": fact_of(np.ones(4), "x"), "a": fact_of(1.0, "a")}
    text = compile_request(Request(Callee(f), ("a",), "forward", facts)).emission.text  # type: ignore[arg-type]
    assert "table_dot" not in text


# --- layouts, kinds --------------------------------------------------------------------------------------------------
def raveled_argument(x, a):
    flat = x.ravel()
    flat[1] = a
    return np.sum(x * x) + np.sum(flat)


def test_what_is_stored_where_nobody_reads_has_no_tangent() -> None:
    def f(a: Any, x: Any) -> Any:
        log = np.array([1, "p"])
        log[0] = a
        seen = np.zeros(3)
        part = seen[1:]
        part[0] = a * x[0]
        print(seen, log)
        return a * x[1]

    x = np.array([0.5, 2.0])
    facts = {"a": fact_of(1.0, "a"), "x": fact_of(x, "x")}
    text = compile_request(Request(Callee(f), ("a",), "forward", facts)).emission.text  # type: ignore[arg-type]
    assert "log_dot" not in text and "seen_dot" not in text and "part_dot" not in text
    assert srcgrad.jvp(f, (2.0, x), (1.0, 0.0 * x)) == (4.0, 2.0)


def test_what_an_alias_reads_has_one() -> None:
    """A tangent is needed where any name of the same memory is read, in the same function or by its caller."""

    def fill(w: Any, a: Any) -> None:
        part = w[1:]
        part[0] = a * a

    def f(a: Any) -> Any:
        w = np.zeros(3)
        held = [w]
        fill(held[0], a)
        return w[1] * 2.0

    assert srcgrad.jvp(f, (3.0,), (1.0,)) == (18.0, 12.0)


@pytest.mark.parametrize("layout", ["C", "F", "strided"])
@pytest.mark.parametrize("of_the_tangent", ["C", "F"])
def test_a_tangent_has_the_layout_of_its_argument(layout: str, of_the_tangent: str) -> None:
    """``ravel`` is a view of one layout and a copy of another; the tangent must be what the value is."""
    whole = np.arange(24.0).reshape(4, 6) / 10.0
    x = {"C": whole.copy(), "F": np.asfortranarray(whole), "strided": whole[:, ::2]}[layout]
    dot = np.array(np.random.default_rng(0).standard_normal(x.shape), order=of_the_tangent)  # type: ignore[call-overload]
    entry = compile_request(Request(Callee(raveled_argument), ("x", "a"), "forward")).entry

    def at(s: float) -> float:
        moved = x.copy(order="K") if layout != "strided" else np.repeat(whole, 2, 1)[:, ::4] * 0.0 + x
        return float(raveled_argument(_laid_out(moved + s * dot, x), 0.7 + s * 0.3))

    _, tangent = entry(x, 0.7, dot, 0.3)
    np.testing.assert_allclose(tangent, (at(1e-6) - at(-1e-6)) / 2e-6, rtol=1e-6)


def _laid_out(values: Any, like: Any) -> Any:
    if like.flags.f_contiguous:
        return np.asfortranarray(values)
    if like.flags.c_contiguous:
        return np.ascontiguousarray(values)
    made = np.zeros((like.shape[0], 2 * like.shape[1]))[:, ::2]
    made[...] = values
    return made


@pytest.mark.parametrize(
    "copied",
    [
        lambda w: w.T.copy(),
        lambda w: w.T.copy("C"),
        lambda w: np.copy(w.T, order="C"),
        lambda w: np.array(w.T, order="C"),
        lambda w: np.multiply(w.T, 2.0, order="C"),
        lambda w: w.T.astype(float, order="C"),
    ],
)
def test_a_tangent_is_copied_to_the_order_of_its_value(copied: Callable[[Any], Any]) -> None:
    """``copied`` lies as ``ravel`` can show it; a tangent in the order of ``w.T`` could not be shown so."""

    def f(x):
        copy = copied(np.reshape(x, (2, 3)))
        flat = copy.ravel()
        flat[1] = copy[0, 0] * x[1]
        return np.sum(copy * copy)

    x = np.arange(1.0, 7.0)
    direction = np.cos(x)
    numeric = (f(x + 1e-6 * direction) - f(x - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(srcgrad.jvp(f, (x,), (direction,))[1], numeric, rtol=1e-6)


def an_array_of_one(x: Any) -> Any:
    z = np.array(x * 2.0)
    y = np.ascontiguousarray(z)
    y[0] = y[0] * x
    return y[0] + z


@pytest.mark.parametrize("specialised", [True, False])
@pytest.mark.costly(1)
def test_the_tangent_of_an_array_of_one_is_stored_into(specialised: bool) -> None:
    """It was a broadcast view, which NumPy does not store into."""
    with srcgrad.options(specialise=specialised):
        assert srcgrad.jvp(an_array_of_one, (0.7,), (1.0,))[1] == pytest.approx(5.6)
        assert srcgrad.hvp(an_array_of_one)(0.7, 1.0) == pytest.approx(8.0)


def test_integers_take_no_tangent() -> None:
    def f(x, k):
        k[0] = x[1]
        k[1] += 1
        return x[0] * k[0] + k[1]

    entry = compile_request(Request(Callee(f), ("x",), "forward")).entry  # type: ignore[arg-type]
    value, tangent = entry(np.array([2.0, 3.7]), np.array([1, 2]), np.array([1.0, 5.0]))
    assert (value, tangent) == (9.0, 3.0)


def test_single_precision_stays() -> None:
    def f(x, a):
        z = np.zeros(3, np.float32)
        z[:] = x
        z[1] *= a
        return z

    entry = compile_request(Request(Callee(f), ("x", "a"), "forward")).entry  # type: ignore[arg-type]
    value, tangent = entry(np.arange(3.0), 2.0, np.ones(3), 0.5)
    assert value.dtype == tangent.dtype == np.float32
    np.testing.assert_allclose(tangent, [1.0, 2.5, 1.0])


def test_complex_numbers_are_stored() -> None:
    def f(x):
        z = np.zeros(3, complex)
        z[0] = x[0] * 1j
        z[1:] = x[1:] ** 2
        z *= z[0]
        return z

    entry = compile_request(Request(Callee(f), ("x",), "forward")).entry  # type: ignore[arg-type]
    x, d = np.array([0.3, 0.5, -0.2]), np.array([1.0, -0.4, 0.6])
    _, tangent = entry(x, d)
    np.testing.assert_allclose(tangent, (f(x + 1e-6 * d) - f(x - 1e-6 * d)) / 2e-6, rtol=1e-7)


# --- callees ---------------------------------------------------------------------------------------------------------
def same(z):
    return z + 0.0


def test_what_a_callee_returns_shares_no_tangent_with_its_argument() -> None:
    """The value is new, and its tangent would be the argument's."""

    def f(x):
        w = same(x)
        w[0] = 0.0
        return np.sum(x * x) + np.sum(w)

    for facts in (None, {"x": fact_of(np.ones(3), "x")}):
        entry = compile_request(Request(Callee(f), ("x",), "forward", facts)).entry  # type: ignore[arg-type]
        dot = np.array([1.0, 2.0, 3.0])
        _, tangent = entry(np.ones(3), dot)
        assert tangent == 17.0
        np.testing.assert_array_equal(dot, [1.0, 2.0, 3.0])


def test_a_list_of_arrays_that_a_callee_fills() -> None:
    def fill(rows, x):
        rows.append(x)
        rows.append(rows[0] * 2.0)
        rows[0][0] = x[1]

    def f(x):
        rows = [np.sin(x)]
        fill(rows, np.cos(x))
        rows[1][1] = 0.0
        return np.sum(rows[0] * rows[1] * rows[2])

    x, d = np.array([0.3, 0.5]), np.array([1.0, -0.4])
    for facts in (None, {"x": fact_of(x, "x")}):
        entry = compile_request(Request(Callee(f), ("x",), "forward", facts)).entry  # type: ignore[arg-type]
        _, tangent = entry(x, d)
        np.testing.assert_allclose(tangent, (f(x + 1e-6 * d) - f(x - 1e-6 * d)) / 2e-6, rtol=1e-6)
