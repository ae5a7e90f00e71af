"""The few tree shapes that derivative programs are made of."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import gast
import numpy as np

from srcgrad.rules.rewriting import rebuilt
from srcgrad.syntax.bindings import GlobalBinding
from srcgrad.syntax.globals import LOAD, STORE, reference
from srcgrad.syntax.parse import clone


def load(name: str) -> gast.Name:
    return gast.Name(name, LOAD, None, None)


def store(name: str) -> gast.Name:
    return gast.Name(name, STORE, None, None)


def constant(value: object) -> gast.expr:
    return gast.Constant(value, None)


def tuple_of(elements: list[gast.expr]) -> gast.expr:
    return gast.Tuple(elements, gast.Load())


def assign(name: str, value: gast.expr) -> gast.stmt:
    return gast.Assign([store(name)], value, None)


def unpack(names: list[str], value: gast.expr) -> gast.stmt:
    return gast.Assign([gast.Tuple([store(n) for n in names], gast.Store())], value, None)


def call(function: gast.expr, *arguments: gast.expr) -> gast.Call:
    return gast.Call(function, list(arguments), [])


def method(name: str, attribute: str, *arguments: gast.expr) -> gast.Call:
    return call(gast.Attribute(load(name), attribute, gast.Load()), *arguments)


def subscript(value: gast.expr, index: gast.expr) -> gast.Subscript:
    return gast.Subscript(value, index, gast.Load())


def add_in_place(target: gast.Subscript, value: gast.expr) -> gast.stmt:
    target.ctx = gast.Store()
    return gast.AugAssign(target, gast.Add(), value)


def numpy_call(name: str, *arguments: gast.expr) -> gast.Call:
    module = reference(GlobalBinding("np", np, "numpy", None, None))
    return call(gast.Attribute(module, name, gast.Load()), *arguments)


def is_array(value: gast.expr) -> gast.expr:
    """``isinstance(value, np.ndarray)``."""
    module = reference(GlobalBinding("np", np, "numpy", None, None))
    return builtin_call(isinstance, value, gast.Attribute(module, "ndarray", gast.Load()))


def builtin_call(function: Callable[..., object], *arguments: gast.expr) -> gast.Call:
    name = function.__name__
    return call(reference(GlobalBinding(name, function, "builtins", name, None)), *arguments)


def index_value(index: gast.expr) -> gast.expr:
    """An index as an argument of a call: ``1:`` is ``slice(1, None)`` there."""
    match index:
        case gast.Tuple(elts=parts):
            return tuple_of([index_value(part) for part in parts])
        case gast.Slice(lower=lower, upper=upper, step=step):
            bounds = [constant(None) if bound is None else clone(bound) for bound in (lower, upper, step)]
            return builtin_call(slice, *(bounds if step is not None else bounds[:2]))
    return clone(index)


def minus_lists(value: gast.expr, dots: Sequence[gast.expr]) -> gast.expr:
    """A tangent whose minus signs before these tangents are understood by NumPy: they may be lists, which have none."""
    names = {dot.id for dot in dots if isinstance(dot, gast.Name)}

    def negated(node: gast.AST) -> bool:
        is_minus = isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.USub)
        return is_minus and getattr(node.operand, "id", "") in names

    def change(node: gast.AST) -> gast.expr | None:
        match node:
            case gast.BinOp(left=left, op=gast.Add(), right=right) if negated(right):
                return gast.BinOp(rebuilt(left, change), gast.Sub(), right.operand)
            case gast.UnaryOp() if negated(node):
                return numpy_call("negative", node.operand)
        return None

    made: gast.expr = rebuilt(value, change)
    return made


def sum_by_numpy(value: gast.expr) -> gast.expr:
    """A tangent that is a sum or a difference, as NumPy takes it: of a list and a number, too."""
    match value:
        case gast.BinOp(left=left, op=gast.Add() | gast.Sub() as op, right=right):
            return numpy_call("add" if isinstance(op, gast.Add) else "subtract", left, right)
    return value
