"""Complex derivatives: what ``holomorphic=True`` asks for, and the check that it exists.

The cotangent of a complex number is that of srcgrad's pairing, Re(sum of x_bar * x_dot): of a real-valued L it is
dL/dRe(x) - 1j * dL/dIm(x).  A pullback is linear over the real numbers.  It is linear over the complex ones where the
function has a complex derivative, and only there (the Cauchy-Riemann equations); then a seed of 1 gives f'(x).
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.api.arguments import described, is_floating, leaves_of
from srcgrad.errors import ArgumentError, SeedError, Span

BOTH_PARTS = "vjp gives the cotangents of the real part with the seed 1.0, of the imaginary part with the seed -1j"
HOLOMORPHIC_OR_VJP = f"of a holomorphic function holomorphic=True gives the complex derivative;\n{BOTH_PARTS}"


def check_complex(value: Any, name: str) -> None:
    """Refuse a real number among the arguments by which a complex derivative is asked for."""
    for leaf, place in leaves_of(value, name):
        if is_floating(leaf) and not np.iscomplexobj(leaf):
            raise ArgumentError(
                f"argument {place} is real: the derivative of a holomorphic function is by a complex number",
                hint=f"pass {place} + 0j",
            )


def require_one_number(value: Any, span: Span | None = None, *, holomorphic: bool = False) -> None:
    """Refuse what has no gradient: all but one real number, or one complex number where a complex derivative is asked
    for."""
    if isinstance(value, float) and not holomorphic:
        return
    wanted = "complex" if holomorphic else "real"
    reason = f"the gradient of a function needs one {wanted} number, but it returned"
    if value is None or isinstance(value, str | tuple | list | deque | dict):
        raise SeedError(f"{reason} {described(value)}", span, hint=_other_result(value))
    if np.shape(value) != ():
        hint = "use jacobian, or vjp with a seed of that shape"
        raise SeedError(f"{reason} an array of shape {np.shape(value)}", span, hint=hint)
    if np.iscomplexobj(value):
        if not holomorphic:
            raise SeedError(f"{reason} a complex one", span, hint=HOLOMORPHIC_OR_VJP)
    elif holomorphic or not np.issubdtype(np.result_type(value), np.floating):
        floats = None if holomorphic else "integers have no derivative: compute it with floats, in arrays of floats"
        raise SeedError(f"{reason} {described(value)}", span, hint=floats)


def _other_result(value: Any) -> str | None:
    if value is None:
        return "add a return: a function that ends without one returns None"
    if isinstance(value, tuple) and len(value) == 2:
        return "return the number alone; with has_aux=True a function returns (value, auxiliary)"
    return None if isinstance(value, str) else "return the number alone; vjp differentiates containers of results"


def complex_derivative(pulled: Callable[[complex], Any], span: Span | None = None) -> Any:
    """The complex derivative, if it exists, of what ``pulled`` gives the cotangents of for a seed."""
    gradient = pulled(1.0)
    require_holomorphic(gradient, pulled(1j), span)
    return gradient


def require_holomorphic(one: Any, turned: Any, span: Span | None) -> None:
    """Refuse where ``turned``, of the seed (or along the direction) 1j, is not 1j times ``one``, of 1.

    Both are made by the same operations, so that they agree to a few roundings.
    """
    for (a, _), (b, _) in zip(leaves_of(one, ""), leaves_of(turned, ""), strict=True):
        if a is None:
            continue
        with np.errstate(all="ignore"):
            difference, scale = np.abs(b - 1j * a), np.maximum(np.abs(a), np.abs(b))
            finite = np.isfinite(difference) & np.isfinite(scale)
            bound = np.sqrt(np.finfo(np.asarray(a).dtype).eps) * np.max(scale, initial=0.0, where=finite)
            if np.any(finite & (difference > bound)):
                reason = "the function is not holomorphic here: it has no complex derivative"
                raise SeedError(reason, span, hint=BOTH_PARTS)
