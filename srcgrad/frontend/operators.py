"""Operators, subscripts and tests of objects, and which expressions cannot stay nested because they call methods.

Enters: operators whose operand is an object of a known class.  Leaves: ``Call`` of the class's method, the reflected
one where Python takes that::

    u + v               u.__add__(v)                2.0 * v             v.__rmul__(2.0)
"""

from __future__ import annotations

from abc import ABCMeta, abstractmethod
from types import FunctionType

import gast

from srcgrad.frontend.classes import ABSENT, BINARY, COMPARISONS, UNARY, found, is_user_class
from srcgrad.frontend.desugar.build import placed
from srcgrad.frontend.known import (
    DATA,
    Entries,
    Instance,
    Items,
    Known,
    Value,
    holds_objects,
    instances_of,
    is_named_tuple,
    tells,
)
from srcgrad.frontend.objects import Made, Objects
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import walk


class Operators(Objects):
    """What is computed with objects."""

    # --- operators ---------------------------------------------------------------------------------------------------
    def operate(self, node: gast.expr, op: gast.AST, atoms: list[gast.expr]) -> Made:
        known = [self.known_atom(atom) for atom in atoms]
        if not any(holds_objects(each) for each in known):
            return super().operate(node, op, atoms)
        if len(atoms) == 1:
            return self._operated(node, UNARY[type(op)], atoms, known[0])
        if type(op) not in BINARY:
            raise self.refuse(node, "this operator on an object", "call a method")
        name, reflected = BINARY[type(op)]
        left, right = known
        swapped = isinstance(right, Instance) and found(right.kind, reflected) is not ABSENT
        if isinstance(left, Instance) and isinstance(right, Instance) and swapped:
            own = found(right.kind, reflected) is not found(left.kind, reflected)
            if right.kind is not left.kind and issubclass(right.kind, left.kind) and own:
                return self._operated(node, reflected, [atoms[1], atoms[0]], right)
        if holds_objects(left) and not (isinstance(left, Instance) and found(left.kind, name) is ABSENT):
            return self._operated(node, name, atoms, left)
        if swapped:
            if not holds_objects(left):
                self._require_number(atoms[0], right, node)
            return self._operated(node, reflected, [atoms[1], atoms[0]], right)
        return super().operate(node, op, atoms)

    @abstractmethod
    def _require_number(self, atom: gast.expr, right: Known, node: gast.expr) -> None:
        """Check when the program runs that an array does not take the operator for itself."""

    def _operated(self, node: gast.expr, name: str, atoms: list[gast.expr], known: Known) -> Made:
        atom = atoms[0]
        assert isinstance(atom, gast.Name)
        choices = instances_of(known)

        def write(choice: Known) -> Made:
            assert isinstance(choice, Instance)
            raw = found(choice.kind, name)
            if not isinstance(raw, FunctionType):
                raise self.refuse(node, f"class {choice.kind.__name__} has no {name} with source", "call a method")
            expression, operation = self.method(raw, atom, atoms[1:], [], node, None)
            if isinstance(expression, gast.Call) and len(expression.args) == len(atoms):
                spelled = placed(gast.Attribute(atom, name, gast.Load()), node)
                expression = placed(gast.Call(spelled, expression.args[1:], []), node)
            return expression, operation

        return self.dispatch(atom, choices, node, write)

    def operation(self, node: gast.expr) -> Made:
        match node:
            case gast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in COMPARISONS:
                made = self._compared(node, COMPARISONS[type(op)], left, right)
                if made is not None:
                    return made
        return super().operation(node)

    def _compared(self, node: gast.Compare, name: str, left: gast.expr, right: gast.expr) -> Made | None:
        """A comparison by a method that the user wrote, which may return anything; None for any other."""
        known = self.peek(left)
        raw = found(known.kind, name) if isinstance(known, Instance) else ABSENT
        if not isinstance(raw, FunctionType) or raw.__code__.co_filename == "<string>":
            return None
        atoms = [self.value(left), self.value(right)]
        return self._operated(node, name, atoms, known)

    def subscript_of(self, node: gast.Subscript) -> Made | None:
        """``object[index]`` by ``__getitem__``; None if it is no object that is known."""
        base, known = self.receiver(node.value)
        if base is not node.value:
            node.value = base
        if not isinstance(known, Instance) or is_named_tuple(known.kind):
            return None
        raw = found(known.kind, "__getitem__")
        atom = self.value(base)
        if not isinstance(raw, FunctionType):
            raise self.refuse(node, f"an object of class {known.kind.__name__} is indexed", "it has no __getitem__")
        spelled = placed(gast.Attribute(atom, "__getitem__", gast.Load()), node)
        return self.method(raw, atom, [node.slice], [], node, spelled)

    # --- what stays nested -------------------------------------------------------------------------------------------
    def needs_statements(self, *nodes: gast.AST) -> bool:
        if super().needs_statements(*nodes):
            return True
        if not self.table.names and not self.assumed:
            return False
        return any(self.calls_method(inner) for inner in walk(*nodes))

    def calls_method(self, node: gast.AST) -> bool:
        match node:
            case gast.Call(func=gast.Attribute(value=value)):
                if self.is_object(value) or self.is_super(value):
                    return True
                return isinstance(value, gast.Call) and self.makes_object(value)
            case gast.Call(func=gast.Name()) if not isinstance(node.func, GlobalReference):
                return holds_objects(self.peek(node.func))
            case gast.Attribute(value=value, attr=attr):
                return any(isinstance(found(c.kind, attr), property) for c in instances_of(self.peek(value)))
            case gast.Subscript(value=value):
                known = self.peek(value)
                return isinstance(known, Instance) and not is_named_tuple(known.kind)
            case gast.BinOp(left=left, right=right):
                return self.is_object(left) or self.is_object(right)
            case gast.Compare(left=left, ops=[op]) if type(op) in COMPARISONS:
                return self.is_object(left)
        return False

    def _linear(self, node: gast.expr) -> gast.expr:
        if (self.table.names or self.assumed) and self.calls_method(node):
            return self.value(node)
        return super()._linear(node)

    def known_truth(self, test: gast.expr) -> bool | None:
        known = super().known_truth(test)
        if known is not None or not (self.table.names or self.assumed):
            return known
        match test:
            case gast.Compare(left=left, ops=[gast.Is() | gast.IsNot() as op], comparators=[gast.Constant(value=None)]):
                held = self.peek(left)
                if isinstance(held, Value):
                    return (held.value is None) == isinstance(op, gast.Is)
                if isinstance(held, Instance | Items | Entries) and tells(held):
                    return isinstance(op, gast.IsNot)
            case gast.Call(func=func, args=[gast.expr() as subject, kinds], keywords=[]):
                static = self.scope.static_of(func)
                if static is not None and static.value is isinstance:
                    return self._is_of(subject, kinds)
        return None

    def _is_of(self, subject: gast.expr, kinds: gast.expr) -> bool | None:
        """What ``isinstance`` says of an object whose class is known, and of a number about a class of the user's."""
        known = self.peek(subject)
        parts = kinds.elts if isinstance(kinds, gast.Tuple) else [kinds]
        statics = [self.scope.static_of(part) for part in parts]
        classes = [s.value for s in statics if s is not None and isinstance(s.value, type)]
        plain = len(classes) == len(statics) and all(type(kind) in (type, ABCMeta) for kind in classes)
        if known == DATA and plain and all(map(is_user_class, classes)) and isinstance(subject, gast.Name):
            self.rely(subject, known)
            return False
        return issubclass(known.kind, tuple(classes)) if isinstance(known, Instance) and plain else None
