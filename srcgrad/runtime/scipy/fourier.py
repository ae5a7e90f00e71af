"""Transposes of the real, cosine and sine transforms of scipy.fft along several axes.

The matrices of the cosine and sine transforms of type 2 and 3 are each other's transposes, those of types 1 and 4 are
symmetric, but for the elements at the ends, which the definitions weigh by a half or by two where ``orthogonalize`` is
false (scipy.fft.dct, scipy.fft.dst, *Notes*).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import fft

from srcgrad.runtime.fourier import fitted, weighted_bins

Axes = int | Sequence[int] | None


# --- half spectra along the last of several axes ---------------------------------------------------------------------
def _axes(x: Any, s: Axes, axes: Axes) -> list[int]:
    """The transformed axes: those at the end where ``axes`` is None."""
    if axes is not None:
        return list(np.atleast_1d(axes))
    count = np.ndim(x) if s is None else np.size(s)
    return list(range(-count, 0))


def _unhalved(transform: Callable[..., Any], g: Any, x: Any, s: Axes, axes: Axes, norm: str | None) -> Any:
    """From the cotangent of a half spectrum to that of the real numbers ``x``."""
    along = _axes(x, s, axes)
    given = [-1] * len(along) if s is None else np.atleast_1d(s)
    lengths = [np.shape(x)[axis] if n == -1 else int(n) for axis, n in zip(along, given, strict=True)]
    return fitted(transform(weighted_bins(g, 0.5, lengths[-1], along[-1]), lengths, along, norm), x)


def _unfilled(transform: Callable[..., Any], g: Any, x: Any, s: Axes, axes: Axes, norm: str | None) -> Any:
    """From the cotangent of real numbers to that of the half spectrum ``x``."""
    along = _axes(x, s, axes)
    return fitted(weighted_bins(transform(g, None, along, norm), 2.0, g.shape[along[-1]], along[-1]), x)


def unrfftn(g: Any, x: Any, s: Axes = None, axes: Axes = None, norm: str | None = None) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``scipy.fft.rfftn(x, s, axes, norm)``."""
    return _unhalved(fft.hfftn, g, x, s, axes, norm)


def unihfftn(g: Any, x: Any, s: Axes = None, axes: Axes = None, norm: str | None = None) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``scipy.fft.ihfftn(x, s, axes, norm)``."""
    return _unhalved(fft.irfftn, g, x, s, axes, norm)


def unirfftn(g: Any, x: Any, s: Axes = None, axes: Axes = None, norm: str | None = None) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``scipy.fft.irfftn(x, s, axes, norm)``."""
    return _unfilled(fft.ihfftn, g, x, s, axes, norm)


def unhfftn(g: Any, x: Any, s: Axes = None, axes: Axes = None, norm: str | None = None) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``scipy.fft.hfftn(x, s, axes, norm)``."""
    return _unfilled(fft.rfftn, g, x, s, axes, norm)


# --- cosine and sine transforms --------------------------------------------------------------------------------------
_TRANSPOSED = {1: 1, 2: 3, 3: 2, 4: 4}
_INVERSE_NORM = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}
#: Which ends of the signal the definitions weigh differently, by transform and type.
_ENDS: dict[tuple[Any, int], tuple[int, ...]] = {
    (fft.dctn, 1): (0, -1),
    (fft.dctn, 2): (0,),
    (fft.dctn, 3): (0,),
    (fft.dstn, 2): (-1,),
    (fft.dstn, 3): (-1,),
}


def _scaled(g: Any, ends: tuple[int, ...], axes: Sequence[int], weight: float) -> Any:
    """``g`` with its ends along axes times ``weight``."""
    result = np.array(g)
    for axis in axes:
        for end in ends:
            np.moveaxis(result, axis, 0)[end] *= weight
    return result


def _transposed(
    transform: Callable[..., Any], g: Any, x: Any, type: int, axes: list[int], norm: str | None, orthogonalize: Any
) -> Any:
    """The transpose of ``transform`` of a type along axes, for a signal that is cut or padded from ``x``."""
    if orthogonalize is None or np.iscomplexobj(x):
        orthogonalize = norm == "ortho"  # SciPy does not look at the argument where a signal is complex
        given = None
    else:
        given = bool(orthogonalize)
    ends = () if orthogonalize else _ENDS.get((transform, type), ())
    if type in (1, 2) and ends:
        g = _scaled(g, ends, axes, 2.0)
    g = transform(g, _TRANSPOSED[type], None, axes, norm, orthogonalize=given)
    if type in (1, 3) and ends:
        g = _scaled(g, ends, axes, 0.5)
    return fitted(g, x)


def undct(
    g: Any, x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: str | None = None, orthogonalize: Any = None
) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``scipy.fft.dct(x, type, n, axis, norm)``."""
    return _transposed(fft.dctn, g, x, type, [axis], norm, orthogonalize)


def undst(
    g: Any, x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: str | None = None, orthogonalize: Any = None
) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``scipy.fft.dst(x, type, n, axis, norm)``."""
    return _transposed(fft.dstn, g, x, type, [axis], norm, orthogonalize)


def undctn(
    g: Any, x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, orthogonalize: Any = None
) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``scipy.fft.dctn(x, type, s, axes, norm)``."""
    return _transposed(fft.dctn, g, x, type, _axes(x, s, axes), norm, orthogonalize)


def undstn(
    g: Any, x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, orthogonalize: Any = None
) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``scipy.fft.dstn(x, type, s, axes, norm)``."""
    return _transposed(fft.dstn, g, x, type, _axes(x, s, axes), norm, orthogonalize)


# --- their inverses: the transposed type in the other norm -----------------------------------------------------------
def unidct(
    g: Any, x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: str | None = None, orthogonalize: Any = None
) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``scipy.fft.idct(x, type, n, axis, norm)``."""
    return undct(g, x, _TRANSPOSED[type], n, axis, _INVERSE_NORM[norm], orthogonalize)


def unidst(
    g: Any, x: Any, type: int = 2, n: Any = None, axis: int = -1, norm: str | None = None, orthogonalize: Any = None
) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``scipy.fft.idst(x, type, n, axis, norm)``."""
    return undst(g, x, _TRANSPOSED[type], n, axis, _INVERSE_NORM[norm], orthogonalize)


def unidctn(
    g: Any, x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, orthogonalize: Any = None
) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``scipy.fft.idctn(x, type, s, axes, norm)``."""
    return undctn(g, x, _TRANSPOSED[type], s, axes, _INVERSE_NORM[norm], orthogonalize)


def unidstn(
    g: Any, x: Any, type: int = 2, s: Any = None, axes: Any = None, norm: str | None = None, orthogonalize: Any = None
) -> Any:
    """The cotangent of ``x`` where ``g`` is that of ``scipy.fft.idstn(x, type, s, axes, norm)``."""
    return undstn(g, x, _TRANSPOSED[type], s, axes, _INVERSE_NORM[norm], orthogonalize)
