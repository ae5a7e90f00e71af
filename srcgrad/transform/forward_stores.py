"""Tangents of memory that is stored into: bound wherever the value is bound, as the value is, and stored into with it.

Enters: statements that bind names of a mutable class that moves (``analysis.moving``), or store into one.  Leaves: the
statements with their tangents, in which ``v_dot`` shares memory with ``w_dot`` exactly where v shares memory with w::

    y = np.sin(x)          y = np.sin(x);  y_dot = x_dot * np.cos(x)
    v = y[1:3]             v = y[1:3];     v_dot = y_dot[1:3]
    v[0] = a               v_dot[0] = a_dot;  v[0] = a
    y = np.zeros(n)        y = np.zeros(n);   y_dot = np.zeros_like(y)        a later store may make it vary
    rows.append(y)         rows.append(y);    rows_dot.append(y_dot)

A store of tangents comes first: it changes no value, so that places and keys are what they were.  Where a store may
raise what the program catches, the value comes first: where that raised, the tangent is what it was.
"""

from __future__ import annotations

from collections.abc import Callable

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.activity import atoms
from srcgrad.analysis.memory import is_immutable
from srcgrad.errors import InternalError
from srcgrad.ir.normal_form import (
    AddAt,
    Apply,
    AugStore,
    Bind,
    Call,
    Copy,
    Create,
    Delete,
    Exchange,
    Field,
    Fixed,
    Index,
    Pack,
    SetField,
    Statement,
    Store,
    Unruled,
)
from srcgrad.rules.facts import Array, Fact, Mapping, Sequence, Static, is_floating
from srcgrad.rules.formula import object_of
from srcgrad.rules.memory import CHANGES, MIRRORS, makes_new
from srcgrad.syntax.globals import GlobalReference, call_runtime
from srcgrad.syntax.marks import seen_elsewhere
from srcgrad.syntax.parse import clone, names_read, walk
from srcgrad.transform.apart import Outside, check_apart
from srcgrad.transform.build import add_in_place, assign, call, constant, index_value, load, method, subscript
from srcgrad.transform.forward_statements import StatementTangent, restated
from srcgrad.transform.operands import calls_to, is_local
from srcgrad.transform.primal_results import RESULT, field_tangent
from srcgrad.transform.shadows import may_be_users

Put = Callable[[gast.expr, gast.expr], gast.stmt]  # (place, tangent) -> the store of it

#: Functions whose result is a view whatever the layout of the array is.
VIEWS = frozenset(
    {
        np.transpose, np.swapaxes, np.moveaxis, np.expand_dims, np.squeeze, np.flip, np.fliplr, np.flipud, np.diagonal,
        np.matrix_transpose, np.atleast_1d, np.atleast_2d, np.atleast_3d, np.rollaxis, np.rot90,
    }
)  # fmt: skip


