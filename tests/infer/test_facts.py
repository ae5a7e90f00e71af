"""What the analysis knows of programs that people write: it is not only right, but says something."""

from __future__ import annotations

import collections
import contextlib
import copy
import dataclasses
import functools
import heapq
import itertools
import math
import operator
import statistics
import types
from types import FunctionType
from typing import Any

import numpy as np
import pytest

from srcgrad.infer.facts import Facts
from srcgrad.infer.heap import sites_of
from srcgrad.infer.interpreter import analysed
from srcgrad.infer.printing import text_of
from srcgrad.infer.values import Value
from srcgrad.ir.operations import GetAttribute
from srcgrad.ir.regions import Assign, Return, walk
from tests.infer import calling
from tests.ir.running import checked

X = np.array([1.0, 2.0, 3.0])
M = np.ones((2, 3), np.float32)


def facts_of(function: FunctionType, *arguments: Any) -> Facts:
    found = analysed(function, arguments, lower=checked)
    assert found is not None
    return found


def last(function: FunctionType, *arguments: Any) -> str:
    """What the last statement of a function binds, which it returns."""
    made = checked(function)
    assert isinstance(made.body.exit, Return)
    return str(facts_of(function, *arguments).values[made.body.exit.value])  # type: ignore[index]


@dataclasses.dataclass
class Layer:
    weights: Any
    scale: float = 2.0

    def applied(self, x):
        return self.weights * x * self.scale


class Counter:
    def __init__(self):
        self.count = 0
        self.seen = []

    def add(self, x):
        self.count += 1
        self.seen.append(x)
        return self


def of_an_array(x):
    return np.sin(x) * 2.0 + x.sum() + x[0]


def of_columns(x):
    return x[:, 0] @ np.ones(x.shape[0]) if x.ndim == 2 else x[None, 1:].T.mean(axis=0)


def of_a_loop(x):
    total = 0.0
    for k in range(len(x)):
        total = total + x[k] ** 2
    return total


def of_items(x):
    held = {"a": x, "b": [1, x[0]]}
    first, second = held["b"]
    return second


def of_an_object(x):
    return Layer(x).applied(x)


def of_a_method(x):
    made = Counter().add(x[0]).add(x[1])
    return made.seen


def of_a_closure(x):
    n = 0

    def advance(by):
        nonlocal n
        n = n + by
        return n

    advance(2)
    return advance(x[0])


def of_isinstance(x):
    if isinstance(x, (dict, collections.deque)):
        return x.popitem()
    if isinstance(x, (list, tuple)):
        return x.index(0)
    return 1.0


def of_none(x, y=None):
    if y is None:
        y = 2.0
    return y + 1.0


def of_pairs(x):
    total = 0.0
    for k, (a, b) in enumerate(zip(x, x)):
        total = total + a * b + k
    return total


def recursive(x):
    def depth(n):
        return 0.0 if n == 0 else 1.0 + depth(n - 1)

    return depth(3)


class Named(Counter):
    def __init__(self, name):
        super().__init__()
        self.name = name

    def add(self, x):
        return super().add(x).seen


def of_super(x):
    return Named("a").add(x[0])


def of_a_generator(x):
    return sum(v * w for v, w in itertools.pairwise(x))


def of_reduce(x):
    return functools.reduce(lambda a, b: a * b, [x[0], 2.0, x[1]])


def of_maximum(x):
    return max([x, x[1:]], key=lambda v: v[0])


def of_groups(x):
    return [[key, [*group]] for key, group in itertools.groupby(x, lambda v: v > 1.5)][0]


def of_a_merge(x):
    return next(heapq.merge([x[0]], [x[1], 2.0]))


def of_a_counter(x):
    made = collections.Counter(a=x[0])
    made.update(a=x[1])
    return made["a"] + made["b"]


def of_a_default(x):
    held = collections.defaultdict(lambda: x[1:])
    return held["a"]


def of_a_chain(x):
    return collections.ChainMap({}, {"a": x}).new_child()["a"]


