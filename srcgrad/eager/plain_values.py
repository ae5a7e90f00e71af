"""What stands for a number or an array while a plain NumPy program runs eagerly: NumPy's behaviour, recorded.

A ``Followed`` computes as its number or array does, dtypes, weak Python numbers and errors of NumPy included; what it
computes is recorded with the rules of the shared table.  It is not a ``Tensor``: tensors promote and break ties by
PyTorch's rules.  What cannot be followed raises ``NotFollowed``; nothing drops a gradient in silence.
"""

from __future__ import annotations

import functools
import operator
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any

import numpy as np

from srcgrad.eager.lifting import recorded, strong
from srcgrad.eager.modes import state
from srcgrad.eager.nesting import is_nested
from srcgrad.eager.plain_memory import Memory, private
from srcgrad.eager.plain_operators import NotFollowed, Operators
from srcgrad.eager.tensor import Tensor
from srcgrad.rules.table import (
    CONSTANT_MEMBERS,
    attribute,
    is_constant,
    lookup,
    made_arrays,
    member_refusal,
    method,
    refusal,
)


@functools.cache
def _stores() -> Any:
    """What stores do; that module needs this one."""
    from srcgrad.eager import plain_stores

    return plain_stores


_PROTOCOLS = ("__array_struct__", "__array_interface__", "__buffer__", "__dlpack__")


