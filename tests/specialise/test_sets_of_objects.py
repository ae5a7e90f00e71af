"""Sets of objects that equal themselves alone: what is read from them has derivatives; what is not known is refused."""

from __future__ import annotations

import copy

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import UnsupportedSyntax
from srcgrad.runtime.refusals import Refused

X = np.array([0.31, 0.72, 0.55])


class Item:
    def __init__(self, v):
        self.v = v


class Equal(Item):
    def __eq__(self, other):
        return self.v == other.v

    def __hash__(self):
        return 1


def met(x):
    a, b, seen = Item(x[0]), Item(x[0]), set()
    seen.add(a)
    a.v = a.v * x[1]
    return (a.v if a in seen else 0.0) * (7.0 if b in seen else x[2])


def test_an_object_is_looked_for_by_identity():
    assert np.allclose(srcgrad.grad(met)(X), [X[1] * X[2], X[0] * X[2], X[0] * X[1]])


def listed(x):
    seen = set()
    seen.add(Item(x[0]))
    return list(seen)[0].v


def unpacked(x):
    seen = set()
    seen.add(Item(x[0]))
    (one,) = seen
    return one.v


def popped(x):
    seen = set()
    seen.add(Item(x[0]))
    return seen.pop().v


def gone_over(x):
    seen = set()
    for v in x:
        seen.add(Item(v))
    return sum(one.v for one in seen)


def of_a_field(x):
    held = Item(set())
    held.v.add(Item(x[0]))
    return sum(one.v for one in held.v)


READ = [listed, unpacked, popped, gone_over, of_a_field]


@pytest.mark.parametrize("function", READ, ids=lambda f: f.__name__)
@pytest.mark.costly(2)
def test_what_is_read_from_a_set_has_a_derivative(function):
    expected = np.ones(3) if function is gone_over else [1.0, 0.0, 0.0]
    with srcgrad.options(specialise=False):
        assert np.allclose(srcgrad.grad(function)(X), expected)
    assert np.allclose(srcgrad.grad(function)(X), expected)


def changed_while_gone_over(x):
    held = {Item(x[0])}
    for one in held:
        held.add(Item(one.v))
    return x[0]


def test_a_set_that_changes_while_it_is_gone_over_is_refused():
    with pytest.raises(Refused, match="changed size during iteration"):
        srcgrad.grad(changed_while_gone_over)(X)


def which_it_is(x):
    held, total = {Item(x[0])}, 0.0
    for one in held:
        total = total + one.v
    return total * (x[1] if isinstance(held, set) and not isinstance(held, (list, frozenset)) else x[2])


def test_it_is_a_set():
    assert np.allclose(srcgrad.grad(which_it_is)(X), [X[1], X[0], 0.0])


def set_or_list(x):
    total = 0.0
    for held in ({Item(x[0])}, [Item(x[1])]):
        total = total + (x[2] if isinstance(held, set) else 0.0)
        for one in held:
            total = total + one.v
    return total


def of_which_class(x):
    held = {Item(x[0])}
    return sum(one.v for one in held) * (2.0 if type(held) is set else 1.0)


def copied_deeply(x):
    held = copy.deepcopy({Item(x[0])})
    return sum(one.v for one in held)


def frozen(x):
    return sum(one.v for one in frozenset([Item(x[0])]))


OUTSIDE = Item({Item(2.0), Item(3.0)})


def from_outside(x):
    return sum(one.v * x[0] for one in OUTSIDE.v)


def place_of_what_is_outside(x):
    return x[0] * float(id(OUTSIDE) == PLACE)


PLACE = id(OUTSIDE)


def joined(x):
    seen, total = set(), 0.0
    seen.add(Item(x[0]))
    for one in seen | {1}:
        total = total + (2.0 if one == 1 else one.v)
    return total


def that_say_what_they_equal(x):
    seen = set()
    seen.add(Equal(x[0]))
    return x[1] if Equal(x[0]) in seen else x[2]


def in_a_tuple(x):
    a, seen = Equal(x[0]), set()
    seen.add((a, 1))
    return a.v * len(seen)


def returned(x):
    held = {Item(x[0])}
    return sum(one.v for one in held), [Item(held)]


def by_its_class(x):
    held = {Item(x[0])}
    return sum(one.v for one in held) * (2.0 if held.__class__ is set else 1.0)


def by_a_field_that_no_set_has(x):
    held = {Item(x[0])}
    return getattr(held, "held", x[1]) * x[2]


def with_a_field_of_its_own(x):
    held = {Item(x[0])}
    try:
        held.tag = x[1]
    except AttributeError:
        return x[2]
    return sum(one.v for one in held)


def a_set_or_an_object(x):
    total = 0.0
    for one in ({Item(x[0])}, Item(x[1])):
        total = total + (100.0 * x[2] if hasattr(one, "held") else x[0])
    return total


def a_field_of_one_of_them(x):
    total = 0.0
    for one in ({Item(x[0])}, Item(x[1])):
        total = total + (100.0 * x[2] if hasattr(one, "v") else x[0])
    return total


def asked_for_a_field(x):
    held = {Item(x[0])}
    return sum(one.v for one in held) * (2.0 if hasattr(held, "held") else 1.0) * (3.0 if hasattr(held, "add") else 1.0)


def by_its_text(x):
    held = {Item(x[0])}
    return sum(one.v for one in held) * (2.0 if f"{held}".startswith("{<") else 1.0)


def test_a_set_of_objects_has_the_attributes_and_the_text_of_a_set():
    """Once the class that stands for it was seen, and what it holds."""
    assert np.allclose(srcgrad.grad(by_its_text)(X), [2.0, 0.0, 0.0])
    assert np.allclose(srcgrad.grad(asked_for_a_field)(X), [3.0, 0.0, 0.0])
    assert np.allclose(srcgrad.grad(a_set_or_an_object)(X), [2.0, 0.0, 0.0])


REFUSED = [
    by_its_class, by_a_field_that_no_set_has, with_a_field_of_its_own, a_field_of_one_of_them, joined,
    that_say_what_they_equal, in_a_tuple, set_or_list, of_which_class, copied_deeply, frozen, from_outside,
    place_of_what_is_outside, returned,
]  # fmt: skip


@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__name__)
def test_what_is_not_followed_is_refused(function):
    with pytest.raises(UnsupportedSyntax) as refused:
        srcgrad.vjp(function, X)
    assert refused.value.code in ("E0407", "E0214", "E0109")
    assert "ObjectSet" not in str(refused.value)
