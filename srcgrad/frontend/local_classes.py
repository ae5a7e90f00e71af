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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import EnumType
from types import CodeType, FunctionType, ModuleType
from typing import Any
from weakref import WeakKeyDictionary

import gast

from srcgrad.frontend.desugar.imports import bound_elsewhere, with_meanings
from srcgrad.frontend.journal import note_compiled_in
from srcgrad.frontend.source import Source
from srcgrad.frontend.unassigned import Unassigned
from srcgrad.syntax.depth import alone
from srcgrad.syntax.globals import GlobalBinding
from srcgrad.syntax.parse import children, walk


@dataclass(frozen=True)
class _Made:
    """A class with what its statement read: each namespace and name, with the object that it meant."""

    kind: type | None
    read: tuple[tuple[Mapping[str, object], str, object], ...] = ()

    def holds(self) -> bool:
        return all(namespace.get(name) is value for namespace, name, value in self.read)


#: The classes of each function, by the lines of their statements: every mode is compiled with the same ones.
_classes: WeakKeyDictionary[FunctionType, dict[int, _Made]] = WeakKeyDictionary()


def without_classes(body: Sequence[gast.stmt], source: Source, parameters: frozenset[str]) -> list[gast.stmt]:
    """A class whose name is bound elsewhere too or may be read before, that is asked about, whose statement does more
    than define it, or that a loop makes anew at each turn, stays, to be refused."""
    statements = [node for node in walk(*body) if isinstance(node, gast.ClassDef)]
    if not statements:
        return list(body)
    others = bound_elsewhere([s for s in body if s not in statements], parameters, gast.ClassDef) | _asked_about(body)
    others |= Unassigned(body, parameters).names
    names: dict[str, GlobalBinding] = {}
    gone: dict[int, gast.stmt] = {}
    repeated = {id(node) for loop in walk(*body) if isinstance(loop, gast.For | gast.While) for node in walk(loop)}
    for node in statements:
        made = None if id(node) in repeated else class_of(node, source)
        if made is not None and node.name not in others | names.keys():
            names[node.name] = GlobalBinding(node.name, made)
            gone[id(node)] = gast.Pass()
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
    """The class that a statement defines at every call of its function alike; None if there is no such class.

    It is made again when a name that its statement reads means something else, and so are all classes beside it.
    """
    made = _classes.setdefault(source.function, {})
    if not all(one.holds() for one in made.values()):
        made.clear()
    if node.lineno not in made:
        read = _read(node, source) if _only_defines(node) else None
        made[node.lineno] = _Made(None) if read is None else _Made(_made(node, source), read)
    for namespace, name, _ in made[node.lineno].read:
        note_compiled_in(namespace, name)
    return made[node.lineno].kind


def _read(node: gast.ClassDef, source: Source) -> tuple[tuple[Mapping[str, object], str, object], ...] | None:
    """What a class statement reads when it runs, not what its methods read; None where a later change of it would not
    be seen, as of the field of an object."""
    found: list[tuple[Mapping[str, object], str, object]] = []
    pending: list[gast.AST] = [*node.bases, *node.decorator_list, *(keyword.value for keyword in node.keywords)]
    for statement in node.body:
        match statement:
            case gast.FunctionDef(args=args):
                defaults = [default for default in args.kw_defaults if default is not None]
                pending += [*args.defaults, *defaults, *statement.decorator_list]
            case gast.Assign(value=value) | gast.AnnAssign(value=value) if value is not None:
                pending.append(value)
    fields = {name.id for name in walk(*node.body) if isinstance(name, gast.Name) and isinstance(name.ctx, gast.Store)}
    while pending:
        part = pending.pop()
        match part:
            case gast.Name(id=name) if name not in fields:
                spaces: tuple[Mapping[str, object], ...] = (source.function.__globals__, vars(builtins))
                found += [(space, name, space[name]) for space in spaces if name in space][:1]
            case gast.Attribute(attr=name):
                owner = _owner(part, source)
                if owner is None:
                    return None
                found.append((vars(owner), name, vars(owner).get(name)))
                pending.append(part.value)
            case gast.Subscript() if not _is_type(part.value, source):
                return None
            case _:
                pending += children(part)
    return tuple(found)


def _owner(node: gast.Attribute, source: Source) -> ModuleType | type | None:
    """The module, or the class of constants, whose attribute is read."""
    try:
        owner = _value(node.value, source)
    except (NameError, AttributeError):
        return None
    return owner if isinstance(owner, ModuleType | EnumType) else None


def _is_type(node: gast.expr, source: Source) -> bool:
    """Whether ``node[...]`` is a type with parameters, ``Generic[T]``."""
    try:
        return isinstance(_value(node, source), type) or hasattr(_value(node, source), "__mro_entries__")
    except (NameError, AttributeError):
        return False


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
    kinds = [made.kind for made in _classes[source.function].values()]
    values: dict[str, object] = {m.__name__: m for m in kinds if m is not None}
    for name in {inner.id for inner in walk(expression) if isinstance(inner, gast.Name)} - values.keys():
        binding = source.resolve(name)
        if binding is None:
            raise NameError(name)
        values[name] = binding.value
    if not _is_definition(expression, source):
        raise NameError("not what it means alone, but what it does")
    tree = ast.fix_missing_locations(ast.Expression(gast.gast_to_ast(expression)))
    return eval(alone(compile)(tree, source.filename, "eval"), values)


def _is_definition(expression: Any, source: Source) -> bool:
    """Whether an expression has no effect: a path, or ``dataclass(...)`` with constants."""
    match expression:
        case gast.Call(func=function, args=[], keywords=keywords):
            plain = all(isinstance(keyword.value, gast.Constant) for keyword in keywords)
            return plain and _value(function, source) is dataclasses.dataclass
        case gast.Attribute(value=value) | gast.Subscript(value=value):
            return _is_definition(value, source)
    return isinstance(expression, gast.Name | gast.Constant)
