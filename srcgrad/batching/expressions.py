"""Expressions over a batch.

Enters: an expression of the normal form, nested where it carries no derivative, and a ``Scope``.  Leaves: the operand
for all examples at once; ``Unbatchable`` where a test, a text or a key differs from example to example::

    x[1:]                   x[:, 1:]
    x.shape[0]              x.shape[1]
    x > threshold           x > threshold
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from typing import Any

import gast
import numpy as np

from srcgrad.batching.carried import LEAF, Carried, Each, Items, Keys, Unbatchable, each, items, join, keys, part_of
from srcgrad.batching.facts import spelled_out
from srcgrad.batching.operations import applied, product
from srcgrad.batching.scope import Operand, Scope, is_number, lined_up, number, tree, widened
from srcgrad.rules.calling import UnsupportedCall, bind, signature_of
from srcgrad.rules.facts import Array, Fact, Sequence, Static, is_discrete
from srcgrad.rules.formula import literal, object_of
from srcgrad.rules.table import lookup, method, operator_of
from srcgrad.syntax.globals import GlobalReference
from srcgrad.syntax.parse import names_read

#: Arithmetic that Python's floats raise for, or answer with a complex number, where NumPy's give an infinity or a NaN.
_RAISING = (gast.Div, gast.FloorDiv, gast.Mod, gast.Pow)


def rewritten(scope: Scope, node: gast.expr) -> Operand:
    """An expression for all examples."""
    fact = scope.fact(node)
    if not any(scope.carried.get(name) is not None for name in names_read(node)):
        return Operand(node, None, fact, node)
    made, carried = _made(scope, node, fact)
    return Operand(made, carried, fact, node)


def plain(scope: Scope, node: gast.expr, what: str) -> gast.expr:
    """An expression that must be the same for every example."""
    made = rewritten(scope, node)
    if made.is_batched:
        raise Unbatchable(f"{what} differs from example to example")
    return made.node


def _made(scope: Scope, node: gast.expr, fact: Fact) -> tuple[gast.expr, Carried]:
    match node:
        case gast.Name(id=name):
            return node, scope.carried.get(name)
        case gast.Tuple(elts=elements) | gast.List(elts=elements):
            if any(isinstance(element, gast.Starred) for element in elements):
                raise Unbatchable("a star in a display")
            parts = [rewritten(scope, element) for element in elements]
            return type(node)([part.node for part in parts], gast.Load()), items(part.carried for part in parts)
        case gast.Dict(keys=names, values=values):
            known = [literal(name) if name is not None else (False, None) for name in names]
            parts = [rewritten(scope, value) for value in values]
            if not all(is_known for is_known, _ in known):
                raise Unbatchable("a key that is computed")
            carried = keys((key, part.carried) for (_, key), part in zip(known, parts, strict=True))
            return gast.Dict(names, [part.node for part in parts]), carried
        case gast.BinOp(left=left, op=op, right=right):
            one, other = rewritten(scope, left), rewritten(scope, right)
            if not (one.is_batched or other.is_batched):
                return gast.BinOp(one.node, op, other.node), None
            return _binary(scope, one, op, other, fact)
        case gast.UnaryOp(op=gast.USub() | gast.UAdd() | gast.Invert() as op, operand=operand):
            inner = rewritten(scope, operand)
            if inner.carried not in (None, LEAF):
                raise Unbatchable("arithmetic with a container")
            return gast.UnaryOp(op, inner.node), inner.carried
        case gast.Compare(left=left, ops=[op], comparators=[right]):
            return _compared(scope, left, op, right)
        case gast.IfExp(test=test, body=body, orelse=orelse):
            asked = plain(scope, test, "a test")
            one, other = rewritten(scope, body), rewritten(scope, orelse)
            carried = join(one.carried, other.carried)
            return gast.IfExp(asked, scope.raised(one, carried), scope.raised(other, carried)), carried
        case gast.Attribute(value=value, attr=attribute):
            return _attribute(scope, rewritten(scope, value), attribute, fact)
        case gast.Subscript(value=value, slice=index):
            return indexed(scope, rewritten(scope, value), index, fact)
        case gast.Call():
            return _called(scope, node, fact)
        case gast.BoolOp(op=op, values=values):
            return gast.BoolOp(op, [plain(scope, value, "a truth value") for value in values]), None
        case gast.UnaryOp(op=op, operand=operand):
            return gast.UnaryOp(op, plain(scope, operand, "a truth value")), None
        case gast.Compare(left=left, ops=ops, comparators=comparators):
            rest = [plain(scope, each, "a comparison of several") for each in comparators]
            return gast.Compare(plain(scope, left, "a comparison of several"), ops, rest), None
    raise Unbatchable(f"a value differs from example to example in an expression ({type(node).__name__})")


# --- operators -------------------------------------------------------------------------------------------------------
def _binary(scope: Scope, left: Operand, op: gast.operator, right: Operand, fact: Fact) -> tuple[gast.expr, Carried]:
    if isinstance(op, gast.MatMult):
        made = product(left, right)
        if made is not None:
            return made, LEAF
        return applied(scope, np.matmul, {"x1": left, "x2": right}, fact)
    if isinstance(left.fact, Sequence) or isinstance(right.fact, Sequence):
        return _lists(scope, left, op, right)
    if isinstance(op, _RAISING) and _may_be_python(left.fact) and _may_be_python(right.fact):
        return applied(scope, operator_of(type(op)), {"a": left, "b": right}, fact) if isinstance(
            op, gast.FloorDiv | gast.Mod
        ) else _checked(op, left, right)
    one, other = lined_up([left, right])
    return gast.BinOp(one, op, other), LEAF


def _may_be_python(fact: Fact) -> bool:
    """Whether an operand may be a number of Python's own, of which arithmetic raises."""
    if isinstance(fact, Static):
        return isinstance(fact.value, int | float)
    return isinstance(fact, Array) and fact.scalar and fact.dtype in ("int", "float", "complex", "bool")


