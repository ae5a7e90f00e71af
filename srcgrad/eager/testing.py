"""``torch.testing.assert_close``: values compared within tolerances that go with their dtypes, and what differs told.

>>> assert_close(1.0, 1.0 + 1e-9)
>>> assert_close(1, 2)
Traceback (most recent call last):
    ...
AssertionError: Scalars are not equal!
<BLANKLINE>
Expected 2 but got 1.
Absolute difference: 1
Relative difference: 0.5
"""

from __future__ import annotations

import cmath
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.absent import absent_from
from srcgrad.eager.tensor import Tensor

#: The tolerances of PyTorch's page on ``assert_close``, by the dtype of real and imaginary parts: relative, absolute.
TOLERANCES = {
    dtypes.float16: (1e-3, 1e-5),
    dtypes.float32: (1.3e-6, 1e-5),
    dtypes.float64: (1e-7, 1e-7),
}
Message = str | Callable[[str], str] | None


class _Options:
    def __init__(self, rtol: float | None, atol: float | None, equal_nan: bool, **checks: bool) -> None:
        if (rtol is None) != (atol is None):
            raise ValueError(
                "Both 'rtol' and 'atol' must be either specified or omitted, but got no "
                + ("rtol." if rtol is None else "atol.")
            )
        self.rtol, self.atol, self.equal_nan, self.checks = rtol, atol, equal_nan, checks

    def tolerances(self, *found: dtypes.dtype) -> tuple[float, float]:
        """Those that were given, or the larger ones of the dtypes."""
        if self.rtol is not None and self.atol is not None:
            return self.rtol, self.atol
        pairs = [TOLERANCES.get(d.to_real(), (0.0, 0.0)) for d in found]
        return max(r for r, _ in pairs), max(a for _, a in pairs)


def assert_close(
    actual: Any, expected: Any, *, allow_subclasses: bool = True, rtol: float | None = None, atol: float | None = None,
    equal_nan: bool = False, check_device: bool = True, check_dtype: bool = True, check_layout: bool = True,
    check_stride: bool = False, msg: Message = None,
) -> None:  # fmt: skip
    """Raise AssertionError unless values, or all values in two containers, are close.

    Close is ``|actual - expected| <= atol + rtol * |expected|``, and equal where both are infinite.
    """
    options = _Options(rtol, atol, equal_nan, dtype=check_dtype, stride=check_stride)
    try:
        _compare(actual, expected, options, "")
    except AssertionError as error:
        said = error.args[0]
        raise AssertionError(msg(said) if callable(msg) else msg or said) from None


def _compare(actual: Any, expected: Any, options: _Options, place: str) -> None:
    texts = isinstance(actual, str) or isinstance(expected, str)
    if isinstance(actual, Sequence) and isinstance(expected, Sequence) and not texts:
        if len(actual) != len(expected):
            raise AssertionError(f"The length of the sequences mismatch: {len(actual)} != {len(expected)}")
        for i, (a, b) in enumerate(zip(actual, expected, strict=True)):
            _compare(a, b, options, f"{place}[{i}]")
    elif isinstance(actual, Mapping) and isinstance(expected, Mapping):
        _same_keys(actual, expected)
        for key in sorted(expected, key=str):
            _compare(actual[key], expected[key], options, f"{place}[{key!r}]")
    elif actual is None and expected is None:
        return
    else:
        said = _difference(actual, expected, options)
        if said:
            raise AssertionError(said + (f"\n\nThe failure occurred for item {place}" if place else ""))


def _same_keys(actual: Mapping[Any, Any], expected: Mapping[Any, Any]) -> None:
    lacking, more = sorted(set(expected) - set(actual), key=str), sorted(set(actual) - set(expected), key=str)
    if lacking or more:
        lines = ["The keys of the mappings do not match:"]
        lines += [f"Missing keys in the actual mapping: {lacking}"] if lacking else []
        lines += [f"Additional keys in the actual mapping: {more}"] if more else []
        raise AssertionError("\n".join(lines))


def _difference(actual: Any, expected: Any, options: _Options) -> str:
    """The message about two values that are not close; empty for those that are."""
    if isinstance(actual, bool | np.bool_) and isinstance(expected, bool | np.bool_):
        return "" if bool(actual) is bool(expected) else f"Booleans mismatch: {actual} is not {expected}"
    for kind in (Tensor, np.ndarray):
        if isinstance(actual, kind) and isinstance(expected, kind):
            return _tensors(actual, expected, options)
    numbers = (int, float, complex, np.number)
    if isinstance(actual, numbers) and isinstance(expected, numbers):
        return _numbers(actual, expected, options)
    raise TypeError(
        f"No comparison pair was able to handle inputs of type {type(actual)} and {type(expected)}."
    )


