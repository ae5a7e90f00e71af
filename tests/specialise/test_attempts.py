"""``try`` and ``else`` of loops: right in both directions, or refused."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import options, value_and_grad
from srcgrad.errors import SrcgradError
from srcgrad.runtime.refusals import Refused
from tests import derivatives, oracle
from tests.corpus.example import Case
from tests.specialise.serving import serving, written
from tests.specialise.test_specialise import text

X = np.array([0.7, -0.4, 1.3])


def fail(v):
    if v > 0.5:
        raise ValueError("large")
    return v * v


def checks(x):
    x[7]
    return x[0]


# --- try -------------------------------------------------------------------------------------------------------------
def stores_before_it_raises(x):
    y = np.zeros(3)
    try:
        y[0] = x[0] * x[1]
        y[5] = x[1]
        y[1] = x[2]
    except IndexError:
        y[2] = x[0] * 3.0
    return np.sum(y * x)


def several_names_of_one_array(x):
    y = x * 1.0
    z = y
    try:
        y[0] = y[0] * y[1]
        z[1] = z[0] * 3.0
        y = y * 2.0
        y[17]
    except IndexError:
        z[2] = y[1]
    return np.sum(y * z)


def what_is_computed_before_it_raises(x):
    try:
        s = x[0] * x[1]
        raise KeyError("no")
    except KeyError:
        s = s * x[2]
    return s


def last_block_that_raises(x):
    s = x[0]
    for i in range(4):
        try:
            try:
                s = s * x[i]
            finally:
                s = s + x[0]
        except IndexError:
            s = s * x[1]
            break
        else:
            s = s * 2.0
    return s


def value_that_is_returned_before_the_last_block(x):
    s = x[0]
    try:
        return s * x[1]
    finally:
        s = s * 100.0


def raised_again(x):
    s = x[0]
    try:
        try:
            s = s * fail(x[2])
        except ValueError:
            s = s + x[1]
            raise
    except ValueError:
        s = s * x[2]
    return s


def raised_from_another(x):
    try:
        try:
            s = x[5]
        except IndexError as e:
            raise ValueError("no") from e
    except ValueError:
        s = x[0] * x[1]
    return s


def not_caught_inside(x):
    s = x[0]
    try:
        try:
            s = s * x[7]
        except ValueError:
            s = s * 100.0
        s = s + 50.0
    except (IndexError, KeyError):
        s = s * x[2]
    return s


def raised_in_else(x):
    s = x[0]
    try:
        try:
            s = s * x[1]
        except IndexError:
            s = 0.0
        else:
            s = s * fail(x[2])
        finally:
            s = s * x[2]
    except ValueError:
        s = s + 5.0 * x[0]
    return s


def every_way_out_of_a_loop(x):
    s = x[0]
    for v in x:
        try:
            if v < 0.0:
                continue
            t = fail(v * 0.6)
            if t > 0.1:
                break
            s = s + t * v
        except ValueError:
            s = s * v
        finally:
            s = s + v * 0.5
    else:
        s = s * 3.0
    return s


def else_of_a_loop_inside(x):
    s = x[0]
    try:
        for v in x:
            if v > 5.0:
                break
            s = s * v + fail(s)
        else:
            s = s * x[1]
        s = s + 1.0
    except ValueError:
        s = s * 7.0
    return s


def loop_whose_test_raises(x):
    k = 0
    s = x[0]
    try:
        while x[k] < 10.0:
            s = s * x[k] + 1.0
            k += 1
    except IndexError:
        s = s * k
    return s


def branch_on_an_array(x):
    try:
        if x:
            s = x[0]
        else:
            s = 0.0
    except ValueError:
        s = x[1] * x[2]
    return s


def swapped_until_it_raises(x):
    a, b = x[0], x[1]
    try:
        for k in range(4):
            a, b = b, a * x[k]
    except IndexError:
        a = a + b
    return a * 3.0 + b


def conditional_expression(x):
    try:
        y = x[0] if x[1] > 0.0 else x[9]
    except IndexError:
        y = x[2] * x[2]
    return y * x[0]


def list_that_grows_until_it_raises(x):
    out = []
    try:
        for k in range(6):
            out.append(x[k] * x[0])
    except IndexError:
        out.append(x[1])
    return sum(out) * len(out)


def unused_item_in_a_callee(x):
    try:
        s = checks(x) * 2.0
    except IndexError:
        s = x[1] * x[2]
    return s


def check_for_what_it_raises(x):
    try:
        np.linalg.cholesky(np.outer(x, x) - 10.0 * np.eye(3))
        s = x[0]
    except np.linalg.LinAlgError:
        s = x[1] * x[2]
    return s


def assertion(x):
    s = x[0]
    for v in x:
        try:
            assert v > 0.0
            s = s * v
        except AssertionError:
            s = s + v * v
    return s


class Holder:
    def __init__(self, v):
        self.v = v

    def twice(self, k):
        if k > 1:
            raise ValueError
        self.v = self.v * 2.0
        return self.v


def method_that_raises(x):
    o = Holder(x[0])
    s = 0.0
    for k in range(4):
        try:
            s = s + o.twice(k) * x[1]
        except ValueError:
            s = s + o.v
    return s


SERVED = [
    stores_before_it_raises, several_names_of_one_array, what_is_computed_before_it_raises, last_block_that_raises,
    value_that_is_returned_before_the_last_block, raised_again, raised_from_another, not_caught_inside, raised_in_else,
    every_way_out_of_a_loop, else_of_a_loop_inside, loop_whose_test_raises, branch_on_an_array,
    swapped_until_it_raises, conditional_expression, list_that_grows_until_it_raises, unused_item_in_a_callee,
    check_for_what_it_raises, assertion, method_that_raises,
]  # fmt: skip


def check_data(function: Callable[..., Any]) -> None:
    """The same value and gradient where nothing is said of the arguments."""
    value, gradient = value_and_grad(function)(X.copy())
    with options(specialise=False):
        again, slope = value_and_grad(function)(X.copy())
    np.testing.assert_allclose([again, *slope], [value, *gradient], rtol=1e-12)


def check(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    case = Case(function.__name__, "attempts", function, (X,), argnums=(0,), analytic=False)
    assert written(case) is not None
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        known = oracle.jacobian(function, case.arguments, case.argnums, keywords={}, analytic=False)
        with serving(case, monkeypatch.setattr):
            value, (cotangent,) = derivatives.reverse(case, 1.0)
            again, tangent = derivatives.forward(case, (np.array([1.0, 2.0, -3.0]),))
    np.testing.assert_allclose([value, again], function(X.copy()))
    np.testing.assert_allclose(cotangent, known.value.ravel(), rtol=1e-6, atol=1e-7)
    np.testing.assert_allclose(tangent, known.value.ravel() @ [1.0, 2.0, -3.0], rtol=1e-6, atol=1e-7)


def is_refused(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> bool:
    """Whether a function is refused, at the latest where it runs."""
    case = Case(function.__name__, "attempts", function, (X,), argnums=(0,), analytic=False)
    with pytest.raises((SrcgradError, Refused)), serving(case, monkeypatch.setattr):
        derivatives.reverse(case, 1.0)
    return True


@pytest.mark.parametrize("function", SERVED)
@pytest.mark.costly(2, first=1)
def test_derivatives(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    check(function, monkeypatch)


# --- what is refused -------------------------------------------------------------------------------------------------
def stores(a, v):
    a[0] = v * 2.0
    raise ValueError


def store_of_a_callee_that_raises(x):
    a = np.zeros(3)
    try:
        stores(a, x[0])
        s = x[2]
    except ValueError:
        s = x[1]
    return s * x[0] + np.sum(a * x)


def value_in_an_exception(x):
    try:
        raise ValueError(x[0] * x[1])
    except ValueError as e:
        s = e.args[0] * x[2]
    return s


def text_in_an_exception(x):
    try:
        raise ValueError(x[0] * x[1])
    except ValueError as e:
        s = float(str(e)) * x[2]
    return s


@pytest.mark.parametrize("function", [store_of_a_callee_that_raises, value_in_an_exception, text_in_an_exception])
def test_refused(function: Callable[..., Any], monkeypatch: pytest.MonkeyPatch) -> None:
    assert is_refused(function, monkeypatch)


# --- how it reads ----------------------------------------------------------------------------------------------------
def of_numbers(x, a):
    y = x
    try:
        y = x * a
        z = y / a
    except ZeroDivisionError:
        z = y
    return z


def test_what_does_not_raise_is_not_attempted():
    assert text(of_numbers, 1.0, 2.0) == """\
    y = x
    raised = None
    y = x * a
    t = attempt(y, a)
    t2, t3 = t
    raised = t3
    if raised is None:
        z = t2
    if raised is not None:
        z = y
    t4 = z
    return t4"""


def caught_for_nothing(x):
    try:
        y = x * 2.0
    except (ValueError, KeyError):
        y = x / 0
    return y


def test_a_handler_of_what_is_never_raised_is_left_out():
    assert text(caught_for_nothing, 1.0) == "    y = x * 2.0\n    t = y\n    return t"
