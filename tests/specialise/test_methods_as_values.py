"""Methods that are kept under names, in containers and fields, passed on and returned: right against numbers."""

from __future__ import annotations

from types import ModuleType

import numpy as np
import pytest

from tests.specialise.serving import check_refused, check_right

X = np.array([0.7, 1.3, 0.4, 1.9])


class Unit:
    def __init__(self, w):
        self.w = w

    def squared(self, v):
        return v * v * self.w

    def grown(self, v):
        self.w = self.w + v
        return self.w

    def own(self):
        return self.squared

    @classmethod
    def of(cls, w):
        return cls(w)


class Cubic(Unit):
    def squared(self, v):
        return v**3 * self.w

    @classmethod
    def of(cls, w):
        return cls(w * 2.0)


class Holder:
    def __init__(self, f):
        self.f = f

    def doubled(self, v):
        return v * 2.0


def of_an_object_that_is_bound_again(x):
    a = Unit(x[0])
    fs = [a.grown, a.squared, a.grown]
    a.w = a.w * x[3]
    total = 0.0
    for f in fs:
        total = total * x[1] + f(x[2])
    a = Unit(1.0)
    return total * fs[1](x[0]) * a.w


def of_another_object_in_a_field(x):
    a, b = Unit(x[0]), Unit(x[1])
    a.step = b.squared
    f = a.step
    a.step = a.squared
    return f(x[2]) * a.step(x[3])


def read_before_the_argument_is_computed(x):
    a, b = Unit(x[0]), Unit(x[1])
    holder = Holder(a.squared)

    def change(given):
        given.f = b.grown
        return x[2]

    return holder.f(change(holder)) * holder.f(x[3])


def beside_functions_of_every_kind(x):
    total = 0.0
    for f in [Unit(x[0]).squared, Cubic(x[1]).squared, np.sin, lambda v: v * x[3], Unit(x[2]).grown]:
        total = total + f(x[2])
    return total


def of_subclasses_under_one_name(x):
    total = 0.0
    for o in [Unit(x[0]), Cubic(x[1])]:
        f = o.squared
        total = total * x[3] + f(x[2])
    return total


def none_until_it_is_set(x):
    holder, total = Holder(None), 0.0
    for i in range(3):
        if holder.f is None:
            holder.f = Unit(x[i]).squared
        else:
            total = total + holder.f(x[3])
            holder.f = Unit(x[i]).grown
    return total


def returned_by_a_method(x):
    u = Unit(x[0])
    f = u.own()
    u.w = x[1]
    return f(x[2]) * u.own()(x[3])


def by_keyword_and_through_stars(x):
    def applied(f, *args, **kwargs):
        return f(*args, **kwargs)

    u = Unit(x[0])
    return applied(u.squared, x[1]) * applied(u.grown, v=x[2])


def as_a_key(x):
    u = Cubic(x[0])
    ys = sorted([x[1], x[2], x[3]], key=u.squared)
    return ys[0] * ys[1] ** 2 * ys[2] ** 3 * max(x[0], x[1], key=u.squared)


def handed_through_a_recursion(x):
    u = Unit(x[0])

    def go(f, n):
        return f(x[1]) if n == 0 else go(f, n - 1) * f(x[2])

    return go(u.grown, 2)


def bound_in_turn(x):
    u, v = Unit(x[0]), Cubic(x[1])
    f, total, n = u.squared, x[2], 0
    while n < 4:
        total = f(total) * 0.5
        f = v.squared if n % 2 else u.grown
        n += 1
    return total


def of_a_class(x):
    f, g = Cubic(x[0]).of, Unit.of
    return f(x[1]).squared(x[2]) * g(x[3]).squared(x[0])


def calls_that_are_not_used(x):
    u = Unit(x[0])
    u.grown(x[1])
    u.own()
    return u.squared(x[2])


