"""``StopIteration`` that leaves a generator, or a function that an iterator calls: right, or refused, on both roads."""

from __future__ import annotations

import functools
import itertools
import math
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, jvp, options, value_and_grad
from srcgrad.errors import UnsupportedSyntax
from srcgrad.infer.interpreter import analysed
from srcgrad.runtime.refusals import Refused
from srcgrad.specialise.ended import REASON, refuse_ended

_ROADS: dict[str, dict[str, Any]] = {"specialised": {}, "generic": {"specialise": False}}
ROADS = pytest.mark.parametrize("road", _ROADS.values(), ids=_ROADS)


def stop_at(v, p):
    if v > p:
        raise StopIteration
    return v * v


class Over(StopIteration):
    """One of the user's."""


def over_at(v, p):
    if v > p:
        raise Over("at its end")
    return v * v


def twice(v, p):
    return 2.0 * stop_at(v, p)


def raised_again(v, p):
    try:
        return stop_at(v, p)
    except StopIteration:
        raise


def not_caught(v, p):
    try:
        return stop_at(v, p)
    except ValueError:
        return v


def caught(v, p):
    try:
        return stop_at(v, p)
    except StopIteration:
        return 3.0 * v


def raised_as_another(v, p):
    try:
        return stop_at(v, p)
    except StopIteration:
        raise ValueError("over") from None


def odd(n, v, p):
    return v if n == 0 else 2.0 * even(n - 1, v, p)


def even(n, v, p):
    return stop_at(v, p) if n == 0 else odd(n - 1, v, p)


def ask(it):
    return next(it)


class Scale:
    def __init__(self, by):
        self.by = by

    def at(self, v):
        return stop_at(v, self.by)

    def __add__(self, other):
        return stop_at(self.by, 1.0) + other


def generated(x, p):
    for v in x:
        yield stop_at(v, p)


def relayed(x, p):
    yield from map(lambda v: stop_at(v, p), x)


#: What gives items until StopIteration leaves it, and what goes over items.
GIVEN = {
    "a generator": "(stop_at(v, p) for v in x)", "one of the user's": "(over_at(v, p) for v in x)",
    "a generator of what asks": "(ask(it) * v for v in x)", "a generator that asks": "(next(it) * v for v in x)",
    "a condition": "(v for v in x if stop_at(v, p) > 0.0)",
    "a generator inside": "(next(it) * w for v in x for w in x)",
    "deeper": "(twice(v, p) for v in x)", "raised again": "(raised_again(v, p) for v in x)",
    "not caught": "(not_caught(v, p) for v in x)", "calls of each other": "(odd(3, v, p) for v in x)",
    "a lambda": "((lambda u: stop_at(u, p))(v) for v in x)", "a function inside": "(inside(v) for v in x)",
    "a method": "(scale.at(v) for v in x)", "an operator": "(scale + v for v in x)",
    "a table": "({'stop': stop_at}['stop'](v, p) for v in x)",
    "next of a generator": "(next(v for v in x if v > p) for _ in x)",
    "map": "map(lambda v: stop_at(v, p), x)", "map of a function": "map(inside, x)",
    "map of a method": "map(scale.at, x)",
    "map of several": "map(stop_at, x, [p, p, p])", "map of next": "map(next, [it, it, it])",
    "filter": "filter(lambda v: stop_at(v, p) > 0.0, x)",
    "filterfalse": "itertools.filterfalse(lambda v: stop_at(v, p) < 0.0, x)",
    "starmap": "itertools.starmap(stop_at, [(v, p) for v in x])",
    "takewhile": "itertools.takewhile(lambda v: stop_at(v, p) > 0.0, x)",
    "dropwhile": "itertools.dropwhile(lambda v: stop_at(v, p) < 0.0, x)",
    "accumulate": "itertools.accumulate(x, lambda s, v: s + stop_at(v, p))",
    "zip of map": "(u * v for u, v in zip(map(lambda v: stop_at(v, p), x), x))",
    "chain of map": "itertools.chain(map(lambda v: stop_at(v, p), x), x)",
    "until": "iter(lambda: stop_at(next(it), p), 9.0)",
    "a generator function": "generated(x, p)", "one that relays": "relayed(x, p)",
}  # fmt: skip
TAKING = {
    "sum": "s = sum({})", "list": "s = sum(list({}))", "any": "s = a if any(v > 1.2 for v in {}) else b",
    "all": "s = a if all({}) else b", "max": "s = max({}, default=b)", "prod": "s = math.prod({})",
    "next": "s = next({}, b)", "reduce": "s = functools.reduce(lambda u, v: u + 2.0 * v, {}, a)",
    "star": "s = max(a, b, *{})", "loop": "s = a\n        for v in {}: s = s + v * v",
    "list of a loop": "s = sum([v * b for v in {}])", "array": "s = np.sum(np.array(list({})))",
}  # fmt: skip
TEXT = """
def of_handlers(a, b, p):
    x = [a, a * b, b + 1.0]
    {set_up}
    try:
        {body}
    except RuntimeError:
        return 3.0 * a * b
    except StopIteration:
        return 5.0 * b
    return s * a
"""
SETS = {
    "it": "it = iter(x[:int(p)])", "inside": "inside = lambda v: stop_at(v, p)", "scale": "scale = Scale(p)",
}  # fmt: skip


