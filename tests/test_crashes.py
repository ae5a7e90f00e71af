"""Odd programs: right, or refused with file, line and caret; never an exception of the compiler's own."""

from __future__ import annotations

import abc
import enum
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.errors import InternalError, SrcgradError
from srcgrad.programs import options
from srcgrad.runtime.refusals import Refused
from tests.derivatives import settings
from tests.oracle import assert_close, differences

X = np.array([0.5, 1.2, 0.8])


class Abstract(abc.ABCMeta):
    """A metaclass of which ``dir`` lists what reading raises, as those of pandas' classes do."""

    def __dir__(cls) -> list[str]:
        return [*super().__dir__(), "__abstractmethods__"]

    def __getattr__(cls, name: str) -> Any:
        raise AttributeError(name)


class Frame(dict, metaclass=Abstract):
    pass


class Answering:
    """Every attribute is a number."""

    __slots__ = ()

    def __getattr__(self, name: str) -> float:
        return 3.0


class Raising:
    """Reading an attribute that is not there raises no AttributeError, and so does its text."""

    k = 2.0

    def __getattr__(self, name: str) -> Any:
        raise KeyError(name)

    def __repr__(self) -> str:
        raise RuntimeError


class Shaped:
    """Its methods are lambdas."""

    def __init__(self, v: Any) -> None:
        self.v = v

    __len__ = lambda self: 3
    __eq__ = lambda self, other: self.v == other.v


class Chain:
    """Its constructor makes another one."""

    def __init__(self, n: int, v: Any) -> None:
        self.v = v
        self.next = Chain(n - 1, v * 2.0) if n > 0 else None


ANSWERING, RAISING = Answering(), Raising()


def asks_for_a_frame(x: Any) -> Any:
    return 0.0 if isinstance(x, Frame) else np.sum(x**2)


def answering_object(x: Any) -> Any:
    return np.sum(x) * ANSWERING.k


def raising_object(x: Any) -> Any:
    return np.sum(x) * RAISING.k if RAISING is not None else 0.0


def raising_object_unread(x: Any) -> Any:
    return (RAISING, np.sum(x * x))[1]


def number_with_axes(x: Any) -> Any:
    s = x[0]
    return np.sum(s[..., None] * x) + s[()] * s[...]


def number_by_a_mask(x: Any) -> Any:
    s = x[0]
    m = s > 0.0
    return np.sum(s[m] * 2.0)


def methods_that_are_lambdas(x: Any) -> Any:
    a, b = Shaped(x[0]), Shaped(x[1])
    return a.v * len(a) if [a] == [b] else b.v * x[0] * len(b)


def recursive_constructor(x: Any) -> Any:
    return Chain(2, x[0]).next.v


def curried(x: Any) -> Any:
    def compose(n: int) -> Callable[[Any], Any]:
        if n == 0:

            def done(v: Any) -> Any:
                return v

            return done
        inner = compose(n - 1)
        return lambda v: inner(v) * 2.0

    return np.sum(compose(3)(x))


def renamed(x: Any) -> Any:
    return np.sum(x**2)


renamed.__name__ = "no identifier*"


def changed_in_a_generator(x: Any) -> Any:
    taken: list[Any] = []
    any(v > 0.6 and taken.append(v * x[0]) for v in x)
    all([taken.append(v.conj()) is None for v in x])
    return taken[0] * taken[2] + taken[-1]


def read_through_its_buffer(x: Any) -> Any:
    return x.data[1] * x[0]


def stored_through_its_buffer(x: Any) -> Any:
    y = x * 2.0
    y.data[1] = 3.0
    return np.sum(y)


def kept_in_records(x: Any) -> Any:
    rows = np.zeros(3, dtype=[("a", float)])
    rows["a"] = x
    return rows["a"][1] * 2.0



class Positional:
    def __init__(self, u, /, w=1.0):
        self.u, self.w = u, w

    def scaled(self, /, x):
        return self.u * x * self.w


