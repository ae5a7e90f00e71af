"""Classes inside of a function: made once, when it is compiled, where that makes no difference.

Enters: the source of a function and its body.  Leaves: the body without class statements, their names as the classes::

    class State(NamedTuple):              ->
        u: float
        v: float
    s = State(x[0], x[1])                     s = State(x[0], x[1])        State is the class itself

It makes a difference where a class reads what varies from call to call: locals of the function, its own name among
them; where objects are asked whether they are of it.  What the statements of its body do must be to define: methods,
constants, fields.
"""

from __future__ import annotations

import ast
import builtins
import dataclasses
from collections.abc import Iterator, Sequence
from types import CodeType, FunctionType
from typing import Any
from weakref import WeakKeyDictionary

import gast

from srcgrad.frontend.desugar.imports import bound_elsewhere, with_meanings
from srcgrad.frontend.source import Source
from srcgrad.syntax.globals import GlobalBinding
from srcgrad.syntax.parse import walk

#: The classes of each function, by the lines of their statements: every mode is compiled with the same ones.
_classes: WeakKeyDictionary[FunctionType, dict[int, type | None]] = WeakKeyDictionary()


def without_classes(body: Sequence[gast.stmt], source: Source, parameters: frozenset[str]) -> list[gast.stmt]:
    """A class whose name is bound elsewhere too, that is asked about, whose statement does more than define it, or that
    a loop makes anew at each turn, stays, to be refused."""
    statements = [node for node in walk(*body) if isinstance(node, gast.ClassDef)]
    if not statements:
        return list(body)
    others = bound_elsewhere([s for s in body if s not in statements], parameters) | _asked_about(body)
    names: dict[str, GlobalBinding] = {}
    gone: set[int] = set()
    repeated = {id(node) for loop in walk(*body) if isinstance(loop, gast.For | gast.While) for node in walk(loop)}
    for node in statements:
        made = None if id(node) in repeated else class_of(node, source)
        if made is not None and node.name not in others | names.keys():
            names[node.name] = GlobalBinding(node.name, made)
            gone.add(id(node))
    return with_meanings(body, names, gone)


def _asked_about(body: Sequence[gast.stmt]) -> set[str]:
    """The names that are read otherwise than to make an object, to derive a class, to read an attribute: of an object
    that another call made, Python would answer no to ``isinstance``."""
    plain: set[int] = set()
    for node in walk(*body):
        match node:
            case gast.Call(func=used) | gast.Attribute(value=used):
                plain.add(id(used))
            case gast.ClassDef(bases=bases):
                plain.update(map(id, bases))
    return {n.id for n in walk(*body) if isinstance(n, gast.Name) and id(n) not in plain}


def class_of(node: gast.ClassDef, source: Source) -> type | None:
    """The class that a statement defines at every call of its function alike; None if there is no such class."""
    made = _classes.setdefault(source.function, {})
    if node.lineno not in made:
        made[node.lineno] = _made(node, source) if _only_defines(node) else None
    return made[node.lineno]


def _only_defines(node: gast.ClassDef) -> bool:
    for statement in node.body:
        match statement:
            case gast.FunctionDef() | gast.Pass() | gast.Expr(value=gast.Constant()):
                pass
            case gast.Assign(value=value) if _is_harmless(value):
                pass
            case gast.AnnAssign(value=value) if value is None or _is_harmless(value):
                pass
            case _:
                return False
    return True


def _is_harmless(value: gast.expr) -> bool:
    """Whether evaluating has no effect: constants, displays of them, names, and ``field(...)`` of a dataclass."""
    match value:
        case gast.Call(func=gast.Name(id="field") | gast.Attribute(attr="field"), args=[], keywords=keywords):
            return all(_is_harmless(keyword.value) for keyword in keywords)
    calls = (gast.Call, gast.NamedExpr, gast.Await, gast.Yield, gast.YieldFrom)
    return not any(isinstance(inner, calls) for inner in walk(value))


def _made(node: gast.ClassDef, source: Source) -> type | None:
    code = next((code for code in _codes(source.function.__code__) if _is_body(code, node)), None)
    if code is None or code.co_freevars or getattr(node, "type_params", None):
        return None
    try:
        bases = [_value(base, source) for base in node.bases]
        keywords = {keyword.arg: _value(keyword.value, source) for keyword in node.keywords}
        decorators: list[Any] = [_value(decorator, source) for decorator in reversed(node.decorator_list)]
    except NameError:  # not known before the function runs
        return None
    if not all(isinstance(base, type) or hasattr(base, "__mro_entries__") for base in bases):
        return None
    body = FunctionType(code, source.function.__globals__)
    made: Any = builtins.__build_class__(body, node.name, *bases, **keywords)
    for decorator in decorators:
        made = decorator(made)
    return made if isinstance(made, type) else None


def _codes(code: CodeType) -> Iterator[CodeType]:
    """The code objects inside of one, at any depth."""
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield constant
            yield from _codes(constant)


def _is_body(code: CodeType, node: gast.ClassDef) -> bool:
    first = min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)])
    return bool(code.co_name == node.name and code.co_firstlineno == first)


def _value(expression: gast.expr, source: Source) -> object:
    """A base or decorator; raises NameError where it reads a local, or does more than name what it means."""
    values: dict[str, object] = {m.__name__: m for m in _classes[source.function].values() if m is not None}
    for name in {inner.id for inner in walk(expression) if isinstance(inner, gast.Name)} - values.keys():
        binding = source.resolve(name)
        if binding is None:
            raise NameError(name)
        values[name] = binding.value
    if not _is_definition(expression, source):
        raise NameError("not what it means alone, but what it does")
    tree = ast.fix_missing_locations(ast.Expression(gast.gast_to_ast(expression)))
    return eval(compile(tree, source.filename, "eval"), values)


def _is_definition(expression: Any, source: Source) -> bool:
    """Whether an expression has no effect: a path, or ``dataclass(...)`` with constants."""
    match expression:
        case gast.Call(func=function, args=[], keywords=keywords):
            plain = all(isinstance(keyword.value, gast.Constant) for keyword in keywords)
            return plain and _value(function, source) is dataclasses.dataclass
        case gast.Attribute(value=value) | gast.Subscript(value=value):
            return _is_definition(value, source)
    return isinstance(expression, gast.Name | gast.Constant)
