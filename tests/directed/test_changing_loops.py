"""Loops over dicts, sets and deques that change meanwhile are refused where Python raises, and not before."""

from collections import defaultdict, deque

import pytest

import srcgrad
from srcgrad.programs import options
from srcgrad.runtime.refusals import RefusedValue


def put(d, k, v):
    d[k] = v


class Holder:
    def __init__(self, x):
        self.d = {"a": x, "b": x * 2.0}

    def put(self, k, v):
        self.d[k] = v

    def total(self, s):
        for k, v in self.d.items():
            self.put(k + "n", v)
            s = s * 3.0 + v
        return s


def keys(x):
    d, s = {"a": x, "b": x * 2.0}, x
    for _ in d:
        d["c"] = s
        s = s * 3.0
    return s


def items_in_try(x):
    d, s = {"a": x, "b": x * 2.0}, x
    try:
        for _, v in d.items():
            d["c"] = s
            s = s * 3.0 + v
    except RuntimeError:
        s = s + x
    return s


def values_in_the_last_pass(x):
    d, s = {"a": x, "b": x * 2.0}, x
    for v in d.values():
        if v > x:
            d["c"] = s
        s = s * 3.0 + v
    return s


def before_continue(x):
    d, s = {"a": x, "b": x * 2.0}, x
    for k, v in d.items():
        if k == "a":
            del d["b"]
            continue
        s = s * 3.0 + v
    return s


def by_a_callee(x):
    d, s = {"a": x, "b": x * 2.0}, x
    for j, k in enumerate(d):
        put(d, "c", x)
        s = s * 3.0 + j * len(k)
    return s


def by_a_local_function(x):
    d = {"a": x, "b": x * 2.0}

    def f(v):
        d["c"] = v
        return v * x

    return sum([f(v) for v in d.values()])


def in_a_method(x):
    return Holder(x).total(x)


def by_a_missing_entry(x):
    d, s = defaultdict(float), x
    d["a"] = x
    for k in d:
        s = s * 3.0 + d[k + "n"]
    return s


def backwards(x):
    d, s = {"a": x, "b": x * 2.0}, x
    for k, v in reversed(d.items()):
        d.setdefault(k + "n", s)
        s = s * 3.0 + v
    return s


def a_set(x):
    seen, s = {1, 2}, x
    for j in seen:
        seen.discard(j)
        s = s * 3.0 + j
    return s


def turned(q):
    q.rotate(1)


def a_deque(x):
    q, s = deque([x, x * 2.0]), x
    for v in q:
        turned(q)
        s = s * 3.0 + v
    return s


@pytest.mark.parametrize("way", ["reverse", "forward"])
@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize(
    "function",
    [
        keys, items_in_try, values_in_the_last_pass, before_continue, by_a_callee, by_a_local_function, in_a_method,
        by_a_missing_entry, backwards, a_set, a_deque,
    ],
)  # fmt: skip
@pytest.mark.costly(3, first=1)
def test_python_raises_where_this_is_refused(function, way, specialise):
    """Once silently wrong: the loop went on over what there was before it."""
    if function is not items_in_try:
        with pytest.raises(RuntimeError, match="during iteration"):
            function(0.7)
    refused = pytest.raises((RefusedValue, srcgrad.UnsupportedSyntax), match="during|may raise what is caught")
    with options(specialise=specialise), refused:
        srcgrad.grad(function)(0.7) if way == "reverse" else srcgrad.jvp(function, (0.7,), (1.0,))


def exchanged(x):
    d, s = {"a": x, "b": x * 2.0, "c": x}, x
    for k in d:
        if k == "a":
            d["b"] = d.pop("b") * x
        s = s * 3.0 + d[k]
    return s


def test_keys_that_change_their_order_are_refused():
    """Once silently wrong: Python goes on with the keys that there are now."""
    with pytest.raises(RefusedValue, match="exchanged during iteration"):
        srcgrad.grad(exchanged)(0.7)
