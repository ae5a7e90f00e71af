"""Which names hold memory of their own: the proof that ``y += x`` is ``y = y + x``.

Enters: the desugared body of a function and its scope.  Leaves: the names whose value nobody else can see.  A name
qualifies if every value it is ever bound to is new (a number, arithmetic, a ruled function that makes no view), and no
other name, container or call result may share its memory; and if it is not stored into as a whole (``y[()] = x``), as
an array without axes may be, of which ``y + x`` makes a number.  The order of statements plays no part::

    y = x * 2.0          y qualifies, if this is all           z = y[1:]         now z may share with y
    y += b               -> y = y + b, proved                  y = np.ravel(x)   y may share with x
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from types import FunctionType, MethodType

import gast

from srcgrad.frontend.callees import SHAPES
from srcgrad.frontend.desugar.build import load
from srcgrad.frontend.names import default_values, names_of
from srcgrad.frontend.normal_form import Derived, LocalFunction
from srcgrad.frontend.scope import Scope, Static, Variable, closure_of, holders, local_in
from srcgrad.rules.memory import makes_new
from srcgrad.rules.table import is_constant, lookup, method
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import parameters_of, walk

ELSEWHERE = "?"  # memory that somebody outside of the function may hold
#: What a call stores its results into and hands on, None if it makes new ones.
Outputs = Callable[[gast.Call], list[gast.expr | None] | None]


class Sharing:
    """Who may share memory with whom; one pass over the body.

    ``of_objects`` asks less: which names may hold the same array object, whose shape they share.  A part of an array
    (``y[1:]``) shares its memory and is an object of its own.
    """

    def __init__(self, scope: Scope, outputs: Outputs, *, of_objects: bool = False) -> None:
        self.scope = scope
        self.outputs = outputs
        self.of_objects = of_objects
        self.shared: set[str] = set(parameters_of(scope.node.args))
        self.comprehended = {
            name
            for node in walk(*scope.body)
            if isinstance(node, gast.comprehension)
            for name in names_of([node.target])
        }
        self.containers = self._containers()
        for statement in _statements(scope.body):
            self._statement(statement)

    def owns(self, name: str) -> bool:
        """Whether ``name`` always holds memory that nothing else can see."""
        return name not in self.shared

    def _containers(self) -> set[str]:
        """The names that may hold a list, tuple or dict made here: ``+``, ``*`` and ``|`` of one hold its items."""
        bound: list[tuple[set[str], gast.expr]] = []
        for statement in _statements(self.scope.body):
            match statement:
                case gast.Assign(targets=targets, value=value):
                    bound.append(({target.id for target in targets if isinstance(target, gast.Name)}, value))
                case gast.AugAssign(target=gast.Name(id=name), value=value):
                    bound.append(({name}, value))
            named = (node for node in expressions_of(statement) if isinstance(node, gast.NamedExpr))
            bound += [({node.target.id}, node.value) for node in named]
        self.containers = set()
        while True:
            found = {name for names, value in bound if self._may_be_container(value) for name in names}
            if found <= self.containers:
                return found
            self.containers |= found

    def _may_be_container(self, node: gast.expr) -> bool:
        """Whether an expression is seen to make, or join, a container."""
        match node:
            case gast.Name(id=name):
                return name in self.containers
            case gast.BinOp(left=left, op=gast.Add() | gast.Mult() | gast.BitOr(), right=right):
                return self._may_be_container(left) or self._may_be_container(right)
            case gast.IfExp(body=left, orelse=right):
                return self._may_be_container(left) or self._may_be_container(right)
            case gast.NamedExpr(value=value):
                return self._may_be_container(value)
            case gast.Call(func=gast.Attribute(value=value, attr="copy")):
                return self._may_be_container(value)
            case gast.Call(func=function):
                static = self._static(function)
                return static is not None and static.value in (list, tuple, dict, deque, sorted)
        return isinstance(node, gast.List | gast.Tuple | gast.Dict | gast.ListComp | gast.DictComp)

    def _statement(self, statement: gast.stmt) -> None:
        match statement:
            case gast.Assign(targets=[gast.Subscript(value=gast.Name(id=name), slice=place)]) | gast.AugAssign(
                target=gast.Subscript(value=gast.Name(id=name), slice=place)
            ) if _is_whole(place):
                self.shared.add(name)
            case gast.Assign(targets=[gast.Subscript() | gast.Attribute()], value=value) if self.of_objects:
                self._stored(value)
            case gast.Assign(targets=[target], value=value):
                self._bound(names_of([target]), value)
            case gast.AugAssign(target=gast.Name(id=name), value=value) if self._may_be_container(value):
                self._bound({name}, value)
            case gast.For(target=target, iter=iterable):
                if not self._is_range(iterable):
                    self._bound(names_of([target]), iterable)
            case gast.With(items=items):
                for item in items:
                    if item.optional_vars is not None:  # what it enters as is known to the manager, too
                        self.shared |= names_of([item.optional_vars]) | self.sources(item.context_expr)
            case gast.FunctionDef(args=arguments):
                self._defaults(arguments)
        for node in expressions_of(statement):
            match node:
                case gast.NamedExpr(target=gast.Name(id=name), value=value):
                    self._bound({name}, value)
                case gast.ListComp(generators=generators, elt=element) | gast.GeneratorExp(
                    generators=generators, elt=element
                ) | gast.DictComp(generators=generators, value=element):
                    for generator in generators:
                        self._bound(names_of([generator.target]), generator.iter)
                    self._bound({ELSEWHERE}, element)
                case gast.Lambda(args=arguments):
                    self._defaults(arguments)
                case gast.List() | gast.Tuple() | gast.Dict() | gast.Call():
                    # What a container or a user function holds on to may come back under another name.
                    for held in self._kept(node):
                        self.shared.add(held)

    def _defaults(self, arguments: gast.arguments) -> None:
        """What a local function holds on to from where it is defined."""
        for default in default_values(arguments):
            self._bound({ELSEWHERE}, default)

    def _bound(self, targets: set[str], value: gast.expr) -> None:
        sources = self.sources(value)
        if sources - targets or len(targets) > 1 and sources:
            self.shared |= targets if self.of_objects and self._is_part(value) else targets | sources

    def _stored(self, value: gast.expr) -> None:
        """What is stored into an object becomes a part of it: the object that held it stays the same one."""
        if not self._is_part(value):
            self.shared |= self.sources(value)

    @staticmethod
    def _is_part(value: gast.expr) -> bool:
        """Whether an expression is a part of what a name holds: of an array a view, or an item of a container, which
        holds the array by a display or a call."""
        return isinstance(value, gast.Subscript) and isinstance(value.value, gast.Name)

    def _kept(self, node: gast.expr) -> set[str]:
        if isinstance(node, gast.Call):
            static = self._static(node.func)
            if static is None:
                return {n for a in (*node.args, *(k.value for k in node.keywords)) for n in self.sources(a)}
            calls = isinstance(static.value, FunctionType | MethodType | LocalFunction | Derived)
            if not (calls or _is_own_class(static.value)):
                return set()
            if lookup(static.value) is not None or is_constant(static.value):
                return set()
            return {n for a in (*node.args, *(k.value for k in node.keywords)) for n in self.sources(a)}
        return set()

    def _is_range(self, node: gast.expr) -> bool:
        static = self._static(node.func) if isinstance(node, gast.Call) else None
        return static is not None and static.value is range

    def _static(self, node: gast.expr) -> Static | None:
        root = node
        while isinstance(root, gast.Attribute):
            root = root.value
        if isinstance(root, gast.Name) and root.id in self.comprehended:
            return None
        return self.scope.static_of(node)

    def sources(self, root: gast.expr) -> set[str]:
        """The names whose memory the value of an expression may share; ``ELSEWHERE`` for what is not known."""
        found: set[str] = set()
        pending: list[gast.AST] = [root]
        while pending:
            node = pending.pop()
            match node:
                case GlobalReference():
                    found.add(ELSEWHERE)
                case gast.Name(id=name) if name in self.comprehended:
                    found.add(name)
                case gast.Name(id=name):
                    meaning = self.scope.resolve(name, node)
                    if isinstance(meaning, Variable) and meaning.scope is self.scope:
                        found.add(name)
                    elif not isinstance(meaning, Static):
                        found.add(ELSEWHERE)
                case gast.IfExp(body=body, orelse=orelse):
                    pending += [body, orelse]
                case gast.BoolOp(values=values):
                    pending += values
                case gast.NamedExpr(target=target, value=value):
                    pending += [load(target.id, target), value]
                case gast.Subscript(value=value) | gast.Starred(value=value):
                    pending.append(value)
                case gast.Attribute(value=value, attr=attr):
                    if attr not in SHAPES and self._static(value) is None:
                        pending.append(value)
                case gast.Tuple(elts=elements) | gast.List(elts=elements):
                    pending += elements
                case gast.Dict(values=elements):
                    pending += elements
                case gast.BinOp(left=left, right=right) if self._may_be_container(node):
                    pending += [left, right]
                case gast.ListComp(elt=element) | gast.GeneratorExp(elt=element) | gast.DictComp(value=element):
                    pending += [element, *(generator.iter for generator in node.generators)]
                case gast.Call():
                    outputs = self.outputs(node)  # np.add(x, y, out=w) is w
                    if outputs is None:
                        pending += self._called(node, found)
                    else:
                        pending += [output for output in outputs if output is not None]
        return found

    def _called(self, node: gast.Call, found: set[str]) -> Iterable[gast.expr]:
        """The arguments whose memory a call's result may share."""
        arguments = [*node.args, *(keyword.value for keyword in node.keywords)]
        static = self._static(node.func)
        if static is None:
            if not isinstance(node.func, gast.Attribute):
                found.add(ELSEWHERE)
                return arguments
            function = method(node.func.attr)
            if node.func.attr == "copy" and self._may_be_container(node.func.value):
                return [node.func.value]
            if makes_new(function, node.func.attr):
                return []
            return [node.func.value, *arguments]
        local = local_in(static.value)
        if local is not None:
            found.add(ELSEWHERE)
            found.update(v.name for v in holders(closure_of(local)) if v.scope is self.scope)
            return arguments
        joins = getattr(static.value, "__module__", "") == "_operator" and any(map(self._may_be_container, arguments))
        if makes_new(static.value) and not joins:
            return []
        found.add(ELSEWHERE)
        return arguments


