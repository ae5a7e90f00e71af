"""Adjoints of operations that a rule knows.

Enters: a ``Bind`` of an ``Apply``.  Leaves: the statements of the rule's adjoint, of the arguments that vary alone,
with partials summed down to the shapes of the operands no sooner than needed::

    s = u * x        ->     u_bar = s_bar * x
                            x_bar = x_bar + s_bar * u       (s_bar is zero from here on: it has no variable)
"""

from __future__ import annotations

import operator
from collections.abc import Container, Set
from dataclasses import replace

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.analysis.activity import atoms
from srcgrad.analysis.literals import literal
from srcgrad.analysis.references import Reference, hidden, mark_shapes, reference, referring
from srcgrad.errors import MissingRule
from srcgrad.ir.normal_form import (
    Apply,
    Bind,
    Block,
)
from srcgrad.rules.facts import (
    Array,
    Fact,
    Unknown,
    as_array,
    is_floating,
    keeps_complex,
    same_dtype,
    same_shape,
)
from srcgrad.rules.formula import object_of
from srcgrad.rules.memory import LIBRARIES, home_of
from srcgrad.rules.rewriting import rebuilt
from srcgrad.rules.template import inline
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.parse import same_tree
from srcgrad.transform.build import (
    assign,
    constant,
    load,
    numpy_call,
    subscript,
    tuple_of,
)
from srcgrad.transform.contributions import counted_once, distribute
from srcgrad.transform.operands import WEAK, calls_to, gives_python_numbers, is_single_real
from srcgrad.transform.stores import as_then
from srcgrad.transform.sweep import ReverseSweep
from srcgrad.transform.widening import widening


def apply_adjoint(
    sweep: ReverseSweep, statement: Bind, apply: Apply, block: Block, position: int, varied: Container[str]
) -> list[gast.stmt]:
    target = statement.target
    wanted = frozenset(
        p
        for p, argument in apply.arguments.items()
        if p in apply.rule.sensitive and any(n in varied for n in atoms(argument))
    )
    if not wanted:
        sweep.bars.drop(target)
        return []
    facts = {p: sweep.fact_of(e) for p, e in apply.arguments.items()}
    scalar = is_single_real(sweep.fact(target)) and all(
        is_single_real(sweep.fact(n)) for p in wanted for n in atoms(apply.arguments[p])
    )
    try:
        scalar, strong = scalar and gives_python_numbers(apply.function), sweep.calls.strong_zeros
        piece = apply.rule.adjoint_slice(wanted, apply.arguments, scalar=scalar, strong=strong, facts=facts)
    except MissingRule as missing:
        raise MissingRule(
            missing.reason, statement.span, code=missing.code, label="this argument varies", hint=missing.hint
        ) from None
    binding: dict[str, gast.expr] = {
        p: referring(as_then(sweep, statement, p, e), block, position) for p, e in apply.arguments.items()
    }
    binding[apply.rule.result] = reference(target, block, position + 1)
    seed = sweep.seeds.get(statement)
    binding[apply.rule.adjoint] = sweep.bar_name(target) if seed is None else load(seed)
    code = widening(
        piece, apply.rule, facts, wanted, binding, binding[apply.rule.adjoint], sweep.fresh, sweep.calls.shown,
        statement.span,
    )  # fmt: skip
    prelude, partials = inline(piece, binding, sweep.fresh)
    code += prelude
    contributions: list[tuple[str, gast.expr]] = []
    for parameter in apply.arguments:
        if parameter not in wanted:
            continue
        argument = apply.arguments[parameter]
        partial = partials[parameter]
        if isinstance(argument, gast.Tuple | gast.List):
            contributions += _spread(sweep, argument, partial, varied, code)
        else:
            name = atoms(argument)[0]
            if name in sweep.deferral.spread and not strong:
                partial = _not_spread(partial, sweep.fact(target))
            contributions.append((name, _fitting(sweep, partial, name, apply.rule.kind, statement, block, position)))
    contributions = [
        (name, _with_masks(sweep, partial, statement, block, position)) for name, partial in contributions
    ]
    contributions = counted_once(sweep, contributions)
    mark_shapes(*code, *(partial for _, partial in contributions))
    return code + distribute(sweep, target, contributions)


#: Comparisons of operands element by element: a mask takes less memory than they do.
MASKS = (runtime.wins, runtime.is_within, runtime.is_below, runtime.is_above)