class MirroredTangent(StatementTangent):
    """Bindings and stores of names in ``mirrored``; all others as ``StatementTangent`` has them."""

    # --- bindings ----------------------------------------------------------------------------------------------------
    def _bind(self, statement: Bind) -> list[gast.stmt]:
        target, made = statement.target, statement.operation
        if isinstance(made, Exchange):
            return self._exchange(statement, made)
        if target not in self.mirrored:
            if isinstance(made, Call) and self._stores(made):
                return self._call(statement, made)
            return super()._bind(statement)
        if not self.tangents.moves(statement) and not isinstance(made, Pack | Create | Fixed):
            return [self._primal(statement), *self.zero(target, statement)]
        match made:
            case Apply():
                return self._apply(statement, made)
            case Call():
                kept, like = self._like_arguments(statement, made)
                return [*kept, *self._call(statement, made), *like]
            case Unruled(refusal=refusal):
                raise refusal
            case Fixed():
                return self._fixed(statement)
            case Copy(source=source):
                value = self.dot_of(load(source), statement)
            case Index(base=base, index=index):
                value = subscript(load(self.dot(base)), clone(index))
            case Field(base=base, name=name, shared=shared):
                value = field_tangent(self.dot(base), name, shared=shared, held=self.fact(target))
            case Pack():
                value = self._pack(made, statement)
            case Create():
                value = gast.Dict([], [])
        return self._around(statement, [assign(self.dot(target), value)])

    def _like_arguments(self, statement: Bind, made: Call) -> tuple[list[gast.stmt], list[gast.stmt]]:
        """What a callee returns may share memory with arguments, and its tangent with theirs: both, or neither.

        The statements before the call, where the result takes the name of an argument, and those after it.
        """
        target = statement.target
        given = [n for a in made.arguments for n in atoms(a) if self.tangents.varied(n, statement)]
        pairs = [(n, self.dot(n)) for n in dict.fromkeys(given)]
        kept: list[gast.stmt] = []
        if target in given:
            held = (self.fresh(target), self.fresh(f"{target}_dot"))
            kept = [assign(new, load(old)) for new, old in zip(held, (target, self.dot(target)), strict=True)]
            pairs = [held if n == target else (n, n_dot) for n, n_dot in pairs]
        if not pairs:
            return [], []
        dot = self.dot(target)
        known = [load(name) for pair in pairs for name in pair]
        return kept, [assign(dot, call_runtime(runtime.tangent_like, load(dot), load(target), *known))]

    def zero(self, name: str, binder: Bind | None = None) -> list[gast.stmt]:
        if name not in self.mirrored or isinstance(self.fact(name), Array | Static):
            return super().zero(name, binder)
        # What it contains twice, or in two views, has one tangent.
        return [assign(self.dot(name), call_runtime(runtime.entering, load(name)))]

    def _stores(self, made: Call) -> bool:
        """Whether a callee stores into something whose tangent is mirrored."""
        stored = self.calls.summary_of(made.callee, self.argument_facts(made)).stored
        return any(name in self.mirrored for j in stored for name in atoms(made.arguments[j]))

    def _fixed(self, statement: Bind) -> list[gast.stmt]:
        """A value without derivative: zero, in the memory of what it may be a view of."""
        target = statement.target
        code = [restated(statement), *self.zero(target, statement)]
        shown = [n for n in dict.fromkeys(names_read(statement.expression)) if n in self.mirrored and n != target]
        made = makes_new(object_of(getattr(statement.expression, "func", None)), _method_of(statement.expression))
        if shown and not made and not isinstance(statement.expression, gast.Compare):
            pairs = [load(name) for n in shown for name in (n, self.dot(n))]
            like = call_runtime(runtime.tangent_like, load(self.dot(target)), load(target), *pairs)
            code.append(assign(self.dot(target), like))
        return code

    def apart(self, value: gast.expr, statement: Bind, made: Apply) -> gast.expr:
        if statement.target not in self.mirrored:
            return super().apart(value, statement, made)
        if makes_new(made.function, _method_of(statement.expression)):
            if (copied := _copied_alike(value, statement.expression)) is not None:
                return copied
            if not _is_new(value) or _is_ordered(statement.expression):
                return call_runtime(runtime.fresh, value, load(RESULT))
            if self._is_vector(statement.target):
                return value
            # NumPy lays a result out as its operands are, whose tangents may lie otherwise than they do.
            return call_runtime(runtime.tangent_like, value, load(RESULT))
        shown = [n for a in made.arguments.values() for n in atoms(a) if n in self.mirrored]
        if made.function in MIRRORS:
            return value
        first = next(iter(made.arguments.values()))
        if made.function in VIEWS and len(shown) == 1 and isinstance(self.fact_of(first), Array):
            return value
        pairs = [load(name) for n in dict.fromkeys(shown) for name in (n, self.dot(n))]
        return call_runtime(runtime.tangent_like, value, load(RESULT), *pairs)

    def _is_vector(self, name: str) -> bool:
        """Whether a name is known to hold a number or an array of one axis, which has one layout if it is new."""
        fact = self.fact(name)
        return isinstance(fact, Array) and (fact.scalar or fact.shape is not None and len(fact.shape) < 2)

    # --- stores ------------------------------------------------------------------------------------------------------
    def _store(self, statement: Store) -> list[gast.stmt]:
        base = statement.base
        if base not in self.mirrored:
            return [restated(statement)]
        value = self._stored(statement.value, base, statement)
        return self._beside(statement, statement.index, value, lambda i, g: self._put(base, i, g))

    def _stored(self, atom: gast.expr, base: str, statement: Store | AugStore) -> gast.expr:
        """The tangent of what is stored; integers hold none."""
        fact = self.fact(base)
        if _is_floating_array(fact):
            varies = any(self.tangents.varied(name, statement) for name in atoms(atom))
            value = self.dot_of(atom, statement) if varies else constant(0.0)
            is_array = not varies or isinstance(self.fact_of(atom), Array)
            return value if is_array else call_runtime(runtime.stored, value, load(base))
        value = self.dot_of(atom, statement)
        if isinstance(fact, Sequence | Mapping):
            return value
        return call_runtime(runtime.stored, value, load(base))

    def _aug_store(self, statement: AugStore) -> list[gast.stmt]:
        base, operator = statement.base, statement.operator
        if base not in self.mirrored:
            return [restated(statement)]
        if not isinstance(operator, gast.Add | gast.Sub):
            raise InternalError("an augmented store was not taken apart", statement.span)
        if not any(self.tangents.varied(name, statement) for name in atoms(statement.value)):
            return [restated(statement)]
        value = self._stored(statement.value, base, statement)
        return self._beside(
            statement, statement.index, value, lambda i, g: seen_elsewhere(_augmented(self._put(base, i, g), operator))
        )

    def _put(self, base: str, index: gast.expr, value: gast.expr) -> gast.Assign:
        return gast.Assign([gast.Subscript(load(self.dot(base)), index, gast.Store())], value, None)

    def _beside(self, statement: Statement, index: gast.expr, value: gast.expr, put: Put) -> list[gast.stmt]:
        if self.attempted:
            return self._value_first(restated(statement), index, value, put)
        return [put(clone(index), value), restated(statement)]

    def _value_first(self, primal: gast.stmt, index: gast.expr, value: gast.expr, put: Put) -> list[gast.stmt]:
        """A store that may raise, which is caught: the tangent, and the place, are those of before it.

        Any array that the place is read of may be stored into here: two arguments may show one memory.
        """
        code: list[gast.stmt] = []
        index = self._settled(index, code)
        if not isinstance(value, gast.Name | gast.Constant):
            held = self.fresh("moved")
            code.append(assign(held, value))
            value = load(held)
        return [*code, primal, put(index, value)]

    def _settled(self, index: gast.expr, code: list[gast.stmt]) -> gast.expr:
        """An index whose parts are read once, by ``code``, and stay as they are."""
        match index:
            case gast.Tuple(elts=elements):
                return gast.Tuple([self._settled(e, code) for e in elements], gast.Load())
            case gast.Slice(lower=lower, upper=upper, step=step):
                return gast.Slice(*(None if e is None else self._settled(e, code) for e in (lower, upper, step)))
        if not any(is_local(name) and not is_immutable(self.fact(name.id)) for name in walk(index)):
            return clone(index)
        place = self.fresh("place")
        code.append(assign(place, call_runtime(runtime.snapshot, clone(index))))
        return load(place)

    def _add_at(self, statement: AddAt) -> list[gast.stmt]:
        buffer, index = statement.buffer, statement.index
        lasts = not may_be_users(statement) or _is_floating_array(self.fact(buffer))  # else integers may be added to
        primal = self._added(statement, buffer, index, clone(statement.value))
        if not lasts or statement.shared and statement.function is None:
            primal = restated(statement)  # which raises what it raises
        if not (self.tangents.needed_after(buffer, statement) and self.tangents.moves(statement)):
            return [primal]
        value = self.dot_of(statement.value, statement)
        if not lasts:
            value = call_runtime(runtime.stored, value, load(buffer))
        if self.attempted:
            return self._value_first(primal, index, value, lambda i, g: self._added(statement, self.dot(buffer), i, g))
        code = [primal, self._added(statement, self.dot(buffer), index, value)]
        if not all(self._is_number(name) for name in names_read(index)):
            code.reverse()  # where the place is read of what is added to, it is the one before that
        return code

    def _is_number(self, name: str) -> bool:
        fact = self.fact(name)
        return isinstance(fact, Array) and fact.shape == ()

    def _added(self, statement: AddAt, buffer: str, index: gast.expr, value: gast.expr) -> gast.stmt:
        """``buffer[index] += value``, of the buffer of the statement or of its tangent."""
        fact = self.fact(statement.buffer)
        if isinstance(fact, Array) and not fact.scalar and fact.shape and self._is_basic(index):
            code: gast.stmt = add_in_place(subscript(load(buffer), clone(index)), value)
        elif isinstance(index, gast.Constant) and index.value is ...:
            code = gast.Expr(call_runtime(runtime.accumulate, load(buffer), value))
        else:
            code = gast.Expr(call_runtime(runtime.add_at, load(buffer), index_value(index), value))
        return seen_elsewhere(code) if statement.shared or statement.buffer in self.mirrored else code

    def _is_basic(self, index: gast.expr) -> bool:
        """Whether no element is met twice: integers and slices only."""
        parts = index.elts if isinstance(index, gast.Tuple) else [index]
        return all(_is_slice(part) or self._is_integer(part) for part in parts)

    def _is_integer(self, part: gast.expr) -> bool:
        match part:
            case gast.BinOp(left=left, right=right):
                return self._is_integer(left) and self._is_integer(right)
            case gast.UnaryOp(op=gast.USub(), operand=operand):
                return self._is_integer(operand)
            case gast.Constant(value=value):
                return type(value) is int
        fact = self.fact(part.id) if is_local(part) else None
        return isinstance(fact, Array) and fact.shape == () and (fact.dtype or "").startswith(("int", "uint"))

    def _set_field(self, statement: SetField) -> list[gast.stmt]:
        if statement.base not in self.mirrored:
            return [restated(statement)]
        value, base = self.dot_of(statement.value, statement), statement.base
        return self._beside(statement, constant(statement.name), value, lambda i, g: self._put(base, i, g))

    def _delete(self, statement: Delete) -> list[gast.stmt]:
        if statement.base not in self.mirrored:
            return [restated(statement)]
        index = constant(statement.name) if statement.index is None else clone(statement.index)
        target = gast.Subscript(load(self.dot(statement.base)), index, gast.Del())
        code = [gast.Delete([target]), restated(statement)]
        return code[::-1] if self.attempted else code

    # --- methods of containers ---------------------------------------------------------------------------------------
    def _exchange(self, statement: Bind, made: Exchange) -> list[gast.stmt]:
        """The same method of the tangent, with the tangents of what is put in."""
        target, base = statement.target, made.base
        if base not in self.mirrored:
            needed = self.tangents.needed_after(target, statement)
            return [restated(statement), *(self.zero(target, statement) if needed else [])]
        dot = self.dot(base)
        if object_of(getattr(statement.expression, "func", None)) in CHANGES:
            given = [
                self.dot_of(argument, statement) if j in made.held else clone(argument)
                for j, argument in enumerate(made.arguments)
            ]
            return [restated(statement), gast.Expr(gast.Call(clone(statement.expression.func), given, []))]
        match made.method:
            case "remove":
                place = method(base, "index", *map(clone, made.arguments))
                code: list[gast.stmt] = [gast.Delete([gast.Subscript(load(dot), place, gast.Del())])]
            case "sort":
                order = call_runtime(runtime.argsorted, load(base), *map(clone, made.arguments))
                items = call_runtime(runtime.gather, load(dot), order)
                everything = gast.Subscript(load(dot), gast.Slice(None, None, None), gast.Store())
                code = [gast.Assign([everything], items, None)]
            case _:
                arguments = [
                    self.dot_of(argument, statement) if j in made.held else clone(argument)
                    for j, argument in enumerate(made.arguments)
                ]
                value = method(dot, made.method, *arguments)
                code = [assign(self.dot(target), value)]
        if made.method in ("remove", "sort") and self.tangents.needed_after(target, statement):
            return [*code, restated(statement), assign(self.dot(target), constant(None))]
        return [*code, restated(statement)]

    # --- the entry ---------------------------------------------------------------------------------------------------
    def entered(self, active: list[str], stored: list[str], outside: Outside | None) -> list[gast.stmt]:
        """Arguments at the door: what is ``stored`` into is copied, with tangents of the same layout; ``outside``
        tells what is read there."""
        code: list[gast.stmt] = []
        if stored:
            assert outside is not None
            apart = check_apart(self.function, stored, lambda name: is_immutable(self.fact(name)), outside)
            code += [] if apart is None else [apart]
            copies = call_runtime(runtime.private, *map(load, stored))
            targets = [gast.Name(name, gast.Store(), None, None) for name in stored]
            target = targets[0] if len(targets) == 1 else gast.Tuple(targets, gast.Store())
            code.append(gast.Assign([target], copies, None))
        for name in stored:
            if name in active and name in self.mirrored:
                own = call_runtime(runtime.entering, load(name), load(self.dot(name)))
                code.append(assign(self.dot(name), own))
        return code

    def zero_at_entry(self, parameter: str) -> list[gast.stmt]:
        """The tangent of a parameter that is not differentiated."""
        if parameter in self.mirrored and not _is_floating_array(self.fact(parameter)):
            # Of an argument with gaps the zeros have gaps too.
            return [assign(self.dot(parameter), call_runtime(runtime.entering, load(parameter)))]
        return self.zero(parameter)


