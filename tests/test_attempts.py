"""Attempts in each other, which need more frames than Python grants by default, and what they are passed."""

import linecache
import sys

import numpy as np
import pytest

from srcgrad import grad, jvp, options, value_and_grad
from srcgrad.errors import UnsupportedSyntax
from srcgrad.runtime.refusals import RefusedType


def test_attempts_in_attempts_of_many_statements():
    lines = ["def program(x):", "    s = x"]
    lines += [f"{'    ' * (k + 1)}try:" for k in range(3)]
    lines += [f"{' ' * 16}s = s * 1.01 + x[{k % 3}]" for k in range(12)]
    for k in reversed(range(3)):
        lines += [f"{'    ' * (k + 1)}except IndexError:", f"{'    ' * (k + 2)}s = s * {k}.5"]
    lines.append("    return np.sum(s * s)")
    text = "\n".join(lines) + "\n"
    linecache.cache["<nested attempts>"] = (len(text), None, text.splitlines(keepends=True), "<nested attempts>")
    names = {"np": np}
    exec(compile(text, "<nested attempts>", "exec"), names)
    program, x = names["program"], np.array([0.1, 0.2, 0.3])
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(300)  # as if there were more of them
    try:
        gradient = grad(program)(x)
        assert sys.getrecursionlimit() == 300
    finally:
        sys.setrecursionlimit(limit)
    h = 1e-6
    for k, direction in enumerate(np.eye(3)):
        slope = (program(x + h * direction) - program(x - h * direction)) / (2 * h)
        assert gradient[k] == pytest.approx(slope, rel=1e-6)


def twice_inside(x):
    t = 1.0
    try:
        try:
            t = t * x[0]
            t = t / x[1]
            t = t + x[2] * t
        except ZeroDivisionError:
            t = t + 1.0
        finally:
            t = t * x[0]
    except ValueError:
        t = t * 2.0
    return t


def test_what_stands_in_several_is_attempted_once():
    """Once each attempt was attempted again: the text grew by the depth's power, and took minutes to compile."""
    text = grad(twice_inside).source_for(np.array([1.5, 0.5, 2.0]))
    assert text.count("attempt(") == 5
    np.testing.assert_allclose(grad(twice_inside)(np.array([1.5, 0.5, 2.0])), [18.0, -27.0, 4.5])


def read_in_some_cases(a, x, m):
    try:
        p = m if a else p  # noqa: F821
        if p:
            raise ValueError("m")
    except ValueError:
        return x * 3.0
    return x * x


def read_in_any_case(x, n):
    for _ in range(n):
        p = x * 2.0
    try:
        y = p * x
    except ValueError:
        y = x
    return y * x


def test_a_variable_without_a_value_that_is_read_in_some_cases():
    """It was passed to what is attempted, which raised an UnboundLocalError where Python does not read it, or took None
    for its value where Python raises."""
    for m, value, slope in ((0.0, 4.0, 4.0), (1.0, 6.0, 3.0)):
        assert value_and_grad(read_in_some_cases, 1)(True, 2.0, m) == (value, slope)
        assert jvp(read_in_some_cases, (True, 2.0, m), (None, 1.0, None)) == (value, slope)
        with pytest.raises((UnboundLocalError, RefusedType)):
            grad(read_in_some_cases, 1)(False, 2.0, m)
    assert grad(read_in_any_case)(2.0, 1) == 24.0
    with pytest.raises((UnboundLocalError, RefusedType)):
        grad(read_in_any_case)(2.0, 0)


def deleted(x):
    v = x * 2.0
    del v
    try:
        return v * x
    except NameError:
        return x * 5.0


def deleted_in_a_loop(x):
    v = x * 2.0
    for i in range(2):
        if i:
            r = v * x
        del v
    return r


def end_of_a_handler(x):
    try:
        raise ValueError
    except ValueError as e:
        e = x * 3.0
    try:
        return e * x
    except NameError:
        return x * 5.0


def deleted_with_others(x):
    v, w = x * 2.0, x
    del (v, w)
    try:
        return v * x
    except NameError:
        return x * 5.0


def deleted_where_it_is_captured(x):
    v = x * 2.0

    def inner():
        return v * x  # noqa: F821

    del v
    try:
        return inner()
    except NameError:
        return x * 5.0


