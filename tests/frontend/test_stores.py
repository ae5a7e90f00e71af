"""Stores in normal form: Python's order of evaluation, NumPy's functions that store, and augmented assignments."""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import UnsupportedSyntax, grad, jvp, value_and_grad
from srcgrad.analysis.cfg import walk
from srcgrad.analysis.shapes import NOTHING_KNOWN, shapes
from srcgrad.analysis.stores import stores_lowered
from srcgrad.ir.normal_form import AddAt, AugStore, Bind, Callee, Exchange, Function, If, Store
from srcgrad.pipeline import Module
from srcgrad.rules.facts import Unknown, fact_of
from srcgrad.spec import check_normal_form
from tests.frontend.running import bare, check, printed

X = np.array([0.7, -0.4, 1.3])
Y = np.array([0.2, 0.9, -1.1])
M = np.arange(12.0).reshape(3, 4) % 7.0 * 0.3 + 0.1


def normalize(callee: Callee) -> Function:
    return Module().normalized(callee)


def helper(y):
    y[0] += 1.0
    return 1


def test_a_loop_may_store_into_its_target():
    def f(x, y):
        for i, y[i] in enumerate(x):
            y[i] *= 2.0
        return y

    assert bare(normalize(Callee(f)))(X, Y.copy()).tolist() == (X * 2).tolist()


# --- programs that mean what they meant ------------------------------------------------------------------------------
PROGRAMS: list[tuple[Callable[..., Any], tuple[Any, ...]]] = []


def program(*arguments: Any) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    def register(function: Callable[..., Any]) -> Callable[..., Any]:
        PROGRAMS.append((function, arguments))
        return function

    return register


@program(X, Y)
def chained_targets(x, y):
    z = y[1] = x[0] = y[2]
    a = b = x
    (a, c, d) = e = a
    return x, y, z, a, b, c, d, e


@program(X, 0)
def swaps(x, i):
    x[0], x[1] = x[1], x[0]
    i, x[i] = 2, 7.0
    x[i], (x[0], i) = i, (x[i], 1)
    *x[1:], j = i, 3.0, 4.0
    return x, i, j


@program(X, Y)
def results_are_their_outputs(x, y):
    w = np.zeros(3)
    z = np.add(x, y, out=w)
    z[0] = 9.0
    u = np.multiply(x, w, w)
    a, b = np.divmod(x, 0.3, out=(np.zeros(3), y))
    return w, z is w, u is w, a, b is y


@program(X, Y, M)
def outputs_of_many_functions(x, y, m):
    np.sum(m, 0, None, y2 := np.zeros(4))
    np.clip(x, -0.5, 0.5, x)
    x.cumsum(out=y)
    m.sum(axis=1, out=x)
    np.add.reduce(m, 1, None, x)
    np.take(y, [0, 0, 1], out=x)
    np.concatenate((x[:1], y[1:]), out=x)
    np.einsum("ij->i", m, out=y)
    np.matmul(m.T, x, out=y2)
    np.greater(x, y, out=(mask := np.zeros(3, bool)))
    np.nan_to_num(x, copy=False)
    if np.less(x, y, out=mask)[0]:
        x[0] = 1.0
    return x, y, y2, mask


@program(X, Y)
def outputs_under_masks(x, y):
    with np.errstate(all="ignore"):
        np.sqrt(x, out=y, where=x > 0)
        np.log(y, y, where=[True, False, True])
        np.add(x, 2, out=y, where=True)
        np.copyto(y, 3.0, where=x < 0)
        np.copyto(x, y, where=[[True], [True]][0])
    return x, y


@program(M, X)
def places(m, x):
    np.fill_diagonal(m[:2, :2], -1.0)
    np.put(m, [0, -1, 5], x)
    m.put([[1, 2]], 8.0)
    np.put(m, [100, -100], [1.0], mode="clip")
    np.put(m, [13, 14], x, mode="wrap")
    np.place(m, m > 0.5, x)
    np.putmask(m, m < 0.3, x)
    np.putmask(m, m > 1.0, m * 2)
    np.put_along_axis(m, np.argmax(m, axis=1, keepdims=True), 9.0, axis=1)
    np.put_along_axis(m, np.array([3, 4]), x[:2], axis=None)
    np.fill_diagonal(m, x)
    m.flat[3] = 4.0
    m.flat[::5] += 1.0
    m.flat[[1, 2, 3]] = x[:2]
    m.flat[m.ravel() > 3.0] = 0.5
    return m


@program(np.zeros((5, 2)), X)
def diagonals_that_wrap(m, x):
    np.fill_diagonal(m, x, wrap=True)
    cube = np.zeros((2, 2, 2))
    np.fill_diagonal(cube, 1.0)
    return m, cube


@program(X, M)
def sorted_in_place(x, m):
    m.sort(axis=0)
    m.partition(2, axis=1)
    x.sort(kind="stable")
    x[1:].fill(3)
    return x, m