def _is_own_class(value: object) -> bool:
    """Whether a call of this makes an object of a class that somebody wrote, which may keep what it is given."""
    return isinstance(value, type) and value.__module__.partition(".")[0] not in ("builtins", "numpy")


def _is_whole(place: gast.expr) -> bool:
    """Whether an index may be one of an array without axes."""
    match place:
        case gast.Constant(value=value):
            return value is ...
        case gast.Tuple(elts=parts):
            return not parts
    return False


def _statements(body: Iterable[gast.stmt]) -> Iterable[gast.stmt]:
    pending = list(body)
    while pending:
        statement = pending.pop()
        yield statement
        match statement:
            case gast.If() | gast.For() | gast.While():
                pending += [*statement.body, *statement.orelse]
            case gast.With():
                pending += statement.body


def expressions_of(statement: gast.stmt) -> Iterable[gast.expr]:
    """Every expression in a statement, nested statements and functions apart."""
    pending: list[object] = [
        getattr(statement, name, None) for name in statement._fields if name not in ("body", "orelse", "args")
    ]
    while pending:
        node = pending.pop()
        if isinstance(node, list):
            pending += node
        elif isinstance(node, gast.Lambda):
            yield node
            pending += default_values(node.args)
        elif isinstance(node, gast.AST) and not isinstance(node, gast.stmt):
            if isinstance(node, gast.expr):
                yield node
            pending += [getattr(node, name, None) for name in node._fields]