@pytest.mark.parametrize(
    "function", [deleted, deleted_in_a_loop, end_of_a_handler, deleted_with_others, deleted_where_it_is_captured]
)
def test_a_variable_that_lost_its_value_is_read(function):
    """It had the value that it had before, so that the handler did not run."""
    with pytest.raises(UnsupportedSyntax, match="no value"):
        grad(function)(2.0)


def bound_again(x):
    for v in (x, x * 2.0):
        w = v * v
        del v
    while w < 100.0:
        t = w * x
        w = t
        del t
    try:
        v = w / 0
    except ZeroDivisionError:
        v = w
    try:
        v = v / 0
    except ZeroDivisionError:
        v = v * x
    return v


def test_a_variable_that_is_deleted_and_gets_another_value_is_refused():
    with pytest.raises(UnsupportedSyntax, match=r"(?s)no value from here on cannot be differentiated here.*del v.*\^"):
        grad(bound_again)(2.0)


def names_of_others(x):
    y = x * 2.0
    v = y * y
    del v
    doubled = (lambda v: v * 2.0)(y)

    def own(k):
        v = k * 3.0
        return v

    return own(doubled) + sum([v * v for v in (x, y)])


def test_a_variable_of_an_inner_function_is_another_one():
    h = 1e-6
    slope = (names_of_others(2.0 + h) - names_of_others(2.0 - h)) / (2 * h)
    assert grad(names_of_others)(2.0) == pytest.approx(slope, rel=1e-6)


def to_a_count(x, q):
    s = x[0]
    try:
        for _ in range(int(q)):
            s = s * x[1]
    except ValueError:
        s = x[2] * 3.0
    return s


def to_a_length(x, q):
    s = x[0]
    try:
        for _ in range(len(q) - 1):
            s = s * x[1]
    except TypeError:
        s = x[2] * 3.0
    return s


def rows_of(x, q):
    if q == "q":
        raise KeyError
    return [x[0], x[1]]


def over_rows(x, q):
    s = x[0]
    try:
        for (i, a), b in zip(enumerate(rows_of(x, q), int("1")), x, strict=False):
            s = s * a * b * i
    except KeyError:
        s = x[2] * 3.0
    return s


def from_a_start(x, q):
    s = x[0]
    try:
        for i, a in enumerate(x, start=int(q)):
            s = s * a * i
    except (KeyError, ValueError):
        s = x[2] * 3.0
    finally:
        s = s * 2.0
    return s


def idle(x, q):
    s = x[0]
    try:
        for _ in range(int(q)):
            pass
        s = s * x[1]
    except ValueError:
        s = x[2] * 3.0
    return s


def number_less_a_list(x, q):
    try:
        s = float(x[0]) - q
    except TypeError:
        s = x[1] * 2.0
    return np.sum(s)


def a_list_times_a_number(x, q):
    try:
        s = x[0] * q
    except TypeError:
        s = x[1] * 2.0
    return np.sum(s)


@pytest.mark.parametrize("f", [over_rows, from_a_start])
def test_a_start_that_may_raise_in_a_heading_inside_of_try_is_refused(f):
    for specialise in (True, False):
        with options(specialise=specialise), pytest.raises(UnsupportedSyntax, match="this loop"):
            grad(f)(np.array([1.5, 2.0, 3.0]), 3)