class Followed(Operators):
    """A number or array of a plain program, with what remembers how its floating-point numbers were made."""

    __slots__ = ("__weakref__", "_seen", "_tensor", "array", "memory", "python")

    def __init__(
        self, tensor: Tensor | None, python: bool = False, array: Any = None, near: Iterable[Memory] = ()
    ) -> None:
        if array is None and tensor is not None and isinstance(tensor.array, np.ndarray):
            array = private(tensor.array)
        self._tensor = tensor
        self._seen = 0
        self.python = python  # one of Python's own numbers, which NumPy lets adapt to the dtype of an array
        self.array = array  # the array itself, in the run's own memory; None for a number
        self.memory: Any = None
        if array is not None:
            self.memory = Memory.of(array, near)
            self._seen = self.memory.version
            if tensor is not None and tensor.requires_grad and not any(self.memory is one for one in near):
                self.memory.parts.append((array, tensor))

    @property
    def tensor(self) -> Tensor:
        """The recorded value at this moment."""
        if self.array is None:
            assert self._tensor is not None
            return self._tensor
        if self._tensor is None or self._seen != self.memory.version:
            read: Tensor = self.memory.read(self.array)
            if not read.requires_grad:
                return read  # what carries no derivative may change without being seen
            self._tensor, self._seen = read, self.memory.version
        return self._tensor

    @property
    def varies(self) -> bool:
        """Whether it carries a derivative."""
        if self.array is not None and not self.memory.varies:
            return False
        return self.tensor.requires_grad

    @property
    def raw(self) -> Any:
        """The number or array itself."""
        if self.array is not None:
            return self.array
        return self.tensor.array.item() if self.python else self.tensor.array

    def _apply(self, function: Callable[..., Any], *given: Any) -> Any:
        return applied(function, given, {})

    def _replace(self, change: Callable[[np.ndarray, Any], Any], other: Any, made: Any) -> None:
        _stores().replaced(self, lambda: change(self.array, unfollowed(other)), made)

    # --- NumPy's protocols -------------------------------------------------------------------------------------------
    def __array_ufunc__(self, ufunc: np.ufunc, way: str, *inputs: Any, **kwargs: Any) -> Any:
        return applied(ufunc if way == "__call__" else getattr(ufunc, way), inputs, kwargs)

    def __array_function__(self, function: Any, types: Any, args: Any, kwargs: Any) -> Any:
        return applied(function, args, kwargs)

    def __array__(self, dtype: Any = None, copy: Any = None) -> Any:
        self._leaves("an array is made of it")
        made = np.array(self.raw, dtype)
        made.flags.writeable = False  # a store into it would not be seen
        return made

    # --- Python's ----------------------------------------------------------------------------------------------------
    def _leaves(self, how: str) -> None:
        """Refuse to become a bare number while it carries a derivative."""
        if state.recording and self.varies:
            raise NotFollowed(f"a number would lose its derivative here: {how} where that is not seen")

    def __float__(self) -> float:
        self._leaves("it is converted to a float")
        return float(self.raw)

    def __complex__(self) -> complex:
        self._leaves("it is converted to a complex number")
        return complex(self.raw)

    def __int__(self) -> int:
        return int(self.raw)

    def __index__(self) -> int:
        return operator.index(self.raw)

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

    def __getattr__(self, name: str) -> Any:
        if name == "detach":
            return lambda: followed(self.raw)
        change = _stores().METHODS.get(name)
        if change is not None and self.array is not None:
            return functools.partial(change, self)
        if name == "flat" and self.array is not None:
            return _stores().Flat(self)
        function = method(name)
        if function is not None:
            return lambda *args, **kwargs: applied(function, (self, *args), kwargs, name)
        function = attribute(name)
        if function is not None:
            return applied(function, (self,), {})
        refused = member_refusal(name)
        if refused is not None:
            raise NotFollowed(f"{name}: {refused.reason}; {refused.hint}")
        if name in _PROTOCOLS:  # by which NumPy would read the memory, and lose the derivative; ``__array__`` refuses
            raise AttributeError(name)
        found = getattr(self.raw, name)
        if not np.ndim(self.raw) and name not in CONSTANT_MEMBERS and name != "is_integer":
            self._leaves(f"its attribute {name!r} is read")
        if name in CONSTANT_MEMBERS or not np.ndim(self.raw):
            return found
        if self.array.dtype.kind in "fc":
            raise NotFollowed(f"the attribute {name!r} of an array is not followed")
        return lambda *args, **kwargs: followed(found(*map(unfollowed, args), **kwargs), [self.memory])

    def __setattr__(self, name: str, value: Any) -> None:
        if name in Followed.__slots__:
            object.__setattr__(self, name, value)
        elif name == "flat":
            _stores().Flat(self)[...] = value
        elif name == "real" and self.array.dtype.kind == "f":
            self[...] = value
        elif name == "shape" and self.array is not None:
            self.memory.reshape(self.array, unfollowed(value))
        else:
            raise NotFollowed(f"a store into the attribute {name!r} of an array is not followed")

    def __copy__(self) -> Any:
        return applied(np.copy, (self,), {}) if self.array is not None else self

    def __deepcopy__(self, memo: Any) -> Any:
        return self.__copy__()

    def __getitem__(self, index: Any) -> Any:
        return applied(operator.getitem, (self, unfollowed(index)), {})

    def __setitem__(self, index: Any, value: Any) -> None:
        if self.array is None:
            raise TypeError(f"{type(self.raw).__name__!r} object does not support item assignment")
        place = unfollowed(index)
        _stores().stored(self, lambda array, given: operator.setitem(array, place, given), value)

    def __delitem__(self, index: Any) -> None:
        del self.raw[index]  # which NumPy refuses


