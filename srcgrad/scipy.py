"""Derivatives as the functions of SciPy take them; nothing of SciPy is imported here.

>>> import numpy as np, scipy.optimize
>>> def energy(x, stiffness):
...     return np.sum((x[1:] - x[:-1] ** 2) ** 2) * stiffness + np.sum((x - 1.0) ** 2)
>>> found = scipy.optimize.minimize(x0=np.zeros(4), args=(10.0,), method="trust-ncg", **minimize_args(energy, "hessp"))
>>> print(found.x.round(3))
[1. 1. 1. 1.]
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from srcgrad.api.dense import hessian, hessp, jacobian
from srcgrad.api.transforms import value_and_grad
from srcgrad.errors import ArgumentError
from srcgrad.tracebacks import door

__all__ = ["least_squares_args", "minimize_args"]


@door
def minimize_args(f: Callable[..., Any], second: Literal["hess", "hessp"] | None = None) -> dict[str, Any]:
    """The keywords ``fun`` and ``jac`` of ``scipy.optimize.minimize`` for ``f(x, *args)``, and ``second``.

    One call of ``fun`` gives the value and the gradient (``jac=True``).  Methods that take second derivatives are given
    ``"hessp"``, the product with a vector (Newton-CG, trust-ncg, trust-krylov, trust-constr), or ``"hess"``, the matrix
    (dogleg, trust-exact, and where there are few variables).
    """
    made: dict[str, Any] = {"fun": value_and_grad(f), "jac": True}
    if second == "hess":
        made["hess"] = hessian(f)
    elif second == "hessp":
        made["hessp"] = hessp(f)
    elif second is not None:
        raise ArgumentError(f"second is 'hess', 'hessp' or None, not {second!r}")
    return made


@door
def least_squares_args(f: Callable[..., Any]) -> dict[str, Any]:
    """The keywords ``fun`` and ``jac`` of ``scipy.optimize.least_squares`` and ``root`` for ``f(x, *args)``.

    f returns the vector of residuals; the Jacobian has one row for each.
    """
    return {"fun": f, "jac": jacobian(f)}
