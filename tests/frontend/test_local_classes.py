"""Classes inside of functions are made once: what could tell that Python makes others in each call is refused."""

from __future__ import annotations

import copy
import enum
from dataclasses import dataclass

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import SrcgradError

KEPT = []
RATE = 2.0


# --- objects and classes of another call -----------------------------------------------------------------------------
def asked(v, other=None):
    class Part:
        def __init__(self, v):
            self.v = v

    if other is not None and isinstance(other, Part):
        v = v * 9.0
    return Part(v)


def of_another_call(x):
    first = asked(x[0])
    return asked(x[1], first).v * first.v


def part(v):
    @dataclass
    class Part:
        v: float

    return Part(v)


def compared_with_another_call(x):
    return x[0] * (2.0 if part(x[1]) == part(x[1]) else 3.0)


def classes_compared(x):
    return x[0] * (2.0 if type(part(x[1])) is type(part(x[0])) else 3.0)


def member():
    class Mode(enum.Enum):
        ONLY = 1

    return Mode.ONLY


def members_of_other_calls(x):
    return x[0] * (2.0 if member() is member() else 3.0)


def given_on(x, n=1, other=None):
    class Part:
        def __init__(self, v):
            self.v = v

    if n == 0:
        return x[0] * (2.0 if isinstance(other, Part) else 3.0)
    return given_on(x, n - 1, Part(x[1]))


def made_in_a_loop(x):
    total, old = 0.0, None
    for k in range(2):

        class Part:
            def __init__(self, v):
                self.v = v

        part = Part(x[k])
        total = total + (part.v if old is None or isinstance(part, type(old)) else 5.0 * part.v)
        old = part
    return total


def caught_of_another_call(x):
    def once(last):
        class Enough(Exception):
            pass

        try:
            raise last or Enough()
        except Enough as error:
            return error

    return x[0] * (2.0 if once(once(None)) is None else 3.0)


# --- what leaves the function ----------------------------------------------------------------------------------------
def returned(x):
    class Part:
        v = 2.0

    return Part()


def stored_outside(x):
    class Part:
        v = 2.0

    KEPT.append(Part())
    return x[0]


def raised(x):
    class Part:
        v = 2.0

    if x[0] > 100.0:
        raise ValueError(Part())
    return x[0]


# --- what a class holds ----------------------------------------------------------------------------------------------
def counted(x):
    class Part:
        count = 0.0

        def __init__(self, v):
            Part.count += 1.0
            self.v = v * Part.count

    return Part(x[0]).v


def set_from_outside(x):
    class Part:
        rate = 1.0

    setattr(Part, "rate", x[0])
    return Part.rate * x[1]


def changed(x):
    class Part:
        seen = []

        def __init__(self, v):
            self.seen.append(v)

    Part(x[0])
    return Part(x[1]).seen[0]


def computed(x):
    class Part:
        rate = x[0]

    return Part.rate * x[1]


def computed_default(x):
    class Part:
        def f(self, k=x[0]):
            return k * 2.0

    return Part().f()


def decorated(x):
    def rated(kind):
        kind.rate = x[1]
        return kind

    @rated
    class Part:
        pass

    return Part.rate * x[0]


def made_by_a_class(x):
    class Maker(type):
        pass

    class Part(metaclass=Maker):
        rate = 2.0

    return Part.rate * x[0]


def begun_by_a_base(x):
    class Base:
        rate = 2.0

        def __init_subclass__(cls):
            cls.rate = 5.0

    class Part(Base):
        pass

    return Part.rate * x[0]


# --- variables that are bound later ----------------------------------------------------------------------------------
def bound_again(x):
    k = x[0]

    class Part:
        def f(self):
            return k

    p = Part()
    k = x[1]
    return p.f() * x[0]


def bound_after_it(x):
    class Part:
        def f(self):
            return k

    p = Part()
    k = x[1]
    return p.f() * x[0]


def bound_by_another_function(x):
    k = x[0]

    class Part:
        def f(self):
            return k

    def bump():
        nonlocal k
        k = x[1]

    p = Part()
    bump()
    return p.f() * x[0]


def bound_in_each_turn(x):
    parts = []
    for v in x:
        k = v * 2.0

        def made(w):
            class Part:
                def f(self):
                    return w * k

            return Part()

        parts.append(made(v))
    return parts[0].f()


def stored_by_a_method(x):
    n = 0.0

    class Part:
        def f(self):
            nonlocal n
            n = n + 1.0
            return n

    Part().f()
    return Part().f() * x[0]


def called_by_another_name(x):
    k = x[1]

    class Part:
        def __init__(self, v):
            self.v = v

        def f(self):
            return self.v * k

    made = Part if x[0] > 0.0 else None
    return made(x[0]).f()


def fields_by_dict(x):
    k = x[1]

    class Part:
        def __init__(self, v):
            self.v = v

        def f(self):
            return self.v * k

    return sum(vars(Part(x[0])).values())


