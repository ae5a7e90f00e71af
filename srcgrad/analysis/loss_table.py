"""The table of loss: which expressions and functions make text of numbers, hand a loss on, and read it as a number.

Enters: an expression, operation or function.  Leaves: what it is.  Python's operators, its own containers and NumPy's
elementwise functions read no number from text: they raise.  Any other function of NumPy or SciPy does, as far as is
known here, but for those that make text or arrays of what they are given.
"""

from __future__ import annotations

import operator

import gast
import numpy as np

from srcgrad import runtime
from srcgrad.ir.normal_form import Apply, Bind, Statement
from srcgrad.rules.facts import Array, Fact
from srcgrad.rules.formula import object_of
from srcgrad.rules.memory import home_of
from srcgrad.rules.table import is_constant, method
from srcgrad.syntax.parse import walk

_WRITERS = (str, repr, ascii, format, bytes, bytearray, np.str_, np.bytes_)
_METHODS = frozenset(
    """array2string array_repr array_str format format_map format_float_positional format_float_scientific join
    __format__ __mod__ __repr__ __rmod__ __str__""".split()
)
_NUMBERS = (float, complex)
_ARRAYS = (np.array, np.asarray)  # arrays of text, but with a dtype
#: What takes a dtype by position.
_MAKERS = (
    *_ARRAYS, np.asanyarray, np.asarray_chkfinite, np.ascontiguousarray, np.asfortranarray, np.require, np.full,
    np.full_like, runtime.astype, *({np.astype} if hasattr(np, "astype") else ()),
)  # fmt: skip
_JOINS = (operator.add, operator.iadd, operator.mod, np.add)
_CHOOSERS = (max, min)
_HANDING_ON = (
    *_CHOOSERS, list, tuple, set, dict, reversed, sorted,
    runtime.from_pairs, runtime.joined, runtime.keyed, runtime.operand, runtime.raisable, runtime.repeated,
    runtime.unvaried,
)  # fmt: skip
_SIZES = (isinstance, issubclass, len, range, type)
#: Of the builtins, those that give none of the text that they read, nor what holds it.
_LOSING = (
    *_SIZES, abs, all, any, bool, callable, complex, divmod, float, hasattr, hash, id, int, ord, pow, print, round,
)  # fmt: skip
_LIBRARIES = ("numpy", "scipy")
_OWN = "srcgrad"  # what our own output does to shadows and saves loses no text of the program's


def makes_text(node: gast.AST) -> bool:
    """Whether an expression is text of what it reads."""
    match node:
        case gast.FormattedValue() | gast.BinOp(left=gast.Constant(value=str() | bytes()), op=gast.Mod()):
            return True
        case gast.Call(func=gast.Attribute(attr=attr)) if attr in _METHODS:
            return True
        case gast.Call(func=function, args=arguments, keywords=keywords):
            known = object_of(function)
            method = function.attr if isinstance(function, gast.Attribute) and known is None else ""
            wanted = [keyword.value for keyword in keywords if keyword.arg == "dtype"]
            if method == "astype" or any(known is maker for maker in _MAKERS):
                wanted += arguments
            return _is_writer(known) or any(map(_is_dtype_of_text, wanted))
    return False


def may_make_text(node: gast.AST) -> bool:
    """Whether an expression is text of what it reads, or may be, since a name stands for the format: ``form % y``."""
    match node:
        case gast.BinOp(left=left, op=gast.Mod(), right=right):
            is_number = isinstance(left, gast.Constant) and not isinstance(left.value, str | bytes)
            return not is_number and any(isinstance(part, gast.Name) for part in walk(right))
    return makes_text(node)


def _is_dtype_of_text(node: gast.expr) -> bool:
    """Whether an argument is a dtype of text or bytes, as its own text tells: ``str``, ``"U8"``, ``np.dtype("S4")``."""
    match node:
        case gast.Constant(value=str() as name):
            try:
                return np.dtype(name).kind in "SU"
            except TypeError:  # text that means no dtype
                return False
        case gast.Call(func=function, args=[argument]) if object_of(function) is np.dtype:
            return _is_dtype_of_text(argument)
    known = object_of(node)
    return _is_writer(known) or (isinstance(known, np.dtype) and known.kind in "SU")