def of_a_part(x):
    return functools.partial(lambda a, b, *, c: a * b + c, x, c=2.0)(3.0)


def of_a_cache(x):
    @functools.cache
    def power(n):
        return x ** float(n)

    return power(2) + power(3)


def of_a_wrapper(x):
    def doubled(function):
        @functools.wraps(function)
        def inner(v):
            return function(v) * 2.0

        return inner

    return doubled(np.sin)(x)


def of_getters(x):
    first, weights = operator.itemgetter(0), operator.attrgetter("weights")
    return weights(first([Layer(x), 1.0]))


def of_a_copy(x):
    return copy.deepcopy([Layer(x)])[0].applied(2.0)


def of_a_replaced_object(x):
    return dataclasses.replace(Layer(1.0), weights=x).applied(2.0)


def of_fields(x):
    return dataclasses.asdict(Layer(x))["weights"]


@contextlib.contextmanager
def scaled(x):
    yield x * 2.0


def of_a_manager(x):
    with scaled(x) as y, contextlib.nullcontext(3.0) as z:
        w = y * z
    return w


def of_a_namespace(x):
    made = types.SimpleNamespace(a=x)
    made.b = made.a * 2.0
    return made.b


def of_a_median(x):
    return statistics.median([x[0], x[1]])


def of_a_sum_of_floats(x):
    return math.fsum(v for v in x)


Pair = collections.namedtuple("Pair", "first second", defaults=(2.0,))


def of_a_named_tuple(x):
    first, second = Pair(1.0)._replace(first=x)
    return first * second


def of_a_name(x):
    return getattr(Layer(x), "weights", None) if hasattr(x, "shape") and type(x) is np.ndarray else "text"


def of_a_dtype(x):
    dtype = np.result_type(x, 1.0)
    y = np.zeros((2, 2), x.dtype) if np.issubdtype(dtype, np.complexfloating) else np.array(x, dtype=dtype, ndmin=3)
    return y if np.ndim(y) == 3 else None


def of_an_exception(x):
    try:
        raise np.linalg.LinAlgError("%d" % x.ndim, x)
    except np.linalg.LinAlgError:
        y = x + 0.0
    return y


def of_a_mask(x):
    return x[x > 1.0]


def of_places(x):
    return np.stack([x, x])[:, np.argsort(x)]


def of_an_empty_index(x):
    return np.sum(x)[()]


def of_arrays_together(x):
    _, column = np.broadcast_arrays(x, x[:, None])
    return column


def of_a_broadcast(x):
    return np.broadcast_to(2.0, (len(x), 3))


def of_a_joined_list(x):
    return np.concatenate([v[None] for v in x])


def of_joined_tuples(x):
    return np.reshape(x, (1,) * x.ndim + x.shape)


def of_machine_numbers(x):
    return np.finfo(np.dtype(x.dtype)).eps if x.dtype.kind in "fc" else x


TABLE = {"d": 2.0, "f": 3.0}


def of_a_key_that_is_known(x):
    return TABLE[x.dtype.char] if x.dtype.char in TABLE else x


def of_equal_tuples(x, axis=-1):
    return x if (axis,) == (-1,) and np.iterable((axis,)) else None


def of_a_text(x, how="Sum"):
    return np.sum(x) if how.lower() == "sum" and how in ("Sum", "Mean") else None


Point = collections.namedtuple("Point", "at")
Point.__module__ = "scipy.stats"


def of_a_named_tuple_of_a_library(x):
    return Point(x).at


class Stop(Exception):
    pass


def of_an_exception_of_the_users(x):
    try:
        raise Stop(x)
    except Stop:
        y = x + 1.0
    return y


