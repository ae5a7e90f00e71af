"""``defaultdict`` and ``OrderedDict`` under names of their own, as dicts.

Enters: their making, and reads of what may be missing.  Leaves: dicts that get what is missing before it is read::

    d = defaultdict(list)       ->      d = {}
    d[k].append(x)              ->      if k not in d: d[k] = []
                                        t = d[k];  t.append(x)

What another function reads of such a dict is read as of any dict: a missing key is an error there.
"""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from functools import cached_property

import gast

from srcgrad.frontend.desugar.build import (
    assign,
    branch,
    call,
    call_builtin,
    compare,
    constant,
    load,
    placed,
    subscript,
)
from srcgrad.frontend.live_views import LiveViews
from srcgrad.frontend.normal_form import Operation
from srcgrad.syntax.parse import clone, walk

_EMPTY: dict[object, object] = {float: 0.0, int: 0, str: "", bool: False, complex: 0j}
_DISPLAYS: dict[object, type[gast.expr]] = {list: gast.List, tuple: gast.Tuple}


class Defaulting(LiveViews):
    """Dicts that make what is missing."""

    def keep_view(self, name: str, value: gast.expr) -> bool:
        if name in self._factories and self._makes(value, defaultdict):
            assert isinstance(value, gast.Call)
            self.bind(name, self._as_dict(value, value.args[1:]))
            return True
        return super().keep_view(name, value)

    def call(self, node: gast.Call) -> tuple[gast.expr, Operation]:
        if self._makes(node, OrderedDict):
            return self.operation(self._as_dict(node, node.args))
        given = [argument for argument in node.args if isinstance(argument, gast.Name)]
        if any(argument.id in self._factories for argument in given) and self._may_change_dicts(node):
            raise self.refuse(
                node,
                "a defaultdict is given to a function that stores",
                "let the function store with d.setdefault(k, ...), and make a plain dict",
            )
        return super().call(node)

    def needs_statements(self, *nodes: gast.AST) -> bool:
        if self._factories and any(self._factory_of(inner) is not None for node in nodes for inner in gast.walk(node)):
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

    # --- what is missing ---------------------------------------------------------------------------------------------
    @cached_property
    def _factories(self) -> dict[str, gast.expr]:
        """The names that are bound once, to a dict that makes what is missing, and what makes it."""
        found: dict[str, gast.expr] = {}
        stores: list[str] = []
        for node in self.own_nodes():
            match node:
                case gast.Assign(targets=[gast.Name(id=name)], value=gast.Call(args=[factory, *_]) as made):
                    if self._makes(made, defaultdict):
                        found[name] = factory
        for node in walk(*self.scope.body) if found else ():
            if isinstance(node, gast.Name) and not isinstance(node.ctx, gast.Load):
                stores.append(node.id)
        return {name: factory for name, factory in found.items() if stores.count(name) <= 1}

    @cached_property
    def _settled(self) -> set[int]:
        """The subscripts of which the key is there."""
        return set()

    @cached_property
    def _identified(self) -> list[gast.AST]:
        """What the identities belong to."""
        return []

    def _makes(self, node: gast.AST, kind: type) -> bool:
        if not isinstance(node, gast.Call):
            return False
        static = self.known_static(node.func)
        return static is not None and static.value is kind

    def _factory_of(self, node: gast.AST) -> gast.expr | None:
        """What makes the item that a subscript reads, where it may be missing."""
        if not isinstance(node, gast.Subscript) or not self._factories or id(node) in self._settled:
            return None
        return self._factory_in(node.value)

    def _factory_in(self, base: gast.expr) -> gast.expr | None:
        if isinstance(base, gast.Name):
            return self._factories.get(base.id)
        outer = self._factory_in(base.value) if isinstance(base, gast.Subscript) else None
        match outer:  # of a dict of such dicts
            case gast.Lambda(body=gast.Call(args=[factory, *_]) as made) if self._makes(made, defaultdict):
                return factory
        return None

    def _present(self, node: gast.Subscript) -> tuple[str, gast.expr]:
        """Put what is missing into the dict; its name and the key."""
        factory = self._factory_of(node)
        assert factory is not None
        base = self.name_of(node.value)
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
            return self._as_dict(made, made.args[1:]) if self._makes(made, defaultdict) else clone(made)
        if isinstance(kind, type) and kind in _EMPTY:
            return constant(_EMPTY[kind], factory)
        if isinstance(kind, type) and kind in _DISPLAYS:
            return placed(_DISPLAYS[kind]([], gast.Load()), factory)
        if kind is dict:
            return placed(gast.Dict([], []), factory)
        return call(factory, [], factory)

    def _as_dict(self, node: gast.Call, items: list[gast.expr]) -> gast.expr:
        """The dict of what a constructor is given."""
        if not items and not node.keywords:
            return placed(gast.Dict([], []), node)
        if items and not node.keywords and isinstance(items[0], gast.Dict):
            return items[0]
        made = call_builtin("dict", items, node)
        made.keywords = list(node.keywords)
        return made