def _with_masks(
    sweep: ReverseSweep, partial: gast.expr, statement: Bind, block: Block, position: int
) -> gast.expr:
    """The partial with what the forward sweep can ask of memory, before that is stored into, asked there.

    Else the sweep would have to restore what was compared, and to keep what it was compared with::

        y[:] = np.minimum(y, t)         t = ...; mask = wins(t, y); y[:] = np.minimum(y, t); tape.append(mask)
    """
    if sweep.shadows is None or not sweep.layout.frame(block).repeats:
        return partial

    def asked(node: gast.AST) -> gast.expr | None:
        if not isinstance(node, gast.Call) or not any(calls_to(node, function) for function in MASKS):
            return None
        read = [part for part in node.args if isinstance(part, Reference)]
        if not all(isinstance(part, Reference | gast.Constant) for part in node.args) or node.keywords:
            return None
        known = all(isinstance(sweep.fact(part.id), Array) and part.position == position for part in read)
        if not known or not any(part.id in sweep.shadowed and sweep.is_array(part.id) for part in read):
            return None
        if any(part.id == statement.target for part in read):
            return None
        written = rebuilt(node, lambda part: load(part.id) if isinstance(part, Reference) else None)
        taken = {role: expression for (owner, role), expression in sweep.requests.masks.items() if owner is statement}
        same = (role for role, expression in taken.items() if same_tree(expression, written))
        role = next(same, f"mask{len(taken) or ''}")
        sweep.requests.masks[statement, role] = written
        return hidden(statement, role)

    made: gast.expr = rebuilt(partial, asked)
    return made


def _not_spread(partial: gast.expr, fact: Fact) -> gast.expr:
    """The cotangent of a reduction before ``unreduce`` spreads it, which broadcasts to the shape of the operand.

    ``fact``: of the reduction.
    """
    if not isinstance(partial, gast.Call) or not calls_to(partial, runtime.unreduce) or partial.keywords:
        return partial
    match partial.args:
        case [bare, _] | [bare, _, gast.Constant(value=None)]:
            return bare
        case [bare, _, axis]:
            try:
                axes = literal(axis)
            except ValueError:
                return partial
            axes = axes if isinstance(axes, tuple) else (axes,)
            if isinstance(fact, Array) and fact.shape and all(type(each) is int for each in axes):
                return _with_axes(bare, axes, len(fact.shape))
            return numpy_call("expand_dims", bare, axis)
    return partial


def _with_axes(value: gast.expr, axes: tuple[int, ...], rank: int) -> gast.expr:
    """``np.expand_dims`` of an array of this rank, as an index."""
    whole = rank + len(axes)
    added = {axis % whole for axis in axes}
    parts = [constant(None) if j in added else gast.Slice(None, None, None) for j in range(whole)]
    while isinstance(parts[-1], gast.Slice):
        parts.pop()
    return subscript(value, parts[0] if len(parts) == 1 else tuple_of(parts))


def _spread(
    sweep: ReverseSweep,
    argument: gast.Tuple | gast.List,
    partial: gast.expr,
    varied: Container[str],
    code: list[gast.stmt],
) -> list[tuple[str, gast.expr]]:
    """A sequence of partials, one per operand of a variadic rule."""
    if isinstance(partial, gast.Tuple) and len(partial.elts) == len(argument.elts):
        pairs = zip(argument.elts, partial.elts, strict=True)
        return [(n, part) for element, part in pairs for n in atoms(element) if n in varied]
    parts = sweep.fresh("parts")
    code.append(assign(parts, partial))
    return [
        (name, subscript(load(parts), constant(j)))
        for j, element in enumerate(argument.elts)
        for name in atoms(element)
        if name in varied
    ]


def _fitting(
    sweep: ReverseSweep, partial: gast.expr, name: str, kind: str, statement: Bind, block: Block, position: int
) -> gast.expr:
    """A partial of an elementwise rule summed down to the shape of its operand, no sooner than needed.

    A temporary that is used once, and was itself made elementwise, can keep the larger shape and an imaginary part:
    its own operands are summed down instead, and its value need not be known for its shape's sake.
    """
    target = statement.target
    if kind != "elementwise":
        return partial
    bare = partial
    if isinstance(partial, gast.Call) and calls_to(partial, runtime.unbroadcast):
        bare = partial.args[0]
    if target in sweep.deferral.spread and not sweep.calls.strong_zeros:
        return _contracted(sweep, bare, name, statement, block, position)
    source = sweep.deferral.made_from.get(target, target)
    if name in sweep.deferral.real and source == target and sweep.is_scalar(target):
        return bare
    narrow = call_runtime(runtime.unbroadcast, bare, reference(name, block, position, shape_only=True))
    if sweep.is_scalar(name) and (total := _narrowed(sweep, narrow, name, target, source)) is not narrow:
        return total  # summed once, before what made the number
    if name in sweep.deferral.reducing:
        if source != target or bare is not partial or _leaves_dtype(sweep, name, statement):
            sweep.deferral.made_from[name] = source
        return bare
    keeps_shape = bare is partial or _sets_shape(sweep, name, statement)
    if source == target and keeps_shape and not _may_be_longer(sweep, name, statement):
        is_narrow = target not in sweep.deferral.real or name in sweep.deferral.real
        if is_narrow and not _leaves_dtype(sweep, name, statement):
            return bare
    return _narrowed(sweep, narrow, name, target, source)


