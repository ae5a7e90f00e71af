"""Functions over a batch: the call for all examples at once, by the manner of the function.

Enters: a function and its operands by parameter.  Leaves: the tree and what it carries; ``Unbatchable`` where that is
not known.  What has no manner here is called for each example (``runtime.each_example``)::

    np.sum(x, axis=0)         np.sum(x, axis=1)
    x @ w                     x @ w
    w @ x                     x @ w.T             x one vector, w the same matrix for all examples
    np.outer(x, y)            x[:, :, np.newaxis] * y[:, np.newaxis]
"""

from __future__ import annotations

import inspect
import operator
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, TypeAlias

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.batching.carried import LEAF, Carried, Each, Items, Unbatchable, part_of, written
from srcgrad.batching.scope import Operand, Scope, is_number, lined_up, most, number, rank_of, shown, tree, widened
from srcgrad.language import effects
from srcgrad.rules.batching import ALONG, OF_NUMBERS, REDUCING, SAME, STACKED, is_pointwise
from srcgrad.rules.calling import signature_of
from srcgrad.rules.facts import Array, Fact, Sequence, Static, Unknown, is_discrete, is_real
from srcgrad.rules.formula import constant, displayed, spelling
from srcgrad.rules.table import lookup

Arguments: TypeAlias = Mapping[str, Operand]
Made: TypeAlias = tuple[gast.expr, Carried]
Rule: TypeAlias = Callable[[Scope, Arguments], Made | None]
_RULES: dict[Any, Rule] = {}


def _rule(*functions: Any) -> Callable[[Rule], Rule]:
    def enter(made: Rule) -> Rule:
        _RULES.update(dict.fromkeys(functions, made))
        return made

    return enter


def applied(scope: Scope, function: Any, arguments: Arguments, result: Fact) -> Made:
    """The call of a function of which some operand is batched; ``result`` is the fact of an example's."""
    made = _at_once(scope, function, arguments, result)
    return _one_by_one(scope, function, arguments, result) if made is None else made


def _at_once(scope: Scope, function: Any, arguments: Arguments, result: Fact) -> Made | None:
    try:
        hash(function)
    except TypeError:
        return None
    if function in _RULES:
        return _RULES[function](scope, arguments)
    if function in REDUCING or function in ALONG:
        return _over_axes(scope, function, arguments)
    if function in SAME:
        return _same(function, arguments)
    if function in STACKED:
        return _stacked(function, arguments, result)
    if function in OF_NUMBERS:
        return _of_numbers(OF_NUMBERS[function], arguments)
    if is_pointwise(function):
        return _pointwise(function, arguments)
    if isinstance(function, np.ufunc) and function.signature is not None:
        return _over_cores(function, arguments)
    return None


def _call(function: Any, positional: list[gast.expr], named: Mapping[str, gast.expr]) -> gast.expr:
    keywords = [gast.keyword(name, value) for name, value in named.items()]
    return gast.Call(spelling(function), positional, keywords)


def plain_rest(arguments: Arguments, *own: str) -> dict[str, gast.expr] | None:
    """The other arguments; None where one of them is batched."""
    rest = {name: operand for name, operand in arguments.items() if name not in own}
    return None if any(o.is_batched for o in rest.values()) else {name: o.node for name, o in rest.items()}


# --- manners ---------------------------------------------------------------------------------------------------------
def _pointwise(function: Any, arguments: Arguments) -> Made | None:
    if any(name in arguments for name in ("out", "where")) and function is not np.where:
        return None
    signature = None if isinstance(function, np.ufunc) else signature_of(function)
    parameters = {} if signature is None else signature.parameters
    positional = [
        name for name in arguments
        if name not in ("dtype", "casting", "order", "subok")
        and (name not in parameters or parameters[name].kind is not inspect.Parameter.KEYWORD_ONLY)
    ]  # fmt: skip
    known = lookup(function)
    orders = [list(parameters), list(known.parameters if known is not None else ())]
    if parameters and positional not in [order[: len(positional)] for order in orders]:
        return None
    operands = [arguments[name] for name in positional]
    named = plain_rest(arguments, *positional)
    if named is None:
        return None
    return _call(function, lined_up(operands), named), LEAF


def _of_numbers(function: Any, arguments: Arguments) -> Made | None:
    operands = list(arguments.values())
    if any(operand.rank != 0 for operand in operands) or any(not _is_wide(operand.fact) for operand in operands):
        return None  # what computes in the precision of its operand would differ
    return gast.Call(tree("of_numbers"), [spelling(function), *(operand.node for operand in operands)], []), LEAF


def _is_wide(fact: Fact) -> bool:
    """Whether a number surely has the precision of Python's floats, or is an integer."""
    if isinstance(fact, Static):
        return isinstance(fact.value, bool | int | float)
    return isinstance(fact, Array) and (fact.dtype in ("float", "float64", "int", "int64", "bool") or fact.real)


