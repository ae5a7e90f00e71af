"""Arguments at the door: how they are passed, what kinds they are, which of them have a derivative.

Enters: a function's signature and the values of a call.  Leaves: one value per parameter, a key of kinds under which a
program is kept, or ``ArgumentError``.
"""

from __future__ import annotations

import inspect
import sys
from collections import deque
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from enum import Enum
from functools import partial
from types import BuiltinFunctionType, FunctionType, ModuleType
from typing import Any

import numpy as np

from srcgrad.api.advice import close_to
from srcgrad.errors import ArgumentError, SeedError, Span
from srcgrad.runtime.exact import inside, is_sparse, named, why_refused
from srcgrad.runtime.objects import Itself, defines, fields_of, is_object
from srcgrad.runtime.reaching import captured

Argnums = int | str | tuple[int | str, ...]


def positions(argnums: object) -> Argnums:
    """Which arguments are meant: a position, a name, or a tuple of them; a list is taken for a tuple."""
    if isinstance(argnums, tuple | list):
        return tuple(map(_position, argnums))
    return _position(argnums)


def _position(which: object) -> int | str:
    if isinstance(which, str):
        return which
    if isinstance(which, int | np.integer) and not isinstance(which, bool):
        return int(which)
    hint = "has_aux and holomorphic are given by name" if isinstance(which, bool) else None
    if is_floating(which) or is_integer(which):
        hint = hint or "the point at which the derivative is taken is an argument of what grad gives: grad(f)(x)"
    raise ArgumentError(f"argnums is a position, a name, or a tuple of them, not {described(which)}", hint=hint)


class Behind(inspect.Parameter):
    """A keyword-only parameter that a caller passes behind all positional arguments, as the vector of ``hvp``."""


