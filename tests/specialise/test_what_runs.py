"""Which function runs, on what, and what it leaves behind: right against numbers, or refused."""

from __future__ import annotations

import operator
from contextlib import contextmanager

import numpy as np
import pytest
from pytest import MonkeyPatch

import srcgrad
from srcgrad import grad, options
from srcgrad.errors import LanguageError
from tests.specialise.serving import check_refused, check_right, program_of, written

X = np.array([0.7, 0.4, 1.3])


# --- defaults --------------------------------------------------------------------------------------------------------
def constant_defaults_of_two(x):
    def make(k):
        return lambda v, k=k: v * k

    fs = [make(2.0), make(3.0)]
    return fs[0](x) + fs[1](x) * x


def no_default_and_one(x):
    def make(k):
        return lambda v, *, k=k: v * 2.0 if k is None else v * k

    f, g = make(None), make(5.0)
    return f(x) * g(x)


def test_defaults_of_a_function_that_is_made_twice(monkeypatch: MonkeyPatch) -> None:
    """Every function of one text was called with the constant defaults of the first."""
    check_right(constant_defaults_of_two, monkeypatch, 0.7)
    check_right(no_default_and_one, monkeypatch, 0.7)


# --- methods of what may be None -------------------------------------------------------------------------------------
class Rate:
    def rate(self, v):
        return v * 2.0

    @property
    def fixed(self):
        return 3.0

    def __call__(self, v):
        return v * 4.0

    def __getitem__(self, place):
        return 5.0


def rate_of(x, chosen):
    d = Rate() if x > 3.0 else None
    try:
        return x * (d.rate(x) if chosen == 0 else d.fixed)
    except AttributeError:
        return x * 5.0


def operators_of(x, chosen):
    d = Rate() if x > 3.0 else None
    try:
        return d(x) * x if chosen == 0 else d[0] * x
    except TypeError:
        return x * 5.0


def raises_before_its_argument(x):
    d = Rate() if x > 3.0 else None
    try:
        return d.rate(1.0 / (x - x))
    except AttributeError:
        return x * 2.0
    except ZeroDivisionError:
        return x * 3.0


def appends_to_none(x, n):
    xs = [x] if n > 3 else None
    try:
        xs.append(x)
        return x * 2.0
    except AttributeError:
        return x * 3.0


def test_a_method_of_none(monkeypatch: MonkeyPatch) -> None:
    """The method of the class that a value may be of was called where the value is None."""
    for chosen in range(2):
        check_right(rate_of, monkeypatch, 0.7, chosen)
        check_right(rate_of, monkeypatch, 4.7, chosen)
        check_right(operators_of, monkeypatch, 0.7, chosen)
        check_right(operators_of, monkeypatch, 4.7, chosen)
    check_right(raises_before_its_argument, monkeypatch, 0.7)
    check_right(appends_to_none, monkeypatch, 0.7, 1)
    check_right(appends_to_none, monkeypatch, 0.7, 5)


# --- containers of what varies ---------------------------------------------------------------------------------------
def joined_dicts(x):
    c = {"a": x} | {"b": x * 2.0}
    return c["a"] * c["b"]


def joined_by_a_function(x):
    c = operator.or_({"a": x}, {"b": x * 2.0})
    return c["a"] * c["b"]


def joined_in_place(x):
    c = {"a": x}
    c |= {"b": x * 2.0}
    return c["a"] * c["b"]


def test_containers_joined_by_what_has_no_derivative(monkeypatch: MonkeyPatch) -> None:
    """The derivative of what such a container holds was zero, as that of the operator is where it is given integers."""
    check_right(joined_dicts, monkeypatch, 0.7)  # by what stores both into a new one
    check_right(joined_by_a_function, monkeypatch, 0.7)
    check_right(joined_in_place, monkeypatch, 0.7)


# --- __init__ --------------------------------------------------------------------------------------------------------
class Early:
    def __init__(self, w, n):
        self.w = w
        if n > 2:
            return
        self.w = w * 2.0


class Sometimes:
    a = 3.0

    def __init__(self, w, n):
        if n > 2:
            self.a = w
        self.b = w


def returns_early(x, n):
    e = Early(x, n)
    return x * e.w if e else x * 5.0


