"""Models of SciPy's layer between modules of arrays give what the functions give, for NumPy's arrays."""

from __future__ import annotations

import functools
import importlib.util
import warnings
from typing import Any

import numpy as np
import pytest

from srcgrad.language.models.array_modules import class_in_numpy, model_in_numpy, serves_numpy

_array_api = pytest.importorskip("scipy._lib._array_api")
_stats_py = pytest.importorskip("scipy.stats._stats_py")
_HOLDER = "scipy._external" if importlib.util.find_spec("scipy._external") else "scipy._lib"
xpx = importlib.import_module(f"{_HOLDER}.array_api_extra")

X, ROWS = np.array([1.5, 2.0, np.nan, 4.0]), np.array([[1.0, 2.0, 3.0], [4.0, 5.0, 6.5]])
SINGLE, WHOLE = ROWS.astype(np.float32), np.array([1, 2, 3])
OPERANDS: list[Any] = [X, ROWS, SINGLE, WHOLE, 2.0, 3, [1.0, 2.0], [1, 2], np.float32(2.0), 1j]


def same(name: str, home: Any, *arguments: Any, **keywords: Any) -> None:
    original = getattr(home, name)
    model = model_in_numpy(original)
    assert model is not None, name
    with np.errstate(all="ignore"):
        expected, got = outcome(original, arguments, keywords), outcome(model, arguments, keywords)
    assert type(expected) is type(got), (name, expected, got)
    parts = zip(expected, got, strict=True) if isinstance(expected, tuple) else [(expected, got)]
    for one, other in parts:
        np.testing.assert_array_equal(one, other)
        assert np.asarray(one).dtype == np.asarray(other).dtype, (name, arguments, keywords)


def outcome(function: Any, arguments: Any, keywords: Any) -> Any:
    try:
        return function(*arguments, **keywords)
    except (TypeError, ValueError) as error:
        return str(type(error))


def test_which_module() -> None:
    model = model_in_numpy(_array_api.array_namespace)
    assert model is not None and model(X, 2.0) is np
    for name in ("is_numpy", "is_torch", "is_jax", "is_cupy", "is_dask"):
        same(name, _array_api, np)


def test_arrays_and_dtypes() -> None:
    for operand in OPERANDS:
        for dtype in (None, np.float32, float):
            same("_asarray", _array_api, operand, dtype=dtype, xp=np)
        for floating in (False, True):
            same("xp_promote", _array_api, operand, force_floating=floating, xp=np)
            for other in (2.0, 3, None, SINGLE, np.ones(3)):
                for broadcast in (False, True):
                    if broadcast and (other is None or np.ndim(operand) == np.ndim(other) == 0):
                        continue
                    same("xp_promote", _array_api, operand, other, broadcast=broadcast, force_floating=floating, xp=np)
    same("_asarray", _array_api, X, check_finite=True)
    same("_asarray", _array_api, ROWS, check_finite=True, copy=True)
    same("xp_copy", _array_api, ROWS)
    same("xp_vector_norm", _array_api, ROWS, axis=1, keepdims=True)
    same("_share_masks", _array_api, ROWS, X, xp=np)


def test_copies() -> None:
    model = model_in_numpy(_array_api._asarray)
    assert model is not None and model(X) is X and model(X, copy=True) is not X


@pytest.mark.parametrize("policy", ["propagate", "omit", "raise"])
def test_means(policy: str) -> None:
    mean = functools.partial(model_in_numpy(_stats_py._xp_mean), nan_policy=policy)  # type: ignore[arg-type]
    original = functools.partial(_stats_py._xp_mean, nan_policy=policy)
    gaps = np.where(ROWS > 2, ROWS, np.nan)
    for x, axis in ((X, None), (X, 0), (ROWS, 0), (ROWS, None), (SINGLE, 1), (WHOLE, 0), (gaps, 1)):
        weights = np.arange(x.shape[-1]) + 0.5
        for keywords in ({}, {"weights": weights}, {"keepdims": True}, {"weights": 0 * weights}):
            try:
                expected = original(x, axis=axis, **keywords)
            except ValueError:
                with pytest.raises(ValueError, match="nan values"):
                    mean(x, axis=axis, **keywords)
                continue
            with np.errstate(all="ignore"):
                got = mean(x, axis=axis, **keywords)
                np.testing.assert_allclose(got, expected, rtol=1e-6)
                assert got.dtype == expected.dtype


