"""How tensors print: PyTorch's layout of numbers, rows and suffixes.

Real numbers share one width; whole numbers lose their decimals, numbers far apart get exponents.  More than
``threshold`` elements are summarised by the first and last ``edgeitems`` of every dimension.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from srcgrad.eager import dtypes
from srcgrad.eager.levels import wrapped_text
from srcgrad.eager.lifted_arrays import is_lifted
from srcgrad.eager.modes import state
from srcgrad.eager.tensor import Tensor


@dataclass
class Options:
    """What ``set_printoptions`` sets."""

    precision: int = 4
    threshold: float = 1000
    edgeitems: int = 3
    linewidth: int = 80
    sci_mode: bool | None = None


options = Options()
_PROFILES = {
    "default": (4, 1000, 3, 80),
    "short": (2, 1000, 2, 80),
    "full": (4, math.inf, 3, 80),
}


def set_printoptions(
    precision: int | None = None,
    threshold: float | None = None,
    edgeitems: int | None = None,
    linewidth: int | None = None,
    profile: str | None = None,
    sci_mode: bool | None = None,
) -> None:
    """Choose digits, summarising and width; ``sci_mode`` is reset unless it is given."""
    if profile in _PROFILES:
        options.precision, options.threshold, options.edgeitems, options.linewidth = _PROFILES[profile]
    if precision is not None:
        options.precision = precision
    if threshold is not None:
        options.threshold = threshold
    if edgeitems is not None:
        options.edgeitems = edgeitems
    if linewidth is not None:
        options.linewidth = linewidth
    options.sci_mode = sci_mode


class _Numbers:
    """One way of writing all the numbers of a tensor."""

    def __init__(self, values: Any) -> None:
        self.floating = values.dtype.kind == "f"
        self.whole = True
        self.scientific = False
        self.width = 1
        flat = values.ravel()
        if not self.floating:
            self.width = max((len(str(v)) for v in flat.tolist()), default=1)
            return
        finite = flat[np.isfinite(flat) & (flat != 0)].astype(np.float64)
        if not len(finite):
            if options.sci_mode is not None:
                self.scientific = options.sci_mode
            return
        sizes = np.abs(finite)
        low, high = float(sizes.min()), float(sizes.max())
        self.whole = bool(np.all(finite == np.ceil(finite)))
        if self.whole:
            self.scientific = high / low > 1000.0 or high > 1.0e8
        else:
            self.scientific = high / low > 1000.0 or high > 1.0e8 or low < 1.0e-4
        if options.sci_mode is not None:
            self.scientific = options.sci_mode
        self.width = max(len(self._written(float(v))) for v in finite)

    def _written(self, value: float) -> str:
        if self.scientific:
            return f"{value:.{options.precision}e}"
        if self.whole:
            text = f"{value:.0f}"
            return text if math.isinf(value) or math.isnan(value) else text + "."
        return f"{value:.{options.precision}f}"

    def __call__(self, value: Any) -> str:
        text = self._written(value) if self.floating else str(value)
        return text.rjust(self.width)


class _Complex:
    """Real and imaginary parts, each written in its own way."""

    def __init__(self, values: Any) -> None:
        self.real, self.imaginary = _Numbers(values.real), _Numbers(values.imag)
        self.width = self.real.width + self.imaginary.width + 1

    def __call__(self, value: complex) -> str:
        imaginary = self.imaginary(value.imag).lstrip()
        sign = "" if imaginary[0] in "+-" else "+"
        return f"{self.real(value.real)}{sign}{imaginary}j"


def _body(array: Any, indent: int, summarise: bool, write: Callable[[Any], str]) -> str:
    if array.ndim == 0:
        return str(write(array.item()))
    if array.ndim == 1:
        return _row(array, indent, summarise, write)
    edge = options.edgeitems
    if summarise and len(array) > 2 * edge:
        rows = [_body(array[i], indent + 1, summarise, write) for i in range(edge)]
        rows += ["..."]
        rows += [_body(array[i], indent + 1, summarise, write) for i in range(len(array) - edge, len(array))]
    else:
        rows = [_body(part, indent + 1, summarise, write) for part in array]
    between = "," + "\n" * int(array.ndim - 1) + " " * (indent + 1)
    return f"[{between.join(rows)}]"


def _row(array: Any, indent: int, summarise: bool, write: Any) -> str:
    width = write.width + 2
    if isinstance(write, _Complex):
        width = write.real.width + write.imaginary.width + 3
    per_line = max(1, (options.linewidth - indent) // width)
    edge = options.edgeitems
    if summarise and len(array) > 2 * edge:
        texts = [write(v) for v in array[:edge].tolist()] + [" ..."] + [write(v) for v in array[-edge:].tolist()]
    else:
        texts = [write(v) for v in array.tolist()]
    lines = [", ".join(texts[i : i + per_line]) for i in range(0, len(texts), per_line)]
    return "[" + (",\n" + " " * (indent + 1)).join(lines) + "]"


def _summarised(array: Any) -> Any:
    """The elements that are shown, which decide how wide all are written."""
    edge = options.edgeitems
    for axis, n in enumerate(array.shape):
        if n > 2 * edge:
            kept = [*range(edge), *range(n - edge, n)]
            array = np.take(array, kept, axis)
    return array


def text(tensor: Tensor, *, prefix: str | None = None, tangent: str | None = None) -> str:
    """``tensor(...)`` with everything that PyTorch appends."""
    if state.transform_level or is_lifted(tensor.array):
        wrapped = wrapped_text(tensor, text)
        if wrapped is not None:
            return wrapped
    array = tensor.array
    d = dtypes.of(array)
    if prefix is None:
        prefix = "tensor(" if type(tensor) is Tensor or getattr(tensor, "prints_as_tensor", False) else ""
        prefix = prefix or f"{type(tensor).__name__}("
    indent = len(prefix)
    suffixes: list[str] = []
    default = dtypes.get_default_dtype()
    usual = d in (default, default.to_complex(), dtypes.int64, dtypes.bool_)
    if array.size == 0:
        if array.ndim != 1:
            suffixes.append(f"size={tuple(array.shape)}")
        if d is not default:
            suffixes.append(f"dtype={d}")
        body = "[]"
    else:
        if not usual:
            suffixes.append(f"dtype={d}")
        array = np.asarray(array)
        summarise = array.size > options.threshold
        shown = _summarised(array) if summarise else array
        write = _Complex(shown) if d.is_complex else _Numbers(shown)
        body = _body(array, indent, summarise, write)
    name = _origin(tensor)
    if name is not None:
        suffixes.append(f"grad_fn=<{name}>")
    elif tensor.requires_grad:
        suffixes.append("requires_grad=True")
    if tangent is not None:
        suffixes.append(f"tangent={tangent}")
    return _joined(prefix + body, suffixes, indent)


def _origin(tensor: Tensor) -> str | None:
    try:
        node = tensor.grad_node()
    except RuntimeError:
        return "Invalid"
    if node is None:
        return None
    return type(node).__name__


def _joined(head: str, suffixes: list[str], indent: int) -> str:
    lines = [head]
    last = len(head) - head.rfind("\n") + 1
    for suffix in suffixes:
        if last + len(suffix) + 2 > options.linewidth:
            lines.append(",\n" + " " * indent + suffix)
            last = indent + len(suffix)
        else:
            lines.append(", " + suffix)
            last += len(suffix) + 2
    return "".join(lines) + ")"


def _format(tensor: Tensor, spec: str) -> str:
    if tensor.array.ndim == 0:
        array = tensor.array
        return format(array.number() if is_lifted(array) else array.item(), spec)
    return object.__format__(tensor, spec)


setattr(Tensor, "__repr__", text)  # noqa: B010
setattr(Tensor, "__format__", _format)  # noqa: B010
