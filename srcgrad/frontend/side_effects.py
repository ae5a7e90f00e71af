"""Whether a call may change what it is given, as far as texts and the table of effects tell, without compiling.

Enters: a function of the user's.  Leaves: False only if nothing that it runs can store into an array, a container or an
object; calls are answered by the table of effects, and what it does not list may change everything.  Asked of calls in
tests, indices and the like, which stay nested in an expression only if they change nothing::

    if norm(x) > 1.0:                 stays
    if normalize(x) > 1.0:            t = normalize(x);  if t > 1.0:       normalize stores into x
"""

from __future__ import annotations

import builtins
import sys
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from types import FunctionType, ModuleType

import gast
import numpy as np

from srcgrad.errors import SrcgradError
from srcgrad.frontend.callees import is_inert, spelled, without_cache
from srcgrad.frontend.classes import is_user_class
from srcgrad.frontend.journal import remembered
from srcgrad.frontend.names import bound_by
from srcgrad.frontend.normal_form import Derived, LocalFunction
from srcgrad.frontend.source import source_of
from srcgrad.frontend.writing import AS_A_STATEMENT
from srcgrad.language import effects
from srcgrad.rules.memory import LIBRARIES, home_of
from srcgrad.rules.table import CONSTANT_MEMBERS, lookup, method
from srcgrad.runtime.written import written
from srcgrad.syntax.parse import names_read, parameters_of, walk

_LOCAL = object()  # the value of a name that the function binds itself
_UNKNOWN = object()


@remembered
def may_store(function: FunctionType, of_objects: bool = False) -> bool:
    """Whether a function, or one that it names, holds a store or a call that may be one.

    ``of_objects``: it is given objects of the user's, whose methods may be called like those of containers.
    """
    seen: set[object] = set()
    pending: list[object] = [function]
    while pending:
        called = pending.pop()
        if called in seen or not isinstance(called, FunctionType):
            continue
        seen.add(called)
        try:
            node = source_of(called).node
        except (SrcgradError, OSError):
            return True
        names = _Names(called, node)
        for inner in walk(node):
            if _stores(inner, names, of_objects):
                return True
            if isinstance(inner, gast.Name) and isinstance(inner.ctx, gast.Load):
                pending += _followed(names.value(inner))
            elif isinstance(inner, gast.Attribute):
                pending += _followed(names.value(inner))
    return False


@remembered
def returns_call_of(function: FunctionType, methods: Collection[str]) -> bool:
    """Whether a function has ``return x.method()`` with one of these methods."""
    try:
        node = source_of(function).node
    except (SrcgradError, OSError):
        return True
    returned = [node.body] if isinstance(node, gast.Lambda) else []
    returned += [inner.value for inner in walk(node) if isinstance(inner, gast.Return)]
    return any(
        isinstance(value, gast.Call) and isinstance(value.func, gast.Attribute) and value.func.attr in methods
        for value in returned
    )


class _Names:
    """What the names of one function mean outside of it."""

    def __init__(self, function: FunctionType, node: gast.AST) -> None:
        self.function = function
        self.local: dict[str, object] = {}
        for inner in walk(node):
            match inner:
                case gast.FunctionDef(name=name):
                    self.local[name] = _LOCAL if name in self.local else inner
                    self.local.update(dict.fromkeys(parameters_of(inner.args), _LOCAL))
                case gast.Lambda(args=arguments):
                    self.local.update(dict.fromkeys(parameters_of(arguments), _LOCAL))
                case gast.Import(names=names):
                    self._imports((a.asname or a.name, sys.modules.get(a.name, _LOCAL)) for a in names)
                case gast.ImportFrom(module=module, names=names):
                    home = sys.modules.get(module or "")
                    self._imports((a.asname or a.name, getattr(home, a.name, _LOCAL)) for a in names)
                case _:
                    self.local.update(dict.fromkeys(bound_by(inner), _LOCAL))
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        self.cells = {name: _content(cell) for name, cell in cells}

    def _imports(self, found: Iterable[tuple[str, object]]) -> None:
        self.local.update((name, _LOCAL if name in self.local else value) for name, value in found)

    def value(self, node: gast.AST) -> object:
        """What a name or a path of attributes of a module spells; ``_LOCAL`` and ``_UNKNOWN`` are no values."""
        match node:
            case gast.Name(id=name):
                for scope in (self.local, self.cells, self.function.__globals__, vars(builtins)):
                    if name in scope:
                        return scope[name]
            case gast.Attribute(value=base, attr=attr):
                owner = self.value(base)
                if isinstance(owner, ModuleType | type | np.ufunc):
                    return getattr(owner, attr, _UNKNOWN)
                if isinstance(owner, np.random.RandomState) or home_of(owner) == "random":
                    return getattr(owner, attr, _UNKNOWN)
        return _UNKNOWN