def _is_floating_array(fact: Fact) -> bool:
    return isinstance(fact, Array) and not fact.scalar and fact.shape != () and is_floating(fact.dtype)


def _is_slice(part: gast.expr) -> bool:
    return isinstance(part, gast.Slice) or (isinstance(part, gast.Call) and calls_to(part, slice))


def _augmented(stored: gast.Assign, operator: gast.operator) -> gast.AugAssign:
    return gast.AugAssign(stored.targets[0], type(operator)(), stored.value)


def _method_of(expression: gast.expr) -> str | None:
    """The name of the method that an expression calls, if it is none of a module."""
    match expression:
        case gast.Call(func=gast.Attribute(attr=name) as function) if object_of(function) is None:
            return str(name)
    return None


def _copied_alike(value: gast.expr, primal: gast.expr) -> gast.expr | None:
    """``x_dot.copy()`` for ``np.copy(x_dot)`` where the primal is ``x.copy()``: the method copies to C order, and views
    of the two must show the same places."""
    match primal, value:
        case gast.Call(args=[], keywords=[]), gast.Call(func=function, args=[copied], keywords=[]):
            if _method_of(primal) == "copy" and object_of(function) is np.copy:
                return call(gast.Attribute(copied, "copy", gast.Load()))
    return None


def _is_ordered(primal: gast.expr) -> bool:
    """Whether a call says in which order its result lies."""
    match primal:
        case gast.Call(func=function, args=arguments, keywords=keywords):
            operands = 1 if object_of(function) is np.copy else 0 if _method_of(primal) == "copy" else len(arguments)
            return len(arguments) > operands or any(keyword.arg == "order" for keyword in keywords)
    return False


def _is_new(value: gast.expr) -> bool:
    """Whether the value of an expression surely has memory of its own, whatever its operands are."""
    match value:
        case gast.BinOp() | gast.UnaryOp(op=gast.USub()):
            return True
        case gast.Call(func=function):
            called = object_of(function)
            return not isinstance(function, GlobalReference | gast.Attribute) or makes_new(called)
    return False