def of_what_has_no_such_method(x):
    items, total = [Unit(x[0]), Holder(None)], 0.0
    for item in items:
        total = total + (item.squared(x[1]) if isinstance(item, Unit) else item.doubled(x[2]))
    return total


def taken_for_a_tuple(x):
    f = Unit(x[0]).squared
    return (x[1] if isinstance(f, tuple) else x[2] ** 2) * f(x[3])


def started(self, w):
    return setattr(self, "w", w * 3.0)


class Started(Unit):
    __init__ = started

    def started(self, w):
        self.w = w * 100.0


def of_a_function_of_another_name(x):
    return Started(x[0]).squared(x[1])


def copied_with_its_holder(x):
    import copy

    holder = Holder(Unit(x[0]).grown)
    return holder.f(x[1]) * copy.copy(holder).f(x[2])


RIGHT = [
    taken_for_a_tuple, copied_with_its_holder, of_a_function_of_another_name,
    of_an_object_that_is_bound_again, of_another_object_in_a_field, beside_functions_of_every_kind,
    of_subclasses_under_one_name, none_until_it_is_set, returned_by_a_method, by_keyword_and_through_stars, as_a_key,
    handed_through_a_recursion, bound_in_turn, of_a_class, calls_that_are_not_used, of_what_has_no_such_method,
    read_before_the_argument_is_computed,
]  # fmt: skip


@pytest.mark.parametrize("function", RIGHT)
@pytest.mark.costly(2)
def test_methods_as_values_are_right(function, monkeypatch):
    check_right(function, monkeypatch, X)


OUTSIDE = Unit(2.0)
KEPT = OUTSIDE.squared


class Keeper:
    squared, w = OUTSIDE.squared, 7.0


class Kept(Keeper):
    """A class that inherits a method of an object."""


module = ModuleType("module")
vars(module).update(vars(Keeper))


def of_an_object_that_a_class_holds(x):
    return Keeper.squared(x[0])


def of_an_object_that_a_base_holds(x):
    f = Kept.squared
    return f(x[0])


def of_an_object_that_a_module_holds(x):
    return module.squared(x[0])


def a_field_hides_the_method(x):
    a, b = Unit(x[0]), Unit(x[1])
    a.squared = b.squared
    return a.squared(x[2]) * x[3]


def compared(x):
    u = Unit(x[0])
    f = u.squared
    g = f if x[1] > 0.0 else u.grown
    return x[1] * (1.0 if f is g else 2.0) * g(x[2])


def asked_for_its_object(x):
    f = Unit(x[0]).squared
    return f.__self__.w * x[1]


def one_that_was_there_before(x):
    f = KEPT if x[0] > 0.0 else Unit(x[1]).squared
    return f(x[2])


def taken_for_a_tuple_or_not(x):
    f = Unit(x[0]).squared if x[2] > 0.0 else (x[0], x[1])
    return x[1] if isinstance(f, tuple) else f(x[3])


REFUSED = [
    a_field_hides_the_method, compared, asked_for_its_object, taken_for_a_tuple_or_not,
    one_that_was_there_before, of_an_object_that_a_class_holds, of_an_object_that_a_base_holds,
    of_an_object_that_a_module_holds,
]  # fmt: skip


@pytest.mark.parametrize("function", REFUSED)
def test_what_else_is_done_with_methods_is_refused(function, monkeypatch):
    check_refused(function, monkeypatch, X)


def test_what_lacks_a_method_raises_where_it_is_looked_up(monkeypatch):
    from srcgrad import grad, options
    from tests.specialise.serving import program_of, serving

    def lacking(x):
        total, log = 0.0, []
        for item in [Unit(x[0]), Holder(None)]:
            total = total + item.squared(log.append(1) or x[1])
        return total

    with serving(program_of(lacking, (X,)), monkeypatch.setattr), options(check=False):
        with pytest.raises(AttributeError, match="'Holder' object has no attribute 'squared'"):
            grad(lacking)(X)