def _first(arguments: Arguments) -> str:
    return next(iter(arguments))


def moved_axis(axis: Operand | None, rank: int | None, usual: Any) -> gast.expr | None:
    """An axis of an example as one of the batch; ``usual`` where none is given.  None where it is not known."""
    known, value = (True, usual) if axis is None else axis.literal
    if not known:
        return None
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return number(value + 1 if value >= 0 else value)
    if isinstance(value, tuple) and all(type(one) is int for one in value):
        return shown(*(one + 1 if one >= 0 else one for one in value))
    if value is None and rank is not None:
        return number(1) if rank == 1 else shown(*range(1, rank + 1))
    return None


def _over_axes(scope: Scope, function: Any, arguments: Arguments) -> Made | None:
    name = _first(arguments)
    whole, axis = arguments[name], arguments.get("axis")
    rest = plain_rest(arguments, name, "axis")
    if rest is None or whole.carried != LEAF or (axis is not None and axis.is_batched):
        return None
    if any(rest.get(given) is not None for given in ("where", "initial", "out")):
        return None
    if not all(arguments[name].rank in _RANKS[function].get(name, (0,)) for name in rest if function in _RANKS):
        return None
    known, value = (True, ALONG.get(function)) if axis is None else axis.literal
    if whole.rank is not None and known and type(value) is int and not -whole.rank <= value < whole.rank:
        return None  # which no example has
    if function in (np.cumulative_sum, np.cumulative_prod) and whole.rank != 1 and (known, value) == (True, None):
        return None
    node, usual = whole.node, ALONG.get(function)
    flat = function in ALONG and usual is None and (axis is None or axis.literal == (True, None))
    if whole.rank == 0 and (axis is None or axis.literal == (True, None)) and function in REDUCING:
        return None
    if flat and function is np.flip:
        if whole.rank is None:
            return None
        moved: gast.expr | None = shown(*range(1, whole.rank + 1))
    elif flat:
        if function in (np.roll, np.take) or whole.rank is None:
            if whole.rank != 1:
                return None
        elif whole.rank != 1:
            node = tree("_0.reshape(len(_0), -1)", node)
        moved = number(1)
    else:
        moved = moved_axis(axis, whole.rank, usual)
        if moved is None and function in REDUCING and whole.rank is None and (
            axis is None or axis.literal == (True, None)
        ):
            if not isinstance(node, gast.Name):
                return None
            moved = tree("tuple(range(1, np.ndim(_0)))", node)
    if moved is None:
        return None
    others = {key: value for key, value in rest.items() if key in _BEHIND.get(function, ())}
    return _call(function, [node, *others.values()], {
        "axis": moved, **{key: value for key, value in rest.items() if key not in others}
    }), LEAF  # fmt: skip


#: How many axes the other operands may have, those of numbers where nothing is said: more would meet the batch.
_RANKS: dict[Any, dict[str, tuple[int, ...]]] = {np.trapezoid: {"x": (1,)}, np.unwrap: {}}
#: What stands by its place behind the array.
_BEHIND: dict[Any, tuple[str, ...]] = {
    np.roll: ("shift",), np.repeat: ("repeats",), np.take: ("indices",), np.diff: ("n",)
}


def _same(function: Any, arguments: Arguments) -> Made | None:
    first = next(iter(arguments.values()))
    positional = [first.node]
    if isinstance(first.node, gast.Tuple) and function is runtime.private:
        positional = list(first.node.elts)
        carried: Carried = first.carried
        if len(positional) == 1 and isinstance(carried, Items):
            carried = carried.parts[0]
        return _call(function, positional, {}), carried
    rest = plain_rest(arguments, _first(arguments))
    if rest is None or "shape" in rest:
        return None
    if getattr(function, "__module__", None) == "numpy" and first.carried != LEAF:
        return None
    return _call(function, positional, rest), first.carried


def _stacked(function: Any, arguments: Arguments, result: Fact) -> Made | None:
    operands = STACKED[function]
    rest = plain_rest(arguments, *operands)
    given = [arguments[name] for name in operands]
    if rest is None or any(operand.carried not in (None, LEAF) for operand in given):
        return None
    if function is np.linalg.solve and given[1].rank == 1:
        made = tree("np.linalg.solve(_0, _1[..., np.newaxis])[..., 0]", given[0].node, given[1].node)
        return made, LEAF
    if any(operand.rank != 2 for operand in given):
        return None
    made = _call(function, [operand.node for operand in given], rest)
    if function in (np.linalg.slogdet, np.linalg.eigh):
        return made, Items((LEAF, LEAF))
    if function in (np.linalg.svd, np.linalg.qr) and not isinstance(result, Array | Sequence):
        return None
    return made, _shape_of_result(function, result)


