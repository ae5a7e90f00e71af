"""Which variables of a program are versions, which are cells, and which are names of a module or class.

Enters: the tree of a function.  Leaves: a ``Scope`` for it and for each function, class, comprehension and generator
expression inside of it, by Python's rules of scoping (*The Python Language Reference*, 4.2.2).  A variable is a cell
where another function captures it, or where a ``try`` or ``with`` binds it: a handler sees what was bound before the
exception.

>>> import gast
>>> scope = scopes_of(gast.parse("def f(x):\\n    s = x\\n    return lambda: s + y").body[0])
>>> sorted(scope.bound), sorted(scope.cells), scope.find("y")
(['s', 'x'], ['s'], None)
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import TypeAlias

import gast

from srcgrad.frontend.names import bound_by
from srcgrad.syntax.parse import children, parameters_of

Comprehension: TypeAlias = gast.ListComp | gast.SetComp | gast.DictComp
Function: TypeAlias = gast.FunctionDef | gast.AsyncFunctionDef | gast.Lambda
_INLINE = gast.ListComp | gast.SetComp | gast.DictComp
_SCOPED = gast.FunctionDef | gast.AsyncFunctionDef | gast.Lambda | gast.ClassDef | gast.GeneratorExp | _INLINE


@dataclass(eq=False)
class Scope:
    """One function, class or comprehension: the names that it binds and those of them that are cells."""

    node: gast.AST
    parent: Scope | None
    bound: set[str] = field(default_factory=set)
    cells: set[str] = field(default_factory=set)
    global_names: set[str] = field(default_factory=set)
    outer_names: set[str] = field(default_factory=set)  # declared ``nonlocal``
    inner: dict[gast.AST, Scope] = field(default_factory=dict)
    parts: list[gast.AST] = field(default_factory=list)  # the nodes that run in it

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, gast.ClassDef)

    @property
    def is_inline(self) -> bool:
        """Whether this runs within the activation of the function around it."""
        return isinstance(self.node, _INLINE)

    @property
    def function(self) -> Scope:
        """The function or class in whose activation this runs."""
        scope = self
        while scope.is_inline:
            assert scope.parent is not None
            scope = scope.parent
        return scope

    def find(self, name: str) -> Scope | None:
        """The scope whose variable a name is here; None of what is global, or captured from outside of the tree."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.global_names:
                return None
            if name in scope.bound and (scope is self or not scope.is_class):
                return scope
            if scope.is_class and name == "__class__" and scope is not self:
                return scope
            scope = scope.parent
        return None


    def is_global(self, name: str) -> bool:
        """Whether a name is declared global here, or in the scope around whose variable it would be."""
        scope: Scope | None = self
        while scope is not None:
            if name in scope.global_names:
                return True
            if name in scope.bound and (scope is self or not scope.is_class):
                return False
            scope = scope.parent
        return False


def scopes_of(root: Function) -> Scope:
    """The scope of a function, with those inside of it."""
    scope = _scope(root, None)
    _resolve(scope)
    return scope


def own_parts(node: gast.AST) -> list[gast.AST]:
    """What runs within a scope: not its decorators and defaults, nor the first iterable of a generator expression."""
    match node:
        case gast.Lambda():
            return [node.body]
        case gast.FunctionDef() | gast.AsyncFunctionDef() | gast.ClassDef():
            return list(node.body)
        case gast.GeneratorExp() | gast.ListComp() | gast.SetComp() | gast.DictComp():
            first, *rest = node.generators
            results = [node.key, node.value] if isinstance(node, gast.DictComp) else [node.elt]
            return [first.target, *first.ifs, *rest, *results]
    raise AssertionError(node)


