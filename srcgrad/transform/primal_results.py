"""The value that a statement of the tangent has just bound, before it is known which name holds it."""

from __future__ import annotations

import gast

from srcgrad import runtime
from srcgrad.rules.facts import Array, Fact
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.parse import walk
from srcgrad.transform.build import constant, load, method, subscript

RESULT = "<result>"


def naming_result(code: list[gast.stmt], name: str) -> list[gast.stmt]:
    """The same statements, in which the value just bound is called ``name``."""
    for node in walk(*code):
        if isinstance(node, gast.Name) and node.id == RESULT:
            node.id = name
    return code


def field_tangent(dot: str, name: str, *, shared: bool, held: Fact) -> gast.expr:
    """The tangent of a field in that of its object; one that the class may hold is zero until the object has it."""
    if shared:
        is_number = isinstance(held, Array) and held.scalar
        zero = constant(0.0) if is_number else call_runtime(runtime.zeros_like, load(RESULT))
        return method(dot, "get", constant(name), zero)
    return subscript(load(dot), constant(name))