@pytest.mark.parametrize(
    "function, argument, expected",
    [
        (of_a_mask, X, "float64[1]@ndarray"),
        (of_places, X, "float64[2]@ndarray"),
        (of_an_empty_index, X, "float64"),
        (of_arrays_together, X, "float64[2]@ndarray | float64[2]@ndarray"),
        (of_a_broadcast, X, "float64[2]@ndarray"),
        (of_a_joined_list, M, "float32[2]@ndarray"),
        (of_joined_tuples, M, "float32[4]@ndarray | float32[4]@ndarray"),
        (of_machine_numbers, X, "float64"),
        (of_a_key_that_is_known, X, "2.0"),
        (of_equal_tuples, X, "float64[1]@ndarray"),
        (of_a_text, X, "float64"),
        (of_a_named_tuple_of_a_library, X, "float64[1]@ndarray"),
        (of_an_exception_of_the_users, X, "float64[1]@ndarray"),
        (of_a_dtype, X, "float64[3]@ndarray"),
        (of_an_exception, X, "float64[1]@ndarray"),
        (of_an_array, X, "float64[1]@ndarray"),
        (of_an_array, M, "float32[2]@ndarray"),
        (of_columns, M, "float64"),
        (of_columns, X, "float64[1]@ndarray"),
        (of_a_loop, X, "0.0 | float64"),
        (of_items, X, "float64"),
        (of_an_object, X, "float64[1]@ndarray"),
        (of_a_method, X, "list"),
        (of_a_closure, X, "float64"),
        (of_none, X, "3.0"),
        (of_pairs, X, "0.0 | float64"),
        (of_super, X, "list"),
        (of_a_generator, X, "0 | float64"),
        (of_reduce, X, "float | float64"),
        (of_maximum, X, "float64[1]@ndarray"),
        (of_groups, X, "list"),
        (of_a_merge, X, "2.0 | float64"),
        (of_a_counter, X, "float64 | int"),
        (of_a_default, X, "float64[1]@ndarray"),
        (of_a_chain, X, "float64[1]@ndarray"),
        (of_a_part, X, "float64[1]@ndarray"),
        (of_a_cache, X, "float64[1]@ndarray"),
        (of_a_wrapper, X, "float64[1]@ndarray"),
        (of_getters, X, "float64[1]@ndarray"),
        (of_a_copy, X, "float64[1]@ndarray"),
        (of_a_replaced_object, X, "float64[1]@ndarray"),
        (of_fields, X, "float64[1]@ndarray"),
        (of_a_manager, X, "float64[1]@ndarray"),
        (of_a_namespace, X, "float64[1]@ndarray"),
        (of_a_median, X, "float64"),
        (of_a_sum_of_floats, X, "float"),
        (of_a_named_tuple, X, "float64[1]@ndarray"),
        (of_a_name, X, "None | float64[1]@ndarray"),
    ],
    ids=lambda part: part.__name__ if callable(part) else "",
)
def test_results(function: FunctionType, argument: Any, expected: str) -> None:
    assert last(function, argument) == expected


def test_what_the_values_decide_is_not_reached() -> None:
    found = facts_of(of_isinstance, X)
    assigned = [s for _, s in walk(checked(of_isinstance).body) if isinstance(s, Assign)]
    methods = [s for s in assigned if isinstance(s.operation, GetAttribute) and s.operation.name != "deque"]
    assert len(methods) == 2 and not any(statement in found.reached for statement in methods)


def held_apart(x):
    y = x.copy()
    z = x[1:]
    w = [x]
    y[0] = 1.0
    return y, z, w


def test_who_shares_memory() -> None:
    found = facts_of(held_apart, X)
    by_name = {v.variable: value for v, value in found.values.items() if v.variable}

    def share(one: Value, other: Value) -> bool:
        return not set(sites_of(one)).isdisjoint(sites_of(other))

    assert share(by_name["x"], by_name["z"]) and not share(by_name["x"], by_name["y"])
    (site,) = sites_of(by_name["w"])
    assert share(found.contents[site].items, by_name["x"])
    assert not found.seen


def given_to_unknown_code(x):
    held, kept = [x], [x[0]]
    np.frompyfunc(len, 1, 1)(held)
    return held, kept


def test_what_unknown_code_sees() -> None:
    found = facts_of(given_to_unknown_code, X)
    by_name = {v.variable: value for v, value in found.values.items() if v.variable}
    assert all(found.is_seen(site) for site in sites_of(by_name["held"]))
    assert not any(found.is_seen(site) for site in sites_of(by_name["kept"]))


