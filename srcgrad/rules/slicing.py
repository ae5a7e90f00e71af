"""Cutting a template down to what a call needs, and putting it in place.

Enters: a ``Formula``, the wanted partials, the arguments given at the call.  Leaves: a ``Slice`` without parameters that
were not given (their defaults stand there), pruned to the statements that the wanted values need; ``inline`` renames
its locals and substitutes the caller's expressions.
"""

from __future__ import annotations

import ast
import math
from collections.abc import Callable, Collection, Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import gast

from srcgrad import runtime
from srcgrad.errors import InternalError
from srcgrad.rules.calling import _signature
from srcgrad.rules.formula import Formula, constant, is_none, is_number, literal, object_of
from srcgrad.rules.reading import readings
from srcgrad.syntax.globals import GlobalBinding, GlobalReference, reference
from srcgrad.syntax.parse import clone, names_bound, walk

if TYPE_CHECKING:
    from srcgrad.rules.template import Rule

Given = Collection[str] | Mapping[str, gast.expr]
Line = tuple[str, gast.expr]


@dataclass(frozen=True, eq=False)
class Slice:
    """Straight-line assignments to template-local names, then one value per wanted parameter."""

    body: tuple[gast.stmt, ...]
    values: Mapping[str, gast.expr]
    reads: frozenset[str]
    shapes: frozenset[str]


# --- the three ways to a slice -----------------------------------------------------------------------------------------
def adjoint(
    rule: Rule, formula: Formula, partials: Mapping[str, gast.expr], wanted: set[str], given: Given, scalar: bool
) -> Slice:
    """Partials of the wanted parameters; an elementwise rule's are unbroadcast where another operand may be larger."""
    missing = wanted - set(partials)
    if missing:
        raise InternalError(f"{rule.name} has no partial for {sorted(missing)}", stage="rules")
    values = {p: partials[p] for p in rule.parameters if p in wanted}
    if rule.kind == "elementwise" and not scalar:
        for p in values:
            if p != rule.variadic and _operands(rule, given, p):
                values[p] = gast.Call(_UNBROADCAST, [values[p], read(p)], [])
    return _finished(rule, formula.body, values, given, scalar)


def tangent(
    rule: Rule, formula: Formula, terms: Mapping[str, gast.expr], active: set[str], given: Given, scalar: bool
) -> Slice:
    """The sum of the terms of the active parameters."""
    total = _sum([terms[p] for p in rule.parameters if p in active])
    return _finished(rule, formula.body, {f"{rule.result}_dot": total}, given, scalar)


def diagonal_tangent(
    rule: Rule, formula: Formula, partials: Mapping[str, gast.expr], active: set[str], given: Given, scalar: bool
) -> Slice:
    """An elementwise tangent: each partial with ``p_dot`` in place of the adjoint; lines that read it are repeated."""
    lines: list[Line] = []
    terms: list[gast.expr] = []
    moving = {rule.adjoint}
    for name, value in formula.body:
        if moving & set(_locals_in(value)):
            moving.add(name)
        else:
            lines.append((name, value))
    for p in rule.parameters:
        if p not in active:
            continue
        if p == rule.variadic:
            terms += _variadic_terms(rule, partials[p], given)
            continue
        renamed = {name: read(f"{name}_{p}") for name in moving} | {rule.adjoint: read(f"{p}_dot")}
        for name, value in formula.body:
            if name in moving:
                lines.append((renamed[name].id, _substituted(value, renamed)))
        terms.append(_substituted(partials[p], renamed))
    total = _sum(terms)
    if not scalar and not _covers(rule, lines, total, given):
        total = gast.Call(_REBROADCAST, [total, read(rule.result)], [])
    return _finished(rule, tuple(lines), {f"{rule.result}_dot": total}, given, scalar)