def _checked(op: gast.operator, left: Operand, right: Operand) -> tuple[gast.expr, Carried]:
    function = "np.divide" if isinstance(op, gast.Div) else "np.power"
    return tree(f"of_numbers({function}, _0, _1)", *lined_up([left, right])), LEAF


def _lists(scope: Scope, left: Operand, op: gast.operator, right: Operand) -> tuple[gast.expr, Carried]:
    if isinstance(op, gast.Add) and isinstance(left.fact, Sequence) and isinstance(right.fact, Sequence):
        match left.carried, right.carried, left.fact.items, right.fact.items:
            case one, other, tuple() as first, tuple() as last:
                whole = items([*_parts(one, len(first)), *_parts(other, len(last))])
                return gast.BinOp(left.node, op, right.node), whole
        carried = each(join(part_of(left.carried), part_of(right.carried)))
        return gast.BinOp(scope.raised(left, carried), op, scope.raised(right, carried)), carried
    if isinstance(op, gast.Mult) and not (left.is_batched and right.is_batched):
        listed = left if isinstance(left.fact, Sequence) else right
        count = right if listed is left else left
        if not count.is_batched and is_number(count.fact):
            return gast.BinOp(left.node, op, right.node), each(scope.any_part(listed))
    raise Unbatchable("arithmetic with a list")


def _parts(carried: Carried, count: int) -> tuple[Carried, ...]:
    match carried:
        case Items(parts=parts) if len(parts) == count:
            return parts
        case Each(part=part):
            return (part,) * count
    return (None,) * count


