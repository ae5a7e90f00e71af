"""A slice put in place: inlined among the caller's statements, or compiled into a function by itself."""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import gast

from srcgrad.rules.casting import Given
from srcgrad.rules.formula import literal
from srcgrad.rules.rewriting import item, plain, read, rebuilt, substituted
from srcgrad.rules.slicing import Slice
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import names_bound

if TYPE_CHECKING:
    from srcgrad.rules.template import Rule


def inline(
    piece: Slice, binding: Mapping[str, gast.expr], fresh: Callable[[str], str]
) -> tuple[list[gast.stmt], dict[str, gast.expr]]:
    """The slice with the caller's expressions for its parameters and fresh names for its locals."""
    known: dict[str, gast.expr] = dict(binding)
    unrolled = any(isinstance(given, gast.Tuple) for given in binding.values())

    def put(value: gast.expr) -> gast.expr:
        made: gast.expr = substituted(value, known)
        return plain(made) if unrolled else made

    for name in piece.bound:
        known[name] = read(fresh(name))
    statements: list[gast.stmt] = []
    for statement in piece.body:
        local = statement.targets[0].id
        for name in sorted(names_bound(statement.value)):
            known.setdefault(name, read(fresh(name)))
        value = put(statement.value)
        known[local] = read(fresh(local))
        statements.append(gast.Assign([gast.Name(known[local].id, gast.Store(), None, None)], value, None))
    return statements, {p: put(value) for p, value in piece.values.items()}


def operands(rule: Rule, given: Given, count: int | None) -> Given:
    """Names for the arguments of a compiled slice; literals stay, a variadic tuple of known length is unrolled."""
    display = given.get(rule.variadic) if isinstance(given, Mapping) and rule.variadic else None
    if isinstance(display, gast.Tuple):
        count = len(display.elts)
    if not isinstance(given, Mapping) and (rule.variadic not in given or count is None):
        return frozenset(given)
    made: dict[str, gast.expr] = {}
    for p in given:
        if p == rule.variadic and rule.variadic is not None and count is not None:
            made[p] = gast.Tuple([item(rule.variadic, i) for i in range(count)], gast.Load())
        else:
            made[p] = given[p] if isinstance(given, Mapping) and literal(given[p])[0] else read(p)
    return made


def callable_of(piece: Slice, parameters: list[str], values: list[str], name: str) -> Callable[..., Any]:
    """A slice as a Python function of ``parameters``: the tuple of ``values``, or the one value of a tangent."""
    namespace: dict[str, object] = {}
    seen: dict[int, str] = {}

    def change(node: gast.AST) -> gast.expr | None:
        if isinstance(node, GlobalReference):
            key = id(node.binding.value)
            if key not in seen:
                seen[key] = f"global_{len(seen)}"
                namespace[seen[key]] = node.binding.value
            return read(seen[key])
        return None

    body: list[gast.stmt] = [rebuilt(statement, change) for statement in piece.body]
    results = [rebuilt(piece.values[value], change) for value in values]
    is_tangent = values[0].endswith("_dot") and len(values) == 1
    body.append(gast.Return(results[0] if is_tangent else gast.Tuple(results, gast.Load())))
    arguments = gast.arguments([gast.Name(p, gast.Param(), None, None) for p in parameters], [], None, [], [], None, [])
    module = gast.Module([gast.FunctionDef(name, arguments, body, [], None, None, [])], [])
    tree = gast.gast_to_ast(module)
    exec(compile(ast.fix_missing_locations(tree), f"<{name}>", "exec"), namespace)
    return namespace[name]  # type: ignore[return-value]