def _variadic_terms(rule: Rule, partial: gast.expr, given: Given) -> list[gast.expr]:
    """``[e for x in operands]`` with the tangent of each operand in place of the adjoint."""
    assert rule.variadic is not None
    display = given.get(rule.variadic) if isinstance(given, Mapping) else None
    dots = given.get(f"{rule.variadic}_dot") if isinstance(given, Mapping) else None
    if not isinstance(display, gast.Tuple):
        raise InternalError(f"{rule.name} needs the expressions of its operands", stage="rules")
    terms: list[gast.expr] = []
    for i, term in enumerate(_unrolled(partial, rule.variadic, display).elts):
        if not (isinstance(dots, gast.Tuple) and is_none(dots.elts[i])):
            dot = item(f"{rule.variadic}_dot", i)
            terms.append(_substituted(term, {rule.adjoint: dot}))
    return terms


def linear_tangent(rule: Rule, function: gast.expr, active: set[str], given: Given) -> Slice:
    """``f(a_dot, b) + f(a, b_dot)``: the function itself on the tangents."""
    terms: list[gast.expr] = []
    for p in rule.parameters:
        if p in active:
            args: list[gast.expr] = []
            keywords: list[gast.keyword] = []
            gap = False
            for q in rule.parameters:
                if q not in given:
                    gap = True
                    continue
                value = read(f"{q}_dot" if q == p else q)
                if q == rule.variadic:
                    args.append(gast.Starred(value, gast.Load()))
                elif gap or q in rule.defaults:
                    keywords.append(gast.keyword(q, value))
                else:
                    args.append(value)
            terms.append(gast.Call(function, args, keywords))
    return _finished(rule, (), {f"{rule.result}_dot": _sum(terms)}, given, False)


# --- parts -------------------------------------------------------------------------------------------------------------
def _runtime(function: Callable[..., object]) -> GlobalReference:
    return reference(GlobalBinding(function.__name__, function, "srcgrad.runtime", function.__name__))


_UNBROADCAST = _runtime(runtime.unbroadcast)
_REBROADCAST = _runtime(runtime.rebroadcast)


def read(name: str) -> gast.Name:
    """A read of a name of the template."""
    return gast.Name(name, gast.Load(), None, None)


def _sum(terms: list[gast.expr]) -> gast.expr:
    total = terms[0]
    for term in terms[1:]:
        total = gast.BinOp(total, gast.Add(), term)
    return total


def _locals_in(*expressions: gast.AST) -> list[str]:
    return [n.id for n in walk(*expressions) if isinstance(n, gast.Name) and not isinstance(n, GlobalReference)]


def _operands(rule: Rule, given: Given, besides: str) -> list[str]:
    """The other arguments of an elementwise call that may be larger: all but literal numbers."""
    return [
        p
        for p in rule.parameters
        if p in given and p != besides and not (isinstance(given, Mapping) and is_number(given[p]))
    ]


def _covers(rule: Rule, lines: Iterable[Line], total: gast.expr, given: Given) -> bool:
    """Whether an elementwise expression reads every operand (or the result), so that it has the result's shape."""
    by_name = dict(lines)
    pending, seen = _locals_in(total), set[str]()
    while pending:
        name = pending.pop()
        if name not in seen:
            seen.add(name)
            pending += _locals_in(by_name[name]) if name in by_name else []
    return rule.result in seen or all(p in seen or f"{p}_dot" in seen for p in _operands(rule, given, ""))


def _finished(
    rule: Rule, body: Iterable[Line], values: Mapping[str, gast.expr], given: Given, scalar: bool
) -> Slice:
    """Prune, put defaults in place of what is not given, unroll variadic displays, note what is read."""
    needed = set(_locals_in(*values.values()))
    kept: list[Line] = []
    for name, value in reversed(list(body)):
        if name in needed:
            needed.update(_locals_in(value))
            kept.append((name, value))
    kept.reverse()
    absent = {p: rule.defaults[p] for p in rule.parameters if p not in given and p in rule.defaults}
    display = given.get(rule.variadic) if isinstance(given, Mapping) and rule.variadic else None

    def settle(expression: gast.expr) -> gast.expr:
        made = _with_defaults(expression, absent)
        if isinstance(display, gast.Tuple) and rule.variadic is not None:
            made = _unrolled(made, rule.variadic, display)
        return _twins(made) if scalar else made

    lines = [(name, settle(value)) for name, value in kept]
    settled = {p: settle(value) for p, value in values.items()}
    reads, shapes = readings([*(value for _, value in lines), *settled.values()])
    visible = {*(p for p in rule.parameters if p in given), rule.result}
    statements: list[gast.stmt] = [
        gast.Assign([gast.Name(name, gast.Store(), None, None)], value, None) for name, value in lines
    ]
    return Slice(tuple(statements), settled, frozenset(reads & visible), frozenset(shapes & visible))


