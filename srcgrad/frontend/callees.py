"""What kinds of callables there are, when neither the table nor a local definition says.

Enters: an object that is called.  Leaves: whether its value carries a derivative, whether it iterates, whether it
changes what it is given, and the user's Python function behind it.
"""

from __future__ import annotations

import functools
from types import FunctionType
from typing import Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.callables import is_callee
from srcgrad.frontend.desugar.build import constant, placed
from srcgrad.frontend.scope import importable
from srcgrad.rules.formula import object_of
from srcgrad.rules.memory import LIBRARIES, home_of
from srcgrad.rules.table import is_constant, refusal
from srcgrad.runtime.binding import cached_function
from srcgrad.syntax.globals import GlobalBinding, GlobalReference, call_runtime, reference
from srcgrad.syntax.parse import children, names_read

#: Libraries whose functions are read where they have no rule; of the others only what a user wrote is.
READ = frozenset({"numpy", "scipy", "statistics", "colorsys"})
# Builtins whose value carries no derivative whatever they are given.
INERT = (
    bool, bytes, callable, chr, format, hasattr, hash, hex, id, int, isinstance, issubclass, len, ord, print,
    range, repr, slice, str, type,
)  # fmt: skip
_SIZES = (isinstance, issubclass, len, range, type)
ITERATORS = (enumerate, filter, frozenset, iter, map, reversed, set, zip)
EFFECTS = (eval, exec, globals, input, locals, next, open, setattr, delattr, vars)

#: Attributes that say how an array lies in memory, not what is in it.
SHAPES = frozenset("shape ndim size dtype itemsize nbytes strides flags __name__ __class__".split())


def makes_iterator(function: object) -> bool:
    """Whether a function's result is consumed by iterating, or has no order to index."""
    return any(function is known for known in ITERATORS) or getattr(function, "__module__", None) == "itertools"


def is_inert(function: object) -> bool:
    try:
        return function in INERT or is_constant(function)
    except TypeError:
        return False


def names_carrying(*roots: gast.AST) -> list[str]:
    """The local names through which a derivative may reach what stays nested: not those that are read for a shape, in
    a test, or by a function whose value has none."""
    found: dict[str, None] = {}
    pending = list(roots)
    while pending:
        node = pending.pop()
        match node:
            case gast.Attribute(value=gast.Name(), attr=attr) if attr in SHAPES:
                continue
            case gast.Call(func=func) if is_one_of(function := object_of(func), *_SIZES) or is_constant(function):
                continue
            case gast.Compare() | GlobalReference():
                continue
            case gast.Name() | gast.Lambda() | gast.ListComp() | gast.SetComp() | gast.GeneratorExp() | gast.DictComp():
                found.update(dict.fromkeys(names_read(node)))
                continue
        pending += children(node)
    return list(found)


def without_cache(function: object) -> object:
    """The function that ``functools.lru_cache`` calls: its derivative is not that of what is remembered."""
    while isinstance(function, functools._lru_cache_wrapper) and (called := cached_function(function)) is not None:
        function = called
    return function


def as_python(function: object) -> FunctionType | None:
    """The user's Python function behind a callable, if there is one; libraries of numbers are ruled, not read."""
    function = without_cache(function)
    if isinstance(function, FunctionType):
        root = str(function.__module__).split(".")[0]
        return None if root in LIBRARIES else function
    made = getattr(function, "__srcgrad_function__", None)
    if made is not None and not isinstance(function, type):
        plain = made()
        return plain if isinstance(plain, FunctionType) else None
    return None


def as_library(function: object) -> FunctionType | None:
    """The Python function behind a callable of a library of numbers that has neither a rule nor a refusal."""
    if isinstance(function, FunctionType) and home_of(function) in READ and refusal(function) is None:
        return function
    return None


def is_plain_vectorized(function: np.vectorize) -> bool:
    """Whether an object of ``np.vectorize`` was made without options, or for floats."""
    kinds = [np.dtype(kind) for kind in function.otypes or ()]
    return function.signature is None and not function.excluded and kinds in ([], [np.dtype(float)])


def is_one_of(function: object, *known: object) -> bool:
    return any(function is one for one in known)


def unwrapped(partial: functools.partial[object], node: gast.Call) -> gast.Call:
    """A call of a partial application as one of its function; what was applied is read from the object."""
    bound = [_held(partial.args, place) for place in range(len(partial.args))]
    given = {keyword.arg for keyword in node.keywords}
    keywords = [gast.keyword(name, _held(partial.keywords, name)) for name in partial.keywords if name not in given]
    head = reference(importable("function", partial.func))
    return placed(gast.Call(head, [*bound, *node.args], [*keywords, *node.keywords]), node)


def _held(given: Any, place: int | str) -> gast.expr:
    """What a partial application holds: compiled in where it is the same at each call, else read again."""
    value = given[place]
    if value is None or type(value) in (bool, int, float, complex, str):
        return gast.Constant(value, None)
    if is_callee(value):
        return reference(importable("applied", value))
    return reference(GlobalBinding("applied", value, cell=lambda: given[place]))


def spelled(node: gast.AST) -> str:
    """A dotted name as the user wrote it."""
    match node:
        case gast.Name(id=name):
            return str(name)
        case gast.Attribute(value=value, attr=attr):
            return f"{spelled(value)}.{attr}"
    return "this function"


def is_dtype_of_objects(node: gast.expr | None) -> bool:
    """Whether an expression is a dtype of objects or records, as its text tells: numbers in these have no adjoint."""
    known: Any
    match node:
        case gast.Constant(value=str() as known):
            pass
        case gast.List() | gast.Tuple() | gast.Dict():
            return True
        case _:
            known = None if node is None else object_of(node)
    try:
        return known is not None and np.dtype(known).kind in "OV"
    except TypeError:  # no dtype
        return False


def require_not_none(atom: gast.Name, node: gast.expr) -> list[gast.Expr]:
    """A check of what may be None, where a method of its class is written in place of an operation: a method that does
    not look at its object would run.  Nothing where an attribute is read, which None has not either."""
    match node:
        case gast.Attribute():
            return []
        case gast.Call(func=gast.Attribute(attr=name)):
            given: list[gast.expr] = [atom, constant(name, node)]
        case _:
            given = [atom]
    return [placed(gast.Expr(call_runtime(runtime.require_not_none, *given)), node)]
