"""Simplify the arithmetic that differentiation leaves behind.

    x_bar = 1.0 * s_bar * np.cos(x)              x_bar = s_bar * np.cos(x)
    y_bar = s_bar * 3 * y ** (3 - 1)      →      y_bar = s_bar * 3 * y**2
    z_bar = x_bar + -(w_bar / 1.0)               z_bar = x_bar - w_bar
    t_bar = -(-s_bar / u * v)                    t_bar = s_bar / u * v

Only where no value and no dtype can change: a factor of one goes if the other operand is surely inexact (a cotangent or
tangent of ours, a quotient, a float), since ``1.0 * n`` makes a float of an integer that a user wrote.  A product with
one also makes a new object: it stays where that object, or the other operand, is changed in place.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import gast
import numpy as np

from srcgrad.optimize.aliases import Aliases, callee_of, is_fresh_call
from srcgrad.optimize.effects import Effects
from srcgrad.optimize.known import Known
from srcgrad.optimize.scan import fields_below, header_fields
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import names_read

_REWRITTEN = frozenset((gast.BinOp, gast.UnaryOp, gast.Compare, gast.IfExp, gast.Call))
_LEAVES = frozenset((gast.Name, gast.Constant, GlobalReference, str, int, type(None)))
_SENSITIVITY = re.compile(r"_(bar|dot)\d*(_\d+)?$")


def simplify(known: Known) -> bool:
    """Simplify every expression of a function in place; whether anything changed."""
    function, effects = known.function, known.effects
    rewriter = _Rewriter(function, known.temporaries, effects, known.cotangents)
    changed = False
    for statement in known.statements:
        if not effects.is_simplified(statement) and rewriter.statement(statement):
            effects.forget(statement)
            changed = True
    return changed


class _Rewriter:
    def __init__(
        self, function: gast.FunctionDef, temporaries: frozenset[str], effects: Effects, cotangents: frozenset[str]
    ) -> None:
        self.function = function
        self.temporaries = temporaries
        self.cotangents = cotangents
        self.effects = effects
        self._aliases: Aliases | None = None

    def statement(self, statement: gast.stmt) -> bool:
        """Simplify the expressions on a statement's own line, innermost first; whether one changed."""
        changed = False
        order: list[tuple[gast.AST, str, int | None]] = []
        pending: list[tuple[gast.AST, str, int | None, gast.AST]] = []
        _add_places(pending, statement, header_fields(statement))
        while pending:
            parent, name, index, node = pending.pop()
            kind = type(node)
            if kind in _REWRITTEN:
                order.append((parent, name, index))
            _add_places(pending, node, fields_below(kind))
        for parent, name, index in reversed(order):
            node = _get(parent, name, index)
            if isinstance(node, gast.expr):
                made = self._simpler(node)
                if made is node:
                    continue
                if not may_alias(made) or may_alias(node) or self._may_share(parent, statement, made):
                    changed = True
                    if index is None:
                        setattr(parent, name, made)
                    else:
                        getattr(parent, name)[index] = made
        match statement:  # what is taken from a place is no ``AddAt`` where the text is read again
            case gast.AugAssign(target=gast.Name(), op=gast.Add(), value=value):
                positive = self._negated(value)
                if positive is not None:
                    statement.op, statement.value = gast.Sub(), positive
                    changed = True
        return changed

    def _may_share(self, parent: gast.AST, statement: gast.stmt, made: gast.expr) -> bool:
        """Whether an operand may stand in the place of a new object that equals it."""
        if isinstance(parent, (gast.BinOp, gast.UnaryOp, gast.Compare, gast.AugAssign)):
            return True  # arithmetic makes a new object of it at once
        effect = self.effects.of(statement)
        names = {*names_read(made), *effect.binds, *(node.removesuffix(".*") for node in effect.changes)}
        if self._aliases is None:
            self._aliases = Aliases(self.function, self.effects)
        if isinstance(statement, gast.Return):  # a caller may take the result for its own
            theirs = self._aliases.classes(self._aliases.parameters)
            return parent is statement and theirs.isdisjoint(self._aliases.classes(names))
        return not effect.barrier and not self._aliases.ever_changed(names)

    # --- one node ----------------------------------------------------------------------------------------------------
    def _simpler(self, node: gast.expr) -> gast.expr:
        """An expression of the same value, or the node itself."""
        match node:
            case gast.BinOp():
                return self._binary(node)
            case gast.UnaryOp(op=gast.USub(), operand=operand):
                return self._negated(operand) or node
            case gast.Compare(left=gast.Constant(value=left), ops=[op], comparators=[gast.Constant(value=right)]):
                return _compared(left, op, right) or node
            case gast.IfExp(test=gast.Constant(value=bool() as value)):
                return node.body if value else node.orelse
            case gast.Call(args=[gast.Constant(value=bool() as value), yes, no], keywords=[]):
                if callee_of(node.func) is np.where:
                    chosen, other = (yes, no) if value else (no, yes)
                    if _number(other) is not None and self.inexact(chosen):
                        return chosen
        return node

    def _binary(self, node: gast.BinOp) -> gast.expr:
        left, right = node.left, node.right
        first, second = _number(left), _number(right)
        if first is not None and second is not None and (folded := _constants(first, node.op, second)) is not None:
            return folded
        match node.op:
            case gast.Mult():
                if first == 1 and self.inexact(right):
                    return right
                if second == 1 and self.inexact(left):
                    return left
                if _is_first_power(right) and self.inexact(left):
                    return gast.BinOp(left, gast.Mult(), right.left)
                if _is_first_power(left) and self.inexact(right):
                    return gast.BinOp(left.left, gast.Mult(), right)
            case gast.Div():
                if second == 1 and self.inexact(left):
                    return left
            case gast.Pow():
                if second == 1 and self.inexact(left):
                    return left
            case gast.Add():
                if first == 0 and self.inexact(right):
                    return right
                if second == 0 and self.inexact(left):
                    return left
                if (positive := self._negated(right)) is not None:
                    return gast.BinOp(left, gast.Sub(), positive)
            case gast.Sub():
                if second == 0 and self.inexact(left):
                    return left
                if (positive := self._negated(right)) is not None:
                    return gast.BinOp(left, gast.Add(), positive)
        return node

    def _negated(self, node: gast.expr) -> gast.expr | None:
        """``e`` of ``-e``, ``e * f`` of ``-e * f`` or ``e * -f``, where negation is exact: of inexact numbers."""
        match node:
            case gast.UnaryOp(op=gast.USub(), operand=operand) if self.inexact(operand) or self._is_cotangent(operand):
                return operand
            case gast.BinOp(op=gast.Mult() | gast.Div() | gast.MatMult()):
                if (positive := self._negated(node.left)) is not None:
                    return gast.BinOp(positive, node.op, node.right)
                if (positive := self._negated(node.right)) is not None:
                    return gast.BinOp(node.left, node.op, positive)
        return None

    def _is_cotangent(self, node: gast.expr) -> bool:
        """Whether a value is an adjoint of the caller's, whole numbers of whom are signed."""
        return isinstance(node, gast.Name) and node.id in self.cotangents

    def inexact(self, node: gast.expr) -> bool:
        """Whether a value is surely of a floating dtype, so that a Python float leaves its dtype alone."""
        pending = [node]
        while pending:
            node = pending.pop()
            match node:
                case GlobalReference():
                    continue
                case gast.Name():
                    if node.id in self.temporaries and _SENSITIVITY.search(node.id):
                        return True
                case gast.BinOp(op=gast.Mult() | gast.Add() | gast.Sub() | gast.Div() | gast.MatMult()):
                    pending += [node.left, node.right]
                case gast.BinOp(op=gast.Pow()):
                    pending.append(node.left)
                case gast.UnaryOp(op=gast.USub() | gast.UAdd()):
                    pending.append(node.operand)
                case gast.Subscript(value=gast.Name(id=name)) if name in self.temporaries and _SENSITIVITY.search(name):
                    return True
                case gast.Call() if _returns_float(node):
                    return True
        return False


