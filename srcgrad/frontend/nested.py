"""Expressions that stay as the user nested them: tests, indices, shapes, and all else that carries no derivative.

Enters: an expression in a position without a derivative.  Leaves: a copy with every name resolved; what cannot stay
(local functions, names bound inside, loops) is evaluated before it, in Python's order::

    if scale(x) > 1 and (n := len(x)) < 3:     ->     t = scale(x, k);  ...;  if t2:
"""

from __future__ import annotations

from types import FunctionType, ModuleType

import gast

from srcgrad import runtime
from srcgrad.frontend.callees import as_library, as_python, is_inert
from srcgrad.frontend.desugar.build import call, load, placed
from srcgrad.frontend.names import COMPREHENSIONS
from srcgrad.frontend.normal_form import Derived, LocalFunction
from srcgrad.frontend.scope import Static, Variable
from srcgrad.frontend.side_effects import may_store
from srcgrad.frontend.storing import STORES
from srcgrad.frontend.writing import Writing
from srcgrad.language import effects
from srcgrad.rules.table import lookup
from srcgrad.syntax.globals import GlobalBinding, GlobalReference, reference
from srcgrad.syntax.parse import clone, names_read, walk


class Nested(Writing):
    """Expressions without a derivative."""

    def settle(self, node: gast.expr, *, calls: bool = True) -> gast.expr:
        """An expression that stays nested, its names resolved; what cannot stay is evaluated before it.

        ``calls=False`` also moves calls out, so that the expression may be evaluated again.
        """
        expression = self._linear(node) if self.needs_statements(node) else self.nested(node)
        if any(self.pending[name] for name in names_read(expression)):
            return self._pinned(expression)
        return expression if calls else self._lift(expression)

    def nested(self, node: gast.expr) -> gast.expr:
        """A copy of an expression in which every name is resolved."""
        holder = gast.Expr(clone(node))
        pending: list[gast.AST] = [holder]
        while pending:
            parent = pending.pop()
            skipped = ""
            if isinstance(parent, gast.Call) and self.admit_call(parent):
                pending.append(parent.func)
                skipped = "func"
            for name in parent._fields:
                child = getattr(parent, name, None)
                if name == skipped:
                    continue
                if isinstance(child, list):
                    child[:] = [self._leaf(c, pending) if isinstance(c, gast.AST) else c for c in child]
                elif isinstance(child, gast.AST):
                    setattr(parent, name, self._leaf(child, pending))
        expression: gast.expr = holder.value
        return expression

    def _leaf(self, node: gast.AST, pending: list[gast.AST]) -> gast.AST:
        match node:
            case GlobalReference():
                return node
            case gast.Name(ctx=gast.Load()):
                meaning = self.scope.resolve(node.id, node)
                if isinstance(meaning, Variable):
                    return load(self.local(meaning), node)
                if isinstance(meaning, GlobalBinding):
                    return placed_reference(meaning, node)
                assert meaning.expression is not None
                return clone(meaning.expression)
            case gast.Attribute():
                static = self.scope.static_of(node)
                if static is not None and static.expression is not None:
                    return clone(static.expression)
                self.admit_attribute(node)
        pending.append(node)
        return node

    def _linear(self, node: gast.expr) -> gast.expr:
        """Evaluate what cannot stay nested, and all that Python evaluates before it."""
        match node:
            case gast.NamedExpr() | gast.BoolOp() | gast.IfExp() | gast.Lambda():
                return self.value(node)
            case gast.ListComp() | gast.GeneratorExp() | gast.SetComp() | gast.DictComp():
                return self.value(node)
            case gast.Compare() if len(node.ops) > 1:
                return self.value(node)
            case gast.Call():
                static = self.scope.static_of(node.func)
                if static is not None and isinstance(static.value, LocalFunction | Derived):
                    return self.value(node)
                if self.consumes(node) or self.stores_result(node) or self._calls_variable(node):
                    return self.value(node)
                if self._call_may_store(node) or static is not None and _asks_for_texts(static.value):
                    return self.value(node)
                if any(isinstance(inner, gast.Name) and self._is_local_function(inner) for inner in node.args):
                    return self.value(node)
        made = placed(type(node)(**{name: getattr(node, name, None) for name in node._fields}), node)
        places: list[tuple[object, str | int, gast.expr]] = []
        for name in node._fields:
            child = getattr(node, name, None)
            if isinstance(child, list):
                items = [clone(c) if isinstance(c, gast.keyword) else c for c in child]
                setattr(made, name, items)
                for position, item in enumerate(items):
                    if isinstance(item, gast.keyword):
                        places.append((item, "value", item.value))
                    elif isinstance(item, gast.expr):
                        places.append((items, position, item))
            elif isinstance(child, gast.expr) and not (isinstance(node, gast.Call) and name == "func"):
                places.append((made, name, child))
        # -1: only what a method is called on needs statements, which comes before all arguments.
        last = max((k for k, (_, _, child) in enumerate(places) if self.needs_statements(child)), default=-1)
        if isinstance(node, gast.Call):
            made.func = self._function_of(node, made)
        for k, (holder, key, child) in enumerate(places):
            done = self._linear(child) if self.needs_statements(child) else self.nested(child)
            if k < last:
                done = self._pinned(done)
            if isinstance(holder, list):
                holder[key] = done  # type: ignore[index]
            else:
                setattr(holder, key, done)  # type: ignore[arg-type]
        return made

    def _function_of(self, node: gast.Call, made: gast.Call) -> gast.expr:
        static = self.scope.static_of(node.func)
        if static is not None and static.expression is not None:
            return clone(static.expression)
        self.admit_call(made)
        if not isinstance(node.func, gast.Attribute):
            raise self.refuse(node.func, "the function called here is not known", "call a function by its name")
        receiver = self.settle(node.func.value)
        return placed(gast.Attribute(self._pinned(receiver), node.func.attr, gast.Load()), node.func)

    def _calls_variable(self, node: gast.Call) -> bool:
        """Whether the function called is held by a variable, so that only the run tells what it does."""
        if isinstance(node.func, gast.Call | gast.Subscript):
            return self.scope.static_of(node.func) is None  # ``getattr(q, name)(v)``
        if not isinstance(node.func, gast.Name) or isinstance(node.func, GlobalReference):
            return False
        return isinstance(self.scope.resolve(node.func.id, node.func), Variable)

    def _call_may_store(self, node: gast.Call) -> bool:
        """Whether a user's function is called that may change what it is given."""
        static = self.scope.static_of(node.func)
        if static is None or not isinstance(static.value, FunctionType) or self.source.generated:
            return False
        if as_python(static.value) is None:
            return False
        if as_python(static.value) is None and as_library(static.value) is None:
            return False  # it stays as it is written
        if lookup(static.value) is not None or is_inert(static.value):
            return False
        return may_store(static.value, self.gives_objects(node))

    def function_may_store(self, function: gast.expr) -> bool:
        """Whether a function of the user's, here or in a module, may change what it is given or has captured."""
        static = self.scope.static_of(function)
        if static is None or not isinstance(static.value, LocalFunction):
            return self._call_may_store(call(function, [], function))
        return any(self._may_be_store(node) for node in walk(static.value.node))

    def _may_be_store(self, node: gast.AST) -> bool:
        match node:
            case gast.Subscript() | gast.Attribute():
                return not isinstance(node.ctx, gast.Load)
            case gast.Nonlocal() | gast.AugAssign():
                return True
            case gast.Call(func=gast.Attribute(attr=attr)):
                return attr in STORES or not effects.is_reading(effects.method(attr))
            case gast.Call(func=gast.Name()):
                static = self.scope.static_of(node.func)
                return static is None or isinstance(static.value, LocalFunction) or self._call_may_store(node)
        return False

    def _is_local_function(self, node: gast.Name) -> bool:
        static = self.scope.static_of(node)
        return static is not None and isinstance(static.value, LocalFunction | Derived)

    def _pinned(self, expression: gast.expr) -> gast.expr:
        """A settled expression whose value is taken now, slices and stars by their parts."""
        match expression:
            case gast.Constant():
                return expression
            case gast.Slice():
                parts = [p and self._pinned(p) for p in (expression.lower, expression.upper, expression.step)]
                return placed(gast.Slice(*parts), expression)
            case gast.Tuple() if any(isinstance(element, gast.Slice) for element in expression.elts):
                return placed(gast.Tuple([self._pinned(e) for e in expression.elts], gast.Load()), expression)
            case gast.FormattedValue():
                value = self._pinned(expression.value)
                return placed(gast.FormattedValue(value, expression.conversion, expression.format_spec), expression)
            case gast.Starred():
                return placed(gast.Starred(self._pinned(expression.value), gast.Load()), expression)
            case gast.Name() if not self.pending[expression.id]:
                return expression
        return self.held(expression)

    def _lift(self, expression: gast.expr) -> gast.expr:
        """Move the calls of a settled expression into temporaries, the largest call expressions that are values."""
        if not any(isinstance(inner, gast.Call) and not is_cheap(inner) for inner in walk(expression)):
            return expression
        match expression:
            case gast.Slice() | gast.Starred():
                for name in expression._fields:
                    part = getattr(expression, name)
                    if isinstance(part, gast.expr):
                        setattr(expression, name, self._lift(part))
                return expression
            case gast.Tuple():
                expression.elts = [self._lift(element) for element in expression.elts]
                return expression
        return self.held(expression)

    # --- questions about expressions ---------------------------------------------------------------------------------
    def is_plain(self, node: gast.expr) -> bool:
        """Whether a ternary or and/or yields a truth value, text or literal, so that it may stay an expression."""
        pending = [node]
        while pending:
            inner = pending.pop()
            match inner:
                case gast.IfExp():
                    pending += [inner.body, inner.orelse]
                case gast.BoolOp():
                    pending += inner.values
                case gast.Constant() | gast.Compare() | gast.UnaryOp(op=gast.Not()) | gast.JoinedStr():
                    continue
                case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=int() | float() | complex())):
                    continue
                case gast.Call(func=gast.Name(id="isinstance" | "bool" | "callable" | "len")):
                    continue
                case _:
                    return False
        return not self.needs_statements(node)

    def known_truth(self, test: gast.expr) -> bool | None:
        """What a test says that only asks whether function-valued parameters are given; None if it asks more."""
        match test:
            case gast.UnaryOp(op=gast.Not(), operand=operand):
                inner = self.known_truth(operand)
                return None if inner is None else not inner
            case gast.Compare(left=gast.Name() as name, ops=[op], comparators=[gast.Constant(value=None)]):
                static = self._static_name(name)
                if static is None or not isinstance(op, gast.Is | gast.IsNot):
                    return None
                return (static.value is None) == isinstance(op, gast.Is)
            case gast.Name():
                static = self._static_name(test)
                return None if static is None else static.value is not None
        return None

    def _static_name(self, node: gast.Name) -> Static | None:
        if isinstance(node, GlobalReference):
            return None
        meaning = self.scope.resolve(node.id, node)
        return meaning if isinstance(meaning, Static) and not isinstance(meaning.value, ModuleType) else None

    def needs_statements(self, *nodes: gast.AST) -> bool:
        """Whether an expression binds names, loops, or calls a local function, which emitted code does not hold."""
        for node in walk(*nodes):
            if isinstance(node, gast.NamedExpr | gast.Lambda | COMPREHENSIONS) or _asks_for_a_field(node):
                return True
            if isinstance(node, gast.Call) and self.stores_result(node):
                return True
            if isinstance(node, gast.Name) and not isinstance(node, GlobalReference):
                meaning, owner = self.scope.resolve(node.id, node), self.scope.owner(node.id)
                if isinstance(meaning, Static) and isinstance(meaning.value, LocalFunction | Derived):
                    return True
                is_looked_at = owner is not None and (owner.is_early(node) or owner.begins_as_none(node.id))
                if is_looked_at and not isinstance(meaning, Static):
                    return True  # it is read by itself, in front
            if isinstance(node, gast.Call) and (self._calls_variable(node) or self._call_may_store(node)):
                return True
            if isinstance(node, gast.Call):
                static = self.scope.static_of(node.func)
                if static is not None and isinstance(static.value, Derived) and isinstance(node.func, gast.Call):
                    return True
                if static is not None and _asks_for_texts(static.value):
                    return True
        return False


def _asks_for_texts(function: object) -> bool:
    """Whether a call asks for texts of local functions, which are written anew with the function that asks."""
    return function is runtime.is_made_of or function is runtime.made_of


def _asks_for_a_field(node: gast.AST) -> bool:
    """``o.re if isinstance(o, Dual) else o``: a branch of statements, which knows in each half what ``o`` is."""
    match node:
        case gast.IfExp(test=gast.Call(func=gast.Name(id="isinstance")), body=body, orelse=orelse):
            return any(isinstance(inner, gast.Attribute) for inner in walk(body, orelse))
    return False


def is_cheap(node: gast.Call) -> bool:
    """Whether a call may be evaluated as often as its statement's expression is."""
    if isinstance(node.func, GlobalReference):
        return node.func.binding.value in (len, range, slice, tuple, isinstance)
    return isinstance(node.func, gast.Attribute) and node.func.attr in ("ndim", "shape", "size")


def placed_reference(binding: GlobalBinding, at: gast.AST) -> GlobalReference:
    return placed(reference(binding), at)
