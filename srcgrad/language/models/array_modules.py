# mypy: disable-error-code="no-untyped-def,no-untyped-call"
"""Models of SciPy's and scikit-learn's layer between modules of arrays, where that layer serves NumPy's arrays alone.

Libraries that serve several kinds of arrays ask which module their arguments belong to (the Python array API standard)
and call that module's functions.  As long as nothing else is switched on the answer is NumPy.  The functions are told
by their names: the libraries need not be installed.

>>> module_of([1.0]) is np, is_numpys(np), is_anothers(np), as_array([1.0, 2.0])
(True, True, False, array([1., 2.]))
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from types import FunctionType, ModuleType
from typing import Any

import numpy as np

from srcgrad.language.models import array_updates
from srcgrad.language.models.table import unknown

#: Where these functions live, and what says there that arrays of other libraries are served.
HOMES = {
    "scipy._lib._array_api": ("scipy._lib._array_api", "SCIPY_ARRAY_API"),
    "scipy._lib._array_api_override": ("scipy._lib._array_api", "SCIPY_ARRAY_API"),
    **{
        f"scipy.{holder}.{module}": ("scipy._lib._array_api", "SCIPY_ARRAY_API")
        for holder in ("_lib", "_external")  # since SciPy 1.18 the second
        for module in (
            "array_api_compat.common._helpers",
            "array_api_extra._delegation",
            "array_api_extra._lib._at",
            "array_api_extra._lib._funcs",
        )
    },
    "scipy.stats._stats_py": ("scipy._lib._array_api", "SCIPY_ARRAY_API"),
    "scipy.signal.windows._windows": ("scipy._lib._array_api", "SCIPY_ARRAY_API"),
    "sklearn.utils._array_api": ("sklearn._config", "array_api_dispatch"),
}


def canonical(module: object) -> object:
    """NumPy for what is NumPy in the clothes of the array API standard, of which NumPy 2 has every name."""
    name = getattr(module, "__name__", "")
    return np if isinstance(module, ModuleType) and name.endswith("array_api_compat.numpy") else module


def serves_numpy(function: object) -> bool:
    """Whether a function is of this layer, and the layer serves NumPy's arrays alone."""
    home = HOMES.get(str(getattr(function, "__module__", None)))
    module = None if home is None else sys.modules.get(home[0])
    if home is None or module is None:
        return False
    if home[1] == "array_api_dispatch":
        return not module.get_config()[home[1]]
    return not getattr(module, home[1], True)


def model_in_numpy(function: object) -> Callable[..., Any] | None:
    """The model of a function of this layer; of a function of such a model, itself."""
    if isinstance(function, FunctionType) and function.__module__ in _HERE:
        return function
    model = _MODELS.get(str(getattr(function, "__name__", None)))
    return model if model is not None and serves_numpy(function) else None


def class_in_numpy(kind: type) -> type:
    """The class that does what one of this layer does; of any other class, itself."""
    model = array_updates.CLASSES.get(kind.__name__)
    return model if model is not None and serves_numpy(kind) else kind


# --- which module ----------------------------------------------------------------------------------------------------
def module_of(*arrays, **options):
    return np


def module_and_compliance(*arrays, **options):
    return np, False


def module_and_device(*arrays, **options):
    return np, False, None


def device_of(*arrays):
    return "cpu"


def length_along(x, axis, keepdims=False, xp=None):
    """How many numbers lie along an axis, or some."""
    return x.size if axis is None else int(np.prod(np.asarray(x.shape)[np.asarray(axis)]))


def size_of(x):
    return x.size


def is_numpys(module):
    return True


def is_anothers(module):
    return False


# --- what that module lacks ------------------------------------------------------------------------------------------
def as_array(array, dtype=None, order=None, copy=None, *, xp=None, check_finite=False, subok=False):
    made = np.array(array, dtype=dtype) if copy is True else np.asarray(array, dtype=dtype)
    if check_finite and not np.all(np.isfinite(made)):
        raise ValueError("array must not contain infs or NaNs")
    return made


def of_rank(array, /, *, ndim, xp=None):
    return np.array(array, ndmin=ndim, copy=None)


def norm_of_vectors(array, /, *, axis=None, keepdims=False, ord=2, xp=None):
    return np.linalg.vector_norm(array, axis=axis, keepdims=keepdims, ord=ord)


def copied(array, *, xp=None):
    return np.array(array)


def without_masks(*arrays, xp=None):
    return arrays[0] if len(arrays) == 1 else arrays


def promoted(*arrays, broadcast=False, force_floating=False, xp=None):
    if len(arrays) == 1:
        return promoted_alone(arrays[0], force_floating)
    if len(arrays) == 2:
        first, second = promoted_both(arrays[0], arrays[1], force_floating)
        if not broadcast or first is None or second is None:
            return first, second
        return first + np.zeros_like(second), second + np.zeros_like(first)
    return unknown()


