"""Operands of which a formula would compute in a narrow integer type, widened for it.

Enters: the text of a derivative and the facts of its operands.  Leaves: statements that bind wider copies, and the
bindings that read them.  NumPy computes ``n * n`` of ``uint8`` modulo 256 and ``n - 1`` of an unsigned 0 as the largest
number there is, while the function that is differentiated computes with floats::

    z = np.arctan2(x, n)          wide = widened(n, z_bar);  x_bar = z_bar * wide / (x * x + wide * wide)

What carries the derivative in one round of a loop may be an integer in another: it is widened where it is unknown.
A list in the place of a number is made an array, as NumPy does.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Mapping

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.errors import MissingRule, Span
from srcgrad.rules import laws
from srcgrad.rules.facts import Array, Fact, Sequence, Static, Unknown
from srcgrad.rules.formula import object_of
from srcgrad.rules.slicing import Slice
from srcgrad.rules.template import Rule
from srcgrad.syntax.globals import call_runtime
from srcgrad.syntax.parse import children, clone
from srcgrad.transform.build import assign, load

#: Functions of NumPy that are no ufuncs, and compute in floats as soon as one operand is one.
_IN_FLOATS = (
    np.interp, np.polyval, np.polyfit, np.quantile, np.percentile, np.nanquantile, np.nanpercentile, np.gradient,
    np.linspace, np.logspace, np.geomspace, pow, divmod, operator.pow, operator.mod, operator.truediv,
)  # fmt: skip
_NARROW = frozenset("bool int8 int16 int32 uint8 uint16 uint32 uint64".split())


def widening(
    piece: Slice,
    rule: Rule,
    facts: Mapping[str, Fact],
    wanted: Collection[str],
    binding: dict[str, gast.expr],
    seed: gast.expr,
    fresh: Callable[[str], str],
    shown: bool,
    span: Span,
) -> list[gast.stmt]:
    """What is to stand before a piece of text; ``binding`` reads it from then on.

    ``seed``: the cotangent, or the result, in whose dtype the function computes.  ``shown``: the text is to be read,
    and leaves out what only a check could tell.  Raises ``MissingRule`` at ``span``.
    """
    code = _required(rule, facts, binding, shown, span)
    if not laws.is_own(rule.template):  # users' functions compute with integers as they are
        return code
    in_floats = any(map(_computes_in_floats, rule.functions))
    narrow: list[tuple[str, gast.expr, Fact]] = []
    for p in rule.parameters:
        given = binding.get(p)
        if given is None or isinstance(given, gast.Constant) or p == rule.variadic or p not in piece.reads:
            continue
        fact = _fact_of(given) or facts.get(p, Unknown())
        if _may_be_narrow(fact, shown, in_floats) and not (p in rule.differentiable and not in_floats):
            narrow.append((p, given, fact))
    uses = _uses(piece) if narrow else {}
    for p, given, fact in narrow:
        if not _is_narrow(fact) and (uses.get(p, _SAFE) < (_OTHER if p in rule.differentiable else _COMPUTED)):
            continue
        name = fresh("wide")
        like = [clone(seed)] if p in rule.differentiable else []
        code.append(assign(name, call_runtime(runtime.widened, clone(given), *like)))
        binding[p] = load(name)
    return code


def _required(
    rule: Rule, facts: Mapping[str, Fact], binding: Mapping[str, gast.expr], shown: bool, span: Span
) -> list[gast.stmt]:
    """What refuses operands whose differences or squares the function takes, where it is not known that none wraps."""
    code: list[gast.stmt] = []
    for kinds, parameters in rule.wrapping:
        operands = [binding[p] for p in parameters if p in binding]
        known = [_fact_of(e) or facts.get(p, Unknown()) for p, e in zip(parameters, operands, strict=False)]
        types = [_narrow_type(fact) for fact in known]
        unsaid = [_may_hold_narrow(e, fact, shown) for e, fact in zip(operands, known, strict=False)]
        if len(operands) < len(parameters) or not all(unsaid):
            continue
        if all(t is not None and np.dtype(t).kind in kinds for t in types):
            raise MissingRule(
                f"differences and squares of {types[0]} wrap around", span, code="E0507", hint="give it floats"
            )
        if all(t is None or np.dtype(t).kind in kinds for t in types):
            said = [gast.Constant(kinds, None), gast.Constant(span.origin, None), *map(clone, operands)]
            code.append(gast.Expr(call_runtime(runtime.require_wide, *said)))
    return code


def _fact_of(given: gast.expr) -> Fact | None:
    """What an operand that is written out tells of itself: a display, or ``np.uint8(3)``."""
    match given:
        case gast.List() | gast.Tuple():
            return Sequence("list")
        case gast.Call(func=function):
            made = object_of(function)
            return Array((), made.__name__) if isinstance(made, type) and issubclass(made, np.integer) else None
    return None


def _narrow_type(fact: Fact) -> str | None:
    """The narrow type that an operand is known to be of; truth values of Python are of none."""
    if isinstance(fact, Static):
        name = fact.value.dtype.name if isinstance(fact.value, np.integer) else None
    else:
        name = fact.dtype if isinstance(fact, Array) and not (fact.dtype == "bool" and fact.scalar) else None
    return name if name in _NARROW else None


def _is_narrow(fact: Fact) -> bool:
    return _narrow_type(fact) is not None


def _may_be_narrow(fact: Fact, shown: bool, takes_lists: bool) -> bool:
    if isinstance(fact, Static) or isinstance(fact, Array) and fact.dtype is not None:
        return _is_narrow(fact)
    return takes_lists if isinstance(fact, Sequence) else isinstance(fact, Array | Unknown) and not shown


def _may_hold_narrow(given: gast.expr, fact: Fact, shown: bool) -> bool:
    """Whether an operand may be narrow, or a list or tuple that holds such a number."""
    match given, fact:
        case (gast.List(elts=parts) | gast.Tuple(elts=parts)), _:
            return not shown and not all(isinstance(part, gast.Constant) for part in parts)
        case _, Sequence(items=tuple() as items):
            return any(_may_be_narrow(item, shown, True) for item in items)
    return _may_be_narrow(fact, shown, not shown)


def _computes_in_floats(function: object) -> bool:
    """Whether a function brings its operands to one floating dtype first: ufuncs and their methods, operators and
    ``math`` do.  ``np.trapezoid`` and its kind compute with integers as they are, and so must their derivatives.
    """
    home, owner = getattr(function, "__module__", None), getattr(function, "__self__", None)
    is_ufunc = isinstance(function, np.ufunc) or isinstance(owner, np.ufunc)
    return is_ufunc or home == "math" or _is_of_stats(function) or function in _IN_FLOATS


def _is_of_stats(function: object) -> bool:
    return str(getattr(function, "__module__", "")).startswith("scipy.stats")


#: What a text does to an operand: computes with it and a float; gives it to something; computes with it alone.
_SAFE, _OTHER, _COMPUTED = range(3)


def _uses(piece: Slice) -> dict[str, int]:
    """By name, the worst that a text does to it."""
    found: dict[str, int] = {}

    def meet(node: gast.AST, use: int) -> None:
        if isinstance(node, gast.Name):
            found[node.id] = max(found.get(node.id, _SAFE), use)
            return
        for child in children(node):
            meet(child, _use_in(node, child))

    for tree in (*piece.body, *piece.values.values()):
        meet(tree, _OTHER)
    for statement in reversed(piece.body):
        match statement:  # another name for an operand, where an option at its default fell away
            case gast.Assign(targets=[gast.Name(id=name)], value=gast.Name(id=source)):
                found[source] = max(found[source], found.get(name, _SAFE))
    return found


def _use_in(node: gast.AST, child: gast.AST) -> int:
    match node:
        case gast.UnaryOp():
            return _COMPUTED
        case gast.Call(func=function) if isinstance(object_of(function), np.ufunc):
            return _COMPUTED
        case gast.Compare():
            return _COMPUTED
        case gast.BinOp(left=left, right=right):
            return _SAFE if _is_float(right if child is left else left) else _COMPUTED
    return _OTHER


def _is_float(node: gast.expr) -> bool:
    """Whether an operand is a float, so that what is computed with it is one too: a constant, or a cotangent."""
    match node:
        case gast.Constant(value=float() | complex()):
            return True
        case gast.Name(id=name):
            return bool(name.endswith(("_bar", "_dot")))
        case gast.BinOp(left=left, right=right):
            return _is_float(left) or _is_float(right)
        case gast.UnaryOp(operand=operand):
            return _is_float(operand)
    return False
