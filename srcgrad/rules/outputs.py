"""Where NumPy's functions take ``out=``, and which results they put into it.

>>> position_of_output(np.add, 3), position_of_output(np.cumsum, 4), output_of(np.stack)
(2, 3, ('same_kind', 'shape'))
"""

from __future__ import annotations

import numpy as np

from srcgrad.rules.calling import METHODS, signature_of

#: Where the methods of ufuncs take ``out``.
_REDUCING = {"reduce": 3, "accumulate": 3, "reduceat": 4}
#: What takes ``out=`` and leaves it as it is, in NumPy 2.
WITHOUT_OUTPUT = (np.fft.hfft, np.fft.ifft2, np.fft.irfft2)
#: How they bring an output to the dtype of the array, before NumPy 2.5, or what they take to that of the output.
_TAKEN = "back" if np.lib.NumpyVersion(np.__version__) < "2.5.0" else "unsafe"
#: How NumPy casts results to an output, and what of the output has to be that of the result; reductions cast to any
#: dtype, but most of them compute in that of the output.
_OUTPUTS: dict[object, tuple[str, str]] = {
    **dict.fromkeys((np.clip, np.fix, np.nan_to_num), ("same_kind", "")),
    **dict.fromkeys((np.percentile, np.quantile), ("same_kind", "dtype")),
    **dict.fromkeys((np.nanmedian, np.nanpercentile, np.nanquantile), ("unsafe", "dtype")),
    **dict.fromkeys((np.concatenate, np.stack), ("same_kind", "shape")),
    **dict.fromkeys((np.round, np.around), ("same_kind", "shape dtype")),
    **dict.fromkeys((np.nanmean, np.nanstd, np.nanvar, np.ptp, np.std), ("same_kind", "shape dtype")),
    **dict.fromkeys((np.dot, np.linalg.multi_dot), ("equiv", "shape")),
    **dict.fromkeys((np.take, np.compress), (_TAKEN, "shape")),
    **dict.fromkeys((np.max, np.min, np.amax, np.amin, np.nanmax, np.nanmin, np.choose), ("unsafe", "shape")),
    **{f: ("same_kind", "shape dtype") for name, f in vars(np.fft).items() if name.endswith(("fft", "fft2", "fftn"))},
    np.einsum: ("safe", "shape dtype"),
}


def output_of(function: object) -> tuple[str, str]:
    """How a function casts its result to an output, and what of that has to be as without the output: the shape, which
    others repeat, and the dtype, in which others compute all the same."""
    if isinstance(function, np.ufunc) or getattr(function, "__name__", "") == "outer":
        return "same_kind", ""
    return _OUTPUTS.get(function, ("unsafe", "shape dtype"))


def position_of_output(function: object, given: int) -> int | None:
    """The position of ``out`` among the arguments of a function that is given so many."""
    owner = getattr(function, "__self__", None)
    if isinstance(function, np.ufunc):
        return function.nin
    if isinstance(owner, np.ufunc):
        return _REDUCING.get(getattr(function, "__name__", ""))
    if function is None or given < 2:
        return None
    signature = signature_of(function)
    known = [] if signature is None else list(signature.parameters.values())
    named = [p.name for p in known if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    several = any(p.kind is p.VAR_POSITIONAL for p in known)
    return named.index("out") if "out" in named and not several else None


def names_after_output(function: object) -> list[str]:
    """The names of the arguments behind ``out``."""
    owner, name = getattr(function, "__self__", None), getattr(function, "__name__", "")
    if isinstance(owner, np.ufunc):
        names = list(METHODS.get(name, ()))
    else:
        signature = signature_of(function)
        names = [] if signature is None else list(signature.parameters)
    return names[names.index("out") + 1 :] if "out" in names else []


def takes_output(function: object) -> bool:
    """Whether one of a function's arguments is an array for its result."""
    owner = getattr(function, "__self__", None)
    if isinstance(function, np.ufunc) or (
        isinstance(owner, np.ufunc) and getattr(function, "__name__", "") in _REDUCING
    ):
        return True
    signature = signature_of(function)
    return signature is None or "out" in signature.parameters
