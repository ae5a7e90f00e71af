"""Classes that stand in for those of PyTorch, pandas and Numba: they have the same names and protocols."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from types import SimpleNamespace
from typing import Any

import numpy as np


class Tensor:
    """As ``torch.Tensor``: it has ``detach`` and ``numpy``."""

    __module__ = "torch"

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def detach(self) -> Tensor:
        return self

    def numpy(self) -> np.ndarray:
        return self.values

    def __pow__(self, exponent: float) -> Tensor:
        return Tensor(self.values**exponent)


class Series:
    """As ``pandas.Series``: it has ``to_numpy``, and NumPy's functions call it."""

    __module__ = "pandas"
    __array_priority__ = 1000

    def __init__(self, values: Any) -> None:
        self.values = np.asarray(values)

    def to_numpy(self) -> np.ndarray:
        return self.values

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        return NotImplemented

    def __array__(self, dtype: Any = None, copy: Any = None) -> np.ndarray:
        return np.asarray(self.values, dtype)

    def __pow__(self, exponent: float) -> Series:
        return Series(self.values**exponent)


class CPUDispatcher:
    """As Numba's: it keeps the function that it compiled as ``py_func``."""

    __module__ = "numba.core.registry"

    def __init__(self, function: Callable[..., Any]) -> None:
        update_wrapper(self, function)
        self.py_func = function

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self.py_func(*args, **kwargs)


torch = SimpleNamespace(Tensor=Tensor, ones=lambda n: Tensor(np.ones(n)))
pandas = SimpleNamespace(Series=Series)
jit = CPUDispatcher
