"""Ways to look at a tensor: as text, and as what NumPy makes of the model of its memory."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from tests.eager.view_programs import Drawing

View = tuple[str, Callable[[Any], Any]]


def parts(a: np.ndarray) -> np.ndarray:
    """Real and imaginary parts along a last dimension, in the same memory."""
    return np.lib.stride_tricks.as_strided(a.real, (*a.shape, 2), (*a.strides, 8))


def diagonal(a: np.ndarray) -> np.ndarray:
    """The diagonal of a matrix, in the same memory."""
    return np.lib.stride_tricks.as_strided(a, (min(a.shape),), (sum(a.strides),))


def views(drawing: Drawing, base: str) -> list[View]:
    """Ways to look at a variable."""
    a = drawing.models[base]
    ndim, shape = a.ndim, a.shape
    found: list[View] = [
        ("{}[...]", lambda a: a[...]),
        ("{}[None]", lambda a: a[None]),
        ("{}.unsqueeze(-1)", lambda a: a[..., None]),
        ("{}.squeeze()", lambda a: a.squeeze()),
        (f"{{}}.expand({', '.join(map(str, (2, *shape)))})", lambda a: np.broadcast_to(a, (2, *shape))),
        ("{}.view_as({})".replace("({})", f"({base})"), lambda a: a.view()),
    ]
    if drawing.chance(0.3):
        found += [("{}.detach()", lambda a: a.view()), ("{}.data", lambda a: a.view())]
    if a.dtype.kind == "c":
        found += 2 * [
            ("{}.real", lambda a: a.real),
            ("{}.imag", lambda a: a.imag),
            ("torch.view_as_real({})", parts),
        ]
    elif drawing.has_complex and shape[-1:] == (2,) and a.strides[-1] == 8 and all(s % 16 == 0 for s in a.strides[:-1]):
        found += 3 * [("torch.view_as_complex({})", lambda a: a.view(complex)[..., 0])]
    try:
        np.reshape(a, (-1,), copy=False)
        found += [("{}.view(-1)", lambda a: a.reshape(-1)), ("{}.flatten()", lambda a: a.reshape(-1))]
        if a.size % 2 == 0:
            np.reshape(a, (2, -1), copy=False)
            found += [("{}.view(2, -1)", lambda a: a.reshape(2, -1))]
    except ValueError:
        found += [("{}.reshape(-1)", lambda a: a.reshape(-1)), ("{}.contiguous()", np.ascontiguousarray)]
    if ndim:
        i, j = drawing.below(shape[0]), drawing.below(shape[-1])
        found += 2 * [
            (f"{{}}[{i}]", lambda a: a[i, ...]),
            (f"{{}}[..., {j}]", lambda a: a[..., j]),
        ]
        found += [
            ("{}[1:]", lambda a: a[1:]) if shape[0] > 1 else ("{}[:]", lambda a: a[:]),
            ("{}[:2]", lambda a: a[:2]),
            ("{}[::2]", lambda a: a[::2]),
            (f"{{}}.select(-1, {j})", lambda a: a[..., j]),
            (f"{{}}.narrow(0, {i}, 1)", lambda a: a[i : i + 1]),
            ("{}.unfold(-1, 1, 1)", lambda a: a[..., None]),
        ]
        if shape[0] > 2:
            found.append(
                ("{}.unfold(0, 2, 1)", lambda a: np.lib.stride_tricks.sliding_window_view(a, 2, 0, writeable=True))
            )
        if shape[0] == 1:
            found += [("{}.squeeze(0)", lambda a: a.squeeze(0))]
    if ndim == 2:
        found += [
            ("{}.T", lambda a: a.T), ("{}.t()", lambda a: a.T), ("{}.mT", lambda a: a.T),
            ("{}.diagonal()", diagonal), ("{}.diagonal()", diagonal),
            ("{}.transpose(0, 1)", lambda a: a.T), ("{}.swapaxes(0, 1)", lambda a: a.T),
        ]  # fmt: skip
    if ndim > 1:
        found += [
            ("{}.movedim(0, -1)", lambda a: np.moveaxis(a, 0, -1)),
            (f"{{}}.permute({', '.join(map(str, reversed(range(ndim))))})", lambda a: a.T),
            ("{}[:, 0]", lambda a: a[:, 0]),
        ]
    if a.dtype.kind == "f" and ndim == 1 and a.size > 1 and a.strides == (8,) and base in drawing.program.leaves:
        found.append((f"{{}}.as_strided(({a.size - 1},), (1,), 1)", lambda a: a[1:]))
    return found
