"""Assignments in place, loops and last blocks in a try: right in both directions, or refused."""

from __future__ import annotations

import functools
import math
from collections import defaultdict
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.specialise.test_attempts import check, check_data, is_refused


# --- assignments in place ---------------------------------------------------------------------------------------------
def a_key_that_is_missing(x):
    y = np.sin(x)
    known = {'a': x[0]}
    s = 0.0
    for key in ('a', 'b', 'b'):
        try:
            known[key] += x[1] * x[0]
        except KeyError:
            known[key] = 2.0 * x[1]
        s = s + known[key]
    for i in (1, 5, 2):
        try:
            y[i] += s * x[1]
        except IndexError:
            y[0] = y[1] * s
    return np.sum(y * y) * s


def shapes_that_do_not_fit(x):
    y, s = (x * 2.0, x[0])
    try:
        y += np.ones(4)
        y *= 100.0
        s = s * 7.0
    except ValueError:
        s = s * x[1]
    for k in range(3):
        try:
            y -= x[:k]
            s = s + 1.0
        except ValueError:
            s = s * x[2]
            continue
        s = s + x[k]
    return np.sum(y * y) * s


def numbers_before_an_index(x):
    s = x[0]
    try:
        s += x[1]
        s *= x[2]
        s += x[7]
    except IndexError:
        s = s * x[2]
    return s


def two_names_of_one_array(x):
    w = x * 1.0
    y = w
    try:
        y += x
        y += np.ones(7)
    except ValueError:
        y = y * w
    return np.sum(w * y)


def what_is_added_raises(x):
    y = np.array([x[0], x[0]])
    s = x[1]
    for i in range(3):
        try:
            y[i] += math.sqrt(x[0] - 0.5 * i)
        except IndexError:
            s = s * 2.0
        except ValueError:
            s = s * 3.0
    return s * y[1] * y[0]


def read_only_memory(x):
    z = np.diag(np.outer(x, x))
    y = x * z
    try:
        z += 2.0
    except ValueError:
        y *= x
    try:
        z += np.exp
    except ValueError:
        y[0] = y[1] * x[2]
    except TypeError:
        y[1] = y[0] * x[2]
    return np.sum(y * y)


def rows_in_turn(x):
    y = np.zeros((2, 2))
    s = x[0]
    try:
        y[0] += x[:2]
        y[1] += x
        s = 0.0
    except ValueError:
        s = s * np.sum(y)
    return s * s


def counted_in_a_last_block(x):
    n = 0
    y = x * 1.0
    try:
        n += 1
        y += np.concatenate([x, x])
        n += 1
    except ValueError:
        n += 10
    finally:
        y *= n
    return np.sum(y * y)


def indices_in_a_list(x):
    y = x * 1.0
    try:
        y[[0, 1, 9]] += x
    except IndexError:
        y[0] *= y[1]
    return np.sum(y * y)


def integers_in_place(x):
    y = np.zeros(3, dtype=int)
    s = x[0]
    try:
        y += x
    except TypeError:
        s = s * x[1]
    return s


# --- loops ------------------------------------------------------------------------------------------------------------
def items_that_do_not_fit(x):
    m = np.outer(x, x)[:, :2]
    s = np.sum(x)
    try:
        for u, v in zip(*m):
            s = s + u * v
    except ValueError:
        s = s * x[0]
    try:
        for i, (u, v, w) in enumerate(m):
            s = s * u * v * w + i
    except ValueError:
        s = s * x[1]
    return s


def numbers_among_arrays(x):
    s = x[0]
    for q in [x, x[0], 2.0 * x]:
        try:
            for v in q:
                s = s * v
            for i, v in enumerate(q):
                s = s + i * v
        except TypeError:
            s = s * x[0]
    return s


def numbers_in_an_array(x):
    s = x[0]
    try:
        for v in x:
            for w in v:
                s = s + w
    except Exception:
        s = s * x[1]
    return s


def a_comprehension_over_a_number(x):
    s = x[0]
    q = x[0]
    try:
        t = [v * v for v in q]
        s = sum(t)
    except TypeError:
        s = s * x[1]
    return s


def loops_with_else(x):
    s = x[0]
    for q in [x, x[0]]:
        try:
            for v in q:
                s = s * v
                if s > 3:
                    break
                if v > 1:
                    continue
            else:
                s = s + 5.0 * x[1]
        except TypeError:
            s = s * x[0] + 1.0
    return s


def a_callee_goes_over_it(x):

    def f(q):
        s = x[0]
        for v in q:
            s = s * v
        return s
    try:
        s = f(x) * f(x[1])
    except TypeError:
        s = x[2] * x[2]
    return s


def rows_of_which_one_is_a_number(x):
    rows = [x, [x[0]], x[0]]
    s = x[0]
    try:
        for r in rows:
            for v in r:
                s = s * v
    except TypeError:
        s = s * x[1]
    return s


