"""Code of users, for mypy and pyright: what it makes is of these types, and each mistake is one for both of them.

``# error: CODE | RULE`` ends a line where mypy reports CODE and pyright RULE, one of them empty where it sees nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any, assert_type

import numpy as np
from numpy.typing import ArrayLike, NDArray

import srcgrad
from srcgrad import grad, hessian, hvp, jacfwd, jacobian, jvp, linearize, value_and_grad, vjp, vmap

Array = NDArray[np.float64]
w, x, y = np.ones(3), np.ones((5, 3)), np.ones(5)


def square(a: float) -> float:
    return a * a


def loss(w: Array, x: Array, y: Array, rate: float = 0.1) -> float:
    return rate * float(np.mean((x @ w - y) ** 2))


def with_predictions(w: Array, x: Array) -> tuple[float, Array]:
    return float(np.sum(x @ w)), x @ w


def forgotten(w: Array) -> None:
    np.sum(w)


def unannotated(w, x):  # type: ignore[no-untyped-def]
    return np.sum(w * x)


# --- what derivatives give -------------------------------------------------------------------------------------------
assert_type(grad(square)(2.0), float)
assert_type(grad(loss)(w, x, y), Array)
assert_type(grad(loss)(w, x, y, rate=0.5), Array)
assert_type(grad(loss, 1)(w, x, y), Array)
assert_type(grad(loss, (0, 1))(w, x, y), tuple[Array, Array])
assert_type(grad(loss, ("w", "y"))(w=w, x=x, y=y), tuple[Any, ...])
assert_type(grad(loss, "y")(w, x, y=y), Any)
assert_type(value_and_grad(square)(2.0), tuple[float, float])
assert_type(value_and_grad(loss)(w, x, y), tuple[float, Array])
assert_type(value_and_grad(loss, argnums=(0, 1))(w, x, y), tuple[float, tuple[Array, Array]])
assert_type(grad(with_predictions, has_aux=True)(w, x), tuple[Array, Array])
assert_type(value_and_grad(with_predictions, has_aux=True)(w, x), tuple[tuple[float, Array], Array])
assert_type(vjp(loss, w, x, y)[0], float)
assert_type(vjp(loss, w, x, y, argnums=0)[1](1.0), tuple[Any, ...])
assert_type(jvp(square, (2.0,), (1.0,)), tuple[float, float])
assert_type(linearize(square, 2.0)[0], float)
assert_type(linearize(square, 2.0)[1](1.0), float)
assert_type(linearize(loss, w, x, y, argnums=0)[1](w), float)
vmap(loss, in_axes=(None, 0, 0))(w, x[:, None], y[:, None]).shape
assert_type(hvp(square)(2.0, 1.0), float)
assert_type(hvp(loss)(w, x, y, w), Array)
assert_type(srcgrad.hessp(loss)(w, w, x, y), Array)
assert_type(grad(grad(square))(2.0), float)
grad(unannotated)(w, 2.0)
hessian(loss)(w, x, y, rate=0.5)
jacobian(with_predictions)(w, x)
jacfwd(loss, argnums="x")(w, x, y)
grad(loss).source.splitlines()
pairs: dict[str, Array] = {"w": w}


def of_dict(params: dict[str, Array], x: Array) -> float:
    return float(np.sum(params["w"] * x))


assert_type(grad(of_dict)(pairs, x), dict[str, Array])


def of_anything(w: ArrayLike) -> float:
    return float(np.sum(w))


assert_type(grad(of_anything)([1.0, 2.0]), Any)


@dataclass
class Model:
    bias: float

    def energy(self, w: Array) -> float:
        return float(np.sum(w)) + self.bias

    @grad
    def slope(self, w: Array) -> float:
        return float(np.sum(w)) + self.bias

    @grad(argnums=1)
    def force(self, w: Array) -> float:
        return float(np.sum(w)) + self.bias


assert_type(grad(Model(1.0).energy)(w), Array)
Model(1.0).slope(w)
Model(1.0).force(w)


@grad
def decorated(a: float) -> float:
    return a * a


@partial(grad, argnums=1)
def by_the_second(a: float, b: float) -> float:
    return a * b


assert_type(decorated(2.0), float)
by_the_second(1.0, 2.0)

# --- mistakes --------------------------------------------------------------------------------------------------------
grad(square(2.0))  # error: call-overload | reportArgumentType
grad(square)()  # error: call-arg | reportCallIssue
grad(square)(2.0, 3.0)  # error: call-arg | reportCallIssue
grad(square)("2.0")  # error: arg-type | reportArgumentType
grad(loss)([1.0, 2.0], x, y)  # error: arg-type | reportArgumentType
grad(loss)(w, x, y, rat=0.5)  # error: call-arg | reportCallIssue
grad(loss, w)  # error: call-overload | reportArgumentType
grad(forgotten)  # error: type-var | reportArgumentType
grad(with_predictions)  # error: type-var | reportArgumentType
grad(loss, has_aux=True)  # error: call-overload | reportArgumentType
value_and_grad(square)(2.0) + 1.0  # error: operator | reportOperatorIssue
vjp(loss, w, x)  # error: call-overload | reportCallIssue
jvp(square, 2.0, 1.0)  # error: arg-type | reportArgumentType
hvp(square)(2.0)  # error: call-arg | reportCallIssue
srcgrad.hessp(square)(2.0)  # error: call-arg | reportCallIssue
hessian(loss)(w)  # error: call-arg | reportCallIssue
grad(loss)(w, x, y).no_such_attribute  # error: attr-defined | reportAttributeAccessIssue
srcgrad.gradient(loss)  # error: attr-defined | reportAttributeAccessIssue