@program(X, M)
def shuffled(x, m):
    rng = np.random.default_rng(4)
    rng.shuffle(x)
    rng.shuffle(m)
    rng.shuffle(m, axis=1)
    np.random.seed(3)
    np.random.shuffle(x)
    np.random.shuffle(m)
    return x, m


@program(X, Y)
def unbuffered(x, y):
    np.add.at(x, [0, 0, 2], y)
    np.subtract.at(x, 1, 2.0)
    np.add.at(x, (np.array([1, 1]),), -y[:2])
    return x


@pytest.mark.parametrize(("function", "arguments"), PROGRAMS, ids=[f.__name__ for f, _ in PROGRAMS])
def test_programs_keep_their_meaning(function, arguments):
    form = check(normalize(Callee(function)))
    check_normal_form(form)
    expected = copy.deepcopy(arguments)
    result = function(*expected)
    for run in (printed(form), bare(form)):
        given = copy.deepcopy(arguments)
        assert_same(run(*given), result)
        assert_same(given, expected)


def assert_same(got: Any, expected: Any) -> None:
    assert type(got) is type(expected)
    if isinstance(expected, tuple | list):
        assert len(got) == len(expected)
        for one, other in zip(got, expected, strict=True):
            assert_same(one, other)
    else:
        np.testing.assert_array_equal(got, expected)


# --- augmented assignments taken apart -------------------------------------------------------------------------------
def lowered(function: Callable[..., Any], *arguments: Any) -> Function:
    form = normalize(Callee(function))
    values = arguments or [None] * len(form.parameters)
    facts = [fact_of(v, p) if arguments else Unknown() for p, v in zip(form.parameters, values, strict=True)]
    entry = dict(zip(form.parameters, facts, strict=True))

    def solve(function: Function) -> Any:
        return shapes(function, entry, lambda callee, facts: NOTHING_KNOWN, lambda callee: False)

    return stores_lowered(form, solve(form), solve)[0]


def kinds(function: Function) -> list[str]:
    return [type(s).__name__ for s in walk(function.body) if isinstance(s, Store | AugStore | If | AddAt)]


def augmented(y, e, k):
    y[k] += e
    y[k] *= e
    y += e
    y /= e
    z = y
    z -= e
    return y


def test_arithmetic_into_a_known_array_of_floats_stays():
    form = lowered(augmented, X, 2.0, 1)
    assert kinds(form) == ["AugStore"] * 5
    assert not any(isinstance(s, Bind) and s.inplace for s in walk(form.body))


def test_repeated_integers_in_an_index_are_no_addition_in_place():
    assert kinds(lowered(augmented, X, 2.0, np.array([1, 1])))[:2] == ["Store", "Store"]


def test_a_number_has_no_memory():
    def f(s, e):
        t = s
        t += e
        return t

    assert kinds(lowered(f, 1.0, 2.0)) == []
    assert kinds(lowered(f, X, 2.0)) == ["AugStore"]


def test_of_what_is_not_known_the_program_asks_when_it_runs():
    form = lowered(augmented)
    assert "If" in kinds(form)
    for y in (X, X.astype(np.float32)):
        mine, theirs = y.copy(), y.copy()
        np.testing.assert_array_equal(bare(form)(mine, 2.0, 1), augmented(theirs, 2.0, 1))
        np.testing.assert_array_equal(mine, theirs)


def widened(x, z):
    y = z * 1
    y += x
    return np.sum(y) * x[0]


def multiplied(x, z):
    y = z * 1
    y *= x
    return np.sum(y) * x[0]


def in_parts(x, z):
    y = z * 1
    y[:2] *= x[0]
    y[[0, 2]] /= 2.0
    return np.sum(y) * x[0]


def turned(x, z):
    y = z * 1
    y *= 1j
    return np.sum(y.real) * x[0]


@pytest.mark.parametrize("f", [widened, multiplied, in_parts, turned])
@pytest.mark.parametrize("z", [
    np.ones(3), np.ones(3, np.float32), np.ones(3, int), np.ones(3, np.int32), np.ones((1, 3)), np.ones(1),
])  # fmt: skip
@pytest.mark.parametrize("forward", [False, True])
def test_an_array_keeps_its_dtype_and_shape(f, z, forward):
    """Where NumPy raises, so does the derivative."""
    x = np.array([1.5, 2.0, 3.0])
    try:
        value = f(x, z)
    except (TypeError, ValueError, IndexError) as error:
        kind = next(k for k in (TypeError, ValueError, IndexError) if isinstance(error, k))
        with pytest.raises(kind):
            _derivative(f, x, z, forward)
        return
    got, change = _derivative(f, x, z, forward)
    assert got == value and np.asarray(got).dtype == np.asarray(value).dtype
    h = 1e-2 if z.dtype == np.float32 else 1e-6
    slopes = [(f(x + h * unit, z) - f(x - h * unit, z)) / (2.0 * h) for unit in np.eye(3)]
    np.testing.assert_allclose(change, np.sum(slopes), rtol=1e-4)