def _compared(scope: Scope, left: gast.expr, op: gast.cmpop, right: gast.expr) -> tuple[gast.expr, Carried]:
    one, other = rewritten(scope, left), rewritten(scope, right)
    if not (one.is_batched or other.is_batched):
        return gast.Compare(one.node, [op], [other.node]), None
    if isinstance(op, gast.Is | gast.IsNot):
        if literal(right) == (True, None) or literal(left) == (True, None):
            return gast.Compare(one.node, [op], [other.node]), None  # a batch is None where its examples are
        raise Unbatchable("which object a value is differs from example to example")
    if isinstance(op, gast.In | gast.NotIn):
        raise Unbatchable("what is looked for differs from example to example")
    if isinstance(one.fact, Sequence) or isinstance(other.fact, Sequence):
        raise Unbatchable("containers are compared")
    first, second = lined_up([one, other])
    return gast.Compare(first, [op], [second]), LEAF


# --- attributes ------------------------------------------------------------------------------------------------------
def _attribute(scope: Scope, whole: Operand, attribute: str, fact: Fact) -> tuple[gast.expr, Carried]:
    if not whole.is_batched:
        return gast.Attribute(whole.node, attribute, gast.Load()), None
    if whole.carried != LEAF:
        raise Unbatchable(f"the attribute {attribute} of a container")
    match attribute:
        case "shape":
            return tree("_0.shape[1:]", whole.node), None
        case "ndim":
            return tree("_0.ndim - 1", whole.node), None
        case "size":
            return tree("_0.size // len(_0)", whole.node), None
        case "dtype" | "itemsize":
            return gast.Attribute(whole.node, attribute, gast.Load()), None
        case "real" | "imag":
            return gast.Attribute(whole.node, attribute, gast.Load()), LEAF
        case "T":
            return applied(scope, np.transpose, {"a": whole}, fact)
    raise Unbatchable(f"the attribute {attribute} of an array")


# --- places ----------------------------------------------------------------------------------------------------------
def indexed(scope: Scope, base: Operand, index: gast.expr, fact: Fact) -> tuple[gast.expr, Carried]:
    """``base[index]``."""
    index = spelled_out(index, scope.fact(index)) if isinstance(index, gast.Name) else index
    if isinstance(base.original, gast.Attribute) and base.original.attr == "shape" and base.carried is None:
        known, place = literal(index)
        if known and type(place) is int and isinstance(base.node, gast.Subscript) and base.node is not base.original:
            shape = base.node.value
            return gast.Subscript(shape, number(place + 1 if place >= 0 else place), gast.Load()), None
    if base.carried is None or base.carried == LEAF:
        found = key_of(scope, base, index)
        if found is None:
            scope.copies = True
            if not isinstance(fact, Array):
                raise Unbatchable("an index that differs from example to example")
            place = rewritten(scope, _value(index))
            return applied(scope, operator.getitem, {"a": base, "b": place}, fact)
        key, is_gathered = found
        scope.copies |= is_gathered
        return gast.Subscript(base.node, key, gast.Load()), LEAF if base.is_batched or is_gathered else None
    return gast.Subscript(base.node, _plain_index(scope, index), gast.Load()), part_at(scope, base, index)


def part_at(scope: Scope, container: Operand, index: gast.expr) -> Carried:
    """What a container carries at a place."""
    known, place = literal(index)
    whole = container.carried
    match whole:
        case Items(parts=parts) if known and type(place) is int and -len(parts) <= place < len(parts):
            return parts[place]
        case Items(parts=parts) if isinstance(index, gast.Slice):
            ends = [literal(end) if end is not None else (True, None) for end in (index.lower, index.upper, index.step)]
            if all(is_known for is_known, _ in ends):
                bounds: list[Any] = [end for _, end in ends]
                return items(parts[slice(*bounds)])
        case Keys(parts=entries) if known:
            found = dict(entries)
            return found.get(place)
    part = scope.any_part(container)
    return each(part) if isinstance(index, gast.Slice) else part