class Parameters:
    """How a function's arguments are passed, and in which order its programs take them."""

    def __init__(self, signature: inspect.Signature, first: tuple[Any, ...] = ()) -> None:
        self.first = first  # the object of a bound method
        self.signature = signature
        kinds = inspect.Parameter
        self.names = tuple(self.signature.parameters)
        self.plain = all(
            p.kind in (kinds.POSITIONAL_ONLY, kinds.POSITIONAL_OR_KEYWORD) for p in self.signature.parameters.values()
        )
        self.variadic = next(
            (n for n, p in self.signature.parameters.items() if p.kind is kinds.VAR_POSITIONAL), None
        )
        self.behind = tuple(n for n, p in self.signature.parameters.items() if isinstance(p, Behind))

    def bind(self, args: tuple[Any, ...], kwargs: Mapping[str, Any]) -> tuple[Any, ...]:
        """One value per parameter, defaults included; ``*args`` is a tuple, ``**kwargs`` a dict."""
        args = (*self.first, *args)
        if self.plain and not kwargs and len(args) == len(self.names):
            return args
        if self.behind and len(args) >= len(self.behind):
            last, args = args[-len(self.behind) :], args[: -len(self.behind)]
            kwargs = {**kwargs, **dict(zip(self.behind, last, strict=True))}
        bound = self.signature.bind(*args, **kwargs)
        bound.apply_defaults()
        for name in self.names:
            if name not in bound.arguments:  # by name what is passed by place: Python 3.13.0 finds no fault with it
                raise TypeError(f"missing a required argument: {name!r}")
        return tuple(bound.arguments[name] for name in self.names)

    def call(self, function: Callable[..., Any], values: tuple[Any, ...]) -> Any:
        """``function`` called with one value per parameter."""
        args, kwargs = self.spread(values)
        return function(*args, **kwargs)

    def spread(self, values: tuple[Any, ...]) -> tuple[tuple[Any, ...], dict[str, Any]]:
        """One value per parameter as the positional arguments and the keywords of a call."""
        args: list[Any] = []
        kwargs: dict[str, Any] = {}
        for (name, parameter), value in zip(self.signature.parameters.items(), values, strict=True):
            if parameter.kind is parameter.VAR_POSITIONAL:
                args += value
            elif parameter.kind is parameter.VAR_KEYWORD:
                kwargs.update(value)
            elif parameter.kind is parameter.KEYWORD_ONLY:
                kwargs[name] = value
            else:
                args.append(value)
        return tuple(args), kwargs

    @property
    def passed(self) -> inspect.Signature:
        """What a caller sees: what is passed behind stands after what has to be passed, before what is optional."""
        every = list(self.signature.parameters.values())
        if self.first and every[0].kind is not every[0].VAR_POSITIONAL:
            del every[0]
        if not self.behind:
            return inspect.Signature(every)
        needed = [p for p in every if p.default is p.empty and p.kind < p.VAR_POSITIONAL]
        behind = [inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD) for name in self.behind]
        rest = [p for p in every if p not in needed and p.name not in self.behind]
        others = [p if p.kind is p.VAR_KEYWORD else p.replace(kind=p.KEYWORD_ONLY) for p in rest]
        return inspect.Signature([*needed, *behind, *others])

    def places(self, *, is_whole: bool) -> dict[str, int]:
        """Where arguments stand in a call that passes all that it can by place, or (not ``is_whole``) in any call."""
        passed = [p for p in self.signature.parameters.values() if p.kind <= p.VAR_POSITIONAL][len(self.first) :]
        if self.behind and not is_whole:
            passed = [p for p in passed if p.default is p.empty]
        names = [p.name for p in passed] + list(self.behind if is_whole else ())
        return {name: place for place, name in enumerate(names)}

    @property
    def may_be_left_out(self) -> bool:
        """Whether some parameters are left out by default, and have no value then."""
        return any(parameter.default is np._NoValue for parameter in self.signature.parameters.values())

    def left_out(self) -> tuple[Any, ...]:
        """Arguments of which no more is said than that those are left out which may be."""
        kinds: dict[Any, Any] = {inspect.Parameter.VAR_POSITIONAL: (), inspect.Parameter.VAR_KEYWORD: {}}
        parameters = self.signature.parameters.values()
        return tuple(np._NoValue if p.default is np._NoValue else kinds.get(p.kind, 0.0) for p in parameters)

    def constants(self, values: tuple[Any, ...], varying: tuple[str, ...]) -> tuple[str, ...]:
        """The parameters that are what they are by default, where that is a truth value, an integer or a text: a
        program is written for these values, unless it is to serve others, as of ``varying``."""
        return tuple(
            name for (name, parameter), value in zip(self.signature.parameters.items(), values, strict=False)
            if type(value) in (bool, int, str) and type(parameter.default) is type(value) and parameter.default == value
            and name not in varying
        )  # fmt: skip

    def chosen(self, argnums: Argnums) -> tuple[tuple[str, int | None], ...]:
        """Each differentiated argument as (parameter, position inside ``*args`` or None)."""
        wanted = argnums if isinstance(argnums, tuple) else (argnums,)
        return tuple(self._one(which) for which in wanted)

    def _one(self, which: int | str) -> tuple[str, int | None]:
        names = list(self.passed.parameters if self.behind else self.names)
        if isinstance(which, str):
            if which not in names:
                known, close = f"the arguments are {', '.join(names)}", close_to(which, names)
                meant = "" if close is None else f"did you mean {close!r}? "
                raise ArgumentError(f"there is no argument {which!r}", hint=meant + known)
            return which, None
        fixed = names[: names.index(self.variadic)] if self.variadic else names
        position = which + len(names) if which < 0 and not self.variadic else which
        if which < 0 and position < len(self.first):  # the object of a bound method is no argument of a call
            position = -1
        if 0 <= position < len(fixed):
            return fixed[position], None
        if self.variadic and position >= len(fixed):
            return self.variadic, position - len(fixed)
        passed = ", ".join(names[len(self.first) :])
        shifted = which - len(self.first) if which >= 0 else which
        hint = f"the arguments are {passed}{', counted from 0' if which >= 0 else ''}" if passed else None
        raise ArgumentError(f"there is no argument {shifted}", hint=hint)


def require_derivable(primal: Any) -> None:
    """Refuse what is no function, and derivatives that are not differentiated themselves."""
    if not callable(primal):
        hint = "pass the function itself, and call what grad gives: grad(f)(x)" if is_floating(primal) else None
        raise ArgumentError(f"a function is expected, not {described(primal)}", hint=hint)
    refused = primal.__srcgrad_underivable__() if defines(type(primal), "__srcgrad_underivable__") else None
    if refused is not None:
        raise ArgumentError(refused[0], hint=refused[1])


def require_pair(outcome: object, span: Span | None = None) -> None:
    """Refuse what a function with ``has_aux=True`` does not return."""
    if not isinstance(outcome, tuple) or len(outcome) != 2:
        raise SeedError(f"with has_aux=True a function returns (value, auxiliary), not {described(outcome)}", span)