def _derivative(f, x, z, forward):
    """The value, and its change along ones."""
    if forward:
        return jvp(f, (x, z), (np.ones(3), None))
    value, gradient = value_and_grad(f)(x, z)
    return value, np.sum(gradient)


def by_a_row(x, z):
    y = z * 1
    y += x[:, None]
    return np.sum(y)


def test_an_array_keeps_its_rank():
    for function in (value_and_grad(by_a_row), lambda x, z: jvp(by_a_row, (x, z), (x, None))):
        with pytest.raises(ValueError, match="output operand"):
            function(np.ones(3), np.ones(3))


def test_a_list_grows_in_place():
    def f(rows, x):
        same = rows
        same += [x]
        return rows

    (extended,) = [s for s in walk(lowered(f, [1.0], 2.0).body) if isinstance(getattr(s, "operation", 0), Exchange)]
    assert extended.operation.method == "extend"


def test_sort_without_arguments_is_that_of_what_is_sorted():
    def f(y):
        y.sort()
        return y

    assert kinds(lowered(f, X)) == ["Store"]
    assert kinds(lowered(f, [1.0])) == []
    assert kinds(lowered(f)) == ["If", "Store"]
    for y in ([2.0, 1.0], np.array([2.0, 1.0])):
        np.testing.assert_array_equal(bare(lowered(f))(y), [1.0, 2.0])


# --- shapes that are set in place ------------------------------------------------------------------------------------
def in_an_attempt(x):
    y = x * 2.0
    try:
        y.shape = (3, 1)
    except ValueError:
        pass
    return np.sum(y * x)


def by_a_local_function(x):
    def turn():
        y.shape = (3, 1)

    y = x * 2.0
    turn()
    return np.sum(y * x)


def held_by_a_display(x):
    y = x * 2.0
    z = [y][0]
    y.shape = (3, 1)
    return np.sum(z * x) + np.sum(y)


def handed_back_by_a_lambda(x):
    y = x * 2.0
    z = (lambda *a: a)(y)[0]
    y.shape = (3, 1)
    return np.sum(z * x) + np.sum(y)


def handed_back_by_numpy(x):
    y = x * 2.0
    z = np.broadcast_arrays(y, y)[0]
    y.shape = (3, 1)
    return np.sum(z * x) + np.sum(y)


@pytest.mark.parametrize(
    "f", [in_an_attempt, by_a_local_function, held_by_a_display, handed_back_by_a_lambda, handed_back_by_numpy]
)
def test_a_shape_that_something_else_sees_is_refused(f: Callable[..., Any]) -> None:
    """Once another name kept the old shape: value and gradient were silently wrong."""
    with pytest.raises(UnsupportedSyntax, match=r"(?s)shape of an array that something else may hold.*\^"):
        grad(f)(np.ones(3))


# --- what an augmented store assigns to, where its value is named ---------------------------------------------------
def eliminates(a, n):
    u = a.copy()
    for i in range(1, n):
        u[i, 0] -= u[i - 1, 0] * u[0, 0]
        u[i - 1, i + 1 :] += u[0, 2:] * u[i, i]
    return np.sum(u * u)


def binds_its_index(a, n):
    u = a.copy()
    for i in range(1, n):
        u[i, 0] += (i := i - 1) * u[i, 1]
    return np.sum(u * u)


def index_as_a_name(a, n):
    u = a.copy()
    for i in range(1, n):
        place = i, i - 1
        u[place] += u[0, 0] * u[place]
        u[i - 1, len([place := (0, i)])] *= u[place] + 2.0
    return np.sum(u * u)


@pytest.mark.parametrize("f", [eliminates, binds_its_index, index_as_a_name])
def test_the_place_of_an_augmented_store_is_read_when_its_value_is_known(f: Callable[..., Any]) -> None:
    a = np.cos(np.arange(9.0)).reshape(3, 3)
    unit = np.eye(9).reshape(9, 3, 3)
    numeric = [(f(a + 1e-6 * e, 2) - f(a - 1e-6 * e, 2)) / 2e-6 for e in unit]
    np.testing.assert_allclose(np.ravel(grad(f)(a, 2)), numeric, rtol=1e-6, atol=1e-7)


def test_the_index_of_an_augmented_store_stands_in_it() -> None:
    """A name for ``(i, 0)`` hid that one number is updated, and each update cost a copy and a look."""
    kept = grad(eliminates)
    kept(M[:, :3], 2)
    assert "u[i, 0] -= " in kept.source and "u[i - 1, i + 1 :] += " in kept.source
    assert "view_like" not in kept.source
