"""Einstein's sum and its transpose, which is one again.

The subscripts may be a string, or lists beside the operands that are written as literals in the call.
"""

# Templates are read as text and carry no annotations; a formula for a special case repeats the name of its rule.
# mypy: disable-error-code="no-untyped-def,no-redef,misc,no-untyped-call,return,attr-defined"
from __future__ import annotations

from collections.abc import Mapping

import gast
import numpy as np

from srcgrad.rules.calling import UnsupportedCall
from srcgrad.rules.facts import Array, Dimension, Sequence, as_array, promote
from srcgrad.rules.formula import constant, is_none, literal, spelling
from srcgrad.rules.results import dtype_of
from srcgrad.rules.rewriting import item, read
from srcgrad.rules.table import rule
from srcgrad.runtime import if_floating, transposed_subscripts, uneinsum, written_subscripts
from srcgrad.runtime.einsum import explicit_subscripts

LETTERS = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"


# --- expansion for the operands of one call --------------------------------------------------------------------------
def written(given: Mapping[str, gast.expr]) -> gast.expr:
    """The subscripts, looked at when they are not a literal: in their place may stand an operand."""
    known, subscripts = literal(given["subscripts"])
    if known and isinstance(subscripts, str):
        return read("subscripts")
    return gast.Call(spelling(written_subscripts), [read("subscripts")], [])


def transposed(given: Mapping[str, gast.expr], adjoint: str) -> gast.expr:
    """One ``uneinsum`` per operand: its subscripts, the shape it has, the cotangent, the other operands."""
    operands = given["operands"]
    assert isinstance(operands, gast.Tuple)
    count = len(operands.elts)
    known, subscripts = literal(given["subscripts"])
    partials: list[gast.expr] = []
    for i in range(count):
        others = [item("operands", j) for j in range(count) if j != i]
        if known and isinstance(subscripts, str):
            turned: gast.expr = constant(transposed_subscripts(subscripts, i, count))
        else:
            turned = gast.Call(spelling(transposed_subscripts), [read("subscripts"), constant(i), constant(count)], [])
        g = _passed(given, read(adjoint))
        partials.append(gast.Call(spelling(uneinsum), [turned, item("operands", i), g, *others], []))
    return gast.Tuple(partials, gast.Load())


def replaced(given: Mapping[str, gast.expr], function: gast.expr, leading: tuple[str, ...]) -> gast.expr:
    """The function on the operands, one of them its tangent, summed over the operands that have one."""
    operands, dots = given["operands"], given.get("operands_dot")
    assert isinstance(operands, gast.Tuple)
    keywords = [gast.keyword(name, read(name)) for name in ("dtype", "optimize") if name in given]
    total: gast.expr | None = None
    for i in range(len(operands.elts)):
        if isinstance(dots, gast.Tuple) and is_none(dots.elts[i]):
            continue
        args = [item("operands_dot" if j == i else "operands", j) for j in range(len(operands.elts))]
        term = gast.Call(function, [written(given), *map(read, leading), *args], keywords)
        total = term if total is None else gast.BinOp(total, gast.Add(), term)
    assert total is not None
    return _passed(given, total)


def _passed(given: Mapping[str, gast.expr], g: gast.expr) -> gast.expr:
    """What passes through the dtype of the result: nothing through integers."""
    return gast.Call(spelling(if_floating), [g, read("dtype")], []) if "dtype" in given else g


def one_string(args: list[gast.expr]) -> list[gast.expr]:
    """``einsum(a, [0, 1], b, [1, 2], [0, 2])`` as ``einsum("ab,bc->ac", a, b)``."""
    known, subscripts = literal(args[0]) if args else (False, None)
    if known and isinstance(subscripts, str) and not any(isinstance(argument, gast.Starred) for argument in args):
        count = len(subscripts.split("->")[0].split(","))
        if count != len(args) - 1:
            raise UnsupportedCall(f"np.einsum: {subscripts!r} names {count} operands, {len(args) - 1} are given")
    lists = [literal(argument) for argument in [*args[1::2], *(args[-1:] if len(args) % 2 else [])]]
    if len(args) < 2 or not all(known and _are_labels(value) for known, value in lists):
        return args
    labels = [list(value) for _, value in lists]  # type: ignore[call-overload]
    order = sorted({label for term in labels for label in term if label is not ...})
    letters = {label: LETTERS[place] for place, label in enumerate(order)} | {...: "..."}
    terms = ["".join(letters[label] for label in term) for term in labels]
    count = len(args) // 2
    subscripts = ",".join(terms[:count]) + "".join("->" + term for term in terms[count:])
    return [constant(subscripts), *args[: 2 * count : 2]]


def _are_labels(value: object) -> bool:
    return isinstance(value, tuple) and all(type(label) is int or label is ... for label in value)


# --- the rules -------------------------------------------------------------------------------------------------------
@rule(np.einsum)
def einsum(subscripts, dtype=None, optimize=False, *operands, y, y_bar):
    """Einstein's sum: the cotangent takes the place of the operand, the operand's subscripts that of the result."""
    return None


einsum.arrange(one_string)
einsum.expand(lambda given: transposed(given, "y_bar"), lambda given: replaced(given, spelling(np.einsum), ()))
einsum.accept(ignored=("order",))
einsum.refuse(
    "write the lists of subscripts as literals, or the subscripts as a string",
    subscripts="an operand stands in the place of the subscripts",
)


@einsum.infer
def einsum(arguments, literals):
    subscripts, operands = literals.get("subscripts"), arguments.get("operands")
    if not isinstance(operands, Sequence) or operands.items is None:
        return Array()
    facts = [as_array(operand) for operand in operands.items]
    dtype: str | None = facts[0].dtype if facts else None
    for fact in facts[1:]:
        dtype = promote(dtype, fact.dtype)
    dtype = dtype_of(arguments, literals, dtype)
    if not isinstance(subscripts, str) or "..." in subscripts:
        return Array(None, dtype)
    terms, out = explicit_subscripts(subscripts, len(facts))
    sizes: dict[str, Dimension] = {}
    for term, fact in zip(terms, facts, strict=True):
        for c, n in zip(term, fact.shape or (None,) * len(term), strict=False):
            sizes[c] = n if sizes.get(c, n) == n else None  # one of them may be 1, and repeated
    scalar = not out and literals.get("optimize") is False  # else it may be an array of rank 0
    return Array(tuple(sizes.get(c) for c in out), dtype, scalar=scalar)


@rule(uneinsum)
def uneinsum_(subscripts, like, *operands, y, y_bar):
    """The transpose of an Einstein sum is one again."""
    return None


uneinsum_.expand(
    lambda given: transposed(given, "y_bar"), lambda given: replaced(given, spelling(uneinsum), ("like",))
)


@uneinsum_.infer
def uneinsum_(arguments, literals):
    return as_array(arguments["like"])
