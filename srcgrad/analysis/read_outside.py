"""What a program reads that no caller passes: globals, captured variables, parts of modules, of it and what it calls.

Enters: a callee.  Leaves: expressions that read these when the program is entered, by the names under which they are
reported, but for what neither is memory nor leads to any (``runtime.reaching``).  What is called by name is looked into
here; a function that is a value, a class or an object is left to the run, which walks what its code reads.
"""

from __future__ import annotations

import builtins
from collections.abc import Callable, Iterator
from dataclasses import is_dataclass
from types import ModuleType

import gast

from srcgrad.analysis.cfg import walk
from srcgrad.errors import LanguageError
from srcgrad.ir.normal_form import Bind, Block, Call, Callee, Function, Held, Statement
from srcgrad.runtime.reaching import leads_nowhere
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import clone


def read_outside(callee: Callee, normal_form_of: Callable[[Callee], Function]) -> dict[str, gast.expr]:
    """Each object that is read once, under its name, or one that tells it apart from others of this name."""
    found: dict[object, tuple[str, gast.expr]] = {}
    numbers: dict[object, tuple[str, gast.expr]] = {}
    asks_for_places = False
    for node, value in _read(callee, normal_form_of):
        asks_for_places |= value is builtins.id
        into = numbers if leads_nowhere(value) else found
        if into is found or type(value) is int:
            into.setdefault(_identity(node, value), (_spelled(node), node))
    if asks_for_places:  # a number may be the ``id`` of what is copied
        found.update(numbers)
    named: dict[str, gast.expr] = {}
    for name, node in found.values():
        while name in named:
            name += "'"
        named[name] = clone(node)
    return named


def _read(callee: Callee, normal_form_of: Callable[[Callee], Function]) -> Iterator[tuple[gast.expr, object]]:
    """What the program names, with what that is now."""
    seen = {callee}
    pending = [callee]
    while pending:
        one = pending.pop()
        try:
            form = normal_form_of(one)
        except LanguageError:  # a function that is a value: its classes are known where it is called
            if one is callee:
                raise
            continue
        for statement in walk(form.body):
            called = []
            match statement:
                case Bind(operation=Call(callee=inner)):
                    called.append(inner)
            for node, value in _named(statement):
                if isinstance(value, Held):
                    called.append(value.callee)
                else:
                    yield node, value
            pending += (inner for inner in called if inner not in seen)
            seen.update(called)


def _named(statement: Statement) -> Iterator[tuple[gast.expr, object]]:
    """The globals in a statement, or of modules what is read of them; of a call of a callee not its name."""
    parts = [value for value in vars(statement).values() if not isinstance(value, Block)]
    match statement:
        case Bind(expression=gast.Call(func=GlobalReference()) as call, operation=Call() as made):
            parts = [call.args, call.keywords, made]
    while parts:
        part = parts.pop()
        if isinstance(part, list | tuple):
            parts += part
        elif isinstance(part, dict):
            parts += part.values()
        elif (meaning := _meaning(part)) is not None:
            yield part, meaning[0]
        elif isinstance(part, gast.AST):
            parts += (getattr(part, name) for name in part._fields)
        elif is_dataclass(part) and not isinstance(part, Callee | type) and part.__module__ == Call.__module__:
            parts += vars(part).values()


def _meaning(node: object) -> tuple[object] | None:
    """What a global name, or a path from a module, stands for now."""
    if isinstance(node, GlobalReference):
        return (node.binding.value,)
    if isinstance(node, gast.Attribute) and (base := _meaning(node.value)) is not None:
        if isinstance(base[0], ModuleType) and node.attr in vars(base[0]):
            return (vars(base[0])[node.attr],)
    return None


def _spelled(node: gast.expr) -> str:
    return f"{_spelled(node.value)}.{node.attr}" if isinstance(node, gast.Attribute) else str(getattr(node, "id", ""))


def _identity(node: gast.expr, value: object) -> object:
    """A name that is read again at each call may mean something else than another of the same value."""
    cell = node.binding.cell if isinstance(node, GlobalReference) else None
    return (id(value), _spelled(node)) if cell is None else (id(value), cell)
