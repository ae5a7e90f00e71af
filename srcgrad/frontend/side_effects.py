"""Whether a function may change what it is given, as far as its code tells without being compiled.

Enters: a function of the user's.  Leaves: False only if nothing that it runs can store into an array, a container or an
object.  Asked of calls in tests, indices and the like, which stay nested in an expression only if they change nothing::

    if norm(x) > 1.0:                 stays
    if normalize(x) > 1.0:            t = normalize(x);  if t > 1.0:       normalize stores into x
"""

from __future__ import annotations

import dis
import itertools
from collections import deque
from collections.abc import Collection
from functools import cache
from types import CodeType, FunctionType, ModuleType

import numpy as np

from srcgrad.frontend.callees import is_inert
from srcgrad.frontend.storing import CHANGES, STORES
from srcgrad.rules.table import lookup
from srcgrad.runtime.written import written

_OPERATIONS = ("STORE_SUBSCR", "STORE_SLICE", "STORE_ATTR", "DELETE_SUBSCR", "DELETE_ATTR")
_OPENINGS = ("LOAD_METHOD", "LOAD_ATTR")
_CALLING = ("PUSH_NULL", "PRECALL", "CALL", "CACHE")
_CHANGING = STORES | CHANGES | {"at", "rotate"}
_PLAIN = (np.ndarray, np.random.Generator, list, tuple, dict, set, str, bytes, int, float, complex, deque)
_KNOWN = {name for kind in _PLAIN for name in dir(kind)} - _CHANGING


@cache
def may_store(function: FunctionType) -> bool:
    """Whether a function, or one that it calls by name, holds a store or calls a method that may be one."""
    seen: set[CodeType] = set()
    pending = [(function.__code__, function)]
    while pending:
        code, owner = pending.pop()
        if code in seen:
            continue
        seen.add(code)
        for made in code.co_consts:
            if isinstance(made, CodeType):
                pending.append((made, owner))
            elif isinstance(made, tuple) and "out" in made:
                return True
        if _holds_store(code, owner):
            return True
        for name in code.co_names:
            called = owner.__globals__.get(name)
            called = written(called) or called
            if isinstance(called, FunctionType) and lookup(called) is None and not is_inert(called):
                pending.append((called.__code__, called))
        for cell in owner.__closure__ or ():
            if isinstance(called := _content(cell), FunctionType):
                pending.append((called.__code__, called))
    return False


def returns_call_of(function: FunctionType, methods: Collection[str]) -> bool:
    """Whether a function has ``return x.method()`` with one of these methods."""
    made = [(i.opname, i.argval) for i in dis.get_instructions(function.__code__) if i.opname not in _CALLING]
    pairs = itertools.pairwise(made)
    return any(a in _OPENINGS and of in methods and b == "RETURN_VALUE" for (a, of), (b, _) in pairs)


def _holds_store(code: CodeType, owner: FunctionType) -> bool:
    outer: object = None  # what a global holds that the code has just read, or an attribute of a module
    for instruction in dis.get_instructions(code):
        name, asked = instruction.opname, instruction.argval
        if name in _OPERATIONS or (name == "BINARY_OP" and instruction.argrepr.endswith("=")):
            return True
        if name in _OPENINGS:
            if asked in _CHANGING:
                return True
            is_method = name == "LOAD_METHOD" or "NULL" in instruction.argrepr
            if outer is None and is_method and asked not in _KNOWN:
                return True  # of an object that is given, or made here: its class is not known
            outer = getattr(outer, asked, None) if isinstance(outer, ModuleType) else outer
        elif name in ("LOAD_GLOBAL", "LOAD_NAME"):
            outer = owner.__globals__.get(asked, asked)
        elif name.startswith("LOAD_SUPER"):
            return True
        elif name not in ("PUSH_NULL", "CACHE", "EXTENDED_ARG"):
            outer = None
    return False


def _content(cell: object) -> object:
    try:
        return cell.cell_contents  # type: ignore[attr-defined]
    except ValueError:  # not bound yet
        return None
