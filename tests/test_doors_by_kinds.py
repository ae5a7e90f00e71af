"""A call goes through a door only where the long way would run the same program, and gets what that would give."""

from __future__ import annotations

import gc
import sys
import traceback
import weakref
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import ArgumentError, SeedError, grad, options, value_and_grad, vjp
from srcgrad.api import door
from srcgrad.api.arguments import kind_of
from srcgrad.api.sizes import pattern_of
from srcgrad.frontend.kind_tests import Spelling, same_kind, same_pattern
from srcgrad.infer.entry import described
from srcgrad.tracebacks import hide_frames

X = np.array([1.0, 2.0])
W = np.array([3.0, 5.0])


def opened(derivative: Any, *args: Any, **kwargs: Any) -> Any:
    """A derivative that has been called with arguments like these until it has a door for them."""
    for _ in range(3):
        derivative(*args, **kwargs)
    assert derivative.doors.open
    return derivative


@pytest.fixture
def long_ways(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """The arguments of the calls that go through no door."""
    taken: list[Any] = []
    binding = srcgrad.api.derivative.Derivative.bind

    def noting(self: Any, args: Any, kwargs: Any) -> Any:
        taken.append(args)
        return binding(self, args, kwargs)

    monkeypatch.setattr(srcgrad.api.derivative.Derivative, "bind", noting)
    return taken


@dataclass
class Layer:
    w: Any
    b: float


class Model:
    def __init__(self, w: Any) -> None:
        self.w = w

    def loss(self, x: Any) -> Any:
        return np.sum(self.w * x)


def loss(p: Any, x: Any) -> Any:
    return np.sum(p["w"] * x) + p["b"]


def affine(layer: Any, x: Any) -> Any:
    return np.sum(layer.w * x) + layer.b


def powered(x: Any, n: int = 2, flag: bool = True) -> Any:
    return np.sum(x**n) if flag else np.sum(x)


def chosen(x: Any, /, p: Any = None, *scales: Any, mode: str = "sin", rate: float = 2.0, **more: Any) -> Any:
    made = np.sum(np.sin(x) if mode == "sin" else x**2) * rate
    if p is not None:
        made = made * p
    for scale in scales:
        made = made * scale
    return made * more["factor"] if "factor" in more else made


CALLS: list[tuple[Callable[..., Any], Any, tuple[Any, ...], dict[str, Any]]] = [
    (lambda x: np.sum(x * x), 0, (X,), {}),
    (lambda x, y: np.sum(x * y), (0, 1), (X, W), {}),
    (lambda x, y: x * y + x, (1, 0), (2.0, 3.0), {}),
    (lambda x: x * x, 0, (np.float64(2.0),), {}),
    (lambda x: np.sum(x * W), 0, (X,), {}),
    (loss, (0, 1), ({"w": X, "b": 0.5}, W), {}),
    (affine, (0, 1), (Layer(X, 0.5), W), {}),
    (affine, 0, (SimpleNamespace(w=X, b=0.5), W), {}),
    (lambda ws: sum([np.sum(w * w) for w in ws]), 0, ([X, W],), {}),
    (lambda ws: np.sum(ws[0] * ws[1][0]), 0, ((X, [W, 3]),), {}),
    (Model(W).loss, 0, (X,), {}),
    (powered, 0, (X,), {}),
    (powered, 0, (X, 3), {}),
    (powered, 0, (X,), {"flag": False}),
    (lambda x, act: np.sum(act(x)), 0, (X, np.sin), {}),
    (lambda x: np.sum(x), 0, (np.float32([1.0, 2.0]),), {}),
    (lambda x: np.sum(np.abs(x) ** 2), 0, (X + 1j,), {}),
    (chosen, 0, (X,), {}),
    (chosen, 0, (X, 3.0), {"mode": "square"}),
    (chosen, 0, (X, None), {"rate": 5.0, "mode": "sin"}),
    (chosen, (0, 1, 3), (X, 3.0, 2.0, 4.0), {"factor": 0.5}),
]


@pytest.mark.parametrize("make", [grad, value_and_grad])
@pytest.mark.parametrize("number", range(len(CALLS)))
def test_door_gives_what_the_long_way_gives(number: int, make: Any, long_ways: list[Any]) -> None:
    function, argnums, args, kwargs = CALLS[number]
    first = make(function, argnums)(*args, **kwargs)
    derivative = opened(make(function, argnums), *args, **kwargs)
    long_ways.clear()
    made = derivative(*args, **kwargs)
    assert long_ways == []
    assert repr(made) == repr(first)
    assert described(made) == described(first)


SAMPLES: list[Any] = [
    1.0, 2.0, 1, True, None, "a", "b", 1j, np.float64(1.0), np.float32(1.0), np.int64(1), X, W[:1], X[None], X[0],
    np.array(1.0), np.float32([1.0]), np.array([1, 2]), np.array([True]), X.astype(">f8"), X.view(np.matrix),
    np.ma.array(X), [], [1.0], [1.0, 2.0], [1], [X], [W], (1.0,), (X, W), ("a", "b"), ("a", "c"), ["a", "b"],
    {}, {"w": X}, {"w": W}, {"w": 1.0}, {"w": X, "b": 1.0}, {"b": 1.0, "w": X}, {np.str_("w"): X}, {1: X}, {True: X},
    {"w": {"w": X}}, {"w": [X]}, Layer(X, 1.0), Layer(W, 2.0), Layer(X, 1), Layer([X], 1.0), Model(X), Model(1.0),
    SimpleNamespace(w=X), SimpleNamespace(w=X, b=1.0), SimpleNamespace(b=1.0, w=X), np.sin, np.cos, len, loss, affine,
    {1.0}, slice(1), range(3), [None], [np.sin], [np.cos], (Layer(X, 1.0),), [[1.0, [X]]], [[1.0, [W]]], float, int,
    {"a"}, {"a", "b"}, {"a", "c"}, {np.str_("a")}, frozenset("a"), frozenset("b"),
    frozenset([1.0]), float | int, int | str,
    [1.0] * 5, [1] * 5, [True] * 5, (1.0,) * 5, [1.0, 1.0, 1.0, 1.0, 1], [np.float64(1.0)] * 5, list("abcde"),
    list("abcdf"), {k: 1.0 for k in range(5)}, {k: 1.0 for k in "abcde"}, {float: (False, True), int: (0, 1)},
    {float: (0, 1), int: (0, 1)}, {float: (0, 1), complex: (0, 1)}, {k: X for k in range(5)}, [{"a": [1.0] * 5}],
]  # fmt: skip


def test_same_kinds_are_sufficient() -> None:
    """Whatever passes them has the same kind at the door, and the same description outside."""
    passed = 0
    for one, other in product(SAMPLES, SAMPLES):
        text = Spelling()
        tests = same_kind(one, "value", text)
        if tests is None:
            continue
        told = text.function(f"def made(value):\n    return {' and '.join(tests)}\n")
        if one is other:
            assert told(one)
        if told(other):
            passed += 1
            assert kind_of(one) == kind_of(other)
            assert described([one]) == described([other]) and described(one) == described(other)
    assert passed > len(SAMPLES)


def swapped(xs: Any, y: Any = None) -> Any:
    xs[0] = xs[0] * xs[1] if y is None else xs[0] * y
    xs[1] *= 2.0
    return xs[0] @ xs[1], [xs[1], 3, None]


def scaled_outside(x: Any, y: Any) -> Any:
    x *= PARTS[0]
    return x * y * LAYER.b


def of_numbers(r: float, g: float, b: float) -> Any:
    return 0.3 * r + 0.6 * g, [g * b, 1], "text"


PULLED: list[tuple[Callable[..., Any], Callable[[], tuple[Any, ...]], Any]] = [
    (of_numbers, lambda: (0.2, 0.3, 0.4), (1.0, [2.0, None], None)),
    (of_numbers, lambda: (np.float64(0.2), 0.3, 0.4), (np.float64(1.0), [2.0, None], None)),
    (swapped, lambda: ([X.copy(), W.copy()],), (1.0, [np.ones(2), None, None])),
    (swapped, lambda: ([X.copy(), W.copy()], None), (np.float64(1.0), [W, None, None])),
    (swapped, lambda: ([np.arange(4.0)[:2], np.arange(6.0).reshape(3, 2)[1]], 2.0), (2.0, [X, None, None])),
    (scaled_outside, lambda: (X.copy(), W.copy()), W),
    (lambda x, *, axis=None: np.cumsum(x, axis), lambda: (np.ones((2, 3)),), np.arange(6.0)),
    (lambda p: p["a"] * p["b"][0], lambda: ({"a": X.copy(), "b": [2.0, 3]},), W),
]


@pytest.mark.parametrize("number", range(len(PULLED)))
def test_pullback_of_a_door_gives_what_the_long_way_gives(number: int, long_ways: list[Any]) -> None:
    function, make_args, seed = PULLED[number]
    results = []
    for _ in range(4):
        long_ways.clear()
        args = make_args()
        value, pullback = vjp(function, *args, argnums=tuple(range(len(args) - (args[-1] is None))))
        results.append(repr((value, pullback(seed), pullback(seed), pullback(seed))))
        assert repr(args) == repr(make_args())
    assert long_ways == []
    assert len(set(results)) == 1


ALIKE = np.array([1.0, 2.0])


@pytest.mark.parametrize(
    ("function", "make_args"),
    [
        (swapped, lambda: ([ALIKE, ALIKE],)),
        (swapped, lambda: ([ALIKE, ALIKE[::-1]],)),
        (swapped, lambda: ([X.copy(), PARTS[1]],)),
        (scaled_outside, lambda: (PARTS[0], X.copy())),
        (scaled_outside, lambda: (PARTS[0][::-1], X.copy())),
        (scaled_outside, lambda: (X.copy(), PARTS[0])),
    ],
)
def test_memory_that_is_shared_does_not_pass_a_door(
    function: Any, make_args: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is done then is what is done where no door has been made."""

    def outcome() -> str:
        try:
            value, pullback = vjp(function, *make_args())
            seed = W if isinstance(value, np.ndarray) else (1.0, [W, None, None])
            return repr((value, pullback(seed)))
        except ValueError as error:
            return repr(error)

    with monkeypatch.context() as patched:
        patched.setattr(door, "door_for", lambda *given: None)
        alone = outcome()
    for _ in range(3):
        args = make_args()
        apart = [[part.copy() for part in args[0]]] if isinstance(args[0], list) else [part.copy() for part in args]
        vjp(function, *apart)
    for _ in range(3):
        assert outcome() == alone


def test_long_lists_pass_a_door(long_ways: list[Any]) -> None:
    def squares(xs: Any) -> Any:
        total = 0.0
        for x in xs:
            total += x * x
        return total

    xs = [float(k) for k in range(3000)]
    for _ in range(4):
        long_ways.clear()
        value, pullback = vjp(squares, xs)
        (made,) = pullback(0.5)
        assert value == sum(x * x for x in xs)
        assert made == xs and set(map(type, made)) == {float}
    assert long_ways == []
    xs[7] = 7  # type: ignore[call-overload]
    assert vjp(squares, xs)[1](0.5)[0][6:9] == [6.0, None, 8.0]


def test_a_door_binds_as_its_function_does() -> None:
    derivative = opened(grad(chosen), X, 3.0)
    with pytest.raises(ArgumentError):
        derivative(x=X, p=3.0)
    with pytest.raises(ArgumentError):
        derivative()
    chosen.__kwdefaults__["rate"] = 4.0
    try:
        np.testing.assert_allclose(derivative(X, 3.0), 12.0 * np.cos(X))
    finally:
        chosen.__kwdefaults__["rate"] = 2.0
    np.testing.assert_allclose(derivative(X, 3.0), 6.0 * np.cos(X))


# --- what changes --------------------------------------------------------------------------------------------------
SCALE = 2.0
PARTS = [np.ones(2), np.ones(2)]
LAYER = Layer(np.ones(2), 1.0)


def helped(x: Any) -> Any:
    return x * SCALE


def outside(x: Any) -> Any:
    return np.sum(helped(x) * PARTS[1] * LAYER.w) * LAYER.b


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        ("SCALE = 3.0", [3.0, 3.0]),
        ("SCALE = np.array([1.0, 5.0])", [1.0, 5.0]),
        ("SCALE = 3", [3.0, 3.0]),
        ("PARTS[1] = np.array([2.0, 4.0])", [4.0, 8.0]),
        ("PARTS[1] = 4", [8.0, 8.0]),
        ("PARTS.insert(0, 7.0)", [2.0, 2.0]),
        ("LAYER.b = 5.0", [10.0, 10.0]),
        ("LAYER.b = np.array(5.0)", [10.0, 10.0]),
        ("LAYER.w = np.ones(2, np.float32)", [2.0, 2.0]),
        ("LAYER = Layer(np.array([1.0, 3.0]), 1.0)", [2.0, 6.0]),
        ("LAYER.w[1] = 9.0", [2.0, 18.0]),
        ("helped = lambda x: x * 7.0", [7.0, 7.0]),
        ("helped.__code__ = (lambda x: x * 7.0).__code__", [7.0, 7.0]),
    ],
)
def test_what_it_reads_outside_changes(change: str, expected: list[float]) -> None:
    names: dict[str, Any] = {"np": np, "Layer": Layer, "SCALE": 2.0, "__name__": __name__}
    names |= {"PARTS": [np.ones(2), np.ones(2)], "LAYER": Layer(np.ones(2), 1.0)}
    made = type(helped)(helped.__code__, names), type(outside)(outside.__code__, names)
    names.update(helped=made[0], outside=made[1])
    derivative = opened(grad(made[1]), X)
    np.testing.assert_array_equal(derivative(X), [2.0, 2.0])
    exec(change, names)
    for _ in range(4):
        np.testing.assert_array_equal(derivative(X), expected)


def test_the_function_changes() -> None:
    def scaled(x: Any, n: int = 2) -> Any:
        return np.sum(x**n)

    derivative = opened(grad(scaled), X)
    scaled.__defaults__ = (3,)
    np.testing.assert_array_equal(derivative(X), 3.0 * X**2)
    scaled.__code__ = (lambda x, n: np.sum(x) * n).__code__
    np.testing.assert_array_equal(derivative(X), [3.0, 3.0])


def test_a_captured_variable_changes() -> None:
    k: Any = 2.0

    def scaled(x: Any) -> Any:
        return np.sum(k * x)

    derivative = opened(grad(scaled), X)
    for k, expected in ((5.0, [5.0, 5.0]), (np.array([1.0, 2.0]), [1.0, 2.0]), (3, [3.0, 3.0])):
        np.testing.assert_array_equal(derivative(X), expected)


def test_a_method_is_replaced_and_a_field_is_another() -> None:
    class Scaled:
        def __init__(self) -> None:
            self.k: Any = 2.0

        def factor(self) -> Any:
            return self.k

        def loss(self, x: Any) -> Any:
            return np.sum(self.factor() * x)

    scaled = Scaled()
    derivative = opened(grad(scaled.loss), X)
    scaled.k = 3.0
    np.testing.assert_array_equal(derivative(X), [3.0, 3.0])
    scaled.k = np.array([1.0, 4.0])
    np.testing.assert_array_equal(derivative(X), [1.0, 4.0])
    Scaled.factor = lambda self: 10.0  # type: ignore[method-assign]
    np.testing.assert_array_equal(derivative(X), [10.0, 10.0])


def test_a_default_that_is_compiled_in_is_not_what_is_passed() -> None:
    derivative = opened(grad(powered), X)
    np.testing.assert_array_equal(derivative(X, 3), 3.0 * X**2)
    np.testing.assert_array_equal(derivative(X, flag=False), [1.0, 1.0])
    np.testing.assert_array_equal(derivative(X, n=2), 2.0 * X)
    np.testing.assert_array_equal(derivative(X, True), [1.0, 1.0])


def test_options_and_rules_decide() -> None:
    def cubed(x: Any) -> Any:
        return x * x * x

    def outer(x: Any) -> Any:
        return np.sum(np.where(x > 1.5, np.sqrt(cubed(x)), 0.0))

    x = np.array([0.0, 4.0])
    with np.errstate(all="ignore"):
        derivative = opened(grad(outer), x)
        assert np.isnan(derivative(x)[0])
        with options(strong_zeros=True):
            assert derivative(x)[0] == 0.0
        assert np.isnan(derivative(x)[0])

        @srcgrad.rule(cubed)
        def cubed_rule(x, *, y, y_bar):  # type: ignore[no-untyped-def]
            return (y_bar * 0.0,)

        assert derivative(x)[1] == 0.0


# --- arguments of other kinds --------------------------------------------------------------------------------------
def test_what_is_refused_is_refused_behind_a_door() -> None:
    derivative = opened(grad(lambda x: np.sum(x * x)), X)
    for refused in (np.array([1, 2]), np.ma.array(X), X.view(np.matrix), "x", None, [1, 2]):
        with pytest.raises((ArgumentError, SeedError)):
            derivative(refused)
    with pytest.raises(ArgumentError, match="missing"):
        derivative()
    with pytest.raises(ArgumentError, match="y"):
        derivative(X, y=2.0)
    np.testing.assert_array_equal(derivative(X), 2.0 * X)


def test_kinds_that_come_in_turn_have_a_door_each(long_ways: list[Any]) -> None:
    derivative = grad(lambda x: np.sum(x * x))
    for _ in range(3):
        derivative(X), derivative(2.0), derivative(X[None])
    long_ways.clear()
    np.testing.assert_array_equal(derivative(X), 2.0 * X)
    assert derivative(2.0) == 4.0
    np.testing.assert_array_equal(derivative(X[None]), 2.0 * X[None])
    assert long_ways == []


def test_a_door_that_nothing_goes_through_is_not_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    made: list[Any] = []
    making = door.door_for

    def noting(*given: Any) -> Any:
        made.append(given)
        return making(*given)

    monkeypatch.setattr(door, "door_for", noting)

    def named(x: Any, name: str) -> Any:
        return np.sum(x) if name else np.sum(x * x)

    derivative = grad(named)
    for k in range(8):
        np.testing.assert_array_equal(derivative(X, f"name {k}"), [1.0, 1.0])
    assert len(made) == 1


def test_parameters_may_be_called_as_what_a_door_reads() -> None:
    def odd(type: Any, len: Any, __value: Any) -> Any:
        return np.sum(type * len) * __value

    derivative = grad(odd)
    for _ in range(4):
        np.testing.assert_array_equal(derivative(X, W, 2.0), 2.0 * W)


# --- memory --------------------------------------------------------------------------------------------------------
def halves(ws: Any) -> Any:
    return 0.5 * (np.sum(ws[0] ** 2) + np.sum(ws[1] ** 2))


@pytest.mark.parametrize("make", [grad, value_and_grad])
@pytest.mark.parametrize(
    ("function", "argnums", "make_args"),
    [
        (lambda x, y: np.sum(x * y), (0, 1), lambda: (X.copy(), W.copy())),
        (lambda x, y: np.sum(x + y), (0, 1), lambda: (X.copy(), W.copy())),
        (lambda x: np.sum(x * W), 0, lambda: (X.copy(),)),
        (lambda x: np.dot(x, W), 0, lambda: (X.copy(),)),
        (lambda x: np.sum(x * LAYER.w), 0, lambda: (X.copy(),)),
        (lambda p: np.dot(p["a"], p["b"]), 0, lambda: ({"a": X.copy(), "b": W.copy()},)),
        (lambda p: np.dot(p.w, p.b), 0, lambda: (SimpleNamespace(w=X.copy(), b=W.copy()),)),
        (lambda ws: np.dot(ws[0], ws[1]), 0, lambda: ([X.copy(), W.copy()],)),
        (lambda ws: np.sum(ws[0] + ws[1]), 0, lambda: ((X.copy(), W.copy()),)),
        (lambda x, y: np.dot(x[0], y), (0, 1), lambda: (X.copy()[None], W.copy())),
        (halves, 0, lambda: ([X.copy(), W.copy()],)),
    ],
)
def test_gradients_share_memory_with_nothing(function: Any, argnums: Any, make_args: Any, make: Any) -> None:
    derivative = opened(make(function, argnums), *make_args())
    args = make_args()
    results = [derivative(*args) for _ in range(3)]
    arrays = [array for result in (*results, args, [W, LAYER.w]) for array in leaves(result)]
    for j, one in enumerate(arrays):
        assert not any(np.shares_memory(one, other) for other in arrays[:j] if other is not one or j < 6)


def leaves(value: Any) -> list[Any]:
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        value = list(value.values())
    elif hasattr(value, "__dict__"):
        value = list(vars(value).values())
    return [leaf for item in value for leaf in leaves(item)] if isinstance(value, list | tuple) else []


def test_references_are_counted_as_in_a_door() -> None:
    made = (np.empty(1), [np.empty(1)])
    alone = made[0]
    counts = sys.getrefcount(made[1][0]), sys.getrefcount(alone), sys.getrefcount(made)
    assert counts == (door._HELD, door._BOUND + 1, door._BOUND)


# --- failures ------------------------------------------------------------------------------------------------------
def test_a_failure_is_told_as_on_the_long_way_and_nothing_runs_twice(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = np.zeros(1)

    @srcgrad.constant
    def note(k: Any) -> None:
        seen[0] += 1.0

    def failing(x: Any, k: float) -> Any:
        note(k)
        if k > 1.0:
            raise TypeError("too large")
        return np.sum(x * W[: int(k) + 2])

    told = []
    for derivative in (grad(failing), opened(grad(failing), X, 0.0)):
        seen[0] = 0.0
        with pytest.raises(TypeError, match="too large") as raised:
            derivative(X, 2.0)
        assert seen[0] == 1.0
        monkeypatch.delenv("SRCGRAD_TRACEBACK", raising=False)
        hide_frames(raised.value)
        frames = [frame.name for frame in traceback.extract_tb(raised.value.__traceback__)]
        told.append((frames, raised.value.__notes__))
    assert told[0] == told[1]
    with pytest.raises(ValueError, match="broadcast") as broken:
        derivative(np.ones(3), 0.0)
    assert any("in the adjoint of" in n or "while computing" in n for n in broken.value.__notes__)


def test_a_value_is_looked_at_behind_a_door() -> None:
    def first(parts: Any) -> Any:
        return parts[0] if parts[1] > 0.0 else parts

    derivative = opened(grad(first), [2.0, 1.0])
    with pytest.raises(SeedError, match="returned a list"):
        derivative([2.0, -1.0])
    assert derivative([2.0, 1.0]) == [1.0, 0.0]


# --- pullbacks -----------------------------------------------------------------------------------------------------
def product_of(x: Any, y: Any, k: float = 1.0) -> Any:
    return np.sum(x * x * y) * k


def rows(x: Any, y: Any) -> Any:
    return x * x * y


def test_pullback_of_a_door_is_that_of_the_long_way(long_ways: list[Any]) -> None:
    for function, args, seeds in (
        (product_of, (X, W, 2.0), (1.0, 3.0, np.float64(2.0), np.array(2.0), 2)),
        (rows, (X, W), (X, np.ones(2), np.ones(2, np.float32), [1.0, 2.0], np.array([1, 2]))),
        (lambda x: x * x, (3.0,), (1.0, 2.0, np.float32(2.0))),
    ):
        first = vjp(function, *args)
        told = [first[1](seed) for seed in seeds]
        for _ in range(2):
            vjp(function, *args)
        long_ways.clear()
        value, pullback = vjp(function, *args)
        assert long_ways == []
        assert repr(value) == repr(first[0])
        for seed, expected in zip(seeds, told, strict=True):
            assert repr(pullback(seed)) == repr(expected) == repr(pullback(seed))
        for refused in (None, "x", np.ones(3), {"a": 1.0}, 1j * np.ones(np.shape(value))):
            with pytest.raises(SeedError):
                pullback(refused)


def test_pullback_of_a_door_keeps_copies() -> None:
    for _ in range(3):
        vjp(rows, X, W)
    x, y, seed = X.copy(), W.copy(), np.ones(2)
    value, pullback = vjp(rows, x, y)
    first = pullback(seed)
    x[:], y[:], value[:], seed[:] = 7.0, 8.0, 9.0, 10.0
    again = pullback(np.ones(2))
    np.testing.assert_array_equal(again, [2.0 * X * W, X * X])
    arrays = [x, y, value, seed, *first, *again]
    assert not any(np.shares_memory(one, other) for j, one in enumerate(arrays) for other in arrays[:j])


def test_what_gives_its_seed_back_gives_a_copy() -> None:
    def same(x: Any) -> Any:
        return x * 1.0 + 0.0

    def both(x: Any, y: Any) -> Any:
        return x + y

    for function, args in ((same, (X,)), (both, (X, W))):
        for _ in range(3):
            vjp(function, *args)
        seed = np.ones(2)
        _, pullback = vjp(function, *args)
        arrays = [seed, *pullback(seed), *pullback(seed)]
        assert not any(np.shares_memory(one, other) for j, one in enumerate(arrays) for other in arrays[:j])


def test_arrays_that_a_pullback_does_not_copy_one_by_one() -> None:
    for _ in range(3):
        vjp(product_of, X, W)
    for x, y in ((X, X), (X[::-1], W), (np.broadcast_to(2.0, 2), W), (np.asfortranarray(np.ones((2, 2)))[0], W)):
        value, pullback = vjp(product_of, x, y)
        assert value == product_of(x, y)
        np.testing.assert_array_equal(pullback(1.0), [2.0 * x * y, x * x, product_of(x, y)][:2])
    x = X.copy()
    x.flags.writeable = False
    np.testing.assert_array_equal(vjp(product_of, x, W)[1](1.0)[0], 2.0 * x * W)


def test_pullback_of_a_door_notices_what_has_changed_outside() -> None:
    names: dict[str, Any] = {"np": np, "LAYER": Layer(np.ones(2), 1.0), "__name__": __name__}

    def template(x: Any) -> Any:
        return np.sum(x * LAYER.w)

    made = type(template)(template.__code__, names)
    for _ in range(3):
        vjp(made, X)
    _, pullback = vjp(made, X)
    np.testing.assert_array_equal(pullback(1.0)[0], [1.0, 1.0])
    names["LAYER"].w[0] = 5.0
    with pytest.raises(ValueError, match="has changed since"):
        pullback(1.0)
    np.testing.assert_array_equal(vjp(made, X)[1](1.0)[0], [5.0, 1.0])


# --- equal sizes ---------------------------------------------------------------------------------------------------
def broadcast(x: Any, b: Any) -> Any:
    return np.sum(np.tanh(x + b) * b) + np.sum(x[:1] * b)


def joined_sizes(p: Any) -> Any:
    return np.sum(p["layer"].w * p["rest"][0]) * p["layer"].b + np.sum(np.exp(p["rest"][1] * p["layer"].w))


KEPT = grad(broadcast, (0, 1))


def of_kept(x: Any, b: Any) -> Any:
    x_bar, b_bar = KEPT(x, b)
    return np.sum(x_bar * x) + np.sum(b_bar * b)


def vectors(n: int, m: int) -> tuple[Any, ...]:
    return X[0] + np.arange(n) / 4.0, W[0] - np.arange(m) / 3.0


def of_containers(n: int, m: int) -> tuple[Any, ...]:
    x, b = vectors(n, m)
    return ({"layer": Layer(x, 0.5), "rest": (b, x * 2.0 if n == m else b)},)


PAIRS = [(2, 2), (1, 2), (2, 1), (1, 1), (3, 3), (3, 1), (1, 3), (2, 2), (4, 1)]


def assert_alike(made: Any, expected: Any) -> None:
    """The same structure and shapes, and numbers as another program computes them."""
    if isinstance(expected, tuple | list):
        assert type(made) is type(expected)
        for one, other in zip(made, expected, strict=True):
            assert_alike(one, other)
    elif isinstance(expected, dict):
        assert_alike([*made.items()], [*expected.items()])
    elif isinstance(expected, Layer):
        assert_alike(vars(made), vars(expected))
    elif isinstance(expected, str):
        assert made == expected
    else:
        assert np.shape(made) == np.shape(expected)
        np.testing.assert_allclose(made, expected, rtol=1e-12)


@pytest.mark.parametrize("make", [grad, value_and_grad])
@pytest.mark.parametrize(
    ("function", "argnums", "arguments"),
    [(broadcast, (0, 1), vectors), (of_kept, (0, 1), vectors), (joined_sizes, 0, of_containers)],
)
def test_a_door_serves_no_other_pattern_of_sizes(
    function: Any, argnums: Any, arguments: Any, make: Any, long_ways: list[Any]
) -> None:
    derivative = make(function, argnums)
    for n, m in PAIRS:
        args = arguments(n, m)
        with options(sizes=False):
            expected = make(function, argnums)(*args)
        for _ in range(3):
            made = derivative(*args)
            assert_alike(made, expected)
    for n, m in [(2, 2), (5, 5), (1, 7), (7, 1)]:
        long_ways.clear()
        derivative(*arguments(n, m))
        assert long_ways == [], "of a pattern that has been met"


def test_functions_that_are_made_again_share_programs_of_their_pattern_of_sizes_alone() -> None:
    for n, m in [*PAIRS, *PAIRS]:
        x, b = vectors(n, m)
        with options(sizes=False):
            expected = grad(broadcast, (0, 1))(x, b)
        assert_alike(grad(lambda x, b: broadcast(x, b), (0, 1))(x, b), expected)


@pytest.mark.parametrize("function", [broadcast, of_kept])
def test_value_and_pullback_of_a_door_are_of_no_other_pattern_of_sizes(function: Any, long_ways: list[Any]) -> None:
    pulled: list[tuple[Any, Any]] = []
    for n, m in PAIRS:
        args = vectors(n, m)
        with options(sizes=False):
            value, first = vjp(function, *args)
            expected = first(2.0)
        for _ in range(3):
            made, pullback = vjp(function, *args)
            assert_alike(made, value)
            assert_alike(pullback(2.0), expected)
            pulled.append((pullback, expected))
    for pullback, expected in pulled:
        assert_alike(pullback(2.0), expected)
    long_ways.clear()
    vjp(function, *vectors(5, 1))
    assert long_ways == [], "of a pattern that has been met"


SHAPES: list[tuple[tuple[int, ...], ...]] = [
    ((3,), (3,)), ((3,), (2,)), ((1,), (3,)), ((3,), (1,)), ((1,), (1,)), ((0,), (3,)), ((0,), (0,)), ((1,), (0,)),
    ((3, 3), (3,)), ((3, 2), (3,)), ((3, 2), (2,)), ((3, 2), (4,)), ((1, 3), (3,)), ((3, 1), (3,)), ((3, 0), (0,)),
    ((2, 3), (3, 2)), ((2, 3), (2, 3)), ((3, 2), (3, 3)), ((2, 3, 4), ()), ((2, 3, 2), (4,)), ((), ()), ((), (2,)),
]  # fmt: skip


def test_tests_of_sizes_are_true_of_the_very_pattern() -> None:
    for shapes in SHAPES:
        text = Spelling()
        given = [(name, shape) for name, shape in zip("xy", shapes, strict=True)]
        tests = [f"x.ndim == {len(shapes[0])}", f"y.ndim == {len(shapes[1])}", *same_pattern(given, text)]
        fits = text.function(f"def made(x, y):\n    return {' and '.join(tests)}")
        for others in SHAPES:
            ranks = [*map(len, shapes)] == [*map(len, others)]
            values = tuple(np.empty(shape) for shape in others)
            is_same = ranks and pattern_of(values) == pattern_of(tuple(np.empty(shape) for shape in shapes))
            assert bool(fits(*values)) == is_same, (shapes, others)


# --- methods -------------------------------------------------------------------------------------------------------
class Scaling:
    def __init__(self, w: Any, k: float) -> None:
        self.w = w
        self.k = k
        self.parts = {"b": np.ones(2)}

    def loss(self, x: Any, y: Any = 1.0, *, rate: float = 1.0) -> Any:
        return np.sum(self.w * x * y * self.parts["b"]) * self.k * rate

    def stored(self, x: Any) -> Any:
        x *= self.w
        return x * x * self.k

    def own(self, x: Any) -> Any:
        self.w *= x
        return self.w * self.k


class Doubled(Scaling):
    def loss(self, x: Any, y: Any = 1.0, *, rate: float = 1.0) -> Any:
        return 2.0 * super().loss(x, y, rate=rate)


def test_methods_of_all_objects_of_a_class_have_one_door(long_ways: list[Any]) -> None:
    for _ in range(3):
        vjp(Scaling(X.copy(), 2.0).loss, X.copy(), argnums=0)
    long_ways.clear()
    for k in (3.0, 5.0):
        value, pullback = vjp(Scaling(W.copy(), k).loss, X.copy(), argnums=0)
        assert value == k * (W @ X)
        np.testing.assert_array_equal(pullback(1.0)[0], k * W)
    assert long_ways == []
    _, pullback = vjp(Doubled(W.copy(), 3.0).loss, X.copy(), argnums=0)
    np.testing.assert_array_equal(pullback(1.0)[0], 6.0 * W)
    _, pullback = vjp(Scaling(W.copy(), 3.0).loss, X.copy(), W.copy(), argnums=1)
    np.testing.assert_array_equal(pullback(1.0)[0], 3.0 * W * X)
    with pytest.raises(ArgumentError, match="no argument 7"):
        vjp(Scaling(W.copy(), 3.0).loss, X.copy(), argnums=7)


def test_a_method_that_stores(long_ways: list[Any]) -> None:
    for _ in range(4):
        long_ways.clear()
        scaling, x = Scaling(W.copy(), 3.0), X.copy()
        value, pullback = vjp(scaling.stored, x)
        np.testing.assert_array_equal(value, 3.0 * (W * X) ** 2)
        for _ in range(3):
            np.testing.assert_array_equal(pullback(np.ones(2))[0], 6.0 * W**2 * X)
        np.testing.assert_array_equal([scaling.w, x], [W, X])
    assert long_ways == []
    with pytest.raises(ValueError, match="share memory|shares memory"):
        vjp(Scaling(ALIKE, 3.0).stored, ALIKE)
    for _ in range(4):  # what a function may store into a method may not
        vjp(Scaling.own, Scaling(W.copy(), 3.0), X.copy(), argnums=1)
        with pytest.raises(srcgrad.UnsupportedSyntax, match="would be lost"):
            vjp(Scaling(W.copy(), 3.0).own, X.copy())


def test_the_object_of_a_pullback_may_change_or_go() -> None:
    scaling = Scaling(W.copy(), 3.0)
    for _ in range(3):
        vjp(Scaling(W.copy(), 3.0).loss, X.copy(), argnums=0)
    _, pullback = vjp(scaling.loss, X.copy(), argnums=0)
    scaling.w[0], scaling.k = 9.0, 7.0
    np.testing.assert_array_equal(pullback(1.0)[0], 3.0 * W)
    gone = weakref.ref(scaling)
    del scaling
    gc.collect()
    assert gone() is None
