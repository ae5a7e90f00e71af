"""Stores: ``base[index] = value`` and ``base[index] op= value``, in Python's order of evaluation.

Enters: assignments whose target is a subscript.  Leaves: ``Store`` and ``AugStore``.  The base is a local name: what
stands before the last index is bound to a temporary first, which is a reference to the object that is stored into::

    x[i][j] = f(y)        ->     t = f(y);  t2 = x[i];  t2[j] = t
    y[0] += g(y)          ->     t = y[0];  t2 = g(y);  t += t2;  y[0] = t          g may store into y[0]

Values come before the base and the index in a plain store, after the load in an augmented one.
"""

from __future__ import annotations

from abc import abstractmethod

import gast

from srcgrad.frontend.callees import is_inert
from srcgrad.frontend.classes import ABSENT, BINARY, found
from srcgrad.frontend.desugar.build import index_value, load, placed
from srcgrad.frontend.known import instances_of
from srcgrad.frontend.loops import Loops
from srcgrad.frontend.methods import only_reads
from srcgrad.frontend.normal_form import AugStore, Fixed, Index, Operation, Store
from srcgrad.rules.table import lookup
from srcgrad.syntax.parse import clone, walk


class Stores(Loops):
    """Assignments to places in objects."""

    def store_item(self, target: gast.Subscript, value: gast.expr) -> None:
        """``base[index] = value``."""
        stored = self.value(value)
        base = self.stored_into(target.value)
        if self._is_object(base):
            self._set_item(base, target, target.slice, stored)
            return
        index = self.settle(target.slice, calls=False)
        self.out.append(Store(base, index, stored, self.span))

    def _is_object(self, base: str) -> bool:
        """Whether a name holds an object; a temporary is bound before, and what a container under it holds may grow."""
        return bool(instances_of(self.table.of(base) if base in self.temporaries else self.known_name(base)))

    def _set_item(self, base: str, target: gast.Subscript, index: gast.expr, stored: gast.expr) -> None:
        """A store into an object of a class of the user's: a call of its ``__setitem__``."""
        method = placed(gast.Attribute(load(base, target), "__setitem__", gast.Load()), target)
        called = placed(gast.Call(method, [index_value(clone(index)), stored], []), target)
        self.run([placed(gast.Expr(called), target)])

    def in_place(self, node: gast.BinOp) -> gast.expr:
        """``left operator= right``; a call of ``__iadd__`` and its like where the class of an object defines it."""
        kinds = [choice.kind for choice in instances_of(self.peek(node.left))]
        if not kinds or type(node.op) not in BINARY:
            return node
        name = BINARY[type(node.op)][0].replace("__", "__i", 1)
        defined = [kind for kind in kinds if found(kind, name) is not ABSENT]
        if not defined:
            return node
        if len(defined) < len(kinds):
            raise self.refuse(node, f"an object that may have {name} or not", "call a method")
        return placed(gast.Call(placed(gast.Attribute(node.left, name, gast.Load()), node), [node.right], []), node)

    def store_augmented(self, target: gast.Subscript, operator: gast.operator, value: gast.expr) -> None:
        """``base[index] operator= value``."""
        if isinstance(target.value, gast.Attribute) and target.value.attr == "flat":
            base, index = self.flat_place(target)
        else:
            base = self.stored_into(target.value)
            index = self.settle(target.slice, calls=False)
        is_object = self._is_object(base)
        if not is_object and not self._may_store(value):
            operand = self.value(value)
            self.out.append(AugStore(base, index, operator, operand, self.span, self.fresh(), self.fresh()))
            return
        part = self.fresh()
        loaded = placed(gast.Subscript(load(base, target), clone(index), gast.Load()), target)
        if is_object:
            self.bind(part, loaded)
        else:
            self.emit(part, loaded, Index(base, index))
        both = self.in_place(placed(gast.BinOp(load(part, target), operator, value), target))
        self.bind(part, both, inplace=isinstance(both, gast.BinOp))
        if is_object:
            self._set_item(base, target, index, load(part, target))
            return
        self.out.append(Store(base, clone(index), load(part, target), self.span))

    def subscript(self, node: gast.Subscript) -> tuple[gast.expr, Operation]:
        """A part of ``.flat`` is a copy, where one of the array that stands for it is a view."""
        made = super().subscript(node)
        if not isinstance(node.value, gast.Attribute) or node.value.attr != "flat" or isinstance(made[1], Fixed):
            return made
        if not isinstance(node.slice, gast.Slice) and getattr(node.slice, "value", None) is not Ellipsis:
            return made
        part = self.fresh()
        self.emit(part, *made)
        copy = placed(gast.Attribute(load(part, node), "copy", gast.Load()), node)
        return self.call(placed(gast.Call(copy, [], []), node))

    @abstractmethod
    def flat_place(self, target: gast.Subscript) -> tuple[str, gast.expr]:
        """The array and the index that ``array.flat[index]`` stands for."""

    def stored_into(self, node: gast.expr) -> str:
        """The local name of the object that an expression is a path to."""
        if self.is_global(node):
            raise self.refuse(
                node,
                "a store into an object that is not the function's own",
                "pass it as an argument: what is stored outside would stay there after every derivative call",
                label="this is bound outside",
            )
        if isinstance(node, gast.Attribute) and node.attr == "flat":
            raise self.refuse(node, "a store through .flat[...][...]", "index .flat once")
        base = self.value(node)
        if not isinstance(base, gast.Name):
            raise self.refuse(node, "a store into a literal", "bind a name to what is stored into")
        return str(base.id)

    def _may_store(self, value: gast.expr) -> bool:
        """Whether evaluating an expression may change objects: only functions that are known to change none do not."""
        return any(isinstance(node, gast.Call) and not self._only_reads(node) for node in walk(value))

    def _only_reads(self, node: gast.Call) -> bool:
        static = self.scope.static_of(node.func)
        if static is None:
            return isinstance(node.func, gast.Attribute) and only_reads(node.func.attr)
        if self.stores_result(node) or any(keyword.arg is None for keyword in node.keywords):
            return False
        return lookup(static.value) is not None or is_inert(static.value)
