"""Objects that are printed, searched and compared: what their methods do is followed, what they change is refused."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest

from srcgrad import UnsupportedSyntax, grad
from tests.roads import right

COUNTS = [0.0]


@dataclass
class Setting:
    rate: float
    parts: list = field(default_factory=list)


class Named:
    def __init__(self, v):
        self.v = v

    def __repr__(self):
        return f"Named({self.v:.1f})" if self.v > 1.0 else "Named"

    def __eq__(self, other):
        if not isinstance(other, Named):
            return NotImplemented
        return self.v == other.v

    def __contains__(self, key):
        return key > self.v


class Plain:
    def __init__(self, v):
        self.v = v


class Derived(Named):
    def __eq__(self, other):
        return self.v * 2.0 == other.v


def prints_a_dataclass(x):
    s = Setting(x[0], [x[1], Named(x[1])])
    print(s, repr(s), [s], {"s": s}, end="\n")
    return s.rate * s.parts[0]


def formats_objects(x):
    o, p = Named(x[0]), Plain(x[1])
    text = f"{o} {p!r}" + "%s and %s" % (o, p) + str(o)
    return len(text) * o.v * p.v if text else x[0]


def compares_dataclasses(x):
    s, t = Setting(x[0], [x[1]]), Setting(x[0], [x[1]])
    return x[0] * (s == t) + x[1] * (s != t) + x[0] * x[1] * (s == Setting(x[1])) + x[1] * (s == 3)


def compares_objects(x):
    o = Named(x[0])
    t = x[0] * x[1] if o != Named(x[1]) and not o == 3 and o != None else x[0]
    return t * x[1] if o == Derived(x[0]) else t * x[0]


def searches_objects(x):
    o = Named(x[0])
    t = x[0] if o in [Named(x[1]), Named(x[0])] else x[1]
    t = t * x[1] if o not in (Named(x[1]), 3.0) else t
    return t * x[0] if 5.0 in o and 0.5 not in o else t


def reads_what_it_set(x):
    o = Named(x[0])
    o.v = x[1]
    t = 2.0 if f"{o}" == f"{Named(x[1])}" else 3.0
    o.v = o.v * x[0]
    return t * o.v


class Long:
    def __init__(self, v):
        self.v = v

    def __repr__(self):
        if self.v > 100.0:
            raise ValueError("too long")
        return "N" * int(self.v * 3.1)

    def again(self):
        return self.__class__(self.v * 2.0)


class Longer(Long):
    def __init__(self, v):
        super().__init__(v * 3.0)


def counts_what_it_shows(x):
    o, s = Long(x[0]), x[1]
    for _ in range(3):
        s = s * s * len(repr(o)) + len(f"{o}") * s
        o.v = o.v * 1.5
    return s


def makes_another_of_its_class(x):
    return Longer(x[0]).again().v * len(Longer(x[1]).__class__.__name__) * x[1]


def shows_in_a_try(x):
    o, t = Long(x[0] * 60.0), x[1]
    try:
        t = t * 2.0
        print([o])
        t = t * x[0]
    except ValueError:
        t = t * x[1]
    return t


@pytest.mark.parametrize(
    "function",
    [
        counts_what_it_shows, makes_another_of_its_class, shows_in_a_try, prints_a_dataclass, formats_objects,
        compares_dataclasses, compares_objects, searches_objects, reads_what_it_set,
    ],
)  # fmt: skip
def test_objects_are_asked_as_python_asks_them(function):
    right(function, "inferred")


class CountingField(Plain):
    def __repr__(self):
        self.v = self.v * 2.0
        return "counting"

    def __eq__(self, other):
        self.v = self.v * 2.0
        return True

    def __format__(self, specification):
        self.v *= 2.0
        return "counting"

    def __float__(self):
        self.v = self.v * 2.0
        return 1.0


class CountingOutside(Plain):
    def __str__(self):
        COUNTS[0] = self.v
        return "counting"

    def __eq__(self, other):
        setattr(CountingOutside, "last", self.v)
        return True


class CountingClass(Plain):
    last = 0.0

    def __repr__(self):
        CountingClass.last = self.v
        return "counting"


class CountingAlias(Plain):
    def __repr__(self):
        held = self.v
        held *= 2.0
        return "counting"


@dataclass
class Shown:
    v: float
    held: object

    @property
    def w(self):
        return self.v


class Answering(Plain):
    def __eq__(self, other):
        return CountingField(self.v)


#: Programs whose objects change something where they are asked, and which have no derivative otherwise.
REFUSED = {
    "in a field": lambda x, o=CountingField: _asked(o(x[0]), repr),
    "by print": lambda x, o=CountingField: _asked(o(x[0]), print),
    "in a list": lambda x: [o := CountingField(x[0]), str([o])] and o.v,
    "in a dataclass": lambda x: [o := CountingField(x[0]), str(Shown(x[1], o))] and o.v,
    "in text": lambda x: [o := CountingField(x[0]), f"{o}"] and o.v,
    "as a number in text": lambda x: [o := CountingField(x[0]), "%f" % o] and o.v,
    "where it is looked for": lambda x: [o := CountingField(x[0]), o in [1.0, 2.0]] and o.v,
    "in a list that is compared": lambda x: [o := CountingField(x[0]), [o] == [3.0]] and o.v,
    "in a list outside": lambda x: [str(CountingOutside(x[0]))] and COUNTS[0],
    "in a class, by name": lambda x: [CountingOutside(x[0]) in [1.0]] and CountingOutside.last,
    "in a class": lambda x: [repr(CountingClass(x[0]))] and CountingClass.last,
    "in an array": lambda x: [o := CountingAlias(x * 1.0), repr(o)] and np.sum(o.v),
    "in what it gives": lambda x: [o := Answering(x[0]), o in [1.0]] and o.v,
}


def _two(x):
    def multiple(by):
        return lambda v: v * by

    return multiple(x[0]), multiple(x[0])


#: Functions that are made inside stand for themselves by their text and what they captured, and are others in Python.
REFUSED |= {
    "functions that are compared": lambda x: _two(x)[0](x[1]) * (_two(x)[0] == _two(x)[1]),
    "functions that are looked for": lambda x: _two(x)[0](x[1]) * (_two(x)[0] in [_two(x)[1]]),
    "functions that are shown": lambda x: _two(x)[0](x[1]) * len(str([_two(x)[1]])),
    "functions in a dataclass": lambda x: _two(x)[0](x[1]) * (Shown(1.0, _two(x)[0]) == Shown(1.0, _two(x)[1])),
}


def _asked(o, how):
    how(o)
    return o.v


@pytest.mark.parametrize("name", REFUSED)
def test_methods_that_change_something_where_objects_are_asked_are_refused(name):
    with pytest.raises(UnsupportedSyntax) as error:
        grad(REFUSED[name])(np.array([1.5, 2.5]))
    assert error.value.span.known