def written(name: str, given: str, taking: str, keep: dict[str, Any]) -> Callable[..., Any]:
    """A function of a text, which lies in a file that is kept with it."""
    body = TAKING[taking].format(GIVEN[given])
    set_up = "; ".join(made for held, made in SETS.items() if re.search(rf"\b{held}\b", body))
    path = keep["path"] / f"{name}.py"
    path.write_text(TEXT.format(set_up=set_up or "pass", body=body))
    names = dict(globals())
    exec(compile(path.read_text(), str(path), "exec"), names)
    made: Callable[..., Any] = names["of_handlers"]
    return made


def right_or_refused(function: Callable[..., Any], road: dict[str, Any]) -> int:
    """How often a function was refused."""
    refusals = 0
    for p in (0.0, 1.0, 2.0, 9.0):
        function.__dict__.pop("__srcgrad_kept__", None)
        expected = function(0.7, 1.1, p)
        h = 1e-6
        slopes = [
            (function(0.7 + h, 1.1, p) - function(0.7 - h, 1.1, p)) / (2 * h),
            (function(0.7, 1.1 + h, p) - function(0.7, 1.1 - h, p)) / (2 * h),
        ]
        try:
            with options(**road):
                value, gradient = value_and_grad(function, (0, 1))(0.7, 1.1, p)
                _, tangent = jvp(function, (0.7, 1.1, p), (1.0, -0.5, None))
        except srcgrad.LanguageError:
            refusals += 1
            continue
        assert value == pytest.approx(expected)
        np.testing.assert_allclose(gradient, slopes, rtol=1e-5, atol=1e-6)
        assert tangent == pytest.approx(slopes[0] - 0.5 * slopes[1], rel=1e-5, abs=1e-6)
    return refusals


@ROADS
@pytest.mark.parametrize("given", GIVEN)
@pytest.mark.costly(6, first=2)
def test_stop_iteration_out_of_what_gives_items(given: str, road: dict[str, Any], tmp_path: Any) -> None:
    for taking in ("sum", "loop"):
        right_or_refused(written("given", given, taking, {"path": tmp_path}), road)


@ROADS
@pytest.mark.parametrize("taking", TAKING)
@pytest.mark.costly(2, first=2)
def test_stop_iteration_in_what_takes_items(taking: str, road: dict[str, Any], tmp_path: Any) -> None:
    for given in ("a generator", "map"):
        right_or_refused(written("taking", given, taking, {"path": tmp_path}), road)


# --- the places of the refusals --------------------------------------------------------------------------------------
def sum_of_a_generator(x, p):
    return sum(stop_at(v, p) for v in x)


def sum_of_a_map(x, p):
    return sum(map(lambda v: stop_at(v, p), x))


@ROADS
@pytest.mark.parametrize("function", [sum_of_a_generator, sum_of_a_map])
def test_refused_at_its_place(function: Callable[..., Any], road: dict[str, Any]) -> None:
    with options(**road), pytest.raises(UnsupportedSyntax, match=REASON) as refused:
        value_and_grad(function)([0.5, 0.7], 9.0)
    is_model = function is sum_of_a_map  # whose text is not the user's
    assert refused.value.span.line == function.__code__.co_firstlineno + (not is_model)


@pytest.mark.parametrize("function", [sum_of_a_generator, sum_of_a_map])
def test_the_facts_alone_refuse_it(function: Any) -> None:
    """What is specialised asks no text: both roads know by themselves."""
    facts = analysed(function, ([0.5, 0.7], 9.0), {}, by_kind=True)
    assert facts is not None
    with pytest.raises(UnsupportedSyntax, match=REASON):
        refuse_ended(function, facts)


# --- what stays right ------------------------------------------------------------------------------------------------
def scaled(v, p):
    if v > 99.0:
        raise ValueError("too large")
    return v * p


def of_a_function_that_raises_others(a, b, p):
    return sum(scaled(v, b) for v in [a, b]) * sum(map(lambda v: scaled(v, a), [a, b]))


def of_what_stops_outside(a, b, p):
    return stop_at(a, 9.0) * sum(v * b for v in [a, b]) + sum(map(math.sin, [a, b]))


def of_lists(a, b, p):
    return sum([stop_at(v, 9.0) for v in [a, b]]) * sum(v * a for v in [a, b])


def of_a_function_inside(a, b, p):
    double = lambda v: 2.0 * v
    return stop_at(a, 9.0) * sum(double(v) for v in [a, b])


def of_the_first_source(a, b, p):
    return sum(v * a for v in [stop_at(a, 9.0), b])


