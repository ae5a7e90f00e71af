"""Dicts whose keys are computed: comprehensions, ``**`` in displays, unions, ``dict`` of pairs.

Enters: the expressions.  Leaves: ruled functions of ``runtime.sequences`` on lists of keys, values and pairs::

    {k: f(v) for k, v in d.items()}     ->     t = [(k, f(v)) for k, v in d.items()];  from_pairs(t)
    {"a": x, **d, k: y}                 ->     merged({"a": x}, d, keyed([k], [y]))
"""

from __future__ import annotations

import gast

from srcgrad import runtime
from srcgrad.frontend.desugar.build import call, call_runtime, placed, tuple_of
from srcgrad.frontend.methods import Methods
from srcgrad.frontend.normal_form import Apply, Operation
from srcgrad.rules.table import lookup
from srcgrad.syntax.globals import GlobalBinding, reference
from srcgrad.syntax.parse import walk


class Dicts(Methods):
    """Dicts as functions of lists."""

    def dict_of_parts(self, node: gast.Dict) -> tuple[gast.expr, Operation]:
        parts: list[gast.expr] = []
        keys: list[gast.expr] = []
        values: list[gast.expr] = []

        def close() -> None:
            if keys and all(isinstance(key, gast.Constant) for key in keys):
                parts.append(placed(gast.Dict(list(keys), list(values)), node))
            elif keys:
                listed = [placed(gast.List(list(each), gast.Load()), node) for each in (keys, values)]
                parts.append(call_runtime(runtime.keyed, listed, node))
            keys.clear()
            values.clear()

        binds = any(isinstance(part, gast.NamedExpr) for part in walk(node))
        for j, (key, value) in enumerate(zip(node.keys, node.values, strict=True)):
            if binds:  # each key before its value: names that are bound here are read by what follows
                key, value = None if key is None else self.value(key), self.value(value)
            if key is None:
                close()
                if any(isinstance(part, gast.Call) for part in walk(*node.values[j + 1 :])):  # it may change the dict
                    parts = [self.value(part) for part in parts]
                    value = self.value(call_runtime(runtime.merged, [self.value(value)], node))
                parts.append(value)
            else:
                keys.append(key)
                values.append(value)
        close()
        if len(parts) == 1 and node.keys != [None]:
            return self.operation(parts[0])
        return self.operation(call_runtime(runtime.merged, parts, node))

    def dict_comprehension(self, node: gast.DictComp) -> tuple[gast.expr, Operation]:
        pairs = placed(gast.ListComp(tuple_of([node.key, node.value], node), node.generators), node)
        return self.operation(call_runtime(runtime.from_pairs, [pairs], node))

    def union(self, node: gast.BinOp) -> tuple[gast.expr, Operation]:
        rule = lookup(runtime.union)
        assert rule is not None
        atoms = [self.value(node.left), self.value(node.right)]
        expression = placed(gast.BinOp(atoms[0], node.op, atoms[1]), node)
        return expression, Apply(rule, runtime.union, rule.bind(runtime.union, atoms, {}))

    def made_dict(self, node: gast.Call, function: object) -> gast.expr | None:
        """``dict(pairs)``, ``dict(pairs, k=v)`` or ``dict.fromkeys(keys, value)`` as another expression."""
        if function is dict and len(node.args) == 1:
            subject = node.args[0]
            if isinstance(subject, gast.GeneratorExp):
                subject = placed(gast.ListComp(subject.elt, subject.generators), node)
            elif self._is_pairs(subject):
                head = reference(GlobalBinding("list", list, "builtins", "list"))
                subject = call(head, [subject], node)
            else:
                return self._dict_copied(self.value(subject), node)
            made: gast.expr = call_runtime(runtime.from_pairs, [subject], node)
            return self._with_keywords(made, node)
        return None

    def _dict_copied(self, subject: gast.expr, node: gast.Call) -> gast.expr:
        """``dict(d)`` of another dict."""
        rest = [self._keywords(node)] if node.keywords else []
        return call_runtime(runtime.merged, [subject, *rest], node)

    def _with_keywords(self, made: gast.expr, node: gast.Call) -> gast.expr:
        if not node.keywords:
            return made
        return call_runtime(runtime.merged, [made, self._keywords(node)], node)

    def _keywords(self, node: gast.Call) -> gast.expr:
        keys = [k.arg and gast.Constant(k.arg, None) for k in node.keywords]
        return placed(gast.Dict(keys, [k.value for k in node.keywords]), node)

    def _is_pairs(self, node: gast.expr) -> bool:
        if isinstance(node, gast.Name) and node.id in self.scope.locals:
            return isinstance(self.scope.only_value(node.id), gast.List | gast.ListComp)
        if isinstance(node, gast.List | gast.ListComp | gast.GeneratorExp | gast.Tuple):
            return True
        if isinstance(node, gast.IfExp):
            return self._is_pairs(node.body) and self._is_pairs(node.orelse)
        if isinstance(node, gast.Subscript):
            return isinstance(node.slice, gast.Slice) and self._is_pairs(node.value)
        static = self.scope.static_of(node.func) if isinstance(node, gast.Call) else None
        return static is not None and static.value in (zip, enumerate, sorted, list, tuple, reversed, map, filter)
