"""Functions of one code share a program only where it is the one that each of them would be compiled to."""

from __future__ import annotations

import gc
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, hessian, jvp, pipeline, value_and_grad, vjp

X = np.array([1.0, 2.0])


@pytest.fixture
def compiled(monkeypatch: pytest.MonkeyPatch) -> Iterator[list[str]]:
    """The modes of what is compiled."""
    modes: list[str] = []
    compiling = pipeline._compiled

    def noting(module: Any, request: Any, taken: Any) -> Any:
        modes.append(request.mode)
        return compiling(module, request, taken)

    monkeypatch.setattr(pipeline, "_compiled", noting)
    yield modes


def slope(f: Callable[..., Any], x: Any) -> Any:
    """The gradient by differences."""
    steps = 1e-6 * np.eye(x.size)
    return np.array([(f(x + h) - f(x - h)) / 2e-6 for h in steps])


def right(f: Callable[..., Any], x: Any = X) -> None:
    expected = slope(f, x)
    for _ in range(3):
        np.testing.assert_allclose(grad(f)(x), expected, rtol=1e-6, atol=1e-8)
    value, pullback = vjp(f, x)
    assert value == f(x)
    np.testing.assert_allclose(pullback(1.0)[0], expected, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(jvp(f, (x,), (np.array([1.0, 0.0]),))[1], expected[0], rtol=1e-6, atol=1e-8)


def test_what_was_captured_is_read(compiled: list[str]) -> None:
    for k in (2.0, -3.0, 0.5, np.inf):
        np.testing.assert_array_equal(grad(lambda x, k=None: np.sum(x) if k else np.sum(2.0 * x))(X), [2.0, 2.0])
        gradient = grad(lambda x: np.sum(k * x))
        assert [*gradient(X)] == [*gradient(X)] == [k, k]
        assert f"k = {'float' if k == np.inf else k}"[:6] in gradient.source or k == np.inf
    assert len(compiled) == 2


@pytest.mark.parametrize("k", [2.0, 3, True, np.float64(4.0), np.array(5.0), X, X[None], np.float32(2.0), [2.0, 3.0]])
def test_captured_values_of_other_kinds(k: Any) -> None:
    right(lambda x: np.sum(np.asarray(k) * x * x))


def of_functions(kind: int, k: float) -> Callable[..., Any]:
    def squared(x: Any) -> Any:
        return k * x * x

    def cubed(x: Any) -> Any:
        return k * x * x * x

    chosen = (squared, cubed, np.sin, squared)[kind]
    other = (squared, squared, squared, cubed)[kind]
    return lambda x: np.sum(chosen(x)) + np.sum(other(x))


def test_captured_functions() -> None:
    for k in (1.0, 2.0):
        for kind in (0, 1, 2, 3, 0):
            right(of_functions(kind, k))


def same_or_not(is_same: bool) -> Callable[..., Any]:
    def one(x: Any) -> Any:
        return x * x

    f, g = one, one if is_same else (lambda x: 3.0 * x)
    return lambda x: np.sum(f(x)) if f is g else np.sum(g(x))


def test_which_functions_are_the_same() -> None:
    for is_same in (True, False, True, False):
        right(same_or_not(is_same))


def sharing(is_shared: bool) -> Callable[..., Any]:
    a = b = 2.0
    if is_shared:
        def read() -> float:
            return a
    else:
        def read() -> float:
            return b

    def change(value: float) -> None:
        nonlocal a, b
        a = value
        b = 1.0

    made = lambda x: np.sum(a * read() * x)
    made.change = change  # type: ignore[attr-defined]
    return made


def test_cells_that_are_shared() -> None:
    for is_shared in (True, False, True):
        made = sharing(is_shared)
        change = vars(made).pop("change")
        right(made)
        change(5.0)
        right(made)


REGISTERED: list[Any] = []


def registered(which: int) -> Callable[..., Any]:
    def own(x: Any) -> Any:
        return x * x

    if not REGISTERED:
        REGISTERED.append(own)
    return lambda x: np.sum(own(x)) if REGISTERED[0] is own else np.sum(5.0 * x)


def test_a_function_that_is_known_outside() -> None:
    for which in range(3):
        right(registered(which))


def with_defaults(n: Any, w: Any) -> Callable[..., Any]:
    return lambda x, n=n, w=w: np.sum(x**n * w)


def test_defaults() -> None:
    for n in (2, 3, 2, 3.0, True):
        for w in (1.0, X, 2.0):
            right(with_defaults(n, w))


def with_rule(has_one: bool) -> Callable[..., Any]:
    def own(x: Any) -> Any:
        return x * x

    if has_one:

        @srcgrad.rule(own)
        def own_rule(x, *, y, y_bar):  # type: ignore[no-untyped-def]
            return (100.0 * y_bar,)

    return lambda x: np.sum(own(x))


def test_rules_belong_to_one_function() -> None:
    for has_one in (False, True, False):
        made = with_rule(has_one)
        np.testing.assert_array_equal(grad(made)(X), [100.0, 100.0] if has_one else 2.0 * X)


def with_class(k: float) -> Callable[..., Any]:
    class Scaled:
        factor = k

        def __call__(self, x: Any) -> Any:
            return self.factor * x

    scaled = Scaled()
    return lambda x: np.sum(scaled(x))


def test_classes_that_are_made_again() -> None:
    for k in (2.0, 3.0):
        np.testing.assert_array_equal(grad(with_class(k))(X), [k, k])


def with_object(k: Any, act: Any) -> Callable[..., Any]:
    held = {"k": k, "act": act}
    return lambda x: np.sum(held["act"](held["k"] * x))


def test_objects_that_hold_functions() -> None:
    for k in (2.0, X):
        for act in (np.sin, np.cos, lambda x: x * x, lambda x: x * k):
            right(with_object(k, act))


def test_pullbacks_of_several_are_apart() -> None:
    def made(k: Any) -> Callable[..., Any]:
        return lambda x: np.sum(k * x * x)

    pullbacks = [vjp(made(k), X)[1] for k in (2.0, 3.0, 5.0)]
    for k, pullback in zip((2.0, 3.0, 5.0), pullbacks, strict=True):
        np.testing.assert_array_equal(pullback(1.0)[0], 2.0 * k * X)


def test_a_variable_that_changes_later_is_that_of_its_own_function() -> None:
    def made(k: Any) -> tuple[Any, Callable[[Any], None]]:
        def change(value: Any) -> None:
            nonlocal k
            k = value

        return grad(lambda x: np.sum(k * x)), change

    (one, change_one), (other, change_other) = made(2.0), made(3.0)
    assert [one(X)[0], other(X)[0]] == [2.0, 3.0]
    change_one(7.0)
    assert [one(X)[0], other(X)[0]] == [7.0, 3.0]
    change_other(X)
    assert [*one(X), *other(X)] == [7.0, 7.0, 1.0, 2.0]
    change_one(1)
    assert [one(X)[0], other(X)[0]] == [1.0, 1.0]


def test_no_data_are_kept() -> None:
    def call(w: Any) -> None:
        def inner(x: Any) -> Any:
            return w * x

        grad(lambda x: np.sum(inner(x) * w))(X)
        vjp(lambda x, v=w: np.sum(x * v), X)

    seen = []
    for _ in range(3):
        w = np.ones(2)
        seen.append(weakref.ref(w))
        call(w)
    del w
    gc.collect()
    assert [each() for each in seen] == [None] * 3


def test_failures_and_texts_are_those_of_the_function() -> None:
    def made(k: Any) -> Callable[..., Any]:
        return lambda x: np.sum(x * k)

    for k in (np.ones(2), np.ones(2), np.ones(3)):
        gradient = grad(made(k))
        if k.size == 2:
            np.testing.assert_array_equal(gradient(X), k)
            assert gradient.annotate(X) is not None
            assert "k: a value of type numpy.ndarray" in gradient.source
            continue
        with pytest.raises(ValueError, match="broadcast") as raised:
            gradient(X)
        assert any("`x * k`" in note for note in raised.value.__notes__)


def test_a_loss_of_each_batch_compiles_once(compiled: list[str]) -> None:
    def loss(p: Any, batch: Any) -> Any:
        return np.sum((p["w"] * batch[0] - batch[1]) ** 2)

    def step(p: Any, batch: Any) -> Any:
        return value_and_grad(lambda p: loss(p, batch))(p)

    for scale in (1.0, 2.0, 3.0):
        batch = scale * X, X
        value, gradient = step({"w": X}, batch)
        assert value == loss({"w": X}, batch)
        np.testing.assert_allclose(gradient["w"], 2.0 * (X * batch[0] - X) * batch[0])
    assert len(compiled) == 1


def test_second_order() -> None:
    for k in (1.0, 2.0, 3.0):
        np.testing.assert_allclose(hessian(lambda x: np.sum(k * x**3))(X), np.diag(6.0 * k * X))
