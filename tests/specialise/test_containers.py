"""Loops, containers, stores and generators: written from values, and right in both directions against numbers."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from tests.directed import running
from tests.directed.program import Program
from tests.specialise.serving import is_served, serving, written

X = np.array([0.7, 1.3, -0.4, 2.1])
_PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []
_REFUSED: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


def program(*arguments: Any) -> Callable[[Any], Any]:
    def noted(function: Any) -> Any:
        _PROGRAMS.append((function, arguments or (X,)))
        return function

    return noted


def refused(function: Any) -> Any:
    _REFUSED.append((function, (X,)))
    return function


# --- loops -----------------------------------------------------------------------------------------------------------
@program()
def nested_targets(x):
    s = 0.0
    for i, (k, (u, v)) in enumerate(zip(range(2, 9, 3), zip(x, reversed(x))), 5):
        s = s + i * k * u * v * v
    return s


@program()
def unpacked_from_map(x):
    y, z = map(np.exp, (x[:2], x[2:] * 2.0))
    return np.sum(y * z) + np.sum(y)


@program()
def names_that_the_loop_binds_again(x):
    y = x * 1.0
    n = 3
    for x, n in zip(x, range(n)):
        y[n] = y[n] * x
    for y in y[::-1]:
        n = n + y * x
    return n


@program()
def stores_by_targets(x):
    y, d = x * 1.0, {}
    for y[1], d["k"] in zip(y, (2.0, 3.0, 4.0)):
        y[2] = y[1] * d["k"]
    return y * d["k"]


@program({"a": X, "b": X[:2] * 3.0})
def views_of_a_dict_whose_items_change(d):
    s = 0.0
    for k, v in d.items():
        d[k] = v * v
        s = s + np.sum(d[k])
    for i, v in enumerate(d.values()):
        s = s * (i + np.sum(v))
    for k in reversed(d):
        s = s + d[k][0] * len(k)
    return s


@program()
def ranges_that_are_kept(x):
    r = range(3, 0, -1)
    s = 1.0
    for i in r:
        for c in "ab":
            s = s * x[i] + (c == "a")
    for i, v in zip(r, x):
        s = s + i * v
    return s


@program()
def places_that_change_while_they_are_run_through(x):
    y = x * 1.0
    for i, v in enumerate(y):
        y[3 - i] = v * y[i]
    return y


# --- containers ------------------------------------------------------------------------------------------------------
@program()
def a_list_in_every_way(x):
    q = [x[0], x[1] * 2.0]
    same = q
    q.insert(1, x[2])
    q.extend(v * v for v in x)
    q.extend(reversed(q[:2]))
    q.reverse()
    u = q.pop(1) * same.pop()
    q.remove(q[0])
    q.insert(-1, u)
    del q[2]
    other = q.copy()
    q.clear()
    q.append(u * x[3])
    return sum(other) * q[0] + len(same)


@program()
def a_deque_in_every_way(x):
    q = deque(x * 2.0)
    q.appendleft(x[1] * x[0])
    q.rotate(2)
    q.append(q.popleft() * q.pop())
    s = 1.0
    for v in q:
        s = s * v + v
    return s


@program()
def a_dict_in_every_way(x):
    d = dict(a=x[0], b=x[1])
    e = {**d, "c": x[2]}
    d.update(e, z=x[3])
    k, v = d.popitem()
    s = v * d.pop("a") * d.setdefault("b", x[3]) * len(k)
    s = s + d.get("missing", s) * d.get("c") * d.setdefault("y", x[0])
    return s * e["a"] + sum(d.values()) * len(d) + sum(e.values())


@refused
def a_dict_made_of_entries(x):
    d = {"a": x[0], "b": x[1]}
    e = {k * 2: v * v for k, v in d.items()}
    return e["aa"]


@program()
def defaults_are_computed_before(x):
    d = {"a": x[0]}
    q = [x[1], x[2]]
    s = d.get("a", q.pop()) * q[-1]
    return s + d.setdefault("n", q.pop()) * len(q) + d["n"]


@program()
def pops_among_numbers(x):
    q = [1, 2, 0]
    i = q.pop() + q[0] * q.pop()
    return x[i] * x[q.pop() + len(q)]


@program()
def a_deque_of_an_array_that_drops_items(x):
    d = deque(x, maxlen=3)
    d.append(x[0] * x[1])
    d.extend([x[2] * x[2]])
    d.extendleft([v * 2.0 for v in x[:1]])
    return d[0] * d[1] * d[-1] + len(d)


@program()
def lists_under_computed_keys(x):
    d = {}
    for i in range(4):
        d.setdefault(i % 2, []).append(x[i] * x[i])
    q, s = list(x), 1.0
    while q:
        v = q.pop()
        if v < 0:
            continue
        s = s * v + v
    return sum(d[0]) * sum(d[1]) * s


# --- arrays ----------------------------------------------------------------------------------------------------------
@program()
def stores_by_functions(x):
    m = np.zeros((2, 2))
    y = m.reshape(4)
    np.copyto(y, x)
    np.put(m, [0, 3], x[:2] * 2.0)
    np.multiply(m, x[0], out=m[:, ::-1])
    m.T.flat[1] = x[3]
    np.add.at(y, [0, 0, 1], x[:3])
    z = np.exp(y, out=np.ones(4), where=y > 0.5)
    np.fill_diagonal(m, x[2:])
    m[0].sort()
    return m * z.reshape(2, 2) + y[0]


@program()
def outputs_that_are_read_in_the_same_expression(x):
    y = np.empty(4)
    z = np.multiply(x, x, out=y)
    z += y
    np.putmask(y, y > 1.0, x[::-1] * x)
    return np.sin(x, out=y) * y + np.cos(x, out=y)


@program()
def random_numbers(x):
    rng = np.random.default_rng(3)
    a, i = rng.normal(size=4), rng.integers(0, 3)
    m = np.outer(x, x)
    rng.shuffle(m, axis=1)
    return m[0] * a + rng.standard_normal(4) * x[i]


@program()
def views_and_copies(x):
    m = x.reshape(2, 2)
    r = m.T.ravel()
    r[0] = x[1] * x[1]
    d = m.copy().diagonal() * r[:2]
    a = np.asarray(r)
    a[1] *= 3.0
    rows = np.array([row * row for row in m])
    return rows @ d * r[1]


@program()
def rows_of_an_array(x):
    m = x.reshape(2, 2) * 1.0
    for row in m:
        row *= x[:2]
        row[0] = row[1] * row[0]
    return m


# --- generators and names in expressions -----------------------------------------------------------------------------
@program()
def consumed_generators(x):
    y = [v * 2.0 for v in x]
    s = sum(u * v for u in y for v in x if u > v)
    s = s + max(v * v for v in y) * min(v for v in x)
    if any(v > 2.0 for v in y) and all(v < 9.0 for v in y):
        s = s * 2.0
    return s + sum((x[i] * y[i] for i in range(3)), s) + sum(tuple(v * s for v in x))


@program()
def generators_with_calls_that_store(x):
    buffer = np.zeros(2)

    def filled(v):
        buffer[0] = v * v
        buffer[1] = v
        return buffer

    s = sum(filled(v) * v for v in x)
    for i in range(3):
        s = s + sum(v * x[i] for v in x if v > x[i]) * sum(x[j] for j in range(i))
    return s


@program()
def names_in_tests(x):
    s, i = 0.0, 0
    while (v := x[i]) > -1.0 and (i := i + 1) < 4:
        s = s + v * i
    return s + (w := s * 2.0) * w if (u := x[1]) > 1.0 else u


# --- refused, or right -----------------------------------------------------------------------------------------------
@refused
def a_loop_over_what_grows(x):
    q = [x[0]]
    for v in q:
        if len(q) < 3:
            q.append(v * 2.0)
    return sum(q)


@refused
def a_view_that_is_kept(x):
    d = {"a": x[0]}
    v = d.values()
    d["b"] = x[1]
    return sum(v)


@refused
def an_array_that_is_joined_by_an_index(x):
    return np.r_[x[0], x[1:]]


@refused
def defaults_of_functions_of_one_text(x):
    fs, s = [], 0.0
    for k in range(3):
        fs.append(lambda v, k=k: v * k)
        s = s + fs[0](x)
    return s


@refused
def what_a_generator_reads_is_read_late(x):
    k = x[0]
    t = (v * k for v in x)
    k = x[1] * 2.0
    return sum(t) * k


def _of(entry: tuple[Callable[..., Any], tuple[Any, ...]]) -> Program:
    function, arguments = entry
    return Program(function.__name__, "specialise", function, arguments, argnums=(0,))


def _check(case: Program, monkeypatch: pytest.MonkeyPatch) -> bool:
    if written(case) is None:
        return False
    with serving(case, monkeypatch.setattr):
        return is_served(lambda: running.run_reverse(case, sink=True)) and is_served(lambda: running.run_forward(case))


@pytest.mark.parametrize("entry", _PROGRAMS, ids=lambda entry: entry[0].__name__)
@pytest.mark.costly(2)
def test_derivatives(entry: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    assert _check(_of(entry), monkeypatch)


@pytest.mark.parametrize("entry", _REFUSED, ids=lambda entry: entry[0].__name__)
def test_right_or_refused(entry: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing is wrong: what is served gives the right numbers."""
    _check(_of(entry), monkeypatch)
