"""Cotangents brought back to the shape and dtype of what was broadcast, and the way up again.

>>> unbroadcast(np.ones((3, 2)), np.zeros(2))
array([3., 3.])
"""

from __future__ import annotations

from collections import deque
from typing import Any

import numpy as np

from srcgrad.runtime.refusals import RefusedType

_CONTAINERS = (tuple, list, deque, dict, set, type(None))
_NUMBERS = (bool, int, float, complex)
_SINGLE = frozenset({complex, np.float64, np.complex128, np.float32, np.complex64})


def unbroadcast(g: Any, like: Any) -> Any:
    """Sum ``g`` down to the shape of ``like``, in the floating dtype of ``like``; ``g`` itself when they agree.

    Axes of length 1 that ``like`` has in front, which a store drops, come back.  A shape that no broadcasting of
    ``like`` gives raises ValueError.
    """
    kind = type(like)
    if type(g) is kind:
        if kind is float:
            return g
        if kind is np.ndarray:
            if g.dtype == like.dtype:
                if g.shape == like.shape:
                    return g
                if g.ndim == 2 and g.shape[1:] == like.shape:  # a bias beside rows
                    return np.add.reduce(g, 0)
        elif kind in _SINGLE:
            return g
    elif kind is float and type(g) is np.float64 or kind is np.float64 and type(g) is float:
        return kind(g)
    return _narrow(g, like)


def rebroadcast(g: Any, like: Any) -> Any:
    """Repeat ``g`` up to the shape of ``like``, in the floating dtype of ``like``; ``g`` itself when they agree."""
    kind = type(like)
    if type(g) is kind:
        if kind is float:
            return g
        if kind is np.ndarray:
            if g.shape == like.shape and g.dtype == like.dtype:
                return g
        elif kind in _SINGLE:
            return g
    _refuse_containers(g, like)
    shape = np.shape(like)
    if np.shape(g) != shape:
        g = np.broadcast_to(g, shape)
    return _cast(g, like)


def _narrow(g: Any, like: Any) -> Any:
    _refuse_containers(g, like)
    shape = np.shape(like)
    given = np.shape(g)
    if given != shape:
        extra = len(given) - len(shape)
        if extra < 0 and set(shape[:-extra]) == {1}:
            return _narrow(np.reshape(g, (1,) * -extra + given), like)
        if extra < 0 or any(m != n and m != 1 for m, n in zip(shape, given[extra:], strict=True)):
            raise ValueError(f"a cotangent of shape {given} does not fit a value of shape {shape}")
        axes = tuple(range(extra)) + tuple(
            extra + axis for axis, (m, n) in enumerate(zip(shape, given[extra:], strict=True)) if m != n
        )
        g = np.sum(g, axis=axes).reshape(shape)
    return _cast(g, like)


def floating(like: Any, g: Any) -> np.dtype[Any]:
    """The dtype of a cotangent ``g`` of ``like``: that of ``like`` where it is floating."""
    dtype = like.dtype if isinstance(like, np.ndarray | np.generic) else np.asarray(like).dtype
    if dtype.kind in "fc":
        return dtype
    dtype = np.asarray(g).dtype
    if dtype.kind == "f":
        return dtype
    return np.dtype(np.float64)


def real_for(g: Any, dtype: np.dtype[Any]) -> Any:
    """The real part of a complex cotangent of a real value (only it reaches a real input)."""
    return np.real(g) if dtype.kind == "f" and np.iscomplexobj(g) else g


def _cast(g: Any, like: Any) -> Any:
    dtype = floating(like, g)
    g = real_for(g, dtype)
    if isinstance(g, np.ndarray) and not issubclass(type(g), np.ndarray):  # an array of another kind stays one
        return g if g.dtype == dtype else g.astype(dtype)
    if isinstance(like, np.ndarray):
        return np.asarray(g, dtype)
    # NumPy's float64 is a float too, but its cotangent keeps the dtype.
    if isinstance(like, _NUMBERS) and not isinstance(like, np.generic):
        return complex(g) if dtype.kind == "c" else float(g)
    return dtype.type(g)


def _refuse_containers(g: Any, like: Any) -> None:
    for value in (g, like):
        if isinstance(value, str):
            raise RefusedType("E0601", "a number is read from text beside values that vary; text carries no derivative")
        if isinstance(value, _CONTAINERS):
            raise RefusedType(
                "E0710",
                f"a {type(value).__name__} has no shape to broadcast; arithmetic on containers has no derivative",
            )
