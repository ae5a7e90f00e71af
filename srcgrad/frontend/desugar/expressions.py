"""Expressions that hold control flow, as statements: ternary, and/or, chained comparison, comprehension, any and all.

These stand inside larger expressions, so they are taken apart where ``frontend.normalize`` meets them: by then all that
Python evaluates before them has been evaluated, and the order of evaluation is kept::

    s = x * (a if c else b)      ->      if c: t = a
                                         else: t = b
                                         s = x * t
"""

from __future__ import annotations

from collections.abc import Sequence

import gast

from srcgrad.frontend.desugar.build import (
    assign,
    binary,
    branch,
    call_builtin,
    compare,
    constant,
    load,
    method_call,
    negation,
    placed,
    store,
    subscript,
)


def ternary(node: gast.IfExp, target: str) -> list[gast.stmt]:
    """``target = body if test else orelse``."""
    return [
        branch(node.test, [assign(target, node.body, node.body)], [assign(target, node.orelse, node.orelse)], node)
    ]


def short_circuit(node: gast.BoolOp, target: str) -> list[gast.stmt]:
    """``target = a and b and c``: the first operand that decides, else the last."""
    made: list[gast.stmt] = [assign(target, node.values[-1], node.values[-1])]
    for value in reversed(node.values[:-1]):
        test: gast.expr = load(target, value)
        if isinstance(node.op, gast.Or):
            test = negation(test, value)
        made = [assign(target, value, value), branch(test, made, [], value)]
    return made


def comparison_chain(node: gast.Compare, target: str, names: Sequence[str]) -> list[gast.stmt]:
    """``target = a < b < c``; ``names`` are for all operands but the last, each of which is evaluated once."""
    operands = [node.left, *node.comparators]
    made: list[gast.stmt] = []
    for position in reversed(range(len(node.ops))):
        at = operands[position + 1]
        right: gast.expr = operands[position + 1]
        here: list[gast.stmt] = []
        if position < len(node.ops) - 1:
            here.append(assign(names[position + 1], right, at))
            right = load(names[position + 1], at)
        here.append(assign(target, compare(load(names[position], at), node.ops[position], right, at), node))
        made = [*here, branch(load(target, at), made, [], at)] if made else here
    return [assign(names[0], node.left, node.left), *made]


def list_comprehension(node: gast.ListComp | gast.GeneratorExp, target: str) -> list[gast.stmt]:
    """``target = [elt for ...]``; requires that the comprehension's own names clash with nothing around it."""
    innermost = gast.Expr(method_call(load(target, node), "append", [node.elt], node.elt))
    empty = placed(gast.List([], gast.Load()), node)
    return [assign(target, empty, node), *each(node, [placed(innermost, node)])]


def each_into(node: gast.GeneratorExp, container: str, method: str) -> list[gast.stmt]:
    """``container.extend(elt for ...)``: every item is computed when those before it are in the container."""
    innermost = gast.Expr(method_call(load(container, node), method, [node.elt], node.elt))
    return each(node, [placed(innermost, node)])


def each_stored(node: gast.GeneratorExp, container: str, key: str, value: str) -> list[gast.stmt]:
    """``container.update((k, v) for ...)``: every pair is computed when those before it are in the container."""
    names = [placed(gast.Name(name, gast.Store(), None, None), node) for name in (key, value)]
    pair = placed(gast.Assign([placed(gast.Tuple(names, gast.Store()), node)], node.elt, None), node)
    place = placed(gast.Subscript(load(container, node), load(key, node), gast.Store()), node)
    return each(node, [pair, assign(place, load(value, node), node)])


def total(node: gast.GeneratorExp, start: gast.expr, target: str) -> list[gast.stmt]:
    """``target = sum((elt for ...), start)``, added up as ``sum`` does."""
    more = assign(target, binary(load(target, node.elt), gast.Add(), node.elt, node.elt), node)
    return [assign(target, start, node), *each(node, [more])]


def any_or_all(node: gast.GeneratorExp, target: str, *, is_any: bool) -> list[gast.stmt]:
    """``target = any(elt for ...)`` or ``all``: nothing more is evaluated where they stop.

    ``break`` leaves one loop, so several run to their ends with nothing to do.
    """
    test = node.elt if is_any else negation(node.elt, node.elt)
    decided = [assign(target, constant(is_any, node), node)]
    if len(node.generators) == 1:
        decided.append(placed(gast.Break(), node))
    else:
        unknown = negation(load(target, node), node) if is_any else load(target, node)
        generators = [gast.comprehension(g.target, g.iter, [unknown, *g.ifs], 0) for g in node.generators]
        node = placed(gast.GeneratorExp(node.elt, generators), node)
    return [assign(target, constant(not is_any, node), node), *each(node, [branch(test, decided, [], node)])]


def first(node: gast.GeneratorExp, default: gast.expr | None, target: str, found: str) -> list[gast.stmt]:
    """``target = next((elt for ...), default)``, of one loop; without a default ``found`` tells whether to raise."""
    leave = placed(gast.Break(), node)
    taken = assign(target, node.elt, node.elt)
    if default is not None:
        return [assign(target, default, node), *each(node, [taken, leave])]
    nothing = placed(gast.Raise(call_builtin("StopIteration", [], node), None), node)
    return [
        assign(found, constant(False, node), node),
        *each(node, [taken, assign(found, constant(True, node), node), leave]),
        branch(negation(load(found, node), node), [nothing], [], node),
    ]


def each(node: gast.ListComp | gast.GeneratorExp, innermost: list[gast.stmt]) -> list[gast.stmt]:
    """The loops of a comprehension around what is done with each item."""
    body = innermost
    for generator in reversed(node.generators):
        for condition in reversed(generator.ifs):
            body = [branch(condition, body, [], condition)]
        body = [placed(gast.For(generator.target, generator.iter, body, [], None), node)]
    return body


def view_as_list(mapping: str, keys: str, key: str, at: gast.AST, *, pairs: bool) -> gast.expr:
    """``d.values()`` as the value ``[d[k] for k in keys]``, or ``d.items()`` as ``[(k, d[k]) for k in keys]``."""
    entry: gast.expr = subscript(load(mapping, at), load(key, at), at)
    if pairs:
        entry = placed(gast.Tuple([load(key, at), entry], gast.Load()), at)
    generator = gast.comprehension(store(key, at), load(keys, at), [], 0)
    return placed(gast.ListComp(entry, [generator]), at)