class Unnamed:
    def __init__(*given):
        given[0].u = given[1]


def positional_receiver(x: Any) -> Any:
    return Positional(x * 1.0, w=2.0).scaled(x)[0]


def unnamed_receiver(x: Any) -> Any:
    return Unnamed(x).u[1] * 2.0


RIGHT = [
    positional_receiver,
    asks_for_a_frame,
    raising_object_unread,
    number_with_axes,
    renamed,
    changed_in_a_generator,
]
OF_NUMBERS = [number_with_axes]
REFUSED = [
    raising_object,
    methods_that_are_lambdas,
    answering_object,
    curried,
    read_through_its_buffer,
    stored_through_its_buffer,
    kept_in_records,
]


@pytest.mark.parametrize(
    ("function", "way"), [*((function, "optimised") for function in RIGHT), *((f, "generic") for f in OF_NUMBERS)]
)
@pytest.mark.costly(2, first=1)
def test_an_odd_program_is_right_in_every_mode(function: Any, way: str) -> None:
    with settings(way):
        gradient, second = srcgrad.grad(function)(X), srcgrad.hvp(function)(X, X)
        tangent = srcgrad.jvp(function, (X,), (X,))[1]
    numeric = differences(lambda point: np.atleast_1d(function(point)), X, X)
    assert_close(gradient @ X, numeric.value, error=numeric.error)
    assert_close(tangent, numeric.value, error=numeric.error)
    curvature = differences(lambda point: np.atleast_1d(srcgrad.grad(function)(point) @ X), X, X)
    assert_close(second @ X, curvature.value, error=curvature.error)


@pytest.mark.parametrize("way", ["optimised", "generic"])
@pytest.mark.parametrize("function", REFUSED, ids=lambda f: f.__qualname__)
def test_an_odd_program_is_refused_with_a_caret_and_a_short_traceback(function: Any, way: str) -> None:
    with settings(way):
        require_refusal(lambda: srcgrad.grad(function)(X))
        require_refusal(lambda: srcgrad.jvp(function, (X,), (X,)))


def test_a_constructor_that_makes_its_own_class():
    np.testing.assert_array_equal(srcgrad.grad(recursive_constructor)(X), 2.0 * np.eye(len(X))[0])


def test_a_constructor_that_names_no_object():
    np.testing.assert_array_equal(srcgrad.grad(unnamed_receiver)(X), 2.0 * np.eye(len(X))[1])


def test_a_gradient_through_a_number_that_is_read_by_a_mask_is_refused():
    for way in ("optimised", "generic"):
        with settings(way):
            require_refusal(lambda: srcgrad.grad(number_by_a_mask)(X))


def require_refusal(ask: Callable[[], Any]) -> None:
    with pytest.raises((SrcgradError, Refused), match=r"\^") as caught:
        ask()
    assert not isinstance(caught.value, InternalError)
    assert len(caught.traceback) < 200  # thousands in a recursion without end


# --- the report of a fault -------------------------------------------------------------------------------------------
def test_a_fault_of_the_compiler_says_so_and_where(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: Any) -> None:
        raise KeyError("slot")

    monkeypatch.setattr("srcgrad.specialise.writing.reduced", broken)
    fault = pytest.raises(InternalError, match="this is a fault of srcgrad")
    with options(check=False), fault as caught:
        srcgrad.grad(lambda x: x * 2.0)(1.0)
    assert isinstance(caught.value.__cause__, KeyError) and "KeyError: 'slot'" in str(caught.value)
    assert "test_crashes.py" in str(caught.value) and "^" in str(caught.value)
    with options(check=True), pytest.raises(KeyError):
        srcgrad.grad(lambda x: x * 3.0)(1.0)


# --- arguments of the interface --------------------------------------------------------------------------------------
def power(*args: Any) -> Any:
    return np.sum(args[0] ** 3 * args[1] ** 2)


