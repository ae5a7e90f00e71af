"""Variables that a way of the program does not bind, or binds later: Python raises where they are read."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import grad, hvp, jvp, value_and_grad
from srcgrad.errors import UnresolvedName, UnsupportedSyntax
from srcgrad.programs import options
from srcgrad.runtime.refusals import RefusedType

X = np.array([1.0, 2.0, 3.0])


def by_branch(x, m):
    if m:

        def act(v):
            return v * v

    return np.sum(act(x))


def by_lambda_in_loop(x, m):
    for _ in range(m):
        act = lambda v: v * v
    return np.sum(act(x))


def what_raises_before(x, m):
    try:
        if not m:
            raise ValueError

        def act(v):
            return v * v

    except ValueError:
        pass
    return np.sum(act(x))


def in_what_may_suppress(x, m):
    with np.errstate(all="ignore"):
        if not m:
            return np.sum(x)
        act = np.sin
    return np.sum(act(x))


@pytest.mark.parametrize("f", [by_branch, by_lambda_in_loop, what_raises_before])
@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.costly(2)
def test_where_it_is_not_defined_it_raises(f, specialise):
    with options(specialise=specialise):
        assert np.array_equal(grad(f)(X, 1), 2.0 * X)
        assert jvp(f, (X, 1), (np.ones(3), None))[1] == 12.0
        np.testing.assert_allclose(hvp(lambda x: f(x, 1))(X, np.ones(3)), 2.0)
        for derivative in (f, grad(f), lambda x, m: jvp(f, (x, m), (x, None))):
            with pytest.raises(NameError):
                derivative(X, 0)


def test_on_ways_that_leave_it_need_not_be_defined():
    assert np.array_equal(grad(in_what_may_suppress)(X, 0), np.ones(3))
    assert np.allclose(grad(in_what_may_suppress)(X, 1), np.cos(X))


def test_a_builtin_that_the_function_binds_later_is_not_the_builtin():
    def f(x):
        y = abs(x)  # noqa: F823
        abs = lambda v: v * 2.0
        return np.sum(y)

    with pytest.raises(UnboundLocalError):
        value_and_grad(f)(X)


def test_a_way_that_uses_what_it_defined():
    def f(x, m):
        if m:

            def act(v):
                return v * v

        y = x
        if m:
            y = act(x)
        return np.sum(y)

    assert np.array_equal(grad(f)(X, 1), 2.0 * X)
    assert np.array_equal(grad(f)(X, 0), np.ones(3))


def by_another_name(x, n):
    def relu(v):
        return np.maximum(v, 0.0) * v

    for _ in range(n):
        act = relu
        x = act(x)
    return np.sum(act(x))


def recursive_in_a_branch(x, m):
    if m:

        def power(v, n):
            return v if n == 1 else v * power(v, n - 1)

    return np.sum(power(x, 3) if m else x)


def under_a_context(x, m):
    with np.errstate(all="ignore"):

        def loss(v):
            return np.sum(v * v)

    return grad(loss)(x)[0] * m


def before_what_it_may_call(x, n):
    def even(v, n):
        return v if n == 0 else odd(v, n - 1)

    y = even(x, 0)

    def odd(v, n):
        return v * v if n == 0 else even(v, n - 1)

    return np.sum(odd(y, n))


def in_each_case(x, m):
    match m:
        case 0:

            def act(v):
                return v * 2.0

        case _:
            raise ValueError
    return np.sum(act(x))


@pytest.mark.parametrize("f, m", [
    (by_another_name, 1), (recursive_in_a_branch, 1), (recursive_in_a_branch, 0), (under_a_context, 2),
    (before_what_it_may_call, 0), (in_each_case, 0),
])  # fmt: skip
@pytest.mark.costly(2, first=1)
def test_ways_that_define_it(f, m):
    slopes = [(f(X + 1e-6 * unit, m) - f(X - 1e-6 * unit, m)) / 2e-6 for unit in np.eye(3)]
    np.testing.assert_allclose(grad(f)(X, m), slopes, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (X, m), (np.ones(3), None))[1], np.sum(slopes), rtol=1e-6)


def test_what_a_last_block_reads_of_it_is_refused():
    def f(x, m):
        try:
            try:
                if m:
                    raise ValueError

                def act(v):
                    return v * 5.0

            finally:
                s = act(x[0])
        except NameError:
            s = x[0] * 3.0
        except ValueError:
            s = x[0]
        return s

    assert f(X, 1) == 3.0
    with pytest.raises(UnsupportedSyntax, match=r"(?s)a function that is passed on.*\^"):
        grad(f)(X, 0)


# --- variables of any kind: what is known of them stands in the place of their reads ---------------------------------
class Model:
    weight = 2.0

    def scaled(self, v):
        return v * 3.0

    @staticmethod
    def doubled(v):
        return v * 2.0


def an_item_of_a_list(x, m):
    if m:
        k = [np.sin, np.cos]
    return k[0](x)


def an_item_of_a_dict(x, m):
    if m:
        k = {"a": np.sin}
    return k["a"](x)


def a_static_method(x, m):
    if m:
        o = Model()
    return o.doubled(x)


def a_field_of_a_class(x, m):
    if m:
        o = Model()
    return o.weight * x


def a_text_that_is_compared(x, m):
    if m:
        s = "a"
    return x * 2.0 if s == "a" else x


def a_text_in_a_condition(x, m):
    if m:
        s = "a"
    return x * 2.0 if x > 0 and s == "a" else x


def a_class_that_is_asked_for(x, m):
    if m:
        o = Model()
    return x * 2.0 if isinstance(o, Model) else x


def nothing_done_with_it(x, m):
    if m:
        y = x * 2.0
    y
    return x * 2.0


def a_copy_that_is_not_read(x, m):
    if m:
        y = x * 2.0
    z = y
    return x * 2.0


def how_often(x, m):
    if m:
        n = 3
    s = 0.0
    for _ in range(n):
        s = s + x
    return s


def by_a_loop(x, m):
    for _ in range(2 if m else 0):
        k = [np.sin, np.cos][0]
    return k(x)


def behind_an_exception(x, m):
    try:
        if not m:
            raise ValueError
        k = [np.sin][0]
    except ValueError:
        pass
    return k(x)


def by_a_case(x, m):
    match m:
        case True:
            k = np.sin
    return k(x)


def by_unpacking(x, m):
    if m:
        (k, _) = (np.sin, 2.0)
    return k(x)


def by_a_walrus(x, m):
    if m and (k := np.sin):
        pass
    return k(x)


def a_class_in_a_branch(x, m):
    if m:
        kind = Model
    return kind().scaled(x)


def what_a_function_reads(x, m):
    def act(v):
        return other(v)

    if m:

        def other(v):
            return v * 2.0

    return act(x)


def what_a_lambda_reads(x, m):
    if m:
        k = [np.sin, np.cos]
    act = lambda v: k[0](v)
    return act(x)


def what_a_comprehension_reads(x, m):
    if m:
        k = [np.sin, np.cos]
    return sum([k[0](v) for v in (x, x)])


def none_among_others(x, m):
    for i in range(3 if m else 0):
        best = None if i else x
    t = x * x
    if best is None:
        t = t * x
    return t


def an_import_in_a_branch(x, m):
    if m:
        from math import sin as wave
    return wave(x)


def read_one_turn_later(x, m):
    for i in range(3):
        if i:
            z = k(x)  # noqa: F821
        if m:
            k = np.sin
    return z


VARIABLES = [
    an_item_of_a_list, an_item_of_a_dict, a_static_method, a_field_of_a_class, a_text_that_is_compared,
    a_text_in_a_condition, a_class_that_is_asked_for, nothing_done_with_it, a_copy_that_is_not_read, how_often,
    by_a_loop, behind_an_exception, by_a_case, by_unpacking, by_a_walrus, a_class_in_a_branch, what_a_function_reads,
    what_a_lambda_reads, what_a_comprehension_reads, none_among_others, an_import_in_a_branch, read_one_turn_later,
]  # fmt: skip


@pytest.mark.parametrize("f", VARIABLES)
@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.costly(3)
def test_a_variable_that_nothing_bound_is_read(f, specialise):
    with options(specialise=specialise):
        value, slope = value_and_grad(f)(1.3, True)
        assert value == f(1.3, True)
        assert slope == pytest.approx((f(1.3 + 1e-6, True) - f(1.3 - 1e-6, True)) / 2e-6, rel=1e-6)
        assert jvp(f, (1.3, True), (1.0, None))[1] == pytest.approx(slope)
        for derivative in (f, grad(f), value_and_grad(f), lambda x, m: jvp(f, (x, m), (x, None))):
            with pytest.raises(NameError):
                derivative(1.3, False)


@pytest.mark.parametrize("f", [what_a_function_reads, by_a_case])
def test_where_python_catches_that_it_goes_on(f):
    def attempted(x, m):
        try:
            return f(x, m)
        except NameError:
            return x * 7.0

    assert grad(attempted)(1.3, False) == 7.0


def test_a_read_that_the_next_statement_makes_is_not_written_twice():
    assert "require_assigned" not in grad(how_often).source_for(1.3, True)
    assert "require_assigned(y" in grad(nothing_done_with_it).source_for(1.3, True)


def test_classes_that_may_come_late():
    def defined(x, m):
        if m:

            class Late:
                weight = 2.0

        return Late.weight * x

    assert grad(defined)(1.3, True) == 2.0
    with pytest.raises(UnboundLocalError):
        grad(defined)(1.3, False)


def read_in_later_calls_only(x, n):
    def step(i):
        if i == 0:
            return x
        return last * x

    s = 0.0
    for i in range(n):
        last = step(i)
        s = s + last
    return s


def folded_where_it_is_read(x, n):
    if n:
        k = [np.sin, np.cos]

    def act(v):
        if n > 1:
            return k[0](v) * v
        return v

    return act(x)


def read_by_no_call(x, n):
    act = lambda t: v * t if n > 5 else t
    s = act(x)
    v = x * x
    return s * v


def an_item_read_in_later_calls(x, n):
    def act(v, i):
        return v * k[0](v) if i else v

    y = act(x, 0)
    if n:
        k = [np.sin]
    return y + act(x, 1)


def read_by_a_function_inside(x, n):
    def act(k):
        def inner():
            return v * 2.0

        return inner() if k > 5 else x * 3.0

    s = act(n)
    v = x * x
    return s * act(9)


def read_by_a_function_beside(x, n):
    def inner():
        return v * 2.0

    def act(k):
        return inner() if k > 5 else x * 3.0

    s = act(n)
    v = x * x
    return s * act(9)


def read_by_a_function_that_is_handed_on(x, n):
    def act(k, inner):
        return inner() if k > 5 else x * 3.0

    s = act(n, lambda: v * 2.0)
    v = x * x
    return s * act(9, lambda: v * 3.0)


SOME_CALLS = [
    read_in_later_calls_only, folded_where_it_is_read, read_by_no_call, an_item_read_in_later_calls,
]  # fmt: skip
HANDED_ON = [read_by_a_function_inside, read_by_a_function_beside, read_by_a_function_that_is_handed_on]


@pytest.mark.parametrize("f", SOME_CALLS)
@pytest.mark.costly(2, first=1)
def test_a_function_reads_what_it_captured_only_where_it_does(f):
    """The variable was read at the call, where Python does not read it yet."""
    for n in (1, 3):
        slope = (f(1.3 + 1e-6, n) - f(1.3 - 1e-6, n)) / 2e-6
        for way in ({}, {"specialise": False}):
            with options(**way):
                assert value_and_grad(f)(1.3, n) == pytest.approx((f(1.3, n), slope), rel=1e-6)
                assert jvp(f, (1.3, n), (1.0, None)) == pytest.approx((f(1.3, n), slope), rel=1e-6)


@pytest.mark.parametrize("f", HANDED_ON)
def test_a_variable_without_a_value_is_not_handed_to_a_function(f):
    with pytest.raises(UnsupportedSyntax, match=r"(?s)'v', which .* may read before it has a value.*\^"):
        grad(f)(1.3, 1)


def test_where_it_reads_a_variable_without_a_value_it_raises():
    with pytest.raises(NameError, match="'k'"):
        grad(an_item_read_in_later_calls)(1.3, 0)


def test_a_variable_that_a_local_function_binds_is_not_read_before():
    """It was None, where Python raises."""

    def f(x, n):
        if n > 9:
            v = x

        def bind():
            nonlocal v
            v = x

        if n:
            bind()
        return x if v is None else x * x

    for way in ({}, {"specialise": False}):
        with options(**way):
            assert value_and_grad(f)(1.3, 1) == pytest.approx((1.69, 2.6))
            with pytest.raises(UnboundLocalError):
                grad(f)(1.3, 0)


def test_one_that_it_binds_and_reads_in_some_cases():
    def f(x, n):
        def bind():
            nonlocal v
            v = x * x

        def read():
            return v if n > 3 else x

        s = read()
        if n:
            v = x
        bind()
        return s * v

    assert value_and_grad(f)(1.3, 1) == pytest.approx((1.3**3, 3.0 * 1.3**2))


def test_an_import_is_not_what_a_pattern_binds_to_its_name():
    """The name was what it imports, and the gradient silently that of another program."""

    def f(x):
        from math import pi as m

        match x * x:
            case m:
                return m * x

    for way in ({}, {"specialise": False}):
        with options(**way):
            assert grad(f)(1.3) == pytest.approx(3.0 * 1.3**2)


# --- a try that expects that a variable has no value -----------------------------------------------------------------
def copied_in_try(x, m):
    if m:
        v = x * 2.0
    try:
        w = v
        s = x * x
    except NameError:
        w, s = x, x * 3.0
    return s * w


def appended_in_try(x, m):
    for _ in range(2):
        try:
            kept.append(x)  # noqa: F821
        except UnboundLocalError:
            kept = [x * m]
    return kept[0] * kept[1]


def deleted_in_try(x, m):
    if m:
        v = x * 2.0
    try:
        del v
        s = x * x
    except NameError:
        s = x * 3.0
    return s


def called_in_try(x, m):
    act = lambda: v * x
    try:
        s = act()
    except NameError:
        s = x * 3.0
    v = x * m
    return s * act()


def read_under_exception(x, m):
    if m > 5.0:
        v = x * 2.0
    try:
        s = v * x
    except Exception:
        s = x * 3.0
    return s


def read_under_all(x, m):
    try:
        for _ in range(int(m) - 1):
            v = x * 2.0
        s = v * x
    except:
        s = x * 3.0
    return s


def read_under_a_tuple(x, m):
    act = lambda: v * x
    try:
        s = act()
    except (ValueError, BaseException):
        s = x * 3.0
    v = x * m
    return s * act()


IN_TRY = [copied_in_try, appended_in_try, deleted_in_try, called_in_try, read_under_exception, read_under_all,
          read_under_a_tuple]  # fmt: skip


@pytest.mark.parametrize("f", IN_TRY)
def test_a_try_that_expects_a_variable_without_a_value_is_refused(f):
    for derivative in (grad(f), lambda x, m: jvp(f, (x, m), (1.0, None))):
        with pytest.raises(UnsupportedSyntax, match=r"(?s)may have no value in this try.*\^"):
            derivative(1.3, 1.0)


def test_a_name_that_means_nothing_is_refused_where_nothing_is_done_with_it():
    """What follows was taken for code that never runs: the gradient was zero."""

    def f(x):
        try:
            meaning_of_nothing
            s = x * x
        except NameError:
            s = x * 3.0
        return s

    with pytest.raises(UnresolvedName, match=r"(?s)'meaning_of_nothing'.*\^"):
        grad(f)(1.3)


def test_a_name_of_a_comprehension_means_nothing_outside_of_it():
    """It was None in the gradient."""

    def f(x):
        s = sum([part for part in x])
        return s if part is None else s * 2.0  # noqa: F821

    with pytest.raises(UnresolvedName, match=r"(?s)'part'.*\^"):
        grad(f)(X)


def test_what_elif_asks_of_a_variable_without_a_value_is_refused():
    """Whether None is an object of a class was answered."""

    def f(x, n):
        def act(k):
            if k > 5:
                return x
            elif isinstance(v, float):
                return x * v
            return x * 2.0

        s = act(9)
        if n:
            v = 3.0
        return s * act(n)

    assert value_and_grad(f)(1.3, 1) == pytest.approx((1.3 * 1.3 * 3.0, 7.8))
    with pytest.raises(RefusedType, match="v is None, or has no value yet"):
        grad(f)(1.3, 0)
