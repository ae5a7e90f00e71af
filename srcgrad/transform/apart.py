"""The check at a function's entry that what it stores into is no other argument, and nothing that lies outside, under
another name.

What lies outside is read by the function itself, or by the user's functions that it may call: all that their code
names counts, by whatever way it is reached there.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from types import CodeType, FunctionType, ModuleType

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.stores import globals_read
from srcgrad.errors import SrcgradError
from srcgrad.frontend.normal_form import Function
from srcgrad.frontend.scope import importable
from srcgrad.frontend.source import Source, source_of
from srcgrad.rules.memory import LIBRARIES, home_of
from srcgrad.runtime.private import can_change, contained
from srcgrad.syntax.globals import call_runtime, reference
from srcgrad.transform.build import constant, load

#: How many functions are looked into.
_MOST = 200


def check_apart(function: Function, stored: Collection[str], is_number: Callable[[str], bool]) -> gast.Expr | None:
    """``require_apart({"x": x}, {"a": a})``; None where nothing else can share memory with what is stored into."""
    mine: list[tuple[str, gast.expr]] = [(name, load(name)) for name in stored if not is_number(name)]
    others: list[tuple[str, gast.expr]] = [
        (p, load(p)) for p in function.parameters if p not in stored and not is_number(p)
    ]
    if mine:
        others += [(node.id, node) for node in globals_read(function)]
        known = {name for name, _ in others}
        others += [(name, node) for name, node in _outside(function) if name not in known]
    if not mine or len(mine) == 1 and not others:
        return None
    groups = [gast.Dict([constant(name) for name, _ in group], [n for _, n in group]) for group in (mine, others)]
    return gast.Expr(call_runtime(runtime.require_apart, *groups))


def _outside(function: Function) -> Iterator[tuple[str, gast.expr]]:
    """What may be stored into among what the user's functions name that a function may call."""
    assert isinstance(function.source, Source)
    pending: list[object] = [function.source.function]
    seen: set[int] = set()
    found: set[int] = set()
    while pending and len(seen) < _MOST:
        one = pending.pop()
        if not isinstance(one, FunctionType) or id(one) in seen or home_of(one) in LIBRARIES:
            continue
        seen.add(id(one))
        for name, value, owner in _named(one):
            parts = [part for part in contained((value,)) if part is not value or not isinstance(value, tuple)]
            pending += [code for part in parts for code in _code_of(part)]
            if any(isinstance(part, np.ndarray) or can_change(part) for part in parts) and id(value) not in found:
                found.add(id(value))
                held = _reference(one, name) if owner is None else reference(importable(owner.__name__, owner))
                yield name, held if owner is None else gast.Attribute(held, name, gast.Load())


def _named(function: FunctionType) -> Iterator[tuple[str, object, ModuleType | type | None]]:
    """What the code of a function names outside of it; of modules and classes of the user's what is read of them, with
    the one that holds it."""
    names = sorted(set(_names_in(function.__code__)))
    for name in names:
        value = _value(function, name)
        yield name, value, None
        if isinstance(value, ModuleType | type) and not _is_of_library(value):
            for attribute in names:
                held = getattr(value, attribute, None)
                if held is not None and not isinstance(held, ModuleType):
                    yield attribute, held, value


def _value(function: FunctionType, name: str) -> object:
    """What a name means outside of a function; None where it means nothing."""
    free = function.__code__.co_freevars
    if name not in free:
        return function.__globals__.get(name)
    cell = (function.__closure__ or ())[free.index(name)]
    try:
        return cell.cell_contents
    except ValueError:  # nothing is bound to it yet
        return None


def _reference(function: FunctionType, name: str) -> gast.expr:
    """A global or closure variable as it is when the program runs."""
    try:
        binding = source_of(function).resolve(name)
    except SrcgradError:  # of a function without a text
        binding = None
    return reference(importable(name, _value(function, name)) if binding is None else binding)


def _is_of_library(value: ModuleType | type) -> bool:
    home = value.__name__.partition(".")[0] if isinstance(value, ModuleType) else home_of(value)
    return home in LIBRARIES or home == "srcgrad"


def _names_in(code: CodeType) -> Iterator[str]:
    yield from code.co_names
    yield from code.co_freevars
    for constant_ in code.co_consts:
        if isinstance(constant_, CodeType):
            yield from _names_in(constant_)


def _code_of(value: object) -> Iterator[object]:
    """The functions that run when a value is called, or a method or property of it is asked for."""
    if isinstance(value, FunctionType):
        yield value
    kind = value if isinstance(value, type) else type(value)
    if not isinstance(value, FunctionType) and home_of(kind) not in LIBRARIES:
        for base in kind.__mro__:
            for held in vars(base).values():
                yield from (held.fget, held.fset) if isinstance(held, property) else (getattr(held, "__func__", held),)