def _numbers(actual: Any, expected: Any, options: _Options) -> str:
    if options.checks["dtype"] and type(actual) is not type(expected):
        return f"The (d)types do not match: {type(actual)} != {type(expected)}."
    rtol, atol = options.tolerances(_wide(actual), _wide(expected))
    return _told_of_numbers(actual, expected, rtol, atol, options.equal_nan)


def _wide(value: Any) -> dtypes.dtype:
    """The dtype of a number in double precision, as which Python's are compared."""
    if isinstance(value, complex):
        return dtypes.complex128
    return dtypes.float64 if isinstance(value, float | np.floating) else dtypes.int64


def _told_of_numbers(actual: Any, expected: Any, rtol: float, atol: float, equal_nan: bool) -> str:
    apart = abs(actual - expected)
    both_nan = equal_nan and cmath.isnan(actual) and cmath.isnan(expected)
    if actual == expected or both_nan or (cmath.isfinite(expected) and apart <= atol + rtol * abs(expected)):
        return ""
    ratio = float("inf") if expected == 0 else apart / abs(expected)
    exact = rtol == atol == 0
    return (
        f"Scalars are not {'equal' if exact else 'close'}!\n\nExpected {expected} but got {actual}.\n"
        f"Absolute difference: {apart}{'' if exact else f' (up to {atol} allowed)'}\n"
        f"Relative difference: {ratio}{'' if exact else f' (up to {rtol} allowed)'}"
    )


def _tensors(actual: Any, expected: Any, options: _Options) -> str:
    a, b = (np.asarray(t.storage_array() if isinstance(t, Tensor) else t) for t in (actual, expected))
    kinds = dtypes.of(a), dtypes.of(b)
    sizes = tuple(f"torch.Size({list(x.shape)})" for x in (a, b))
    if a.shape != b.shape:
        return f"The values for attribute 'shape' do not match: {sizes[0]} != {sizes[1]}."
    if options.checks["dtype"] and kinds[0] is not kinds[1]:
        return f"The values for attribute 'dtype' do not match: {kinds[0]} != {kinds[1]}."
    strides = tuple(tuple(s // x.itemsize for s in x.strides) for x in (a, b))
    if options.checks["stride"] and strides[0] != strides[1]:
        return f"The values for attribute 'stride()' do not match: {strides[0]} != {strides[1]}."
    rtol, atol = options.tolerances(*kinds)
    common = dtypes.promote(*kinds)
    if common is dtypes.bool_:
        common = dtypes.int64
    a, b = a.astype(common.numpy), b.astype(common.numpy)
    with np.errstate(all="ignore"):
        apart = np.abs(a - b) if common.numpy.kind != "u" else np.maximum(a, b) - np.minimum(a, b)
        close = (a == b) | (np.isfinite(b) & (apart <= atol + rtol * np.abs(b)))
        if options.equal_nan:
            close |= np.isnan(a) & np.isnan(b)
        if close.all():
            return ""
        if not a.ndim:
            return _told_of_numbers(a.item(), b.item(), rtol, atol, options.equal_nan)
        wide = common.numpy.kind in "iub"  # whose quotients are of the default dtype
        shares = apart / np.abs(b) if not wide else np.divide(apart, np.abs(b), dtype=np.float32)
    return _told_of_tensors(close, np.where(close, 0, apart), np.where(close, 0, shares), rtol, atol)


def _told_of_tensors(close: Any, apart: Any, shares: Any, rtol: float, atol: float) -> str:
    wrong, exact = int((~close).sum()), rtol == atol == 0
    lines = [
        f"Tensor-likes are not {'equal' if exact else 'close'}!", "",
        f"Mismatched elements: {wrong} / {close.size} ({wrong / close.size:.1%})",
    ]  # fmt: skip
    for name, values, allowed in (("absolute", apart, atol), ("relative", shares, rtol)):
        place = np.unravel_index(int(np.argmax(values)), values.shape)
        bound = "" if exact else f" (up to {allowed} allowed)"
        index = tuple(map(int, place))
        lines.append(f"Greatest {name} difference: {values[place].item()} at index {index}{bound}")
    return "\n".join(lines)

__getattr__ = absent_from("torch.testing")
