"""Which methods of the user's an operation may run that are not followed: what a refusal says of it.

Enters: a statement of the IR that may run unknown code.  Leaves: the reason, None where it meets no object::

    p.w                  class Watched decides by __getattribute__ what its attributes are
    for v in steps       an object of class Steps, which has __getitem__ and no __iter__, is run through
    p.norm()             of a call without arguments: which method is called depends on the class of an argument
"""

from __future__ import annotations

from types import FunctionType
from typing import TYPE_CHECKING, Any, NoReturn

import gast

from srcgrad.errors import UnsupportedSyntax
from srcgrad.frontend.classes import found, is_plain_class, is_user_class
from srcgrad.infer.answering import COMPARED as COMPARING
from srcgrad.infer.answering import SHOWN
from srcgrad.infer.data import is_data
from srcgrad.infer.heap import Heap
from srcgrad.infer.named import OF_TUPLES
from srcgrad.infer.objects import stands_for
from srcgrad.infer.reasons import Reason
from srcgrad.infer.values import At, Value
from srcgrad.ir import operations as ir
from srcgrad.ir.regions import Statement, operands_of
from srcgrad.language.operators import COMPARED, REFLECTED, SPECIAL, method_of
from srcgrad.specialise.instances import static_of
from srcgrad.syntax.parse import spelled

if TYPE_CHECKING:
    from srcgrad.specialise.reduced import Reduced

_UNTYPED = Reason(
    "E0203", "which method is called here is not known: it depends on the class of an argument",
    "it may be an object of any class",
    "call the derivative, or ask for its text by source_for(...) with the arguments of a call",
)


def of_methods(made: Reduced, statement: Statement) -> Reason | None:
    """Why an operation is not followed that objects of the user's take part in."""
    operation: Any = getattr(statement, "operation", statement)
    given = [made.value(made.known.get(each, each)) for each in operands_of(operation)]
    function = _called(made, operation)
    if isinstance(function, type) and is_user_class(function):
        return _of_making(function)
    exposed = [made.facts.exposed.get(atom.site) for value in given for atom in value.atoms if isinstance(atom, At)]
    for kind in [kind for value in given for kind in _classes(value)]:
        if (why := _by_class(kind, operation, function)) is not None:
            return why
    if any(exposed):
        return next(filter(None, exposed))
    if not (kinds := _reached(made, given)):
        is_untyped = made.facts.data is not None and given and any(map(is_data, given[0].atoms))
        return _UNTYPED if is_untyped else None
    return _by_names(operation, statement.node, kinds, function)


def refuse_methods(made: Reduced, statement: Statement) -> NoReturn:
    """Refuse an operation that calls methods in a way that is not followed."""
    why = of_methods(made, statement)
    if why is None:
        made.refuse("E0214", statement.node, "an operation that runs a method of yours")
    raise UnsupportedSyntax(
        why.message,
        made.source_of(made.frame.owner).span(statement.node),
        code=why.code,
        label=why.label,
        hint=why.hint,
    )


def _called(made: Reduced, operation: Any) -> Any:
    """The function or class that is called, where it is known."""
    if not isinstance(operation, ir.Call):
        return None
    return static_of(made.value(made.known.get(operation.function, operation.function)))


def _classes(value: Value) -> list[type]:
    """The classes of the user's that a value may be of."""
    kinds = [atom.site.kind for atom in value.atoms if isinstance(atom, At)]
    return sorted((kind for kind in kinds if kind is not None and is_user_class(kind)), key=str)


def _reached(made: Reduced, given: list[Value]) -> list[type]:
    """The classes of the user's of objects that can be reached from values."""
    held = Heap(made.facts.contents).reachable(given)[1]
    return sorted({kind for value in held for kind in _classes(value)}, key=str)


def _of_making(kind: type) -> Reason:
    """Why it is not followed how an object of a class is made."""
    if (why := _of_tuple(kind)) is not None:
        return why
    if not is_plain_class(kind) or found(kind, "__new__") is not object.__new__:
        message = f"class {kind.__name__} decides by __new__ or a metaclass what its objects are"
        return Reason("E0408", message, hint="make plain objects by __init__")
    return Reason(
        "E0408", f"how an object of class {kind.__name__} is made is not followed", "its __init__ may do anything"
    )


