"""``defaultdict`` and ``OrderedDict`` under names of their own, as dicts.

Enters: their making, and reads of what may be missing.  Leaves: dicts that get what is missing before it is read::

    d = defaultdict(list)       ->      d = {}
    d[k].append(x)              ->      if k not in d: d[k] = []
                                        t = d[k];  t.append(x)

What is read of such a dict under another name, in another function, in a container, has to be there: a missing key is
refused when the program runs (``runtime.defaults``).
"""

from __future__ import annotations

from collections import Counter, OrderedDict, defaultdict
from collections.abc import Callable
from functools import cached_property
from types import FunctionType

import gast

from srcgrad import runtime
from srcgrad.errors import SrcgradError, UnresolvedName
from srcgrad.frontend.desugar.build import (
    assign,
    branch,
    call,
    call_builtin,
    compare,
    constant,
    load,
    method_call,
    placed,
    subscript,
)
from srcgrad.frontend.journal import remembered
from srcgrad.frontend.known import instances_of
from srcgrad.frontend.live_views import LiveViews
from srcgrad.frontend.normal_form import Effect, Operation
from srcgrad.frontend.replacing import of_the_text
from srcgrad.frontend.scope import Scope
from srcgrad.frontend.source import meaning_outside, source_of
from srcgrad.frontend.user_calls import is_none
from srcgrad.syntax.globals import builtin, of_runtime, reference
from srcgrad.syntax.parse import clone, names_read, nodes_of, walk

_DEFAULTING = of_runtime(runtime.defaulting)
_FACTORY = of_runtime(runtime.require_factory)
_EMPTY: dict[object, object] = {float: 0.0, int: 0, str: "", bool: False, complex: 0j}
_DISPLAYS: dict[object, type[gast.expr]] = {list: gast.List, tuple: gast.Tuple}
_MADE = (*_EMPTY, *_DISPLAYS, dict, set)


