"""What a loop over an object of a class runs over, read off the text of its methods.

Enters: the method.  Leaves: the expression that it hands out item by item, and the name of the object in it::

    def __iter__(self):                         def __iter__(self):
        return iter(self.layers)                    yield from self.layers              self.layers, "self"

Where a class has no ``__iter__``, Python indexes until an IndexError and never asks ``__len__``; a loop that counts is
right where both are seen to ask one field::

    def __len__(self):                          def __getitem__(self, k):
        return len(self.layers)                     return self.layers[k] * 2.0         "layers"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from types import CodeType, FunctionType
from typing import Any

import gast

from srcgrad.errors import SourceUnavailable
from srcgrad.frontend.classes import found, is_field
from srcgrad.frontend.known import Known, instances_of, is_named_tuple
from srcgrad.frontend.plans import Items
from srcgrad.frontend.source import source_of
from srcgrad.syntax.parse import walk

_PLAIN = gast.Name | gast.Attribute | gast.Tuple | gast.List | gast.expr_context


def run_over(method: FunctionType, *, backwards: bool = False) -> tuple[gast.expr, str] | None:
    """What a loop over an object runs over, or over from its end; None where the method does more than hand it on."""
    read = _read(method)
    if read is None:
        return None
    (this, *others), body = read
    match body:
        case _ if others:
            return None
        case [gast.Return(value=gast.Call(func=gast.Name(id=called), args=[made], keywords=[]))]:
            function = reversed if backwards else iter
            if called != function.__name__ or not _is_builtin(method, function):
                return None
        case _ if backwards:
            return None
        case [gast.Expr(value=gast.YieldFrom(value=made))]:
            pass
        case [gast.For(target=gast.Name(id=item), iter=made, body=[gast.Expr(value=gast.Yield(value=given))])] if (
            isinstance(given, gast.Name) and given.id == item and item != this
        ):
            pass
        case _:
            return None
    names = {inner.id for inner in walk(made) if isinstance(inner, gast.Name)}
    plain = all(isinstance(inner, _PLAIN) for inner in walk(made))
    return (made, this) if names <= {this} and plain else None


def counted_field(kind: type) -> str | None:
    """The field that ``__len__`` measures and ``__getitem__`` always indexes by what it is given, if they do."""
    measure, item = found(kind, "__len__"), found(kind, "__getitem__")
    if not isinstance(measure, FunctionType) or not isinstance(item, FunctionType):
        return None
    match _read(measure), _read(item):
        case (
            ([this], [gast.Return(value=gast.Call(func=gast.Name(id="len"), args=[of], keywords=[]))]),
            ([own, key], [gast.Return(value=gast.expr() as given)]),
        ):
            name = _field(of, this)
            if name is None or not is_field(found(kind, name)) or not _is_builtin(measure, len):
                return None
            return name if own != key and _always_reads(given, own, name, key) else None
    return None


def gives_items_of(kind: type) -> str | None:
    """The field whose items a loop over an object goes over, since its ``__getitem__`` does no more than read them."""
    field, read = counted_field(kind), _read(found(kind, "__getitem__"))
    match read:
        case ([this, key], [gast.Return(value=gast.Subscript(value=value, slice=gast.Name(id=index)))]):
            return field if field is not None and _field(value, this) == field and index == key else None
    return None


def counts_objects(plan: object, known: Callable[[str], Known]) -> bool:
    """Whether a loop indexes objects up to their lengths, which Python does not ask."""
    if isinstance(plan, Items):
        return any(not is_named_tuple(each.kind) for each in instances_of(known(plan.name)))
    inner = getattr(plan, "inner", ())
    return any(counts_objects(each, known) for each in (inner if isinstance(inner, tuple) else (inner,)))


RESIZED = "an object is run through by its __getitem__, and what it holds may change in the loop"


def may_resize(writer: Any, body: Sequence[gast.stmt]) -> bool:
    """Whether a loop's body may change how many items an object has."""
    nodes = list(walk(*body))
    called = [node for node in nodes if isinstance(node, gast.Call) and not _fills_a_list(writer, node)]
    return any(map(writer.may_change, called)) or any(map(_may_store_items, nodes))


def _fills_a_list(writer: Any, node: gast.Call) -> bool:
    """Whether a call puts an item into the list that a comprehension makes, which has no name of the user's."""
    match node.func:
        case gast.Attribute(value=gast.Name(id=name), attr="append"):
            return name not in _variables(writer.source.function.__code__)
    return False


def _variables(code: CodeType) -> set[str]:
    """The variables of a function and of those inside of it."""
    inner = [_variables(constant) for constant in code.co_consts if isinstance(constant, CodeType)]
    return {*code.co_varnames, *code.co_cellvars, *code.co_freevars}.union(*inner)


def _may_store_items(node: gast.AST) -> bool:
    match node:
        case gast.Attribute(ctx=gast.Store() | gast.Del()) | gast.Subscript(ctx=gast.Del()):
            return True
        case gast.Subscript(slice=gast.Slice(), ctx=gast.Store()):
            return True
    return False


def _always_reads(node: gast.expr, this: str, field: str, key: str) -> bool:
    """Whether evaluating an expression reads an item of a field, whatever else it does."""
    match node:
        case gast.Subscript(value=value, slice=gast.Name(id=index)) if _field(value, this) == field and index == key:
            return True
        case gast.BinOp(left=left, right=right):
            return _always_reads(left, this, field, key) or _always_reads(right, this, field, key)
        case gast.UnaryOp(operand=operand) | gast.Attribute(value=operand) | gast.Subscript(value=operand):
            return _always_reads(operand, this, field, key)
        case gast.Call(args=parts, keywords=[]) | gast.Tuple(elts=parts) | gast.List(elts=parts):
            return any(_always_reads(part, this, field, key) for part in parts)
    return False


def _field(node: gast.expr, this: str) -> str | None:
    match node:
        case gast.Attribute(value=gast.Name(id=name), attr=attr) if name == this:
            return str(attr)
    return None


def _read(method: FunctionType) -> tuple[list[str], list[gast.stmt]] | None:
    """The parameters and the body, without its docstring, of a method that can be read and has no other parameters."""
    try:
        node = source_of(method).node
    except SourceUnavailable:
        return None
    if not isinstance(node, gast.FunctionDef) or not node.args.args:
        return None
    if node.args.vararg or node.args.kwarg or node.args.kwonlyargs or node.args.posonlyargs or node.decorator_list:
        return None
    body = list(node.body)
    if body and isinstance(body[0], gast.Expr) and isinstance(body[0].value, gast.Constant):
        body = body[1:]
    return [str(each.id) for each in node.args.args], body


def _is_builtin(method: FunctionType, function: object) -> bool:
    """Whether a method means a function of Python's by its name."""
    binding = source_of(method).resolve(getattr(function, "__name__", ""))
    return binding is not None and binding.value is function
