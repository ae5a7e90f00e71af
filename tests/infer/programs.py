"""Programs in which something changes unseen: by unknown code, under another name, through what was there before."""

from __future__ import annotations

import copy
import functools
import numbers
from collections import namedtuple
from dataclasses import dataclass, field
from types import FunctionType

import numpy as np


class Holder:
    def __init__(self, value):
        self.value = value

    @property
    def twice(self):
        return self.value * 2.0

    def doubled(self):
        return self.value


def appended(x):
    held = [1.0]
    held.append(x)
    return held[1] if len(held) > 1 else 0.0


def viewed(x):
    y = x[:2]
    y[0] = 3.0
    return y


def joined_branches(x):
    y = [x] if x[0] > 5.0 else [2.0]
    return y[0]


def looped(x):
    total = 0
    for _ in range(4):
        total = [total]
    return total


def captured(x):
    n = 1.0

    def change():
        nonlocal n
        n = "text"

    change()
    return n


def kept_outside(x):
    held = [x]
    sorted([3, 1], key=lambda v: held.append("text") or v)
    return held[-1]


def overwritten(x):
    objects_ = [Holder(v) for v in (1.0, "text")]
    objects_[0].value = None
    return objects_[0].value, objects_[1].value


def raised(x):
    held = [1.0]
    try:
        held[0] = "text"
        held[7]
    except IndexError:
        return held[0]
    return 2.0


def negated(x):
    if not x[0] > 5.0:
        return 1.0
    return "text"


def given_out(x):
    y = np.zeros(3)
    z = np.multiply(x, 2.0, out=y)
    z[0] = 7.0
    return y


def powers(x):
    base = -2.0
    return base ** float(x[0] * 0.0 + 0.5)


def left_by_none(x):
    y = None if x[0] > 0.0 else 2.0
    for _ in range(2):
        if y is None:
            break
        x = x + y
    return [y]


LOG = [1.0]


class Noting:
    """Its special methods change a global."""

    def __init__(self, n=1.0):
        self.n = n

    @property
    def p(self):
        return self.n

    @p.setter
    def p(self, value):
        self.n = value

    def __hash__(self):
        LOG.append("text")
        return 1

    def __setitem__(self, index, value):
        raise ValueError


class Sum:
    def __add__(self, other):
        return 1.0


class TextSum(Sum):
    def __radd__(self, other):
        return "text"


def two_sets_of_cells(x):
    def make(v):
        def outer():
            def inner():
                return v

            return inner

        return outer

    def run(outer):
        return outer()

    first, _ = run(make(1.0)), run(make("text"))
    return [first()]


def raised_after_a_change(x):
    kept = [1.0]

    def bad(v):
        kept.append("text")
        raise ValueError

    try:
        sorted([1], key=bad)
    except ValueError:
        return [kept[-1]]
    return []


def raised_by_a_display(x):
    held = [1.0]
    try:
        held[0] = "text"
        {[]}
    except TypeError:
        return [held[0]]
    return []


def unpacked_from_anything(x):
    pair = (1.0, 2.0) if x[0] > 5.0 else copy.copy(("a", "b"))
    first, second = pair
    return [first, second]


def starred_dict(x):
    return [(lambda a: a)(*{"a": 1.0})]


def one_of_two_receivers(x):
    one, other = Noting(), Noting()
    chosen = one if x[0] > 0.5 else other
    chosen.p = "text"
    return [one.n, other.n]


def a_receiver_that_refuses(x):
    chosen = [1.0] if x[0] > 0.5 else Noting()
    chosen[0] = 2.0
    return [1]


def hashed_in_a_display(x):
    {Noting()}
    last = LOG[-1]
    LOG[:] = [1.0]
    return [last]


def reflected_by_a_subclass(x):
    return [Sum() + TextSum()]


def a_truth_as_an_index(x):
    b = 1.0 in [1.0]
    y = x[b]
    return [y]


def a_ufunc_of_the_users(x):
    return [MADE(float(x[2]))]


def one_of_two_classes_has_no_samples(x):
    day = DAY if x[0] > 0.5 else 3
    return [day - 1]


def what_has_no_samples(x):
    return [DAY - DAY, LARGE + 1]


MADE = np.frompyfunc(lambda v: "text" if v > 2.5 else 1.0, 1, 1)
DAY, LARGE = np.datetime64("2020-01-01"), 10**5000


# --- what was there before, and holds what the program changes -------------------------------------------------------
def noting(value):
    LOG.append("text")
    return value


SHARED = [1.0]
Pair = namedtuple("Pair", "first second")
PAIR = Pair(SHARED, 2.0)
LONG = [SHARED, *map(float, range(100))]
CACHED, PARTIAL, VECTORIZED = functools.cache(noting), functools.partial(noting, 1.0), np.vectorize(noting)