def promoted_alone(array, is_floating):
    if array is None:
        return None
    given = operand_of(array)
    return np.asarray(given, dtype=np.result_type(given, 1.0) if is_floating else np.result_type(given))


def promoted_both(first, second, is_floating):
    if first is None or second is None:
        return promoted_alone(first, is_floating), promoted_alone(second, is_floating)
    one, other = operand_of(first), operand_of(second)
    dtype = np.result_type(one, other, 1.0) if is_floating else np.result_type(one, other)
    return np.asarray(one, dtype=dtype), np.asarray(other, dtype=dtype)


def type_of_result(*arrays, force_floating=False, xp=None):
    if len(arrays) not in (1, 2) or arrays[0] is None:
        return unknown()
    if len(arrays) == 1 or arrays[1] is None:
        one = operand_of(arrays[0])
        return np.result_type(one, 1.0) if force_floating else np.result_type(one)
    one, other = operand_of(arrays[0]), operand_of(arrays[1])
    return np.result_type(one, other, 1.0) if force_floating else np.result_type(one, other)


def operand_of(array):
    """What decides on the dtype: Python's numbers give way, as in NumPy's arithmetic."""
    return array if np.isscalar(array) else np.asarray(array)


def mean_of(x, /, *, axis=None, weights=None, keepdims=False, nan_policy="propagate", dtype=None, xp=None):
    """The weighted mean of ``scipy.stats``: weights are broadcast with the numbers, and may sum to zero."""
    if nan_policy not in ("propagate", "omit", "raise"):
        return unknown()  # it raises
    given = np.asarray(x, dtype=dtype)
    if weights is None:
        values = promoted_alone(given, True)
        if nan_policy == "propagate":
            return np.mean(values, axis=axis, keepdims=keepdims)
        heavy = np.ones_like(values)
    else:
        values, heavy = promoted(given, np.asarray(weights, dtype=dtype), broadcast=True, force_floating=True)
    if nan_policy != "propagate":
        absent = np.isnan(values) | np.isnan(heavy)
        if nan_policy != "omit" and np.any(absent):
            raise ValueError("The input contains nan values")
        values, heavy = np.where(absent, 0.0, values), np.where(absent, 0.0, heavy)
    total = np.sum(values * heavy, axis=axis, keepdims=keepdims)
    with np.errstate(divide="ignore", invalid="ignore"):
        mean = total / np.sum(heavy, axis=axis, keepdims=keepdims)
    return mean


def variance_of(
    x, /, *, axis=None, correction=0, keepdims=False, nan_policy="propagate", dtype=None, xp=None
):  # fmt: skip
    """The variance of ``scipy.stats`` about the mean, not a number where too few numbers are left."""
    mean = mean_of(x, axis=axis, keepdims=True, nan_policy=nan_policy, dtype=dtype)
    apart = np.asarray(x) - mean
    present = None
    if nan_policy == "omit":
        absent = np.isnan(apart)
        apart, present = np.where(absent, 0.0, apart), np.where(absent, 0.0, np.ones_like(apart))
    square = apart * np.conj(apart) if np.iscomplexobj(apart) else apart * apart
    variance = mean_of(square, axis=axis, weights=present, keepdims=keepdims, nan_policy=nan_policy, dtype=dtype)
    if correction == 0:
        return variance
    counted = np.ones_like(apart) if present is None else present
    count = np.sum(counted, axis=axis, keepdims=keepdims)
    free = count - correction
    with np.errstate(divide="ignore", invalid="ignore"):
        ratio = count / free
    return variance * np.where(free > 0, ratio, np.nan)


_MODELS: dict[str, Callable[..., Any]] = {
    **dict.fromkeys(("array_namespace", "_namespace"), module_of),
    "get_namespace": module_and_compliance,
    "get_namespace_and_device": module_and_device,
    **dict.fromkeys(("is_numpy", "is_numpy_namespace", "_is_numpy_namespace"), is_numpys),
    **dict.fromkeys("is_cupy is_torch is_jax is_dask is_array_api_strict is_marray".split(), is_anothers),
    **dict.fromkeys("is_cupy_namespace is_torch_namespace is_jax_namespace is_dask_namespace".split(), is_anothers),
    "device": device_of,
    "size": size_of,
    **dict.fromkeys(("_length_nonmasked", "_count_nonmasked"), length_along),  # the latter from SciPy 1.18 on
    "_asarray": as_array,
    "atleast_nd": of_rank,
    "xp_vector_norm": norm_of_vectors,
    "xp_copy": copied,
    "_share_masks": without_masks,
    "xp_promote": promoted,
    "xp_result_type": type_of_result,
    "xp_result_device": device_of,
    "_xp_mean": mean_of,
    "_xp_var": variance_of,
    **array_updates.FUNCTIONS,
}
_HERE = (__name__, array_updates.__name__)
