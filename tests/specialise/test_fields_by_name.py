"""Fields that functions read and set by their names: ``getattr``, ``setattr``, ``replace``, ``asdict``, ``astuple``."""

from __future__ import annotations

from dataclasses import asdict, astuple, dataclass, field, fields, is_dataclass, replace
from typing import NamedTuple

import numpy as np
import pytest

from srcgrad import grad
from tests.specialise.serving import check_refused, check_right

X = np.array([0.7, 1.3, 0.4, 1.9])


@dataclass
class Setting:
    a: float
    b: object = 2.0
    log: list = field(default_factory=list)

    def times(self, v):
        return self.a * v


@dataclass
class Started(Setting):
    c: float = 1.0

    def __post_init__(self):
        self.a = self.a * self.c
        self.log.append(self.a)


@dataclass
class Point:
    u: float
    w: float


@dataclass
class Partly:
    a: float
    q: float = field(init=False, default=2.0)


class Plain:
    rate = 3.0

    def __init__(self, a):
        self.a = a

    def times(self, v):
        return self.a * v

    @property
    def doubled(self):
        return self.a * self.a

    @doubled.setter
    def doubled(self, v):
        self.a = v * 2.0


class Pair(NamedTuple):
    a: float
    b: object = 2.0

    def doubled(self):
        return self._replace(a=self.a * 2.0)


class Anything:
    def __init__(self, a):
        self.a = a

    def __getattr__(self, name):
        return 5.0


def another_shares_what_it_is_not_given(x):
    d = Setting(x[0], x[1])
    e = replace(d, a=d.a * x[2])
    e.log.append(x[3])
    d.a = x[1]
    return e.a * e.b * d.log[0] * d.a


def started_again(x):
    d = Started(x[0], c=x[1])
    e = replace(d, b=x[2])
    return e.a * e.b * len(d.log) * d.log[1] * d.a


def replaced_in_a_loop(x):
    d, total = Setting(x[0]), 0.0
    for k in range(3):
        d = replace(d, a=d.a * x[k], b=d.times(x[3]))
        total = total + d.a * d.b
    return total


def fields_are_read_once_the_others_are_computed(x):
    d = Setting(x[0])

    def change():
        d.b = x[3]
        return x[1]

    return replace(d, a=change()).b * d.a


def set_and_read(x):
    o, name = Plain(x[0]), "a"
    setattr(o, name, x[1] * getattr(o, name))
    setattr(o, "z", x[2])
    return getattr(o, "a") * getattr(o, "z") * getattr(o, "rate") * getattr(o, "times")(x[3])


def through_a_property(x):
    o = Plain(x[0])
    setattr(o, "doubled", x[1])
    return getattr(o, "doubled") * getattr(o, "missing", x[2]) * o.a


def items_of_named_tuples(x):
    p = Pair(x[0], [x[1]])
    q = p._replace(a=x[2])
    q.b.append(x[3])
    r = Pair(x[0])
    for k in range(3):
        r = r._replace(b=r.a * x[k])
    return p.b[1] * q.b[0] * q.a * r.doubled().a * r.b * p._replace().a * p._replace(b=x[1], a=x[2]).b


def what_is_missing_is_caught(x):
    o = Plain(x[0])
    try:
        return getattr(o, "missing") * x[1]
    except AttributeError:
        return x[2] * o.a


@dataclass
class Joint:
    left: Point
    weights: object
    right: Point


def taken_apart(x):
    p = Point(x[0], x[1])
    a, b = astuple(p)
    held = asdict(p)
    p.u = p.u * 2.0
    return a * b + held["u"] * p.u


def taken_apart_with_its_parts(x):
    pair = Joint(Point(x[0], 1.0), x[1:3], Point(x[3], x[1]))
    held = asdict(pair)
    pair.weights[0] = 5.0
    pair.left.u = 2.0
    return held["left"]["u"] * held["weights"][0] * held["right"]["w"] * pair.weights[1]


def arrays_are_copied(x):
    y = x.copy()
    held = asdict(Joint(Point(x[0], 1.0), y, Point(1.0, x[1])))
    held["weights"][1] = 3.0 * held["weights"][0]
    y[0] = x[2] ** 2
    return held["weights"].sum() * y.sum()


def one_part_twice(x):
    pair = Joint(Point(x[0], 1.0), x[1], Point(x[2], 1.0))
    pair.right = pair.left
    held = asdict(pair)
    held["left"]["u"] = x[3]
    return held["left"]["u"] * held["right"]["u"]


def taken_apart_into_arguments(x):
    return powered(**asdict(Point(x[0], x[1])))


def powered(u, w):
    return u * w**2


@pytest.mark.parametrize("function", [
    taken_apart, taken_apart_with_its_parts, arrays_are_copied, one_part_twice, taken_apart_into_arguments,
    another_shares_what_it_is_not_given, started_again, replaced_in_a_loop,
    fields_are_read_once_the_others_are_computed, set_and_read, through_a_property, items_of_named_tuples,
    what_is_missing_is_caught,
])  # fmt: skip
@pytest.mark.costly(2, first=1)
def test_fields_by_their_names_are_right(function, monkeypatch):
    check_right(function, monkeypatch, X)