# --- applying a function ---------------------------------------------------------------------------------------------
def applied(
    function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any], member: str | None = None
) -> Any:
    """What ``function`` makes of followed values, itself followed where it has a rule and they carry a derivative.

    ``member`` is the method of the first argument that was called, where ``function`` is what it means.
    """
    out = kwargs.get("out")
    if isinstance(function, np.ufunc) and len(args) > function.nin:
        out, args = args[function.nin :], args[: function.nin]
    if out is not None and any(one is not None for one in (out if isinstance(out, tuple) else (out,))):
        return _stores().into(out, function, args, {k: v for k, v in kwargs.items() if k != "out"}, member)
    change = _stores().function(function)
    if change is not None and any(isinstance(arg, Followed) for arg in args):
        return change(*args, **kwargs)
    args = tuple(list(arg) if isinstance(arg, deque) else arg for arg in args)
    if function in _JOINING and args and is_nested(args[0]) and _varies(args):
        args = (_joined(function, args[0], kwargs), *args[1:])
    if any(isinstance(arg, list | tuple) for arg in args) and (arrays := made_arrays(function)):
        parameters = (*lookup(function).parameters, *("" for _ in args))  # type: ignore[union-attr]
        args = tuple(
            applied(np.array, (arg,), {}) if p in arrays and isinstance(arg, list | tuple) and _varies(arg) else arg
            for p, arg in zip(parameters, args)
        )
    if function is sorted or (function in (max, min) and not kwargs.keys().isdisjoint(("key", "default"))):
        return function(*args, **kwargs)  # the items themselves, which are compared as they are
    if function in (max, min) and len(args) == 1:
        args = tuple(args[0])
        if len(args) == 1:
            return args[0]
    if function in (max, min) and any(isinstance(arg, list | tuple) for arg in args):
        return function(*args)  # one of them itself: they are compared item by item
    if member in ("reshape", "transpose") and len(args) > 2:
        args = (args[0], args[1:])  # x.reshape(2, 3) is np.reshape(x, (2, 3))
    if function in (operator.pow, pow) and _turns_complex(args):
        args = (applied(complex, (args[0],), {}), *args[1:])
    known = refusal(function)
    given, named = [*map(unfollowed, args)], {name: unfollowed(value) for name, value in kwargs.items()}
    compute = function if member is None else getattr(given.pop(0), member)
    operands = [*arrays_in((*args, *kwargs.values()))]
    near = [operand.memory for operand in operands]
    if not state.recording or not (_varies(args) or _varies([*kwargs.values()])):
        outcome = _called(function, compute, given, named)
        for operand in operands:
            if outcome is operand.array:
                return operand
        return followed(outcome, near)
    tensors, keywords = tensors_of(args), tensors_of(kwargs)
    before = [(operand.array, operand.array.copy()) for operand in operands]
    outcome = compute(*given, **named)
    if any(not np.array_equal(array, kept, equal_nan=kept.dtype.kind in "fc") for array, kept in before):
        raise NotFollowed(f"{function} changes an argument in place, which is not followed")
    for operand in operands:
        if outcome is operand.array:
            return operand
    if isinstance(outcome, np.ndarray) and outcome.dtype.kind in "OV":
        raise NotFollowed("an array of objects or records is not followed")
    rule = lookup(function)
    if rule is None:
        if is_constant(function):
            return followed(outcome, near)
        why = f": {known.reason}; {known.hint}" if known is not None else ""
        raise NotFollowed(f"there is no derivative rule for {function}{why}")
    made = recorded(function, rule, tensors, keywords, strong(_kept(outcome)))
    return _alike(made, outcome, near)


class CalledBack:
    """A function of the program as one without a rule may call it: what carries no derivative is given back plain."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.function = function
        self.varied = False  # whether it has given back what carries a derivative

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        outcome = self.function(*args, **kwargs)
        self.varied |= (varies := _varies([outcome]))
        return outcome if varies else unfollowed(outcome)


def _called(function: Any, compute: Callable[..., Any], given: list[Any], named: dict[str, Any]) -> Any:
    """What a function makes of plain arguments; SciPy's may not make an error of a derivative that would be lost."""
    if not str(getattr(function, "__module__", "")).startswith("scipy.") or lookup(function) is not None:
        return compute(*given, **named)
    back = {id(f): CalledBack(f) for f in (*given, *named.values()) if isinstance(f, FunctionType | MethodType)}
    given, named = [back.get(id(f), f) for f in given], {name: back.get(id(f), f) for name, f in named.items()}
    try:
        return compute(*given, **named)
    except Exception as error:
        if any(one.varied for one in back.values()):
            text = f"a number would lose its derivative here: {function.__name__} calls a function that carries one"
            raise NotFollowed(text) from error
        raise


def _turns_complex(args: tuple[Any, ...]) -> bool:
    """Whether a negative Python float is raised to a fraction, which makes a complex number of it."""
    base, exponent = (unfollowed(arg) for arg in args[:2])
    return type(base) is float and base < 0.0 and isinstance(exponent, float) and not float(exponent).is_integer()


_JOINING = (np.array, np.asarray, np.asanyarray)