def item(sequence: str, i: int) -> gast.expr:
    """``sequence[i]``."""
    return gast.Subscript(read(sequence), constant(i), gast.Load())


def _rebuilt(node: Any, change: Callable[[Any], Any]) -> Any:
    """A copy of an expression, each node replaced by ``change(node)`` unless that is None, parents first."""
    made = change(node)
    if made is not None:
        return made
    if isinstance(node, gast.Name):
        return clone(node)
    made = type(node).__new__(type(node))
    made.__dict__.update(node.__dict__)
    for name in node._fields:
        value = getattr(node, name, None)
        if isinstance(value, list):
            value = [_rebuilt(item, change) if isinstance(item, gast.AST) else item for item in value]
        elif isinstance(value, gast.AST):
            value = _rebuilt(value, change)
        setattr(made, name, value)
    return made


def _substituted(expression: gast.expr, binding: Mapping[str, gast.expr]) -> Any:
    def change(node: gast.AST) -> gast.expr | None:
        if isinstance(node, gast.Name) and not isinstance(node, GlobalReference) and node.id in binding:
            found = binding[node.id]
            if isinstance(node.ctx, gast.Store):
                return gast.Name(found.id, gast.Store(), None, None) if isinstance(found, gast.Name) else None
            return clone(found)
        return None

    return _rebuilt(expression, change)


def _with_defaults(expression: gast.expr, absent: Mapping[str, gast.expr]) -> Any:
    """Defaults of the rule where nothing was given; an argument that says what its callee assumes is left out."""

    def is_default(argument: gast.AST, parameter: Any) -> bool:
        if not isinstance(argument, gast.Name) or isinstance(argument, GlobalReference) or argument.id not in absent:
            return False
        known, value = literal(absent[argument.id])
        return bool(known and parameter is not None and type(parameter.default) is type(value) and parameter.default == value)

    def trimmed(call: gast.Call) -> gast.Call | None:
        function = object_of(call.func)
        signature = None if function is None else _signature(function)
        if signature is None:
            return None
        parameters = list(signature.parameters.values())
        keywords = [k for k in call.keywords if not is_default(k.value, signature.parameters.get(k.arg or ""))]
        args = list(call.args)
        if not keywords and len(args) <= len(parameters):
            while args and is_default(args[-1], parameters[len(args) - 1]):
                args.pop()
        if len(args) == len(call.args) and len(keywords) == len(call.keywords):
            return None
        return gast.Call(call.func, args, keywords)

    def change(node: gast.AST) -> gast.expr | None:
        if isinstance(node, gast.Call):
            shorter = trimmed(node)
            return None if shorter is None else _rebuilt(shorter, change)  # type: ignore[no-any-return]
        if isinstance(node, gast.Name) and not isinstance(node, GlobalReference) and node.id in absent:
            return clone(absent[node.id])
        return None

    return _rebuilt(expression, change)


def _unrolled(expression: gast.expr, variadic: str, display: gast.Tuple) -> Any:
    """``[e for x in operands]``, or with ``enumerate``, as the tuple of its items for a known number of operands.

    The operands stay ``operands[i]``: the caller's names come in with ``inline``, which keeps the two kinds apart.
    """

    def operand(i: int) -> gast.expr:
        return item(variadic, i)

    def change(node: gast.AST) -> gast.expr | None:
        match node:
            case gast.ListComp(elt=elt, generators=[gast.comprehension(target=target, iter=source, ifs=[])]):
                match target, source:
                    case gast.Name(id=x), gast.Name(id=over) if over == variadic:
                        bindings = [{x: operand(i)} for i in range(len(display.elts))]
                    case gast.Tuple(elts=[gast.Name(id=i_), gast.Name(id=x)]), gast.Call(args=[gast.Name(id=over)]) if (
                        over == variadic
                    ):
                        bindings = [{i_: constant(i), x: operand(i)} for i in range(len(display.elts))]
                    case _:
                        return None
                items = [_rebuilt(_substituted(elt, binding), change) for binding in bindings]
                return gast.Tuple(items, gast.Load())
            case gast.Call(func=func, args=args, keywords=keywords) if any(_is_star_of(a, variadic) for a in args):
                made: list[gast.expr] = []
                for a in args:
                    made += [operand(i) for i in range(len(display.elts))] if _is_star_of(a, variadic) else [
                        _rebuilt(a, change)
                    ]
                return gast.Call(_rebuilt(func, change), made, [_rebuilt(k, change) for k in keywords])
        return None

    return _rebuilt(expression, change)


