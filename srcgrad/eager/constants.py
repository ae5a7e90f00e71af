"""What an operation takes for a constant: a tensor there would lose its derivative without a word, and is refused."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from types import FunctionType
from typing import Any, TypeVar

from srcgrad.eager.lifted_arrays import is_lifted
from srcgrad.eager.modes import state
from srcgrad.eager.tensor import Tensor

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])
#: Annotations of parameters by which there is no derivative: Python numbers, and tensors.  A number may be given as a
#: tensor that has none.
Number = Any
Constant = Tensor
_NUMBERS = ("Number", "float", "float | None")
_CONSTANTS = ("Constant", "Constant | None")
NOT_NUMBER = "{name}(): argument '{place}' must be Number, not Tensor that requires grad"
NOT_DIFFERENTIABLE = (
    "The function '{name}' is not differentiable with respect to argument '{place}'. This input cannot have "
    "requires_grad True."
)


def varies(value: Any) -> bool:
    """Whether a value has a derivative that is asked for: a tensor that is recorded, or one with a tangent."""
    if not isinstance(value, Tensor):
        return isinstance(value, list | tuple) and any(map(varies, value))
    return (state.recording and value.requires_grad) or (is_lifted(value.array) and value.array.has_tangent())


def plain_number(name: str, place: str, value: Any) -> Any:
    """A Python number, which may be given as a tensor of no dimension and without a derivative."""
    if not isinstance(value, Tensor):
        return value
    if varies(value):
        raise TypeError(NOT_NUMBER.format(name=name, place=place))
    if value.array.ndim:
        raise TypeError(f"{name}(): argument '{place}' must be Number, not Tensor")
    return value.item()


def constants_checked(f: AnyFunction) -> AnyFunction:
    """The function, which refuses tensors that have a derivative for the parameters that are annotated as constants."""
    code = getattr(f, "__code__", None)
    if code is None or hasattr(f, "__wrapped__"):
        return f
    positional = code.co_varnames[: code.co_argcount]
    names = [p for p, kind in f.__annotations__.items() if kind in _NUMBERS or kind in _CONSTANTS]
    names = [p for p in names if p != "return"]
    if not names:
        return f
    places = [(positional.index(p), p) for p in names if p in positional]
    first = min((i for i, _ in places), default=len(positional))

    def check(place: str, value: Any) -> None:
        if not varies(value):
            return
        if f.__annotations__[place] in _NUMBERS:
            raise TypeError(NOT_NUMBER.format(name=f.__name__, place=place))
        raise RuntimeError(NOT_DIFFERENTIABLE.format(name=f.__name__, place=place))

    @functools.wraps(f)
    def checking(*args: Any, **kwargs: Any) -> Any:
        if len(args) > first:
            for i, p in places:
                if i < len(args) and isinstance(args[i], Tensor):
                    check(p, args[i])
        if kwargs:
            for p in names:
                if isinstance(kwargs.get(p), Tensor):
                    check(p, kwargs[p])
        return f(*args, **kwargs)

    return checking  # type: ignore[return-value]


def check_captured_constants(name: str, function: Callable[..., Any], inputs: tuple[Any, ...]) -> None:
    """Refuse tensors that a composed operation reads besides its inputs: no gradient would reach them."""
    for place, value in _captured(function, set()):
        if varies(value) and not any(value is one for one in inputs):
            raise RuntimeError(NOT_DIFFERENTIABLE.format(name=name, place=place))


def _captured(function: Callable[..., Any], seen: set[int]) -> Iterator[tuple[str, Any]]:
    """The variables that a function has captured, with those of functions among them."""
    if not isinstance(function, FunctionType) or not function.__closure__ or id(function) in seen:
        return
    seen.add(id(function))
    for place, cell in zip(function.__code__.co_freevars, function.__closure__, strict=True):
        try:
            value = cell.cell_contents
        except ValueError:  # not bound yet
            continue
        if isinstance(value, FunctionType):
            yield from _captured(value, seen)
        else:
            yield place, value
