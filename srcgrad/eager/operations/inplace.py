"""Operations in place: ``x.add_(y)``, ``x += y``, ``copy_``, ``zero_``, ``fill_``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager.composed import composed
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.modes import state
from srcgrad.eager.operations import arithmetic, picking, pointwise, rearranging, reductions, rounding
from srcgrad.eager.operations.picking import where
from srcgrad.eager.registry import method
from srcgrad.eager.tensor import Tensor
from srcgrad.eager.views import bump, check_writable, write

_copy = Operation(np.positive, "CopyBackwards")


def in_place(f: Callable[..., Tensor], name: str, ufunc: Any = None) -> Callable[..., Tensor]:
    """The method ``name_`` that stores ``f(self, ...)`` in ``self``; ``ufunc`` stores directly where it may."""

    def f_(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if ufunc is not None and len(args) == 1 and not kwargs and _unrecorded(self, args[0]):
            other = args[0].array if isinstance(args[0], Tensor) else args[0]
            check_writable(self)
            storage = self.storage_array()
            ufunc(storage, other, out=storage)
            bump(self)
            return self
        return write(self, lambda old: f(old, *args, **kwargs))

    f_.__name__ = f_.__qualname__ = name
    f_.__doc__ = f"``{name.rstrip('_')}`` in place."
    return f_


def _unrecorded(tensor: Tensor, other: Any) -> bool:
    """Whether a write needs no node, no cast and no check of shapes."""
    if state.recording and (tensor.requires_grad or (isinstance(other, Tensor) and other.requires_grad)):
        return False
    if type(other) is float:
        return tensor.array.dtype.kind in "fc"
    if isinstance(other, Tensor):
        mine, theirs = tensor.array, other.array
        return mine.dtype == theirs.dtype and (mine.shape == theirs.shape or not theirs.shape)
    return False


for _name, _f, _ufunc in (
    ("add_", arithmetic.add, np.add),
    ("sub_", arithmetic.sub, np.subtract),
    ("mul_", arithmetic.mul, np.multiply),
    ("div_", arithmetic.div, None),
    ("pow_", arithmetic.pow, None),
    ("neg_", arithmetic.neg, None),
    *((f"{name}_", f, None) for name, f in {**pointwise.MADE, **rounding.STEPS}.items()),
    *((name, f, None) for name, f in picking.IN_PLACE.items()),
    ("square_", pointwise.square, None),
    ("floor_divide_", rounding.floor_divide, None),
    ("cumsum_", reductions.cumsum, None),
    ("cumprod_", reductions.cumprod, None),
    ("tril_", rearranging.tril, None),
    ("triu_", rearranging.triu, None),
):
    setattr(Tensor, _name, in_place(_f, _name, _ufunc))
for _operator, _name in (("iadd", "add_"), ("isub", "sub_"), ("imul", "mul_"), ("itruediv", "div_"), ("ipow", "pow_"),
    ("imod", "remainder_"), ("ifloordiv", "floor_divide_"),
):  # fmt: skip
    setattr(Tensor, f"__{_operator}__", getattr(Tensor, _name))


@method("copy_")
def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Store the elements of ``src``, broadcast and converted."""

    def compute(old: Tensor) -> Tensor:
        array = np.broadcast_to(src.array, old.array.shape).astype(old.array.dtype)
        made: Tensor = call(_copy, {"x": src}, array=array)
        return made

    return write(self, compute, check_dtype=False)


@method("zero_")
def zero_(self: Tensor) -> Tensor:
    """Store zeros."""

    def compute(old: Tensor) -> Tensor:
        return Tensor.of(np.zeros_like(old.array))

    return write(self, compute, name="ZeroBackward0")


@method("fill_")
def fill_(self: Tensor, value: Any) -> Tensor:
    """Store one number everywhere."""
    if isinstance(value, Tensor):
        if value.array.ndim:
            raise RuntimeError(
                "fill_ only supports 0-dimension value tensor but got tensor with "
                f"{value.array.ndim} dimensions."
            )

        def spread(old: Tensor) -> Tensor:
            never = Tensor.of(np.zeros(old.array.shape, bool))
            d = old.dtype
            made: Tensor = composed("FillBackward3", lambda x, v: where(never, x, v.to(d)), old, value, keeps=True)
            return made

        return write(self, spread, check_dtype=False, name="FillBackward3")

    def compute(old: Tensor) -> Tensor:
        return Tensor.of(np.full_like(old.array, value))

    return write(self, compute, name="FillBackward2")
