"""Programs that call what is modelled: what it calls, keeps and changes on the way."""

from __future__ import annotations

import copy
import functools
import heapq
import itertools
import math
import operator
import random
import statistics
import types
from collections import ChainMap, Counter, OrderedDict, defaultdict
from contextlib import closing, contextmanager, nullcontext, suppress
from dataclasses import asdict, astuple, dataclass, replace
from types import FunctionType
from typing import NamedTuple, cast

from tests.infer.programs import LOG, PAIR, SHARED, Holder, Noting, last_noted, noting


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
    with closing(Closed(held)) as made:
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


PROGRAMS_OF_MODELS = [
    made for made in list(globals().values())
    if isinstance(made, FunctionType) and made.__module__ == __name__ and made.__code__.co_varnames[:1] == ("x",)
]  # fmt: skip