@pytest.mark.parametrize("k", [0, 1])
@pytest.mark.costly(1, first=1)
def test_a_gradient_by_a_position_inside_of_args_is_differentiated(k: int) -> None:
    y = X + 1.0
    gradient = srcgrad.grad(power, k)
    first = [3 * X**2 * y**2, 2 * X**3 * y][k]
    by_x, by_y = [(6 * X * y**2, 6 * X**2 * y), (6 * X**2 * y, 2 * X**3)][k]
    value, pullback = srcgrad.vjp(gradient, X, y)
    np.testing.assert_allclose(value, first)
    np.testing.assert_allclose(np.stack(pullback(X)), np.stack([by_x * X, by_y * X]))
    np.testing.assert_allclose(srcgrad.jvp(gradient, (X, y), (X, y))[1], by_x * X + by_y * y)
    np.testing.assert_allclose(srcgrad.jacobian(gradient, 0)(X, y), np.diag(by_x))
    np.testing.assert_allclose(srcgrad.jacfwd(gradient, 1)(X, y), np.diag(by_y))
    both = srcgrad.value_and_grad(power, (k, k))
    _, pullback = srcgrad.vjp(both, X, y)
    np.testing.assert_allclose(pullback((1.0, (X, y)))[0], [3 * X**2 * y**2, 2 * X**3 * y][0] + by_x * (X + y))


def test_an_argument_that_is_chosen_twice_moves_once() -> None:
    def f(x: Any) -> Any:
        return np.sum(x**3)

    rows = srcgrad.hessian(f, (0, "x"))(X)
    assert all(np.allclose(block, np.diag(6 * X)) for row in rows for block in row)
    np.testing.assert_allclose(srcgrad.hvp(f, (0, 0))(X, (X, X))[1], 12 * X**2)


@pytest.mark.parametrize("transform", [srcgrad.grad, srcgrad.hessian, srcgrad.jacobian, srcgrad.jacfwd])
def test_a_list_of_arguments_is_a_tuple_and_anything_else_is_refused(transform: Any) -> None:
    np.testing.assert_array_equal(transform(power, [0])(X, X), transform(power, (0,))(X, X))
    for wrong in (None, 1.0, True, {}, [[0]]):
        with pytest.raises(srcgrad.ArgumentError, match="argnums is a position"):
            transform(power, wrong)


def test_parameters_that_are_called_like_those_of_the_interface() -> None:
    def f(f: Any, self: Any = 1.0, argnums: Any = 1.0) -> Any:
        return np.sum(f**2) * self * argnums

    np.testing.assert_allclose(srcgrad.vjp(f, f=X)[0], np.sum(X**2))
    np.testing.assert_allclose(srcgrad.grad(f)(X, self=3.0, argnums=2.0), 12 * X)
    np.testing.assert_allclose(srcgrad.grad(f, "f")(f=X, self=3.0), 6 * X)
    assert "grad" in srcgrad.grad(f).source_for(X, self=3.0)
    np.testing.assert_allclose(srcgrad.jacobian(f)(X, self=3.0), 6 * X)
    with pytest.raises(srcgrad.ArgumentError, match="argnums= is vjp's own"):
        srcgrad.vjp(f, X, argnums=0)


# --- arrays without elements -----------------------------------------------------------------------------------------
def test_arrays_without_elements_are_stored_into() -> None:
    def rows(x: Any) -> Any:
        z = np.zeros((2, *x.shape))
        z[0] = x
        v = z[1:]
        v[:] = x
        z *= 2.0
        return np.sum(z * v)

    def columns(x: Any) -> Any:
        z = x.reshape(0, 3) * 1.0
        z.T[1] = 2.0
        parts = [np.broadcast_to(x, (3, 0)).copy(), x]
        parts[0][1:] = x
        return np.sum(z) + np.sum(parts[0])

    empty = np.zeros(0)
    for f in (rows, columns):
        assert srcgrad.grad(f)(empty).shape == (0,) and srcgrad.hessian(f)(empty).shape == (0, 0)
        assert srcgrad.jvp(f, (empty,), (empty,)) == (0.0, 0.0)
    np.testing.assert_allclose(srcgrad.grad(rows)(X), 16.0 * X)


