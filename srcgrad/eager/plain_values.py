"""What stands for a number or an array while a plain NumPy program runs eagerly: NumPy's behaviour, recorded.

A ``Followed`` computes as its number or array does, dtypes, weak Python numbers and errors of NumPy included; what it
computes is recorded with the rules of the shared table.  It is not a ``Tensor``: tensors promote and break ties by
PyTorch's rules.  What cannot be followed raises ``NotImplementedError``; nothing drops a gradient in silence.
"""

from __future__ import annotations

import operator
import weakref
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from srcgrad import runtime
from srcgrad.eager.lifting import recorded, strong
from srcgrad.eager.modes import state
from srcgrad.eager.nesting import is_nested
from srcgrad.eager.tensor import Tensor
from srcgrad.rules.table import (
    CONSTANT_MEMBERS,
    attribute,
    is_constant,
    lookup,
    member_refusal,
    method,
    refusal,
)

Family = list[Any]  # weak references


class Followed:
    """A floating-point number or array of a plain program, with the tensor that remembers how it was made."""

    __slots__ = ("__weakref__", "family", "origin", "python", "tensor")

    def __init__(self, tensor: Tensor, python: bool = False, family: Family | None = None) -> None:
        self.tensor = tensor
        self.python = python  # one of Python's own numbers, which NumPy lets adapt to the dtype of an array
        self.family: Family = [] if family is None else family  # all that may share the array's memory
        self.origin: tuple[Followed, Any] | None = None  # of a view: what it is a part of, and where
        if isinstance(tensor.array, np.ndarray):
            self.family.append(weakref.ref(self))

    @property
    def raw(self) -> Any:
        """The number or array itself."""
        return self.tensor.array.item() if self.python else self.tensor.array

    # --- NumPy's protocols -------------------------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: np.ufunc, way: str, *inputs: Any, **kwargs: Any) -> Any:
        return applied(ufunc if way == "__call__" else getattr(ufunc, way), inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return applied(function, args, kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self._leaves("an array is made of it")
        return np.asarray(self.raw, dtype)

    # --- Python's ----------------------------------------------------------------------------------------------------
    def _leaves(self, how: str) -> None:
        """Refuse to become a bare number while it carries a derivative."""
        if state.recording and self.tensor.requires_grad:
            raise NotImplementedError(f"a number would lose its derivative here: {how} where that is not seen")

    def __float__(self) -> float:
        self._leaves("it is converted to a float")
        return float(self.raw)

    def __complex__(self) -> complex:
        self._leaves("it is converted to a complex number")
        return complex(self.raw)

    def __int__(self) -> int:
        return int(self.raw)

    def __bool__(self) -> bool:
        return bool(self.raw)

    def __len__(self) -> int:
        return len(self.raw)

    def __iter__(self) -> Iterator[Any]:
        if np.ndim(self.raw) == 0:
            raise TypeError("iteration over a number")
        return (self[i] for i in range(len(self)))

    def __contains__(self, item: Any) -> bool:
        return unfollowed(item) in self.raw

    def __hash__(self) -> int:
        return hash(self.raw)

    def __repr__(self) -> str:
        return repr(self.raw)

    def __str__(self) -> str:
        return str(self.raw)

    def __format__(self, spec: str) -> str:
        return format(self.raw, spec)

    def __round__(self, digits: int | None = None) -> Any:
        return applied(round, (self,) if digits is None else (self, digits), {})

    def __abs__(self) -> Any:
        return applied(abs, (self,), {})

    def __divmod__(self, other: Any) -> Any:
        return applied(divmod, (self, other), {})

    def __rdivmod__(self, other: Any) -> Any:
        return applied(divmod, (other, self), {})

    def __getattr__(self, name: str) -> Any:
        if name == "detach":
            return lambda: followed(self.raw)
        function = method(name)
        if function is not None:
            return lambda *args, **kwargs: applied(function, (self, *args), kwargs, name)
        function = attribute(name)
        if function is not None:
            return applied(function, (self,), {})
        refused = member_refusal(name)
        if refused is not None:
            raise NotImplementedError(f"{name}: {refused.reason}; {refused.hint}")
        found = getattr(self.raw, name)
        if name in CONSTANT_MEMBERS or not np.ndim(self.raw):
            return found
        raise NotImplementedError(f"the attribute {name!r} of an array is not followed")

    def __getitem__(self, index: Any) -> Any:
        place = unfollowed(index)
        made = applied(operator.getitem, (self, place), {})
        if isinstance(made, Followed) and made.family is self.family:
            made.origin = (self, place)
        return made

    # --- stores ------------------------------------------------------------------------------------------------------
    def __setitem__(self, index: Any, value: Any) -> None:
        place = unfollowed(index)
        if not isinstance(self.raw, np.ndarray):
            raise TypeError(f"{type(self.raw).__name__!r} object does not support item assignment")
        if isinstance(value, Followed) and value.origin is not None and value.origin[0] is self:
            if repr(value.origin[1]) == repr(place):
                return  # the end of x[place] += e, which has been stored through the view already
        self.become(applied(runtime.replaced_at, (self, place, value), {}))

    def become(self, value: Any) -> None:
        """Hold another value in the same array, and in what it is a view of; nothing else may be looking at it."""
        chain: list[Followed] = [self]
        while chain[-1].origin is not None:
            chain.append(chain[-1].origin[0])
        living = [member() for member in self.family]
        if any(one is not None and not any(one is link for link in chain) for one in living):
            raise NotImplementedError("a store into an array that others share is not followed; store into a copy")
        self.tensor = value.tensor if isinstance(value, Followed) else Tensor.of(np.asarray(value))
        if self.origin is not None:
            base, place = self.origin
            base.hold(applied(runtime.replaced_at, (base, place, self), {}))

    def hold(self, value: Any) -> None:
        """Take a value that was stored through a view."""
        self.tensor = value.tensor
        if self.origin is not None:
            base, place = self.origin
            base.hold(applied(runtime.replaced_at, (base, place, self), {}))


def _operator(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, *others: applied(function, (self, *others), {})


def _reflected(function: Callable[..., Any]) -> Callable[..., Any]:
    return lambda self, other: applied(function, (other, self), {})


def _in_place(function: Callable[..., Any]) -> Callable[..., Any]:
    def change(self: Followed, other: Any) -> Any:
        made = applied(function, (self, other), {})
        mine = self.raw
        if not isinstance(mine, np.ndarray):
            return made
        found = unfollowed(made)
        if np.shape(found) != mine.shape:
            raise ValueError(f"non-broadcastable output operand with shape {mine.shape}")
        if found.dtype != mine.dtype:
            made = applied(runtime.astype, (made, np.result_type(mine)), {})
        self.become(made)
        return self

    return change


_BINARY = "add sub mul truediv floordiv mod pow matmul".split()
for _name in _BINARY:
    _function = getattr(operator, _name)
    setattr(Followed, f"__{_name}__", _operator(_function))
    setattr(Followed, f"__r{_name}__", _reflected(_function))
    setattr(Followed, f"__i{_name}__", _in_place(_function))
for _name in "neg pos eq ne lt le gt ge".split():
    setattr(Followed, f"__{_name}__", _operator(getattr(operator, _name)))


# --- applying a function ---------------------------------------------------------------------------------------------
def applied(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], member: str | None = None
) -> Any:
    """What ``function`` makes of followed values, itself followed where it has a rule and they carry a derivative.

    ``member`` is the method of the first argument that was called, where ``function`` is what it means.
    """
    out = kwargs.get("out")
    if out is not None:
        return _into(out, function, args, {name: value for name, value in kwargs.items() if name != "out"})
    if function in _JOINING and args and is_nested(args[0]) and _varies(args):
        args = (_joined(function, args[0], kwargs), *args[1:])
    if function in (max, min) and len(args) == 1:
        args = tuple(args[0])
    if member in ("reshape", "transpose") and len(args) > 2:
        args = (args[0], args[1:])  # x.reshape(2, 3) is np.reshape(x, (2, 3))
    if function in (operator.pow, pow) and _turns_complex(args):
        args = (applied(complex, (args[0],), {}), *args[1:])
    known = refusal(function)
    if known is not None and "in place" in known.reason and any(isinstance(arg, Followed) for arg in args):
        raise NotImplementedError(f"{function}: {known.reason}; {known.hint}")
    given, named = [*map(unfollowed, args)], {name: unfollowed(value) for name, value in kwargs.items()}
    compute = function if member is None else getattr(given.pop(0), member)
    outcome = compute(*given, **named)
    if not state.recording or not (_varies(args) or _varies([*kwargs.values()])):
        return _sharing(followed(outcome), args)
    rule = lookup(function)
    if rule is None:
        if is_constant(function):
            return _sharing(followed(outcome), args)
        why = f": {known.reason}; {known.hint}" if known is not None else ""
        raise NotImplementedError(f"there is no derivative rule for {function}{why}")
    tensors = tuple(map(tensors_of, args))
    keywords = {name: tensors_of(value) for name, value in kwargs.items()}
    made = recorded(function, rule, tensors, keywords, strong(outcome))
    return _sharing(_alike(made, outcome), args)


def _turns_complex(args: tuple[Any, ...]) -> bool:
    """Whether a negative Python float is raised to a fraction, which makes a complex number of it."""
    base, exponent = (unfollowed(arg) for arg in args[:2])
    return type(base) is float and base < 0.0 and isinstance(exponent, float) and not float(exponent).is_integer()


def _into(out: Any, function: Callable[..., Any], args: Any, kwargs: Any) -> Any:
    """``out=``: a store of the whole result."""
    target = out[0] if isinstance(out, tuple) else out
    made = applied(function, args, kwargs)
    if isinstance(target, Followed):
        target[...] = made
    else:
        target[...] = unfollowed(made) if not _varies([made]) else made
    return target


_JOINING = (np.array, np.asarray, np.asanyarray)


def _joined(function: Callable[..., Any], rows: Any, kwargs: dict[str, Any]) -> list[Any]:
    """Each inner list as an array, so that no list holds lists and every order is recorded."""
    return [applied(function, (row,), kwargs) if isinstance(row, list | tuple) else row for row in rows]


def _varies(values: Any) -> bool:
    return any(
        value.tensor.requires_grad
        if isinstance(value, Followed)
        else isinstance(value, list | tuple) and _varies(value)
        for value in values
    )


def unfollowed(value: Any) -> Any:
    """Numbers and arrays themselves, in containers and indices too."""
    if isinstance(value, Followed):
        return value.raw
    if isinstance(value, list | tuple):
        items = [unfollowed(item) for item in value]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    if isinstance(value, dict):
        return {key: unfollowed(item) for key, item in value.items()}
    return getattr(value, "followed_type", value)


def tensors_of(value: Any) -> Any:
    """The same with tensors where a derivative is carried."""
    if isinstance(value, Followed):
        return value.tensor if value.tensor.requires_grad else value.raw
    if isinstance(value, list | tuple):
        items = [*map(tensors_of, value)]
        return type(value)(*items) if hasattr(value, "_fields") else type(value)(items)
    return getattr(value, "followed_type", value)


def followed(value: Any) -> Any:
    """Floating arrays as followed ones, so that stores into them are seen; numbers as they are."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return Followed(Tensor.of(value))
    if type(value) in (list, tuple):
        return type(value)(map(followed, value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*map(followed, value))
    return value


def _alike(made: Any, outcome: Any) -> Any:
    """Tensors in the structure of what NumPy returned."""
    if isinstance(outcome, list | tuple):
        items = [_alike(one, part) for one, part in zip(made, outcome, strict=True)]
        return type(outcome)(*items) if hasattr(outcome, "_fields") else type(outcome)(items)
    if not isinstance(made, Tensor) or not made.requires_grad:
        return followed(outcome)
    return Followed(made, python=not hasattr(outcome, "dtype"))


def _sharing(made: Any, args: Any) -> Any:
    """A result that may share memory with an argument joins its family."""
    if isinstance(made, Followed):
        array = made.tensor.array
        if isinstance(array, np.ndarray):
            for arg in args:
                if isinstance(arg, Followed) and isinstance(arg.tensor.array, np.ndarray):
                    if np.may_share_memory(array, arg.tensor.array):
                        arg.family.append(weakref.ref(made))
                        made.family = arg.family
    elif isinstance(made, list | tuple):
        for one in made:
            _sharing(one, args)
    return made
