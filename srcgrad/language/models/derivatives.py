# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""Models of ``grad`` and ``value_and_grad``: functions that call a function, and return what its arguments are like.

>>> gradient(lambda x: x * x)(2.0)
2.0
"""

from __future__ import annotations

from types import FunctionType, NoneType

import numpy as np

from srcgrad.language.asked import is_data
from srcgrad.language.models.table import perhaps, unknown


class Derivative:
    """The class of what they return, in its place: it is no function."""


def gradient(f=None, argnums=0, *, has_aux=False, holomorphic=False):
    def derivative(*args, **keywords):
        f(*args, **keywords)
        return _gradients(args, argnums)

    return unknown() if isinstance(f, NoneType) or has_aux or holomorphic else derivative


def value_and_gradient(f=None, argnums=0, *, has_aux=False, holomorphic=False):
    def derivative(*args, **keywords):
        return f(*args, **keywords), _gradients(args, argnums)

    return unknown() if isinstance(f, NoneType) or has_aux or holomorphic else derivative


def _gradients(args, argnums):
    if isinstance(argnums, tuple):
        return tuple([_gradient(args, place) for place in argnums])
    return _gradient(args, argnums)


def _gradient(args, place):
    if isinstance(place, int) and place < len(args):
        return _like(args[place])
    return unknown()


def _like(value):
    if is_data(value):
        return np.positive(value) * 1.0
    if isinstance(value, np.ndarray):
        return value * 1.0
    if isinstance(value, float):
        return float(value) if perhaps() else np.float64(value)
    if isinstance(value, complex):
        return complex(value) if perhaps() else np.complex128(value)
    if type(value) is list:
        return [_like(item) for item in value]
    if type(value) is tuple:
        return tuple([_like(item) for item in value])
    if type(value) is dict:
        return {key: _like(item) for key, item in value.items()}
    return unknown()


def kind_of(name: str, namespace: object) -> type:
    """The class of a function object that is made where these are the globals."""
    return Derivative if namespace is globals() and name == "derivative" else FunctionType


#: By what a transformation says that it is.
TRANSFORMS = {"reverse": gradient, "value": value_and_gradient}
