"""Arrays that carry more than their elements: a batch that functions do not see, or a tangent.

A ``Lifted`` array stands where tensors and rules expect an array of NumPy: shape and dtype are those of one example, or
of the primal.  NumPy's functions come to it through NEP 13 and 18, so that every operation and every rule runs on it as
it is written.  Where something insists on plain memory, ``Escape`` is raised and the caller takes a slower way.  Each
array belongs to a level; of several, the innermost transform's, which has the highest number, is treated first.
"""

from __future__ import annotations

import itertools
import operator
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any

import numpy as np

levels = itertools.count(1)


class Escape(NotImplementedError):
    """A lifted array was asked for plain memory."""


class _Flags:
    """What ``ndarray.flags`` says of an array that is written to element by element only through its functions."""

    c_contiguous = writeable = owndata = True


def stand_in(array: Any) -> Any:
    """An array of the shape and dtype of a lifted one, that holds one element."""
    return np.broadcast_to(np.zeros((), array.dtype), array.shape)


def is_lifted(value: Any) -> bool:
    """Whether a value is a lifted array; ``isinstance`` says that it is an array."""
    return issubclass(type(value), Lifted)


def holders(value: Any) -> Iterator[Lifted]:
    """The lifted arrays in arguments."""
    if is_lifted(value):
        yield value
    elif isinstance(value, list | tuple):
        for item in value:
            yield from holders(item)
    elif isinstance(value, dict):
        yield from holders([*value.values()])


def topmost(*values: Any) -> Lifted | None:
    """The lifted array of the highest level among arguments."""
    return max(holders(values), key=lambda array: array.level, default=None)


def replaced(value: Any, change: Callable[[Any], Any]) -> Any:
    """Arguments with ``change`` of every lifted array in place of it."""
    if is_lifted(value):
        return change(value)
    if type(value) in (list, tuple):
        return type(value)(replaced(item, change) for item in value)
    if type(value) is dict:
        return {key: replaced(item, change) for key, item in value.items()}
    return value


# What only shapes and dtypes decide.
ABOUT_TYPES = {np.shape, np.ndim, np.size, np.result_type, np.can_cast, np.iscomplexobj, np.isrealobj, np.common_type}
_REDUCTIONS = {
    np.add: np.sum,
    np.multiply: np.prod,
    np.maximum: np.amax,
    np.minimum: np.amin,
    np.logical_and: np.all,
    np.logical_or: np.any,
}