def copied_deeply(x):
    """Once wrong in silence: the copy held a copy of what its methods read of the function."""
    k = np.array([x[0], x[1]])

    class Part:
        def f(self):
            return k.sum()

    part = copy.deepcopy([Part()])[0]
    k[0] = x[1] ** 2
    return part.f()


def compared_where_they_are_made(x):
    k = x[0]

    @dataclass
    class Part:
        v: float

        def f(self):
            return k * self.v

    return (2.0 if Part(1.0) == Part(1.0) else 3.0) * Part(x[1]).f()


@pytest.mark.parametrize("function", [
    copied_deeply, compared_where_they_are_made,
    of_another_call, compared_with_another_call, classes_compared, members_of_other_calls, given_on, made_in_a_loop,
    caught_of_another_call, returned, stored_outside, raised, counted, set_from_outside, changed, computed,
    computed_default, decorated, made_by_a_class, begun_by_a_base, bound_again, bound_after_it,
    bound_by_another_function, bound_in_each_turn, stored_by_a_method, called_by_another_name, fields_by_dict,
])  # fmt: skip
def test_what_would_tell_is_refused(function):
    """Once wrong in silence: ``isinstance`` said yes of an object that another call, or another turn, had made."""
    for derivative in (srcgrad.grad(function), srcgrad.grad(function).source_for):
        with pytest.raises(SrcgradError) as raised:
            derivative(np.array([1.0, 2.0]))
        assert raised.value.code in ("E0106", "E0408", "E0214", "E0201", "E0202", "E0109"), raised.value
        assert raised.value.span is not None and raised.value.span.filename == __file__


def rated(x):
    class Part:
        rate = RATE

        def f(self, v):
            return self.rate * v

    return Part().f(x[0])


def test_a_constant_of_a_class_is_read_again(monkeypatch):
    derivative, point = srcgrad.grad(rated), np.array([1.0, 2.0])
    assert derivative(point)[0] == 2.0
    monkeypatch.setitem(globals(), "RATE", 5.0)
    assert derivative(point)[0] == 5.0


def named(x):
    class Part:
        __rate = 3.0

        def __f(self, v):
            return v * self.__rate

        def f(self, v):
            return self.__f(v)

    total = Part().f(x[0])
    return total * x[1] if (Part.__name__, type(Part()).__name__) == ("Part", "Part") else total


def of_branches(x):
    if x[0] > 0.0:

        class Part:
            def f(self, v):
                return v * 2.0
    else:

        class Part:
            def f(self, v):
                return v * 3.0

    return Part().f(x[0]) * x[1]


def of_their_own_class(x):
    k = x[1]

    class Part:
        def __init__(self, v):
            self.v = v

        def f(self):
            return self.v * k

        def twice(self):
            return type(self)(self.v * self.v)

        def __add__(self, other):
            return self.__class__(self.v + other.v)

    class Other(Part):
        def f(self):
            return self.v * k * k

    return (Part(x[0]).twice() + Part(x[1])).f() * Other(x[0]).twice().f()


def by_other_names(x):
    k = x[1]

    class Part:
        def __init__(self, v):
            self.v = v

        def f(self):
            return self.v * k

    Second = Part
    third = Second

    class Holder:
        def made(self):
            return Second(x[0]).f()

    def of(v):
        return third(v * v).f()

    return Holder().made() * of(x[0])


@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.parametrize("function", [named, of_branches, of_their_own_class, by_other_names])
@pytest.mark.costly(2, first=1)
def test_names(function, specialise):
    point, step = np.array([1.0, 2.0]), 1e-6
    slopes = [(function(point + step * e) - function(point - step * e)) / (2.0 * step) for e in np.eye(2)]
    with srcgrad.options(specialise=specialise):
        derivative = srcgrad.grad(function)
        np.testing.assert_allclose(derivative(point), slopes, rtol=1e-6)
        np.testing.assert_allclose(srcgrad.jvp(function, (point,), (point,))[1], slopes @ point, rtol=1e-6)
        curved = (derivative(point + step * point) - derivative(point - step * point)) / (2.0 * step)
        np.testing.assert_allclose(srcgrad.hvp(function)(point, point), curved, rtol=1e-6, atol=1e-8)


def of_a_class_that_reads_more(x):
    k, n = x[1], x[0]

    class Part:
        def __init__(self, v):
            self.v = v

        def f(self):
            return self.v * k

        def twice(self):
            return type(self)(self.v * 2.0)

    class Other(Part):
        def f(self):
            return self.v * n

    return Other(x[0]).twice().f()


def test_an_object_of_a_class_that_reads_more_is_refused():
    with pytest.raises(SrcgradError, match="E0106"):
        srcgrad.grad(of_a_class_that_reads_more)(np.array([1.0, 2.0]))