@pytest.mark.parametrize("f", [to_a_count, to_a_length, idle, number_less_a_list, a_list_times_a_number])
@pytest.mark.parametrize("q", ["q", "3", 3, [1.0, 2.0]])
@pytest.mark.parametrize("specialise", [True, False])
@pytest.mark.costly(4, first=1)
def test_what_the_operands_raise_is_caught(f, q, specialise):
    """Those of what a loop goes over were not attempted; a list with a number of Python was made an array."""
    x = np.array([1.5, 2.0, 3.0])
    try:
        value = f(x, q)
    except (TypeError, KeyError) as error:
        with pytest.raises(type(error)), options(specialise=specialise):
            grad(f)(x, q)
        return
    h = 1e-6
    slopes = [(f(x + h * e, q) - f(x - h * e, q)) / (2 * h) for e in np.eye(3)]
    if f is a_list_times_a_number and specialise and isinstance(q, str):  # taken to make a text, which is summed
        with pytest.raises(UnsupportedSyntax, match=r"(?s)is not known.*np\.sum\(s\).*\^"):
            grad(f)(x, q)
        return
    with options(specialise=specialise):
        got, gradient = value_and_grad(f)(x, q)
        _, change = jvp(f, (x, q), (np.ones(3), None))
    assert got == value
    np.testing.assert_allclose(gradient, slopes, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(change, sum(slopes), rtol=1e-6, atol=1e-6)


class Rows:
    """Counts its rows, which raises where there are none."""

    def __init__(self, n):
        self.n = n

    def __len__(self):
        if not self.n:
            raise ValueError("no rows")
        return self.n

    @property
    def size(self):
        return len(self)

    @property
    def shape(self):
        return (len(self), 2)


def over_a_length(x, q):
    y = x[0]
    try:
        for _ in range(len(q) - 1):
            y = y * x[1]
    except ValueError:
        y = x[2]
    return y


def idle_over_a_size(x, q):
    try:
        for _ in range(q.size - 1):
            pass
    except ValueError:
        return x[2]
    return x[0]


def idle_over_a_shape(x, q):
    try:
        for _ in range(q.shape[0]):
            pass
    except ValueError:
        return x[2]
    return x[0]


def in_steps(x, q):
    y = x[0]
    try:
        for _ in range(0, 3, q.n):
            y = y * x[1]
    except ValueError:
        y = x[2]
    return y


def idle_in_steps(x, q):
    try:
        for _, _ in enumerate(reversed(range(0, 3, q.n))):
            pass
    except ValueError:
        return x[2]
    return x[0]


@pytest.mark.parametrize("f", [over_a_length, idle_over_a_size, idle_over_a_shape, in_steps, idle_in_steps])
@pytest.mark.parametrize("n", [0, 3])
@pytest.mark.costly(2, first=1)
def test_what_a_count_or_a_step_raises_at_the_head_of_a_loop_is_caught(f, n):
    x, h = np.array([1.5, 2.0, 3.0]), 1e-6
    slopes = [(f(x + h * e, Rows(n)) - f(x - h * e, Rows(n))) / (2 * h) for e in np.eye(3)]
    for way in ({}, {"specialise": False}):
        with options(**way):
            np.testing.assert_allclose(grad(f)(x, Rows(n)), slopes, rtol=1e-6, atol=1e-6)


def test_a_zip_that_may_raise_in_the_middle_is_refused_inside_of_try():
    def paired(x, q):
        y = x[0]
        try:
            for _, _ in zip([1, 2], q, strict=True):
                y = y * x[1]
        except ValueError:
            y = x[2]
        return y

    with pytest.raises(UnsupportedSyntax, match="raise what is caught"):
        grad(paired)(np.ones(3), [1])


# --- what is thrown away raises all the same --------------------------------------------------------------------------
IDLE = [
    'q = -"a"', "q = -None", '-"a"', "q = isinstance(1, 3)", "isinstance(1, 3)", "{[1]: 2}", "{[1]}", "{(1, [2]): 3}",
    "[*3]", "{**{}, [2]: 3}", "{**[1]}", "not np.ones(2)", "q = not np.ones(2)", '1 < "a"', "l = [1, 2]; q = l[::0]",
    'l = [1, 2]; q = l["a":]',
]  # fmt: skip
FORMS = {
    "here": "def f(x):\n    r = x[0]\n    try:\n        {}\n        r = r * x[1]\n"
    "    except Exception:\n        r = r * 3.0\n    return r\n",
    "called": "def g(r, x):\n    {}\n    return r * x[1]\ndef f(x):\n    r = x[0]\n    try:\n"
    "        r = g(r, x)\n    except Exception:\n        r = r * 3.0\n    return r\n",
}


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("idle", IDLE)
@pytest.mark.costly(3)
def test_what_nobody_reads_raises_inside_of_try(idle, form):
    text, name = FORMS[form].format(idle), f"<idle {form} {idle}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"np": np}
    exec(compile(text, name, "exec"), names)
    x = np.array([1.2, 2.3])
    assert names["f"](x) == pytest.approx(3.6)
    try:
        gradient, tangent = grad(names["f"])(x), jvp(names["f"], (x,), (np.ones(2),))[1]
    except UnsupportedSyntax:
        return  # refused with its place
    assert np.array_equal(gradient, [3.0, 0.0]) and tangent == 3.0
