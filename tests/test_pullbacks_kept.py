"""Pullbacks that are kept while what the program reads outside changes: right, or refused."""

from __future__ import annotations

import pickle
import sys
import types
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse

from srcgrad import jacobian, vjp
from srcgrad.runtime.refusals import RefusedValue

outside = types.ModuleType("tests_outside_of_pullbacks")
sys.modules[outside.__name__] = outside
GAIN = 2.0
W = np.array([1.0, 2.0])
ROWS = [W.copy()]


class Model:
    w = np.array([1.0, 2.0])

    def __init__(self):
        self.w = np.array([1.0, 2.0])
        self.k = 2.0


MODEL = Model()
outside.w = W.copy()
X = np.ones(2)


def recorded(x):
    return np.sum(x * W)


def of_a_name(x):
    s = 0.0
    for i in range(2):
        s = s + x[i] * W[i]
    return s


def of_a_class(x):
    s = 0.0
    for i in range(2):
        s = s + x[i] * Model.w[i]
    return s


def of_an_object(x):
    s = 0.0
    for i in range(2):
        s = s + x[i] * MODEL.w[i] * MODEL.k
    return s


def of_a_module(x):
    s = 0.0
    for i in range(2):
        s = s + x[i] * outside.w[i]
    return s


def of_a_list(x):
    s = 0.0
    for i in range(2):
        s = s + x[i] * ROWS[0][i]
    return s


READERS = [recorded, of_a_name, of_a_class, of_an_object, of_a_module, of_a_list]


@pytest.fixture(autouse=True)
def fresh(monkeypatch):
    for where, name in ((Model, "w"), (MODEL, "w"), (outside, "w"), (sys.modules[__name__], "W")):
        monkeypatch.setattr(where, name, np.array([1.0, 2.0]))
    monkeypatch.setattr(MODEL, "k", 2.0)
    monkeypatch.setattr(sys.modules[__name__], "ROWS", [W.copy()])


def unchanged(function):
    value, pullback = vjp(function, X)
    kept = pullback(1.0)[0]
    np.testing.assert_array_equal(pullback(1.0)[0], kept)
    return pullback, kept


def right_or_refused(pullback, kept):
    """What a pass has read may lie on its tape."""
    try:
        np.testing.assert_array_equal(pullback(1.0)[0], kept)
    except RefusedValue as refusal:
        assert "has changed since the value was computed" in str(refusal)


@pytest.mark.parametrize("function", READERS)
def test_arrays_that_hold_other_numbers(function):
    pullback, kept = unchanged(function)
    for array in (W, Model.w, MODEL.w, outside.w, ROWS[0]):
        array[0] = 7.0
    right_or_refused(pullback, kept)


@pytest.mark.parametrize("function", READERS)
def test_names_and_attributes_that_are_bound_again(function, monkeypatch):
    pullback, kept = unchanged(function)
    for where, name in ((Model, "w"), (MODEL, "w"), (outside, "w"), (sys.modules[__name__], "W")):
        monkeypatch.setattr(where, name, np.array([7.0, 7.0]))
    ROWS[0] = W
    _, again = vjp(function, X)
    assert again(1.0)[0][0] in (7.0, 14.0)
    right_or_refused(pullback, kept)
    if function is recorded:
        np.testing.assert_array_equal(pullback(1.0)[0], kept)


LARGE = np.arange(90_000.0).reshape(300, 300)[:, ::2]  # behind the arrays that are copied
LONG = [float(k) for k in range(20_000)]


def of_a_large_array(x):
    return np.sum(np.sin(x[0] * LARGE))


def of_a_long_list(x):
    s = 0.0
    for i in range(0, 20_000, 5_000):
        s = s + x[0] * x[1] * LONG[i]
    return s