def _contracted(
    sweep: ReverseSweep, bare: gast.expr, name: str, statement: Bind, block: Block, position: int
) -> gast.expr:
    """The partial of a product by one factor, where the adjoint of the product may be less than its shape."""
    assert isinstance(statement.operation, Apply)
    operands = [atoms(e)[0] for e in statement.operation.arguments.values()]
    if len(operands) == 1 and not _has_shape(bare, {name, statement.target}):  # by a rule of the user's
        return call_runtime(runtime.rebroadcast, bare, reference(name, block, position, shape_only=True))
    if all(same_shape(sweep.fact(name), sweep.fact(other)) for other in operands):
        return bare
    assert isinstance(bare, gast.BinOp)
    like = reference(name, block, position, shape_only=True)
    return call_runtime(runtime.unproduct, bare.left, bare.right, like)


def _has_shape(formula: gast.expr, names: Set[str]) -> bool:
    """Whether a product is of the shape of these names, since one is among its factors."""
    match formula:
        case gast.BinOp(left=left, right=right):
            return _has_shape(left, names) or _has_shape(right, names)
        case gast.UnaryOp(operand=operand):
            return _has_shape(operand, names)
        case gast.Call(args=[argument]) if isinstance(object_of(formula.func), np.ufunc):
            return _has_shape(argument, names)
    return isinstance(formula, Reference) and formula.id in names


def _sets_shape(sweep: ReverseSweep, name: str, statement: Bind) -> bool:
    """Whether every other operand is a plain number, so that the result has the shape and dtype of ``name``."""
    assert isinstance(statement.operation, Apply)
    others = [e for e in statement.operation.arguments.values() if name not in atoms(e)]
    return all(isinstance(f := sweep.fact_of(e), Array) and f.scalar and f.dtype in WEAK for e in others)


def _may_be_longer(sweep: ReverseSweep, name: str, statement: Bind) -> bool:
    """Whether this may be a list joined to itself or times an integer, a longer list: ``unbroadcast`` looks."""
    assert isinstance(statement.operation, Apply)
    function, operands = statement.operation.function, statement.operation.arguments.values()
    if function not in (operator.add, operator.mul) or not isinstance(sweep.fact(name), Unknown):
        return False
    others = [as_array(sweep.fact_of(e)) for e in operands if name not in atoms(e)]
    return not others if function is operator.add else not all(is_floating(fact.dtype) for fact in others)


def _leaves_dtype(sweep: ReverseSweep, name: str, statement: Bind) -> bool:
    """Whether the result may have another dtype than ``name`` although no other operand brings one."""
    assert isinstance(statement.operation, Apply)
    mine, result, function = sweep.fact(name), sweep.fact(statement.target), statement.operation.function
    if isinstance(mine, Array) and isinstance(result, Array) and mine.dtype and result.dtype:
        return not same_dtype(mine, result) and keeps_complex(function)
    if statement.operation.rule.own_dtype or home_of(function) not in LIBRARIES:
        return True  # a complex number of a real one; nobody knows what a user's function makes of its operands
    if function not in (operator.pow, pow) or sweep.is_array(name):
        return False
    # A negative Python float to the power of a fraction is complex.
    base, exponent = list(statement.operation.arguments.values())[:2]
    is_real = isinstance(result, Array) and result.is_real
    return not (is_real or _is_whole(exponent) or isinstance(base, gast.Constant))


