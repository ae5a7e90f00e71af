"""``jacobian``, ``jacfwd`` and ``hessian``: objects, parts without a derivative, and that the two Jacobians are one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from types import SimpleNamespace
from typing import Any, NamedTuple

import numpy as np
import pytest

from srcgrad import grad, hessian, jacfwd, jacobian, options


class Point:
    """Two numbers."""

    def __init__(self, a: Any, b: Any) -> None:
        self.a = a
        self.b = b


class Slotted:
    """Two numbers in slots."""

    __slots__ = ("a", "b")

    def __init__(self, a: Any, b: Any) -> None:
        self.a = a
        self.b = b


@dataclass(frozen=True)
class Layer:
    """Weights, and what has no derivative."""

    w: Any
    width: int = 3
    name: str = "layer"
    act: Any = None


class Pair(NamedTuple):
    """Two numbers."""

    a: Any
    b: Any


def multiplied(p: Any) -> Any:
    return p.a * p.b


def both(p: Any) -> Any:
    return p.a * p.b, np.sin(p.a)


def point_of(x: Any) -> Any:
    return Point(x, x * x)


def layers_of(layer: Any) -> Any:
    return [Layer(layer.w * 2.0, 2, "first"), {"second": Point(layer.w**2, 4)}]


JACOBIANS = pytest.mark.parametrize("transform", [jacobian, jacfwd])


# --- objects ----------------------------------------------------------------------------------------------------------
@JACOBIANS
@pytest.mark.parametrize("kind", [Point, Slotted, Pair, SimpleNamespace])
def test_the_jacobian_by_an_object_has_its_fields(transform: Callable[..., Any], kind: Any) -> None:
    found = transform(both)(kind(a=2.0, b=3.0))
    assert type(found[0]) is (Pair if kind is Pair else SimpleNamespace)
    assert (found[0].a, found[0].b) == (3.0, 2.0)
    assert (found[1].a, found[1].b) == (np.cos(2.0), 0.0)


@JACOBIANS
def test_the_jacobian_of_an_object_has_its_fields(transform: Callable[..., Any]) -> None:
    found = transform(point_of)(np.array([2.0, 3.0]))
    np.testing.assert_array_equal(found.a, np.eye(2))
    np.testing.assert_array_equal(found.b, np.diag([4.0, 6.0]))


@JACOBIANS
def test_objects_in_containers_and_fields_without_a_derivative(transform: Callable[..., Any]) -> None:
    first, second = transform(layers_of)(Layer(np.array([1.0, 2.0]), act=np.sin))
    assert first.width is first.name is second["second"].b is None
    assert type(first) is type(first.w) is type(second["second"].a) is Layer
    np.testing.assert_array_equal(first.w.w, 2.0 * np.eye(2))
    np.testing.assert_array_equal(second["second"].a.w, np.diag([2.0, 4.0]))
    assert first.w.act is first.w.width is None


@pytest.mark.parametrize("kind", [Point, Slotted, Pair])
def test_the_hessian_by_an_object_has_its_fields_twice(kind: Any) -> None:
    found = hessian(multiplied)(kind(2.0, 3.0))
    assert [found.a.a, found.a.b, found.b.a, found.b.b] == [0.0, 1.0, 1.0, 0.0]
    found = hessian(lambda layer: np.sum(layer.w**3))(Layer(np.array([1.0, 2.0])))
    np.testing.assert_array_equal(found.w.w, np.diag([6.0, 12.0]))
    assert found.name is found.w.name is None


# --- the two are one --------------------------------------------------------------------------------------------------
def text_alone(x: Any) -> str:
    return "s"


def nothing(x: Any) -> None:
    return None


@JACOBIANS
def test_parts_of_the_output_without_a_derivative_have_none(transform: Callable[..., Any]) -> None:
    assert transform(lambda x: (x, 3, None, "s"))(2.0) == (1.0, None, None, None)
    found = transform(lambda x: {"flag": True, "x": x, "places": np.arange(2)})(np.ones(2))
    assert found["flag"] is found["places"] is None
    np.testing.assert_array_equal(found["x"], np.eye(2))
    assert transform(text_alone)(2.0) is transform(nothing)(2.0) is None
    np.testing.assert_array_equal(transform(lambda x: np.arange(3))(2.0), np.zeros(3))


@pytest.mark.parametrize("argument", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("output", [np.float32, np.float64, np.complex64, np.complex128])
@pytest.mark.parametrize("size", [0, 2])
def test_the_two_jacobians_have_one_dtype(argument: Any, output: Any, size: int) -> None:
    def cast(x: Any) -> Any:
        return (x if is_complex else x.real).astype(output)

    is_complex = np.issubdtype(output, np.complexfloating)
    x = np.ones(size, argument)
    holomorphic = is_complex and np.iscomplexobj(x)
    reverse = jacobian(cast, holomorphic=holomorphic)(x)
    forward = jacfwd(cast, holomorphic=holomorphic)(x)
    wanted = np.result_type(argument, np.complex64) if is_complex else np.dtype(argument)
    assert reverse.dtype == forward.dtype == wanted
    np.testing.assert_array_equal(reverse, forward)
    np.testing.assert_array_equal(forward, np.eye(size))


@pytest.mark.parametrize("transform", [hessian, jacfwd, lambda f: jacobian(grad(f))], ids=["hessian", "jacfwd", "grad"])
def test_captured_numbers_are_read_again_by_a_new_derivative(transform: Callable[..., Any]) -> None:
    rate = 1.0

    def scaled(x: Any) -> Any:
        return np.sum(rate * x**2) if transform is not jacfwd else rate * x

    x, before = np.array([0.5, 2.0]), []
    for value in (1.0, 3.0, -2.0):
        rate = value
        before.append(transform(scaled)(x) / value)
    np.testing.assert_array_equal(before, [before[0]] * 3)


def test_many_seeds_run_at_once_where_that_takes_less_time() -> None:
    """A batch of Python's numbers is an array, whose arithmetic takes the time of a dozen of operations on numbers."""

    def of_numbers(p, n):
        a, b = p[0], p[1]
        for _ in range(n):
            a, b = a + 0.1 * a * b, b - 0.2 * a * (b - 1.0)
        return a * b

    def of_arrays(p, n):
        y = p * 2.0
        for _ in range(n):
            y = y + 0.1 * np.sin(y) * y
        return np.sum(y * y)

    p = np.array([0.3, 0.7, 0.2])
    slopes = {}
    for function in (of_numbers, of_arrays):
        second = hessian(function)
        for check in (True, False):  # under which all are run at once
            with options(check=check):
                slopes[check] = second(p, 5)
        np.testing.assert_allclose(slopes[True], slopes[False], rtol=1e-12, atol=1e-13)
        made = [compiled for compiled in second.sweeps._kept.values() if compiled is not None]
        assert made and {compiled.break_even > 3 for compiled in made} == {function is of_numbers}


def _halved(v, s):
    v[0] = v[0] * 0.5 + s
    return v[1]


def test_the_hessian_over_numbers_in_lists_that_are_stored_into() -> None:
    """The adjoint of such a number is memory, which one sweep for all directions may not copy when it is read."""

    def under_two_names(w):
        v = [0.7, w[1]]
        v[0] = v[0] * 0.5 + w[0]
        u = v
        return 0.5 * v[1] * v[1] * len(u[:])

    def by_a_callee(w):
        v = [np.tanh(w[0]), np.sin(w[1])]
        u = [0.3, 0.5 + 0.3 * v[1]]
        u, v = v, u
        t = _halved(v, w[0])
        return u[0] * w[0] + 0.5 * t * t

    w = np.array([0.3, 0.8])
    for function in (under_two_names, by_a_callee):
        slope = grad(function)
        wanted = [(slope(w + e) - slope(w - e)) / 2e-6 for e in 1e-6 * np.eye(2)]
        with options(check=True):  # all directions at once
            np.testing.assert_allclose(hessian(function)(w), wanted, atol=1e-7)
