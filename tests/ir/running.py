"""Programs run twice, by Python and by the interpreter of the IR, from copies of the same arguments."""

from __future__ import annotations

import copy
import warnings
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from types import CodeType, FunctionType
from typing import Any

import numpy as np

from srcgrad.frontend.lowering import lowered
from srcgrad.ir import operations as ir
from srcgrad.ir.interpreter import interpreted
from srcgrad.ir.verifying import verify

Function = Callable[..., Any]


@cache
def checked(function: FunctionType) -> ir.Function:
    """The IR of a function, verified."""
    made = lowered(function)
    verify(made)
    return made


def by_interpreter(function: FunctionType) -> FunctionType:
    """The function as the interpreter runs it."""
    return interpreted(checked(function), function)


def with_callees(function: FunctionType) -> FunctionType:
    """The function by the interpreter, and every function of its module that it reaches by global names."""
    space = dict(function.__globals__)

    def within(of: FunctionType) -> FunctionType:
        """The function, with the globals of the interpreter."""
        made = FunctionType(of.__code__, space, of.__name__, of.__defaults__, of.__closure__)
        made.__kwdefaults__ = of.__kwdefaults__
        made.__dict__.update(of.__dict__)
        return interpreted(checked(of), made)

    pending, seen = [function], {function}
    while pending:
        for name in _names_read(pending.pop().__code__):
            value = function.__globals__.get(name)
            if isinstance(value, FunctionType) and value.__globals__ is function.__globals__ and value not in seen:
                seen.add(value)
                if not hasattr(value, "__wrapped__"):
                    pending.append(value)
                    space[name] = within(value)
    return within(function)


def _names_read(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names_read(constant)


def outcome(function: Function, arguments: tuple[Any, ...], keywords: Mapping[str, Any]) -> tuple[Any, ...]:
    """What a call returns or raises, and its arguments afterwards."""
    given, named = copy.deepcopy((arguments, dict(keywords)))
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            result: Any = function(*given, **named)
            result = list(result) if isinstance(result, Iterator) else result
        except Exception as error:
            result = type(error), type(error.__context__), type(error.__cause__)
    return result, given, named


def assert_same(got: Any, expected: Any, seen: set[tuple[int, int]] | None = None) -> None:
    """Structure, types and numbers, to the last bit."""
    seen = set() if seen is None else seen
    if (id(got), id(expected)) in seen:
        return
    seen.add((id(got), id(expected)))
    if isinstance(expected, FunctionType):
        assert isinstance(got, FunctionType)
        return
    assert type(got).__qualname__ == type(expected).__qualname__, (got, expected)
    if isinstance(expected, np.ndarray) and expected.dtype != object:
        assert got.dtype == expected.dtype
        np.testing.assert_array_equal(got, expected)
    elif isinstance(expected, Mapping):
        assert list(map(repr, got)) == list(map(repr, expected))
        for mine, other in zip(got.values(), expected.values(), strict=True):
            assert_same(mine, other, seen)
    elif isinstance(expected, list | tuple | deque):
        assert len(got) == len(expected)
        for mine, other in zip(got, expected, strict=True):
            assert_same(mine, other, seen)
    elif isinstance(expected, float | complex | np.inexact):
        np.testing.assert_array_equal(got, expected)
    elif hasattr(expected, "__dict__") and not isinstance(expected, type):
        assert_same(vars(got), vars(expected), seen)
    elif isinstance(expected, int | str | bytes | type | None | set | frozenset | range):
        assert got == expected
