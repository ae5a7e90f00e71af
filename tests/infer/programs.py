"""Programs in which something changes unseen: by unknown code, under another name, through what was there before."""

from __future__ import annotations

import copy
import functools
import heapq
import itertools
import math
import numbers
import operator
import random
import statistics
import types
from collections import ChainMap, Counter, OrderedDict, defaultdict, namedtuple
from contextlib import closing as closed
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict, astuple, dataclass, field, replace
from types import FunctionType
from typing import NamedTuple, cast

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


# --- models: what they call, keep and change -------------------------------------------------------------------------
def grouped(x):
    held = []
    for key, group in itertools.groupby(x, lambda v: held.append(v) or v > 1.5):
        held.append([key, [*group]])
    return held


def copies_of_an_iterator(x):
    one, other = itertools.tee(v * 2.0 for v in x)
    return [next(one), [*other], [*one]]


def merged(x):
    kept = []
    rows = heapq.merge([x[0], 4.0], [2, 3], key=lambda v: kept.append("text") or v)
    return [next(rows), kept[-1], *rows]


def firsts(x):
    held = [1.0]
    found = heapq.nlargest(2, [*x], key=lambda v: held.append("text") or -v)
    return [held[-1], found, heapq.nsmallest(1, [[2.0], [x[0]]])]


def batches(x):
    made = getattr(itertools, "batched", None)
    return [[1.0]] if made is None else [*made([*x, "text"], 2)]


def hashed(x):
    made = Counter([Noting(), Noting()])
    return [len(made), last_noted()]


def counted_twice(x):
    made = Counter("abca")
    made.update(a=2.0)
    made += Counter({"b": x[0]})
    kept = made + Counter(["z"])
    made.subtract(["c"])
    return [made["a"], made["nothing"], kept["z"], made.most_common(2), [*kept.elements()] if x[0] > 5.0 else []]


def copied_into_an_empty_counter(x):
    made = Counter()
    made.update({"a": x})
    made["a"][0] = 7.0
    return x[0]


def made_when_missing(x):
    held = defaultdict(list)
    held["a"].append(x)
    held["b"].append("text")
    return [held["a"], held["c"], len(held)]


def a_factory_that_changes(x):
    kept = [1.0]
    held = defaultdict(lambda: kept.append("text"))
    held[2]
    held.default_factory = None
    return [kept[-1], held.get(3), held.default_factory]


def moved_to_the_end(x):
    held = OrderedDict(a=x, b=2.0)
    held.move_to_end("a")
    held["c"] = "text"
    return [*held, *held.values(), *reversed(held)]


def looked_up_in_turn(x):
    one, other = {"a": 1.0}, {"a": "text", "b": x}
    held = ChainMap(one, other)
    held["c"] = x
    inner = held.new_child({"a": None})
    found = [held["a"], held["b"], inner["a"], inner.parents["a"], one["c"], "b" in held, len(held), [*inner]]
    del held["c"]
    return [*found, len(one), held.get("c", 2.0)]


def looked_up_and_made(x):
    made = defaultdict(lambda: [1.0])
    held = ChainMap({}, made)
    held["a"].append("text")
    return [made["a"][-1], len(made)]


class Same:
    def __eq__(self, other):
        LOG.append("text")
        return True

    __hash__ = None


def compared_in_a_list(x):
    found = [Same()].index(3.0), [2.0, Same()].count(1)
    return [found, last_noted()]


def updated_and_removed(x):
    held = {"a": 1.0}
    held.update([("b", x)], c="text")
    held.update({3: 2.0})
    rows = [1.0, "text", x[0]]
    rows.remove(1.0)
    seen = set()
    seen.update([1.0], "ab")
    return [*held.items(), *rows, *seen, *dict.fromkeys("ab", x)]


def called_in_part(x):
    held = [1.0]
    add = functools.partial(lambda a, b, *, c: [held.append(c), a * b], 2.0)
    again = functools.partial(add, c="text")
    return [again(x), held[-1], again.func, again.args, again.keywords]


def called_once(x):
    seen = []

    @functools.lru_cache(maxsize=None)
    def g(n):
        seen.append(n)
        return [n * x[0]]

    return [g(1), g(1), g("a" if x[0] > 5 else 2), seen[-1], g.__wrapped__(3)]


def cached_by_what_changes(x):
    cached = functools.cache(lambda v: 1.0)
    cached(Noting())
    return [last_noted()]


def by_names_and_items(x):
    holder = Holder(Holder(x))
    first, inner, size = operator.itemgetter(0), operator.attrgetter("value.value"), operator.methodcaller("sum")
    parts = operator.itemgetter(0, 1)(["a", x]), operator.attrgetter("value", "__class__")(holder)
    return [first([x, "text"]), inner(holder), size(x), parts]


def operators_as_functions(x):
    held = {"a": 1.0}
    operator.setitem(held, "a", "text")
    operator.eq(Same(), 1.0)
    return [held["a"], operator.getitem(held, "a"), operator.not_(x.size), operator.call(len, held), last_noted()]