def _narrowed(sweep: ReverseSweep, partial: gast.Call, name: str, target: str, source: str) -> gast.expr:
    """Drop an ``unbroadcast`` that the facts prove idle; to a scalar it is a sum.

    The adjoint of ``target`` has the shape of ``source``.
    """
    mine, result, bar = sweep.fact(name), sweep.fact(source), sweep.bar_name(target).id
    if isinstance(mine, Array) and isinstance(result, Array):
        if same_dtype(mine, result) or (mine.is_real and result.is_real):
            if same_shape(mine, result):
                return partial.args[0]
            whole = sweep.fact(target)
            if mine.shape == () and result.shape:
                is_whole = isinstance(whole, Array) and whole.dtype == result.dtype
                return _total(sweep, partial.args[0], bar, result if is_whole else replace(result, dtype=None))
            if all(isinstance(f, Array) and f.dtype == "float64" for f in (mine, result, whole)):
                return _summed_down(sweep, partial.args[0], partial.args[1], bar, mine, result)
    return partial


def _summed_down(
    sweep: ReverseSweep, value: gast.expr, like: gast.expr, bar: str, mine: Array, fact: Array
) -> gast.expr:
    """``unbroadcast(value, like)``, with what has the shape ``mine`` of ``like`` left outside, and without forming a
    product of two arrays that is only summed::

        unbroadcast(-s_bar * s / u, u)      ->      -unproduct(s_bar, s, u) / u
    """
    match value:
        case gast.UnaryOp(op=gast.USub() as op, operand=operand):
            return gast.UnaryOp(op, _summed_down(sweep, operand, like, bar, mine, fact))
        case gast.BinOp(left=left, op=gast.Mult() | gast.Div() as op, right=right) if (
            _is_number(sweep, right) or _is_as_large(sweep, right, "", mine)
        ):
            return gast.BinOp(_summed_down(sweep, left, like, bar, mine, fact), op, right)
        case gast.BinOp(left=gast.UnaryOp(op=gast.USub() as op, operand=left), op=gast.Mult() as times, right=right):
            return gast.UnaryOp(op, _summed_down(sweep, gast.BinOp(left, times, right), like, bar, mine, fact))
        case gast.BinOp(left=left, op=gast.Mult(), right=right):
            if _is_as_large(sweep, left, bar, fact) and _is_as_large(sweep, right, bar, fact):
                return call_runtime(runtime.unproduct, left, right, like)
    return call_runtime(runtime.unbroadcast, value, like)


def _total(sweep: ReverseSweep, value: gast.expr, bar: str, fact: Array) -> gast.expr:
    """The sum of a partial whose adjoint ``bar`` has the shape and dtype of ``fact``: what is the same for all
    elements is left outside, and a product of two arrays is contracted::

        np.sum(-s_bar * s / u)      ->      -(s_bar @ s) / u            of vectors, where u is a number
    """
    match value:
        case gast.UnaryOp(op=gast.USub() as op, operand=operand):
            return gast.UnaryOp(op, _total(sweep, operand, bar, fact))
        case gast.BinOp(left=left, op=gast.Mult() | gast.Div() as op, right=right) if _is_number(sweep, right):
            return gast.BinOp(_total(sweep, left, bar, fact), op, right)
        case gast.BinOp(left=gast.UnaryOp(op=gast.USub() as op, operand=left), op=gast.Mult() as times, right=right):
            return gast.UnaryOp(op, _total(sweep, gast.BinOp(left, times, right), bar, fact))
        case gast.BinOp(left=left, op=gast.Mult(), right=right):
            if fact.dtype == "float64" and all(_is_as_large(sweep, part, bar, fact) for part in (left, right)):
                if len(fact.shape or ()) == 1:
                    return gast.BinOp(left, gast.MatMult(), right)
                return numpy_call("vdot", left, right)
    return numpy_call("sum", value)


def _is_number(sweep: ReverseSweep, value: gast.expr) -> bool:
    match value:
        case Reference(id=name):
            return sweep.is_scalar(name)
    return isinstance(value, gast.Constant) and type(value.value) in (int, float)


def _is_as_large(sweep: ReverseSweep, value: gast.expr, bar: str, fact: Array) -> bool:
    """Whether an operand is the adjoint itself, or surely an array of the shape and dtype of ``fact``."""
    match value:
        case gast.BinOp(left=left, op=gast.Mult() | gast.Div(), right=right) if _is_number(sweep, right):
            return _is_as_large(sweep, left, bar, fact)
        case gast.Name(id=name) if name == bar:
            return True
        case Reference(id=name):
            mine = sweep.fact(name)
            return isinstance(mine, Array) and same_shape(mine, fact) and mine.dtype == fact.dtype
    return False


def _is_whole(exponent: gast.expr) -> bool:
    match exponent:
        case gast.UnaryOp(operand=gast.Constant(value=int() | float() as value)) | gast.Constant(
            value=int() | float() as value
        ):
            return value == int(value)
    return False