class Lifted(np.lib.mixins.NDArrayOperatorsMixin):
    """The protocol of an array; what a function does to it is the subclass's."""

    level: int
    base = None
    __hash__ = object.__hash__

    @property  # type: ignore[misc]
    def __class__(self) -> Any:  # isinstance(x, np.ndarray) asks whether x is an array, which this is
        return np.ndarray

    # --- what subclasses say -----------------------------------------------------------------------------------------
    @property
    def shape(self) -> Any:
        raise NotImplementedError

    @property
    def dtype(self) -> Any:
        raise NotImplementedError

    @property
    def flags(self) -> Any:
        return _Flags

    def applied(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
        """``function`` of arguments of which this array is one of the highest level."""
        raise NotImplementedError

    def detached(self) -> Any:
        """The array without what belongs to derivatives."""
        return self

    def assign(self, key: Any, value: Any) -> None:
        """Store in place."""
        raise NotImplementedError

    def __getitem__(self, key: Any) -> Any:
        raise NotImplementedError

    # --- NumPy's protocols -------------------------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, out: Any = None, **kwargs: Any) -> Any:
        top = topmost(inputs, out)
        assert top is not None
        if method == "reduce" and ufunc in _REDUCTIONS:
            axis = kwargs.pop("axis", 0)
            reduction: Any = _REDUCTIONS[ufunc]
            made = reduction(*inputs, axis=axis, **kwargs)
        elif method != "__call__":
            raise Escape(f"{ufunc}.{method} of a lifted array")
        else:
            made = top.applied(ufunc, inputs, kwargs)
        if out is None:
            return made
        target = out[0]
        if not is_lifted(target):
            raise Escape("a lifted array does not fit into plain memory")
        target.assign(..., made)
        return target

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        top = topmost(args, kwargs)
        assert top is not None
        if function in ABOUT_TYPES:
            return function(*replaced(args, stand_in), **replaced(kwargs, stand_in))
        out = kwargs.pop("out", None)
        made = top.applied(function, args, kwargs)
        if out is None:
            return made
        out.assign(..., made)
        return out

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        raise Escape("a lifted array has no memory of its own")

    def __setitem__(self, key: Any, value: Any) -> None:
        self.assign(key, value)

    # --- an array's attributes ---------------------------------------------------------------------------------------
    @property
    def ndim(self) -> int:
        return len(self.shape)

    @property
    def size(self) -> int:
        count = 1
        for n in self.shape:
            count *= n
        return count

    @property
    def itemsize(self) -> int:
        return int(self.dtype.itemsize)

    @property
    def nbytes(self) -> int:
        return self.size * self.itemsize

    @property
    def strides(self) -> tuple[int, ...]:
        return np.empty(self.shape, self.dtype).strides

    @property
    def T(self) -> Any:
        return np.transpose(self)

    @property
    def mT(self) -> Any:
        return np.swapaxes(self, -1, -2)

    @property
    def real(self) -> Any:
        return np.real(self) if self.dtype.kind == "c" else self

    @property
    def imag(self) -> Any:
        return np.imag(self) if self.dtype.kind == "c" else np.zeros(self.shape, self.dtype)

    def __len__(self) -> int:
        if not self.shape:
            raise TypeError("len() of unsized object")
        return int(self.shape[0])

    def __iter__(self) -> Any:
        return iter([self[i] for i in range(len(self))])

    def __contains__(self, value: Any) -> bool:
        return bool(np.any(self == value))

    def __bool__(self) -> bool:
        return bool(self.item())

    def __int__(self) -> int:
        return int(self.item())

    def __float__(self) -> float:
        return float(self.item())

    def __complex__(self) -> complex:
        return complex(self.item())

    def item(self) -> Any:
        """The one element as a Python number."""
        raise Escape("item() of a lifted array")

    tolist = item

    def misfit(self, target: Any) -> Exception:
        """The error about a tensor that is written to a plain one."""
        return Escape("a lifted array does not fit into plain memory")

    def number(self) -> Any:
        """What ``Tensor.item`` answers, or its error."""
        return self.item()

    def truth(self) -> bool:
        """What ``bool`` of a tensor answers, or its error."""
        return bool(self.item())

    def reshape(self, *shape: Any, **how: Any) -> Any:
        """Another shape."""
        return np.reshape(self, shape[0] if len(shape) == 1 else shape, **how)

    def transpose(self, *axes: Any) -> Any:
        """The axes in another order."""
        return np.transpose(self, (axes[0] if len(axes) == 1 else axes) or None)

    def flatten(self) -> Any:
        """A copy in one dimension."""
        return np.ravel(self).copy()

    def conj(self) -> Any:
        """The complex conjugate."""
        return np.conjugate(self)

    conjugate = conj

    def fill(self, value: Any) -> None:
        """Store one value everywhere."""
        self.assign(..., value)


def _method(name: str) -> Callable[..., Any]:
    function = getattr(np, name)

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return function(self, *args, **kwargs)

    method.__name__ = name
    return method


for _name in (
    "all", "any", "argmax", "argmin", "argsort", "clip", "copy", "cumprod", "cumsum", "diagonal", "dot", "max", "mean",
    "min", "nonzero", "prod", "ravel", "repeat", "round", "squeeze", "std", "sum", "swapaxes", "take", "trace", "var",
):  # fmt: skip
    setattr(Lifted, _name, _method(_name))


def elements(array: Any) -> Any:
    """The plain memory behind an array: all examples, the primals."""
    while is_lifted(array):
        array = getattr(array, "values", None) if hasattr(array, "values") else array.primal
    return np.asarray(array)


def concerns(error: Exception, *values: Any) -> bool:
    """Whether an error may come from a lifted array among the values, or what a node saved."""
    return isinstance(error, Escape) or any(
        topmost(value, getattr(value, "array", None)) is not None for several in values for value in several or ()
    )


def indexed(array: Any, key: Any) -> Any:
    """``array[key]``, also where only the key is lifted."""
    top = None if is_lifted(array) else topmost(key)
    return array[key] if top is None else top.applied(operator.getitem, (array, key), {})


@cache
def on_arrays(function: Any) -> Any:
    """A function that may insist on plain memory, for arguments that may be lifted."""
    if isinstance(function, type) or not callable(function):
        return function

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            return function(*args, **kwargs)
        except Exception:  # whatever a function makes of an array that it cannot hold
            top = topmost(args, kwargs)
            if top is None:
                raise
            return top.applied(function, args, kwargs)

    return call


class _Door:
    """A module whose functions are taken through ``on_arrays``."""

    def __init__(self, module: Any) -> None:
        self._module = module

    def __getattr__(self, name: str) -> Any:
        value = getattr(self._module, name)
        made = _Door(value) if type(value) is type(np) else on_arrays(value)
        setattr(self, name, made)
        return made


def opened(value: Any) -> Any:
    """What stands for a global of a rule's text where its values may be lifted arrays."""
    if type(value) is type(np):
        return _Door(value)
    try:
        return on_arrays(value)
    except TypeError:  # not hashable: a constant
        return value


def as_array(value: Any, dtype: Any = None) -> Any:
    """``np.asarray``, but a lifted array stays what it is."""
    if isinstance(value, np.ndarray):
        return value if dtype is None or value.dtype == dtype else value.astype(dtype)
    return np.asarray(value, dtype)