def _over_cores(function: np.ufunc, arguments: Arguments) -> Made | None:
    """A ufunc of vectors and matrices, as ``np.matvec``, where each operand has the axes of its signature alone."""
    assert function.signature is not None
    cores = re.findall(r"\(([^)]*)\)", function.signature.partition("->")[0])
    operands = list(arguments.values())
    if function.nout != 1 or len(operands) != len(cores) or any(o.carried not in (None, LEAF) for o in operands):
        return None
    if any(operand.rank != len(core.split(",")) for operand, core in zip(operands, cores, strict=True)):
        return None
    return _call(function, [operand.node for operand in operands], {}), LEAF


def _of_vectors(function: Any) -> Rule:
    """Vector products, and their transposes, whose result has the form of an operand: that has to carry the batch."""

    def made(scope: Scope, arguments: Arguments) -> Made | None:
        names = [name for name in arguments if not name.startswith("axis")]
        rest = plain_rest(arguments, *names)
        if rest is None or any(arguments[name].literal not in ((True, -1), (True, None)) for name in rest):
            return None
        given = [arguments[name] for name in names]
        if any(operand.carried not in (None, LEAF) for operand in given):
            return None
        if len(given) == 2:
            return _call(function, lined_up(given), {}), LEAF
        if any(operand.rank != 1 for operand in given[1:]):
            return None
        return _call(function, [scope.raised(operand, LEAF) for operand in given], {}), LEAF

    return made


_RULES.update({f: _of_vectors(f) for f in (np.cross, np.linalg.cross, runtime.uncross_left, runtime.uncross_right)})


@_rule(runtime.operand)
def _as_operand(scope: Scope, arguments: Arguments) -> Made | None:
    whole = _leaf(arguments, "x")  # no list, of which the axes would be others
    return None if whole is None else (whole.node, LEAF)


@_rule(np.interp)
def _interpolated(scope: Scope, arguments: Arguments) -> Made | None:
    whole, rest = _leaf(arguments, "x"), plain_rest(arguments, "x")
    return None if whole is None or rest is None else (_call(np.interp, [whole.node], rest), LEAF)


@_rule(np.polyval)
def _of_polynomial(scope: Scope, arguments: Arguments) -> Made | None:
    whole = _leaf(arguments, "x")
    p = arguments["p"]
    numbers = isinstance(p.fact, Sequence) and all(is_number(part) for part in p.fact.items or (Unknown(),))
    if not numbers and p.rank != 1:
        return None
    return None if whole is None else (_call(np.polyval, [arguments["p"].node, whole.node], {}), LEAF)


def _one_by_one(scope: Scope, function: Any, arguments: Arguments, result: Fact) -> Made:
    """A call for each example, where the function changes nothing and gives a number or an array."""
    name = displayed(function)
    if not callable(function) or not _is_pure(function):
        raise Unbatchable(f"{name} has no batching rule")
    carried = _shape_of_result(function, result)
    signature = None if isinstance(function, np.ufunc) else signature_of(function)
    positional = list(arguments)
    if signature is not None:
        places = [p.name for p in signature.parameters.values() if p.kind <= p.POSITIONAL_OR_KEYWORD]
        if positional != places[: len(positional)]:
            raise Unbatchable(f"{name} has no batching rule for this call")
    scope.slow(function)
    scope.copies = True
    given = [arguments[name] for name in positional]
    flags = gast.Tuple([written(operand.carried) for operand in given], gast.Load())
    made = gast.Call(tree("each_example"), [spelling(function), flags, *(operand.node for operand in given)], [])
    return made, carried


def _is_pure(function: Any) -> bool:
    made = effects.of_function(function)
    home = (getattr(function, "__module__", None) or "").partition(".")[0]
    known = isinstance(function, np.ufunc) or home in ("numpy", "scipy", "math", "srcgrad", "builtins", "_operator")
    return known and made.is_known and not (made.updates or made.draws or made.calls or made.keeps)


def _shape_of_result(function: Any, result: Fact) -> Carried:
    match result:
        case Sequence(kind="tuple", items=tuple() as parts) if all(isinstance(part, Array) for part in parts):
            return Items((LEAF,) * len(parts))
        case Array():
            return LEAF
        case Unknown() if getattr(function, "__module__", "") != "builtins":
            return LEAF  # if it is no number and no array, ``each_example`` raises
    raise Unbatchable(f"{displayed(function)} has no batching rule")


# --- shapes ----------------------------------------------------------------------------------------------------------
def _leaf(arguments: Arguments, name: str) -> Operand | None:
    """The operand, if it is the only one that is batched."""
    operand = arguments[name]
    others = plain_rest(arguments, name)
    return operand if others is not None and operand.carried == LEAF else None