# --- loops over classes ----------------------------------------------------------------------------------------------
class Weight(enum.IntEnum):
    ONE = 1
    TWO = 2


class Choosing(type):
    def __iter__(cls) -> Any:
        return iter([2.0, 3.0])

    def __len__(cls) -> int:
        return 2

    def __getitem__(cls, j: int) -> float:
        return 7.0


class Chosen(metaclass=Choosing):
    pass


def over_members(a: Any) -> Any:
    s = a
    for k in Weight:
        s = s * k * a
    return s


def beside_members(a: Any) -> Any:
    s = a
    for j, (k, v) in enumerate(zip(Weight, [a, 2.0], strict=False)):
        s = s * k + j * a * v
    return s


def of_members(a: Any) -> Any:
    p, *q = reversed(Weight)
    return sum([k * a * a for k in Weight]) * p + sum(q) * a


def over_members_handed_in(a: Any) -> Any:
    def over(members: Any) -> Any:
        s = a
        for k in members:
            s = s * k * s
        return s

    return over(Weight)


@pytest.mark.parametrize("f", [over_members, beside_members, of_members, over_members_handed_in])
def test_loops_over_the_members_of_an_enumeration(f: Callable[[Any], Any]) -> None:
    slope = (f(0.83 + 1e-6) - f(0.83 - 1e-6)) / 2e-6
    value, pullback = srcgrad.vjp(f, 0.83)
    forward = srcgrad.jvp(f, (0.83,), (1.0,))
    assert value == forward[0] == f(0.83)
    np.testing.assert_allclose([pullback(1.0)[0], forward[1]], slope, rtol=1e-6)


def test_a_loop_over_a_class_of_a_metaclass_of_the_users_is_refused() -> None:
    def f(a: Any) -> Any:
        s = a
        for k in Chosen:
            s = s * k * a
        return s

    with pytest.raises(SrcgradError, match="is not known"):
        srcgrad.grad(f)(0.83)


def test_an_entry_of_an_empty_dict_is_taken_out() -> None:
    def f(a: Any) -> Any:
        s: dict[str, Any] = {"k": a * a}
        try:
            _, first = s.popitem()
            s.popitem()
        except KeyError:
            return first * 2.0
        return a

    assert srcgrad.grad(f)(3.0) == 12.0 and srcgrad.jvp(f, (3.0,), (1.0,)) == (18.0, 12.0)
    with pytest.raises(KeyError, match="dictionary is empty"):
        srcgrad.grad(lambda a: {}.popitem() or a)(1.0)


@pytest.mark.parametrize("f", [lambda x: np.sum(x.T.ravel("K")), lambda x: np.sum(x.T.reshape(1)), lambda x: x.T.sum()])
def test_views_of_arrays_without_axes(f: Any) -> None:
    """What follows was taken for code that never runs: an AssertionError."""
    assert srcgrad.grad(f)(np.array(1.3)) == 1.0
    assert srcgrad.jvp(f, (np.array(1.3),), (np.array(2.0),))[1] == 2.0


def deeper(x: Any, depth: int) -> Any:
    return deeper([x], depth - 1)[0] if depth else [x]


def test_a_recursion_whose_arguments_nest_deeper_at_each_call_compiles() -> None:
    """Once refused after some seconds: each call was worked out for arguments of its own, without end."""
    assert srcgrad.grad(lambda x: deeper(x * x, 12)[0])(3.0) == 6.0
    with pytest.raises(RecursionError):
        srcgrad.grad(lambda x: deeper(x, -1)[0])(3.0)