def is_static(value: object) -> bool:
    """Whether an argument is compiled in: a function, a module, a member of an enumeration, or None, which its function
    asks about."""
    kinds = FunctionType | np.ufunc | BuiltinFunctionType | ModuleType | Enum
    return value is None or value is np._NoValue or isinstance(value, kinds)


def holds_objects(value: object) -> bool:
    """Whether a value is an object of a user's class or a set, or a container that holds one."""
    if isinstance(value, tuple | list | deque):
        return hasattr(value, "_fields") or any(map(holds_objects, value))
    if isinstance(value, dict):
        return any(map(holds_objects, value.values()))
    return isinstance(value, set | frozenset) or is_object(value)


def kinds_of(values: tuple[Any, ...]) -> tuple[object, ...]:
    """The kinds of all arguments of a call."""
    try:
        return tuple(map(kind_of, values))
    except RecursionError:
        reason = "an argument contains itself, or is nested too deep"
        raise ArgumentError(reason, hint="pass what the function reads") from None


def kind_of(value: object) -> object:
    """What a specialisation may depend on: type, rank and dtype, never a value; functions by identity."""
    if type(value) is float or type(value) is int:
        return type(value)
    if type(value) is np.ndarray:
        return value.ndim, value.dtype.char if value.dtype.isnative else value.dtype.str
    if isinstance(value, tuple | list | deque):
        return type(value), tuple(kind_of(item) for item in value)
    if isinstance(value, dict):
        return type(value), tuple((_exact(key), kind_of(item)) for key, item in value.items())
    if isinstance(value, set | frozenset):
        return type(value), frozenset(map(kind_of, value))
    if isinstance(value, np.ndarray):
        return type(value), value.ndim, value.dtype.str
    if is_object(value):
        return type(value), tuple((name, kind_of(item)) for name, item in fields_of(value).items())
    if isinstance(value, Enum):
        return Itself(value)  # members of several enumerations of integers are equal
    if is_static(value) or isinstance(value, type):
        return value
    if is_sparse(type(value)):
        return type(value), len(value.shape), value.dtype.str  # type: ignore[attr-defined]
    if type(value) is slice:
        return slice, kind_of(value.start), kind_of(value.stop), kind_of(value.step)
    return type(value)


def _exact(key: object) -> object:
    """What stands for a key, and differs where keys are equal but not the same: 1, True and 1.0, or 0.0 and -0.0."""
    if isinstance(key, tuple | frozenset):
        return type(key), type(key)(map(_exact, key)) if type(key) is frozenset else tuple(map(_exact, key))
    is_number = isinstance(key, float | complex | np.inexact)
    return key if type(key) is str else (type(key), repr(key) if is_number else key)


def require_exact_type(value: object, place: str) -> None:
    """Refuse a value whose class computes otherwise than arrays, numbers and containers do: a masked array, a matrix, a
    quantity; and arrays with fields."""
    refused = why_refused(value)
    if refused is not None:
        raise ArgumentError(f"argument {place} is {refused[0]}", hint=refused[1])


def require_exact_types(names: Iterable[str], values: Iterable[object]) -> None:
    """The same for arguments, and for what containers and objects among them hold.

    The answer depends on their kinds alone, so that it is asked once for each key of ``kinds_of``.
    """
    for name, value in zip(names, values, strict=False):
        for part, place in inside(value, name):
            require_exact_type(part, place)


def require_captured_apart(names: Iterable[str], values: Iterable[object], wanted: Collection[str]) -> bool:
    """Refuse what is differentiated if a function in it captured another part of it: what it reads of that, as of
    everything outside, is constant, and its part would be missing in the derivative.

    Returns whether there are such functions: which object each captured is asked at every call.
    """
    parts = [part for n, v in zip(names, values, strict=False) if n in wanted for part in inside(v, n)]
    functions = [(part, place) for part, place in parts if isinstance(part, FunctionType | partial)]
    held = {id(part): place for part, place in parts if is_object(part) or is_floating(part) and np.ndim(part)}
    for function, place in functions:
        for part in captured(function):
            if (other := held.get(id(part))) is not None:
                reason = f"the function {place} captured {other}, which is differentiated, and would read a constant"
                raise ArgumentError(reason, hint="write a method, or pass it to the function")
    return bool(functions)