@_rule(np.reshape)
def _reshape(scope: Scope, arguments: Arguments) -> Made | None:
    whole, shape = _leaf(arguments, "a"), arguments["shape"]
    if whole is None or not set(arguments) <= {"a", "shape"}:
        return None
    node = shape.node
    if isinstance(node, gast.Tuple | gast.List):
        parts = node.elts
    elif isinstance(shape.fact, Sequence) or isinstance(shape.fact, Unknown) and isinstance(node, gast.BinOp):
        parts = [gast.Starred(node, gast.Load())]
    elif isinstance(shape.fact, Array) and shape.fact.scalar or shape.literal[0]:
        parts = [node]
    else:
        return None
    target = gast.Tuple([tree("len(_0)", whole.node), *parts], gast.Load())
    return tree("np.reshape(_0, _1)", whole.node, target), LEAF


@_rule(np.ravel)
def _ravel(scope: Scope, arguments: Arguments) -> Made | None:
    whole = _leaf(arguments, "a")
    if whole is None or len(arguments) > 1:
        return None
    return tree("np.reshape(_0, (len(_0), -1))", whole.node), LEAF


@_rule(np.transpose)
def _transpose(scope: Scope, arguments: Arguments) -> Made | None:
    whole, axes = _leaf(arguments, "a"), arguments.get("axes")
    if whole is None or whole.rank is None:
        return None
    rank = whole.rank
    known, order = (True, None) if axes is None else axes.literal
    if not known:
        return None
    order = tuple(reversed(range(rank))) if order is None else order
    if rank <= 1:
        return whole.node, LEAF
    if rank == 2 and order == (1, 0):
        return tree("np.swapaxes(_0, 1, 2)", whole.node), LEAF
    return tree("np.transpose(_0, _1)", whole.node, shown(0, *(axis % rank + 1 for axis in order))), LEAF


@_rule(np.swapaxes, np.moveaxis)
def _two_axes(scope: Scope, arguments: Arguments) -> Made | None:
    names = list(arguments)
    whole = _leaf(arguments, names[0])
    axes = [moved_axis(arguments[name], None, 0) for name in names[1:]]
    if whole is None or None in axes or len(axes) != 2:
        return None
    function = "np.moveaxis" if "source" in arguments else "np.swapaxes"
    return tree(f"{function}(_0, _1, _2)", whole.node, *axes), LEAF


@_rule(np.squeeze)
def _squeeze(scope: Scope, arguments: Arguments) -> Made | None:
    whole = _leaf(arguments, "a")
    moved = None if "axis" not in arguments else moved_axis(arguments["axis"], None, None)
    return None if whole is None or moved is None else (tree("np.squeeze(_0, axis=_1)", whole.node, moved), LEAF)


@_rule(np.expand_dims)
def _expand(scope: Scope, arguments: Arguments) -> Made | None:
    whole = _leaf(arguments, "a")
    moved = moved_axis(arguments.get("axis"), None, None)
    return None if whole is None or moved is None else (tree("np.expand_dims(_0, _1)", whole.node, moved), LEAF)


@_rule(np.broadcast_to)
def _broadcast(scope: Scope, arguments: Arguments) -> Made | None:
    whole, shape = _leaf(arguments, "array"), arguments["shape"]
    if whole is None or whole.rank is None or not isinstance(shape.node, gast.Tuple):
        return None
    target = gast.Tuple([tree("len(_0)", whole.node), *shape.node.elts], gast.Load())
    return tree("np.broadcast_to(_0, _1)", widened(whole, len(shape.node.elts)), target), LEAF


def _with_two_axes(function: Any) -> Rule:
    def made(scope: Scope, arguments: Arguments) -> Made | None:
        whole = _leaf(arguments, "a")
        rest = plain_rest(arguments, "a")
        if whole is None or rest is None or set(rest) - {"offset"} or whole.rank is None or whole.rank < 2:
            return None
        return _call(function, [whole.node], {**rest, "axis1": number(1), "axis2": number(2)}), LEAF

    return made


_RULES[np.trace], _RULES[np.diagonal] = _with_two_axes(np.trace), _with_two_axes(np.diagonal)


# --- arrays joined ---------------------------------------------------------------------------------------------------
def _parts(operand: Operand) -> list[Operand] | None:
    """The parts of a display, or of a name that stands for one, each by itself."""
    facts = operand.fact.items if isinstance(operand.fact, Sequence) else None
    if facts is None:
        return None
    carried = operand.carried.parts if isinstance(operand.carried, Items) else (part_of(operand.carried),) * len(facts)
    node, original = operand.node, operand.original
    if isinstance(node, gast.Tuple | gast.List) and isinstance(original, gast.Tuple | gast.List):
        nodes, originals = node.elts, original.elts
    elif isinstance(node, gast.Name):
        nodes = originals = [gast.Subscript(node, number(place), gast.Load()) for place in range(len(facts))]
    else:
        return None
    if not len(nodes) == len(facts) == len(carried):
        return None
    return [Operand(*each) for each in zip(nodes, carried, facts, originals, strict=True)]