def test_what_reaches_for_its_namespace_is_given_up() -> None:
    assert facts_of(lambda x: globals()["X"] + x, X).is_lost and not facts_of(of_none, X).is_lost


@pytest.mark.costly(1)
@pytest.mark.parametrize("by_kind", [True, False])
def test_what_holds_too_many_objects_is_given_up(by_kind: bool) -> None:
    tree: list[Any] = [1.0]
    for _ in range(4):
        tree = [copy.deepcopy(tree) for _ in range(13)]  # 30,941 lists, of 20,000 that are looked into
    found = analysed(lambda x: x * len(tree), [X], lower=checked, by_kind=by_kind)
    assert found is not None and found.is_lost


def holds_itself(x):
    held = [x]
    held[0] = held
    return np.sum(held)


def test_a_list_that_holds_itself() -> None:
    assert facts_of(holds_itself, X).reached


def test_recursion_is_followed():
    """What calls itself returns what its rounds found, and not anything."""
    assert last(calling.fibonacci, X) == "tuple"
    values = {str(v) for v in facts_of(calling.fibonacci, X).values.values()}
    assert "any" not in values
    assert last(calling.a_tree_of_numbers, X) == "30.0"
    assert last(calling.what_a_suspended_body_holds, X) == "'text' | 1.0"


def half(layer, k):
    if k is None:
        return layer.scale
    return layer.scale * 0.5 + k


def of_two_kinds(x):
    layer = Layer(x, x[0])
    return half(layer, 1.0) + half(layer, None)


def test_a_callee_is_told_apart_by_what_it_is_given():
    (entry,) = facts_of(of_two_kinds, X).entry
    made = [each for inner in entry.calls.values() for each in inner if each.function.name == "half"]
    texts = [[line.partition("#")[2].strip() for line in text_of(each).splitlines()[:2]] for each in made]
    assert texts == [["Layer, 1.0", "False"], ["Layer, None", "True"]]


def test_of_arguments_of_which_nothing_is_said():
    facts = analysed(of_two_kinds, None, lower=checked)
    assert facts is not None
    (entry,) = facts.entry
    assert text_of(entry).splitlines()[0].endswith("# data")
    assert not any(value.is_any for value in entry.values.values())


class Stepping:
    def __init__(self):
        self.rate = 2.0
        self.called_back = self.step

    def step(self, v):
        return v * self.rate


STEPPING = Stepping()


def test_an_object_that_holds_a_method_of_its_own() -> None:
    """The object led to the method, and that to the object again: a RecursionError."""

    def called(v):
        return STEPPING.called_back(v)

    assert analysed(called, (0.5,), by_kind=True) is not None


def rows_by_number(x):
    d = {}
    for i, v in enumerate(x):
        d[i] = [v]
    for key, row in {**d, 9: [x[0]]}.items():
        d[key] = row
    return [row, key, d.popitem()[1], next(iter(d))][0]


def lengths_by_text(x):
    d = {}
    for name in ("a", "bc"):
        d.setdefault(name, []).append(x)
    return {len(row): name for name, row in d.items()}.popitem()


def test_keys_are_told_apart_from_values() -> None:
    facts = facts_of(rows_by_number, X)
    known = [(str(each.keys), str(each.held)) for site, each in facts.contents.items() if site.kind is dict]
    assert ("int", "list | list") in known
    facts = facts_of(lengths_by_text, X)
    known = [(str(each.keys), str(each.held)) for site, each in facts.contents.items() if site.kind is dict]
    assert ("'a' | 'bc'", "list") in known and ("int", "'a' | 'bc'") in known


def grown_between(x):
    items = [x[0]]
    first = sum_of(*items)
    items.append(x[1])
    return first * sum_of(*items)


def sum_of(*items):
    return sum(items)


def test_stars_hold_what_they_hold_where_they_are_read() -> None:
    (entry,) = facts_of(grown_between, X).entry
    assert [len(contents.parts or ()) for contents in entry.stars.values()] == [1, 2]
