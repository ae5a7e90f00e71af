"""Second names: functions in place in the module itself, ``divide_`` for ``div_``, and norms by name."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from srcgrad.eager.operations import comparing, inplace  # noqa: F401  (what is named again here)
from srcgrad.eager.operations.creation import leaf
from srcgrad.eager.registry import FUNCTIONS, function, method
from srcgrad.eager.return_types import Results, results
from srcgrad.eager.tensor import Tensor
from srcgrad.eager.views import write

_METHODS = {
    "arctan2_": "atan2_", "divide_": "div_", "true_divide_": "div_", "multiply_": "mul_", "subtract_": "sub_",
    "negative_": "neg_", "greater_": "gt_", "greater_equal_": "ge_", "less_": "lt_", "less_equal_": "le_",
    "not_equal_": "ne_",
}  # fmt: skip
for _name, _of in _METHODS.items():
    setattr(Tensor, _name, getattr(Tensor, _of))

#: functions of the module that store in their first argument
_IN_PLACE = """
abs acos acosh addmv arccos arccosh arcsin arcsinh arctan arctanh asin asinh atan atanh ceil clamp clamp_max
clamp_min clip conj_physical cos cosh deg2rad detach erf erfc exp exp2 expm1 fill fix floor frac i0 index_put
ldexp log log10 log1p log2 logit nan_to_num neg negative rad2deg reciprocal round rsqrt sin sinc sinh sqrt
square tan tanh trunc xlogy zero
"""


def _by_method(name: str) -> Callable[..., Tensor]:
    def f(input: Tensor, *args: Any, **kwargs: Any) -> Tensor:
        made: Tensor = getattr(input, name)(*args, **kwargs)
        return made

    f.__name__ = f.__qualname__ = name
    f.__doc__ = f"``{name}`` of a tensor."
    return f


for _name in _IN_PLACE.split():
    function(f"{_name}_")(_by_method(f"{_name}_"))


def _whole_numbers(name: str) -> Callable[..., Tensor]:
    def f_(self: Tensor, *args: Any) -> Tensor:
        def compute(old: Tensor) -> Tensor:
            made: Tensor = getattr(old, name)(*args).to(old.dtype)
            return made

        return write(self, compute)

    f_.__name__ = f_.__qualname__ = f"{name}_"
    f_.__doc__ = f"``{name}`` in place."
    return f_


for _name in """bitwise_and bitwise_or bitwise_xor bitwise_not bitwise_left_shift bitwise_right_shift logical_and
logical_or logical_xor""".split():
    if hasattr(Tensor, _name):
        setattr(Tensor, f"{_name}_", _whole_numbers(_name))


@function("fill")
def fill(input: Tensor, value: Any) -> Tensor:
    """A copy with one number everywhere."""
    made: Tensor = input.clone().fill_(value)
    return made


@function("frobenius_norm")
def frobenius_norm(input: Tensor, dim: Any = (), keepdim: bool = False) -> Tensor:
    """The square root of the sum of squares."""
    made: Tensor = input.norm(2, dim or None, keepdim)
    return made


@function("nuclear_norm")
def nuclear_norm(input: Tensor, dim: Any = (-2, -1), keepdim: bool = False) -> Tensor:
    """The sum of singular values."""
    made: Tensor = FUNCTIONS["linalg"]["matrix_norm"](input, "nuc", dim, keepdim)
    return made


@method("sum_to_size")
def sum_to_size(self: Tensor, *size: Any) -> Tensor:
    """The sum over all dimensions that broadcasting to this shape would have made."""
    shape = tuple(size[0]) if len(size) == 1 and isinstance(size[0], tuple | list) else size
    extra = self.array.ndim - len(shape)
    given = self.array.shape
    over = [i for i in range(len(given)) if i < extra or (shape[i - extra] == 1 and given[i] != 1)]
    made: Tensor = self.sum(tuple(over), True) if over else self
    return made.view(shape) if extra else made


@function("is_same_size", method=True)
def is_same_size(input: Tensor, other: Tensor) -> bool:
    """Whether two tensors have one shape."""
    return bool(input.array.shape == other.array.shape)


@function("is_signed")
def is_signed(input: Tensor) -> bool:
    """Whether elements can be negative."""
    return bool(input.dtype.is_signed)


@function("get_device")
def get_device(input: Tensor) -> int:
    """The number of the device: none, on the CPU."""
    return -1


@function("get_num_threads", "get_num_interop_threads")
def get_num_threads() -> int:
    """How many threads an operation uses."""
    return 1


@function("set_num_threads", "set_num_interop_threads")
def set_num_threads(count: int) -> None:
    """Nothing: NumPy decides."""


@function("lu_unpack")
def lu_unpack(
    LU_data: Tensor, LU_pivots: Tensor, unpack_data: bool = True, unpack_pivots: bool = True
) -> Results:
    """The three factors of a packed factorization; empty tensors in place of those that are not wanted."""
    import numpy as np

    from srcgrad.eager.operations.factors import permutation
    from srcgrad.eager.operations.rearranging import tril, triu

    m, n = LU_data.array.shape[-2:]
    empty = leaf(np.zeros(0, LU_data.array.dtype))
    rows = empty
    if unpack_pivots:
        rows = leaf(np.swapaxes(np.eye(m, dtype=LU_data.array.dtype)[permutation(LU_pivots.array, m)], -1, -2).copy())
    if not unpack_data:
        return results("lu_unpack", ("P", "L", "U"), rows, empty, empty)
    k = min(m, n)
    lower = tril(LU_data[..., :, :k], -1) + leaf(np.eye(m, k, dtype=LU_data.array.dtype))
    return results("lu_unpack", ("P", "L", "U"), rows, lower, triu(LU_data[..., :k, :]))