def _joined(scope: Scope, parts: Operand) -> gast.expr | None:
    """A list of batches: a display, or a list whose items all are batches."""
    made = _parts(parts)
    if made is not None:
        if any(operand.carried not in (None, LEAF) for operand in made):
            return None
        return gast.List([scope.raised(operand, LEAF) for operand in made], gast.Load())
    if parts.carried == Each(LEAF) or isinstance(parts.carried, Items) and part_of(parts.carried) == LEAF:
        return scope.raised(parts, Each(LEAF))
    return None


def _joining(function: str, usual: int, name: str) -> Rule:
    def made(scope: Scope, arguments: Arguments) -> Made | None:
        axis = moved_axis(arguments.get("axis"), None, usual)
        rest = plain_rest(arguments, name, "axis")
        if axis is None or rest:
            return None
        parts = _joined(scope, arguments[name])
        return None if parts is None else (tree(f"{function}(_0, axis=_1)", parts, axis), LEAF)

    return made


_RULES[np.concatenate] = _joining("np.concatenate", 0, "arrays")
_RULES[np.stack] = _joining("np.stack", 0, "arrays")


def _along_last(of_vectors: str, of_matrices: str) -> Rule:
    """What joins vectors otherwise than matrices."""

    def made(scope: Scope, arguments: Arguments) -> Made | None:
        parts = _parts(arguments["tup"])
        joined = None if parts is None or len(arguments) > 1 else _joined(scope, arguments["tup"])
        ranks = {_rank_of_list(part) for part in parts or ()}
        if joined is None or len(ranks) != 1 or not (rank := ranks.pop()):
            return None
        return tree(of_vectors if rank == 1 else of_matrices, joined), LEAF

    return made


def _rank_of_list(part: Operand) -> int | None:
    """How many axes an operand has, or the array of a list of numbers."""
    if isinstance(part.fact, Sequence) and part.carried is None:
        numbers = all(isinstance(one, Array) and one.shape == () for one in part.fact.items or ())
        return 1 if numbers else None
    return part.rank


_RULES[np.vstack] = _along_last("np.stack(_0, axis=1)", "np.concatenate(_0, axis=1)")
_RULES[np.hstack] = _along_last("np.concatenate(_0, axis=1)", "np.concatenate(_0, axis=2)")


@_rule(np.array, np.asarray)
def _array(scope: Scope, arguments: Arguments) -> Made | None:
    whole = next(iter(arguments.values()))
    rest = {name: o for name, o in arguments.items() if o is not whole and o.literal != (True, None)}
    if rest:
        return None
    if whole.carried == LEAF:
        return tree("np.array(_0)", whole.node), LEAF
    made = _as_array(scope, whole)
    return None if made is None else (made, LEAF)


def _as_array(scope: Scope, whole: Operand) -> gast.expr | None:
    """A batch of the arrays of nested lists."""
    parts = _parts(whole)
    if parts is None:
        fact = whole.fact
        item = fact.item if isinstance(fact, Sequence) and fact.items is None else None
        if isinstance(fact, Sequence) and fact.items:
            item = fact.items[0] if all(isinstance(part, Array) for part in fact.items) else None
        if not isinstance(item, Array):
            return None
        joined = _joined(scope, whole)
        return None if joined is None else tree("np.stack(_0, axis=1)", joined)
    rows = []
    for part in parts:
        if isinstance(part.fact, Sequence):
            if not part.is_batched:
                return None
            row = _as_array(scope, part)
            if row is None:
                return None
            rows.append(row)
        elif isinstance(part.fact, Array | Static) and part.carried in (None, LEAF):
            rows.append(scope.raised(part, LEAF))
        else:
            return None
    return tree("np.stack(_0, axis=1)", gast.List(rows, gast.Load())) if rows else None


# --- products --------------------------------------------------------------------------------------------------------
def product(a: Operand, b: Operand) -> gast.expr | None:
    """``a @ b`` of vectors and matrices, of which one at least is a batch."""
    if any(operand.carried not in (None, LEAF) for operand in (a, b)):
        return None
    x, y = a.node, b.node
    match (a.rank, a.is_batched), (b.rank, b.is_batched):
        case (1, True), (1, True):
            return tree("np.sum(_0 * _1, axis=1)", x, y)
        case (1, False), (1, True):
            return tree("_0 @ _1", y, x)
        case (2, False), (1, True):
            return tree("_0 @ _1.T", y, x)
        case (2, True), (1, True):
            return tree("(_0 @ _1[:, :, np.newaxis])[:, :, 0]", x, y)
        case (1, True), (2, True):
            return tree("(_0[:, np.newaxis] @ _1)[:, 0]", x, y)
        case (1 | 2, _), (1 | 2, _):
            return tree("_0 @ _1", x, y)
    return None


