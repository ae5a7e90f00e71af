"""Programs run twice, by Python and by the interpreter of the IR, from copies of the same arguments."""

from __future__ import annotations

import copy
import gc
import warnings
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from srcgrad.errors import SrcgradError
from srcgrad.frontend.lowering import lowered
from srcgrad.infer.outside import is_of_library
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


@contextmanager
def interpreting(
    functions: Iterable[FunctionType], texts: Mapping[FunctionType, ir.Function | None] | None = None
) -> Iterator[None]:
    """However these functions are called, the interpreter runs them; Python runs those whose text cannot be read.
    ``texts``: the IR of some of them."""
    kept = [(function, function.__code__) for function in functions]
    entries = [(function, _entry(function, (texts or {}).get(function))) for function, _ in kept]
    try:
        for function, entry in entries:
            function.__code__ = entry or function.__code__
        yield
    finally:
        for function, code in kept:
            function.__code__ = code


def _entry(function: FunctionType, text: ir.Function | None) -> CodeType | None:
    """Code that hands the arguments of a function to the interpreter."""
    try:
        made = interpreted(text or checked(function), function)
    except (SrcgradError, OSError, SyntaxError, RecursionError):
        return None

    def enter(*arguments: Any, **keywords: Any) -> Any:
        made.__defaults__, made.__kwdefaults__ = function.__defaults__, function.__kwdefaults__
        return made(*arguments, **keywords)

    code = _entering(function.__code__.co_freevars)
    return code.replace(co_consts=tuple(enter if part == "enter" else part for part in code.co_consts))


@cache
def _entering(captured: tuple[str, ...]) -> CodeType:
    """The code of a function that calls its constant ``"enter"``; it has the cells that the function object has."""
    text = f"""
def outer({", ".join(captured)}):
    def function(*arguments, **keywords):
        if False: {", ".join(captured) or "pass"}
        return "enter"(*arguments, **keywords)
"""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SyntaxWarning)
        outer = next(part for part in compile(text, "entry", "exec").co_consts if isinstance(part, CodeType))
    return next(part for part in outer.co_consts if isinstance(part, CodeType))


def functions_of(*roots: Any) -> list[FunctionType]:
    """The functions of the program that can be reached from these objects: by name, in cells, as methods, as items."""
    found: dict[FunctionType, None] = {}
    pending, seen = list(roots), dict[int, Any]()
    while pending:
        part = pending.pop()
        if id(part) in seen or type(part).__module__.startswith("srcgrad"):  # what it differentiates needs its text
            continue
        seen[id(part)] = part
        if isinstance(part, FunctionType | type | ModuleType):
            if is_of_library(part):
                continue
            pending += list(vars(part).values()) if not isinstance(part, ModuleType) else []
        if isinstance(part, FunctionType):
            found[part] = None
            for name in _names_read(part.__code__):
                pending.append(part.__globals__.get(name))
                pending += [vars(m)[name] for m in seen.values() if isinstance(m, ModuleType) and name in vars(m)]
            pending += [*(part.__defaults__ or ()), *(part.__kwdefaults__ or {}).values(), *(part.__closure__ or ())]
        elif isinstance(part, type):
            pending += [*part.__bases__, type(part)]
        elif isinstance(part, np.ndarray):
            pending += part.ravel().tolist() if part.dtype.hasobject else []
        elif not isinstance(part, ModuleType):
            pending += gc.get_referents(part)
    return list(found)


def differentiates(functions: Iterable[FunctionType]) -> bool:
    """Whether one of some functions differentiates others, which must have a text where they are made."""
    names = {"grad", "vjp", "jvp", "hessian", "hvp", "jacobian", "value_and_grad", "srcgrad"}
    return any(names & {*_names_read(function.__code__), *function.__code__.co_freevars} for function in functions)


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
