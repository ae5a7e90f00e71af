"""Statements, one by one: assignment, branches, loops, local functions, effects.

Enters: desugared statements.  Leaves: the statements of the normal form.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NoReturn

import gast

from srcgrad.errors import InternalError, Span
from srcgrad.frontend.callees import as_library, as_python, is_inert, spelled
from srcgrad.frontend.classes import is_user_class
from srcgrad.frontend.desugar import desugar
from srcgrad.frontend.desugar.assignment import augmented
from srcgrad.frontend.desugar.build import assign, constant, load, placed, store, with_bodies
from srcgrad.frontend.desugar.loops import endless
from srcgrad.frontend.foreign import ForeignValues
from srcgrad.frontend.freshness import Sharing, expressions_of
from srcgrad.frontend.names import default_values, names_evaluated, names_of
from srcgrad.frontend.normal_form import (
    Bind,
    Block,
    Break,
    Call,
    Continue,
    Derived,
    Effect,
    Fixed,
    If,
    LocalFunction,
    Pop,
    Return,
    Statement,
    Unpack,
    While,
)
from srcgrad.frontend.replacing import of_the_text
from srcgrad.frontend.scope import (
    Static,
    Variable,
)
from srcgrad.frontend.sequencing import ordered, ordered_statement
from srcgrad.frontend.side_effects import unknown_effect
from srcgrad.frontend.source import meaning_outside
from srcgrad.language import effects
from srcgrad.rules.memory import home_of
from srcgrad.rules.table import lookup
from srcgrad.syntax.parse import walk


class Statements(ForeignValues):
    """Writes the statements of one function."""

    def desugared(self, statements: list[gast.stmt]) -> list[gast.stmt]:
        return desugar(statements, self.fresh, meaning_outside(self.scope.source), nest_returns=False)

    def run(self, statements: Iterable[gast.stmt]) -> None:
        outer = self.span
        for statement in statements:
            self._enter(statement)
            self.open_statements.append(statement)
            self._statement(statement)
            self.open_statements.pop()
            if self.left:
                break  # control reaches nothing that follows
        self.span = outer

    @property
    def left(self) -> bool:
        """Whether the last statement written is an exit."""
        return bool(self.out) and isinstance(self.out[-1], Break | Continue | Return)

    def _statement(self, statement: gast.stmt) -> None:
        span, statement = self.span, self.with_views(statement)
        if not self.source.generated:
            statement = ordered_statement(self, statement)
            self.require_assigned(names_evaluated(statement))
        match statement:
            case gast.Assign(targets=[target], value=value):
                self._assignment(target, value)
            case gast.AugAssign():
                self._augmented(statement)
            case gast.If() if (known := self.known_truth(statement.test)) is not None:
                self.run(statement.body if known else statement.orelse)
            case gast.If():
                self._branches(statement)
            case gast.While():
                if self.needs_statements(statement.test):
                    statement = endless(statement)
                    self.pending.clear()
                test = self.settle(statement.test)
                self.out.append(While(test, self.written(statement.body), span))
            case gast.For():
                self.write_for(statement)
            case gast.With():
                self.write_with(statement)
            case gast.Break():
                self.out.append(Break(span))
            case gast.Continue():
                self.out.append(Continue(span))
            case gast.Return(value=value):
                self.out.append(Return(constant(None, statement) if value is None else self.value(value), span))
            case gast.FunctionDef():
                self._define(statement)
            case gast.Expr(value=value):
                self._expression(statement, value)
            case gast.Raise(exc=None):
                reason = "raise alone outside of a handler of its own function, or in a last block"
                label = "what it raises depends on what handles an exception when it runs"
                raise self.refuse(statement, reason, "name the exception, and raise that", label=label)
            case gast.Assert() | gast.Raise():
                self._effect(statement)
            case gast.Delete(targets=targets):
                names = [node for node in walk(*targets) if isinstance(node, gast.Name)]
                self.require_assigned(name for name in names if isinstance(name.ctx, gast.Del))
                for target in targets:
                    self.delete(target)
            case gast.Pass():
                pass
            case gast.Import() | gast.ImportFrom():
                label = "it fails, is relative, or binds a name that is bound elsewhere too"
                hint = "import at the top of the module"
                raise self.refuse(statement, "this import cannot be differentiated", hint, label=label)
            case gast.ClassDef():
                hint = "give it a name of its own, outside of loops"
                reason = "a class that a loop makes anew, whose name is bound again, or may be read before"
                raise self.refuse(statement, reason, hint)
            case gast.Try():
                raise self.refuse(
                    statement,
                    "an exception handler around this cannot be reversed",
                    "inside of try, bind names in statements of their own, and put with around the try",
                    label="where its body is left is not known",
                )
            case _:
                raise InternalError(f"a statement of class {type(statement).__name__} passed the fence", span)

    def _branches(self, statement: gast.If) -> None:
        """``if`` and its ``elif``s, in a loop over the chain."""
        outer = self.out, self.span
        links: list[tuple[list[Statement], gast.expr, Block, Span]] = []
        rest: list[gast.stmt] = [statement]
        while len(rest) == 1 and isinstance(rest[0], gast.If) and self.known_truth(rest[0].test) is None:
            link = rest[0]
            self.out = []
            if links:
                self._enter(link)
                link = self.with_views(link)
                if not self.source.generated:
                    self.require_assigned(names_evaluated(link))
            test, span = self.settle(ordered(self, link.test)), self.span
            links.append((self.out, test, self.written(link.body), span))
            rest = link.orelse
        self.span = outer[1]
        orelse = self.written(rest)
        for before, test, body, span in reversed(links):
            orelse = Block((*before, If(test, body, orelse, span)))
        self.out, self.span = outer
        self.out += orelse.statements

    def written(self, statements: list[gast.stmt]) -> Block:
        return self.block(lambda: self.run(statements))

    def _enter(self, statement: gast.stmt) -> None:
        """Take up the place of a statement, and the names that its own expressions are about to bind."""
        if getattr(statement, "lineno", None) is not None:
            self.span = self.source.span(statement)
        if not +self.pending:
            parts = walk(*_heads(statement))
            self.pending = Counter(node.target.id for node in parts if isinstance(node, gast.NamedExpr))
        if not isinstance(statement, gast.ClassDef):  # what it holds is no part of this function
            self.refuse_asking(*_heads(statement))
        if isinstance(statement, gast.Assign) and any(
            isinstance(target, gast.Subscript) and isinstance(target.slice, gast.Slice) for target in statement.targets
        ):
            self.refuse_gone_over(statement.value, statement.value)  # a list takes the items

    def _assignment(self, target: gast.expr, value: gast.expr) -> None:
        match target:
            case gast.Tuple() | gast.List():
                self._unpack(target, value)
                return
            case gast.Subscript(value=gast.Attribute(attr="flat")):
                self.store_flat(target, value)
                return
            case gast.Subscript():
                self.store_item(target, value)
                return
            case gast.Attribute():
                self.store_field(target, value)
                return
            case gast.Name(id=name):
                pass
            case _:
                raise self.refuse(target, "a store into a container", "bind a name")
        is_known = self.scope.definition(name) is not None or self.scope.static(name) is not None
        if name in self.scope.locals and is_known:
            self.define_defaults(value)
            self._mark(name, value)
            return
        if not self.keep_view(name, value):
            self.bind(name, value)

    def _refuse_rebinding(self, target: gast.AST, name: str) -> NoReturn:
        raise self.refuse(
            target,
            f"{name!r} is bound to a function here, and to something else elsewhere",
            "give every function a name of its own, and choose between calls of them",
            label="a function under a name that is bound again",
        )

    def _unpack(self, target: gast.Tuple | gast.List, value: gast.expr) -> None:
        stars = [j for j, element in enumerate(target.elts) if isinstance(element, gast.Starred)]
        names = []
        for element in target.elts:
            inner = element.value if isinstance(element, gast.Starred) else element
            if not isinstance(inner, gast.Name):
                raise self.refuse(inner, "a store into a container", "bind a name")
            names.append(inner.id)
        # Of a name that is bound twice the last value is kept: what comes before has a name of its own.
        names = [self.fresh() if name in names[j + 1 :] else name for j, name in enumerate(names)]
        if self.is_pop(value):
            self.out.append(Pop(tuple(names), value.func.value.id, self.span))
            return
        value = self.consumed(self.taken_apart(value))
        source = self.value(value)
        if not isinstance(source, gast.Name):
            name = self.fresh()
            self.bind(name, value)
            source = load(name, value)
        self.out.append(Unpack(tuple(names), source.id, self.span, stars[0] if stars else None))

    def _augmented(self, statement: gast.AugAssign) -> None:
        target = statement.target
        if isinstance(target, gast.Subscript):
            if self.source.generated and isinstance(statement.op, gast.Add):
                self._add_at(statement, target.value, target.slice, statement.value)
            else:
                self.store_augmented(target, statement.op, statement.value)
            return
        if isinstance(target, gast.Attribute):
            self.store_field_augmented(target, statement.op, statement.value)
            return
        if self.source.is_shared(statement):
            value = statement.value
            if isinstance(statement.op, gast.Sub):
                value = placed(gast.UnaryOp(gast.USub(), value), target)
            self._add_at(statement, load(target.id, target), constant(..., target), value)
            return
        if self.pending[target.id]:  # its value binds the name again: what the name holds now is augmented
            held = self.fresh()
            self.sharing.shared |= {held, target.id}
            again = with_bodies(statement, target=store(held, target))
            self.run([assign(held, load(target.id, target), target), again, assign(target, load(held, target), target)])
            return
        operation = self.in_place(augmented(statement))
        if self.scope.static(target.id) is not None:
            self._refuse_rebinding(target, target.id)
        is_owned = self.source.generated or (self.sharing.owns(target.id) and target.id not in self.table.handed)
        if isinstance(operation, gast.BinOp):
            self.bind(target.id, operation, inplace=not is_owned, renewed=is_owned and not self.source.generated)
        else:
            self.bind(target.id, operation)

    @of_the_text
    def sharing(self) -> Sharing:
        return Sharing(self.scope, self.outputs)

    @of_the_text
    def sharing_of_objects(self) -> Sharing:
        return Sharing(self.scope, self.outputs, of_objects=True)

    def hand_on(self, node: gast.expr) -> None:
        for statement in self.open_statements:
            parts = expressions_of(statement)
            if isinstance(statement, gast.AugAssign) and any(part is node for part in walk(statement.value)):
                parts = [statement.value]  # what is added to the target is handed on, the sum is new
            self.table.handed |= names_of(parts)

    # --- local functions ---------------------------------------------------------------------------------------------
    def _define(self, statement: gast.FunctionDef) -> None:
        # What it captures is asked when it is called: by then the functions that it calls are defined as well.
        self.define_defaults(statement)
        self._mark(statement.name, statement)
        if self.scope.definition(statement.name) is None:
            static = Static(self.scope.function(statement.name, statement), None)
            self.emit(statement.name, *self.function_value(static, load(statement.name, statement)))

    def _mark(self, name: str, at: gast.AST) -> None:
        """Bind a mark to the name of a function or module that is known, where reads of it may come before."""
        if self.scope.is_marked(name):
            self.emit(name, constant(True, at), Fixed())

    def define_defaults(self, node: gast.AST) -> None:
        """Take the values of a local function's defaults now, as Python does."""
        if isinstance(node, gast.Call) and node.args and self.scope.static_of(node) is not None:
            self.define_defaults(node.args[0])  # of the function that a derivative is of
        if not isinstance(node, gast.FunctionDef | gast.Lambda):
            return
        arguments = node.args
        positional = [*arguments.posonlyargs, *arguments.args]
        pairs = list(zip(positional[len(positional) - len(arguments.defaults) :], arguments.defaults, strict=True))
        pairs += [(p, d) for p, d in zip(arguments.kwonlyargs, arguments.kw_defaults, strict=True) if d is not None]
        defaults = self.scope.defaults.setdefault(id(node), {})
        for parameter, default in pairs:
            static = self.scope.static_of(default)
            if static is not None:
                self.define_defaults(default)
                defaults[parameter.id] = static
                continue
            defaults[parameter.id] = atom = self.value(ordered(self, default))
            if not isinstance(atom, gast.Constant):
                name = self.fresh(f"{getattr(node, 'name', 'function')}_{parameter.id}")
                self.bind(name, atom)
                defaults[parameter.id] = Variable(self.scope, name)
                self.scope.find_again()

    # --- effects -----------------------------------------------------------------------------------------------------
    def _expression(self, statement: gast.Expr, value: gast.expr) -> None:
        match value:
            case gast.Constant():
                return
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name), attr="append"), args=[item]) if (
                name in self.lists or self.source.generated
            ):
                self.append(name, item)
                return
            case gast.Call(func=gast.Attribute(value=gast.Name(id=name))) if self.is_pop(value):
                self.out.append(Pop((self.fresh(),), name, self.span, tupled=False))
                return
            case gast.Call() if self.change(value):
                return
            case gast.Call():
                static = self.scope.static_of(value.func)
                if static is not None and self.source.generated and self.add_to_shadow(static.value, statement):
                    return
                known_later = static is None and not isinstance(value.func, gast.Attribute)
                is_users = static is not None and self._is_users(static.value)
                asks = self.calls_method(value) or self.makes_object(value)
                self._refuse_stores_by_operator(value)
                runs = static is not None and static.value is not print and self._runs_users(value)
                if is_users or known_later or asks or runs or self._hands(value):
                    self.bind(self.fresh(), value)
                    return
                if static is not None:
                    self.refuse_mutation(value, static.value)
                    if self._reads_library(static.value, value):
                        return
                self._refuse_unknown_effect(value)
            case gast.BinOp() | gast.UnaryOp() | gast.Compare() | gast.Subscript() | gast.List() | gast.Tuple():
                if self.makes_object(value) or self._runs_users(value):
                    self.bind(self.fresh(), value)  # what it asks an object may be asked of what that returns, in turn
                    return
        self._effect(statement)

    def _hands(self, node: gast.Call) -> bool:
        """Whether a call is given a function, which may store."""
        given = [*node.args, *(keyword.value for keyword in node.keywords)]
        statics = [self.scope.static_of(argument) for argument in given]
        return any(static is not None and self._is_users(static.value) for static in statics)

    def _runs_users(self, node: gast.expr) -> bool:
        """Whether an expression may run code of the user's, which may store."""
        for inner in walk(node):
            if isinstance(inner, gast.Lambda) or self.calls_method(inner):
                return True
            static = self.scope.static_of(inner) if isinstance(inner, gast.Name | gast.Attribute) else None
            if static is not None and self._is_users(static.value):
                return True
        return False

    def _refuse_stores_by_operator(self, node: gast.Call) -> None:
        """``operator.iadd(y, v)`` and ``operator.setitem(y, i, v)``, whose statements are followed."""
        static = self.scope.static_of(node.func)
        function = None if static is None else static.value
        if home_of(function) == "operator" and effects.of_function(function).updates:
            raise self.refuse(node, f"{spelled(node.func)} stores into what it is given", "write it as a statement")

    def _refuse_unknown_effect(self, node: gast.Call) -> None:
        """A call for its effect alone must be known not to change what it is given."""
        static = self.scope.static_of(node.func)
        if static is None or static.value is print or not any(
            isinstance(inner, gast.Name) and inner.id in self.scope.locals for inner in walk(*node.args)
        ):
            return
        if lookup(static.value) is None and not is_inert(static.value):
            home = str(getattr(static.value, "__module__", ""))
            if home.split(".")[0].lstrip("_") not in ("logging", "warnings", "time"):
                raise self.refuse(node, *unknown_effect(static.value, spelled(node.func)))

    def _is_users(self, function: object) -> bool:
        if isinstance(function, LocalFunction | Derived) or is_user_class(function):
            return True
        return as_python(function) is not None and lookup(function) is None and not is_inert(function)

    def _reads_library(self, function: object, node: gast.Call) -> bool:
        """Whether a call for its effect alone is of a library's function that can be read: then it is written out."""
        if as_library(function) is None or lookup(function) is not None or is_inert(function):
            return False
        before = len(self.out)
        self.bind(self.fresh(), node)
        last = self.out[-1]
        if isinstance(last, Bind) and isinstance(last.operation, Call):
            return True
        del self.out[before:]
        return False

    def _effect(self, statement: gast.stmt) -> None:
        fields = {name: getattr(statement, name, None) for name in statement._fields}
        made = placed(type(statement)(**fields), statement)
        for name in statement._fields:
            part = getattr(statement, name, None)
            if isinstance(part, gast.expr):
                if name == "msg" and self.needs_statements(part):
                    raise self.refuse(part, "a local function is called in the message of an assert", "call it before")
                setattr(made, name, self.settle(part))
        self.out.append(Effect(made, self.span))


def _heads(statement: gast.stmt) -> list[gast.AST]:
    """The expressions that a statement evaluates itself, not in its body."""
    match statement:
        case gast.If(test=test) | gast.While(test=test):
            return [test]
        case gast.For(iter=iterable):
            return [iterable]
        case gast.FunctionDef(args=arguments):
            return list(default_values(arguments))
        case gast.With(items=items):
            return list(items)
    return [statement]