def _of_tuple(kind: type) -> Reason | None:
    """What is said of a named tuple that has items of its own."""
    decided = next((name for name in OF_TUPLES if name in vars(kind)), None) if hasattr(kind, "_fields") else None
    if decided is None:
        return None
    return Reason("E0410", f"the named tuple {kind.__name__} decides by {decided} what its items are")


def _by_class(kind: type, operation: Any, function: Any) -> Reason | None:
    """What a class decides itself of an operation."""
    name = kind.__name__
    if (why := _of_tuple(kind)) is not None:
        return why
    match operation:
        case ir.GetAttribute() if isinstance(found(kind, "__getattribute__"), FunctionType):
            return Reason("E0410", f"class {name} decides by __getattribute__ what its attributes are")
        case ir.GetAttribute(name=asked) if isinstance(found(kind, "__getattr__"), FunctionType):
            if isinstance(found(kind, asked), property):
                return Reason("E0410", f"__getattr__ answers where the property {asked!r} of class {name} raises")
            return Reason("E0410", f"class {name} answers by __getattr__ where it has no attribute")
        case ir.SetAttribute() if isinstance(found(kind, "__setattr__"), FunctionType):
            return Reason("E0410", f"class {name} decides by __setattr__ what its fields are")
        case ir.DeleteAttribute(name=asked) if isinstance(found(kind, asked), property):
            return Reason("E0410", f"which deleter the property {asked!r} has is not known here")
        case ir.Call() if function is reversed:
            message = f"an object of class {name} is reversed, whose __reversed__ is not followed"
            return Reason("E0410", message, hint="go over a reversed list of its items")
    is_run_through = isinstance(operation, ir.Iterate | ir.Unpack | ir.Extend) or isinstance(operation, ir.Call) and (
        any(function is each for each in _GOING_OVER) or operation.star is not None
    )
    if is_run_through and hasattr(kind, "__getitem__") and not hasattr(kind, "__iter__"):
        message = f"an object of class {name}, which has __getitem__ and no __iter__, is run through"
        return Reason(
            "E0410", message, "Python indexes it until that fails", "write __iter__, or go over range(len(...))"
        )
    return None


_GOING_OVER: tuple[Any, ...] = (enumerate, iter, list, max, min, sorted, sum, tuple, zip, set, any, all)


def _by_names(operation: Any, node: gast.AST, kinds: list[type], function: Any) -> Reason:
    """Which methods of some classes an operation may run."""
    names: tuple[str, ...] = ()
    what = "this"
    match operation:
        case ir.Compare(symbol=symbol):
            what = "this comparison"
            names = (*COMPARED.get(symbol, ()), *COMPARING, "__contains__", "__iter__", "__getitem__")
        case ir.Operator(symbol=symbol, operands=operands):
            what = "this operator"
            method = SPECIAL.get((symbol, len(operands)), "")
            names = (f"__i{method[2:]}", method, REFLECTED.get(method, ""), "__bool__", "__len__")
            names = (*names, *SHOWN) if symbol == "%" else names
        case ir.Format() | ir.Join():
            what, names = "this text", SHOWN
        case ir.Call():
            what = spelled(node.func) if isinstance(node, gast.Call) else "this call"
            names = tuple(filter(None, [method_of(function)]))
        case ir.GetAttribute(name=name) | ir.SetAttribute(name=name) | ir.DeleteAttribute(name=name):
            what, names = f"the attribute {name!r}", (name,)
    listed = [f"{name} of class {_shown(kind)}" for kind in kinds for name in names
              if name and isinstance(found(kind, name), FunctionType | property)]  # fmt: skip
    if listed:
        return Reason("E0214", f"{what} asks {listed[0]}, which is not followed here", hint=_HINT)
    text = ", ".join(map(_shown, kinds[:2]))
    return Reason("E0214", f"{what} may run methods of class {text}, which are not followed here", hint=_HINT)


def _shown(kind: type) -> str:
    """The name of a class as the program knows it."""
    return (stands_for(kind) or kind).__name__


_HINT = "call the method by its name where its result is needed, with nothing stored in it"