class Defaulting(LiveViews):
    """Dicts that make what is missing."""

    def keep_view(self, name: str, value: gast.expr) -> bool:
        if name in self._factories and self._makes(value, defaultdict):
            assert isinstance(value, gast.Call)
            items = self._as_dict(value, value.args[1:])
            shown = items if isinstance(items, gast.Dict) else None
            self.bind(name, self._defaulting(shown, value, *self._told(value)))
            if shown is None:
                self.run([placed(gast.Expr(method_call(load(name, value), "update", [items], value)), value)])
            return True
        return super().keep_view(name, value)

    def call(self, node: gast.Call) -> tuple[gast.expr, Operation]:
        if self._makes(node, OrderedDict):
            return self.operation(self._as_dict(node, node.args))
        if self._makes(node, runtime.defaulting):
            shown, operation = self.operation(node.args[0])
            return call(reference(_DEFAULTING), [shown, *map(self.nested, node.args[1:])], node), operation
        if self._makes(node, defaultdict) and len(node.args) == 1 and not node.keywords and self._told(node):
            return self.call(self._defaulting(None, node, *self._told(node)))
        return super().call(node)

    def needs_statements(self, *nodes: gast.AST) -> bool:
        if any(self._factory_of(inner) is not None for node in nodes for inner in walk(node)):
            return True
        return super().needs_statements(*nodes)

    def _linear(self, node: gast.expr) -> gast.expr:
        return self.value(node) if self._factory_of(node) is not None else super()._linear(node)

    def subscript(self, node: gast.Subscript) -> tuple[gast.expr, Operation]:
        if isinstance(node.ctx, gast.Load) and self._factory_of(node) is not None:
            base, key = self._present(node)
            node = subscript(load(base, node), key, node)
            self._settled.add(id(node))
            self._identified.append(node)
        return super().subscript(node)

    def store_augmented(self, target: gast.Subscript, operator: gast.operator, value: gast.expr) -> None:
        if self._factory_of(target) is not None:
            base, key = self._present(target)
            target = placed(gast.Subscript(load(base, target), key, gast.Store()), target)
        super().store_augmented(target, operator, value)

    def _is_mapping(self, node: gast.expr) -> bool:
        # Read by their places its items would be made: what is missing under 0, 1, 2.
        return self._factory_in(node) is not None or super()._is_mapping(node)

    # --- what is missing ---------------------------------------------------------------------------------------------
    @of_the_text
    def _factories(self) -> dict[str, gast.expr]:
        """The names that are bound once, to a dict that makes what is missing, and what makes it."""
        found = self._bound_in(self.scope)
        scope = self.scope.parent
        while scope is not None and isinstance(self.scope.node, gast.FunctionDef):
            for name, factory in self._bound_in(scope).items():
                if self.scope.owner(name) is scope and all(scope.owner(read) is None for read in names_read(factory)):
                    found[name] = factory
            scope = scope.parent
        return found

    def _bound_in(self, scope: Scope) -> dict[str, gast.expr]:
        found: dict[str, gast.expr] = {}
        nodes = list(nodes_of(scope.body))
        if not any(self._makes(node, defaultdict) for node in nodes):
            return found
        names = (node for node in walk(*scope.body) if isinstance(node, gast.Name))
        bound = Counter(node.id for node in names if not isinstance(node.ctx, gast.Load))
        for node in nodes:
            match node:
                case gast.Assign(targets=[gast.Name(id=name)], value=value) if bound[name] == 1:
                    match value:
                        case gast.Call(args=[factory, *_]) if self._makes(value, defaultdict) and not is_none(factory):
                            found[name] = factory
                        case gast.Name(id=other) if other in found:
                            found[name] = found[other]
        return found

    @cached_property
    def _settled(self) -> set[int]:
        """The subscripts of which the key is there."""
        return set()

    @cached_property
    def _identified(self) -> list[gast.AST]:
        """What the identities belong to."""
        return []

    def _makes(self, node: gast.AST, kind: object) -> bool:
        if not isinstance(node, gast.Call) or not isinstance(node.func, gast.Name | gast.Attribute):
            return False  # what a lambda captures is not known before it is written
        static = self.known_static(node.func)
        return static is not None and static.value is kind

    def _factory_of(self, node: gast.AST) -> gast.expr | None:
        """What makes the item that a subscript reads, where it may be missing."""
        if not isinstance(node, gast.Subscript) or id(node) in self._settled:
            return None
        return self._factory_in(node.value)

    def _factory_in(self, base: gast.expr) -> gast.expr | None:
        if isinstance(base, gast.Name):
            return self._factories.get(base.id)
        if isinstance(base, gast.Attribute):
            return self._factory_in_field(base)
        outer = self._factory_in(base.value) if isinstance(base, gast.Subscript) else None
        match outer:  # of a dict of such dicts
            case gast.Lambda(body=gast.Call(args=[factory, *_]) as made) if self._makes(made, defaultdict):
                return factory
        return None

    def _factory_in_field(self, base: gast.Attribute) -> gast.expr | None:
        """What makes the items of a dict in a field, as the class of the object says."""
        try:
            kinds = {instance.kind for instance in instances_of(self.peek(base.value))}
        except UnresolvedName:  # the target of a comprehension
            return None
        made = {factory_of_field(kind, base.attr) for kind in kinds}
        factory = made.pop() if len(made) == 1 else None
        return None if factory is None else placed(reference(builtin(factory.__name__)), base)

    def _told(self, node: gast.Call) -> list[gast.expr]:
        """What the run is told that a dict makes, where that is a built-in type."""
        static = self.scope.static_of(node.args[0])
        kind = None if static is None else static.value
        return [reference(builtin(kind.__name__))] if isinstance(kind, type) and kind in _MADE else []

    def _present(self, node: gast.Subscript) -> tuple[str, gast.expr]:
        """Put what is missing into the dict; its name and the key."""
        factory = self._factory_of(node)
        assert factory is not None
        base = self.name_of(node.value)
        if isinstance(node.value, gast.Attribute):
            checked = call(reference(_FACTORY), [load(base, node), factory], node)
            self.out.append(Effect(placed(gast.Expr(checked), node), self.span))
        key = self.held(self.settle(node.slice))
        missing = compare(clone(key), gast.NotIn(), load(base, node), node)
        place = placed(gast.Subscript(load(base, node), clone(key), gast.Store()), node)
        self.run([branch(missing, [assign(place, self._default(factory), node)], [], node)])
        return base, key

    def _default(self, factory: gast.expr) -> gast.expr:
        static = self.scope.static_of(factory)
        kind = None if static is None else static.value
        if isinstance(factory, gast.Lambda):
            made = factory.body
            return self._nested(made) if self._makes(made, defaultdict) else clone(made)
        if isinstance(kind, type) and kind in _EMPTY:
            return constant(_EMPTY[kind], factory)
        if isinstance(kind, type) and kind in _DISPLAYS:
            return placed(_DISPLAYS[kind]([], gast.Load()), factory)
        if kind is dict:
            return placed(gast.Dict([], []), factory)
        return call(factory, [], factory)

    def _nested(self, node: gast.Call) -> gast.expr:
        items = self._as_dict(node, node.args[1:])
        if not isinstance(items, gast.Dict):
            raise self.refuse(node, "a defaultdict makes dicts of what another holds", "put in what is missing")
        return self._defaulting(items, node)

    def _defaulting(self, items: gast.expr | None, node: gast.AST, *made: gast.expr) -> gast.Call:
        """A call that makes a ``defaultdict``, in which nothing is made by itself."""
        items = placed(gast.Dict([], []), node) if items is None else items
        return call(reference(_DEFAULTING), [items, *made], node)

    def _as_dict(self, node: gast.Call, items: list[gast.expr]) -> gast.expr:
        """The dict of what a constructor is given."""
        if not items and not node.keywords:
            return placed(gast.Dict([], []), node)
        if items and not node.keywords and isinstance(items[0], gast.Dict):
            return items[0]
        made = call_builtin("dict", items, node)
        made.keywords = list(node.keywords)
        return made


