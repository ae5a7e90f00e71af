"""The methods by which classes define operators, by the symbols of the untyped IR.

>>> SPECIAL["-", 2], REFLECTED["__sub__"], SPECIAL["-", 1], COMPARED["<"]
('__sub__', '__rsub__', '__neg__', ('__lt__', '__gt__'))
"""

from __future__ import annotations

import math
import operator
from collections.abc import Sequence
from types import BuiltinFunctionType
from typing import Any, TypeVar

Operand = TypeVar("Operand")

_BINARY = {
    "+": "add", "-": "sub", "*": "mul", "/": "truediv", "//": "floordiv", "%": "mod", "**": "pow", "@": "matmul",
    "&": "and", "|": "or", "^": "xor", "<<": "lshift", ">>": "rshift",
}  # fmt: skip
#: The method of an operator of one or two operands.
SPECIAL = {(symbol, 2): f"__{name}__" for symbol, name in _BINARY.items()} | {
    ("-", 1): "__neg__", ("+", 1): "__pos__", ("~", 1): "__invert__",
}  # fmt: skip
#: The method of the right operand that is called where the left one declines.
REFLECTED = {f"__{name}__": f"__r{name}__" for name in _BINARY.values()}
#: The methods of a comparison: of its left operand, and of its right one.
COMPARED = {
    "<": ("__lt__", "__gt__"), "<=": ("__le__", "__ge__"), ">": ("__gt__", "__lt__"), ">=": ("__ge__", "__le__"),
    "==": ("__eq__", "__eq__"), "!=": ("__ne__", "__ne__"),
}  # fmt: skip
#: Methods of operators in place, and which these are.
IN_PLACE_METHODS = {f"__i{name[2:]}": symbol for (symbol, count), name in SPECIAL.items() if count == 2}
SPECIAL["divmod", 2], REFLECTED["__divmod__"] = "__divmod__", "__rdivmod__"
#: Built-in functions that return what a method of their first argument does.
METHODS_OF_FUNCTIONS: dict[Any, str] = {
    abs: "__abs__", round: "__round__", math.floor: "__floor__", math.ceil: "__ceil__", math.trunc: "__trunc__",
    operator.neg: "__neg__", operator.pos: "__pos__", operator.invert: "__invert__",
    operator.inv: "__invert__", operator.abs: "__abs__",
}  # fmt: skip
#: Those that ask for a float instead where a class does not have it.
OF_FLOATS: tuple[Any, ...] = (math.floor, math.ceil)
#: The parameters of those that take some by their names.
_PARAMETERS: dict[Any, tuple[str, ...]] = {round: ("number", "ndigits"), pow: ("base", "exp", "mod")}


def method_of(function: object) -> str | None:
    """The method of its first argument that a built-in function returns the result of."""
    return METHODS_OF_FUNCTIONS.get(function) if isinstance(function, BuiltinFunctionType) else None


def by_place(
    function: object, positional: Sequence[Operand], keywords: Sequence[tuple[str, Operand]]
) -> tuple[tuple[Operand, ...], tuple[tuple[str, Operand], ...]]:
    """Arguments of a built-in function, without names where it has places for them.

    >>> by_place(round, (), (("ndigits", 2), ("number", 1.5)))
    ((1.5, 2), ())
    """
    names = _PARAMETERS.get(function, ()) if isinstance(function, BuiltinFunctionType) else ()
    found, given = list(positional), dict(keywords)
    for name in names[len(found) :]:
        if name not in given:
            break
        found.append(given.pop(name))
    return tuple(found), tuple(given.items())
