"""Operations in place: ``x.add_(y)``, ``x += y``, ``copy_``, ``zero_``, ``fill_``."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from srcgrad.eager.composed import composed
from srcgrad.eager.constants import constants_checked
from srcgrad.eager.dispatch import Operation, call
from srcgrad.eager.lifted_arrays import is_lifted
from srcgrad.eager.modes import state
from srcgrad.eager.operations import (
    arithmetic,
    blending,
    complex_parts,
    picking,
    pointwise,
    products,
    rearranging,
    reductions,
    rounding,
    series,
    special_functions,
    storing,
)
from srcgrad.eager.operations.picking import where
from srcgrad.eager.registry import method
from srcgrad.eager.tensor import Tensor, new
from srcgrad.eager.views import bump, check_captured, check_free, check_writable, replaces, write

_copy = Operation(np.positive, "torch::autograd::CopyBackwards")
_copy_broadcast = Operation(np.broadcast_to, "torch::autograd::CopyBackwards")


def in_place(
    f: Callable[..., Tensor],
    name: str,
    ufunc: Any = None,
    *,
    copies: bool = False,
    apart: bool = False,
    reads: bool = True,
) -> Callable[..., Tensor]:
    """The method ``name_`` that stores ``f(self, ...)`` in ``self``; ``ufunc`` stores directly where it may.

    ``copies``: a graph within the function holds its input, so that the old values are kept for it as a copy.
    ``reads`` and ``apart`` are those of ``write``.
    """

    f = constants_checked(f)

    def f_(self: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        if ufunc is not None and len(args) == 1 and not kwargs and _unrecorded(self, args[0]):
            other = args[0].array if isinstance(args[0], Tensor) else args[0]
            check_captured(self)
            check_free(self, args[0])
            storage = self.storage_array()
            ufunc(storage, other, out=storage)
            bump(self)
            return self
        return write(self, lambda old: f(old, *args, **kwargs), *args, copies=copies, reads=reads, apart=apart)

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
        if is_lifted(theirs) and not is_lifted(mine):
            return False
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
    ("square_", pointwise.square, None),
    ("floor_divide_", rounding.floor_divide, None),
    ("cumsum_", reductions.cumsum, None),
    ("cumprod_", reductions.cumprod, None),
    ("tril_", rearranging.tril, None),
    ("triu_", rearranging.triu, None),
):
    setattr(Tensor, _name, in_place(_f, _name, _ufunc))


for _name, _f in picking.IN_PLACE.items():
    setattr(Tensor, _name, in_place(_f, _name, copies=True, apart=_name in picking.APART, reads="fill" not in _name))
for _name, _f in {
    **blending.IN_PLACE,
    **products.IN_PLACE,
    **storing.IN_PLACE,
    **{f"{name}_": f for name, f in special_functions.MADE.items()},
    "logit_": special_functions.logit,
    "xlogy_": special_functions.xlogy,
    "polygamma_": lambda x, n: special_functions.polygamma(n, x),
    "mvlgamma_": special_functions.mvlgamma,
    "renorm_": series.renorm,
    "float_power_": arithmetic.float_power,
    "conj_physical_": complex_parts.conj_physical,
}.items():
    setattr(Tensor, _name, in_place(_f, _name, copies=True))
for _name, _f in pointwise.BOTH.items():
    setattr(Tensor, f"{_name}_", in_place(_f, f"{_name}_"))


def _comparing(name: str, node: str) -> Callable[[Tensor, Any], Tensor]:
    def f_(self: Tensor, other: Any) -> Tensor:
        def compute(old: Tensor) -> Tensor:
            made: Tensor = getattr(old, name)(other).to(old.dtype)
            return made

        return write(self, compute, name=node)

    f_.__name__ = f_.__qualname__ = f"{name}_"
    f_.__doc__ = f"``{name}`` in place, as numbers."
    return f_


for _name, _node in (("eq", "Eq"), ("ne", "Ne"), ("lt", "Lt"), ("le", "Le"), ("gt", "Gt"), ("ge", "Ge")):
    setattr(Tensor, f"{_name}_", _comparing(_name, f"{_node}Backward0"))


@method("logical_not_")
def logical_not_(self: Tensor) -> Tensor:
    """Store whether each element is zero."""
    bump(self)
    self.storage_array()[...] = np.logical_not(self.array)
    return self


@method("resize_")
def resize_(self: Tensor, *sizes: Any) -> Tensor:
    """Give the tensor another shape, with as much of its memory as fits."""
    if self.requires_grad:
        raise RuntimeError("cannot resize variables that require grad")
    shape = tuple(sizes[0]) if len(sizes) == 1 and isinstance(sizes[0], tuple | list) else sizes
    self.array = np.resize(self.storage_array(), shape)
    return self


@method("set_")
def set_(self: Tensor, source: Tensor) -> Tensor:
    """Let the tensor be the memory of another one; there is no derivative."""
    check_writable(self, source)
    old: Tensor = new(Tensor)
    old.array, old.node, old.number, old.leaf_grad = self.array, self.grad_node(), self.number, self.leaf_grad
    made = rounding.underivable(Tensor.of(source.storage_array()), (old, source), "set_")
    self.array = made.array
    if made.node is not None:
        self.node, self.number, self.leaf_grad = made.node, 0, False
    bump(self)
    return self


@method("fill_diagonal_")
def fill_diagonal_(self: Tensor, fill_value: Any, wrap: bool = False) -> Tensor:
    """Store a number on the diagonal."""
    if self.array.ndim < 2:
        raise RuntimeError("dimensions must larger than 1")

    if self.array.ndim == 2 and not wrap:
        rearranging.main_diagonal(self).fill_(fill_value)
        return self

    def compute(old: Tensor) -> Tensor:
        mask = np.zeros(old.array.shape, bool)
        np.fill_diagonal(mask, True, wrap)
        return picking.masked_fill(old, Tensor.of(mask), fill_value)

    return write(self, compute, name="FillDiagonalBackward0")


for _operator, _name in (("iadd", "add_"), ("isub", "sub_"), ("imul", "mul_"), ("itruediv", "div_"), ("ipow", "pow_"),
    ("imod", "remainder_"), ("ifloordiv", "floor_divide_"),
):  # fmt: skip
    setattr(Tensor, f"__{_operator}__", getattr(Tensor, _name))


@method("copy_")
def copy_(self: Tensor, src: Tensor, non_blocking: bool = False) -> Tensor:
    """Store the elements of ``src``, broadcast and converted."""

    def compute(old: Tensor) -> Tensor:
        array = np.broadcast_to(src.array, old.array.shape).astype(old.array.dtype)
        made: Tensor
        if array.shape == src.array.shape and array.dtype == src.array.dtype:
            made = call(_copy, {"x": src}, array=array)
        else:
            made = call(_copy_broadcast, {"array": src, "shape": array.shape}, array=array)
        if made.node is not None:
            replaces(made.node, old)
        return made

    return write(self, compute, src, check_dtype=False, copies=False)


@method("zero_")
def zero_(self: Tensor) -> Tensor:
    """Store zeros."""

    def compute(old: Tensor) -> Tensor:
        return Tensor.of(np.zeros_like(old.array))

    return write(self, compute, name="ZeroBackward0", copies=False)


@method("fill_")
def fill_(self: Tensor, value: Any) -> Tensor:
    """Store one number everywhere."""
    if isinstance(value, Tensor):

        def spread(old: Tensor) -> Tensor:
            if value.array.ndim:
                raise RuntimeError(
                    f"fill_ only supports 0-dimension value tensor but got tensor with {value.array.ndim} dimensions."
                )
            never = Tensor.of(np.zeros(old.array.shape, bool))
            d = old.dtype
            made: Tensor = composed("FillBackward3", lambda x, v: where(never, x, v.to(d)), old, value, keeps=True)
            return made

        return write(self, spread, value, check_dtype=False, name="FillBackward3", reads=False)

    def compute(old: Tensor) -> Tensor:
        return Tensor.of(np.full_like(old.array, value))

    return write(self, compute, name="FillBackward2", copies=False)