def check_differentiable(value: Any, name: str) -> None:
    """Refuse an argument without a derivative: only floating-point numbers, real or complex, and their arrays have one.

    In a container integers, truth values, text, None and functions are passed over (their place in the gradient holds
    None), but numbers that are all integers are refused: they were meant to be floats.
    """
    if not isinstance(value, tuple | list | deque | dict) and not is_object(value):
        if type(value) is not np.ndarray and type(value) is not float:
            require_exact_type(value, name)
        if not is_floating(value):
            raise _refused(value, name)
        return
    try:
        leaves = list(leaves_of(value, name))
    except RecursionError:
        reason = f"argument {name} contains itself, or is nested too deep, and has no gradient"
        raise ArgumentError(reason, hint="pass its parts") from None
    for leaf, place in leaves:
        if not (is_floating(leaf) or is_integer(leaf) or leaf is None or isinstance(leaf, str | bytes)):
            if not callable(leaf):
                raise _refused(leaf, place)
    integers = [(leaf, place) for leaf, place in leaves if is_integer(leaf)]
    if integers and not any(is_floating(leaf) for leaf, _ in leaves):
        raise _refused(*integers[0])


def is_floating(value: object) -> bool:
    """Whether a value has a derivative of its own: a float or complex number, or an array of them."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "fc"
    return isinstance(value, float | complex)


def is_integer(value: object) -> bool:
    """Whether a value is a number without a derivative: an integer or truth value, or an array of them."""
    if isinstance(value, np.ndarray | np.generic):
        return value.dtype.kind in "biu"
    return isinstance(value, int)


def leaves_of(value: Any, name: str) -> Iterator[tuple[Any, str]]:
    """What nested containers hold, each with its place: ``w[0]['bias']``."""
    require_exact_type(value, name)
    if isinstance(value, tuple | list | deque):
        for position, item in enumerate(value):
            yield from leaves_of(item, f"{name}[{position}]")
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from leaves_of(item, f"{name}[{key!r}]")
    elif is_object(value):
        for field, item in fields_of(value).items():
            yield from leaves_of(item, f"{name}.{field}")
    else:
        yield value, name


def _refused(value: Any, name: str) -> ArgumentError:
    require_exact_type(value, name)
    if isinstance(value, np.ndarray):
        hint: str | None = f"pass {name}.astype(float)" if is_integer(value) else None
        if value.dtype.hasobject:
            hint = "pass a list of arrays, or an array of floats: its rows must have one length"
        reason = f"argument {name} is an array of {value.dtype}: only floating-point numbers have a derivative"
        return ArgumentError(reason, hint=hint)
    if is_integer(value):
        return ArgumentError(
            f"argument {name} is {described(value)}: only floating-point numbers have a derivative",
            hint=f"pass {float(value)!r}",
        )
    if is_sparse(type(value)):
        reason = f"argument {name} is a {named(type(value))}: sparse matrices are constants, and have no gradient"
        return ArgumentError(reason, hint="differentiate with respect to its entries, or pass A.toarray()")
    hint = None
    if isinstance(value, str):
        hint = f"pass a number: float({name})"
    elif value is None:
        hint = "pass a number, an array, or a container of them; argnums chooses which argument is differentiated"
    elif any(kind.__name__ == "Tensor" for kind in type(value).__mro__):
        is_ours = isinstance(value, getattr(sys.modules.get("srcgrad.eager.tensor"), "Tensor", ()))
        hint = f"pass {name}.detach().numpy()"
        hint = f"grad, value_and_grad and compile take tensors; {hint} here" if is_ours else hint
    return ArgumentError(f"argument {name} is {described(value)}, which has no derivative", hint=hint)


def described(value: Any) -> str:
    if value is None:
        return "None"
    if isinstance(value, bool | int | np.integer | np.bool_):
        return f"the {'truth value' if isinstance(value, bool | np.bool_) else 'integer'} {value}"
    name = type(value).__name__
    return f"{'an' if name[0] in 'aeiou' or name == 'ndarray' else 'a'} {name}"


def identities(values: tuple[Any, ...]) -> set[int]:
    """The identities of all arrays among the arguments, containers included."""
    found: set[int] = set()
    pending: list[Any] = list(values)
    while pending:
        value = pending.pop()
        if isinstance(value, np.ndarray):
            found.add(id(value))
        elif isinstance(value, tuple | list | deque):
            pending += value
        elif isinstance(value, dict):
            pending += value.values()
        elif is_object(value):
            pending += fields_of(value).values()
    return found