def _joined(function: Callable[..., Any], rows: Any, kwargs: dict[str, Any]) -> list[Any]:
    """Each inner list as an array, so that no list holds lists and every order is recorded."""
    return [applied(function, (row,), kwargs) if isinstance(row, list | tuple) else row for row in rows]


def _varies(values: Any) -> bool:
    return any(
        value.varies if isinstance(value, Followed) else isinstance(value, list | tuple | dict) and _varies(value)
        for value in (values.values() if isinstance(values, dict) else values)
    )


def arrays_in(values: Iterable[Any]) -> Iterator[Followed]:
    """The followed arrays among arguments, those in lists, tuples and dicts too."""
    for value in values:
        if isinstance(value, Followed):
            if value.array is not None:
                yield value
        elif isinstance(value, list | tuple):
            yield from arrays_in(value)
        elif isinstance(value, dict):
            yield from arrays_in(value.values())


def _each(made_of: Callable[[Any], Any], container: Any) -> Any:
    """The container with what is made of each item."""
    if isinstance(container, dict):
        return {key: made_of(item) for key, item in container.items()}
    items = [*map(made_of, container)]
    return type(container)(*items) if hasattr(container, "_fields") else type(container)(items)


def _kept(outcome: Any) -> Any:
    """A result whose arrays no store can reach."""
    if isinstance(outcome, list | tuple | dict):
        return _each(_kept, outcome)
    return outcome.copy(order="K") if isinstance(outcome, np.ndarray) else outcome


def unfollowed(value: Any) -> Any:
    """Numbers and arrays themselves, in containers and indices too."""
    if isinstance(value, Followed):
        return value.raw
    if isinstance(value, list | tuple | dict):
        return _each(unfollowed, value)
    return getattr(value, "followed_type", value)


def tensors_of(value: Any) -> Any:
    """The same with tensors where a derivative is carried, and copies of other arrays."""
    if isinstance(value, Followed):
        return value.tensor if value.varies else _kept(value.raw)
    if isinstance(value, np.ndarray):
        return value.copy(order="K")
    if isinstance(value, list | tuple | dict):
        return _each(tensors_of, value)
    return getattr(value, "followed_type", value)


@dataclass(frozen=True, eq=False)
class FollowedGenerator:
    """A generator of random numbers: it draws as it does, and shuffles followed arrays."""

    followed_type: Any

    @property  # type: ignore[misc]
    def __class__(self) -> Any:
        return type(self.followed_type)

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.followed_type, name)
        if not callable(found):
            return found

        def call(*args: Any, **kwargs: Any) -> Any:
            if name == "shuffle" and not isinstance(args[0], Followed):
                return found(*args, **kwargs)
            return applied(found, args, kwargs)

        return call


def followed(value: Any, near: Sequence[Memory] = ()) -> Any:
    """Arrays of numbers as followed ones, so that stores into them are seen; numbers as they are."""
    if isinstance(value, np.ndarray) and value.dtype.kind in "fciub":
        return Followed(None, array=value, near=near)
    if isinstance(value, np.random.Generator | np.random.RandomState):
        return value if isinstance(value, FollowedGenerator) else FollowedGenerator(value)
    if type(value) in (list, tuple):
        return type(value)(followed(item, near) for item in value)
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(followed(item, near) for item in value))
    if type(value) is dict:
        return {key: followed(item, near) for key, item in value.items()}
    return value


def _alike(made: Any, outcome: Any, near: Sequence[Memory]) -> Any:
    """Tensors in the structure of what NumPy returned."""
    if isinstance(outcome, list | tuple):
        items = [_alike(one, part, near) for one, part in zip(made, outcome, strict=True)]
        return type(outcome)(*items) if hasattr(outcome, "_fields") else type(outcome)(items)
    if isinstance(outcome, dict):
        return {key: _alike(made[key], part, near) for key, part in outcome.items()}
    if not isinstance(made, Tensor) or not made.requires_grad:
        return followed(outcome, near)
    if isinstance(outcome, np.ndarray):
        return Followed(made, array=outcome, near=near)
    return Followed(made, python=not hasattr(outcome, "dtype"))