@_rule(np.matmul, operator.matmul, np.dot)
def _product(scope: Scope, arguments: Arguments) -> Made | None:
    if len(arguments) != 2:
        return None
    a, b = arguments.values()
    made = product(a, b)
    return None if made is None else (made, LEAF)


@_rule(np.inner, np.vdot)
def _inner(scope: Scope, arguments: Arguments) -> Made | None:
    a, b = arguments.values()
    if a.rank != 1 or b.rank != 1 or not (_is_known_real(a.fact) and _is_known_real(b.fact)):
        return None
    made = product(a, b)
    return None if made is None else (made, LEAF)


def _is_known_real(fact: Fact) -> bool:
    return isinstance(fact, Array) and (fact.real or is_real(fact.dtype))


@_rule(np.outer)
def _outer(scope: Scope, arguments: Arguments) -> Made | None:
    a, b = arguments.values()
    if a.rank != 1 or b.rank != 1 or any(operand.carried not in (None, LEAF) for operand in (a, b)):
        return None
    left = tree("_0[:, :, np.newaxis]" if a.is_batched else "_0[:, np.newaxis]", a.node)
    return tree("_0 * _1", left, tree("_0[:, np.newaxis]", b.node) if b.is_batched else b.node), LEAF


@_rule(np.einsum)
def _einsum(scope: Scope, arguments: Arguments) -> Made | None:
    known, text = arguments["subscripts"].literal
    operands = _parts(arguments["operands"])
    if not known or not isinstance(text, str) or operands is None or "..." in text:
        return None
    if any(operand.carried not in (None, LEAF) for operand in operands):
        return None
    text = text.replace(" ", "")
    given, arrow, out = text.partition("->")
    if not arrow:
        out = "".join(sorted(letter for letter in set(given) - {","} if given.count(letter) == 1))
    batch = next(letter for letter in "bBzZabcdefghijklmnopqrstuvwxyzACDEFGHIJKLMNOPQRSTUVWXY" if letter not in text)
    inputs = given.split(",")
    if len(inputs) != len(operands):
        return None
    spelled = ",".join(batch * operand.is_batched + one for one, operand in zip(inputs, operands, strict=True))
    subscripts = constant(f"{spelled}->{batch}{out}")
    rest = plain_rest(arguments, "subscripts", "operands")
    if rest is None:
        return None
    return _call(np.einsum, [subscripts, *(operand.node for operand in operands)], rest), LEAF


# --- Python's own ----------------------------------------------------------------------------------------------------
@_rule(sum)
def _sum(scope: Scope, arguments: Arguments) -> Made | None:
    whole = arguments["iterable"]
    if len(arguments) > 1:
        return None
    if whole.carried == LEAF:
        return (tree("np.sum(_0, axis=1)", whole.node), LEAF) if whole.rank else None
    items_ = whole.fact.items if isinstance(whole.fact, Sequence) else None
    kinds = items_ or ((whole.fact.item,) if isinstance(whole.fact, Sequence) else ())
    ranks = {kind.rank if isinstance(kind, Array) else None for kind in kinds}
    if len(ranks) != 1 or None in ranks:
        return None
    parts = _joined(scope, whole)
    return None if parts is None else (tree("sum(_0)", parts), LEAF)


def _extremum(comparison: str) -> Rule:
    def made(scope: Scope, arguments: Arguments) -> Made | None:
        parts = _parts(arguments["args"]) if "args" in arguments else None
        if parts is None or len(arguments) > 1 or not parts:
            return None
        if not 2 <= len(parts) <= 4:  # an operand is written once more for each that follows
            return None
        if any(part.rank != 0 or part.carried not in (None, LEAF) for part in parts):
            return None
        found = parts[0].node
        for part in parts[1:]:
            found = tree(f"np.where(_1 {comparison} _0, _1, _0)", found, part.node)
        return found, LEAF

    return made


_RULES[max], _RULES[min] = _extremum(">"), _extremum("<")


@_rule(float)
def _float(scope: Scope, arguments: Arguments) -> Made | None:
    (x,) = arguments.values()
    if x.rank != 0 or not _is_wide(x.fact):
        return None
    return tree("np.asarray(_0, np.float64)", x.node), LEAF