def may_be_there(x):
    o = Plain(x[0])
    if x[1] > 0.0:
        o.b = x[2]
    return getattr(o, "b", x[3]) * o.a


def is_made_up(x):
    o = Anything(x[0])
    return getattr(o, "a", x[1]) * getattr(o, "b", x[2])


def is_set_by_the_class(x):
    d = Partly(x[0])
    return replace(d, a=x[1]).a * d.q


def lists_that_are_copied(x):
    pair = Joint([x[0], x[1]], x[1], None)
    held = asdict(pair)
    pair.left[0] = 3.0
    return held["left"][0] * pair.weights


@pytest.mark.parametrize("function", [may_be_there, is_made_up, is_set_by_the_class, lists_that_are_copied])
def test_fields_of_which_it_is_not_known_are_refused(function, monkeypatch):
    check_refused(function, monkeypatch, X)


# --- names that a loop goes over -------------------------------------------------------------------------------------
NAMES = ("u", "w")


class Slotted:
    __slots__ = ("u", "w")

    def __init__(self, u, w):
        self.u, self.w = u, w


class Weighed(NamedTuple):
    u: float
    w: float


def scaled(thing, names, k):
    for name in names:
        setattr(thing, name, getattr(thing, name) * k)


def over_a_tuple(x):
    point = Point(x[0], x[1])
    for name, k in (("u", x[2]), ("w", 3.0)):
        setattr(point, name, getattr(point, name) * k)
    return point.u * point.w


def over_what_a_class_holds(x):
    slotted, pair, s = Slotted(x[0], x[1]), Weighed(x[2], x[3]), 0.0
    for name in slotted.__slots__:
        setattr(slotted, name, getattr(slotted, name) * 2.0)
    for name in Weighed._fields:
        s = s * x[0] + getattr(pair, name)
    for name in Point.__annotations__:
        s = s * x[1] + getattr(slotted, name)
    return s * slotted.u * slotted.w


def over_the_fields(x):
    point, s = Point(x[0], x[1]), 0.0
    for each in fields(point):
        s = s * x[2] + getattr(point, each.name) ** 2
        setattr(point, each.name, s)
    both = [getattr(point, each.name) for each in fields(Point)]
    return both[0] * both[1] * len(fields(point)) * fields(Setting)[1].default if is_dataclass(point) else s


def that_ends_early(x):
    point, s = Point(x[0], x[1]), 1.0
    for name in ("w", "missing", "u", "w"):
        if not hasattr(point, name):
            continue
        s = s * 2.0 + getattr(point, name) ** 2
        if name == "u":
            break
    else:
        s = s * 7.0
    return s * (x[2] if name == "u" else 1.0)


def in_comprehensions(x):
    point = Point(x[0], x[1])
    held = {name: getattr(point, name) * 2.0 for name in NAMES}
    return sum([getattr(point, name) ** 2 for name in ("u", "w")]) * held["u"] + getattr(point, "none", x[2])


def by_a_function(x):
    point = Point(x[0], x[1])
    scaled(point, ("u", "w"), x[2])
    scaled(point, ("w", "u"), x[3])
    return point.u * point.w + point.u


def of_a_list_that_changes(x):
    point, names = Point(x[0], x[1]), ["u", "u"]
    for name in names:
        names[1] = "w"
        setattr(point, name, getattr(point, name) * 2.0)
    return point.u * point.w


def as_many_names_as_are_given(x):
    point = Point(x[0], x[1])
    scaled(point, ("u",), x[2])
    scaled(point, ("u", "w"), x[3])
    return point.u * point.w


@pytest.mark.parametrize("function", [
    over_a_tuple, over_what_a_class_holds, over_the_fields, that_ends_early, in_comprehensions, by_a_function,
])  # fmt: skip
@pytest.mark.costly(2)
def test_names_that_a_loop_goes_over(function, monkeypatch) -> None:
    """Each round is followed by itself: the name says which field is read."""
    check_right(function, monkeypatch, X)


@pytest.mark.parametrize("function", [of_a_list_that_changes, as_many_names_as_are_given])
def test_names_that_are_not_the_same_each_time(function, monkeypatch) -> None:
    check_refused(function, monkeypatch, X)


def test_names_that_are_bound_again(monkeypatch) -> None:
    """Names that are read outside are compiled in, and looked at again."""
    def product(x):
        point = Point(x[0], x[1])
        scaled(point, NAMES, x[2])
        return point.u * point.w

    np.testing.assert_allclose(grad(product)(X), [X[1] * X[2] ** 2, X[0] * X[2] ** 2, 2.0 * X[0] * X[1] * X[2], 0.0])
    monkeypatch.setitem(globals(), "NAMES", ("w",))
    np.testing.assert_allclose(grad(product)(X), [X[1] * X[2], X[0] * X[2], X[0] * X[1], 0.0])