@pytest.mark.parametrize("policy", ["propagate", "omit"])
def test_variances(policy: str) -> None:
    model = model_in_numpy(_stats_py._xp_var)
    assert model is not None
    gaps = np.where(ROWS > 2, ROWS, np.nan)
    for x, axis in ((X, None), (ROWS, 0), (ROWS, None), (SINGLE, 1), (gaps, 1), (ROWS * 1j, 1)):
        for correction in (0, 1, 3):
            for keepdims in (False, True):
                words = {"axis": axis, "correction": correction, "keepdims": keepdims, "nan_policy": policy}
                with np.errstate(all="ignore"), warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    expected = _stats_py._xp_var(x, **words)
                    got = model(x, **words)
                    np.testing.assert_allclose(got, expected, rtol=1e-6)
                    assert got.dtype == expected.dtype


# --- what SciPy adds to arrays ---------------------------------------------------------------------------------------
def test_what_is_asked_of_arrays() -> None:
    for name in ("xp_size", "xp_device"):
        same(name, _array_api, ROWS)
    for axis in (None, 0, -1, (0, 1)):
        name = "_length_nonmasked" if hasattr(_array_api, "_length_nonmasked") else "_count_nonmasked"  # from 1.18 on
        same(name, _array_api, ROWS, axis=axis, xp=np)
    for operand in OPERANDS:
        for floating in (False, True):
            same_dtype(operand, force_floating=floating, xp=np)
            same_dtype(operand, None, force_floating=floating, xp=np)
            same_dtype(operand, SINGLE, force_floating=floating, xp=np)
            same_dtype(3, operand, force_floating=floating, xp=np)


def same_dtype(*operands: Any, **keywords: Any) -> None:
    model = model_in_numpy(_array_api.xp_result_type)
    assert model is not None
    assert model(*operands, **keywords) == _array_api.xp_result_type(*operands, **keywords)


UPDATES = "set add subtract multiply divide power min max".split()


@pytest.mark.parametrize("update", UPDATES)
@pytest.mark.parametrize("copy", [None, True])
def test_updates_at_a_place(update: str, copy: bool | None) -> None:
    place = class_in_numpy(xpx.at)
    assert place is not xpx.at
    for index in (1, -1, slice(1, None), X > 1.6, (slice(1), ...)):
        for y in (2.0, np.float32(0.5), X[:1] if np.ndim(X[index]) else X[0]):
            one, other = X.copy(), X.copy()
            expected = getattr(xpx.at(one, index), update)(y, copy=copy)
            got = getattr(place(other)[index], update)(y, copy=copy)
            np.testing.assert_array_equal(got, expected)
            np.testing.assert_array_equal(other, one)
            assert (got is other) == (expected is one)
    for number, chosen in ((np.float64(2.0), True), (np.float64(3.0), np.bool_(False)), (np.int64(3), ())):
        expected, got = (getattr(at(number, chosen), update)(2, copy=copy) for at in (xpx.at, place))
        assert expected == got and type(expected) is type(got) and expected.dtype == got.dtype


def test_functions_where_a_condition_holds() -> None:
    functions = [(np.sqrt, (ROWS,)), (np.add, (ROWS, 2.0)), (np.multiply, (X[:3], ROWS)), (np.sqrt, ROWS)]
    for function, operands in functions:
        for fill in ({"fill_value": 0.5}, {"fill_value": ROWS * 2.0}, {"fill_value": 1j}, {}):
            others = () if fill else (lambda *given: given[0] * 3.0,)
            for holds in (ROWS > 2.0, ROWS[0] > 2.0):
                same("apply_where", xpx, holds, operands, function, *others, **fill)


def test_what_updates_raise() -> None:
    for lacking in (xpx.at, class_in_numpy(xpx.at)):
        with pytest.raises(ValueError, match="Index has not been set"):
            lacking(X).set(1.0)
    for apply in (xpx.apply_where, model_in_numpy(xpx.apply_where)):
        for others, fill in (((), {}), ((np.cos,), {"fill_value": 0.0})):
            with pytest.raises(TypeError, match="Exactly one"):
                apply(X > 1.0, X, np.sin, *others, **fill)


def test_matrices_of_a_diagonal() -> None:
    for offset in (-1, 0, 2):
        same("create_diagonal", xpx, X, offset=offset)


def test_what_is_no_function_of_the_layer() -> None:
    assert class_in_numpy(np.ndarray) is np.ndarray
    assert not serves_numpy(np.asarray) and model_in_numpy(np.asarray) is None and model_in_numpy(test_means) is None
