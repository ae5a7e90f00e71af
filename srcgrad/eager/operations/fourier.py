"""Fourier transforms, as PyTorch makes them of three kinds: real to complex, complex to complex, complex to real."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.operations.complex_parts import conj
from srcgrad.eager.operations.creation import leaf
from srcgrad.eager.operations.joining import cat
from srcgrad.eager.operations.matrix import fresh_squeeze
from srcgrad.eager.operations.rearranging import roll
from srcgrad.eager.operations.shaping import transpose, unsqueeze, wrapped
from srcgrad.eager.registry import function
from srcgrad.eager.tensor import Tensor

_NODES = {"r2c": "FftR2CBackward0", "c2c": "FftC2CBackward0", "c2r": "FftC2RBackward0"}
_SWAPPED = {None: "forward", "backward": "forward", "forward": "backward", "ortho": "ortho"}
_operations: dict[tuple[Any, str], Operation] = {}
_pad = Operation(np.pad, "ConstantPadNdBackward0")


def _transformed(
    f: Callable[..., Any], kind: str, x: Tensor, axes: tuple[int, ...], norm: Any, s: Any = None
) -> Tensor:
    operation = _operations.setdefault((f, kind), Operation(f, _NODES[kind]))
    values = {"a": x, "axes": axes, **({} if s is None else {"s": s}), **({} if norm is None else {"norm": norm})}
    made: Tensor = call(operation, values, facts=True, saved={"dim": axes})
    return made


def _checked_norm(norm: Any) -> Any:
    if norm not in (None, "backward", "forward", "ortho"):
        raise RuntimeError(f'Invalid normalization mode: "{norm}"')
    return norm


def _complex(x: Tensor) -> Tensor:
    return x if x.dtype.is_complex else x.to(x.dtype.to_complex())


def _floating(x: Tensor) -> Tensor:
    return x.to(dtypes.get_default_dtype()) if x.dtype.category < 2 else x


def _axes(x: Tensor, s: Any, dim: Any) -> tuple[int, ...]:
    ndim = x.array.ndim
    if dim is None:
        return tuple(range(ndim - len(s), ndim)) if s is not None else tuple(range(ndim))
    given = dim if isinstance(dim, tuple | list) else (dim,)
    if not ndim:
        raise IndexError(f"Dimension specified as {given[0]} but tensor has no dimensions")
    return tuple(wrapped(d, ndim) for d in given)


def _resized(x: Tensor, sizes: Any, axes: tuple[int, ...]) -> Tensor:
    """The input cut, or lengthened by zeros, along dimensions."""
    if sizes is None:
        return x
    widths = [(0, 0)] * x.array.ndim
    for axis, n in zip(axes, sizes, strict=True):
        if n is None or n == -1:
            continue
        if n < 1:
            raise RuntimeError(f"Invalid number of data points ({n}) specified")
        if n < x.array.shape[axis]:
            x = x.narrow(axis, 0, n)
        widths[axis] = (0, n - x.array.shape[axis])
    if any(after for _, after in widths):
        made: Tensor = call(_pad, {"array": x, "pad_width": tuple(widths)})
        return made
    return x


def _forward(x: Tensor, s: Any, dim: Any, norm: Any, one: bool) -> Tensor:
    axes = _axes(x, s, dim)
    x = _resized(_floating(x), s, axes)
    if one and not x.dtype.is_complex:
        return _transformed(np.fft.fftn, "r2c", x, axes, norm)
    return _transformed(np.fft.fftn, "c2c", _complex(x), axes, norm)


def _backward(x: Tensor, s: Any, dim: Any, norm: Any, one: bool) -> Tensor:
    axes = _axes(x, s, dim)
    x = _resized(_floating(x), s, axes)
    if one and not x.dtype.is_complex:
        return conj(_transformed(np.fft.fftn, "r2c", x, axes, _SWAPPED[norm]))
    return _transformed(np.fft.ifftn, "c2c", _complex(x), axes, norm)


def _real_forward(x: Tensor, s: Any, dim: Any, norm: Any, one: bool) -> Tensor:
    if x.dtype.is_complex:
        raise RuntimeError(f"rfft{'' if one else 'n'} expects a real input tensor, but got {x.dtype.long_name}")
    axes = _axes(x, s, dim)
    return _transformed(np.fft.rfftn, "r2c", _resized(_floating(x), s, axes), axes, norm)


def _real_backward(x: Tensor, s: Any, dim: Any, norm: Any, one: bool) -> Tensor:
    axes = _axes(x, s, dim)
    x = _complex(_floating(x))
    sizes = [x.array.shape[axis] for axis in axes]
    sizes[-1] = 2 * (sizes[-1] - 1)
    for i, n in enumerate(s or ()):
        sizes[i] = sizes[i] if n in (None, -1) else n
    if sizes[-1] < 1:
        raise RuntimeError(f"Invalid number of data points ({sizes[-1]}) specified")
    x = _resized(x, [*sizes[:-1], sizes[-1] // 2 + 1], axes)
    return _transformed(np.fft.irfftn, "c2r", x, axes, norm, tuple(sizes))


def _hermitian(x: Tensor, s: Any, dim: Any, norm: Any, one: bool) -> Tensor:
    return _real_backward(conj(_complex(_floating(x))), s, dim, _SWAPPED[norm], one)


def _hermitian_backward(x: Tensor, s: Any, dim: Any, norm: Any, one: bool) -> Tensor:
    return conj(_real_forward(x, s, dim, _SWAPPED[norm], one))


def _offer(name: str, transform: Callable[..., Tensor]) -> None:
    def along(input: Tensor, n: int | None = None, dim: int = -1, norm: Any = None, *, out: Any = None) -> Tensor:
        return transform(input, None if n is None else (n,), dim, _checked_norm(norm), True)

    def over_two(input: Tensor, s: Any = None, dim: Any = (-2, -1), norm: Any = None, *, out: Any = None) -> Tensor:
        return transform(input, s, dim, _checked_norm(norm), False)

    def over_all(input: Tensor, s: Any = None, dim: Any = None, norm: Any = None, *, out: Any = None) -> Tensor:
        return transform(input, s, dim, _checked_norm(norm), False)

    for suffix, f in (("", along), ("2", over_two), ("n", over_all)):
        f.__name__ = f.__qualname__ = name + suffix
        f.__doc__ = f"The Fourier transform ``{name}{suffix}``."
        function(name + suffix, module="fft")(f)


for _name, _transform in (
    ("fft", _forward),
    ("ifft", _backward),
    ("rfft", _real_forward),
    ("irfft", _real_backward),
    ("hfft", _hermitian),
    ("ihfft", _hermitian_backward),
):
    _offer(_name, _transform)


def _frequencies(name: str, f: Callable[..., Any]) -> None:
    def frequencies(n: int, d: float = 1.0, *, dtype: Any = None, requires_grad: bool = False) -> Tensor:
        return leaf(f(n, d).astype((dtype or dtypes.get_default_dtype()).numpy), requires_grad)

    frequencies.__doc__ = "The frequencies of the bins of a transform."
    function(name, module="fft")(frequencies)


_frequencies("fftfreq", np.fft.fftfreq)
_frequencies("rfftfreq", np.fft.rfftfreq)


def _shift(name: str, extra: int) -> None:
    def shifted(input: Tensor, dim: Any = None) -> Tensor:
        axes = _axes(input, None, dim)
        made: Tensor = roll(input, tuple((input.array.shape[axis] + extra) // 2 for axis in axes), axes)
        return made

    shifted.__doc__ = "The bins in another order: the frequency zero in the middle, or back in front."
    function(name, module="fft")(shifted)


_shift("fftshift", 0)
_shift("ifftshift", 1)


@function("stft", method=True)
def stft(
    input: Tensor, n_fft: int, hop_length: int | None = None, win_length: int | None = None,
    window: Tensor | None = None, center: bool = True, pad_mode: str = "reflect", normalized: bool = False,
    onesided: bool | None = None,
    return_complex: bool | None = None,
) -> Tensor:  # fmt: skip
    """The transforms of overlapping windows."""
    hop, width = hop_length or n_fft // 4, win_length or n_fft
    if hop <= 0:
        raise RuntimeError(f"stft: expected hop_length > 0, but got hop_length={hop}")
    one_sided = (not input.dtype.is_complex) if onesided is None else onesided
    if not return_complex:
        raise RuntimeError("stft requires the return_complex parameter be given for real inputs, and will further "
                           "require that return_complex=True in a future PyTorch release.")  # fmt: skip
    single = input.array.ndim == 1
    rows = unsqueeze(input, 0) if single else input
    places = np.arange(rows.array.shape[-1])
    if center:
        places = np.pad(places, n_fft // 2, mode=pad_mode)  # type: ignore[call-overload]
    starts = np.arange(0, len(places) - n_fft + 1, hop)
    frames = rows[:, leaf(places[starts[:, None] + np.arange(n_fft)])]
    weights = leaf(np.ones(width, rows.array.dtype)) if window is None else window
    before = (n_fft - width) // 2
    if width < n_fft:
        sides = [leaf(np.zeros(n, weights.array.dtype)) for n in (before, n_fft - width - before)]
        weights = cat([sides[0], weights, sides[1]])
    windowed = frames * weights
    norm = "ortho" if normalized else None
    if not one_sided or input.dtype.is_complex:
        made = _forward(windowed, None, -1, norm, True)
    else:
        made = _transformed(np.fft.rfftn, "r2c", windowed, (2,), norm)
    turned: Tensor = composed("TransposeBackward1", lambda x: transpose(x, 1, 2), made, keeps=True)
    return fresh_squeeze(turned, 0) if single else turned
