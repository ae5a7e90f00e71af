"""Names for modules, and for None, that a function binds once it has looked at its arguments.

Libraries that serve several kinds of arrays ask which module their arguments belong to (the Python array API standard)
and call that module's functions; here it is always NumPy, whose names are those of the standard.  Enters: the body of a
function that the fence has admitted, and the arguments that are known while compiling.  Leaves: the body with the
module in the place of its name, without the branches that cannot be taken, and the arguments that remain fixed::

    xp = array_namespace(x) if xp is None else xp
    if is_numpy(xp):                                   ->     y = np.sum(x)
        y = xp.sum(x)
    else:
        y = xp.sum(x, device=device)

Trees are shared, never changed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any

import gast
import numpy as np

from srcgrad.frontend import array_api
from srcgrad.frontend.desugar.build import assign, constant, placed
from srcgrad.frontend.names import body_of, bound_by, free_names
from srcgrad.frontend.source import Source
from srcgrad.language.models.array_modules import canonical, serves_numpy
from srcgrad.syntax.globals import GlobalBinding, GlobalReference, reference
from srcgrad.syntax.parse import children, names_bound, parameters_of, walk

_UNKNOWN = object()
_USUAL = "xp"  # what the standard's users call the module
_NUMPY = GlobalBinding("np", np, "numpy", None)

#: Functions that answer with the module of their arguments, and what else they return beside it.
_GIVES = {
    "array_namespace": np,
    "_namespace": np,
    "get_namespace": (np, False),
    "get_namespace_and_device": (np, False, None),
}
#: Questions about a module: whether it is NumPy's, or another library's.
_ASKS = {
    "is_numpy": True,
    "is_numpy_namespace": True,
    "_is_numpy_namespace": True,
    **dict.fromkeys("is_cupy is_torch is_jax is_dask is_array_api_strict is_marray".split(), False),
    **dict.fromkeys("is_cupy_namespace is_torch_namespace is_jax_namespace is_dask_namespace".split(), False),
}
_NAMES = _GIVES.keys() | _ASKS.keys() | array_api.NAMES


def gives_namespace(function: object) -> bool:
    """Whether a function answers with the module that its arguments belong to, or asks about one."""
    if not callable(function) or getattr(function, "__name__", None) not in _NAMES:
        return False
    return serves_numpy(function)


def namespace_parameters(node: gast.FunctionDef | gast.Lambda) -> frozenset[str]:
    """Parameters that a function uses as a module of arrays, or hands on as one: where one is None, it is asked for."""
    used = set()
    for inner in walk(node):
        match inner:
            case gast.Attribute(value=gast.Name(id=name), attr=attr):
                if name == _USUAL or (hasattr(np, attr) and not hasattr(np.ndarray, attr)):
                    used.add(name)
            case gast.keyword(value=gast.Name(id=name)) if name == _USUAL:
                used.add(name)
    return frozenset(used) & parameters_of(node.args)


def settled(
    source: Source, node: gast.FunctionDef | gast.Lambda, body: Sequence[gast.stmt], statics: Mapping[str, object]
) -> tuple[list[gast.stmt], dict[str, object]]:
    """The body without names for modules, and the arguments that are still fixed in it."""
    rebound = {name for statement in body for name in _bound(statement)}
    functions = [inner for inner in walk(*body) if isinstance(inner, gast.FunctionDef | gast.Lambda)]
    captured = {name for function in functions for name in free_names(function)}
    late = frozenset(rebound & captured)  # a function reads its surroundings when it is called
    known = {
        name: canonical(value)
        for name, value in statics.items()
        if name not in late and (isinstance(value, ModuleType) or (value is None and name in rebound))
    }
    writer = _Settling(source, rebound | parameters_of(node.args))
    if not known and not writer.asks(body):
        return list(body), dict(statics)
    left = {name: value for name, value in statics.items() if name not in known}
    return writer.block(body, known, late), left


def _bound(statement: gast.stmt) -> set[str]:
    """The names that a statement binds, those of functions inside it excepted."""
    found: set[str] = set()
    pending: list[gast.AST] = [statement]
    while pending:
        inner = pending.pop()
        match inner:
            case gast.FunctionDef(name=name):
                found.add(name)
                continue
            case gast.Lambda() | gast.ListComp() | gast.SetComp() | gast.GeneratorExp() | gast.DictComp():
                found |= {n.target.id for n in walk(inner) if isinstance(n, gast.NamedExpr)}
                continue
            case _:
                found.update(bound_by(inner))
        pending += children(inner)
    return found


class _Settling:
    """Rewrites blocks while it keeps what the names are known to be.

    ``locals`` are the names that the function binds.  A name that is known on one way only is bound where the ways
    meet; so is what a loop binds, before it.
    """

    def __init__(self, source: Source, names: set[str]) -> None:
        self.source = source
        self.locals = names

    def asks(self, body: Sequence[gast.stmt]) -> bool:
        """Whether a function that answers with a module, or about one, is called."""
        for node in walk(*body):
            if isinstance(node, gast.Call) and isinstance(node.func, gast.Name | gast.Attribute):
                tail = node.func.id if isinstance(node.func, gast.Name) else node.func.attr
                if tail in _NAMES and gives_namespace(self._global(node.func)):
                    return True
        return False

    # --- statements --------------------------------------------------------------------------------------------------
    def block(self, body: Sequence[gast.stmt], known: dict[str, object], open_: frozenset[str]) -> list[gast.stmt]:
        """The block; ``known`` is what holds before it, and holds after it what holds there.  ``open_`` names are
        bound as they stand."""
        made: list[gast.stmt] = []
        for statement in body:
            made += self._statement(statement, known, open_)
        return made

    def _statement(self, statement: gast.stmt, known: dict[str, object], open_: frozenset[str]) -> list[gast.stmt]:
        match statement:
            case gast.Assign(targets=[target]):
                return self._assignment(statement, target, known, open_)
            case gast.If(test=test, body=body, orelse=orelse):
                answer = self.value(test, known)
                if answer is not _UNKNOWN:
                    return self.block(body if answer else orelse, known, open_)
                return self._branches(statement, known, open_)
            case gast.Try(body=[gast.Assign(value=gast.Call() as value) as only], orelse=orelse, finalbody=final):
                if self.value(value, known) is not _UNKNOWN:  # what is answered while compiling raises nothing
                    return self.block([only, *orelse, *final], known, open_)
        if isinstance(statement, gast.With):
            items = self.read(statement.items, known)
            return [self._like(statement, items=items, body=self.block(statement.body, known, open_))]
        bound = _bound(statement)
        made = self._opened(known, bound, statement)
        if isinstance(statement, gast.For | gast.While | gast.Try | gast.TryStar):
            return [*made, self._compound(statement, known, open_ | bound)]
        return [*made, self.read(statement, known)]

    def _compound(self, statement: gast.stmt, known: dict[str, object], open_: frozenset[str]) -> gast.stmt:
        """A loop or a handler, in which no name that it binds is followed."""
        parts: dict[str, object] = {}
        for name in statement._fields:
            part = getattr(statement, name)
            if isinstance(part, list) and part and isinstance(part[0], gast.stmt):
                parts[name] = self.block(part, dict(known), open_)
            elif isinstance(part, list) and part and isinstance(part[0], gast.ExceptHandler):
                parts[name] = [self._like(h, body=self.block(h.body, dict(known), open_)) for h in part]
            else:
                parts[name] = self.read(part, known)
        return self._like(statement, **parts)

    def _branches(self, statement: gast.If, known: dict[str, object], open_: frozenset[str]) -> list[gast.stmt]:
        first, second = dict(known), dict(known)
        test = self.read(statement.test, known)
        before = self._opened(known, _bound(statement.test), statement)
        body, orelse = self.block(statement.body, first, open_), self.block(statement.orelse, second, open_)
        for name in sorted({*known, *first, *second}):
            one, other = first.get(name, _UNKNOWN), second.get(name, _UNKNOWN)
            known.pop(name, None)
            if one is other:
                known |= {} if one is _UNKNOWN else {name: one}
                continue
            if one is not _UNKNOWN:
                body.append(self._binding(name, one, statement))
            if other is not _UNKNOWN:
                orelse.append(self._binding(name, other, statement))
        if not body:
            body = [placed(gast.Pass(), statement)]
        return [*before, self._like(statement, test=test, body=body, orelse=orelse)]

    def _stored(self, statement: gast.Assign) -> gast.Assign:
        head = array_api.place_of(statement)
        if head is None or not gives_namespace(self._global(head)):
            return statement
        return array_api.as_store(statement) or statement

    def _assignment(
        self, statement: gast.Assign, target: gast.expr, known: dict[str, object], open_: frozenset[str]
    ) -> list[gast.stmt]:
        made = self._stored(self.read(statement, known))
        found = self.value(statement.value, known)
        names = [target] if isinstance(target, gast.Name) else getattr(target, "elts", [])
        values = (found,) if isinstance(target, gast.Name) else found
        plain = all(isinstance(name, gast.Name) and name.id not in open_ for name in names)
        if found is not _UNKNOWN and plain and isinstance(values, tuple) and len(values) == len(names):
            if any(isinstance(v, ModuleType) for v in values) or all(name.id in known for name in names):
                for name, one in zip(names, values, strict=True):
                    known[name.id] = one
                return []
        for name in _bound(statement):
            known.pop(name, None)
        return [made]

    def _opened(self, known: dict[str, object], names: set[str], at: gast.AST) -> list[gast.stmt]:
        """Bindings of the names that are not followed any further."""
        made = [self._binding(name, known[name], at) for name in sorted(names & known.keys())]
        for name in names:
            known.pop(name, None)
        return made

    def _binding(self, name: str, value: object, at: gast.AST) -> gast.stmt:
        return assign(name, self._spelled(value, at), at)

    # --- expressions -------------------------------------------------------------------------------------------------
    def read(self, node: Any, known: Mapping[str, object]) -> Any:
        """The node with what is known in the place of its names, conditional expressions that are decided taken."""
        if isinstance(node, list):
            items = [self.read(item, known) for item in node]
            return node if all(a is b for a, b in zip(items, node, strict=True)) else items
        if not isinstance(node, gast.AST) or isinstance(node, GlobalReference):
            return node
        match node:
            case gast.Name(id=name, ctx=gast.Load()):
                return self._spelled(known[name], node) if name in known else node
            case gast.IfExp(test=test):
                answer = self.value(test, known)
                if answer is not _UNKNOWN:
                    return self.read(node.body if answer else node.orelse, known)
            case gast.Call() | gast.Compare() | gast.UnaryOp() | gast.BoolOp():
                answer = self.value(node, known)
                if answer is not _UNKNOWN and not isinstance(answer, tuple):
                    return self._spelled(answer, node)
            case gast.FunctionDef() | gast.Lambda():
                own = parameters_of(node.args) | {name for inner in body_of(node) for name in _bound(inner)}
                known = {name: value for name, value in known.items() if name not in own}
            case gast.ListComp() | gast.SetComp() | gast.GeneratorExp() | gast.DictComp():
                targets = names_bound(*(generator.target for generator in node.generators))
                known = {name: value for name, value in known.items() if name not in targets}
        changed: dict[str, Any] = {}
        for name in node._fields:
            part = getattr(node, name, None)
            made = self.read(part, known) if isinstance(part, gast.AST | list) else part
            if made is not part:
                changed[name] = made
        node = self._like(node, **changed) if changed else node
        if isinstance(node, gast.Call) and gives_namespace(function := self._global(node.func)):
            return array_api.in_numpy(function.__name__, node) or node  # type: ignore[attr-defined]
        return node

    def value(self, node: gast.AST, known: Mapping[str, object]) -> object:
        """What an expression is known to be, of names that are followed; None, a truth value, a module."""
        match node:
            case gast.Name(id=name) if name in known:
                return known[name]
            case gast.Constant(value=None | bool()):
                return node.value
            case gast.Name() | gast.Attribute():
                found = canonical(self._global(node))
                return found if found is np else _UNKNOWN
            case gast.IfExp(test=test, body=body, orelse=orelse):
                answer = self.value(test, known)
                return _UNKNOWN if answer is _UNKNOWN else self.value(body if answer else orelse, known)
            case gast.UnaryOp(op=gast.Not(), operand=operand):
                answer = self.value(operand, known)
                return _UNKNOWN if answer is _UNKNOWN else not answer
            case gast.Compare(left=left, ops=[gast.Is() | gast.IsNot() as op], comparators=[right]):
                one, other = self.value(left, known), self.value(right, known)
                if one is _UNKNOWN or other is _UNKNOWN:
                    return _UNKNOWN
                return (one is other) == isinstance(op, gast.Is)
            case gast.BoolOp(op=op, values=values):
                for part in values:  # parts that come before one that decides must be known: they may raise
                    answer = self.value(part, known)
                    if answer is _UNKNOWN or bool(answer) == isinstance(op, gast.Or):
                        return answer
                return answer
            case gast.Call(func=func, args=arguments):
                function = self._global(func)
                if not gives_namespace(function):
                    return _UNKNOWN
                name = function.__name__  # type: ignore[attr-defined]
                if name in _GIVES:
                    return _GIVES[name]
                if name not in _ASKS:
                    return _UNKNOWN
                about = self.value(arguments[0], known) if arguments else _UNKNOWN
                return _ASKS[name] if about is np else _UNKNOWN
        return _UNKNOWN

    def _global(self, node: gast.AST) -> object:
        """The object that a dotted name means, if it starts at a name that is not local."""
        match node:
            case GlobalReference():
                return node.binding.value
            case gast.Name(id=name) if name not in self.locals:
                binding = self.source.resolve(name)
                return None if binding is None else binding.value
            case gast.Attribute(value=value, attr=attr):
                owner = self._global(value)
                return getattr(owner, attr, None) if isinstance(owner, ModuleType) else None
        return None

    def _spelled(self, value: object, at: gast.AST) -> gast.expr:
        if isinstance(value, ModuleType):
            return reference(_NUMPY if value is np else GlobalBinding(value.__name__, value, value.__name__, None))
        return constant(value, at)

    @staticmethod
    def _like(node: Any, **changed: object) -> Any:
        kind: Any = type(node)
        made = kind.__new__(kind)
        made.__dict__.update(node.__dict__, **changed)
        return made
