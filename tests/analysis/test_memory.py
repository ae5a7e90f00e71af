"""Memory classes: what may share memory is one class, what stores makes a class mutable, numbers are in none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad.analysis.memory import MemoryClasses, Summaries, Summary, memory_classes
from srcgrad.errors import UnsupportedSyntax
from srcgrad.ir.normal_form import Callee
from srcgrad.pipeline import Module
from srcgrad.rules.facts import Fact, Unknown, fact_of
from srcgrad.rules.memory import makes_new
from srcgrad.rules.table import is_constant, lookup
from tests.rules.samples import SAMPLES

VALUES = {"x": np.ones(4), "y": np.ones(4), "m": np.ones((2, 2)), "a": 1.0, "b": 1.0, "n": 2, "k": np.array([0, 1])}


def classes(function: Callable[..., Any], **changed: Any) -> MemoryClasses:
    """The classes for arguments of the kinds of ``VALUES``; an argument that is None is of an unknown kind."""
    module = Module()
    values = VALUES | changed

    def solve(callee: Callee, facts: tuple[Fact, ...]) -> MemoryClasses:
        names = module.facts_of(callee, facts)
        return memory_classes(module.normalized(callee), names, summary_of)

    def summary_of(callee: Callee, facts: tuple[Fact, ...]) -> Summary:
        return summaries.of(callee, module._seen_from_inside(callee, facts))

    summaries = Summaries(lambda callee, facts: solve(callee, facts).summary, Summary())
    callee = Callee(function)  # type: ignore[arg-type]
    entry = [Unknown() if values[p] is None else fact_of(values[p], p) for p in module.normalized(callee).parameters]
    return solve(callee, tuple(entry))


def mutable(function: Callable[..., Any], **changed: Any) -> set[str]:
    return set(classes(function, **changed).shadowed)


def test_a_view_is_one_class_with_what_it_shows() -> None:
    def f(x, a):
        y = np.sin(x)
        v = y[1:3]
        v[0] = a
        return np.sum(y)

    assert mutable(f) == {"y", "v"}
    assert classes(f).root("y") == classes(f).root("v") != classes(f).root("x")
    assert classes(f).members("v") == {"y", "v"}


def test_chained_names_are_one_class() -> None:
    def f(x, a):
        z = w = np.sin(x)
        u = w
        u[0] = a
        return np.sum(z)

    assert mutable(f) >= {"z", "w", "u"}
    assert "x" not in mutable(f)


def test_both_arms_of_a_condition() -> None:
    def f(x, y, a):
        p = x * 1.0
        q = y * 1.0
        r = p if a > 0.0 else q
        r[0] = a
        return np.sum(p) + np.sum(q)

    assert mutable(f) >= {"p", "q", "r"}


def test_both_sides_of_or() -> None:
    def f(x, y, a):
        p = [x * 1.0]
        q = [y * 1.0]
        r = p or q
        r[0][0] = a
        return np.sum(p[0]) + np.sum(q[0])

    assert mutable(f) >= {"p", "q", "r"}


def test_an_integer_index_of_a_matrix_is_a_view() -> None:
    def f(m, a):
        k = np.sin(m)
        p = k[1]
        p[0] = a
        return np.sum(k)

    assert mutable(f) == {"k", "p"}


def test_a_number_read_from_an_array_is_in_no_class() -> None:
    def f(x, a):
        y = np.sin(x)
        e = y[0]
        y[1] = a * e
        return e + y[1]

    assert mutable(f) == {"y"}


def test_an_item_of_unknown_kind_stays_in_the_class() -> None:
    def f(x, a):
        y = x
        e = y[0]
        y[1] = a
        return e

    assert mutable(f, x=None) >= {"x", "y", "e"}


def test_rows_by_unpacking_and_by_iterating() -> None:
    def f(m, a):
        k = np.sin(m)
        p, q = k
        for row in k:
            row[0] = a
        return p[0] * q[0]

    assert mutable(f) >= {"k", "p", "q", "row"}


def test_an_index_array_selects_into_new_memory() -> None:
    def f(x, k, a):
        y = np.sin(x)
        z = y[k]
        w = y[[0, 1]]
        u = y[y > 0.5]
        y[0] = a
        return np.sum(z) + np.sum(w) + np.sum(u)

    assert mutable(f) == {"y"}


@pytest.mark.parametrize(
    "view",
    [
        lambda x: x.T,
        lambda x: x.reshape(2, 2),
        lambda x: np.reshape(x, (4,)),
        lambda x: x.ravel(),
        lambda x: np.ravel(x),
        lambda x: x.squeeze(),
        lambda x: np.squeeze(x),
        lambda x: np.asarray(x),
        lambda x: np.asarray_chkfinite(x),
        lambda x: np.ascontiguousarray(x),
        lambda x: np.atleast_1d(x),
        lambda x: np.atleast_2d(x),
        lambda x: np.atleast_3d(x),
        lambda x: x.astype(np.float64, copy=False),
        lambda x: np.transpose(x),
        lambda x: np.swapaxes(x, 0, 0),
        lambda x: np.expand_dims(x, 0),
        lambda x: x.real,
        lambda x: np.real(x),
        lambda x: x.conj(),
        lambda x: np.flip(x),
        lambda x: np.diagonal(np.atleast_2d(x)),
        lambda x: np.diag(np.atleast_2d(x)),
        lambda x: np.split(x, 2)[0],
        lambda x: np.broadcast_to(x, (4,)),
        lambda x: max(x, x[::-1], x),
        lambda x: [x][0],
        lambda x: (x, x)[1],
        lambda x: {"k": x}["k"],
        lambda x: x[None],
        lambda x: x[...],
        lambda x: x[0:n_of(x)],
    ],
)
def test_what_may_be_a_view(view: Callable[..., Any]) -> None:
    def f(x, a):
        y = x * 1.0
        v = view(y)
        y[0] = a
        return np.sum(v)

    assert mutable(f) >= {"y", "v"}


def n_of(x):
    return x.shape[0]


@pytest.mark.parametrize(
    "new",
    [
        lambda x: x + 0.0,
        lambda x: -x,
        lambda x: x.copy(),
        lambda x: np.copy(x),
        lambda x: np.sin(x),
        lambda x: np.concatenate([x, x]),
        lambda x: np.stack([x, x]),
        lambda x: np.where(x > 0.0, x, 0.0),
        lambda x: np.cumsum(x),
        lambda x: np.conjugate(x),
        lambda x: x @ np.outer(x, x),
        lambda x: np.sort(x),
    ],
)
def test_what_is_new(new: Callable[..., Any]) -> None:
    def f(x, a):
        y = x * 1.0
        v = new(y)
        y[0] = a
        return np.sum(v)

    assert "v" not in mutable(f)


def test_the_copy_of_a_list_has_its_items() -> None:
    def f(x, a):
        y = x * 1.0
        pair = [y, x]
        other = pair.copy()
        other[0][0] = a
        return np.sum(pair[0])

    assert mutable(f, x=VALUES["x"]) >= {"y", "pair", "other"}


# --- containers ------------------------------------------------------------------------------------------------------
def test_containers_and_what_they_contain() -> None:
    def f(x, y, a):
        p = x * 1.0
        q = y * 1.0
        both = {"p": p, "q": (q, a)}
        both["p"][0] = a
        return np.sum(p)

    assert mutable(f) >= {"p", "q", "both"}


def test_a_list_that_grows_alone_is_functional() -> None:
    def f(x, n, a):
        rows = [row * a for row in (x, x * 2.0)]
        return np.sum(np.stack(rows))

    assert mutable(f) == set()


# --- callees ---------------------------------------------------------------------------------------------------------
def store_into(x, a):
    x[0] = a
    return a


def handed_on(x):
    return x


def row_of(x, i):
    return x[i : i + 2]


def fresh_of(x):
    y = x * 1.0
    y[0] = 0.0
    return y


def kept_in(x, y):
    x[0] = y
    return 0.0


def down(x, n):
    if n > 0:
        return up(x, n - 1)
    x[0] = 1.0
    return x


def up(x, n):
    return down(x[::-1], n - 1)


def test_a_callee_that_stores() -> None:
    def f(x, a):
        y = np.sin(x)
        v = y[1:]
        s = store_into(v, a)
        return np.sum(y) + s

    assert mutable(f) == {"y", "v"}
    assert classes(store_into).summary.stored == {0}


def test_a_callee_that_hands_on_its_argument() -> None:
    def f(x, a):
        y = np.sin(x)
        v = row_of(handed_on(y), 1)
        v[0] = a
        return np.sum(y)

    assert mutable(f) >= {"y", "v"}
    assert classes(handed_on).summary.returned == {0}


def test_a_callee_that_stores_into_what_it_made() -> None:
    def f(x, a):
        v = fresh_of(x)
        return np.sum(v)

    assert mutable(f) == set()
    assert classes(fresh_of).summary.returned == set()


def test_a_callee_that_keeps_one_argument_in_another() -> None:
    def f(x, y, a):
        p = x * 1.0
        boxed = [y * 1.0]
        kept_in(boxed, p)
        p[0] = a
        return np.sum(boxed[0])

    assert mutable(f) >= {"p", "boxed"}
    assert classes(kept_in, x=[1.0]).summary.joined == (frozenset({0, 1}),)


def test_recursion_is_solved_to_a_fixpoint() -> None:
    def f(x, n, a):
        y = np.sin(x)
        v = down(y, n)
        return np.sum(v)

    assert mutable(f) == {"y", "v"}
    for one in (up, down):
        assert classes(one).summary.stored == {0}
        assert classes(one).summary.returned == {0}


# --- globals ---------------------------------------------------------------------------------------------------------
TABLE = np.ones(4)


def table_of():
    return TABLE


def test_a_store_into_a_global_is_refused() -> None:
    def f(a):
        t = TABLE
        t[0] = a
        return np.sum(t)

    with pytest.raises(UnsupportedSyntax, match="'TABLE'") as raised:
        classes(f)
    assert raised.value.span.code == "t[0] = a"


def test_a_store_into_what_a_callee_reads_from_a_global_is_refused() -> None:
    def f(a):
        t = table_of()[1:]
        t[0] = a
        return np.sum(t)

    with pytest.raises(UnsupportedSyntax, match="a global"):
        classes(f)


def test_a_container_of_a_global_may_change() -> None:
    def f(x, a):
        both = [TABLE, x]
        both[0] = x * a
        return np.sum(both[0] * both[1])

    assert mutable(f) >= {"both", "x"}


# --- the table -------------------------------------------------------------------------------------------------------
def _arrays(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    return [a for item in value for a in _arrays(item)] if isinstance(value, tuple | list) else []


def _called(function: Callable[..., Any], sample: Any) -> Any:
    with np.errstate(all="ignore"):
        return function(*sample.args, **sample.kwargs)


@pytest.mark.filterwarnings("ignore")
def test_what_is_said_to_be_new_shares_nothing_in_any_sample() -> None:
    for function, samples in SAMPLES.items():
        if not (lookup(function) or is_constant(function)) or not makes_new(function):
            continue
        for sample in samples:
            given = [*_arrays(sample.args), *_arrays(sample.kwargs)]
            for made in _arrays(_called(function, sample)):
                assert not any(np.shares_memory(made, one) for one in given), function
