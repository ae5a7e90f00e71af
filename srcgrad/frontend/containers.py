"""Lists, dicts and objects that change: their own methods, fields that are set, items that are deleted.

Enters: calls of the methods by which a built-in container changes, assignments to fields, ``del``.  Leaves: ``Append``,
``Exchange``, ``Store``, ``SetField`` and ``Delete`` on a local name that holds the container::

    self.rows.append(x * 2)     ->     t = x * 2;  t2 = self.rows;  t2.append(t)
    d.update(a=x)               ->     d["a"] = x
    v = d.setdefault(k, x)      ->     if k in d: v = d[k]  else: v = x; d[k] = x
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import FunctionType

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.classes import found, is_frozen, is_method, setter
from srcgrad.frontend.desugar import expressions as control
from srcgrad.frontend.desugar.build import (
    assign,
    binary,
    branch,
    call,
    call_builtin,
    call_runtime,
    compare,
    constant,
    index_value,
    load,
    method_call,
    placed,
    store,
    subscript,
)
from srcgrad.frontend.folding import read_later, stale
from srcgrad.frontend.in_place import CHANGING_METHODS, InPlace
from srcgrad.frontend.known import NONE, Instance, OneOf, instances_of
from srcgrad.frontend.normal_form import Append, Bind, Delete, Effect, Exchange, Fixed, SetField
from srcgrad.frontend.sequencing import ordered
from srcgrad.syntax.globals import of_runtime, reference
from srcgrad.syntax.parse import walk

#: What changes a built-in container, with the numbers of arguments that it takes.
METHODS: dict[str, tuple[int, ...]] = {
    "append": (1,), "extend": (1,), "insert": (2,), "pop": (0, 1, 2), "remove": (1,), "reverse": (0,), "clear": (0,),
    "sort": (0,), "update": (0, 1), "setdefault": (1, 2), "popitem": (0,), "appendleft": (1,), "popleft": (0,),
    "extendleft": (1,), "rotate": (0, 1),
}  # fmt: skip


class Containers(InPlace):
    """Changes of containers and objects."""

    def _changes(self, node: gast.expr) -> bool:
        """Whether this calls a method that changes a built-in container."""
        match node:
            case gast.Call(func=gast.Attribute(value=value, attr=name), args=args, keywords=keywords):
                if name not in METHODS or self.scope.static_of(node.func) is not None or self.scope.static_of(value):
                    return False
                if any(isinstance(argument, gast.Starred) for argument in args):
                    return False
                if keywords and not (name in ("update", "sort") and all(k.arg is not None for k in keywords)):
                    return False
                if name == "sort" and any(k.arg not in ("key", "reverse") for k in keywords):
                    return False  # an array's
                return len(args) in METHODS[name] and not self.is_object(value)
        return False

    def needs_statements(self, *nodes: gast.AST) -> bool:
        return super().needs_statements(*nodes) or any(
            self._changes(inner) for node in nodes for inner in walk(node) if isinstance(inner, gast.Call)
        )

    def _linear(self, node: gast.expr) -> gast.expr:
        return self.value(node) if self._changes(node) else super()._linear(node)

    def change(self, node: gast.Call) -> bool:
        self._tell_receiver(node)
        if not self._changes(node) or (node.func.attr == "sort" and not node.keywords):
            return super().change(node)
        self._write(node, None)
        return True

    def bind_call(self, target: Callable[[], str], node: gast.Call) -> bool:
        self._tell_receiver(node)
        if not self._changes(node):
            return super().bind_call(target, node)
        if node.func.attr == "sort" and not node.keywords:
            return super().bind_call(target, node)
        self._write(node, target)
        return True

    def _tell_receiver(self, node: gast.Call) -> None:
        """``pick(stacks, i).append(v)``: what the call gives gets a name, for it may be an object with the method."""
        match node.func:
            case gast.Attribute(value=value, attr=attr) if attr in METHODS or attr in CHANGING_METHODS:
                if not self.source.generated and self.makes_object(value) and self.scope.static_of(node.func) is None:
                    self.put(node.func, "value", self.value(value))

    def _write(self, node: gast.Call, target: Callable[[], str] | None) -> None:
        """One change; what the method returns is bound to ``target()`` if it is asked for."""
        base, name = self.stored_into(node.func.value), node.func.attr
        before = len(self.out)
        self._write_change(base, node, target)
        plain = all(isinstance(given, gast.Name | gast.Constant) for given in node.args)
        if not plain and not self.source.generated and not self.is_container(load(base, node)):
            found = call_runtime(runtime.asked, [load(base, node), constant(name, node)], node)
            self.out.insert(before, Bind(self.fresh("read"), found, Fixed(), self.span))

    def _write_change(self, base: str, node: gast.Call, target: Callable[[], str] | None) -> None:
        name, args = node.func.attr, node.args
        wanted = target is not None
        match name:
            case "append":
                self.out.append(Append(base, self._item(args[0]), self.span))
            case "extend" | "extendleft" if (source := self.generated(args[0])) is not None:
                one = "append" if name == "extend" else "appendleft"
                made = self.renamed(source)
                self.within(made, lambda: self.run(control.each_into(made, base, one)))
            case "extend":
                self._exchange(base, name, [self._listed(args[0])], (0,), node)
            case "extendleft":
                item = self.fresh("item")
                self.scope.locals.discard(item)
                self._run_loop(item, args[0], [self._call(base, "appendleft", [load(item, node)], node)], node)
            case "insert":
                place = self.held(self.settle(args[0], calls=False))
                self._exchange(base, name, [place, self._item(args[1])], (1,), node)
            case "appendleft":
                self._exchange(base, name, [self._item(args[0])], (0,), node)
            case "reverse" | "clear":
                self._exchange(base, name, [], (), node)
            case "rotate":
                self._exchange(base, name, [self.held(self.settle(a)) for a in args], (), node)
            case "remove":
                where = self.held(self.settle(self._call(base, "index", args, node)))
                self.out.append(Delete(base, where, self.span))
            case "sort":
                self._sorted(base, node)
            case "update":
                self._update(base, node)
            case _:
                self._take(base, node, self.fresh if target is None else target)
                return
        if wanted:
            assert target is not None
            self.bind(target(), constant(None, node))

    def generated(self, node: gast.expr) -> gast.GeneratorExp | None:
        """What is made item by item as it is asked for, as a generator expression."""
        return node if isinstance(node, gast.GeneratorExp) else None

    def _take(self, base: str, node: gast.Call, target: Callable[[], str]) -> None:
        """The methods that return a part of the container."""
        name, args = node.func.attr, node.args
        if name == "popitem":
            key, value = self.fresh("key"), self.fresh()
            self.look(runtime.require_entry, [load(base, node)], node)
            keys = call_builtin("list", [method_call(load(base, node), "keys", [], node)], node)
            self.bind(key, subscript(keys, constant(-1, node), node))
            self._exchange(base, "pop", [load(key, node)], (), node, value)
            self.bind(target(), placed(gast.Tuple([load(key, node), load(value, node)], gast.Load()), node))
            return
        if name == "setdefault" or (name == "pop" and len(args) == 2):
            key_node = self.held(self.settle(args[0]))
            default = self._item(args[1]) if len(args) == 2 else constant(None, node)
            made = target()
            has = compare(key_node, gast.In(), load(base, node), node)
            here: list[gast.stmt] = [assign(made, subscript(load(base, node), key_node, node), node)]
            missing: list[gast.stmt] = [assign(made, default, node)]
            place = placed(gast.Subscript(load(base, node), key_node, gast.Store()), node)
            if name == "setdefault":
                missing.append(assign(place, default, node))
            else:
                gone = placed(gast.Subscript(load(base, node), key_node, gast.Del()), node)
                here.append(placed(gast.Delete([gone]), node))
            self.run([branch(has, here, missing, node)])
            return
        places = [self.held(self.settle(a, calls=False)) for a in args]
        self._exchange(base, name, places, (), node, target())

    def _exchange(
        self,
        base: str,
        name: str,
        arguments: list[gast.expr],
        held: tuple[int, ...],
        node: gast.AST,
        target: str | None = None,
    ) -> None:
        expression = method_call(load(base, node), name, list(arguments), node)
        made = Exchange(base, name, tuple(arguments), held)
        self.emit(self.fresh() if target is None else target, expression, made)

    def _call(self, base: str, name: str, args: list[gast.expr], node: gast.AST) -> gast.Call:
        return method_call(load(base, node), name, list(args), node)

    def _item(self, node: gast.expr) -> gast.expr:
        """What is put into a container, functions included."""
        static = self.scope.static_of(node)
        if static is None or static.value is None:
            return self.value(node)
        self.define_defaults(node)
        return self._atom(static, node)

    def _listed(self, node: gast.expr) -> gast.expr:
        """A new list of what an expression iterates over, so that every item of it has a place of its own."""
        if isinstance(node, gast.List | gast.ListComp):
            return self.value(node)
        item = self.fresh("item")
        self.scope.locals.discard(item)
        generator = gast.comprehension(store(item, node), node, [], 0)
        return self.value(placed(gast.ListComp(load(item, node), [generator]), node))

    def _run_loop(self, item: str, iterable: gast.expr, body: list[gast.expr], node: gast.AST) -> None:
        self.scope.locals.add(item)
        listed = self._listed(iterable)
        statements = [placed(gast.Expr(each), node) for each in body]
        self.run([placed(gast.For(store(item, node), listed, statements, [], None), node)])

    def _sorted(self, base: str, node: gast.Call) -> None:
        """``items.sort(key=..., reverse=...)``: the same items in the order of their keys."""
        given = {str(k.arg): k.value for k in node.keywords}
        order = self.ordered(base, given.get("key"), given.get("reverse"), node)
        item = self.fresh("place")
        self.scope.locals.discard(item)
        generator = gast.comprehension(store(item, node), order, [], 0)
        read = subscript(load(base, node), load(item, node), node)
        made = self.value(placed(gast.ListComp(read, [generator]), node))
        everything = gast.Slice(None, None, None)
        self.run([assign(placed(gast.Subscript(load(base, node), everything, gast.Store()), node), made, node)])

    def ordered(self, base: str, key: gast.expr | None, reverse: gast.expr | None, node: gast.AST) -> gast.expr:
        """A name for the positions of a list's items in the order of their keys."""
        keys: gast.expr = load(base, node)
        if key is not None and not (isinstance(key, gast.Constant) and key.value is None):
            item = self.fresh("item")
            self.scope.locals.discard(item)
            generator = gast.comprehension(store(item, node), load(base, node), [], 0)
            keys = self.value(placed(gast.ListComp(call(key, [load(item, node)], node), [generator]), node))
        head = reference(of_runtime(runtime.argsorted))
        return self.held(self.settle(call(head, [keys, *([] if reverse is None else [reverse])], node)))

    def _update(self, base: str, node: gast.Call) -> None:
        if not self.source.generated and not self.is_container(load(base, node)):
            check = call_runtime(runtime.require_stores, [load(base, node)], node)
            self.out.append(Effect(placed(gast.Expr(check), node), self.span))
        source = node.args[0] if len(node.args) == 1 and not node.keywords else None
        if isinstance(source, gast.GeneratorExp) and isinstance(source.elt, gast.Tuple) and len(source.elt.elts) == 2:
            made = self.renamed(source)
            key, value = self.fresh("key"), self.fresh("value")
            self.within(made, lambda: self.run(control.each_stored(made, base, key, value)))
            return
        sources = [self.name_of(call_builtin("dict", [a], node) if self._is_pairs(a) else a) for a in node.args]
        given = [(keyword.arg, self.value(keyword.value)) for keyword in node.keywords]  # before anything is stored
        for source in sources:
            keys = self.keys_of(source, node)
            key = self.fresh("key")
            place = placed(gast.Subscript(load(base, node), load(key, node), gast.Store()), node)
            body = [assign(place, subscript(load(source, node), load(key, node), node), node)]
            self.run([placed(gast.For(store(key, node), load(keys, node), body, [], None), node)])
        for name, value in given:
            place = placed(gast.Subscript(load(base, node), constant(name, node), gast.Store()), node)
            self.run([assign(place, value, node)])

    # --- fields ------------------------------------------------------------------------------------------------------
    def store_field(self, target: gast.Attribute, value: gast.expr) -> None:
        """``base.name = value``."""
        stored = self._item(value)
        base = self.stored_into(target.value)
        named = isinstance(target.value, gast.Name) and target.attr == "shape" and not self._is_object(base)
        if named and self.reshape(base, target, stored):
            return
        if not self._set_by_property(base, target, stored):
            self.out.append(SetField(base, target.attr, stored, self.span))

    def store_field_augmented(self, target: gast.Attribute, operator: gast.operator, value: gast.expr) -> None:
        """``base.name operator= value``."""
        base = self.stored_into(target.value)
        self._refuse_held_by_class(base, target)
        part = self.fresh(target.attr)
        read = placed(gast.Attribute(load(base, target), target.attr, gast.Load()), target)
        self.bind(part, read)
        both = self.in_place(binary(load(part, target), operator, ordered(self, value), target))
        self.bind(part, both, inplace=isinstance(both, gast.BinOp))
        if not self._set_by_property(base, target, load(part, target)):
            self.out.append(SetField(base, target.attr, load(part, target), self.span))

    def _refuse_held_by_class(self, base: str, target: gast.Attribute) -> None:
        """Refuse to change an array in place that the class holds for every object, where the object has none."""
        for each in instances_of(self.table.enriched(self.known_name(base))):
            raw = found(each.kind, target.attr)
            if isinstance(raw, np.ndarray) and target.attr not in dict(each.fields):
                reason = f"this stores into the array {target.attr!r} that class {each.kind.__name__} holds"
                raise self.refuse(target, f"{reason} for every object", "give the object an array of its own")

    def _set_by_property(self, base: str, target: gast.Attribute, value: gast.expr) -> bool:
        """Call the setter of a property; whether there is one.  Refuses what decides itself how fields are set."""
        known = self.known_name(base)
        instances = instances_of(known)
        choices = [choice for choice in known.choices if choice != NONE] if isinstance(known, OneOf) else instances
        if not instances or len(instances) < len(choices):
            if self.source.generated:
                return False
            if target.attr == "shape":
                raise self.refuse(
                    target,
                    "the shape of an array that something else may hold is set in place",
                    f"write {base} = {base}.reshape(...)",
                )
            raise self.refuse(
                target,
                "a store into an object whose class is not known when this is compiled",
                "the derivative itself is compiled for the classes of its arguments: see source_for(...)",
                label=f"this stores into {self.source.span(target).code}",
            )
        for instance in instances:
            self._admit_store(instance, target)
            if is_method(found(instance.kind, target.attr)):
                raise self.refuse(
                    target, f"a store hides the method {target.attr!r} of class {instance.kind.__name__}",
                    "give the field another name",
                )
        raws = {id(raw): raw for raw in (found(each.kind, target.attr) for each in instances)}
        raw = next(iter(raws.values()))
        if not any(isinstance(each, property) for each in raws.values()):
            return False
        if len(raws) > 1 or raw.fset is None:
            raise self.refuse(target, f"the property {target.attr!r} has no setter that is known here", "set a field")
        node = placed(gast.Call(target, [value], []), target)
        made = self.method(raw.fset, load(base, target), [value], [], node, None)
        self.emit(self.fresh(), *made)
        return True

    def _admit_store(self, known: Instance, target: gast.Attribute) -> None:
        kind = known.kind
        if setter(kind) is not None:
            raise self.refuse(
                target, f"class {kind.__name__} decides by __setattr__ what its fields are", "set the fields plainly"
            )
        if is_frozen(kind) or issubclass(kind, tuple):
            raise self.refuse(target, f"an object of class {kind.__name__} cannot be changed", "use replace")
        if target.attr in read_later(kind):
            raise self.refuse(target, *stale(kind, target.attr))

    # --- deletions ---------------------------------------------------------------------------------------------------
    def delete(self, target: gast.expr) -> None:
        """``del base[index]`` or ``del base.name``."""
        base = self.stored_into(target.value)
        name = "__delattr__" if isinstance(target, gast.Attribute) else "__delitem__"
        kinds = [choice.kind for choice in instances_of(self.peek(load(base, target)))]
        if any(isinstance(found(kind, name), FunctionType) for kind in kinds):
            key = constant(target.attr, target) if isinstance(target, gast.Attribute) else index_value(target.slice)
            method = placed(gast.Attribute(load(base, target), name, gast.Load()), target)
            self.run([placed(gast.Expr(placed(gast.Call(method, [key], []), target)), target)])
            return
        if isinstance(target, gast.Attribute):
            deleters = [raw.fdel for kind in kinds if isinstance(raw := found(kind, target.attr), property)]
            if any(deleters):
                self._delete_by_property(base, target, deleters if len(kinds) == len(deleters) else [])
                return
            self.out.append(Delete(base, None, self.span, target.attr))
            return
        self.out.append(Delete(base, self.settle(target.slice, calls=False), self.span))

    def _delete_by_property(self, base: str, target: gast.Attribute, deleters: Sequence[object]) -> None:
        """Call the deleter of a property."""
        if len(deleters) != 1 or not isinstance(deleters[0], FunctionType):
            raise self.refuse(target, f"which deleter the property {target.attr!r} has is not known", "call a method")
        node = placed(gast.Call(target, [], []), target)
        self.emit(self.fresh(), *self.method(deleters[0], load(base, target), [], [], node, None))
