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


def levels_of(array: Any, kind: type) -> Iterator[int]:
    """The levels that an array belongs to, by lifted arrays of one kind."""
    if is_lifted(array):
        if issubclass(type(array), kind):
            yield array.level
        for name in ("values", "primal", "tangent"):
            yield from levels_of(getattr(array, name, None), kind)


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


# What updates its first argument and returns nothing.
_WRITING = {np.copyto, np.put, np.putmask, np.place, np.put_along_axis, np.fill_diagonal}


def _stored(target: Any, value: Any) -> Any:
    """``target`` with the value stored in it; plain memory has no room for a lifted one."""
    if not is_lifted(target):
        raise Escape("a lifted array does not fit into plain memory")
    target.assign(..., value)
    return target


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

    def has_tangent(self) -> bool:
        """Whether a tangent is carried, here or by what is inside."""
        raise NotImplementedError

    def repeated(self, array: Any) -> Any:
        """A plain array once for each example, where this array is a batch."""
        raise NotImplementedError

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
        return made if out is None else _stored(out[0], made)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        top = topmost(args, kwargs)
        assert top is not None
        if function in ABOUT_TYPES:
            return function(*replaced(args, stand_in), **replaced(kwargs, stand_in))
        if function in _WRITING:
            if function is not np.copyto or len(args) != 2 or not is_lifted(args[0]):
                raise Escape(f"{function.__name__} of a lifted array")
            _stored(args[0], np.where(kwargs.get("where", True), args[1], args[0]))
            return None
        out = kwargs.pop("out", None)
        made = top.applied(function, args, kwargs)
        return made if out is None else _stored(out, made)

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

    # A Python number has neither a tangent nor a batch: NumPy would store one into plain memory.
    def item(self) -> Any:
        """Refused: the caller takes a slower way."""
        raise Escape("a lifted array was asked for a Python number")

    __bool__ = __int__ = __float__ = __complex__ = __index__ = tolist = item

    def misfit(self, target: Any) -> Exception:
        """The error about a tensor that is written to a plain one."""
        return Escape("a lifted array does not fit into plain memory")

    def number(self) -> Any:
        """What ``Tensor.item`` answers, or its error."""
        raise NotImplementedError

    def truth(self) -> bool:
        """What ``bool`` of a tensor answers, or its error."""
        return bool(self.number())

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


def repeated(array: Any, like: Any) -> Any:
    """A new array of plain memory, once for each example of the batches that another array is of."""
    return like.repeated(array) if is_lifted(like) else array


def in_order(array: Any) -> Any:
    """An array with its elements in order in memory of its own."""
    return np.copy(array) if is_lifted(array) else np.array(array, order="C")


def check_shared(view: Any, array: Any) -> None:
    """Refuse a view that a function made of copies, which a store into it, or into the array, would not reach."""
    if is_lifted(view) and view.size and not np.may_share_memory(elements(view), elements(array)):
        raise Escape("a view of a lifted array that shares no memory with it")


def memories(array: Any) -> Iterator[Any]:
    """The plain arrays that an array consists of."""
    if not is_lifted(array):
        yield array
        return
    for name in ("values", "primal", "tangent"):
        if hasattr(array, name):
            yield from memories(getattr(array, name))


def with_memory(array: Any) -> Any:
    """An array whose numbers, of those inside, have become arrays of no dimension that can be viewed and written."""
    if is_lifted(array):
        for name in ("values", "primal", "tangent"):
            part = getattr(array, name, None)
            if part is not None:
                setattr(array, name, with_memory(part) if isinstance(part, np.ndarray) else np.array(part))
    return array


def elements(array: Any) -> Any:
    """The plain memory behind an array: all examples, the primals."""
    while is_lifted(array):
        array = getattr(array, "values", None) if hasattr(array, "values") else array.primal
    return np.asarray(array)


def is_escape(error: BaseException | None) -> bool:
    """Whether an error is an escape, or came of one: NumPy reports some as an error of its own."""
    while error is not None and not isinstance(error, Escape):
        error = error.__cause__ or error.__context__
    return error is not None


def concerns(error: Exception, *values: Any) -> bool:
    """Whether an error may come from a lifted array among the values, or what a node saved."""
    return is_escape(error) or any(
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


@cache
def by_rule(function: Any) -> Any:
    """A function of the rule table that is written in Python, differentiated by its rule where it is given tangents.

    What its body does would be differentiated otherwise, and at kinks with other answers.
    """
    if not str(getattr(function, "__module__", "")).startswith("srcgrad.runtime"):
        return function

    def call(*args: Any, **kwargs: Any) -> Any:
        for value in (*args, *kwargs.values()) if kwargs else args:
            if type(value) is not np.ndarray and is_lifted(value) and value.has_tangent():
                top: Any = topmost(args, kwargs)
                return top.applied(function, args, kwargs)
        return function(*args, **kwargs)

    call.__name__ = function.__name__
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