@remembered
def factory_of_field(kind: type, name: str) -> type | None:
    """What the dicts make that the methods of a class put into a field, if they always put a ``defaultdict`` there."""
    made: set[type | None] = set()
    functions = [value for base in kind.__mro__ for value in vars(base).values() if isinstance(value, FunctionType)]
    for function in functions:
        try:
            source = source_of(function)
        except SrcgradError:
            continue
        nodes, plain = list(walk(source.node)), 0
        for node in nodes:
            match node:
                case gast.Assign(targets=[gast.Attribute(attr=attr)], value=value) | gast.AnnAssign(
                    target=gast.Attribute(attr=attr), value=value
                ) if attr == name:
                    made.add(_made_by(value, meaning_outside(source)))
                    plain += 1
        if plain != sum(isinstance(n, gast.Attribute) and n.attr == name and not _is_read(n) for n in nodes):
            return None
    return made.pop() if len(made) == 1 else None


def _is_read(node: gast.Attribute) -> bool:
    return isinstance(node.ctx, gast.Load)


def _made_by(value: gast.expr | None, meaning: Callable[[str], object]) -> type | None:
    found: object = None
    match value:
        case gast.Call(func=function, args=[gast.Name(id=made)], keywords=[]):
            match function:
                case gast.Name(id=name):
                    found = meaning(name)
                case gast.Attribute(value=gast.Name(id=module), attr=attr):
                    found = getattr(meaning(module), attr, None)
            factory = meaning(made)
            if found is defaultdict and isinstance(factory, type) and factory in _MADE:
                return factory
    return None