def _plain_index(scope: Scope, index: gast.expr) -> gast.expr:
    if isinstance(index, gast.Slice):
        ends = [None if end is None else plain(scope, end, "a slice") for end in (index.lower, index.upper, index.step)]
        return gast.Slice(*ends)
    if isinstance(index, gast.Tuple):
        return gast.Tuple([_plain_index(scope, part) for part in index.elts], gast.Load())
    return plain(scope, index, "an index")


def _value(index: gast.expr) -> gast.expr:
    if any(isinstance(node, gast.Slice) for node in gast.walk(index)):
        raise Unbatchable("an index that differs from example to example, beside slices")
    return index


def key_of(scope: Scope, base: Operand, index: gast.expr) -> tuple[gast.expr, bool] | None:
    """The index into a batch for ``index`` into an example, and whether its places differ from example to example.

    None where NumPy puts the axes of places that are arrays elsewhere than with the batch in front.
    """
    parts = list(index.elts) if isinstance(index, gast.Tuple) else [index]
    if not isinstance(index, gast.Tuple | gast.Slice | gast.Constant) and not isinstance(scope.fact(index), Array):
        fact = scope.fact(index)
        if isinstance(fact, Sequence) and fact.kind == "list" or isinstance(fact, Static) and fact.value is None:
            pass
        else:
            return None  # which may be a tuple
    whole = [gast.Slice(None, None, None)] if base.is_batched else []
    operands = [None if isinstance(part, gast.Slice) else rewritten(scope, part) for part in parts]
    if not any(operand is not None and operand.is_batched for operand in operands):
        places = [k for k, operand in enumerate(operands) if operand is not None and _is_place(operand)]
        arrays = [k for k in places if operands[k].rank != 0]  # type: ignore[union-attr]
        if arrays and places != list(range(places[0], places[-1] + 1)):
            return None
        made = [_plain_index(scope, p) if o is None else o.node for p, o in zip(parts, operands, strict=True)]
        keys_ = [*whole, *made]
        return (keys_[0] if len(keys_) == 1 else gast.Tuple(keys_, gast.Load())), False
    count = next((k for k, o in enumerate(operands) if o is None or not _is_place(o)), len(operands))
    front, rest = operands[:count], operands[count:]
    if any(o is not None and _is_place(o) for o in rest):
        return None
    ranks = [o.rank for o in front if o is not None and o.rank is not None]
    if len(ranks) < count or any(not _is_whole(o) for o in front if o is not None):
        return None
    rank = max(ranks)
    rows: list[gast.expr] = []
    if base.is_batched:
        size = tree("np.arange(_0)", tree("len(_0)", base.node))
        rows = [size if not rank else tree(f"_0[:, {', '.join(['np.newaxis'] * rank)}]", size)]
    made = [widened(o, rank) for o in front if o is not None]
    behind = [_plain_index(scope, p) if o is None else o.node for p, o in zip(parts[count:], rest, strict=True)]
    keys_ = [*rows, *made, *behind]
    return (keys_[0] if len(keys_) == 1 else gast.Tuple(keys_, gast.Load())), True


def _is_place(operand: Operand) -> bool:
    """Whether a part of an index counts as one of those that NumPy broadcasts together: no slice, None or ellipsis."""
    if isinstance(operand.original, gast.Constant):
        return operand.original.value not in (None, ...) or isinstance(operand.original.value, int)
    return not isinstance(operand.fact, Static) or operand.fact.value is not None


def _is_whole(operand: Operand) -> bool:
    """Whether a place is surely an integer or an array of such, and no mask."""
    dtype = operand.fact.dtype if isinstance(operand.fact, Array) else None
    if isinstance(operand.fact, Static):
        return type(operand.fact.value) is int
    return is_discrete(dtype) and dtype != "bool"


