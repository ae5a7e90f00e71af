"""Stores: ``base[index] = value`` and ``base[index] op= value``, in Python's order of evaluation.

Enters: assignments whose target is a subscript.  Leaves: ``Store`` and ``AugStore``.  The base is a local name: what
stands before the last index is bound to a temporary first, which is a reference to the object that is stored into::

    x[i][j] = f(y)        ->     t = f(y);  t2 = x[i];  t2[j] = t
    y[0] += g(y)          ->     t = y[0];  t2 = g(y);  t += t2;  y[0] = t          g may store into y[0]

Values come before the base and the index in a plain store, after the load in an augmented one.
"""

from __future__ import annotations

from abc import abstractmethod
from collections import deque
from types import FunctionType, ModuleType

import gast

from srcgrad import runtime
from srcgrad.frontend.callees import SHAPES, as_python, is_inert, makes_iterator
from srcgrad.frontend.classes import ABSENT, BINARY, found
from srcgrad.frontend.desugar.build import call_runtime, constant, index_value, load, placed
from srcgrad.frontend.known import instances_of
from srcgrad.frontend.loops import Loops
from srcgrad.frontend.methods import only_reads
from srcgrad.frontend.normal_form import AugStore, Bind, Effect, Fixed, Index, LocalFunction, Operation, Store
from srcgrad.frontend.scope import Scope, closure_of
from srcgrad.frontend.sequencing import changes_something, names_in, ordered
from srcgrad.frontend.side_effects import may_store
from srcgrad.rules.table import lookup
from srcgrad.syntax.parse import children, clone, walk

#: The methods by which NumPy makes a number, or an array, of an object that is stored into an array.
_AS_NUMBERS = ("__float__", "__index__", "__complex__", "__array__")
_COPYING = (list, tuple, dict, set, frozenset, deque)