def test_whatever_their_size(monkeypatch):
    monkeypatch.setattr("srcgrad.api.outside.COPIED", LARGE.nbytes // 2)
    pullback, _ = unchanged(of_a_large_array)
    LARGE[[3, 4]] = LARGE[[4, 3]]
    with pytest.raises(RefusedValue, match="an array has changed"):
        pullback(1.0)
    pullback, _ = unchanged(of_a_long_list)
    LONG[15_000] = 1.0
    with pytest.raises(RefusedValue, match="class list has changed"):
        pullback(1.0)


def test_what_the_backward_half_does_not_read_may_change(monkeypatch):
    pullback, kept = unchanged(lambda x: np.sum(x * x) + GAIN)
    monkeypatch.setattr(sys.modules[__name__], "GAIN", 3.0)
    np.testing.assert_array_equal(pullback(1.0)[0], kept)


def by_layout(x):
    return np.sum(x.reshape(-1, order="A") * np.arange(6.0)) * x.strides[0]


def test_the_value_is_that_of_the_layout_that_was_given():
    arrays = [np.arange(6.0).reshape(2, 3), np.asfortranarray(np.arange(6.0).reshape(2, 3)), np.arange(12.0)[::2]]
    for array in (*arrays, *(array[::-1] for array in arrays), np.arange(24.0).reshape(4, 6)[::2, ::2].T):
        assert vjp(by_layout, array)[0] == by_layout(array)


def stored(x):
    x[0] = 2.0 * x[1]
    return np.sum(x * x)


@pytest.mark.parametrize("derivative", [lambda x: vjp(stored, x), jacobian(stored)])
def test_a_store_into_a_read_only_argument_raises_what_numpy_raises(derivative):
    x = np.array([1.0, 2.0])
    x.flags.writeable = False
    with pytest.raises(ValueError, match="read-only"):
        derivative(x)


TABLE = {"w": 2.0}
SETS = {1}


def of_an_argument(x):
    def read(table):
        s = 0.0
        for i in range(2):
            s = s + x[i] * table["w"]
        return s

    return read(TABLE)


def of_a_test(x):
    return np.sum(x * x) if 1 in SETS else np.sum(x * x * x)


@pytest.mark.parametrize(
    ("function", "change"), [(of_an_argument, lambda: TABLE.update(w=7.0)), (of_a_test, SETS.clear)]
)
def test_items_of_containers(function, change):
    pullback, _ = unchanged(function)
    change()
    try:
        with pytest.raises(RefusedValue, match="has changed"):
            pullback(1.0)
    finally:
        TABLE["w"] = 2.0
        SETS.add(1)


def test_equal_numbers_and_fields_that_are_not_read_are_no_change(monkeypatch):
    pullback, kept = unchanged(of_an_object)
    monkeypatch.setattr(MODEL, "k", 4.0 / 2.0)
    monkeypatch.setattr(MODEL, "calls", 1, raising=False)
    np.testing.assert_array_equal(pullback(1.0)[0], kept)


class Whole:
    def __init__(self, w):
        self.w = w

    def __copy__(self):
        return self

    def __reduce_ex__(self, _):
        raise TypeError


def test_objects_and_sets_among_the_arguments_are_left_as_they_are():
    w = np.ones(3)
    whole = Whole(w)
    np.testing.assert_array_equal(vjp(lambda p: np.sum(p.w * p.w), whole)[1](1.0)[0].w, 2.0 * w)
    assert whole.w is w
    sparse = set(range(1000))
    for k in range(995):
        sparse.discard(k)
    np.testing.assert_array_equal(vjp(lambda x, s: np.sum(x) * len(s), X, sparse, argnums=0)[1](1.0)[0], [5.0, 5.0])


def test_a_number_that_was_nan(monkeypatch):
    monkeypatch.setattr(MODEL, "k", np.nan)
    monkeypatch.setattr(sys.modules[__name__], "GAIN", np.nan)

    def scaled(x):
        s = 0.0
        for i in range(2):
            s = s + x[i] * GAIN
        return s

    _, pullback = vjp(scaled, X)
    assert np.isnan(pullback(1.0)[0]).all()
    monkeypatch.setattr(sys.modules[__name__], "GAIN", 3.0)
    _, again = vjp(scaled, X)
    np.testing.assert_array_equal(again(1.0)[0], [3.0, 3.0])
    with pytest.raises(RefusedValue, match="has changed"):
        pullback(1.0)


# --- the first call uses up what was saved, and later ones run the forward half again --------------------------------
def stored_into(x, n):
    y = np.zeros(n)
    y[0] = x[0]
    for i in range(1, n):
        y[i] = np.sin(y[i - 1]) * x[i % len(x)]
        y[i - 1] *= x[0]
    x[1] = y[-1] * x[1]
    return y * x[1]


def stored_with_draws(x):
    y = np.zeros(3)
    y[:] = x * np.random.uniform(1.0, 2.0, 3)
    y *= y
    return y


def stored_beside_a_number(x):
    y = x * GAIN
    y *= x
    return y * y


def shuffled(x):
    y = x.copy()
    np.random.shuffle(y)
    y *= y
    return y * np.array([1.0, 10.0, 100.0])


def written_out(x):
    y = x.copy()
    y *= float(f"{y[0]:.3f}")
    y *= y
    return y


def dropped(x, dropout=None):
    dropout = Dropout() if dropout is None else dropout
    y = x.copy()
    y *= dropout.mask
    y *= y
    return y


class Dropout:
    @property
    def mask(self):
        return np.random.rand(3) > 0.5


def handed_draws(x):
    y = x.copy()
    y *= np.array(list(map(np.random.uniform, np.ones(3), 2.0 * np.ones(3))))
    y *= y
    return y


@pytest.mark.parametrize("warm", [0, 3])
@pytest.mark.parametrize(
    ("function", "is_run_again"),
    [
        (lambda x: stored_into(x, 6), True),
        (stored_with_draws, False),
        (handed_draws, False),
        (shuffled, False),
        (written_out, False),
        (dropped, False),
        (stored_beside_a_number, False),
    ],
)
def test_calls_of_a_pullback_give_the_same(function, is_run_again, warm, monkeypatch):
    x, seed = np.array([0.3, 1.2, 0.7]), np.linspace(1.0, 2.0, 6)
    for _ in range(warm):
        vjp(function, x)
    value, pullback = vjp(function, x)
    assert pullback._compiled.changes_saved
    assert bool(pullback._once) is is_run_again
    seed = seed[: len(value)]
    (first,) = pullback(seed)
    monkeypatch.setattr(sys.modules[__name__], "GAIN", 17.0)
    again = [pullback(seed)[0] for _ in range(3)]
    np.testing.assert_array_equal(x, [0.3, 1.2, 0.7])
    for each in again:
        np.testing.assert_array_equal(each, first)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(pullback))(seed)[0], first)