def outer_parts(node: gast.AST) -> list[gast.AST]:
    """What of a scope's text runs in the scope around it."""
    match node:
        case gast.Lambda(args=args):
            return [*args.defaults, *filter(None, args.kw_defaults)]
        case gast.FunctionDef(args=args) | gast.AsyncFunctionDef(args=args):
            defaults = [*args.defaults, *filter(None, args.kw_defaults)]
            return [*node.decorator_list, *defaults, *(part for _, part in annotations_of(node))]
        case gast.ClassDef():
            return [*node.decorator_list, *node.bases, *node.keywords]
        case gast.GeneratorExp() | gast.ListComp() | gast.SetComp() | gast.DictComp():
            return [node.generators[0].iter]
    raise AssertionError(node)


def annotations_of(node: gast.FunctionDef | gast.AsyncFunctionDef) -> list[tuple[str, gast.expr]]:
    """The annotations of a function by parameter, and of its result, in the order of their evaluation."""
    args = node.args
    parameters = [*args.args, *args.posonlyargs, args.vararg, *args.kwonlyargs, args.kwarg]
    found = [(p.id, p.annotation) for p in parameters if p is not None and p.annotation is not None]
    return [*found, *([] if node.returns is None else [("return", node.returns)])]


def nodes_within(parts: Iterable[gast.AST], *, annotations: bool = False) -> Iterator[gast.AST]:
    """The nodes that run in one scope; of a scope inside the node itself and what of it runs out here.

    ``annotations``: of a class, which evaluates them."""
    pending = [*parts][::-1]
    while pending:
        node = pending.pop()
        yield node
        below = outer_parts(node) if isinstance(node, _SCOPED) else children(node)
        if not annotations and (skipped := getattr(node, "annotation", None)) is not None:
            below = [part for part in below if part is not skipped]
        pending += below[::-1]


def names_bound(parts: Iterable[gast.AST]) -> dict[str, None]:
    """The names that one scope binds in these parts, comprehensions' ``:=`` included, in the order of the text."""
    found: dict[str, None] = {}
    for node in nodes_within(parts):
        found.update(dict.fromkeys(bound_by(node)))
        if isinstance(node, _INLINE):
            found.update(dict.fromkeys(_walrus(node)))
    return found


def _walrus(comprehension: gast.AST) -> Iterator[str]:
    """What ``:=`` in a comprehension, or in one inside of it, binds for the function around."""
    for node in nodes_within(own_parts(comprehension)):
        match node:
            case gast.NamedExpr(target=gast.Name(id=name)):
                yield name
            case gast.ListComp() | gast.SetComp() | gast.DictComp() | gast.GeneratorExp():
                yield from _walrus(node)


def _scope(node: gast.AST, parent: Scope | None) -> Scope:
    scope = Scope(node, parent)
    if isinstance(node, gast.Lambda | gast.FunctionDef | gast.AsyncFunctionDef):
        scope.bound |= parameters_of(node.args)
    comprehended = isinstance(node, _INLINE | gast.GeneratorExp)
    walrus = set(_walrus(node)) if comprehended else set()
    scope.parts = list(nodes_within(own_parts(node), annotations=scope.is_class))
    for part in scope.parts:
        match part:
            case gast.Global(names=names):
                scope.global_names.update(names)
            case gast.Nonlocal(names=names):
                scope.outer_names.update(names)
            case gast.Try() | gast.With() if not scope.is_class:
                scope.cells.update(names_bound([part]))
        scope.bound.update(name for name in bound_by(part) if name not in walrus)
        if isinstance(part, gast.GeneratorExp | _INLINE) and not comprehended:
            scope.bound.update(_walrus(part))
        if isinstance(part, _SCOPED):
            scope.inner[part] = _scope(part, scope)
    scope.bound -= scope.global_names | scope.outer_names
    scope.cells &= scope.bound
    return scope


def _resolve(scope: Scope) -> None:
    """Make cells of the variables that functions inside of their scopes capture."""
    for node in scope.parts:
        names = [node.id] if isinstance(node, gast.Name) else bound_by(node)
        for name in [*names, "__class__"] if "super" in names else names:
            owner = scope.find(name)
            if owner is not None and owner.function is not scope.function:
                owner.cells.add(name)
    for inner in scope.inner.values():
        _resolve(inner)
