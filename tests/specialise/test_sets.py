"""Sets: what is done with them is written from values, and right in both directions."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.runtime.refusals import RefusedValue
from tests.directed import bookkeeping
from tests.specialise.serving import check_right

X = np.array([1.1, 0.6, 2.2, 0.7])
OUT = {0, 2}
NAMES = frozenset({"a", "b"})
PAIRS = [{0, 1}, {2}]
TABLE = {"k": {1, 3}}


# --- what is served --------------------------------------------------------------------------------------------------

def outside_read(x):
    s = 0.0
    for i in OUT:
        s = s + x[i] ** 2
    for i in sorted(TABLE["k"]):
        s = s * x[i]
    for g in PAIRS:
        for i in g:
            s = s + x[i] * x[i]
    return s * len(NAMES) if "a" in NAMES else s


def empty_constructors(x):
    d, l, t, f, s = dict(), list(), tuple(), frozenset(), set()
    d["a"] = x[0]
    l.append(x[1])
    t = (*t, x[2])
    s.add(len(f))
    return d["a"] * l[0] * t[0] + len(s) * x[3]


def slices_called(x):
    a, b = slice(1, 3), slice(None, None, -1)
    y = x[slice(0, 4, 2)]
    return np.sum(x[a] * y) + np.sum(x[b] * x)


def aug_in_field_and_item(x):
    d = {"s": {0}}
    e = [set(), {1}]
    for i in range(3):
        d["s"] |= {i}
        e[0] |= d["s"]
        e[1] ^= {i}
        e[1] -= {7}
    s = 0.0
    for i in d["s"]:
        s = s + x[i] ** 2
    for i in sorted(e[0] & e[1]):
        s = s * x[i]
    return s * len(e[1])


class Box:
    def __init__(self, w):
        self.w = w
        self.s = {0}
    def put(self, i):
        self.s |= {i}
        self.s.add(i + 1)
        return self


def field_in_place(x):
    b = Box(x * 2.0)
    b.put(1)
    b.s &= {0, 1, 2}
    t = b.s
    t -= {0}
    return sum(b.w[i] * b.w[i] for i in b.s) * len(t)


def update_of_generator(x):
    s = set()
    s.update(i for i in range(4) if x[i] > 1.0)
    s.update([0], (1, 1), range(1))
    return np.sum(x[sorted(s)] ** 2)


def frozen_in_place(x):
    f = frozenset([0])
    g = f
    f |= {1, 2}
    f = f - {0}
    s = 0.0
    for i in f:
        s = s + x[i] ** 2
    return s * len(g) * len(f)


def only_asked(x):
    seen = set()
    s = 0.0
    for v in x:
        if v in seen:
            s = s + v
        seen.add(v)
        s = s + v * v * len(seen)
    return s


def set_of_tuples(x):
    e = {(0, 1), (1, 2)}
    e.add((2, 3))
    s = 0.0
    for i, j in sorted(e):
        s = s + x[i] * x[j]
    for i, j in e:
        s = s * (x[i] + x[j])
    return s


def popped(x):
    todo = {0}
    done = set()
    s = 1.0
    while todo:
        i = todo.pop()
        done.add(i)
        s = s * x[i]
        todo.update({(i + 1) % 4, (i + 2) % 4} - done)
    return s * len(done)


def unpacked(x):
    a, b = {1, 2}
    c, *d = sorted({0, 3, 1})
    return x[a] * x[b] * x[c] + x[d[0]] ** 2


def methods(x):
    a, b = {0, 1, 2}, frozenset({1, 2})
    s = 0.0
    for i in a.intersection(b).union([3]).difference((9,)):
        s = s + x[i] ** 2
    c = a.copy()
    c.symmetric_difference_update(b)
    c.intersection_update([0, 1], range(2))
    a.difference_update(c)
    if a.issuperset({1}) and b.issubset(a) and a.isdisjoint(c) and a == b and not a < b and bool(a):
        s = s * x[3] * len(c)
    c.clear()
    if not c:
        s = s + x[0] * x[0]
    return s


def attempted(x):
    free = {0, 1, 2}
    s = 1.0
    for i in (0, 2, 2, 5):
        try:
            free.remove(i)
            s = s * x[i]
        except KeyError:
            s = s + x[0] ** 2
        else:
            s = s * 2.0
        finally:
            free.add(i % 3 + 1)
    try:
        e = set()
        e.pop()
    except KeyError:
        s = s * x[1]
    return s * len(free)


def put(seen, i=0, *more):
    seen.add(i)
    for j in more:
        seen.add(j)
    return seen


def callees(x):
    a = put(set(), 1, 2)
    b = put(a, 3)
    c = put({0})
    return sum(x[i] ** 2 for i in sorted(b)) * len(a) * x[len(c)]


def comprehension_of_several(x):
    a = {i * j for i in range(3) for j in range(2) if i != j}
    b = {*a, 3, *range(2)}
    return sum(x[i] ** 2 for i in a) * sum(x[i] for i in b)


def copies(x):
    a = {0, 1}
    b = copy.copy(a)
    c = copy.deepcopy({"k": a})
    a.add(2)
    return x[len(a)] * x[len(b)] * x[len(c["k"])]


def in_local_function(x):
    seen = {0}
    def put(i):
        nonlocal seen
        seen = seen | {i}
        return x[i] * len(seen)
    return put(1) * put(2) + x[len(seen)]


def none_or_set(x, seen=None):
    seen = set() if seen is None else seen
    s = x[0]
    for i in range(3):
        if i in seen:
            continue
        seen.add(i + 1)
        s = s * x[i] + i
    return s


def literals(x):
    s = 0.0
    for i in {0, 2}:
        s = s + x[i] ** 2
    for k in ("a", "b", "c"):
        if k in {"a", "c"}:
            s = s * x[1]
    return s


def same_set_in_two_lists(x):
    a = {0}
    b = [a, a, {1}]
    b[1].add(2)
    b[2] |= a
    s = 0.0
    for i in a:
        s = s + x[i] ** 2
    for i in b[2]:
        s = s * x[i]
    return s


def enumerated(x):
    s, a = 0.0, {3, 1, 2}
    for k, i in enumerate(a):
        s = s + k * x[i] ** 2
    for i, j in zip(a, sorted(a)):
        s = s + x[i] * x[j]
    t, u = [x[i] ** 2 for i in a], {i: x[i] for i in a}
    return s + sum(t) * u[3] + np.sum(x[list(a)]) * x[max(a)] * x[min(a)] + sum(a) * x[0]


def several_changes_before_it_raises(x):
    s, y = {0}, x * 1.0
    for i in (1, 2):
        try:
            s.add(i)
            y[i] = y[i] * y[0]
            s.remove(7)
            y[0] = 0.0
        except KeyError:
            s |= {i + 1}
    return sum(y[i] * y[i] for i in sorted(s)) * len(s)



_SERVED = [
    outside_read, empty_constructors, slices_called, aug_in_field_and_item, field_in_place, update_of_generator,
    frozen_in_place, only_asked, set_of_tuples, popped, unpacked, methods, attempted, callees,
    comprehension_of_several, copies, in_local_function, none_or_set, literals, same_set_in_two_lists,
    enumerated, several_changes_before_it_raises,
]  # fmt: skip
_DIRECTED = [getattr(bookkeeping, name) for name in """
    a_callee_adds a_local_function_adds a_set_comprehension a_set_in_a_field a_set_made_by_a_callee
    a_union_is_another_set asked_before_and_after_a_change asked_in_a_callee_and_changed_after
    caught_in_between emptied_by_a_while left_when_seen_again names_and_pairs operators_of_sets
    stored_by_places_from_sets two_names_for_one_set what_is_free
""".split()]


@pytest.mark.parametrize("function", [*_SERVED, *_DIRECTED])
@pytest.mark.costly(4, first=2)
def test_derivatives(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check_right(function, monkeypatch, X)


def given(x, a, b):
    s = 0.0
    for i in a | b:
        s = s + x[i] ** 2
    a |= b
    return s * len(a)


def test_sets_as_arguments() -> None:
    """Of which kind their items are is of the kind of the call: another program for names than for places."""
    derivative = srcgrad.grad(given)
    for one, other in (({0, 2}, frozenset({1})), ({3}, {0}), (set(), {1})):
        places = one | other
        expected = [2.0 * len(places) * v * (i in places) for i, v in enumerate(X)]
        np.testing.assert_allclose(derivative(X, set(one), other), expected)
    with pytest.raises(IndexError):
        derivative(X, {"a"}, {"b"})


def grows_in_its_loop(x):
    s, r = {0, 1}, 0.0
    for i in s:
        r = r + x[i] ** 2
        s.add(i + 1)
    return r


def test_a_set_that_changes_its_length_in_its_loop() -> None:
    with pytest.raises(RefusedValue, match="changed size during iteration"):
        srcgrad.grad(grows_in_its_loop)(X)