def _is_star_of(node: gast.AST, name: str) -> bool:
    return isinstance(node, gast.Starred) and isinstance(node.value, gast.Name) and node.value.id == name


_TWINS = {
    "arccos": "acos", "arccosh": "acosh", "arcsin": "asin", "arcsinh": "asinh", "arctan": "atan", "arctan2": "atan2",
    "arctanh": "atanh", **{n: n for n in "cos cosh exp expm1 log log10 log1p log2 sin sinh sqrt tan tanh pi e".split()},
}  # fmt: skip
_MATH = reference(GlobalBinding("math", math, "math", None))


def _twins(expression: gast.expr) -> Any:
    """NumPy's functions of one number as those of ``math``."""

    def change(node: gast.AST) -> gast.expr | None:
        match node:
            case gast.Attribute(value=GlobalReference() as owner, attr=name) if (
                owner.binding.module == "numpy" and name in _TWINS
            ):
                return gast.Attribute(_MATH, _TWINS[name], gast.Load())
        return None

    return _rebuilt(expression, change)


# --- in place ----------------------------------------------------------------------------------------------------------
def inline(
    piece: Slice, binding: Mapping[str, gast.expr], fresh: Callable[[str], str]
) -> tuple[list[gast.stmt], dict[str, gast.expr]]:
    """The slice with the caller's expressions for its parameters and fresh names for its locals."""
    known: dict[str, gast.expr] = dict(binding)
    for name in sorted(names_bound(*piece.values.values())):
        known[name] = read(fresh(name))
    statements: list[gast.stmt] = []
    for statement in piece.body:
        local = statement.targets[0].id
        for name in sorted(names_bound(statement.value)):
            known.setdefault(name, read(fresh(name)))
        value = _plain(_substituted(statement.value, known))
        known[local] = read(fresh(local))
        statements.append(gast.Assign([gast.Name(known[local].id, gast.Store(), None, None)], value, None))
    return statements, {p: _plain(_substituted(value, known)) for p, value in piece.values.items()}


def _plain(expression: gast.expr) -> Any:
    """``(a, b)[0]``, which substitution makes, as ``a``."""

    def change(node: gast.AST) -> gast.expr | None:
        match node:
            case gast.Subscript(value=gast.Tuple(elts=elements), slice=gast.Constant(value=int() as i)):
                return elements[i]  # type: ignore[no-any-return]
        return None

    return _rebuilt(expression, change)


def operands(rule: Rule, given: Collection[str], count: int | None) -> Given:
    """Names for the arguments of a compiled slice; a variadic tuple is unrolled when its length is known."""
    if rule.variadic is None or rule.variadic not in given or count is None:
        return frozenset(given)
    elements: list[gast.expr] = [item(rule.variadic, i) for i in range(count)]
    return {p: gast.Tuple(elements, gast.Load()) if p == rule.variadic else read(p) for p in given}


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

    body: list[gast.stmt] = [_rebuilt(statement, change) for statement in piece.body]
    results = [_rebuilt(piece.values[value], change) for value in values]
    is_tangent = values[0].endswith("_dot") and len(values) == 1
    body.append(gast.Return(results[0] if is_tangent else gast.Tuple(results, gast.Load())))
    arguments = gast.arguments([gast.Name(p, gast.Param(), None, None) for p in parameters], [], None, [], [], None, [])
    module = gast.Module([gast.FunctionDef(name, arguments, body, [], None, None, [])], [])
    tree = gast.gast_to_ast(module)
    exec(compile(ast.fix_missing_locations(tree), f"<{name}>", "exec"), namespace)
    return namespace[name]  # type: ignore[return-value]