def sometimes_a_field(x, n):
    e = Sometimes(x, n)
    return e.a * e.b


def test_an_object_whose_init_returns_early(monkeypatch: MonkeyPatch) -> None:
    """The call gave None where ``__init__`` returned before its end; a field that it had not set had no value."""
    for n in (1, 3):
        check_right(returns_early, monkeypatch, 0.7, n)
        check_refused(sometimes_a_field, monkeypatch, 0.7, n)


# --- methods that a built-in function runs ---------------------------------------------------------------------------
class Key:
    def __init__(self, w):
        self.w = w

    def __eq__(self, other):
        self.w = self.w * 3.0
        return True

    __hash__ = object.__hash__

    @property
    def changed(self):
        self.w = self.w * 2.0
        return self.w


def searched(x):
    a, b = Key(x), Key(x)
    return a.w * [a, b].count(b) * [b].index(a) + a.w


def removed(x):
    a, b = Key(x), Key(x)
    keys = [a]
    keys.remove(b)
    return a.w


def read_by_name(x):
    a = Key(x)
    getattr(a, "changed")
    return a.w


def test_methods_that_no_call_is_written_of(monkeypatch: MonkeyPatch) -> None:
    """What ``__eq__`` and a property stored had no derivative where a function of the library runs them."""
    for program in (searched, removed, read_by_name):
        check_right(program, monkeypatch, 0.7)


# --- dicts whose keys are equal, variables without a value -----------------------------------------------------------
def equal_keys(x):
    d = {1: x, 1.0: x * 2.0, True: x * 3.0}  # noqa: F601
    return d[1] * len(d)


def not_bound(x, n):
    if n > 3:
        y = x * 2.0
    try:
        z = y * 3.0
    except NameError:
        z = x * 7.0
    return z


def test_equal_keys_and_variables_without_a_value(monkeypatch: MonkeyPatch) -> None:
    """All of the values had a derivative; what a variable without a value raises was not caught."""
    check_right(equal_keys, monkeypatch, 0.7)
    assert written(program_of(not_bound, (0.7, 1))) is None


# --- managers made of local functions --------------------------------------------------------------------------------
def local_manager(x):
    @contextmanager
    def doubled():
        yield x * 2.0

    with doubled() as y:
        return y * x


def test_a_context_manager_of_a_local_function() -> None:
    """The manager called the text that stands for the function."""
    np.testing.assert_allclose(srcgrad.grad(local_manager)(0.7), 2.8)


# --- what a method gives ---------------------------------------------------------------------------------------------
def sorted_by(values):
    return values.sort()


def none_of_a_method(x):
    values = np.array([x * 2.0, x])
    if sorted_by(values) is None:
        return values[0] * values[0]
    return x


def test_methods_that_give_none(monkeypatch: MonkeyPatch) -> None:
    """The name of what ``sort`` gives had no value."""
    check_right(none_of_a_method, monkeypatch, 0.7)


def asks_who_owns_it(x):
    x[0] = x[1] * 2.0
    return x.sum() * (3.0 if x.base is None else 1.0)


def counts_its_bytes(x):
    x[0] = x[1] * 2.0
    return x.sum() * len(x.tobytes())


@pytest.mark.parametrize("function", [asks_who_owns_it, counts_its_bytes])
def test_what_tells_of_memory_is_refused(function):
    """A derivative stores into a copy of the argument, whose memory is another one."""
    for changes in ({},):
        with options(**changes), pytest.raises(LanguageError):
            grad(function)(np.ones(6)[:3])


# --- stores under a keyword ------------------------------------------------------------------------------------------
def filled_in_place(x):
    y = np.log(x - 0.5)
    np.nan_to_num(y, copy=False, nan=1.5)
    return np.sum(y * x * x)


def ordered_by_a_median(x):
    y = x * x
    return np.median(y, overwrite_input=True) * y[0]


@pytest.mark.filterwarnings("ignore:invalid value")
def test_a_store_that_a_keyword_asks_for() -> None:
    expected = np.where(X > 0.5, 2 * X * np.log(X - 0.5) + X * X / (X - 0.5), 3.0 * X)
    np.testing.assert_allclose(grad(filled_in_place)(X), expected)
    with pytest.raises(LanguageError, match="overwrite_input"):
        grad(ordered_by_a_median)(X)
