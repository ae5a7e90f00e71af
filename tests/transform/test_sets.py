"""Sets: what may not be put in, whatever it went through; what a set that is given is afterwards."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from srcgrad import grad, jvp
from srcgrad.errors import SrcgradError, UnsupportedSyntax
from srcgrad.runtime.isolation import private
from srcgrad.runtime.refusals import RefusedType, RefusedValue

POINT = np.array([1.1, 0.6, 2.2, 0.7])
SHARED = {0, 2}


def put(known, item):
    known.add(item)


def put_all(known, items):
    known.update(items)


def fresh():
    return set()


def total(known):
    return sum(known)


def keys_of_a_dict(x):
    return sum(set({x[0]: 1.0}))


def keys_by_a_loop_and_a_callee(x):
    known = fresh()
    for key in {x[0]: 1.0}:
        put(known, key)
    return total(known)


def keys_by_a_callee_alone(x):
    known = fresh()
    put_all(known, {x[0]: x[1]})
    return total(known)


def a_number_read_from_text(x):
    known = {1.0}
    known.add(float(f"{x[0]}"))
    return sum(known)


def a_number_read_from_text_by_a_callee(x):
    known = fresh()
    put(known, float(str(x[0])))
    return total(known)


def in_a_pair(x):
    return sum(v for _, v in {(0, x[0])})


def on_a_later_pass(x):
    known, v = set(), 1.0
    for i in range(3):
        known.add(v)
        v = v * x[i]
    return sum(known)


@pytest.mark.parametrize(
    "function",
    [
        keys_of_a_dict,
        keys_by_a_loop_and_a_callee,
        keys_by_a_callee_alone,
        a_number_read_from_text,
        a_number_read_from_text_by_a_callee,
        in_a_pair,
        on_a_later_pass,
    ],
    ids=lambda function: function.__name__,
)
def test_what_varies_is_refused_on_every_way_into_a_set(function: Callable[..., float]) -> None:
    with pytest.raises(UnsupportedSyntax) as caught:
        grad(function)(POINT)
    assert caught.value.span is not None
    with pytest.raises(UnsupportedSyntax):
        jvp(function, (POINT,), (POINT,))


def test_a_list_among_sets_is_found_when_it_is_read() -> None:
    def mixed(x):
        known = {0: {1.0}}
        around = [known, 3.0]
        around[0][1] = [x[0], x[1]]
        return sum(known[1].copy()) + sum(v for v in known[0] | {2.0})

    def taken(x):
        known = [{1.0}, {2.0}]
        around = [known, 3.0]
        around[0][1] = [x[0], x[1]]
        t = 0.0
        for each in known:
            t = t + each.pop()
        return t

    step = 1e-6 * np.eye(4)
    for function in (mixed, taken):
        numeric = [(function(POINT + h) - function(POINT - h)) / 2e-6 for h in step]
        try:
            found = grad(function)(POINT)
        except (RefusedType, SrcgradError, TypeError, AttributeError):
            continue
        np.testing.assert_allclose(found, numeric, rtol=1e-6)


def test_a_second_derivative_looks_at_what_is_put_into_a_set() -> None:
    def weighted(a, b):
        return a * a * sum({b})

    def slope(b):
        return grad(lambda a: weighted(a, b))(2.0)

    with pytest.raises((RefusedType, UnsupportedSyntax)):
        grad(slope)(3.0)


def test_a_set_outside_is_not_changed() -> None:
    def changed(x):
        SHARED.add(5)
        return x[0] * len(SHARED)

    with pytest.raises(UnsupportedSyntax, match="may store into the global or closure variable 'SHARED'"):
        grad(changed)(POINT)
    assert {0, 2} == SHARED


def test_an_argument_stays_as_it_is_and_goes_on_being_shared() -> None:
    def walked(x, seen, groups):
        groups["a"].add(2)
        seen.discard(0)
        return sum(x[i] ** 2 for i in seen) * len(groups["a"])

    seen = {0, 1}
    groups = {"a": seen}
    gradient = grad(walked)(POINT, seen, groups)
    assert seen == {0, 1}
    np.testing.assert_allclose(gradient, [0.0, 4.0 * POINT[1], 4.0 * POINT[2], 0.0])


def test_a_copy_of_a_set_has_its_order_or_is_refused() -> None:
    given = {8, 16, 0, 24, 3}
    assert list(private(given)) == list(given)
    emptied = set(range(1000))
    for item in range(995):
        emptied.discard(item)
    with pytest.raises(RefusedValue, match="of which no copy has the same order"):
        private(emptied)