def may_alias(node: gast.expr) -> bool:
    """Whether the value may be an object that has another name."""
    if isinstance(node, gast.Call):
        return not is_fresh_call(node)
    return not isinstance(node, (gast.BinOp, gast.UnaryOp, gast.Compare, gast.Constant))


def _add_places(
    pending: list[tuple[gast.AST, str, int | None, gast.AST]], node: gast.AST, fields: Iterable[str]
) -> None:
    for name in fields:
        value = getattr(node, name, None)
        if type(value) is list:
            pending += [(node, name, index, item) for index, item in enumerate(value) if type(item) not in _LEAVES]
        elif isinstance(value, gast.AST) and type(value) not in _LEAVES:
            pending.append((node, name, None, value))


def _get(parent: gast.AST, name: str, index: int | None) -> gast.AST:
    value = getattr(parent, name)
    node: gast.AST = value if index is None else value[index]
    return node


def _number(node: gast.expr) -> int | float | None:
    match node:
        case gast.Constant(value=bool()):
            return None
        case gast.Constant(value=(int() | float()) as value):
            return value
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=(int() | float()) as value)):
            return None if isinstance(value, bool) else -value
    return None


def _is_first_power(node: gast.expr) -> bool:
    match node:
        case gast.BinOp(op=gast.Pow(), right=gast.Constant(value=int() as power)) if power == 1:
            return not isinstance(power, bool)
    return False


def _constants(a: float, op: gast.AST, b: float) -> gast.expr | None:
    """Sums and differences of literals that are as short as they were."""
    if not isinstance(op, (gast.Add, gast.Sub)):
        return None
    value = a + b if isinstance(op, gast.Add) else a - b
    if not math.isfinite(value) or len(repr(value)) > 6:
        return None
    return gast.Constant(value, None)


def _compared(left: object, op: gast.AST, right: object) -> gast.expr | None:
    """A comparison of two numbers that are written out."""
    if not all(isinstance(value, (int, float)) for value in (left, right)):
        return None
    assert isinstance(left, (int, float)) and isinstance(right, (int, float))
    results = {
        gast.Eq: left == right,
        gast.NotEq: left != right,
        gast.Lt: left < right,
        gast.LtE: left <= right,
        gast.Gt: left > right,
        gast.GtE: left >= right,
    }
    return gast.Constant(results[type(op)], None) if type(op) in results else None


def _returns_float(call: gast.Call) -> bool:
    function = callee_of(call.func)
    return getattr(function, "__module__", None) == "math" and function not in (
        math.floor,
        math.ceil,
        math.trunc,
        math.gcd,
        math.lcm,
        math.comb,
        math.perm,
        math.isqrt,
        math.factorial,
        math.prod,
        math.isnan,
        math.isinf,
        math.isfinite,
        math.isclose,
    )