# --- what adjoints call ----------------------------------------------------------------------------------------------
@_rule(runtime.unbroadcast)
def _unbroadcast(scope: Scope, arguments: Arguments) -> Made | None:
    g, like = arguments["g"], arguments["like"]
    if any(operand.carried not in (None, LEAF) for operand in (g, like)):
        return None
    if not g.is_batched:
        return tree("unbroadcast(_0, _1[0])", g.node, like.node), None
    if like.is_batched and g.rank is not None and g.rank == like.rank:
        return tree("unbroadcast(_0, _1)", g.node, like.node), LEAF
    if like.is_batched:
        return tree("unbroadcast_each(_0, _1)", g.node, like.node), LEAF
    return tree("unbroadcast_each(_0, _1, False)", g.node, like.node), LEAF


@_rule(runtime.rebroadcast)
def _rebroadcast(scope: Scope, arguments: Arguments) -> Made | None:
    g, like = arguments["g"], arguments["like"]
    if g.rank is None or like.rank is None or any(operand.carried not in (None, LEAF) for operand in (g, like)):
        return None
    return tree("rebroadcast(_0, _1)", widened(g, like.rank), scope.raised(like, LEAF)), LEAF


@_rule(runtime.unproduct)
def _unproduct(scope: Scope, arguments: Arguments) -> Made | None:
    g, b, like = operands = [arguments[name] for name in ("g", "b", "like")]
    ranks = [operand.rank for operand in operands if operand.rank is not None]
    if any(operand.carried not in (None, LEAF) for operand in operands):
        return None
    if not (g.is_batched or b.is_batched):
        return tree("unproduct(_0, _1, _2[0])", g.node, b.node, like.node), None
    whole = replace(like, node=scope.raised(like, LEAF), carried=LEAF)
    if len(ranks) < len(operands):
        if not all(isinstance(operand.node, gast.Name | gast.Constant) for operand in operands):
            return None
        rank = most([rank_of(operand.node, batched=operand.is_batched) for operand in operands])
        wide = [tree("with_rank(_0, _1)", o.node, rank) if o.is_batched else o.node for o in (g, b, whole)]
        size = tree("len(_0)", g.node if g.is_batched else b.node)
        shape = tree("np.shape(_0)" if like.is_batched else "(_1, *np.shape(_0))", like.node, size)
        return tree("np.reshape(unproduct(_0, _1, _2), _3)", *wide, shape), LEAF
    made = tree("unproduct(_0, _1, _2)", *(widened(operand, max(ranks)) for operand in (g, b, whole)))
    missing = max(ranks) - ranks[-1]
    return (tree("np.squeeze(_0, axis=_1)", made, shown(*range(1, missing + 1))) if missing else made), LEAF


@_rule(runtime.solve_triangle)
def _solve_triangle(scope: Scope, arguments: Arguments) -> Made | None:
    a, b = arguments["a"], arguments["b"]
    rest = plain_rest(arguments, "a", "b")
    if rest is None or any(operand.rank != 2 or operand.carried not in (None, LEAF) for operand in (a, b)):
        return None
    return _call(runtime.solve_triangle, [scope.raised(a, LEAF), scope.raised(b, LEAF)], rest), LEAF


@_rule(runtime.widened)
def _widened(scope: Scope, arguments: Arguments) -> Made | None:
    x, like = arguments["x"], arguments.get("like")
    if any(operand is not None and operand.carried not in (None, LEAF) for operand in (x, like)):
        return None
    given = [x.node] if like is None else [x.node, like.node]
    return _call(runtime.widened, given, {}), LEAF if x.is_batched else None


@_rule(runtime.unreduce)
def _unreduce(scope: Scope, arguments: Arguments) -> Made | None:
    g, a, axis = arguments["g"], arguments["a"], arguments.get("axis")
    rest = plain_rest(arguments, "g", "a", "axis")
    if rest is None or any(operand.carried not in (None, LEAF) for operand in (g, a)) or "where" in rest:
        return None
    if not g.is_batched:
        given = [] if axis is None else [axis.node]
        return _call(runtime.unreduce, [g.node, tree("_0[0]", a.node), *given], rest), None
    if a.rank == 0 and (axis is None or axis.literal == (True, None)):
        return _unbroadcast(scope, {"g": g, "like": a})
    moved = moved_axis(axis, a.rank, None)
    if moved is None and (axis is None or axis.literal == (True, None)) and isinstance(a.node, gast.Name):
        moved = tree("tuple(range(1, _0))", tree("np.ndim(_0)" if a.is_batched else "np.ndim(_0) + 1", a.node))
    if moved is None:
        return None
    return _call(runtime.unreduce, [g.node, scope.raised(a, LEAF), moved], rest), LEAF


@_rule(runtime.count)
def _count(scope: Scope, arguments: Arguments) -> Made | None:
    whole = _leaf(arguments, "a")
    if whole is None:
        return None
    rest = {name: operand.node for name, operand in arguments.items() if name != "a"}
    return _call(runtime.count, [tree("_0[0]", whole.node)], rest), None


