"""Objects that say themselves what iterating over them gives, and lists of objects that compare."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import UnsupportedSyntax, grad, options
from srcgrad.runtime.refusals import Refused
from tests.specialise.serving import check_refused, check_right, program_of, serving

X = np.array([0.7, 1.3, 0.4, 0.9])


class Counting:
    """It counts how often it is gone over."""

    def __init__(self, items):
        self.items = items
        self.n = 0

    def __iter__(self):
        self.n += 1
        return iter(self.items)


class Pair:
    def __init__(self, a, b):
        self.a = a
        self.b = b

    def __iter__(self):
        return iter((self.a, self.b))


class Stepping:
    """An iterator of its own."""

    def __init__(self, items):
        self.items, self.k = items, 0

    def __iter__(self):
        self.k = 0
        return self

    def __next__(self):
        if self.k >= len(self.items):
            raise StopIteration
        self.k += 1
        return self.items[self.k - 1]


class Ranked:
    def __init__(self, v):
        self.v = v

    def __lt__(self, other):
        return self.v < other.v

    def __eq__(self, other):
        return abs(self.v - other.v) < 1e-3

    __hash__ = None


class Asked(Ranked):
    n = 0

    def __lt__(self, other):
        self.n += 1
        return self.v < other.v


def loops(x):
    items, s = Counting(x), 0.0
    for v in items:
        s = s + v * v * items.n
    for v in items:
        s = s * v * items.n
    return s


def loops_in_loops(x):
    items = Counting(x)
    return sum(a * b for a in items for b in items) * items.n


def what_is_stored_meanwhile(x):
    y, s = list(x), 0.0
    for v in Counting(y):
        s = s + v * v
        y[3] = v * x[0]
    return s


def functions_over_objects(x):
    items = Counting(x)
    s = sum(items) * max(items) * min(items) + sum([v * v for v in items]) * sum(v for v in items)
    return s * tuple(items)[1] * list(items)[2] * sorted(items)[0] * items.n


def unpacked(x):
    a, b = Pair(x[0] * x[1], x[2])
    (c, *d) = Counting(x)
    return a * b * b * c * d[0]


def asked_for_the_next_one(x):
    items = Counting(x)
    rest = iter(items)
    return next(rest) * next(rest) ** 2 * items.n


def over_nothing(x):
    return sum(Counting([])) + x[0]


def sorted_in_place(x):
    made = [Ranked(v) for v in x]
    same, first = made, made[0]
    made.sort()
    first.v = first.v * x[1]
    made.sort(reverse=True)
    return same[0].v * same[1].v * 3.0 + same[3].v


def sorted_by_objects(x):
    made = [Ranked(v) for v in x]
    made.sort(key=lambda one: Ranked(-one.v))
    return made[0].v * made[1].v * 3.0


def counted_and_removed(x):
    made = [Ranked(v) for v in x]
    s = made.count(Ranked(x[1])) * x[0]
    made.remove(Ranked(x[1]))
    return s * made[1].v * len(made)


@pytest.mark.parametrize("function", [
    loops, loops_in_loops, what_is_stored_meanwhile, functions_over_objects, unpacked, asked_for_the_next_one,
    over_nothing, sorted_in_place, sorted_by_objects, counted_and_removed,
])  # fmt: skip
@pytest.mark.costly(2)
def test_it_is_right(function, monkeypatch):
    check_right(function, monkeypatch, X)


def iterators_of_their_own(x):
    return sum(v * v for v in Stepping(x))


def comparisons_that_store(x):
    made = [Asked(v) for v in x]
    made.sort()
    return made[0].v * made[0].n


@pytest.mark.parametrize("function", [iterators_of_their_own, comparisons_that_store])
def test_it_is_refused(function, monkeypatch):
    check_refused(function, monkeypatch, X)


def too_many(x):
    a, b = Counting(x)
    return a * b


def not_there(x):
    made = [Ranked(v) for v in x]
    made.remove(Ranked(9.0))
    return made[0].v


@pytest.mark.parametrize(("function", "text"), [(too_many, "too many values"), (not_there, "not in")])
def test_it_raises_what_python_raises(function, text, monkeypatch):
    with serving(program_of(function, (X,)), monkeypatch.setattr), options(check=False):
        with pytest.raises(ValueError, match=text):
            grad(function)(X)


# --- what stores when it is gone over, where no call of it is written ------------------------------------------------
class Doubling:
    def __init__(self, v):
        self.v = v

    def __iter__(self):
        self.v = self.v * 2.0
        yield self.v
        yield self.v * 3.0


class Longer:
    """Its length is not how many items it gives."""

    def __init__(self, v):
        self.v = v

    def __len__(self):
        return 5

    def __iter__(self):
        return iter([self.v, 2.0])


class Giving:
    """Its iterator stores into it."""

    def __init__(self, v):
        self.v = v

    def __iter__(self):
        return Taking(self)


class Taking:
    def __init__(self, of):
        self.of, self.n = of, 0

    def __iter__(self):
        return self

    def __next__(self):
        self.n += 1
        self.of.v = self.of.v * 2.0
        if self.n > 2:
            raise StopIteration
        return self.of.v


def asked_by_any_of_another(x):
    held = Giving(x[0])
    return held.v if any(held) else held.v * 5.0


def sought_in(x):
    held = Giving(x[0])
    return held.v if 3.0 in held else held.v * held.v


def of_two(a, b):
    return a * b


def asked_by_any(x):
    held = Doubling(x[0])
    return held.v * held.v if any(held) else held.v


def doubled(held):
    held.v = held.v * 2.0
    yield held.v


def asked_by_any_in_turn(x):
    held = Doubling(x[0])
    return held.v * held.v if any(v > 0.0 for v in doubled(held)) else held.v


class Counted:
    """Its length counts how often it is asked."""

    def __init__(self, x):
        self.x, self.n = x, 0

    def __len__(self):
        self.n += 1
        return 3

    def __getitem__(self, i):
        if i >= 3:
            raise IndexError(i)
        return self.x[i]


def counted_asked(x):
    held = Counted(x)
    return list(iter(held))[0] * held.n


def put_into_a_slice(x):
    held, items = Doubling(x[0]), [1.0, 2.0]
    items[1:] = held
    return held.v * held.v


def starred(x):
    held = Longer(x[0])
    try:
        k = of_two(*held)
    except TypeError:
        k = 7.0
    return held.v * k


@pytest.mark.parametrize("way", [{}, {"specialise": False}], ids=str)
@pytest.mark.parametrize("function", [
    asked_by_any, asked_by_any_in_turn, put_into_a_slice, starred, asked_by_any_of_another, sought_in, counted_asked,
])  # fmt: skip
def test_what_is_stored_unseen_is_refused(function, way):
    """Silently wrong: what ``__iter__`` stored was lost, also that of a generator that ``any`` asks, and a star was as
    long as ``__len__`` said."""
    with options(**way), pytest.raises((UnsupportedSyntax, Refused)):
        grad(function)(X)


# --- objects that generators or indices give the items of -------------------------------------------------------------
class Layers:
    """Python indexes it until that raises, and asks its length to go backwards."""

    def __init__(self, *weights):
        self.weights = list(weights)

    def __len__(self):
        return len(self.weights)

    def __getitem__(self, place):
        return self.weights[place]


class Scaled(Layers):
    def __iter__(self):
        for place in range(len(self)):
            yield 2.0 * self[place]


def indexed(x):
    s = 0.0
    for place, w in enumerate(Layers(*x[:3])):
        s = s * w + w * w * place
    return s * sum(w for w in Layers(*x[:3])) * max(x)


def indexed_while_it_grows(x):
    grown, s = Layers(x[0]), 0.0
    for w in grown:
        s = s + w * w
        if len(grown) < 4:
            grown.weights.append(w * x[1])
    return s


def backwards(x):
    s = 1.0
    for w in reversed(Layers(x[0], x[1], x[2])):
        s = s * 0.5 + w * w
    return s * list(reversed(Layers(x[0], x[1])))[0]


def looked_for(x):
    held = Layers(1.0, 2.0)
    return x[0] ** 2 if 2.0 in held and 3.0 not in Scaled(1.0, 2.0) else x[1]


def generated(x):
    held, s = Scaled(*x[:3]), 1.0
    for w in held:
        s = s + s * w * w
    a, *rest = held
    s = s * a * rest[1] * of_three(*held) * [w * w for w in held][1]
    return s * sum(held) * sum(v * w for v, w in zip(x, held))


def of_three(a, b, c):
    return a * b + c


def stored_by_its_generator(x):
    held = Doubling(x[0])
    a, *b = held
    return held.v * len(list(held)) * held.v * a * b[0]


def flattened(items):
    for held in items:
        yield from held


def in_a_generator(x):
    s = 1.0
    for v in flattened([Scaled(x[0], x[1]), Scaled(x[2], x[3])]):
        s = s + s * v * v
    return s


def asked_one_by_one(x):
    rest = iter(Scaled(x[0], x[1], x[2]))
    return next(rest) * next(rest) ** 2


@pytest.mark.parametrize("function", [
    indexed, indexed_while_it_grows, backwards, looked_for, generated, stored_by_its_generator, in_a_generator,
    asked_one_by_one,
])  # fmt: skip
@pytest.mark.costly(2, first=1)
def test_items_of_objects_are_right(function, monkeypatch):
    check_right(function, monkeypatch, X)
