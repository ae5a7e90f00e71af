"""Expressions, one operation per statement: operands become atoms, what carries no derivative stays nested.

Enters: gast expressions in a scope.  Leaves: ``Bind`` statements in Python's order of evaluation::

    s = s * np.sin(x[i + 1])     ->     t = x[i + 1];  t2 = np.sin(t);  s = s * t2
    n = x.shape[0] - 1           ->     n = x.shape[0] - 1

Chains of operators are walked in a loop: a sum of thousands of terms is a program like any other.
"""

from __future__ import annotations

import operator
from collections import deque
from collections.abc import Callable, Mapping
from itertools import groupby

import gast
import numpy as np

from srcgrad.frontend.callees import spelled
from srcgrad.frontend.comprehensions import Comprehensions
from srcgrad.frontend.desugar import expressions as control
from srcgrad.frontend.desugar.build import (
    call_builtin,
    call_runtime,
    distinct,
    load,
    placed,
    tuple_of,
)
from srcgrad.frontend.desugar.joining import JOINING, items_joined
from srcgrad.frontend.known import PLAIN
from srcgrad.frontend.literals import is_formatted, is_of_text
from srcgrad.frontend.meeting import known_outside
from srcgrad.frontend.nested import placed_reference
from srcgrad.frontend.normal_form import Apply, Copy, Fixed, Index, LocalFunction, Operation, Pack
from srcgrad.frontend.scope import Static, Variable
from srcgrad.rules.formula import object_of
from srcgrad.rules.table import is_constant, lookup, operator_of
from srcgrad.runtime.exact import is_foreign
from srcgrad.syntax.globals import GlobalBinding, GlobalReference
from srcgrad.syntax.parse import names_read, walk

BITWISE = (gast.BitAnd, gast.BitOr, gast.BitXor, gast.LShift, gast.RShift)
CONTROL = gast.IfExp | gast.BoolOp | gast.Compare | gast.ListComp | gast.GeneratorExp
_FOLDED: Mapping[type, Callable[[object], object]] = {gast.USub: operator.neg, gast.UAdd: operator.pos}  # type: ignore[dict-item]


