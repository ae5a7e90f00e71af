"""Which expressions and statements of the body of a ``try`` may raise, as far as their text tells.

Enters: nodes.  Leaves: yes or no; where the text does not tell, yes.
"""

from __future__ import annotations

import builtins
import warnings
from collections.abc import Callable, Sequence
from typing import Any

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.frontend.desugar.build import assign, load, placed, with_bodies
from srcgrad.language import effects
from srcgrad.syntax.globals import GlobalBinding, GlobalReference, builtin, of_runtime, reference
from srcgrad.syntax.parse import walk

_LOOPS = effects.returning(dict, "view") | {"range", "enumerate", "zip", "reversed"}
_WRITES = frozenset({"write", "writelines"})
_INDIFFERENT = (np.errstate, warnings.catch_warnings, runtime.StopsGradients)
IN_PLACE = of_runtime(runtime.raised_in_place)


def may_raise(value: gast.expr) -> bool:
    """Whether evaluating an expression may raise, names that are not bound aside."""
    match value:
        case gast.Constant() | gast.Name():
            return False
        case gast.Lambda(args=arguments):
            return defaults_may_raise(arguments)
        case gast.Tuple(elts=elements) | gast.List(elts=elements):
            return any(may_raise(element) for element in elements)
        case gast.Compare(left=left, ops=[gast.Is() | gast.IsNot()], comparators=[right]):
            return may_raise(left) or may_raise(right)
        case gast.UnaryOp(op=gast.Not(), operand=operand):
            return test_may_raise(operand)
        case gast.UnaryOp(op=gast.USub(), operand=gast.Constant(value=int() | float() | complex())):
            return False
        case gast.BoolOp(values=[*tested, last]):
            return any(map(test_may_raise, tested)) or may_raise(last)
        case gast.Call(func=function) if is_ours(function, IN_PLACE, builtin("isinstance")):
            return False  # asked of what was raised
    return True


def defaults_may_raise(arguments: gast.arguments) -> bool:
    """Whether defining a function may raise: its defaults are evaluated then."""
    defaults = (*arguments.defaults, *arguments.kw_defaults)
    return any(may_raise(default) for default in defaults if default is not None)


def test_may_raise(value: gast.expr) -> bool:
    """Whether evaluating an expression and asking whether it is true may raise: an array has no truth value."""
    return may_raise(value) or not is_truth(value)


def is_truth(value: gast.expr) -> bool:
    """Whether an expression's value is True, False, or a constant, as its text tells."""
    match value:
        case gast.Constant() | gast.UnaryOp(op=gast.Not()) | gast.Compare(ops=[gast.Is() | gast.IsNot()]):
            return True
        case gast.BoolOp(values=values):
            return all(map(is_truth, values))
        case gast.Call(func=function):
            return is_ours(function, IN_PLACE, builtin("isinstance"), builtin("bool"))
    return False


def is_plain(statement: gast.AugAssign) -> bool:
    """Whether this augments a name by what is there already."""
    return isinstance(statement.target, gast.Name) and not may_raise(statement.value)


def is_ours(function: gast.expr, *bindings: GlobalBinding) -> bool:
    """Whether a ``try`` that is taken apart calls one of these here: what a user writes is a plain name still."""
    return isinstance(function, GlobalReference) and any(function.binding.value is b.value for b in bindings)


def is_everything(kind: gast.expr) -> bool:
    return isinstance(kind, GlobalReference) and kind.binding.value is BaseException


def writes(value: gast.expr) -> bool:
    """Whether this writes to a file, which is no expression to be attempted."""
    match value:
        case gast.Call(func=gast.Attribute(attr=attr)):
            return attr in _WRITES
    return False


def waits(part: gast.AST) -> bool:
    """Whether something in here would bind a name, or wait; starred arguments of calls are no such."""
    return any(isinstance(node, gast.NamedExpr | gast.Yield | gast.Await) for node in walk(part))


def indifferent(manager: gast.expr, meaning: Callable[[str], object]) -> tuple[Any, dict[str, gast.expr]] | None:
    """The class and the options of a context manager that does the same whether its body raises or not; None of any
    other, and of one whose options may raise when they are evaluated."""

    def meant(name: gast.Name) -> object:
        return name.binding.value if isinstance(name, GlobalReference) else meaning(name.id)

    match manager:
        case gast.Call(func=gast.Name() as name, args=[], keywords=keywords):
            kind = meant(name)
        case gast.Call(func=gast.Attribute(value=gast.Name() as name, attr=attr), args=[], keywords=keywords):
            kind = getattr(meant(name), attr, None)
        case _:
            return None
    options = {keyword.arg: keyword.value for keyword in keywords}
    if not isinstance(kind, type) or not issubclass(kind, _INDIFFERENT) or None in options:
        return None
    return None if any(map(may_raise, options.values())) else (kind, options)


def is_silent(kind: Any, options: dict[str, gast.expr]) -> bool:
    """Whether making, entering and leaving such a manager raises nothing, as the constants among its options tell."""
    if not all(isinstance(value, gast.Constant) for value in options.values()):
        return False
    try:
        with kind(**{name: value.value for name, value in options.items()}):
            return True
    except Exception:
        return False


def is_known_iterable(node: gast.expr) -> bool:
    match node:
        case gast.Name():
            return True
        case gast.Call(func=gast.Name(id=name) | gast.Attribute(attr=name)):
            return name in _LOOPS
    return not may_raise(node)