def _is_writer(function: object) -> bool:
    """Whether a function makes text, or an exception, which is read as text alone."""
    raised = isinstance(function, type) and issubclass(function, BaseException)
    return raised or any(function is writer for writer in _WRITERS)


def makes_text_alone(statement: Statement) -> bool:
    """Whether text may be bound here where facts, which are told of numbers, know an array."""
    match statement:
        case Bind(operation=Apply(function=function, arguments=arguments)):
            if any(function is known for known in (*_CHOOSERS, *_ARRAYS)):
                return True
            joined = any(isinstance(e, gast.Constant) and isinstance(e.value, str) for e in arguments.values())
            return joined or makes_text(statement.expression)
        case Bind(expression=expression):
            return makes_text(expression)
    return False


def may_hand_on(function: object) -> bool:
    """Whether the result of a ruled function may be, or contain, text that it is given: of NumPy's and SciPy's, which
    read it, the elementwise ones raise, and so do the functions of ``math``."""
    return not isinstance(function, np.ufunc) and home_of(function) not in (*_LIBRARIES, "math", "cmath")


def hands_on(function: object) -> bool:
    """Whether the result of a function is, or contains, what it is given, text among it."""
    return any(function is known for known in (*_JOINS, *_ARRAYS, *_HANDING_ON))


def loses_text(node: gast.Call) -> bool:
    """Whether the value of a call has none of the text that it reads: a length, a whole number, a truth value."""
    known = object_of(node.func)
    if known is None or not isinstance(node.func, gast.Name) or makes_text(node):
        return False
    return any(known is one for one in _LOSING) or home_of(known) == _OWN and not hands_on(known)


def loses_numbers(node: gast.Call) -> bool:
    """Whether the value of a call does not move with the numbers that it reads: it is declared constant."""
    known = object_of(node.func)
    if known is None and isinstance(node.func, gast.Attribute):
        return is_constant(method(node.func.attr))
    return any(known is one for one in _SIZES) or is_constant(known)


def makes_number(function: object) -> bool:
    return any(function is kind for kind in (*_NUMBERS, np.float64))


def reads_numbers(function: object) -> bool:
    """Whether a function may read text as a number."""
    if isinstance(function, np.ufunc) or hands_on(function) or _is_writer(function):
        return False
    if any(function is number for number in _NUMBERS) or getattr(function, "__name__", "") == "astype":
        return True
    return home_of(function) in _LIBRARIES and getattr(function, "__name__", "") not in _METHODS


def read_by(operation: Apply) -> bool:
    """Whether a ruled function may read text among its operands as a number."""
    with_dtype = "dtype" in operation.arguments and any(operation.function is known for known in _ARRAYS)
    return with_dtype or reads_numbers(operation.function)


def reads_text(node: gast.Call) -> bool:
    """Whether a call within an expression reads text that it is given as a number."""
    known = object_of(node.func)
    if known is None:  # a method, or what nobody knows
        return not isinstance(node.func, gast.Attribute) or node.func.attr == "astype"
    is_array = any(known is one for one in _ARRAYS)
    with_dtype = is_array and (len(node.args) > 1 or any(keyword.arg in ("dtype", None) for keyword in node.keywords))
    return (with_dtype or reads_numbers(known)) and not makes_text(node)


def reads_keys(function: object) -> bool:
    """Whether a function of what may be a dict takes its keys for numbers, or gives them; operators raise."""
    return not isinstance(function, np.ufunc) and home_of(function) not in (_OWN, "operator")


def is_of_text(fact: Fact | None) -> bool:
    return isinstance(fact, Array) and (fact.dtype or "").lstrip("<>=|").startswith(("U", "S", "str", "bytes"))