def through_a_named_tuple(x):
    PAIR.first[0] = "text"
    last, SHARED[0] = SHARED[0], 1.0
    return [last]


def through_a_long_list(x):
    LONG[0][0] = "text"
    last, SHARED[0] = SHARED[0], 1.0
    return [last]


def last_noted():
    last = LOG[-1]
    LOG[:] = [1.0]
    return last


def a_cached_function(x):
    CACHED(2.0)
    CACHED.cache_clear()
    return [last_noted()]


def a_partial_function(x):
    PARTIAL()
    return [last_noted()]


def a_vectorized_function(x):
    VECTORIZED(x)
    return [last_noted()]


# --- classes and functions that change -------------------------------------------------------------------------------
class Reading:
    def __get__(self, held, kind):
        LOG.append("text")
        return 1.0


class Meta(type):
    def __getitem__(cls, index):
        LOG.append("text")
        return 1.0


@dataclass
class Described(metaclass=Meta):
    made: list = field(default_factory=lambda: noting([1.0]))
    scale = 2.0
    reading = Reading()

    @functools.cached_property
    def once(self):
        LOG.append("text")
        return 1.0


class Below(Described):
    pass


def a_descriptor(x):
    Described.reading
    return [last_noted()]


def a_metaclass(x):
    Described[0]
    return [last_noted()]


def a_factory(x):
    Described()
    return [last_noted()]


def a_property_that_is_kept(x):
    made = Described()
    last_noted()
    made.once
    return [last_noted()]


def a_base_that_changes(x):
    setattr(Described, "scale", "text")
    found = Below.scale
    Described.scale = 2.0
    return [found]


def a_method_that_changes(x):
    def other(self):
        return "text"

    one = Holder(1.0)
    kept = Holder.doubled
    Holder.doubled = other
    found = one.doubled()
    Holder.doubled = kept
    return [found]


def counted(k=1.0, *, by=1.0):
    return [k, by]


def other_defaults(x):
    counted.__defaults__ = ("text",)
    counted.__kwdefaults__["by"] = "text"
    found = counted()
    counted.__defaults__ = (1.0,)
    counted.__kwdefaults__["by"] = 1.0
    return found


class Number:
    pass


def a_class_that_is_registered(x):
    before = isinstance(Number(), numbers.Number)
    numbers.Number.register(Number)
    return [before, isinstance(Number(), numbers.Number)]


class Posing:
    @property
    def __class__(self):
        return float


def an_object_that_poses(x):
    return ["text"] if isinstance(Posing(), float) else [1.0]


# --- what exceptions hold --------------------------------------------------------------------------------------------
def the_object_of_an_exception(x):
    held = [1.0]
    try:
        held.nothing
    except AttributeError as error:
        error.obj.append("text")
    return [held[-1]]


def an_exception_that_holds_a_key(x):
    try:
        raise KeyError("a")
    except KeyError:
        return x


class Ending:
    def __enter__(self):
        return self

    def __exit__(self, kind, error, place):
        error.obj.append("text")
        return True


def an_exception_that_a_manager_gets(x):
    held = [1.0]
    with Ending():
        held.nothing
    return [held[-1]]


class Text(str):
    def __str__(self):
        return self


def a_text_of_another_class(x):
    return [str(Text("a"))]


def a_key_that_is_stored(x):
    held = {0: x[0]}
    held[4] = x[1]
    return [key for key in held]


# --- generators ------------------------------------------------------------------------------------------------------
def reading(held):
    held[0] = 1.0
    yield held[0]
    yield held[0]


def stores_between_items(x):
    held, found = [2.0], []
    for v in reading(held):
        found.append(v)
        held[0] = "text"
    return found


def remembers_between_items(x):
    held = ["text"]

    def given():
        first = held[0]
        yield 1.0
        yield first

    items = given()
    next(items)
    held[0] = 2.0
    second = next(items)
    return [second]


def closing(held):
    try:
        yield 1.0
    finally:
        held.append("text")


def closed_by_a_break(x):
    held = [1.0]
    for _ in closing(held):
        break
    return [held[-1]]


def extended_by_what_reads_it(x):
    held = [1.0]
    held.extend("text" if len(held) > 1 else 2.0 for _ in range(2))
    return held


def below(tree):
    if isinstance(tree, list):
        for part in tree:
            yield from below(part)
    else:
        yield tree


def a_tree(x):
    return [*below([1.0, [x, ["text"]]])]


def given_text(x):
    def told():
        found = yield 1.0
        yield found

    items = told()
    next(items)
    return [items.send("text")]


PROGRAMS = [
    made for made in list(globals().values())
    if isinstance(made, FunctionType) and made.__module__ == __name__ and made.__code__.co_varnames[:1] == ("x",)
]  # fmt: skip