# --- calls -----------------------------------------------------------------------------------------------------------
def _called(scope: Scope, node: gast.Call, fact: Fact) -> tuple[gast.expr, Carried]:
    if any(isinstance(a, gast.Starred) for a in node.args) or any(k.arg is None for k in node.keywords):
        raise Unbatchable("a call with stars")
    function = object_of(node.func)
    given = [rewritten(scope, argument) for argument in (*node.args, *(k.value for k in node.keywords))]
    head = node.func
    receiver = None
    if function is None and isinstance(head, gast.Attribute):
        receiver = rewritten(scope, head.value)
        head = gast.Attribute(receiver.node, head.attr, gast.Load())
    if not any(operand.is_batched for operand in given) and (receiver is None or not receiver.is_batched):
        nodes = [operand.node for operand in given]
        named_ = [gast.keyword(k.arg, n) for k, n in zip(node.keywords, nodes[len(node.args) :], strict=True)]
        return gast.Call(head, nodes[: len(node.args)], named_), None
    if function is not None:
        if function is isinstance:
            return _is_instance(scope, node)
        return _bound(scope, function, node.args, node, fact)
    if isinstance(node.func, gast.Attribute) and not isinstance(node.func.value, GlobalReference):
        return _method(scope, node, node.func, fact)
    raise Unbatchable("a function that is known when the program runs alone")


def _bound(
    scope: Scope, function: Any, positional: list[gast.expr], node: gast.Call, fact: Fact
) -> tuple[gast.expr, Carried]:
    keywords = {str(keyword.arg): keyword.value for keyword in node.keywords}
    return applied(scope, function, operands(scope, named(function, positional, keywords)), fact)


def operands(scope: Scope, arguments: Mapping[str, gast.expr]) -> dict[str, Operand]:
    return {name: rewritten(scope, argument) for name, argument in arguments.items()}


def named(function: Any, positional: list[gast.expr], keywords: Mapping[str, gast.expr]) -> Mapping[str, gast.expr]:
    """The arguments of a call by the names of the parameters."""
    known = lookup(function)
    if known is not None:
        try:
            return bind(known, function, positional, keywords)
        except UnsupportedCall:
            raise Unbatchable("a call whose arguments are not known by name") from None
    signature = None if isinstance(function, np.ufunc) else signature_of(function)
    if signature is None:
        return {**{f"x{place}": argument for place, argument in enumerate(positional)}, **keywords}
    places = [p.name for p in signature.parameters.values() if p.kind <= p.POSITIONAL_OR_KEYWORD]
    if len(positional) > len(places):
        return {**{f"x{place}": argument for place, argument in enumerate(positional)}, **keywords}
    return {**dict(zip(places, positional, strict=False)), **keywords}


def _method(scope: Scope, node: gast.Call, called: gast.Attribute, fact: Fact) -> tuple[gast.expr, Carried]:
    whole = rewritten(scope, called.value)
    if whole.carried == LEAF:
        if called.attr == "astype":
            arguments = [plain(scope, argument, "a dtype") for argument in node.args]
            return gast.Call(gast.Attribute(whole.node, "astype", gast.Load()), arguments, node.keywords), LEAF
        if called.attr == "copy" and not node.args:
            return tree("_0.copy()", whole.node), LEAF
        function = method(called.attr)
        if function is not None:
            return _bound(scope, function, [called.value, *node.args], node, fact)
    elif called.attr == "copy" and isinstance(whole.fact, Sequence):
        return tree("_0.copy()", whole.node), whole.carried
    raise Unbatchable(f"the method {called.attr}")


def _is_instance(scope: Scope, node: gast.Call) -> tuple[gast.expr, Carried]:
    whole, kind = rewritten(scope, node.args[0]), object_of(node.args[1])
    if whole.carried == LEAF and kind is np.ndarray and whole.rank is not None:
        if whole.rank:
            return gast.Constant(True, None), None
        if is_number(whole.fact):
            return gast.Constant(False, None), None
    if whole.carried not in (None, LEAF):
        return gast.Call(node.func, [whole.node, node.args[1]], []), None
    raise Unbatchable("the class of a value")