class Expressions(Comprehensions):
    """Expressions that may carry a derivative."""

    # --- values ------------------------------------------------------------------------------------------------------
    def value(self, node: gast.expr) -> gast.expr:
        """An atom for the value of an expression: a local name or a constant."""
        match node:
            case gast.Constant():
                return node
            case gast.UnaryOp(op=op, operand=gast.Constant(value=int() | float() | complex() as number)) if (
                type(op) in _FOLDED and not isinstance(number, bool)
            ):
                return placed(gast.Constant(_FOLDED[type(op)](number), None), node)
            case GlobalReference():
                pass
            case gast.Name():
                meaning = self.scope.resolve(node.id, node)
                if isinstance(meaning, Variable) and not self.pending[node.id]:
                    return load(self.local(meaning), node)
                if isinstance(meaning, Static) and meaning.value is None:
                    return placed(gast.Constant(None, None), node)
            case gast.NamedExpr():
                self.bind(node.target.id, node.value)
                self.pending[node.target.id] -= 1
                return self.value(load(node.target.id, node.target))
        if isinstance(node, CONTROL):
            target = self.fresh()
            self.bind(target, node)
        elif isinstance(node, gast.Call) and self.bind_call(made := _Later(self.fresh), node):
            target = made()
        else:
            expression, operation = self.operation(node)
            target = self.fresh()  # after its operands, so that temporaries are numbered as they are bound
            self.emit(target, expression, operation)
        return load(target, node)

    def bind(self, target: str, node: gast.expr, *, inplace: bool = False, renewed: bool = False) -> None:
        """Write ``target = node``."""
        match node:
            case gast.IfExp() if (known := self.known_truth(node.test)) is not None:
                self.bind(target, node.body if known else node.orelse)
            case gast.IfExp() if not self.is_plain(node):
                self.run(control.ternary(node, target))
            case gast.BoolOp() if not self.is_plain(node):
                target_read = target in names_read(*node.values[1:])
                self._through(target, target_read, lambda t: self.run(control.short_circuit(node, t)))
            case gast.Compare() if len(node.ops) > 1 and not self.is_plain(node):
                names = [self.fresh() for _ in node.comparators]
                target_read = target in names_read(node)
                self._through(target, target_read, lambda t: self.run(control.comparison_chain(node, t, names)))
            case gast.ListComp() | gast.GeneratorExp():
                made = self.renamed(node)
                self._through(target, target in names_read(made), lambda t: self.comprehend(made, t))
            case gast.NamedExpr():
                self.emit(target, *self._copied(self.value(node)))
            case gast.Call() if self.bind_call(lambda: target, node):
                pass
            case _:
                expression, operation = self.operation(node)
                self.emit(target, expression, operation, inplace=inplace, renewed=renewed)

    def _through(self, target: str, is_read: bool, write: Callable[[str], None]) -> None:
        """Write to the target itself, or through a temporary where what is written still reads the target."""
        name = self.fresh() if is_read else target
        write(name)
        if is_read:
            self.emit(target, *self._copied(load(name, gast.Pass())))

    def _may_be_dict(self, node: gast.expr) -> bool:
        match node:
            case gast.BinOp(op=gast.BitOr(), left=left, right=right) | gast.IfExp(body=left, orelse=right):
                return self._may_be_dict(left) and self._may_be_dict(right)
            case gast.Call(func=gast.Attribute(attr="keys" | "items" | "values")):
                return False
            case gast.Call(func=func):
                static = self.scope.static_of(func)
                return static is None or not is_constant(static.value) or self._is_or(func)
        return isinstance(node, gast.Name | gast.Dict | gast.DictComp | gast.Subscript | gast.Attribute)

    def _is_or(self, function: gast.expr) -> bool:
        static = self.scope.static_of(function)
        return static is not None and static.value is operator.or_

    def _copied(self, atom: gast.expr) -> tuple[gast.expr, Operation]:
        return atom, Copy(atom.id) if isinstance(atom, gast.Name) else Fixed()

    def operation(self, node: gast.expr) -> tuple[gast.expr, Operation]:
        """One operation on atoms for an expression that is no control flow."""
        match node:
            case GlobalReference():
                return node, Fixed()
            case gast.Name():
                return self._name(node)
            case gast.BinOp(op=op) if not isinstance(op, BITWISE):
                return self.arithmetic(node)
            case gast.UnaryOp(op=gast.USub() | gast.UAdd()):
                return self._unary(node)
            case gast.Call(func=func, args=[left, right], keywords=[]) if self._is_or(func):
                return self.operation(placed(gast.BinOp(left, gast.BitOr(), right), node))
            case gast.Call():
                static = self.scope.static_of(node)
                return self.call(node) if static is None else self.function_value(static, node)
            case gast.Attribute():
                return self.attribute(node)
            case gast.Subscript():
                return self.subscript(node)
            case gast.Dict() if not all(isinstance(key, gast.Constant) for key in node.keys):
                return self.dict_of_parts(node)
            case gast.Tuple() | gast.List() if any(map(_is_spread, node.elts)):
                return self._copied(self.value(_joined(node)))
            case gast.Tuple() | gast.List() | gast.Dict():
                return self._pack(node)
            case gast.DictComp():
                return self.dict_comprehension(node)
            case gast.ListComp() | gast.GeneratorExp():
                return self._copied(self.value(node))
            case gast.BinOp(op=gast.BitOr()) if self._may_be_dict(node):
                return self.union(node)
            case gast.Lambda():
                static = self.scope.static_of(node)
                assert static is not None
                self.define_defaults(node)
                return self.function_value(static, node)
            case gast.Starred():
                raise self.refuse(node, "a starred value of unknown length", "hand on its items by name")
        return self.settle(node), Fixed()

    def _name(self, node: gast.Name) -> tuple[gast.expr, Operation]:
        meaning = self.scope.resolve(node.id, node)
        if isinstance(meaning, Variable):
            name = self.local(meaning)
            return load(name, node), Copy(name)
        if isinstance(meaning, GlobalBinding):
            return placed_reference(meaning, node), Fixed()
        if meaning.value is None:
            return placed(gast.Constant(None, None), node), Fixed()
        return self.function_value(meaning, node)

    # --- arithmetic --------------------------------------------------------------------------------------------------
    def arithmetic(self, node: gast.BinOp) -> tuple[gast.expr, Operation]:
        """A chain of binary operators, innermost first; parts without a local name stay one expression."""
        chain: list[gast.BinOp] = []
        first: gast.expr = node
        while isinstance(first, gast.BinOp) and not isinstance(first.op, BITWISE):
            chain.append(first)
            first = first.left
        closed = self.closed(first)
        left = first if closed is None else closed
        is_atom = False
        operation: Operation
        while chain:
            step = chain.pop()
            right = self.closed(step.right) if closed is not None else None
            if closed is not None and right is not None:
                left = closed = placed(gast.BinOp(left, step.op, right), step)
                continue
            objects = any(map(self.is_or_makes_object, (left, step.right)))
            if is_formatted(step) or is_of_text(step) and not objects:
                left = left if is_atom else self.settle(left)
                expression, operation = placed(gast.BinOp(left, step.op, self.settle(step.right)), step), Fixed()
            else:
                if closed is not None:
                    left = self.held(closed)
                elif not is_atom:
                    left = self.value(left)
                expression, operation = self.operate(step, step.op, [left, self.value(step.right)])
            closed, is_atom = None, True
            if not chain:
                return expression, operation
            target = self.fresh()
            self.emit(target, expression, operation)
            left = load(target, step)
        return left, Fixed()

    def _unary(self, node: gast.UnaryOp) -> tuple[gast.expr, Operation]:
        closed = self.closed(node.operand)
        if closed is not None:
            return placed(gast.UnaryOp(node.op, closed), node), Fixed()
        return self.operate(node, node.op, [self.value(node.operand)])

    def operate(self, node: gast.expr, op: gast.AST, atoms: list[gast.expr]) -> tuple[gast.expr, Operation]:
        """An operator applied to atoms."""
        function = operator_of(type(op))
        rule = lookup(function)
        if len(atoms) == 1:
            expression: gast.expr = placed(gast.UnaryOp(op, atoms[0]), node)
        else:
            expression = placed(gast.BinOp(atoms[0], op, atoms[1]), node)
        if is_of_text(node) or rule is None and function is not None and is_constant(function):
            return expression, Fixed()
        if rule is None:
            return expression, self.unruled(node, expression, getattr(function, "__name__", type(op).__name__))
        return expression, Apply(rule, function, rule.bind(function, atoms, {}))

    def closed(self, node: gast.expr) -> gast.expr | None:
        """An expression of numbers that names no local, ready to stay as it is; None for any other."""
        for inner in walk(node):
            match inner:
                case gast.Constant(value=int() | float() | complex()) | gast.operator() | gast.expr_context():
                    continue
                case gast.BinOp() | gast.unaryop() | gast.UnaryOp(op=gast.USub() | gast.UAdd()):
                    continue
                case gast.Name(ctx=gast.Load()):
                    meaning = self.scope.resolve(inner.id, inner) if not isinstance(inner, GlobalReference) else None
                    if isinstance(meaning, Static) and inner is not node:
                        continue  # the root of np.pi
                    if isinstance(meaning, GlobalBinding) and isinstance(meaning.value, int | float | complex):
                        continue
                case gast.Attribute() if self.is_number(inner):
                    continue
            return None
        return self.nested(node)

    def is_number(self, node: gast.Attribute) -> bool:
        """Whether an attribute is a number in a module, such as ``np.pi``."""
        owner = self.scope.static_of(node.value)
        if owner is None or isinstance(owner.value, LocalFunction):
            return False
        return isinstance(self.scope.attribute(owner.value, node), int | float | complex)

    def held(self, expression: gast.expr) -> gast.expr:
        """An atom that holds a settled expression."""
        if isinstance(expression, gast.Constant):
            return expression
        if isinstance(expression, gast.UnaryOp) and isinstance(expression.operand, gast.Constant):
            return self.value(expression)
        target = self.fresh()
        self.emit(target, expression, Fixed())
        return load(target, expression)

    def function_value(self, static: Static, node: gast.expr) -> tuple[gast.expr, Operation]:
        """A function as a value."""
        raise NotImplementedError

    def held_operation(self, expression: gast.expr, operation: Operation, node: gast.AST) -> gast.expr:
        target = self.fresh()
        self.emit(target, expression, operation)
        return load(target, node)

    def define_defaults(self, node: gast.AST) -> None:
        """Take the values of a local function's defaults now."""
        raise NotImplementedError

    def is_or_makes_object(self, node: gast.AST) -> bool:
        """Whether an expression may be an object of a class of the user's."""
        return False

    def reads_object(self, node: gast.Subscript) -> bool:
        """Whether what is indexed is an object, which is asked what its items are."""
        return False

    def subscript_of(self, node: gast.Subscript) -> tuple[gast.expr, Operation] | None:
        """``object[index]`` by a method of its class; None if it is no object that is known."""
        raise NotImplementedError

    # --- dicts whose keys are computed: frontend.dicts ---------------------------------------------------------------
    def dict_of_parts(self, node: gast.Dict) -> tuple[gast.expr, Operation]:
        raise NotImplementedError

    def dict_comprehension(self, node: gast.DictComp) -> tuple[gast.expr, Operation]:
        raise NotImplementedError

    def union(self, node: gast.BinOp) -> tuple[gast.expr, Operation]:
        raise NotImplementedError

    # --- displays and subscripts -------------------------------------------------------------------------------------
    def _pack(self, node: gast.Tuple | gast.List | gast.Dict) -> tuple[gast.expr, Operation]:
        if isinstance(node, gast.Dict):
            keys, values = distinct(node.keys, [self.value(element) for element in node.values])
            return placed(gast.Dict(list(keys), list(values)), node), Pack("dict", values, keys)
        elements: list[gast.expr] = []
        for element in node.elts:
            if isinstance(element, gast.Starred) and isinstance(element.value, gast.Tuple | gast.List):
                elements += [self.value(inner) for inner in element.value.elts]
            else:
                elements.append(self.value(element))
        kind = "list" if isinstance(node, gast.List) else "tuple"
        return placed(type(node)(elements, gast.Load()), node), Pack(kind, tuple(elements))

    def subscript(self, node: gast.Subscript) -> tuple[gast.expr, Operation]:
        """``base[index]``: an ``Index`` of a local; of a shape, or of what lies outside as it is, a fixed value."""
        if self._is_of_shape(node.value):
            return self.settle(node), Fixed()
        if self._is_outside(node) and not self.reads_object(node):
            held = object_of(self.settle(node.value))
            joins = JOINING.get(id(held))
            if not names_read(node.slice) or not is_foreign(type(held)):
                return self.settle(node), Fixed()
            items = None if joins is None else items_joined(node.slice)
            if joins is not None and items is not None:
                return self.operation(call_runtime(joins, [tuple_of(items, node)], node))
            settled, name = self.settle(node), spelled(node.value)
            return settled, self.unruled(node, settled, name, hint="use np.concatenate, np.stack or np.linspace")
        made = self.subscript_of(node)
        if made is not None:
            return made
        base = self.value(node.value)
        index = self.settle(node.slice, calls=False)
        expression = placed(gast.Subscript(base, index, gast.Load()), node)
        return expression, Index(base.id, index) if isinstance(base, gast.Name) else Fixed()

    def _is_of_shape(self, node: gast.expr) -> bool:
        """Whether an expression is the shape of an array, or a part of it."""
        while isinstance(node, gast.Subscript | gast.Attribute):
            if isinstance(node, gast.Attribute) and node.attr == "shape":
                return not self.is_or_makes_object(node.value)
            node = node.value
        return False

    def _is_outside(self, node: gast.Subscript) -> bool:
        """Whether what is indexed lies outside of the function and stays as it is: it is indexed once, or by what is
        no local, or it holds numbers alone, so that no class decides what an index means."""
        first, places = node, [node.slice]
        root = node.value
        while isinstance(root, gast.Subscript | gast.Attribute):
            if isinstance(root, gast.Subscript):
                first, places = root, [*places, root.slice]
            root = root.value
        if not isinstance(root, gast.Name) or isinstance(self.scope.resolve(root.id, root), Variable):
            return False
        if len(places) == 1 or not names_read(*places):
            return True
        held = object_of(self.settle(first.value))
        return isinstance(held, _PLAIN) and known_outside(held) == PLAIN


#: What is indexed by place or by key, whatever it holds.
_PLAIN = (np.ndarray, list, tuple, dict, deque, str, bytes, range)
class _Later:
    """A name that is taken when it is asked for first."""

    def __init__(self, fresh: Callable[[], str]) -> None:
        self.fresh = fresh
        self.name: str | None = None

    def __call__(self) -> str:
        if self.name is None:
            self.name = self.fresh()
        return self.name


def _is_spread(element: gast.expr) -> bool:
    """Whether a display is given the items of something whose length only the run tells."""
    return isinstance(element, gast.Starred) and not isinstance(element.value, gast.Tuple | gast.List)


def _joined(node: gast.Tuple | gast.List) -> gast.expr:
    """``[*rows, a]`` as ``list(rows) + [a]``."""
    whole: gast.expr | None = None
    for spread, elements in groupby(node.elts, _is_spread):
        given = [*elements]
        for part in [call_builtin("list", [e.value], e) for e in given] if spread else [gast.List(given, gast.Load())]:
            here = placed(part, node)
            whole = here if whole is None else placed(gast.BinOp(whole, gast.Add(), here), node)
    assert whole is not None
    return whole if isinstance(node, gast.List) else call_builtin("tuple", [whole], node)
