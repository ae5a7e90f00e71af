"""Which memory the tangent of a result has: memory of its own, or that of tangents of operands.

Enters: the tangent of an operation that a rule knows, and its ``Bind``.  Leaves: the same tangent, copied, or made a
view where the value is one, so that ``v_dot`` shares memory with ``w_dot`` where v shares memory with w::

    v = x.T                v_dot = x_dot.T
    v = np.copy(x)         v_dot = np.copy(x_dot)
    v = np.ravel(x)        v_dot = tangent_like(np.ravel(x_dot), v, x, x_dot)      a view, or a copy, as v is
"""

from __future__ import annotations

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.activity import atoms, inputs
from srcgrad.ir.normal_form import Apply, Bind
from srcgrad.language.effects import is_of_emitted
from srcgrad.rules.facts import Array
from srcgrad.rules.formula import object_of
from srcgrad.rules.memory import MIRRORS, VIEWS, makes_new
from srcgrad.syntax.globals import GlobalReference, call_runtime
from srcgrad.transform.build import call, load
from srcgrad.transform.operands import calls_to
from srcgrad.transform.primal_results import RESULT
from srcgrad.transform.tangent_sweep import TangentSweep


def apart(sweep: TangentSweep, value: gast.expr, statement: Bind, made: Apply) -> gast.expr:
    """A tangent that shares memory with others as its value does, where that may matter."""
    if statement.target not in sweep.mirrored:
        if isinstance(value, gast.Tuple):  # of several results
            value.elts = [
                call_runtime(runtime.own, part) if _may_share(sweep, part, statement, made) else part
                for part in value.elts
            ]
            return value
        return call_runtime(runtime.own, value) if _may_share(sweep, value, statement, made) else value
    if makes_new(made.function, method_of(statement.expression)):
        if (copied := _copied_alike(value, statement.expression)) is not None:
            return copied
        if not _is_new(value) or _is_ordered(statement.expression):
            return call_runtime(runtime.fresh, value, load(RESULT))
        if _is_vector(sweep, statement.target):
            return value
        # NumPy lays a result out as its operands are, whose tangents may lie otherwise than they do.
        return call_runtime(runtime.tangent_like, value, load(RESULT))
    shown = [n for a in made.arguments.values() for n in atoms(a) if n in sweep.mirrored]
    if made.function in MIRRORS or made.function is runtime.as_list:  # whose items are those of the operand
        return value
    first = next(iter(made.arguments.values()))
    if made.function in VIEWS and len(shown) == 1 and isinstance(sweep.fact_of(first), Array):
        return value
    pairs = [load(name) for n in dict.fromkeys(shown) for name in (n, sweep.dot(n))]
    return call_runtime(runtime.tangent_like, value, load(RESULT), *pairs)


def _may_share(sweep: TangentSweep, value: gast.expr, statement: Bind, made: Apply) -> bool:
    """Whether a tangent may be a second name for one that is added to in place, where the values are two: the tangent
    of a number may be that of an array without axes."""
    while isinstance(value, gast.Call) and calls_to(value, runtime.rebroadcast):
        value = value.args[0]
    if not isinstance(value, gast.Name) and not (_hands_on(value) and makes_new(made.function)):
        return False
    facts = [sweep.fact(name) for name in inputs(statement)]
    if all(isinstance(fact, Array) and fact.scalar for fact in facts):
        return False
    changing = sweep.tangents.buffers | sweep.mirrored | sweep.beside
    return any(n in changing for n in (statement.target, *inputs(statement)))


def _hands_on(value: gast.expr) -> bool:
    """Whether the value of an expression is that of a function of ours, which may return its operand."""
    return isinstance(value, gast.Call) and is_of_emitted(object_of(value.func)) and not _is_new(value)


def _is_vector(sweep: TangentSweep, name: str) -> bool:
    """Whether a name is known to hold a number or an array of one axis, which has one layout if it is new."""
    fact = sweep.fact(name)
    return isinstance(fact, Array) and (fact.scalar or fact.shape is not None and len(fact.shape) == 1)


def method_of(expression: gast.expr) -> str | None:
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
            if method_of(primal) == "copy" and object_of(function) is np.copy:
                return call(gast.Attribute(copied, "copy", gast.Load()))
    return None


def _is_ordered(primal: gast.expr) -> bool:
    """Whether a call says in which order its result lies."""
    match primal:
        case gast.Call(func=function, args=arguments, keywords=keywords):
            operands = 1 if object_of(function) is np.copy else 0 if method_of(primal) == "copy" else len(arguments)
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
