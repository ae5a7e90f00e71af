"""Programs whose derivative was wrong once, each shrunk to the construct that showed it; judged by numbers."""

from __future__ import annotations

import numpy as np
import pytest

import srcgrad
from srcgrad.fuzz.numbers import SWAPS_WRONGLY
from srcgrad.programs import options
from tests.parameters import at_night


# --- adjoints that keep the larger shape of a broadcast --------------------------------------------------------------
def test_the_least_of_two_numbers_times_an_array(ask):
    ask("""
    def f(a, b, x, y, m):
        return np.sum(min(a, b) * np.concatenate([y, x]))
    """)


def test_either_a_product_or_a_sum_times_an_array(ask):
    ask("""
    def f(a, b, x, y, m):
        return np.sum(x * (a * b if a < 0.0 else np.sum(y))) + np.sum(y * (a * b if a > 0.0 else np.sum(x)))
    """)


# --- tapes that cross functions --------------------------------------------------------------------------------------
def test_a_tape_that_is_read_for_its_shapes_only(ask):
    ask("""
    def f(a, b, x, y, m):
        for i in range(2):
            x = np.sin(x)
            return np.sum(x) + np.sum(y)
    """)


def test_a_return_inside_nested_loops(ask):
    ask("""
    def f(a, b, x, y, m):
        for i in reversed(range(2)):
            count = 0
            while count < 4:
                count += 1
                x = np.sin(np.tanh(x + np.zeros(4)))
                x = np.sin(x + np.maximum(x, y))
            a += np.sin(a)
            return np.sum(x) + np.sum(y) + np.sum(m)
    """)


def test_a_name_that_holds_two_saved_versions(ask):
    """The value after the branch and the one made in it are both ``a``: it is saved once."""
    ask("""
    def f(a, b, x, y, m):
        if b < 0.0:
            a = np.tanh(a)
        else:
            while True:
                break
                return np.tanh(a)
        return (a**2) ** 2
    """)


@pytest.mark.skipif(SWAPS_WRONGLY, reason="this Python (3.11.2 is one) binds one of two equal names to another value")
def test_a_name_unpacked_twice(ask):
    ask.twice("""
    def f(a, b, x, y, m):
        a, b, a = x[:3]
        b, b = y[:2] * a
        return a * b * b
    """)


def test_statements_that_control_never_reaches(ask):
    ask("""
    def f(a, b, x, y, m):
        for i in range(3):
            if True:
                continue
                a = 2.0
            b = b * a
        for i in range(3):
            break
            a = a * b
        else:
            return a * a
        with np.errstate(all="ignore"):
            return b * np.sum(x) * a
            b = 0.0
        return b
    """)


# --- names -----------------------------------------------------------------------------------------------------------
def test_an_underscore_that_is_read(ask):
    """The index of a reversed loop needs a name of its own."""
    ask("""
    def f(a, b, x, y, m):
        _ = np.sin(a)
        for i in range(3):
            b = b * np.tanh(b)
        return _ * _ * b
    """)


def test_a_saved_value_that_is_not_bound_on_every_path(ask):
    """What a branch binds is None elsewhere, and so is its adjoint: nothing may be added to it but by ``add``."""
    ask("""
    def f(a, b, x, y, m):
        if b > 0.3:
            w = np.maximum(x, y)
            y = np.sin(y * w)
        for i in range(2):
            m = np.sin(m)
            for p, q in zip(y, x):
                if p > 0.9:
                    break
                if q < 0.0:
                    return np.sum(y) + q
        return np.sum(x) + np.sum(y) + np.sum(m)
    """)


# --- what a pullback keeps -------------------------------------------------------------------------------------------
@pytest.mark.parametrize(("early", "late"), [(2.0, 0.2), (0.2, 2.0), (2.0, 2.0)])
def test_a_name_bound_after_a_return_and_again_in_a_branch(ask, early, late):
    ask(f"""
    def f(a, b, x, y, m):
        if a > {early}:
            return b
        n = np.sin(y)
        if m[0, 1] < b or a > 0.0:
            n = np.tanh(n + x)
            if a > {late}:
                return np.sum(n * n)
        return np.sum(y)
    """)


def exponential_and_argument(x):
    y = np.exp(x)
    return y, [x]


def test_a_pullback_keeps_its_own_arrays():
    """Neither the argument, nor the value handed out, nor an earlier result is where a pullback reads from."""
    x, seed = np.array([0.1, -0.2]), (np.ones(2), [np.full(2, 2.0)])
    expected = np.exp(x) + 2.0
    value, pullback = srcgrad.vjp(exponential_and_argument, x)
    for changed in (x, value[0], value[1][0], seed[1][0]):
        (first,) = pullback((np.ones(2), [np.full(2, 2.0)]))
        np.testing.assert_allclose(first, expected)
        first[:] = -1.0
        changed[:] = 7.0
    (last,) = pullback((np.ones(2), [np.full(2, 2.0)]))
    np.testing.assert_allclose(last, expected)