@_rule(runtime.deviation)
def _deviation(scope: Scope, arguments: Arguments) -> Made | None:
    whole = _leaf(arguments, "a")
    moved = None if whole is None else moved_axis(arguments.get("axis"), whole.rank, None)
    if whole is None or moved is None or not whole.rank or not set(arguments) <= {"a", "axis"}:
        return None
    return _call(runtime.deviation, [whole.node, moved], {}), LEAF


@_rule(runtime.ties)
def _ties(scope: Scope, arguments: Arguments) -> Made | None:
    a, y, axis = arguments["a"], arguments["y"], arguments.get("axis")
    rest = plain_rest(arguments, "a", "y", "axis")
    if rest or a.carried != LEAF or y.carried != LEAF or not a.rank:
        return None
    moved = moved_axis(axis, a.rank, None)
    return None if moved is None else (_call(runtime.ties, [a.node, y.node, moved], {}), LEAF)


@_rule(runtime.unarray)
def _unarray(scope: Scope, arguments: Arguments) -> Made | None:
    g, like = arguments["g"], arguments["object"]
    if isinstance(like.fact, Array):
        return _unbroadcast(scope, {"g": g, "like": like})
    match like.fact:
        case Sequence(items=tuple() as parts) if parts and all(isinstance(part, Array) for part in parts):
            kinds = list(parts)
        case Sequence(items=None, item=Array() as item):
            kinds = [item]
        case _:
            return None
    floating = all(kind.dtype in ("float", "float64") for kind in kinds)
    if g.carried != LEAF or not floating or not (isinstance(g.fact, Array) and g.fact.dtype in ("float", "float64")):
        return None
    return tree("list(np.moveaxis(_0, 1, 0))", g.node), Each(LEAF)


@_rule(runtime.tangent_like)
def _tangent_like(scope: Scope, arguments: Arguments) -> Made | None:
    moved, v = arguments["moved"], arguments["v"]
    if "known" in arguments and arguments["known"].fact != Sequence("tuple", ()):
        return None  # it shares memory with tangents where values do
    known = isinstance(moved.fact, Array) and isinstance(v.fact, Array) and moved.rank == v.rank and moved.rank
    if not known or moved.carried not in (None, LEAF):
        return None
    return tree("tangent_like(_0, _0)", moved.node), moved.carried  # of v it takes the layout alone


@_rule(runtime.one_for)
def _one_for(scope: Scope, arguments: Arguments) -> Made | None:
    value, name = arguments.values()
    if value.carried != LEAF:
        return None
    if isinstance(value.fact, Array) and value.fact.shape == () and value.fact.is_real:
        if not is_discrete(value.fact.dtype) and value.fact.dtype is not None:
            return constant(1.0), None
    return tree("one_for(_0[0], _1)", value.node, name.node), None


@_rule(runtime.add)
def _add(scope: Scope, arguments: Arguments) -> Made | None:
    a, b = arguments.values()
    if isinstance(a.fact, Array) and isinstance(b.fact, Array) and a.rank is not None and a.rank == b.rank:
        return tree("_0 + _1", scope.raised(a, LEAF), scope.raised(b, LEAF)), LEAF
    if a.carried == b.carried:
        return tree("add(_0, _1)", a.node, b.node), a.carried
    return None


# --- sizes -----------------------------------------------------------------------------------------------------------
@_rule(len)
def _len(scope: Scope, arguments: Arguments) -> Made | None:
    (whole,) = arguments.values()
    return (tree("_0.shape[1]", whole.node) if whole.carried == LEAF else tree("len(_0)", whole.node)), None


@_rule(np.shape)
def _shape(scope: Scope, arguments: Arguments) -> Made | None:
    whole = _leaf(arguments, _first(arguments))
    return None if whole is None else (tree("_0.shape[1:]", whole.node), None)


def _of_dtype(function: Any) -> Rule:
    def made(scope: Scope, arguments: Arguments) -> Made | None:
        whole = _leaf(arguments, _first(arguments))
        return None if whole is None else (_call(function, [whole.node], {}), None)

    return made


_RULES[np.iscomplexobj], _RULES[np.isrealobj] = _of_dtype(np.iscomplexobj), _of_dtype(np.isrealobj)


@_rule(np.ndim)
def _ndim(scope: Scope, arguments: Arguments) -> Made | None:
    whole = _leaf(arguments, _first(arguments))
    return None if whole is None else (tree("_0.ndim - 1", whole.node), None)


@_rule(np.size)
def _size(scope: Scope, arguments: Arguments) -> Made | None:
    whole = _leaf(arguments, _first(arguments))
    if whole is None or len(arguments) > 1:
        return None
    return tree("_0.size // len(_0)", whole.node), None