def header_with_names(
    node: gast.expr, caught: Sequence[gast.expr], fresh: Callable[[str], str]
) -> tuple[list[gast.stmt], gast.expr]:
    """What a loop goes over, with names for the arguments whose evaluation may raise what is caught::

        for v in zip(rows(n), x):    ->    t = rows(n)
                                           for v in zip(t, x):
    """
    made: list[gast.stmt] = []

    def named(part: gast.expr, is_whole: bool = False) -> gast.expr:
        has_step = is_whole or not may_have_no_step(part) or not may_catch(ValueError, caught)
        match part:
            case gast.Starred(value=value):
                return placed(gast.Starred(named(value), gast.Load()), part)
            case gast.Call(func=func, args=arguments, keywords=keywords) if is_known_iterable(part) and has_step:
                if isinstance(func, gast.Attribute):
                    func = placed(gast.Attribute(named(func.value), func.attr, gast.Load()), func)
                given = [placed(gast.keyword(k.arg, named(k.value)), k.value) for k in keywords]
                return placed(gast.Call(func, [named(a) for a in arguments], given), part)
        if not may_raise(part) or waits(part):
            return part
        name = fresh("t")
        made.append(assign(name, part, part))
        return load(name, part)

    return made, named(node, True) if isinstance(node, gast.Call) and is_known_iterable(node) else node


def is_count(node: gast.AST | None) -> bool:
    """Whether this computes a number from lengths and shapes, as ``len(x) - 1``; of arrays and of Python's containers
    it raises ``RAISED_BY_COUNTS`` alone."""
    match node:
        case gast.BinOp(left=left, op=gast.Add() | gast.Sub() | gast.Mult(), right=right):
            return is_count(left) and is_count(right)
        case gast.Call(func=gast.Name(id="len"), args=[gast.Name()]) | gast.Attribute(value=gast.Name(), attr="size"):
            return True
        case gast.Subscript(value=gast.Attribute(value=gast.Name(), attr="shape"), slice=gast.Constant()):
            return True
        case gast.Constant():
            return True
    return False


RAISED_BY_COUNTS = (TypeError, AttributeError, IndexError)


def may_have_no_step(node: gast.expr) -> bool:
    """Whether this is a range whose step may be 0, which raises a ValueError."""
    match node:
        case gast.Call(func=gast.Name(id="range"), args=[_, _, step]):
            step = step.operand if isinstance(step, gast.UnaryOp) and isinstance(step.op, gast.USub) else step
            return not isinstance(step, gast.Constant) or step.value == 0
    return False


def may_differ_in_length(node: gast.AST) -> bool:
    """Whether this is a ``zip`` that raises a ValueError where one of what it goes over ends before another."""
    match node:
        case gast.Call(func=gast.Name(id="zip"), keywords=[_, *_] as keywords):
            return any(not isinstance(k.value, gast.Constant) or bool(k.value.value) for k in keywords)
    return False


def are_pairs(node: gast.expr) -> bool:
    """Whether this is a list or tuple of pairs whose keys are constants, of which a dict is made."""
    match node:
        case gast.List(elts=elements) | gast.Tuple(elts=elements):
            return all(isinstance(each, gast.Tuple) and len(each.elts) == 2 and isinstance(each.elts[0], gast.Constant)
                       for each in elements)  # fmt: skip
    return False


def iterated_by(node: gast.expr, meaning: Callable[[str], object]) -> list[gast.expr]:
    """A built-in function, and the names and constants that are given to it, where a loop begins with calling it;
    ``meaning`` tells what a name means that the function binds nowhere."""
    match node:
        case gast.Name() | gast.Constant():
            return [reference(builtin("iter")), node]
        case gast.Call(func=gast.Name(id=name), args=given):
            plain = [part for part in given if isinstance(part, gast.Name | gast.Constant)]
            called = meaning(name)
            if called is zip or called is enumerate:
                return [reference(builtin("iter")), *(plain if called is zip else plain[:1])]
            if (called is range or called is reversed) and len(plain) == len(given):
                return [reference(builtin(name)), *plain]
    return []


def may_catch(raised: type[BaseException], kinds: Sequence[gast.expr]) -> bool:
    """Whether handlers of these kinds may catch an exception of a class."""
    for kind in kinds:
        value = kind.binding.value if isinstance(kind, GlobalReference) else None
        if isinstance(kind, gast.Name):
            value = getattr(builtins, kind.id, None)
        if not isinstance(value, type) or issubclass(raised, value):
            return True
    return False


def reraising(body: Sequence[gast.stmt], raised: str) -> list[gast.stmt]:
    """A handler's body with ``raise`` alone as a raise of what was caught.  That of a last block stays: what it raises
    depends on how the block was reached.  So does that of a handler inside, which raises what that one caught."""

    def again(inner: Sequence[gast.stmt]) -> list[gast.stmt]:
        return reraising(inner, raised)

    made: list[gast.stmt] = []
    for statement in body:
        match statement:
            case gast.Raise(exc=None):
                statement = placed(gast.Raise(load(raised, statement), None), statement)
            case gast.If() | gast.For() | gast.While() | gast.Try():
                statement = with_bodies(statement, body=again(statement.body), orelse=again(statement.orelse))
            case gast.With():
                statement = with_bodies(statement, body=again(statement.body))
            case gast.Match(cases=cases):
                cases = [placed(gast.match_case(c.pattern, c.guard, again(c.body)), c.pattern) for c in cases]
                statement = with_bodies(statement, cases=cases)
        made.append(statement)
    return made
