"""What runs in which order, and what leaves a loop: right against numbers, or refused."""

from __future__ import annotations

import numpy as np
from pytest import MonkeyPatch

from tests.specialise.serving import check_refused, check_right

X = np.array([0.7, 0.4, 1.3])


def fail(v):
    if v > 0.5:
        raise ValueError("large")
    return v * v


# --- break in try ----------------------------------------------------------------------------------------------------
def breaks_where_nothing_is_raised(x):
    s = x[0]
    for v in x:
        try:
            s = s + fail(v) * 2.0
            break
        except ValueError:
            s = s + v * 5.0
    return s * s


def breaks_in_a_branch(x):
    s, rounds = x[0], 0
    while True:
        rounds = rounds + 1
        try:
            if rounds > 1:
                s = s * fail(x[rounds - 1])
                break
            s = s + fail(x[0])
        except ValueError:
            s = s + x[2]
    return s * rounds


def test_a_break_in_a_try_of_a_loop_outside(monkeypatch: MonkeyPatch) -> None:
    """The loop was left whether the body of the ``try`` raised or not."""
    check_right(breaks_where_nothing_is_raised, monkeypatch, X)
    check_right(breaks_in_a_branch, monkeypatch, X)


# --- what is looked up before an argument binds the variable again ----------------------------------------------------
def appends_what_binds_the_list(x):
    xs = [x]
    ys = xs

    def change():
        nonlocal xs
        xs = [x * 5.0]
        return x * 7.0

    xs.append(change())
    return sum(ys) + 10.0 * sum(xs) * len(xs)


def places_of_a_rebound_array(x):
    y = x * 1.0
    z = y

    def place():
        nonlocal y
        y = x * 5.0
        return 1

    y.flat[place()] = x[2]
    return np.sum(y * x) + 10.0 * np.sum(z * x)


def goes_over_a_rebound_list(x):
    xs = [x, x * 2.0]

    def start():
        nonlocal xs
        xs = [x * 5.0]
        return x * 7.0

    return sum((v * v for v in xs), start()) + sum(xs)


def goes_over_a_changed_range(x):
    xs = [x, x * 2.0]

    def start():
        xs.append(x)
        return x * 7.0

    return sum((x * i for i in range(len(xs))), start()) + sum(xs)


def methods_in_a_loop(x):
    w = x * 2.0

    def step():
        nonlocal w
        w = w * x
        return w

    s = 0.0
    for _ in range(2):
        s = s + w.dot(step())
    return s + np.sum(w)


def test_what_is_looked_up_is_of_the_variable_as_it_was(monkeypatch: MonkeyPatch) -> None:
    """A method was looked up, and an iterator made, behind what the call is given, which binds the variable again."""
    check_right(appends_what_binds_the_list, monkeypatch, 0.7)
    check_right(places_of_a_rebound_array, monkeypatch, X)
    check_right(goes_over_a_rebound_list, monkeypatch, 0.7)
    check_right(methods_in_a_loop, monkeypatch, X)
    check_refused(goes_over_a_changed_range, monkeypatch, 0.7)


# --- a[i] += e -------------------------------------------------------------------------------------------------------
def reads_before_it_divides(x):
    y = [x, x]
    try:
        y[5] += 1.0 / (x - x)
    except IndexError:
        return x * 2.0
    except ZeroDivisionError:
        return x * 3.0
    return x


def bump(d, xs):
    d["q"] += xs[4]


def reads_in_a_callee(x):
    try:
        bump({"a": x}, [x])
    except KeyError:
        return x * 2.0
    except IndexError:
        return x * 3.0
    return x


def test_an_item_is_read_before_what_is_added_to_it(monkeypatch: MonkeyPatch) -> None:
    """What was caught was raised by what is added, where Python reads the item first and does not find it."""
    check_right(reads_before_it_divides, monkeypatch, 0.7)
    check_right(reads_in_a_callee, monkeypatch, 0.7)


# --- stores inside of what has no derivative -------------------------------------------------------------------------
def adds_in_an_index(x):
    q = x * 1.0
    chosen = [x[0], x[1]][int(q.__iadd__(x[0] * x[1]) is None)]
    return chosen * np.sum(q * x)


def adds_in_a_test(x):
    q = x * 1.0
    if np.any(np.add(q, x * x[0], out=q) > 1e9) or np.add(q, x * x[1], q).shape[0] == 5:
        return x[0]
    return np.sum(q * x)


def adds_while_it_is_small(x):
    q = x * 1.0
    while q.__iadd__(x * x[0])[0] < 3.0:
        pass
    return np.sum(q * x)


def test_what_a_test_stores_is_used(monkeypatch: MonkeyPatch) -> None:
    """A number that is stored in passing was taken for one of the test alone, and lost its derivative."""
    for function in (adds_in_an_index, adds_in_a_test, adds_while_it_is_small):
        check_right(function, monkeypatch, X)


# --- else of a loop --------------------------------------------------------------------------------------------------
def leaves_where_half_of_the_test_is_known(x):
    s = 1.0
    for v in x:
        while 0.5 < 2 and v > 0.5:
            break
        else:
            s = s + v * 3.0
            continue
        s = s * v
    return s


def test_a_test_of_which_a_part_is_known_may_end_a_loop(monkeypatch: MonkeyPatch) -> None:
    """The part that is known stood before the rest, so that the loop was none with a test, but for its else."""
    check_right(leaves_where_half_of_the_test_is_known, monkeypatch, X)