def what_functions_hand_on(x):
    held = [x]
    cast(list, held).append("text")
    random.choice([held])[0] = 2.0
    statistics.mode(("a", "a")), random.sample([held], 1)[0].append(None)
    return held


# --- copies ----------------------------------------------------------------------------------------------------------
@dataclass
class Layer:
    weights: object
    scale: object = 2.0


class Copying(Holder):
    def __deepcopy__(self, memo):
        self.value.append("text")
        return self


def copied_by_fields(x):
    held = [Layer(x), x, "a"]
    one, other = copy.copy(held[0]), copy.copy(held)
    one.weights[0] = 7.0
    one.scale = "text"
    other.append("text")
    return [held[0].weights, held[0].scale, type(one) is Layer, len(held)]


def copied_deep(x):
    inner = [x]
    held = [Layer(inner), inner, (1.0, "a"), (inner, 2.0), {"a": inner}]
    made = copy.deepcopy(held)
    made[1].append("text")
    made[0].weights[0][0] = 7.0
    kept = copy.deepcopy(held[2])
    return [made, held, kept is held[2], x[0], copy.deepcopy(x), copy.deepcopy(Layer)]


def copied_by_a_method(x):
    kept = [1.0]
    made = copy.deepcopy([Copying(kept)])
    return [kept[-1], made]


def replaced(x):
    one = Layer(x)
    other = replace(one, scale="text")
    made = asdict(Layer([one, (x, 1.0)], {"a": other}))
    made["weights"][0]["weights"][0] = 7.0
    return [one.scale, other.weights, other.scale, made, astuple(other), x[0]]


# --- context managers ------------------------------------------------------------------------------------------------
@contextmanager
def appending(held, value):
    held.append("text")
    yield value
    held.append(value)


@contextmanager
def trying(held):
    try:
        yield held
    except IndexError as error:
        held.append(error.args)
    finally:
        held.append("text")


class Closed:
    def __init__(self, held):
        self.held = held

    def close(self):
        self.held.append("text")


def with_generators(x):
    held, other = [1.0], [2.0]
    with appending(held, x) as value, trying(other) as inner:
        inner.append(None)
        other[9]
    return [value, held, other]


def with_a_local_generator(x):
    kept = []

    @contextmanager
    def noting(value):
        kept.append(value)
        yield value * 2.0

    with noting(x) as twice, nullcontext(x[0]) as first:
        kept.append(first)
    return [twice, kept]


def with_what_closes(x):
    held = [1.0]
    with closed(Closed(held)) as made:
        made.held.append(x)
    with suppress(IndexError, KeyError):
        held[0] = "first"
        held[9]
        held = None
    return [held[0], held[-1]]


def a_namespace(x):
    made = types.SimpleNamespace(a=x, b=2.0)
    made.a[0] = 7.0
    made.c = "text"
    vars(made)["b"] = None
    setattr(made, "abc"[1], [x]) if x[0] > 5.0 else None
    return [made.a, made.b, made.c, x[0], type(made) is types.SimpleNamespace]


def medians(x):
    rows = [[1.0], [x[0]]]
    statistics.median_low(rows).append("text")
    found = [statistics.median(x), statistics.median([3, 1]), statistics.multimode("abba")]
    return [rows, found, math.fsum(v for v in x)]


# --- wrappers, and library objects from outside ----------------------------------------------------------------------
def of_attributes(x):
    return x


of_attributes.kept = [1.0]


def logged(function):
    @functools.wraps(function)
    def inner(*args):
        LOG.append("text")
        return [function(*args)]

    return inner


def wrapped_here(x):
    twice = logged(lambda v: v * 2.0)
    kept = logged(of_attributes)
    kept.kept.append("text")
    return [twice(x), last_noted(), twice.__wrapped__(x), of_attributes.kept.pop()]


DEFAULTS, COUNTED = defaultdict(lambda: noting([1.0]), {"a": SHARED}), Counter(a=2)
CHAINED, NAMES, DOUBLED = ChainMap({}, {"a": SHARED}), types.SimpleNamespace(a=SHARED), functools.partial(map, abs)


def library_objects_from_outside(x):
    found = [DEFAULTS["a"], last_noted(), DEFAULTS["b"], last_noted(), COUNTED["b"], NAMES.a, [*DOUBLED(x)]]
    CHAINED["a"][0] = "text"
    last, SHARED[0] = SHARED[0], 1.0
    del DEFAULTS["b"]
    return [last, found, CHAINED.maps[1]["a"]]


class Triple(NamedTuple):
    first: object
    second: object = 2.0
    third: object = "text"

    @property
    def both(self):
        return [self.first, self.second]

    def swapped(self):
        return Triple(self.second, self.first)


def named_tuples(x):
    made = Triple(x, third=None)
    other = made._replace(second=[1.0])
    other.second.append("text")
    first, *rest = other
    held = other._asdict()
    held["first"][0] = 7.0
    return [made.both, other.swapped(), rest, made[1:], len(made), x[0], PAIR.first, PAIR[1], [*PAIR], made == other]


PROGRAMS = [
    made for made in list(globals().values())
    if isinstance(made, FunctionType) and made.__module__ == __name__ and made.__code__.co_varnames[:1] == ("x",)
]  # fmt: skip
