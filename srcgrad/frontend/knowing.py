"""What is known of names and paths while a function is written: kept as it is written, looked at again at its end.

Enters: statements as they are written, expressions that are asked about.  Leaves: a ``Known`` for them, and a note of
everything that was relied on (``frontend.normalize`` writes the function again where that does not hold for all of it).
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterable, Mapping, Set
from types import MethodType

import gast

from srcgrad.frontend.callees import as_python
from srcgrad.frontend.classes import (
    found,
    is_descriptor,
    is_field,
    is_user_class,
)
from srcgrad.frontend.expressions import Expressions
from srcgrad.frontend.inference import Table
from srcgrad.frontend.known import (
    PLAIN,
    Closed,
    Instance,
    Known,
    Plain,
    choices_of,
    classes_in,
    holds_objects,
    instances_of,
    tells,
)
from srcgrad.frontend.meeting import is_users, known_of, known_of_attribute, known_outside
from srcgrad.frontend.normal_form import LocalFunction, Statement
from srcgrad.frontend.scope import Variable
from srcgrad.rules.table import lookup
from srcgrad.syntax.globals import GlobalBinding, GlobalReference


class Knowing(Expressions):
    """Asks what is known."""

    table: Table
    assumed: Mapping[str, Known]
    relied: dict[str, list[Known]]
    narrowed: dict[str, Known]

    def is_fixed(self, function: gast.expr, bound: Set[str]) -> bool:
        """Whether a function that is written so, or a default of it, is the same in every pass of a loop that binds
        these names."""
        match function:
            case gast.Constant() | GlobalReference():
                return True
            case gast.Name(id=name):
                return name not in bound
            case gast.Lambda(args=args):
                defaults = [default for default in args.defaults + args.kw_defaults if default is not None]
                return all(self.is_fixed(default, bound) for default in defaults)
            case gast.Call(args=args, keywords=keywords):
                return all(self.is_fixed(part, bound) for part in (*args, *(keyword.value for keyword in keywords)))
            case gast.UnaryOp(operand=operand):
                return self.is_fixed(operand, bound)
        return self.scope.static_of(function) is not None

    @property
    def out(self) -> list[Statement]:
        """The block being written; what a statement binds is taken up as it is written."""
        return self._out

    @out.setter
    def out(self, statements: list[Statement]) -> None:
        self._out = statements if isinstance(statements, _Noted) else _Noted(statements, self)

    def noted(self, statement: Statement) -> None:
        """Called after each statement that is written."""

    def known_name(self, name: str) -> Known:
        """What is known of a local; what has been relied on is looked at again when all is written."""
        if name in self.narrowed:
            return self.narrowed[name]
        known = self.assumed[name] if name in self.assumed else self.table.names.get(name, PLAIN)
        known = self.table.resolved(known)
        if tells(known):
            self._note_relied(name, known)
        return known

    def _note_relied(self, name: str, known: Known) -> None:
        relied = self.relied.setdefault(name, [])
        if known not in relied:
            relied.append(known)

    def rely(self, node: gast.Name, known: Known) -> None:
        """Note that something was decided by what is known of a name."""
        meaning = self.scope.resolve(node.id, node)
        assert isinstance(meaning, Variable)
        self._note_relied(self.local(meaning), known)

    def known_atom(self, atom: gast.expr) -> Known:
        """What is known of an operand, which is a local name, a constant or a global."""
        if isinstance(atom, gast.Name) and not isinstance(atom, GlobalReference):
            return self.known_name(atom.id)
        return self.table.atom(atom)

    def peek(self, node: gast.AST) -> Known:
        """What is known of the value of an expression that is a path: names, fields, items."""
        match node:
            case GlobalReference(binding=binding):
                return known_of(binding.value) if binding.cell is None else known_outside(binding.value)
            case gast.Name(id=name):
                meaning = self.scope.resolve(name, node)
                if isinstance(meaning, GlobalBinding):
                    return PLAIN if meaning.cell is None else known_outside(meaning.value)
                return self.known_name(self.local(meaning)) if isinstance(meaning, Variable) else PLAIN
            case gast.Attribute(value=value, attr=attr):
                static = self.scope.static_of(value)
                if static is not None and is_users(static.value):
                    return known_of_attribute(static.value, attr)
                return self._peek_attribute(self.peek(value), attr)
            case gast.Subscript(value=value, slice=index):
                base = self.peek(value)
                return PLAIN if base == PLAIN else self.table.resolved(self.table.item(base, index))
        return PLAIN

    def _peek_attribute(self, base: Known, name: str) -> Known:
        if isinstance(base, Instance):
            raw = found(base.kind, name)
            if isinstance(raw, property):
                return PLAIN
            if not is_field(raw) and name not in dict(base.fields) and name not in self.table.fields:
                return PLAIN if is_descriptor(raw) else known_of(raw)
        return self.table.resolved(self.table.field(base, name))

    def is_global(self, node: gast.AST) -> bool:
        """Whether what is read starts at global data: no derivative reaches it."""
        while isinstance(node, gast.Attribute | gast.Subscript):
            node = node.value
        if isinstance(node, GlobalReference):
            return True
        return isinstance(node, gast.Name) and isinstance(self.scope.resolve(node.id, node), GlobalBinding)

    def is_object(self, node: gast.AST) -> bool:
        return holds_objects(self.peek(node))

    def is_or_makes_object(self, node: gast.AST) -> bool:
        return self.is_object(node) or self.makes_object(node)

    def gives_objects(self, node: gast.Call) -> bool:
        given = given_to(node)
        return any(classes_in(self.peek(each), self.table.resolved) or self.makes_object(each) for each in given)

    def makes_object(self, node: gast.AST) -> bool:
        """Whether an expression that is no path may give an object."""
        match node:
            case gast.Call(func=gast.Call(func=gast.Name(id="super"))):
                return True
            case gast.Call(func=gast.Attribute(value=value)) if self.is_object(value) or self.is_super(value):
                return True
            case gast.Call(func=func):
                static = self.scope.static_of(func)
                if static is not None:
                    value = static.value
                    made = is_user_class(value) or value in (dataclasses.replace, copy.copy)
                    asked = getattr(value, "__module__", "") in ("builtins", "_operator", "math")
                    chosen = value in (max, min, sum) or asked and any(map(self.is_or_makes_object, given_to(node)))
                    return made or chosen or isinstance(value, LocalFunction) or self._has_source(value)
                called = choices_of(self.peek(func))
                return any(isinstance(c, Instance | Closed) for c in called) or self.makes_object(func)
            case gast.IfExp(body=body, orelse=orelse):
                return any(map(self.is_or_makes_object, (body, orelse)))
            case gast.BoolOp(values=values):
                return any(map(self.is_or_makes_object, values))
            case gast.NamedExpr(value=value):
                return self.is_or_makes_object(value)
            case gast.Attribute(value=value, attr=attr):
                if any(isinstance(found(c.kind, attr), property) for c in instances_of(self.peek(value))):
                    return True
                return self.makes_object(value)
            case gast.Subscript(value=value):
                return self.is_or_makes_object(value)
            case gast.BinOp():
                return any(map(self.is_or_makes_object, _operands(node)))
            case gast.Compare(left=left, comparators=[right]):  # what ``__lt__`` says
                return any(map(self.is_or_makes_object, (left, right)))
            case gast.UnaryOp(operand=operand):
                return self.is_or_makes_object(operand)
        return False

    @staticmethod
    def _has_source(function: object) -> bool:
        function = function.__func__ if isinstance(function, MethodType) else function
        return as_python(function) is not None and lookup(function) is None

    def is_super(self, node: gast.AST) -> bool:
        return isinstance(node, gast.Call) and isinstance(node.func, gast.Name) and node.func.id == "super"

    def put(self, node: gast.AST, name: str, part: gast.expr | list[gast.expr]) -> None:
        """Put what has been evaluated in place of an expression; the tree gets it back when all is written."""
        self.replaced.put(node, name, part)

    def receiver(self, node: gast.expr) -> tuple[gast.expr, Known]:
        """The expression before a dot, and what is known of it; an atom where it had to be evaluated to tell."""
        known = self.peek(node)
        if not isinstance(known, Plain) or not self.makes_object(node):
            return node, known
        atom = self.value(node)
        return atom, self.known_atom(atom)


def given_to(node: gast.Call) -> list[gast.expr]:
    """The arguments of a call, by position and by name."""
    return [*node.args, *(keyword.value for keyword in node.keywords)]


def _operands(node: gast.BinOp) -> list[gast.expr]:
    """The operands of a chain of operators, which may be a long one."""
    operands: list[gast.expr] = []
    pending: list[gast.expr] = [node]
    while pending:
        part = pending.pop()
        if isinstance(part, gast.BinOp):
            pending += [part.right, part.left]
        else:
            operands.append(part)
    return operands


class _Noted(list[Statement]):
    """Statements whose bindings are noted when they are appended."""

    def __init__(self, statements: Iterable[Statement], writer: Knowing) -> None:
        super().__init__(statements)
        self.writer = writer

    def append(self, statement: Statement) -> None:
        super().append(statement)
        self.writer.table.enter(statement)
        self.writer.noted(statement)