def _followed(value: object) -> Iterator[object]:
    """The functions behind one that is named."""
    value = without_cache(written_or_given(value))
    while isinstance(value, partial):
        value = value.func
    if isinstance(value, np.vectorize):
        value = value.pyfunc
    if isinstance(value, FunctionType) and not _is_answered(value):
        yield value


def written_or_given(value: object) -> object:
    return written(value) or value


def _is_answered(value: object) -> bool:
    """Whether the tables answer for a function, so that its text is not looked at."""
    return lookup(value) is not None or is_inert(value) or home_of(value) in LIBRARIES


def _stores(node: gast.AST, names: _Names, of_objects: bool) -> bool:
    match node:
        case gast.Subscript(ctx=ctx) | gast.Attribute(ctx=ctx) if not isinstance(ctx, gast.Load):
            return True
        case gast.AugAssign() | gast.Global() | gast.Nonlocal():
            return True
        case gast.Call():
            return _call_stores(node, names, of_objects)
        case gast.Attribute(attr=attr):  # ``map(q.append, v)``: one that is called is looked at as a call
            return names.value(node) is _UNKNOWN and attr in effects.updating()
    return False


def _call_stores(node: gast.Call, names: _Names, of_objects: bool) -> bool:
    named = [str(k.arg) for k in node.keywords if not (isinstance(k.value, gast.Constant) and k.value.value is None)]
    starred = any(isinstance(argument, gast.Starred) for argument in node.args) or "None" in named
    called = without_cache(written_or_given(names.value(node.func)))
    while isinstance(called, partial):
        called = called.func
    if isinstance(called, gast.FunctionDef) or isinstance(node.func, gast.Lambda):
        return False  # its body is a part of this text
    if called is _UNKNOWN and isinstance(node.func, gast.Attribute):
        made = effects.method(node.func.attr)
        if of_objects or not made.is_known:
            return of_objects or method(node.func.attr) is None and node.func.attr not in CONSTANT_MEMBERS
        return bool(made.updated(1 + len(node.args), named)) or made.calls and _gives_local(node, names)
    if called is _UNKNOWN or called is _LOCAL:
        return True
    if isinstance(called, np.vectorize) or isinstance(called, FunctionType) and not _is_answered(called):
        return False  # followed by its name
    if _is_exception(called):
        return False
    made = effects.of_function(called).without_idle(node.args, node.keywords)
    if not made.is_known:
        return not _is_answered(called) or home_of(called) in LIBRARIES and lookup(called) is None
    if starred and made.output is not None:
        return True
    return bool(made.updated(len(node.args), named)) or made.calls and _gives_local(node, names)


def _gives_local(node: gast.Call, names: _Names) -> bool:
    """Whether a call is given a function that only the run tells."""
    given = [*node.args[:1], *(keyword.value for keyword in node.keywords if keyword.arg in ("key", "default"))]
    return any(isinstance(each, gast.Name) and names.value(each) is _LOCAL for each in given)


def update_of_operands(
    node: gast.Call, function: object, local: Collection[str], is_nothing: Callable[[gast.expr], bool]
) -> tuple[str, str] | None:
    """Why, and in place of what, a call that stays as it is written is refused: it updates what it is given, or may."""
    made, name = effects.of_function(function).without_idle(node.args, node.keywords), spelled(node.func)
    if made.is_known:
        updates = made.updates or [k for k in made.updated(len(node.args)) if not is_nothing(node.args[k])]
        return (f"{name} changes its argument in place", AS_A_STATEMENT) if updates else None
    if lookup(function) is not None or is_inert(function) or is_user_class(function) or _is_exception(function):
        return None
    if isinstance(function, FunctionType | LocalFunction | Derived | partial | np.vectorize):
        return None  # what is read, or followed otherwise
    if not any(each in local for each in names_read(*node.args, *node.keywords)):
        return None
    return unknown_effect(function, name)


def unknown_effect(function: object, name: str) -> tuple[str, str]:
    """The reason and the hint where it is not known what a function does to what it is given."""
    reason = f"what {name} does to its arguments is not known"
    if home_of(function) in LIBRARIES:  # declared constant, its results would have no derivative anywhere
        return reason, "write out what it does as statements"
    return reason, f"declare srcgrad.constant({name}) if it changes none of them and its result has no derivative"


def _is_exception(function: object) -> bool:
    """Whether a call makes an exception, which keeps what it is given until it is raised."""
    return isinstance(function, type) and issubclass(function, BaseException)


def _content(cell: object) -> object:
    try:
        return cell.cell_contents  # type: ignore[attr-defined]
    except ValueError:  # not bound yet
        return _UNKNOWN
