"""What NumPy asks of ``out=`` before it stores into it.

>>> require_output(np.zeros(3), np.float64(1.0), "same_kind", True)
Traceback (most recent call last):
    ...
ValueError: an output of shape (3,) is given for a result of shape ()
"""

from __future__ import annotations

from typing import Any

import numpy as np


def require_output(base: Any, made: Any, casting: str, exact: bool | None) -> None:
    """Refuse an output that NumPy refuses.

    ``exact``: the output has the shape of the result; else the result may be repeated to fill it, and None says that
    some elements are stored.  ``casting`` is NumPy's word for how the result may be brought to the dtype of the output,
    or ``back`` for the other way round, or ``equiv`` where the output has to lie in memory like a new array as well.
    """
    if not isinstance(base, np.ndarray):
        return  # the store says what it is
    shape, dtype = np.shape(made), np.asarray(made).dtype
    fits = shape == base.shape if exact else exact is None or len(shape) <= base.ndim and _fills(shape, base.shape)
    if not fits or casting == "equiv" and not (dtype == base.dtype and base.flags.c_contiguous):
        wanted = f"a result of shape {shape}" if not fits else f"a result of {dtype} in one piece"
        raise ValueError(f"an output of shape {base.shape} is given for {wanted}")
    given = (base.dtype, dtype, "same_kind") if casting == "back" else (dtype, base.dtype, casting)
    if not np.can_cast(*given):
        raise TypeError(f"a result of {dtype} cannot be cast to an output of {base.dtype} ({casting})")


def _fills(shape: tuple[int, ...], place: tuple[int, ...]) -> bool:
    return all(n in (1, m) for n, m in zip(shape[::-1], place[::-1], strict=False))