class Stores(Loops):
    """Assignments to places in objects."""

    def store_item(self, target: gast.Subscript, value: gast.expr) -> None:
        """``base[index] = value``."""
        stored = self.value(value)
        base = self.stored_into(target.value)
        if self._is_object(base):
            self._set_item(base, target, target.slice, stored)
            return
        self._refuse_objects_in(target.slice)
        index = self.settle(target.slice, calls=False)
        self.require_no_object(base, stored)
        self.out.append(Store(base, index, stored, self.span))

    def require_no_object(self, base: str, stored: gast.expr) -> None:
        """Check that no object is stored into an array, which makes a number of it; a list holds it as it is."""
        kinds = [each.kind for each in instances_of(self.peek(stored))]
        if any(isinstance(found(kind, name), FunctionType) for kind in kinds for name in _AS_NUMBERS):
            check = call_runtime(runtime.require_cast, [load(base, stored), stored, constant(None, stored)], stored)
            self.out.append(Effect(placed(gast.Expr(check), stored), self.span))

    def _refuse_objects_in(self, index: gast.expr) -> None:
        """Objects that are asked which number they are: in the other direction it may be another one."""
        for part in index.elts if isinstance(index, gast.Tuple) else [index]:
            bounds = (part.lower, part.upper, part.step) if isinstance(part, gast.Slice) else (part,)
            given = [bound for bound in bounds if bound is not None]
            for choice in (choice for bound in given for choice in instances_of(self.peek(bound))):
                if isinstance(found(choice.kind, "__index__"), FunctionType):
                    reason = f"an object of class {choice.kind.__name__} is used as an index"
                    raise self.refuse(part, reason, "index with a number: bind what its __index__ returns to a name")

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
        if not is_object:
            self._refuse_objects_in(target.slice)
        if not is_object and not changes_something(self, value):
            before = len(self.out)
            operand = self.value(value)
            if len(self.out) > before and not self.source.generated:
                self._read_before(before, base, index, target)
            self.out.append(AugStore(base, index, operator, operand, self.span, self.fresh(), self.fresh()))
            return
        part = self.fresh()
        loaded = placed(gast.Subscript(load(base, target), clone(index), gast.Load()), target)
        if is_object:
            self.bind(part, loaded)
        else:
            self.emit(part, loaded, Index(base, index))
        both = self.in_place(placed(gast.BinOp(load(part, target), operator, ordered(self, value)), target))
        self.bind(part, both, inplace=isinstance(both, gast.BinOp))
        if is_object:
            self._set_item(base, target, index, load(part, target))
            return
        self.out.append(Store(base, clone(index), load(part, target), self.span))

    def _read_before(self, position: int, base: str, index: gast.expr, at: gast.AST) -> None:
        """What ``base[index] op= value`` reads before its value is evaluated: for what that raises, where it may be
        caught; nothing else is made of it."""
        read = call_runtime(runtime.readable, [load(base, at), index_value(clone(index))], at)
        self.out.insert(position, Bind(self.fresh("read"), read, Fixed(), self.span))

    def subscript(self, node: gast.Subscript) -> tuple[gast.expr, Operation]:
        """A part of ``.flat`` is a copy, where one of the array that stands for it is a view."""
        made = super().subscript(node)
        if isinstance(made[1], Index):
            self._refuse_objects_in(node.slice)
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

    # --- what an operand may change, and what may change it ----------------------------------------------------------
    def may_change(self, node: gast.AST) -> bool:
        """Whether a node by itself, its parts apart, may change what other operands read.

        Calls are taken to change everything but where they are known to change nothing.
        """
        match node:
            case gast.Call():
                return self._call_may_change(node)
            case gast.Attribute(value=value, attr=attr):
                return self.storing_property(value, attr) is not None
            case gast.Subscript() | gast.BinOp() | gast.UnaryOp() | gast.Compare():
                return bool(self.table.names or self.assumed) and self.calls_method(node)
        return False

    def may_be_changed(self, node: gast.AST) -> bool:
        """Whether what an expression evaluates to may change, if something else is evaluated before."""
        match node:
            case gast.Constant() | gast.Name() | gast.operator() | gast.unaryop():
                return False
            case gast.Attribute(value=value, attr=attr) if attr in SHAPES and not self.is_object(value):
                return self.may_be_changed(value)
            case gast.Subscript(value=gast.Attribute(attr="shape")) | gast.UnaryOp() | gast.BinOp():
                is_name = any(isinstance(operand, gast.Name) for operand in children(node))
                return is_name or any(map(self.may_be_changed, children(node)))
        return True

    def _call_may_change(self, node: gast.Call) -> bool:
        static = self.scope.static_of(node.func)
        if static is None:
            if not isinstance(node.func, gast.Attribute):
                return True
            if self.is_super(node.func.value) or self.is_or_makes_object(node.func.value):
                return True
            return self.stores_result(node) or not only_reads(node.func.attr)
        function = static.value
        is_listed = lookup(function) is not None or is_inert(function)
        if self.stores_result(node) or (not is_listed and any(keyword.arg is None for keyword in node.keywords)):
            return True
        if any(map(self._function_may_change, (*node.args, *(keyword.value for keyword in node.keywords)))):
            return True
        if is_listed or makes_iterator(function) or function in _COPYING:
            return False
        return self._function_may_change(node.func)

    def _function_may_change(self, node: gast.expr) -> bool:
        """Whether an expression is a function, and what that changes when it is called is something or not known."""
        static = self.scope.static_of(node)
        if static is None:
            return False
        function = static.value
        if isinstance(function, LocalFunction):
            return self._local_function_may_change(function, node)
        if as_python(function) is not None and isinstance(function, FunctionType):
            return may_store(function)
        return lookup(function) is None and not is_inert(function) and not isinstance(function, ModuleType)

    def _local_function_may_change(self, function: LocalFunction, node: gast.expr) -> bool:
        scope: Scope | None = self.scope
        while scope is not None and scope is not closure_of(function).scope:
            scope = scope.parent
        if scope is None:
            return True  # it was handed in: what its names mean is not known here
        with self.scope.naming(names_in(function.node)):
            return self.function_may_store(node) or any(map(self._changes_by_method, walk(function.node)))

    def _changes_by_method(self, node: gast.AST) -> bool:
        match node:
            case gast.Call(func=gast.Attribute(attr=attr)):
                return self.scope.static_of(node.func) is None and not only_reads(attr)
        return False