def of_the_first_item(a, b, p):
    return next(v for v in [a, b] if v > 1.0) * a


RIGHT = [
    of_a_function_that_raises_others, of_what_stops_outside, of_lists, of_a_function_inside, of_the_first_source,
    of_the_first_item,
]  # fmt: skip


@ROADS
@pytest.mark.parametrize("function", RIGHT)
@pytest.mark.costly(2)
def test_generators_that_nothing_ends_stay_right(function: Callable[..., Any], road: dict[str, Any]) -> None:
    assert right_or_refused(function, road) == 0


def of_what_is_caught(a, b, p):
    return sum([v * b for v in map(lambda v: caught(v, 1.0), [a, b, 2.0])])


def of_what_is_raised_as_another(a, b, p):
    return sum(raised_as_another(v, 9.0) for v in [a, b])


@pytest.mark.parametrize("function", [of_what_is_caught, of_what_is_raised_as_another])
def test_what_is_caught_inside_is_not_refused_for_it(function: Any) -> None:
    facts = analysed(function, (0.7, 1.1, 1.0), {}, by_kind=True)
    assert facts is not None
    refuse_ended(function, facts)


# --- generator functions that are written out ------------------------------------------------------------------------
def asking(x, it):
    for v in x:
        yield v * next(it)


def sum_of_what_asks(a, b, p):
    return sum(asking([a, b], iter([b, a * a])))


def sum_of_what_is_over(a, b, p):
    return sum(asking([a, b], iter([b])))


def test_an_iterator_at_its_end_in_a_generator_function() -> None:
    assert right_or_refused(sum_of_what_asks, {}) == 0
    with pytest.raises(RuntimeError, match="generator raised StopIteration"):
        sum_of_what_is_over(0.7, 1.1, 0.0)
    with pytest.raises(RuntimeError, match="generator raised StopIteration"):
        value_and_grad(sum_of_what_is_over, (0, 1))(0.7, 1.1, 0.0)


# --- comprehensions let it out as it is -------------------------------------------------------------------------------
def out_of_a_list(a, b, p):
    try:
        s = sum([stop_at(v, p) for v in [a, a * b, b + 1.0]])
    except RuntimeError:
        return 3.0 * a * b
    except StopIteration:
        return 5.0 * b
    return s * a


def out_of_a_reduction(a, b, p):
    try:
        s = functools.reduce(lambda u, v: u + stop_at(v, p), [a, a * b, b + 1.0])
    except RuntimeError:
        return 3.0 * a * b
    except StopIteration:
        return 5.0 * b
    return s * a


@ROADS
@pytest.mark.parametrize("function", [out_of_a_list, out_of_a_reduction])
@pytest.mark.costly(2)
def test_comprehensions_and_reductions_let_it_out(function: Callable[..., Any], road: dict[str, Any]) -> None:
    right_or_refused(function, road)


def test_saved_programs_refuse_it_too(tmp_path: Any) -> None:
    with pytest.raises(UnsupportedSyntax, match=REASON):
        value_and_grad(sum_of_a_generator).save(tmp_path / "saved.py")


assert itertools  # read by the texts


class Log:
    def __init__(self):
        self.kept = []

    def put(self, t):
        self.kept.append(t * t)
        return sum(self.kept)

    def top(self):
        return max(self.kept)


def in_a_branch_at_second_order(a, b, x):
    x[2] = 0.5
    if b + b > a:
        log = Log()
        log.put(b)
        log.kept = [log.top(), min(b, x[-1])]
        sum(log.kept)
    return a + b + np.sum(x * x)


def test_a_branch_that_was_refused_at_second_order():
    """Once an InternalError: a second branch under the same test read names that nothing bound any more.  Then refused,
    since the methods had pairs of their own; they are written out now."""
    x = np.array([0.3, 0.5, 0.7, 0.2])
    with options(sink=False):
        _, slopes = jvp(grad(in_a_branch_at_second_order, (0, 1, 2)), (0.4, 0.5, x), (1.0, 1.0, np.ones(4)))
    assert slopes[:2] == (0.0, 0.0)
    np.testing.assert_array_equal(slopes[2], [2.0, 2.0, 0.0, 2.0])


def refused_in_a_loop(a, b, x, y, m, h):
    if b > a:
        return np
    for _row, item in m:
        np.place(h[1], h[1], [item, 0.3])
    return item


def test_what_a_refused_loop_would_have_bound_is_not_read_behind_it() -> None:
    """Once an InternalError: an item was read behind a loop whose rounds were all left by a refusal."""
    x, m, h = np.array([0.3, 0.5]), np.array([[0.3, 0.5], [0.7, 0.2]]), [np.ones(2), np.ones(2)]
    with options(specialise=False), pytest.raises(Refused, match="stores into what may be no array"):
        grad(refused_in_a_loop, (2, 3))(0.5, 0.4, x, x * 2.0, m, h)