def one_of_two(x):
    s = x[0]
    q = x if s > 0 else x[0]
    try:
        for v in q:
            s = s * v
        for v in q:
            s = s + v
    except TypeError:
        s = s * x[1]
    return s * np.sum(q)


# --- last blocks ------------------------------------------------------------------------------------------------------
def an_attempt_in_a_last_block(x):
    kept = [x[0]]

    def chosen(v):
        try:
            if v > 1.0:
                return v * x[1]
        finally:
            try:
                kept.append(v)
                kept[5] = x[0]
            except IndexError:
                kept[0] = kept[0] * v
        return v * v
    return chosen(x[0]) + chosen(x[1]) * kept[0] + kept[-1] * kept[0]


def left_by_continue_and_break(x):
    s = x[0]
    for i in range(4):
        try:
            if i == 1:
                continue
            if i == 3:
                break
            s = s * x[i]
        finally:
            try:
                s = s + x[i + 1]
            except IndexError:
                s = s * 2.0
            finally:
                s = s + 1.0
    return s


def a_last_block_that_returns(x):

    def f(i):
        try:
            if i == 0:
                return x[0]
        finally:
            try:
                return x[i + 2] * 2.0
            except IndexError:
                pass
        return x[1]
    return f(0) * f(1)


def a_loop_in_a_last_block(x):
    d = {}
    s = x[0]
    for i in range(3):
        try:
            d[i] = s
            if i == 1:
                continue
            s = s * x[i]
        finally:
            for k in (0, 5):
                try:
                    s = s + d[k]
                except KeyError:
                    s = s * x[2]
    return s


# --- factories and folds ----------------------------------------------------------------------------------------------
def a_factory_in_a_try(x):
    d = defaultdict(lambda: 2.0, {'a': x[0] * x[1]})
    e = d
    try:
        y = d['b'] * x[0] + e['c']
    except KeyError:
        y = x[2]
    return y * d['a'] * len(d)


def a_factory_in_a_function(x):
    d = defaultdict(lambda: 2.0, {'a': x[0] * x[1]})

    def f(k):
        try:
            return d[k] * x[1]
        except KeyError:
            return 9.0
    return f('a') * f('z') * len(d)


def a_factory_in_a_loop(x):
    d = defaultdict(lambda: x[0] * 2.0)
    s = 0.0
    for k in ('a', 'b', 'a'):
        try:
            s = s + d[k] * x[1]
        except KeyError:
            s = 100.0
    return s * len(d)


def a_factory_that_counts(x):
    n = [0]

    def make():
        n[0] += 1
        return x[n[0]]
    d = defaultdict(make)
    try:
        s = d['a'] * d['b']
        t = s * x[7]
    except IndexError:
        s = s + d['a']
    return s * n[0]


def items_made_as_they_are_asked_for(x):
    y = x * 1.0

    def grown(v):
        y[0] += v
        return y[0] * y[1]
    return functools.reduce(lambda a, b: a * y[0] + b, (grown(v) for v in x))


def folds_of_generators(x):
    t = functools.reduce(lambda a, b: a * x[0] + b, (v * v for v in x), x[1])
    return t + functools.reduce(lambda a, b: a * b, (v for v in x if v > 100), x[0])


def a_fold_that_stores(x):
    y = [v for v in x]

    def f(a, b):
        y[2] = a
        return a + b * b
    return functools.reduce(f, (v for v in y)) * y[2]


SERVED = [
    a_key_that_is_missing, shapes_that_do_not_fit, numbers_before_an_index, two_names_of_one_array,
    what_is_added_raises, read_only_memory, rows_in_turn, counted_in_a_last_block, indices_in_a_list,
    integers_in_place, items_that_do_not_fit, numbers_among_arrays, numbers_in_an_array,
    a_comprehension_over_a_number, loops_with_else, a_callee_goes_over_it, rows_of_which_one_is_a_number, one_of_two,
    an_attempt_in_a_last_block, left_by_continue_and_break, a_last_block_that_returns, a_loop_in_a_last_block,
    a_factory_in_a_try, a_factory_in_a_function, a_factory_in_a_loop, a_factory_that_counts,
    items_made_as_they_are_asked_for, folds_of_generators, a_fold_that_stores,
]


@pytest.mark.parametrize("function", SERVED)
@pytest.mark.costly(2)
def test_served(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check(function, monkeypatch)


@pytest.mark.parametrize("function", [function for function in SERVED if function is not items_that_do_not_fit])
@pytest.mark.costly(2, first=1)
def test_of_data(function: Callable[..., Any]) -> None:
    """Where nothing is said of the arguments."""
    check_data(function)


# --- what is refused -------------------------------------------------------------------------------------------------
def an_item_of_a_tuple(x):
    t = (x * 1.0, x * 2.0)
    try:
        t[0] += x
    except TypeError:
        s = t[0][1] * t[1][0]
    return s * x[0]


@pytest.mark.parametrize("function", [
    an_item_of_a_tuple,
])  # fmt: skip
def test_refused(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_refused(function, monkeypatch)