def test_threads_that_call_a_pullback_at_once_get_the_same():
    x, seed = np.array([0.3, 1.2, 0.7]), np.linspace(1.0, 2.0, 40)
    _, pullback = vjp(lambda x: stored_into(x, 40), x)
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda _: pullback(seed)[0], range(16)))
    for each in found:
        np.testing.assert_array_equal(each, found[0])


def masked_by(x, dropout):
    y = x.copy()
    y *= dropout.mask
    y *= y
    return y


def multiplied_by(x, a):
    y = x.copy()
    y *= a @ np.ones(3)
    y *= y
    return y


@pytest.mark.parametrize(
    ("function", "make"),
    [(masked_by, Dropout), (multiplied_by, lambda: sparse.csr_array(np.diag([1.0, 2.0, 3.0])))],
)
def test_objects_among_the_arguments_are_not_read_again(function, make):
    x, other = np.array([0.3, 1.2, 0.7]), make()
    _, pullback = vjp(function, x, other, argnums=0)
    first = pullback(np.ones(3))[0]
    if sparse.issparse(other):
        other.data[0] = 9.0
    for _ in range(3):
        np.testing.assert_array_equal(pullback(np.ones(3))[0], first)


def divided(x):
    y = x.copy()
    y /= 0.0
    y *= y
    return y


def test_a_later_call_raises_and_warns_no_more_than_the_first():
    with np.errstate(all="ignore"):
        _, pullback = vjp(divided, np.ones(3))
        assert pullback._once
        first = pullback(np.ones(3))[0]
    with np.errstate(over="raise", divide="raise"), warnings.catch_warnings():
        warnings.simplefilter("error")
        pullback._kept()  # runs the forward half again
    with np.errstate(all="ignore"):
        np.testing.assert_array_equal(pullback(np.ones(3))[0], first)


def catching(x):
    y = x.copy()
    y *= 3.0
    try:
        z = 1.0 / (y - y)
        w = 2.0
    except RuntimeWarning:
        w = 5.0
    y *= x
    y *= w
    return y * y + 0.0 * len(z if w == 2.0 else y)


@pytest.mark.parametrize("actions", [("error", "ignore"), ("ignore", "error")])
def test_what_a_program_catches_is_what_it_caught(actions):
    """Filters of warnings decide what is raised, and with it what is computed."""
    x = np.array([0.7, 1.3, 0.4])
    with warnings.catch_warnings(), np.errstate(divide="warn"):
        warnings.simplefilter(actions[0])
        value, pullback = vjp(catching, x)
        np.testing.assert_allclose(value, (3.0 * x * x * (5.0 if actions[0] == "error" else 2.0)) ** 2)
        first = pullback(np.ones(3))[0]
    np.testing.assert_allclose(first, 4.0 * value / x)
    for action in actions[1:] * 3:
        with warnings.catch_warnings(), np.errstate(divide="warn"):
            warnings.simplefilter(action)
            np.testing.assert_array_equal(pullback(np.ones(3))[0], first)


def test_a_pullback_that_was_pickled_before_its_first_call_gives_the_same():
    x = np.array([0.3, 1.2, 0.7])
    _, pullback = vjp(stored_into, x, 6, argnums=0)
    copied = pickle.loads(pickle.dumps(pullback))
    first = pullback(np.ones(6))[0]
    for one in (copied, pullback, copied):
        np.testing.assert_array_equal(one(np.ones(6))[0], first)


HELD = np.empty(1, object)
HELD[0] = np.array([0.5, 1.5])


def beside_objects(x):
    x[0] = 7.0
    return x * HELD[0][0]


def test_what_an_array_of_objects_holds_is_not_apart():
    with pytest.raises(RefusedValue, match="shares memory"):
        vjp(beside_objects, HELD[0])
    np.testing.assert_array_equal(HELD[0], [0.5, 1.5])