# --- tangents --------------------------------------------------------------------------------------------------------
def scaled(model):
    weights, (scale, shift) = model["weights"], model["pair"]
    return weights * scale + shift


def test_none_inside_a_container_does_not_move():
    model = {"weights": np.array([1.0, 2.0]), "pair": (3.0, 4.0)}
    _, tangent = srcgrad.jvp(scaled, (model,), ({"weights": None, "pair": (1.0, None)},))
    np.testing.assert_array_equal(tangent, [1.0, 2.0])
    _, tangent = srcgrad.jvp(scaled, (model,), ({"weights": np.ones(2), "pair": None},))
    np.testing.assert_array_equal(tangent, [3.0, 3.0])


def rebound_by_an_empty_loop(x):
    i = x * 2.0
    for i in range(0):
        x = x * i
    return i


def test_the_index_of_a_loop_without_passes():
    assert srcgrad.jvp(rebound_by_an_empty_loop, (0.7,), (1.0,)) == (1.4, 2.0)
    assert srcgrad.grad(rebound_by_an_empty_loop)(0.7) == 2.0


def left_before_the_swap(a, b, x):
    for i in range(2):
        if a > 0.0:
            return b + np.sum(x)
        for j in range(3):
            b, a = a, np.sin(b + a)
    return b + np.sum(x)


@pytest.mark.parametrize("setting", [{}, at_night({"specialise": False})], ids=["facts", "no facts"])
def test_third_derivatives_where_an_exit_skips(setting):
    """What no path has bound is None, and so are its adjoint and the adjoint of that: only ``add`` adds them."""
    x = np.ones(2)
    second = srcgrad.grad(srcgrad.grad(left_before_the_swap))
    third = srcgrad.grad(second)
    with options(**setting):
        assert third(0.5, -0.4, x) == 0.0
        numeric = (second(-0.5 + 1e-5, -0.4, x) - second(-0.5 - 1e-5, -0.4, x)) / 2e-5
        np.testing.assert_allclose(third(-0.5, -0.4, x), numeric, rtol=1e-5)


def test_where_a_sum_of_mapped_values_starts() -> None:
    """Once wrong in silence: the start was read when the function that stores had been called for all items."""

    def f(x: np.ndarray) -> float:
        y = x * 1.0

        def grown(v: float) -> float:
            y[0] += v
            return y[0] * y[1]

        return sum(map(grown, x), y[0] * 2.0)

    x = np.array([0.3, 0.4, 0.5, 0.7])
    numeric = [(f(x + h) - f(x - h)) / 2e-6 for h in 1e-6 * np.eye(4)]
    np.testing.assert_allclose(srcgrad.grad(f)(x), numeric, rtol=1e-6)


@pytest.mark.parametrize("start", ["0.25", "2.0 * b"])
def test_a_method_of_containers_that_a_number_lacks_behind_a_return(ask, start):
    """Once an internal error: what such a method returns is stored, in text that never runs."""
    ask(f"""
    def f(a, b, x, y, m):
        held = [a, b]
        if a < 1e9:
            return np.sum(x) * b
        s = {start}
        held[0] = s.popleft()
        return sum(held)
    """)


def test_an_array_of_a_dict_is_refused() -> None:
    """Once a TypeError of the tangents: arrays of objects were added."""

    def f(x: np.ndarray) -> float:
        chosen = np.where(x > 9.0, {"p": x}, x)
        return 0.5 * chosen[0]

    def named(x: np.ndarray) -> float:
        table = {"p": x}
        table = table.setdefault("p", np.where(x, table, x))
        return 0.5

    def stacked(x: np.ndarray) -> float:
        table = {"p": x, "q": x}
        return np.stack([table, table])[0]["p"][0]

    x = np.ones(2)
    for program in (f, named, stacked):
        with pytest.raises(srcgrad.UnsupportedSyntax, match="an array of objects of a dict"):
            srcgrad.grad(program)(x)
        with pytest.raises(srcgrad.UnsupportedSyntax, match="an array of objects of a dict"):
            srcgrad.jvp(program, (x,), (x,))


def _squares(x, y):
    z = x * x
    for _ in range(2):
        z = z * z
    return np.sum(z + z) + y @ y


def test_two_equal_contributions_are_twice_the_first():
    x, y = np.array([0.5, -0.7]), np.array([1.5, 0.25])
    gradient = srcgrad.grad(_squares, (0, 1))
    found = gradient(x, y)
    np.testing.assert_allclose(found[0], 16.0 * x**7, rtol=1e-14)
    np.testing.assert_allclose(found[1], 2.0 * y, rtol=1e-14)
    assert gradient.source.count("2.0 * ") == 4


def _another_version(x):
    y = x * 3.0
    y = y * x
    return np.sum(y * x)


def test_contributions_of_two_versions_are_no_twice():
    x = np.array([0.5, -0.7])
    np.testing.assert_allclose(srcgrad.grad(_another_version)(x), 9.0 * x**2, rtol=1e-14)
